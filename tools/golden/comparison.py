"""Golden files: one line of JSON per part of a case; written, read and compared."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from tools.golden.case import Case
from tools.golden.doors import REFUSED

VERSIONS = ("hornlens", "numpy", "onnxruntime", "pandas", "python-sat", "scikit-learn")
LEAST = 10
"""So many cases of a group are chosen at least, if it has them."""


class Text(NamedTuple):
    """One part of a case: its hash, how many lines it has, and itself where it is short."""

    sha256: str
    lines: int
    text: str | None = None
    made: str | None = None
    """What tells the target from another, where other software made it."""

    @classmethod
    def of(cls, text: str, made: str | None = None, longest: int | None = None) -> Text:
        """Return a text; one that is longer than so many bytes is not kept."""
        data = text.encode()
        kept = text if longest is None or len(data) < longest else None
        return cls(sha256(data).hexdigest(), text.count("\n") + bool(text), kept, made)

    def as_json(self) -> dict[str, Any]:
        """Return the text, or its hash if it is not kept."""
        found: dict[str, Any] = {"sha256": self.sha256, "lines": self.lines}
        if self.text is not None:
            found = {"text": self.text}
        return found if self.made is None else {**found, "made": self.made}

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Text:
        """Read what `as_json` wrote."""
        made = given.get("made")
        if "text" in given:
            return cls.of(given["text"], made)
        return cls(given["sha256"], given["lines"], None, made)


@dataclass(frozen=True)
class Golden:
    """What a golden file holds, by key: `CASE:PART`."""

    texts: dict[str, Text]
    versions: dict[str, str]

    @property
    def cases(self) -> set[str]:
        """The keys of its cases."""
        return {case_of(key) for key in self.texts}

    def without(self, prefix: str) -> Golden:
        """Return what does not begin like that."""
        kept = {key: text for key, text in self.texts.items() if not key.startswith(prefix)}
        return replace(self, texts=kept)


def case_of(key: str) -> str:
    """Return the case of a part."""
    return key.rsplit(":", 1)[0]


def versions() -> dict[str, str]:
    """Return what the results of other software may depend on."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in VERSIONS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def computed(case: Case, longest: int | None = None) -> dict[str, Text]:
    """Compute a case. That it is refused is a part, too; other errors name the case."""
    try:
        parts, made = case.run(), None if case.made is None else case.made()
    except REFUSED:
        parts, made = {"refused": ""}, None
    except Exception as error:
        error.add_note(f"in the case {case.key}")
        raise
    return {f"{case.key}:{name}": Text.of(text, made, longest) for name, text in parts.items()}


def chosen(cases: Iterable[Case], every: int) -> Iterator[Case]:
    """Yield each `every`-th case of each group, but no fewer than LEAST of it."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.key.rsplit("/", 1)[0], []).append(case)
    for group in groups.values():
        yield from group[:: max(1, min(every, len(group) // LEAST))]


def write_golden(path: Path, cases: Iterable[Case], every: int = 1, longest: int = 2_000) -> int:
    """Write each `every`-th case of each group; return how many texts there are."""
    texts: dict[str, Text] = {}
    for case in chosen(cases, every):
        found = computed(case, longest)
        if found.keys() & texts.keys():
            raise ValueError(f"two cases have the key {case.key}")
        texts |= found
    lines: list[dict[str, Any]] = [{"golden": 1, "versions": versions()}]
    lines += ({"key": key, **text.as_json()} for key, text in texts.items())
    shown = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines)
    path.write_text("\n".join(shown) + "\n", encoding="utf-8")
    return len(texts)


def read_golden(path: Path, prefixes: Sequence[str] = ()) -> Golden:
    """Read a golden file, or the keys in it that begin with one of the prefixes."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    texts = {
        line["key"]: Text.from_json(line)
        for line in lines[1:]
        if not prefixes or line["key"].startswith(tuple(prefixes))
    }
    return Golden(texts, lines[0]["versions"])


@dataclass
class Comparison:
    """What became of the texts of a golden file."""

    compared: int = 0
    differing: list[tuple[str, Text, Text]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """Keys of the file that were not computed."""
    new: list[str] = field(default_factory=list)
    """Keys that were computed and that the file lacks."""
    others: list[str] = field(default_factory=list)
    """Cases of another target: not compared."""

    @property
    def same(self) -> bool:
        """Whether all of it was computed again, and is the same."""
        return not (self.differing or self.lost or self.new or self.others)

    def shown(self, most: int) -> Iterator[str]:
        """Yield lines for people: the first so many differences in full."""
        for key, old, new in self.differing[:most]:
            yield f"{key}: {old.lines} lines were, {new.lines} lines are"
            if old.text is None:
                yield f"  {old.sha256} was; now, in part:"
                yield from (f"  + {line}" for line in (new.text or "").split("\n")[:10])
            else:
                pair = old.text.split("\n"), (new.text or "").split("\n")
                yield from (f"  {line}" for line in list(unified_diff(*pair, lineterm="", n=1))[2:])
        if len(self.differing) > most:
            yield f"and {len(self.differing) - most:,} more"
        for name in ("lost", "new", "others"):
            keys = getattr(self, name)
            for key in keys[:most]:
                yield f"{name}: {key}"
            if len(keys) > most:
                yield f"{name}: and {len(keys) - most:,} more"
        groups: dict[str, int] = {}
        for key, _, _ in self.differing:
            group = case_of(key).rsplit("/", 1)[0] + ":" + key.rsplit(":", 1)[1]
            groups[group] = groups.get(group, 0) + 1
        for group, count in sorted(groups.items()):
            yield f"differing {group}: {count:,}"
        yield (
            f"{self.compared:,} texts compared: {len(self.differing):,} differ, "
            f"{len(self.lost):,} lost, {len(self.new):,} new, {len(self.others):,} of other targets"
        )


def compare(golden: Golden, cases: Iterable[Case]) -> Comparison:
    """Compute those of the cases that are in a golden file, and compare."""
    wanted, left = golden.cases, dict(golden.texts)
    done = Comparison()
    for case in cases:
        if case.key not in wanted:
            continue
        found = computed(case)
        for key, new in found.items():
            old = left.pop(key, None)
            if old is None:
                done.new.append(key)
            elif old.made != new.made:
                done.others.append(key)
            else:
                done.compared += 1
                if old.sha256 != new.sha256:
                    done.differing.append((key, old, new))
    done.lost = list(left)
    return done
