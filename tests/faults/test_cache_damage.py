"""Bytes of a cache are changed at random: no answer changes, and what is whole is kept."""

import json
import random
from contextlib import closing

import hornlens
from hornlens.models.functions import FunctionModel
from hornlens.models.protocol import Answer
from hornlens.results.documents import extraction_as_json
from hornlens.store.sqlite import AnswerCache
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
    """Return what is in envelope.json, by a cache; how many prompts it took; and what is kept."""
    with closing(AnswerCache(path, warnings.append)) as cache:
        result = hornlens.extract(Model(), "gender-occupation", cache=cache)
    words = tuple(result.question.words.values())
    with closing(AnswerCache(path, warnings.append)) as cache:
        kept = cache.get("function:changed", list(result.scores), words)
    return json.dumps(extraction_as_json(result)), result.record.asked, kept


def changed(data, draw):
    """Return bytes one or a few of which are others, and which those are."""
    found = bytearray(data)
    # The first page says what the rest is: it is hit more often than by chance.
    end = draw.choice([100, 4096, len(data), len(data), len(data), len(data)])
    places = [draw.randrange(end) for _ in range(draw.choice([1, 1, 1, 2, 8]))]
    for place in places:
        found[place] = draw.choice([found[place] ^ (1 << draw.randrange(8)), draw.randrange(256)])
    return bytes(found), places


def test_no_byte_of_a_cache_that_is_changed_changes_a_result(tmp_path):
    path = tmp_path / "c.sqlite"
    wanted, asked, answers = envelope(path, [])
    assert asked == len(answers) == 660 and envelope(path, []) == (wanted, 0, answers)
    whole = path.read_bytes()
    draw = random.Random(13)
    again = lost = 0
    for number in range(rounds(200, 10_000)):
        data, places = changed(whole, draw)
        path.write_bytes(data)
        warnings = []
        try:
            found, asked, kept = envelope(path, warnings)
        except Exception as error:
            raise AssertionError(f"round {number}, bytes {places}: {error!r}") from error
        where = f"round {number}, bytes {places}, {warnings}, {asked} asked"
        assert found == wanted and kept.items() <= answers.items(), where
        assert len(warnings) <= 1, where
        aside = [each for each in tmp_path.iterdir() if each != path]
        assert [name for name in aside if name.name in warnings[0]] == aside[:1] == aside, where
        for each in aside:
            each.unlink()
        again += asked
        lost += len(answers) - len(kept)
    # Where the file is damaged in a place or some, most of it is whole; and what was found once, or
    # asked, is seldom lost when it is mended.
    answered = 660 * rounds(200, 10_000)
    assert again < 0.2 * answered and lost < 0.001 * answered, (again, lost, answered)
