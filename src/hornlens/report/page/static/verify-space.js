// The page's own checker, 1: spaces and rules. It shares nothing with the other scripts of the page.
//
// A set of variables is a BigInt whose bits are the variables. A rule has its left side as `left`,
// and as `both` that with its right side; null for ⊥.

const Verifier = {};

((v) => {
  /** Something in a document is not so. */
  v.Wrong = class extends Error {};
  v.wrong = (what) => {
    throw new v.Wrong(what);
  };

  v.has = (line, key) => Object.hasOwn(line, key) && line[key] !== null;

  /** Return a field that has to be there. */
  v.field = (line, key) =>
    line !== null && typeof line === "object" && Object.hasOwn(line, key) ? line[key] : v.wrong(`${key}: it is missing`);

  /** Return a field that has to be a list. */
  v.list = (line, key) => {
    const value = v.field(line, key);
    return Array.isArray(value) ? value : v.wrong(`${key}: it is no list`);
  };

  v.objectOf = (line, key) => {
    const value = v.field(line, key);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : v.wrong(`${key}: it is missing`);
  };

  v.number = (value) => (typeof value === "number" ? value : v.wrong(`${value} is no number`));
  v.numberOf = (line, key) => v.number(v.field(line, key));

  v.ascending = (list) => [...list].sort((a, b) => a - b);
  v.sameList = (one, other) => one.length === other.length && one.every((value, i) => value === other[i]);
  v.show = (count) => count.toLocaleString("en");

  v.sizeOf = (mask) => {
    let count = 0;
    for (; mask; mask &= mask - 1n) count++;
    return count;
  };

  /** Return the places of the ones of a set of variables. */
  v.places = (mask) => {
    const text = mask.toString(2);
    const places = [];
    for (let i = text.length - 1; i >= 0; i--) if (text[i] === "1") places.push(text.length - 1 - i);
    return places;
  };

  v.within = (part, whole) => (part & ~whole) === 0n;
  v.breaks = (x, { left, both }) => v.within(left, x) && (both === null || !v.within(both, x));

  /** Return `x` with all that follows from it; null if that is a contradiction. */
  v.chain = (x, rules) => {
    for (;;) {
      const before = x;
      for (const { left, both } of rules) {
        if (!v.within(left, x)) continue;
        if (both === null) return null;
        x |= both;
      }
      if (x === before) return x;
    }
  };

  const pairs = (list) => list.slice(1).map((second, i) => [list[i], second]);
  const union = (masks) => masks.reduce((all, mask) => all | mask, 0n);
  const rule = (left, right) => ({ left, both: right === null ? null : left | right });
  const key = ({ left, both }) => `${left.toString(36)} ${both === null ? "" : both.toString(36)}`;

  const atMostOne = (group) => group.flatMap((a, i) => group.slice(i + 1).map((b) => rule(a | b, null)));

  /** An attribute of numbers or of ordered values: above some cuts, below others. */
  function intervals(line, at) {
    let names;
    if (line.cuts?.length) {
      const after = Object.hasOwn(line, "after") ? v.list(line, "after") : [];
      const exact = Object.hasOwn(line, "at") ? v.list(line, "at") : line.cuts.map(Number);
      const shown = line.cuts.map(Number);
      const isSingle = (i) => Math.fround(shown[i]) === Math.fround(exact[i]);  // as trees compare
      const isClose = (i) => Math.abs(shown[i] - exact[i]) <= 1e-6 * Math.abs(exact[i]);  // as pages show it
      const isBelow = (i) => (after.includes(i) ? shown[i] < exact[i] : shown[i] <= exact[i] || isSingle(i) || isClose(i));
      if (exact.length !== shown.length || pairs(exact).some(([low, high]) => !(low < high || (low === high && Math.abs(low) > Number.MAX_SAFE_INTEGER)))) v.wrong("space: cuts that do not go up");
      if (after.some((i) => !Number.isInteger(i) || !(i in shown))) v.wrong("space: a threshold that is no cut");
      if (!shown.every((_, i) => isBelow(i))) v.wrong("space: a cut that is shown as a number above it");
      names = line.cuts.map((cut, i) => `${line.name} ${after.includes(i) ? ">" : "≥"} ${cut}`);
      names.push(...line.cuts.map((cut, i) => `${line.name} ${after.includes(i) ? "≤" : "<"} ${cut}`));
    } else {
      const levels = v.list(line, "levels");
      names = [...levels.slice(1).map((value) => `${line.name} ≥ ${value}`), ...levels.slice(0, -1).map((value) => `${line.name} ≤ ${value}`)];
    }
    const m = names.length / 2;
    const up = Array.from({ length: m }, (_, i) => 1n << BigInt(at + i));
    const down = Array.from({ length: m }, (_, i) => 1n << BigInt(at + m + i));
    let choices = [];
    let ends = [];
    for (let width = m + 1; width >= 1; width--) {
      for (let low = 0; low + width <= m + 1; low++) {
        const choice = union(up.slice(0, low)) | union(down.slice(low + width - 1));
        choices.push(choice);
        if (width === 1) ends.push(choice);
      }
    }
    const rules = pairs(up).map(([low, high]) => rule(high, low));
    rules.push(...pairs(down).map(([low, high]) => rule(low, high)), ...up.map((a, i) => rule(a | down[i], null)));
    if (line.missing) {
      const known = 1n << BigInt(at + 2 * m);
      const absent = known << 1n;
      names.push(`${line.name} is known`, `${line.name} is missing`);
      choices = [0n, ...choices.map((choice) => known | choice), absent];
      ends = [...ends.map((end) => known | end), absent];
      rules.push(rule(up[0], known), rule(down[m - 1], known), rule(known | absent, null));
    }
    return { names, choices, ends, rules, ofEnds: [] };
  }

  /** An attribute of values, each of which may stand under another. */
  function values(line, at) {
    const names = [...v.list(line, "values")];
    const above = line.under?.length ? line.under : names.map(() => null);
    const bit = new Map(names.map((name, i) => [name, 1n << BigInt(at + i)]));
    const path = new Map([[null, 0n]]);
    const beside = new Map();
    const rules = [];
    if (above.length !== names.length) v.wrong("space: not as many values as what stands above them");
    names.forEach((name, i) => {
      if (!path.has(above[i])) v.wrong("space: a value under one that is not there before it");
      path.set(name, path.get(above[i]) | bit.get(name));
      beside.set(above[i], [...(beside.get(above[i]) ?? []), name]);
      if (above[i] !== null) rules.push(rule(bit.get(name), bit.get(above[i])));
    });
    const ofEnds = [];
    for (const [up, group] of beside) {
      rules.push(...atMostOne(group.map((name) => bit.get(name))));
      if (Object.hasOwn(line, "under") && group.length === 1 && names.length > 1) {
        ofEnds.push(rule(up === null ? 0n : bit.get(up), bit.get(group[0])));
      }
    }
    const paths = names.map((name) => path.get(name));
    const ends = names.filter((name) => !beside.has(name)).map((name) => path.get(name));
    return { names, choices: [0n, ...paths], ends: names.length > 1 ? ends : [0n, ...paths], rules, ofEnds };
  }

  /** The variables of a document by name; what each attribute can say, and takes for granted. */
  v.Space = class {
    constructor(content) {
      const space = content.space ?? null;
      const variables = v.list(content, "variables");
      if (!space && Object.hasOwn(content, "answers")) v.objectOf(content, "space");
      const lines = space ? v.list(space, "attributes") : variables.map((name) => ({ name, values: [name] }));
      const label = space && v.field(space, "label") !== null ? v.objectOf(space, "label") : null;
      const complete = Boolean(space?.complete);
      this.names = [];
      this.axes = [];
      this.ends = complete ? [] : null;
      this.own = new Map();
      for (const line of label ? [...lines, label] : lines) {
        const read = (Object.hasOwn(line, "cuts") || Object.hasOwn(line, "levels") ? intervals : values)(line, this.names.length);
        const isLabel = label !== null && line === label;
        this.names.push(...read.names);
        this.axes.push([...new Set(read.choices)].map((mask) => [v.sizeOf(mask), mask]).sort(([n, a], [m, b]) => n - m || (a < b ? -1 : 1)).map(([, mask]) => mask));
        const own = complete && !isLabel ? [...read.rules, ...read.ofEnds] : read.rules;
        for (const each of own) this.own.set(key(each), each);
        if (complete && !isLabel) this.ends.push(read.ends);
      }
      if (!v.sameList(this.names, variables) || new Set(variables).size < variables.length) v.wrong("variables: not those of the attributes");
      this.always = space && Object.hasOwn(space, "label_always") ? Boolean(space.label_always) : true;
      if (complete && !this.always) v.wrong("space: complete, and the label may be unset");
      this.at = new Map(this.names.map((name, i) => [name, BigInt(i)]));
      this.labels = label ? label.values : [];
      this.labelMasks = this.labels.map((name) => this.mask([name]));
      this.labelMask = union(this.labelMasks);
      this.groups = this.axes.map(union);
      this.size = this.axes.reduce((count, axis) => count * axis.length, 1);
    }

    mask(names) {
      let mask = 0n;
      for (const name of names) {
        if (!this.at.has(name)) v.wrong(`${name}: no variable of this document`);
        mask |= 1n << this.at.get(name);
      }
      return mask;
    }

    rules(lines) {
      return lines.flatMap((line) => {
        if (Object.hasOwn(line, "at_most_one")) return atMostOne(line.at_most_one.map((name) => this.mask([name])));
        const then = v.field(line, "then");
        return [rule(this.mask(v.list(line, "if")), then === null ? null : this.mask(then))];
      });
    }

    /** Return the background; it has to have all that the attributes take for granted. */
    background(lines) {
      const rules = this.rules(lines);
      const listed = new Set(rules.map(key));
      for (const [name, own] of this.own) if (!listed.has(name)) v.wrong(`background: lacks ${this.showRule(own)}`);
      return rules;
    }

    isOwn(each) {
      return this.own.has(key(each));
    }

    /** Return how many cells so many points are, each with all labels that it can have. */
    cellsOf(points) {
      return this.labels.length ? Math.floor(points / (this.labels.length + (this.ends ? 0 : 1))) : points;
    }

    show(mask) {
      return `{${v.places(mask).map((i) => this.names[i]).join(", ")}}`;
    }

    showRule({ left, both }) {
      const side = (mask) => v.places(mask).map((i) => this.names[i]).join(" ∧ ") || "⊤";
      return `${side(left)} → ${both === null ? "⊥" : side(both & ~left)}`;
    }
  };
})(Verifier);
