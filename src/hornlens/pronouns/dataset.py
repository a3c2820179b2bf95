"""A data set: people counted by what a probe says of them, and the probe that says it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.files import read_text
from hornlens.formats.jsonfiles import read_json
from hornlens.probes.loading import parse_probe
from hornlens.probes.probe import Probe
from hornlens.pronouns.tables import number_of_people, read_rows
from hornlens.results.documents.codec import check_format

ATTRIBUTES = ("period", "continent", "occupation")
"""The attributes of a data set's probe, in its order."""
GENDERS = ("female", "male", "other", "")
"""What can be recorded; the label has only the first two. Empty: unknown."""
DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, order=True)
class Group:
    """People of the same description: names as in the probe, empty where unknown."""

    occupation: str
    period: str
    continent: str
    gender: str
    people: int


@dataclass(frozen=True)
class Dataset:
    """People in groups, with the probe that puts a group into words.

    Groups are distinct and sorted. `transformation` says how people became groups: the periods'
    bounds, the rule for continents, how many were left out and why. `source`: where they are from.
    """

    name: str
    probe: Probe
    groups: tuple[Group, ...]
    transformation: Mapping[str, Any]
    source: str = ""

    @property
    def people(self) -> int:
        """The number of people."""
        return sum(group.people for group in self.groups)

    def cell(self, group: Group) -> int:
        """Return the probe's cell of a group: what is unknown is unset."""
        known = filter(None, (group.period, group.continent, group.occupation))
        return self.probe.vocabulary.mask(known)


def builtin_names() -> list[str]:
    """Return the names of the built-in data sets."""
    return sorted(file.parent.name for file in DATA.glob("*/dataset.json"))


def load_dataset(name_or_path: str | Path) -> Dataset:
    """Return a built-in data set by its name, or read one from its folder."""
    if str(name_or_path) in builtin_names():
        folder = DATA / str(name_or_path)
    else:
        folder = Path(name_or_path)
        if not folder.exists():
            known = ", ".join(builtin_names())
            raise InputError(
                f"no such folder, nor a built-in data set (there are: {known})", folder
            )
        if not (folder / "dataset.json").is_file():
            raise InputError(
                "is not a data set: it has no dataset.json (see hornlens dataset --help)", folder
            )
    about = _read_about(folder / "dataset.json")
    path = folder / "probe.yaml"
    probe = parse_probe(read_text(path), path)
    _check_probe(probe, path)
    groups = _read_groups(folder / "people.csv", probe)
    return Dataset(about["name"], probe, groups, about["transformation"], about["source"])


def _read_about(path: Path) -> dict[str, Any]:
    about = read_json(path)
    fields = {"name": str, "source": str, "transformation": dict}
    for field, kind in fields.items():
        if not isinstance(about, dict) or not isinstance(about.get(field), kind):
            raise InputError(f"the field {field!r} is missing or of the wrong kind", path)
    check_format(about, path)
    return dict(about)


def _check_probe(probe: Probe, path: Path) -> None:
    attributes = tuple(attribute.name for attribute in probe.attributes)
    labels = {value.name for value in probe.label.values}
    if attributes != ATTRIBUTES or probe.label.name != "gender" or labels != {"female", "male"}:
        raise InputError(
            f"the probe of a data set has the attributes {', '.join(ATTRIBUTES)} and the label "
            "gender (female, male)",
            path,
        )


def _read_groups(path: Path, probe: Probe) -> tuple[Group, ...]:
    columns = ("occupation", "period", "continent", "gender")
    known = {a.name: {"", *(value.name for value in a.values)} for a in probe.attributes}
    known["gender"] = set(GENDERS)
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for line, (*cells, people) in read_rows(path, columns, ["people"]):
        for column, cell in zip(columns, cells, strict=True):
            if cell not in known[column]:
                raise InputError(f"{column}: {cell!r} is not in the probe", path, line)
        occupation, period, continent, gender = cells
        number = number_of_people(people, path, line)
        counts[occupation, period, continent, gender] += number
    return tuple(Group(*key, people=number) for key, number in sorted(counts.items()) if number)
