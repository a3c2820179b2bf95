"""What is proved is proved as it is put: short rules rest on nothing that was not asked."""

from random import Random

import pytest

from hornlens import FunctionTarget, Nominal, Settings, Space, extract


def sampled(seed):
    """Return the result of a sampled run over a small space whose second label is rare."""
    rng = Random(seed)
    space = Space(
        tuple(
            Nominal(f"a{i}", tuple(f"a{i}v{k}" for k in range(rng.randint(1, 2)))) for i in range(3)
        ),
        Nominal("l", ("l0", "l1")),
    )
    rare = rng.choice([0.1, 0.3, 0.6])
    answers = {cell: "l1" if rng.random() < rare else "l0" for cell in space.cells()}

    def ask(names):
        return answers[space.vocabulary.mask(names)]

    settings = Settings("pac", epsilon=0.4, delta=0.4, seed=seed)
    return extract(FunctionTarget(ask, space), settings=settings)


def unasked_that_break(result, rule):
    """Return the cells, each with a label or none, that were not asked and would break a rule."""
    space = result.space
    claims = [
        claim
        for cell in space.cells()
        if cell not in result.decisions
        for claim in (cell, *(space.with_label(cell, k) for k in range(2)))
    ]
    holds = rule.consequent
    return [
        claim
        for claim in claims
        if rule.antecedent & ~claim == 0 and (rule.is_negative or holds & ~claim)
    ]


@pytest.mark.parametrize("block", range(8))
def test_no_cell_that_was_not_asked_can_break_what_is_proved(block):
    mixed = 0
    for seed in range(50 * block, 50 * block + 50):
        envelope = (result := sampled(seed)).envelope
        kinds = {warrant.kind for warrant in envelope.warrants}
        mixed += len(kinds) > 1
        for rule, warrant in zip(envelope.readable, envelope.warrants, strict=True):
            if warrant.proved:
                assert not unasked_that_break(result, rule), (seed, result.space.show(rule))
    assert mixed


def test_verify_refuses_a_short_form_that_is_not_proved(tmp_path, monkeypatch):
    """As versions up to 0.2 put proved rules: shortly, by others that are only tested."""
    monkeypatch.setattr("hornlens.logic.envelope._by_their_like", lambda *_: None)
    refused = 0
    for seed in range(400):
        result = sampled(seed)
        pairs = zip(result.envelope.readable, result.envelope.warrants, strict=True)
        proved = [rule for rule, warrant in pairs if warrant.proved]
        if any(unasked_that_break(result, rule) for rule in proved):
            # Whatever tests save is verified.
            with pytest.raises(AssertionError, match="not proved as it is put"):
                result.save(tmp_path)
            refused += 1
    assert refused > 10
