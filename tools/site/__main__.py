"""Build the documentation site under build/site: `python -m tools.site`, or `make docs`.

Its pages are those of docs/, and what is generated: every command's options, the Python names with
their docstrings, the fields of the files, and example reports. A link that leads nowhere, or a page
that loads anything from elsewhere, is an error.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import hornlens
from tools.site.checking import problems
from tools.site.reports import REPORTS, write_reports

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
SOURCE, SITE = BUILD / "site-source", BUILD / "site"
CONFIGURATION = Path(__file__).with_name("zensical.toml")
GROUPS = {
    "Ask": "extract load verify Result Rules Verification Settings Policy",
    "Probes and models": "Probe load_probe PromptedModel Worlds",
    "Targets": "Target FunctionTarget RepeatedTarget FormulaTarget TableTarget Decision",
    "Spaces": "Space Attribute Nominal Ordered Taxonomy",
    "Rules and what may be claimed": "Envelope NamedRule Certificate Exact Bounded Pac Budget",
    "Checks": "Checked CheckOutcome Rates",
    "Errors": "HornlensError InputError",
}
"""The public names by what one does with them; the rest comes under "More"."""


def main() -> int:
    """Put the pages together, build the site, and look whether every link leads somewhere."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCE)
    for name, text in generated().items():
        path = SOURCE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in SOURCE.glob("*.md"):
        path.write_text(adapted(path.read_text(encoding="utf-8")), encoding="utf-8")
    shutil.copytree(ROOT / "tools" / "data", SOURCE / "data")
    write_reports(SOURCE / "reports")
    shutil.copy(CONFIGURATION, BUILD)
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=BUILD,
        env={**os.environ, "NO_COLOR": "1"},
    )
    if built.returncode:
        return built.returncode
    version = {"version": "latest", "title": hornlens.__version__, "aliases": []}
    (SITE / "versions.json").write_text(json.dumps([version]) + "\n")
    (SITE / "index.html").write_text(
        '<!doctype html><meta http-equiv="refresh" content="0; url=latest/index.html">\n'
        '<title>Hornlens</title><a href="latest/index.html">Hornlens</a>\n'
    )
    wrong = problems(SITE)
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{SITE / 'latest' / 'index.html'}: {len(list(SITE.rglob('*.html')))} pages")
    return 1 if wrong else 0


def generated() -> dict[str, str]:
    """Return the pages that are not in docs/."""
    read = {
        name: (ROOT / name).read_text(encoding="utf-8")
        for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE")
    }
    return {
        "index.md": read["README.md"],
        "changelog.md": read["CHANGELOG.md"],
        "contributing.md": read["CONTRIBUTING.md"],
        "licence.md": f"# Licence\n\n```text\n{read['LICENSE']}```\n",
        "reference/options.md": options_page(),
        "reference/python.md": python_page(),
        "reference/formats.md": formats_page(),
        "examples.md": examples_page(),
    }


def adapted(text: str) -> str:
    """Return a page with its links as they are in the site, and nothing that loads a script."""
    for old, new in {
        "](docs/": "](",
        "](../README.md": "](index.md",
        "](../CHANGELOG.md": "](changelog.md",
        "](CHANGELOG.md": "](changelog.md",
        "](../CONTRIBUTING.md": "](contributing.md",
        "](CONTRIBUTING.md": "](contributing.md",
        "](LICENSE)": "](licence.md)",
        "](../tools/data/": "](data/",
    }.items():
        text = text.replace(old, new)
    # Drawn in the browser by a script from elsewhere: here the words of the drawing must do.
    return text.replace("```mermaid\n", "```text\n")


def commands() -> Iterator[tuple[str, ...]]:
    """Yield the commands, each as its words."""
    from typer.main import get_command

    from hornlens.cli.app import app

    whole = get_command(app)
    context = whole.make_context("hornlens", [], resilient_parsing=True)
    for name in whole.list_commands(context):  # type: ignore[attr-defined]
        inner = getattr(whole.get_command(context, name), "commands", {})  # type: ignore[attr-defined]
        yield from ((name, each) for each in inner) if inner else [(name,)]


def options_page() -> str:
    """Return every command's help."""
    parts = ["# Every option\n\nWhat `--help` says, of every command.\n"]
    for words in commands():
        said = subprocess.run(
            [sys.executable, "-m", "hornlens", *words, "--help"],
            capture_output=True,
            text=True,
            check=True,
            env={"COLUMNS": "100", "PATH": "/usr/bin:/bin"},
        )
        parts.append(f"## hornlens {' '.join(words)}\n\n```text\n{said.stdout.strip()}\n```\n")
    return "\n".join(parts)


def python_page() -> str:
    """Return the public names with their docstrings, by what one does with them."""
    homes = {name: home for home, names in hornlens._HOMES.items() for name in names.split()}
    grouped = {title: names.split() for title, names in GROUPS.items()}
    known = {name for names in grouped.values() for name in names}
    more = [name for name in hornlens.__all__ if name not in known]
    parts = ["# Python\n\nAll of these are names of `hornlens`: `hornlens.extract`, and so on.\n"]
    for title, names in {**grouped, **({"More": more} if more else {})}.items():
        parts.append(f"## {title}\n")
        parts += [f"::: hornlens.{homes[name]}.{name}\n" for name in names]
    return "\n".join(parts)


def formats_page() -> str:
    """Return the fields of the files that people write, from their schemas."""
    parts = [
        "# File formats\n\nWhat people write. What the commands write is told in "
        "[reading the result](../reading-the-result.md).\n"
    ]
    for title, name in {
        "A probe": "probe.schema.json",
        "Requirements": "requirements.schema.json",
    }.items():
        schema = json.loads((ROOT / "docs" / name).read_text(encoding="utf-8"))
        parts.append(f"## {title}\n\nThe whole schema: [{name}](../{name}).\n")
        for part, content in {"The file": schema, **schema.get("$defs", {})}.items():
            fields = content.get("properties")
            if not fields:
                continue
            about = " ".join(content.get("description", "").split())
            parts.append(
                f"### {part}\n\n{about}\n\n| field | what it is | must be there |\n|---|---|---|"
            )
            needed = content.get("required", ())
            for field, of in fields.items():
                said = " ".join(of.get("description", "").split()).replace("|", "\\|")
                said = re.sub(r"([{}*_<>])", r"\\\1", said)
                parts.append(f"| `{field}` | {said} | {'yes' if field in needed else ''} |")
            parts.append("")
    return "\n".join(parts)


def examples_page() -> str:
    """Return the list of example reports."""
    lines = [
        f"- [{report.title}](reports/{report.name}/report.html): `{report.said}`"
        for report in REPORTS
    ]
    return (
        "# Example reports\n\nEach is one file, and needs no network.\n\n" + "\n".join(lines) + "\n"
    )


if __name__ == "__main__":
    sys.exit(main())
