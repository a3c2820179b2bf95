"""Rates with intervals: by count, by simulation, and in every file."""

import csv
import io
import json
from itertools import combinations
from math import inf
from random import Random

import numpy as np
import pytest

from hornlens.api import extract, load
from hornlens.errors import HornlensError
from hornlens.logic.shares import chance_of_hits, share_interval
from hornlens.report.disparities import show_disparities
from hornlens.report.terminal import Terminal
from hornlens.results.analysis.intervals import (
    Interval,
    Pairs,
    difference_interval,
    paired_difference_interval,
    paired_ratio_interval,
    ratio_interval,
    shared_level,
    wilson,
)
from hornlens.results.documents.settings import Settings
from tests.command import hornlens
from tests.report_cases import probe

# --- intervals, over counts ---


def test_published_intervals():
    """Newcombe's examples (Statistics in Medicine 17, 1998), to their four digits."""
    rounded = [
        [round(end, 4) for end in difference_interval(*case)]
        for case in (((56, 70), (48, 80)), ((9, 10), (3, 10)), ((10, 10), (0, 10)))
    ]
    assert rounded == [[0.0524, 0.3339], [0.1705, 0.8090], [0.6075, 1.0]]
    paired = [
        [round(end, 4) for end in paired_difference_interval(Pairs(*case))]
        for case in ((36, 12, 2, 0), (54, 0, 0, 0))
    ]
    assert paired == [[0.0569, 0.3404], [-0.0664, 0.0664]]


@pytest.mark.parametrize("count", [1, 7, 40, 300])
def test_exact_intervals_are_exact(count):
    """Clopper and Pearson's: the ends are where a tail has its half of the rest."""
    for hits in {0, 1, count // 3, count}:
        low, high = share_interval(hits, count)
        if hits:
            assert chance_of_hits(hits, count, low) == pytest.approx(0.025)
        if hits < count:
            assert 1 - chance_of_hits(hits + 1, count, high) == pytest.approx(0.025)
        inner = wilson(hits, count)
        assert 0 <= inner.low <= hits / count <= inner.high <= 1


def test_the_incomplete_beta_function_sums_a_binomial():
    rng = np.random.default_rng(0)
    for _ in range(50):
        count = int(rng.integers(1, 60))
        hits, share = int(rng.integers(0, count + 2)), float(rng.random())
        ways = [1.0]
        for k in range(count):
            ways.append(ways[-1] * (count - k) / (k + 1))
        chance = sum(
            ways[k] * share**k * (1 - share) ** (count - k) for k in range(hits, count + 1)
        )
        assert chance_of_hits(hits, count, share) == pytest.approx(chance, abs=1e-9)


def test_ends_of_ratios():
    assert ratio_interval((0, 20), (10, 20)).low == 0
    assert ratio_interval((10, 20), (0, 20)).high == inf
    low, high = ratio_interval((10, 20), (10, 20))
    assert low < 1 < high and low * high == pytest.approx(1)
    assert paired_ratio_interval(Pairs(10, 0, 0, 10)).low > low  # pairs that agree say more


COVERED = 0.95


def _coverage(seed, runs, covers):
    rng = np.random.default_rng(seed)
    return sum(covers(rng) for _ in range(runs)) / runs


def _margin(runs):
    return 3 * (COVERED * (1 - COVERED) / runs) ** 0.5


def single(rng):
    n, p = int(rng.integers(5, 60)), float(rng.random())
    low, high = share_interval(int(rng.binomial(n, p)), n)
    return low <= p <= high


def apart(rng):
    counts = [int(n) for n in rng.integers(10, 80, 2)]
    p = rng.uniform(0.05, 0.95, 2)
    pairs = [(int(rng.binomial(n, q)), n) for n, q in zip(counts, p, strict=True)]
    low, high = difference_interval(*pairs)
    return low <= p[0] - p[1] <= high


def ratio(rng):
    counts = [int(n) for n in rng.integers(15, 80, 2)]
    p = rng.uniform(0.1, 0.9, 2)
    pairs = [(int(rng.binomial(n, q)), n) for n, q in zip(counts, p, strict=True)]
    low, high = ratio_interval(*pairs)
    return low <= p[0] / p[1] <= high


def _matched(rng):
    cells = rng.dirichlet([1, 1, 1, 1])
    n = int(rng.integers(15, 80))
    return cells, Pairs(*(int(c) for c in rng.multinomial(n, cells)))


def matched(rng):
    cells, pairs = _matched(rng)
    low, high = paired_difference_interval(pairs)
    return low <= cells[1] - cells[2] <= high


def matched_ratio(rng):
    cells, pairs = _matched(rng)
    low, high = paired_ratio_interval(pairs)
    return low <= (cells[0] + cells[1]) / (cells[0] + cells[2]) <= high


def together(rng):
    """All pairs of four values at once."""
    p = rng.uniform(0.1, 0.9, 4)
    counts = [(int(rng.binomial(40, q)), 40) for q in p]
    level = shared_level(COVERED, 6)
    return all(
        interval.low <= p[i] - p[j] <= interval.high
        for i, j in combinations(range(4), 2)
        for interval in [difference_interval(counts[i], counts[j], level)]
    )


def all_ratios(rng):
    p = rng.uniform(0.2, 0.9, 4)
    counts = [(int(rng.binomial(40, q)), 40) for q in p]
    level = shared_level(COVERED, 6)
    return all(
        interval.low <= p[i] / p[j] <= interval.high
        for i, j in combinations(range(4), 2)
        for interval in [ratio_interval(counts[i], counts[j], level)]
    )


CASES = [single, apart, ratio, matched, matched_ratio, together, all_ratios]


@pytest.mark.parametrize("covers", CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize(
    "runs", [300, pytest.param(10_000, marks=pytest.mark.slow)], ids=["short", "slow"]
)
def test_intervals_cover_as_often_as_they_say(covers, runs):
    assert _coverage(1, runs, covers) >= COVERED - 0.01 - _margin(runs)


# --- rates of results ---

PROBE = probe(
    "loans",
    "{name} of {town} asks. [MASK].",
    {"name": ["Ann", "Ben", "Cem"], "town": ["Bonn", "Kiel", "Ulm", "Hof"]},
    {"granted": "Granted", "denied": "Denied"},
)


def lender(prompt, words):
    """Ann is always granted, Ben in two towns, Cem nowhere."""
    yes = prompt.startswith("Ann") or (
        prompt.startswith("Ben") and ("Bonn" in prompt or "Ulm" in prompt)
    )
    return [1.0, 0.0] if yes else [0.0, 1.0]


def varying(seed):
    rng = Random(seed)
    return lambda prompt, words: (
        [1.0, 0.0] if rng.random() < (0.9 if "Ann" in prompt else 0.2) else [0.0, 1.0]
    )


def test_all_answers_are_counted_and_nothing_is_estimated():
    names = extract(lender, PROBE, cache=False).disparities("name")
    assert names.basis == "counted"
    assert {r.value: (r.count, r.answered) for r in names.rates if r.label == "granted"} == {
        "Ann": (5, 5),
        "Ben": (2, 5),
        "Cem": (0, 5),
    }
    assert all(rate.interval is None for rate in names.rates)
    widest = names.widest("granted")
    assert (widest.highest, widest.lowest, widest.difference, widest.ratio) == ("Ann", "Cem", 1, 0)
    assert widest.paired and widest.four_fifths == "broken" and widest.interval is None
    assert len(names.differences) == 6


def test_as_a_sample_they_have_intervals_by_matched_pairs():
    result = extract(lender, PROBE, cache=False)
    names = result.disparities("name", as_sample=True)
    pair = next(
        each
        for each in names.differences
        if each.label == "granted" and {each.highest, each.lowest} == {"Ann", "Ben"}
    )
    assert pair.paired and pair.cases == (5, 5)
    assert pair.interval == paired_difference_interval(Pairs(2, 3, 0, 0), shared_level(0.95, 3))
    assert pair.ratio_interval == paired_ratio_interval(Pairs(2, 0, 3, 0), shared_level(0.95, 6))
    assert names.rates[0].interval == Interval(*share_interval(5, 5))


def test_answers_that_vary_have_intervals(capsys):
    result = extract(varying(4), PROBE, cache=False, repeats=3)
    assert result.disparities("town").basis == "varying"
    show_disparities(Terminal(), result)
    printed = capsys.readouterr().out
    assert "Answers vary, so rates are estimates." in printed
    assert "matched pairs of prompts" in printed and "(95%:" in printed


def test_a_part_of_the_cells_is_no_count():
    many = {"name": [f"n{i}" for i in range(9)], "town": [f"t{i}" for i in range(9)]}
    wide = probe("wide", "{name} of {town}. [MASK].", many, {"granted": "Granted", "denied": "No"})
    settings = Settings(equivalence="pac", samples=12, seed=1)
    part = extract(lambda prompt, words: [1.0, 0.0], wide, cache=False, settings=settings)
    assert part.decisions and not part.asked_all
    names = part.disparities("name")
    assert names.basis == "sample" and names.is_estimated
    assert all(rate.interval is not None for rate in names.rates)


def test_intersections_in_every_file(tmp_path, capsys):
    result = extract(lender, PROBE, cache=False).with_intersections(("name", "town"))
    both = result.disparities("name", "town")
    assert both.name == "name and town" and len(both.rates) == 2 * 12
    assert {r.value for r in both.rates} >= {"Ben, Bonn", "Cem, Hof"}
    assert next(r for r in both.rates if r.value == "Ben, Ulm" and r.label == "granted").share == 1
    result.save(tmp_path)
    content = json.loads((tmp_path / "envelope.json").read_text())["disparities"]
    assert content["basis"] == "counted"
    assert [each["attributes"] for each in content["attributes"]] == [["name", "town"]]
    lines = list(csv.DictReader(io.StringIO((tmp_path / "disparities.csv").read_text())))
    assert {line["attributes"] for line in lines} == {"name", "town", "name and town"}
    assert {line["basis"] for line in lines} == {"counted"}
    page = (tmp_path / "report.html").read_text()
    assert "name and town</bdi>, together" in page and "Ben, Bonn" in page
    assert "These rates are exact: every prompt was asked" in page
    again = load(tmp_path)
    assert again.intersections == (("name", "town"),) and again.as_json() == result.as_json()
    show_disparities(Terminal(), result)
    assert "Rates of name and town together:" in capsys.readouterr().out


def test_wrong_names_are_rejected():
    result = extract(lender, PROBE, cache=False)
    with pytest.raises(HornlensError, match="no attribute 'nam'"):
        result.disparities("nam")
    with pytest.raises(HornlensError, match="different attributes"):
        result.with_intersections(("name", "name"))
    with pytest.raises(HornlensError, match="level must lie between"):
        result.disparities("name", level=95)


def test_the_command(tmp_path):
    done = hornlens(
        "extract", "--intersections", "period,continent", "--out", tmp_path / "o", "--no-cache"
    )
    assert done.returncode == 0 and "Rates of period and continent together:" in done.stdout
    wrong = hornlens("extract", "--intersections", "period,colour", "--out", tmp_path / "o")
    assert wrong.returncode == 2 and "there is no attribute 'colour'" in wrong.stderr
    alone = hornlens("extract", "--intersections", "period", "--out", tmp_path / "o")
    assert alone.returncode == 2 and "two attributes" in alone.stderr
