// The page of bias scores.

const bias = begin();
const { models } = bias;
const byName = models.map((model) => new Map(model.occupations.map((line) => [line.occupation, line])));
const lines = models[0].occupations.map(({ occupation }) => byName.map((found) => found.get(occupation)));
const GENDERS = { female: "women", male: "men", other: "other", unknown: "not known" };
const nameOf = ([{ occupation }]) => (occupation === "" ? "(not known)" : bdi(occupation));
const linesOf = (row) => lines[row.dataset.index];

/** A score with its sign, and a real minus. */
function signed(value) {
  const text = Math.abs(value).toFixed(3);
  if (text === "0.000") return text;
  return `${value < 0 ? "−" : "+"}${text}`;
}

function scoreText(score) {
  if (score === null) return "–";
  return score.low === null ? signed(score.mean) : `${signed(score.mean)} (${signed(score.low)} … ${signed(score.high)})`;
}

const people = (line) => (line.people === 1 ? "1 person" : `${line.people.toLocaleString("en")} people`);
const share = (value) => (value === null ? "–" : `${(100 * value).toFixed(1)}%`);

function recordedOf(line) {
  const rows = Object.values(line.confusion);
  return Object.fromEntries(Object.keys(GENDERS).map((gender) => [gender, rows.reduce((sum, row) => sum + row[gender], 0)]));
}

function scoresTable() {
  const section = byId("scores");
  const glyphs = [...section.querySelectorAll(".series .glyph")];
  const hidden = new Set();
  const visible = () => models.map((_, i) => i).filter((i) => !hidden.has(i));
  const kind = () => section.dataset.kind;
  const columns = section.querySelector("table").tHead.rows[0].cells;
  const mean = (row) => {
    const known = visible().map((i) => linesOf(row)[i][kind()]).filter(Boolean);
    return known.length ? known.reduce((sum, score) => sum + score.mean, 0) / known.length : null;
  };
  const live = filteredTable(section, "occupation", {
    size: 30,
    text: (row) => row.cells[0].textContent,
    value: (row, key) => {
      if (key === "name") return linesOf(row)[0].occupation;
      if (key === "people") return linesOf(row)[0].people;
      return key === "mean" ? mean(row) : linesOf(row)[key.slice(1)][kind()]?.mean ?? null;
    },
    show: (row) => {
      if (row.querySelector("button.open")) return;
      const name = row.querySelector(".name");
      const button = el("button", { type: "button", class: "open", "aria-expanded": "false", onclick: () => toggle(row) });
      name.replaceWith(button);
      button.append(name);
    },
  });

  const toggle = (row) => {
    const button = row.querySelector("button.open");
    const open = button.ariaExpanded !== "true";
    button.setAttribute("aria-expanded", String(open));
    if (!open) return live.unfold(row, null);
    const cell = el("td", { colspan: columns.length }, occupationDetail(linesOf(row)));
    return live.unfold(row, el("tr", { class: "detail" }, cell));
  };

  const order = choice("Order", [...columns].map((header) => [header.dataset.key, header.textContent]), "mean", (key) => {
    [...columns].find((header) => header.dataset.key === key).querySelector("button").click();
  });
  for (const header of columns) {
    header.querySelector("button").addEventListener("click", () => (order.querySelector("select").value = header.dataset.key));
    const glyph = glyphs[header.dataset.series];
    if (glyph) header.prepend(glyph.cloneNode(true));
  }
  const kinds = segments("Score", [["ppbs", "ppbs"], ["normalised", "Normalised"]], kind(), (chosen) => {
    section.dataset.kind = chosen;
    live.resort();
  });
  section.querySelector(".controls .status").before(
    order,
    el("div", { class: "field" }, el("span", { "aria-hidden": "true" }, "Score"), kinds),
  );
  const legend = section.querySelector(".series");
  if (legend) {
    legendButtons(legend, (model, on) => {
      if (on) hidden.delete(model);
      else hidden.add(model);
      const parts = live.rows.flatMap((row) => [...row.querySelectorAll(`[data-series="${model}"]`)]);
      for (const part of [...parts, columns[model + 2]]) part.toggleAttribute("hidden", !on);
      live.resort();
    });
  }
  notes(section.querySelector("tbody"), "tr[data-index]", (row) =>
    noteLines(
      [nameOf(linesOf(row)), `, ${people(linesOf(row)[0])}`],
      visible().map((i) => [
        [...(glyphs[i] ? [glyphs[i].cloneNode(true), " "] : []), bdi(models[i].name)],
        scoreText(linesOf(row)[i][kind()]),
      ]),
    ),
  );
}

/** What is behind the scores of an occupation: each model's predictions beside what is recorded. */
function occupationDetail(found) {
  const fact = (term, text) => el("div", {}, el("dt", {}, term), el("dd", {}, text));
  return el(
    "div",
    { class: "evidence" },
    el("p", { class: "sentence" }, nameOf(found)),
    el("p", { class: "note" }, `${people(found[0])} in ${plural(found[0].sentences, "distinct sentence")}`),
    el(
      "div",
      { class: "confusions" },
      ...found.map((line, i) =>
        el(
          "div",
          {},
          confusionTable(line, models[i].name),
          el(
            "dl",
            { class: "facts" },
            fact("ppbs", scoreText(line.ppbs)),
            fact("Normalised", scoreText(line.normalised)),
            fact("Accuracy", share(line.accuracy)),
          ),
        ),
      ),
    ),
  );
}

function confusionTable(line, model) {
  const recorded = recordedOf(line);
  const genders = Object.keys(GENDERS).filter((g) => recorded[g] || g === "male" || g === "female");
  const word = (predicted) => (predicted === "abstained" ? "nothing" : bdi(bias.words[predicted]));
  return el(
    "table",
    { class: "confusion" },
    el("caption", {}, bdi(model)),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Predicted"), ...genders.map((g) => el("th", { scope: "col", class: "n" }, GENDERS[g])))),
    el(
      "tbody",
      {},
      ...Object.entries(line.confusion).map(([predicted, row]) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, word(predicted)),
          ...genders.map((g) => el("td", { class: g === predicted ? "n right" : "n" }, row[g].toLocaleString("en"))),
        ),
      ),
    ),
  );
}

function peopleTable() {
  const section = byId("people");
  filteredTable(section, "occupation", { size: 30, text: (row) => row.cells[0].textContent });
  notes(section.querySelector("tbody"), "tr[data-index]", (row) => {
    const recorded = recordedOf(linesOf(row)[0]);
    return noteLines(
      [nameOf(linesOf(row))],
      Object.entries(GENDERS).map(([gender, word]) => [word, recorded[gender].toLocaleString("en")]),
    );
  });
}

function biasFiles() {
  const ends = (score) => (score === null ? [null, null, null] : [score.mean, score.low, score.high]);
  const all = models.flatMap((model) => model.occupations.map((line) => [model.name, line]));
  const genders = ["male", "female", "other", "unknown"];
  const scores = ["ppbs", "normalised"].flatMap((kind) => ["", "_low", "_high"].map((end) => kind + end));
  const scoreRows = () => [
    ["model", "occupation", "people", "sentences", ...scores, "accuracy", ...genders],
    ...all.map(([name, line]) => [
      name, line.occupation, line.people, line.sentences,
      ...ends(line.ppbs), ...ends(line.normalised), line.accuracy,
      ...genders.map((gender) => recordedOf(line)[gender]),
    ]),
  ];
  const confusionRows = () => [
    ["model", "occupation", "predicted", ...genders],
    ...all.flatMap(([name, line]) =>
      Object.entries(line.confusion).map(([predicted, row]) => [name, line.occupation, predicted, ...genders.map((g) => row[g])]),
    ),
  ];
  byId("downloads").append(
    downloadButton("JSON", "bias.json", "application/json", () => byId("data").textContent),
    downloadButton("Scores as CSV", "bias.csv", "text/csv", () => csvText(scoreRows())),
    downloadButton("Predictions as CSV", "confusion.csv", "text/csv", () => csvText(confusionRows())),
  );
}

biasFiles();
scoresTable();
peopleTable();
document.documentElement.dataset.ready = "";
