"""Gates and comparisons of sifted results: a bound passes where a file allows it, silence never."""

import pytest

import hornlens
from hornlens import FunctionTarget, Nominal, Settings, Space
from hornlens.logic.ordered import Ordered
from hornlens.logic.taxonomy import Taxonomy
from tests import report_cases
from tests.sifted_cases import case, chance, excepted, granted, sifted, space

LISTED = "a1 & yes -> false"


def outcome(result, **requirements):
    (line,) = result.check(requirements).outcomes
    return line


def require(result, rule, **more):
    return outcome(result, require=[{"rule": rule, **more}])


def forbid(result, rule, **more):
    return outcome(result, forbid=[rule], **more)


def test_a_tested_rule_passes_within_the_bound_that_the_file_allows():
    result = case("listed")
    within = require(result, LISTED, at_most="5%")
    assert within.passed and within.status == "tested"
    tested = result.rules[0].warrant.tested
    assert f"Tried on {tested} random cases inside it, no exception" in within.finding
    assert "(all rules together: 95% sure)" in within.finding
    for line in (require(result, LISTED), require(result, LISTED, at_most="4%")):
        assert not line.passed and line.status == "tested"
        assert "at_most:" in line.finding


def test_what_people_write_is_read_as_what_was_sifted():
    """Where a label may be unset, a1 → no means that no other label is given."""
    assert require(case("listed"), "a1 -> no", at_most="5%").passed
    complete = sifted(granted, space(6, 4, complete=True))
    assert [str(row) for row in complete.rules] == ["a1 → no"]
    assert require(complete, "a1 -> no", at_most="5%").passed
    assert require(complete, LISTED, at_most="5%").passed


def test_a_special_case_of_a_tested_rule_is_open():
    """Of a fifth of its cases, a quarter may break it though only 5% of all do."""
    result = case("listed")
    line = require(result, "a1 & b2 & yes -> false", at_most="99%")
    assert not line.passed and line.status == "unknown"
    assert "special case" in line.finding


def test_a_special_case_of_a_proved_rule_holds():
    result = case("proved")
    rule = next(row for row in result.rules if row.warrant.proved)
    line = require(result, f"{' & '.join((*rule.conditions, 'd0'))} -> {rule.rule.consequent[0]}")
    assert line.passed and line.status == "holds"
    assert "As far as it was asked" not in line.finding


def test_an_open_rule_passes_no_gate():
    result = case("ended")
    row = result.open[0]
    line = require(result, str(row), at_most="50%")
    assert not line.passed and line.status == "unknown"
    assert f"about {row.needs} more clean random cases" in line.finding
    forbidden = forbid(result, str(row))
    assert not forbidden.passed and forbidden.status == "unknown"
    assert forbid(result, str(row), allow=["open"]).passed


def test_forbid_passes_where_an_answer_refutes_and_shows_it():
    result = case("listed")
    line = forbid(result, "b2 & yes -> false")
    assert line.passed and line.status == "broken"
    assert line.answers and "b2" in line.answers[0].prompts[0]
    assert not forbid(result, LISTED).passed
    required = require(result, "b2 & yes -> false", at_most="50%")
    assert not required.passed and required.answers


def test_how_sure_it_is():
    done, ended = case("listed"), case("ended")
    for level, passes in (("tested", True), ("bounded", False), ("exact", False)):
        assert outcome(done, at_least=level).passed == passes, level
        assert not outcome(ended, at_least=level).passed, level
    assert outcome(case("worlds"), at_least="tested").passed


def test_labels_are_ruled_out_together_by_the_sum_of_their_bounds():
    """With three labels, that a1 means no has two rules; each may be broken by 5%."""
    three = space(6, 4, ("yes", "no", "maybe"))

    def says(names):
        return "no" if "a1" in names else ("yes", "no", "maybe")[chance(names) % 3]

    result = sifted(says, three)
    assert {str(row) for row in result.rules} >= {"a1 ∧ yes → ⊥", "a1 ∧ maybe → ⊥"}
    assert require(result, LISTED, at_most="5%").passed
    assert not require(result, "a1 -> no", at_most="5%").passed
    both = require(result, "a1 -> no", at_most="10%")
    assert both.passed and both.status == "tested" and "at most 10%" in both.finding


def test_names_that_follow_from_others_make_no_difference():
    """A rule about Germany is about Europe, too, and one about ages below 30 about all above."""
    places = Taxonomy.of("place", report_cases.PLACES)
    ages = Ordered.cut("age", ("30", "60"))
    rest = tuple(Nominal(x, tuple(f"{x}{i}" for i in range(4))) for x in "bcd")
    over = Space((places, ages, *rest), Nominal("loan", ("yes", "no")), complete=True)

    def says(names):
        return "no" if {"Germany", "age < 30"} <= {*names} else granted({*names} - {"a1"})

    result = sifted(says, over)
    (_,) = [row for row in result.rules if "Germany" in row.conditions]
    for rule in ("Germany & age < 30 -> no", "Germany & Europe & age < 30 & age < 60 -> no"):
        line = require(result, rule, at_most="5%")
        assert line.passed and line.status in ("tested", "holds"), line.finding


def test_a_share_of_chosen_cells_decides_nothing():
    result = case("listed")
    line = require(result, "b2 & yes -> false", confidence=0.5)
    assert not line.passed and line.status == "unknown" and "confidence of" not in line.finding
    invariant = outcome(result, invariant={"attributes": ["b"], "tolerance": 0.9})
    assert not invariant.passed and invariant.status == "unknown"
    assert "%)" not in invariant.finding


def test_flips_of_chosen_cells_break_invariance_only_as_examples():
    """A flip on record refutes that there is none; it says nothing of how many there are."""
    box = sifted(granted, space(3, 4, complete=True), max_questions=40)
    assert not box.has_rates and box.flips("c").ever
    never = outcome(box, invariant=["c"])
    assert not never.passed and never.status == "broken" and never.flips
    few = outcome(box, invariant={"attributes": ["c"], "tolerance": 0.01})
    assert not few.passed and few.status == "unknown"


def test_two_sifted_results_are_compared():
    one = case("listed")

    def second(names):
        return "no" if "b2" in names and chance(names, "d") % 3 else granted(names, "other")

    two = sifted(second, space(), seed=5)
    pair = hornlens.compare([one, two], ["one", "two"])
    (line,) = pair.comparisons[0].rules_of_left_in_right
    assert line.outcome == "entailed"
    assert pair.common is None or [str(rule) for rule in pair.common] == ["a1 ∧ yes → ⊥"]
    settings = {each.setting: each.values for each in pair.differences}
    assert "certificate" not in settings
    loose = sifted(granted, space(), epsilon=0.2)
    differing = hornlens.compare([one, loose], ["one", "loose"]).differences
    assert any("epsilon 0.05" in str(each.values) for each in differing)


def test_what_refutes_a_rule_of_another_is_shown():
    one, three = case("listed"), sifted(lambda names: granted({*names} - {"a1"}), space())
    (line,) = hornlens.compare([one, three], ["one", "three"]).comparisons[0].rules_of_left_in_right
    assert line.outcome == "contradicted" and "a1" in line.witness.prompts[0]


def test_a_rule_with_exceptions_is_broken_by_them():
    result = case("almost")
    (almost, *_) = result.envelope.sifted.almost
    line = forbid(result, result.space.show(almost.rule))
    assert line.passed and line.count == len(almost.exceptions)
    assert excepted(result.space.vocabulary.names_of(almost.exceptions[0])) == "yes"
    assert not require(result, "a1 -> no", at_most="5%").passed


@pytest.mark.parametrize("seed", range(3))
def test_a_gate_never_passes_what_the_cells_break(seed):
    """Every rule that passes with a bound has at most that share of its cells against it."""
    over = space(4, 3, complete=True)
    result = sifted(lambda names: granted(names, str(seed)), over, seed=seed)
    for row in result.rules:
        mask = over.vocabulary.mask(row.conditions)
        cells = [cell for cell in over.cells() if mask & ~cell == 0]
        says = [granted(over.vocabulary.names_of(cell), str(seed)) for cell in cells]
        wrong = sum(label not in row.rule.consequent for label in says)
        bound = row.warrant.bound or 0.0
        assert wrong <= bound * len(cells)
        assert require(result, str(row), at_most="5%").passed == (bound <= 0.05)


def test_settings_of_a_sift_are_saved(tmp_path):
    result = sifted(granted, space(5, 4), epsilon=0.1, delta=0.2, seed=7, max_questions=400)
    result.save(tmp_path)
    again = hornlens.load(tmp_path)
    assert (
        again.settings
        == result.settings
        == Settings(equivalence="sift", epsilon=0.1, delta=0.2, seed=7, max_questions=400)
    )
    assert FunctionTarget(granted, space(5, 4)).space == again.space
