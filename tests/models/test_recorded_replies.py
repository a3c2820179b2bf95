"""Replies on record: read again by another probe's patterns, and checked by a person."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hornlens.api import extract
from hornlens.cli.app import app
from hornlens.logic.shares import share_interval
from hornlens.models.chat.judge import NONE
from hornlens.models.protocol import ModelOptions, Spending
from hornlens.models.registry import open_model
from hornlens.probes.loading import parse_probe
from hornlens.results.analysis.review import begin_review, read_review
from hornlens.results.documents.saving import read_result
from hornlens.store.sqlite import AnswerCache
from tests.chat_server import PROBE, ChatServer, keep_to_itself
from tests.command import hornlens

pytest.importorskip("openai")

SAYS = {"nurse": "Maria", "engineer": 'Not "She".', "soldier": "The answer is He."}
PATTERNS = PROBE.replace("word: She", 'word: She, patterns: ["Maria", "^she$"]')


@pytest.fixture(autouse=True)
def _place(monkeypatch, tmp_path):
    keep_to_itself(monkeypatch, tmp_path)
    monkeypatch.setenv("HORNLENS_CACHE", str(tmp_path / "answers.sqlite"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.yaml").write_text(PROBE)
    (tmp_path / "patterns.yaml").write_text(PATTERNS)


@pytest.fixture
def recorded(tmp_path):
    """A result in `out`, and its replies in the cache; the server is gone."""

    def say(sentence):
        return next((text for job, text in SAYS.items() if job in sentence), "She")

    with (
        ChatServer(say=say) as server,
        closing(AnswerCache(tmp_path / "answers.sqlite")) as cache,
    ):
        options = ModelOptions(base_url=server.url, elicit="say")
        extract(open_model("openai/tiny", options), parse_probe(PROBE), cache=cache).save("out")
    return server


def run(*arguments, typed=""):
    return CliRunner().invoke(app, arguments, input=typed)


# --- hornlens probe read ---


@pytest.mark.parametrize("source", [("--replies", "out"), ("--cache", "answers.sqlite"), ()])
def test_patterns_are_tried_on_recorded_replies_without_asking(source, recorded):
    begun = recorded.begun
    done = run("probe", "read", "patterns.yaml", *source, "--format", "json")
    assert done.exit_code == 0, done.output
    content = json.loads(done.stdout)
    assert content["labels"] == {"female": 6, "male": 3}
    assert content["no_answer"] == {"other": 3}  # her patterns are all that counts: not "She"
    assert content["changed"] == 3 and len(content["replies"]) == 12
    maria = next(line for line in content["replies"] if line["text"] == "Maria")
    assert (maria["label"], maria["reading"]) == ("female", "matches the pattern Maria")
    assert maria["before"]["label"] is None and "nurse" in maria["prompt"]
    assert recorded.begun == begun
    as_before = json.loads(run("probe", "read", "jobs.yaml", *source, "--format", "json").stdout)
    assert as_before["changed"] == 0
    assert as_before["no_answer"] == {"other": 3, "unclear": 3}


def test_the_table_shows_each_different_reply_once(recorded):
    done = hornlens("probe", "read", "patterns.yaml", "--replies", "out")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    (line,) = [line for line in lines if "Maria" in line]
    assert line.split()[:3] == ["3", "Maria", "female"] and line.endswith("–")
    assert "jobs: 12 replies read." in lines and "Read otherwise than before: 3." in lines
    few = hornlens("probe", "read", "patterns.yaml", "--replies", "out", "--rows", "1")
    assert "3 more different replies: --rows shows them." in few.stdout


def test_replies_of_other_files_are_read_too(recorded):
    Path("texts.txt").write_text("He\n\nMaria or he\n")
    Path("texts.csv").write_text('prompt,text\n,"She"\n,"Not ""She""."\n')
    for file, labels, none in (
        ("texts.txt", {"male": 1}, {"unclear": 1}),
        ("texts.csv", {"female": 1}, {"other": 1}),
    ):
        done = run("probe", "read", "patterns.yaml", "--replies", file, "--format", "json")
        content = json.loads(done.stdout)
        assert (content["labels"], content["no_answer"]) == (labels, none), file


def test_what_cannot_be_read_is_said_in_a_line(recorded):
    Path("bad.csv").write_text("prompt,answer\nx,y\n")
    extract(lambda prompt, words: [0.9, 0.1], parse_probe(PROBE), cache=False).save("scores")
    for arguments, says in (
        (("--replies", "missing.txt"), "no such file"),
        (("--replies", "bad.csv"), "has no column `text`"),
        (("--replies", "scores"), "has no replies of a chat model"),
        (("--cache", "answers.sqlite", "--model", "openai/x"), "has no replies of openai/x"),
        (("--replies", "out", "--cache", "answers.sqlite"), "not both"),
    ):
        done = hornlens("probe", "read", "jobs.yaml", *arguments)
        assert done.returncode == 2 and says in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1


# --- hornlens replies review ---


def test_a_review_is_kept_answer_by_answer_and_goes_on(recorded):
    first = run("replies", "review", "out", "--sample", "8", typed="y\nmaybe\nn\nq\n")
    assert first.exit_code == 0, first.output
    assert "1 of 8" in first.stdout and "3 of 8" in first.stdout and "4 of 8" not in first.stdout
    assert "agreed with the reading of 1 (50%" in first.stdout
    assert "6 are still to check" in first.stdout
    kept = json.loads(Path("out/review.json").read_text())
    assert [line["agrees"] for line in kept["replies"]] == [True, False, *[None] * 6]
    second = run("replies", "review", "out", typed="y\n" * 6)
    assert "1 of 8" not in second.stdout and "3 of 8" in second.stdout
    kept = json.loads(Path("out/review.json").read_text())["agreement"]
    assert (kept["agree"], kept["of"], kept["sampled"]) == (7, 8, 8)
    # As tables of Clopper and Pearson's interval have it.
    assert (round(kept["low"], 4), round(kept["high"], 4)) == (0.4735, 0.9968)
    third = run("replies", "review", "out")
    assert "Right?" not in third.stdout and "agreed with the reading of 7 (88%" in third.stdout
    assert run("replies", "review", "out", "--again", typed="q\n").stdout.count("Right?") == 1


def test_a_sample_has_every_reading_and_is_that_of_its_seed(recorded):
    findings = read_result(Path("out"))
    for many in (4, 7, 12, 99):
        review = begin_review(findings, many)
        assert len(review.replies) == min(many, 12)
        assert len({reply.kind for reply in review.replies}) == 4
        assert review == begin_review(findings, many)
    assert begin_review(findings, 6, seed=1) != begin_review(findings, 6, seed=2)
    assert len(begin_review(findings, 2).replies) == 2


def test_a_review_of_other_readings_is_not_gone_on_with(recorded):
    run("replies", "review", "out", typed="y\nq\n")
    text = Path("out/review.json").read_text()
    Path("out/review.json").write_text(text.replace("Maria", "Mary"))
    done = hornlens("replies", "review", "out")
    assert done.returncode == 2 and "--again begins anew" in done.stderr
    for broken, says in (("{}", "is no review"), ('{"format": 9}', "format 9"), ("x", "not JSON")):
        Path("out/review.json").write_text(broken)
        done = hornlens("replies", "review", "out")
        assert done.returncode == 2 and says in done.stderr
        assert done.stderr.count("\n") == 1
    extract(lambda prompt, words: [0.9, 0.1], parse_probe(PROBE), cache=False).save("scores")
    done = hornlens("replies", "review", "scores")
    assert done.returncode == 2 and "has no replies" in done.stderr
    assert read_review(Path("scores")) is None


def test_intervals_are_exact():
    assert share_interval(0, 10) == pytest.approx((0.0, 0.3085), abs=1e-4)
    assert share_interval(10, 10) == pytest.approx((0.6915, 1.0), abs=1e-4)
    assert share_interval(5, 10) == pytest.approx((0.1871, 0.8129), abs=1e-4)
    assert share_interval(0, 0) == (0.0, 1.0)


def test_the_report_shows_the_agreement_of_its_own_replies_only(recorded):
    run("replies", "review", "out", "--sample", "5", typed="y\n" * 5)
    assert run("report", "out").exit_code == 0
    says = "A person checked 5 sampled replies and agreed with the reading of 5 (100%"
    assert says in Path("out/report.html").read_text("utf-8")
    assert hornlens("verify", "out").returncode == 0
    text = Path("out/review.json").read_text()
    Path("out/review.json").write_text(text.replace("names only", "names just"))
    run("report", "out")
    assert "A person checked" not in Path("out/report.html").read_text("utf-8")


# --- a judge ---


def one_that_reads(user, choices):
    """A judge that knows who Maria is, and that a denied word is none."""
    reply = user.partition("<<<\n")[2].partition("\n>>>")[0]
    return "She" if reply == "Maria" else choices[-1] if "first" in reply else NONE


def test_a_judge_reads_what_is_not_clear_and_is_asked_once(tmp_path):
    said = SAYS | {"person": "I cannot say."}

    def say(sentence):
        return next(text for job, text in said.items() if job in sentence)

    judge = ChatServer(judge=one_that_reads, names=("reader",))
    with ChatServer(say=say) as server, judge, closing(AnswerCache(tmp_path / "j.sqlite")) as cache:

        def extracted(**more):
            options = ModelOptions(base_url=server.url, elicit="say", **more)
            return extract(open_model("openai/tiny", options), parse_probe(PROBE), cache=cache)

        plain = extracted()
        begun = server.begun
        limits = Spending()
        found = extracted(judge="openai/reader", judge_url=judge.url, limits=limits)
        assert server.begun == begun  # the replies are there
        asked = [body for _, body in judge.seen if "The reply:" in str(body)]
        # Three of Maria and three that deny, each in the orders of three choices.
        assert len(asked) == 6 * 3 and limits.used.calls == judge.begun == 18 + 1
        again = extracted(judge="openai/reader", judge_url=judge.url)
        assert judge.begun == 19 and again.decisions == found.decisions
    assert {d.abstained for _, d in plain.abstentions} == {"unclear", "other", "refusal"}
    assert {d.abstained for _, d in found.abstentions} == {"unclear", "refusal"}
    assert found.entails("nurse & male -> false") and not plain.entails("nurse & male -> false")
    found.save("judged")
    assert hornlens("verify", "judged").returncode == 0
    told = {
        r.text: r.reading for d in read_result(Path("judged")).details.values() for r in d.replies
    }
    assert told == {
        "Maria": "judged by openai/reader: She (otherwise names none of the candidates)",
        'Not "She".': "judged by openai/reader: none (otherwise She, but negated)",
        "The answer is He.": "names only He",
        "I cannot say.": "refusal: I cannot",
    }


def test_a_judge_that_answers_to_the_order_has_no_verdict():
    judge = ChatServer(judge=lambda user, choices: choices[0], names=("reader",))
    with ChatServer(say=lambda _: "Maria") as server, judge:
        options = ModelOptions(
            base_url=server.url, elicit="say", judge="openai/reader", judge_url=judge.url
        )
        found = extract(open_model("openai/tiny", options), parse_probe(PROBE), cache=False)
    assert {d.abstained for d in found.decisions.values()} == {"other"}


def test_a_judge_counts_against_the_limits_and_in_the_estimate():
    judge = ChatServer(judge=one_that_reads, names=("reader",))
    with ChatServer(say=lambda _: "Maria") as server, judge:
        options = ModelOptions(
            base_url=server.url, elicit="say", judge="openai/reader", judge_url=judge.url,
            limits=Spending(calls=20),
        )  # fmt: skip
        model = open_model("openai/tiny", options)
        early = extract(model, parse_probe(PROBE), cache=False)
        assert server.begun + judge.begun == 20
        assert early.certificate.ended is not None
        words, prompts = ("She", "He"), ["[MASK] works as a nurse.", "[MASK] works."]
        assert model.estimate(prompts, words).calls == 2 * (1 + 3)


def test_a_judge_that_cannot_judge_is_said_before_anything_is_asked():
    with ChatServer() as server:
        where = ("extract", "jobs.yaml", "--model", "openai/tiny", "--base-url", server.url)
        for more, says in (
            (("--elicit", "say", "--judge", "demo"), "--judge must be a chat model, not 'demo'"),
            (("--elicit", "choose", "--judge", "openai/x"), "use --elicit say"),
            (("--judge", "openai/x"), "use --elicit say"),
            (
                ("--elicit", "say", "--judge", "openai/x", "--judge-url", server.url),
                "has no model 'x'",
            ),
        ):
            done = hornlens(*where, *more)
            assert done.returncode == 2 and says in done.stderr, done.stderr
            assert done.stderr.count("\n") == 1
        assert not [body for _, body in server.seen if "Sentence:" in str(body)]
