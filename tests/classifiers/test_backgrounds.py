"""A background of a classifier: rules of the space of its columns, and what they rule out."""

from itertools import product

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs pip install 'hornlens[sklearn]'")
pytest.importorskip("pandas")

import pandas

import hornlens
from hornlens.errors import InputError
from hornlens.logic.rule import Rule
from hornlens.targets.classifiers.answering import read_classifier
from hornlens.targets.classifiers.background import Background
from hornlens.targets.classifiers.binning import bin_columns
from hornlens.targets.classifiers.boxes import levels_of
from hornlens.targets.classifiers.conditions import Both, Either, Not
from hornlens.targets.classifiers.points import Binned
from hornlens.targets.classifiers.target import ClassifierTarget

SIZES = ["S", "M", "L"]


def rows(rng, count=120):
    made = pandas.DataFrame(
        {
            "age": rng.integers(18, 80, count).astype(float),
            "income": rng.normal(2, 1, count).round(1),
            "sex": rng.choice(["f", "m", "x"], count),
            "pregnant": rng.choice([True, False], count),
            "size": pandas.Categorical(rng.choice(SIZES, count), SIZES, ordered=True),
            "same": 1.0,
        }
    )
    if rng.random() < 0.7:
        made.loc[rng.random(count) < 0.2, "income"] = np.nan
        made.loc[rng.random(count) < 0.2, "sex"] = None
    return made


CONDITIONS = (
    *("age < 30", "age >= 30", "30 <= age < 60", "age > 45.5", "age = 40", "income <= 1.5"),
    *("income > 3", "income is missing", "income is known", "sex = f", "sex = m", "sex is missing"),
    *("sex is known", "pregnant", "not pregnant", "size = M", "size >= M", "size < L", "same = 1"),
    *("age < 30 and age > 45", "sex = f and sex = m", "age >= 30 and income <= 1.5"),
    *("sex != f", "sex in {f, m}", "(age < 30 or income > 3)", "size not in {M}", "not (age < 60)"),
    *("(pregnant or size = L)", "not (sex = f and age < 45)"),
)


def random_background(rng):
    texts = []
    for _ in range(rng.integers(1, 4)):
        left = " and ".join(rng.choice(CONDITIONS, rng.integers(1, 3), replace=False))
        right = "false" if rng.random() < 0.3 else str(rng.choice(CONDITIONS))
        texts.append(f"{left} -> {right}")
    return texts


def says(table):
    return np.where(table["age"] + 10 * table["income"].fillna(0) > 60, "yes", "no")


def meets(expression, cell, features):
    """Whether a cell meets an expression; a column of one level meets all conditions."""
    if isinstance(expression, Not):
        return not meets(expression.inner, cell, features)
    if isinstance(expression, Both | Either):
        parts = [meets(part, cell, features) for part in expression.parts]
        return all(parts) if isinstance(expression, Both) else any(parts)
    by_name = {feature.name: place for place, feature in enumerate(features)}
    if expression.name not in by_name:
        return True
    place = by_name[expression.name]
    return bool(levels_of(expression, features[place])[cell[place]])


@pytest.mark.parametrize("seed", range(150))
def test_the_rules_of_the_space_rule_out_what_breaks_the_background(seed):
    rng = np.random.default_rng(seed)
    table = rows(rng)
    classifier = read_classifier(says, table)
    background = Background(random_background(rng), classifier.table.names)
    more = background.cuts(classifier.table)
    features = Binned(
        classifier, bin_columns(says, classifier, "quantile", 2, more).features
    ).features
    forbidden = background.over(features)
    cells = np.array(list(product(*(range(feature.size) for feature in features))))
    some = cells[rng.choice(len(cells), min(len(cells), 400), replace=False)]
    expected = [
        all(
            not meets(rule.given, cell, features) or meets(rule.follows, cell, features)
            for rule in background.parsed
        )
        for cell in some.tolist()
    ]
    case = (seed, background.texts)
    assert forbidden.allows(some).tolist() == expected, case
    space = forbidden.space
    for cell, allowed in zip(some.tolist(), expected, strict=True):
        x = sum(own[level] for own, level in zip(space.leaves, cell, strict=True))
        assert space.background.satisfied_by(x) == allowed, (case, cell)
        boxes = (zip(box, cell, strict=True) for box in forbidden.boxes)
        inside = any(all(levels >> level & 1 for levels, level in box) for box in boxes)
        assert inside != allowed, (case, cell)


@pytest.mark.parametrize("seed", range(6))
def test_a_background_is_never_a_finding_and_its_result_is_verified(seed, tmp_path):
    rng = np.random.default_rng(seed)
    table = rows(rng)[["age", "sex", "pregnant"]]

    def bank(data):
        return np.where((data["age"] >= 40) & (data["sex"] == "f"), "yes", "no")

    background = ["pregnant -> sex = f", "age >= 60 -> not pregnant"]
    options = {"bins": {"age": [40]}, "background": background}
    target = ClassifierTarget.of(bank, table, **options)
    found = hornlens.extract(target)
    mask = target.space.vocabulary.mask
    assumed = Rule(mask(["pregnant"]), mask(["sex = f"]))
    assert target.space.background.entails(assumed)
    assert not any(target.space.background.entails(rule) for rule in found.envelope.readable)
    assert len(found.decisions) == sum(1 for _ in target.space.cells()) < target.space.cell_count
    explained = hornlens.explain(bank, table, **options)
    assert explained.basis().basis == found.envelope.basis
    explained.save(tmp_path / "explained")
    again = hornlens.load(tmp_path / "explained")
    assert again.basis().basis == found.envelope.basis
    found.save(tmp_path / "found")
    assert hornlens.verify(tmp_path / "found").ok
    with pytest.raises(InputError, match="a background needs partial=None"):
        ClassifierTarget.of(bank, table, partial="typical", **options)
