"""What we stand on may be used by everybody: the licences of all that is installed with us."""

import re
from importlib import metadata

from packaging.requirements import Requirement

ALLOWED = re.compile(
    r"(Apache|MIT|BSD|0BSD|\d-Clause BSD|ISC|PSF|Python Software Foundation|MPL|Mozilla|Zlib|CC0|"
    r"BSL-1\.0|CNRI-Python|HPND|Unlicense)"
)
"""Permissive, or copyleft by the file: none that reaches what uses it."""


def licence_of(found: metadata.Distribution) -> str:
    about = found.metadata
    named = [c.split(" :: ")[-1] for c in about.get_all("Classifier") or () if "License ::" in c]
    return about.get("License-Expression") or ", ".join(named) or (about.get("License") or "")[:80]


def needed(name: str, extras: tuple[str, ...], seen: dict[str, str]) -> dict[str, str]:
    """Return the licences of a package and of all that it needs, as far as it is installed."""
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key in seen and not extras:
        return seen
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return seen
    seen[key] = licence_of(found)
    for line in found.requires or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": e}) for e in ("", *extras)):
            needed(requirement.name, (), seen)
    return seen


def test_all_that_is_installed_with_us_may_be_used_by_everybody():
    found = needed("hornlens", ("hf", "smollm2", "ray", "postgres"), {})
    # A library that may be used by everything, and changed and replaced by everybody.
    assert all("LGPL" in found.pop(name, "LGPL") for name in ("psycopg", "psycopg-binary"))
    assert {"numpy", "pyyaml", "pydantic"} <= found.keys()
    odd = {
        name: licence
        for name, licence in found.items()
        if not all(ALLOWED.match(part.strip("() ")) for part in re.split(r" AND | OR |, ", licence))
    }
    assert not odd, odd
