// Rows of a table that open: what is behind a rule, by its button, from elsewhere, and by links.

/**
 * Give rows that open to a live table. `detail(row)` is what is behind one; `showAll()` takes away
 * what the table is filtered by. Returns `toggle(row)` for buttons, and `open(index)` for others.
 */
function openingRows(table, live, detail, showAll) {
  const toggle = (row, open = row.querySelector("button.open").ariaExpanded !== "true") => {
    const button = row.querySelector("button.open");
    button.setAttribute("aria-expanded", String(open));
    if (!open) {
      button.removeAttribute("aria-controls");
      live.unfold(row, null);
      return;
    }
    const id = `${row.id}-evidence`;
    button.setAttribute("aria-controls", id);
    const cell = el("td", { colspan: table.tHead.rows[0].cells.length }, detail(row));
    live.unfold(row, el("tr", { class: "detail", id }, cell));
  };
  /** Show a rule, wherever it is in the table, with its evidence. */
  const open = (index) => {
    const row = live.rows.find((candidate) => candidate.dataset.index === String(index));
    if (!live.reveal(row)) {
      showAll();
      live.reveal(row);
    }
    toggle(row, true);
    row.querySelector("button.open").focus();
    row.scrollIntoView({ block: "start" });
  };
  const openLinked = () => {
    const linked = live.rows.find((row) => `#${row.id}` === location.hash);
    if (linked) open(linked.dataset.index);
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#rule-"]');
    if (!link) return;
    event.preventDefault();
    if (link.hash !== location.hash) history.pushState(null, "", link.hash);
    openLinked();
  });
  addEventListener("hashchange", openLinked); // Back, Forward, and an address that was changed
  openLinked();
  return { toggle, open };
}

/** A button that opens a row. */
const openingButton = (onclick) => el("button", { type: "button", class: "open", "aria-expanded": "false", onclick });
