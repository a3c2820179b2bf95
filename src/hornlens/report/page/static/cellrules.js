// The table of a classifier's rules, and the rows of X that each speaks of.

function classRules(result) {
  const section = byId("rules");
  const table = byId("rule-table");
  if (!table) return { open: () => {} };
  const ruleOf = (row) => result.rules[row.dataset.index];
  const show = (row) => {
    if (row.querySelector("button.open")) return;
    const rule = row.querySelector(".rule");
    const button = openingButton(() => toggle(row));
    rule.replaceWith(button);
    button.append(rule);
  };
  const live = filteredTable(section, "rule", {
    choices: [{ label: "Class", key: "class", options: [["", "any"], ...result.classes.map((c) => [c, c])], selected: "" }],
    text: (row) => row.cells[0].textContent,
    show,
  });
  const detail = (row) => rowsBehind(result, ruleOf(row));
  const { toggle, open } = openingRows(table, live, detail, () => {
    for (const control of section.querySelectorAll(".controls input, .controls select")) {
      control.value = "";
      control.dispatchEvent(new Event(control.tagName === "INPUT" ? "input" : "change"));
    }
  });
  return { open };
}

const classRuleText = (rule) => `${rule.if.length ? rule.if.join(" ∧ ") : "⊤"} → ${rule.then}`;

const classRuleNode = (rule) =>
  el("span", { class: "rule" }, ...(rule.if.length ? joined(rule.if.map(bdi), " ∧ ") : ["⊤"]), " → ", bdi(rule.then));

/** The rows of X that a rule speaks of: those that break it first. */
function rowsBehind(result, rule) {
  const { content, view } = result;
  const inside = view.rows.map((_, row) => row).filter((row) => speaksOf(rule, view.rows[row]));
  const against = inside.filter((row) => view.said[row] !== rule.place);
  const order = [...against, ...inside.filter((row) => view.said[row] === rule.place)];
  const asked = rule.box.map(([axis]) => result.features[axis].name);
  const columns = [...asked, ...content.columns.filter((name) => !asked.includes(name))];
  const places = columns.map((name) => content.columns.indexOf(name));
  const line = (row) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", class: "n" }, (row + 1).toLocaleString("en")),
      el("td", {}, el("span", { class: view.said[row] === rule.place ? null : "warn-text" }, bdi(result.classes[view.said[row]]))),
      ...places.map((place, i) => el("td", { class: i < asked.length ? "asked" : null }, bdi(shownValue(content.rows.values[row][place])))),
    );
  const rowsTable = (from, to) =>
    el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": `Rows of ${isolated(classRuleText(rule))}` },
      el(
        "table",
        { class: "rows-of-x" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "n" }, "Row"), el("th", { scope: "col" }, "The model says"), ...columns.map((name) => el("th", { scope: "col" }, bdi(name))))),
        el("tbody", {}, ...order.slice(from, to).map(line)),
      ),
    );
  const kept = view.rows.length;
  const some = kept < content.rows.count ? ` Of the first ${kept.toLocaleString("en")} rows, which are in this page, ${inside.length.toLocaleString("en")} do.` : "";
  const said = rule.support
    ? `${plural(rule.support, "row")} of ${content.rows.count.toLocaleString("en")} meet${rule.support === 1 ? "s" : ""} its conditions.${some}`
    : "No row of the table meets its conditions: it speaks of other inputs.";
  return el(
    "div",
    { class: "evidence" },
    el("p", { class: "sentence" }, classRuleNode(rule)),
    el("p", { class: "note" }, said, against.length ? ` Of ${plural(against.length, "row")} the model itself says something else: a bin has one answer for all that is in it.` : ""),
    el("div", { class: "buttons" }, copyButton("Copy text", () => classRuleText(rule))),
    order.length ? paged(order.length, 15, "rows", rowsTable) : null,
  );
}
