"""Several ways of asking: what holds in all, and what becomes of each rule, by brute force."""

import json
from random import Random

import pytest

from hornlens.api import Result, extract, load
from hornlens.errors import HornlensError, InputError
from hornlens.logic.attributes import Nominal
from hornlens.logic.bits import BOTTOM
from hornlens.logic.decisions import Policy, decide
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.probes.loading import load_probe
from hornlens.results.analysis.worlds import survival, survival_of
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.writing import extraction_as_json
from hornlens.targets.functions import FunctionTarget
from hornlens.targets.worlds import Worlds
from tests import brute
from tests.varied import SeededModel, random_policy, random_probe


def case(seed, **policy):
    rng = Random(seed)
    question = random_probe(rng)
    while len(question.variants) == 1:
        question = random_probe(rng)
    chosen = random_policy(rng)
    chosen = Policy(**{**chosen.__dict__, "calibration": "none", "phrasings": "each", **policy})
    model = SeededModel(str(seed), lean=rng.choice([0.0, 0.5, 0.8, 0.95]))
    return rng, question, model, chosen


def accepted_by(question, model, policy):
    """What each variant accepts, from the raw scores."""
    found = []
    for wording in question.wordings:
        accepted = set()
        for x in question.space:
            label = question.space.label_of(x)
            said = model.answer(wording.render(x), wording.label.words)
            winner = decide(policy, said.scores, said.ranks).winner
            if label is None:
                yes = policy.label_unset == "accept"
            else:
                yes = policy.abstain == "accept" if winner is None else winner == label
            if yes:
                accepted.add(x)
        found.append(accepted)
    return found


def random_rule(rng, space):
    antecedent = sum(1 << i for i in range(space.width) if rng.random() < 0.25)
    if rng.random() < 0.5:
        return Rule(antecedent, BOTTOM)
    return Rule(antecedent, antecedent | 1 << rng.randrange(space.width))


@pytest.mark.parametrize("block", range(10))
def test_the_rules_are_those_of_the_union_and_survival_is_what_the_raw_answers_say(block):
    for seed in range(40 * block, 40 * block + 40):
        rng, question, model, policy = case(seed)
        result = extract(model, question, policy=policy)
        space, accepted = question.space, accepted_by(question, model, policy)
        union = sorted(set.union(*accepted))
        told = f"seed {seed}, {policy}"
        assert brute.pairs(result.envelope.basis) == brute.dg(union, list(space)), told
        for world, own in zip(result.worlds, accepted, strict=True):
            assert brute.pairs(world.envelope.basis) == brute.dg(sorted(own), list(space)), told
        assert result.excluded == brute.close(union) - set(union), told
        rules = [random_rule(rng, space) for _ in range(20)]
        for line in [*survival_of(rules, result.worlds), *survival(result)]:
            shown = f"{told}: {space.show(line.rule)} {line}"
            for world, own, outcome, x in zip(
                result.worlds, accepted, line.outcomes, line.breaking, strict=True
            ):
                breaking = {y for y in own if not line.rule.satisfied_by(y)}
                decided = {c: d.winner for c, d in world.decisions.items() if d.winner is not None}
                answers = {space.with_label(cell, winner) for cell, winner in decided.items()}
                # What was not answered, or claims no label, breaks no rule and proves none.
                broken = bool(breaking & answers)
                assert (outcome == "broken") == broken, shown
                assert x in breaking & answers if broken else x is None, shown
                is_open = (breaking and not broken) or not answers
                assumed = space.background.entails(line.rule)
                assert (outcome == "unknown") == bool(is_open and not assumed), shown
                if outcome == "vacuous":
                    assert is_vacuous(line.rule, own, space), shown
                elif outcome == "holds":
                    assert not is_vacuous(line.rule, own, space), shown
            if all(d.winner is not None for w in result.worlds for d in w.decisions.values()):
                assert line.everywhere == result.entails(line.rule), shown


def is_vacuous(rule, accepted, space):
    """Whether nothing accepted has what the rule speaks of, though that is not what it says."""
    label, about = rule.antecedent & space.label_mask, rule.antecedent & ~space.label_mask

    def occurs(mask):
        return any(mask & ~x == 0 for x in accepted)

    if rule.is_negative:
        return bool(label and about) and not (occurs(label) and occurs(about))
    given = rule.new & space.label_mask
    others = [x for x in accepted if x & space.label_mask & ~given]
    return not occurs(rule.antecedent) or bool(given and rule.antecedent and not others)


@pytest.mark.parametrize("seed", range(30))
def test_results_of_variants_are_written_and_read_back(seed, tmp_path):
    rng, question, model, policy = case(seed)
    settings = rng.choice([Settings(), Settings("budget", max_equivalence_queries=2)])
    result = extract(model, question, policy=policy, settings=settings)
    result.save(tmp_path)
    content = json.loads((tmp_path / "envelope.json").read_text())
    assert content["varied"] == "phrasing"
    assert [v["name"] for v in content["variants"]] == [v.name for v in question.variants]
    again = load(tmp_path)
    assert json.dumps(extraction_as_json(again)) == json.dumps(content)
    assert [w.scores for w in again.worlds] == [w.scores for w in result.worlds]
    for answer in content["answers"]:
        (prompt,) = answer["prompts"]
        place = next(i for i, v in enumerate(question.variants) if v.name == answer["variant"])
        wording = question.wordings[place]
        assert answer["scores"] == list(model.answer(prompt, wording.label.words).scores)


@pytest.mark.parametrize("seed", range(10))
def test_learned_unions_keep_to_what_was_answered(seed):
    _, question, model, policy = case(seed, label_unset="accept", abstain="accept")
    result = extract(
        model, question, policy=policy, settings=Settings("pac", epsilon=0.1, delta=0.1, seed=seed)
    )
    certificate = result.envelope.certificate
    assert certificate.joint is not None or not certificate.unasked
    accepted = set.union(*accepted_by(question, model, policy))
    wrong = [x for x in question.space if (x in accepted) > obeyed(result, x)]
    assert len(wrong) <= 0.3 * question.space.count, f"seed {seed}"


def obeyed(result, x):
    return all(rule.satisfied_by(x) for rule in result.envelope.basis)


def test_any_targets_of_one_space_are_worlds():
    """Models, policies, functions: whatever varies."""
    space = Space((Nominal("work", ("nurse", "priest")),), Nominal("says", ("he", "she")))
    one = FunctionTarget(lambda names: "she" if "nurse" in names else "he", space, "one")
    two = FunctionTarget(lambda names: "he" if "priest" in names else "she", space, "two")
    both = Worlds("both", {"one": one, "two": two}, noun="model")
    result = extract(both)
    assert [row.sentence for row in result.rules] == [
        "In every one of 2 models, the target always says “she” where work is nurse.",
        "In every one of 2 models, the target always says “he” where work is priest.",
    ]
    assert [d.winner for d in both.decide([0, 1, 2])] == [None, 1, 0]
    assert both.decide([0])[0].abstained == "worlds"
    other = FunctionTarget(lambda names: "he", Space((), space.label), "other")
    with pytest.raises(HornlensError, match="one and other have different attributes or labels"):
        Worlds("both", {"one": one, "other": other})


def test_one_variant_can_be_asked_alone():
    question = load_probe("gender-occupation-variants")
    only = question.only("norsk")
    assert only.variants[0].language == "nb" and only.prompt_count == 660
    with pytest.raises(InputError, match=r"no variant 'svensk'.*there are: present, past"):
        question.only("svensk")
    result = extract(probe=only, cache=False)
    assert isinstance(result, Result) and not result.worlds
    whole = extract(probe=question, cache=False)
    own = next(world for world in whole.worlds if world.world == "norsk")
    assert own.envelope.basis == result.envelope.basis
    assert set(whole.question.words.values()) == {"She / she / Hun / Sie", "He / he / Han / Er"}


def test_mean_calibration_subtracts_the_mean_over_all_cells():
    question = load_probe("gender-occupation")

    def model(prompt, words):
        return [0.0, 5.0 if "nurse" in prompt else 6.0]

    result = extract(model, question, policy=Policy(calibration="mean"), cache=False)
    assert result.entails("nurse & male -> false")
    assert not extract(model, question, cache=False).entails("nurse & male -> false")
    with pytest.raises(HornlensError, match="not all of them are asked"):
        extract(
            model,
            question,
            policy=Policy(calibration="mean"),
            settings=Settings("pac"),
            cache=False,
        )


def test_what_is_impossible_stays_so_under_calibration():
    """−inf less −inf is no number, and was taken for a winner."""
    question = load_probe("gender-occupation")
    nothing = float("-inf")
    for calibration in ("neutral", "mean"):
        result = extract(
            lambda prompt, words: [nothing, -2.0 if "nurse" in prompt else -3.0],
            question,
            policy=Policy(calibration=calibration),
            cache=False,
        )
        assert {d.winner for d in result.decisions.values()} == {1}
