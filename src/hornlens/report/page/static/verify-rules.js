// The page's own checker, 4: rules, and what a certificate claims of them.

((v) => {
  const ORDER = ["proved", "tested", "open"];
  const MOST_LABELS = 10;
  const MOST_PAIRS = 4_000_000;
  const MOST_SETS = 2_000_000;
  v.MOST_WORK = 2e10;

  const ordered = (value) =>
    Array.isArray(value)
      ? value.map(ordered)
      : value && typeof value === "object"
        ? Object.keys(value).sort().map((key) => [key, ordered(value[key])])
        : value;
  v.isEqual = (a, b) => JSON.stringify(ordered(a)) === JSON.stringify(ordered(b));

  /** What a certificate claims; one that contradicts itself is wrong. */
  v.claimOf = (line) => {
    const complete = v.objectOf(line, "complete");
    const claim = {
      weakest: v.field(line, "weakest"),
      every: complete.every ?? false,
      decides: complete.decides ?? false,
      most: complete.max_conditions ?? null,
      least: complete.min_support ?? 0,
      unit: complete.unit ?? null,
      unsettled: complete.unsettled ?? 0,
      ended: v.has(line, "ended"),
      rules: v.field(line, "rules"),
      open: line.open ?? 0,
      unasked: line.unasked ?? 0,
      answered: line.answered ?? null,
    };
    for (const key of ["noise", "joint", "trial", "word", "sift"]) claim[key] = line[key] ?? null;
    const undecided = claim.noise ? v.field(claim.noise, "undecided") : 0;
    if (!ORDER.includes(claim.weakest)) v.wrong(`certificate: a warrant ${claim.weakest}`);
    if (claim.every && (claim.ended || claim.unasked || undecided || claim.unsettled)) v.wrong("certificate: complete, though something was left open");
    const scope = v.objectOf(line, "scope");
    const agreement = scope.agreement ?? null;
    if (v.field(scope, "of") === "every input" && agreement) {
      const same = v.field(agreement, "rows") === 1 && v.field(agreement, "uniform") === 1;
      if (!same || v.field(agreement, "mixed") || agreement.varied) v.wrong("certificate: of every input, though the model was measured to differ");
    }
    if (claim.answered && !(0 <= claim.answered[0] && claim.answered[0] <= claim.answered[1])) v.wrong("certificate: more answers than questions");
    claim.proved = claim.weakest === "proved";
    claim.bounded = !claim.every && !claim.unsettled && (claim.most !== null || claim.least > 0);
    const open = claim.ended || claim.joint || claim.trial || claim.word || claim.sift || claim.unasked;
    claim.settled = claim.proved && !open && Boolean(claim.every || claim.decides || claim.bounded);
    return claim;
  };

  /** The rules of a result, or of one of its variants, and what is claimed of them. */
  v.Envelope = class {
    constructor(content, space, background) {
      const [rules, readable] = [v.list(content, "rules"), v.list(content, "readable")];
      this.space = space;
      this.background = background;
      this.rules = space.rules(rules);
      this.readable = space.rules(readable);
      this.nonHorn = v.objectOf(content, "non_horn");
      this.claim = v.claimOf(v.field(content, "certificate"));
      this.warrants = rules.map((line) => (Object.hasOwn(line, "warrant") ? line.warrant : { kind: this.claim.weakest }));
      this.warrants.forEach((warrant, i) => {
        const line = readable[i] ?? {};
        if (Object.hasOwn(line, "warrant") && !v.isEqual(line.warrant, warrant)) this.wrong(i, "its two forms have different warrants");
        const place = ORDER.indexOf(v.field(warrant, "kind"));
        if (place < 0 || place > ORDER.indexOf(this.claim.weakest)) this.wrong(i, `is ${warrant.kind}, and the weakest is said to be ${this.claim.weakest}`);
      });
      if (this.claim.rules !== this.rules.length) v.wrong(`certificate: there are ${this.rules.length} rules, not ${this.claim.rules}`);
      if (this.readable.length !== this.rules.length || new Set(this.rules.map(({ left }) => left.toString(36))).size < this.rules.length) v.wrong("rules: two with one left side, or not as many as readable ones");
      this.rules.forEach(({ left, both }, i) => {
        const short = this.readable[i];
        if (left === both) this.wrong(i, "says nothing");
        if (!v.within(short.left, left) || (both === null) !== (short.both === null) || !v.within(short.both ?? 0n, both ?? 0n)) this.wrong(i, "the readable rule is another");
      });
    }

    wrong(i, what) {
      v.wrong(`rule ${i + 1}, ${this.space.showRule(this.rules[i])}: ${what}`);
    }

    /** Check the non-Horn negatives that are listed, and their number where it is known. */
    checkExamples(isOne, count) {
      const stated = v.field(this.nonHorn, "count");
      const least = stated === null ? v.field(this.nonHorn, "at_least") : stated;
      v.number(least);
      if (count !== null && (stated === null ? least > count : stated !== count)) v.wrong(`non_horn: there are ${count}, not ${least}`);
      const examples = v.list(this.nonHorn, "examples").map((names) => this.space.mask(names));
      if (examples.length > least || new Set(examples.map(String)).size < examples.length) v.wrong("non_horn: more examples than there are, or one twice");
      for (const x of examples) if (!isOne(x)) v.wrong(`non_horn: ${this.space.show(x)} is no rejected intersection of accepted ones`);
    }
  };

  /** Hold an exact envelope against every point: `allowed` by the background, `positive`: accepted. */
  v.checkExact = function* (envelope, grid, allowed, positive) {
    const { space, rules } = envelope;
    const antecedents = v.emptyBits(grid.size);
    rules.forEach(({ left }, i) => {
      if (!grid.has(allowed, left)) envelope.wrong(i, "not saturated: its left side breaks the background");
      v.setBit(antecedents, grid.index(left));
    });
    const rejected = v.emptyBits(grid.size);
    for (const [i, rule] of rules.entries()) {
      yield;
      const breaking = grid.breaking(rule);
      if (v.countBits(v.andWith(breaking.slice(), antecedents)) !== 1) envelope.wrong(i, "not minimal: it rejects the left side of another");
      const accepted = v.firstOfBoth(breaking, positive);
      if (accepted >= 0) envelope.wrong(i, `not sound: ${space.show(grid.point(accepted))} is accepted`);
      if (rule.both !== null && rule.both !== grid.common(grid.having(rule.left), positive)) envelope.wrong(i, "not saturated: more follows");
      v.orWith(rejected, breaking);
    }
    const leftOver = v.without(v.without(allowed.slice(), positive), rejected);
    const missing = v.without(leftOver.slice(), yield* grid.intersections(positive));
    const first = v.firstOfBoth(missing, missing);
    if (first >= 0) missingRule(space, grid.point(first));
    const short = yield* grid.breakingAny(envelope.readable);
    if (short.some((word, i) => (word ^ rejected[i]) & allowed[i])) v.wrong("readable: does not say the same as rules");
    const inside = v.andWith(allowed.slice(), grid.occurring());
    v.andWith(leftOver, inside);
    envelope.checkExamples((x) => grid.has(leftOver, x), v.countBits(leftOver));
  };

  const missingRule = (space, x) =>
    v.wrong(`a rule is missing: ${space.show(x)} is rejected, but by no rule, and it is no intersection of accepted ones`);

  /** Check without the target: rules are saturated and needed, and the readable ones agree. */
  v.checkByChaining = function* (envelope) {
    const { rules, readable, background } = envelope;
    const all = [...rules, ...background];
    const short = [...readable, ...background];
    for (const [i, rule] of rules.entries()) {
      if (i % 10 === 0) yield;
      if (all.some((other) => other !== rule && v.breaks(rule.left, other))) envelope.wrong(i, "not saturated: its left side breaks another rule");
      if (v.chain(rule.left, all) !== rule.both) envelope.wrong(i, "not saturated: more follows");
      const own = readable[i];
      const closure = v.chain(own.left, all);
      const follows = closure === null || (own.both !== null && v.within(own.both, closure));
      if (v.chain(rule.left, [own, ...short]) !== rule.both || !follows) envelope.wrong(i, "the readable rules say something else");
    }
  };

  /** Check rules of which some may be missing: `holds` whatever is not known, `broken` by an answer. */
  v.checkInterrupted = function* (envelope, holds, broken, short) {
    yield* v.checkByChaining(envelope);
    for (const [i, rule] of envelope.rules.entries()) {
      yield;
      const warrant = envelope.warrants[i];
      if (warrant.kind === "proved") {
        if (!holds(rule)) envelope.wrong(i, "not proved: it may be broken");
        if (short && !holds(envelope.readable[i])) envelope.wrong(i, "not proved as it is put: that may be broken");
      } else if (broken(rule)) envelope.wrong(i, "not sound: a recorded answer breaks it");
      else if (warrant.kind === "tested") checkBound(envelope, i, rule, warrant);
    }
  };

  /** Check the bound of a tested rule: ε by the chance that a sample has its left side. */
  function checkBound(envelope, i, rule, warrant) {
    const { space, claim } = envelope;
    if (!claim.joint || !v.has(warrant, "bound")) envelope.wrong(i, "is tested, and nothing was sampled");
    let chance = 1;
    space.axes.forEach((axis, place) => {
      const isLabel = space.labels.length > 0 && place === space.axes.length - 1;
      const drawn = axis.filter((choice) => choice || !(isLabel && space.always));
      const wanted = rule.left & space.groups[place];
      chance *= drawn.filter((choice) => v.within(wanted, choice)).length / drawn.length;
    });
    if (v.number(warrant.bound) * chance < v.numberOf(claim.joint, "epsilon") * (1 - 1e-9)) envelope.wrong(i, "its bound is smaller than the samples allow");
  }

  /** Return whether `x` is an intersection of accepted ones. */
  const isIntersection = (x, accepted) => {
    let shared = null;
    for (const y of accepted) if (v.within(x, y)) shared = shared === null ? y : shared & y;
    return shared === x;
  };

  /** Check that what answers reject, a rule rejects, or it is an intersection; return whether it was. */
  v.checkNoneMissing = function* (space, rules, rejected, accepted) {
    if (space.labels.length > MOST_LABELS) return true;
    if (rejected.length * (accepted.size + rules.length) > MOST_PAIRS) return false;
    for (const x of rejected) {
      yield;
      if (!rules.some((rule) => v.breaks(x, rule)) && !isIntersection(x, accepted)) missingRule(space, x);
    }
    return true;
  };

  /** Hold a sampled envelope against what was asked; return whether nothing was too much. */
  v.checkSampled = function* (envelope, answers, names, bound) {
    yield* v.checkByChaining(envelope);
    const { space, claim } = envelope;
    const places = names.flatMap((name) => answers.worlds.get(name));
    const accepted = new Set(places.flatMap((i) => answers.acceptedBy(i, "accepted")));
    const cells = names.map((name) => new Set(answers.worlds.get(name).map((i) => answers.cells[i])));
    const shared = [...cells[0]].filter((cell) => cells.every((set) => set.has(cell)));
    const asked = new Set(space.labels.length ? shared.flatMap((cell) => space.labelMasks.map((mask) => cell | mask)) : shared);
    const rejects = (x) => (space.labels.length && !(x & space.labelMask) ? answers.policy.label_unset === "reject" : asked.has(x) && !accepted.has(x));
    envelope.checkExamples((x) => rejects(x) && isIntersection(x, accepted), null);
    if (!claim.joint || !bound) return true;
    for (const [i, rule] of envelope.rules.entries()) {
      yield;
      if (places.length && answers.breaking(rule, "said").some((place) => names.includes(answers.lines[place].variant ?? null))) envelope.wrong(i, "not sound: a recorded answer breaks it");
    }
    return yield* v.checkNoneMissing(space, envelope.rules, [...asked].filter((x) => !accepted.has(x)), accepted);
  };

  /** Check rules that are complete up to a length; return whether all sets of conditions were tried. */
  v.checkBounded = function* (envelope, closure, support) {
    yield* v.checkByChaining(envelope);
    const { space, rules, claim, background } = envelope;
    const most = claim.most ?? space.axes.length;
    if (claim.rules !== rules.length) v.wrong(`certificate: there are ${rules.length} rules, not ${claim.rules}`);
    for (const [i, { left, both }] of rules.entries()) {
      yield;
      if (closure(left) !== both) envelope.wrong(i, "not what the answers give");
      if (space.groups.filter((group) => envelope.readable[i].left & group).length > most) envelope.wrong(i, `the readable rule has more than ${most} conditions`);
    }
    const axes = space.axes.map((axis) => axis.filter(Boolean));
    const counts = [1];
    for (const axis of axes) for (let n = counts.length; n > 0; n--) counts[n] = (counts[n] ?? 0) + counts[n - 1] * axis.length;
    const count = counts.slice(0, most + 1).reduce((a, b) => a + b, 0);
    if (count * (rules.length + 1) > MOST_SETS) return false;
    const all = [...rules, ...background];
    function* sets(from, left, x) {
      yield x;
      for (let a = from; left && a < axes.length; a++) for (const choice of axes[a]) yield* sets(a + 1, left - 1, x | choice);
    }
    for (const x of sets(0, most, 0n)) {
      yield;
      if (support(x) >= claim.least && v.chain(x, all) !== closure(x)) v.wrong(`a rule is missing: the rules do not say all that ${space.show(x)} implies`);
    }
    return true;
  };

  /** Check that samples bear the ε and δ that are claimed, by how δ was divided. */
  v.checkSamples = (content) => {
    const { joint } = v.claimOf(v.field(content, "certificate"));
    if (!joint) return;
    const [epsilon, delta, samples] = ["epsilon", "delta", "samples"].map((key) => v.numberOf(joint, key));
    const statistics = content.statistics ?? {};
    const asked = statistics.equivalence_queries ?? null;
    const paid = joint.queries ?? null;
    if (paid !== null && (!(paid >= 1) || (asked !== null && paid > asked))) v.wrong(`certificate: ${paid} of ${asked} equivalence queries drew samples`);
    const divided = paid === null ? 1 : paid * (paid + 1);
    const isShare = (share) => 0 < share && share < 1;
    if (!isShare(epsilon) || !isShare(delta) || samples * Math.log1p(-epsilon) > Math.log(delta) - Math.log(divided)) v.wrong(`certificate: ${samples} samples are too few for its ε and δ`);
    if (paid === null || !Object.hasOwn(statistics, "equivalence_samples")) return;
    const fixed = content.settings?.samples ?? null;
    let most = fixed === null ? 0 : paid * fixed;
    if (fixed === null) for (let i = 1; i <= paid; i++) most += Math.ceil(Math.log((i * (i + 1)) / delta) / epsilon);
    const drawn = statistics.equivalence_samples;
    if (!(samples + paid - 1 <= drawn && drawn <= most)) v.wrong(`statistics: ${paid} equivalence queries cannot have drawn ${drawn} samples`);
  };
})(Verifier);
