// Levels of detail under a slider, and almost-rules; both open to all that breaks them.

/** The answers that break a rule, as a table under its row; `lines` are those of envelope.json. */
function exceptionsOf(result, line) {
  if (!line.answers) return exceptionSets(line);
  const items = line.answers.map((position) => ({ position, margin: result.answers[position].margin }));
  return promptTable(result, items, `All ${result.unit}s whose answers break the rule`, "Lead");
}

/** The same where nobody was asked: what is accepted and breaks it; of a table, with its lines. */
function exceptionSets(line) {
  const sets = line.exceptions ?? line.new_exceptions;
  const caption = line.exceptions ? "All that breaks the rule" : "What breaks the rule, and none before it";
  return paged(sets.length, 10, "exceptions", (from, to) =>
    el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      el(
        "table",
        { class: "sets" },
        el("caption", {}, caption),
        el("tbody", {}, ...sets.slice(from, to).map((names, i) =>
          el("tr", {}, ...(line.lines ? [el("td", { class: "n" }, `line ${line.lines[from + i]}`)] : []), el("td", {}, setNode(names))))),
      ),
    ),
  );
}

/** How many exceptions there are to show. */
const exceptionCount = (line) => (line.answers ?? line.exceptions ?? line.new_exceptions).length;

/** Make the number of exceptions of a row a button; `toggle(row, detail)` shows them, or nothing. */
function openExceptions(result, table, lines, toggle) {
  for (const row of [...table.tBodies[0].rows]) {
    const line = lines[row.dataset.line];
    const place = row.querySelector(".broken");
    if (!exceptionCount(line) || (line.answers && !result.answers.length)) continue;
    const button = el(
      "button",
      {
        type: "button",
        class: "open broken",
        "aria-expanded": "false",
        "aria-label": `${plural(exceptionCount(line), "exception")} of ${isolated(row.querySelector(".rule").textContent)}`,
        onclick: () => {
          const open = button.getAttribute("aria-expanded") !== "true";
          button.setAttribute("aria-expanded", String(open));
          const cell = el("td", { colspan: table.tHead.rows[0].cells.length });
          if (open) cell.append(exceptionsOf(result, line));
          toggle(row, open ? el("tr", { class: "detail" }, cell) : null);
        },
      },
      place.textContent,
    );
    place.replaceWith(button);
  }
}

function levelSlider(result) {
  const table = byId("level-table");
  if (!table) return;
  const { start, said, left_out: leftOut, points } = result.levels;
  const rows = [...table.tBodies[0].rows];
  const details = new Map();
  const mark = byId("level-curve").querySelector("circle");
  const promise = result.content.levels.guarantee;
  openExceptions(result, table, result.content.levels.steps, (row, detail) => {
    details.get(row)?.remove();
    details.delete(row);
    if (detail) {
      details.set(row, detail);
      row.after(detail);
    }
  });
  let shown = rows.length;
  const show = (level) => {
    // Only what changes is touched, and the document has no other rows: there may be a thousand.
    for (; shown > level; shown--) {
      details.get(rows[shown - 1])?.remove();
      rows[shown - 1].remove();
    }
    for (; shown < level; shown++) {
      table.tBodies[0].append(rows[shown]);
      if (details.has(rows[shown])) table.tBodies[0].append(details.get(rows[shown]));
    }
    byId("level-said").textContent = `${said[level]}.`;
    byId("level-left").textContent = promise ? `${leftOut[level]} ${promise}` : leftOut[level];
    mark.setAttribute("cx", points[level][0]);
    mark.setAttribute("cy", points[level][1]);
    slider.setAttribute("aria-valuetext", said[level]);
    count.textContent = `${level} of ${rows.length}`;
  };
  const count = el("span", { class: "note" });
  const slider = el("input", {
    id: "level-slider",
    type: "range",
    min: 0,
    max: rows.length,
    step: 1,
    value: start,
    oninput: () => show(Number(slider.value)),
  });
  byId("level-controls").append(el("label", { class: "field" }, el("span", {}, "Rules"), slider), count);
  show(start);
}

function almostTable(result) {
  const table = byId("almost-table");
  if (!table) return;
  const lines = result.content.almost;
  const of = (row) => lines[row.dataset.line];
  const value = (row, key) => {
    if (key === "rule") return row.querySelector(".rule").textContent;
    return key === "confidence" ? of(row).confidence : of(row).broken;
  };
  const live = liveTable(table, byId("almost-pager"), { size: 25, noun: "almost-rules", value, keep: () => true });
  for (const row of live.rows) table.tBodies[0].append(row);
  openExceptions(result, table, lines, (row, detail) => live.unfold(row, detail));
  live.refresh();
}
