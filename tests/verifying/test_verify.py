"""The checker accepts what the engines make, and refuses whatever was changed in it."""

import copy
import json
from dataclasses import replace
from functools import cache
from math import log, log1p
from pathlib import Path
from random import Random

import pytest

import hornlens
from hornlens.api import extract
from hornlens.errors import InputError
from hornlens.exact.envelopes import envelope_of_formula, envelope_of_table
from hornlens.extraction.formulas import LearnSettings, learn
from hornlens.formats.backgrounds import read_background
from hornlens.formats.digests import with_digest
from hornlens.formats.dimacs import parse_dimacs, write_dimacs
from hornlens.learning.protocol import Accepted
from hornlens.limits import Limits
from hornlens.logic.attributes import Nominal
from hornlens.logic.certificates import pac
from hornlens.logic.cnf import Cnf, clause_of
from hornlens.logic.decisions import Policy
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.oracles.equivalence import SampledEquivalence
from hornlens.results.documents.envelope import envelope_as_json
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.writing import extraction_as_json
from hornlens.targets.functions import FunctionTarget, RepeatedTarget
from hornlens.targets.worlds import Worlds
from hornlens.verification import verify
from hornlens.verifying.files import File
from hornlens.verifying.grids import Grid
from hornlens.verifying.grids import Space as CheckedSpace
from hornlens.verifying.verify import verify_content
from tests import brute
from tests.command import hornlens as run_command
from tests.targets import KINDS, random_formula, random_space
from tests.varied import SeededModel, random_policy, random_probe

ROOT = Path(__file__).parents[2]
PLACE = Path("envelope.json")


def as_saved(content):
    return json.loads(json.dumps(content))


def checked(content, **files):
    return verify_content(as_saved(content), PLACE, **files)


def random_labels(rng, space):
    """A space with a label of two or three values, or none; perhaps something is granted."""
    label = Nominal("label", ("p", "q", "r")[: rng.randint(2, 3)]) if rng.random() < 0.7 else None
    plain = Space(space.attributes, label)
    cells = [0, *plain.cells()]
    a, b = rng.choice(cells), rng.choice(cells)
    assumed = (Rule(a, a | b),) if a and rng.random() < 0.3 else ()
    if assumed and (a | b) not in plain:
        assumed = (Rule(a, -1),)
    return Space(plain.attributes, label, assumed)


def random_target(seed):
    """A function with structure and noise over a random space, and a policy for it."""
    rng = Random(f"verify {seed}")
    space = random_labels(rng, random_space(rng))
    policy = Policy(
        label_unset=rng.choice(["accept", "reject"]),
        abstain=rng.choice(["accept", "reject"]),
        margin=rng.choice([0.0, 0.5]),
    )
    style, favourites = rng.choice(["scores", "names", "repeats"]), {}

    def call(names):
        own = Random(f"{seed} {names}")
        if own.random() < 0.1 and style != "scores":
            return None
        if space.label is None:
            return own.random() < (0.9 if "f0" in names else 0.4)
        favourite = favourites.setdefault(names[:1], rng.choice(space.label.variables))
        said = favourite if own.random() < 0.7 else own.choice(space.label.variables)
        if style == "names":
            return said
        if style == "repeats" and rng.random() < 0.3:
            said = rng.choice(space.label.variables)
        if style == "scores" and own.random() < 0.1:
            return dict.fromkeys(space.label.variables, -1.0)
        return {v: own.choice([-1.0, -0.3]) - 2 * (v != said) for v in space.label.variables}

    target = FunctionTarget(call, space, policy=policy)
    return (RepeatedTarget(target, 5) if style == "repeats" else target), policy


@cache
def document(seed, kind="exhaustive"):
    """What is saved of a random target's extraction."""
    target, policy = random_target(seed)
    tolerance = 0.6 if kind == "pac" else 0.2  # or else a small space is asked completely
    settings = Settings(kind, tolerance, tolerance, max_equivalence_queries=seed % 25, seed=seed)
    return as_saved(extraction_as_json(extract(target, settings=settings, policy=policy)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["exhaustive", "pac", "budget"])
def test_extractions_of_random_targets_are_accepted(kind):
    rules = 0
    for seed in range(150):
        content = document(seed, kind)
        done = checked(content)
        assert done.ok, (seed, kind, done.wrong)
        assert len(done.checked) >= 4
        rules += len(content["rules"])
    assert rules > 300


def moody(prompt, words):
    return [Random(f"{prompt} {word}").gauss(-3, 1) for word in words]


@pytest.mark.parametrize("calibration", ["none", "neutral"])
@pytest.mark.parametrize(
    ("model", "probe"),
    [("demo", "gender-occupation"), (moody, "gender-occupation"), (moody, "sentiment")],
)
def test_extractions_of_the_builtin_probes_are_accepted(tmp_path, model, probe, calibration):
    policy = Policy(calibration=calibration, margin=0.01)
    extract(model, probe, policy=policy, cache=False).save(tmp_path)
    assert verify(tmp_path).ok and hornlens.verify(tmp_path / "envelope.json").ok


def random_file(seed, widths=(0, 6)):
    """A random formula or table with a background, and its envelope as it is printed."""
    rng = Random(seed)
    formula, clauses = random_formula(seed, KINDS[seed % len(KINDS)], widths)
    width = formula.width
    assumed = None
    if rng.random() < 0.4 and width > 2:
        text = write_dimacs(Cnf(formula.vocabulary, (clause_of([-1, -2]), clause_of([-2, 3]))))
        assumed = parse_dimacs(text).theory()
    if seed % 2:
        if width > 12:
            models = [rng.getrandbits(width) | rng.getrandbits(width) for _ in range(8)]
        else:
            models = [x for x in brute.positives_of(clauses, width) if rng.random() < 0.8]
        models = [x for x in models if assumed is None or assumed.satisfied_by(x)]
        table = Table(formula.vocabulary, tuple(models))
        return File(formula.vocabulary, None, table.rows), envelope_of_table(table, assumed)
    file = File(
        formula.vocabulary, tuple((c.antecedent, c.consequent) for c in formula.clauses), ()
    )
    return file, envelope_of_formula(formula, assumed)


def test_envelopes_of_random_formulas_and_tables_are_accepted():
    for seed in range(200):
        file, envelope = random_file(seed)
        done = checked(envelope_as_json(envelope), file=file)
        assert done.ok, (seed, done.wrong)


def test_files_too_wide_to_go_through_are_checked_as_far_as_can_be():
    for seed in range(12):
        file, envelope = random_file(seed, (22, 24))
        content = as_saved(envelope_as_json(envelope))
        done = checked(content, file=file)
        assert done.ok and any("that no rule is missing" in n for n in done.not_checked), (
            seed,
            done,
        )
        short = [i for i, line in enumerate(content["rules"]) if len(line["if"]) <= 1]
        if short:
            del content["rules"][short[0]], content["readable"][short[0]]
            assert not checked(content, file=file).ok, seed


def test_runs_of_the_learners_are_accepted(tmp_path):
    for path in sorted((ROOT / "examples").glob("*.cnf")):
        for settings in (
            LearnSettings(),
            LearnSettings(goal="cnf"),
            LearnSettings(equivalence="pac"),
            LearnSettings(equivalence="budget", max_equivalence_queries=3),
        ):
            outcome = learn(parse_dimacs(path.read_text()), settings)
            assert checked(outcome.as_json(), file=File.read(path)).ok, (path, settings)


def test_the_checkers_grid_is_the_space():
    """Points, sets of them and intersections, against brute force."""
    for seed in range(60):
        rng = Random(seed)
        space = random_labels(rng, random_space(rng))
        content = document_of_space(space)
        seen = CheckedSpace.of(content)
        grid = Grid(seen.axes, len(seen.names))
        plain = Space(space.attributes, space.label)
        assert sorted(map(grid.point, range(grid.size))) == sorted(plain), seed
        assert seen.own == {
            (r.antecedent, None if r.is_negative else r.antecedent | r.consequent)
            for r in plain.background
        }
        chosen = [x for x in plain if rng.random() < 0.3]
        found = grid.intersections(grid.set_of(map(grid.index, chosen)))
        closed = {grid.point(i) for i in range(grid.size) if found >> i & 1}
        assert closed == (brute.close(chosen) if chosen else set()), seed


def document_of_space(space):
    target = FunctionTarget(lambda names: None, space)
    return as_saved(extraction_as_json(extract(target)))


# --- what was changed is refused ---


def drop_a_rule(content, rng):
    i = rng.randrange(len(content["rules"]))
    del content["rules"][i], content["readable"][i]


def one_of(content, rng):
    """A rule, or its readable form, or both: to be changed alike."""
    i = rng.randrange(len(content["rules"]))
    return [
        content[key][i] for key in rng.choice([("rules",), ("readable",), ("rules", "readable")])
    ]


def weaken_a_rule(content, rng):
    """It speaks of less than it did."""
    lines, name = one_of(content, rng), rng.choice(content["variables"])
    for line in lines:
        line["if"] += [name] * (name not in line["if"])
        if line["then"] is not None:
            line["then"] = [n for n in line["then"] if n != name]


def strengthen_a_rule(content, rng):
    lines = one_of(content, rng)
    name = rng.choice([*lines[0]["if"], None])
    for line in lines:
        if name is None:
            line["then"] = None
        line["if"] = [n for n in line["if"] if n != name]


def change_a_consequent(content, rng):
    then = rng.choice([None, [rng.choice(content["variables"])]])
    for line in one_of(content, rng):
        line["then"] = then


def add_a_rule(content, rng):
    line = {"if": rng.sample(content["variables"], min(2, len(content["variables"]))), "then": None}
    content["rules"].append(line)
    content["readable"].append({**content["readable"][0], **line})


def change_an_answer(content, rng):
    """To one that follows from its scores."""
    place = rng.randrange(len(content["answers"]))
    answer, label = content["answers"][place], content["space"]["label"]
    says = ["no", "yes"] if label is None else label["values"]
    old, new = answer["winner"], rng.choice([s for s in says if s != answer["winner"]])
    answer["winner"] = new
    if old is None:
        content["abstentions"].remove(place)
        content["statistics"]["abstentions"] -= 1
        del answer["abstained"]
        answer["scores"], answer["margin"] = [], 0.0
        return
    i, j = says.index(old), says.index(new)
    for key in ("scores", "repeats"):
        if values := answer.get(key):
            values[i], values[j] = values[j], values[i]


def change_a_score(content, rng):
    answer = rng.choice(content["answers"])
    if answer["scores"]:
        answer["scores"][rng.randrange(len(answer["scores"]))] += rng.choice([-3, 3])


def forget_an_answer(content, rng):
    del content["answers"][rng.randrange(len(content["answers"]))]


def invent_a_non_horn_example(content, rng):
    found = content["non_horn"]
    invented = rng.sample(content["variables"], rng.randint(0, min(2, len(content["variables"]))))
    if found["examples"] and rng.random() < 0.7:
        found["examples"][rng.randrange(len(found["examples"]))] = invented
    else:
        found["examples"].append(invented)
        found["count"] += 1


def miscount_the_non_horn(content, rng):
    content["non_horn"]["count"] += rng.choice([-1, 1])


def change_a_figure(content, rng):
    line = rng.choice(content["readable"])
    key = rng.choice(["support", "prompts", "mean_margin", "closest", "evidence"])
    if key == "evidence":
        line[key] = line[key][1:] if line[key] else [0]
    elif key == "closest":
        line[key] = None if line[key] else {"answer": 0, "margin": 1.0}
    else:
        line[key] = (line[key] or 0) + 1


def change_a_statistic(content, rng):
    key = rng.choice(["membership_queries", "negatives", "abstentions"])
    content["statistics"][key] += 1


def drop_a_background_rule(content, rng):
    del content["background"][rng.randrange(len(content["background"]))]


def take_more_for_granted(content, rng):
    line = rng.choice(content["rules"])
    content["background"].append({"if": line["if"], "then": line["then"]})


def claim_less_than_samples_bear(content, rng):
    content["certificate"] = {"kind": "pac", "epsilon": 0.1, "delta": 0.1, "samples": 5}


CHANGES = (
    *(drop_a_rule, weaken_a_rule, strengthen_a_rule, change_a_consequent, add_a_rule),
    *(change_an_answer, change_a_score, forget_an_answer),
    *(invent_a_non_horn_example, miscount_the_non_horn, change_a_figure, change_a_statistic),
    *(drop_a_background_rule, take_more_for_granted, claim_less_than_samples_bear),
)


def as_pair(line, names):
    left = sum({names[n] for n in line["if"]})
    return left, None if line["then"] is None else left | sum({names[n] for n in line["then"]})


def positives_of(content):
    """What the answers accept, from the words of the policy."""
    names = {name: 1 << i for i, name in enumerate(content["variables"])}
    policy, label = content["policy"], content["space"]["label"]
    found = set()
    for answer in content["answers"]:
        cell = sum(names[n] for n in answer["set"])
        if label is None:
            undecided = answer["winner"] is None and policy["abstain"] == "accept"
            found |= {cell} if undecided or answer["winner"] == "yes" else set()
            continue
        for value in label["values"]:
            undecided = answer["winner"] is None and policy["abstain"] == "accept"
            found |= {cell | names[value]} if undecided or answer["winner"] == value else set()
        found |= {cell} if policy["label_unset"] == "accept" else set()
    return found


def could_have_been_made(content, before, space):
    """Say whether a changed document is right nevertheless, from the definitions."""
    names = {name: 1 << i for i, name in enumerate(content["variables"])}
    background, rules, readable = (
        [as_pair(line, names) for line in content[key]]
        for key in ("background", "rules", "readable")
    )
    points = [x for x in Space(space.attributes, space.label) if brute.satisfying(background, x)]
    positives = positives_of(content)
    non_horn = (brute.close(positives) if positives else set()) - positives
    examples = [sum(names[n] for n in example) for example in content["non_horn"]["examples"]]
    figures = [
        [{k: v for k, v in line.items() if k not in ("if", "then")} for line in each["readable"]]
        for each in (content, before)
    ]
    return (
        points == list(space)
        and brute.dg(positives, points) == set(rules)
        and len(set(rules)) == len(rules) == len(readable)
        and all(brute.satisfying(rules, x) == brute.satisfying(readable, x) for x in points)
        and content["non_horn"]["count"] == len(non_horn)
        and len(set(examples)) == len(examples)
        and set(examples) <= non_horn
        and figures[0] == figures[1]
        and content["statistics"] == before["statistics"]
        and content["certificate"] == before["certificate"]
    )


@pytest.mark.slow
def test_a_thousand_changed_results_are_refused():
    """Whatever is accepted after a change could have been made: only brute force may say so."""
    refused, harmless = dict.fromkeys(CHANGES, 0), 0
    pool = [s for s in range(150) if document(s)["rules"] and len(document(s)["answers"]) <= 100]
    rng = Random(7)
    while sum(refused.values()) < 1200:
        seed, change = rng.choice(pool), rng.choice(CHANGES)
        before = document(seed)
        after = copy.deepcopy(before)
        try:
            change(after, rng)
        except (IndexError, ValueError):  # there is nothing of the kind to change
            continue
        if after == before:
            continue
        try:
            done = verify_content(after, PLACE)
        except InputError:
            pytest.fail(f"{change.__name__} of {seed}: taken for a bad file")
        if done.ok:
            harmless += 1
            space = random_target(seed)[0].space
            assert could_have_been_made(after, before, space), (change.__name__, seed, after)
        else:
            refused[change] += 1
    assert min(refused.values()) > 25, refused
    print(refused, harmless)
    assert harmless < 250, harmless


SCORED = Space((Nominal("work", ("nurse", "priest")),), Nominal("pronoun", ("he", "she", "they")))


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        (0, {"scores": [-1.0, -3.0, -2.0]}, "the winner has not won"),
        (0, {"winner": "they"}, "the winner has not won"),
        (0, {"margin": 0.5}, "the margin is 1.0, not 0.5"),
        (0, {"scores": [-2.0, -1.8, -3.0], "margin": 0.2}, "the winner has not won"),
        (0, {"scores": [-1.0, -1.0, -3.0], "margin": 0.0}, "the winner has not won"),
        (0, {"scores": [-2.0, -1.0]}, "not a score for each label"),
        (0, {"abstained": "tie"}, "a winner and a reason for having none"),
        (0, {"winner": None}, "a winner and a reason for having none"),
        (0, {"winner": None, "abstained": "tie"}, "tie is not why"),
        (0, {"winner": None, "abstained": "margin"}, "margin is not why"),
        (0, {"winner": None, "abstained": "top_k"}, "top_k is not why"),
        (0, {"repeats": [2, 2, 1]}, "not said more often than all others"),
        (1, {"abstained": "tie"}, "tie is not why"),
        (0, {"set": ["nurse", "she"]}, "sets a label"),
        (0, {"set": ["priest"]}, "a cell stands there twice"),
        (0, {"set": ["nurse", "priest"]}, "cannot occur"),
    ],
)
def test_answers_have_to_follow_from_their_scores(place, change, message):
    """She of nobody; of a nurse nothing, for want of a lead; he of a priest."""
    scores = {
        (): {"he": -2.0, "she": -1.0, "they": -3.0},
        ("nurse",): {"he": -1.1, "she": -1.0, "they": -3.0},
        ("priest",): {"he": -1.0, "she": -2.0, "they": -3.0},
    }
    target = FunctionTarget(scores.__getitem__, SCORED, policy=Policy(margin=0.3))
    content = as_saved(extraction_as_json(extract(target)))
    assert [a["winner"] for a in content["answers"]] == ["she", None, "he"]
    assert verify_content(content, PLACE).ok
    content["answers"][place] |= change
    assert message in verify_content(content, PLACE).wrong


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pac", "budget"])
def test_changed_results_of_samples_are_refused(kind):
    """What they say of their answers has to be so; and they must not claim to be exact."""
    pool = [s for s in range(150) if document(s, kind)["rules"] and document(s, kind)["answers"]]
    assert len(pool) > 60
    cut_off = 0
    for seed in pool:
        content = document(seed, kind)
        for change in (change_a_figure, forget_an_answer):
            changed = copy.deepcopy(content)
            change(changed, Random(seed))
            assert not verify_content(changed, PLACE).ok, (change.__name__, seed)
        if len(content["answers"]) < len(document(seed)["answers"]):
            claimed = {**content, "certificate": {"kind": "exact"}}
            assert "certificate: exact, but" in verify_content(claimed, PLACE).wrong, seed
            cut_off += 1
    assert cut_off > (10 if kind == "budget" else 0)


def test_small_print_of_sampled_results_is_read():
    done = dict.fromkeys(("sum", "nothing", "order"), 0)
    for seed in range(150):
        content = document(seed, "pac")
        changed = copy.deepcopy(content)
        changed["statistics"]["membership_queries"] += 1
        assert "not the sum of its parts" in verify_content(changed, PLACE).wrong, seed
        done["sum"] += 1
        if content["rules"] and all(line["if"] for line in content["rules"]):
            changed = copy.deepcopy(content)
            for key in ("rules", "readable"):
                changed[key].append({**changed[key][0], "if": [], "then": []})
            changed["certificate"]["rules"] += 1
            assert "says nothing" in verify_content(changed, PLACE).wrong, seed
            done["nothing"] += 1
        if len(content["rules"]) > 1:
            changed = copy.deepcopy(content)
            lines, first = changed["readable"], content["rules"][0]["if"]
            lines[0], lines[-1] = lines[-1], lines[0]
            for line, rule in zip(lines, changed["rules"], strict=True):
                line["warrant"] = rule["warrant"]  # or else that is what is wrong
            if not set(lines[0]["if"]) <= set(first):
                assert "said shortly" in verify_content(changed, PLACE).wrong, seed
                done["order"] += 1
    assert min(done.values()) > 30, done


@pytest.mark.parametrize(
    ("key", "lines", "message"),
    [
        ("rules", {("b",): ["c"], ("a",): ["b"]}, "not saturated: more follows"),
        ("rules", {("b",): ["c"], ("a", "b"): ["c"]}, "its antecedent breaks another rule"),
        ("readable", {("b",): [], ("a",): ["b"]}, "the readable rules say something else"),
        ("readable", {(): ["c"], ("a",): ["b"]}, "the readable rules say something else"),
    ],
)
def test_rules_that_were_learned_in_part_are_checked_by_chaining(key, lines, message):
    text = "c var 1 a\nc var 2 b\nc var 3 c\np cnf 3 2\n-1 2 0\n-2 3 0\n"
    formula = parse_dimacs(text)
    file = File(formula.vocabulary, ((1, 2), (2, 4)), ())
    content = as_saved(envelope_as_json(envelope_of_formula(formula)))
    found = {tuple(line["if"]): line["then"] for line in content["rules"]}
    assert list(found.items()) == [(("a",), ["b", "c"]), (("b",), ["c"])]
    content["certificate"] = {"kind": "budget_exhausted", "equivalence_queries": 1}
    for each in ("rules", "readable"):
        content[each].reverse()
    assert verify_content(content, PLACE, file).ok
    for line, (left, right) in zip(content[key], lines.items(), strict=True):
        line["if"], line["then"] = list(left), right
    if key == "rules":
        content["readable"][1]["then"] = ["b"] if "b" in content["rules"][1]["then"] else ["c"]
    assert message in verify_content(content, PLACE, file).wrong


def test_a_rule_that_is_missing_is_missed_in_a_pac_result_where_answers_ask_for_it():
    missed = 0
    for seed in range(150):
        content = copy.deepcopy(document(seed, "pac"))
        if content["rules"] and content["policy"]["label_unset"] == "accept":
            drop_a_rule(content, Random(seed))
            content["certificate"]["rules"] = len(content["rules"])
            # Other rules may lean on it in their readable form: then that is said first.
            missed += "a rule is missing" in (verify_content(content, PLACE).wrong or "")
    assert missed > 30, missed


def test_a_rule_that_a_recorded_answer_breaks_is_refused_in_a_pac_result():
    found = 0
    for seed in range(150):
        content = copy.deepcopy(document(seed, "pac"))
        said = [a["winner"] for a in content["answers"] if content["space"]["label"]]
        if "joint" not in content["certificate"] or not any(said):
            continue
        rule = {"if": [next(filter(None, said))], "then": None, "warrant": {"kind": "open"}}
        content["rules"], content["readable"] = [rule], [rule]
        content["certificate"] |= {"rules": 1, "weakest": "open"}
        done = verify_content(content, PLACE)
        # Unless the rules that were there before are missed first.
        assert not done.ok and ("not sound" in done.wrong or "missing" in done.wrong), (seed, done)
        found += "not sound" in done.wrong
    assert found > 2, found


@pytest.mark.parametrize(
    "change", [drop_a_rule, weaken_a_rule, strengthen_a_rule, change_a_consequent]
)
def test_changed_envelopes_of_files_are_refused(change):
    """All but those in which the rules are the same, and the readable ones mean the same."""
    refused = 0
    for seed in range(400):
        file, envelope = random_file(seed % 100)
        before = as_saved(envelope_as_json(envelope))
        if not before["rules"]:
            continue
        after = copy.deepcopy(before)
        change(after, Random(seed))
        if not verify_content(after, PLACE, file).ok:
            refused += 1
            continue
        names = {name: 1 << i for i, name in enumerate(before["variables"])}
        old, new = ([as_pair(line, names) for line in c["rules"]] for c in (before, after))
        assert sorted(map(str, old)) == sorted(map(str, new)), (seed, after)
        short = [as_pair(line, names) for line in after["readable"]]
        for x in map(int, envelope.background.positives()):
            assert brute.satisfying(short, x) == brute.satisfying(old, x), (seed, after)
    assert refused > 100


# --- several ways of asking ---


def variants_document(seed):
    """What `extract` writes of a probe with several phrasings."""
    rng = Random(f"variants {seed}")
    question = random_probe(rng)
    while len(question.variants) == 1:
        question = random_probe(rng)
    policy = replace(random_policy(rng), phrasings="each")
    model = SeededModel(str(seed), lean=rng.choice([0.5, 0.8, 0.95]))
    return as_saved(extraction_as_json(extract(model, question, policy=policy)))


def hide_a_variant(content, rng):
    name = rng.choice(content["variants"])["name"]
    content["variants"] = [v for v in content["variants"] if v["name"] != name]


def rename_an_answers_variant(content, rng):
    answer = rng.choice(content["answers"])
    answer["variant"] = next(
        v["name"] for v in content["variants"] if v["name"] != answer["variant"]
    )


def change_a_variants_rules(content, rng):
    drop_a_rule(rng.choice([v for v in content["variants"] if v["rules"]]), rng)


def say_that_a_broken_rule_holds(content, rng):
    line = rng.choice([line for line in content["survival"] if line["broken_in"]])
    line["holds_in"].append(line["broken_in"].popitem()[0])


def say_that_a_rule_is_broken(content, rng):
    line = rng.choice([line for line in content["survival"] if line["holds_in"]])
    line["broken_in"][line["holds_in"].pop()] = rng.randrange(len(content["answers"]))


def point_to_another_answer(content, rng):
    line = rng.choice([line for line in content["survival"] if line["broken_in"]])
    name = rng.choice(list(line["broken_in"]))
    others = [i for i, a in enumerate(content["answers"]) if a["variant"] != name]
    line["broken_in"][name] = rng.choice(others)


def leave_a_variant_unknown(content, rng):
    line = rng.choice([line for line in content["survival"] if line["holds_in"]])
    line["unknown_in"].append(line["holds_in"].pop())


def change_the_support(content, rng):
    rng.choice(content["readable"])["support"] += 1


def forget_evidence(content, rng):
    line = rng.choice([line for line in content["readable"] if line["evidence"]])
    line["evidence"].pop()


def test_results_of_several_variants_are_accepted_and_changed_ones_refused():
    changes = (
        *(drop_a_rule, hide_a_variant, rename_an_answers_variant, change_a_variants_rules),
        *(say_that_a_broken_rule_holds, say_that_a_rule_is_broken, point_to_another_answer),
        *(leave_a_variant_unknown, forget_evidence, change_the_support, miscount_the_non_horn),
    )
    refused = dict.fromkeys(changes, 0)
    for seed in range(40):
        content = variants_document(seed)
        done = verify_content(content, PLACE)
        assert done.ok, (seed, done.wrong)
        for change in changes:
            changed = copy.deepcopy(content)
            try:
                change(changed, Random(seed))
            except (IndexError, ValueError):  # there is nothing of the kind to change
                continue
            assert not verify_content(changed, PLACE).ok, (change.__name__, seed)
            refused[change] += 1
    assert min(refused.values()) > 10, refused


# --- the command ---


def run(*arguments):
    return run_command("verify", *arguments)


def test_the_command_says_what_it_checked_and_what_is_wrong(tmp_path):
    path = tmp_path / "envelope.json"
    content = copy.deepcopy(document(3))
    path.write_text(json.dumps(content))
    shown = run(tmp_path)
    assert shown.returncode == 0 and shown.stderr == ""
    first, heading, *_ = shown.stdout.splitlines()
    assert first == f"{tmp_path}: recomputed, except what is listed as not checked."
    assert heading == "Recomputed:" and "\nNot checked:\n- " in shown.stdout
    assert "- sound and complete" in shown.stdout
    content["non_horn"]["count"] += 1
    path.write_text(json.dumps(content))
    assert f"Wrong: {path}: digest: is sha256:" in run(path).stdout
    path.write_text(json.dumps(with_digest(content)))
    shown = run(path)
    assert shown.returncode == 1 and "non_horn: there are" in shown.stdout
    shown = run(path, "--format", "json")
    told = json.loads(shown.stdout)
    assert shown.returncode == 1 and not told["ok"] and told["wrong"].startswith("non_horn")
    assert told["status"] == "wrong" and told["seal"] is None


def test_the_command_holds_an_envelope_against_its_file(tmp_path):
    formula = ROOT / "examples" / "pronouns.cnf"
    given = tmp_path / "given.cnf"
    given.write_text("c var 1 nurse\nc var 2 he\np cnf 2 1\n-1 -2 0\n")
    parsed = parse_dimacs(formula.read_text())
    envelope = envelope_of_formula(parsed, read_background(given, parsed.vocabulary))
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(envelope_as_json(envelope)))
    assert run(path, "--against", formula, "--background", given).returncode == 0
    given.write_text("c var 1 nurse\nc var 2 she\np cnf 2 1\n-1 -2 0\n")
    assert "background" in verify(path, formula, given).wrong
    other = ROOT / "examples" / "appendix.cnf"
    assert verify(path, other).wrong == "variables: not those of the file"
    for arguments, message in (
        ((path,), "with --against FILE"),
        ((path, "--background", given), "--background goes with --against"),
        ((path, "--against", path), "is no exploration.json of hornlens"),
        ((path, "--against", tmp_path / "x.txt"), "unknown kind of file"),
        ((formula,), "is not JSON"),
        ((tmp_path / "nothing",), "no such file"),
    ):
        shown = run(*arguments)
        assert shown.returncode == 2 and message in shown.stderr, (arguments, shown)
        assert shown.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, "newer hornlens"),
        ({"certificate": {"kind": "divine"}}, "unknown kind 'divine'"),
        ({"variables": []}, "is no envelope.json"),
        ({"rules": [{"if": ["nobody"], "then": None}]}, "is no envelope.json"),
        ({"answers": [[]]}, "is no envelope.json"),
    ],
)
def test_files_that_are_no_results_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        verify_content({**document(3), **change}, PLACE)
    for content in ([], None, {}, "text"):
        with pytest.raises(InputError):
            verify_content(content, PLACE)


# --- ways of asking of which not all is known ---


def phrasings(seed):
    """Two worlds over one space, each with answers of its own."""
    job, place = Nominal("job", ("nurse", "priest", "pilot")), Nominal("place", ("Europe", "Asia"))
    space = Space((job, place), Nominal("pronoun", ("she", "he")))

    def world(number):
        rng = Random(number)
        said = {cell: rng.choice(["she"] * 3 + ["he"]) for cell in space.cells()}
        return FunctionTarget(lambda names: said[space.vocabulary.mask(names)], space)

    return Worlds("both", {"a": world(2 * seed), "b": world(2 * seed + 1)})


@pytest.mark.parametrize("seed", range(8))
def test_a_variant_that_ended_by_its_rules_leaves_the_levels_of_all(seed):
    settings = Settings(max_conditions=2, detail="2")
    result = extract(phrasings(seed), settings=settings, limits=Limits(max_rules=2))
    assert (done := checked(extraction_as_json(result))).ok, done.wrong


@pytest.mark.parametrize("seed", range(120))
def test_rules_of_a_variant_are_held_against_its_own_answers(seed):
    """So are those that samples show: what another phrasing answers breaks none of them."""
    settings = Settings("pac", epsilon=0.3, delta=0.2, max_conditions=1 if seed % 2 else None)
    limits = Limits(max_questions=seed % 20 + 1) if seed % 3 else None
    result = extract(phrasings(seed), settings=settings, limits=limits)
    for world in result.worlds:
        assert not any(world.breaking(rule) for rule in world.envelope.readable)
    assert (done := checked(extraction_as_json(result))).ok, done.wrong


def sampled_document(oracle=None, **chosen):
    """What is saved of a run that drew samples from a space too large to be asked completely."""
    job = Nominal("job", tuple(f"j{i}" for i in range(8)))
    place = Nominal("place", tuple(f"p{i}" for i in range(300)))
    space = Space((job, place), Nominal("pronoun", ("she", "he")))

    def call(names):
        return "she" if "j0" in names else "he"

    settings = Settings("pac", 0.1, 0.1, seed=3, **chosen)
    target = FunctionTarget(call, space)
    return as_saved(extraction_as_json(extract(target, settings=settings, equivalence=oracle)))


@pytest.mark.parametrize("chosen", [{}, {"samples": 60}])
def test_verify_divides_delta_among_the_queries_that_drew_samples(chosen):
    content = sampled_document(**chosen)
    joint, statistics = content["certificate"]["joint"], content["statistics"]
    paid, drawn = joint["queries"], statistics["equivalence_samples"]
    assert 1 < paid <= statistics["equivalence_queries"] and verify_content(content, PLACE).ok
    shared = log(paid * (paid + 1) / joint["delta"]) / joint["epsilon"]
    assert shared <= joint["samples"] * (1 + 1e-9)

    def refusal(joint=None, statistics=None):
        changed = copy.deepcopy(content)
        changed["certificate"]["joint"] |= joint or {}
        if statistics:  # what they add up to has to fit
            more = statistics.get("equivalence_samples", drawn) - drawn
            changed["statistics"]["membership_queries"] += more
        changed["statistics"] |= statistics or {}
        return verify_content(changed, PLACE).wrong or ""

    few = int(shared * 0.75)
    too_few = f"{few} samples are too few for its ε and δ"
    assert too_few in refusal({"samples": few}) and few > log(1 / joint["delta"]) / joint["epsilon"]
    assert "too few for its ε" in refusal({"queries": 20 * paid}, {"equivalence_queries": 10**6})
    assert "drew samples" in refusal({"queries": statistics["equivalence_queries"] + 1})
    assert "drew samples" in refusal({"queries": 0})
    assert "were drawn" in refusal({"queries": 1}, {"equivalence_samples": 500})
    assert "were drawn" in refusal(None, {"equivalence_samples": joint["samples"] - 1})


def test_verify_judges_results_without_that_number_by_the_old_schedule():
    """Version 0.2 divided δ among all equivalence queries, and gave the i-th the share δ/2^i."""
    old = json.loads((ROOT / "tests/old/0.2/pac/envelope.json").read_text(encoding="utf-8"))
    certificate, queries = old["certificate"], old["statistics"]["equivalence_queries"]
    needed = log(2**queries / certificate["delta"]) / certificate["epsilon"]
    assert needed <= certificate["samples"] < needed + 1
    assert verify_content(old, PLACE).ok
    certificate["samples"] = int(needed * 0.7)  # plenty if δ is divided in the new way
    assert certificate["samples"] * log1p(-certificate["epsilon"]) < log(
        certificate["delta"] / (queries * (queries + 1))
    )
    assert "samples are too few for its ε and δ" in verify_content(old, PLACE).wrong


def test_verify_says_where_nobody_knows_how_delta_was_divided():
    """An oracle of one's own may divide δ in yet another way, and does not have to say how."""

    class Own(SampledEquivalence):
        def judging(self, hypothesis):
            verdict = yield from super().judging(hypothesis)
            if isinstance(verdict, Accepted):
                return Accepted(pac(self.epsilon, self.delta, verdict.certificate.samples))
            return verdict

    def oracle(asking):
        space = asking.space
        return Own(asking.membership, space.sample, space.width, 0.1, 0.1, asking.rng)

    content = sampled_document(oracle)
    assert "queries" not in content["certificate"]["joint"]
    done = verify_content(content, PLACE)
    assert done.ok and any("how δ was divided" in line for line in done.not_checked)
    content["certificate"]["joint"]["samples"] = 20
    assert "samples are too few" in verify_content(content, PLACE).wrong


def test_what_was_learned_from_a_formula_by_samples_is_held_to_its_schedule():
    formula = parse_dimacs("p cnf 9 3\n-1 -2 3 0\n-4 5 0\n-6 -7 0\n")
    outcome = learn(formula, LearnSettings(equivalence="pac", epsilon=0.2, delta=0.1))
    content = as_saved(outcome.as_json())
    file = File(
        formula.vocabulary, tuple((c.antecedent, c.consequent) for c in formula.clauses), ()
    )
    assert verify_content(content, PLACE, file).ok
    content["certificate"]["joint"]["samples"] = 12
    assert "12 samples are too few" in verify_content(content, PLACE, file).wrong
