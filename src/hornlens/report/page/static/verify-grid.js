// The page's own checker, 2: sets of points, as bits of 32-bit words. The points of a space stand in
// a grid with an axis for each attribute, the first varying first, the label's last.

((v) => {
  v.emptyBits = (size) => new Uint32Array((size + 31) >>> 5);
  v.setBit = (bits, i) => (bits[i >>> 5] |= 1 << (i & 31));
  v.hasBit = (bits, i) => ((bits[i >>> 5] >>> (i & 31)) & 1) === 1;

  v.andWith = (bits, other) => {
    for (let i = 0; i < bits.length; i++) bits[i] &= other[i];
    return bits;
  };
  v.orWith = (bits, other) => {
    for (let i = 0; i < bits.length; i++) bits[i] |= other[i];
    return bits;
  };
  v.without = (bits, other) => {
    for (let i = 0; i < bits.length; i++) bits[i] &= ~other[i];
    return bits;
  };

  v.countBits = (bits) => {
    let count = 0;
    for (let word of bits) {
      word -= (word >>> 1) & 0x55555555;
      word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
      count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    }
    return count;
  };

  /** Return the place of the first bit of both sets; -1 if they have none in common. */
  v.firstOfBoth = (bits, other) => {
    for (let i = 0; i < bits.length; i++) {
      const word = bits[i] & other[i];
      if (word) return 32 * i + 31 - Math.clz32(word & -word);
    }
    return -1;
  };

  v.bitList = (bits) => {
    const places = [];
    for (let i = 0; i < bits.length; i++) {
      for (let word = bits[i]; word; word &= word - 1) places.push(32 * i + 31 - Math.clz32(word & -word));
    }
    return places;
  };

  const fill = (bits, from, to) => {
    for (let i = from; i < to; ) {
      if ((i & 31) === 0 && i + 32 <= to) {
        bits[i >>> 5] = 0xffffffff;
        i += 32;
      } else v.setBit(bits, i++);
    }
  };

  /** Or the bits of `bits` at `mask`, moved down by `step`, into `bits`: they land outside of `mask`. */
  const orDown = (bits, mask, step) => {
    const words = step >>> 5;
    const rest = step & 31;
    for (let i = 0; i + words < bits.length; i++) {
      let word = (bits[i + words] & mask[i + words]) >>> rest;
      if (rest && i + words + 1 < bits.length) word |= (bits[i + words + 1] & mask[i + words + 1]) << (32 - rest);
      bits[i] |= word;
    }
  };

  v.Grid = class {
    constructor(space) {
      this.space = space;
      this.size = space.size;
      this.everything = v.emptyBits(this.size);
      fill(this.everything, 0, this.size);
      this.columns = space.names.map(() => v.emptyBits(this.size));
      this.axes = [];
      let stride = 1;
      for (const choices of space.axes) {
        const at = choices.map((_, place) => this.atPlace(stride, choices.length, place));
        choices.forEach((choice, place) => {
          for (const variable of v.places(choice)) v.orWith(this.columns[variable], at[place]);
        });
        this.axes.push({ choices, at, stride, places: new Map(choices.map((choice, place) => [choice, place * stride])), downs: covers(choices, stride) });
        stride *= choices.length;
      }
    }

    /** How much work it is to find intersections, in words. */
    get work() {
      return this.columns.length * this.everything.length * this.axes.reduce((count, { downs }) => count + downs.length, 1);
    }

    atPlace(stride, count, place) {
      const bits = v.emptyBits(this.size);
      for (let from = place * stride; from < this.size; from += stride * count) fill(bits, from, from + stride);
      return bits;
    }

    /** Return the place of an interpretation; -1 if it is no point. */
    index(x) {
      let index = 0;
      for (let i = 0; i < this.axes.length; i++) {
        const place = this.axes[i].places.get(x & this.space.groups[i]);
        if (place === undefined) return -1;
        index += place;
      }
      return index;
    }

    point(index) {
      let x = 0n;
      for (const { choices } of this.axes) {
        x |= choices[index % choices.length];
        index = Math.floor(index / choices.length);
      }
      return x;
    }

    has(points, x) {
      const index = this.index(x);
      return index >= 0 && v.hasBit(points, index);
    }

    /** Return the points that can occur: in a complete space, those that say all. */
    occurring() {
      const { ends, labelMasks, labels } = this.space;
      const points = this.everything.slice();
      if (!ends) return points;
      [...ends, ...(labels.length ? [labelMasks] : [])].forEach((some, i) => {
        const here = v.emptyBits(this.size);
        const { at, choices } = this.axes[i];
        for (const choice of some) v.orWith(here, at[choices.indexOf(choice)]);
        v.andWith(points, here);
      });
      return points;
    }

    having(x) {
      const points = this.everything.slice();
      for (const variable of v.places(x)) v.andWith(points, this.columns[variable]);
      return points;
    }

    breaking({ left, both }) {
      const points = this.having(left);
      return both === null ? points : v.without(points, this.having(both));
    }

    *breakingAny(rules) {
      const points = v.emptyBits(this.size);
      for (const each of rules) {
        v.orWith(points, this.breaking(each));
        yield;
      }
      return points;
    }

    /** Return what all of the points have that also are in `others`; null if there are none. */
    common(points, others) {
      const both = v.andWith(points.slice(), others);
      if (!both.some(Boolean)) return null;
      let shared = 0n;
      this.columns.forEach((column, variable) => {
        if (both.every((word, i) => (word & ~column[i]) === 0)) shared |= 1n << BigInt(variable);
      });
      return shared;
    }

    /** Turn points into those that say no more than one of them. */
    below(points) {
      for (const { at, downs } of this.axes) for (const [place, step] of downs) orDown(points, at[place], step);
      return points;
    }

    /** Return the points that are intersections of some of the given ones. */
    *intersections(points) {
      const result = this.below(points.slice());
      for (const column of this.columns) {
        const lacking = this.below(v.without(points.slice(), column));
        for (let i = 0; i < result.length; i++) result[i] &= column[i] | lacking[i];
        yield;
      }
      return result;
    }

    /** Return how many cells have one of the points: labels vary last. */
    cells(points) {
      if (!this.space.labels.length) return v.countBits(points);
      const { stride } = this.axes.at(-1);
      const seen = v.emptyBits(stride);
      for (const index of v.bitList(points)) v.setBit(seen, index % stride);
      return v.countBits(seen);
    }
  };

  /** For each choice, from the one that says most, those just below it: [place, how far down]. */
  function covers(choices, stride) {
    const downs = [];
    for (let p = choices.length - 1; p > 0; p--) {
      const under = [];
      for (let q = p - 1; q >= 0; q--) {
        if (v.within(choices[q], choices[p]) && !under.some((u) => v.within(choices[q], choices[u]))) under.push(q);
      }
      downs.push(...under.map((q) => [p, (p - q) * stride]));
    }
    return downs;
  }
})(Verifier);
