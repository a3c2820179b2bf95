// Prompts with their scores, as tables a page at a time.

const MASK = "[MASK]";

/** A prompt with the model's word in the blank; without one, the blank. */
function promptNode(result, answer) {
  const word = answer.winner < 0 ? null : result.labels[answer.winner].word;
  const lines = answer.prompts.map((prompt) => {
    const parts = prompt.split(MASK);
    const blank = () => el("mark", {}, word === null ? "▁▁▁" : bdi(word));
    return el("bdi", { class: "prompt" }, ...joined(parts, null).map((part) => part ?? blank()));
  });
  return el("span", {}, ...joined(lines, null).map((line) => line ?? el("br")));
}

/** A table of answers. `items` are {position, margin}; `margin` is the name of the last column. */
function promptTable(result, items, caption, marginName) {
  const head = el(
    "tr",
    {},
    el("th", { scope: "col" }, "Prompt, with the model’s answer"),
    ...result.labels.map((label) => el("th", { scope: "col", class: "n" }, bdi(label.word))),
    el("th", { scope: "col", class: "n" }, marginName),
  );
  const row = ({ position, margin }) => {
    const answer = result.answers[position];
    const reason = answer.abstained ? el("span", { class: "note" }, ` abstained: ${result.reasons[answer.abstained] ?? ""}`) : null;
    return el(
      "tr",
      {},
      el("td", {}, promptNode(result, answer), reason),
      ...answer.scores.map((score, i) =>
        el("td", { class: i === answer.winner ? "n won" : "n" }, number(score)),
      ),
      el("td", { class: "n" }, number(margin)),
    );
  };
  return paged(items.length, 10, "prompts", (from, to) =>
    el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      el(
        "table",
        { class: "prompts" },
        el("caption", {}, caption),
        el("thead", {}, head.cloneNode(true)),
        el("tbody", {}, ...items.slice(from, to).map(row)),
      ),
    ),
  );
}
