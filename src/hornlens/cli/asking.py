"""The options that say how a model is run and asked, and what it may take."""

from __future__ import annotations

import re
from typing import Annotated, Literal, NamedTuple, Optional

import typer

from hornlens.errors import HornlensError
from hornlens.models.protocol import ModelOptions, Spending

BatchSize = Annotated[str, typer.Option(help="Prompts a batch: a number, or auto.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, …")]
Dtype = Annotated[str, typer.Option(help="auto, float32, bfloat16, float16.")]
Threads = Annotated[
    Optional[int],
    typer.Option(min=1, help="CPU threads for the model."),
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
    Literal["rotate", "once", "each"],
    typer.Option(help="Chat models: the candidates in several orders, in one, or each a world."),
]
Temperature = Annotated[
    Optional[float],
    typer.Option(min=0, max=2, help="Chat models. (default: 0, where the endpoint takes one)"),
]
MaxCalls = Annotated[
    Optional[int],
    typer.Option(min=0, help="Chat models: stop before more calls than that."),
]
MaxTokens = Annotated[
    Optional[int],
    typer.Option(min=0, help="Chat models: stop before more tokens than that, in and out."),
]
MaxCost = Annotated[
    Optional[float],
    typer.Option(min=0, help="Chat models: stop before it costs more, at the prices given."),
]
PriceIn = Annotated[
    Optional[float],
    typer.Option(min=0, help="Chat models: the price of a million tokens that are sent."),
]
PriceOut = Annotated[
    Optional[float],
    typer.Option(min=0, help="Chat models: the price of a million tokens of replies."),
]
Timeout = Annotated[
    float, typer.Option(min=0.1, help="Chat models: seconds that one answer may take.")
]


class ModelGroup(NamedTuple):
    """What `extract`, `study`, `bias` and `explore` are told of the models that they ask."""

    batch_size: BatchSize = "auto"
    device: Device = "auto"
    dtype: Dtype = "auto"
    threads: Threads = None
    base_url: BaseUrl = None
    elicit: Elicit = "auto"
    orders: Orders = "rotate"
    temperature: Temperature = None
    timeout: Timeout = 120.0
    max_calls: MaxCalls = None
    max_tokens: MaxTokens = None
    max_cost: MaxCost = None
    price_in: PriceIn = None
    price_out: PriceOut = None

    @property
    def options(self) -> ModelOptions:
        """The same, as models take it."""
        batch = self.batch_size
        if batch != "auto" and not re.fullmatch("0*[1-9][0-9]{0,8}", batch, re.ASCII):
            raise HornlensError(f"--batch-size must be auto or a number from 1, not {batch!r}")
        return ModelOptions(
            None if batch == "auto" else int(batch),
            self.device,
            self.dtype,
            self.threads,
            self.base_url,
            self.elicit,
            self.orders,
            self.temperature,
            self.timeout,
            Spending(self.max_calls, self.max_tokens, self.max_cost, self.price_in, self.price_out),
        )


AS_IT_IS = ModelGroup()
