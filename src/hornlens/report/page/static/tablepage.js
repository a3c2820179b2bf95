// The page of a table: its rules and concepts, with a search and an order.

function searched(section, noun, keys) {
  const table = section.querySelector("table");
  if (!table) return;
  const state = { words: "" };
  const status = el("p", { class: "status", role: "status" });
  const live = liveTable(table, section.querySelector(".pager-place"), {
    size: 25,
    noun: `${noun}s`,
    value: (row, key) => {
      const text = row.cells[keys.indexOf(key)].textContent;
      return /^[0-9]+$/.test(text) ? Number(text) : text;
    },
    keep: (row) => hasWords(row.textContent, state.words),
    changed: (shown, all) => {
      status.textContent = shown === all ? plural(all, noun) : `${shown.toLocaleString("en")} of ${plural(all, noun)}`;
    },
  });
  section.querySelector(".controls").append(
    searchField("Search", (words) => {
      state.words = words;
      live.refresh();
    }),
    status,
  );
  live.refresh();
}

begin();
byId("downloads").append(
  downloadButton("JSON", "table.json", "application/json", () => byId("data").textContent),
);
searched(byId("rules"), "rule", ["rule", "support"]);
searched(byId("concepts"), "concept", ["variables", "rows"]);
document.documentElement.dataset.ready = "";
