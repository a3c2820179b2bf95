"""The engines of tables against brute force: premises, groups, columns, concepts."""

from collections import Counter
from random import Random

import pytest

from hornlens.exact import envelopes
from hornlens.exact.columns import Columns, turned
from hornlens.exact.concepts import concepts
from hornlens.exact.engine import run
from hornlens.exact.envelopes import envelope_of_table
from hornlens.exact.exclusive_columns import Groups, GroupsEngine
from hornlens.exact.premises import PremiseSearch, direct_basis
from hornlens.exact.search import EnvelopeSearch
from hornlens.limits import Limits
from hornlens.logic.basis import is_saturated
from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from tests import brute
from tests.command import hornlens
from tests.table_source import TableSource


def random_rows(rng, width, most=9):
    """Rows of some density; at times of values in groups, as tables of values have them."""
    if rng.random() < 0.4:
        groups, at = [], 0
        while at < width:
            size = min(rng.randint(1, 3), width - at)
            groups.append((at, size))
            at += size
        return [
            sum(1 << at + rng.randrange(size) for at, size in groups if rng.random() < 0.95)
            for _ in range(rng.randint(0, most))
        ]
    density = rng.choice([0.2, 0.5, 0.8])
    return [
        sum((rng.random() < density) << i for i in range(width))
        for _ in range(rng.randint(0, most))
    ]


def random_background(rng, rows, width):
    """Rules that hold of the rows."""
    assumed = []
    for _ in range(rng.randint(0, 4)):
        x = rng.getrandbits(width)
        closed = brute.closure(rows, x)
        if closed != x:
            assumed.append(Rule(x, BOTTOM if closed is None else closed))
    return Theory(width, tuple(assumed))


@pytest.mark.parametrize("seed", range(20))
def test_every_engine_finds_the_basis_of_the_definition(seed):
    rng = Random(seed)
    for _ in range(100):
        width = rng.randint(1, 7)
        rows = random_rows(rng, width)
        expected = brute.dg(rows, range(1 << width))
        case = (rows, width)
        assert brute.pairs(PremiseSearch(rows, width).run()) == expected, case
        groups = Groups.of(Columns(rows, width))
        labelled = groups.labelled(rows)
        assert brute.pairs(run(GroupsEngine(groups, labelled)).basis) == expected, case
        beside = sorted(brute.close(rows) - set(rows), key=lambda x: (x.bit_count(), x))
        found = groups.non_horn(labelled)
        assert found.count == len(beside), case
        assert [x.bit_count() for x in found.examples] == [x.bit_count() for x in beside[:10]]
        assert set(found.examples) <= set(beside), case


@pytest.mark.parametrize("seed", range(10))
def test_relative_to_a_background(seed):
    rng = Random(1000 + seed)
    for _ in range(100):
        width = rng.randint(1, 7)
        rows = random_rows(rng, width)
        assumed = random_background(rng, rows, width)
        domain = [x for x in range(1 << width) if assumed.satisfied_by(x)]
        found = PremiseSearch(rows, width, assumed).run()
        assert brute.pairs(found) == brute.dg(rows, domain), (rows, assumed)


@pytest.mark.parametrize("seed", range(10))
def test_envelopes_agree_with_the_search_for_one_rule_after_another(seed, monkeypatch):
    rng = Random(seed)
    for _ in range(3):
        width = rng.randint(15, 70)
        rows = random_rows(rng, width, 12)
        rules = EnvelopeSearch(TableSource(rows, width)).run()
        table = Table(Vocabulary.numbered(width), tuple(rows))
        assert envelope_of_table(table).basis == rules, (rows, width)
        monkeypatch.setattr(envelopes, "GRID_LIMIT", 1)
        assert envelope_of_table(table).basis == rules, (rows, width)
        monkeypatch.undo()


@pytest.mark.parametrize("seed", range(10))
def test_a_grid_that_is_not_labelled_gives_the_same_envelope(seed, monkeypatch):
    rng = Random(seed)
    for limit in (3, 10_000):  # some have more non-Horn negatives than that
        width = rng.randint(8, 12)
        table = Table(Vocabulary.numbered(width), tuple(random_rows(rng, width, 20)))
        labelled = envelope_of_table(table)
        monkeypatch.setattr(envelopes, "SMALL_GRID", 0)
        monkeypatch.setattr(envelopes, "POINTS_A_ROW", 0)
        monkeypatch.setattr(envelopes, "COUNT_LIMIT", limit)
        searched = envelope_of_table(table)
        monkeypatch.undo()
        if table.rows:
            assert "weakest_premises" in searched.statistics
        for part in ("basis", "readable", "support", "non_horn"):
            assert getattr(searched, part) == getattr(labelled, part), (part, table.rows)


@pytest.mark.parametrize("seed", range(10))
def test_the_weakest_premises_are_some_of_the_minimal_ones_and_say_the_same(seed):
    rng = Random(seed)
    fewer = 0
    for _ in range(60):
        width = rng.randint(1, 7)
        rows = random_rows(rng, width, 12)
        search = PremiseSearch(rows, width)
        every = {x for h in range(-1, width) for some in search.premises_of(h) for x in some}
        search.run()
        assert set(search.premises) <= every, rows
        fewer += len(search.premises) < len(every)
        weakest = Theory(width, tuple(Rule(*pair) for pair in search.premises.items()))
        for x in range(1 << width):
            closed = brute.closure(rows, x)
            assert weakest.closure(x) == (BOTTOM if closed is None else closed), (rows, x)
    assert fewer


@pytest.mark.parametrize("seed", range(10))
def test_the_direct_basis_has_all_minimal_premises_and_nothing_else(seed):
    rng = Random(seed)
    for _ in range(60):
        width = rng.randint(1, 6)
        rows = random_rows(rng, width)
        heads = {}
        for head in (None, *range(width)):
            hits = [
                x
                for x in range(1 << width)
                if (closed := brute.closure(rows, x)) is None
                or (head is not None and closed >> head & 1)
            ]
            if head is None:
                hits = [x for x in hits if brute.closure(rows, x) is None]
            for x in hits:
                smaller = any(y != x and y & ~x == 0 for y in hits)
                if smaller or (head is not None and (x >> head & 1)):
                    continue
                if head is None:
                    heads[x] = None
                elif brute.closure(rows, x) is not None:
                    heads[x] = heads.get(x, 0) | 1 << head
        assert brute.pairs(direct_basis(PremiseSearch(rows, width))) == set(heads.items()), rows
        # Direct: what follows from a set follows from it in one step.
        for x in range(1 << width):
            step = x
            for left, right in heads.items():
                if left & ~x == 0:
                    step = BOTTOM if right is None else step | right
            closed = brute.closure(rows, x)
            assert step == (BOTTOM if closed is None else closed), (rows, x)


@pytest.mark.parametrize("seed", range(10))
def test_concepts_are_the_closed_sets_each_once(seed):
    rng = Random(seed)
    for _ in range(50):
        width = rng.randint(1, 8)
        rows = random_rows(rng, width)
        found = list(concepts(Columns(rows, width)))
        assert sorted(x for _, x in found) == sorted(brute.close(rows)), rows
        for extent, x in found:
            assert extent == sum(1 << i for i, row in enumerate(rows) if x & ~row == 0)


def test_tables_are_turned_round_whatever_their_shape(monkeypatch):
    rng = Random(0)
    for at_once in (1, 1 << 10, 1 << 26):
        monkeypatch.setattr("hornlens.exact.columns.AT_ONCE", at_once)
        for rows, width in [(0, 5), (3, 0), (1, 1), (7, 9), (70, 130), (129, 8)]:
            table = [rng.getrandbits(width) if width else 0 for _ in range(rows)]
            columns = turned(table, width)
            expected = [sum((r >> v & 1) << i for i, r in enumerate(table)) for v in range(width)]
            assert columns == expected
            if width:
                assert turned(columns, rows) == table


def test_supports_count_rows_and_not_distinct_ones():
    table = Table(Vocabulary(("a", "b")), (0b11, 0b11, 0b10))
    found = envelope_of_table(table)
    assert [found.support] == [[3]] and found.readable.rules == (Rule(0, 0b10),)
    assert Columns(table.rows, 2).supports([0, 1, 2]) == [3, 2, 3]


def test_what_was_proved_before_a_limit_holds():
    rng = Random(3)
    rows = [rng.getrandbits(24) | rng.getrandbits(24) for _ in range(30)]
    table = Table(Vocabulary.numbered(24), tuple(rows))
    whole = envelope_of_table(table)
    ended = set()
    for steps in (1, 10, 20, 30, 40):
        ticks = iter(range(10**9))
        limits = Limits(time_limit=steps, clock=ticks.__next__)
        found = envelope_of_table(table, limits=limits)
        ended.add(found.certificate.kind)
        if found.certificate.kind == "exact":
            continue
        assert found.certificate.kind == "interrupted"
        assert whole.basis.entails(found.basis)
        assert is_saturated(found.basis)
    assert "interrupted" in ended


@pytest.mark.parametrize("seed", range(10))
def test_rules_of_a_table_are_ranked_by_rows_or_by_chance(seed):
    from hornlens.exact.ranking import expected_exceptions, ranked

    rng = Random(f"ranked {seed}")
    for _ in range(20):
        width, count = rng.randint(1, 6), rng.randint(1, 12)
        rows = tuple(rng.getrandbits(width) | rng.getrandbits(width) for _ in range(count))
        table = Table(Vocabulary(tuple(f"v{i}" for i in range(width))), rows)
        columns = Columns(table.rows, width)
        whole = envelope_of_table(table)

        def share(x, rows=table.rows):
            return sum(x & ~row == 0 for row in rows) / len(rows)

        for rule, expected in zip(
            whole.readable, expected_exceptions(whole.readable, columns), strict=True
        ):
            having = [row for row in table.rows if rule.antecedent & ~row == 0]
            if having:
                wanted = len(having) * (1 - share(rule.new))
            else:
                wanted = len(table.rows)
                for v in range(width):
                    wanted *= share(1 << v) if rule.antecedent >> v & 1 else 1
            assert expected == pytest.approx(wanted), (table, rule)
        for rank in ("support", "surprise"):
            found = ranked(whole, table, rank)
            assert Counter(found.basis.rules) == Counter(whole.basis.rules)
            pairs = dict(zip(whole.basis.rules, whole.readable.rules, strict=True))
            assert [pairs[rule] for rule in found.basis] == list(found.readable)
            supports = [sum(r.antecedent & ~x == 0 for x in table.rows) for r in found.readable]
            assert list(found.support) == supports
            strength = supports
            if rank == "surprise":
                strength = expected_exceptions(found.readable, columns)
            assert strength == sorted(strength, reverse=True)


def test_rank_is_for_tables_and_says_its_order(tmp_path):
    def run_it(*arguments):
        return hornlens("envelope", *arguments, cwd=tmp_path)

    (tmp_path / "t.csv").write_text("fly,bird,swim\n1,1,0\n1,1,0\n0,1,1\n0,0,1\n0,0,0\n")
    (tmp_path / "f.cnf").write_text("p cnf 2 1\n-1 2 0\n")
    done = run_it("t.csv", "--rank", "surprise")
    assert "In order: those that chance would break in the most rows first." in done.stdout
    done = run_it("t.csv", "--rank", "support", "--format", "json")
    assert done.returncode == 0 and "canonical order" in done.stderr
    done = run_it("f.cnf", "--rank", "support")
    assert done.returncode == 2 and "--rank is for tables" in done.stderr
