// Ask it yourself: a choice for each attribute, the recorded answer, and what the rules say.

function askYourself(result, rules) {
  // It begins where there is something to see: with what the strongest rule speaks of.
  const strongest = [...result.rules].sort((a, b) => b.support - a.support)[0];
  const choices = result.attributes.map((_, i) => firstAsked(result, i, strongest?.left.choices[i] ?? 0));
  const draw = () => showAnswer(result, rules, choices);
  byId("ask-controls").append(
    ...result.attributes.map((attribute, i) =>
      choice(attribute.name, askedOf(attribute), choices[i], (chosen) => {
        choices[i] = Number(chosen);
        draw();
      }),
    ),
  );
  if (!result.attributes.length) byId("ask-controls").append(el("p", { class: "note" }, `${result.prompted ? "The probe has" : "There are"} no attributes: there is one question.`));
  draw();
}

/** Return what can be asked of an attribute: each choice, or where every cell is complete each leaf. */
function askedOf(attribute) {
  const options = [[0, "unset"], ...attribute.values.map((v, j) => [j + 1, v])];
  return attribute.leaves ? attribute.leaves.map((place) => options[place]) : options;
}

/** Return the first thing that can be asked of an attribute and says what is wanted. */
function firstAsked(result, i, wanted) {
  const { leaves } = result.attributes[i];
  return leaves ? leaves.find((leaf) => says(result, i, leaf, wanted)) : wanted;
}

/** Fill the card. Its headline is what screen readers announce; the rest is there to be read. */
function showAnswer(result, rules, choices) {
  const answers = (result.at.get(choices.join()) ?? []).map((position) => result.answers[position]);
  const verdict = verdictOf(result, choices);
  const brackets = result.prompted ? " In angle brackets: the names of the values, not their wording." : "";
  const note = `${result.subject} was not asked this.${brackets}`;
  const asked = answers.length > 1 ? [eachAnswer(result, answers)] : [
    el("p", { class: "sentence" }, answers.length ? promptNode(result, answers[0]) : wording(result, choices)),
    answers.length ? ownWords(answers[0]) : el("p", { class: "note" }, note),
  ];
  byId("ask-prompt").replaceChildren(...asked.filter((node) => node !== null));
  byId("ask-verdict").replaceChildren(...headline(result, answers, verdict));
  byId("ask-rules").replaceChildren(
    scoreTable(result, rules, choices, answers, verdict),
    satisfied(result, rules, choices, verdict) ?? "",
  );
}

/** The answer in each way of asking, under its name, with its scores. */
function eachAnswer(result, answers) {
  const came = (answer) => [
    ...joined(answer.scores.map((score, i) => el("span", {}, bdi(wordIn(result, answer, i)), ` ${number(score)}`)), ", "),
    answer.winner < 0 ? ` abstained: ${result.reasons[answer.abstained] ?? "no answer"}` : "",
  ];
  const entry = (answer) =>
    el(
      "div",
      {},
      el("dt", {}, bdi(result.worlds[answer.world].name)),
      el("dd", {}, promptNode(result, answer), el("p", { class: "note" }, ...came(answer)), ownWords(answer)),
    );
  return el("dl", { class: "facts phrasings" }, ...answers.map(entry));
}

/** The words that the model would itself put first, and how much of it the candidates hold. */
function ownWords(answer) {
  const known = [answer, ...(answer.phrasings ?? [])].filter((part) => part.first_words);
  if (!known.length) return null;
  const line = ({ first_words: first, share }) =>
    el(
      "span",
      { class: "own" },
      "Its own first words: ",
      ...joined(first.map(([word, p]) => el("span", {}, bdi(word), ` ${shareText(p)}`)), ", "),
      share === undefined ? "." : `. The candidates hold ${shareText(share)} of its probability.`,
    );
  return el("p", { class: "note" }, ...joined(known.map(line), " "));
}

/** The templates with the names of the values in their slots; without any, what is set. */
function wording(result, choices) {
  if (!result.prompted) return bdi(namesOf(result, { choices, label: -1 }).join(", ") || "nothing set");
  const names = new Map(result.attributes.map((a, i) => [a.name, choices[i] ? a.values[choices[i] - 1] : `${a.name}: unset`]));
  const lines = result.worlds.flatMap(({ templates }) => templates).map((template) => {
    const parts = template.split(/(\{\{|\}\}|\{(?:a:)?[^{}:]+\})/);
    return el(
      "bdi",
      { class: "prompt" },
      ...parts.map((part, i) => {
        if (i % 2 === 0) return part;
        if (part === "{{" || part === "}}") return part[0];
        const slot = part.slice(1, -1).replace(/^a:/, "");
        return slot === "label" ? el("mark", {}, "▁▁▁") : bdi(`⟨${isolated(names.get(slot))}⟩`);
      }),
    );
  });
  return el("span", {}, ...joined(lines, null).map((line) => line ?? el("br")));
}

function headline(result, answers, { allowed, rejecting }) {
  const several = result.worlds.length > 1;
  const word = (label) => el("em", {}, bdi(several ? result.labels[label].name : result.labels[label].word));
  if (several && answers.length) return [`${result.subject} says `, ...tally(result, answers, word), "."];
  const [answer] = answers;
  const asked = answer?.repeats?.reduce((sum, count) => sum + count, answer.silent ?? 0);
  const often = asked ? `, in ${answer.repeats[answer.winner]} of ${asked} answers` : "";
  const lead = answer?.scores.length ? `, by ${leadText(result, answer.margin)}` : often;
  const says = result.odds ? "scores" : result.averaged ? "prefers" : "says";
  const highest = result.odds ? " highest" : "";
  const average = result.averaged ? ` on average over ${plural(answer?.prompts.length ?? 0, "phrasing")}` : "";
  if (answer && answer.winner >= 0) return [`${result.subject} ${says} `, word(answer.winner), `${highest}${average}${lead}.`];
  if (answer) return [`${result.subject} has no answer: ${result.reasons[answer.abstained] ?? "no answer"}.`];
  if (allowed.length === result.labels.length) return ["Not asked. The rules leave it open."];
  const proved = rejecting.flat().every(({ warrant }) => warrant.kind === "proved");
  const rules = proved ? "The rules" : "The rules, not all of which are proved,";
  if (!allowed.length) return [`Not asked. ${rules} reject every answer.`];
  return [`Not asked. ${rules} predict `, ...joined(allowed.map(word), " or "), "."];
}

/** In how many ways of asking each answer came: "female in 6 of 8 phrasings, male in 2". */
function tally(result, answers, word) {
  const counts = [...result.labels.keys(), -1]
    .map((label) => [label, answers.filter(({ winner }) => winner === label).length])
    .filter(([, count]) => count);
  counts.sort((a, b) => b[1] - a[1]);
  const of = ` of ${answers.length} ${result.noun}s`;
  return joined(
    counts.map(([label, count], i) => el("span", {}, label < 0 ? "nothing" : word(label), ` in ${count}${i ? "" : of}`)),
    ", ",
  );
}

/** A line for each label: its score and share, or how often it came, and what the rules make of it. */
function scoreTable(result, rules, choices, answers, verdict) {
  const several = result.worlds.length > 1;
  const [answer] = answers;
  const known = !several && Boolean(answer?.scores.length);
  const scored = (cells) => (result.scored && !several ? cells : []);
  const top = known ? Math.max(...answer.scores) : 0;
  const weights = known ? answer.scores.map((score) => Math.exp(score - top)) : [];
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const came = (label) => `${answers.filter(({ winner }) => winner === label).length} of ${answers.length}`;
  const rows = result.labels.map((label, i) => {
    const bar = el("span", { class: "share", "aria-hidden": "true" }, el("span", {}));
    if (known) bar.firstChild.style.inlineSize = `${(100 * weights[i]) / total}%`;
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, bdi(several ? label.name : label.word)),
      ...(several ? [el("td", { class: "n" }, answers.length ? came(i) : "–")] : []),
      ...scored([
        el("td", { class: "n" }, known ? number(answer.scores[i]) : "–"),
        el("td", { class: "bar-of" }, known ? bar : null),
      ]),
      el("td", {}, ...fate(result, rules, choices, answers, verdict, i)),
    );
  });
  const head = ["Answer", ...(several ? ["Came in"] : []), ...scored(["Score", "Share"]), "What the rules say"];
  const classes = { Score: "n", "Came in": "n", Share: "bar-of" };
  const about = scored([true]).length
    ? "Scores, and what the rules say. Share: e to the score, among the candidates."
    : "What the rules say of each answer";
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": scored([true]).length ? "Scores and rules" : "Rules" },
    el(
      "table",
      { class: "scores" },
      el("caption", {}, about),
      el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col", class: classes[text] ?? null }, text)))),
      el("tbody", {}, ...rows),
    ),
  );
}

function fate(result, rules, choices, answers, verdict, label) {
  const rejecting = verdict.rejecting[label];
  if (rejecting.length) {
    const why = (rule) => el("li", {}, ruleLink(rule, rules), " ", el("span", { class: "note" }, because(result, rule, choices)));
    const shown = rejecting.slice(0, 5).map(why);
    if (rejecting.length > 5) shown.push(el("li", { class: "note" }, `and ${rejecting.length - 5} more`));
    const parts = ["Ruled out by", el("ul", { class: "plain" }, ...shown)];
    if (answers.some(({ winner }) => winner === label)) parts.push(el("p", { class: "warn-text" }, wrongHere(result, rejecting.length)));
    return parts;
  }
  // Of several ways of asking, one in which it wins, or nothing does, is enough to allow it.
  if (answers.length && answers.every(({ winner }) => winner >= 0 && winner !== label)) {
    return result.exact
      ? ["It loses, but no Horn rule can say so: a ", el("a", { href: "#limits" }, "non-Horn negative"), "."]
      : ["It loses, and no rule found says so."];
  }
  return ["Allowed."];
}

const wrongHere = (result, count) =>
  `${result.subject} says it all the same: the ${count === 1 ? "rule is" : "rules are"} wrong here.`;

const ruleLink = (rule, rules) =>
  el("button", { type: "button", class: "link", onclick: () => rules.open(rule.index) }, ruleNode(rule));

/** Why a rule fires here: what of its right side is missing. */
function because(result, rule, choices) {
  if (rule.right === null) return "";
  const missing = namesOf(result, {
    choices: rule.right.choices.map((value, a) => (says(result, a, choices[a], value) ? 0 : value)),
    label: -1,
  });
  return missing.length ? `it is not ${missing.map(isolated).join(" and ")}` : "";
}

/** The rules that speak of the cell and rule nothing out in it. */
function satisfied(result, rules, choices, { speaking, rejecting }) {
  const quiet = speaking.filter((rule) => !rejecting.some((list) => list.includes(rule)));
  if (!quiet.length) return null;
  const entries = quiet.slice(0, 5).map((rule) => {
    const has = namesOf(result, { choices: rule.right.choices, label: -1 }).map(isolated).join(" and ");
    return el("li", {}, ruleLink(rule, rules), el("span", { class: "note" }, ` it is ${has}`));
  });
  if (quiet.length > 5) entries.push(el("li", { class: "note" }, `and ${quiet.length - 5} more`));
  return el("div", {}, el("p", {}, "These speak of it too, and it obeys them whatever the answer:"), el("ul", { class: "plain" }, ...entries));
}
