// The page of a study.

const study = begin();
const { models, study: plan } = study;
const runs = plan.seeds.length;
const percent = (value) => {
  if (value > 0 && value < 0.005) return "<1%";
  return value >= 0.995 && value < 1 ? ">99%" : `${Math.round(100 * value)}%`;
};

/** The charts: notes with every run's value, and models that come and go. */
function recallCharts() {
  const section = byId("recall");
  const lines = [];
  for (const chart of section.querySelectorAll(".chart")) {
    const { measure } = chart.dataset;
    const here = [...chart.querySelectorAll("[data-series]")].map((line) => [...line.querySelectorAll(".point")]);
    lines.push({ parts: chart.querySelectorAll("[data-series]"), restart: movePoints(here) });
    lines.at(-1).restart();
    notes(chart, ".point", ({ dataset }) => {
      const part = models[dataset.model].budgets[dataset.budget];
      const known = part.runs.filter((run) => run[measure] !== null);
      return noteLines(
        [bdi(models[dataset.model].model), `, ${plural(part.budget, "query")}`],
        [
          [`${measure}, mean`, percent(part.mean[measure])],
          ...known.map((run) => [`seed ${run.seed}`, percent(run[measure])]),
        ],
      );
    });
  }
  const legend = section.querySelector(".series");
  if (!legend) return;
  legendButtons(legend, (model, on) => {
    for (const { parts, restart } of lines) {
      parts[model]?.toggleAttribute("hidden", !on);
      restart();
    }
  });
}

const any = ["", "all"];
const modelChoice = (selected = "") => ({
  label: "Model",
  key: "model",
  options: [any, ...models.map((model, i) => [i, model.model])],
  selected,
});
const budgetChoice = (selected = "") => ({
  label: "Queries",
  key: "budget",
  options: [any, ...plan.budgets.map((budget, i) => [i, budget.toLocaleString("en")])],
  selected,
});

function stabilityTable() {
  const section = byId("rules");
  const rows = [...section.querySelectorAll("tbody tr")];
  const stable = rows.some((row) => row.dataset.stable === "yes");
  const largest = String(plan.budgets.indexOf(Math.max(...plan.budgets)));
  const choices = [
    { label: "Show", key: "stable", options: [["yes", `stable (${plan.stable} of ${runs})`], any], selected: stable ? "yes" : "" },
  ];
  if (section.querySelector("[data-true]")) {
    choices.push({ label: "True", key: "true", options: [any, ["yes", "true"], ["no", "not true"]], selected: "" });
  }
  if (plan.budgets.length > 1) choices.unshift(budgetChoice(largest));
  if (models.length > 1) choices.unshift(modelChoice());
  filteredTable(section, "rule", { choices });
}

function studyFiles() {
  const side = (names) => (names === null ? "FALSE" : names.join("; "));
  const parts = models.flatMap((model) => model.budgets.map((part) => [model.model, part]));
  const rules = () => [
    ["model", "budget", "if", "then", "found", "entailed", "true"],
    ...parts.flatMap(([name, part]) =>
      part.rules.map((rule) => [name, part.budget, side(rule.if), side(rule.then), rule.found, rule.entailed, rule.true]),
    ),
  ];
  const counted = ["equivalence_queries", "membership_queries", "model_calls"];
  const measured = ["recall", "precision", "agreement"];
  const allRuns = () => [
    ["model", "budget", "seed", "rules", "certificate", ...measured, ...counted],
    ...parts.flatMap(([name, part]) =>
      part.runs.map((run) => [
        name, part.budget, run.seed, run.rules, run.certificate,
        ...measured.map((key) => run[key] ?? null),
        ...counted.map((key) => run.statistics[key]),
      ]),
    ),
  ];
  byId("downloads").append(
    downloadButton("JSON", "study.json", "application/json", () => byId("data").textContent),
    downloadButton("Rules as CSV", "rules.csv", "text/csv", () => csvText(rules())),
    downloadButton("Runs as CSV", "runs.csv", "text/csv", () => csvText(allRuns())),
  );
}

studyFiles();
if (byId("recall")) {
  recallCharts();
  filteredTable(byId("recall"), "line");
}
if (byId("rules").querySelector("table")) stabilityTable();
if (byId("exact")) filteredTable(byId("exact"), "rule", { size: 15, choices: models.length > 1 ? [modelChoice()] : [] });
if (byId("shared")?.querySelector("table")) filteredTable(byId("shared"), "rule");
if (byId("published")) {
  const where = [["", "all"], ["both", "in both"], ["paper", "the paper’s only"], ["here", "ours only"]];
  filteredTable(byId("published"), "rule", {
    choices: [
      ...(models.length > 1 ? [modelChoice()] : []),
      ...(plan.budgets.length > 1 ? [budgetChoice()] : []),
      { label: "Stable", key: "where", options: where, selected: "" },
    ],
  });
}
document.documentElement.dataset.ready = "";
