"""`hornlens export`: any result on disk, for other tools."""

import json
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest

import hornlens
from hornlens.cli.app import app
from hornlens.cli.commands import formal, results
from hornlens.errors import HornlensError
from hornlens.formats.decisions.writers import CLASS_WRITERS
from hornlens.formats.writers import WRITERS

OLD = Path(__file__).parents[1] / "old" / "0.2"


def run(command: str) -> int:
    return app(command.split(), standalone_mode=False) or 0


def nurses(prompt, words):
    return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]


def test_the_formats_are_those_of_envelope_and_of_class_rules():
    every = [
        get_args(get_type_hints(c)["format"]) for c in (formal.EnvelopeOptions, results.export)
    ]
    assert {*every[0]} == {"text", "json", *WRITERS}
    assert every[1] == (*every[0], *CLASS_WRITERS)


@pytest.mark.parametrize("form", ["json", *WRITERS])
def test_of_a_table_it_is_what_envelope_prints(form, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("flies,swims,eggs\n1,0,1\n0,1,1\n0,1,0\n")
    run("envelope a.csv --out out")
    capsys.readouterr()
    run(f"envelope a.csv --out out --format {form}")
    printed = capsys.readouterr().out
    assert run(f"export out --format {form}") == 0
    assert capsys.readouterr().out == printed
    assert run(f"export out --format {form} --out rules.txt") == 0
    assert Path("rules.txt").read_text("utf-8") == printed
    assert capsys.readouterr().out == f"As {form}: rules.txt\n"


def test_of_an_extraction_json_and_csv_are_its_files(tmp_path, capsys):
    result = hornlens.extract(nurses, cache=False)
    result.save(tmp_path)
    for form, name in (("json", "envelope.json"), ("csv", "rules.csv")):
        assert run(f"export {tmp_path} --format {form}") == 0
        assert capsys.readouterr().out == (tmp_path / name).read_text("utf-8")
        assert result.export(form) == (tmp_path / name).read_text("utf-8")
    assert result.export("text") == f"{result.rules}\n"
    assert hornlens.load(tmp_path).export("latex") == result.export("latex")


def test_a_file_of_0_2_comes_out_in_the_format_of_now(capsys):
    run(f"export {OLD / 'exact'} --format json")
    content = json.loads(capsys.readouterr().out)
    assert content["format"] == 2 and all("warrant" in rule for rule in content["rules"])


def test_rules_of_a_classifier_say_what_may_be_claimed(capsys):
    assert run(f"export {OLD / 'explain-people'} --format prolog") == 0
    lines = capsys.readouterr().out.splitlines()
    claimed = hornlens.load(OLD / "explain-people").certificate
    assert f"% {claimed.title}: {claimed.sentence}" in lines
    assert "holds('class = yes') :- holds('age ≥ 40'), holds('sex = f')." in lines


def test_a_class_that_is_called_as_a_condition_is_told_from_it():
    rows = np.array([[0.0], [1.0]])
    told = hornlens.explain(
        lambda x: np.where(x[:, 0] >= 1, "x0 ≥ 1", "no"), rows, bins={"x0": [1]}
    )
    assert r"$\text{x0 \ensuremath{\geq} 1}$ & $\text{class = x0 \ensuremath{\geq} 1}$" in (
        told.export("latex")
    )


def test_what_has_no_place_in_a_format_is_told(tmp_path, capsys):
    run(f"export {OLD / 'almost'} --format latex")
    assert "latex has no almost-rules: they are in json" in capsys.readouterr().err
    run(f"export {OLD / 'almost'} --format json")
    assert not capsys.readouterr().err


def test_a_format_that_is_none_is_refused():
    with pytest.raises(HornlensError, match=r"no format 'word' .*there are: text, json, dimacs"):
        hornlens.extract(nurses, cache=False).export("word")


def test_a_format_of_ones_own_works_for_every_result(monkeypatch, capsys):
    monkeypatch.setitem(WRITERS, "count", lambda envelope: f"{len(envelope.basis)}\n")
    kinds = ("exact", "table", "phrasings", "explain-people")
    counts = [hornlens.load(OLD / name).export("count") for name in kinds]
    assert counts == ["5\n", "3\n", "4\n", "4\n"]
