"""`hornlens extract` as a real process: the built-in model, kills, shared caches, files."""

import json
import os
import random
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hornlens.api import extract
from hornlens.logic.decisions import Policy
from hornlens.models.demo import DemoModel
from hornlens.models.protocol import ModelOptions
from hornlens.probes.loading import builtin_text, load_probe
from hornlens.results.documents.settings import Settings, paper_protocol
from hornlens.store.sqlite import AnswerCache
from tests import brute
from tests.command import START, hornlens

PAPER = load_probe("gender-occupation")
ALWAYS = {
    *("envelope.json", "rules.csv", "scores.csv", "rates.csv", "disparities.csv", "flips.csv"),
    "report.html",
}


def command(out, cache, *more):
    return ["extract", "--out", str(out), "--cache", str(cache), *map(str, more)]


def environment(folder):
    return {**os.environ, "HORNLENS_CACHE": str(folder / "unused.sqlite")}


def run(out, cache, *more):
    return hornlens(*command(out, cache, *more), env=environment(out.parent))


def contents(folder: Path) -> dict[str, bytes]:
    """The files that a run writes, without run.json and the page's line that say when it was."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "run.json"}
    assert files.keys() >= ALWAYS
    lines = files["report.html"].split(b"\n")
    kept = [line for line in lines if b'<p id="run"' not in line]
    assert len(kept) == len(lines) - 1
    return {**files, "report.html": b"\n".join(kept)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An undisturbed run."""
    folder = tmp_path_factory.mktemp("whole")
    shown = run(folder / "out", folder / "c.sqlite")
    assert shown.returncode == 0, shown.stderr
    return folder, shown


def test_without_arguments_the_built_in_probe_meets_the_built_in_model(whole):
    folder, shown = whole
    assert shown.stderr == ""
    assert "gender-occupation on demo" in shown.stdout and "exact" in shown.stdout
    assert (
        "The model always scores “She” higher than “He” where the person is a nurse "
        "(at least 78 : 22, on average 89 : 11).\n    60 prompts could break it, none does\n"
        in shown.stdout
    )
    assert f"Report: {folder / 'out' / 'report.html'}" in shown.stdout
    for text in (shown.stdout, (folder / "out" / "report.html").read_text()):
        assert "demo is a toy: a tiny model that comes with Hornlens" in text
        assert "The answer to each prompt is the candidate with the highest score" in text
    assert {p.name for p in (folder / "out").iterdir()} == {*ALWAYS, "levels.csv", "run.json"}
    content = json.loads((folder / "out" / "envelope.json").read_text())
    assert content["statistics"]["distinct_prompts"] == 660
    assert content["certificate"]["kind"] == "exact"
    assert json.loads((folder / "out" / "run.json").read_text())["asked_the_model"] == 660


def test_a_built_in_probe_that_demo_cannot_read_meets_the_model_that_can(tmp_path):
    shown = run(tmp_path / "out", tmp_path / "c.sqlite", "gender-occupation-variants")
    assert shown.returncode == 0, shown.stderr
    assert "gender-occupation-variants on demo-polyglot" in shown.stdout
    one = load_probe("gender-occupation-variants").only("present")
    assert extract(probe=one, cache=False).title.endswith(" on demo-polyglot")
    assert extract(cache=False).title == "gender-occupation on demo"


def test_a_limit_on_questions_ends_with_what_they_prove_resumed_or_not(whole, tmp_path):
    folder, _ = whole
    cache = tmp_path / "c.sqlite"
    first = run(tmp_path / "a", cache, "--max-questions", "600")
    assert first.returncode == 0, first.stderr
    assert (
        "interrupted: the run was ended by the limit on questions, before 60 of 660 cells were "
        "asked: these rules hold whatever the answers would be; there may be more."
    ) in first.stdout
    content = json.loads((tmp_path / "a" / "envelope.json").read_text())
    assert content["certificate"]["ended"] == {"reason": "max_questions"}
    assert (content["certificate"]["unasked"], len(content["answers"])) == (60, 600)
    # What is known from before counts, too: the same command ends with the same result.
    second = run(tmp_path / "b", cache, "--max-questions", "600")
    assert "0 prompts asked, 600 from the cache" in second.stdout
    assert contents(tmp_path / "b") == contents(tmp_path / "a")
    proved = [(line["if"], line["then"]) for line in content["readable"]]
    whole_rules = json.loads((folder / "out" / "envelope.json").read_text())["readable"]
    assert proved and {line["warrant"]["kind"] for line in content["rules"]} == {"proved"}
    for left, right in proved:  # each follows from one of all rules
        short = [line for line in whole_rules if set(line["if"]) <= set(left)]
        assert any(line["then"] is None or line["then"] == right for line in short), left
    third = run(tmp_path / "c", cache, "--max-questions", "660")
    assert "60 prompts asked, 600 from the cache" in third.stdout
    assert contents(tmp_path / "c") == contents(folder / "out")
    refused = run(tmp_path / "d", cache, "--max-questions", "0")
    assert refused.returncode == 2 and "--max-questions" in refused.stderr


def test_a_budget_lists_what_is_proved_and_calls_the_rest_open(tmp_path):
    how = ("--equivalence", "budget", "--max-equivalence-queries", "20")
    shown = run(tmp_path / "out", tmp_path / "c.sqlite", *how)
    assert shown.returncode == 0, shown.stderr
    content = json.loads((tmp_path / "out" / "envelope.json").read_text())
    assert content["rules"] == [] and len(content["open"]) == content["certificate"]["open"] > 0
    amount = len(content["open"])
    assert f"{amount} open rules: not proved, and broken by no recorded answer" in shown.stdout
    assert "no rule is proved yet; the open rules are not proved." in shown.stdout
    answered = {frozenset(line["set"]): line["winner"] for line in content["answers"]}
    for rule in content["open"]:
        right = None if rule["then"] is None else set(rule["then"])
        for cell, winner in answered.items():
            said = {*cell, winner}
            assert not set(rule["if"]) <= said or (right is not None and right <= said), rule


def test_a_second_run_asks_nothing_and_writes_the_same_bytes(whole):
    folder, _ = whole
    shown = run(folder / "again", folder / "c.sqlite")
    assert "0 prompts asked, 660 from the cache" in shown.stdout
    assert contents(folder / "again") == contents(folder / "out")
    other = run(folder / "other", folder / "c.sqlite", "--label-unset", "reject", "--margin", "0.5")
    assert "0 prompts asked, 660 from the cache" in other.stdout
    assert contents(folder / "other") != contents(folder / "out")


def test_json_on_standard_output_is_the_file_and_nothing_else(whole):
    folder, _ = whole
    shown = run(folder / "json", folder / "c.sqlite", "--format", "json")
    assert shown.stdout == (folder / "json" / "envelope.json").read_text()


def test_an_audit_is_repeated_from_its_scores(whole):
    folder, _ = whole
    shown = run(folder / "t", folder / "t.sqlite", "--model", f"table/{folder / 'out/scores.csv'}")
    assert shown.returncode == 0, shown.stderr
    first, second = (
        json.loads((folder / name / "envelope.json").read_text()) for name in ("out", "t")
    )
    for line in first["readable"]:  # which a table of scores does not have
        assert 0 < line.pop("share") <= 1
    assert first["rules"] == second["rules"] and first["readable"] == second["readable"]


@pytest.mark.slow
def test_killed_again_and_again_it_ends_with_the_same_bytes_and_asks_nothing_twice(whole, tmp_path):
    folder, _ = whole
    cache = tmp_path / "c.sqlite"
    rng = random.Random(7)
    kills = 0
    for attempt in range(60):
        known = answers_in(cache)
        process = subprocess.Popen(
            [*START, *command(tmp_path / "out", cache, "--batch-size", "4", "--format", "json")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(tmp_path),
        )
        try:
            process.wait(timeout=0.05 + attempt * (0.1 + rng.random() * 0.1))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
            assert answers_in(cache) >= known  # nothing is lost
            continue
        assert process.returncode == 0, process.stderr.read()
        break
    else:
        pytest.fail("it never came to an end")
    assert kills > 0
    assert contents(tmp_path / "out") == contents(folder / "out")
    last = json.loads((tmp_path / "out" / "run.json").read_text())
    assert last["asked_the_model"] == 660 - known and last["answered_from_cache"] == known
    assert answers_in(cache) == 660
    assert not [p for p in (tmp_path / "out").iterdir() if p.name.endswith(".tmp")]


def answers_in(path):
    opened = AnswerCache(path)
    try:
        return sum(model.answers for model in opened.models())
    finally:
        opened.close()


def test_two_processes_on_one_cache(whole, tmp_path):
    folder, _ = whole
    cache = tmp_path / "c.sqlite"
    both = [
        subprocess.Popen(
            [*START, *command(tmp_path / f"out{i}", cache, "--batch-size", "8", "--quiet")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(tmp_path),
        )
        for i in range(2)
    ]
    for process in both:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0 and errors == ""
    for i in range(2):
        assert contents(tmp_path / f"out{i}") == contents(folder / "out")


def test_a_damaged_cache_is_a_warning_and_the_run_goes_on(whole, tmp_path):
    folder, _ = whole
    run(tmp_path / "out", tmp_path / "c.sqlite")
    with (tmp_path / "c.sqlite").open("r+b") as file:
        file.write(b"not a database")
    shown = run(tmp_path / "out", tmp_path / "c.sqlite")
    assert shown.returncode == 0
    assert "is damaged" in shown.stderr and shown.stderr.count("\n") == 1
    assert "0 prompts asked, 660 from the cache" in shown.stdout
    assert (tmp_path / "c.sqlite.damaged-1").read_bytes().startswith(b"not a database")
    assert contents(tmp_path / "out") == contents(folder / "out")


@pytest.mark.parametrize(
    "command", [["extract"], ["cache", "list"], ["cache", "clear", "--yes"], ["bias"]]
)
def test_a_file_that_is_no_cache_is_refused_in_one_line(tmp_path, command):
    (tmp_path / "thesis.txt").write_bytes(b"not a database" * 1000)
    shown = hornlens(*command, "--cache", tmp_path / "thesis.txt", cwd=tmp_path)
    assert shown.returncode == 2 and shown.stdout == ""
    assert "thesis.txt: is no cache of hornlens" in shown.stderr and shown.stderr.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]
    assert (tmp_path / "thesis.txt").read_bytes() == b"not a database" * 1000


def test_the_cache_command(tmp_path):
    opened = AnswerCache(tmp_path / "c.sqlite")
    opened.put("i", "some model", [("p", ((-1.0,), None))], ["a"])
    opened.close()

    def cache(*arguments):
        return hornlens("cache", *arguments, "--cache", tmp_path / "c.sqlite", input="y\n")

    assert "some model" in cache("list").stdout
    shown = cache("clear")
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "nothing was removed" in shown.stderr and "--yes" in shown.stderr
    assert shown.stderr.count("\n") == 1
    assert "some model" in cache("list").stdout
    assert "0 answers removed" in cache("prune", "--older-than", "1").stdout
    assert "1 answer removed" in cache("clear", "--yes").stdout


@pytest.mark.parametrize("label_unset", ["accept", "reject"])
@pytest.mark.parametrize("variant", ["demo", "demo-balanced"])
def test_the_built_in_models_envelope_equals_brute_force(variant, label_unset):
    result = extract(variant, PAPER, policy=Policy(label_unset=label_unset), cache=False)
    assert result.record.asked == 660 and len(result.scores) == 660
    models = []
    for x in PAPER.space:
        label = PAPER.space.label_of(x)
        scores = [*result.scores[PAPER.render(x)[0]].values()]
        if label_unset == "accept" if label is None else scores[label] == max(scores):
            models.append(x)
    assert brute.pairs(result.envelope.basis) == brute.dg(models, list(PAPER.space))


def test_batch_size_and_order_change_no_decision():
    small = extract(DemoModel("demo", ModelOptions(batch_size=7)), PAPER, cache=False)
    large = extract("demo", PAPER, cache=False)
    assert {c: d.winner for c, d in small.decisions.items()} == {
        c: d.winner for c, d in large.decisions.items()
    }


def test_the_papers_protocol_on_the_built_in_model():
    settings, policy = paper_protocol(Settings(max_equivalence_queries=20), Policy())
    result = extract("demo", PAPER, settings=settings, policy=policy, cache=False)
    learned = result.envelope.learned
    assert learned.certificate.kind == "budget_exhausted"
    assert learned.statistics["equivalence_queries"] == 20
    # Its samples came to ask every prompt: then all rules are known, and the learner had fewer.
    assert result.envelope.certificate.kind == "exact" and len(result.decisions) == 660
    assert len(result.envelope.basis) == 86 and len(learned.basis) < 86


def test_a_candidate_that_the_model_does_not_know_is_refused_before_the_first_question(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(builtin_text("gender-occupation").replace("word: He", "word: Xyzzy"))
    shown = run(tmp_path / "out", tmp_path / "c.sqlite", path)
    assert shown.returncode == 2 and "Xyzzy" in shown.stderr and shown.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists() and answers_in(tmp_path / "c.sqlite") == 0


@pytest.mark.slow
@pytest.mark.parametrize("how", [[], ["--equivalence", "pac", "--seed", "4"]])
def test_the_same_seed_gives_the_same_bytes_whatever_the_hash_seed(how, tmp_path):
    for seed in ("0", "1"):
        shown = hornlens(
            *command(tmp_path / seed, tmp_path / "c.sqlite", "--no-cache", *how),
            env={**environment(tmp_path), "PYTHONHASHSEED": seed},
        )
        assert shown.returncode == 0
    assert contents(tmp_path / "0") == contents(tmp_path / "1")
    assert not (tmp_path / "c.sqlite").exists()


@pytest.mark.parametrize(("answer", "answers"), [("n", 1), ("y", 0)])
def test_a_cache_is_cleared_on_a_terminal_by_who_says_yes(tmp_path, answer, answers):
    pty = pytest.importorskip("pty")
    with closing(AnswerCache(tmp_path / "c.sqlite")) as opened:
        opened.put("i", "some model", [("p", ((-1.0,), None))], ["a"])
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "hornlens", "cache", "clear", "--cache", tmp_path / "c.sqlite"]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE) as process:
        os.write(ours, f"{answer}\n".encode())
        process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert process.returncode == (1 if answers else 0)
    with closing(AnswerCache(tmp_path / "c.sqlite")) as opened:
        assert sum(model.answers for model in opened.models()) == answers
