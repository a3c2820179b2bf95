"""Build the documentation site under build/site: `python -m tools.site`, or `make docs`.

Its pages are those of docs/, and what is generated: every command's options, the Python names with
their docstrings, the fields of the files, and example reports. A link that leads nowhere, or a page
that loads anything from elsewhere, is an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import hornlens
from tools.site import reference
from tools.site.checking import problems
from tools.site.drawing import drawn
from tools.site.reports import write_reports
from tools.site.versions import LATEST, list_versions, make_room

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
SOURCE, SITE = BUILD / "site-source", BUILD / "site"
CONFIGURATION = Path(__file__).with_name("zensical.toml")


def main() -> int:
    """Put the pages together, build the site, and look whether every link leads somewhere."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    make_room(SITE, hornlens.__version__)
    shutil.copytree(ROOT / "docs", SOURCE)
    for name, text in generated().items():
        path = SOURCE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in SOURCE.glob("*.md"):
        path.write_text(adapted(path.read_text(encoding="utf-8")), encoding="utf-8")
    shutil.copytree(ROOT / "tools" / "data", SOURCE / "data")
    for name in ("site.css", "site.js"):
        shutil.copy(CONFIGURATION.with_name(name), SOURCE)
    shutil.copy(CONFIGURATION, BUILD)
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=BUILD,
        env={**os.environ, "NO_COLOR": "1"},
    )
    if built.returncode:
        return built.returncode
    list_versions(SITE, hornlens.__version__)
    wrong = problems(SITE)
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{SITE / LATEST / 'index.html'}: {len(list(SITE.rglob('*.html')))} pages")
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
        **reference.pages(),
        "examples.md": write_reports(SOURCE / "reports"),
    }


def adapted(text: str) -> str:
    """Return a page with its links as they are in the site, and its graphs drawn."""
    for old, new in {
        "](docs/": "](",
        "](../README.md": "](index.md",
        "](../CHANGELOG.md": "](changelog.md",
        "](CHANGELOG.md": "](changelog.md",
        "](../CONTRIBUTING.md": "](contributing.md",
        "](CONTRIBUTING.md": "](contributing.md",
        "](LICENSE)": "](licence.md)",
        "](../tools/data/": "](data/",
        "](examples/)": "](examples.md#notebooks)",
        "](schemas/)": "](reference/formats.md)",
    }.items():
        text = text.replace(old, new)
    return drawn(text)


if __name__ == "__main__":
    sys.exit(main())
