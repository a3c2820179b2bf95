// The page of a result without labels: of a target that accepts or rejects, of a formula, a table,
// or an exploration.

const data = begin();
const view = JSON.parse(byId("view").textContent);
const result = readResult(data.envelope ?? data, view);

/** The data of the page as files: the JSON only where all of it is here. */
function resultFiles() {
  // In the order of rules.csv: the strongest first, or that of the JSON where nobody was asked.
  const strongest = [...byId("rule-table")?.tBodies[0].rows ?? []].map((row) => result.rules[row.dataset.index]);
  const lines = () => (view.asked ? rulesCsv(strongest) : workedOutCsv(result.rules));
  const buttons = [];
  if (view.whole) buttons.push(downloadButton("JSON", view.file, "application/json", () => byId("data").textContent));
  if (result.answers.length) buttons.push(downloadButton("Answers as CSV", "answers.csv", "text/csv", () => answersCsv(result)));
  buttons.push(downloadButton("Rules as CSV", "rules.csv", "text/csv", lines));
  byId("downloads").append(...buttons);
}

/** Return rules.csv of a result for which nobody was asked. */
function workedOutCsv(rules) {
  return csvText([
    ["if", "then", "support", "canonical_if", "canonical_then"],
    ...rules.map((rule) => [...rule.cells.slice(0, 2), rule.support, ...rule.cells.slice(2)]),
  ]);
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
if (byId("concepts")?.querySelector("table")) filteredTable(byId("concepts"), "concept");
document.documentElement.dataset.ready = "";
