"""The options that say where models answer and runs are carried out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Optional

import typer

from hornlens.errors import HornlensError

if TYPE_CHECKING:
    from hornlens.executors.protocol import Executor

Kind = Annotated[
    Literal["local", "ray"],
    typer.Option(help="Where the work is done: this machine, or a Ray cluster."),
]
RayAddress = Annotated[
    Optional[str],
    typer.Option(
        metavar="auto|HOST:PORT",
        help="Ray: the cluster to join. (default: one of this machine alone)",
    ),
]
ModelCpus = Annotated[
    Optional[float],
    typer.Option(min=0, help="Ray: CPUs a replica of a model takes. (default: 1)"),
]
ModelGpus = Annotated[
    Optional[float],
    typer.Option(min=0, help="Ray: GPUs a replica takes; parts of one, too. (default: 0)"),
]
Replicas = Annotated[
    Optional[int],
    typer.Option(min=1, help="Ray: replicas of a model. (default: as many as fit)"),
]


class ExecutorGroup(NamedTuple):
    """What `extract` and `study` are told of it; None: nothing."""

    executor: Kind = "local"
    ray_address: RayAddress = None
    model_cpus: ModelCpus = None
    model_gpus: ModelGpus = None
    replicas: Replicas = None

    def open(self, jobs: int | None, warn: Callable[[str], None]) -> Executor:
        """Return the executor, for so many runs at a time; None: as many as go well."""
        if self.executor == "ray":
            return self._ray(jobs, warn)
        given = {
            "--ray-address": self.ray_address,
            "--model-cpus": self.model_cpus,
            "--model-gpus": self.model_gpus,
            "--replicas": self.replicas,
        }
        if said := next((name for name, value in given.items() if value is not None), None):
            raise HornlensError(f"{said} is for --executor ray")
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


HERE = ExecutorGroup()


class Doing(NamedTuple):
    """What is going on, and where as far as that is known by now: the name of a progress bar."""

    what: str
    executor: Executor

    def __str__(self) -> str:
        """Say it."""
        return self.what + self.executor.where
