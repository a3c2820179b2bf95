"""Prompts on their way to a model: what was submitted together, and the blocks that go out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

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
