"""The library's front door: ask a black box, keep the result, load it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hornlens.errors import HornlensError, InputError
from hornlens.extraction.inside import LEARNED, engine_of, worked_out
from hornlens.formats.files import write_files
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.settings import Settings
from hornlens.targets.protocol import Target

if TYPE_CHECKING:
    from hornlens.extraction.extract import MakeLearner, MakeOracle, MakeStrategy, Watch
    from hornlens.limits import Limits
    from hornlens.logic.decisions import Policy
    from hornlens.logic.repeats import Repeats
    from hornlens.models.protocol import Model
    from hornlens.probes.probe import Probe
    from hornlens.report.plots import Plots
    from hornlens.results.documents.checks import Checked
    from hornlens.results.documents.requirements_file import Source
    from hornlens.store.protocol import AnswerStore
    from hornlens.targets.opening import Background

OTHERS = ("almost.csv", "levels.csv", "scores.csv", "rates.csv", "flips.csv", "run.json")
"""Files that only some results have."""
Function = Callable[[str, Sequence[str]], Any]
"""Given a prompt and the candidate words, returns their scores: a sequence, or by word."""


class Result(Findings):
    """What `extract` returns: rules with their evidence; saves, shows and checks itself.

    >>> result = extract(lambda prompt, words: [0.9, 0.1], cache=False)
    >>> result
    <Result: gender-occupation on function, 1 rule, exact>
    >>> result.envelope.certificate.title, result.entails("male -> false")
    ('Exact', True)
    """

    @classmethod
    def of(cls, extraction: Findings) -> Result:
        """Return an extraction with what people do with it."""
        return cls(**{field.name: getattr(extraction, field.name) for field in fields(Findings)})

    def save(self, folder: str | Path) -> None:
        """Write all that the command line writes, or nothing: rules, answers, and the page.

        A target that gives no labels has no page; where nobody was asked, there are only rules.
        What another result left in the folder, and this one has not, is removed.
        """
        from hornlens.results.documents.saving import extraction_files

        out = Path(folder)
        files, content = extraction_files(self)
        if self.asked and self.space.label is not None:
            from hornlens.report.page.extraction import extraction_page

            files["report.html"] = extraction_page(self, content)
        write_files({out / name: text for name, text in files.items()})
        for name in ("report.html", *OTHERS):
            if name not in files:
                (out / name).unlink(missing_ok=True)  # of another result

    def check(self, requirements: Source) -> Checked:
        """Hold the result against requirements: a YAML file's path, or its fields as a mapping.

        A list of rules requires them. What comes back is true if nothing is violated, so that
        ``assert result.check("rules.yaml")`` is a test.

        >>> def nurses(prompt, words):
        ...     return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]
        >>> extract(nurses, cache=False).check({"forbid": ["nurse & male -> false"]})
        <Checked: 1 of 1 requirement violated: forbid nurse ∧ male → ⊥>
        """
        from hornlens.results.analysis.checking import check
        from hornlens.results.documents.requirements_file import read_requirements

        return check(self, read_requirements(requirements))

    def export(self, format: str) -> str:
        """Return the result as text for other tools.

        Args:
            format: "latex", "prolog", "dimacs", "conexp" or "fcar" for the rules in short form;
                "csv" for rules.csv, "json" for all of envelope.json, "text" for a rule a line.

        >>> print(extract(lambda prompt, words: [0.9, 0.1], cache=False).export("text"), end="")
        male → ⊥
        """
        from hornlens.results.documents.exporting import exported_text

        return exported_text(self, format)

    @cached_property
    def plot(self) -> Plots:
        """Drawings of the result, for notebooks: `plot.rules()`, `plot.map()`, and others."""
        from hornlens.report.plots import Plots

        return Plots(self)

    def _repr_html_(self) -> str:
        """Return the rules as a table under what may be claimed of them, for notebooks."""
        from html import escape

        certificate = self.envelope.certificate
        about = f"{self.title}: {len(self.rules)} {'rule' if len(self.rules) == 1 else 'rules'}"
        claim = f"{certificate.title}: {certificate.sentence}"
        return f"<p><b>{escape(about)}</b><br>{escape(claim)}</p>{self.rules._repr_html_()}"


def extract(
    model: str | Model | Function | Target | None = None,
    probe: str | Path | Probe | None = None,
    *,
    settings: Settings | None = None,
    policy: Policy | None = None,
    cache: AnswerStore | str | Path | Literal[False] | None = None,
    progress: Callable[[int], None] | bool | None = None,
    repeats: int | Repeats | Literal["auto"] = 1,
    learner: MakeLearner | None = None,
    equivalence: MakeOracle | None = None,
    strategy: MakeStrategy | None = None,
    watch: Watch | None = None,
    limits: Limits | None = None,
) -> Result:
    """Return the rules that a black box obeys.

    A target that can be looked into, such as a `FormulaTarget`, is not asked, unless you give a
    learner, an oracle or a strategy, or settings with samples or a budget: its rules are worked
    out.

    Args:
        model: Whom to ask: a model's spec such as "demo" or "hf/bert-base-cased", a `Model`, any
            function of a prompt and candidate words that returns their scores, or a `Target`,
            which needs no probe. Default: `demo`, or the built-in model that knows the words of a
            built-in probe.
        probe: What to ask: the name of a built-in probe, the path of a YAML file, or a `Probe`.
            Default: "gender-occupation".
        settings: How to extract: exactly, by samples, or within a budget; and which rules.
        policy: How scores become a label. Default: the probe's own policy.
        cache: Where answers are kept: a file, the address of a PostgreSQL database, or a store.
            None is the user's cache (or HORNLENS_CACHE); False keeps nothing on disk.
        progress: True shows a progress bar, in a terminal or a notebook; a function is called
            with the number of new answers each time.
        repeats: How often each prompt is asked: the majority of that many answers counts. "auto",
            or a `Repeats`, asks until a statistical test decides, and tells rules that are certain
            from those that are only possible.
        learner: A function that makes a learner of your own from the number of variables.
        equivalence: A function that makes an equivalence oracle of your own from an `Asking`.
        strategy: A function that makes a strategy of your own from an `Asking`: it chooses what is
            asked, instead of a learner and an oracle.
        watch: A function that is called with each event of the learner. A run that asks
            everything has no learner, and so no events. Of rules that are worked out, it sees
            each, and the end.
        limits: What may end the run early. The rules that are proved by then are returned, and
            answers are kept, so that the same call resumes.

    Returns:
        The rules, with their evidence and what may be claimed of them.

    Raises:
        HornlensError: in one line, if the model, the probe or a combination of options is wrong.

    >>> def black_box(prompt, words):
    ...     return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]
    >>> extract(black_box, cache=False).entails("nurse & male -> false")
    True
    """
    from hornlens.extraction.extract import extract as extract_target

    if isinstance(model, Target):
        if not (probe is None and repeats == 1 and not progress and not cache):
            raise HornlensError(
                "a target asks its own questions: give it no probe, repeats, cache or progress"
            )
        found = extract_target(
            model,
            settings=settings,
            policy=policy,
            learner=learner,
            equivalence=equivalence,
            strategy=strategy,
            watch=watch,
            limits=limits,
        )
        return Result.of(found)
    from hornlens.models.protocol import Model
    from hornlens.models.registry import open_model
    from hornlens.probes.loading import DEFAULT, default_model, load_probe
    from hornlens.probes.probe import Probe
    from hornlens.store.opening import open_store
    from hornlens.targets.prompted import prompted

    question = probe if isinstance(probe, Probe) else load_probe(probe or DEFAULT)
    model = default_model(question.name) if model is None else model
    asked = open_model(model) if isinstance(model, str) else model
    if not isinstance(asked, Model):
        from hornlens.models.functions import FunctionModel

        if not callable(asked):
            members = "name, space, identity, decide and show"
            raise HornlensError(f"{asked!r} is no model and no function; a target has {members}")
        asked = FunctionModel(asked)
    if progress is True:
        from hornlens.report.terminal import Terminal

        everything = settings is None or settings.is_exhaustive(question.prompt_count)
        total = question.prompt_count if everything and repeats == 1 else None
        showing: Any = Terminal().bar(f"Asking {asked.name}", total, "prompts")
    else:
        showing = nullcontext(progress or None)
    if cache is None or isinstance(cache, str | Path):
        store: Any = closing(open_store(cache))
    else:
        store = nullcontext(cache or None)
    with store as opened, showing as told:
        chosen, heard = policy or question.policy, _heeding(limits, told)
        if isinstance(repeats, int):
            target = prompted(question, asked, chosen, opened, heard, repeats)
        else:
            from hornlens.logic.repeats import Repeats
            from hornlens.targets.noisy import noisy

            noise = Repeats() if repeats == "auto" else repeats
            target = noisy(question, asked, chosen, opened, heard, noise)
        found = extract_target(
            target,
            settings=settings,
            learner=learner,
            equivalence=equivalence,
            strategy=strategy,
            watch=watch,
            limits=limits,
        )
    return Result.of(found)


def envelope(
    source: Any,
    *,
    background: Background = None,
    settings: Settings | None = None,
    scales: Sequence[str] = (),
    label: str | None = None,
    limits: Limits | None = None,
    progress: Callable[[int, float | None], None] | bool | None = None,
    watch: Watch | None = None,
) -> Result:
    """Return all rules of a formula or a table, exactly. They are worked out; nobody is asked.

    Args:
        source: What the rules are of: the path of a DIMACS file (.cnf, .dimacs) or of a table
            (.csv, .parquet, .xlsx, or a context), a `Cnf`, a `Table`, a data frame of pandas or
            polars, or a `FormulaTarget` or `TableTarget`.
        background: Rules that are taken for granted: the path of a Horn .cnf or an envelope.json,
            a `Theory`, or rules as text.
        settings: Which rules: only short ones, only those that enough rows bear out, and whether
            almost-rules or a level of detail are wanted as well.
        scales: How columns of values are read, each as ``--scale`` takes it: "age=interval:30,60".
        label: The column that has the class of each row.
        limits: What may end the search early; then the rules are those proved so far.
        progress: True shows how far it is; a function is called with the number of rules that are
            proved and the share of the work that is done, or None where nobody knows.
        watch: A function that is called with an event for each rule, and for the end.

    Returns:
        The rules and what may be claimed of them. There are no answers beside them.

    Raises:
        HornlensError: in one line, if the source cannot be read, or has no such rules.

    >>> result = envelope("examples/animals.csv")
    >>> result
    <Result: animals.csv, 5 rules, exact>
    >>> result.entails("flies & lays eggs -> feathers")
    True
    """
    from hornlens.targets.opening import errors_about, open_source

    chosen = settings or Settings()
    path = Path(source) if isinstance(source, str | Path) else None
    target = open_source(source, background, scales, label)
    with errors_about(path):
        if chosen.equivalence in LEARNED:
            raise HornlensError(
                f"envelope works out all rules: for equivalence {chosen.equivalence}, use extract"
            )
        engine = engine_of(target, chosen)
        if engine is None:
            raise InputError("a formula has no rows: --min-support is for tables")
        if progress is True:
            from hornlens.report.terminal import Terminal

            showing: Any = Terminal().searching(f"Envelope of {target.name}")
        else:
            showing = nullcontext(progress or None)
        with showing as note:
            return Result.of(worked_out(target, engine, chosen, None, watch, limits, progress=note))


def _heeding(
    limits: Limits | None, progress: Callable[[int], None] | None
) -> Callable[[int], None] | None:
    """Return a `progress` that raises Stopped when a limit is reached: answers are kept by then."""
    if limits is None:
        return progress

    def heed(count: int) -> None:
        if progress is not None:
            progress(count)
        limits.check()

    return heed


def load(path: str | Path) -> Any:
    """Return a result that was saved.

    Args:
        path: The folder, or the envelope.json, table.json or explanation.json in it; or what
            `envelope`, `learn` or `explore` printed with ``--format json``.

    Returns:
        An `Explanation`, if `explain` made it: rules, checks and predictions, without the model
        itself. A `Result` otherwise; that of a formula, a table or an exploration has no answers.

    Raises:
        InputError: if there is no result there, or one of a newer version.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     extract(lambda prompt, words: [0.9, 0.1], cache=False).save(folder)
    ...     print(load(folder).rules)
    male → ⊥
    """
    from hornlens.results.documents.explanations import is_explanation
    from hornlens.results.documents.saving import read_result

    if is_explanation(Path(path)):
        from hornlens.classifiers.loading import load_explanation

        return load_explanation(path)
    return Result.of(read_result(Path(path)))
