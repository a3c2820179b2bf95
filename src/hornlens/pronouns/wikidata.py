"""People from Wikidata: what is asked, and the rules for what is vague, missing or there twice.

For each occupation first the ids of everybody who has it, in one query without sorting; then what
is recorded of them, so many ids at a time. Such a page takes the endpoint the same short time
wherever it stands in the list; paging with ORDER BY would sort the whole list for every page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hornlens import __version__
from hornlens.errors import HornlensError
from hornlens.pronouns.continents import CONTINENTS, RULE, of_country, of_person, read_countries
from hornlens.pronouns.dataset import Dataset
from hornlens.pronouns.occupations import Occupation
from hornlens.pronouns.pages import Pages, Progress, Solutions, in_order
from hornlens.pronouns.people import People, Person, number_of, write_dataset
from hornlens.pronouns.periods import Periods
from hornlens.pronouns.sparql import Endpoint

PUBLIC_ENDPOINT = "https://query.wikidata.org/sparql"
PREFIXES = """\
PREFIX wd: <http://www.wikidata.org/entity/>
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
PREFIX p: <http://www.wikidata.org/prop/>
PREFIX psv: <http://www.wikidata.org/prop/statement/value/>
PREFIX wikibase: <http://wikiba.se/ontology#>
"""
HUMAN, MALE, FEMALE = "Q5", "Q6581097", "Q6581072"
YEAR_PRECISION = 9
DATE = re.compile(r"([+-]?[0-9]{4,})-[0-9]{2}-[0-9]{2}(?:T.*)?")

Bar = Callable[[str, int | None, str], AbstractContextManager[Progress]]
"""Shows progress: what is done, how much there is, the unit; it gives what is told of each step."""


def user_agent(contact: str) -> str:
    """Return the name under which the endpoint sees us, with whom to write to."""
    if not (contact.isascii() and contact.isprintable()):
        raise HornlensError("--contact takes an address in plain ASCII: e-mail or web")
    who = f"contact: {contact}" if contact else "no contact given"
    return f"hornlens/{__version__} (data sets of people by occupation; {who})"


def people_query(occupation: str, suffix: str = "") -> str:
    """Return the query for everybody with an occupation, or those whose id ends in some digits.

    A truthy statement (wdt:) is one triple: nobody is listed twice, no DISTINCT is needed.
    """
    part = f' FILTER(STRENDS(STR(?item), "{suffix}"))' if suffix else ""
    return f"{PREFIXES}SELECT ?item WHERE {{ ?item wdt:P106 wd:{occupation} .{part} }}"


def facts_query(ids: Sequence[str]) -> str:
    """Return the query for what is recorded of people, one fact in a solution.

    The ids stand in every branch: no engine is to compute a branch for all of Wikidata. Branches,
    so that two genders and three dates are five solutions, not six. For dates the statements are
    asked for, with their ranks, as the truthy triple does not say how precise they are.
    """
    values = _values(ids)
    return f"""{PREFIXES}\
SELECT ?item ?what ?value ?precision ?rank WHERE {{
  {{ {values} ?item wdt:P31 ?value . BIND("kind" AS ?what) }}
  UNION
  {{ {values} ?item wdt:P21 ?value . BIND("gender" AS ?what) }}
  UNION
  {{ {values} ?item wdt:P27 ?value . BIND("country" AS ?what) }}
  UNION
  {{
    {values} ?item p:P569 ?birth .
    OPTIONAL {{ ?birth wikibase:rank ?rank }}
    OPTIONAL {{
      ?birth psv:P569 ?time .
      ?time wikibase:timeValue ?value ; wikibase:timePrecision ?precision .
    }}
    BIND("birth" AS ?what)
  }}
}}"""


def continents_query(ids: Sequence[str]) -> str:
    """Return the query for the continents of countries."""
    return f"{PREFIXES}SELECT ?item ?value WHERE {{ {_values(ids)} ?item wdt:P30 ?value }}"


def _values(ids: Sequence[str]) -> str:
    return f"VALUES ?item {{ {' '.join(f'wd:{qid}' for qid in ids)} }}"


@dataclass(frozen=True)
class Facts:
    """What is recorded of a person: ids of items, and birth dates as (rank, date, precision).

    A value that is no item, such as Wikidata's "unknown value", says nothing and is not here.
    """

    kinds: tuple[str, ...] = ()
    genders: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    births: tuple[tuple[str, str, int], ...] = ()

    @classmethod
    def of(cls, solutions: Solutions) -> Facts:
        """Return the facts that solutions of `facts_query` tell, in whatever order they come."""

        def items(what: str) -> tuple[str, ...]:
            values = (s.get("value", "") for s in solutions if s.get("what") == what)
            return tuple(in_order(values))

        births = []
        for solution in solutions:
            if solution.get("what") == "birth":
                rank = solution.get("rank", "").rpartition("#")[2]
                precision = solution.get("precision", "")
                births.append(
                    (rank, solution.get("value", ""), int(precision) if precision.isdigit() else 0)
                )
        return cls(items("kind"), items("gender"), items("country"), tuple(births))

    @property
    def human(self) -> bool:
        """Whether this may be a person: it is not recorded as something else only."""
        return HUMAN in self.kinds or not self.kinds

    @property
    def gender(self) -> str:
        """Male or female if just that is recorded, other if anything else is; empty: nothing."""
        if not self.genders:
            return ""
        if self.genders == (MALE,):
            return "male"
        return "female" if self.genders == (FEMALE,) else "other"

    @property
    def birth_year(self) -> int | None:
        """The earliest year of the best-ranked birth dates that are precise to the year."""
        preferred = any(rank == "PreferredRank" for rank, _, _ in self.births)
        best = {"PreferredRank"} if preferred else {"NormalRank", ""}
        years = []
        for rank, date, precision in self.births:
            match = DATE.fullmatch(date)
            if rank in best and precision >= YEAR_PRECISION and match:
                years.append(int(match[1]))
        return min(years, default=None)


def retrieve(
    occupations: Sequence[Occupation],
    endpoint: Endpoint,
    out: Path,
    name: str,
    cut: Periods | int,
    page_size: int,
    bar: Bar,
) -> Dataset:
    """Ask an endpoint for the people of some occupations, write the data set, and return it.

    Answers are kept in `.pages` under `out`. A run that was stopped goes on from there; one with
    other periods asks nothing, one with more occupations only about those.
    """
    known = [occupation for occupation in occupations if occupation.qid]
    if not known:
        raise HornlensError("none of the occupations has an id on Wikidata: nothing to ask for")
    pages = Pages(out / ".pages", endpoint, page_size)
    lists: dict[Occupation, list[str]] = {}
    with bar("Listing people", len(known), "occupations") as progress:
        for occupation in known:
            query = partial(people_query, occupation.qid)
            lists[occupation] = pages.ids(occupation.qid, query)
            progress(1)

    def everybody(progress: Progress) -> Iterator[tuple[str, str, Facts]]:
        for occupation, ids in lists.items():
            for qid, solutions in pages.facts(occupation.qid, ids, facts_query, progress):
                yield occupation.name, qid, Facts.of(solutions)

    countries: set[str] = set()
    with bar("Asking about people", sum(map(len, lists.values())), "people") as progress:
        for _, _, facts in everybody(progress):
            countries.update(facts.countries)
    table: dict[str, str] = {}
    with bar("Asking about countries", len(countries), "countries") as progress:
        built_in = read_countries()
        ids = sorted(countries, key=number_of)
        for qid, solutions in pages.lookup("continents", ids, continents_query, progress).items():
            recorded = in_order(solution.get("value", "") for solution in solutions)
            continents = [CONTINENTS[item] for item in recorded if item in CONTINENTS]
            table[qid] = of_country(continents, built_in.get(qid, ""))
    people = People()
    for occupation_name, qid, facts in everybody(lambda done: None):  # from disk, by now
        _add(people, occupation_name, qid, facts, table)
    if not people.counts:
        raise HornlensError(f"{endpoint.url}: knows nobody of these occupations")
    source = f"Wikidata (CC0), asked at {endpoint.url}"
    about = {"rule": RULE, "countries": "Wikidata's P30"}
    return write_dataset(out, name, source, people, cut, about)


def _add(people: People, occupation: str, qid: str, facts: Facts, table: dict[str, str]) -> None:
    """Count a person under the rules, or leave them out."""
    if not facts.human:
        people.left_out["not human (P31)"] += 1
        return
    year, born = facts.birth_year, ""
    if year is None:
        born = f"birth year: {'not precise to the year' if facts.births else 'not recorded'}"
    continent, placed = of_person(facts.countries, table)
    country = " ".join(facts.countries)
    person = Person(occupation, facts.gender, year, country, continent, qid)
    people.add(person, 1, (born, placed))
