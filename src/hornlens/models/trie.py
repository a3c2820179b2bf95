"""Token sequences as a tree, in which a shared prefix stands once, cut into packs for a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Pack:
    """Nodes that go through the model together: everything a node needs stands before it.

    The first `known` ones were computed in an earlier pack and are only repeated as context.
    """

    nodes: list[int]
    known: int


@dataclass(frozen=True)
class Trie:
    """The prefix tree of sequences: a node for each distinct non-empty prefix, in preorder."""

    tokens: list[int]
    parents: list[int]
    """The node before each one, -1 for a sequence's first."""
    depths: list[int]
    paths: list[list[int]]
    """For each sequence, its nodes."""

    def packs(self, size: int) -> Iterator[Pack]:
        """Cut the tree into packs of at most `size` new nodes.

        A pack is a stretch of the preorder, so what its nodes descend from is in the stretch or
        among the ancestors of its first node, which are put in front.
        """
        for start in range(0, len(self.tokens), size):
            ancestors = self.ancestors(start)
            end = min(start + size, len(self.tokens))
            yield Pack([*ancestors, *range(start, end)], len(ancestors))

    def ancestors(self, node: int) -> list[int]:
        """Return the nodes above a node, from the top."""
        nodes = []
        while (node := self.parents[node]) >= 0:
            nodes.append(node)
        return nodes[::-1]


def trie_of(sequences: Sequence[list[int]]) -> Trie:
    """Build the tree: in sorted order, each sequence shares its prefix with the one before."""
    trie = Trie([], [], [], [[] for _ in sequences])
    last_tokens: list[int] = []
    last_path: list[int] = []
    for index in sorted(range(len(sequences)), key=lambda i: sequences[i]):
        tokens = sequences[index]
        shared = 0
        for a, b in zip(tokens, last_tokens, strict=False):
            if a != b:
                break
            shared += 1
        path = last_path[:shared]
        for depth in range(shared, len(tokens)):
            trie.parents.append(path[-1] if path else -1)
            trie.depths.append(depth)
            path.append(len(trie.tokens))
            trie.tokens.append(tokens[depth])
        trie.paths[index] = path
        last_tokens, last_path = tokens, path
    return trie
