// Cells: inputs as levels of each feature, the class of each, and which rules speak of it.

const OUTSIDE = -1;
const NOT_ASKED = -2; // the run was ended before
const CODES = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/";
const CLOSE = 1e-9; // as in the proofs: closer sums are left to the model itself

/** What the scripts work with, of the page's two blocks of data. */
function readExplanation(given, view) {
  const content = asExplanation(given);
  const { features, classes } = content;
  const sizes = features.map((feature) => feature.levels);
  const steps = sizes.map((_, axis) => sizes.slice(axis + 1).reduce((a, b) => a * b, 1));
  const places = new Map(classes.map((label, place) => [label, place]));
  const rules = content.rules.slice(0, view.rules).map((rule, index) => ({ ...rule, index, place: places.get(rule.then) }));
  const labels = view.labels === null ? null : [...view.labels].map((code) => (code === "?" ? NOT_ASKED : CODES.indexOf(code)));
  const listed = view.cells === null ? null : new Map(view.cells.map((cell, at) => [cell.join(), at]));
  const trees = readTrees(content);
  const forbidden = (content.forbidden ?? []).map(readBox);
  const plausible = { most: content.plausible?.most_broken ?? 0, boxes: (content.plausible?.rules ?? []).map(({ box }) => readBox(box)) };
  return { forbidden, plausible, content, view, features, classes, sizes, steps, rules, labels, listed, cells: view.cells, trees };
}

/** The rules in conditions, with what they rest on: envelope.json has them in variables too. */
function asExplanation(given) {
  if (!given.classifier) return given; // of version 0.2
  const rules = given.readable.map((line) => ({ ...line, if: line.conditions, then: line.class }));
  return { ...given.classifier, certificate: given.certificate, rules };
}

const readBox = (levels) => Object.entries(levels).map(([axis, mask]) => [Number(axis), BigInt(mask)]);

const isIn = (box, cell) => box.every(([axis, mask]) => (mask >> BigInt(cell[axis])) & 1n);

function readTrees({ trees, classes, rounding }) {
  if (!trees) return null;
  const read = trees.map((tree) =>
    tree.map(({ levels, scores }) => ({ scores, levels: readBox(levels) })),
  );
  const largest = read.map((tree) => Math.max(...tree.flatMap(({ scores }) => scores.map(Math.abs))));
  return { read, close: (rounding ?? CLOSE) * Math.max(1, largest.reduce((a, b) => a + b, 0)), count: classes.length };
}

/** The level of a value: a number, a text or null; null if it has none. */
function levelOf(feature, value) {
  if (value === null) return feature.missing ? feature.levels - 1 : null;
  if (feature.cuts) {
    if (!Number.isFinite(value)) return null;
    return feature.cuts.filter((cut) => cut <= value).length;
  }
  const at = feature.values.indexOf(value);
  return at < 0 ? null : at;
}

/** Whether a cell occurs: whether no rule of the background rules it out, and it is plausible. */
function occurs({ forbidden, plausible }, cell) {
  const broken = plausible.boxes.filter((box) => isIn(box, cell)).length;
  return broken <= plausible.most && !forbidden.some((box) => isIn(box, cell));
}

/** The class of a cell: {place, how}; place is null where nothing in the page says it. */
function classOf(result, cell) {
  if (result.labels && !result.listed) {
    const place = result.labels[cell.reduce((sum, level, axis) => sum + level * result.steps[axis], 0)];
    if (place === OUTSIDE) return { place: null, how: "outside" };
    if (place !== NOT_ASKED) return { place, how: "asked" };
  }
  const at = result.listed?.get(cell.join());
  if (at !== undefined && result.labels[at] !== NOT_ASKED) return { place: result.labels[at], how: "asked" };
  if (result.trees) {
    if (!occurs(result, cell)) return { place: null, how: "outside" };
    const place = voteOf(result.trees, cell);
    if (place !== null) return { place, how: "trees" };
  }
  const rule = result.rules.find((candidate) => speaksOf(candidate, cell));
  return rule ? { place: rule.place, how: "rule" } : { place: null, how: "unknown" };
}

/** What the leaves add up to; null where rounding would decide. */
function voteOf({ read, close, count }, cell) {
  const sums = new Array(count).fill(0);
  for (const tree of read) {
    const leaf = tree.find(({ levels }) => isIn(levels, cell));
    if (!leaf) return null;
    leaf.scores.forEach((score, i) => (sums[i] += score));
  }
  const sorted = [...sums].sort((a, b) => b - a);
  return sorted.length > 1 && sorted[0] - sorted[1] <= close ? null : sums.indexOf(sorted[0]);
}

const speaksOf = (rule, cell) => rule.box.every(([axis, low, high]) => low <= cell[axis] && cell[axis] <= high);

/**
 * The cells behind each field of a map over two features (the second may be null), the others fixed
 * at a level or open (null): how many there are of each class, and how many were not asked.
 */
function countsOver(result, rows, columns, fixed) {
  const height = result.sizes[rows];
  const width = columns === null ? 1 : result.sizes[columns];
  const counts = Array.from({ length: height * width }, () => new Array(result.classes.length).fill(0));
  const unasked = new Array(height * width).fill(0);
  const add = (cell, place) => {
    if (place === OUTSIDE || fixed.some((level, axis) => level !== null && cell[axis] !== level)) return;
    const field = cell[rows] * width + (columns === null ? 0 : cell[columns]);
    if (place === NOT_ASKED) unasked[field] += 1;
    else counts[field][place] += 1;
  };
  if (result.listed) result.cells.forEach((cell, at) => add(cell, result.labels[at]));
  else {
    const cell = result.sizes.map(() => 0);
    for (const place of result.labels) {
      add(cell, place);
      for (let axis = cell.length - 1; axis >= 0; axis -= 1) {
        cell[axis] += 1;
        if (cell[axis] < result.sizes[axis]) break;
        cell[axis] = 0;
      }
    }
  }
  const at = (row, column) => counts[row * width + column];
  return { height, width, at, unaskedAt: (row, column) => unasked[row * width + column] };
}

/** A value of a row as people read it. */
function shownValue(value) {
  if (value === null) return "missing";
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}
