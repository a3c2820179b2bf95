// The page of a comparison: each pair's table, with a search and a choice of outcomes.

function pairTable(section) {
  const table = section.querySelector("table");
  if (!table) return;
  const state = { words: "", group: "all" };
  const status = el("p", { class: "status", role: "status" });
  const live = liveTable(table, section.querySelector(".pager-place"), {
    size: 25,
    noun: "rules",
    value: (row, key) => row.cells[["rule", "owner", "outcome"].indexOf(key)].textContent,
    keep: (row) => {
      const wanted = ["all", row.dataset.group, row.dataset.fate].includes(state.group);
      return wanted && hasWords(row.textContent, state.words);
    },
    changed: (shown, all) => {
      status.textContent = shown === all ? plural(all, "rule") : `${shown.toLocaleString("en")} of ${plural(all, "rule")}`;
    },
  });
  const set = (key) => (chosen) => {
    state[key] = chosen;
    live.refresh();
  };
  const outcomes = [["all", "All"], ["lost", "Lost"], ["new", "New"], ["contradicted", "Contradicted"], ["vacuous", "Vacuous"], ["shared", "Shared"]];
  section.querySelector(".controls").append(
    searchField("Search", set("words")),
    el("div", { class: "field" }, el("span", { "aria-hidden": "true" }, "Outcome"), segments("Outcome", outcomes, "all", set("group"))),
    status,
  );
  live.refresh();
}

begin();
byId("downloads").append(
  downloadButton("JSON", "comparison.json", "application/json", () => byId("data").textContent),
);
for (const section of document.querySelectorAll(".pair")) pairTable(section);
document.documentElement.dataset.ready = "";
