"""Warnings about a result: each sentence is read again, and held against the raw answers."""

import json
import re
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

import hornlens
from hornlens.logic.decisions import Policy
from hornlens.models.protocol import MASK, Answer
from hornlens.probes.loading import load_probe
from hornlens.results.analysis.choices import choices_of
from hornlens.results.analysis.warnings import warnings_of
from hornlens.results.documents.writing import extraction_as_json
from tests.command import hornlens as run_command

NATIONS = {
    "hornlens": 1,
    "name": "nations",
    "templates": ["{label} is a {nation} {work}."],
    "attributes": [
        {"name": "nation", "unset": "known", "values": ["German", "Nigerian"]},
        {"name": "work", "unset": "man", "values": ["nurse", "priest", "footballer", "singer"]},
    ],
    "label": {
        "name": "gender",
        "values": [{"name": "f", "word": "She"}, {"name": "m", "word": "He"}],
    },
}


def written(folder, content):
    path = folder / "probe.yaml"
    path.write_text(json.dumps(content))
    return path


def test_words_that_the_built_in_model_does_not_know_are_warned_about_everywhere(tmp_path):
    probe, out = written(tmp_path, NATIONS), tmp_path / "out"
    kept = ("--out", out, "--cache", tmp_path / "c.sqlite")
    shown = run_command("extract", probe, "--model", "demo", *kept)
    assert shown.returncode == 0, shown.stderr
    content = json.loads((out / "envelope.json").read_text())
    found = {warning["kind"]: warning for warning in content["warnings"]}
    assert found["unknown_words"]["names"] == ["German", "Nigerian"]
    assert found["unknown_words"]["sentence"].startswith(
        "The model does not know “German” and “Nigerian”, and reads each of them as an unknown "
        "word (10 of 15 prompts)"
    )
    assert found["same_values"]["names"] == ["German", "Nigerian"]
    places = [content["answers"][i] for i in found["same_values"]["answers"]]
    assert len(places) == 10
    assert all({"German", "Nigerian"} & set(answer["set"]) for answer in places)
    page = (out / "report.html").read_text()
    before_the_rules = page[: page.index('id="findings"')]
    for warning in content["warnings"]:
        assert f"Warning: {warning['sentence']}\n" in shown.stdout
        assert shown.stdout.index(warning["sentence"]) < shown.stdout.index("•")
        assert warning["sentence"] in before_the_rules


def test_json_on_standard_output_is_not_mixed_with_warnings(tmp_path):
    probe = written(tmp_path, NATIONS)
    kept = ("--out", tmp_path / "out", "--no-cache", "--quiet")
    shown = run_command("extract", probe, "--format", "json", *kept)
    sentences = [warning["sentence"] for warning in json.loads(shown.stdout)["warnings"]]
    assert shown.stderr == "".join(f"hornlens: warning: {said}\n" for said in sentences)


def test_first_words_and_what_follows_from_them_are_written_and_read_back(tmp_path):
    result = hornlens.extract("demo", written(tmp_path, NATIONS), cache=False)
    result.save(tmp_path / "out")
    content = json.loads((tmp_path / "out" / "envelope.json").read_text())
    for answer in content["answers"]:
        words = dict(answer["first_words"])
        assert len(answer["first_words"]) == 5 and {"She", "He"} <= set(words)
        assert answer["share"] == pytest.approx(words["She"] + words["He"])
    assert all(0.9 < line["share"] <= 1 for line in content["readable"])
    again = hornlens.load(tmp_path / "out")
    assert again.details == result.details and len(again.details) == 15
    assert again.warnings == result.warnings
    assert extraction_as_json(again) == content


def test_a_run_from_the_cache_warns_of_the_same(tmp_path):
    probe, cache = written(tmp_path, NATIONS), tmp_path / "c.sqlite"
    asked, known = (hornlens.extract("demo", probe, cache=cache) for _ in range(2))
    assert known.record.asked == 0 and known.details == asked.details
    assert known.warnings == asked.warnings != ()


# --- random models, whose answers are all known ---

SCORES = (-0.1, -0.12, -0.2, -1.5, -3.0)


class Made:
    """A model whose answers are drawn from a seed; it does not know some words."""

    name = "made"

    def __init__(self, seed: int, unknown: tuple[str, ...], shares: bool, constant: float):
        self.seed, self.unknown, self.shares = seed, unknown, shares
        self.constant = constant

    def identity(self):
        return None

    def check(self, candidates):
        pass

    def answer(self, prompt, candidates):
        unknown = tuple(word for word in self.unknown if word in prompt.split())
        read = " ".join("?" if word in self.unknown else word for word in prompt.split())
        rng = Random(f"{self.seed} {read}")
        if Random(self.seed).random() < self.constant:
            scores = (-0.1, *(-2.0 for _ in candidates[1:]))
        else:
            scores = tuple(rng.choice(SCORES) for _ in candidates)
        share = rng.choice([None, 0.0004, 0.05, 0.099, 0.1, 0.8]) if self.shares else None
        first = ((rng.choice(["the", "a"]), 0.9), ("it", 0.01)) if rng.random() < 0.5 else ()
        return Answer(scores, None, first if self.shares else (), share, unknown)

    def score(self, prompts, candidates):
        yield [(i, self.answer(prompt, candidates)) for i, prompt in enumerate(prompts)]


def made(seed: int, folder):
    """A random probe, model and policy: the result, and all that was asked of whom."""
    rng = Random(seed)
    attributes = [
        {
            "name": f"a{a}",
            "unset": f"a{a}none",
            "values": [f"a{a}v{v}" for v in range(rng.randint(1, 3))],
        }
        for a in range(rng.randint(1, 3))
    ]
    slots = " ".join(f"{{{each['name']}}}" for each in attributes)
    content = {
        "hornlens": 1,
        "name": "random",
        "templates": [f"{{label}} is {slots} .", f"So {{label}} was {slots} ."][
            : rng.randint(1, 2)
        ],
        "attributes": attributes,
        "label": {
            "name": "l",
            "values": [{"name": f"l{i}", "word": f"w{i}"} for i in range(rng.randint(2, 3))],
        },
    }
    values = [value for each in attributes for value in (*each["values"], each["unset"])]
    unknown = tuple(value for value in values if rng.random() < 0.3)
    model = Made(seed, unknown, rng.random() < 0.5, constant=0.25)
    policy = Policy(
        label_unset=rng.choice(["accept", "reject"]),
        abstain=rng.choice(["accept", "reject"]),
        margin=rng.choice([0.0, 0.03, 0.15]),
        phrasings=rng.choice(["each", "average"]),
    )
    probe = load_probe(written(folder, content))
    return hornlens.extract(model, probe, policy=policy, cache=False), model


def number(text: str) -> int:
    return int(text.replace(",", ""))


@pytest.mark.parametrize("seed", range(150))
def test_each_warning_is_there_just_when_the_raw_answers_say_so(seed, tmp_path):
    whole, model = made(seed, tmp_path)
    for result in whole.each:
        hold_against_answers(seed, result, model)
    if not whole.worlds:
        return
    own = [w for each in whole.each for w in warnings_of(each)]
    told = {w.sentence.split(": ", 1)[-1] for w in warnings_of(whole) if w.variant}
    assert told == {w.sentence for w in own if w.kind != "small_margins"}
    close = [w for w in warnings_of(whole) if w.kind == "small_margins"]
    each = [w for w in own if w.kind == "small_margins"]
    assert len(close) == bool(each)
    for warning in close:
        first = re.match(r"([\d,]+) of ([\d,]+) answers", warning.sentence)
        decided = sum(d.winner is not None for w in whole.each for d in w.decisions.values())
        assert number(first[1]) == sum(len(w.cells) for w in each) and number(first[2]) == decided


def hold_against_answers(seed, result, model):
    """Count again in the raw answers what the warnings of one way of asking say."""
    space, words = result.space, list(result.question.words.values())
    answers = {
        cell: [model.answer(prompt, words) for prompt in result.show(cell)]
        for cell in result.decisions
    }
    prompts = {prompt: model.answer(prompt, words) for c in answers for prompt in result.show(c)}
    found = {}
    for warning in warnings_of(result):
        found.setdefault(warning.kind, []).append(warning)
    told = [f"seed {seed}", *(w.sentence for w in warnings_of(result))]

    unknown = [prompt for prompt, answer in prompts.items() if answer.unknown]
    assert ("unknown_words" in found) == bool(unknown), told
    for warning in found.get("unknown_words", []):
        counts = re.search(r"\(([\d,]+) of ([\d,]+) prompts\)", warning.sentence)
        assert [number(n) for n in counts.groups()] == [len(unknown), len(prompts)], told
        assert set(warning.names) == {w for p in unknown for w in prompts[p].unknown}, told
        assert warning.cells == tuple(
            sorted(c for c, each in answers.items() if any(a.unknown for a in each))
        ), told

    low = [p for p, answer in prompts.items() if answer.share is not None and answer.share < 0.1]
    assert ("small_share" in found) == bool(low), told
    for warning in found.get("small_share", []):
        counts = re.match(r"In ([\d,]+) of ([\d,]+) prompts", warning.sentence)
        known = sum(answer.share is not None for answer in prompts.values())
        assert [number(n) for n in counts.groups()] == [len(low), known], told
        first = re.search(r"first word is “(\w+)” in (\d+) of them", warning.sentence)
        firsts = [prompts[p].first[0][0] for p in low if prompts[p].first]
        assert bool(first) == bool(firsts), told
        if first:
            assert firsts.count(first[1]) == int(first[2]) >= len(firsts) / 2, told

    means = {c: [sum(s) / len(each) for s in zip(*(a.scores for a in each), strict=True)]
             for c, each in answers.items()}  # fmt: skip
    leads = {c: sorted(m)[-1] - sorted(m)[-2] for c, m in means.items()}
    decided = [c for c in means if leads[c] > 0 and leads[c] >= result.policy.margin]
    close = sorted(c for c in decided if leads[c] < 0.05)
    assert ("small_margins" in found) == bool(close), told
    for warning in found.get("small_margins", []):
        counts = re.match(r"([\d,]+) of ([\d,]+) answers", warning.sentence)
        assert [number(n) for n in counts.groups()] == [len(close), len(decided)], told
        assert list(warning.cells) == close, told

    chosen = [means[c].index(max(means[c])) if c in decided else None for c in means]
    never = [w for i, w in enumerate(words) if i not in chosen]
    always = len(set(chosen)) == 1 and chosen[0] is not None
    assert ("label_always" in found) == always, told
    answered = any(place is not None for place in chosen)
    assert ("label_never" in found) == (bool(never) and not always and answered), told
    assert ("no_answers" in found) == (None in chosen), told
    for warning in found.get("no_answers", []):
        assert f"o answer in {chosen.count(None)} of {len(chosen)} " in warning.sentence, told
    for warning in found.get("label_always", []):
        word, count = re.match(
            r"“(\w+)” is the answer in all ([\d,]+) cases", warning.sentence
        ).groups()
        assert (words.index(word), number(count)) == (chosen[0], len(means)), told
    for warning in found.get("label_never", []):
        assert [result.question.words[name] for name in warning.names] == never, told
        assert re.findall(r"“(\w+)”", warning.sentence) == never, told

    said = {frozenset(warning.names) for warning in found.get("same_values", [])}
    for attribute, at, group in zip(space.attributes, space.offsets, space.groups, strict=False):
        choices = {c << at: attribute.describe(c) if c else "unset" for c in attribute.choices}
        for left, right in combinations(choices, 2):
            same = all(means[c] == means[c & ~group | right] for c in means if c & group == left)
            pair = {choices[left], choices[right]}
            own = {names for names in said if names - {"unset"} <= set(attribute.variables)}
            assert same == any(pair <= names for names in own), (told, pair)


@pytest.mark.parametrize("seed", range(150))
def test_a_rule_is_vacuous_just_when_all_it_rejects_has_a_label_that_is_never_chosen(
    seed, tmp_path
):
    result, _ = made(seed, tmp_path)
    space = result.space
    said = (decision for each in result.each for decision in each.decisions.values())
    choices = choices_of(space, said)
    for place, (rule, vacuous) in enumerate(
        zip(result.envelope.readable, result.vacuous, strict=True)
    ):
        could = result.could_break(result.evidence[place])
        assert {e.cell for e in could} == {
            x & ~space.label_mask
            for x in space
            if not rule.satisfied_by(x) and (x & ~space.label_mask) in result.each[0].decisions
        }
        silent = all(e.decision.winner is None for e in could)
        rejected = [space.label_of(x) for x in space if not rule.satisfied_by(x)]
        wanted = all(
            choices.always is not None if label is None else label in choices.never
            for label in rejected
        )
        assert vacuous == (wanted or silent), (seed, space.show(rule))
        assert result.vacuity[place] == ("label" if wanted else "silence" if silent else None)
    found = [item.rule for item in result.findings()]
    assert len(found) + sum(result.vacuous) == len(result.rules)
    assert [row.vacuous for row in result.rules] == [result.vacuous[i] for i in result.order]
    content = extraction_as_json(result)
    assert [line.get("vacuous", False) for line in content["readable"]] == list(result.vacuous)


def test_a_label_that_is_always_chosen_leaves_no_findings(tmp_path):
    result = hornlens.extract(lambda prompt, words: [-0.1, -2.0], cache=False)
    (always,) = [w for w in result.warnings if w.kind == "label_always"]
    assert (
        always.sentence
        == "“She” is the answer in all 660 cases. 1 rule holds only because of that."
    )
    assert str(result.rules) and result.findings() == []
    result.save(tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "obeys no Horn rule" not in page and '<ol class="findings">' not in page
    assert page.count("holds vacuously") == 1
    assert "yes" in (tmp_path / "rules.csv").read_text().splitlines()[1].split(",")


def test_of_several_ways_of_asking_each_warning_says_which():
    one, other = (hornlens.extract(answer, cache=False) for answer in (
        lambda prompt, words: [-0.1 - len(prompt) / 1000, -2.0],
        lambda prompt, words: [-2.0 - len(prompt) / 1000, -0.1],
    ))  # fmt: skip
    both = replace(one, worlds=(replace(one, world="plain"), replace(other, world="said")))
    labels = {w.variant: w.sentence for w in warnings_of(both) if w.kind == "label_always"}
    assert labels == {
        "plain": "In “plain”: “She” is the answer in all 660 cases. "
        "1 rule holds only because of that.",
        "said": "In “said”: “He” is the answer in all 660 cases. "
        "1 rule holds only because of that.",
    }
    assert not any(both.vacuous)  # each label is chosen somewhere


def test_a_model_that_says_scores_only_has_no_details(tmp_path):
    result = hornlens.extract(lambda prompt, words: [-0.1, -2.0], cache=False)
    assert result.details == {} and result.rules[0].share is None
    content = extraction_as_json(result)
    assert not any({"first_words", "share", "unknown"} & set(line) for line in content["answers"])
    assert MASK in content["answers"][0]["prompts"][0]
