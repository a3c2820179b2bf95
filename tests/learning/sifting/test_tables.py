"""The tables of a sifted result: listed and open rules, in Python, in JSON and in CSV files."""

import csv
import io
import json

import pytest

import hornlens
from hornlens import FunctionTarget, Nominal, Settings, Space
from hornlens.results.documents.rules import COLUMNS, Rules
from tests import report_cases
from tests.sifted_cases import MADE, case, granted, space

INSIDE = ("ended", "unlabelled_ended")
"""The cases that have open rules."""


def read(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("name", MADE)
def test_rules_are_the_listed_ones_each_with_its_warrant(name):
    result = case(name)
    assert len(result.rules) == len(result.envelope.basis)
    for row in result.rules:
        assert row.warrant.kind in ("proved", "tested")
        if row.warrant.kind == "tested":
            assert 0 < row.warrant.bound < 1 and row.warrant.tested > 0
    assert not {str(row) for row in result.rules} & {str(row) for row in result.open}


@pytest.mark.parametrize("name", INSIDE)
def test_open_rules_are_a_table_of_their_own(name):
    result = case(name)
    assert isinstance(result.open, Rules) and len(result.open) == result.certificate.open > 0
    for row in result.open:
        assert row.warrant.kind == "open" and row.warrant.bound is None
        assert row.needs > 0
        assert row.sentence.startswith("Open: ")
        assert 0 <= row.support <= row.prompts and row.cells == row.prompts


def test_an_open_rule_counts_the_answers_as_a_listed_one_does():
    """The short way of counting comes to what the evidence of a rule comes to."""
    from hornlens.results.analysis.evidence import counts_for, evidence_for

    for result in (case("ended"), case("worlds"), case("almost"), report_cases.abstaining()):
        said = [(world.policy, world.decisions) for world in result.each]
        rules = [*result.envelope.readable, *result.envelope.open]
        counts = counts_for(rules, result.space, said)
        evidence = evidence_for(rules, result.space, said)
        assert [(c.support, c.prompts) for c in counts] == [
            (e.support, e.prompts) for e in evidence if not e.broken
        ]
        assert [c.cells for c in counts] == [len({x.cell for x in e.exhibits}) for e in evidence]


def test_every_kind_of_result_has_open_rules_or_an_empty_table():
    exact = report_cases.planted
    whole = hornlens.extract(exact, report_cases.PAPER, cache=False)
    assert isinstance(whole.open, Rules) and len(whole.open) == 0
    budget = report_cases.budget()
    assert len(budget.open) == len(budget.envelope.open) > 0
    assert {row.warrant.kind for row in budget.open} == {"open"}
    assert {row.needs for row in budget.open} == {None}
    formula = hornlens.envelope("examples/animals.csv")
    assert len(formula.open) == 0


def test_questions_counts_distinct_cells_whatever_the_strategy():
    three = Space(
        (Nominal("a", ("a0", "a1")), Nominal("b", ("b0", "b1"))), Nominal("l", ("yes", "no"))
    )
    target = FunctionTarget(lambda names: "no" if "a1" in names else "yes", three)
    for how in ("exhaustive", "pac", "budget", "sift"):
        result = hornlens.extract(target, settings=Settings(equivalence=how))
        assert result.envelope.statistics["questions"] == len(result.decisions), how
    both = case("worlds")
    asked = {cell for world in both.worlds for cell in world.decisions}
    assert both.envelope.statistics["questions"] == len(asked)
    phrasings = report_cases.phrasings()
    assert phrasings.envelope.statistics["questions"] == len(phrasings.decisions)


def test_a_classifier_counts_its_questions_too():
    import numpy as np

    rows = np.array([[20.0], [30.0], [50.0]])
    result = hornlens.explain(lambda rows: rows[:, 0] >= 40, rows, bins={"x0": [40]})
    assert result.envelope.statistics["questions"] == len(result.decisions)
    assert len(result.open) == 0


@pytest.mark.parametrize("name", MADE)
def test_json_has_listed_and_open_rules_apart(name):
    result = case(name)
    content = json.loads(result.export("json"))
    assert len(content["readable"]) == len(result.rules)
    assert [line["if"] for line in content["open"]] == [list(r.conditions) for r in result.open]
    assert {line["warrant"]["kind"] for line in content["open"]} <= {"open"}
    assert [line["needs"] for line in content["open"]] == [row.needs for row in result.open]
    for line in content["readable"]:
        assert {"kind", "bound", "tested"} >= line["warrant"].keys() >= {"kind"}


@pytest.mark.parametrize("name", ["ended", "listed", "unlabelled_ended"])
def test_files_hold_listed_and_open_rules_apart(name, tmp_path):
    result = case(name)
    result.save(tmp_path)
    rules = read((tmp_path / "rules.csv").read_text("utf-8"))
    assert [line["rule"] for line in rules] == [str(row) for row in result.rules]
    assert [line["tested"] for line in rules] == [str(row.warrant.tested) for row in result.rules]
    assert {line["warrant"] for line in rules} <= {"tested", "proved"}
    file = tmp_path / "open.csv"
    assert file.is_file() == bool(len(result.open))
    if file.is_file():
        lines = read(file.read_text("utf-8"))
        assert tuple(lines[0]) == COLUMNS
        assert [line["rule"] for line in lines] == [str(row) for row in result.open]
        assert {line["warrant"] for line in lines} == {"open"}
        assert all(int(line["needs"]) > 0 for line in lines)


def test_a_result_without_open_rules_removes_the_file_of_another(tmp_path):
    case("ended").save(tmp_path)
    assert (tmp_path / "open.csv").is_file()
    case("listed").save(tmp_path)
    assert not (tmp_path / "open.csv").exists()


@pytest.mark.parametrize("name", MADE)
def test_what_was_saved_is_read_back(name, tmp_path):
    result = case(name)
    result.save(tmp_path)
    again = hornlens.load(tmp_path)
    assert again.rules.csv() == result.rules.csv()
    assert again.open.csv() == result.open.csv()
    assert again.envelope.sifted == result.envelope.sifted
    assert again.certificate == result.certificate


def test_a_large_sift_is_counted_by_cells_not_by_prompts():
    result = hornlens.extract(
        FunctionTarget(granted, space(12, 8)), settings=Settings(equivalence="auto", seed=3)
    )
    assert result.certificate.kind == "sifted"
    assert result.envelope.statistics["questions"] == len(result.decisions) < 3_000
