"""A GGUF file served by llama.cpp on this machine: started when it is needed, and sure to end.

The server is a process of its own, which ends when the pipe from its parent does: however that
ends, none is left behind. It listens on loopback only, and only who has its random key is answered.
"""

from __future__ import annotations

import importlib
import os
import secrets
import subprocess
import sys
import weakref
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from hornlens.formats.plain import one_line
from hornlens.logging import get_logger
from hornlens.models.chat.address import Address
from hornlens.models.protocol import ModelError

if TYPE_CHECKING:
    from typing import IO

LISTENS = "hornlens: listening on "
CONTEXT = 4096
"""Tokens that a question and its reply may have."""
_log = get_logger(__name__)


class Server:
    """A llama.cpp server for one file."""

    def __init__(self, file: Path, threads: int | None = None):
        """Keep the settings; nothing is started yet."""
        self.file, self.threads = file, threads
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> Address:
        """Start it, wait until the model is loaded, and return where it is."""
        if not self.file.is_file():
            raise ModelError(f"gguf/{self.file}: no such file")
        key = secrets.token_urlsafe(24)
        log = TemporaryFile()  # noqa: SIM115 - it goes when nobody has it any more
        command = [sys.executable, "-m", __name__, str(self.file), str(self.threads or 1)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        # When nobody has this any more, or at the end of all.
        weakref.finalize(self, _end, self._process)
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(f"{key}\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith(LISTENS):
                _log.info("gguf/%s: loaded by llama.cpp, process %d", self.file, self._process.pid)
                return Address("openai", f"{line.removeprefix(LISTENS).strip()}/v1", key)
        self.stop()
        reason = _last_line(log)
        raise ModelError(f"gguf/{self.file}: llama.cpp could not load it: {reason}")

    def stop(self) -> None:
        """End it for certain; doing so twice is no error."""
        if self._process is not None:
            _end(self._process)


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _last_line(log: IO[bytes]) -> str:
    log.seek(0)
    lines = [line for line in log.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return one_line(lines[-1])[:200] if lines else "no reason given"


def serve(file: str, threads: int) -> None:
    """Serve a file until standard input ends: the body of the server's process."""
    key = sys.stdin.readline().strip()
    try:
        xllamacpp: Any = importlib.import_module("xllamacpp")
    except ImportError:
        sys.exit("this needs xllamacpp: pip install 'hornlens[llamacpp]'")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = file
    parameters.model_alias = {Path(file).name}
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.api_keys = [key]
    # One slot: what else is asked at the same time does not change the arithmetic.
    parameters.n_parallel, parameters.n_ctx = 1, CONTEXT
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.warmup = parameters.ui = parameters.endpoint_slots = False
    server = xllamacpp.Server(parameters)
    print(f"{LISTENS}{server.listening_address}", flush=True)
    for stream in (1, 2):  # nobody reads what the server says from now on
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
