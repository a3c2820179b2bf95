"""`python -m tools.old_files FOLDER`: write all files into the folder, which has its inputs."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import hornlens
from hornlens.logic.named import NamedRule
from tools.old_files.commands import run, write_by_commands
from tools.old_files.library import results

INPUTS = "inputs"
UNWANTED = ("*.html", "*.svg", "*.png", "*.pdf", "*.tex", "*.md")
"""What is made for people, and read by nobody."""
WHOLE = ("exact", "almost", "phrasings", "explain-forest", "study", "bias", "inputs")
"""Of these every table is kept; of the others scores.csv, which is read."""
TIMES = {
    "python": '"3.11.0"',
    "started": '"2026-01-01T00:00:00+00:00"',
    "seconds": "1.0",
}
"""What differs from one run to the next, and what is put in its place."""
FIRST = 4
"""So many rules of each result are written down."""
RULES = "hornlens: 1\nrules: {at_least: 0}\n"
"""Requirements that every result meets."""


def main(folder: Path) -> None:
    """Write everything anew, in a folder of its own first."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(folder / INPUTS, Path(place) / INPUTS)
        before = Path.cwd()
        os.environ |= {"XDG_CACHE_HOME": f"{place}/.cache", "OPENAI_API_KEY": "sk-none"}
        os.chdir(place)
        try:
            write_all()
        finally:
            os.chdir(before)
        shutil.rmtree(f"{place}/.cache", ignore_errors=True)
        shutil.rmtree(folder)
        shutil.copytree(place, folder)


def write_all() -> None:
    """Write everything into the present folder."""
    made = write_by_commands()
    for name, how, result in results():
        result.save(name)
        made[name] = how
    for pattern in UNWANTED:
        for path in Path().rglob(pattern):
            path.unlink()
    for path in Path().rglob("*.csv"):
        kept = path.name == "scores.csv" or (path.parts[0] in WHOLE and path.name != "times.csv")
        if not kept:
            path.unlink()
    for path in (*Path().rglob("run.json"), *Path().rglob("times.json")):
        path.write_text(without_times(path.read_text(encoding="utf-8")), encoding="utf-8")
    write_cache()
    lines = [{"name": name, "made": how, **summary(Path(name))} for name, how in made.items()]
    content = {"hornlens": hornlens.__version__, "results": lines}
    text = json.dumps(content, indent=1, ensure_ascii=False)
    Path("made.json").write_text(text + "\n", encoding="utf-8")


def without_times(text: str) -> str:
    """Return a record of a run without what differs from one run to the next."""
    for key, value in TIMES.items():
        text = re.sub(rf'("{key}": )("[^"]*"|[0-9.e-]+)', rf"\g<1>{value}", text)
    seconds = f"[{TIMES['seconds']}, {TIMES['seconds']}]"
    return re.sub(r'("seconds": )\[[^]]*\]', rf"\g<1>{seconds}", text)


def write_cache() -> None:
    """Write the store of answers as SQL, which shows what is in it."""
    with closing(sqlite3.connect("answers.sqlite")) as store:
        for table in ("answers", "details"):
            store.execute(f"UPDATE {table} SET written = 1767225600.0")
        text = "\n".join(map(on_one_line, store.iterdump())) + "\n"
    Path("answers.sql").write_text(text, encoding="utf-8")
    for path in Path().glob("answers.sqlite*"):
        path.unlink()


def on_one_line(statement: str) -> str:
    """Return an INSERT with its white space spelled out: editors may change that."""
    if not statement.startswith("INSERT"):
        return statement
    return re.sub(
        "[\r\n\t]+", lambda run: f"'||char({','.join(str(ord(c)) for c in run[0])})||'", statement
    )


# --- what a result holds, and what can be done with it ---


def summary(path: Path) -> dict[str, Any]:
    """Return how many rules a result has, the first of them, its certificate, and its doors."""
    content = json.loads(_file(path).read_text(encoding="utf-8"))
    found: dict[str, Any] = {"file": str(_file(path))}
    inner = content.get("envelope", content)
    if "certificate" in inner:
        rules = [shown(rule) for rule in inner["rules"]]
        found |= {"kind": inner["certificate"]["kind"], "rules": len(rules), "first": rules[:FIRST]}
    return found | {"doors": list(doors(path))}


def shown(rule: dict[str, Any]) -> str:
    """Return a rule of a file as people write it."""
    then = rule["then"]
    right = None if then is None else (then,) if isinstance(then, str) else tuple(then)
    return str(NamedRule(tuple(rule["if"]), right))


def _file(path: Path) -> Path:
    if path.is_file():
        return path
    names = ("envelope", "explanation", "table", "study", "comparison", "bias")
    return next(path / f"{n}.json" for n in names if (path / f"{n}.json").is_file())


AGAINST = {
    "formula": "inputs/formula.cnf",
    "learned": "inputs/formula.cnf",
    "context": "inputs/animals.cxt",
    "explored/table": "explored/table.exploration.json",
    "explored/person": "explored/person.exploration.json",
}
"""What a file without answers is verified by."""


def doors(path: Path) -> Iterator[str]:
    """Yield what this version can do with a result."""
    against = next((file for name, file in AGAINST.items() if str(path).startswith(name)), None)
    more = f" --against {against}" if against else ""
    Path("any.yaml").write_text(RULES, encoding="utf-8")
    tries = {
        "load": lambda: hornlens.load(path),
        f"verify {path}{more}": None,
        f"check {path} any.yaml": None,
        f"compare {path} {path}": None,
        f"report {path}": None,
    }
    for command, call in tries.items():
        try:
            if call is None and run(command).code:
                raise ValueError(f"hornlens {command} finds something wrong")
            if call is not None:
                call()
        except hornlens.HornlensError:
            continue
        yield command
    for page in Path().rglob("report.html"):
        page.unlink()
    Path("any.yaml").unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
