// Ask it yourself: an input of numbers and values, what the model says of it, why, and what would change it.

function askClassifier(result, rules) {
  const { content, features } = result;
  const places = features.map((feature) => content.columns.indexOf(feature.name));
  const values = features.map((feature, axis) => (content.rows.values.length ? asGiven(feature, content.rows.values[0][places[axis]]) : startOf(feature)));
  const box = byId("ask-controls");
  const draw = () => showClass(result, rules, values);
  const fill = () => box.replaceChildren(...first(), ...features.map(field));
  const first = () => {
    const count = content.rows.values.length;
    if (!count) return [];
    const input = el("input", { type: "number", min: 1, max: count, step: 1, value: state.row, onchange: () => {
      state.row = Math.max(1, Math.min(count, Math.round(Number(input.value)) || 1));
      features.forEach((feature, axis) => (values[axis] = asGiven(feature, content.rows.values[state.row - 1][places[axis]])));
      fill();
      draw();
      box.querySelector("input").focus();
    } });
    return [el("label", { class: "field" }, el("span", {}, `Begin with row (1 to ${count.toLocaleString("en")})`), input)];
  };
  const field = (feature, axis) => {
    if (!feature.cuts) {
      const options = [...feature.values.map((v) => [v, feature.kind === "boolean" ? (v === "True" ? "yes" : "no") : v]), ...(feature.missing ? [["\u0000", "missing"]] : [])];
      return choice(feature.name, options, values[axis] ?? "\u0000", (chosen) => {
        values[axis] = chosen === "\u0000" ? null : chosen;
        draw();
      });
    }
    const input = el("input", { type: "number", step: feature.kind === "whole" ? 1 : "any", value: values[axis] ?? "", disabled: values[axis] === null, oninput: () => {
      values[axis] = input.value === "" ? NaN : Number(input.value);
      draw();
    } });
    const label = el("label", { class: "field" }, el("span", {}, bdi(feature.name)), input);
    if (!feature.missing) return label;
    const gone = el("input", { type: "checkbox", checked: values[axis] === null, onchange: () => {
      input.disabled = gone.checked;
      values[axis] = gone.checked ? null : input.value === "" ? NaN : Number(input.value);
      draw();
    } });
    return el("div", { class: "input-row" }, label, el("label", { class: "note" }, gone, " missing"));
  };
  const state = { row: 1 };
  fill();
  if (!features.length) box.append(el("p", { class: "note" }, "No column tells inputs apart: there is one answer."));
  draw();
}

const startOf = (feature) => (feature.cuts ? (feature.points[0] ?? 0) : feature.values[0]);

/** A value of a row as the controls have it: numbers as they are, all else as text. */
function asGiven(feature, value) {
  if (value === null) return null;
  if (feature.cuts) return Number(value);
  return typeof value === "boolean" ? (value ? "True" : "False") : feature.values[feature.points.indexOf(value)] ?? String(value);
}

/** Fill the card. Its headline is what screen readers announce; the rest is there to be read. */
function showClass(result, rules, values) {
  const { features, classes, content } = result;
  const cell = features.map((feature, axis) => levelOf(feature, values[axis]));
  const bad = cell.indexOf(null);
  const verdict = byId("ask-verdict");
  const more = byId("ask-rules");
  if (bad >= 0) {
    verdict.replaceChildren("Give ", el("em", {}, bdi(features[bad].name)), " a number.");
    more.replaceChildren();
    return;
  }
  const { place, how } = classOf(result, cell);
  const label = place === null ? null : el("em", {}, bdi(classes[place]));
  const subject = result.view.exact_bins ? "The model" : "The binned model";
  if (how === "outside") verdict.replaceChildren(result.plausible.boxes.length ? "This is not plausible: it breaks too many rules of the rows." : "This does not occur: the background rules it out.");
  else if (place === null) verdict.replaceChildren("Not asked, and no rule decides it.");
  else if (how === "rule") verdict.replaceChildren(content.certificate.proved ? `${subject} says ` : "Not asked. The rules predict ", label, ".");
  else verdict.replaceChildren(`${subject} says `, label, ".");
  const speaking = result.rules.filter((rule) => speaksOf(rule, cell));
  const link = (rule) => el("li", {}, el("button", { type: "button", class: "link", onclick: () => rules.open(rule.index) }, classRuleNode(rule)));
  const conditions = cell.map((level, axis) => result.view.conditions[axis][level]);
  const parts = [
    el("p", { class: "note" }, "Its cell: ", ...joined(conditions.map(bdi), ", "), "."),
    speaking.length
      ? el("div", {}, el("p", {}, `${plural(speaking.length, "rule")} speak${speaking.length === 1 ? "s" : ""} of it:`), el("ul", { class: "plain" }, ...speaking.slice(0, 6).map(link), ...(speaking.length > 6 ? [el("li", { class: "note" }, `and ${speaking.length - 6} more`)] : [])))
      : el("p", { class: "note" }, "No rule of this page speaks of it."),
  ];
  if (!result.view.exact_bins && place !== null) parts.push(el("p", { class: "note" }, "The model itself was asked about the point that stands for this cell, not about these numbers."));
  if (place !== null) parts.push(whatChangesIt(result, cell, place));
  more.replaceChildren(...parts);
}

/** For each feature, the levels that alone would change the answer. */
function whatChangesIt(result, cell, place) {
  const lines = [];
  cell.forEach((level, axis) => {
    const others = [];
    for (let other = 0; other < result.sizes[axis]; other += 1) {
      if (other === level) continue;
      const moved = classOf(result, cell.with(axis, other)).place;
      if (moved !== null && moved !== place) others.push([other, moved]);
    }
    if (!others.length) return;
    others.sort((a, b) => Math.abs(a[0] - level) - Math.abs(b[0] - level));
    const [nearest, moved] = others[0];
    lines.push(
      el("tr", {}, el("th", { scope: "row" }, bdi(result.features[axis].name)), el("td", {}, bdi(result.view.conditions[axis][nearest])), el("td", {}, bdi(result.classes[moved])), el("td", { class: "n" }, `${others.length} of ${result.sizes[axis] - 1}`)),
    );
  });
  if (!lines.length) return el("p", {}, "No change of one column alone is known to change the answer.");
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "What would change the answer" },
    el(
      "table",
      { class: "scores" },
      el("caption", {}, "What would change the answer, one column at a time"),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Column"), el("th", { scope: "col" }, "The nearest change"), el("th", { scope: "col" }, "Then"), el("th", { scope: "col", class: "n" }, "Levels"))),
      el("tbody", {}, ...lines),
    ),
  );
}
