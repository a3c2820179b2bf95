// The page of an extraction.

const result = readResult(begin(), JSON.parse(byId("view").textContent));
extractionFiles(result);
const rules = rulesTable(result);
levelSlider(result);
almostTable(result);
survivalTable(result);
nonHornList(result);
abstentionList(result);
if (byId("open")?.querySelector("table")) filteredTable(byId("open"), "open rule");
if (byId("map")) scoreMap(result, rules);
if (byId("ask")) askYourself(result, rules);
if (byId("replies")) replyList(result);
document.documentElement.dataset.ready = "";
