// Prompts, or cells as they are, with their scores, as tables a page at a time.

const MASK = "[MASK]";

/**
 * A prompt with the model's word in the blank; without one, the blank. Or a row of what is set.
 * What was averaged over several prompts is the answer to none of them: their blanks stay.
 */
function promptNode(result, answer) {
  if (!result.prompted) return el("span", {}, ...joined(answer.prompts.map(bdi), null).map((line) => line ?? el("br")));
  const word = answer.winner < 0 || result.averaged ? null : wordIn(result, answer, answer.winner);
  const lines = answer.prompts.map((prompt) => {
    const parts = prompt.split(MASK);
    const blank = () => el("mark", {}, word === null ? "▁▁▁" : bdi(word));
    return el("bdi", { class: "prompt" }, ...joined(parts, null).map((part) => part ?? blank()));
  });
  return el("span", {}, ...joined(lines, null).map((line) => line ?? el("br")));
}

/** A table of answers. `items` are {position, margin}; `margin` is the name of the last column. */
function promptTable(result, items, caption, marginName) {
  const scored = (cells) => (result.scored ? cells : []);
  const several = result.worlds.length > 1;
  const filled = result.prompted && !result.averaged; // the answer stands in the prompt
  const what = filled ? "Prompt, with the model’s answer" : result.averaged ? "Prompts, asked together" : "Cell";
  const head = el(
    "tr",
    {},
    ...(several ? [el("th", { scope: "col" }, capitalized(result.noun))] : []),
    el("th", { scope: "col" }, what),
    ...(filled ? [] : [el("th", { scope: "col" }, result.averaged ? "Preferred" : "Answer")]),
    ...scored(result.labels.map((label) => el("th", { scope: "col", class: "n" }, bdi(several ? label.name : label.word)))),
    ...scored([el("th", { scope: "col", class: "n" }, marginName)]),
    ...(result.hasDraws ? [el("th", { scope: "col" }, "Asked")] : []),
  );
  const row = ({ position, margin }) => {
    const answer = result.answers[position];
    const reason = answer.abstained ? el("span", { class: "note" }, ` no answer: ${result.reasons[answer.abstained] ?? ""}`) : null;
    return el(
      "tr",
      {},
      ...(several ? [el("td", {}, bdi(result.worlds[answer.world].name))] : []),
      el("td", { class: "asked" }, promptNode(result, answer), reason),
      ...(filled ? [] : [el("td", {}, answer.winner < 0 ? "–" : bdi(result.labels[answer.winner].word))]),
      ...scored(
        result.labels.map((_, i) =>
          el("td", { class: i === answer.winner ? "n won" : "n" }, number(answer.scores[i] ?? null)),
        ),
      ),
      ...scored([el("td", { class: "n" }, leadText(result, answer.scores.length ? margin : null))]),
      ...(result.hasDraws ? [el("td", {}, answer.drawn ? "at random" : "chosen")] : []),
    );
  };
  return paged(items.length, 10, `${result.unit}s`, (from, to) =>
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
