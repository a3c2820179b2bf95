"""Prompts on their way to a model: what was submitted together, and the blocks that go out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from hornlens.models.protocol import Answer

NO_ANSWERS = (
    "a node of the cluster returned something else than {}: is the same hornlens on all nodes, "
    "and does nobody else use the cluster?"
)
"""What is wrong with what came back, whatever it is."""
BLOCK = 64
"""Prompts a block: sending one costs about a millisecond."""
SMALLEST = 8


@dataclass(eq=False)
class Bundle:
    """Prompts that were submitted together, and are to be cut into blocks."""

    prompts: Sequence[str]
    candidates: tuple[str, ...]
    question: Hashable = None
    deaths: int = 0


@dataclass(eq=False)
class Block:
    """Prompts that go out together. `question` is for whoever sends them."""

    prompts: Sequence[str]
    candidates: tuple[str, ...]
    question: Hashable = None
    sizes: tuple[int, ...] = ()
    """How many prompts the model takes in each of its batches; (): as it likes."""
    deaths: int = 0


def are_answers(value: object, prompts: int) -> bool:
    """Say whether what a node returned has the form of answers to so many prompts."""
    return (
        isinstance(value, list) and len(value) == prompts and all(_is_answer(one) for one in value)
    )


def are_batches(value: object, prompts: int) -> bool:
    """Say whether what a node returned puts each of so many prompts into one batch."""
    if not (isinstance(value, list) and all(isinstance(batch, list) for batch in value)):
        return False
    indices = [index for batch in value for index in batch]
    return all(type(index) is int for index in indices) and (
        sorted(indices) == list(range(prompts)) and all(value)
    )


def _is_answer(value: object) -> bool:
    if not isinstance(value, Answer) or value.replies != ():  # chat models are asked elsewhere
        return False
    numbers = (value.scores, () if value.ranks is None else value.ranks)
    texts = (value.outcome, value.manner, *value.unknown)
    return (
        all(isinstance(row, tuple) for row in (*numbers, value.first, value.unknown))
        and all(type(number) in (int, float) for row in numbers for number in row)
        and all(isinstance(text, str) for text in texts)
        and all(
            isinstance(pair, tuple) and [type(part) for part in pair] in ([str, float], [str, int])
            for pair in value.first
        )
        and (value.share is None or type(value.share) in (int, float))
        and (value.named is None or type(value.named) is int)
    )


def cut(bundle: Bundle, size: int, replicas: int) -> list[Block]:
    """Return blocks of so many prompts, or of fewer if they would not go round."""
    prompts = bundle.prompts
    each = -(-len(prompts) // max(1, replicas))
    size = max(min(size, SMALLEST), min(size, each))
    return [
        Block(prompts[start : start + size], bundle.candidates, bundle.question)
        for start in range(0, len(prompts), size)
    ]


def packed(bundle: Bundle, batches: Sequence[Sequence[int]], size: int) -> list[Block]:
    """Return blocks of whole batches, as many as it takes to have so many prompts.

    So which prompts are in a batch together does not depend on how many replicas there are.
    """
    blocks: list[Block] = []
    pack: list[Sequence[int]] = []
    for number, batch in enumerate(batches, 1):
        pack.append(batch)
        if sum(map(len, pack)) >= size or number == len(batches):
            prompts = [bundle.prompts[index] for each in pack for index in each]
            sizes = tuple(map(len, pack))
            blocks.append(Block(prompts, bundle.candidates, bundle.question, sizes))
            pack = []
    return blocks
