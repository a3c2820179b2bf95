"""The prefix tree of token sequences, against brute force."""

from random import Random

import pytest

from hornlens.models.trie import trie_of


def random_sequences(chance: Random) -> list[list[int]]:
    return [
        [chance.randrange(3) for _ in range(chance.randrange(7))]
        for _ in range(chance.randrange(1, 30))
    ]


@pytest.mark.parametrize("seed", range(200))
def test_a_trie_has_each_prefix_once_and_its_packs_have_all_that_they_need(seed):
    chance = Random(seed)
    sequences = random_sequences(chance)
    trie = trie_of(sequences)
    prefixes = {tuple(s[:end]) for s in sequences for end in range(1, len(s) + 1)}
    assert len(trie.tokens) == len(prefixes)
    assert [[trie.tokens[node] for node in path] for path in trie.paths] == sequences
    computed = []
    for pack in trie.packs(chance.randrange(1, 10)):
        before: set[int] = set()
        for node in pack.nodes:
            assert trie.parents[node] in before | {-1}
            assert trie.depths[node] == len(trie.ancestors(node))
            before.add(node)
        computed += pack.nodes[pack.known :]
    assert computed == list(range(len(trie.tokens)))
