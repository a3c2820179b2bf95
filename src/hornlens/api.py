"""The library's front door: ask a black box, keep the result, load it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from hornlens.errors import HornlensError, InputError
from hornlens.extraction.inside import LEARNED, engine_of, work_out
from hornlens.result import Result
from hornlens.results.documents.settings import Settings
from hornlens.targets.protocol import Target

if TYPE_CHECKING:
    from hornlens.extraction.extract import MakeLearner, MakeOracle, MakeStrategy, Watch
    from hornlens.limits import Limits
    from hornlens.logic.decisions import Policy
    from hornlens.logic.repeats import Repeats
    from hornlens.models.protocol import Model
    from hornlens.probes.probe import Probe
    from hornlens.prompting import Function
    from hornlens.results.analysis.comparison import Comparison
    from hornlens.results.documents.findings import Findings
    from hornlens.store.protocol import AnswerStore
    from hornlens.targets.classifiers.target import ClassifierTarget
    from hornlens.targets.opening import Background


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
            with the number of new answers each time. A sift shows how many candidates are alive.
        repeats: How often each prompt is asked: the majority of that many answers counts. "auto",
            or a `Repeats`, asks until a statistical test decides, and tells rules that are certain
            from those that are only possible.
        learner: A function that makes a learner of your own from the number of variables.
        equivalence: A function that makes an equivalence oracle of your own from an `Asking`.
        strategy: A function that makes a strategy of your own from an `Asking`: it chooses what is
            asked, instead of a learner and an oracle.
        watch: A function that is called with each event of the learner or of the sift. A run that
            asks everything has no learner, and so no events. Of rules that are worked out, it sees
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

    run = partial(
        extract_target,
        settings=settings,
        learner=learner,
        equivalence=equivalence,
        strategy=strategy,
        watch=watch,
        limits=limits,
    )
    if isinstance(model, Target):
        if not (probe is None and repeats == 1 and not cache):
            raise HornlensError(
                "a target asks its own questions: give it no probe, repeats or cache"
            )
        own = (learner, equivalence, strategy)
        if own == (None, None, None) and _is_explained(model, settings):
            from hornlens.classifiers.explain import explain_target

            return explain_target(model, settings or Settings(), limits, watch)
        from hornlens.prompting import ask_target

        return Result.of(ask_target(model, run, settings, policy, progress, watch))
    from hornlens.prompting import ask_models

    options = (settings, policy, cache, progress, repeats, limits, watch)
    return Result.of(ask_models([model], probe, lambda targets: targets[0], run, *options))


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
    chance: int | None = None,
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
        chance: For a table: how often to shuffle its label, or without one every column, to tell
            rules that are more than chance. See `Result.chance`.

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
            made = work_out(target, engine, chosen, None, watch, limits, progress=note)
        if chance is not None:
            made = _with_chance(made, target, chance)
        return Result.of(made)


def _with_chance(made: Findings, target: Target, permutations: int) -> Findings:
    """Return the result of a table with what shuffled columns say of its rules."""
    from hornlens.results.analysis.chance_rows import chance_of_table
    from hornlens.targets.formulas import TableTarget

    if not isinstance(target, TableTarget):
        raise InputError("a formula has no rows to shuffle: --chance is for tables")
    labelled = target.columns is not None and target.columns.label is not None
    seed = made.settings.seed
    chance = chance_of_table(
        target.table, target.space, labelled, made.envelope, permutations, seed
    )
    return replace(made, table_chance=chance)


def _is_explained(target: Target, settings: Settings | None) -> TypeGuard[ClassifierTarget]:
    """Return whether a target is a classifier with too many cells for a basis of all rules."""
    from hornlens.targets.classifiers.target import ClassifierTarget

    if not isinstance(target, ClassifierTarget):
        return False
    return engine_of(target, settings or Settings()) is not None


def load(path: str | Path) -> Result:
    """Return a result that was saved.

    Args:
        path: The folder, or the envelope.json, table.json or explanation.json in it; or what
            `envelope`, `learn` or `explore` printed with ``--format json``.

    Returns:
        The result. That of `explain` is an `Explanation`, which also predicts; the model itself is
        not kept. That of a formula, a table or an exploration has no answers.

    Raises:
        InputError: if there is no result there, or one of a newer version.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     extract(lambda prompt, words: [0.9, 0.1], cache=False).save(folder)
    ...     print(load(folder).rules)
    male → ⊥
    """
    from hornlens.results.documents.explanations import find_explanation
    from hornlens.results.documents.saving import read_result

    if (of_classifier := find_explanation(Path(path))) is not None:
        from hornlens.classifiers.loading import load_explanation

        return load_explanation(*of_classifier)
    return Result.of(read_result(Path(path)))


def compare(results: Sequence[Any], names: Sequence[str] = ()) -> Comparison:
    """Compare results, rule by rule, each with each of those after it.

    Args:
        results: Two results or more, of `extract`, `explain` or `load`; or the paths of saved ones.
            All must be over the same variables; those of classifiers, over the same columns and
            classes. Their thresholds may differ.
        names: What to call the results, in their order. Default: their titles, or their folders.

    Returns:
        What becomes of each result's rules in each other one, with the answer that breaks a rule;
        the rules that all have in common; and the settings in which they differ.

    Raises:
        InputError: if the results do not speak of the same things.

    >>> def nurses(prompt, words):
    ...     return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]
    >>> before = extract(nurses, cache=False)
    >>> after = extract(lambda prompt, words: [0.9, 0.1], cache=False)
    >>> pair = compare([before, after], ["before", "after"]).comparisons[0]
    >>> pair.sentences[1]
    'Of the 1 rule of after, none holds in before, 1 is broken.'
    """
    from hornlens.results.analysis.comparison import compare as compare_sets
    from hornlens.results.analysis.rulesets import RuleSet, distinct_names
    from hornlens.results.documents.saving import digest_at, written_by

    each = [results] if isinstance(results, str | Path) else list(results)
    if len(names) > len(each):
        raise HornlensError(f"there are {len(names)} names for {len(each)} results")
    folders = iter(distinct_names([Path(one) for one in each if isinstance(one, str | Path)]))
    sets: list[RuleSet] = []
    for one in each:
        if isinstance(one, str | Path):
            path = Path(one)
            sets.append(
                RuleSet(next(folders), load(one), written_by(path), str(one), digest_at(path))
            )
        elif hasattr(one, "verdict_on"):
            sets.append(RuleSet(one.title, one))
        else:
            raise HornlensError(f"{one!r} is no result, and no path of one")
    sets[: len(names)] = [replace(one, name=name) for one, name in zip(sets, names, strict=False)]
    return compare_sets(sets)
