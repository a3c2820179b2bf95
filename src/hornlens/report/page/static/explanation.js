// The page of a classifier's explanation.

const result = readExplanation(begin(), JSON.parse(byId("view").textContent));
byId("downloads").append(
  ...(result.labels ? [downloadButton("JSON", "explanation.json", "application/json", () => byId("data").textContent)] : []),
  downloadButton("Rules as CSV", "rules.csv", "text/csv", () =>
    csvText([
      ["rule", "class", "support", "confidence", "cells", "warrant", "bound"],
      ...result.content.rules.map((rule, i) => {
        const { kind, bound } = result.view.warrants[i];
        return [classRuleText(rule), rule.then, rule.support, rule.confidence, rule.cells, kind, bound ?? null];
      }),
    ]),
  ),
);
const rules = classRules(result);
if (result.labels && result.features.length) classMap(result, rules);
else byId("map").hidden = true;
askClassifier(result, rules);
document.documentElement.dataset.ready = "";
