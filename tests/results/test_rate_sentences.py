"""Sentences about rates and their intervals, read back and held against the raw answers.

The reader has counts, pairs and formulas of its own: it shares no code with what it reads.
"""

import re
from fractions import Fraction
from itertools import product
from math import comb, inf, sqrt
from random import Random
from statistics import NormalDist

import pytest

from hornlens import FunctionTarget, Nominal, Space, extract
from hornlens.results.wording.disparities import difference_in_words, rate_in_words

SENTENCE = re.compile(
    r"“(?P<label>\w+)” in (?P<high>[<>]?\d+%) for (?P<first>\w+), (?P<low>[<>]?\d+%) for "
    r"(?P<second>\w+): a difference of (?P<points>\d+) points \(95%: (?P<from>−?\d+) to "
    r"(?P<to>−?\d+)\)(?:, a ratio of (?P<ratio>\d\.\d\d) \(95%: (?P<least>\d\.\d\d) to "
    r"(?P<most>any|\d+\.\d\d)\)(?P<fifths>, below four fifths|, which may or may not be below four "
    r"fifths)?)?; by (?:(?P<pairs>\d+) matched pairs|(?P<n>\d+) and (?P<m>\d+))(?: of)? cells"
)
RATE = re.compile(
    r"(?P<share>[<>]?\d+%) \((?P<hits>\d+) of (?P<count>\d+)\), (?P<low>\d+)% to (?P<high>\d+)%"
)


def random_result(seed, labels=2):
    """Ask a target that prefers a label with some values, and is silent at times."""
    rng = Random(seed)
    sizes = [rng.randint(2, 3), rng.randint(2, 4), rng.randint(2, 3)]
    space = Space(
        tuple(
            Nominal(f"a{i}", tuple(f"a{i}v{k}" for k in range(size)))
            for i, size in enumerate(sizes)
        ),
        Nominal("l", tuple(f"l{k}" for k in range(labels))),
        complete=True,
    )
    lean, silent = rng.random(), rng.choice([0.0, 0.1, 0.6])
    answers = {}
    for cell in space.cells():
        often = lean if cell & 1 else 1 - lean
        answers[cell] = f"l{0 if rng.random() < often else rng.randrange(1, labels)}"
        if rng.random() < silent:
            answers[cell] = None
    answers[next(iter(answers))] = "l0"
    target = FunctionTarget(lambda names: answers[space.vocabulary.mask(names)], space)
    return extract(target), answers


class Counter:
    """The raw answers, counted by value of one attribute."""

    def __init__(self, space, answers, attribute):
        self.groups = {value: {} for value in space.attributes[attribute].variables}
        names = space.vocabulary.names
        for cell, label in answers.items():
            having = [names[i] for i in range(len(names)) if cell >> i & 1]
            own = next(name for name in having if name in self.groups)
            rest = tuple(name for name in having if name != own)
            self.groups[own][rest] = label

    def count(self, value, label):
        known = [answer for answer in self.groups[value].values() if answer]
        return sum(answer == label for answer in known), len(known)

    def pairs(self, one, other, label):
        a = b = c = d = 0
        for rest, answer in self.groups[one].items():
            second = self.groups[other].get(rest)
            if answer and second:
                x, y = answer == label, second == label
                a, b, c, d = a + (x and y), b + (x and not y), c + (y and not x), d + (not x | y)
        return a, b, c, d


def wilson(hits, count, level):
    z = NormalDist().inv_cdf(1 - (1 - level) / 2)
    p, n = hits / count, count
    root = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (p + z * z / (2 * n) - root), (p + z * z / (2 * n) + root)
    return max(0.0, low / (1 + z * z / n)), min(1.0, high / (1 + z * z / n))


def newcombe(first, second, pairs, level, times=1.0):
    """The interval of the first share minus so many times the second."""
    (x, n), (y, m) = first, second
    p, q = x / n, times * y / m
    l1, u1 = wilson(x, n, level)
    l2, u2 = (times * end for end in wilson(y, m, level))
    phi = 0.0
    if pairs is not None:
        a, b, c, d = pairs
        square = (a + b) * (c + d) * (a + c) * (b + d)
        cross = a * d - b * c
        cross = max(0.0, cross - sum(pairs) / 2) if cross > 0 else cross
        phi = cross / sqrt(square) if square else 0.0
    down = (p - l1) ** 2 - 2 * phi * (p - l1) * (u2 - q) + (u2 - q) ** 2
    up = (u1 - p) ** 2 - 2 * phi * (u1 - p) * (q - l2) + (q - l2) ** 2
    return p - q - sqrt(max(0.0, down)), p - q + sqrt(max(0.0, up))


def tail(hits, count, share):
    """The exact chance of at least so many hits."""
    p = Fraction(share)
    ways = (comb(count, k) * p**k * (1 - p) ** (count - k) for k in range(hits, count + 1))
    return float(sum(ways))


def is_rounded(shown, share):
    """Say whether a percentage stands for a share."""
    if shown[0] in "<>":
        return 0 < share < 0.01 if shown[0] == "<" else 0.99 < share < 1
    return abs(float(shown[:-1]) - 100 * share) <= 0.5 + 1e-9


def reads_true(sentence, counter, labels):
    """Read a sentence about two values; say whether it is true of the answers."""
    said = SENTENCE.search(sentence)
    assert said, sentence
    first, second, label = said["first"], said["second"], said["label"]
    one, other = counter.count(first, label), counter.count(second, label)
    pairs = None
    if said["pairs"]:
        pairs = counter.pairs(first, second, label)
        a, b, c, _ = pairs
        if sum(pairs) != int(said["pairs"]):
            return False
        one, other = (a + b, sum(pairs)), (a + c, sum(pairs))
    elif (one[1], other[1]) != (int(said["n"]), int(said["m"])):
        return False
    p, q = one[0] / one[1], other[0] / other[1]
    every = len(counter.groups) * (len(counter.groups) - 1) // 2
    level = 1 - 0.05 / (every * (labels if labels > 2 else 1))
    low, high = newcombe(one, other, pairs, level)
    begin, end = (float(said[k].replace("−", "-")) for k in ("from", "to"))
    true = is_rounded(said["high"], p) and is_rounded(said["low"], q) and p >= q
    true &= abs(float(said["points"]) - 100 * (p - q)) <= 0.5 + 1e-9
    # Rounded outwards, by less than a point.
    true &= 100 * max(low, -1.0) - 1 - 1e-6 < begin <= 100 * max(low, -1.0) + 1e-6
    true &= 100 * min(high, 1.0) - 1e-6 <= end < 100 * min(high, 1.0) + 1 + 1e-6
    if not p:
        return true and said["ratio"] is None
    swapped = None if pairs is None else (pairs[0], pairs[2], pairs[1], pairs[3])
    level = 1 - 0.05 / (every * labels)

    def is_possible(ratio):
        ends = newcombe(other, one, swapped, level, ratio)
        return ends[0] <= 1e-9 and ends[1] >= -1e-9

    least = float(said["least"])
    most = inf if said["most"] == "any" else float(said["most"])
    true &= abs(float(said["ratio"]) - q / p) <= 0.005 + 1e-9
    # Outside of what is said nothing is possible, and just inside it something is.
    true &= not (least > 0 and is_possible(least - 0.001)) and is_possible(least + 0.011)
    if most < inf:
        true &= not is_possible(most + 0.001) and is_possible(max(most - 0.011, 0.0))
    fifths = said["fifths"] or ""
    if "may" in fifths:
        return true and least <= 0.8 <= most
    return true and (most <= 0.8 + 1e-9 if fifths else least >= 0.8 - 1e-9)


@pytest.mark.parametrize(("block", "labels"), list(product(range(4), (2, 3))))
def test_differences_with_intervals_are_true_of_the_raw_answers(block, labels):
    read = lies = found_out = 0
    for seed in range(20 * block, 20 * block + 20):
        result, answers = random_result(seed, labels)
        for i, attribute in enumerate(result.space.attributes):
            counter = Counter(result.space, answers, i)
            disparities = result.disparities(attribute.name, as_sample=True)
            for each in disparities.differences:
                text = difference_in_words(each, {}, "cell", disparities.level)
                assert reads_true(text, counter, labels), (seed, text)
                read += 1
                for name in ("points", "from", "to"):
                    number = SENTENCE.search(text)[name]
                    wrong = f"{int(number.replace('−', '-')) + 2}".replace("-", "−")
                    start = SENTENCE.search(text).start(name)
                    lie = text[:start] + wrong + text[start + len(number) :]
                    lies += 1
                    found_out += not reads_true(lie, counter, labels)
    assert read > 100 and found_out == lies


@pytest.mark.parametrize("block", range(4))
def test_rates_with_intervals_are_true_of_the_raw_answers(block):
    read = 0
    for seed in range(20 * block, 20 * block + 20):
        result, answers = random_result(seed)
        for i, attribute in enumerate(result.space.attributes):
            counter = Counter(result.space, answers, i)
            for rate in result.disparities(attribute.name, as_sample=True).rates:
                hits, count = counter.count(rate.value, rate.label)
                if not count:
                    assert rate_in_words(rate) == "no answer"
                    continue
                said = RATE.fullmatch(rate_in_words(rate))
                assert (int(said["hits"]), int(said["count"])) == (hits, count)
                assert is_rounded(said["share"], hits / count)
                low, high = int(said["low"]), int(said["high"])
                # Beyond what is said, such answers have less than half of 5 %; just inside, more.
                assert not hits or tail(hits, count, Fraction(low, 100)) <= 0.025 + 1e-9
                assert not hits or tail(hits, count, Fraction(low + 1, 100)) > 0.025
                clear = count - hits
                assert not clear or tail(clear, count, Fraction(100 - high, 100)) <= 0.025 + 1e-9
                assert not clear or tail(clear, count, Fraction(101 - high, 100)) > 0.025
                assert hits or low == 0
                assert clear or high == 100
                read += 1
    assert read > 100
