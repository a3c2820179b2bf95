// The page of a classifier's explanation.

const result = readExplanation(begin(), JSON.parse(byId("view").textContent));
byId("downloads").append(
  ...(result.labels ? [downloadButton("JSON", result.view.file, "application/json", () => byId("data").textContent)] : []),
  downloadButton("Rules as CSV", "rules.csv", "text/csv", () => rulesCsv(result.view.columns, result.view.csv.map((csv) => ({ csv })))),
);
const rules = classRules(result);
if (result.labels && result.features.length) classMap(result, rules);
else byId("map").hidden = true;
askClassifier(result, rules);
document.documentElement.dataset.ready = "";
