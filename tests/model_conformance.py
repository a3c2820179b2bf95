"""What every model keeps to. A backend's test class inherits these tests and gives the fixtures."""

import math
from collections.abc import Callable, Sequence
from random import Random

import pytest

from hornlens.models.protocol import MASK, Answer, Model, ModelError, ModelOptions

Build = Callable[[ModelOptions], Model]
CLOSE = 1e-5


def ask(model: Model, prompts: Sequence[str], words: Sequence[str]) -> list[Answer]:
    """All answers, in the order of the prompts; each prompt answered exactly once."""
    pairs = [pair for batch in model.score(prompts, words) for pair in batch]
    assert sorted(index for index, _ in pairs) == list(range(len(prompts)))
    return [answer for _, answer in sorted(pairs, key=lambda pair: pair[0])]


def furthest(left: Sequence[Answer], right: Sequence[Answer]) -> float:
    """The largest difference between two models' scores."""
    return max(
        abs(a - b)
        for one, other in zip(left, right, strict=True)
        for a, b in zip(one.scores, other.scores, strict=True)
    )


class ModelConformance:
    """Inherit this, and define `build`, `prompts`, `words` and `bad_word`."""

    @pytest.fixture(scope="class")
    @classmethod
    def build(cls) -> Build:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def prompts(cls) -> Sequence[str]:
        """Distinct prompts of different lengths, a dozen at least."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def words(cls) -> Sequence[str]:
        return ("She", "He")

    @pytest.fixture(scope="class")
    @classmethod
    def bad_word(cls) -> str:
        """A word that this model cannot score."""
        return ""

    @pytest.fixture(scope="class")
    @classmethod
    def model(cls, build: Build, words: Sequence[str]) -> Model:
        model = build(ModelOptions())
        model.check(words)
        return model

    @pytest.fixture(scope="class")
    @classmethod
    def answers(cls, model, prompts, words) -> list[Answer]:
        return ask(model, prompts, words)

    def test_it_is_a_model_with_a_name(self, model):
        assert isinstance(model, Model)
        assert model.name

    def test_every_prompt_is_answered_once_with_a_score_for_each_word(self, answers, words):
        assert {len(answer.scores) for answer in answers} == {len(words)}

    def test_scores_are_log_probabilities(self, answers):
        scores = [score for answer in answers for score in answer.scores]
        assert all(math.isfinite(score) and score <= 0 for score in scores)
        assert all(sum(map(math.exp, answer.scores)) <= 1 + 1e-4 for answer in answers)

    def test_ranks_if_any_follow_the_scores(self, answers):
        for answer in answers:
            if answer.ranks is not None:
                assert min(answer.ranks) >= 0
                by_score = sorted(range(len(answer.scores)), key=lambda i: -answer.scores[i])
                assert by_score == sorted(range(len(answer.ranks)), key=lambda i: answer.ranks[i])

    def test_the_order_of_the_prompts_changes_no_score(self, model, prompts, words, answers):
        order = list(range(len(prompts)))
        Random(1).shuffle(order)
        again = ask(model, [prompts[index] for index in order], words)
        assert furthest(again, [answers[index] for index in order]) <= CLOSE

    def test_the_order_of_the_words_changes_no_score(self, model, prompts, words, answers):
        again = ask(model, prompts, words[::-1])
        assert furthest([Answer(a.scores[::-1]) for a in again], answers) <= CLOSE

    @pytest.mark.parametrize("size", [1, 5])
    def test_the_size_of_the_batches_changes_no_score(self, build, prompts, words, answers, size):
        model = build(ModelOptions(batch_size=size))
        assert furthest(ask(model, prompts, words), answers) <= CLOSE

    def test_a_prompt_alone_gets_the_same_scores(self, model, prompts, words, answers):
        assert furthest(ask(model, prompts[-1:], words), answers[-1:]) <= CLOSE

    def test_no_prompts_get_no_answers(self, model, words):
        assert ask(model, [], words) == []

    def test_the_identity_is_stable(self, build, model, words):
        other = build(ModelOptions(batch_size=3))
        other.check(words)
        assert model.identity() == other.identity() == model.identity()

    def test_a_word_that_cannot_be_scored_is_an_error(self, model, words, bad_word):
        with pytest.raises(ModelError) as caught:
            model.check([*words, bad_word])
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("prompt", ["She was born.", f"{MASK} and {MASK} were born."])
    def test_a_prompt_without_the_mask_or_with_two_is_an_error(self, model, words, prompt):
        with pytest.raises(ModelError) as caught:
            ask(model, [prompt], words)
        assert prompt in str(caught.value)
