"""Rules stay what they were: some of the cases of `tools.golden`, kept in `tests/golden`."""

import json
from pathlib import Path

import pytest

from tests.classifier_cases import one_thread
from tools.golden.__main__ import main
from tools.golden.case import COUNT, Case
from tools.golden.cases import all_cases
from tools.golden.comparison import Text, chosen, compare, read_golden, versions, write_golden
from tools.golden.doors import REFUSED

__all__ = ["one_thread"]

FILE = Path(__file__).parents[1] / "golden" / "rules.jsonl"
GROUPS = (
    *("examples/", "builtin/", "smollm2/"),
    *("function/", "prompted/", "noisy/"),
    *("table/", "formula/", "learner/", "learn/"),
    *("ended/", "classifier/"),
)


@pytest.mark.parametrize("group", GROUPS)
def test_the_rules_are_those_of_the_golden_file(group):
    golden = read_golden(FILE, [group])
    assert len(golden.cases) >= 5
    cases = (case for case in all_cases() if case.key.startswith(group))
    done = compare(golden, cases)
    shown = "\n".join(done.shown(20))
    assert not (done.differing or done.lost or done.new), shown
    if golden.versions["scikit-learn"] == versions()["scikit-learn"]:
        others = 0 if golden.versions["machine"] == versions()["machine"] else len(golden.texts)
        assert len(done.others) <= others, shown
    assert done.compared + len(done.others) == len(golden.texts)


def test_every_case_of_the_golden_file_is_in_a_group():
    golden = read_golden(FILE)
    assert all(key.startswith(GROUPS) for key in golden.texts)
    assert FILE.stat().st_size < 300_000


def test_there_are_300_random_targets_of_each_kind_and_no_key_stands_twice():
    keys = [case.key for case in all_cases()]
    assert len(keys) == len(set(keys))
    for kind in ("function", "prompted", "noisy", "table", "formula", "learn", "ended"):
        assert sum(key.startswith(f"{kind}/") for key in keys) == COUNT == 300, kind
    assert {c.key for c in chosen(all_cases(), 11)} == read_golden(FILE).cases


def case(key, text, made="a model"):
    return Case(key, lambda: {"basis": text, "same": "⊤ → a"}, lambda: made)


def test_what_differs_is_shown_with_both_versions(tmp_path):
    long = "\n".join(f"a{i} → b" for i in range(500))
    write_golden(tmp_path / "file", [case("x/1", "a → b\nb → c"), case("x/2", long)])
    golden = read_golden(tmp_path / "file")
    assert golden.texts["x/2:basis"].text is None and golden.texts["x/2:basis"].lines == 500
    assert golden.texts["x/1:basis"] == Text.of("a → b\nb → c", "a model")
    assert compare(golden, [case("x/1", "a → b\nb → c"), case("x/2", long)]).same
    done = compare(golden, [case("x/1", "a → b\nb → d"), case("x/2", long + "\na → ⊥")])
    assert not done.same and done.compared == 4
    shown = "\n".join(done.shown(20))
    assert "x/1:basis: 2 lines were, 2 lines are" in shown
    assert "-b → c" in shown and "+b → d" in shown and "x/2:basis: 500 lines were" in shown
    assert shown.endswith("4 texts compared: 2 differ, 0 lost, 0 new, 0 of other targets")


def test_cases_that_are_lost_or_new_or_of_another_model_are_no_match(tmp_path):
    write_golden(tmp_path / "file", [case("x/1", "a → b"), case("x/2", "a → c")])
    golden = read_golden(tmp_path / "file")
    lost = compare(golden, [case("x/1", "a → b")])
    assert not lost.same and lost.lost == ["x/2:basis", "x/2:same"]
    other = compare(golden, [case("x/1", "a → b"), case("x/2", "b → c", "another")])
    assert not other.same and len(other.others) == 2 and not other.differing

    def refused():
        raise REFUSED("no")

    changed = compare(golden, [case("x/1", "a → b"), Case("x/2", refused)])
    assert not changed.same and changed.new == ["x/2:refused"]


def test_the_command_ends_with_1_where_a_rule_differs(tmp_path, capsys):
    file = tmp_path / "golden.jsonl"
    assert main(["write", str(file), "--only", "examples/pronouns"]) == 0
    assert main(["compare", str(file)]) == 0
    lines = [json.loads(line) for line in file.read_text("utf-8").split("\n")[:-1]]
    assert lines[1]["key"] == "examples/pronouns/exact:basis"
    lines[1]["text"] = lines[1]["text"].replace("nurse ∧ he → ⊥", "nurse → she")
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    capsys.readouterr()
    assert main(["compare", str(file), "--only", "examples/pronouns/exact"]) == 1
    shown = capsys.readouterr().out
    assert "-nurse → she" in shown and "+nurse ∧ he → ⊥" in shown
    assert main(["compare", str(file), "--only", "examples/pronouns/max"]) == 0
