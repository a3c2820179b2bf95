"""What is no row of scores is refused in a line: sets, texts, bytes, truth values, NaN."""

import math
from array import array
from fractions import Fraction

import numpy as np
import pytest

import hornlens
from hornlens.api import extract
from hornlens.classifiers.explain import explain
from hornlens.errors import HornlensError
from hornlens.models.functions import FunctionModel
from hornlens.models.protocol import Answer
from hornlens.probes.loading import parse_probe
from hornlens.targets.functions import FunctionTarget
from tests.chat_server import PROBE

NO_SCORES = {
    "a set": {0.9, 0.1},
    "a frozen set": frozenset({0.9, 0.1}),
    "bytes": b"ab",
    "a bytearray": bytearray(b"ab"),
    "texts": ["0.9", "0.1"],
    "truth values": [True, False],
    "truth values of numpy": np.array([True, False]),
    "complex numbers": [1j, 2.0],
    "complex numbers of numpy": np.array([1j, 2]),
    "NaN": [math.nan, 0.1],
    "infinity": [math.inf, 0.1],
    "one": [0.9],
    "three": [0.9, 0.1, 0.2],
    "none": [],
    "a number": 0.9,
    "a number of numpy": np.float64(0.9),
    "an array without dimensions": np.array(0.9),
    "a table": np.array([[0.9, 0.1], [0.1, 0.9]]),
    "lists": [[0.9], [0.1]],
    "nulls": [None, None],
    "a generator": (x for x in (0.9, 0.1)),
    "keys of a dict": {0.9: 1, 0.1: 2}.keys(),
    "a dict of others": {"Her": 0.9, "Him": 0.1},
    "a dict of texts": {"She": "0.9", "He": "0.1"},
    "an object": object(),
}
SCORES = {
    "a list": [0.9, 0.1],
    "a tuple": (0.9, 0.1),
    "an array": np.array([0.9, 0.1], dtype=np.float32),
    "whole numbers": np.array([9, 1]),
    "an array of Python": array("d", [0.9, 0.1]),
    "fractions": [Fraction(9, 10), Fraction(1, 10)],
    "a dict": {"He": 0.1, "She": 0.9},
    "impossible": [0.9, -math.inf],
}


def asked(model):
    return extract(model, parse_probe(PROBE), cache=False)


@pytest.mark.parametrize("name", NO_SCORES)
def test_what_a_function_returns_must_be_scores(name):
    with pytest.raises(HornlensError) as caught:
        asked(lambda prompt, words: NO_SCORES[name])
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.parametrize("name", SCORES)
def test_scores_are_scores(name):
    result = asked(lambda prompt, words: SCORES[name])
    assert {decision.winner for decision in result.decisions.values()} == {0}


class Odd(FunctionModel):
    """A model of somebody's own, whose answers nobody has looked at."""

    def __init__(self, answer):
        super().__init__(lambda prompt, words: None)
        self.answer = answer

    def score(self, prompts, candidates):
        yield [(index, self.answer) for index in range(len(prompts))]


@pytest.mark.parametrize("name", [n for n in NO_SCORES if "dict of" not in n])
def test_the_answer_of_a_model_must_have_scores(name):
    with pytest.raises(HornlensError) as caught:
        asked(Odd(Answer(NO_SCORES[name])))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.parametrize("named", [True, 2, -1, 0.0, "She", {0}])
def test_the_place_of_a_candidate_must_be_one(named):
    with pytest.raises(HornlensError, match="by its place"):
        asked(Odd(Answer(named=named)))


SPACE = hornlens.Space(
    (hornlens.Nominal("job", ("nurse",)),), hornlens.Nominal("answer", ("yes", "no"))
)


@pytest.mark.parametrize(
    "answer",
    [
        *({"yes", "no"}, b"yes", ["yes"], [0.9, 0.1], 1, 0.5, True, math.nan, 1j, object()),
        *({"yes": True, "no": False}, {"yes": 1j, "no": 0}, {"yes": math.nan, "no": 0.1}),
        *({"yes": "1", "no": "0"}, {"yes": 0.9}, {"yes": 0.9, "no": 0.1, "perhaps": 0.0}),
    ],
)
def test_what_a_target_says_must_be_a_label_or_scores(answer):
    with pytest.raises(HornlensError, match="a target of this space says") as caught:
        extract(FunctionTarget(lambda names: answer, SPACE))
    assert "\n" not in str(caught.value)


ROWS = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])


@pytest.mark.parametrize(
    "said",
    [
        lambda rows: {0, 1},
        lambda rows: "yes",
        lambda rows: b"yes",
        lambda rows: {"a": 1},
        lambda rows: [{0, 1}] * len(rows),
        lambda rows: np.full(len(rows), 1j),
        lambda rows: np.full(len(rows), np.nan),
        lambda rows: np.full((len(rows), 2), np.nan),
        lambda rows: [None] * len(rows),
        lambda rows: [0] * (len(rows) + 1),
        lambda rows: 1,
        lambda rows: (x for x in rows),
    ],
)
def test_what_a_classifier_says_must_be_classes(said):
    with pytest.raises(HornlensError) as caught:
        explain(said, ROWS)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


@pytest.mark.parametrize("scores", [np.nan, "0.5", 1j])
def test_probabilities_must_be_numbers(scores):
    class Likely:
        classes_ = np.array(["no", "yes"])

        def predict_proba(self, rows):
            return np.full((len(rows), 2), scores)

    with pytest.raises(HornlensError, match="no real numbers"):
        explain(Likely(), ROWS)
