// The page's own checker, 6: rules with exceptions, and levels, counted again.

((v) => {
  const conditions = (space, rule) => space.groups.filter((group) => rule.left & group).length;
  const close = (a, b) => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));

  /** Return the points that lines list, as a set; each has to stand there once. */
  function listedPoints(grid, lists) {
    const points = v.emptyBits(grid.size);
    for (const names of lists) {
      const index = grid.index(grid.space.mask(names));
      if (index < 0) v.wrong("no point of the space");
      v.setBit(points, index);
    }
    return v.countBits(points) === lists.length ? points : null;
  }

  const isSameSet = (one, other) => one !== null && one.every((word, i) => word === other[i]);

  function tally(worlds, positive, rule) {
    const rejected = v.andWith(worlds.grid.breaking(rule), worlds.inside);
    const breaking = v.andWith(rejected.slice(), positive);
    return { of: worlds.grid.cells(rejected), broken: worlds.grid.cells(breaking), breaking };
  }

  v.checkAlmost = function* (content, worlds, known, positive) {
    const lines = v.list(content, "almost");
    const rules = worlds.space.rules(lines);
    const claim = v.objectOf(content, "almost_claim");
    const least = v.numberOf(claim, "min_confidence");
    const most = v.numberOf(claim, "max_conditions");
    for (const [i, rule] of rules.entries()) {
      yield;
      const line = lines[i];
      const what = `almost-rule ${i + 1}, ${worlds.space.showRule(rule)}`;
      const { of, broken, breaking } = tally(worlds, positive, rule);
      if (!isSameSet(listedPoints(worlds.grid, v.list(line, "exceptions")), breaking)) v.wrong(`${what}: its exceptions are others than those listed`);
      if (line.of !== of || line.broken !== broken) v.wrong(`${what}: ${broken} of ${of} break it, not ${line.broken} of ${line.of}`);
      if (!broken) v.wrong(`${what}: it has no exceptions`);
      if (!close(v.numberOf(line, "confidence"), 1 - broken / of)) v.wrong(`${what}: its confidence is not ${line.confidence}`);
      if (of < (claim.min_support || 1) || (of - broken) / of < least || conditions(worlds.space, rule) > most) v.wrong(`${what}: it has too little confidence, or is too long`);
      const others = [...known, ...rules.filter((other) => other !== rule)];
      const closure = v.chain(rule.left, others);
      if (closure === null || (rule.both !== null && v.within(rule.both, closure))) v.wrong(`${what}: it follows from the other rules`);
    }
  };

  v.checkLevels = function* (content, worlds, exact, positive) {
    const levels = v.objectOf(content, "levels");
    const { grid, inside, space } = worlds;
    const rejected = v.without(inside.slice(), positive);
    const byExact = v.andWith(yield* grid.breakingAny(exact), rejected);
    const counted = { rejections: v.countBits(rejected), by_exact: v.countBits(byExact), exact_rules: exact.length };
    for (const [key, value] of Object.entries(counted)) if (v.field(levels, key) !== value) v.wrong(`levels: ${key} is ${value}, not ${levels[key]}`);
    const steps = v.list(levels, "steps");
    const least = v.numberOf(levels, "min_confidence");
    const out = v.emptyBits(grid.size);
    for (const [i, rule] of space.rules(steps).entries()) {
      yield;
      const line = steps[i];
      const what = `level ${i + 1}, ${space.showRule(rule)}`;
      const fresh = v.without(v.andWith(grid.breaking(rule), inside), out);
      v.orWith(out, fresh);
      if (!isSameSet(listedPoints(grid, v.list(line, "new_exceptions")), v.andWith(fresh, positive))) v.wrong(`${what}: its new exceptions are others than those listed`);
      const explained = v.countBits(v.andWith(out.slice(), rejected));
      if (v.field(line, "explained") !== explained) v.wrong(`${what}: ${explained} are explained, not ${line.explained}`);
      const most = v.numberOf(line, "at_most");
      if (most < explained || most > levels.rejections) v.wrong(`${what}: at_most is less than what is explained, or more than there is`);
      const { of, broken } = tally(worlds, positive, rule);
      if (!of || (of - broken) / of < least - 1e-12) v.wrong(`${what}: its confidence is below ${levels.min_confidence}`);
      if (conditions(space, rule) > v.numberOf(levels, "max_conditions")) v.wrong(`${what}: more than ${levels.max_conditions} conditions`);
    }
  };

  /** Check that the answers said to break an almost-rule, or that of a level, are all that do. */
  v.checkExceptions = function* (content, worlds) {
    for (const [what, lines] of [["almost-rule", content.almost ?? []], ["level", content.levels?.steps ?? []]]) {
      for (const [i, rule] of worlds.space.rules(lines).entries()) {
        yield;
        const places = worlds.answers.breaking(rule, "accepted");
        if (!v.sameList(v.ascending(v.list(lines[i], "answers")), places)) v.wrong(`${what} ${i + 1}: the answers listed are not those that break it`);
      }
    }
  };
})(Verifier);
