"""Rates and flips: equal to counting by hand, and the same in every file."""

import csv
import io
import json
import sys
import time
from dataclasses import replace
from itertools import combinations
from random import Random
from types import SimpleNamespace

import pytest

from hornlens.api import Result, extract, load
from hornlens.logic.attributes import Nominal
from hornlens.logic.decisions import YES, Decision
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.taxonomy import Taxonomy
from hornlens.probes.probe import numbered
from hornlens.report.rates import percent, show_rates
from hornlens.report.terminal import Terminal
from hornlens.results.analysis.flips import values_of
from hornlens.results.analysis.rates import flipped_cells, rates_of
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.writing import extraction_as_json
from hornlens.targets.functions import FunctionTarget
from tests.extraction.test_extraction import PAPER, planted
from tests.targets import random_space, random_theory


def random_answers(rng, space, share=1.0):
    """Answers to some of the cells, abstentions among them."""
    labels = 2 if space.label is None else len(space.label.variables)
    return {
        cell: Decision(rng.choice([None, *range(labels), *range(labels)]))
        for cell in space.cells()
        if rng.random() < share
    }


def value_in(attribute, names):
    """What a cell says of an attribute, by the definition of values; None if it sets none."""
    own = [name for name in attribute.variables if name in names]
    if isinstance(attribute, Ordered):
        place = attribute.levels.index
        fits = [
            level
            for level in attribute.levels
            if all(place(level) >= place(n.split(" ≥ ")[1]) for n in own if " ≥ " in n)
            and all(place(level) <= place(n.split(" ≤ ")[1]) for n in own if " ≤ " in n)
        ]
        return fits[0] if len(fits) == 1 else None
    if not own:
        return f"not {attribute.variables[0]}" if len(attribute.variables) == 1 else None
    return own[-1]  # in a taxonomy, what is above comes first


def by_hand(space, worlds, attribute):
    """Rates and flips by looking at every cell, and every pair of cells."""
    counts, flips, pairs, undecided = {}, 0, 0, 0
    for answers in worlds:
        said = []
        for cell, decision in answers.items():
            names = space.vocabulary.names_of(cell)
            value = value_in(attribute, names)
            if value is None:
                continue
            counts.setdefault(value, []).append(decision.winner)
            rest = frozenset(names) - set(attribute.variables)
            said.append((value, rest, decision.winner))
        for (v, rest, a), (w, other, b) in combinations(said, 2):
            if rest == other and v != w:
                pairs += 1
                undecided += a is None or b is None
                flips += a is not None and b is not None and a != b
    return counts, flips, pairs, undecided


def plain(attribute, value):
    """The name of a value as `value_in` has it: "low" of "size = low" or "size ≤ low"."""
    return value.split(" ")[-1] if isinstance(attribute, Ordered) else value


@pytest.mark.parametrize("seed", range(150))
def test_they_equal_counting_by_hand(seed):
    rng = Random(seed)
    space = random_space(rng)
    if rng.random() < 0.3:
        assumed = random_theory(rng, space.width, 1).rules
        space = replace(space, assumed=assumed)
    share = rng.choice([1.0, 0.5])
    worlds = [random_answers(rng, space, share) for _ in range(rng.choice([1, 1, 3]))]
    rates = rates_of(space, [(f"w{i}", each) for i, each in enumerate(worlds)])
    labels = ("rejected", "accepted") if space.label is None else space.label.variables
    assert rates.labels == labels and len(rates.attributes) == len(space.attributes)
    assert list(rates.worlds) == ([] if len(worlds) == 1 else ["w0", "w1", "w2"])
    for attribute in space.attributes:
        found = rates[attribute.name]
        counts, flips, pairs, undecided = by_hand(space, worlds, attribute)
        shown = (seed, attribute, found, counts)
        assert (found.flips, found.pairs, found.undecided) == (flips, pairs, undecided), shown
        assert {plain(attribute, rate.value) for rate in found.values} == set(counts), shown
        for rate in found.values:
            winners = counts[plain(attribute, rate.value)]
            assert rate.counts == tuple(map(winners.count, range(len(labels)))), shown
            assert rate.abstained == winners.count(None), shown
        _, _, possible, _ = by_hand(space, [dict.fromkeys(space.cells(), Decision(0))], attribute)
        assert found.possible == possible * len(worlds), shown
        for spread in found.spreads:
            place = labels.index(spread.label)
            shares = {rate.value: rate.shares[place] for rate in found.values if rate.shares}
            assert spread.high == shares[spread.highest] == max(shares.values()), shown
            assert spread.low == shares[spread.lowest] == min(shares.values()), shown
            assert spread.difference == spread.high - spread.low
            assert spread.ratio == (spread.low / spread.high if spread.high else None)
    for flip in flipped_cells(space, worlds, 10**9):
        at = next(i for i, a in enumerate(space.attributes) if a.name == flip.attribute)
        one, other = flip.cells
        assert one != other and (one ^ other) & ~space.groups[at] == 0
        answers = worlds[flip.world]
        assert flip.labels == tuple(labels[answers[cell].winner] for cell in flip.cells)
        assert flip.labels[0] != flip.labels[1]
    total = sum(rates[a.name].flips for a in space.attributes)
    assert total == len({(f.world, f.cells) for f in flipped_cells(space, worlds, 10**9)})


def test_a_space_without_labels_has_the_share_that_is_accepted():
    space = Space((Nominal("smoker", ("smoker",)), Ordered("age", ("young", "old"))))
    answers = {
        cell: Decision(YES if "smoker" not in space.vocabulary.names_of(cell) else 0)
        for cell in space.cells()
    }
    rates = rates_of(space, [("f", answers)])
    (spread,) = rates["smoker"].spreads
    assert (spread.label, spread.highest, spread.lowest) == ("accepted", "not smoker", "smoker")
    assert (rates["smoker"].flips, rates["smoker"].pairs) == (3, 3)
    assert (rates["age"].flips, rates["age"].pairs) == (0, 2)


def test_a_place_in_a_taxonomy_counts_where_it_is_said():
    place = Taxonomy.of("place", [("Europe", None), ("Germany", "Europe"), ("Asia", None)])
    assert [name for name, _ in values_of(place)] == ["Europe", "Germany", "Asia"]
    space = Space((place,), Nominal("l", ("x", "y")))
    rates = rates_of(space, [("f", {0b001: Decision(0), 0b011: Decision(1)})])
    assert [(r.value, r.counts) for r in rates["place"].values] == [
        ("Europe", (1, 0)),
        ("Germany", (0, 1)),
    ]
    assert (rates["place"].flips, rates["place"].pairs, rates["place"].possible) == (1, 1, 3)


def test_pairs_that_cannot_be_counted_are_said_to_be_unknown():
    attributes = tuple(Nominal(f"a{i}", (f"v{i}", f"w{i}")) for i in range(13))
    space = Space(attributes, None, (Rule(0b101, -1),))
    rates = rates_of(space, [("f", {0b01: Decision(1), 0b10: Decision(0)})])
    assert (rates["a0"].flips, rates["a0"].pairs, rates["a0"].possible) == (1, 1, None)


def test_what_the_planted_model_does():
    """Nurses are She, whatever else is said."""
    rates = extract(planted, PAPER, cache=False).rates
    nurse = next(rate for rate in rates["occupation"].values if rate.value == "nurse")
    assert dict(zip(rates.labels, nurse.counts, strict=True))["female"] == nurse.answered == 60
    assert nurse.shares == tuple(float(label == "female") for label in rates.labels)
    assert rates["occupation"].widest.difference == 1.0


def test_they_are_in_the_files_and_come_back(tmp_path):
    result = extract(planted, PAPER, cache=False)
    result.save(tmp_path)
    content = json.loads((tmp_path / "envelope.json").read_text("utf-8"))
    assert content["rates"]["labels"] == list(result.rates.labels)
    for line in content["rates"]["attributes"]:
        found = result.rates[line["attribute"]]
        flips = line["flips"]
        assert (flips["count"], flips["pairs"]) == (found.flips, found.pairs)
        assert flips["possible"] == flips["pairs"]  # all was asked
        for one, other in flips["examples"]:
            answers = content["answers"][one], content["answers"][other]
            assert answers[0]["winner"] != answers[1]["winner"]
            differing = set(answers[0]["set"]) ^ set(answers[1]["set"])
            assert differing <= set(content["probe"]["attributes"][line["attribute"]])
    assert load(tmp_path).rates == result.rates
    rows = list(csv.DictReader(io.StringIO((tmp_path / "rates.csv").read_text("utf-8"))))
    (nurse,) = (r for r in rows if (r["value"], r["label"]) == ("nurse", "female"))
    assert (nurse["attribute"], nurse["count"], nurse["answered"], nurse["share"]) == (
        *("occupation", "60", "60"),
        "1.0",
    )
    flips = list(csv.DictReader(io.StringIO((tmp_path / "flips.csv").read_text("utf-8"))))
    by_attribute = dict.fromkeys(content["probe"]["attributes"], 0)
    asked = {answer["prompts"][0]: answer["winner"] for answer in content["answers"]}
    for flip in flips:
        by_attribute[flip["attribute"]] += 1
        assert asked[flip["shown_from"]] == flip["answer_from"] != flip["answer_to"]
        assert asked[flip["shown_to"]] == flip["answer_to"]
    assert by_attribute == {a.attribute: a.flips for a in result.rates.attributes}


def test_a_sampled_run_says_of_how_many_pairs_both_sides_were_asked():
    settings = Settings("pac", epsilon=0.3, delta=0.3)
    rates = extract(planted, PAPER, cache=False, settings=settings).rates
    assert all(0 < a.pairs < a.possible for a in rates.attributes)


def test_each_way_of_asking_is_counted_and_all_together(tmp_path):
    one = replace(extract(planted, PAPER, cache=False), world="one")
    other = extract(lambda p, w: {"She": 0.0, "He": -1.0}, PAPER, cache=False)
    both = Result.of(replace(one, worlds=(one, replace(other, world="two"))))
    assert list(both.rates.worlds) == ["one", "two"]
    assert both.rates.worlds["one"] == one.rates
    assert both.rates.worlds["two"]["occupation"].flips == 0
    work = both.rates["occupation"]
    assert work.flips == one.rates["occupation"].flips
    assert work.pairs == 2 * one.rates["occupation"].pairs
    assert work.values[0].answered == 2 * one.rates["occupation"].values[0].answered
    rows = list(csv.DictReader(io.StringIO(both.rates.csv())))
    assert [*dict.fromkeys(row["variant"] for row in rows)] == ["", "one", "two"]


def test_they_become_a_data_frame(monkeypatch):
    made = SimpleNamespace(DataFrame=lambda lines, columns: (lines, columns))
    monkeypatch.setitem(sys.modules, "pandas", made)
    rates = extract(planted, PAPER, cache=False).rates
    lines, columns = rates.to_frame()
    assert columns[:4] == ["attribute", "value", "label", "count"]
    assert ["occupation", "nurse", "female", 60, 60, 0, 1.0] in lines
    assert len(lines) == 2 * sum(len(each.values) for each in rates.attributes)


def test_the_terminal_has_a_line_for_each_attribute(capsys):
    show_rates(Terminal(), extract(planted, PAPER, cache=False))
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.startswith("Rates (shares of the answers)") and len(lines) == 3
    (work,) = (line for line in lines if line.startswith("  occupation: "))
    assert "“She” from 0% (" in work and " to 100% (nurse); " in work
    assert " flips in 2,700 pairs." in work


def test_averages_baselines_and_sampled_pairs_are_said_to_be_that(capsys):
    twice = replace(PAPER, variants=numbered([*PAPER.templates, "And " + PAPER.templates[0]]))
    policy = replace(PAPER.policy, calibration="neutral", phrasings="average")
    show_rates(Terminal(), extract(planted, twice, policy=policy, cache=False))
    shown = capsys.readouterr().out
    assert "more than the model’s own baseline, on average over 2 phrasings" in shown
    settings = Settings("pac", epsilon=0.3, delta=0.3)
    result = extract(planted, PAPER, settings=settings, cache=False)
    show_rates(Terminal(), result)
    shown = capsys.readouterr().out
    assert f"{result.rates['period'].pairs:,} pairs asked of 1,100" in shown


@pytest.mark.parametrize(
    ("share", "shown"), [(0, "0%"), (0.001, "<1%"), (0.5, "50%"), (0.999, ">99%"), (1, "100%")]
)
def test_a_share_is_not_rounded_to_all_or_nothing(share, shown):
    assert percent(share) == shown


def test_functions_have_rates_too(tmp_path):
    space = Space((Nominal("work", ("nurse", "priest")),), Nominal("l", ("yes", "no")))
    target = FunctionTarget(lambda names: "yes" if "nurse" in names else "no", space)
    result = extract(target)
    assert result.rates["work"].flips == result.rates["work"].pairs == 1
    assert extraction_as_json(result)["rates"]["attributes"][0]["flips"]["examples"] == [[1, 2]]


def test_a_hundred_thousand_cells_take_a_moment():
    attributes = tuple(Nominal(f"a{i}", tuple(f"a{i}v{j}" for j in range(9))) for i in range(5))
    space = Space(attributes, Nominal("l", ("x", "y", "z")))
    rng = Random(1)
    answers = {cell: Decision(rng.choice([None, 0, 1, 2])) for cell in space.cells()}
    start = time.process_time()
    rates_of(space, [("m", answers)])
    assert len(answers) == 100_000 and time.process_time() - start < 5
