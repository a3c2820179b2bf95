// What the page works with: envelope.json and what Python worked out of it. Pure functions: nothing
// here knows the document.
//
// A cell is a list of choices, one for each attribute: 0 is unset, i the i-th choice. A label is a
// position in `labels`, -1 none. An interpretation is {choices, label}.

/** Return the result as the page works with it: `content` is envelope.json, `view` the rest. */
function readResult(content, view) {
  const answers = (content.answers ?? []).map((answer, i) => ({ ...answer, ...view.answers[i] }));
  const items = (pairs) => (pairs ?? []).map(([position, margin]) => ({ position, margin }));
  const rules = content.readable.map((line, i) => ({
    ...line,
    ...view.rules[i],
    index: i,
    breaking: items(view.rules[i].breaking),
    forcing: items(view.rules[i].forcing),
    others: items(view.rules[i].others),
    canonical: { ...content.rules[i], latex: view.rules[i].latex[1] },
    latex: view.rules[i].latex[0],
  }));
  const at = new Map();
  answers.forEach(({ choices }, i) => at.set(choices.join(), [...(at.get(choices.join()) ?? []), i]));
  return {
    content,
    noun: view.noun, // what one of several ways of asking is called
    averaged: view.averaged, // whether an answer is the mean over several prompts
    worlds: view.worlds, // the ways of asking: name, the labels' words, templates; often just one
    attributes: view.attributes,
    labels: view.labels,
    labelled: view.labelled, // whether it gives labels; else it accepts a cell, or rejects it
    answers,
    rules,
    exact: view.exact,
    columns: view.columns, // of rules.csv
    prompted: view.prompted, // whether it was asked in prompts, and not about cells as they are
    scored: view.scored,
    odds: view.odds, // whether scores are log-probabilities, so that leads are odds
    hasDraws: view.hasDraws, // whether its cells were chosen, and some of them drawn at random
    unit: view.unit, // what is counted: a prompt, or a cell
    subject: view.subject, // who answers, at the start of a sentence
    nonHorn: view.non_horn,
    levels: view.levels, // what each level of detail explains, in words, and its place on the curve
    reasons: view.reasons,
    at, // by the choices of a cell, the positions of its answers
  };
}

/** Return the word that stands for a label in the way of asking of an answer. */
const wordIn = (result, answer, label) => result.worlds[answer.world].words[label];

/** Say whether a choice of an attribute says what another one does. */
function says(result, attribute, choice, wanted) {
  const { spans } = result.attributes[attribute];
  if (!wanted || choice === wanted || !spans) return !wanted || choice === wanted;
  return spans[wanted][0] <= spans[choice][0] && spans[choice][1] <= spans[wanted][1];
}

/** Return the most that two choices of an attribute have in common: the least span around both. */
function common(result, attribute, one, other) {
  const { spans } = result.attributes[attribute];
  if (one === other) return one;
  if (!spans || !one || !other) return 0;
  const length = ([first, last]) => last - first;
  let least = 0;
  for (let place = 1; place < spans.length; place += 1) {
    const around = says(result, attribute, one, place) && says(result, attribute, other, place);
    if (around && length(spans[place]) < length(spans[least])) least = place;
  }
  return least;
}

/** Return what an interpretation says, a condition for each attribute. */
function namesOf(result, { choices, label }) {
  const names = choices.flatMap((v, a) => (v ? [result.attributes[a].values[v - 1]] : []));
  return label < 0 ? names : [...names, result.labels[label].name];
}

/** Say whether a cell has what the left side of a rule asks of it. */
function speaksOf(result, rule, choices) {
  return rule.left.choices.every((wanted, a) => says(result, a, choices[a], wanted));
}

/** Say whether a rule, of a cell that it speaks of, rejects a label (or -1, none). */
function rejects(result, rule, choices, label) {
  if (rule.left.label >= 0 && rule.left.label !== label) return false;
  if (rule.right === null) return true;
  if (rule.right.label >= 0 && rule.right.label !== label) return true;
  return rule.right.choices.some((wanted, a) => !says(result, a, choices[a], wanted));
}

/** Return how far a label leads the best of the others; two endless scores are a tie. */
function leadOf(scores, label) {
  const best = Math.max(...scores.filter((_, i) => i !== label));
  return scores[label] === best ? 0 : scores[label] - best;
}

/** Return a few accepted interpretations whose intersection is `x`; null if none are known. */
function intersectionOf(result, x) {
  const above = [];
  result.answers.forEach((answer, position) => {
    if (!x.choices.every((wanted, a) => says(result, a, answer.choices[a], wanted))) return;
    for (const label of answer.accepted) {
      if (x.label < 0 || x.label === label) above.push({ choices: answer.choices, label, position });
    }
  });
  // How much more than x an interpretation above it says: whatever is less, measures less.
  const extra = (spans, low, high) =>
    spans ? spans[low][1] - spans[low][0] - (spans[high][1] - spans[high][0]) : Number(low !== high);
  const extras = (y) =>
    y.choices.reduce((sum, value, a) => sum + extra(result.attributes[a].spans, x.choices[a], value), 0)
    + (y.label !== x.label);
  const meet = (y, z) => ({
    choices: y.choices.map((value, a) => common(result, a, value, z.choices[a])),
    label: y.label === z.label ? y.label : -1,
  });
  const chosen = [];
  let shared = null;
  while (shared === null || extras(shared) > 0) {
    let best = null;
    for (const y of above) {
      const left = extras(shared === null ? y : meet(shared, y));
      const better = best === null || left < best.left || (left === best.left && extras(y) < best.size);
      if (better) best = { y, left, size: extras(y) };
    }
    if (best === null || (shared !== null && best.left >= extras(shared))) return null;
    chosen.push(best.y);
    shared = shared === null ? best.y : meet(shared, best.y);
  }
  return chosen;
}

/** Return what the rules say of a cell: those that speak of it, and who rejects which label. */
function verdictOf(result, choices) {
  const speaking = result.rules.filter((rule) => speaksOf(result, rule, choices));
  const rejecting = result.labels.map((_, label) =>
    speaking.filter((rule) => rejects(result, rule, choices, label)),
  );
  return { speaking, rejecting, allowed: [...result.labels.keys()].filter((i) => !rejecting[i].length) };
}

/**
 * Return the map of a label's lead over two attributes (null: none): its height and width, its
 * cells that have answers, and `at(row, column)` for any.
 *
 * `fixed` has for each other attribute a choice, or null: averaged; `world` is one way of asking, or
 * null: all. A cell has the positions of its
 * answers that have scores, the mean of their leads, how often each label won, and how many answers
 * are `silent`: without scores.
 */
function mapOf(result, rows, columns, fixed, label, world = null) {
  // Where every cell is complete, a line for each leaf; else one for each choice, unset among them.
  const placesOf = (attribute) =>
    attribute === null
      ? [0]
      : (result.attributes[attribute].leaves ?? [...Array(result.attributes[attribute].values.length + 1).keys()]);
  const [down, across] = [placesOf(rows), placesOf(columns)];
  const width = columns === null ? 1 : result.attributes[columns].values.length + 1;
  const blank = (row, column) => ({ row, column, positions: [], silent: 0, sum: 0, mean: null, shares: 0, share: null, wins: result.labels.map(() => 0) });
  const known = new Map();
  result.answers.forEach(({ choices, scores, winner, world: asked }, position) => {
    const outside = (world !== null && world !== asked) || choices.some(
      (value, a) => a !== rows && a !== columns && fixed[a] !== null && fixed[a] !== value,
    );
    if (outside) return;
    const [row, column] = [rows === null ? 0 : choices[rows], columns === null ? 0 : choices[columns]];
    const key = row * width + column;
    if (!known.has(key)) known.set(key, blank(row, column));
    const cell = known.get(key);
    if (!scores.length) {
      cell.silent += 1;
      return;
    }
    cell.positions.push(position);
    cell.sum += leadOf(scores, label);
    cell.mean = cell.sum / cell.positions.length;
    cell.shares += 1 / (1 + Math.exp(-leadOf(scores, label)));
    cell.share = cell.shares / cell.positions.length;
    if (winner >= 0) cell.wins[winner] += 1;
  });
  return {
    height: down.length,
    width: across.length,
    cells: [...known.values()],
    at: (i, j) => known.get(down[i] * width + across[j]) ?? blank(down[i], across[j]),
  };
}

/** Return "all", "some" or "none": how much of a cell of the map a rule speaks of. */
function coverage(result, rule, rows, columns, fixed, cell) {
  let all = true;
  for (const [a, value] of rule.left.choices.entries()) {
    if (!value) continue;
    const here = a === rows ? cell.row : a === columns ? cell.column : fixed[a];
    if (here === null) all = false;
    else if (!says(result, a, here, value)) return "none";
  }
  return all ? "all" : "some";
}

/** Return the attributes to begin the map with: the longest, and the one that matters most beside. */
function mapAttributes(result, label) {
  const indices = [...result.attributes.keys()];
  if (!indices.length) return [null, null];
  const length = (a) => result.attributes[a].values.length;
  const rows = indices.reduce((best, a) => (length(a) > length(best) ? a : best), 0);
  const spread = (a) => {
    const means = mapOf(result, a, null, result.attributes.map(() => null), label)
      .cells.map((cell) => cell.mean)
      .filter(Number.isFinite);
    return means.length ? Math.max(...means) - Math.min(...means) : 0;
  };
  const others = indices.filter((a) => a !== rows).map((a) => [a, spread(a)]);
  if (!others.length) return [rows, null];
  return [rows, others.reduce((best, other) => (other[1] > best[1] ? other : best))[0]];
}

/** Return the step of the colour scale, -4 to 4, of a value; `widest` is the largest there is. */
function stepOf(value, widest) {
  if (value === null || Number.isNaN(value)) return null;
  if (Math.abs(value) === Infinity) return 4 * Math.sign(value);
  const share = widest ? Math.abs(value) / widest : 0;
  return share < 0.04 ? 0 : Math.sign(value) * Math.min(4, Math.ceil(share * 4));
}

/** Return a rule as text. */
function ruleText(rule) {
  const side = (names) => names.join(" ∧ ") || "⊤";
  return `${side(rule.if)} → ${rule.then === null ? "⊥" : side(rule.then)}`;
}

/**
 * Return every answer as CSV, a line for each. Where prompts were averaged, they stand together:
 * the scores are those of none of them alone.
 */
function answersCsv(result) {
  const several = result.worlds.length > 1;
  const rows = result.answers.map((answer) => [
    answer.prompts.join(" | "),
    ...(several ? [result.worlds[answer.world].name] : []),
    ...answer.choices.map((value, a) => (value ? result.attributes[a].values[value - 1] : null)),
    ...(result.labelled ? result.labels.map((_, i) => answer.scores[i] ?? null) : []),
    answer.winner < 0 ? null : result.labels[answer.winner].name,
    answer.scores.length ? answer.margin : null,
    ...(result.hasDraws ? [answer.drawn ? "at random" : "chosen"] : []),
  ]);
  const scores = (result.labelled ? result.labels : []).map(({ name, word }) => (several ? name : result.averaged ? `mean of ${word}` : word));
  return csvText([
    [result.averaged ? "prompts" : result.unit, ...(several ? [result.noun] : []), ...result.attributes.map((a) => a.name), ...scores, "winner", "margin", ...(result.hasDraws ? ["asked"] : [])],
    ...rows,
  ]);
}
