"""Ctrl-C at any time: one line, exit code 130, and what is on disk is whole.

Python itself takes some time to start. In that time nothing of ours runs, so nothing of ours can
answer: Python ends as it does, with no frame of ours in what it says.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from pydantic_core import SchemaError, SchemaValidator, core_schema

from hornlens.limits import ENDING, is_ctrl_c
from tests.faults import small
from tests.faults.rounds import rounds

# Tells when Python's own start is over.
BEGIN = (
    "import os, sys; from hornlens.__main__ import main; "
    "os.write(int(sys.argv.pop(1)), b'.'); main()"
)


def commands(folder: Path) -> dict[str, list[str]]:
    small.write_all(folder)
    cache = ["--cache", str(folder / "answers.sqlite")]
    study = ["study", str(folder / "study.yaml"), *cache, "--out"]
    return {
        "extract": ["extract", "--out", str(folder / "out"), *cache, "-q"],
        "study": [*study, str(folder / "s"), "-q"],
        "study over workers": [*study, str(folder / "w"), "-q", "--jobs", "2"],
        "probe": ["probe", "show", str(folder / "probe.yaml")],
    }


def begin(arguments: list[str]) -> subprocess.Popen[bytes]:
    """Start a command; return when its first line of Python has been reached."""
    read, write = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", BEGIN, str(write), *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=[write],
    )
    os.close(write)
    assert os.read(read, 1) == b"."
    os.close(read)
    return process


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("name", ["extract", "study", "study over workers", "probe"])
def test_an_interrupt_at_any_time_is_one_line_and_exit_code_130(tmp_path, name):
    rng = Random(f"interrupts {name}")
    arguments = commands(tmp_path)[name]
    clock = time.perf_counter()
    process = begin(arguments)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    took = time.perf_counter() - clock
    for number in range(rounds(3 if "study" in name else 15, 250)):
        process = begin(arguments)
        delay = rng.uniform(0, took)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
        # A run that has begun says that it ends with what it has; it may even have all by then.
        ended = process.returncode, said.decode().removeprefix(ENDING.decode())
        assert ended in ((130, "hornlens: interrupted\n"), (0, "")), (number, delay, ended)


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("start", ["script", "module"])
def test_before_the_first_line_of_ours_python_answers_and_from_then_on_we_do(tmp_path, start):
    rng = Random(f"from the very start {start}")
    script = [str(Path(sys.executable).with_name("hornlens"))]
    command = script if start == "script" else [sys.executable, "-m", "hornlens"]
    arguments = [*command, "probe", "list"]
    clock = time.perf_counter()
    subprocess.run(arguments, capture_output=True, check=True)
    took = time.perf_counter() - clock
    for number in range(rounds(10, 125)):
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        delay = rng.uniform(0, took)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
        ended = process.returncode, said.decode()
        if ended not in ((130, "hornlens: interrupted\n"), (0, "")):
            frames = re.findall(r'File "(.*?)"', ended[1])
            assert not [each for each in frames if "hornlens/" in each], (number, delay, ended)
            # 1: so ends a Python that was still looking for its own modules.
            assert ended[0] in (-signal.SIGINT, 1), (number, delay, ended)


def test_an_interrupt_that_pydantic_tells_as_its_own_error_is_one(monkeypatch):
    """It builds classes as they are imported, and calls Python in between."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    text = core_schema.str_schema(pattern="a(?=b)", regex_engine="python-re")
    monkeypatch.setattr(re, "compile", interrupted)
    with pytest.raises(SchemaError) as told:
        SchemaValidator(core_schema.list_schema(text))
    assert is_ctrl_c(told.value)
    monkeypatch.undo()
    with pytest.raises(SchemaError) as told:
        SchemaValidator({"type": "KeyboardInterrupt"})
    assert not is_ctrl_c(told.value)
