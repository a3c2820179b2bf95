"""Almost-rules, levels, support and rank in results: files, checks, verification, commands."""

import csv
import io
import json
from random import Random

import pytest

import hornlens
from hornlens.errors import HornlensError
from hornlens.exact.envelopes import only_supported
from hornlens.exact.grid import LabelledSpace
from hornlens.exact.supported import supported_envelope_of_grid
from hornlens.formats.digests import with_digest
from hornlens.logic.attributes import Nominal
from hornlens.logic.bits import BOTTOM
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.taxonomy import Taxonomy
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from hornlens.results.analysis.almost import Summary
from hornlens.results.analysis.ranking import surprise_of
from hornlens.targets.functions import FunctionTarget
from hornlens.verification import verify
from tests import brute
from tests.exact.test_almost import random_target
from tests.exact.test_bounded import left_sides
from tests.report_cases import probe
from tests.varied import SeededModel, random_policy, random_probe


def ask(seed, **settings):
    rng = Random(f"summaries {seed}")
    question, policy = random_probe(rng), random_policy(rng)
    model = SeededModel(str(seed), lean=rng.choice([0.5, 0.8, 0.9, 0.95]))
    chosen = hornlens.Settings(**settings)
    return hornlens.extract(model, question, policy=policy, settings=chosen)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_saved_is_verified_and_comes_back(seed, tmp_path):
    chosen = {"min_confidence": 0.75, "exception_cost": seed % 2}
    if seed % 3 == 0:
        chosen["max_conditions"] = 2
    if seed % 4 == 0:
        chosen["min_support"] = 2
    result = ask(seed, **chosen)
    result.save(tmp_path)
    again = hornlens.load(tmp_path)
    if result.envelope.certificate.unanswered:  # nothing to count
        assert again.envelope.almost is result.envelope.almost is None
        return
    assert again.envelope.almost == result.envelope.almost is not None
    assert again.envelope.levels == result.envelope.levels is not None
    assert again.settings == result.settings
    found = verify(tmp_path)
    assert found.ok, found.wrong
    again.save(tmp_path / "again")
    for name in ("envelope.json", "almost.csv", "levels.csv", "rules.csv", "report.html"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_every_exception_stands_in_a_file_of_its_own(tmp_path):
    result = hornlens.extract(
        settings=hornlens.Settings(min_confidence=0.9, max_conditions=2), cache=False
    )
    result.save(tmp_path)
    content = json.loads((tmp_path / "envelope.json").read_text())
    lines = list(csv.DictReader(io.StringIO((tmp_path / "almost.csv").read_text())))
    assert len(lines) == sum(line["broken"] for line in content["almost"]) == 7
    assert {line["shown"] for line in lines} == {
        content["answers"][place]["prompts"][0]
        for line in content["almost"]
        for place in line["answers"]
    }
    listed = [(line["if"], line["then"]) for line in content["readable"]]
    assert not any((line["if"], line["then"]) in listed for line in content["almost"])
    rules = list(csv.DictReader(io.StringIO((tmp_path / "rules.csv").read_text())))
    assert len(rules) == len(content["rules"])  # never mixed up
    curve = list(csv.DictReader(io.StringIO((tmp_path / "levels.csv").read_text())))
    assert curve[7]["explained"] == "477" and curve[7]["exceptions"] == "3"
    hornlens.extract(
        settings=hornlens.Settings("budget", max_equivalence_queries=3), cache=False
    ).save(tmp_path)
    assert not (tmp_path / "almost.csv").exists() and not (tmp_path / "levels.csv").exists()


def test_verify_finds_what_was_changed(tmp_path):
    result = hornlens.extract(
        settings=hornlens.Settings(min_confidence=0.9, max_conditions=2), cache=False
    )
    result.save(tmp_path)
    path = tmp_path / "envelope.json"
    whole = path.read_text()

    def drop(line, key):
        line[key] = line[key][1:]

    changes = {
        "its exceptions are others": lambda c: drop(c["almost"][0], "exceptions"),
        "the answers listed are not": lambda c: drop(c["almost"][0], "answers"),
        "3 of 60 break it": lambda c: c["almost"][0].update(broken=2),
        "its confidence is not": lambda c: c["almost"][0].update(confidence=0.99),
        "an almost-rule is missing": lambda c: c["almost"].pop(0),
        "it has no exceptions": lambda c: c["almost"].append(
            {**c["almost"][0], "if": ["nurse", "male"], "exceptions": [], "broken": 0, "of": 60}
        ),
        "it follows from the other": lambda c: c["almost"].append(dict(c["almost"][0])),
        "explained are 60": lambda c: c["levels"]["steps"][0].update(explained=61),
        "rejections is 660": lambda c: c["levels"].update(rejections=659),
        "its new exceptions are": lambda c: drop(c["levels"]["steps"][7], "new_exceptions"),
        "by_exact is": lambda c: c["levels"].update(by_exact=1),
        "at_most is less": lambda c: c["levels"]["steps"][0].update(at_most=1),
    }
    for wanted, change in changes.items():
        content = json.loads(whole)
        change(content)
        path.write_text(json.dumps(with_digest(content)))
        found = verify(path)
        assert found.wrong is not None and wanted in found.wrong, (wanted, found.wrong)


def test_levels_that_are_no_levels_are_refused(tmp_path):
    hornlens.extract(cache=False).save(tmp_path)
    path = tmp_path / "envelope.json"
    whole = path.read_text()
    for key, value in (("chosen", 99), ("rejections", -1), ("min_confidence", "high")):
        content = json.loads(whole)
        content["levels"][key] = value
        path.write_text(json.dumps(content))
        with pytest.raises(HornlensError, match=r"is no envelope\.json"):
            hornlens.load(tmp_path)
    content = json.loads(whole)
    del content["levels"]  # as older versions wrote it
    path.write_text(json.dumps(content))
    assert hornlens.load(tmp_path).envelope.levels is None


def test_almost_rules_are_required_and_forbidden_only_where_that_is_said(tmp_path):
    result = hornlens.extract(cache=False)
    rule = "fashion designer & male -> false"
    assert not result.check({"require": [rule]})
    required = {"rule": rule, "confidence": 0.95}
    (outcome,) = result.check({"require": [required]}).outcomes
    assert outcome.passed and outcome.status == "almost"
    assert outcome.finding == (
        "But for 3 of 60 prompts, the model always scores “She” higher than “He” where the person "
        "is a fashion designer. That is a confidence of 95%."
    )
    assert len(outcome.answers) == 3 == outcome.count  # all exceptions
    assert not result.check({"require": [{"rule": rule, "confidence": 0.951}]})
    assert not result.check({"forbid": [required]}) and result.check({"forbid": [rule]})
    (exact,) = result.check(
        {"require": [{"rule": "nurse & male -> false", "confidence": 0.5}]}
    ).outcomes
    assert exact.status == "holds"
    sampled = hornlens.extract(
        settings=hornlens.Settings("budget", max_equivalence_queries=3), cache=False
    )
    (unknown,) = sampled.check({"require": [required]}).outcomes
    assert unknown.status == "unknown" and not unknown.passed
    with pytest.raises(HornlensError, match="confidence"):
        result.check({"require": [{"rule": rule, "confidence": 1.5}]})


def test_of_several_phrasings_one_is_enough_for_an_exception():
    question = probe(
        "two",
        ("They are {age} {work} and {label}.", "One who is {age} {work} is {label}."),
        {"age": ["old", "young"], "work": ["nurse", "priest", "cook", "clerk"]},
        {"h": "honest", "d": "dishonest"},
    )

    def torn(prompt, words):
        return [0.0, 1.0] if prompt.startswith("One") and "old nurse" in prompt else [1.0, 0.0]

    result = hornlens.extract(
        torn, question, cache=False, settings=hornlens.Settings(min_confidence=0.9)
    )
    (line,) = result.envelope.almost.rules
    assert (line.broken, line.of) == (1, 15) and result.space.show(line.rule) == "d → ⊥"
    ((_, nearly),) = Summary(result).almost
    assert [e.world for e in nearly.exhibits] == [1]
    assert Summary(result).sentence(nearly) == (
        "In every one of 2 phrasings, but for 1 of 15 cells, the model always scores “honest” "
        "higher than “dishonest”."
    )


def test_ordered_and_taxonomy_attributes_have_almost_rules_and_levels(tmp_path):
    age = Ordered("age", ("young", "grown", "old"))
    place = Taxonomy.of("place", [("Europe", None), ("Germany", "Europe"), ("Asia", None)])
    space = Space((age, place), Nominal("loan", ("yes", "no")))

    def bank(names):
        rich = "Germany" in names and "age ≥ old" in names
        return "yes" if "age ≤ grown" not in names and ("Europe" not in names or rich) else "no"

    target = FunctionTarget(bank, space, "bank")
    result = hornlens.extract(target, settings=hornlens.Settings(min_confidence=0.7))
    assert result.envelope.almost.rules
    result.save(tmp_path)
    assert verify(tmp_path).ok, verify(tmp_path).wrong


@pytest.mark.parametrize("seed", range(15))
def test_support_leaves_out_what_is_rare_and_says_how_many(seed):
    rng = Random(seed)
    for _ in range(20):
        space, accepted, labelled = random_target(rng, 150)
        least = rng.choice([1, 2, 3, 5, 8])
        most = rng.choice([None, None, 2])
        found = supported_envelope_of_grid(labelled, least, most)
        cells = {x & ~space.label_mask for x in space}

        def speaks_of(x, cells=cells, space=space):
            return sum(x & ~space.label_mask & ~cell == 0 for cell in cells)

        known = found.basis + space.background
        for rule in (*found.basis, *found.readable):
            assert all(rule.satisfied_by(x) for x in accepted)
        for rule in found.readable:
            assert speaks_of(space.background.closure(rule.antecedent)) >= least
        for x in left_sides(space, len(space.shape) if most is None else most):
            if speaks_of(x) >= least:
                closed = brute.closure(accepted, x)
                assert known.entails(Rule(x, BOTTOM if closed is None else closed))
        if most is None:
            lost = [r for r in labelled.dg_basis().rules if not known.entails(r)]
            assert found.statistics["rules_left_out"] == len(lost)
        assert found.certificate.complete.min_support == least
        if len(found.basis) > 1:
            fewer = rng.randrange(1, len(found.basis))
            limits = hornlens.Limits(max_rules=fewer)
            cut = supported_envelope_of_grid(labelled, least, most, limits=limits)
            assert (cut.certificate.kind, len(cut.basis)) == ("interrupted", fewer)
            assert set(cut.basis.rules) <= set(found.basis.rules)


@pytest.mark.parametrize("seed", range(10))
def test_support_in_tables_needs_no_bound_on_conditions(seed):
    from hornlens.exact.envelopes import envelope_of_table

    rng = Random(seed)
    for _ in range(40):
        width, least = rng.randint(1, 6), rng.randint(1, 4)
        rows = tuple(
            rng.getrandbits(width) | rng.getrandbits(width) for _ in range(rng.randint(0, 10))
        )
        table = Table(Vocabulary.numbered(width), rows)
        whole = envelope_of_table(table)
        found = only_supported(whole, table, least)
        assert found.statistics["rules_left_out"] == len(whole.basis) - len(found.basis)
        assert all(count >= least for count in found.support)
        for x in range(1 << width):
            if sum(x & ~row == 0 for row in rows) >= least:
                assert found.basis.closure(x) == brute.closure(rows, x), (rows, x, least)


@pytest.mark.parametrize("seed", range(10))
def test_surprise_counts_what_no_other_rule_says(seed):
    rng = Random(seed)
    for _ in range(15):
        space, _, labelled = random_target(rng, 120)
        rules = list(labelled.dg_basis().rules)
        cells = sorted({x & ~space.label_mask for x in space})
        found = surprise_of(rules, space, cells)
        for i, (rule, count) in enumerate(zip(rules, found, strict=True)):
            others = Theory(space.width, tuple(rules[:i] + rules[i + 1 :]))
            open_still = [x for x in space if others.satisfied_by(x)]
            assert count == sum(not rule.satisfied_by(x) for x in open_still) > 0


def test_rules_are_ranked_as_it_was_asked():
    orders = {}
    for rank in ("support", "margin", "surprise"):
        result = hornlens.extract(cache=False, settings=hornlens.Settings(rank=rank))
        orders[rank] = [str(row.rule) for row in result.rules]
        if rank == "margin":
            means = [row.mean_margin for row in result.rules]
            assert means == sorted(means, reverse=True)
    assert len({tuple(order) for order in orders.values()}) == 3
    assert len({frozenset(order) for order in orders.values()}) == 1


def test_what_cannot_be_counted_is_said(tmp_path):
    """Almost-rules and levels count exceptions among all answers: without them there are none."""
    for settings, what in (
        ({"limit": 100, "min_confidence": 0.9}, "almost-rules"),
        ({"limit": 10, "detail": "5"}, "levels"),
    ):
        found = hornlens.extract(settings=hornlens.Settings(**settings), cache=False)
        assert found.envelope.almost is None and found.envelope.levels is None
        (warning,) = [each for each in found.warnings if each.kind == "not_counted"]
        assert what in warning.sentence and "660" in warning.sentence
        found.save(tmp_path)
        assert hornlens.load(tmp_path).warnings == found.warnings
    whole = hornlens.extract(settings=hornlens.Settings(min_confidence=0.9), cache=False)
    assert not [each for each in whole.warnings if each.kind == "not_counted"]


def test_settings_that_cannot_be_are_refused():
    for wrong in ({"min_confidence": 1.0}, {"min_confidence": 0}, {"min_support": 0}):
        with pytest.raises(HornlensError, match="min_"):
            hornlens.Settings(**wrong)
    with pytest.raises(HornlensError, match="--detail must be"):
        hornlens.Settings(detail="most")
    with pytest.raises(HornlensError, match=r"explain .* of the rejections, not 100%"):
        hornlens.extract(settings=hornlens.Settings(detail="100%"), cache=False)


def test_a_level_says_what_it_leaves_out(run_hornlens, tmp_path):
    shown = run_hornlens("extract", "--no-cache", "--out", tmp_path, "--detail", "8", "-q")
    assert "In short: 8 rules explain 477 of 660 rejections (72%), with 3 exceptions." in shown
    assert "It leaves out 183 rejections. The 57 exact rules of the result explain 585" in shown
    assert shown.count("      not: ") == 3
    best = run_hornlens(
        *("extract", "--no-cache", "--out", tmp_path, "--detail", "best:3", "-q"),
        *("--max-conditions", "2"),
    )
    assert "No 3 of 121 candidates do better: found by MaxSAT." in best
    promised = run_hornlens(
        *("extract", "--no-cache", "--out", tmp_path, "--detail", "3", "-q"),
        *("--exception-cost", "0"),
    )
    assert "at least 63% (1 − 1/e)" in promised and "63%" not in shown


def test_envelopes_of_files_have_almost_rules_and_levels_too(run_hornlens, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,1,0\n1,1,1\n1,1,0\n1,0,1\n0,1,1\n")
    shown = run_hornlens("envelope", path, "--min-confidence", "0.6", "-q")
    assert "⊤ → a, but for 1 of 5 rows: line 6 {b, c}" in shown
    content = json.loads(
        run_hornlens("envelope", path, "--min-confidence", "0.6", "--format", "json")
    )
    saved = tmp_path / "t.json"
    saved.write_text(json.dumps(content))
    assert verify(saved, path).ok, verify(saved, path).wrong
    content["almost"][0]["lines"] = []
    saved.write_text(json.dumps(with_digest(content)))
    assert "not a line for each" in verify(saved, path).wrong
    few = run_hornlens("envelope", path, "--min-support", "2", "-q")
    assert "left out" in few and "at least 2 positive examples" in few
    level = run_hornlens("envelope", path, "--detail", "1", "--min-confidence", "0.5", "-q")
    assert "In short: 1 rule explains 2 of 3 rejections" in level or "In short: 1 rule" in level


@pytest.fixture
def run_hornlens(capsys):
    from hornlens.cli.main import main

    def run(*arguments):
        import sys
        from unittest.mock import patch

        given = patch.object(sys, "argv", ["hornlens", *map(str, arguments)])
        with given, pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        assert not ended.value.code, shown.err
        return shown.out

    return run


def test_labels_are_those_of_the_target():
    """The counts are the same whether a target has labels, or says yes and no of the same cells."""
    space = Space((Nominal("a", ("x", "y", "z")), Nominal("b", ("u", "v"))))
    rng = Random(3)
    yes = {x for x in space if rng.random() < 0.4}
    labelled = LabelledSpace.of(space, yes.__contains__)
    result = hornlens.extract(
        FunctionTarget(lambda names: space.vocabulary.mask(names) in yes, space, "f"),
        settings=hornlens.Settings(min_confidence=0.6, max_conditions=2),
    )
    from hornlens.exact.almost import almost_rules_of_grid

    wanted = almost_rules_of_grid(labelled, labelled.dg_basis(), 2, 0.6)
    assert result.envelope.almost.rules == wanted.rules
