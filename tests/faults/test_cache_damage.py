"""Bytes of a cache are changed at random: no answer changes, and what is whole is kept."""

import json
import random
from contextlib import closing

import pytest

import hornlens
from hornlens.models.functions import FunctionModel
from hornlens.models.protocol import Answer
from hornlens.results.documents.writing import extraction_as_json
from hornlens.store.sqlite import AnswerCache
from hornlens.targets.answers import Answers
from tests.faults.rounds import rounds


class Model(FunctionModel):
    """Answers by the prompt alone, with ranks and details, as a real model has them."""

    def __init__(self):
        super().__init__(None, "changed", "changed")

    def score(self, prompts, candidates):
        for start in range(0, len(prompts), 50):
            part = range(start, min(start + 50, len(prompts)))
            yield [(i, self.answer(prompts[i], candidates)) for i in part]

    @staticmethod
    def answer(prompt, candidates):
        draw = random.Random(prompt)
        words = range(len(candidates))
        scores = tuple(-(word ^ ("nurse" in prompt)) - draw.random() / 3 for word in words)
        first = ((draw.choice(candidates), 0.5), ("word", 0.25))
        return Answer(scores, tuple(draw.randrange(9) for _ in words), first, 0.75)


def envelope(path, warnings):
    """Return what is in envelope.json, by a cache; and how many prompts it took."""
    with closing(AnswerCache(path, warnings.append)) as cache:
        result = hornlens.extract(Model(), "gender-occupation", cache=cache)
    return json.dumps(extraction_as_json(result)), result.record.asked


def answers(path, prompts, warnings):
    """Return the answers to all prompts, as every extraction gets them; and how many it took."""
    with closing(AnswerCache(path, warnings.append)) as cache:
        asking = Answers(Model(), ("She", "He"), cache)
        return dict(zip(prompts, asking.ask(prompts), strict=True)), asking.asked


def changed(data, draw):
    """Return bytes one or a few of which are others, and which those are."""
    found = bytearray(data)
    # The first page says what the rest is: it is hit more often than by chance.
    end = draw.choice([100, 4096, len(data), len(data), len(data), len(data)])
    places = [draw.randrange(end) for _ in range(draw.choice([1, 1, 1, 2, 8]))]
    for place in places:
        found[place] = draw.choice([found[place] ^ (1 << draw.randrange(8)), draw.randrange(256)])
    return bytes(found), places


@pytest.mark.parametrize("part", range(rounds(1, 20)))
def test_no_byte_of_a_cache_that_is_changed_changes_a_result(tmp_path, part):
    path = tmp_path / "c.sqlite"
    wanted, asked = envelope(path, [])
    assert asked == 660 and envelope(path, []) == (wanted, 0)
    prompts = list(hornlens.extract(Model(), "gender-occupation").scores)
    right, asked = answers(path, prompts, [])
    assert (len(right), asked) == (660, 0)
    whole = path.read_bytes()
    draw = random.Random(13 + part)
    for number in range(rounds(200, 500)):
        data, places = changed(whole, draw)
        path.write_bytes(data)
        warnings = []
        where = f"round {number}, bytes {places}, {warnings}"
        try:
            if number % 20:
                found, asked = answers(path, prompts, warnings)
                assert found == right, where
            else:
                found, asked = envelope(path, warnings)
                assert found == wanted, where
        except Exception as error:
            raise AssertionError(where) from error
        # An answer in the wrong place may be found once, and be lost when the file is mended.
        found, again = answers(path, prompts, warnings)
        assert found == right and asked + again <= len(places), (where, asked, again)
        assert not again or answers(path, prompts, warnings) == (right, 0), where
        assert len(warnings) <= 1, where
        aside = [each for each in tmp_path.iterdir() if each != path]
        assert [name for name in aside if name.name in warnings[0]] == aside[:1] == aside, where
        for each in aside:
            each.unlink()
