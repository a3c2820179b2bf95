"""`hornlens dataset`: get people, and look at what is in a data set."""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from hornlens import __version__
from hornlens.errors import HornlensError
from hornlens.formats.files import write_file
from hornlens.pronouns.dataset import GENDERS, Dataset, builtin_names, load_dataset
from hornlens.pronouns.importing import import_people
from hornlens.pronouns.occupations import BUILT_IN, read_occupations
from hornlens.pronouns.periods import DEFAULT_PERIODS, Periods
from hornlens.pronouns.sparql import Endpoint
from hornlens.pronouns.wikidata import PUBLIC_ENDPOINT, retrieve, user_agent
from hornlens.report.terminal import Terminal
from hornlens.results.documents.codec import FORMAT

app = typer.Typer(no_args_is_help=True, help="Get people from a table or Wikidata; look at them.")

Out = Annotated[Path, typer.Option(help="The folder of the data set.")]
Name = Annotated[
    Optional[str],
    typer.Option(help="The data set's name; by default the folder's."),
]
PeriodCount = Annotated[
    Optional[int],
    typer.Option(
        "--periods",
        min=2,
        help=f"So many periods of equal frequency; by default {DEFAULT_PERIODS}.",
    ),
]
Bounds = Annotated[
    Optional[str],
    typer.Option(help="The years between periods, such as the paper's 1875,1925,1951,1970."),
]
Debug = Annotated[bool, typer.Option("--debug", help="On an error, show the whole traceback.")]


@app.command("list")
def list_datasets() -> None:
    """List the built-in data sets."""
    rows = []
    for name in builtin_names():
        dataset = load_dataset(name)
        rows.append([name, str(dataset.people), dataset.source])
    Terminal().table(["data set", "people", "source"], rows)


@app.command()
def show(
    dataset: Annotated[str, typer.Argument(help="A built-in data set or a folder.")] = "people",
    debug: Debug = False,
) -> None:
    """Show what is in a data set: occupations, genders, periods, what was left out."""
    _show(Terminal(), load_dataset(dataset))


@app.command()
def occupations(
    format: Annotated[
        Literal["text", "csv"],
        typer.Option(help="csv: with all figures, as dataset wikidata --occupations takes it."),
    ] = "text",
    debug: Debug = False,
) -> None:
    """Print the built-in list of occupations, with ids on Wikidata and published figures."""
    if format == "csv":
        print(BUILT_IN.read_text("utf-8"), end="")
        return
    terminal = Terminal()
    rows = []
    for occupation in read_occupations():
        mark = " ?" if occupation.checked == "unchecked" else ""
        people, male, female, *_, mean_score = occupation.figures
        rows.append([occupation.name, occupation.qid + mark, people, male, female, mean_score])
    terminal.table(["occupation", "id", "people", "male", "female", "ppbs"], rows)
    terminal.say()
    terminal.say(
        "People on Wikidata in 2022; published bias scores, the mean of four models. "
        "An id with ? was not found in print. All figures: --format csv"
    )


@app.command("import")
def import_command(
    file: Annotated[
        Path,
        typer.Argument(
            help="A .csv with the columns occupation, gender, and any of birth_year, country_qid, "
            "continent, person (id), people (count)."
        ),
    ],
    out: Out,
    countries: Annotated[
        Optional[Path],
        typer.Option(help="A .csv with country_qid and continent; by default the built-in table."),
    ] = None,
    periods: PeriodCount = None,
    bounds: Bounds = None,
    name: Name = None,
    debug: Debug = False,
) -> None:
    """Make a data set from a table of people."""
    cut = _cut(periods, bounds)
    dataset = import_people(file, out, name or _name_of(out), cut, countries)
    terminal = Terminal()
    _show(terminal, dataset)
    _say_where(terminal, out)


@app.command()
def wikidata(
    out: Out,
    occupations: Annotated[
        Optional[Path],
        typer.Option(help="A .csv with occupation and wikidata_qid; by default the built-in list."),
    ] = None,
    endpoint: Annotated[str, typer.Option(help="The SPARQL endpoint.")] = PUBLIC_ENDPOINT,
    contact: Annotated[
        str,
        typer.Option(
            envvar="HORNLENS_CONTACT",
            help="Your e-mail or web address: Wikimedia wants to know whom to write to.",
        ),
    ] = "",
    periods: PeriodCount = None,
    bounds: Bounds = None,
    name: Name = None,
    page_size: Annotated[
        int, typer.Option(min=1, max=5000, help="About how many people to ask at a time.")
    ] = 500,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds for an answer; then a smaller page is asked.")
    ] = 75.0,
    tries: Annotated[int, typer.Option(min=1, help="How often to ask before giving up.")] = 6,
    retry_wait: Annotated[
        float, typer.Option(min=0, help="Seconds before the second try; it doubles from there.")
    ] = 2.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress display.")] = False,
    debug: Debug = False,
) -> None:
    """Make a data set from Wikidata; the same command goes on where it was stopped."""
    terminal = Terminal(quiet)
    cut = _cut(periods, bounds)
    listed = read_occupations(occupations)
    without = [occupation.name for occupation in listed if not occupation.qid]
    if without:
        terminal.warn(f"skipped, as their id on Wikidata is not known: {', '.join(without)}")
    unchecked = [o.name for o in listed if o.checked == "unchecked"]
    if unchecked:
        terminal.warn(f"the id on Wikidata was not found in print: {', '.join(unchecked)}")
    if not contact and endpoint == PUBLIC_ENDPOINT:
        terminal.warn("Wikimedia wants to know who asks: give --contact or HORNLENS_CONTACT")
    asked = Endpoint(
        endpoint, user_agent(contact), timeout, tries, retry_wait, notify=terminal.warn
    )
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    dataset = retrieve(listed, asked, out, name or _name_of(out), cut, page_size, terminal.bar)
    run = {
        "hornlens": __version__,
        "format": FORMAT,
        "started": started,
        "seconds": round(time.perf_counter() - clock, 1),
        "requests": asked.requests,
        "failures": asked.failures,
    }
    write_file(out / "run.json", json.dumps(run, indent=2) + "\n")
    _show(terminal, dataset)
    _say_where(terminal, out)


def _name_of(out: Path) -> str:
    return out.absolute().resolve().name or "people"


def _cut(count: int | None, bounds: str | None) -> Periods | int:
    """Return what --periods and --bounds say."""
    if bounds is None:
        return count or DEFAULT_PERIODS
    if count is not None:
        raise HornlensError("give --periods or --bounds, not both")
    try:
        return Periods(tuple(int(year) for year in bounds.split(",")))
    except ValueError:
        raise HornlensError(
            f"--bounds takes years separated by commas, such as 1875,1925, not {bounds!r}"
        ) from None


def _say_where(terminal: Terminal, out: Path) -> None:
    terminal.say()
    terminal.say(f"Written to {out}. Ask a model about them: hornlens extract {out / 'probe.yaml'}")


def _show(terminal: Terminal, dataset: Dataset) -> None:
    probe, transformation = dataset.probe, dataset.transformation
    terminal.say(f"{dataset.name}: {dataset.people:,} people, from {dataset.source}.", "bold")
    terminal.say()
    counts: Counter[tuple[str, str]] = Counter()
    periods: Counter[str] = Counter()
    continents: Counter[str] = Counter()
    for group in dataset.groups:
        counts[group.occupation, group.gender] += group.people
        periods[group.period] += group.people
        continents[group.continent] += group.people
    names = sorted({group.occupation for group in dataset.groups})
    rows = []
    for name in names:
        genders = [counts[name, gender] for gender in GENDERS]
        rows.append([name or "(unknown)", str(sum(genders)), *map(str, genders)])
    genders_said = [gender or "unknown" for gender in GENDERS]
    terminal.table(["occupation", "people", *genders_said], rows)
    terminal.say()
    for attribute, found in zip(probe.attributes, (periods, continents), strict=False):
        said = [f"{value.name} {found[value.name]:,}" for value in attribute.values]
        said += [f"unknown {found['']:,}"] * bool(found[""])
        terminal.say(f"{attribute.name}: {'; '.join(said)}")
    cut = transformation.get("periods", {})
    if cut:
        bounds = ", ".join(map(str, cut.get("bounds", [])))
        terminal.say(f"Bounds of the periods: {bounds} ({cut.get('method', '')}).")
    for title, key in (("Left out", "left_out"), ("Unknown", "unknown")):
        reasons = transformation.get(key, {})
        listed = "; ".join(f"{reason} {number:,}" for reason, number in reasons.items())
        terminal.say(f"{title}: {listed or 'nothing'}.")
    outside = transformation.get("outside_label", 0)
    if outside:
        terminal.say(f"{outside:,} of another or unknown gender: kept, but outside the label.")
