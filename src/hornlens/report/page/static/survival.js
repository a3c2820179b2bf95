// The picture of rules by phrasings: sorted, a page at a time; what breaks a rule is shown under it.

function survivalTable(result) {
  const table = byId("survival-table");
  if (!table) return;
  const value = (row, key) =>
    key === "kept" ? Number(row.querySelector("[data-kept]").dataset.kept) : row.cells[0].textContent;
  const live = liveTable(table, byId("survival-pager"), { size: 25, noun: "rules by phrasing", value, keep: () => true });
  const open = (row, button) => {
    const opened = button.getAttribute("aria-expanded") === "true";
    for (const other of row.querySelectorAll("button.lot")) other.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-expanded", String(!opened));
    if (opened) return live.unfold(row, null);
    const answer = result.answers[button.dataset.answer];
    const cell = el(
      "td",
      { colspan: table.tHead.rows[0].cells.length },
      el("p", {}, "Broken in ", el("b", {}, bdi(result.worlds[answer.world].name)), " by: ", promptNode(result, answer), answer.scores.length ? el("span", { class: "note" }, ` by ${leadText(result, answer.margin)}`) : null),
    );
    live.unfold(row, el("tr", { class: "detail" }, cell));
  };
  for (const row of live.rows) {
    for (const sign of row.querySelectorAll("[data-answer]")) {
      const button = el(
        "button",
        { type: "button", class: sign.className, "aria-label": sign.ariaLabel, "aria-expanded": "false", "data-way": sign.dataset.way, "data-answer": sign.dataset.answer, onclick: () => open(row, button) },
        sign.textContent,
      );
      sign.replaceWith(button);
    }
  }
  live.refresh();
}
