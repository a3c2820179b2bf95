"""What every model keeps to. A backend's test class inherits these tests, and says how to open it.

Any runner of `test_…` methods will do; pytest is not needed. With it:

    class TestMine(ModelConformance):
        prompts = tuple(f"[MASK] is a {job}." for job in JOBS)

        def build(self, options):
            return MyModel(options)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import ClassVar

from hornlens.models.checks import check_answer
from hornlens.models.protocol import (
    MASK,
    Answer,
    Batched,
    Model,
    ModelError,
    ModelOptions,
    Shows,
)


def ask(model: Model, prompts: Sequence[str], words: Sequence[str]) -> list[Answer]:
    """Return all answers, in the order of the prompts, having checked that each came once."""
    pairs = [pair for batch in model.score(prompts, words) for pair in batch]
    assert sorted(index for index, _ in pairs) == list(range(len(prompts)))
    answers = [answer for _, answer in sorted(pairs, key=lambda pair: pair[0])]
    for prompt, answer in zip(prompts, answers, strict=True):
        check_answer(answer, prompt, words, model.name)
    return answers


def furthest(left: Sequence[Answer], right: Sequence[Answer]) -> float:
    """Return the largest difference between two models' scores; inf: they name other words."""
    pairs = list(zip(left, right, strict=True))
    if any((a.named, a.outcome) != (b.named, b.outcome) for a, b in pairs):
        return math.inf
    scored = (zip(one.scores, other.scores, strict=True) for one, other in pairs)
    return max((abs(a - b) for scores in scored for a, b in scores), default=0.0)


def refusal(call: Callable[[], object]) -> str:
    """Return the one line that a ModelError says; anything else than a ModelError is a failure."""
    try:
        call()
    except ModelError as error:
        message = str(error)
        assert message and "\n" not in message, f"not one line: {message!r}"
        return message
    raise AssertionError("a ModelError should have been raised")


class ModelConformance:
    """Inherit this, define `prompts` and `build`, and say where the backend differs."""

    prompts: ClassVar[Sequence[str]] = ()
    """Distinct prompts of different lengths, a dozen at least."""
    words: ClassVar[Sequence[str]] = ("She", "He")
    bad_word: ClassVar[str | None] = ""
    """A word that it cannot score; None: it takes any."""
    close: ClassVar[float] = 1e-5
    """How much scores may differ between batches: the rounding of its arithmetic."""
    has_identity: ClassVar[bool] = True
    """Whether its answers may be kept."""
    _kept: ClassVar[tuple[type, Model, list[Answer]] | None] = None

    def build(self, options: ModelOptions) -> Model:
        """Return a new model, that nothing has been asked of."""
        raise NotImplementedError

    def asked(self) -> tuple[Model, list[Answer]]:
        """Return a model and its answers to all prompts; a class asks once."""
        cls = type(self)
        if cls._kept is None or cls._kept[0] is not cls:
            assert len(set(self.prompts)) == len(self.prompts) >= 12, "a dozen distinct prompts"
            model = self.build(ModelOptions())
            model.check(self.words)
            cls._kept = cls, model, ask(model, self.prompts, self.words)
        return cls._kept[1:]

    def test_it_is_a_model_with_a_name(self) -> None:
        """It has the three methods and a name."""
        model, _ = self.asked()
        assert isinstance(model, Model)
        assert model.name

    def test_every_prompt_is_answered_once_with_a_score_for_each_word(self) -> None:
        """Whatever the batches are; a model without scores names a word, or says why not."""
        _, answers = self.asked()
        assert len(answers) == len(self.prompts)
        unscored = [answer for answer in answers if not answer.scores]
        assert all(len(a.scores) == len(self.words) for a in answers if a.scores)
        assert all((a.named is None) == bool(a.outcome) for a in unscored)

    def test_scores_are_log_probabilities(self) -> None:
        """Together they are 1 at most."""
        _, answers = self.asked()
        scores = [score for answer in answers for score in answer.scores]
        assert all(math.isfinite(score) and score <= 0 for score in scores)
        assert all(sum(map(math.exp, answer.scores)) <= 1 + 1e-4 for answer in answers)

    def test_ranks_if_any_follow_the_scores(self) -> None:
        """There is one for each word, from 0."""
        for answer in self.asked()[1]:
            if answer.ranks is not None:
                assert len(answer.ranks) == len(self.words) and min(answer.ranks) >= 0
                pairs = zip((-score for score in answer.scores), answer.ranks, strict=True)
                ranks = [rank for _, rank in sorted(pairs)]
                assert ranks == sorted(ranks)

    def test_first_words_if_any_are_the_most_probable_of_all(self) -> None:
        """Five at most, falling, 1 together at most; no candidate outside them is above the last.

        Where candidates are ranked, those among the first are as probable as their scores say.
        """
        for answer in self.asked()[1]:
            shares = [share for _, share in answer.first]
            assert shares == sorted(shares, reverse=True) and len(shares) <= 5
            assert all(word and 0 <= share <= 1 for word, share in answer.first)
            assert sum(shares) <= 1 + 1e-4
            for rank, score in zip(answer.ranks or (), answer.scores, strict=False):
                if rank < len(shares):
                    assert abs(shares[rank] - math.exp(score)) <= 1e-4
                elif shares:
                    assert math.exp(score) <= shares[-1] + 1e-4

    def test_the_candidates_share_if_any_is_a_part_of_the_whole(self) -> None:
        """Where candidates are ranked, it is what their scores add up to."""
        for answer in self.asked()[1]:
            if answer.share is not None:
                assert 0 <= answer.share <= 1
                if answer.ranks is not None:
                    assert abs(answer.share - sum(map(math.exp, answer.scores))) <= 1e-4

    def test_words_it_does_not_know_are_words_of_the_prompt(self) -> None:
        """They are told as they stand there."""
        for prompt, answer in zip(self.prompts, self.asked()[1], strict=True):
            assert all(word and word in prompt for word in answer.unknown)

    def test_what_it_was_sent_if_it_says_so_is_of_the_prompt(self) -> None:
        """It has the prompt's own words around the mask, in every message or text that is scored.

        A model that was just made says the same: nothing has to be loaded for that.
        """
        model, answers = self.asked()
        if not isinstance(model, Shows):
            return
        other = self.build(ModelOptions())
        assert isinstance(other, Shows)
        for prompt, answer in zip(self.prompts, answers, strict=True):
            sent = model.sent(prompt, self.words, answer)
            assert sent == other.sent(prompt, self.words, answer)
            assert (sent.prompt, sent.candidates) == (prompt, tuple(self.words))
            assert sent.model == model.name and sent.reading
            texts = [call.messages[-1][1] for call in sent.calls] + list(sent.texts)
            begin, _, end = prompt.partition(MASK)
            assert texts and all(begin in text and end in text for text in texts)

    def test_the_order_of_the_prompts_changes_no_score(self) -> None:
        """Nor what else is in a batch."""
        model, answers = self.asked()
        order = list(range(len(self.prompts)))
        Random(1).shuffle(order)
        again = ask(model, [self.prompts[index] for index in order], self.words)
        assert furthest(again, [answers[index] for index in order]) <= self.close

    def test_the_order_of_the_words_changes_no_score(self) -> None:
        """Each word keeps its own."""
        model, answers = self.asked()
        last = len(self.words) - 1
        again = [
            a._replace(scores=a.scores[::-1], named=None if a.named is None else last - a.named)
            for a in ask(model, self.prompts, self.words[::-1])
        ]
        assert furthest(again, answers) <= self.close

    def test_the_size_of_the_batches_changes_no_score(self) -> None:
        """They are asked without `check`, too."""
        for size in (1, 5):
            model = self.build(ModelOptions(batch_size=size))
            answers = ask(model, self.prompts, self.words)
            assert furthest(answers, self.asked()[1]) <= self.close

    def test_a_prompt_alone_gets_the_same_scores(self) -> None:
        """Padding changes nothing."""
        model, answers = self.asked()
        assert furthest(ask(model, self.prompts[-1:], self.words), answers[-1:]) <= self.close

    def test_a_batch_of_its_own_making_asked_alone_gets_the_same_answers_to_the_last_bit(
        self,
    ) -> None:
        """Of a model that says which prompts it takes together."""
        for size in (None, 5):
            model = self.build(ModelOptions(batch_size=size))
            if not isinstance(model, Batched):
                return
            model.check(self.words)
            answers = ask(model, self.prompts, self.words)
            batches = model.batches(self.prompts, self.words)
            assert sorted(i for batch in batches for i in batch) == [*range(len(self.prompts))]
            for batch in batches:
                part = [self.prompts[index] for index in batch]
                [alone] = model.score(part, self.words)
                assert [index for index, _ in alone] == [*range(len(part))]
                assert [answer for _, answer in alone] == [answers[index] for index in batch]

    def test_no_prompts_get_no_answers(self) -> None:
        """And no error."""
        assert ask(self.asked()[0], [], self.words) == []

    def test_the_identity_is_stable_and_known_before_anything_is_loaded(self) -> None:
        """How it is run does not change it; a model without one says None each time."""
        model, _ = self.asked()
        other = self.build(ModelOptions(batch_size=3))
        before = other.identity()
        other.check(self.words)
        assert model.identity() == before == other.identity() == model.identity()
        assert bool(before) is self.has_identity and (before is None) is not self.has_identity

    def test_a_word_that_cannot_be_scored_is_an_error(self) -> None:
        """It is said by `check`, before anything is asked."""
        word = self.bad_word
        if word is not None:
            refusal(lambda: self.asked()[0].check([*self.words, word]))

    def test_a_prompt_without_the_mask_or_with_two_is_an_error(self) -> None:
        """The error names the prompt."""
        model, _ = self.asked()
        for prompt in ("She was born.", f"{MASK} and {MASK} were born."):
            assert prompt in refusal(lambda prompt=prompt: ask(model, [prompt], self.words))  # type: ignore[misc]
