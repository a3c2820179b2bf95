"""The versions of the site beside each other: the newest under latest/, older ones by number.

The theme reads versions.json to offer them. A page's address under latest/ stays the same from
version to version; when a newer one is built into the same folder, what was there moves to 0.2/,
and stays.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

LATEST = "latest"
TO_LATEST = (
    f'<!doctype html><meta http-equiv="refresh" content="0; url={LATEST}/index.html">\n'
    f'<title>Hornlens</title><a href="{LATEST}/index.html">Hornlens</a>\n'
)


def make_room(site: Path, version: str) -> None:
    """Empty latest/ for a version: pages of an older minor version are kept, under its number."""
    if not (site / LATEST).is_dir():
        return
    found = _minor(_titles(site).get(LATEST, version))
    if _number(found) > _number(_minor(version)):
        raise SystemExit(f"{site}: has pages of {found}, which is newer than {version}")
    if found == _minor(version):
        shutil.rmtree(site / LATEST)
    else:
        shutil.rmtree(site / found, ignore_errors=True)
        (site / LATEST).rename(site / found)


def list_versions(site: Path, version: str) -> None:
    """Write versions.json, the newest first, and the page that leads to the newest."""
    there = [path.name for path in site.iterdir() if re.fullmatch(r"\d+\.\d+", path.name)]
    older = [(name, name) for name in sorted(there, key=_number, reverse=True)]
    lines = [
        {"version": folder, "title": title, "aliases": []}
        for folder, title in [(LATEST, version), *older]
    ]
    (site / "versions.json").write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")
    (site / "index.html").write_text(TO_LATEST, encoding="utf-8")


def _titles(site: Path) -> dict[str, str]:
    """Return the versions that the site lists, by their folders."""
    path = site / "versions.json"
    lines = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return {line["version"]: line["title"] for line in lines}


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _number(minor: str) -> list[int]:
    return [int(part) for part in minor.split(".")]
