"""People on their way into a data set: counted, cut into periods, written to a folder."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from hornlens import __version__
from hornlens.errors import InputError
from hornlens.formats.csvfiles import csv_text
from hornlens.formats.files import write_file
from hornlens.probes.loading import DEFAULT, load_probe, parse_probe
from hornlens.probes.probe import Value
from hornlens.pronouns.dataset import Dataset, load_dataset
from hornlens.pronouns.periods import Periods, equal_frequency
from hornlens.results.documents.codec import FORMAT

COLUMNS = ("occupation", "gender", "birth_year", "country", "period", "continent")
ENTITY = re.compile(r"Q[1-9][0-9]*")


class Person(NamedTuple):
    """What is kept of a person; empty or None where unknown. Never a name.

    `country` has the ids of all countries of citizenship, separated by spaces.
    """

    occupation: str
    gender: str
    birth_year: int | None
    country: str
    continent: str
    person: str = ""


class People:
    """People, counted, with how many were left out and of how many something is unknown."""

    def __init__(self) -> None:
        """Start with nobody."""
        self.counts: Counter[Person] = Counter()
        self.left_out: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self._seen: dict[tuple[str, str], Person] = {}

    def add(self, person: Person, people: int = 1, unknown: Iterable[str] = ()) -> bool:
        """Count a person, or as many of the same description.

        `unknown` says what is not known of them beside the gender, and why; empty: nothing.
        A person is counted once for each occupation. False: the same one was there already, and
        described otherwise; the first description stands.
        """
        if person.person:
            first = self._seen.setdefault((person.person, person.occupation), person)
            if first is not person:
                self.left_out["the same person and occupation again"] += 1
                return first == person
        if people:
            self.counts[person] += people
            gender = "" if person.gender else "gender: not recorded"
            for reason in filter(None, (gender, *unknown)):
                self.unknown[reason] += people
        return True


def number_of(qid: str) -> int:
    """Return the number of an entity id."""
    return int(qid[1:])


def _refuse_foreign_files(out: Path) -> None:
    """Refuse to write over files that are no data set's, by what they begin with."""
    for name, beginning in (("people.csv", ",".join(COLUMNS)), ("probe.yaml", "hornlens: 1")):
        file = out / name
        if file.is_file():
            with file.open("rb") as stream:
                if stream.read(len(beginning)) != beginning.encode():
                    raise InputError("is not a data set's file: choose another --out", file)


def write_dataset(
    out: Path,
    name: str,
    source: str,
    people: People,
    cut: Periods | int,
    continents: dict[str, Any],
) -> Dataset:
    """Write people.csv, probe.yaml and dataset.json, and return the data set that they are.

    `cut`: the periods, or how many of equal frequency. dataset.json comes last: a folder without
    it is not a data set yet.
    """
    if not people.counts:
        raise InputError("there are no people to make a data set of")
    periods = cut if isinstance(cut, Periods) else _equal_frequency(people, cut)
    probe = probe_yaml(
        name,
        periods,
        {person.continent for person in people.counts},
        {person.occupation for person in people.counts},
    )
    _refuse_foreign_files(out)
    try:
        parse_probe(probe)  # names that clash are found before anything is written
    except InputError as error:
        raise InputError(
            f"occupations, periods, continents and genders need different names: {error.message}"
        ) from None
    genders = Counter[str]()
    for person, count in people.counts.items():
        genders[person.gender] += count
    about = {
        "hornlens": __version__,
        "format": FORMAT,
        "name": name,
        "source": source,
        "people": people.counts.total(),
        "transformation": {
            "periods": {
                "method": periods.method,
                "bounds": list(periods.bounds),
                "names": list(periods.names),
            },
            "continents": continents,
            "left_out": dict(sorted(people.left_out.items())),
            "unknown": dict(sorted(people.unknown.items())),
            "outside_label": genders["other"] + genders[""],
        },
    }
    try:
        (out / "dataset.json").unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", out) from None
    write_file(out / "people.csv", _people_csv(people, periods))
    write_file(out / "probe.yaml", probe)
    write_file(out / "dataset.json", json.dumps(about, indent=2, ensure_ascii=False) + "\n")
    return load_dataset(out.absolute())


def _equal_frequency(people: People, count: int) -> Periods:
    years: Counter[int] = Counter()
    for person, number in people.counts.items():
        if person.birth_year is not None:
            years[person.birth_year] += number
    return equal_frequency(years, count)


def _people_csv(people: People, periods: Periods) -> str:
    persons = any(person.person for person in people.counts)
    counted = any(count != 1 for count in people.counts.values())

    def cells(person: Person) -> list[object]:
        year = "" if person.birth_year is None else person.birth_year
        row = [person.occupation, person.gender, year, person.country]
        row += [periods.of(person.birth_year), person.continent]
        return [*row, *[person.person] * persons, *[people.counts[person]] * counted]

    header = [*COLUMNS, *["person"] * persons, *["people"] * counted]
    return csv_text(header, map(cells, sorted(people.counts, key=_order)))


def _order(person: Person) -> tuple[Any, ...]:
    known = person.birth_year is not None
    number = number_of(person.person) if person.person else 0
    return (person.occupation, number, person.gender, known, person.birth_year or 0, *person[3:])


def probe_yaml(
    name: str, periods: Periods, continents: Iterable[str], occupations: Iterable[str]
) -> str:
    """Return a probe over these values: the built-in one's template, wording and label.

    Values that the built-in probe has come first, in its order. If no continent is known, it has
    the built-in ones, as an attribute cannot be without values.
    """
    model = load_probe(DEFAULT)
    attributes = {attribute.name: attribute for attribute in model.attributes}
    values: dict[str, list[Any]] = {
        "period": [
            name if name == text else {"name": name, "text": text}
            for name, text in zip(periods.names, periods.texts, strict=True)
        ]
    }
    for attribute, names in (("continent", continents), ("occupation", occupations)):
        known = _in_order(names, attributes[attribute].values)
        if not known and attribute == "occupation":
            raise InputError("no occupation is known: there is nothing to ask about")
        values[attribute] = known or [value.name for value in attributes[attribute].values]
    content = {
        "hornlens": 1,
        "name": name,
        "description": "Which pronoun does a model fill in for a person? Periods, continents and "
        f"occupations are those of the data set {name}; its label has two genders, people have "
        "more.",
        "templates": list(model.templates),
        "attributes": [
            {
                "name": key,
                "phrase": attributes[key].phrase,
                "unset": attributes[key].unset.text,
                "values": values[key],
            }
            for key in values
        ],
        "label": {
            "name": model.label.name,
            "values": [{"name": value.name, "word": value.word} for value in model.label.values],
        },
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)


def _in_order(candidates: Iterable[str], built_in: Iterable[Value]) -> list[str]:
    names = set(candidates) - {""}
    first = [value.name for value in built_in if value.name in names]
    return first + sorted(names - set(first))
