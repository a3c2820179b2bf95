"""Continents: of a country, from Wikidata's P30, and of a person, from all their citizenships."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from hornlens.errors import InputError
from hornlens.pronouns.dataset import DATA
from hornlens.pronouns.tables import read_rows

CONTINENTS = {
    "Q15": "Africa",
    "Q18": "South America",
    "Q46": "Europe",
    "Q48": "Asia",
    "Q49": "North America",
    "Q51": "Antarctica",
    "Q538": "Oceania",  # insular Oceania
    "Q828": "Americas",
    "Q3960": "Australia",
    "Q5401": "Eurasia",
    "Q55643": "Oceania",
}
"""Wikidata's items for continents, as the paper's probe names them (and Antarctica)."""
MERGED = {
    "Eurasia": {"Europe", "Asia", "Eurasia"},
    "Americas": {"North America", "South America", "Americas"},
    "Oceania": {"Oceania", "Australia"},
}
RULE = (
    "of a country: its continent; Eurasia for Europe with Asia, Americas for North with South "
    "America, Oceania for it with Australia; for other mixtures the one that the built-in table "
    "says, else unknown. Of a person: the one continent of all their countries, else unknown"
)


def read_countries(path: Path | None = None) -> dict[str, str]:
    """Return the continent of each country id in a table: the built-in one, or a file.

    A continent that is empty or `?` is unknown.
    """
    path = path or DATA / "countries.csv"
    continents: dict[str, str] = {}
    for line, (country, continent) in read_rows(path, ["country_qid", "continent"]):
        known = "" if continent == "?" else continent
        if continents.setdefault(country, known) != known:
            raise InputError(f"a second continent for {country}", path, line)
    return continents


def of_country(continents: Iterable[str], table: str) -> str:
    """Return the continent of a country that is recorded on these; `table` settles mixtures."""
    distinct = set(continents)
    if len(distinct) == 1:
        return distinct.pop()
    for name, parts in MERGED.items():
        if distinct and distinct <= parts:
            return name
    return table if table in distinct else ""


def of_person(countries: Iterable[str], table: Mapping[str, str]) -> tuple[str, str]:
    """Return the one continent of a person's countries; if it is empty, why.

    A country on an unknown continent says nothing.
    """
    continents = [table.get(country, "") for country in countries]
    distinct = set(continents) - {""}
    if len(distinct) == 1:
        return distinct.pop(), ""
    if not continents:
        return "", "continent: no citizenship"
    return "", "continent: several" if distinct else "continent: not known of the country"
