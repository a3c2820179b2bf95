// A table that came with the page, made sortable and paged. Its rows are kept aside: the document
// has a page of them at a time, and all of them while it is printed.

const COLLATOR = new Intl.Collator("en", { numeric: true });

/**
 * `value(row, key)` is what a column sorts by (null goes last), `keep(row)` whether a row is wanted,
 * `show(row)` is called before a row is seen. Returns {refresh, resort, reveal,
 * unfold, rows}.
 */
function liveTable(table, place, { size, noun, value, keep, show = () => {}, changed = () => {} }) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const details = new Map();
  const given = table.querySelector("[aria-sort]");
  const state = { key: given?.dataset.key, down: given?.ariaSort === "descending", start: 0 };
  let shown = rows;

  const draw = (wanted) => {
    const part = document.createDocumentFragment();
    for (const row of wanted) {
      show(row);
      part.append(row);
      if (details.has(row)) part.append(details.get(row));
    }
    body.replaceChildren(part);
  };
  const turn = (start) => {
    const name = start > state.start ? "Next" : "Previous";
    state.start = start;
    drawPage();
    focusTurn(place, name);
  };
  const nothing = () => {
    const colspan = table.tHead.rows[0].cells.length;
    return el("tr", {}, el("td", { class: "note", colspan }, `No ${noun} match.`));
  };
  const drawPage = () => {
    draw(shown.slice(state.start, state.start + size));
    if (!shown.length) body.append(nothing());
    place.replaceChildren(pager(shown.length, size, state.start, noun, turn));
  };
  const compare = (a, b) => {
    const [x, y] = [value(a, state.key), value(b, state.key)];
    if (x === null || y === null) return (x === null) - (y === null);
    const order = typeof x === "string" ? COLLATOR.compare(x, y) : x - y;
    return state.down ? -order : order;
  };
  const refresh = () => {
    shown = rows.filter(keep);
    state.start = 0;
    drawPage();
    changed(shown.length, rows.length);
  };
  const resort = () => {
    rows.sort(compare);
    refresh();
  };
  const sort = (header) => {
    const { key } = header.dataset;
    const first = rows.map((row) => value(row, key)).find((x) => x !== null);
    state.down = state.key === key ? !state.down : typeof first === "number";
    state.key = key;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    resort();
  };
  for (const header of table.tHead.rows[0].cells) {
    if (!header.dataset.key) continue;
    const button = el("button", { type: "button", class: "sort", onclick: () => sort(header) }, header.textContent);
    header.replaceChildren(button);
  }
  addEventListener("beforeprint", () => draw(rows));
  addEventListener("afterprint", drawPage);

  return {
    rows,
    refresh,
    /** Sort again by what is sorted by, the same way round: the values are others now. */
    resort,
    /** Put a row under another, or take it away. */
    unfold(row, detail) {
      details.get(row)?.remove();
      if (detail === null) details.delete(row);
      else {
        details.set(row, detail);
        row.after(detail);
      }
    },
    /** Turn to the page that has the row; say whether there is one. */
    reveal(row) {
      const index = shown.indexOf(row);
      if (index < 0) return false;
      state.start = index - (index % size);
      drawPage();
      return true;
    },
  };
}

/** A field for words, with a word of its own on how many rows are left. */
function searchField(label, oninput) {
  const input = el("input", { type: "search", autocomplete: "off", spellcheck: "false", oninput: () => oninput(input.value) });
  return el("label", { class: "field grow" }, el("span", {}, label), input);
}

/** Say whether a text has every word that is searched for. */
function hasWords(text, words) {
  const lower = text.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => lower.includes(word));
}
