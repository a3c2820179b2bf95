// The page's own checker, 7: a whole document. What it recounts, and by name what it does not.

((v) => {
  /** What is never recounted here, by the name that people read: [name, fields]. */
  const UNCHECKED = [
    ["sentences, warnings and other wording", ["claim", "warnings", "*.sentence", "variants[].claim", "certificate.kind", "variants[].certificate.kind", "certificate.ended", "variants[].certificate.ended"]],
    ["names and texts: of the target, of what was sent and replied", ["hornlens", "format", "model", "probe", "sent", "varied", "space.attributes[].name", "space.label.name", "*.prompts[]", "answers[].prompts", "variants[].slots", "*.replies", "*.phrasings", "answers[].first_words", "answers[].share", "answers[].unknown", "answers[].silent", "variants[].label", "variants[].language", "variants[].template", "variants[].model", "certificate.sources", "variants[].certificate.sources", "readable[].share", "variants[].readable[].share"]],
    ["settings, scope, and the policy where no answer shows it", ["settings", "policy", "variants[].policy", "certificate.scope", "variants[].certificate.scope"]],
    ["scores beyond the winner and its lead, and why there was no answer without scores", ["answers[].scores", "answers[].abstained"]],
    ["that each rule is followed through all ways of asking", ["survival"]],
    ["rates, flips, disparities and what chance would give", ["rates", "disparities", "chance"]],
    ["how many calls and queries a run took", ["statistics.model_calls", "statistics.equivalence_queries", "statistics.membership_queries", "statistics.refinement", "statistics.speculative", "statistics.equivalence_samples", "statistics.distinct_prompts", "variants[].statistics", "certificate.joint.queries", "certificate.noise.answers", "certificate.noise.reasked", "certificate.noise.drift", "certificate.noise.most", "certificate.noise.alpha", "certificate.noise.copied"]],
    ["that levels and rules with exceptions are the best, and that none is missing", ["levels.candidates", "levels.chosen", "levels.optimal", "levels.guarantee", "levels.exception_cost", "levels.min_confidence", "levels.max_conditions", "levels.steps", "almost", "almost_claim"]],
    ["the hypothesis that a learner held at the end", ["hypothesis"]],
  ];
  const SIFTED = ["draws, bounds, which cells were asked and which short rules there are: only hornlens verify makes the draws again", ["answers", "abstentions", "space", "sift", "rules", "readable", "open", "certificate.sift", "certificate.open", "certificate.rules", "statistics", "variants", "survival"]];
  const SHAPE = "minimal and saturated: no rule follows from the others; the readable rules say the same";

  class Notes {
    constructor() {
      this.checked = [];
      this.unchecked = new Map();
      this.count = 0;
      this.unit = "answer";
    }

    leave(name, fields = []) {
      this.unchecked.set(name, fields);
    }

    noneMissing() {
      this.leave("that no rule is missing: too much for a page", ["rules", "readable", "open", "variants[].rules", "variants[].readable"]);
    }
  }

  /** Say of what something is wrong. */
  function* about(what, steps) {
    try {
      return yield* steps;
    } catch (error) {
      if (error instanceof v.Wrong) error.message = `${what}: ${error.message}`;
      throw error;
    }
  }

  function* checkAnswers(content, space, background, notes) {
    for (const rule of background) {
      if (!space.isOwn(rule) && (rule.left | (rule.both ?? 0n)) & space.labelMask) v.wrong(`background: ${space.showRule(rule)} is about the label`);
    }
    const claim = v.claimOf(content.certificate);
    const noisy = claim.noise !== null;
    const variants = content.variants ?? [];
    const answers = new v.Answers(content, space, noisy);
    yield* answers.read();
    notes.count = answers.count;
    const all = [...answers.lines.keys()];
    const silent = all.filter((i) => answers.winner[i] < 0);
    if (!v.sameList(v.ascending(v.list(content, "abstentions")), silent)) v.wrong("abstentions: not the answers without a winner");
    notes.checked.push(`${v.show(answers.count)} answers: winner and lead follow from ${v.show(answers.scored)} with scores${answers.named ? `, the winner from ${v.show(answers.named)} with replies` : ""}; the policy gives what is accepted`);
    notes.leave("that the answers are the target's own: ask it again", claim.settled || noisy ? [] : ["answers"]);
    checkAnswered(content, answers);
    if (Object.hasOwn(content, "sift") || claim.sift) {
      yield* checkSifted(content, answers, background, notes);
      return;
    }
    const claims = [claim, ...variants.map((line) => v.claimOf(v.field(line, "certificate")))];
    const warranted = claim.weakest !== "open" && !claim.settled && !noisy;
    const partly = warranted || claims.some((each) => each.unasked) || claims.some((each) => each.proved && each.ended);
    const tooLarge = space.size > v.MOST_POINTS;
    const bound = (content.settings?.samples ?? null) === null;
    if (!noisy && answers.undecided.includes(1)) v.wrong("certificate: says nothing of noise, and answers are undecided");
    let seen;
    if (partly) {
      seen = new v.MissingAnswers(answers, background);
      yield* seen.prepare();
      notes.leave("that all rules are there: not everything was asked", ["rules", "readable", "open", "variants[].rules", "variants[].readable", "non_horn", "statistics.negatives", "variants[].non_horn"]);
      const open = space.rules(content.open ?? content.hypotheses ?? []);
      if (open.length && claim.open !== open.length) v.wrong(`certificate: ${open.length} rules are open, not ${claim.open}`);
      yield* seen.checkUnbroken(open, "open rule");
      if (claim.joint) yield* seen.checkJoint(claim, [...space.rules(v.list(content, "rules")), ...open], bound && !noisy && !variants.length, notes);
    } else if (claim.settled || noisy) {
      if (tooLarge) {
        yield* checkLarge(content, answers, background, notes);
        return;
      }
      seen = new v.AllAnswers(answers, background);
      yield* seen.prepare();
      if (seen.grid.work > v.MOST_WORK) {
        yield* checkLarge(content, answers, background, notes);
        return;
      }
    } else {
      seen = new v.SomeAnswers(answers, background);
      yield* seen.prepare(bound);
      notes.leave("what was not asked: a sampled result makes no claim on it", ["rules", "readable", "open", "non_horn"]);
    }
    const envelope = new v.Envelope(content, space, background);
    yield* seen.check(envelope, seen.names, v.objectOf(content, "statistics"), notes);
    if (noisy && seen instanceof v.AllAnswers) {
      v.checkCounts(answers, all, claim.noise);
      for (const line of variants.length ? variants : [content]) {
        const own = line.certificate.noise ?? v.wrong("certificate: that of a variant says nothing of noise");
        const name = variants.length ? line.name : null;
        yield* v.checkNoise(answers, answers.worlds.get(name), own, answers.count);
        if (variants.length) yield* seen.checkPossible(v.objectOf(line, "possible"), line.certificate, [name], notes);
      }
      yield* seen.checkPossible(v.objectOf(content, "possible"), content.certificate, seen.names, notes);
      notes.leave("that repeated answers are independent");
    }
    const count = `${v.show(envelope.rules.length)} ${envelope.rules.length === 1 ? "rule" : "rules"}`;
    if (seen instanceof v.AllAnswers) notes.checked.push(`${count}: no answer breaks one, and ${claim.bounded ? "within their bounds " : ""}no rule is missing (${v.show(seen.cells)} cells, all asked)`);
    else notes.checked.push(`${count}: no answer breaks one that is proved or tested, or is open`);
    notes.checked.push(SHAPE);
    yield* checkEvidence(content, answers, notes);
    if (seen instanceof v.AllAnswers || claim.settled) yield* checkSummaries(content, answers, background, seen, envelope, notes);
    else if (Object.hasOwn(content, "almost") || Object.hasOwn(content, "levels")) v.wrong("almost-rules and levels: not all cells were asked");
    checkStatistics(content, answers);
    for (const line of variants) yield* about(`variant ${line.name}`, seen.check(new v.Envelope(line, space, background), [line.name], v.objectOf(line, "statistics"), notes));
    if (variants.length) yield* checkSurvival(content, seen, notes);
  }

  /** Count again how many questions were answered, in all and in each way of asking. */
  function checkAnswered(content, answers) {
    const check = (line, places) => {
      const certificate = v.objectOf(line, "certificate");
      const counted = answers.answered(places);
      if (!v.sameList(v.list(certificate, "answered"), counted)) v.wrong(`certificate: ${counted[0]} of ${counted[1]} questions were answered`);
    };
    check(content, [...answers.lines.keys()]);
    for (const line of content.variants ?? []) check(line, answers.worlds.get(line.name));
  }

  /** Count again what was asked: of several ways of asking, the sums of all. */
  function checkStatistics(content, answers) {
    const statistics = v.objectOf(content, "statistics");
    const variants = content.variants ?? [];
    if (!variants.length) answers.checkStatistics(statistics, [...answers.lines.keys()]);
    for (const line of variants) answers.checkStatistics(v.objectOf(line, "statistics"), answers.worlds.get(line.name));
    const questions = new Set(answers.cells.map((cell) => cell.toString(36))).size;
    if (Object.hasOwn(statistics, "questions") && statistics.questions !== questions) v.wrong(`statistics: questions is ${questions}, not ${statistics.questions}`);
    for (const key of variants.length ? ["abstentions", "distinct_prompts"] : []) {
      const sum = variants.reduce((total, line) => total + line.statistics[key], 0);
      if (Object.hasOwn(statistics, key) && statistics[key] !== sum) v.wrong(`statistics: ${key} is ${sum}, not ${statistics[key]}`);
    }
  }

  function* checkEvidence(content, answers, notes) {
    const lines = v.list(content, "readable");
    for (const [i, rule] of answers.space.rules(lines).entries()) yield* about(`readable rule ${i + 1}, ${answers.space.showRule(rule)}`, answers.checkEvidence(rule, lines[i], answers.everything));
    for (const line of content.variants ?? []) {
      const own = v.emptyBits(answers.count);
      for (const i of answers.worlds.get(line.name)) v.setBit(own, i);
      const rules = answers.space.rules(v.list(line, "readable"));
      for (const [i, rule] of rules.entries()) yield* about(`variant ${line.name}, readable rule ${i + 1}`, answers.checkEvidence(rule, line.readable[i], own));
    }
    notes.checked.push("evidence: for each rule the answers it is about, its support, mean margin and closest call");
  }

  function* checkSummaries(content, answers, background, seen, envelope, notes) {
    if (!Object.hasOwn(content, "almost") && !Object.hasOwn(content, "levels")) return;
    let whole = seen;
    if (!(seen instanceof v.AllAnswers)) {
      whole = new v.AllAnswers(answers, background);
      yield* whole.prepare();
    }
    const positive = whole.union(whole.positive, whole.names);
    if (Object.hasOwn(content, "almost")) yield* v.checkAlmost(content, whole, [...envelope.rules, ...background], positive);
    if (Object.hasOwn(content, "levels")) yield* v.checkLevels(content, whole, envelope.rules, positive);
    yield* v.checkExceptions(content, whole);
    notes.checked.push("levels and rules with exceptions: what they explain, and every exception");
  }

  function* checkSurvival(content, seen, notes) {
    const lines = v.list(content, "survival");
    for (const [i, rule] of seen.space.rules(lines).entries()) {
      yield;
      yield* about(`survival of ${seen.space.showRule(rule)}`, (function* () {
        seen.checkSurvival(rule, lines[i]);
      })());
    }
    notes.checked.push(`${content.variants.length} ways of asking: the rules of each, and where ${lines.length} rules hold`);
  }

  /** A space that is too large for a page: nothing is broken, and the two forms of rules agree. */
  function* checkLarge(content, answers, background, notes) {
    notes.noneMissing();
    notes.leave("counts over all cells, and what holds in each way of asking: too many for a page", ["non_horn", "levels", "almost", "survival", "variants", "possible", "statistics"]);
    const seen = new v.Worlds(answers, background);
    yield* checkUnbroken(content, seen, background, notes);
    yield* checkEvidence(content, answers, notes);
  }

  function* checkUnbroken(content, seen, background, notes) {
    const envelope = new v.Envelope(content, seen.space, background);
    yield* seen.checkUnbroken(envelope.rules, "rule");
    yield* seen.checkUnbroken(envelope.readable, "readable rule");
    yield* seen.checkUnbroken(seen.space.rules(content.open ?? []), "open rule");
    notes.checked.push(`${v.show(envelope.rules.length)} rules: no answer breaks one`);
  }

  /** A sifted result: no answer breaks a rule; what was drawn is left to `hornlens verify`. */
  function* checkSifted(content, answers, background, notes) {
    if (!v.has(content, "sift") || !v.has(content.certificate, "sift")) v.wrong("sift: a certificate without a record, or a record without a certificate");
    if (["almost", "levels", "possible"].some((key) => Object.hasOwn(content, key))) v.wrong("almost-rules, levels and possible rules: not all cells were asked");
    notes.leave(...SIFTED);
    for (const line of content.variants ?? []) if (v.has(line, "policy")) answers.policies.set(line.name, line.policy);
    const same = (one, other) => ["if", "then", "warrant"].every((key) => v.isEqual(v.field(one, key), v.field(other, key)));
    const forms = [content.rules, v.list(content, "readable")];
    if (forms[0].length !== forms[1].length || !forms[0].every((line, i) => same(line, forms[1][i]))) v.wrong("readable: not the same as rules, which a sift leaves as they were tested");
    if (content.certificate.rules !== content.rules.length) v.wrong(`certificate: there are ${content.rules.length} rules, not ${content.certificate.rules}`);
    if (!v.isEqual(content.non_horn, { count: null, examples: [], at_least: 0 })) v.wrong("non_horn: nobody looked for them");
    const first = answers.worlds.values().next().value;
    if (!v.sameList(v.ascending(v.list(content.sift, "order")), first)) v.wrong("sift: the order of asking is not that of the answers");
    const seen = new v.Worlds(answers, background);
    for (const [what, key] of [["rule", "rules"], ["open rule", "open"]]) yield* seen.checkUnbroken(answers.space.rules(v.list(content, key)), what);
    notes.checked.push(`${v.show(content.rules.length)} listed and ${v.show(content.open.length)} open rules: no answer breaks one`);
    yield* checkEvidence(content, answers, notes);
    checkStatistics(content, answers);
  }

  /** A formula, a table or an exploration: there are no answers, and the shape of the rules is all. */
  function* checkShape(content, space, background, notes) {
    const envelope = new v.Envelope(content, space, background);
    notes.leave("that the rules are those of the file they were made from: hornlens verify --against FILE", ["rules", "readable", "background", "non_horn", "statistics", "certificate", "table", "variables", "space", "almost", "almost_claim", "levels", "open", "exploration", "examples"]);
    if (envelope.rules.length ** 2 > 4e6) notes.leave("that rules are minimal and saturated: too many for a page", []);
    else {
      yield* v.checkByChaining(envelope);
      notes.checked.push(`${v.show(envelope.rules.length)} rules, ${SHAPE}`);
    }
  }

  const FIELD = /[^.[\]]+|\[\]/g;

  /** Whether a document has a field of a pattern: "*.sentence" is one at any depth. */
  function isThere(content, pattern) {
    if (pattern.startsWith("*.")) return true;
    let here = [content];
    for (const part of pattern.match(FIELD)) {
      here = here.flatMap((value) => (part === "[]" ? (Array.isArray(value) ? value.slice(0, 50) : []) : value && Object.hasOwn(value, part) ? [value[part]] : []));
    }
    return here.some((value) => value !== null && value !== undefined);
  }

  /** The sections and counts that a document can do without, and does: it claims less. */
  function leftOutOf(content) {
    if (Object.hasOwn(content, "classifier")) return [];
    const statistics = content.statistics ?? {};
    const counts = ["questions", "abstentions"].filter((key) => !Object.hasOwn(statistics, key));
    const leftOut = counts.length === 2 ? ["statistics"] : counts.map((key) => `statistics.${key}`);
    if (!Object.hasOwn(content, "levels")) leftOut.push("levels");
    if (!["answers", "probe"].some((key) => Object.hasOwn(content, key))) leftOut.push("classifier");
    return leftOut;
  }

  function* checkContent(content, notes, parts) {
    if (content === null || typeof content !== "object" || !["certificate", "variables", "rules"].some((key) => Object.hasOwn(content, key))) {
      notes.leave("what it says: there are no rules of one result in it to recount");
      return;
    }
    for (const [name, fields] of UNCHECKED) if (fields.some((field) => isThere(content, field))) notes.leave(name, fields);
    const leftOut = leftOutOf(content);
    if (leftOut.length) notes.leave(`what the document leaves out: ${leftOut.join(", ")}`, leftOut);
    const isOld = (content.format ?? 1) < 2 && !["answers", "probe", "classifier"].some((key) => Object.hasOwn(content, key));
    if (isOld && !Object.hasOwn(v.objectOf(content, "certificate"), "weakest")) {
      notes.leave("the rules: an older version of Hornlens wrote them", [""]);
      return;
    }
    if (Object.hasOwn(content, "classifier")) {
      yield* v.checkClassifier(content, notes, parts);
      return;
    }
    const space = new v.Space(content);
    const background = space.background(v.list(content, "background"));
    for (const line of [content, ...(content.variants ?? [])]) v.checkSamples(line);
    if (Object.hasOwn(content, "answers") || Object.hasOwn(content, "probe")) yield* checkAnswers(content, space, background, notes);
    else if (v.field(content, "rules") !== null) yield* checkShape(content, space, background, notes);
  }

  /** Check a document, a step at a time (`parts`: what a classifier's has packed); return what was checked, what was not, and what is wrong. */
  v.verifySteps = function* (content, parts) {
    const notes = new Notes();
    const result = (wrong) => ({
      ok: wrong === null,
      wrong,
      checked: notes.checked,
      notChecked: [...notes.unchecked.keys()],
      fields: [...notes.unchecked.values()].flat(),
      count: notes.count,
      unit: notes.unit,
    });
    try {
      yield* checkContent(content, notes, parts);
    } catch (error) {
      return result(error instanceof v.Wrong ? error.message : `the document cannot be read (${error.message})`);
    }
    return result(null);
  };

  /** Check a document at once. */
  v.verify = (content, parts) => {
    const steps = v.verifySteps(content, parts);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  };
})(Verifier);
