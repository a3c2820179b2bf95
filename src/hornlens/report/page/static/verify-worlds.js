// The page's own checker, 5: rules against what recorded answers accept, in each way of asking.

((v) => {
  v.MOST_POINTS = 1 << 21;

  /** The points of a space that each way of asking accepts, or may accept. */
  class Worlds {
    constructor(answers, background) {
      this.answers = answers;
      this.space = answers.space;
      this.background = background;
      this.names = [...answers.worlds.keys()];
      this.grid = null;
    }

    *layOut() {
      this.grid = new v.Grid(this.space);
      yield;
      this.allowed = v.without(this.grid.everything.slice(), yield* this.grid.breakingAny(this.background));
      this.inside = v.andWith(this.allowed.slice(), this.grid.occurring());
      this.cells = this.space.cellsOf(v.countBits(this.inside));
      const labels = this.grid.axes.at(-1);
      this.step = this.space.labels.length ? labels.stride : 0;
    }

    /** Return the place in the grid of an answer's cell without a label. */
    indexOf(i) {
      const index = this.grid.index(this.answers.cells[i]);
      const least = index + (this.space.ends !== null && this.space.labels.length ? this.step : 0);
      if (index < 0 || !v.hasBit(this.inside, least)) v.wrong(`answer ${i}: ${this.space.show(this.answers.cells[i])} cannot occur`);
      return index;
    }

    /** Set the points that an answer accepts. */
    mark(points, index, [unset, label]) {
      if (unset) v.setBit(points, index);
      if (label >= 0) v.setBit(points, index + (label + 1) * this.step);
      if (label === -2) for (let slot = 1; slot <= this.space.labels.length; slot++) v.setBit(points, index + slot * this.step);
    }

    union(sets, names) {
      const points = v.emptyBits(this.grid.size);
      for (const name of names) v.orWith(points, sets.get(name));
      return points;
    }

    closure(positive) {
      return (x) => this.grid.common(this.grid.having(x), positive);
    }

    /** Return the answers of some ways of asking that break a rule. */
    breaking(rule, names, as) {
      const places = this.answers.breaking(rule, as);
      return names.length === this.names.length ? places : places.filter((i) => names.includes(this.answers.lines[i].variant ?? null));
    }

    /** Check that each way of asking is named once, and that the answers said to break a rule do. */
    checkNamed(rule, line) {
      const broken = v.objectOf(line, "broken_in");
      const held = new Set([...v.list(line, "holds_in"), ...v.list(line, "vacuous_in")]);
      const named = [...held, ...Object.keys(broken), ...v.list(line, "unknown_in")].sort();
      if (!v.sameList(named, this.names.map(String).sort())) v.wrong("does not name each variant once");
      for (const [name, place] of Object.entries(broken)) {
        if (!this.breaking(rule, [name], "accepted").includes(place)) v.wrong(`answer ${place} does not break it in ${name}`);
      }
    }

    /** No answer may break what is listed or open, whatever else is not known. */
    *checkUnbroken(rules, what) {
      for (const rule of rules) {
        yield;
        const [place] = this.breaking(rule, this.names, "decided");
        if (place !== undefined) v.wrong(`${what} ${this.space.showRule(rule)}: answer ${place} breaks it`);
      }
    }

    checkSurvival(rule, line) {
      for (const name of v.list(line, "unknown_in")) {
        if (!this.names.includes(name)) v.wrong(`${name}: no variant`);
        const [place] = this.breaking(rule, [name], "said");
        if (place !== undefined) v.wrong(`answer ${place} breaks it in ${name}`);
      }
      this.checkNamed(rule, line);
    }
  }

  v.Worlds = Worlds;

  /** A target that was asked about every cell. */
  v.AllAnswers = class extends Worlds {
    *prepare() {
      yield* this.layOut();
      this.positive = new Map();
      this.possible = new Map();
      this.said = new Map();
      for (const [name, places] of this.answers.worlds) {
        if (places.length !== this.cells) v.wrong(`certificate: complete, but ${v.show(places.length)} of ${v.show(this.cells)} cells were asked`);
        const sets = [["accepted", this.positive], ["decided", this.possible], ["said", this.said]];
        for (const [, kept] of sets) kept.set(name, v.emptyBits(this.grid.size));
        for (const [n, i] of places.entries()) {
          if (n % 1000 === 0) yield;
          const index = this.indexOf(i);
          for (const [as, kept] of sets) this.mark(kept.get(name), index, this.answers.accepted(i, as));
        }
      }
    }

    *check(envelope, names, statistics, notes) {
      if (!envelope.claim.settled && !envelope.claim.noise) v.wrong("certificate: not complete, as that of the whole is");
      const positive = this.union(this.positive, names);
      if (Object.hasOwn(statistics, "negatives")) {
        const counted = { membership_queries: v.countBits(this.inside), negatives: v.countBits(v.without(this.inside.slice(), positive)) };
        for (const [key, value] of Object.entries(counted)) if (statistics[key] !== value) v.wrong(`statistics: ${key} is ${value}, not ${statistics[key]}`);
      }
      yield* this.checkRules(envelope, positive, names.length, notes);
    }

    *checkRules(envelope, positive, worlds, notes) {
      const { claim } = envelope;
      const { grid } = this;
      if (!claim.bounded) {
        yield* v.checkExact(envelope, grid, this.allowed, positive);
        return;
      }
      const leftOver = v.andWith(v.without(this.inside.slice(), positive), yield* grid.intersections(positive));
      envelope.checkExamples((x) => grid.has(leftOver, x), v.countBits(leftOver));
      const support = (x) => {
        if (!claim.unit) return v.countBits(v.andWith(grid.having(x), positive));
        return this.space.cellsOf(v.countBits(v.andWith(grid.having(x & ~this.space.labelMask), this.inside))) * worlds;
      };
      if (!(yield* v.checkBounded(envelope, this.closure(positive), support))) notes.noneMissing();
    }

    /** Check the rules that are possible, and which answers may break each of them. */
    *checkPossible(content, certificate, names, notes) {
      const lines = v.list(content, "readable");
      const bounds = { ...certificate, rules: v.list(content, "rules").length, weakest: "proved" };
      const envelope = new v.Envelope({ ...content, certificate: bounds }, this.space, this.background);
      yield* this.checkRules(envelope, this.union(this.possible, names), names.length, notes);
      const certain = this.union(this.positive, names);
      const settling = new Set();
      for (const [n, rule] of envelope.readable.entries()) {
        yield;
        const breaking = this.space.labels.length ? this.labelled(rule, names) : [];
        const listed = v.ascending(v.list(lines[n], "undecided"));
        for (const place of listed) settling.add(place);
        const is = v.firstOfBoth(this.grid.breaking(rule), certain) < 0;
        if (!v.sameList(listed, breaking) || Boolean(v.field(lines[n], "certain")) !== (breaking.length === 0) || Boolean(lines[n].certain) !== is) v.wrong(`possible ${this.space.showRule(rule)}: not the answers that may break it`);
      }
      if (!v.sameList(v.ascending(settling), v.list(content, "settling"))) v.wrong("possible: not the answers that would settle a rule");
    }

    /** Return the undecided answers that break a rule by one of the labels. */
    labelled(rule, names) {
      const { answers } = this;
      const { speaking, demanded, inside, outside } = answers.speaking(rule);
      return v.bitList(speaking).filter((i) => {
        const own = answers.undecided[i] && names.includes(answers.lines[i].variant ?? null);
        return own && (v.hasBit(demanded, i) ? inside : outside).includes(true, 1);
      });
    }

    checkSurvival(rule, line) {
      const { answers } = this;
      const breaking = this.grid.breaking(rule);
      const where = (sets) => new Set([...sets].filter(([, points]) => v.firstOfBoth(breaking, points) >= 0).map(([name]) => name));
      const really = where(this.said);
      const perhaps = where(this.positive);
      for (const [name, places] of answers.worlds) if (!answers.answered(places)[0]) perhaps.add(name);
      const same = (set, names) => set.size === new Set(names).size && names.every((name) => set.has(name));
      if (!same(really, Object.keys(v.objectOf(line, "broken_in")))) v.wrong(`is broken in ${[...really].join(", ") || "none"}`);
      for (const name of really) perhaps.delete(name);
      if (!same(perhaps, v.list(line, "unknown_in"))) v.wrong("is unknown where every answer is decided, or the other way round");
      this.checkNamed(rule, line);
    }
  };

  /** A target that was asked about some cells, whose rules rest on samples. */
  v.SomeAnswers = class extends Worlds {
    *prepare(bound) {
      this.bound = bound;
      yield* checkOccurring(this);
    }

    *check(envelope, names, statistics, notes) {
      if (!(yield* v.checkSampled(envelope, this.answers, names, this.bound))) notes.noneMissing();
    }
  };

  /** A target that was not asked about every cell: what it was not asked, it may accept. */
  v.MissingAnswers = class extends Worlds {
    *prepare() {
      yield* checkOccurring(this);
      if (this.space.size > v.MOST_POINTS) return;
      yield* this.layOut();
      this.possible = new Map();
      for (const [name, places] of this.answers.worlds) {
        const points = this.inside.slice();
        for (const [n, i] of places.entries()) {
          if (n % 1000 === 0) yield;
          const index = this.indexOf(i);
          const [unset, label] = this.answers.accepted(i, "accepted");
          const slots = this.space.labels.map((_, slot) => slot + 1);
          for (const slot of [0, ...slots]) {
            const is = slot === 0 ? unset : label === -2 || label + 1 === slot;
            const at = index + slot * this.step;
            if (!is) points[at >>> 5] &= ~(1 << (at & 31));
          }
        }
        if (this.space.labels.length && this.answers.policy.label_unset === "reject") v.without(points, this.grid.axes.at(-1).at[0]);
        this.possible.set(name, points);
      }
    }

    *check(envelope, names, statistics, notes) {
      const { claim } = envelope;
      const { grid } = this;
      const broken = (rule) => this.breaking(rule, names, "decided").length > 0;
      if (!grid) {
        if (claim.settled) v.wrong("certificate: not all cells were asked");
        yield* v.checkInterrupted(envelope, (rule) => this.wasAsked(rule, names), broken, false);
        return;
      }
      const positive = this.union(this.possible, names);
      if (!claim.settled) {
        yield* v.checkInterrupted(envelope, (rule) => v.firstOfBoth(grid.breaking(rule), positive) < 0, broken, true);
        return;
      }
      if (names.some((name) => this.answers.worlds.get(name).length !== this.cells)) v.wrong("certificate: complete, but not all cells were asked");
      if (claim.every) yield* v.checkExact(envelope, grid, this.allowed, positive);
      else if (!(yield* v.checkBounded(envelope, this.closure(positive), (x) => v.countBits(v.andWith(grid.having(x), positive))))) notes.noneMissing();
    }

    /** Return whether all cells were asked that a rule is about, and none breaks it. */
    wasAsked(rule, names) {
      const { space, answers } = this;
      const left = rule.left & ~space.labelMask;
      const axes = space.ends ?? space.axes.slice(0, space.axes.length - (space.labels.length ? 1 : 0));
      const count = axes.reduce((total, axis, i) => total * axis.filter((choice) => v.within(left & space.groups[i], choice)).length, 1);
      if (this.background.some((each) => !space.isOwn(each))) return false;
      const having = v.bitList(answers.having(left));
      return names.every((name) => having.filter((i) => (answers.lines[i].variant ?? null) === name).length === count) && !this.breaking(rule, names, "accepted").length;
    }

    /** Check that no rule is missing of those of which something is claimed together. */
    *checkJoint(claim, rules, bound, notes) {
      if (!bound || !(claim.joint.whole ?? true)) return;
      const { answers, space } = this;
      const accepted = new Set(answers.lines.flatMap((_, i) => answers.acceptedBy(i, "accepted")));
      const all = new Set(answers.cells.flatMap((cell) => answers.allOf(cell)));
      const rejected = [...all].filter((x) => !accepted.has(x) && (!space.labels.length || x & space.labelMask));
      if (!(yield* v.checkNoneMissing(space, rules, rejected, accepted))) notes.noneMissing();
    }
  };

  function* checkOccurring(worlds) {
    for (const rule of worlds.background) {
      yield;
      const cells = worlds.answers.having(rule.left);
      const broken = rule.both === null ? cells : v.without(cells, worlds.answers.having(rule.both));
      const [place] = v.bitList(broken);
      if (place !== undefined) v.wrong(`answer ${place}: ${worlds.space.show(worlds.answers.cells[place])} cannot occur`);
    }
  }
})(Verifier);
