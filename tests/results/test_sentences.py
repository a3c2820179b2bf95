"""Every sentence is true: read again by its words alone, and held against the raw answers."""

import re
from random import Random

import pytest

from hornlens.api import extract
from hornlens.logic.decisions import Policy
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.writing import extraction_as_json
from tests.report_cases import probe
from tests.varied import SeededModel, random_policy, random_probe


class Reader:
    """Understands sentences, and knows nothing of rules: only raw scores, words and policy."""

    def __init__(self, probe, model, policy, asked):
        self.probe, self.model, self.policy = probe, model, policy
        self.asked = asked  # for each way of asking, the cells
        self.names = probe.vocabulary.names
        self.raw = [
            {
                cell: model.answer(wording.render(cell), wording.label.words)
                for cell in probe.space.cells()
            }
            for wording in probe.wordings
        ]
        self.labels = range(len(probe.label.values))
        if policy.phrasings == "average" and len(probe.variants) > 1:
            together = {}
            for cell in probe.space.cells():
                answers = [said[cell] for said in self.raw]
                mean = [sum(a.scores[i] for a in answers) / len(answers) for i in self.labels]
                together[cell] = (mean, [max(a.ranks[i] for a in answers) for i in self.labels])
            self.said = [together]
            self.words = [[w.label.words for w in probe.wordings]]
        else:
            self.said = [{c: (list(a.scores), a.ranks) for c, a in s.items()} for s in self.raw]
            self.words = [[w.label.words] for w in probe.wordings]

    def baseline(self, way):
        said = self.said[way]
        if self.policy.calibration == "neutral":
            return said[0][0]
        return [sum(scores[i] for scores, _ in said.values()) / len(said) for i in self.labels]

    def prefers(self, way, cell, label, calibrated, margin, top_k):
        """Whether a word is ahead of all others: by so much, and among so many first ones."""
        scores, ranks = self.said[way][cell]
        if calibrated:
            base = self.baseline(way)
            scores = [s - b for s, b in zip(scores, base, strict=True)]
        lead = min(scores[label] - scores[o] for o in self.labels if o != label)
        return lead > 0 and lead >= margin and (top_k is None or ranks[label] < top_k)

    def settles(self, way, cell):
        p = self.policy
        found = [
            i
            for i in self.labels
            if self.prefers(way, cell, i, p.calibration != "none", p.margin, p.top_k)
        ]
        return found[0] if found else None

    def label(self, word):
        """The place of a word, however many ways there are of saying it."""
        for way in self.words:
            for words in way:
                for i, each in enumerate(words):
                    if each in word.split(" / "):
                        return i
        raise AssertionError(f"no word {word!r}")

    def conditions(self, text):
        """The values that clauses set."""
        found = 0
        for clause in text.split(" and ") if text else []:
            value = re.fullmatch(r"it has (\S+)|(\S+) is (\S+)", clause)
            name = value[1] or value[3]
            found |= 1 << self.names.index(name)
        return found

    def is_true(self, sentence):
        assert sentence.endswith(".")
        text = sentence[0].lower() + sentence[1:-1]
        scope, claim = re.fullmatch(r"(.*?)the (?:model|target) (.*)", text).groups()
        ways, allowed = list(range(len(self.said))), 0
        partial = "as far as it was asked" in scope
        if partial and (but := re.search(r"but for at most (\d+) of (\d+) (prompt|cell)s", scope)):
            allowed = int(but[1])
        averaged = re.search(r"on average over (\d+) phrasings", scope)
        assert bool(averaged) == (len(self.words[0]) > 1)
        if every := re.search(r"in every one of (\d+) phrasings", scope):
            assert int(every[1]) == len(self.said) > 1
        elif some := re.search(r"in (\d+) of (\d+) phrasings \(([^)]*)\)", scope):
            names = [variant.name for variant in self.probe.variants]
            ways = [names.index(name) for name in some[3].split(", ")]
            assert len(ways) == int(some[1]) < int(some[2]) == len(names)
        else:
            assert len(self.said) == 1
        almost = re.search(
            r"but for (at most )?(\d+) of (\d+) (prompt|cell)s?( that could break it)?", scope
        )
        if almost and not partial:
            return self.is_almost_true(claim, ways, almost)
        broken = 0
        for way in ways:
            cells = self.asked[way] if partial else list(self.probe.space.cells())
            broken += sum(not self.holds(claim, way, cell) for cell in cells)
        return broken <= allowed

    def is_almost_true(self, claim, ways, said):
        """Whether just so many of just so many cells break it, in one way or another."""
        assert said[4] == ("prompt" if len(self.said) == 1 == len(self.words[0]) else "cell")
        parts = self.read(claim)[1]
        spoken = []
        for cell in self.probe.space.cells():
            within = "d" in parts and self.conditions(parts["d"]) & ~cell == 0
            if self.conditions(parts.get("c")) & ~cell == 0 and not (said[5] and within):
                spoken.append(cell)
        broken = [c for c in spoken if any(not self.holds(claim, way, c) for way in ways)]
        everywhere = [
            c
            for c in self.probe.space.cells()
            if any(not self.holds(claim, way, c) for way in ways)
        ]
        exact = len(broken) <= int(said[2]) if said[1] else len(broken) == int(said[2])
        return broken == everywhere and exact and len(spoken) == int(said[3])

    def read(self, claim):
        act = (
            r"(?P<verb>fills in|prefers|says|favours) (?P<but>nothing but )?“(?P<word>[^”]*)”"
            r"(?: over (?:“(?P<other>[^”]*)”|every other word))?"
            r"(?P<calibrated> more than its own baseline does)?"
            r"(?: with a lead of at least (?P<margin>[\d.]+))?"
            r"(?: as one of its first (?P<top_k>\d+) words)?"
        )
        forms = {
            "never": rf"never {act}(?: where (?P<c>.*))?",
            "always": rf"always {act}(?: where (?P<c>.*))?",
            "only": rf"{act}(?: where (?P<c>.*))? only if (?P<d>.*)",
            "but": rf"{act}(?: where (?P<c>.*))?",
            "silent": r"settles on no answer(?: where (?P<c>.*))?",
            "then": rf"settles on an answer(?: where (?P<c>.*))? only if (?P<d>.*), and then {act}",
            "speaks": r"settles on an answer(?: where (?P<c>.*))? only if (?P<d>.*)",
        }
        kind, found = next((k, m) for k, f in forms.items() if (m := re.fullmatch(f, claim)))
        return kind, found.groupdict()

    def holds(self, claim, way, cell):
        kind, parts = self.read(claim)
        if self.conditions(parts.get("c")) & ~cell:
            return True
        if "d" in parts:
            within = self.conditions(parts["d"]) & ~cell == 0
        if kind == "silent":
            return self.settles(way, cell) is None
        if kind == "speaks":
            return within or self.settles(way, cell) is None
        margin, top_k = float(parts["margin"] or 0), parts["top_k"] and int(parts["top_k"])
        assert bool(parts["calibrated"]) == (self.policy.calibration != "none")
        label = self.label(parts["word"])
        done = [self.prefers(way, cell, i, parts["calibrated"], margin, top_k) for i in self.labels]
        others = any(yes for i, yes in enumerate(done) if i != label)
        match kind:
            case "never":
                return not done[label]
            case "always":
                return done[label]
            case "only":
                return within or not done[label]
            case "but":
                assert parts["but"]
                return not others
            case "then":
                return self.settles(way, cell) is None or (within and not others)


def case(seed):
    rng = Random(seed)
    question, policy = random_probe(rng), random_policy(rng)
    model = SeededModel(str(seed), lean=rng.choice([0.0, 0.5, 0.8, 0.95, 1.0]))
    settings = Settings()
    if policy.calibration != "mean":
        settings = rng.choice(
            [
                settings,
                settings,
                Settings("budget", max_equivalence_queries=rng.randint(0, 3), seed=seed),
                Settings("pac", epsilon=0.4, delta=0.4, seed=seed),
            ]
        )
    return question, model, policy, extract(model, question, policy=policy, settings=settings)


@pytest.mark.parametrize("block", range(20))
def test_every_sentence_is_true_of_the_raw_answers(block):
    for seed in range(60 * block, 60 * block + 60):
        question, model, policy, result = case(seed)
        reader = Reader(question, model, policy, [list(each.decisions) for each in result.each])
        content = extraction_as_json(result)
        told = [line["sentence"] for line in content["readable"]]
        told += [line["sentence"] for line in content.get("survival", [])]
        assert told or not len(result.envelope.basis)
        for sentence in told:
            assert reader.is_true(sentence), f"seed {seed}: {sentence} ({policy})"


@pytest.mark.parametrize("block", range(10))
def test_every_almost_rule_and_every_level_is_told_as_it_is(block):
    told = 0
    for seed in range(60 * block, 60 * block + 60):
        rng = Random(f"almost {seed}")
        question, policy = random_probe(rng), random_policy(rng)
        model = SeededModel(str(seed), lean=rng.choice([0.5, 0.8, 0.9, 0.95]))
        settings = Settings(min_confidence=rng.choice([0.6, 0.75, 0.9]))
        result = extract(model, question, policy=policy, settings=settings)
        reader = Reader(question, model, policy, [list(each.decisions) for each in result.each])
        content = extraction_as_json(result)
        levels = content.get("levels", {}).get("steps", ())  # none where nothing was answered
        for line in (*content.get("almost", ()), *levels):
            sentence = line["sentence"]
            assert reader.is_true(sentence), f"seed {seed}: {sentence} ({policy})"
            if " but for " in sentence.lower().replace("but for", " but for ", 1):
                told += 1
                # One more or one less would be a lie, and the reader finds it out.
                found = re.search(r"ut for (\d+) of (\d+)", sentence)
                if found:
                    for lie in (int(found[1]) + 1, int(found[1]) - 1):
                        wrong = sentence.replace(found[0], f"ut for {lie} of {found[2]}", 1)
                        assert not reader.is_true(wrong), wrong
        for line in content.get("almost", ()):
            assert line["broken"] and "ut for " in line["sentence"]
            shown = {tuple(content["answers"][place]["set"]) for place in line["answers"]}
            assert len(shown) == line["broken"] and len(line["exceptions"]) >= line["broken"]
    assert told > 20


def test_the_reader_refuses_what_is_false():
    """Or else it would prove nothing: swapped words and dropped provisos are found out."""
    refused = 0
    for seed in range(300):
        question, model, policy, result = case(seed)
        reader = Reader(question, model, policy, [list(each.decisions) for each in result.each])
        for row in result.rules:
            first = re.search(r"“([^”]*)”", row.sentence)
            if first is None:
                continue
            other = reader.words[0][0][1 - reader.label(first[1])]
            swapped = row.sentence.replace(first[0], f"“{other}”", 1)
            refused += not reader.is_true(swapped)
    assert refused > 100


def test_a_word_said_in_one_phrasing_is_not_one_that_is_never_said():
    """What went wrong: honest in one template, lazy in the other, and "never honest" of both."""
    question = probe(
        "two",
        ("They are {age} and {label}.", "A person who is {age} is {label}."),
        {"age": ["old", "young"]},
        {"honest": "honest", "lazy": "lazy"},
    )

    def torn(prompt, words):
        return [0.0, -1.0] if prompt.startswith("They") else [-3.0, 0.0]

    result = extract(torn, question, cache=False)
    assert [row.sentence for row in result.rules] == []
    first, second = result.worlds
    assert [row.sentence for row in first.rules] == ["The model never fills in “lazy”."]
    assert [row.sentence for row in second.rules] == ["The model never fills in “honest”."]
    averaged = extract(torn, question, policy=Policy(phrasings="average"), cache=False)
    (row,) = averaged.rules
    assert row.sentence == "On average over 2 phrasings, the model never prefers “honest”."
    assert averaged.question.unit == "cell"


@pytest.mark.parametrize("calibration", ["neutral", "mean"])
def test_calibrated_results_speak_of_the_baseline(calibration):
    question = probe(
        "honesty",
        "They are {age} and {label}.",
        {"age": ["old"]},
        {"h": "honest", "d": "dishonest"},
    )

    def model(prompt, words):
        return [0.0, 1.0] if "old" in prompt else [0.0, 3.0]

    policy = Policy(calibration=calibration)
    result = extract(model, question, policy=policy, cache=False)
    said = " ".join(row.sentence for row in result.rules)
    assert "never favours “dishonest” over “honest” more than its own baseline does" in said
    assert "fills in" not in said


def test_repeated_answers_are_told_as_such():
    question = probe("r", "It is {x} and {label}.", {"x": ["a"]}, {"g": "good", "b": "bad"})
    result = extract(lambda p, w: [1.0, 0.0], question, cache=False, repeats=3)
    assert [row.sentence for row in result.rules] == [
        "In most of its answers to each prompt, the model never fills in “bad”."
    ]
