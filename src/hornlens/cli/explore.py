"""`hornlens explore`: attribute exploration with people, targets and models as experts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hornlens.counts import plural
from hornlens.errors import HornlensError, InputError
from hornlens.exploring.dialogue import PERSON, Person
from hornlens.exploring.experts import Expert, Experts, How, ModelExpert, Named, TargetEntailment
from hornlens.exploring.explore import explore_with
from hornlens.exploring.session import Session
from hornlens.exploring.variables import Variables, read_variables
from hornlens.formats.anytables import open_table
from hornlens.formats.backgrounds import read_background
from hornlens.formats.digests import with_digest
from hornlens.formats.files import check_writable
from hornlens.formats.jsonfiles import json_text
from hornlens.formats.plain import visible
from hornlens.learning.protocol import EntailmentOracle
from hornlens.limits import ended_by_ctrl_c
from hornlens.logic.vocabulary import Vocabulary
from hornlens.models.protocol import Model
from hornlens.models.registry import open_model
from hornlens.oracles.entailment import FormulaEntailment, RowsEntailment
from hornlens.probes.loading import builtin_names, load_probe
from hornlens.probes.probe import Probe
from hornlens.report.terminal import Terminal, show_envelope
from hornlens.results.documents.envelope import envelope_as_json
from hornlens.store.protocol import AnswerStore
from hornlens.targets.answers import Answers
from hornlens.targets.formulas import FormulaTarget, TableTarget
from hornlens.targets.prompted import prompted
from hornlens.targets.protocol import Target
from hornlens.targets.registry import open_target
from hornlens.targets.worlds import Worlds

if TYPE_CHECKING:
    from hornlens.cli.commands.formal import ExploreOptions

PAUSE = 1.0
"""Seconds between two times that answers of machines are saved."""


def explore_command(options: ExploreOptions) -> int:
    """Explore; print what is known at the end; return the exit code."""
    probe, variables = _read(options)
    if options.background is not None:
        assumed = read_background(options.background, variables.vocabulary)
        space = variables.space
        space = replace(space, assumed=(*space.assumed, *assumed))
        variables = Variables(space, variables.texts, variables.asking)
    stem = Path(options.file).stem or "variables"
    path = options.session or Path(f"{stem}.exploration.json")
    check_writable(path.parent)
    session = _session(options, variables, path)
    terminal, as_json = Terminal(), options.format == "json"

    def say(text: str) -> None:
        print(visible(text), file=sys.stderr if as_json else sys.stdout, flush=True)

    saved = 0.0

    def keep() -> None:
        """Save what a person said at once; what a machine said can be had again."""
        nonlocal saved
        last = session.answers[-1] if session.answers else None
        if last is None or last.is_by(PERSON) or time.monotonic() - saved > PAUSE:
            session.save(path)
            saved = time.monotonic()

    with options.store.open(terminal.warn) if options.model else nullcontext() as store:
        person = Person(session, _read_line(as_json), say, keep)
        experts = _experts(options, probe, variables, store, person)
        asks_person = person in experts.experts
        if asks_person:
            _begin(session, path, say)
        try:
            # A person who presses Ctrl-C wants to leave at once; machines are heard to the end.
            with nullcontext() if asks_person else ended_by_ctrl_c(options.limits):
                done = explore_with(session, experts, keep, say, options.limits)
        finally:
            session.save(path)
    envelope = session.envelope(options.limits.reason or "interrupt")
    if as_json:
        sys.stdout.write(json_text(with_digest(envelope_as_json(envelope))))
        return options.exit_code
    terminal.say()
    show_envelope(terminal, envelope)
    terminal.say(f"Kept in {path}; the examples in {path.with_suffix('.cxt')}.")
    if not done:
        terminal.say("To go on, give the same command again.")
    return options.exit_code


def _read(options: ExploreOptions) -> tuple[Probe | None, Variables]:
    """Read a file of variables, or a probe, whose questions a model is then asked."""
    path = Path(options.file)
    if options.file in builtin_names() or (path.is_file() and _is_probe(path)):
        if not options.model:
            raise HornlensError(f"{options.file} is a probe: say whom to ask it, by --model")
        probe = load_probe(options.file)
        return probe, Variables(probe.space)
    return None, read_variables(path)


def _is_probe(path: Path) -> bool:
    """Say whether a YAML file has the template of a probe."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.startswith(("template:", "templates:", "variants:")) for line in lines)


def _session(options: ExploreOptions, variables: Variables, path: Path) -> Session:
    rows: list[int] = []
    if options.table is not None:
        table = open_table(options.table).table
        try:
            rows = _projected(table.rows, table.vocabulary, variables.vocabulary)
        except InputError as error:
            raise InputError(error.message, options.table) from None
    if path.exists() and not options.fresh:
        return Session.load(path, variables, rows)
    try:
        return Session(variables, rows)
    except InputError as error:
        raise InputError(error.message, options.table) from None


def _projected(rows: Sequence[int], theirs: Vocabulary, ours: Vocabulary) -> list[int]:
    """Return rows in the variables that are explored; a table has to have all of them."""
    for name in ours.names:
        if name not in theirs:
            raise InputError(f"has no column for the variable {name!r}")
    places = [theirs.index(name) for name in ours.names]
    return [sum((row >> place & 1) << i for i, place in enumerate(places)) for row in rows]


def _experts(
    options: ExploreOptions,
    probe: Probe | None,
    variables: Variables,
    store: AnswerStore | None,
    person: Person,
) -> Experts:
    found: list[Expert] = []
    how: How = options.ask
    for spec in options.expert or ():
        found.append(person if spec == PERSON else _target(spec, options, variables))
    for spec in options.model or ():
        model: Model = open_model(spec, options.how.options)
        if probe is None:
            asking = variables.asking
            found.append(ModelExpert(Answers(model, (asking.yes, asking.no), store), variables))
            continue
        target = prompted(probe, model, probe.policy, store)
        if isinstance(target, Worlds):
            how = "all"  # a rule holds of a model if it does however the model is asked
            worlds = {f"{target.name} ({n})": world for n, world in target.targets.items()}
        else:
            worlds = {target.name: target}
        for name, world in worlds.items():
            found.append(_named(name, TargetEntailment(world, samples=options.samples), variables))
    return Experts(found or [person], how)


def _target(spec: str, options: ExploreOptions, variables: Variables) -> Expert:
    target: Target = open_target(spec)
    oracle: EntailmentOracle
    if isinstance(target, TableTarget):  # these can be looked into
        oracle = RowsEntailment(target.table.rows, target.space.width)
    elif isinstance(target, FormulaTarget):
        oracle = FormulaEntailment(target.formula)
    else:
        oracle = TargetEntailment(target, samples=options.samples)
    return Named(spec, oracle, variables.vocabulary, target.space.vocabulary)


def _named(name: str, oracle: TargetEntailment, variables: Variables) -> Expert:
    return Named(name, oracle, variables.vocabulary, oracle.space.vocabulary)


def _begin(session: Session, path: Path, say: Callable[[str], None]) -> None:
    count = len(session.variables.vocabulary)
    known = plural(len(session.explorer.examples), "example")
    say(f"Exploring {plural(count, 'variable')}; {known} known. Type help for what can be said.")
    if session.answers:
        say(f"Going on after {plural(len(session.answers), 'answer')} in {path}.")


def _read_line(to_stderr: bool) -> Callable[[str], str]:
    """Return what asks for a line; on a terminal, with its editing and history."""

    def read(prompt: str) -> str:
        if to_stderr or not sys.stdin.isatty():
            print(prompt, end="", file=sys.stderr if to_stderr else sys.stdout, flush=True)
            line = sys.stdin.readline()
            if not line:
                raise EOFError
            return line
        return input(prompt)

    return read
