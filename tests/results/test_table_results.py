"""The result of a table, a formula or an exploration is a result as any other."""

import json
import pickle
from pathlib import Path

import pytest

import hornlens
from hornlens.cli.app import app
from hornlens.errors import HornlensError
from tests.schemas import fits

TABLE = "flies,swims,feathers,eggs\n1,0,1,1\n0,1,1,1\n0,1,0,1\n0,1,0,0\n0,0,0,0\n"


RULES = [("feathers → eggs", 2), ("flies → feathers", 1), ("flies ∧ swims → ⊥", 0)]
"""With how many rows each speaks of."""


def run(command: str) -> int:
    return app(command.split(), standalone_mode=False) or 0


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "animals.csv").write_text(TABLE)
    assert run("envelope animals.csv --out out") == 0
    capsys.readouterr()
    return tmp_path


def test_the_folder_of_a_table_has_the_json_that_is_printed(folder, capsys):
    for more in ("", " --basis unit"):
        run(f"envelope animals.csv --out out --format json{more}")
        printed = capsys.readouterr().out
        assert (folder / "out" / "envelope.json").read_text("utf-8") == printed
    fits("envelope", json.loads(printed))


def test_it_is_loaded_with_its_rules_their_support_and_its_claim(folder):
    for path in ("out", "out/envelope.json"):
        result = hornlens.load(path)
        assert not result.asked and result.envelope.certificate.title == "Exact"
        assert [(str(row.rule), row.support) for row in result.rules] == RULES
        assert result.entails("flies & swims -> false") and not result.entails("eggs -> flies")
        assert result.check({"require": ["feathers -> eggs"]})
        assert not result.check({"forbid": ["feathers -> eggs"]})


def test_it_is_saved_again_as_it_was(folder):
    result = hornlens.load("out")
    result.save("again")
    assert (folder / "again/envelope.json").read_bytes() == (
        folder / "out/envelope.json"
    ).read_bytes()
    assert sorted(path.name for path in (folder / "again").iterdir()) == [
        *("envelope.json", "report.html", "rules.csv", "run.json")
    ]
    for name in ("report.html", "rules.csv"):
        assert (folder / "again" / name).read_bytes() == (folder / "out" / name).read_bytes()
    assert run("verify again --against animals.csv") == 0


def test_it_is_verified_and_what_is_wrong_in_it_is_found(folder, capsys):
    assert run("verify out --against animals.csv") == 0
    with pytest.raises(HornlensError, match="with --against FILE"):
        run("verify out")
    file = folder / "out" / "envelope.json"
    content = json.loads(file.read_text("utf-8"))
    content["rules"], content["readable"] = content["rules"][:-1], content["readable"][:-1]
    file.write_text(json.dumps(content))
    assert run("verify out --against animals.csv") == 1
    assert "Wrong: " in capsys.readouterr().out


def test_its_page_is_made_again(folder):
    page = folder / "out" / "report.html"
    then = page.read_bytes()
    for path in ("out", "out/envelope.json"):
        page.unlink()
        assert run(f"report {path}") == 0
        assert page.read_bytes() == then


def test_python_writes_what_the_command_writes(folder):
    hornlens.envelope("animals.csv").save("python")
    for name in ("envelope.json", "rules.csv"):  # the others tell when it was, and how long it took
        assert (folder / "python" / name).read_bytes() == (folder / "out" / name).read_bytes()
    content = json.loads((folder / "out" / "envelope.json").read_text("utf-8"))
    assert content["model"]["name"] == "animals.csv" and content["table"]["rows"] == 5


def test_a_folder_that_has_an_extraction_and_a_table_is_not_guessed_at(folder):
    old = Path(__file__).parents[1] / "old" / "0.2" / "table" / "table.json"
    (folder / "out" / "table.json").write_bytes(old.read_bytes())
    with pytest.raises(HornlensError, match="name the file that is meant"):
        run("report out")


def test_what_other_commands_print_is_loaded(folder, capsys):
    (folder / "formula.cnf").write_text("c var 1 a\nc var 2 b\np cnf 2 1\n-1 2 0\n")
    for command in ("envelope formula.cnf", "learn formula.cnf --quiet"):
        capsys.readouterr()
        run(f"{command} --format json")
        (folder / "printed.json").write_text(capsys.readouterr().out)
        result = hornlens.load("printed.json")
        assert [str(row.rule) for row in result.rules] == ["a → b"] and result.entails("a -> b")
        again = pickle.loads(pickle.dumps(result))
        assert again.rules.csv() == result.rules.csv() and again.envelope == result.envelope
