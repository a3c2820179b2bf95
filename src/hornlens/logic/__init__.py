"""Propositional Horn logic on bit masks: spaces, rules, theories, bases. Pure, no I/O."""
