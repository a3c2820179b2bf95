// The data of the page as files.

function extractionFiles(result) {
  const strongest = [...byId("rule-table")?.tBodies[0].rows ?? []].map((row) => result.rules[row.dataset.index]);
  const all = [
    downloadButton("JSON", "envelope.json", "application/json", () => byId("data").textContent),
    downloadButton("Answers as CSV", "answers.csv", "text/csv", () => answersCsv(result)),
  ];
  byId("downloads").append(
    ...(result.answers.length ? all : []), // without the answers, the data is not the whole file
    downloadButton("Rules as CSV", "rules.csv", "text/csv", () => rulesCsv(result.columns, strongest)),
  );
}
