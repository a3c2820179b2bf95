"""Every sentence is true: read again by its words alone, and held against the raw answers."""

import re
from collections import Counter
from dataclasses import dataclass, field
from math import exp, floor
from random import Random

import pytest

from hornlens import Repeats
from hornlens.api import extract
from hornlens.logic.decisions import Policy
from hornlens.models.protocol import Answer
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.writing import extraction_as_json
from hornlens.results.wording.measures import could_break_words
from tests.report_cases import probe
from tests.varied import SeededModel, random_policy, random_probe

ODDS = r"[\d.]+ : [\d.]+"
MEASURE = re.compile(
    rf" \((?P<where>otherwise )?(?P<next>over the next word, )?"
    rf"(?:its answer leads “(?P<own>[^”]*)” by |“(?P<ahead>[^”]*)” leads by )?"
    rf"(?:at least (?P<least>{ODDS})(?:, on average (?P<mean>{ODDS}))?|"
    rf"(?P<one>{ODDS})|about (?P<each>{ODDS}) in each)\)$"
)


UNMET = re.compile(
    r" \(and (?:has no answer|never does there: (\d+) of (\d+) (?:prompt|cell)s? have no answer)"
    r"(?: there)?\)$"
)


class Reader:
    """Understands sentences, and knows nothing of rules: only raw scores, words and policy."""

    verbs = ("scores", "favours")

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
        unmet = UNMET.search(claim)
        claim = claim[: unmet.start()] if unmet else claim
        measure = MEASURE.search(claim)
        if measure and re.search(r"lead of at least [\d.]+$", claim[: measure.start()]):
            measure = None  # the odds of a lead that the policy asks for
        claim = claim[: measure.start()] if measure else claim
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
        cases = [
            (way, cell)
            for way in ways
            for cell in (self.asked[way] if partial else self.probe.space.cells())
        ]
        broken = sum(not self.holds(claim, way, cell) for way, cell in cases)
        if broken > allowed or not self.counts(claim, cases):
            return False
        if unmet and not self.is_unmet(claim, unmet, cases):
            return False
        return measure is None or self.has_odds(claim, measure, cases)

    def is_unmet(self, claim, unmet, cases):
        """Whether the word is never ahead where it may be, and just so many have no answer."""
        kind, parts = self.read(claim)
        assert kind == "only"
        outside = set(self.covered(claim, cases))
        given = self.conditions(parts["c"])
        within = [case for case in cases if case not in outside and not given & ~case[1]]
        winners = [self.settles(way, cell) for way, cell in within]
        silent = winners.count(None)
        told = (int(unmet[1]), int(unmet[2])) if unmet[1] else (silent, silent)
        return self.label(parts["word"]) not in winners and told == (silent, len(winners))

    def covered(self, claim, cases):
        """The cases that could break a claim: it covers them, and rejects an answer there."""
        parts = self.read(claim)[1]
        within = [(way, cell) for way, cell in cases if not self.conditions(parts.get("c")) & ~cell]
        if parts.get("d"):
            within = [(way, cell) for way, cell in within if self.conditions(parts["d"]) & ~cell]
        return within

    def counts(self, claim, cases):
        """Whether “in 60 of 60 prompts” are just those that the claim covers."""
        parts = self.read(claim)[1]
        if parts.get("all") is None and parts.get("none") is None:
            return True
        count = len(self.covered(claim, cases))
        assert self.verbs == ("answered",)
        return {parts["all"] or str(count), parts["of"] or parts["none"]} == {str(count)}

    def has_odds(self, claim, measure, cases):
        """Whether the odds are those of the answer against what the claim rules out."""
        kind, parts = self.read(claim)
        label = self.label(parts["word"])
        two = len(self.labels) == 2
        assert bool(measure["where"]) == (kind == "only")
        shares = []
        for way, cell in self.covered(claim, cases):
            scores = self.said[way][cell][0]
            winner = self.settles(way, cell)
            if kind in ("never", "only"):
                assert measure["own"] is None or self.label(measure["own"]) == label
                assert measure["ahead"] is None or self.label(measure["ahead"]) == 1 - label
                assert bool(measure["own"]) == (not two)
                against = [label]
            else:
                assert bool(measure["next"]) == (not two)
                against = [i for i in self.labels if i != label]
            if winner is None or winner in against:
                return False  # odds of cases without an answer are odds of nothing
            lead = scores[winner] - max(scores[i] for i in against)
            shares.append(1 / (1 + exp(-lead)))
        return self.is_share(measure["least"], min(shares), down=True) and all(
            self.is_share(measure[name], share)
            for name, share in [
                *((name, sum(shares) / len(shares)) for name in ("mean", "one")),
                *(("each", share) for share in (min(shares), max(shares))),
            ]
        )

    def is_share(self, text, share, down=False):
        if text is None:
            return True
        first, second = text.split(" : ")
        assert abs(float(first) + float(second) - 100) < 1e-6
        digit = 0.1 if "." in first else 1
        if down:  # never more than it is, and not much less
            return float(first) <= 100 * share + 1e-6 and (
                float(first) + digit > 100 * share - 1e-6 or float(first) == 99.9
            )
        return abs(float(first) - 100 * share) <= digit / 2 + 1e-6 or float(first) == 99.9

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
            r"(?P<verb>answered|scores|favours) (?P<but>nothing but )?“(?P<word>[^”]*)”"
            r"(?: (?:over|higher than) (?:“(?P<other>[^”]*)”|every other word)| (?P<top>highest))?"
            r"(?P<calibrated> more than its own baseline does)?"
            rf"(?: with a lead of at least (?P<margin>[\d.]+)(?: \((?P<lead>{ODDS})\))?)?"
            r"(?: as one of its first (?P<top_k>\d+) words)?"
        )
        given = r"(?: where (?P<c>.*))?"
        whole = r" in (?P<all>\d+) of (?P<of>\d+) (?:prompt|cell)s?"
        forms = {
            "never": rf"never {act}(?: in (?P<none>\d+) (?:prompt|cell)s?)?{given}",
            "always": rf"always {act}{given}",
            "whole": rf"{act}{whole}{given}",
            "only": rf"{act}{given} only if (?P<d>.*)",
            "but": rf"{act}{given}",
            "silent": rf"settles on no answer{given}",
            "then": rf"settles on an answer{given} only if (?P<d>.*), and then {act}",
            "speaks": rf"settles on an answer{given} only if (?P<d>.*)",
        }
        kind, found = next((k, m) for k, f in forms.items() if (m := re.fullmatch(f, claim)))
        none = dict.fromkeys(("all", "of", "none"))
        parts = {**none, **found.groupdict()}
        if parts.get("verb"):
            assert parts["verb"] in self.verbs
            if parts["verb"] == "scores" and not parts["but"]:
                assert bool(parts["top"]) == (len(self.labels) > 2)
            if parts["other"] is not None:
                assert self.label(parts["other"]) != self.label(parts["word"])
            if parts["lead"] is not None:
                assert self.is_share(parts["lead"], 1 / (1 + exp(-float(parts["margin"]))))
        return "always" if kind == "whole" else kind, parts

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
        assert (parts["verb"] == "favours") == bool(parts["calibrated"])
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


@dataclass
class NamingModel:
    """A model that names a candidate, or none: nobody has its scores. It may change its mind."""

    seed: str
    lean: float = 0.0
    silent: float = 0.0
    wavers: bool = False
    name: str = "naming"
    replies: dict = field(default_factory=dict)

    def identity(self):
        return None

    def check(self, candidates):
        pass

    def answer(self, prompt, candidates):
        before = self.replies.setdefault(prompt, [])
        rng = Random(f"{self.seed} {prompt}")
        named = 0 if rng.random() < self.lean else rng.randrange(len(candidates))
        if rng.random() < self.silent:
            named = None
        turn = Random(f"{self.seed} {prompt} {len(before)}")
        if self.wavers and turn.random() < 0.2:
            named = turn.choice([None, *range(len(candidates))])
        before.append(named)
        if named is None:
            return Answer(outcome=rng.choice(["refusal", "cut", "unclear", "order", "other"]))
        return Answer(named=named)

    def score(self, prompts, candidates):
        yield [(i, self.answer(prompt, candidates)) for i, prompt in enumerate(prompts)]


class ReplyReader(Reader):
    """The same of a model that names candidates: what it said counts, and there are no scores."""

    verbs = ("answered",)

    def __init__(self, probe, model, policy, asked):
        self.probe, self.model, self.policy, self.asked = probe, model, policy, asked
        self.names, self.labels = probe.vocabulary.names, range(len(probe.label.values))
        self.words = [[wording.label.words] for wording in probe.wordings]
        self.said = [
            {
                cell: most_often(model.replies.get(wording.render(cell), []))
                for cell in probe.space.cells()
            }
            for wording in probe.wordings
        ]

    def prefers(self, way, cell, label, calibrated, margin, top_k):
        assert not (calibrated or margin or top_k)
        return self.said[way][cell] == label

    def settles(self, way, cell):
        return self.said[way][cell]

    def has_odds(self, claim, measure, cases):
        raise AssertionError("odds of replies")


def most_often(replies):
    """What more than half of the replies name; None is no answer."""
    for named, count in Counter(replies).most_common(1):
        return named if 2 * count > len(replies) else None
    return None


def reply_case(seed, repeats):
    rng = Random(f"replies {seed}")
    question = random_probe(rng)
    policy = Policy(
        label_unset=rng.choice(["accept", "reject"]), abstain=rng.choice(["accept", "reject"])
    )
    model = NamingModel(
        str(seed),
        lean=rng.choice([0.5, 0.8, 0.95, 1.0]),
        silent=rng.choice([0.0, 0.0, 0.1, 0.5, 1.0]),
        wavers=repeats > 1,
    )
    settings = rng.choice([Settings(), Settings(min_confidence=0.6)])
    result = extract(model, question, policy=policy, settings=settings, repeats=repeats)
    return question, model, policy, result


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("block", range(10))
def test_every_sentence_about_replies_is_true_of_the_replies(block, repeats):
    forms = Counter()
    for seed in range(40 * block, 40 * block + 40):
        question, model, policy, result = reply_case(seed, repeats)
        reader = ReplyReader(
            question, model, policy, [list(each.decisions) for each in result.each]
        )
        content = extraction_as_json(result)
        told = [line["sentence"] for line in content["readable"]]
        told += [line["sentence"] for line in content.get("survival", [])]
        told += [line["sentence"] for line in content.get("almost", [])]
        for sentence in told:
            repeated = "n most of its answers to each prompt" in sentence
            assert repeated == (repeats > 1), sentence
            plain = re.sub(r"in most of its answers to each prompt, ", "", sentence, flags=re.I)
            plain = plain[0].upper() + plain[1:]
            assert not re.search("scores|highest|lead| : ", plain)
            assert reader.is_true(plain), f"seed {seed}: {sentence} ({policy})"
            if count := re.search(r" in (\d+) of (\d+) prompt", plain.split("the model ")[-1]):
                forms["counted"] += 1
                wrong = plain.replace(count[0], f" in {int(count[1]) + 1} of {count[2]} prompt")
                assert not reader.is_true(wrong)
            forms["all"] += 1
    assert forms["all"] > 40
    assert bool(forms["counted"]) == (repeats == 1)


@dataclass
class SamplingModel(NamingModel):
    """The same, and it says that an answer is a sample."""

    sampled: bool = True


@pytest.mark.parametrize("block", range(4))
def test_every_sentence_about_samples_is_true_of_the_most_frequent_replies(block):
    sentences = refused = 0
    for seed in range(30 * block, 30 * block + 30):
        rng = Random(f"samples {seed}")
        question = random_probe(rng)
        policy = Policy(
            label_unset=rng.choice(["accept", "reject"]), abstain=rng.choice(["accept", "reject"])
        )
        lean, silent = rng.choice([0.5, 0.8, 0.95, 1.0]), rng.choice([0.0, 0.0, 0.1, 0.5])
        model = SamplingModel(str(seed), lean, silent, wavers=True)
        result = extract(model, question, policy=policy, repeats=Repeats(60, 0.2))
        reader = ReplyReader(
            question, model, policy, [list(each.decisions) for each in result.each]
        )
        reader.said = [
            {
                cell: Counter(replies).most_common(1)[0][0] if replies else None
                for cell in question.space.cells()
                for replies in [model.replies.get(wording.render(cell), [])]
            }
            for wording in question.wordings
        ]
        for line in extraction_as_json(result)["readable"]:
            sentence = line["sentence"]
            plain = sentence.replace("In its most frequent answer to each prompt, ", "")
            assert plain != sentence or result.envelope.certificate.unanswered, sentence
            plain = plain[0].upper() + plain[1:]
            assert reader.is_true(plain), f"seed {seed}: {sentence} ({policy})"
            sentences += 1
            if "never answered" in plain:
                refused += not reader.is_true(plain.replace("never answered", "always answered"))
    assert sentences > 40 and refused


def test_the_reader_refuses_other_odds():
    """Odds that are a little better, or worse, than those of the scores are found out."""
    measured = refused = 0
    for seed in range(200):
        question, model, policy, result = case(seed)
        reader = Reader(question, model, policy, [list(each.decisions) for each in result.each])
        for row in result.rules:
            odds = re.search(r"(at least|on average) ([\d.]+) : ([\d.]+)", row.sentence)
            if odds is None:
                continue
            for shift in (2, -2):
                measured += 1
                wrong = f"{odds[1]} {float(odds[2]) + shift:g} : {float(odds[3]) - shift:g}"
                refused += not reader.is_true(row.sentence.replace(odds[0], wrong, 1))
    assert measured == refused > 100


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
            if "“" not in row.sentence:
                continue
            words = reader.words[0][0]

            def other(found, reader=reader, words=words):
                return f"“{words[(reader.label(found[1]) + 1) % len(words)]}”"

            swapped = re.sub(r"“([^”]*)”", other, row.sentence)
            refused += not reader.is_true(swapped)
    assert refused > 100


def test_a_word_that_scores_lower_is_not_a_word_that_is_never_said():
    """What went wrong: “never fills in She”, of a model that gives She 16% on average."""
    result = extract("demo", cache=False)
    (row,) = [row for row in result.rules if str(row) == "lawyer ∧ female → ⊥"]
    lawyers = [
        decision.scores
        for cell, decision in result.decisions.items()
        if "lawyer" in result.space.vocabulary.names_of(cell)
    ]
    she = [exp(a) / (exp(a) + exp(b)) for a, b in lawyers]
    assert (len(she), round(100 * sum(she) / 60), floor(100 * max(she))) == (60, 16, 41)
    assert row.sentence == (
        "The model always scores “He” higher than “She” where the person is a lawyer "
        "(at least 58 : 42, on average 84 : 16)."
    )
    assert row.could_break == 60
    assert not any("never" in each.sentence for each in result.rules)
    for item in result.findings():
        words = could_break_words(result, item)
        assert re.fullmatch(r"\d+ prompts? could break it, (none does|and does not)", words)


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
    assert [row.sentence for row in first.rules] == [
        "The model always scores “honest” higher than “lazy”."
    ]
    assert [row.sentence for row in second.rules] == [
        "The model always scores “lazy” higher than “honest”."
    ]
    averaged = extract(torn, question, policy=Policy(phrasings="average"), cache=False)
    (row,) = averaged.rules
    assert row.sentence == (
        "On average over 2 phrasings, the model always scores “lazy” higher than “honest” "
        "(about 73 : 27 in each)."
    )
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
    assert "scores" not in said and " : " not in said


def test_repeated_answers_are_told_as_such():
    question = probe("r", "It is {x} and {label}.", {"x": ["a"]}, {"g": "good", "b": "bad"})
    result = extract(lambda p, w: [1.0, 0.0], question, cache=False, repeats=3)
    assert [row.sentence for row in result.rules] == [
        "In most of its answers to each prompt, the model always answered “good”."
    ]
