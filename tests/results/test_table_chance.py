"""More than chance, of tables: shuffled columns, by definition, by simulation, and in files."""

import json
from math import exp
from random import Random

import numpy as np
import pytest

from hornlens.api import envelope, load
from hornlens.errors import HornlensError
from hornlens.exact.permuted_rows import PermutedRows
from hornlens.logic.attributes import Nominal
from hornlens.logic.bits import BOTTOM
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from tests.command import hornlens

LEVEL = 0.05


def table_of(space, levels):
    """The table whose rows have these leaves of each attribute."""
    rows = [sum(space.leaves[axis][place] for axis, place in enumerate(row)) for row in levels]
    return Table(space.vocabulary, tuple(rows))


def nominal(name, count):
    return Nominal(name, tuple(f"{name}{i}" for i in range(count)))


def random_rows(seed, labelled, rows=40):
    rng = np.random.default_rng(seed)
    space = Space((nominal("a", 3), nominal("b", 4), nominal("c", 2)))
    levels = np.stack([rng.integers(n, size=rows) for n in (3, 4, 2)], axis=1)
    return PermutedRows(table_of(space, levels), space, labelled)


@pytest.mark.parametrize("seed", range(24))
def test_rules_hold_as_defined(seed):
    rng = Random(seed)
    attributes = (nominal("a", 2), Ordered("o", ("low", "mid", "high")), nominal("c", 3))
    space = Space(attributes)
    levels = [[rng.randrange(len(a.leaves)) for a in attributes] for _ in range(rng.randint(3, 9))]
    table = table_of(space, levels)
    rows = PermutedRows(table, space, labelled=False)
    x, y = rows._data
    one, two = rows._holding(x, y)
    masks, rights = [m for _, m in rows.choices], [m for _, m in rows.variables]

    def holds(left, right):
        having = [row for row in table.rows if left & ~row == 0]
        return all(right is not None and right & ~row == 0 for row in having)

    for i, a in enumerate(masks):
        for v, right in enumerate(rights):
            assert one[i, v] == holds(a, right)
        for j, b in enumerate(masks):
            if i != j:
                for v, right in enumerate([*rights, None]):
                    assert two[i, j, v] == holds(a | b, right)


def test_with_a_label_the_chance_of_a_rule_is_its_share_of_permutations():
    rows = random_rows(1, labelled=True, rows=12)
    space, table = rows.space, rows.table
    label = space.groups[2]
    rng = Random(0)
    names = space.vocabulary.names
    rules = [
        Rule(0b1 | 1 << 3, 0b1 | 1 << 3 | 1 << 7),
        Rule(0b1 | 1 << 7, BOTTOM),
        Rule(1 << 7 | 1 << 3, 1 << 7 | 1 << 3 | 1),
    ]
    for rule in rules:
        chance = rows.chance_of(rule)
        assert chance is not None, rule
        held, runs = 0, 4_000
        labels = [row & label for row in table.rows]
        for _ in range(runs):
            rng.shuffle(labels)
            shuffled = [row & ~label | own for row, own in zip(table.rows, labels, strict=True)]
            held += all(rule.satisfied_by(row) for row in shuffled)
        expected = exp(chance)
        assert abs(held / runs - expected) < 4 * (expected * (1 - expected) / runs) ** 0.5 + 1e-9
    assert len(names) == 9


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize(
    "runs", [60, pytest.param(1_000, marks=pytest.mark.slow)], ids=["short", "slow"]
)
def test_random_tables_are_hardly_ever_marked(labelled, runs):
    marked = 0
    for seed in range(runs):
        permuted = random_rows(seed, labelled).permute(39, seed)
        marked += permuted.p_value(permuted.smallest[0]) <= LEVEL
    assert marked <= LEVEL * runs + 3 * (runs * LEVEL * (1 - LEVEL)) ** 0.5


@pytest.fixture
def loans(tmp_path):
    """A table in which a=x with b=p is always granted; the rest is chance."""
    rng, lines = Random(2), ["a,b,c,cls"]
    for _ in range(300):
        a, b, c = rng.choice("xyz"), rng.choice("pq"), rng.choice("uvw")
        lines.append(f"{a},{b},{c},{'yes' if (a, b) == ('x', 'p') else rng.choice(['yes', 'no'])}")
    file = tmp_path / "loans.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_a_planted_rule_of_a_table_is_marked_in_every_file(loans, tmp_path):
    out = tmp_path / "out"
    done = hornlens("envelope", loans, "--label", "cls", "--chance", "99", "--out", out)
    assert "a=x ∧ b=p → cls=yes" in done.stdout and "0.010 *" in done.stdout
    assert "with at most two conditions that speak of the label" in done.stdout
    content = json.loads((out / "envelope.json").read_text())
    assert content["chance"]["permuted"] == "label" and 0.01 in content["chance"]["p_values"]
    assert "more than chance (p ≤ 0.010)" in (out / "report.html").read_text()
    result = load(out)
    assert result.chance().as_json() == content["chance"]
    assert result.as_json()["chance"] == content["chance"]
    marked = [str(row) for row in result.rules if row.p_value is not None and row.p_value <= LEVEL]
    assert "a=x ∧ b=p → cls=yes" in marked


def test_a_formula_has_nothing_to_shuffle(tmp_path):
    file = tmp_path / "f.cnf"
    file.write_text("p cnf 2 1\n-1 -2 0\n")
    with pytest.raises(HornlensError, match="no rows to shuffle"):
        envelope(file, chance=9)


def test_without_it_nothing_is_said(loans):
    result = envelope(loans, label="cls")
    assert result.table_chance is None and "chance" not in result.as_json()
    with pytest.raises(HornlensError, match="no answers are recorded"):
        result.chance()


def test_p_values_of_other_rules_are_rejected(loans, tmp_path):
    envelope(loans, label="cls", chance=19).save(tmp_path / "out")
    file = tmp_path / "out" / "envelope.json"
    content = json.loads(file.read_text())
    content["chance"]["p_values"].pop()
    file.write_text(json.dumps(content))
    with pytest.raises(HornlensError, match="p-values of other rules"):
        load(tmp_path / "out")
    content["chance"] = {"seed": "none"}
    file.write_text(json.dumps(content))
    with pytest.raises(HornlensError, match=r"envelope\.json"):
        load(tmp_path / "out")
