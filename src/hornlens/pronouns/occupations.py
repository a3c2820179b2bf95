"""Occupations to ask Wikidata about: the built-in list, with published figures, or a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hornlens.errors import InputError
from hornlens.pronouns.dataset import DATA
from hornlens.pronouns.people import ENTITY
from hornlens.pronouns.tables import read_rows

BUILT_IN = DATA / "occupations.csv"
FIGURES = (
    *("total_2022", "male_2022", "female_2022", "other_2022"),
    *("ppbs_roberta_base_2022", "ppbs_bert_base_cased_2023", "ppbs_avg4_2023"),
)
"""People on Wikidata, and pronoun prediction bias scores, as published."""


@dataclass(frozen=True)
class Occupation:
    """An occupation: its name in the probe, and its id on Wikidata (empty: not known).

    `checked` says where the id is from: `published`, `unchecked`, or nothing.
    """

    name: str
    qid: str
    checked: str = ""
    figures: tuple[str, ...] = ()


def read_occupations(path: Path | None = None) -> list[Occupation]:
    """Return the occupations of a table, by default the built-in one, in its order."""
    path = path or BUILT_IN
    occupations: list[Occupation] = []
    rows = read_rows(path, ["occupation", "wikidata_qid"], ["checked", *FIGURES])
    for line, (name, qid, checked, *figures) in rows:
        if not name:
            raise InputError("an occupation has no name", path, line)
        if qid and not ENTITY.fullmatch(qid):
            raise InputError(f"{qid!r} is not an id on Wikidata, such as Q186360", path, line)
        if any(name == other.name for other in occupations):
            raise InputError(f"a second occupation {name!r}", path, line)
        if qid and any(qid == other.qid for other in occupations):
            raise InputError(f"a second occupation with the id {qid}", path, line)
        occupations.append(Occupation(name, qid, checked, tuple(figures)))
    if not occupations:
        raise InputError("names no occupation", path)
    return occupations
