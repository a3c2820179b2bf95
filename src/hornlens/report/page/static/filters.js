// A table of the page with what narrows it down: a search, and choices that its rows carry.

/**
 * Make the table of a section sortable, searchable and paged. `choices` are {label, key, options,
 * selected}: a row stays if its data-key is the chosen value; "" is any. The search looks at a row's
 * `text`. `more` goes to liveTable.
 */
function filteredTable(section, noun, { choices = [], text = (row) => row.textContent, ...more } = {}) {
  const table = section.querySelector("table");
  const columns = [...table.tHead.rows[0].cells].map((header) => header.dataset.key);
  const state = { words: "", ...Object.fromEntries(choices.map(({ key, selected }) => [key, selected])) };
  const status = el("p", { class: "status", role: "status" });
  const live = liveTable(table, section.querySelector(".pager-place"), {
    size: 25,
    noun: `${noun}s`,
    value: (row, key) => cellValue(row.cells[columns.indexOf(key)]),
    keep: (row) =>
      choices.every(({ key }) => state[key] === "" || row.dataset[key] === state[key]) &&
      hasWords(text(row), state.words),
    changed: (shown, all) => {
      status.textContent = shown === all ? plural(all, noun) : `${shown.toLocaleString("en")} of ${plural(all, noun)}`;
    },
    ...more,
  });
  const set = (key) => (chosen) => {
    state[key] = chosen;
    live.refresh();
  };
  section.querySelector(".controls")?.append(
    searchField("Search", set("words")),
    ...choices.map(({ label, key, options, selected }) => choice(label, options, selected, set(key))),
    status,
  );
  live.refresh();
  return live;
}

/** What a cell sorts by: its data-value or its text, a number in a column of numbers, or null. */
function cellValue(cell) {
  const text = cell.dataset.value ?? cell.textContent;
  if (text === "" || text === "–") return null;
  return cell.classList.contains("n") ? Number(text) : text;
}
