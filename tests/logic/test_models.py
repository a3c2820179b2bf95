"""Sets of models, domains and labelled domains, against brute force."""

from random import Random

import numpy as np
import pytest

from hornlens.exact.grid import LabelledSpace, labels_of_positives
from hornlens.exact.search import EnvelopeSearch
from hornlens.logic.attributes import Nominal
from hornlens.logic.batch import contains, obeys, pack, unpack
from hornlens.logic.bits import BOTTOM
from hornlens.logic.closures import (
    characteristic,
    closure_in,
    dg_basis_of_positives,
    intersection_closure,
)
from hornlens.logic.space import Space
from hornlens.logic.vocabulary import Vocabulary
from tests import brute
from tests.table_source import TableSource
from tests.targets import random_space, random_theory


@pytest.mark.parametrize("seed", range(300))
def test_closure_and_characteristic_models(seed):
    rng = Random(seed)
    width = rng.randint(0, 5)
    models = [x for x in range(1 << width) if rng.random() < rng.random()]
    closed = intersection_closure(models)
    assert closed == brute.close(models)
    kept = characteristic(models)
    assert brute.close(kept) == closed
    for left_out in kept:
        assert brute.close([m for m in kept if m != left_out]) != closed, (models, left_out)
    for x in range(1 << width):
        expected = brute.closure(models, x)
        assert closure_in(models, x) == (BOTTOM if expected is None else expected)


@pytest.mark.parametrize("seed", range(400))
def test_every_way_to_the_basis_of_a_labelled_domain_agrees(seed):
    rng = Random(seed)
    domain = random_space(rng)
    density = rng.random()
    models = [x for x in domain if rng.random() < density]
    width, background = domain.width, domain.background
    expected = brute.dg(models, list(domain))
    labelled = LabelledSpace(domain, labels_of_positives(domain, models))
    case = (domain, models)
    assert brute.pairs(labelled.dg_basis()) == expected, case
    assert brute.pairs(dg_basis_of_positives(models, width, background)) == expected, case
    search = EnvelopeSearch(TableSource(models, width), background)
    assert brute.pairs(search.run()) == expected, case
    assert set(labelled.non_horn()) == brute.close(models) - set(models), case


def test_labelling_by_a_function():
    domain = Space.of_variables(Vocabulary(("a", "b")))
    labelled = LabelledSpace.of(domain, lambda x: x != 3)
    assert brute.pairs(labelled.dg_basis()) == {(3, None)}


def test_a_domain_of_more_variables_than_a_word_has_bits():
    groups = [Nominal(f"a{i}", tuple(f"a{i}v{v}" for v in range(40))) for i in range(2)]
    domain = Space(tuple(groups))
    assert len(domain) == 41 * 41 and domain.masks().shape == (1681, 2)
    assert unpack(domain.masks()) == list(domain)
    rng = Random(1)
    models = [x for x in domain if rng.random() < 0.9]
    labelled = LabelledSpace(domain, labels_of_positives(domain, models))
    assert labelled.positive.sum() == len(models)
    assert brute.pairs(labelled.dg_basis()) == brute.dg(models, list(domain))


def test_a_domain_counts_samples_and_recognises_its_interpretations():
    groups = [Nominal("job", ("nurse", "priest")), Nominal("sex", ("she", "he"))]
    domain = Space((*groups, Nominal("old", ("old",))))
    assert domain.shape == (3, 3, 2) and domain.count == len(list(domain)) == 18
    assert 0b00011 not in domain and 0b10101 in domain and -1 not in domain and 32 not in domain
    rng = Random(0)
    drawn = [domain.sample(rng) for _ in range(1800)]
    assert set(drawn) == set(domain)
    assert 450 < sum(not x & 3 for x in drawn) < 750  # unset as likely as each value


@pytest.mark.parametrize("width", [1, 5, 63, 64, 130])
def test_packed_batches_agree_with_masks(width):
    rng = Random(width)
    masks = [rng.getrandbits(width) for _ in range(50)] + [0, (1 << width) - 1]
    batch = pack(masks, width)
    assert unpack(batch) == masks
    assert unpack(pack([BOTTOM, 0], width)) == [BOTTOM, 0]
    theory = random_theory(rng, width, 30)
    assert obeys(batch, theory).tolist() == [theory.satisfied_by(x) for x in masks]
    part = masks[0] & masks[1]
    row = pack([part], width)[0]
    assert contains(batch, row).tolist() == [part & ~x == 0 for x in masks]
    assert isinstance(batch, np.ndarray)
