"""Extraction end to end: exactness against brute force, policies, PAC, errors, files."""

import csv
import json
import math
from dataclasses import replace
from math import comb
from random import Random

import pytest

import hornlens
from hornlens.api import extract
from hornlens.errors import HornlensError
from hornlens.formats.files import write_file
from hornlens.limits import Limits
from hornlens.logic.decisions import Policy
from hornlens.models.functions import FunctionModel
from hornlens.models.protocol import ModelError
from hornlens.models.registry import open_model
from hornlens.models.table import TableModel
from hornlens.probes.loading import load_probe
from hornlens.results.documents.saving import scores_csv
from hornlens.results.documents.settings import Settings, paper_protocol
from hornlens.results.documents.writing import extraction_as_json
from hornlens.store.sqlite import AnswerCache
from tests import brute

PAPER = load_probe("gender-occupation")


def planted(prompt, candidates):
    """Nurses are She; singers are She after 1970; dancers are She outside Asia; else He."""
    she = (
        "nurse" in prompt
        or ("singer" in prompt and "after 1970" in prompt)
        or ("dancer" in prompt and "Asia" not in prompt)
    )
    return {"She": -0.1 if she else -3.0, "He": -3.0 if she else -0.2}


def noisy(seed):
    """A model with structure and noise, the same for the same prompt."""

    def call(prompt, candidates):
        rng = Random(f"{seed} {prompt}")
        base = planted(prompt, candidates)
        return [base[word] + rng.gauss(0, 1.5) for word in candidates]

    return call


def brute_force(model, policy, probe=PAPER):
    """The DG basis of the model's labels, from the definitions."""
    domain = list(probe.space)
    models = []
    for x in domain:
        label = probe.space.label_of(x)
        if label is None:
            accepted = policy.label_unset == "accept"
        else:
            given = model(probe.render(x)[0], probe.label.words)
            scores = given if isinstance(given, list) else [given[w] for w in probe.label.words]
            accepted = scores[label] == max(scores)
        if accepted:
            models.append(x)
    return brute.dg(models, domain), models


@pytest.mark.parametrize("label_unset", ["accept", "reject"])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_exact_extraction_asks_660_prompts_and_equals_brute_force(seed, label_unset):
    model = planted if seed is None else noisy(seed)
    asked = []

    def counted(prompt, candidates):
        asked.append(prompt)
        return model(prompt, candidates)

    policy = Policy(label_unset=label_unset)
    result = extract(counted, PAPER, policy=policy, cache=False)
    assert len(asked) == len(set(asked)) == 660
    assert result.envelope.certificate.kind == "exact"
    expected, models = brute_force(model, policy)
    assert brute.pairs(result.envelope.basis) == expected
    assert result.envelope.statistics["distinct_prompts"] == 660
    assert result.envelope.non_horn.count == len(brute.close(models) - set(models))


def test_the_python_api_is_short():
    result = hornlens.extract(planted, cache=False)
    names = result.space.vocabulary
    shown = result.envelope.readable.show(names).splitlines()
    assert "nurse ∧ male → ⊥" in shown and "singer ∧ female → after 1970" in shown
    with pytest.raises(AttributeError):
        hornlens.nothing  # noqa: B018


def test_rules_come_with_evidence():
    result = extract(planted, PAPER, cache=False)
    names = PAPER.vocabulary
    found = {e.rule.show(names): e for e in result.evidence}
    nurse = found["nurse ∧ male → ⊥"]
    assert (nurse.support, nurse.prompts) == (60, 60)
    assert nurse.mean_margin == pytest.approx(2.9)
    assert all("nurse" in PAPER.render(e.cell)[0] for e in nurse.exhibits)
    assert result.sentence(nurse) == (
        "The model always scores “She” higher than “He” where the person is a nurse "
        "(at least 94 : 6, on average 95 : 5)."
    )
    singer = found["singer ∧ female → after 1970"]
    assert (singer.support, singer.prompts) == (50, 60)
    assert result.sentence(singer) == (
        "The model scores “She” higher than “He” where the person is a singer only if the person "
        "was born after 1970 (otherwise “He” leads by about 94 : 6 in each)."
    )
    strict = extract(planted, PAPER, policy=Policy(label_unset="reject"), cache=False)
    sentences = {strict.sentence(e): e for e in strict.evidence}
    assert sentences[result.sentence(nurse)].support == 60


def test_every_rule_of_an_exact_run_is_borne_out_by_its_evidence():
    result = extract(noisy(5), PAPER, cache=False)
    assert len(result.evidence) > 50
    for evidence in result.evidence:
        for exhibit in evidence.exhibits:
            label = exhibit.decision.winner
            assert evidence.rule.satisfied_by(PAPER.space.with_label(exhibit.cell, label))
        assert evidence.support > 0
        assert evidence.closest.margin == min(evidence.margins) > 0


def test_ties_and_narrow_margins_are_abstentions_and_never_made_negative():
    def undecided(prompt, candidates):
        return [-1.0, -1.0] if "banker" in prompt else planted(prompt, candidates)

    result = extract(undecided, PAPER, cache=False)
    assert len(result.abstentions) == 60
    assert {d.abstained for _, d in result.abstentions} == {"tie"}
    shown = result.envelope.readable.show(PAPER.vocabulary)
    assert "banker ∧" not in shown
    strict = extract(undecided, PAPER, policy=Policy(abstain="reject"), cache=False)
    assert "banker ∧ female → ⊥" in strict.envelope.readable.show(PAPER.vocabulary)
    careful = extract(planted, PAPER, policy=Policy(margin=2.85), cache=False)
    assert len(careful.abstentions) == 660 - 60 - 10 - 54


def test_top_k_needs_a_model_that_ranks():
    with pytest.raises(ModelError, match="ranks no vocabulary"):
        extract(planted, PAPER, policy=Policy(top_k=5), cache=False)


def test_neutral_calibration_takes_out_a_plain_preference():
    def biased(prompt, candidates):
        scores = planted(prompt, candidates)
        return {"She": scores["She"] + 10, "He": scores["He"]}

    raw = extract(biased, PAPER, cache=False)
    assert raw.envelope.readable.show(PAPER.vocabulary) == "male → ⊥"
    neutral = extract(biased, PAPER, policy=Policy(calibration="neutral"), cache=False)
    assert "nurse ∧ male → ⊥" in neutral.envelope.readable.show(PAPER.vocabulary)
    assert neutral.policy.calibration == "neutral"
    assert 0 in dict(neutral.abstentions)  # the neutral prompt itself ties


def test_several_templates_are_averaged_if_the_policy_says_so():
    probe = load_probe("sentiment")
    assert len(probe.templates) == 2

    def torn(prompt, candidates):
        if "hospital" not in prompt:
            return [-1.0, -2.0]
        return [-1.0, -2.0] if prompt.startswith("We") else [-4.0, -1.0]

    result = extract(torn, probe, policy=Policy(phrasings="average"), cache=False)
    shown = result.envelope.readable.show(probe.vocabulary).splitlines()
    assert "hospital ∧ good → ⊥" in shown
    assert result.envelope.statistics["distinct_prompts"] == probe.prompt_count == 320


def only_nurses(prompt, candidates):
    """She for nurses; for all others it cannot tell, so that hardly anything is rejected."""
    return {"She": 0.0, "He": -1.0 if "nurse" in prompt else 0.0}


def test_pac_runs_exceed_epsilon_no_more_often_than_delta_allows():
    """Male nurses are rejected, 1 of 22: hardly more than ε, so sampling is apt to miss them."""
    epsilon, delta, runs = 0.045, 0.1, 300
    truth = {
        PAPER.space.with_label(cell, label): decision.winner in (None, label)
        for cell, decision in extract(only_nurses, PAPER, cache=False).decisions.items()
        for label in range(2)
    }

    def chance_of_failures(asked_for):
        failures = 0
        for seed in range(runs):
            settings = Settings("pac", asked_for, delta, seed=seed)
            result = extract(only_nurses, PAPER, settings=settings, cache=False)
            learned = result.envelope.learned
            assert learned.certificate.joint is not None
            wrong = sum(
                (x not in learned.non_horn.examples and learned.basis.satisfied_by(x)) != accepted
                for x, accepted in truth.items()
            )
            failures += wrong / len(truth) > epsilon
        return sum(
            comb(runs, k) * delta**k * (1 - delta) ** (runs - k) for k in range(failures, runs + 1)
        )

    assert chance_of_failures(epsilon) > 1e-6
    assert chance_of_failures(5 * epsilon) < 1e-6, "the test cannot fail"


def test_pac_and_budget_runs_against_the_exact_envelope():
    exact = extract(planted, PAPER, cache=False).envelope
    for seed in range(5):
        pac = extract(planted, PAPER, settings=Settings("pac", 0.001, 0.05, seed=seed), cache=False)
        assert pac.envelope.basis == exact.basis, seed
        again = extract(
            planted, PAPER, settings=Settings("pac", 0.001, 0.05, seed=seed), cache=False
        )
        assert extraction_as_json(pac) == extraction_as_json(again)
        cut = extract(
            planted,
            PAPER,
            settings=Settings("budget", max_equivalence_queries=10, seed=seed),
            cache=False,
        )
        assert cut.envelope.certificate.kind == "budget_exhausted"
        assert cut.envelope.statistics["equivalence_queries"] == 10
        assert cut.envelope.statistics["distinct_prompts"] <= 660


def test_the_papers_protocol():
    settings, policy = paper_protocol(Settings(max_equivalence_queries=50), Policy())
    assert (settings.equivalence, settings.samples) == ("budget", 3132)
    assert policy == Policy(label_unset="reject", abstain="reject", top_k=5)
    policy = replace(policy, top_k=None)  # our function ranks nothing
    result = extract(planted, PAPER, settings=settings, policy=policy, cache=False)
    assert result.envelope.statistics["equivalence_queries"] <= 51
    variables = len(PAPER.vocabulary)
    assert settings.samples == math.floor((variables**2.1 - math.log2(0.1)) / 0.3)


def test_what_does_not_fit_is_sifted_or_refused():
    small = Settings("auto", epsilon=0.2, delta=0.2, limit=100)
    result = extract(planted, PAPER, settings=small, cache=False)
    certificate = result.envelope.certificate
    # It asks no more than the limit, and what that is too little for is open.
    assert certificate.stopped == "max_questions" and len(result.decisions) == 100
    assert certificate.kind == "sifted" and certificate.open
    result = extract(planted, PAPER, settings=small, cache=False, limits=Limits(max_questions=500))
    assert len(result.decisions) == 100
    with pytest.raises(HornlensError, match="660 prompts, more than --limit 100"):
        extract(planted, PAPER, settings=Settings("exhaustive", limit=100), cache=False)
    with pytest.raises(HornlensError, match="--epsilon must lie"):
        extract(planted, PAPER, settings=Settings(epsilon=0), cache=False)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_scores_that_are_no_numbers_stop_the_run_and_name_the_prompt(tmp_path, bad):
    cache = AnswerCache(tmp_path / "c.sqlite")

    def broken(prompt, candidates):
        return [bad, -1.0] if "lawyer" in prompt else planted(prompt, candidates)

    with pytest.raises(ModelError, match=r"scored 'She' as (nan|inf) in the prompt .*lawyer"):
        extract(FunctionModel(broken, identity="b"), PAPER, cache=cache)
    assert cache.models()[0].answers > 0  # what was answered is kept


def test_a_model_that_dies_in_the_middle_goes_on_where_it_stopped(tmp_path):
    cache = AnswerCache(tmp_path / "c.sqlite")
    asked = []

    def mortal(prompt, candidates):
        if len(asked) == 300:
            raise MemoryError("no more\nmemory")
        asked.append(prompt)
        return planted(prompt, candidates)

    with pytest.raises(ModelError, match="model m failed: MemoryError: no more memory; what was"):
        extract(FunctionModel(mortal, "m", identity="1"), PAPER, cache=cache)

    def healthy(prompt, candidates):
        assert prompt not in asked, "no prompt is asked twice"
        return planted(prompt, candidates)

    result = extract(FunctionModel(healthy, "m", identity="1"), PAPER, cache=cache)
    assert (result.record.asked, result.record.reused) == (360, 300)
    assert result.envelope == extract(planted, PAPER, cache=False).envelope


def test_functions_without_an_identity_are_not_kept_on_disk(tmp_path):
    cache = AnswerCache(tmp_path / "c.sqlite")
    extract(planted, PAPER, cache=cache)
    assert cache.models() == []


def test_a_model_of_any_class_that_has_no_identity_is_not_kept_either(tmp_path):
    class Nameless(TableModel):
        def identity(self):
            return None

    path = tmp_path / "scores.csv"
    path.write_text(scores_csv(extract(planted, PAPER, cache=False)))
    cache = AnswerCache(tmp_path / "c.sqlite")
    result = extract(Nameless(path), PAPER, cache=cache)
    assert cache.models() == [] and result.record.asked == 660
    assert extract(planted, PAPER, cache=cache).identity_text == "function:function"
    assert extract(FunctionModel(planted, "f", "1"), PAPER, cache=cache).identity == "function:1"


def test_an_audit_can_be_repeated_from_its_scores(tmp_path):
    result = extract(noisy(3), PAPER, cache=False)
    path = tmp_path / "scores.csv"
    path.write_text(scores_csv(result))
    again = extract(TableModel(path), PAPER, cache=False)
    assert again.envelope == result.envelope
    assert again.scores == result.scores


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n", ":1: needs a column 'prompt'"),
        ("prompt,She\n", ":1: no column for the candidate 'He'"),
        ("prompt,She,He\np,x,1\n", ":2: scores must be numbers"),
        ("prompt,She,He\np,nan,1\n", ":2: a score is not a number"),
        ("prompt,She,He\np,-1,-2\np,-1,-3\n", ":3: a second row for this prompt"),
        ("prompt,She,He\np,-1,-2\n", "has no scores for the prompt"),
        (None, "no such file"),
    ],
)
def test_bad_tables_of_scores(tmp_path, content, message):
    path = tmp_path / "s.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ModelError) as raised:
        extract(f"table/{path}", PAPER, cache=False)
    assert message in str(raised.value)


def test_unknown_models_say_what_there_is():
    for spec in ("gpt", "hf/", "table/", "foo/bar"):
        with pytest.raises(ModelError, match="unknown model"):
            open_model(spec)


def test_the_files_agree_with_each_other():
    result = extract(noisy(1), PAPER, cache=False)
    content = json.loads(json.dumps(extraction_as_json(result)))
    assert len(content["answers"]) == 660
    rows = list(csv.DictReader(result.rules.csv().splitlines()))
    assert len(rows) == len(content["rules"]) == len(content["readable"])
    assert [int(r["support"]) for r in rows] == sorted(
        (int(r["support"]) for r in rows), reverse=True
    )
    by_sentence = {line["sentence"]: line for line in content["readable"]}
    for row in rows:
        line = by_sentence[row["sentence"]]
        assert int(row["support"]) == line["support"] and int(row["prompts"]) == line["prompts"]
        assert len(line["evidence"]) == line["prompts"]
        assert line["closest"]["answer"] in line["evidence"]


def test_files_are_whole_or_not_there(tmp_path):
    write_file(tmp_path / "a" / "f.txt", "text")
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["f.txt"]
    (tmp_path / "g").write_text("file")
    with pytest.raises(HornlensError, match="cannot be written"):
        write_file(tmp_path / "g" / "f.txt", "text")


@pytest.mark.parametrize("label_unset", ["accept", "reject"])
@pytest.mark.parametrize("seed", range(6))
def test_a_pac_run_ends_at_peace_with_every_answer_it_has(seed, label_unset):
    """A prompt that was asked for one label tells about the others: that counts, too."""
    settings = Settings("pac", epsilon=0.3, delta=0.3, seed=seed)
    policy = Policy(label_unset=label_unset)
    result = extract(noisy(seed), PAPER, settings=settings, policy=policy, cache=False)
    theory = result.envelope.background + result.envelope.basis
    assert result.decisions
    for cell, decision in result.decisions.items():
        for label in range(len(PAPER.label.values)):
            x = PAPER.space.with_label(cell, label)
            accepted = theory.satisfied_by(x) and x not in result.excluded
            assert accepted == (decision.winner == label), (PAPER.vocabulary.names_of(x), decision)
