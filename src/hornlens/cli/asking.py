"""The options that say how and where a model is asked, what it may take, and what is kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Optional

import typer

from hornlens.cli.options import CommandOptions
from hornlens.errors import HornlensError

if TYPE_CHECKING:
    from hornlens.executors.protocol import Executor
    from hornlens.logic.repeats import Repeats
    from hornlens.models.protocol import ModelOptions
    from hornlens.store.protocol import AnswerStore

CachePlace = Annotated[
    Optional[str],
    typer.Option(
        metavar="FILE|postgresql://…",
        help="The answer cache. (default: HORNLENS_CACHE or the user's cache)",
    ),
]
BaseUrl = Annotated[
    Optional[str],
    typer.Option(help="Chat models: the endpoint's address. (default: its maker's)", metavar="URL"),
]
Elicit = Annotated[
    str,
    typer.Option(
        help="Chat models: how to make them name a candidate; several ways are worlds.",
        metavar="auto|choose|constrained|say|likelihood[,…]",
    ),
]
Orders = Annotated[
    Literal["rotate", "average", "once", "each"],
    typer.Option(
        help="Chat models: several orders of the candidates that must agree, or are averaged; one "
        "order; or each a world."
    ),
]
PriceIn = Annotated[
    Optional[float],
    typer.Option(min=0, help="Chat models: the price of a million tokens that are sent."),
]
PriceOut = Annotated[
    Optional[float],
    typer.Option(min=0, help="Chat models: the price of a million tokens of replies."),
]


class CacheGroup(CommandOptions):
    """Where `extract`, `bias` and `explore` keep answers."""

    cache: CachePlace = None
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep no answers.")] = False

    def open(self, warn: Callable[[str], None]) -> AbstractContextManager[AnswerStore | None]:
        """Return the store, which is closed in the end, or None."""
        if self.no_cache:
            return nullcontext()
        from hornlens.store.opening import open_store

        return closing(open_store(self.cache, warn))


class ModelGroup(CommandOptions):
    """How `extract`, `study`, `bias` and `explore` run and ask models."""

    batch_size: Annotated[str, typer.Option(help="Prompts a batch: a number, or auto.")] = "auto"
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, …")] = "auto"
    dtype: Annotated[str, typer.Option(help="auto, float32, bfloat16, float16.")] = "auto"
    threads: Annotated[Optional[int], typer.Option(min=1, help="CPU threads for the model.")] = None
    base_url: BaseUrl = None
    elicit: Elicit = "auto"
    orders: Orders = "rotate"
    judge: Annotated[
        str,
        typer.Option(
            help="Chat models, say: another one that reads replies which are not clear.",
            metavar="openai/NAME",
        ),
    ] = ""
    judge_url: Annotated[
        Optional[str],
        typer.Option(help="The judge's endpoint. (default: its maker's)", metavar="URL"),
    ] = None
    temperature: Annotated[
        Optional[float],
        typer.Option(min=0, max=2, help="Chat models. (default: 0, where the endpoint takes one)"),
    ] = None
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Chat models: seconds that one answer may take.")
    ] = 120.0
    max_calls: Annotated[
        Optional[int],
        typer.Option(
            min=0,
            help="Chat models: stop before more calls than that. (extract --target: before more "
            "rows are given to a classifier)",
        ),
    ] = None
    max_tokens: Annotated[
        Optional[int],
        typer.Option(min=0, help="Chat models: stop before more tokens than that, in and out."),
    ] = None
    max_cost: Annotated[
        Optional[float],
        typer.Option(min=0, help="Chat models: stop before it costs more, at the prices given."),
    ] = None
    price_in: PriceIn = None
    price_out: PriceOut = None

    def check(self) -> None:
        """Reject values that make no sense."""
        _ = self.options

    @cached_property
    def options(self) -> ModelOptions:
        """The same, as models take it: made once, for all of them spend from the same."""
        from hornlens.models.protocol import ModelOptions, Spending

        batch = self.batch_size
        if batch != "auto" and not re.fullmatch("0*[1-9][0-9]{0,8}", batch, re.ASCII):
            raise HornlensError(f"--batch-size must be auto or a number from 1, not {batch!r}")
        size = None if batch == "auto" else int(batch)
        prices = self.price_in, self.price_out
        spending = Spending(self.max_calls, self.max_tokens, self.max_cost, *prices)
        return self.passed_to(ModelOptions, batch_size=size, limits=spending, recheck=0)


class RepeatsGroup(CommandOptions):
    """How often `extract` asks the same again."""

    repeats: Annotated[
        Optional[str],
        typer.Option(
            help="Answers vary: ask each prompt until a test decides, at most so often (auto: "
            "100).",
            metavar="auto|N",
        ),
    ] = None
    alpha: Annotated[
        Optional[float],
        typer.Option(
            help="With --repeats: the risk that any of its claims is wrong. (default: 0.05)",
            show_default=False,
        ),
    ] = None
    settle: Annotated[
        Optional[int],
        typer.Option(
            min=1,
            help="With --repeats: ask prompts that would settle a rule so often more.",
            metavar="N",
        ),
    ] = None
    recheck: Annotated[
        Optional[int],
        typer.Option(
            min=0,
            metavar="N",
            help="Chat models: ask N prompts again at the end. (default: 2 % of a long run)",
        ),
    ] = None

    def check(self) -> None:
        """Reject values that make no sense."""
        _ = self.options
        if self.repeats is not None and self.recheck:
            raise HornlensError(
                "--recheck asks again what should not vary, and --repeats what does: leave one out"
            )

    @property
    def options(self) -> Repeats | None:
        """The same, as targets take it; None: nothing is repeated."""
        if self.repeats is None:
            if self.alpha is not None or self.settle is not None:
                raise HornlensError("--alpha and --settle go with --repeats")
            return None
        if self.repeats != "auto" and not re.fullmatch("[0-9]{1,6}", self.repeats, re.ASCII):
            raise HornlensError(
                f"--repeats must be auto or a number from 2 on, not {self.repeats!r}"
            )
        from hornlens.logic.repeats import MOST, Repeats

        return self.over(Repeats(MOST if self.repeats == "auto" else int(self.repeats)))

    def applied_to(self, options: ModelOptions) -> ModelOptions:
        """Return how a model is asked, with what is asked again at the end."""
        from dataclasses import replace

        return replace(options, recheck=self.recheck)


class ExecutorGroup(CommandOptions):
    """Where models answer `extract` and `study`, and runs are carried out."""

    executor: Annotated[
        Literal["local", "ray"],
        typer.Option(help="Where the work is done: this machine, or a Ray cluster."),
    ] = "local"
    ray_address: Annotated[
        Optional[str],
        typer.Option(
            metavar="auto|HOST:PORT",
            help="Ray: the cluster to join. (default: one of this machine alone)",
        ),
    ] = None
    model_cpus: Annotated[
        Optional[float],
        typer.Option(min=0, help="Ray: CPUs a replica of a model takes. (default: 1)"),
    ] = None
    model_gpus: Annotated[
        Optional[float],
        typer.Option(min=0, help="Ray: GPUs a replica takes; parts of one, too. (default: 0)"),
    ] = None
    replicas: Annotated[
        Optional[int],
        typer.Option(min=1, help="Ray: replicas of a model. (default: as many as fit)"),
    ] = None

    def open(self, jobs: int | None, warn: Callable[[str], None]) -> Executor:
        """Return the executor, for so many runs at a time; None: as many as go well."""
        if self.executor == "ray":
            return self._ray(jobs, warn)
        for name in ("ray_address", "model_cpus", "model_gpus", "replicas"):
            if getattr(self, name) is not None:
                raise HornlensError(f"--{name.replace('_', '-')} is for --executor ray")
        import os

        from hornlens.executors.local import LocalExecutor

        return LocalExecutor(jobs or os.cpu_count() or 1)

    def _ray(self, jobs: int | None, warn: Callable[[str], None]) -> Executor:
        from hornlens.executors.cluster import Needs
        from hornlens.executors.ray import RayExecutor

        cpus, gpus = (1.0 if self.model_cpus is None else self.model_cpus), self.model_gpus or 0.0
        if cpus == gpus == 0 and self.replicas is None:
            raise HornlensError("replicas that take neither CPUs nor GPUs: say how many --replicas")
        return RayExecutor(self.ray_address, Needs(cpus, gpus, self.replicas), jobs, warn)


class Doing(NamedTuple):
    """What is going on, and where as far as that is known by now: the name of a progress bar."""

    what: str
    executor: Executor

    def __str__(self) -> str:
        """Say it."""
        return self.what + self.executor.where
