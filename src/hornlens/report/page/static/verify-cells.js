// The page's own checker, 8: the rules of a classifier, against its recorded cells and rows.

((v) => {
  const OUTSIDE = -1;
  const OPEN = -2;
  const MOST_CELLS = 2e9;

  /** Return numbers that a document holds packed; null where the browser cannot unpack them. */
  async function numbers(text, kind) {
    if (typeof DecompressionStream === "undefined") return null;
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new kind(await new Response(stream).arrayBuffer());
  }

  /** Return the packed parts of a classifier's document; null where they cannot be read here. */
  v.unpack = async (content) => {
    try {
      const { cells, rows } = content.classifier;
      const parts = {
        labels: await numbers(cells.labels, Int8Array),
        cells: cells.kind === "grid" ? [] : await numbers(cells.cells, Uint16Array),
        rows: await numbers(rows.cells, Uint16Array),
        said: await numbers(rows.said, Int8Array),
      };
      return parts.labels === null ? null : parts;
    } catch (error) {
      return { error };
    }
  };

  /** Call `look` with the label and the place of each recorded cell of a box. */
  function* inside({ isGrid, sizes, steps, count, parts }, box, look) {
    const width = sizes.length;
    if (!isGrid) {
      for (let i = 0; i < count; i++) {
        if (i % 20_000 === 0) yield;
        let is = true;
        for (let axis = 0; is && axis < width; axis++) {
          const level = parts.cells[i * width + axis];
          is = box[axis][0] <= level && level <= box[axis][1];
        }
        if (is) look(parts.labels[i], i);
      }
      return;
    }
    const at = box.map(([low]) => low);
    for (let n = 0; ; n++) {
      if (n % 20_000 === 0) yield;
      const index = at.reduce((sum, level, axis) => sum + level * steps[axis], 0);
      if (parts.labels[index] !== OUTSIDE) look(parts.labels[index], index);
      let axis = width - 1;
      while (axis >= 0 && at[axis] === box[axis][1]) at[axis] = box[axis--][0];
      if (axis < 0) return;
      at[axis]++;
    }
  }

  v.checkClassifier = function* (content, notes, parts) {
    const section = content.classifier;
    const lines = v.list(content, "readable");
    notes.leave("the agreement with the model, coverage, the short list, flips, thresholds, warrants, generality, and rules in variables", [
      ...["classifier", "readable[].if", "readable[].then", "readable[].conditions", "readable[].warrant", "readable[].class", "readable", "certificate", "statistics", "space", "background", "variables", "rules", "non_horn", "open", "sift"],
    ]);
    notes.leave("that the classes are the model's own: ask it again");
    if (v.field(v.objectOf(content, "certificate"), "rules") !== lines.length) v.wrong(`certificate: there are ${lines.length} rules, not ${content.certificate.rules}`);
    if (!parts) {
      notes.leave("the cells and rows: this browser cannot unpack them", ["readable"]);
      return;
    }
    if (parts.error) v.wrong(`cells: they cannot be read (${parts.error.message})`);
    const sizes = v.list(section, "features").map((feature) => v.numberOf(feature, "levels"));
    const isGrid = section.cells.kind === "grid";
    const product = sizes.reduce((count, size) => count * size, 1);
    if (isGrid && parts.labels.length !== product) v.wrong(`cells: ${parts.labels.length} classes for ${product} cells`);
    const record = { isGrid, sizes, parts, count: parts.labels.length, steps: sizes.map((_, i) => sizes.slice(i + 1).reduce((a, b) => a * b, 1)) };
    notes.unit = "cell";
    notes.count = parts.labels.reduce((count, label) => count + (label >= 0 ? 1 : 0), 0);
    const boxes = lines.map((line) => {
      const box = sizes.map((size) => [0, size - 1]);
      for (const [axis, low, high] of v.list(line, "box")) {
        if (!(0 <= low && low <= high && high < sizes[axis]) || (low === 0 && high === sizes[axis] - 1)) v.wrong(`${shown(line)}: its box is none`);
        box[axis] = [low, high];
      }
      return box;
    });
    const covered = new Uint8Array(record.count);
    const work = boxes.reduce((sum, box) => sum + (isGrid ? box.reduce((n, [low, high]) => n * (high - low + 1), 1) : record.count), 0);
    if (work > MOST_CELLS) {
      notes.leave("that rules are true of every recorded cell: too many for a page", ["readable"]);
      return;
    }
    for (const [i, line] of lines.entries()) {
      const place = v.list(section, "classes").indexOf(v.field(line, "class"));
      let count = 0;
      yield* inside(record, boxes[i], (label, at) => {
        count++;
        covered[at] = 1;
        if (label === OPEN) v.wrong(`${shown(line)}: a cell that was not asked is in its box`);
        if (label !== place) v.wrong(`${shown(line)}: a cell of another class is in its box`);
      });
      if (v.field(line, "cells") !== count) v.wrong(`${shown(line)}: ${count} cells are in its box, not ${line.cells}`);
      checkRows(line, boxes[i], place, record, v.numberOf(section.rows, "count"));
    }
    if (content.certificate.complete?.decides) {
      for (let i = 0; i < record.count; i++) if (!covered[i] && parts.labels[i] !== OUTSIDE) v.wrong("a cell is decided by no rule");
    }
    notes.checked.push(`${v.show(lines.length)} rules: true of every recorded cell, with the support and confidence that the rows give`);
    if (content.certificate.complete?.decides) notes.checked.push(`complete: a rule decides each of ${v.show(notes.count)} cells`);
  };

  const shown = (line) => `${(line.conditions ?? []).join(" ∧ ") || "⊤"} → ${line.class}`;

  /** Count again which rows a rule is about, and how many of them have its class. */
  function checkRows(line, box, place, { parts, sizes }, count) {
    let [support, same] = [0, 0];
    if (parts.said.length !== count || parts.rows.length < count * sizes.length) v.wrong("rows: not as many as are counted");
    for (let i = 0; i < count; i++) {
      const is = box.every(([low, high], axis) => low <= parts.rows[i * sizes.length + axis] && parts.rows[i * sizes.length + axis] <= high);
      if (!is) continue;
      support++;
      if (parts.said[i] === place) same++;
    }
    const share = support ? same / support : null;
    if (v.field(line, "support") !== support) v.wrong(`${shown(line)}: support is ${support}, not ${line.support}`);
    if (v.field(line, "confidence") !== share) v.wrong(`${shown(line)}: confidence is ${share}, not ${line.confidence}`);
  }
})(Verifier);
