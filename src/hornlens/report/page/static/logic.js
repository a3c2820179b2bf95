// What the page works out from envelope.json. Pure functions: nothing here knows the document.
//
// A cell is a list of choices, one for each attribute: 0 is unset, i the i-th value. A label is a
// position in `labels`, -1 none. An interpretation is {choices, label}.

/** Return envelope.json as the page works with it. */
function readResult(content) {
  // JSON objects with keys such as "1" lose their order in JavaScript; the variables have kept it.
  const order = new Map(content.variables.map((name, i) => [name, i]));
  const attributes = Object.entries(content.probe.attributes)
    .map(([name, values]) => ({ name, values }))
    .sort((a, b) => order.get(a.values[0]) - order.get(b.values[0]));
  const labels = Object.entries(content.probe.label)
    .map(([name, word]) => ({ name, word }))
    .sort((a, b) => order.get(a.name) - order.get(b.name));
  const place = new Map();
  attributes.forEach((a, i) => a.values.forEach((value, v) => place.set(value, [i, v + 1])));
  labels.forEach((label, i) => place.set(label.name, [-1, i]));
  const interpretation = (names) => {
    const choices = new Array(attributes.length).fill(0);
    let label = -1;
    for (const name of names) {
      const [attribute, value] = place.get(name);
      if (attribute < 0) label = value;
      else choices[attribute] = value;
    }
    return { choices, label };
  };
  const answers = content.answers.map((answer) => ({
    ...answer,
    choices: interpretation(answer.set).choices,
    winner: answer.winner === null ? -1 : place.get(answer.winner)[1],
  }));
  const rules = content.readable.map((line, i) => ({
    ...line,
    index: i,
    left: interpretation(line.if),
    right: line.then === null ? null : interpretation(line.then),
    canonical: content.rules[i],
  }));
  return {
    content,
    attributes,
    labels,
    answers,
    rules,
    policy: content.policy,
    exact: content.certificate.kind === "exact",
    examples: content.non_horn.examples.map(interpretation),
    at: new Map(answers.map((answer, i) => [answer.choices.join(), i])),
  };
}

/** Return the names of an interpretation, in the order of the variables. */
function namesOf(result, { choices, label }) {
  const names = choices.flatMap((v, a) => (v ? [result.attributes[a].values[v - 1]] : []));
  return label < 0 ? names : [...names, result.labels[label].name];
}

/** Say whether a cell has what the left side of a rule asks of it. */
function speaksOf(rule, choices) {
  return rule.left.choices.every((value, a) => !value || value === choices[a]);
}

/** Say whether a rule, of a cell that it speaks of, rejects a label (or -1, none). */
function rejects(rule, choices, label) {
  if (rule.left.label >= 0 && rule.left.label !== label) return false;
  if (rule.right === null) return true;
  if (rule.right.label >= 0 && rule.right.label !== label) return true;
  return rule.right.choices.some((value, a) => value && value !== choices[a]);
}

/** Say whether the model's answer to a cell that a rule speaks of is one that the rule rejects. */
function breaks(rule, answer) {
  return answer.winner >= 0 && rejects(rule, answer.choices, answer.winner);
}

/** Return by how much a rule holds in an answer; null if the answer does not speak for it. */
function marginOf(result, rule, answer) {
  const rejected = result.labels.map((_, i) => i).filter((i) => rejects(rule, answer.choices, i));
  if (!rejected.length || answer.winner < 0 || rejected.includes(answer.winner)) return null;
  return answer.scores[answer.winner] - Math.max(...rejected.map((i) => answer.scores[i]));
}

/**
 * Return the prompts of a rule: those whose answers break it, widest lead first, those that force
 * it, closest first, and the others. Only rules that are not exact are ever broken.
 */
function evidenceOf(result, rule) {
  const breaking = [];
  const forcing = [];
  const others = [];
  for (const position of rule.evidence) {
    const answer = result.answers[position];
    const margin = marginOf(result, rule, answer);
    if (margin !== null) forcing.push({ position, margin });
    else if (breaks(rule, answer)) breaking.push({ position, margin: answer.margin });
    else others.push({ position, margin });
  }
  breaking.sort((a, b) => b.margin - a.margin || a.position - b.position);
  forcing.sort((a, b) => a.margin - b.margin || a.position - b.position);
  return { breaking, forcing, others };
}

/** Return how far a label leads the best of the others; two endless scores are a tie. */
function leadOf(scores, label) {
  const best = Math.max(...scores.filter((_, i) => i !== label));
  return scores[label] === best ? 0 : scores[label] - best;
}

/** Say whether the model accepts a label (or -1, none) in an answer, under the policy. */
function accepts(result, answer, label) {
  if (label < 0) return result.policy.label_unset === "accept";
  if (answer.winner < 0) return result.policy.abstain === "accept";
  return answer.winner === label;
}

/** Return the non-Horn negatives among the answers: rejected by the model, but by no rule. */
function nonHornNegatives(result) {
  const options = [-1, ...result.labels.keys()];
  const byRules = result.answers.map(() => new Set());
  for (const rule of result.rules) {
    for (const position of rule.evidence) {
      const { choices } = result.answers[position];
      for (const label of options) if (rejects(rule, choices, label)) byRules[position].add(label);
    }
  }
  const found = [];
  result.answers.forEach((answer, position) => {
    for (const label of options) {
      if (!accepts(result, answer, label) && !byRules[position].has(label)) {
        found.push({ choices: answer.choices, label });
      }
    }
  });
  const size = ({ choices, label }) => choices.filter(Boolean).length + (label >= 0);
  return found.map((x, i) => [size(x), i, x]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((x) => x[2]);
}

/** Return a few accepted interpretations whose intersection is `x`; null if none are known. */
function intersectionOf(result, x) {
  const above = [];
  result.answers.forEach((answer, position) => {
    if (!x.choices.every((value, a) => !value || value === answer.choices[a])) return;
    for (const label of result.labels.keys()) {
      if (x.label >= 0 && x.label !== label) continue;
      if (accepts(result, answer, label)) above.push({ choices: answer.choices, label, position });
    }
  });
  const extras = (y) =>
    y.choices.filter((value, a) => value && value !== x.choices[a]).length + (y.label !== x.label);
  const meet = (y, z) => ({
    choices: y.choices.map((value, a) => (value === z.choices[a] ? value : 0)),
    label: y.label === z.label ? y.label : -1,
  });
  const chosen = [];
  let common = null;
  while (common === null || extras(common) > 0) {
    let best = null;
    for (const y of above) {
      const left = extras(common === null ? y : meet(common, y));
      const better = best === null || left < best.left || (left === best.left && extras(y) < best.size);
      if (better) best = { y, left, size: extras(y) };
    }
    if (best === null || (common !== null && best.left >= extras(common))) return null;
    chosen.push(best.y);
    common = common === null ? best.y : meet(common, best.y);
  }
  return chosen;
}

/** Return what the rules say of a cell: those that speak of it, and who rejects which label. */
function verdictOf(result, choices) {
  const speaking = result.rules.filter((rule) => speaksOf(rule, choices));
  const rejecting = result.labels.map((_, label) =>
    speaking.filter((rule) => rejects(rule, choices, label)),
  );
  return { speaking, rejecting, allowed: [...result.labels.keys()].filter((i) => !rejecting[i].length) };
}

/**
 * Return the map of a label's lead over two attributes (null: none): its height and width, its
 * cells that have answers, and `at(row, column)` for any.
 *
 * `fixed` has for each other attribute a choice, or null: averaged. A cell has the positions of its
 * answers, the mean of their leads, and how often each label won.
 */
function mapOf(result, rows, columns, fixed, label) {
  const length = (attribute) => (attribute === null ? 1 : result.attributes[attribute].values.length + 1);
  const [height, width] = [length(rows), length(columns)];
  const blank = (row, column) => ({ row, column, positions: [], sum: 0, mean: null, wins: result.labels.map(() => 0) });
  const known = new Map();
  result.answers.forEach(({ choices, scores, winner }, position) => {
    const outside = choices.some(
      (value, a) => a !== rows && a !== columns && fixed[a] !== null && fixed[a] !== value,
    );
    if (outside) return;
    const [row, column] = [rows === null ? 0 : choices[rows], columns === null ? 0 : choices[columns]];
    const key = row * width + column;
    if (!known.has(key)) known.set(key, blank(row, column));
    const cell = known.get(key);
    cell.positions.push(position);
    cell.sum += leadOf(scores, label);
    cell.mean = cell.sum / cell.positions.length;
    if (winner >= 0) cell.wins[winner] += 1;
  });
  return {
    height,
    width,
    cells: [...known.values()],
    at: (row, column) => known.get(row * width + column) ?? blank(row, column),
  };
}

/** Return "all", "some" or "none": how much of a cell of the map a rule speaks of. */
function coverage(rule, rows, columns, fixed, cell) {
  let all = true;
  for (const [a, value] of rule.left.choices.entries()) {
    if (!value) continue;
    const here = a === rows ? cell.row : a === columns ? cell.column : fixed[a];
    if (here === null) all = false;
    else if (here !== value) return "none";
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

/** Return a rule as LaTeX, for amsmath. */
function ruleLatex(rule) {
  const special = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
  const safe = (name) => name.replace(/[\\~^&%$#_{}]/g, (c) => special[c] ?? `\\${c}`);
  const side = (names) => names.map((name) => `\\text{${safe(name)}}`).join(" \\land ") || "\\top";
  return `$${side(rule.if)} \\to ${rule.then === null ? "\\bot" : side(rule.then)}$`;
}

/** Return rules.csv, in the given order of the rules. */
function rulesCsv(rules) {
  const side = (names) => (names === null ? "FALSE" : names.join("; "));
  return csvText([
    ["if", "then", "support", "prompts", "mean_margin", "smallest_margin", "sentence", "canonical_if", "canonical_then"],
    ...rules.map((rule) => [
      side(rule.if),
      side(rule.then),
      rule.support,
      rule.prompts,
      rule.mean_margin,
      rule.closest?.margin ?? null,
      rule.sentence,
      side(rule.canonical.if),
      side(rule.canonical.then),
    ]),
  ]);
}

/** Return every answer as CSV: a line for each prompt. */
function answersCsv(result) {
  const rows = result.answers.flatMap((answer) =>
    answer.prompts.map((prompt) => [
      prompt,
      ...answer.choices.map((value, a) => (value ? result.attributes[a].values[value - 1] : null)),
      ...answer.scores,
      answer.winner < 0 ? null : result.labels[answer.winner].name,
      answer.margin,
    ]),
  );
  return csvText([
    ["prompt", ...result.attributes.map((a) => a.name), ...result.labels.map((l) => l.word), "winner", "margin"],
    ...rows,
  ]);
}
