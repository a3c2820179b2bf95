"""No room, or no way, to write: found out first if it can be; all of the files or none."""

import errno
from pathlib import Path

import pytest

from hornlens.cli.app import app
from hornlens.errors import HornlensError
from hornlens.formats import files
from hornlens.models.table import TableModel
from tests.faults import small

COMMANDS = {
    "extract": "extract probe.yaml --model table/scores.csv --no-cache",
    "study": "study study.yaml --cache answers.sqlite",
    "bias": "bias ./people --model table/people.csv --no-cache",
    "compare": "compare one two",
    "check": "check one rules.yaml --format json",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small.write_all(tmp_path)
    small.dataset(tmp_path / "people")
    small.people_model(tmp_path / "people.csv")
    return tmp_path


def run(command: str) -> None:
    app(command.split(), standalone_mode=False)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_out_that_cannot_be_written_is_refused_before_anything_is_done(
    folder, monkeypatch, name
):
    asked = []
    monkeypatch.setattr(TableModel, "score", lambda *given: asked.append(given))
    (folder / "file").write_text("in the way")
    before = sorted(folder.rglob("*"))
    with pytest.raises(HornlensError, match=r"file/out.*cannot be written"):
        run(f"{COMMANDS[name]} --out file/out" + ("/checks.json" if name == "check" else ""))
    assert not asked and sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("name", ["extract", "study", "bias", "compare"])
def test_a_disk_that_gets_full_leaves_all_of_the_files_or_none(folder, monkeypatch, capsys, name):
    for each, scores in (("one", "scores"), ("two", "other")):
        run(f"extract probe.yaml --model table/{scores}.csv --no-cache --out {each}")
    run(f"{COMMANDS[name]} --out whole")
    wanted = {p.relative_to(folder / "whole") for p in (folder / "whole").rglob("*")}
    write = Path.write_bytes

    def full(path, data):
        if path.parent.name == "out" and path.name.startswith(".report.html."):
            write(path, data[:10])
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(HornlensError, match="cannot be written: No space left on device"):
        run(f"{COMMANDS[name]} --out out")
    left = [p for p in (folder / "out").rglob("*") if p.is_file()]
    # Of a study, what is finished stays: its runs, and what was asked, each whole.
    kept = ("exact", "runs") if name == "study" else ()
    assert [p for p in left if p.relative_to(folder / "out").parts[0] not in kept] == []
    assert not [p for p in left if p.name.endswith(".tmp")]
    monkeypatch.setattr(Path, "write_bytes", write)
    run(f"{COMMANDS[name]} --out out")
    assert {p.relative_to(folder / "out") for p in (folder / "out").rglob("*")} == wanted


def test_files_are_written_all_or_none(tmp_path):
    old = tmp_path / "a"
    old.write_text("old")
    (tmp_path / "b").mkdir()
    with pytest.raises(HornlensError, match="is a directory"):
        files.write_files({old: "new", tmp_path / "b": "new"})
    assert old.read_text() == "old" and sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]
