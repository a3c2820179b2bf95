"""`hornlens probe`: look at a probe before it costs anything."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from random import Random
from typing import Annotated, Literal, Optional

import typer

from hornlens.cli.asking import BaseUrl, CachePlace, Elicit, Orders, PriceIn, PriceOut
from hornlens.counts import plural
from hornlens.errors import HornlensError, InputError
from hornlens.formats.files import write_file
from hornlens.formats.jsonfiles import json_text
from hornlens.formats.plain import one_line
from hornlens.models.protocol import ModelOptions, Spending
from hornlens.models.registry import open_model
from hornlens.probes.loading import DEFAULT, builtin_names, builtin_text, load_probe
from hornlens.report.terminal import Terminal, show_set
from hornlens.store.opening import open_store

app = typer.Typer(no_args_is_help=True, help="Show, check or begin a probe; read replies by it.")


@app.command("list")
def list_probes() -> None:
    """List the built-in probes."""
    terminal = Terminal()
    rows = []
    for name in builtin_names():
        probe = load_probe(name)
        rows.append([name, str(probe.prompt_count), probe.description])
    terminal.table(["probe", "prompts", "what it asks"], rows)


@app.command()
def show(
    probe: Annotated[str, typer.Argument(help="A built-in probe or a file.")] = DEFAULT,
    sentences: Annotated[int, typer.Option(min=0, help="How many sample sentences.")] = 5,
    seed: Annotated[int, typer.Option(help="Which ones.")] = 0,
    model: Annotated[
        Optional[str],
        typer.Option(help="Say what asking this model takes, and what it costs at most."),
    ] = None,
    base_url: BaseUrl = None,
    elicit: Elicit = "auto",
    orders: Orders = "rotate",
    price_in: PriceIn = None,
    price_out: PriceOut = None,
) -> None:
    """Show a probe: its size, what a run will cost, and some of its sentences."""
    terminal = Terminal()
    question = load_probe(probe)
    terminal.say(one_line(f"{question.name}: {question.description}".rstrip(": ")), "bold")
    terminal.say()
    rows = [
        [a.name, str(len(a.values)), ", ".join(v.name for v in a.values), a.unset.text]
        for a in question.attributes
    ]
    label = question.label
    words = ", ".join(f"{v.name} “{v.word}”" for v in label.values)
    rows.append([f"{label.name} (label)", str(len(label.values)), words, ""])
    terminal.table(["attribute", "values", "which", "unset"], rows)
    terminal.say()
    templates = len(question.templates)
    terminal.say(
        f"{plural(len(question.vocabulary), 'variable')}, {question.space.count:,} "
        f"interpretations, {plural(question.prompt_count, 'prompt')} "
        f"({question.space.cell_count:,} cells × {plural(templates, 'template')})."
    )
    if model is None:
        sentences_of_all = question.prompt_count * len(label.values)
        terminal.say(
            f"An exact run asks each prompt once: {question.prompt_count:,} calls of a masked "
            f"language model, {sentences_of_all:,} sentences for a causal one."
        )
    else:
        from hornlens.cli.costs import show_costs

        limits = Spending(price_in=price_in, price_out=price_out)
        options = ModelOptions(base_url=base_url, elicit=elicit, orders=orders, limits=limits)
        show_costs(terminal, question, open_model(model, options))
    terminal.say()
    rng = Random(seed)
    for _ in range(sentences):
        x = question.space.sample(rng)
        for prompt in question.render(x):
            terminal.say(f"  {show_set(question.vocabulary.names_of(x))}  {prompt}")


@app.command()
def read(
    probe: Annotated[str, typer.Argument(help="A built-in probe or a file.")],
    replies: Annotated[
        Optional[Path],
        typer.Option(
            metavar="RESULT|FILE",
            help="A folder of results; a .csv with a column `text`; a .txt with a reply a line.",
        ),
    ] = None,
    cache: CachePlace = None,
    model: Annotated[
        Optional[str], typer.Option(help="From the cache: the replies of this model only.")
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="How many different replies to show.")] = 50,
    format: Annotated[Literal["text", "json"], typer.Option(help="How to print it.")] = "text",
) -> None:
    """Read recorded replies by a probe's words and patterns; nothing is asked.

    The replies are those of a file, or of the cache. The table shows how each is read now and how
    it was read before.
    """
    from hornlens.cli.rereadings import show_readings
    from hornlens.targets.recorded import replies_in_file, replies_in_store, reread

    if replies is not None and (cache is not None or model is not None):
        raise HornlensError("give --replies, or --cache and --model, not both")
    terminal, question = Terminal(), load_probe(probe)
    if replies is not None:
        recorded = replies_in_file(replies)
    else:
        with closing(open_store(cache, terminal.warn)) as store:
            recorded = replies_in_store(store, question, model)
    readings = reread(question, recorded)
    if format == "json":
        print(json_text(readings.as_json()), end="")
    else:
        show_readings(terminal, readings, rows)


@app.command()
def validate(file: Annotated[Path, typer.Argument(help="A probe file.")]) -> None:
    """Check a probe file; exit code 2 and the line if something is wrong."""
    question = load_probe(file)
    seen: dict[str, int] = {}
    if question.prompt_count <= 1_000_000:
        for cell in question.space.cells():
            for prompt in question.render(cell):
                if seen.setdefault(prompt, cell) != cell:
                    raise InputError(f"two cells have the same prompt: {prompt}", file)
    Terminal().say(f"{file}: a good probe, {plural(question.prompt_count, 'prompt')}.")


@app.command()
def new(
    file: Annotated[Path, typer.Argument(help="The file to make.")],
    like: Annotated[str, typer.Option(help="The built-in probe to begin with.")] = DEFAULT,
) -> None:
    """Begin a probe of your own from a built-in one."""
    if file.exists():
        raise InputError("exists already; choose another name", file)
    if like not in builtin_names():
        raise InputError(f"no built-in probe {like!r} (there are: {', '.join(builtin_names())})")
    write_file(file, builtin_text(like).replace(f"name: {like}", f"name: {file.stem}", 1))
    Terminal().say(f"{file}: a copy of {like}. Change it, then: hornlens probe validate {file}")
