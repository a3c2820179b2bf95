// What Horn rules cannot say, and where there was no answer.

/** List the non-Horn negatives, each with accepted interpretations whose intersection it is. */
function nonHornList(result) {
  const place = byId("non-horn");
  if (!place || !result.answers.length) return;
  const found = result.nonHorn;
  const entry = (x) => {
    const parts = intersectionOf(result, x);
    const shown = parts
      ? joined(parts.map((part) => setNode(namesOf(result, part))), " ∩ ")
      : [el("span", { class: "note" }, "of answers that are not recorded here")];
    return el("tr", {}, el("td", {}, setNode(namesOf(result, x))), el("td", {}, ...shown));
  };
  const head = ["Rejected", "is the intersection of accepted"];
  place.replaceChildren(
    paged(found.length, 10, "non-Horn negatives", (from, to) =>
      el(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Non-Horn negatives" },
        el(
          "table",
          { class: "sets" },
          el("caption", {}, result.exact ? `All ${plural(found.length, "non-Horn negative")}, smallest first` : "Examples that were met"),
          el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col" }, text)))),
          el("tbody", {}, ...found.slice(from, to).map(entry)),
        ),
      ),
    ),
  );
}

function abstentionList(result) {
  const items = result.content.abstentions.map((position) => ({ position, margin: result.answers[position].margin }));
  if (items.length) byId("abstentions").append(promptTable(result, items, `${result.prompted ? "Prompts" : "Cells"} without an answer`, "Lead"));
}
