"""Count people by occupation, period of birth, continent and gender: what the demo model learns.

    python tools/make_people_counts.py PEOPLE.csv COUNTRIES.csv OCCUPATIONS.csv

PEOPLE has a row a person (occupation, gender, country_qid, birth_year), COUNTRIES gives each
country_qid its continent, OCCUPATIONS has the totals (occupation, male_2022, female_2022) of those
occupations of the paper's probe that PEOPLE lacks. All are facts from Wikidata (CC0).

An empty period or continent means unknown. The paper's label has two values, so only people
recorded as male or female are counted; how many others were left out is printed.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from pathlib import Path

PERIODS = (
    (1875, "before 1875"),
    (1925, "between 1875 and 1925"),
    (1951, "between 1925 and 1951"),
    (1970, "between 1951 and 1970"),
)
"""The paper's periods, each with the year it ends before: a year on a bound is of the later one."""
GENDERS = ("male", "female")
TOTALS_ONLY = ("dancer", "footballer", "banker", "mathematician", "diplomat")
"""Occupations of the probe of which we know how many, but not who."""

Cell = tuple[str, str, str, str]


def period_of(year: str) -> str:
    """Return the period that a birth year falls in; empty for an unknown year."""
    if not year:
        return ""
    return next((name for end, name in PERIODS if int(year) < end), "after 1970")


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file with a header."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def count(people: Path, countries: Path, occupations: Path) -> tuple[Counter[Cell], int]:
    """Return the counts by (occupation, period, continent, gender), and how many are left out."""
    continents = {row["country_qid"]: row["continent"].strip("?") for row in read(countries)}
    counts: Counter[Cell] = Counter()
    left_out = 0
    for row in read(people):
        if row["gender"] not in GENDERS:
            left_out += 1
            continue
        continent = continents.get(row["country_qid"], "")
        counts[row["occupation"], period_of(row["birth_year"]), continent, row["gender"]] += 1
    for row in read(occupations):
        if row["occupation"] in TOTALS_ONLY:
            for gender in GENDERS:
                counts[row["occupation"], "", "", gender] += int(row[f"{gender}_2022"])
            left_out += int(float(row["diverse_2022"]))
    return counts, left_out


def main() -> None:
    """Read the three files and write the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("people", type=Path)
    parser.add_argument("countries", type=Path)
    parser.add_argument("occupations", type=Path)
    default = Path(__file__).parent / "data" / "people_counts.csv"
    parser.add_argument("--out", type=Path, default=default, help="default: tools/data/")
    arguments = parser.parse_args()

    counts, left_out = count(arguments.people, arguments.countries, arguments.occupations)
    with arguments.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["occupation", "period", "continent", "gender", "people"])
        writer.writerows([*cell, number] for cell, number in sorted(counts.items()))
    print(f"{counts.total()} people in {len(counts)} cells; {left_out} neither male nor female")


if __name__ == "__main__":
    main()
