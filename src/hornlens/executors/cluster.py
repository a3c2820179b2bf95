"""A connection to Ray: a cluster that is there, or one of this machine alone; and its end."""

from __future__ import annotations

import json
import logging
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from hornlens.errors import HornlensError

JOIN_SECONDS = 30.0
"""How long a cluster may take to let us in."""
LISTENS_SECONDS = 5.0
TICK = 1.0
"""Seconds after which one looks whether nodes have come or gone, if nothing else happens."""
OBJECT_STORE = 100_000_000
"""Bytes of shared memory of a cluster of our own: blocks of prompts and answers are small."""
LONGEST_FOLDER = 40
"""Characters: Ray puts sockets under its folder, and their paths are limited."""


@dataclass(frozen=True)
class Needs:
    """What a replica of a model takes of a node, and how many there are.

    Without `replicas`, there are as many as the nodes have room for, also as they come and go.
    """

    cpus: float = 1.0
    gpus: float = 0.0
    replicas: int | None = None

    def __str__(self) -> str:
        """Say it for people."""
        return f"{self.cpus:g} CPUs" + (f" and {self.gpus:g} GPUs" if self.gpus else "")


class Node(NamedTuple):
    """A machine of the cluster."""

    ip: str
    resources: Mapping[str, float]

    def room(self, needs: Needs) -> int:
        """Return how many replicas it could hold, were it empty."""
        wanted = {"CPU": needs.cpus, "GPU": needs.gpus}
        fits = [self.resources.get(what, 0.0) / n + 1e-9 for what, n in wanted.items() if n > 0]
        return int(min(fits, default=0.0))


def import_ray() -> Any:
    """Return Ray, which takes its time; raise HornlensError if it is not installed."""
    try:
        import ray
        from ray._private import worker
    except ImportError:
        raise HornlensError("--executor ray needs pip install 'hornlens[ray]'") from None
    # Ray prints what happens to nodes and workers on standard output, among our JSON.
    worker.print_to_stdstream = lambda *given, **more: None
    return ray


@dataclass
class Cluster:
    """Ray, joined or started when it is first asked for.

    Without an address a cluster of this machine is started, with a secret of its own and in a
    private folder; it ends with us. With one ("auto": the cluster that runs here) that cluster is
    joined, and left as it is.
    """

    address: str | None = None
    warn: Callable[[str], None] = lambda line: None
    keep: bool = False
    """Whether the folder of our own cluster stays, for there is something in it to be read."""
    seen: int = 0
    """How many nodes there were when somebody looked last."""
    _ray: Any = None
    _ours: bool = False
    _folder: str | None = None
    _session: str = "/tmp/ray/session_latest"
    _before: dict[str, str] | None = None
    """The environment as it was: Ray's settings stand there, and Ray leaves some of its own."""

    @property
    def ray(self) -> Any:
        """Ray, connected."""
        if self._ray is None:
            self._before = dict(os.environ)
            # Its settings are read when it is imported.
            os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0")
            if self.address is None:
                os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
            try:
                ray = import_ray()
                if not ray.is_initialized():  # else the program that uses us has its own
                    self._ours = True
                    read_settings_again()
                    self._start(ray) if self.address is None else self._join(ray, self.address)
            except BaseException:
                self._restore()
                raise
            self._ray = ray
        return self._ray

    def nodes(self) -> list[Node]:
        """Return the machines that are there now."""
        alive = [node for node in self.ray.nodes() if node["Alive"]]
        self.seen = len(alive)
        return [Node(node["NodeManagerAddress"], node["Resources"]) for node in alive]

    def has_room(self, needs: Needs) -> bool:
        """Say whether one more replica finds a place now, as far as the cluster knows."""
        free = self.ray.available_resources()
        return Node("", free).room(needs) > 0

    def ready(self, refs: Iterable[Any], seconds: float = TICK) -> list[Any]:
        """Wait until one of some results is there, but not long; return all that are."""
        wanted = list(refs)
        if not wanted:
            return []
        done, rest = self.ray.wait(wanted, num_returns=1, timeout=seconds)
        if done and rest:
            done += self.ray.wait(rest, num_returns=len(rest), timeout=0)[0]
        return list(done)

    def logs(self, pid: int) -> str:
        """Say where a process of the cluster wrote its log, and see to it that it stays."""
        self.keep = True
        return f"{self._session}/logs/worker-*-{pid}.err"

    def close(self) -> None:
        """Leave the cluster; end it if it is ours."""
        if self._ray is None:
            return
        ray, self._ray = self._ray, None
        if self._ours:
            ray.shutdown()
        self._restore()
        if self._folder is not None and not self.keep:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, ray: Any) -> None:
        parent = tempfile.gettempdir()
        if len(parent) > LONGEST_FOLDER:
            parent = "/tmp"
        self._folder = tempfile.mkdtemp(prefix="hornlens-ray-", dir=parent)
        try:
            context = ray.init(
                address="local",  # a bare start joins whatever cluster is there
                object_store_memory=OBJECT_STORE,
                _temp_dir=self._folder,
                **_QUIET,
            )
        except Exception as error:
            raise HornlensError(f"Ray cannot be started: {_line(error)}") from error
        self._session = context.address_info["session_dir"]

    def _join(self, ray: Any, address: str) -> None:
        _knock(address)
        self._session = ray.init(address=address, **_QUIET).address_info["session_dir"]
        from ray._raylet import AuthenticationMode, get_authentication_mode

        if get_authentication_mode() != AuthenticationMode.TOKEN:
            self.warn(
                f"the Ray cluster at {address} has no token: whoever reaches it can run code there"
                " (RAY_AUTH_MODE=token, for all nodes)"
            )

    def _restore(self) -> None:
        before, self._before = self._before or {}, None
        for name in {*before, *os.environ}:
            if name.startswith("RAY_") or name == "PYTHONBREAKPOINT":
                os.environ.pop(name, None)
                if name in before:
                    os.environ[name] = before[name]


_QUIET: dict[str, Any] = {
    "include_dashboard": False,
    "log_to_driver": False,
    "logging_level": logging.CRITICAL,
}


def read_settings_again() -> None:
    """Make Ray see the environment, also if somebody imported it before."""
    from ray._raylet import AuthenticationTokenLoader, Config

    Config.initialize("")
    AuthenticationTokenLoader.instance().reset_cache()


_KNOCK = """
import json, logging, sys
import ray
from ray._raylet import GcsClient
from ray.exceptions import AuthenticationError
try:
    try:  # `init` says of a wrong token only that it could not connect, after half a minute
        if sys.argv[1] != "auto":
            GcsClient(address=sys.argv[1])
    except AuthenticationError:
        raise
    except Exception:
        pass
    ray.init(address=sys.argv[1], include_dashboard=False, log_to_driver=False,
             logging_level=logging.CRITICAL)
except Exception as error:
    print("\\n" + sys.argv[2] + json.dumps([type(error).__name__, str(error)]))
"""
_MARK = "hornlens "
"""Begins what we say: Ray writes lines of its own, also where all is well."""


def _knock(address: str) -> None:
    """Raise HornlensError if a cluster does not let us in.

    Another process tries it first: where no head answers, Ray ends the process that asks.
    """
    if address != "auto":
        host, _, port = address.rpartition(":")
        if "/" in address or not host or not port.isdigit():
            raise HornlensError(f"--ray-address must be auto or HOST:PORT, not {address!r}")
        try:
            socket.create_connection((host.strip("[]"), int(port)), LISTENS_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise HornlensError(
                f"no Ray cluster at {address}: {getattr(error, 'strerror', None) or error}; "
                "give the head's address, as `ray start --head` shows it"
            ) from None
    try:
        done = subprocess.run(
            [sys.executable, "-c", _KNOCK, address, _MARK],
            capture_output=True,
            text=True,
            timeout=JOIN_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise HornlensError(f"{_SILENT.format(address)} within {JOIN_SECONDS:.0f} s") from None
    if done.returncode:
        raise HornlensError(_SILENT.format(address))
    if lines := [line for line in done.stdout.splitlines() if line.startswith(_MARK)]:
        kind, message = json.loads(lines[-1].removeprefix(_MARK))
        if "Unauthenticated" in done.stderr:
            kind = "AuthenticationError"
        raise HornlensError(_why(address, kind, message))


_SILENT = "what listens at {} does not let us in as a Ray cluster would"


def _why(address: str, kind: str, message: str) -> str:
    """Say in a line why a cluster cannot be joined."""
    if message.startswith("Version mismatch"):
        versions = " ".join(message.removeprefix("Version mismatch:").split())
        return (
            f"the Ray cluster at {address} has other versions: {versions} Install the same on both"
        )
    if kind == "AuthenticationError" or "nauthenticated" in message:
        return (
            f"the Ray cluster at {address} wants another token: set RAY_AUTH_MODE=token and "
            "RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH as its nodes have them"
        )
    if kind == "ConnectionError" and address == "auto":
        return "no Ray cluster runs here: start one (ray start --head), or leave --ray-address out"
    if "No node info found" in message:
        return (
            f"this machine is no node of the Ray cluster at {address}: run `ray start --address "
            f"{address}` on it, or hornlens on one of its nodes"
        )
    return f"the Ray cluster at {address} cannot be joined: {kind}: {' '.join(message.split())}"


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
