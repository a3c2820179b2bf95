"""`hornlens` as most tests run it: each command a process of its own, forked from a warm one.

What makes a command slow to start is its imports, half a second each time, and the tests start it
more than a thousand times. So a process imports them once, and is forked for each command. All that
such tests look at is as in a real start: arguments, streams, exit code, folder, environment, files,
the end of the process; only how far it is, it never says, or at each step if that is asked for.
Tests of the start itself, of signals and kills start Python: `started`.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from hornlens.report import progress

ROOT = Path(__file__).parents[1]
START = (sys.executable, "-m", "hornlens")
"""What starts it, for tests that have to."""
TELLING = (
    *(sys.executable, "-c"),
    "from hornlens.report import progress; progress.FIRST = 0.0; "
    "from hornlens.__main__ import main; main()",
)
"""The same, and it says how far it is at each step: not first after some seconds."""
AT_START = ("PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONPATH", "LC_ALL", "LANG")
"""Variables that Python reads when it starts: where they differ, it is started."""


FIRST = progress.FIRST
"""After how many seconds a command says how far it is."""


def say_no_progress():
    """Leave it out, in this process and those that are forked from it.

    What a command says on standard error must not depend on how busy the machine is.
    """
    progress.FIRST = math.inf


def hornlens(*words, cwd=None, env=None, input="", telling=False, warm=None):
    """Run a command, with streams in UTF-8; return how it went.

    `telling` has it say at each step how far it is; `warm` is the process that is forked for it.
    """
    environment = dict(os.environ if env is None else env)
    if any(environment.get(name) != os.environ.get(name) for name in AT_START):
        return started(*words, cwd=cwd, env=env, input=input, telling=telling)
    arguments = [*map(str, words)]
    with tempfile.TemporaryDirectory(prefix="hornlens-command-") as made:
        places = [Path(made) / name for name in ("in", "out", "error")]
        places[0].write_text(input, encoding="utf-8")
        asked = {
            "arguments": arguments,
            "streams": [*map(str, places)],
            "folder": str(cwd or Path.cwd()),
            "environment": environment,
            "telling": telling,
        }
        warm = warm or _warm()
        warm.stdin.write(json.dumps(asked) + "\n")
        warm.stdin.flush()
        code = int(warm.stdout.readline())
        told = [place.read_bytes().decode("utf-8") for place in places[1:]]
    return subprocess.CompletedProcess(["hornlens", *arguments], code, *told)


def started(*words, cwd=None, env=None, input="", telling=False):
    """Run a command in a Python that is started for it."""
    return subprocess.run(
        [*(TELLING if telling else START), *map(str, words)],
        cwd=cwd,
        env=env,
        input=input,
        capture_output=True,
        encoding="utf-8",
    )


@cache
def _warm():
    """The process that is forked: one for each process of the tests; it ends with it."""
    return warm_process("-m", "tests.command")


def warm_process(*words):
    """Start a Python that is forked for each command."""
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )


def _serve():
    """Fork for each command that is asked for; in the copy, return what was asked."""
    for module in iter_modules(import_module("hornlens.cli").__path__, "hornlens.cli."):
        import_module(module.name)
    for name in ("__main__", "api", "verifying.verify", "report.page.assemble"):
        import_module(f"hornlens.{name}")
    say_no_progress()
    answers = os.fdopen(os.dup(1), "w")
    for line in os.fdopen(os.dup(0)):
        asked = json.loads(line)
        child = os.fork()
        if not child:
            return asked
        _, status = os.waitpid(child, 0)
        answers.write(f"{os.waitstatus_to_exitcode(status)}\n")
        answers.flush()
    os._exit(0)


def _become(asked):
    """Turn this process into the command, as `python -m hornlens` would have made it."""
    ways = (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT | os.O_TRUNC] * 2)
    for number, (place, way) in enumerate(zip(asked["streams"], ways, strict=True)):
        handle = os.open(place, way, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    if asked["telling"]:
        progress.FIRST = 0.0
    sys.path[0] = asked["folder"]
    command = sys.modules["__main__"] = sys.modules["hornlens.__main__"]
    sys.argv = [command.__file__, *asked["arguments"]]
    command.main()


if __name__ == "__main__":
    _become(_serve())
