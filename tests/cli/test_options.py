"""Options of commands: declared once, and all of them reach the library."""

import inspect
from dataclasses import fields
from typing import Annotated

import pytest
import typer

from hornlens.cli.asking import CacheGroup, ModelGroup, RepeatsGroup
from hornlens.cli.commands import COMMANDS
from hornlens.cli.commands.formal import EnvelopeOptions, LearnOptions
from hornlens.cli.commands.models import ExplainOptions, ExtractOptions
from hornlens.cli.options import CommandOptions, spread
from hornlens.errors import HornlensError
from hornlens.extraction.formulas import LearnSettings
from hornlens.limits import Limits
from hornlens.logic.decisions import Policy
from hornlens.logic.repeats import Repeats
from hornlens.models.protocol import ModelOptions, Spending
from hornlens.results.documents.settings import Settings
from hornlens.targets.classifiers.options import Options


class Inner(CommandOptions):
    """Two that belong together."""

    low: Annotated[int, typer.Option(min=0)] = 1
    high: Annotated[int, typer.Option()] = 9


class Outer(CommandOptions):
    """A command's."""

    name: Annotated[str, typer.Argument()]
    inner: Inner
    time_limit: Annotated[float | None, typer.Option()] = None


def test_a_command_has_an_option_for_each_field_and_gets_them_as_one_value():
    received = []

    def command(options: Outer, *, debug: bool = False) -> None:
        """Do it."""
        received.append((options, debug))

    made = spread(command)
    assert made.__doc__ == "Do it." and made.__name__ == "command"
    signature = inspect.signature(made)
    assert [*signature.parameters] == ["name", "low", "high", "time_limit", "debug"]
    defaults = {p.name: p.default for p in signature.parameters.values()}
    assert defaults.pop("name") is inspect.Parameter.empty
    assert defaults == {"low": 1, "high": 9, "time_limit": None, "debug": False}
    assert made.__annotations__["low"] == Annotated[int, Inner.fields()["low"].__metadata__[0]]
    made(name="a", low=2, high=3, time_limit=4.0, debug=True)
    ((options, debug),) = received
    assert (options.name, options.inner.low, options.inner.high, debug) == ("a", 2, 3, True)
    assert options.limits.time_limit == 4.0 and options.limits is options.limits


def test_a_limit_that_makes_no_sense_is_rejected_before_the_command_begins():
    with pytest.raises(HornlensError, match="--time-limit must be more than 0"):
        spread(never_run)(name="a", low=2, high=3, time_limit=-1.0)


def never_run(options: Outer) -> None:
    """Fail if it is run."""
    raise AssertionError


def test_a_run_that_somebody_ended_has_an_exit_code_of_its_own():
    options = Outer(name="a", inner=Inner())
    assert options.exit_code == 0
    options.limits.reason = "time_limit"
    assert options.exit_code == 0
    options.limits.reason = "interrupt"
    assert options.exit_code == 130


def test_no_two_options_of_a_command_have_the_same_name():
    for name, command in COMMANDS.items():
        names = [*inspect.signature(spread(command)).parameters]
        assert len(names) == len({*names}), name


@pytest.mark.parametrize(
    ("options", "kind", "others"),
    [
        (ExtractOptions, Settings, {"samples"}),
        (ExtractOptions, Limits, {"clock", "max_calls"}),
        (LearnOptions, LearnSettings, set()),
        (ModelGroup, ModelOptions, {"limits", "batch_size", "recheck"}),
        (
            ExplainOptions,
            Options,
            # given in other words, and what Python alone has
            {"background", "label", "rules", "budget", "sift", "counts_class"},
        ),
        (
            EnvelopeOptions,
            Settings,
            # how rows are ranked, which is None unless it is said; and what is for who is asked
            {"rank", "equivalence", "epsilon", "delta", "max_equivalence_queries", "limit"}
            | {"seed", "samples", "max_questions"},
        ),
    ],
)
def test_the_defaults_are_those_of_the_library(options, kind, others):
    """And all that the library takes is an option, but for what is named here."""
    parameters = inspect.signature(kind).parameters
    assert others <= {*parameters}
    for name in parameters.keys() - others:
        assert getattr(options, name) == parameters[name].default, name


def test_what_overrides_a_policy_leaves_it_as_it_is_unless_it_is_said():
    names = {field.name for field in fields(Policy)}
    assert names <= {*ExtractOptions.fields()}
    assert all(getattr(ExtractOptions, name) is None for name in names)
    policy = Policy(margin=0.5, abstain="reject")
    options = ExtractOptions(store=CacheGroup(), where=None, how=ModelGroup(), noise=RepeatsGroup())
    assert options.over(policy) == policy
    values = {"label_unset": "reject", "margin": 0.0, "top_k": 3, "abstain": "accept"}
    values |= {"calibration": "mean", "phrasings": "average"}
    assert {*values} == names
    options = ExtractOptions(
        store=CacheGroup(), where=None, how=ModelGroup(), noise=RepeatsGroup(), **values
    )
    assert options.over(policy) == Policy(**values)


def test_all_that_is_said_of_a_model_reaches_it():
    values = {"batch_size": "7", "device": "cpu", "dtype": "float16", "threads": 2}
    values |= {"base_url": "http://x", "elicit": "say", "orders": "once", "temperature": 0.5}
    values |= {"timeout": 3.0, "max_calls": 1, "max_tokens": 2, "max_cost": 3.0}
    values |= {"price_in": 4.0, "price_out": 5.0}
    values |= {"judge": "openai/y", "judge_url": "http://y"}
    assert {*values} == {*ModelGroup.fields()}
    group = ModelGroup(**values)
    assert group.options == ModelOptions(
        *(7, "cpu", "float16", 2, "http://x", "say", "once", 0.5, 3.0),
        Spending(1, 2, 3.0, 4.0, 5.0),
        0,
        *("openai/y", "http://y"),
    )
    assert group.options is group.options  # all models spend from the same
    assert ModelGroup().options == ModelOptions(recheck=0)
    # Only extract asks some prompts again, and that is paid from the same.
    for recheck in (None, 7):
        applied = RepeatsGroup(recheck=recheck).applied_to(group.options)
        assert applied.recheck == recheck and applied.limits is group.options.limits


def test_repeats_are_those_of_the_library_unless_they_are_said():
    assert RepeatsGroup().options is None
    assert RepeatsGroup(repeats="auto").options == Repeats()
    assert RepeatsGroup(repeats="9", alpha=0.1, settle=4).options == Repeats(9, 0.1, 4)
    with pytest.raises(HornlensError, match="go with --repeats"):
        RepeatsGroup.of({"repeats": None, "alpha": 0.1, "settle": None, "recheck": None})
