// The page's own checker, 3: the recorded answers. Who wins, what that accepts, what speaks for a rule.

((v) => {
  const NONE = -1;
  const ALL = -2;

  /** Whether two figures are the same, as far as adding up in another order lets them be. */
  v.isSame = (a, b) => {
    if (a === b || a === null || b === null) return a === b;
    v.number(a);
    if (Math.abs(a) === Infinity || Math.abs(b) === Infinity) return false;
    return Math.abs(a - b) <= Math.max(1e-9, 1e-9 * Math.max(Math.abs(a), Math.abs(b))) || (a !== a && b !== b);
  };

  const minus = (a, b) => (a === b ? 0 : a - b);
  const some = (list) => Array.isArray(list) && list.length > 0;
  const sum = (list) => list.reduce((total, value) => total + v.number(value), 0);

  v.Answers = class {
    constructor(content, space, noisy) {
      this.space = space;
      this.policy = v.objectOf(content, "policy");
      this.noisy = noisy;
      this.lines = v.list(content, "answers");
      this.says = space.labels.length ? space.labels : ["no", "yes"];
      this.count = this.lines.length;
      this.cells = new Array(this.count);
      this.winner = new Int32Array(this.count).fill(NONE);
      this.undecided = new Uint8Array(this.count);
      this.columns = space.names.map(() => v.emptyBits(this.count));
      this.everything = v.emptyBits(this.count);
      for (let i = 0; i < this.count; i++) v.setBit(this.everything, i);
      const variants = content.variants ?? [];
      this.worlds = new Map(variants.map((line) => [v.field(line, "name"), []]));
      if (this.worlds.size < variants.length) v.wrong("variants: two of one name");
      if (!this.worlds.size) this.worlds.set(null, []);
      this.policies = new Map();
      this.scored = 0;
      this.named = 0;
    }

    /** Read them; each has to follow from its own scores, and to stand there once. */
    *read() {
      const places = new Map(this.says.map((name, i) => [name, i]));
      const seen = new Set();
      for (let i = 0; i < this.count; i++) {
        const line = this.lines[i];
        const winner = v.field(line, "winner");
        if (winner !== null) {
          if (!places.has(winner)) v.wrong(`answer ${i}: ${winner} is no label`);
          this.winner[i] = places.get(winner);
        }
        const cell = this.space.mask(v.list(line, "set"));
        this.cells[i] = cell;
        for (const name of line.set) v.setBit(this.columns[this.space.at.get(name)], i);
        this.undecided[i] = Number(winner === null && line.abstained === "undecided");
        if (cell & this.space.labelMask) v.wrong(`answer ${i}: sets a label, which the target is to give`);
        const why = this.notSo(line, this.winner[i]);
        if (why) v.wrong(`answer ${i}, ${this.space.show(cell)}: ${why}`);
        const variant = line.variant ?? null;
        if (!this.worlds.has(variant)) v.wrong(`answer ${i}: belongs to no variant`);
        this.worlds.get(variant).push(i);
        const name = `${cell.toString(36)} ${variant}`;
        if (seen.has(name)) v.wrong("answers: a cell stands there twice");
        seen.add(name);
        if (i % 500 === 0) yield;
      }
    }

    /** Return why a winner does not follow from the scores and the policy; null if it does. */
    notSo(line, winner) {
      const scores = v.field(line, "scores");
      const repeats = some(line.repeats) ? line.repeats : null;
      const reason = line.abstained || "";
      if ((winner === NONE) !== Boolean(reason)) return "a winner and a reason for having none, or neither";
      if (repeats && winner !== NONE && !this.noisy && 2 * repeats[winner] <= sum(repeats)) return "the winner was not said more often than all others";
      if (!some(scores)) {
        const why = this.notNamed(line, winner, repeats);
        if (why) return why;
      }
      if (!some(scores) || (repeats && winner === NONE)) return v.isSame(v.field(line, "margin"), 0) ? null : `the margin is 0, not ${line.margin}`;
      this.scored++;
      if (scores.length !== this.says.length) return "not a score for each label";
      let first = -Infinity;
      let second = -Infinity;
      for (const score of scores) {
        if (v.number(score) > first) [first, second] = [score, first];
        else if (score > second) second = score;
      }
      const lead = minus(first, second);
      if (!v.isSame(v.field(line, "margin"), lead)) return `the margin is ${lead}, not ${line.margin}`;
      const margin = v.field(this.policy, "margin");
      if (winner !== NONE) {
        const enough = lead > 0 && (lead >= v.number(margin) || repeats);
        return scores[winner] === first && enough ? null : "the winner has not won";
      }
      // The ranks of candidates are not recorded; what is undecided is held against the drift.
      const isTrue = { tie: lead === 0, margin: 0 < lead && lead < v.number(margin), top_k: v.has(this.policy, "top_k") && lead > 0 && lead >= margin, undecided: this.noisy && lead > 0 };
      return Object.hasOwn(isTrue, reason) && isTrue[reason] ? null : `${reason} is not why there is no winner`;
    }

    /** Return why a winner is not what replies without scores name; null if it is. */
    notNamed(line, winner, repeats) {
      const replies = line.replies ?? [];
      if (!replies.length || replies.some((reply) => some(reply.scores))) return null;
      const named = replies.map((reply) => (reply.refused ? NONE : (reply.named ?? NONE)));
      const counts = this.says.map((_, place) => named.filter((other) => other === place).length);
      if (repeats) {
        const allThere = this.noisy && named.length === sum(repeats) + (line.silent ?? 0);
        return allThere && !v.sameList(counts, repeats) ? "not what the replies name" : null;
      }
      this.named++;
      const most = Math.max(...counts);
      const best = counts.flatMap((count, place) => (count === most ? [place] : []));
      const wanted = best.length === 1 && sum(counts) === named.length ? best[0] : NONE;
      return wanted === winner ? null : "the winner is not what most replies name";
    }

    /**
     * Return what an answer accepts: whether its cell without a label, and which label (or ALL, NONE).
     * As "said", only what the target itself said yes to; as "decided", undecided answers accept nothing.
     */
    accepted(i, as) {
      const winner = this.winner[i];
      const { space } = this;
      const policy = this.policies.get(this.lines[i].variant ?? null) ?? this.policy;
      if (!space.labels.length) {
        if (winner !== NONE) return [winner === 1, NONE];
        return [as !== "said" && (this.undecided[i] ? as !== "decided" : policy.abstain === "accept"), NONE];
      }
      if (as === "said") return [false, winner];
      const unset = policy.label_unset === "accept" && space.ends === null;
      if (winner !== NONE) return [unset, winner];
      return [unset, (this.undecided[i] ? as !== "decided" : policy.abstain === "accept") ? ALL : NONE];
    }

    /** Return the interpretations that an answer accepts. */
    acceptedBy(i, as) {
      const [unset, label] = this.accepted(i, as);
      const masks = label === ALL ? this.space.labelMasks : label === NONE ? [] : [this.space.labelMasks[label]];
      return [...(unset ? [this.cells[i]] : []), ...masks.map((mask) => this.cells[i] | mask)];
    }

    /** Return a cell with each label, and without one where that occurs. */
    allOf(cell) {
      const { space } = this;
      return [...(space.ends === null || !space.labels.length ? [cell] : []), ...space.labelMasks.map((mask) => cell | mask)];
    }

    having(mask) {
      const bits = this.everything.slice();
      for (const variable of v.places(mask)) v.andWith(bits, this.columns[variable]);
      return bits;
    }

    /**
     * Return the answers whose cells have what a rule asks of a cell, and which labels break it there
     * (the first entry is no label): `inside` where the cell has what the rule demands, else `outside`.
     */
    speaking({ left, both }) {
      const { labelMask, labelMasks } = this.space;
      const speaking = this.having(left & ~labelMask);
      const added = both === null ? 0n : both & ~left;
      const slots = [0n, ...labelMasks];
      const asks = slots.map((label) => v.within(left & labelMask, label));
      const meets = slots.map((label) => both !== null && v.within(added & labelMask, label));
      return {
        speaking,
        demanded: both === null ? v.emptyBits(this.count) : v.andWith(this.having(added & ~labelMask), speaking),
        inside: asks.map((ask, slot) => ask && !meets[slot]),
        outside: asks,
      };
    }

    /** Return the answers that break a rule by what they accept. */
    breaking(rule, as) {
      const { speaking, demanded, inside, outside } = this.speaking(rule);
      return v.bitList(speaking).filter((i) => {
        const breaks = v.hasBit(demanded, i) ? inside : outside;
        const [unset, label] = this.accepted(i, as);
        return (unset && breaks[0]) || (label >= 0 && breaks[label + 1]) || (label === ALL && breaks.includes(true, 1));
      });
    }

    /** Count again what speaks for a readable rule, among some answers. */
    *checkEvidence(rule, line, among) {
      const { speaking, demanded, inside, outside } = this.speaking(rule);
      const places = v.bitList(v.andWith(speaking, among));
      if (!v.sameList(v.ascending(v.list(line, "evidence")), places)) v.wrong("evidence: not the answers that the rule is about");
      const labelled = this.space.labels.length > 0;
      const margins = new Map();
      let support = 0;
      let total = 0;
      let least = Infinity;
      for (const [n, i] of places.entries()) {
        if (n % 5000 === 0) yield;
        const breaks = v.hasBit(demanded, i) ? inside : outside;
        const winner = this.winner[i];
        if (winner === NONE || (labelled ? breaks[winner + 1] : winner === 1) || !breaks.includes(true, labelled ? 1 : 0)) continue;
        support++;
        const { scores } = this.lines[i];
        if (!some(scores)) continue;
        const rejected = labelled ? scores.filter((_, place) => breaks[place + 1]) : [scores[1]];
        const margin = minus(scores[winner], Math.max(...rejected));
        margins.set(i, margin);
        total += margin;
        least = Math.min(least, margin);
      }
      for (const [key, value] of [["support", support], ["prompts", places.length]]) {
        if (v.field(line, key) !== value) v.wrong(`${key} is ${value}, not ${line[key]}`);
      }
      const mean = margins.size ? total / margins.size : null;
      if (!v.isSame(v.field(line, "mean_margin"), mean)) v.wrong(`mean_margin is ${mean}, not ${line.mean_margin}`);
      const closest = v.field(line, "closest");
      if (closest === null) {
        if (margins.size) v.wrong("closest: it is missing");
      } else {
        const own = margins.get(v.field(closest, "answer"));
        const margin = v.field(closest, "margin");
        if (own === undefined || !v.isSame(margin, own) || !v.isSame(margin, least)) v.wrong("closest: not the answer with the least margin, or not its margin");
      }
    }

    /** Return how many were answered, of how many. */
    answered(places) {
      return [places.filter((i) => this.winner[i] !== NONE || this.undecided[i]).length, places.length];
    }

    /** Count again what was asked in some answers. */
    checkStatistics(statistics, places) {
      const counted = {
        abstentions: places.filter((i) => this.winner[i] === NONE).length,
        questions: new Set(places.map((i) => this.cells[i].toString(36))).size,
      };
      const plain = (this.policy.calibration ?? "none") === "none" && this.policy.calibration !== null;
      const prompts = new Set(places.flatMap((i) => v.list(this.lines[i], "prompts")));
      if (plain) counted.distinct_prompts = prompts.size;
      for (const [key, value] of Object.entries(counted)) {
        if (Object.hasOwn(statistics, key) && statistics[key] !== value) v.wrong(`statistics: ${key} is ${value}, not ${statistics[key]}`);
      }
      const parts = ["refinement", "speculative", "equivalence_samples"].filter((key) => Object.hasOwn(statistics, key));
      if (parts.length && statistics.membership_queries !== sum(parts.map((key) => statistics[key]))) v.wrong("statistics: membership_queries is not the sum of its parts");
    }
  };

  // --- answers that vary ---

  const cache = new Map();

  const divisor = (a, b) => (b ? divisor(b, a % b) : a);

  /** How much `first` answers of one kind speak for it, against `second` of another: [above, below]. */
  function evidence(first, second) {
    const name = `${first} ${second}`;
    if (!cache.has(name)) {
      if (second === 0) cache.set(name, [2n ** BigInt(first + 1) - 1n, BigInt(first + 1)]);
      else {
        const [a, b] = evidence(first, second - 1);
        const [c, d] = evidence(first + 1, second - 1);
        const [above, below] = [2n * a * d - c * b, b * d];
        const shared = divisor(above, below);
        cache.set(name, [above / shared, below / shared]);
      }
    }
    return cache.get(name);
  }

  /** Return a number as the fraction that its decimals are. */
  function fraction(value) {
    const [, whole, decimals = "", exponent = "0"] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(v.number(value))) ?? v.wrong(`${value} is no level`);
    const shift = decimals.length - Number(exponent);
    const digits = BigInt(whole + decimals);
    return shift >= 0 ? [digits, 10n ** BigInt(shift)] : [digits * 10n ** BigInt(-shift), 1n];
  }

  const countsOf = (line) => [...v.list(line, "repeats"), line.silent ?? 0];

  v.checkCounts = (answers, places, noise) => {
    const undecided = places.filter((i) => answers.undecided[i]).length;
    if (v.field(noise, "undecided") !== undecided || v.field(noise, "prompts") !== places.length) v.wrong(`certificate: ${v.show(undecided)} of ${v.show(places.length)} answers are undecided`);
    if (!v.has(noise, "alpha")) return;
    const totals = places.map((i) => sum(countsOf(answers.lines[i])));
    if (v.field(noise, "answers") !== sum(totals)) v.wrong(`certificate: there are ${v.show(sum(totals))} answers`);
    if (totals.some((total) => total > v.numberOf(noise, "most"))) v.wrong(`certificate: a prompt has more than ${noise.most} answers`);
  };

  /** Check of every answer that it was decided, or not, as is stated; `cells` share the level. */
  v.checkNoise = function* (answers, places, noise, cells) {
    v.checkCounts(answers, places, noise);
    const level = v.has(noise, "alpha") ? fraction(noise.alpha) : null;
    if (level) {
      const replies = places.flatMap((i) => answers.lines[i].replies ?? []);
      const copied = replies.filter((reply) => reply.copied).length;
      if (copied >= 3 && 2 * copied >= replies.length - places.length) v.wrong(`certificate: alpha is claimed, and ${copied} replies are copies`);
    }
    for (const [n, i] of places.entries()) {
      if (n % 500 === 0) yield;
      const line = answers.lines[i];
      if (v.has(noise, "copied")) {
        if (!answers.undecided[i]) v.wrong(`answer ${i}: decided, though its repeats are copies`);
      } else if (level) {
        const counts = countsOf(line);
        const [above, below] = [BigInt(counts.length * cells) * level[1], level[0]];
        const best = counts.indexOf(Math.max(...counts));
        const isMore = (count) => {
          if (counts[best] <= count) return false;
          const [a, b] = evidence(counts[best], count);
          return a * below >= above * b;
        };
        const decided = counts.every((count, place) => place === best || isMore(count));
        if (decided === Boolean(answers.undecided[i])) v.wrong(`answer ${i}: its repeats do ${decided ? "" : "not "}decide it`);
        if (answers.winner[i] !== (decided && best < counts.length - 1 ? best : NONE)) v.wrong(`answer ${i}: not what was said most often`);
      } else if (some(line.scores) && line.margin > 0) {
        const within = line.margin <= v.numberOf(noise, "drift");
        if (within && answers.winner[i] !== NONE) v.wrong(`answer ${i}: decided, and leads by no more than the drift`);
        if (!within && answers.undecided[i]) v.wrong(`answer ${i}: undecided, and leads by more than the drift`);
      }
    }
  };
})(Verifier);
