"""A reply that names a candidate is a place: no score is made up for it, or shown."""

import csv
import gzip
import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from hornlens.api import extract, load
from hornlens.cli.app import app
from hornlens.errors import HornlensError
from hornlens.formats.replies import Reply
from hornlens.formats.scorefiles import parse_scores
from hornlens.logic.decisions import UNDECIDED, Policy
from hornlens.logic.repeats import Repeats
from hornlens.models.checks import check_answer
from hornlens.models.functions import FunctionModel
from hornlens.models.protocol import Answer, ModelError, ModelOptions
from hornlens.models.registry import open_model
from hornlens.models.table import TableModel
from hornlens.probes.loading import parse_probe
from hornlens.pronouns.dataset import load_dataset
from hornlens.pronouns.measuring import measure
from hornlens.results.documents.saving import scores_csv
from hornlens.store.sqlite import AnswerCache
from hornlens.targets.answers import as_kept, from_kept
from hornlens.testing.models import ask, refusal
from hornlens.verification import verify
from hornlens.verifying.verify import verify_content
from tests.chat_server import PROBE, ChatServer, keep_to_itself

pytest.importorskip("openai")

OLD = Path(__file__).parents[1] / "old" / "chat"
NOBODY = "http://recorded.invalid/v1"
"""Where the answers of the old store were asked; nobody is there."""
WORDS = ("She", "He")
AVERAGED = PROBE.replace(
    "templates: [", 'policy: {phrasings: average}\ntemplates: ["{label}, {a:job} from {place}.", '
)


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    keep_to_itself(monkeypatch, tmp_path)


def names(prompt, words):
    """A function that names a word, or something else, or nothing."""
    if "soldier" in prompt:
        return "They" if "Africa" in prompt else None
    return "She" if "nurse" in prompt else "He"


class Naming(FunctionModel):
    """A backend that names words; nobody says that its answers are samples."""

    def __init__(self):
        super().__init__(names, "naming", "naming")
        del self.sampled


def unscored(result):
    """Nothing in a result is a score, a lead, or made of them."""
    for world in result.each:
        assert not any(d.scores or d.margin for d in world.decisions.values())
        assert not any(world.scores.values())
    assert not any(e.margins for e in result.evidence)
    assert {row.mean_margin for row in result.rules} <= {None}
    assert not {w.kind for w in result.warnings} & {"same_values", "small_margins"}


# --- what 0.2 wrote ---


@pytest.fixture
def old_store(tmp_path):
    path = tmp_path / "answers.sqlite"
    path.write_bytes(gzip.decompress((OLD / "answers.sqlite.gz").read_bytes()))
    with closing(AnswerCache(path)) as cache:
        yield cache


def asked_before(name):
    """The question that the old store has the answers to: a model, a probe, and repeats."""

    def never(prompt, words):
        raise AssertionError("it was asked")

    chat = {
        "say": {"elicit": "say"},
        "constrained": {"elicit": "constrained", "orders": "average"},
        "choose": {"elicit": "choose", "orders": "average"},
        "drawn": {"elicit": "say"},
        "three times": {"elicit": "say", "temperature": 1.0},
        "without texts": {"elicit": "constrained", "orders": "once"},
    }
    model = FunctionModel(never, identity="sampler", sampled=True)
    if name in chat:
        model = open_model("openai/tiny", ModelOptions(base_url=NOBODY, **chat[name]))
    repeats = {"drawn": Repeats(8, 0.9), "function": Repeats(8, 0.9), "three times": 3}
    file = OLD / ("three.yaml" if name == "constrained" else "two.yaml")
    return model, parse_probe(file.read_text("utf-8")), repeats.get(name, 1)


@pytest.mark.parametrize("name", json.loads((OLD / "expected.json").read_text("utf-8")))
def test_an_old_store_gives_the_old_rules_and_nothing_is_paid_for_twice(name, old_store):
    expected = json.loads((OLD / "expected.json").read_text("utf-8"))[name]
    model, probe, repeats = asked_before(name)
    found = extract(model, probe, cache=old_store, repeats=repeats)
    assert found.record.asked == 0 and found.record.reused > 0
    named = found.space.vocabulary.names_of
    told = {" ".join(named(cell)): d for cell, d in found.decisions.items()}
    # Version 0.2 had no name of its own for a reply that names several.
    since = {"soldier Africa": "unclear"} if name == "say" else {}
    assert {
        key: d.abstained if d.winner is None else d.winner for key, d in told.items()
    } == expected["answers"] | since
    counts = {key: [*d.repeats, d.silent] for key, d in told.items() if d.repeats}
    assert counts == expected["repeats"]
    # Of rules with the same support, those came first that held by more: by what was made up.
    assert sorted(str(row.rule) for row in found.rules) == sorted(expected["rules"])
    if name == "choose":
        assert all(len(d.scores) == 2 for d in told.values())
    else:
        unscored(found)


@pytest.mark.parametrize("name", ["constrained", "choose"])
def test_an_old_store_serves_every_policy_of_orders(name, old_store):
    """What depends on the order is no answer any more; nothing is asked to find that out."""
    _, probe, _ = asked_before(name)
    asked = {}
    for orders in ("rotate", "average", "each"):
        options = ModelOptions(base_url=NOBODY, elicit=name, orders=orders)
        asked[orders] = extract(open_model("openai/tiny", options), probe, cache=old_store)
        assert asked[orders].record.asked == 0
    worlds = [world.decisions for world in asked["each"].worlds]
    reasons = set()
    for cell, decision in asked["rotate"].decisions.items():
        winners = {world[cell].winner for world in worlds}
        assert winners == {decision.winner} or (len(winners) > 1 and decision.winner is None)
        reasons.add(decision.abstained)
    assert reasons == ({"", "order"} if name == "constrained" else {""})


@pytest.mark.parametrize("name", ["say", "drawn"])
def test_an_old_result_is_read_without_the_scores_that_were_made_up(name, tmp_path):
    expected = json.loads((OLD / "expected.json").read_text("utf-8"))[name]
    shutil.copytree(OLD / name, tmp_path / "old")
    before = json.loads((OLD / name / "envelope.json").read_text("utf-8"))
    assert any(answer["margin"] for answer in before["answers"])  # it is one that has some
    found = load(tmp_path / "old")
    unscored(found)
    assert [str(row.rule) for row in found.rules] == expected["rules"]
    assert verify(tmp_path / "old").ok
    found.save(tmp_path / "new")
    after = json.loads((tmp_path / "new" / "envelope.json").read_text("utf-8"))
    assert verify(tmp_path / "new").ok
    assert [a["replies"] for a in after["answers"]] == [a["replies"] for a in before["answers"]]
    assert load(tmp_path / "new").decisions == found.decisions
    assert app(["report", str(tmp_path / "old")], standalone_mode=False) in (None, 0)
    page = (tmp_path / "old" / "report.html").read_text("utf-8")
    assert "on average, at least" not in page and 'id="map"' not in page


def test_scores_of_counts_are_known_for_what_they_are_where_there_are_no_replies(tmp_path):
    shutil.copytree(OLD / "drawn", tmp_path, dirs_exist_ok=True)
    path = tmp_path / "envelope.json"
    content = json.loads(path.read_text("utf-8"))
    for answer in content["answers"]:
        del answer["replies"]
    path.write_text(json.dumps(content), "utf-8")
    unscored(load(tmp_path))


def test_a_store_is_written_so_that_version_0_2_reads_its_replies(tmp_path):
    """By position, under the name that it looks for; scores are of no use to it."""
    with ChatServer() as server, closing(AnswerCache(tmp_path / "a.sqlite")) as cache:
        model = open_model("openai/tiny", ModelOptions(base_url=server.url, elicit="constrained"))
        extract(model, parse_probe(PROBE), cache=cache)
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as file:
        rows = file.execute("SELECT scores, content FROM answers JOIN details USING (prompt)")
        for scores, content in rows.fetchall():
            assert json.loads(scores) == []
            details = json.loads(content)
            for text, order, listed, bound, finish, refused, tokens, who, how, named in details[
                "said"
            ]:
                assert WORDS[named] == json.loads(text)["answer"]
                assert sorted(order) == [0, 1] and listed == [] and bound == 0.0
                assert finish == "stop" and refused is False and tokens[0] > 0
                assert who == "tiny fp-1" and how == "temperature 0"
            names_given = {row[-1] for row in details["said"]}
            assert names_given == {details["named"]} or details["outcome"] == "tie"


# --- the class ---


@pytest.mark.parametrize(
    "reply",
    [
        Reply("He"),
        Reply("", finish="length", named=-1),
        Reply("2", (1, 0), (-0.5, None), -7.5, "stop", False, (11, 1), "m fp", "temperature 0", 1),
        Reply("I can't", refused=True, tokens=(3, 4)),
    ],
)
def test_a_reply_comes_back_from_files_and_stores(reply):
    for written in (reply.as_json(), reply.as_row()):
        assert Reply.read(json.loads(json.dumps(written))) == reply
    assert {"text", "named"} <= set(reply.as_json())
    answer = Answer(outcome="refusal", replies=(reply, reply))
    assert from_kept(as_kept(answer)) == answer
    assert from_kept(as_kept(Answer(named=1))) == Answer(named=1)


def test_what_is_no_answer_is_refused_in_a_line():
    good = [
        Answer(named=1),
        Answer((-1.0, -2.0)),
        Answer(outcome="refusal"),
        Answer((-0.7, -0.7), outcome="other"),
    ]
    for answer in good:
        check_answer(answer, "p", WORDS, "m")
    for bad, says in (
        (Answer(), "gave 0 scores for 2"),
        (Answer(named=2), "an int from 0 to 1, not 2"),
        (Answer(named=-1), "an int from 0 to 1, not -1"),
        (Answer(named=1.0), "an int from 0 to 1, not 1.0"),
        (Answer((-1.0, -2.0), named=0), "gave scores or an outcome, too"),
        (Answer(outcome="tie", named=0), "gave scores or an outcome, too"),
    ):
        assert says in refusal(lambda bad=bad: check_answer(bad, "p", WORDS, "m"))


def test_the_best_of_scores_is_the_sample_and_a_tie_is_none():
    assert Answer((-1.0, -0.5), (3, 0)).as_choice() == Answer(named=1)
    assert Answer((-1.0, -1.0)).as_choice() == Answer(outcome="tie")
    assert Answer((0.0, -1.0), outcome="refusal").as_choice() == Answer(outcome="refusal")
    assert Answer(named=0).as_choice() == Answer(named=0)


# --- results ---


def test_a_model_that_names_words_has_rules_and_no_scores(tmp_path):
    found = extract(names, parse_probe(PROBE), cache=False)
    unscored(found)
    assert found.entails("nurse & male -> false")
    assert {d.abstained for _, d in found.abstentions} == {"other", "none"}
    found.save(tmp_path)
    assert verify(tmp_path).ok
    again = load(tmp_path)
    assert again.decisions == found.decisions and again.scores == found.scores
    assert again.envelope.statistics["distinct_prompts"] == 12
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "model’s replies in these sentences" in page and "Mean margin" not in page
    with (tmp_path / "rules.csv").open(encoding="utf-8") as file:
        assert {row["mean_margin"] for row in csv.DictReader(file)} == {""}


def test_what_was_named_can_be_asked_again_without_the_model(tmp_path):
    found = extract(names, parse_probe(PROBE), cache=False)
    found.save(tmp_path)
    text = (tmp_path / "scores.csv").read_text("utf-8")
    assert text.startswith("prompt,She,He,[MASK]\n") and text.count(",,,\n") == 3
    again = extract(TableModel(tmp_path / "scores.csv"), parse_probe(PROBE), cache=False)
    assert again.envelope.basis == found.envelope.basis
    assert {c: d.winner for c, d in again.decisions.items()} == {
        c: d.winner for c, d in found.decisions.items()
    }
    for line, says in (
        ("x,-1,-2,,1", ":2: a line has scores and a number under [MASK]"),
        ("x,,,,She", ":2: [MASK] must be the number of a word"),
        ("x,,,,4", ":2: [MASK] must be the number of a word"),
        ("x,,,,1\nx,,,,2", ":3: a second row for this prompt"),
        ("x,,,,1\nx,,,,", ":3: a second row for this prompt"),
    ):
        (tmp_path / "scores.csv").write_text(f"prompt,She,He,They,[MASK]\n{line}\n")
        said = refusal(lambda: TableModel(tmp_path / "scores.csv").check(WORDS))
        assert says in said
    (tmp_path / "scores.csv").write_text("prompt,[MASK],She,He,They\nx,3,,,\ny,,,,\nz,,-1,-2,\n")
    answers = ask(TableModel(tmp_path / "scores.csv"), ["x", "y", "z"], WORDS)
    assert [a.outcome for a in answers] == ["other", "none", ""] and answers[2].scores


def test_ways_of_asking_with_and_without_scores_stand_beside_each_other(tmp_path):
    with ChatServer() as server:
        options = ModelOptions(base_url=server.url, elicit="choose,say")
        found = extract(open_model("openai/tiny", options), parse_probe(PROBE), cache=False)
    scored, named = found.worlds
    assert all(d.scores for d in scored.decisions.values())
    assert not any(d.scores for d in named.decisions.values())
    found.save(tmp_path)
    assert verify(tmp_path).ok
    again = load(tmp_path)
    assert [world.decisions for world in again.worlds] == [w.decisions for w in found.worlds]
    # A prompt that has scores in one way keeps these: the file has a line for a prompt.
    text = (tmp_path / "scores.csv").read_text("utf-8")
    assert "[MASK]" not in text.splitlines()[0] and ",," not in text
    silent = next(iter(scored.scores))
    some = replace(scored, scores={**scored.scores, silent: {}})
    recorded = parse_scores(scores_csv(replace(found, worlds=(some, named))), tmp_path)
    assert recorded.scored[silent] == {} and list(recorded.named) == [silent]
    assert all(scores for prompt, scores in recorded.scored.items() if prompt != silent)


def test_counts_take_the_place_of_leads_where_answers_vary(tmp_path):
    with ChatServer(say=lambda s: "She" if "nurse" in s else "He") as server:
        model = open_model("openai/tiny", ModelOptions(base_url=server.url, elicit="say"))
        found = extract(model, parse_probe(PROBE), cache=False, repeats=Repeats(most=30))
    unscored(found)
    assert all(max(d.repeats) == sum(d.repeats) > 5 for d in found.decisions.values())
    found.save(tmp_path)
    content = json.loads((tmp_path / "envelope.json").read_text("utf-8"))
    assert verify_content(content, tmp_path).ok
    content["answers"][0]["replies"][0]["named"] = 0
    assert "not what the replies name" in verify_content(content, tmp_path).wrong


def test_verify_holds_winners_against_what_the_replies_name(tmp_path):
    with ChatServer(bias=1.0) as server:
        model = open_model("openai/tiny", ModelOptions(base_url=server.url, elicit="constrained"))
        found = extract(model, parse_probe(PROBE), cache=False)
    assert {d.abstained for _, d in found.abstentions} == {"order"}  # it names what stands first
    found.save(tmp_path)
    content = json.loads((tmp_path / "envelope.json").read_text("utf-8"))
    assert verify_content(content, tmp_path).ok
    won = next(answer for answer in content["answers"] if answer["winner"])
    for reply in won["replies"]:
        reply["named"] = 1 - reply["named"]
    assert "not what most replies name" in verify_content(content, tmp_path).wrong


# --- what needs scores ---

NEEDS = (Policy(margin=0.5), Policy(top_k=5), Policy(calibration="neutral"))


def test_whether_there_are_scores_is_found_out_with_the_hashes_that_the_store_has(tmp_path):
    """A model in a file is known by its hash, and may be found only once that is."""
    found = []

    class Filed(FunctionModel):
        def __init__(self):
            super().__init__(names, identity="filed")
            self.remember = lambda path, compute: compute(path)

        @property
        def sampled(self):
            found.append(self.remember)
            return True

        @sampled.setter
        def sampled(self, value):
            pass

    with closing(AnswerCache(tmp_path / "a.sqlite")) as cache:
        extract(Filed(), parse_probe(PROBE), cache=cache)
        assert found and all(remember == cache.hash_of for remember in found)

    class Broken(Filed):
        @property
        def sampled(self):
            raise RuntimeError("no\nidea")

        @sampled.setter
        def sampled(self, value):
            pass

    with pytest.raises(ModelError, match="failed: RuntimeError: no idea"):
        extract(Broken(), parse_probe(PROBE), cache=False)


@pytest.mark.parametrize("policy", NEEDS)
@pytest.mark.parametrize("repeats", [1, "auto"])
def test_a_policy_that_needs_scores_is_refused_before_anything_is_asked(policy, repeats):
    with ChatServer() as server:
        model = open_model("openai/tiny", ModelOptions(base_url=server.url, elicit="say"))
        with pytest.raises(HornlensError, match="gives no log-probabilities as it is asked") as e:
            extract(model, parse_probe(PROBE), cache=False, policy=policy, repeats=repeats)
        assert "\n" not in str(e.value) and not server.begun
        both = ModelOptions(base_url=server.url, elicit="choose,say")
        with pytest.raises(HornlensError, match="gives no log-probabilities"):
            extract(open_model("openai/tiny", both), parse_probe(PROBE), cache=False, policy=policy)
        assert not any("works as" in question for question in server.paid)


def test_answers_without_scores_are_not_averaged_over_phrasings(tmp_path):
    with ChatServer() as server:
        model = open_model("openai/tiny", ModelOptions(base_url=server.url, elicit="say"))
        with pytest.raises(HornlensError, match="cannot be averaged over phrasings"):
            extract(model, parse_probe(AVERAGED), cache=False)
        assert not server.begun
        scored = open_model("openai/tiny", ModelOptions(base_url=server.url, elicit="choose"))
        assert extract(scored, parse_probe(AVERAGED), cache=False).question.averaged
    with pytest.raises(HornlensError, match="cannot be averaged over phrasings"):
        extract(Naming(), parse_probe(AVERAGED), cache=False)


@pytest.mark.parametrize("policy", NEEDS)
def test_a_model_that_turns_out_to_name_words_is_refused_then(policy):
    with pytest.raises(HornlensError, match="naming gives no log-probabilities"):
        extract(Naming(), parse_probe(PROBE), cache=False, policy=policy)


def test_samples_have_to_be_known_as_such_to_be_tested():
    with pytest.raises(ModelError, match="sampled = True"):
        extract(Naming(), parse_probe(PROBE), cache=False, repeats="auto")
    sampling = FunctionModel(names, sampled=True)
    found = extract(sampling, parse_probe(PROBE), cache=False, repeats="auto")
    assert found.entails("nurse & male -> false")
    assert UNDECIDED not in {d.abstained for d in found.decisions.values()}
    unscored(found)


def test_the_command_refuses_in_a_line(tmp_path, monkeypatch):
    from tests.command import hornlens

    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.yaml").write_text(PROBE, "utf-8")
    with ChatServer() as server:
        how = ("--model", "openai/tiny", "--base-url", server.url, "--elicit", "say", "--out", "o")
        done = hornlens("extract", "jobs.yaml", *how, "--margin", "0.5", "--no-cache")
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
        assert "no margin, top_k or calibration can be used" in done.stderr
        assert not server.begun


def test_an_expert_that_names_yes_or_no_is_understood_and_has_no_margin():
    from hornlens.exploring.experts import ModelExpert
    from hornlens.exploring.variables import parse_variables
    from hornlens.learning.protocol import Counterexample, Holds, Unknown
    from hornlens.logic.rule import Rule
    from hornlens.targets.answers import Answers

    text = "hornlens: 1\nvariables: [penguin, bird, fish]\n"

    def knows(prompt, words):
        return "yes" if "bird" in prompt else "no" if "fish" in prompt else None

    for sampled in (False, True):
        model = FunctionModel(knows, sampled=sampled)
        expert = ModelExpert(Answers(model, ("yes", "no")), parse_variables(text))
        assert expert.entails(Rule(0b001, 0b010)) == Holds()
        assert isinstance(expert.entails(Rule(0b001, 0b100)), Counterexample)
        assert expert.entails(Rule(0b000, 0b001)) == Unknown()
        strict = parse_variables(text + "asking: {margin: 0.5}\n")
        with pytest.raises(HornlensError, match="no margin"):
            ModelExpert(Answers(model, ("yes", "no")), strict).entails(Rule(0b001, 0b010))


def test_bias_scores_are_not_made_of_names():
    dataset = load_dataset("people")
    with pytest.raises(HornlensError, match="bias scores are made of"):
        measure(Naming(), dataset, dataset.groups[:20])
