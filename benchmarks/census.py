"""Drawn people in the shape of Adult, the table of the 1994 census: who earns above 50,000.

The table itself is not here. Shares of values are near to its own, and so is what depends on what:
marriage on age, jobs on schooling and sex, hours on jobs. Gains and losses of capital are mostly
zero, and otherwise often one of a few sums. Nobody knows a class for certain: a model that knew the
odds would be wrong in about 15 of 100 rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
JOBS = ("clerical", "craft", "manager", "operator", "professional", "sales", "service", "other")
STATUSES = ("married", "divorced", "never married", "separated", "widowed")
SECTORS = ("private", "self-employed", "government", "none")
SCHOOLING = (0.2, 0.5, 1, 2, 1.6, 2.9, 3.6, 1.3, 32.3, 22.4, 4.2, 3.3, 16.4, 5.3, 1.8, 1.2)
"""Percent of people with so many steps of schooling, from 1: the ninth is high school."""
GAINS = (2174, 3103, 4386, 5013, 5178, 7298, 7688, 15024, 99999)
LOSSES = (1485, 1590, 1602, 1719, 1887, 1902, 1977, 2415)
JOB_BY_SCHOOLING = (
    (0.10, 0.19, 0.05, 0.26, 0.02, 0.08, 0.22, 0.08),
    (0.17, 0.16, 0.11, 0.13, 0.06, 0.14, 0.13, 0.10),
    (0.07, 0.04, 0.25, 0.02, 0.41, 0.12, 0.03, 0.06),
)
"""Shares of jobs: up to high school, up to a short college course, and with a degree."""


class Census(NamedTuple):
    """Rows of numbers, the names of their columns, and who earns much."""

    rows: NDArray[np.float64]
    names: tuple[str, ...]
    earns: Ints


def census(count: int, seed: int) -> Census:
    """Return so many people; words are columns of 0 and 1."""
    rng = np.random.default_rng(seed)
    age = np.clip(17 + rng.gamma(2.3, 9.5, count), 17, 90).astype(np.int64)
    share = np.array(SCHOOLING) / sum(SCHOOLING)
    schooling = 1 + rng.choice(len(share), count, p=share)
    schooling = np.where((age < 23) & (schooling > 12), 10, schooling)
    is_man = rng.random(count) < 0.67
    status = _status(age, is_man, rng)
    job = _job(schooling, is_man, rng)
    sector = rng.choice(len(SECTORS), count, p=(0.72, 0.11, 0.13, 0.04))
    hours = _hours(age, job, sector, rng)
    odds = -3.45 + 2.65 * (status == 0) + 0.33 * (schooling - 10) + 0.03 * (hours - 40)
    odds += 0.11 * np.minimum(age - 38, 10) - 0.05 * np.maximum(age - 55, 0)
    odds += np.array([0.1, 0.1, 0.9, -0.3, 0.6, 0.4, -0.9, -0.4])[job]
    odds += np.array([0.1, -0.2, 0.1, -0.8])[sector] + 0.2 * is_man
    gain = _sums(odds > rng.logistic(0.5, 1, count), (0.035, 0.19), GAINS, (3, 7), rng)
    loss = _sums(odds > rng.logistic(0.5, 1, count), (0.03, 0.1), LOSSES, (3, 6), rng)
    gain[loss > 0] = 0
    odds += np.where(gain > 0, np.where(gain > 5100, 8.0, -1.5), 0.0)
    odds += np.where(np.isin(loss, LOSSES[4:7]), 3.0, np.where(loss > 0, -1.0, 0.0))
    weight = np.clip(np.exp(rng.normal(12.05, 0.5, count)), 12_000, 1_400_000).astype(np.int64)
    columns: dict[str, Ints] = {
        "age": age,
        "weight": weight,
        "schooling": schooling,
        "gain": gain,
        "loss": loss,
        "hours": hours,
        "man": is_man.astype(np.int64),
    }
    for names, places in ((STATUSES, status), (JOBS, job), (SECTORS, sector)):
        columns |= {name: (places == at).astype(np.int64) for at, name in enumerate(names)}
    earns = (odds > rng.logistic(0, 1, count)).astype(np.int64)
    return Census(np.column_stack([*columns.values()]).astype(np.float64), (*columns,), earns)


def _status(age: Ints, is_man: NDArray[np.bool_], rng: np.random.Generator) -> Ints:
    """Return who is married: hardly anybody at 20, most at 45, and men more often."""
    married = np.clip((age - 19) / 22, 0.01, 0.68) * np.where(is_man, 1.15, 0.55)
    single = np.clip(1.05 - (age - 17) / 26, 0.06, 0.97)
    widowed = np.clip((age - 50) / 100, 0.005, 0.3)
    rest = np.maximum(0.02, 1 - married - single - widowed)
    weights = np.column_stack([married, 0.8 * rest, single, 0.2 * rest, widowed])
    return _drawn(weights, rng)


def _job(schooling: Ints, is_man: NDArray[np.bool_], rng: np.random.Generator) -> Ints:
    """Return the place of the job: offices for women, and workshops for men, more often."""
    weights = np.array(JOB_BY_SCHOOLING)[np.digitize(schooling, (10, 13))]
    by_sex = np.array([0.5, 1.35, 1.1, 1.15, 0.95, 1.0, 0.7, 1.2])
    return _drawn(weights * np.where(is_man[:, None], by_sex, 2.1 - by_sex), rng)


def _hours(age: Ints, job: Ints, sector: Ints, rng: np.random.Generator) -> Ints:
    """Return the hours of a week: 40 for about half of all people."""
    usual = 40 + 4.0 * (job == 2) + 2.0 * (job == 4) - 5.0 * (job == 6) + 3.0 * (sector == 1)
    usual += np.where(age < 22, -12.0, np.where(age > 64, -10.0, 0.0))
    drawn = np.clip(rng.normal(usual, 11), 1, 99).round()
    drawn = np.where(rng.random(len(age)) < 0.6, 5 * np.round(drawn / 5), drawn)
    is_full = (rng.random(len(age)) < 0.42) & (age >= 20) & (age < 66)
    return np.where(is_full, 40, np.maximum(drawn, 1)).astype(np.int64)


def _sums(
    lucky: NDArray[np.bool_],
    shares: tuple[float, float],
    usual: tuple[int, ...],
    spread: tuple[int, int],
    rng: np.random.Generator,
) -> Ints:
    """Return sums that few people have; of the `lucky` ones a larger share, and larger sums."""
    count = len(lucky)
    some = rng.random(count) < np.where(lucky, shares[1], shares[0])
    middle = np.where(lucky, spread[1], spread[0]) - 1
    places = np.clip(np.round(rng.normal(middle, 1.2)), 0, len(usual) - 1).astype(np.int64)
    sums = np.array(usual)[places]
    odd = rng.random(count) < 0.3
    sums = np.where(odd, (sums * rng.uniform(0.7, 1.1, count)).astype(np.int64), sums)
    return np.where(some, sums, 0)


def _drawn(weights: NDArray[np.float64], rng: np.random.Generator) -> Ints:
    """Return a place for each row, drawn by its weights."""
    ends = np.cumsum(weights, axis=1)
    return np.asarray((rng.random(len(weights))[:, None] * ends[:, -1:] > ends).sum(axis=1))
