"""What every store of answers keeps to. A store's test class inherits these tests.

Any runner of `test_…` methods will do that makes a new instance for each; with pytest:

    class TestMine(StoreConformance):
        @pytest.fixture(autouse=True)
        def place(self, tmp_path):
            self.path = tmp_path / "answers"

        def open(self):
            return MyStore(self.path)

A store that also lets processes claim prompts inherits SharedStoreConformance.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hornlens.store.protocol import AnswerStore, Scores, SharedStore

WORDS = ("She", "He")
ONE = Scores((-0.1, -2.0), None)
OTHER = Scores((-3.0, -0.5), (7, 0), '{"said": "beside"}')


class StoreConformance:
    """Inherit this and define `open`."""

    def open(self) -> AnswerStore:
        """Open this test's store, empty at first; later, or again, the same."""
        raise NotImplementedError

    def test_it_is_a_store(self) -> None:
        """It has the protocol's methods; closing it twice is no error."""
        store = self.open()
        assert isinstance(store, AnswerStore)
        store.close()
        store.close()

    def test_an_empty_store_knows_nothing(self) -> None:
        """And says so without an error."""
        store = self.open()
        assert store.get("m", ["p"], WORDS) == {}
        assert store.get("m", [], WORDS) == {}
        assert not store.knows("m", WORDS)
        store.close()

    def test_what_is_put_comes_back_the_same_after_it_was_closed(self) -> None:
        """To the last bit, with ranks and details or without, in whatever script."""
        answers: list[tuple[str, Scores]] = [
            ("plain", ONE),
            ("ranked", OTHER),
            ("odd numbers", Scores((0.1 + 0.2, -1 / 3), (0, 2**40))),
            ("a probability of nothing", Scores((-math.inf, -5e-324))),
            ("", Scores((-1.0, -1.0), None, "")),
            ("a text of any kind", Scores((-1.0, -1.0), None, "Ωμέγα 'quoted'\n% 🦄")),
            ("Ωμέγα 'quoted' \"twice\"\n\t%_\\ 漢字 🦄", ONE),
            ("a zero \0 within", Scores((-1.0, -1.0), None, "and \0 here")),
            ("a word that was named", Scores((), None, '{"named": 1}')),
            ("long " * 5000, ONE),
        ]
        store = self.open()
        store.put("m", "name", answers, WORDS)
        store.close()
        again = self.open()
        assert again.get("m", [prompt for prompt, _ in answers], WORDS) == dict(answers)
        assert again.get("m", ["plain", "never asked"], WORDS) == {"plain": ONE}
        again.close()

    def test_an_answer_belongs_to_model_prompt_words_in_their_order_and_repetition(self) -> None:
        """A difference in any of them is another question."""
        store = self.open()
        store.put("m", "name", [("p", ONE)], WORDS)
        store.put("m", "name", [("p", OTHER)], WORDS, repeat=1)
        assert store.get("m", ["p"], WORDS) == {"p": ONE}
        assert store.get("m", ["p"], WORDS, repeat=1) == {"p": OTHER}
        assert store.get("m", ["p"], WORDS, repeat=2) == {}
        assert store.get("n", ["p"], WORDS) == {}
        assert store.get("m", ["p "], WORDS) == {}
        for words in (WORDS[::-1], WORDS[:1], (*WORDS, "It"), ("She, He",), ("she", "he")):
            assert store.get("m", ["p"], words) == {}
            assert not store.knows("m", words)
        assert store.knows("m", WORDS) and not store.knows("n", WORDS)
        store.close()

    def test_what_is_recorded_first_counts(self) -> None:
        """Also against another one who has the store open, and when new ones come with it.

        An answer without details does not get those of a later one.
        """
        store, beside = self.open(), self.open()
        store.put("m", "name", [("p", ONE)], WORDS)
        beside.put("m", "another name", [("p", OTHER), ("q", OTHER)], WORDS)
        store.put("m", "name", [("q", Scores(OTHER.scores, OTHER.ranks, "other"))], WORDS)
        wanted = {"p": ONE, "q": OTHER}
        assert store.get("m", ["p", "q"], WORDS) == beside.get("m", ["p", "q"], WORDS) == wanted
        beside.close()
        store.close()

    def test_answers_are_recorded_all_or_none(self) -> None:
        """Where they stop coming in the midst, nothing of them is kept."""

        def stop() -> Iterator[tuple[str, Scores]]:
            yield "p", ONE
            raise InterruptedError

        store = self.open()
        try:
            store.put("m", "name", stop(), WORDS)
        except InterruptedError:
            pass
        else:
            raise AssertionError("the error should have come through")
        assert store.get("m", ["p"], WORDS) == {} and not store.knows("m", WORDS)
        store.put("m", "name", [("p", OTHER)], WORDS)
        assert store.get("m", ["p"], WORDS) == {"p": OTHER}
        store.close()

    def test_many_answers_at_once(self) -> None:
        """More than a statement of SQL takes variables."""
        many: dict[str, Scores] = {f"prompt {i}": Scores((-i / 7, -1.0)) for i in range(2500)}
        store = self.open()
        store.put("m", "name", many.items(), WORDS)
        assert store.get("m", list(many), WORDS) == many
        store.close()

    def test_the_hash_of_a_file_is_that_of_what_is_in_it_now(self) -> None:
        """Remembered or not, an old one is never returned."""
        store = self.open()
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / "weights"
            for content in ("one", "two", "three", "three", "one"):
                file.write_text(content)
                for _ in range(2):
                    assert store.hash_of(file, Path.read_text) == content
        store.close()


class SharedStoreConformance(StoreConformance):
    """For a store that is shared by processes which ask; inherit this and define `open`."""

    def open(self) -> SharedStore:
        """Open this test's store, empty at first; later, or again, the same."""
        raise NotImplementedError

    def test_it_is_a_shared_store(self) -> None:
        """It has the protocol's methods."""
        store = self.open()
        assert isinstance(store, SharedStore)
        store.close()

    def test_a_prompt_is_claimed_by_one(self) -> None:
        """In the order in which they were given; and by nobody else until it is released."""
        store, beside = self.open(), self.open()
        assert store.claim("m", ["q", "p"], WORDS) == ["q", "p"]
        assert beside.claim("m", ["r", "p", "o"], WORDS) == ["r", "o"]
        assert store.claim("m", [], WORDS) == []
        store.release("m", WORDS)
        assert beside.claim("m", ["p", "q"], WORDS) == ["p", "q"]
        beside.close()
        store.close()

    def test_a_claim_is_of_model_prompt_words_and_repetition(self) -> None:
        """A difference in any of them is another claim, and released by itself."""
        store, beside = self.open(), self.open()
        store.claim("m", ["p"], WORDS)
        store.claim("m", ["p"], WORDS, repeat=1)
        assert beside.claim("m", ["p"], WORDS) == beside.claim("m", ["p"], WORDS, repeat=1) == []
        assert beside.claim("m", ["p"], WORDS[::-1]) == ["p"]
        assert beside.claim("n", ["p"], WORDS) == ["p"]
        assert beside.claim("m", ["p"], WORDS, repeat=2) == ["p"]
        store.release("m", WORDS, repeat=1)
        assert beside.claim("m", ["p"], WORDS) == []
        assert beside.claim("m", ["p"], WORDS, repeat=1) == ["p"]
        beside.close()
        store.close()

    def test_what_is_answered_is_not_claimed(self) -> None:
        """Whoever put it, and while the rest is claimed still."""
        store, beside = self.open(), self.open()
        assert store.claim("m", ["p", "q"], WORDS) == ["p", "q"]
        store.put("m", "name", [("p", ONE)], WORDS)
        assert beside.claim("m", ["p", "q"], WORDS) == []
        assert beside.get("m", ["p", "q"], WORDS) == {"p": ONE}
        store.release("m", WORDS)
        assert beside.claim("m", ["p", "q"], WORDS) == ["q"]
        beside.close()
        store.close()

    def test_claims_end_with_the_store(self) -> None:
        """Closing it releases them; releasing what was not claimed is no error."""
        store, beside = self.open(), self.open()
        assert store.claim("m", ["p"], WORDS) == ["p"]
        beside.release("m", WORDS)
        assert beside.claim("m", ["p"], WORDS) == []
        store.close()
        assert beside.claim("m", ["p"], WORDS) == ["p"]
        beside.close()
