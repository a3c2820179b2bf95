"""The scripts' pure functions, run in the browser, against the definitions in Python."""

import json
from importlib import resources
from random import Random

import pytest

import hornlens
from hornlens.api import extract
from hornlens.formats.latex import latex_rule
from hornlens.logic.attributes import Nominal
from hornlens.logic.bits import intersection
from hornlens.logic.decisions import Policy, lead
from hornlens.logic.named import NamedRule
from hornlens.report.page.view import view_of
from hornlens.results.documents.writing import extraction_as_json
from tests import brute
from tests import report_cases as cases
from tests.targets import random_space

LOGIC = (resources.files("hornlens.report.page") / "static" / "logic.js").read_text("utf-8")


@pytest.fixture(scope="module")
def tab(browser):
    context = browser.new_context()
    yield context.new_page()
    context.close()


def run(tab, result, body):
    """Run a function body that has `result` and the functions of logic.js."""
    return run_on(tab, extraction_as_json(result), view_of(result, True), body)


def run_on(tab, content, view, body):
    return tab.evaluate(
        "(texts) => {"
        + LOGIC
        + ";const result = readResult(...texts.map(JSON.parse));"
        + body
        + "}",
        [json.dumps(content), json.dumps(view)],
    )


def random_case(seed, templates=("{a} {b} {c} {label}.",)):
    rng = Random(seed)
    question = cases.probe(
        "random",
        templates,
        {a: [f"{a}{i}" for i in range(rng.randint(1, 3))] for a in "abc"},
        {f"l{i}": f"w{i}" for i in range(rng.choice([2, 2, 3]))},
    )
    lean = {name: rng.gauss(0, 1) for name in question.vocabulary.names}

    def model(prompt, words):
        noise = Random(f"{seed} {prompt}")
        base = sum(value for name, value in lean.items() if f"{name} " in prompt)
        return [round(base * (i + 1) + noise.gauss(0, 0.6), 1) for i in range(len(words))]

    policy = Policy(
        label_unset=rng.choice(["accept", "reject"]),
        abstain=rng.choice(["accept", "reject"]),
        margin=rng.choice([0.0, 0.3]),
    )
    return extract(model, question, policy=policy, cache=False)


def varied_case(seed):
    """Two or three ways of asking, of which each is decided by itself."""
    templates = ("{a} {b} {c} {label}.", "So {a} {b} {c} {label}.", "{c} {b} {a} is {label}.")
    return random_case(seed, templates[: 2 + seed % 2])


def mixed_case(seed):
    """A function of cells, over attributes of every kind; sometimes with scores, or no answer."""
    rng = Random(f"mixed {seed}")
    found = random_space(rng)
    while found.cell_count < 6 or all(isinstance(a, Nominal) for a in found.attributes):
        found = random_space(rng)
    labels = tuple(f"l{i}" for i in range(rng.choice([2, 2, 3])))
    space = hornlens.Space(found.attributes, Nominal("label", labels))
    lean = {name: rng.gauss(0, 1) for name in space.vocabulary.names}
    answers = rng.choice(["labels", "scores", "both"])

    def call(names):
        noise = Random(f"{seed} {names}")
        base = sum(lean[name] for name in names)
        scores = {name: base * (i + 1) + noise.gauss(0, 0.6) for i, name in enumerate(labels)}
        if noise.random() < 0.1:
            return None
        if answers == "scores" or (answers == "both" and noise.random() < 0.5):
            return scores
        return max(scores, key=scores.get)

    policy = Policy(
        label_unset=rng.choice(["accept", "reject"]), abstain=rng.choice(["accept", "reject"])
    )
    return extract(hornlens.FunctionTarget(call, space), policy=policy)


def mask_of(space, x):
    """The interpretation that the scripts have as places of choices, and of a label."""
    axes = zip(space.axes, [*x["choices"], x["label"] + 1], strict=True)
    return sum(axis[place] for axis, place in axes)


def positives(result):
    """The accepted interpretations, by the definition of the policy."""
    space, policy = result.space, result.policy
    accepted = set()
    for world in result.each:  # of several ways of asking, one is enough
        for x in space:
            label = space.label_of(x)
            winner = world.decisions[x & ~space.label_mask].winner
            if label is None:
                said = policy.label_unset == "accept"
            else:
                said = policy.abstain == "accept" if winner is None else winner == label
            if said:
                accepted.add(x)
    return accepted


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("make", [random_case, varied_case])
def test_non_horn_negatives_and_the_positives_whose_intersection_they_are(tab, make, seed):
    result = make(seed)
    mask = result.space.vocabulary.mask
    accepted = positives(result)
    found = run(
        tab,
        result,
        "return result.nonHorn.map((x) =>"
        " [namesOf(result, x), intersectionOf(result, x).map((p) => namesOf(result, p))]);",
    )
    assert {mask(x) for x, _ in found} == brute.close(accepted) - accepted
    assert len(found) == result.envelope.non_horn.count
    assert [len(x) for x, _ in found] == sorted(len(x) for x, _ in found)
    for x, parts in found:
        assert {mask(p) for p in parts} <= accepted
        assert intersection(mask(p) for p in parts) == mask(x)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("make", [random_case, varied_case])
def test_margins_are_those_of_the_evidence(tab, make, seed):
    result = make(seed)
    found = run(
        tab,
        result,
        "return result.rules.map(({breaking, forcing, others}) =>"
        " [forcing.map((e) => e.margin), others.length, breaking.length]);",
    )
    for (forcing, others, breaking), evidence in zip(found, result.evidence, strict=True):
        assert breaking == 0  # every rule of an exact result is obeyed
        assert forcing == pytest.approx(sorted(evidence.margins))
        assert len(forcing) == evidence.support and len(forcing) + others == evidence.prompts


@pytest.mark.parametrize("make", [cases.tested, cases.learned])
def test_answers_that_break_a_rule_are_told_from_the_others(tab, make):
    result = make()
    content = extraction_as_json(result)
    mask = result.space.vocabulary.mask
    found = run(
        tab,
        result,
        "return result.rules.map(({breaking, forcing, others}) => [breaking, forcing, others]"
        ".map((list) => list.map((e) => e.position)));",
    )
    broken = 0
    for rule, line, (breaking, forcing, others) in zip(
        result.envelope.readable, content["readable"], found, strict=True
    ):
        said = {i: content["answers"][i] for i in line["evidence"]}
        wrong = [
            i
            for i, answer in said.items()
            if answer["winner"] and not rule.satisfied_by(mask([*answer["set"], answer["winner"]]))
        ]
        assert sorted(breaking) == wrong
        leads = [said[i]["margin"] for i in breaking]
        assert leads == sorted(leads, reverse=True)
        assert len(forcing) == line["support"]
        assert sorted(breaking + forcing + others) == sorted(said)
        broken += len(wrong)
    assert found and bool(broken) == (make is cases.learned)  # only old files list such rules


def test_endless_scores_that_are_equal_are_a_tie(tab):
    body = "const no = -Infinity; return [leadOf([no, no], 0), leadOf([no, 1], 0) === no];"
    assert run(tab, cases.one_attribute(), body) == [0, True]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("make", [random_case, varied_case, mixed_case])
def test_what_the_rules_say_of_a_cell(tab, make, seed):
    result = make(seed)
    space, rules = result.space, list(result.envelope.readable)
    content = extraction_as_json(result)
    found = run(
        tab,
        result,
        "return result.answers.map((answer) => {const v = verdictOf(result, answer.choices);"
        " return [v.speaking.map((r) => r.index), v.rejecting.map((l) => l.map((r) => r.index)),"
        " v.allowed];});",
    )
    for answer, (speaking, rejecting, allowed) in zip(content["answers"], found, strict=True):
        cell = space.vocabulary.mask(answer["set"])
        assert speaking == [
            i for i, r in enumerate(rules) if r.antecedent & ~space.label_mask & ~cell == 0
        ]
        for label in range(len(space.label.variables)):
            x = space.with_label(cell, label)
            broken = [i for i, r in enumerate(rules) if not r.satisfied_by(x)]
            assert rejecting[label] == broken and (label in allowed) == (not broken)


@pytest.mark.parametrize("seed", range(25))
def test_non_horn_negatives_of_every_kind_of_attribute_are_intersections_of_positives(tab, seed):
    result = mixed_case(seed)
    space, accepted = result.space, positives(result)
    found = run(tab, result, "return result.nonHorn.map((x) => [x, intersectionOf(result, x)]);")
    assert {mask_of(space, x) for x, _ in found} == brute.close(accepted) - accepted
    assert len(found) == result.envelope.non_horn.count
    for x, parts in found:
        assert {mask_of(space, p) for p in parts} <= accepted
        assert intersection(mask_of(space, p) for p in parts) == mask_of(space, x)


@pytest.mark.parametrize("seed", range(12))
def test_what_choices_say_and_have_in_common(tab, seed):
    space = (result := mixed_case(seed)).space
    said, shared = run(
        tab,
        result,
        "const pairs = (f) => result.attributes.map((a, i) => [0, ...a.values].map((_, x) =>"
        " [0, ...a.values].map((_, y) => f(result, i, x, y))));"
        "return [pairs(says), pairs(common)];",
    )
    for place, axis in enumerate(space.axes[:-1]):
        assert said[place] == [[x & y == y for y in axis] for x in axis]
        assert shared[place] == [[axis.index(x & y) for y in axis] for x in axis]


@pytest.mark.parametrize("seed", range(8))
def test_the_map_has_the_mean_leads_and_how_much_of_a_cell_rules_speak_of(tab, seed):
    result = mixed_case(seed)
    space, rng = result.space, Random(seed)
    count = len(space.attributes)
    rows, *rest = rng.sample(range(count), count)
    columns = rest.pop() if rest and rng.random() < 0.7 else None
    fixed = [rng.choice([None, rng.randrange(len(axis))]) for axis in space.axes[:-1]]
    label = rng.randrange(len(space.label.variables))
    found = run(
        tab,
        result,
        f"const [rows, columns, fixed] = {json.dumps([rows, columns, fixed])};"
        f"const map = mapOf(result, rows, columns, fixed, {label});"
        "return map.cells.map((c) => [c.row, c.column, c.mean, c.positions.length, c.silent,"
        " result.rules"
        ".map((rule) => coverage(result, rule, rows, columns, fixed, c))]);",
    )
    held = [a for a in range(count) if a not in (rows, columns) and fixed[a] is not None]
    together = {}
    for cell, decision in result.decisions.items():
        parts = [cell & group for group in space.groups[:-1]]
        if all(parts[a] == space.axes[a][fixed[a]] for a in held):
            key = (parts[rows], 0 if columns is None else parts[columns])
            others = [s for i, s in enumerate(decision.scores) if i != label]
            led = lead(decision.scores[label], max(others)) if decision.scores else None
            together.setdefault(key, []).append(led)
    assert len(found) == len(together)
    known = sum(space.groups[a] for a in [*held, rows, *([] if columns is None else [columns])])
    for row, column, mean, positions, silent, covers in found:
        key = (space.axes[rows][row], 0 if columns is None else space.axes[columns][column])
        leads = [led for led in together[key] if led is not None]
        assert positions == len(leads) and positions + silent == len(together[key])
        assert mean == (pytest.approx(sum(leads) / len(leads)) if leads else None)
        here = sum(key) | sum(space.axes[a][fixed[a]] for a in held)
        for rule, cover in zip(result.envelope.readable, covers, strict=True):
            wanted = rule.antecedent & ~space.label_mask
            if wanted & known & ~here:
                assert cover == "none"
            else:
                assert cover == ("some" if wanted & ~known else "all")


@pytest.mark.parametrize("seed", range(6))
def test_the_map_of_one_way_of_asking_has_its_answers_only(tab, seed):
    result = varied_case(seed)
    for place, world in [(None, None), *enumerate(result.worlds)]:
        found = run(
            tab,
            result,
            f"const map = mapOf(result, 0, null, [null, null, null], 0, {json.dumps(place)});"
            "return map.cells.map((c) => [c.row, c.mean, c.positions.length]).sort();",
        )
        leads = {}
        for each in [world] if world else result.worlds:
            for cell, decision in each.decisions.items():
                row = result.space.axes[0].index(cell & result.space.groups[0])
                led = lead(decision.scores[0], max(decision.scores[1:]))
                leads.setdefault(row, []).append(led)
        expected = [[row, sum(x) / len(x), len(x)] for row, x in sorted(leads.items())]
        assert [[r, pytest.approx(m), n] for r, m, n in found] == expected


@pytest.mark.parametrize("seed", range(6))
def test_every_answer_stands_with_its_own_way_of_asking_and_its_words(tab, seed):
    result = varied_case(seed)
    found = run(
        tab,
        result,
        "return result.answers.map((a) => [result.worlds[a.world].name, a.variant, a.prompts,"
        " result.labels.map((_, i) => wordIn(result, a, i)),"
        " a.set, namesOf(result, {...a, label: -1})]);",
    )
    assert len(found) == sum(len(world.decisions) for world in result.worlds)
    named = {world.world: world for world in result.worlds}
    for name, variant, prompts, words, given, shown in found:
        world = named[name]
        assert name == variant and given == shown
        assert tuple(prompts) == world.show(result.space.vocabulary.mask(given))
        assert words == list(world.question.words.values())


def test_the_order_of_names_like_numbers_is_kept(tab):
    result = cases.three_labels()
    names, labels = run(
        tab,
        result,
        "return [result.attributes.map((a) => a.values), result.labels.map((l) => l.word)];",
    )
    assert names == [list(a.variables) for a in result.space.attributes]
    assert labels == [result.question.words[name] for name in result.space.label.variables]


def test_the_colour_scale_has_nine_steps_and_zero_in_the_middle(tab):
    values = [-9, -8, -6, -4, -2, -0.1, 0, 0.1, 2.1, 8]
    expected = [-4, -4, -3, -2, -1, 0, 0, 0, 2, 4]
    text = json.dumps(values)
    result = cases.one_attribute()
    assert run(tab, result, f"return {text}.map((v) => stepOf(v, 8));") == expected
    assert run(tab, result, "return [stepOf(null, 1), stepOf(NaN, 1), stepOf(-Infinity, 1)];") == [
        None,
        None,
        -4,
    ]
    assert run(tab, result, "return stepOf(0, 0);") == 0


def test_rules_as_latex_are_escaped():
    assert latex_rule(NamedRule(("a_b&c", "\\~^{}$%#"), None)) == (
        r"$\text{a\_b\&c} \land \text{\textbackslash{}\textasciitilde{}\textasciicircum{}"
        r"\{\}\$\%\#} \to \bot$"
    )
    assert latex_rule(NamedRule((), ("b",))) == r"$\top \to \text{b}$"


def test_the_map_of_a_vast_question_has_only_the_cells_that_were_asked(tab):
    values = {name: [f"{name}{i}" for i in range(3000)] for name in "xy"}
    content = {
        "variables": [*values["x"], *values["y"], "g", "b"],
        "probe": {"attributes": values, "label": {"g": "good", "b": "bad"}},
        "answers": [
            {"set": ["x7", "y2999"], "prompts": [""], "scores": [1.0, 0.0], "winner": "g"},
            {"set": [], "prompts": [""], "scores": [0.0, 2.0], "winner": "b"},
        ],
        "readable": [],
        "rules": [],
        "policy": {},
        "certificate": {"kind": "pac"},
        "non_horn": {"examples": []},
    }
    view = {
        "exact": False,
        "attributes": [{"name": n, "values": v, "spans": None} for n, v in values.items()],
        "labels": [{"name": "g", "word": "good"}, {"name": "b", "word": "bad"}],
        "answers": [
            {"choices": [8, 3000], "world": 0, "winner": 0, "accepted": [0]},
            {"choices": [0, 0], "world": 0, "winner": 1, "accepted": [1]},
        ],
        "rules": [],
        "non_horn": [],
        "worlds": [{"name": "", "words": ["good", "bad"], "templates": []}],
    }
    found = run_on(
        tab,
        content,
        view,
        "const map = mapOf(result, 0, 1, [null, null], 0);"
        "return [map.height, map.width, map.cells.map((c) => [c.row, c.column, c.mean]),"
        " map.at(8, 3000).mean, map.at(5, 5).mean];",
    )
    assert found == [3001, 3001, [[8, 3000, 1], [0, 0, -2]], 1, None]
