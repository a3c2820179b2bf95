"""What old versions wrote is read: in `tests/old`, as they left it.

Of 0.1.0, a cache and a result. Of 0.2 every kind of file (`tools.old_files` says how they were
made); beside them, `made.json` has the first rules of each, and what 0.2 itself could do with it.
"""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import hornlens
from hornlens.cli.app import app
from hornlens.errors import HornlensError
from hornlens.logic.named import NamedRule
from hornlens.models.protocol import ModelOptions
from hornlens.models.registry import open_model
from hornlens.models.table import TableModel
from hornlens.results.documents.envelope import envelope_from_json
from hornlens.results.documents.tables import TABLE
from hornlens.store.sqlite import AnswerCache
from hornlens.studies.documents import STUDY
from tests.schemas import fits

OLD = Path(__file__).parents[1] / "old"
OLD_2 = OLD / "0.2"
MADE = json.loads((OLD_2 / "made.json").read_text("utf-8"))["results"]
BY_NAME = {entry["name"]: entry for entry in MADE}
NOW = {
    "silent": "unanswered",
    "explain-binned": "surrogate",
    "explain-near": "surrogate",
    "explain-nasty": "surrogate",
    "explain-drawn": "tested",
    "explain-constant": "surrogate",
    "every-rule": "surrogate",
    "short-rules": "surrogate",
}
"""Results of which 0.2 claimed more than it knew: what they are called now."""
LISTED = {"pac": 0, "pac-formula": 2, "budget": 0}
"""Results of learners that were cut off or sampled: how many of their rules are borne out."""
WITH_RULES = [entry["name"] for entry in MADE if "rules" in entry]
ALLOWING = "hornlens: 1\nrules: {at_most: 1000000}\nanswered: 0\n"
"""Requirements that every result meets."""


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


# --- 0.2 ---


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of all that 0.2 wrote, with its store of answers as a database again."""
    place = tmp_path_factory.mktemp("old") / "0.2"
    shutil.copytree(OLD_2, place)
    (place / "any.yaml").write_text(ALLOWING)
    with closing(sqlite3.connect(place / "answers.sqlite")) as store:
        store.executescript((OLD_2 / "answers.sql").read_text("utf-8"))
    return place


@pytest.fixture
def place(copied, monkeypatch):
    monkeypatch.chdir(copied)
    return copied


def rules_of(name: str) -> tuple[str, list[str]]:
    """The kind of certificate and the rules of a file, as the code reads them now."""
    file = Path(BY_NAME[name]["file"])
    if file.name == "table.json" and file.parent.name != "explored":
        envelope = envelope_from_json(TABLE.read(file).envelope, file)
    elif file.name == "explanation.json":
        loaded = hornlens.load(name)
        return loaded.certificate.kind, [
            str(NamedRule(rule.conditions, (rule.label,))) for rule in loaded.rules
        ]
    elif "load" in BY_NAME[name]["doors"]:
        envelope = hornlens.load(name).envelope
    else:
        envelope = hornlens.load(file).envelope
    return envelope.certificate.kind, [str(canonical) for _, canonical in envelope.named]


@pytest.mark.parametrize("name", WITH_RULES)
def test_a_result_of_0_2_has_the_rules_that_it_had(name, place):
    entry = BY_NAME[name]
    kind, rules = rules_of(name)
    assert (kind, len(rules)) == (NOW.get(name, entry["kind"]), LISTED.get(name, entry["rules"]))
    if name not in LISTED:
        assert rules[: len(entry["first"])] == entry["first"]


@pytest.mark.parametrize("name", BY_NAME)
def test_what_0_2_could_do_with_a_file_can_be_done(name, place):
    for door in BY_NAME[name]["doors"]:
        if door == "load":
            assert hornlens.load(name) is not None
            continue
        assert run(door) == 0, door
        if door.startswith("report"):
            page = place / name / "report.html"
            assert page.stat().st_size > 10_000
            page.unlink()


def test_every_kind_of_result_and_every_certificate_of_0_2_is_there():
    kinds = {entry.get("kind") for entry in MADE}
    assert kinds - {None} == {
        *("exact", "bounded", "interrupted", "pac", "budget_exhausted", "noisy", "explored"),
    }
    files = {Path(entry["file"]).name for entry in MADE}
    assert {"envelope.json", "explanation.json", "table.json", "study.json"} < files
    assert {"comparison.json", "bias.json", "check.json", "formula.json", "context.json"} < files
    every = [path for path in OLD_2.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in every) < 600_000
    for path in every:
        assert b"/tmp/" not in path.read_bytes() and b"/home/" not in path.read_bytes(), path


def test_certificates_of_0_2_say_what_they_said(place):
    """Of each kind what else it holds: the file's own words of it are not recomputed."""
    told = {
        name: hornlens.load(name).envelope.certificate
        for name in ("ended", "ended-learner", "noisy-alpha", "noisy-drift", "pac", "budget")
    }
    lines = {
        name: json.loads((place / name / "envelope.json").read_text("utf-8"))["certificate"]
        for name in told
    }
    assert {name: claim.kind for name, claim in told.items()} == {
        name: line["kind"] for name, line in lines.items()
    }
    assert (told["ended"].unasked, told["ended"].cells) == (9, 72)
    assert told["ended"].ended.reason == lines["ended"]["reason"]
    open_rules = hornlens.load("ended-learner").envelope.open
    assert told["ended-learner"].open == lines["ended-learner"]["hypotheses"] == len(open_rules)
    assert told["noisy-alpha"].noise.alpha == 0.2 and told["noisy-drift"].noise.drift > 0
    for key in ("epsilon", "delta", "samples"):
        assert getattr(told["pac"].joint, key) == lines["pac"][key]
    assert told["budget"].ended.after == lines["budget"]["equivalence_queries"]
    for name in ("noisy-alpha", "noisy-drift", "noisy-worlds"):
        assert hornlens.load(name).possible is not None, name


def test_worlds_almost_rules_and_levels_of_0_2_are_read(place):
    phrasings = hornlens.load("phrasings")
    assert [world.world for world in phrasings.worlds] == ["long", "short"]
    assert [len(world.envelope.basis) for world in phrasings.worlds] == [5, 2]
    almost = hornlens.load("almost").envelope
    assert almost.almost is not None and almost.levels is not None and almost.levels.chosen == 2
    assert len(almost.almost.rules) == 2


def test_a_gate_judges_results_of_0_2_as_0_2_did(place, capsys):
    assert run("check exact pac inputs/rules.yaml --format json") == 1
    then = json.loads((place / "check.json").read_text("utf-8"))
    now = json.loads(capsys.readouterr().out)
    fits("check", then)
    assert [each["passed"] for each in now["results"]] == [
        each["passed"] for each in then["results"]
    ]


def test_an_exploration_of_0_2_goes_on(place, tmp_path, capsys):
    for name, more in (("table", "--expert rows/inputs/animals.csv"), ("person", "")):
        kept = place / "explored" / f"{name}.exploration.json"
        session = shutil.copy(kept, tmp_path / kept.name)
        command = f"explore inputs/animals.yaml {more} --session {session} --format json"
        assert run(command) == 0  # nothing is asked: standard input is empty
        now = json.loads(capsys.readouterr().out)
        then = json.loads((place / "explored" / f"{name}.json").read_text("utf-8"))
        rules = [{"if": line["if"], "then": line["then"]} for line in now["rules"]]
        assert (rules, now.get("open")) == (then["rules"], then.get("hypotheses"))
        assert (
            json.loads(Path(session).read_text())["answers"]
            == json.loads(kept.read_text())["answers"]
        )


def test_a_study_of_0_2_is_read_with_its_runs(place):
    study = STUDY.read(place / "study" / "study.json")
    assert [model.model for model in study.models] == [
        *("table/inputs/scores.csv", "table/inputs/other.csv"),
    ]
    runs = [run for model in study.models for part in model.budgets for run in part.runs]
    assert len(runs) == 8
    for each in runs:
        file = place / "study" / each.folder / "envelope.json"
        assert (
            len(envelope_from_json(json.loads(file.read_text("utf-8")), file).learned.basis)
            == each.rules
        )


@pytest.mark.parametrize(("name", "how"), [("exact", ""), ("chat", "choose"), ("chat-says", "say")])
def test_the_store_of_0_2_answers_everything(name, how, place, monkeypatch):
    """Scores, chosen words and texts: no model is asked, and the rules are those of the result."""
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setattr(TableModel, "score", lambda *_: pytest.fail("the model was asked"))
    model = "table/inputs/scores.csv"
    if how:  # nobody listens there
        address = "http://127.0.0.1:18727/v1"
        model = open_model("openai/tiny", ModelOptions(base_url=address, elicit=how))
    with closing(AnswerCache(place / "answers.sqlite", pytest.fail)) as store:
        now = hornlens.extract(model, "inputs/jobs.yaml", cache=store)
    then = hornlens.load(name)
    assert (now.record.asked, now.record.reused) == (0, 12)
    assert now.envelope.basis == then.envelope.basis
    assert {c: d.winner for c, d in now.decisions.items()} == {
        c: d.winner for c, d in then.decisions.items()
    }


@pytest.mark.parametrize(
    "door",
    [
        *("load table", "load scaled", "load formula.json", "load explored/table.json"),
        *("check table any.yaml", "compare table table", "compare every-rule every-rule"),
        *("verify table --against inputs/animals.csv", "report granted", "report formula.json"),
    ],
)
def test_what_0_2_could_not_do_with_its_own_files_can_be_done(door, place):
    if not door.startswith("load"):
        assert run(door) == 0
        return
    name = door.split()[1]
    assert len(hornlens.load(name).rules) == BY_NAME[name]["rules"]


def test_a_table_result_of_0_2_says_what_it_is_to_be_held_against(place):
    with pytest.raises(HornlensError, match="with --against FILE"):
        run("verify table")
