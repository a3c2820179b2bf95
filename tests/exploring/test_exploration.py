"""Attribute exploration against brute force: experts who know all, and experts who know a part."""

import json
import os
import pty
import re
import select
import signal
import sys
import time
from pathlib import Path
from random import Random

import pytest

from hornlens import extract
from hornlens.cli.app import app
from hornlens.errors import HornlensError, InputError
from hornlens.exploring.experts import Experts, FunctionExpert, ModelExpert, TargetEntailment
from hornlens.exploring.explore import explore_with
from hornlens.exploring.session import Session
from hornlens.exploring.variables import Variables
from hornlens.formats.tables import read_cxt
from hornlens.learning.driver import run
from hornlens.learning.exploration import Conflict, Explorer
from hornlens.learning.protocol import Counterexample, Holds, Unknown
from hornlens.logic.bits import BOTTOM
from hornlens.logic.named import NamedRule
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from hornlens.models.functions import FunctionModel
from hornlens.results.documents.envelope import envelope_as_json
from hornlens.targets.answers import Answers
from hornlens.targets.formulas import TableTarget
from hornlens.verification import verify
from hornlens.verifying import explored
from hornlens.verifying.explored import Session as KeptSession
from hornlens.verifying.verify import verify_content
from tests import brute
from tests.chat_server import PROBE, ChatServer
from tests.command import hornlens
from tests.exact.test_tables import random_background, random_rows


class Expert:
    """Knows a domain; of some questions it knows nothing, and of some examples only a part."""

    def __init__(self, rows, width, rng, ignorance=0.0, partial=0.0):
        self.rows, self.width, self.rng = rows, width, rng
        self.ignorance, self.partial = ignorance, partial
        self.asked = []

    def entails(self, rule):
        self.asked.append(rule)
        if self.rng.random() < self.ignorance:
            return Unknown()
        broken = [x for x in self.rows if not rule.satisfied_by(x)]
        if not broken:
            return Holds()
        x = self.rng.choice(broken)
        if self.rng.random() >= self.partial:
            return Counterexample(x)
        full = (1 << self.width) - 1
        lacking = rule.consequent & full & ~x
        lacks = lacking & -lacking
        some = self.rng.getrandbits(self.width) | 0
        unsure = some & ~rule.antecedent & ~lacks
        return Counterexample(x & ~unsure, (x | unsure) & full)


def random_domain(rng, most=6):
    width = rng.randint(0, most)
    rows = random_rows(rng, width) if width else [0] * rng.randint(0, 1)
    assumed = random_background(rng, rows, width) if rng.random() < 0.5 else Theory(width)
    domain = [x for x in range(1 << width) if assumed.satisfied_by(x)]
    start = [x for x in rows if rng.random() < rng.choice([0, 0.3, 1])]
    return rows, width, assumed, domain, start


@pytest.mark.parametrize("seed", range(10))
def test_whoever_knows_the_domain_is_led_to_its_basis(seed):
    rng = Random(seed)
    for _ in range(60):
        rows, width, assumed, domain, start = random_domain(rng)
        partial = rng.choice([0, 0, 0.5])
        expert = Expert(rows, width, rng, partial=partial)
        explorer = Explorer(width, assumed, start)
        done = run(explorer, None, None, entailment=expert)
        wanted = brute.dg(rows, domain)
        assert brute.pairs(explorer.basis()) == wanted, (rows, start, assumed)
        assert (done.certificate.open, done.certificate.word.answers) == (0, len(expert.asked))
        assert done.queries.entailment == len(expert.asked) == len(set(expert.asked))
        if not partial:  # each question brought a rule of the basis, or an example
            assert len(expert.asked) == len(wanted) + len(explorer.examples) - len(set(start))


@pytest.mark.parametrize("seed", range(10))
def test_whoever_knows_a_part_is_led_as_far_as_that_goes(seed):
    """What is accepted holds; what holds follows from it and what is open; the rest can be told."""
    rng = Random(100 + seed)
    for _ in range(40):
        rows, width, assumed, domain, start = random_domain(rng, 5)
        expert = Expert(rows, width, rng, rng.choice([0.1, 0.5, 1]), rng.choice([0, 0.5]))
        explorer = Explorer(width, assumed, start)
        run(explorer, None, None, entailment=expert)
        known = Theory(width, tuple(explorer.accepted)) + assumed
        closed = brute.close(rows)
        assert all(known.satisfied_by(x) for x in closed), (rows, start)
        possible = known + explorer.open()
        left = {x for x in domain if possible.satisfied_by(x)}
        assert left <= closed, (rows, start, explorer.open())
        for rule in explorer.open():
            assert not known.entails(rule)
        # Another day, somebody knows what was left open.
        wise = Expert(rows, width, rng)
        later = Explorer(width, assumed, [e.has for e in explorer.examples if e.has == e.may])
        for rule in explorer.accepted:
            later.answer(rule, Holds())
        run(later, None, None, entailment=wise)
        assert brute.pairs(later.basis()) == brute.dg(rows, domain), (rows, start)


def test_answers_that_cannot_be_are_refused_and_change_nothing():
    explorer = Explorer(3, Theory(3, (Rule(0b001, 0b011),)), [0b011])
    rule = explorer.question()
    assert rule == Rule(0, 0b011)
    for reply in (
        Counterexample(0b011),  # breaks nothing
        Counterexample(0b101),  # breaks the background
        Counterexample(0b1000),  # no such variable
        Counterexample(0b010, 0b000),
    ):
        with pytest.raises(Conflict):
            explorer.answer(rule, reply)
        assert explorer.question() == rule and explorer.answers == 0
    explorer.answer(rule, Counterexample(0b010))
    assert explorer.question() == Rule(0, 0b010)


def test_without_an_example_it_asks_for_one():
    explorer = Explorer(2)
    assert explorer.question() == Rule(0, BOTTOM)
    explorer.answer(Rule(0, BOTTOM), Holds())
    assert explorer.question() is None
    assert explorer.basis().rules == (Rule(0, BOTTOM),)
    assert explorer.certificate().sentence == (
        "According to 1 answer, these rules hold, and every rule that holds follows from these."
    )


# --- sessions ---


def animals(background=()):
    names = Vocabulary(("feathers", "flies", "swims", "eggs"))
    assumed = tuple(NamedRule.parse(rule).rule(names) for rule in background)
    return Variables(Space.of_variables(names, assumed))


@pytest.mark.parametrize("seed", range(6))
def test_every_answer_can_be_undone_and_redone(seed, tmp_path):
    rng = Random(seed)
    rows = random_rows(rng, 4, 6)
    expert = Expert(rows, 4, rng, ignorance=0.3, partial=0.3)
    session = Session(animals())
    states = []

    def state():
        e = session.explorer
        return list(e.examples), list(e.accepted), list(e.declined), session.question()

    while (rule := session.question()) is not None:
        states.append(state())
        session.answer(rule, expert.entails(rule), "person")
    end, count = state(), len(session.answers)
    path = tmp_path / "s.json"
    for i in reversed(range(count)):
        session.undo("person")
        assert state() == states[i]
        session.save(path)
        session = Session.load(path, animals())
        assert state() == states[i]
    assert session.undo("person") == [] and not session.answers
    for i in range(count):
        assert state() == states[i]
        assert len(session.redo("person")) == 1
        session.save(path)
        session = Session.load(path, animals())
    assert state() == end and session.redo("person") == []


def test_an_exploration_that_was_ended_rests_on_answers_all_the_same():
    session = Session(animals())
    session.answer(session.question(), Counterexample(0b1011), "person", "sparrow")
    session.answer(Rule(0b0010, 0b0011), Holds(), "person")
    certificate = session.envelope("time_limit").certificate
    assert certificate.sentence == (
        "The run was ended by its time limit: according to 2 answers, these rules hold; there may "
        "be more."
    )
    assert (certificate.kind, certificate.word.answers, certificate.scope.of) == (
        *("interrupted", 2),
        "word",
    )
    assert not any(map(certificate.meets, ("exact", "bounded", "tested")))
    session.answer(Rule(0b0100, 0b1100), Holds(50), "target")
    certificate = session.envelope("interrupt").certificate
    assert certificate.weakest == "tested" and certificate.sentence == (
        "The run was ended by hand: according to 3 answers, these rules hold; 1 yes rests on "
        "samples only; there may be more."
    )


def test_a_session_keeps_what_is_known_as_a_context(tmp_path):
    session = Session(animals(["feathers -> eggs"]), [0b1011])
    rule = session.question()
    session.answer(rule, Counterexample(0b1101), "person", "penguin")
    session.answer(session.question(), Counterexample(0b0000, 0b0100), "person", "dog")
    session.save(tmp_path / "a.json")
    table = read_cxt(tmp_path / "a.cxt")
    assert table.rows == (0b1011, 0b1101)  # what is known in part is in the session only
    assert "penguin" in (tmp_path / "a.cxt").read_text()
    again = Session.load(tmp_path / "a.json", animals(["feathers -> eggs"]))
    assert (again.answers, again.question()) == (session.answers, session.question())
    with pytest.raises(InputError, match=r"answer 2, .*cannot be any more"):
        Session.load(tmp_path / "a.json", animals(["true -> eggs"]))
    with pytest.raises(InputError, match="other variables"):
        Session.load(tmp_path / "a.json", Variables(Space.of_variables(Vocabulary(("a",)))))


# --- verified ---


def verified(session, path, change=None, kept=None):
    """What verify says of a session's result; each may be changed before."""
    session.save(path)
    content = envelope_as_json(session.envelope())
    if change:
        change(content)
    if kept:
        record = json.loads(path.read_text())
        kept(record)
        path.write_text(json.dumps(record))
    return verify_content(content, Path("result.json"), KeptSession.read(path))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("wide", [1 << 20, 0])
def test_explorations_are_verified_whole_and_in_part(seed, wide, tmp_path, monkeypatch):
    monkeypatch.setattr(explored, "WIDE", wide)
    rng = Random(seed)
    path = tmp_path / "x.exploration.json"
    for _ in range(25):
        rows, width, assumed, _, start = random_domain(rng, 5)
        if not width:
            continue
        names = Vocabulary.numbered(width)
        session = Session(Variables(Space.of_variables(names, assumed.rules)), start)
        expert = Expert(rows, width, rng, rng.choice([0, 0, 0.3, 1]), rng.choice([0, 0.5]))
        stop = rng.choice([2, 5, 99, 99])
        while (rule := session.question()) is not None and len(session.answers) < stop:
            session.answer(rule, expert.entails(rule))
        case = (rows, start, assumed, session.answers)
        done = verified(session, path)
        assert done.ok, (done.wrong, case)
        whole = any(line.startswith("complete") for line in done.checked)
        assert whole == (session.question() is None), case
        # What was said by one who knows all, without an example: some rule is not settled.
        if session.question() is None and rows and not start and not session.explorer.open():

            def nothing_shown(record):
                record["answers"] = [a for a in record["answers"] if a["answer"] != "no"]

            def counted(content):
                yes = content["statistics"]["yes"]
                content["certificate"]["word"]["answers"] = content["statistics"]["answers"] = yes
                content["statistics"]["no"] = content["statistics"]["unknown"] = 0

            session.undone.clear()
            lost = verified(session, path, counted, nothing_shown)
            assert not lost.ok, case


def explored_animals():
    """The four animals of DOMAIN, of which somebody does not know whether dogs swim."""
    session = Session(animals(["feathers -> eggs"]))
    rows = [0b1011, 0b1101, 0b1100, 0b0000]
    while (rule := session.question()) is not None:
        broken = [x for x in rows if not rule.satisfied_by(x)]
        if rule == Rule(0b0100, 0b1100):
            session.answer(rule, Unknown(), "person")
        elif broken == [0]:
            session.answer(rule, Counterexample(0, 0b0100), "person", "dog")
        else:
            session.answer(rule, Counterexample(broken[0]) if broken else Holds(), "person")
    return session


def _edit(*path, to):
    def change(content):
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = to(content[path[-1]])

    return change


def _counted(change):
    """Make a change, and let the certificate count the rules that are there then."""

    def both(content):
        change(content)
        content["certificate"]["rules"] = len(content["rules"])

    return both


NOBODYS = {"if": ["swims"], "then": ["eggs"], "warrant": {"kind": "proved"}}
CHANGED = {
    "a rule is left out": (_counted(_edit("rules", to=lambda r: r[1:])), None, "rules: two of one"),
    "a rule and its short form": (
        _counted(lambda c: (c["rules"].pop(), c["readable"].pop())),
        None,
        "a rule is missing: .* was accepted",
    ),
    "a rule that nobody accepted": (
        _counted(lambda c: [c[key].append(NOBODYS) for key in ("rules", "readable")]),
        None,
        "does not follow from what was accepted",
    ),
    "a rule more is counted": (
        _edit("certificate", "rules", to=lambda n: n + 1),
        None,
        "certificate: it is 2 rules, not 3",
    ),
    "no open rules": (_edit("open", to=lambda rules: []), None, "open: not the rules that nobody"),
    "more answers": (
        _edit("certificate", "word", "answers", to=lambda n: n + 1),
        None,
        "answers is 7, not 8",
    ),
    "fewer open": (_edit("certificate", "open", to=lambda n: 0), None, "open is 1, not 0"),
    "samples": (
        lambda c: c["certificate"]["word"].update(sampled=1),
        None,
        "sampled is 0, not 1",
    ),
    "another yes": (_edit("statistics", "yes", to=lambda n: n + 1), None, "statistics: yes"),
    "non-Horn negatives": (_edit("non_horn", "count", to=lambda n: 0), None, "non_horn: nobody"),
    "an example that breaks nothing": (
        None,
        _edit("answers", 0, to=lambda a: {**a, "if": ["swims"], "has": []}),
        "answer 1: its example does not break the rule",
    ),
    "an example that breaks a rule": (
        None,
        _edit("answers", 0, "has", to=lambda names: ["flies"]),
        "answer 1: breaks the background, or a rule",
    ),
    "another yes in the session": (
        None,
        _edit("answers", to=lambda a: [*a, {"if": ["eggs"], "then": None, "answer": "yes"}]),
        "breaks the background, or a rule",
    ),
    "a row that was not counted": (None, _edit("variables", to=lambda v: v[::-1]), "variables:"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_changed_explorations_are_refused(name, tmp_path):
    change, kept, message = CHANGED[name]
    session, path = explored_animals(), tmp_path / "a.exploration.json"
    assert verified(session, path).ok
    done = verified(session, path, change, kept)
    assert not done.ok and re.search(message, done.wrong), done


def test_the_context_beside_a_session_is_verified(tmp_path):
    session, path = explored_animals(), tmp_path / "a.exploration.json"
    session.save(path)
    content = envelope_as_json(session.envelope())
    context = path.with_suffix(".cxt")
    context.write_text(context.read_text().replace("XX.X", "X..X"))
    done = verify_content(content, Path("r.json"), KeptSession.read(path))
    assert done.wrong == "a.exploration.cxt: not the examples that are known in full"
    context.unlink()
    assert verify_content(content, Path("r.json"), KeptSession.read(path)).ok


def test_the_command_verifies_an_exploration(tmp_path):
    path, result = tmp_path / "a.exploration.json", tmp_path / "r.json"
    session = explored_animals()
    session.save(path)
    result.write_text(json.dumps(envelope_as_json(session.envelope())))
    done = command(tmp_path, "r.json", "--against", path.name, name="verify")
    assert (done.returncode, done.stderr) == (0, "")
    assert "complete: of 16 interpretations" in done.stdout
    table = tmp_path / "t.csv"
    table.write_text("a\n1\n")
    for against, message in (
        ((), "give the session that it was kept in"),
        ((table,), "there is no column for 'feathers' in the file"),
        ((result,), r"is no exploration\.json of hornlens"),
        ((path, table), "does not go with a session"),
    ):
        with pytest.raises(InputError, match=message):
            verify(result, *against)
    result.write_text(json.dumps(envelope_as_json(extract("demo", cache=False).envelope)))
    with pytest.raises(InputError, match="is no exploration"):
        verify(result, path)


# --- experts ---


def test_several_experts_know_more_than_one():
    rng = Random(3)
    for _ in range(30):
        rows, width = random_rows(rng, 4), 4
        experts = [
            FunctionExpert(Expert(rows, width, rng, 0.7).entails, "a"),
            FunctionExpert(Expert(rows, width, rng, 0.0).entails, "b"),
        ]
        for how in ("first", "all"):
            session = Session(animals())
            assert explore_with(session, Experts(experts, how))
            assert brute.pairs(session.explorer.basis()) == brute.dg(rows, range(16))
            assert {a.by for a in session.answers} <= {"a", "b", "a, b"}


def test_one_example_outweighs_who_said_yes():
    yes = FunctionExpert(lambda rule: Holds(), "yes")
    no = FunctionExpert(lambda rule: Counterexample(0b01), "no")
    assert Experts([yes, no]).consult(Rule(0, 0b10)).by == "yes"
    found = Experts([yes, no], "all").consult(Rule(0, 0b10))
    assert (found.reply, found.by, found.against) == (Counterexample(0b01), "no", ("yes",))


def test_a_target_is_an_expert_whole_or_in_samples():
    rng = Random(5)
    for _ in range(20):
        rows = set(random_rows(rng, 4)) | {0}
        table = Table(animals().vocabulary, tuple(rows))
        target = TableTarget(table)
        for limit in (1 << 20, 1):
            session = Session(animals())
            oracle = TargetEntailment(target, samples=300, limit=limit)
            explore_with(session, Experts([FunctionExpert(oracle.entails, "t")]))
            assert brute.pairs(session.explorer.basis()) == brute.dg(rows, range(16)), rows
            sampled = session.explorer.certificate().word.sampled
            assert bool(sampled) == (limit == 1 and bool(session.explorer.accepted))


def test_a_language_model_is_asked_in_words():
    """It knows birds: what is answered no refutes what was asked, and nothing else."""
    rows = [0b1011, 0b1101, 0b0100, 0b0000, 0b1000]
    asked = []

    def call(prompt, candidates):
        asked.append(prompt)
        words = prompt.removeprefix("Question: ").removesuffix("? Answer: [MASK].")
        if words.startswith("can it be "):
            x = names.mask(words.removeprefix("can it be ").split(" and "))
            yes = brute.closure(rows, x) is not None
        else:
            left, _, right = words.rpartition("is it always ")
            left = left.removeprefix("if it is ").removesuffix(", ")
            x = names.mask(left.split(" and ") if left else [])
            yes = brute.closure(rows, x) >> names.index(right) & 1
        return [1.0, 0.0] if yes else [0.0, 1.0]

    names = animals().vocabulary
    session = Session(animals())
    model = ModelExpert(Answers(FunctionModel(call), ("yes", "no")), session.variables)
    assert explore_with(session, Experts([model]))
    assert brute.pairs(session.explorer.basis()) == brute.dg(rows, range(16))
    assert "Question: if it is feathers, is it always eggs? Answer: [MASK]." in asked


# --- the dialogue ---

VARIABLES = """\
hornlens: 1
variables: [feathers, flies, swims, {name: eggs, text: lays eggs}]
background: ["feathers -> eggs"]
"""
DOMAIN = {"sparrow": "feathers,flies,eggs", "penguin": "1,3,4", "trout": "swims,eggs", "dog": ""}


def typed(question):
    """What somebody types who knows the animals of DOMAIN; names are as in the question."""
    names = ["feathers", "flies", "swims", "eggs"]
    has = {
        animal: {names[int(v) - 1] if v.isdigit() else v for v in text.split(",") if v}
        for animal, text in DOMAIN.items()
    }
    question = question.replace(" (lays eggs)", "")
    if "No example" in question:
        return "no sparrow: feathers,flies,eggs"
    if found := re.search(r"nothing has all of this: (.*)\?", question):
        left, right = found[1].split(" and "), None
    elif found := re.search(r"always so: (.*)\?", question):
        left, right = [], found[1].split(" and ")
    else:
        found = re.search(r"Does (.*) always imply (.*)\?", question)
        left, right = found[1].split(" and "), found[2].split(" and ")
    for animal, own in has.items():
        if set(left) <= own and (right is None or not set(right) <= own):
            return f"no {animal}: {DOMAIN[animal] or '-'}"
    return "yes"


class AtTerminal:
    """The command in a pseudo-terminal of its own."""

    def __init__(self, folder, *arguments):
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ["TERM"] = "dumb"
            os.execv(sys.executable, [sys.executable, "-m", "hornlens", "explore", *arguments])
        self.text = ""

    def until(self, ending, patience=60.0):
        """Read until the screen ends so; return what is new."""
        start, clock = len(self.text), time.monotonic()
        while not self.text[start:].rstrip(" ").endswith(ending):
            assert time.monotonic() - clock < patience, self.text
            if select.select([self.screen], [], [], 1)[0]:
                try:
                    self.text += os.read(self.screen, 4096).decode().replace("\r\n", "\n")
                except OSError:
                    break
        return self.text[start:]

    def type(self, line):
        os.write(self.screen, f"{line}\n".encode())

    def end(self):
        rest = self.until("\0")
        return rest, os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.mark.skipif(os.name != "posix", reason="needs pseudo-terminals")
def test_a_dialogue_at_a_terminal_killed_and_continued(tmp_path):
    (tmp_path / "animals.yaml").write_text(VARIABLES)
    first = AtTerminal(tmp_path, "animals.yaml")
    asked = first.until("\n>")
    assert "Exploring 4 variables; 0 examples known." in asked
    for line in ("?", "undo", "nonsense", "no x: feathers", "help"):
        if line == "no x: feathers":  # it breaks the background
            first.type(line)
            assert "That cannot be: it breaks a rule that holds: feathers → eggs" in (
                first.until("\n>")
            )
            continue
        first.type(line)
        asked += first.until("\n>")
    assert "'nonsense' is no answer" in asked and "Taken back: ⊤ → ⊥" in asked
    for _ in range(2):
        question = [q for q in first.text.splitlines() if re.match(r"\d+\. ", q)][-1]
        first.type(typed(question))
        first.until("\n>")
    last = [q for q in first.text.splitlines() if re.match(r"\d+\. ", q)][-1]
    os.kill(first.pid, signal.SIGKILL)
    os.waitpid(first.pid, 0)

    second = AtTerminal(tmp_path, "animals.yaml")
    asked = second.until("\n>")
    assert "Going on after 2 answers" in asked and last in asked
    for _ in range(30):
        question = [q for q in second.text.splitlines() if re.match(r"\d+\. ", q)][-1]
        second.type(typed(question))
        if not second.until(("\n>", ".cxt.\n")).endswith((">", "> ")):
            break
    text, code = second.end()
    assert code == 0, second.text
    assert "explored: according to" in second.text and "flies → feathers" in second.text, (
        second.text
    )
    # Another day there is nothing left to ask.
    third = AtTerminal(tmp_path, "animals.yaml", "--format", "json")
    text, code = third.end()
    content = json.loads(text[text.index("{") :])
    assert code == 0 and content["certificate"]["kind"] == "explored"
    assert len(content["rules"]) == 3 and "open" not in content


def command(folder, *arguments, say="", name="explore"):
    return hornlens(name, *arguments, cwd=folder, input=say)


def test_the_command_with_a_table_as_expert(tmp_path):
    (tmp_path / "v.yaml").write_text(VARIABLES)
    (tmp_path / "known.csv").write_text("eggs,feathers,flies,swims\n1,1,1,0\n")
    (tmp_path / "all.csv").write_text(
        "legs,eggs,feathers,flies,swims\n1,1,1,1,0\n0,1,1,0,1\n0,1,0,0,1\n1,0,0,0,0\n"
    )
    done = command(
        tmp_path, "v.yaml", "--table", "known.csv", "--expert", "rows/all.csv", "--format", "json"
    )
    assert (done.returncode, done.stderr) == (0, "")
    content = json.loads(done.stdout)
    rules = [(r["if"], r["then"]) for r in content["rules"]]
    assert rules == [
        (["flies"], ["feathers", "eggs"]),
        (["swims"], ["eggs"]),
        (["feathers", "flies", "swims", "eggs"], None),
    ]
    assert content["statistics"]["rows"] == 1 and "open" not in content["certificate"]
    kept = json.loads((tmp_path / "v.exploration.json").read_text())
    assert {a["by"] for a in kept["answers"]} == {"rows/all.csv"}


def test_the_command_with_a_language_model_and_a_probe(tmp_path):
    done = command(
        tmp_path, "gender-occupation", "--model", "demo", "--no-cache", "--format", "json"
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    whole = extract("demo", "gender-occupation", cache=False)
    wanted = [NamedRule.of(r, whole.envelope.vocabulary).as_json() for r in whole.envelope.basis]
    proved = {"warrant": {"kind": "proved"}}
    assert found["rules"] == [{**rule, **proved} for rule in wanted]


def test_a_limit_on_calls_ends_an_exploration_of_a_probe_with_what_was_said(tmp_path):
    """It was an error of ours: nobody caught that the model may be asked no more."""
    pytest.importorskip("openai")
    (tmp_path / "jobs.yaml").write_text(PROBE)
    paths = {"HORNLENS_CACHE": str(tmp_path / "a.sqlite"), "XDG_CACHE_HOME": str(tmp_path)}
    env = {**os.environ, **paths, "OPENAI_API_KEY": "sk-test-0123456789"}
    with ChatServer() as server:
        how = ("--model", "openai/tiny", "--base-url", server.url, "--elicit", "choose")
        asks = ("explore", "jobs.yaml", *how, "--format", "json")
        done = hornlens(*asks, "--max-calls", "6", cwd=tmp_path, env=env)
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["certificate"]["ended"] == {"reason": "max_calls"}
        assert server.begun == 5  # one tries the endpoint, a prompt takes two: no room for a third
        whole = hornlens(*asks, cwd=tmp_path, env=env)
        assert json.loads(whole.stdout)["certificate"]["kind"] == "explored", whole.stderr


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("variables: [a]", [], "v.yaml:1: hornlens: this field is required"),
        ("hornlens: 1", [], "there is nothing to explore"),
        ("hornlens: 1\nvariables: [a, a]", [], "two attributes have the name 'a'"),
        (
            "hornlens: 1\nvariables: [a]\nbackground: [b -> a]",
            [],
            "v.yaml:3: background[1]: unknow",
        ),
        ("hornlens: 1\nvariables: [a]\nbackground: [a]", [], "v.yaml:3: background[1]: not a rule"),
        ("hornlens: 1\nvariables: [a]\nasking: {implies: so}", [], "must have [MASK] once"),
        ("hornlens: 1\nvariables: [a]", ["--table", "no.csv"], "no.csv: no such file"),
        ("hornlens: 1\nvariables: [a]", ["--table", "t.csv"], "no column for the variable 'a'"),
        ("hornlens: 1\nvariables: [a]", ["--expert", "nope"], "target"),
        ("hornlens: 1\nvariables: [a]", ["--expert", "rows/t.csv"], "nothing of the variable 'a'"),
        ("hornlens: 1\nvariables: [a]", ["--session", "t.csv"], "t.csv:1: is not JSON"),
        ("templates: [x]", [], "say whom to ask it, by --model"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    tmp_path, monkeypatch, capsys, content, arguments, message
):
    (tmp_path / "v.yaml").write_text(content + "\n")
    (tmp_path / "t.csv").write_text("b\n1\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HornlensError) as error:
        app(["explore", "v.yaml", *arguments], standalone_mode=False)
    assert message in str(error.value) and "\n" not in str(error.value)
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "v.exploration.json").exists()


ANIMALS = [0b1011, 0b1101, 0b0100, 0b0000, 0b1000]
NAMES = ["feathers", "flies", "swims", "eggs"]


def knows_animals(sentence):
    """What somebody says who knows ANIMALS, and is asked in words."""
    words = sentence.removeprefix("Question: ").partition("?")[0]
    left, always, right = words.partition("is it always ")
    x = sum(1 << i for i, name in enumerate(NAMES) if name in left)
    closed = brute.closure(ANIMALS, x)
    if not always:  # can it be …?
        return "no" if closed is None else "yes"
    return "yes" if closed is None or closed >> NAMES.index(right) & 1 else "no"


def test_a_chat_model_is_an_expert(tmp_path):
    pytest.importorskip("openai")
    paths = {"HORNLENS_CACHE": str(tmp_path / "a.sqlite"), "XDG_CACHE_HOME": str(tmp_path)}
    env = {**os.environ, **paths, "OPENAI_API_KEY": "sk-test-0123456789"}
    (tmp_path / "v.yaml").write_text(f"hornlens: 1\nvariables: [{', '.join(NAMES)}]\n")
    asks = ("explore", "v.yaml", "--model", "openai/tiny", "--format", "json")
    with ChatServer(say=knows_animals, latency=0.02) as server:

        def explored(*more):
            how = ("--base-url", server.url, "--elicit", "say")
            done = hornlens(*asks, *more, *how, cwd=tmp_path, env=env)
            assert done.returncode == 0, done.stderr
            (tmp_path / "rules.json").write_text(done.stdout)
            checked = verify(tmp_path / "rules.json", tmp_path / "v.exploration.json")
            assert checked.ok, checked.wrong
            return json.loads(done.stdout)

        paid = explored("--max-calls", "3", "--session", "v.exploration.json")
        assert paid["certificate"]["ended"] == {"reason": "max_calls"}
        assert sum(server.paid.values()) <= 3
        early = explored("--time-limit", "0.1")
        assert early["certificate"]["kind"] == "interrupted"
        assert early["certificate"]["ended"] == {"reason": "time_limit"}
        assert early["certificate"]["scope"] == {"of": "word"}
        begun = len(json.loads((tmp_path / "v.exploration.json").read_text())["answers"])
        whole = explored()
        kept = json.loads((tmp_path / "v.exploration.json").read_text())["answers"]
        assert 0 < begun < len(kept) and {a["by"] for a in kept} == {"openai/tiny"}
        assert whole["certificate"]["kind"] == "explored" and "open" not in whole["certificate"]
        names = {name: 1 << i for i, name in enumerate(NAMES)}
        for rule in whole["rules"]:  # as pairs of masks
            rule["left"] = sum(names[name] for name in rule["if"])
            rule["both"] = rule["then"] and rule["left"] + sum(names[n] for n in rule["then"])
        assert {(r["left"], r["both"]) for r in whole["rules"]} == brute.dg(ANIMALS, range(16))
        asked = sum(server.paid.values())
        again = explored("--fresh")  # all from the cache
        assert again["certificate"] == whole["certificate"]
        assert sum(server.paid.values()) == asked
