"""Killed at any time and run again: the same bytes, nothing asked twice, nothing left behind.

Nobody can know whether a model had answered what it was being asked when its caller was killed. So
what is asked again may be one prompt a kill: the last that the killed process asked, and only if no
answer to it was on disk.
"""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from tests.faults import small
from tests.faults.rounds import rounds

COMMANDS = {
    "extract": "extract probe.yaml --model table/scores.csv --cache CACHE --out OUT",
    "study": "study study.yaml --jobs 1 --cache CACHE --out OUT",
    "bias": "bias ./people --model table/people.csv --cache CACHE --out OUT",
    "compare": "compare one two --out OUT",
    "report": "report OUT",
}
ASKED = re.compile(
    rb'("asked_the_model": |"answered_from_cache": |"asked": |"reused": )?\d+'
    rb"(?(1)| prompts? asked of the models?, \d+ from the cache)"
)
"""What may differ: who answered, the model or the cache."""
DIGEST = re.compile(rb'"digest": "sha256:[0-9a-f]{64}"')
COUNTING = ("run.json", "times.json")
"""The files that hold such counts: their digest covers these, so it may differ, too."""
# A process that has imported everything makes one for each round: a copy of itself.
SERVER = """
import os, signal, sys, time
import hornlens.cli.extract, hornlens.cli.study, hornlens.cli.bias, hornlens.cli.compare
import hornlens.report.page.extraction, hornlens.report.page.study
import hornlens.report.page.bias, hornlens.report.page.comparison
import hornlens.report.bias_figures, hornlens.report.study_figures
from hornlens.cli.app import app
from hornlens.models.table import TableModel

import datetime, traceback
import hornlens.extraction.extract, hornlens.cli.bias

class Fixed(datetime.datetime):
    @classmethod
    def now(cls, zone=None):
        return cls(2026, 1, 1, tzinfo=zone)

hornlens.extraction.extract.datetime = hornlens.cli.bias.datetime = Fixed
time.perf_counter = lambda: 0.0  # so that whatever tells of times is the same, too
scored = TableModel.score
def score(self, prompts, candidates):
    for index, prompt in enumerate(prompts):
        ((_, answer),) = next(iter(scored(self, [prompt], candidates)))
        with open(os.environ["ASKED"], "ab", buffering=0) as log:
            log.write(f"{os.getpid()} {self.path.name} {prompt}\\n".encode())
        yield [(index, answer)]
TableModel.score = score
for line in sys.stdin:
    delay, *arguments = line.split()
    child = os.fork()
    if not child:
        out = os.open(os.environ["SAID"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1); os.dup2(out, 2)
        code = 1
        try:
            code = app(arguments, standalone_mode=False) or 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    if delay != "never":  # not waited for yet, so that its number is still its own
        time.sleep(float(delay))
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


class Server:
    """Runs commands, each in a process of its own that can be killed."""

    def __init__(self, folder: Path):
        self.said = folder / "said.txt"
        environment = {**os.environ, "ASKED": str(folder / "asked.txt"), "SAID": str(self.said)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, command: str, kill_after: float | None = None) -> int:
        """Run a command; return its exit code."""
        delay = "never" if kill_after is None else f"{kill_after:.6f}"
        self.process.stdin.write(f"{delay} {command}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


def files_of(folder: Path) -> dict[str, bytes]:
    """Return all files, without what says how many answers came from the cache."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = ASKED.sub(b"N", path.read_bytes())
            counting = path.name in COUNTING
            found[str(path.relative_to(folder))] = DIGEST.sub(b"D", data) if counting else data
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kills")
    small.write_all(folder)
    small.dataset(folder / "people")
    small.people_model(folder / "people.csv")
    server = Server(folder)
    for name, scores in (("one", "scores.csv"), ("two", "other.csv")):
        command = f"extract probe.yaml --model table/{scores} --no-cache --out {name}"
        assert server.run(command) == 0, server.said.read_text()
    yield server, folder
    server.process.stdin.close()
    server.process.wait()


def recorded(cache: Path, aside: Path) -> set[str]:
    """Return what a cache has answers to: of a copy, so that it stays as the kill left it."""
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    for path in cache.parent.glob(f"{cache.name}*"):
        shutil.copy(path, aside)
    if not (aside / cache.name).exists():
        return set()
    with closing(sqlite3.connect(aside / cache.name)) as copy:
        if not [*copy.execute("SELECT 1 FROM sqlite_master WHERE name = 'answers'")]:
            return set()
        rows = copy.execute("SELECT name, prompt FROM answers JOIN models ON model = id")
        return {f"{Path(name).name} {prompt}" for name, prompt in rows}


class Asked:
    """What the model was asked, by whom."""

    def __init__(self, path: Path):
        self.path = path
        path.write_bytes(b"")

    def since(self, start: int) -> list[str]:
        """Return who asked what, from a place on."""
        return self.path.read_text().splitlines()[start:]


def attack(server: Server, folder: Path, name: str, part: str, kills: int, took, rng) -> Asked:
    """Run a command, killed so often; then to its end. Nothing that is known is asked again."""
    out, cache = f"{part}-out", folder / f"{part}.sqlite"
    if name == "report":
        server.run(f"extract probe.yaml --model table/scores.csv --no-cache --out {out}")
    command = COMMANDS[name].replace("OUT", out).replace("CACHE", cache.name)
    asked = Asked(folder / "asked.txt")
    known: set[str] = set()
    in_flight: set[str] = set()
    done = lines = 0
    while True:
        code = server.run(command, rng.uniform(0, took) if done < kills else None)
        new = [line.split(" ", 1)[1] for line in asked.since(lines)]
        lines += len(new)
        again = known & {*new}
        assert len({*new}) == len(new) and again <= in_flight, (part, done, again)
        known |= {*new}
        if code == 0 and done == kills:
            return asked
        assert code in (0, -9), server.said.read_text()  # 0: it was over before the kill
        done += code == -9
        in_flight = (in_flight | {*new[-1:]}) - recorded(cache, folder / "aside")
        assert known - recorded(cache, folder / "aside") == in_flight, (part, done)


@pytest.mark.skipif(os.name != "posix", reason="kills by a signal")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_was_killed_ends_as_if_it_had_not_been(server, name):
    server, folder = server
    rng = Random(name)
    clock = time.perf_counter()
    asked = attack(server, folder, name, f"{name}-whole", 0, 0, rng).since(0)
    took = time.perf_counter() - clock
    wanted = files_of(folder / f"{name}-whole-out")
    prompts = {line.split(" ", 1)[1] for line in asked}
    assert wanted and bool(prompts) == (name not in ("compare", "report"))
    slow = name in ("study", "bias")  # they draw figures
    for number in range(rounds(2 if slow else 7, 50)):
        part = f"{name}-{number}"
        asked = attack(server, folder, name, part, 4, took, rng).since(0)
        found = files_of(folder / f"{part}-out")
        assert found.keys() == wanted.keys(), (number, found.keys() ^ wanted.keys())
        differ = [key for key in wanted if found[key] != wanted[key]]
        assert not differ, (number, differ)
        assert {line.split(" ", 1)[1] for line in asked} == prompts, number
        for path in folder.glob(f"{part}*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
