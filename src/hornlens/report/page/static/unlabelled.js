// The page of a result without labels: of a target that accepts or rejects, of a formula, a table,
// or an exploration.

const data = begin();
const view = JSON.parse(byId("view").textContent);
const result = readResult(data, view);

/** The data of the page as files: the JSON only where all of it is here. */
function resultFiles() {
  // In the order of rules.csv: the strongest first.
  const strongest = [...byId("rule-table")?.tBodies[0].rows ?? []].map((row) => result.rules[row.dataset.index]);
  const buttons = [];
  if (view.whole) buttons.push(downloadButton("JSON", view.file, "application/json", () => byId("data").textContent));
  if (result.answers.length) buttons.push(downloadButton("Answers as CSV", "answers.csv", "text/csv", () => answersCsv(result)));
  buttons.push(downloadButton("Rules as CSV", "rules.csv", "text/csv", () => rulesCsv(result.columns, strongest)));
  byId("downloads").append(...buttons);
}

resultFiles();
rulesTable(result);
levelSlider(result);
almostTable(result);
if (view.asked) {
  survivalTable(result);
  nonHornList(result);
  abstentionList(result);
}
if (byId("open")?.querySelector("table")) filteredTable(byId("open"), "open rule");
if (byId("concepts")?.querySelector("table")) filteredTable(byId("concepts"), "concept");
document.documentElement.dataset.ready = "";
