"""People from a table: a row a person, or a row for many of the same description."""

from __future__ import annotations

import re
from pathlib import Path

from hornlens.errors import InputError
from hornlens.pronouns.continents import RULE, of_person, read_countries
from hornlens.pronouns.dataset import GENDERS, Dataset
from hornlens.pronouns.people import ENTITY, People, Person, number_of, write_dataset
from hornlens.pronouns.periods import Periods
from hornlens.pronouns.tables import number_of_people, read_rows

OPTIONAL = ("birth_year", "country_qid", "country", "continent", "person", "people")
YEAR = re.compile(r"[+-]?[0-9]{1,6}")


def import_people(
    path: Path, out: Path, name: str, cut: Periods | int, countries: Path | None = None
) -> Dataset:
    """Read a table of people, write the data set, and return it.

    A continent is taken from the column `continent`; where that is empty, from the countries'.
    """
    if out.exists() and (out / "people.csv").resolve() == path.resolve():
        raise InputError("the data set would overwrite it: choose another --out", path)
    table = read_countries(countries)
    people = People()
    for line, cells in read_rows(path, ["occupation", "gender"], OPTIONAL):
        occupation, gender, year, country_qid, country, continent, person, count = cells
        if gender.lower() not in GENDERS:
            raise InputError(
                f"gender: {gender!r} is none of male, female and other; leave it empty if unknown",
                path,
                line,
            )
        if year and not YEAR.fullmatch(year):
            raise InputError(
                f"birth_year: {year!r} is not a year; leave it empty if unknown", path, line
            )
        if person and not ENTITY.fullmatch(person):
            raise InputError(
                f"person: {person!r} is not an id on Wikidata; names of people are not stored",
                path,
                line,
            )
        number = number_of_people(count, path, line)
        if person and number != 1:
            raise InputError(f"people: {person} is one person, not {number}", path, line)
        for cell in (occupation, country_qid, country, continent):
            if not cell.isprintable():
                raise InputError(f"{cell!r} has a control character in it", path, line)
        abroad = countries_of(country_qid or country)
        unknown = ["" if year else "birth year: not recorded"]
        if continent in ("", "?"):
            continent, reason = of_person(abroad, table)
            unknown.append(reason)
        described = Person(
            occupation,
            gender.lower(),
            int(year) if year else None,
            " ".join(abroad),
            continent,
            person,
        )
        if not people.add(described, number, unknown):
            raise InputError(
                f"{person} as {occupation!r} stands here a second time, described otherwise",
                path,
                line,
            )
    if not people.counts:
        raise InputError("has no people in it", path)
    continents = {"rule": RULE, "countries": countries.name if countries else "built-in"}
    return write_dataset(out, name, f"the table {path.name}", people, cut, continents)


def countries_of(cell: str) -> list[str]:
    """Return the countries in a cell: several ids may stand there, separated by spaces.

    >>> countries_of("Q183 Q30 Q183"), countries_of("Costa Rica"), countries_of("")
    (['Q30', 'Q183'], ['Costa Rica'], [])
    """
    parts = set(cell.split())
    if all(ENTITY.fullmatch(part) for part in parts):
        return sorted(parts, key=number_of)
    return [cell]
