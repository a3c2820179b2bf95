"""Propositional Horn logic on bit masks: rules, theories, bases, formulas. Pure, no models."""
