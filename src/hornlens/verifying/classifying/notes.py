"""The notes of a classifier's result: on its bins, its rows, and columns that rules never name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from hornlens.verifying.classifying.document import ENDED_AFTER, ClassifierFile
from hornlens.verifying.classifying.features import EXACT, Feature, rounded_cuts
from hornlens.verifying.grids import Wrong

MOST_SHORT = 5_000_000
"""Rules with so few conditions are listed that these can be met in no more cells than that."""
ROUNDED_NOTE = (
    "thresholds are shown rounded by less than a millionth, with no row between what is shown and "
    "what is meant; the file has them exactly"
)


def check_notes(recorded: ClassifierFile) -> None:
    """Write the notes on bins and columns again."""
    assert recorded.whole is not None
    section, notes = recorded.section, list(recorded.section["notes"])
    sift, fallback = recorded.whole.get("sift"), section.get("fallback", "")
    if fallback:
        if notes[:1] != [fallback]:
            raise Wrong(f"notes: lack {fallback!r}")
        if section["bins"] in EXACT:
            raise Wrong("fallback: the trees were read, and were not")
        del notes[0]
    most = recorded.whole["settings"]["max_conditions"]
    if sift is not None and most is None and sift["conditions"] < 2:
        wanted = "rules have at most 1 condition: those with 2 are too many to sift"
        if notes[:1] != [wanted]:
            raise Wrong(f"notes: lack {wanted!r}")
        del notes[0]
    for wanted in _shortened(recorded):
        if notes[:1] != [wanted]:
            raise Wrong(f"notes: lack {wanted!r}")
        del notes[0]
    if notes and notes[0].startswith(ENDED_AFTER):
        count, _, rest = notes[0].removeprefix(ENDED_AFTER).partition(" of ")
        total = rest.removesuffix(" rows of X were asked").replace(",", "")
        shown = f"{section['rows']['count']:,}"
        whole = int(total) if total.isdecimal() else 0
        if (
            count != shown
            or whole <= section["rows"]["count"]
            or notes[0] != (f"{ENDED_AFTER}{count} of {whole:,} rows of X were asked")
        ):
            raise Wrong(f"notes: {shown} rows were asked")
        if recorded.certificate.get("ended") is None:
            raise Wrong("notes: not all rows were asked, though the run was not ended")
        del notes[0]
    _check_silent(recorded, notes)


def _check_silent(recorded: ClassifierFile, notes: Sequence[str]) -> None:
    """Check the notes on columns that rules never speak of.

    Those that vary stand in one note, before the others; once each had its own, in the order of
    the columns.
    """
    silent = {line["name"]: line for line in recorded.section["silent"]}
    order = [name for name in recorded.section["columns"] if name in silent]
    kinds = [_kinds(recorded, silent[name]) for name in order]
    constant = [_constant(silent[name]) for name in order]
    alone = [_varied(recorded, [name]) for name in order]
    is_constant = [
        kind == {"constant"} or (len(kind) > 1 and own in notes)
        for kind, own in zip(kinds, constant, strict=True)
    ]
    one_by_one = [
        own if is_so else other
        for own, other, is_so in zip(constant, alone, is_constant, strict=True)
    ]
    varied = [name for name, is_so in zip(order, is_constant, strict=True) if not is_so]
    wanted = [own for own, is_so in zip(constant, is_constant, strict=True) if is_so]
    if varied:
        wanted.insert(0, _varied(recorded, varied))
    if list(notes) not in (wanted, one_by_one):
        raise Wrong(f"notes: {len(order)} columns have one level: {'; '.join(wanted)}")


def _shortened(recorded: ClassifierFile) -> list[str]:
    """Return the notes on short rules that are too many, and on thresholds that are rounded."""
    assert recorded.whole is not None
    section, notes = recorded.section, []
    words = recorded.certificate.get("scope", {}).get("words", "")
    usual = recorded.whole["settings"]["max_conditions"] is None
    if section.get("trees") is not None and usual and words.startswith("of every "):
        cells = 1, sum(recorded.sizes), sum(a * b for a, b in combinations(recorded.sizes, 2))
        most = next((count for count in (1, 2) if cells[count] > MOST_SHORT), 3) - 1
        if most < 2:
            notes.append(
                f"every rule with at most {most} condition{'' if most == 1 else 's'} is here: "
                f"those with {most + 1} are too many to be gone through"
            )
    every = {line["name"]: line for line in (*recorded.features, *section["silent"])}
    if columns := [name for name in section["columns"] if rounded_cuts(every[name])]:
        notes.append(f"{ROUNDED_NOTE} ({', '.join(columns)})")
    return notes


def _constant(feature: Feature) -> str:
    """Return the note on a column whose values are all the same."""
    name, value = feature["name"], feature["points"][0]
    value = float("nan") if value is None and "cuts" in feature else value
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    return f"column {name!r} is constant ({shown}): rules are silent on it"


def _varied(recorded: ClassifierFile, names: Sequence[str]) -> str:
    """Return the note on columns that vary and have one level: up to four by name."""
    section, one = recorded.section, len(names) == 1
    shown = ", ".join(names if len(names) < 5 else names[:3])
    shown += "" if len(names) < 5 else f" and {len(names) - 3:,} more"
    if recorded.is_recent and section["bins"] not in EXACT:
        if one:
            return f"column {names[0]!r} has one bin: rules are silent on it"
        return f"{len(names):,} columns have one bin, and rules are silent on them: {shown}"
    agreement = section["agreement"]
    same = agreement["rows"] == agreement["uniform"] == 1
    same = same and not agreement["mixed"] and not agreement.get("varied", 0)
    never = f"{'the model' if same else 'the model, as it was read,'} never asks for"
    return f"{never} column {names[0]!r}" if one else f"{never} {len(names):,} columns: {shown}"


def _kinds(recorded: ClassifierFile, feature: Feature) -> set[str]:
    """Return what a column with one level may be; either, where not all rows are kept."""
    column = recorded.section["columns"].index(feature["name"])
    several = len({row[column] for row in recorded.section["rows"]["values"]}) > 1
    if "cuts" in feature and several:
        return {"varied"}
    either = "cuts" in feature and not recorded.has_all_rows
    return {"constant", "varied"} if either else {"constant"}
