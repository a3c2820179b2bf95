"""What version 0.1.0 wrote is read: its cache and its results, in `tests/old` as it left them."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import hornlens
from hornlens.cli.app import app
from hornlens.models.table import TableModel
from hornlens.store.sqlite import AnswerCache

OLD = Path(__file__).parents[1] / "old"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copytree(OLD, tmp_path, dirs_exist_ok=True)
    with closing(sqlite3.connect(tmp_path / "cache.sqlite")) as cache:
        cache.executescript((OLD / "cache.sql").read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str) -> int:
    return app(command.split(), standalone_mode=False) or 0


def test_an_old_cache_answers_everything_and_gives_the_old_rules(folder, monkeypatch, capsys):
    monkeypatch.setattr(TableModel, "score", lambda *_: pytest.fail("the model was asked"))
    run("extract probe.yaml --model table/scores.csv --cache cache.sqlite --out new")
    assert "0 prompts asked, 9 from the cache" in capsys.readouterr().out
    old, new = hornlens.load(folder / "result"), hornlens.load(folder / "new")
    assert old.envelope.basis == new.envelope.basis
    assert [row.sentence for row in old.rules] == [row.sentence for row in new.rules]


def test_an_old_result_is_verified_compared_checked_and_shown(folder, capsys):
    assert run("verify result") == 0
    assert run("report result") == 0 and (folder / "result" / "report.html").exists()
    assert run("compare result result --out compared") == 0
    (folder / "rules.yaml").write_text("hornlens: 1\nat_least: exact\n")
    assert run("check result rules.yaml") == 0


def test_an_old_cache_that_is_damaged_is_mended(folder):
    path = folder / "cache.sqlite"
    data = bytearray(path.read_bytes())
    data[:16] = bytes(16)
    path.write_bytes(data)
    said = []
    with closing(AnswerCache(path, said.append)) as cache:
        assert [model.answers for model in cache.models()] == [9]
    assert len(said) == 1 and "Answers that could be read: 9" in said[0]
