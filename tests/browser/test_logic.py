"""The scripts' pure functions, run in the browser, against the definitions in Python."""

import json
from importlib import resources
from random import Random

import pytest

from hornlens.api import extract
from hornlens.logic.bits import intersection
from hornlens.logic.decisions import Policy
from hornlens.results.documents import extraction_as_json
from tests import brute
from tests import report_cases as cases

LOGIC = (resources.files("hornlens.report.page") / "static" / "logic.js").read_text("utf-8")


@pytest.fixture(scope="module")
def tab(browser):
    context = browser.new_context()
    yield context.new_page()
    context.close()


def run(tab, content, body):
    """Run a function body that has `result` and the functions of logic.js."""
    return tab.evaluate(
        "([text, _]) => {" + LOGIC + ";const result = readResult(JSON.parse(text));" + body + "}",
        [json.dumps(content), 0],
    )


def random_case(seed):
    rng = Random(seed)
    question = cases.probe(
        "random",
        "{a} {b} {c} {label}.",
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


def positives(result):
    """The accepted interpretations, by the definition of the policy."""
    probe, policy = result.probe, result.policy
    accepted = set()
    for x in probe.space:
        label = probe.space.label_of(x)
        winner = result.decisions[x & ~probe.space.label_mask].winner
        if label is None:
            said = policy.label_unset == "accept"
        else:
            said = policy.abstain == "accept" if winner is None else winner == label
        if said:
            accepted.add(x)
    return accepted


@pytest.mark.parametrize("seed", range(25))
def test_non_horn_negatives_and_the_positives_whose_intersection_they_are(tab, seed):
    result = random_case(seed)
    mask = result.space.vocabulary.mask
    accepted = positives(result)
    found = run(
        tab,
        extraction_as_json(result),
        "return nonHornNegatives(result).map((x) =>"
        " [namesOf(result, x), intersectionOf(result, x).map((p) => namesOf(result, p))]);",
    )
    assert {mask(x) for x, _ in found} == brute.close(accepted) - accepted
    assert len(found) == result.envelope.non_horn.count
    assert [len(x) for x, _ in found] == sorted(len(x) for x, _ in found)
    for x, parts in found:
        assert {mask(p) for p in parts} <= accepted
        assert intersection(mask(p) for p in parts) == mask(x)


@pytest.mark.parametrize("seed", range(8))
def test_margins_are_those_of_the_evidence(tab, seed):
    result = random_case(seed)
    found = run(
        tab,
        extraction_as_json(result),
        "return result.rules.map((rule) => {"
        "const {breaking, forcing, others} = evidenceOf(result, rule);"
        " return [forcing.map((e) => e.margin), others.length, breaking.length];});",
    )
    for (forcing, others, breaking), evidence in zip(found, result.evidence, strict=True):
        assert breaking == 0  # every rule of an exact result is obeyed
        assert forcing == pytest.approx(sorted(evidence.margins))
        assert len(forcing) == evidence.support and len(forcing) + others == evidence.prompts


@pytest.mark.parametrize("make", [cases.pac, cases.budget])
def test_answers_that_break_a_rule_are_told_from_the_others(tab, make):
    result = make()
    content = extraction_as_json(result)
    mask = result.space.vocabulary.mask
    found = run(
        tab,
        content,
        "return result.rules.map((rule) => Object.values(evidenceOf(result, rule))"
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
    assert bool(broken) == (make is cases.budget)  # a PAC run ends at peace with what it knows


def test_endless_scores_that_are_equal_are_a_tie(tab):
    content = extraction_as_json(cases.one_attribute())
    body = "const no = -Infinity; return [leadOf([no, no], 0), leadOf([no, 1], 0) === no];"
    assert run(tab, content, body) == [0, True]


@pytest.mark.parametrize("seed", range(8))
def test_what_the_rules_say_of_a_cell(tab, seed):
    result = random_case(seed)
    probe, rules = result.probe, list(result.envelope.readable)
    content = extraction_as_json(result)
    found = run(
        tab,
        content,
        "return result.answers.map((answer) => {const v = verdictOf(result, answer.choices);"
        " return [v.speaking.map((r) => r.index), v.rejecting.map((l) => l.map((r) => r.index)),"
        " v.allowed];});",
    )
    for answer, (speaking, rejecting, allowed) in zip(content["answers"], found, strict=True):
        cell = probe.vocabulary.mask(answer["set"])
        assert speaking == [
            i for i, r in enumerate(rules) if r.antecedent & ~probe.space.label_mask & ~cell == 0
        ]
        for label in range(len(probe.label.values)):
            x = probe.space.with_label(cell, label)
            broken = [i for i, r in enumerate(rules) if not r.satisfied_by(x)]
            assert rejecting[label] == broken and (label in allowed) == (not broken)


def test_the_order_of_names_like_numbers_is_kept(tab):
    result = cases.three_labels()
    content = extraction_as_json(result)
    names, labels = run(
        tab,
        content,
        "return [result.attributes.map((a) => a.values), result.labels.map((l) => l.word)];",
    )
    assert names == [[v.name for v in a.values] for a in result.probe.attributes]
    assert labels == list(result.probe.label.words)


def test_the_colour_scale_has_nine_steps_and_zero_in_the_middle(tab):
    values = [-9, -8, -6, -4, -2, -0.1, 0, 0.1, 2.1, 8]
    expected = [-4, -4, -3, -2, -1, 0, 0, 0, 2, 4]
    text = json.dumps(values)
    content = extraction_as_json(cases.one_attribute())
    assert run(tab, content, f"return {text}.map((v) => stepOf(v, 8));") == expected
    assert run(tab, content, "return [stepOf(null, 1), stepOf(NaN, 1), stepOf(-Infinity, 1)];") == [
        None,
        None,
        -4,
    ]
    assert run(tab, content, "return stepOf(0, 0);") == 0


def test_rules_as_latex_are_escaped(tab):
    content = extraction_as_json(cases.one_attribute())
    body = 'return ruleLatex({if: ["a_b&c", "\\\\~^{}$%#"], then: null});'
    assert run(tab, content, body) == (
        r"$\text{a\_b\&c} \land \text{\textbackslash{}\textasciitilde{}\textasciicircum{}"
        r"\{\}\$\%\#} \to \bot$"
    )
    assert run(tab, content, "return ruleLatex({if: [], then: ['b']});") == r"$\top \to \text{b}$"


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
    found = run(
        tab,
        content,
        "const map = mapOf(result, 0, 1, [null, null], 0);"
        "return [map.height, map.width, map.cells.map((c) => [c.row, c.column, c.mean]),"
        " map.at(8, 3000).mean, map.at(5, 5).mean];",
    )
    assert found == [3001, 3001, [[8, 3000, 1], [0, 0, -2]], 1, None]
