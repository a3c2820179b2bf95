"""A reader that goes away ends a command quietly; a server that goes away is told in a line."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from hornlens.cli.streams import READER_GONE
from tests.faults import small

COMMAND = [sys.executable, "-m", "hornlens"]


def run(arguments, closed=(), **settings):
    """Run a command with readers of streams that have gone already."""
    read, write = os.pipe()
    os.close(read)
    try:
        return subprocess.run(
            [*COMMAND, *map(str, arguments)],
            stdout=write if "stdout" in closed else subprocess.PIPE,
            stderr=write if "stderr" in closed else subprocess.PIPE,
            timeout=120,
            **settings,
        )
    finally:
        os.close(write)


def commands(folder):
    small.write_all(folder)
    cache = ["--cache", folder / "answers.sqlite"]
    return {
        "help": ["extract", "--help"],
        "nothing": [],
        "list": ["probe", "list"],
        "show": ["probe", "show", folder / "probe.yaml"],
        "extract": ["extract", "--out", folder / "out", *cache],
        "json": ["extract", "--format", "json", *cache],
        "study": ["study", folder / "study.yaml", "--out", folder / "s", *cache],
        "study over workers": [
            *("study", folder / "study.yaml", "--out", folder / "w", "--jobs", "2", *cache)
        ],
        "completion": ["completion", "bash"],
        "words": ["completion", "--words", "--", "ex"],
    }


@pytest.mark.skipif(os.name != "posix", reason="closes a pipe")
@pytest.mark.parametrize(
    "name",
    [
        *("help", "nothing", "list", "show", "extract", "json", "study", "study over workers"),
        *("completion", "words"),
    ],
)
def test_a_reader_of_the_output_that_has_gone_ends_the_command_without_a_word(tmp_path, name):
    arguments = commands(tmp_path)[name]
    for _ in range(2):  # also once answers are there
        done = run(arguments, ["stdout"])
        assert done.returncode == READER_GONE, done
        said = [line for line in done.stderr.splitlines() if b"warning: " not in line]
        assert not said, done
    # What it was writing into files is whole: the same command goes on from it.
    again = run(arguments)
    assert again.returncode == 0, again


@pytest.mark.skipif(os.name != "posix", reason="closes a pipe")
@pytest.mark.parametrize("name", ["list", "json", "study over workers"])
def test_a_reader_of_errors_that_has_gone_changes_nothing_but_the_exit_code(tmp_path, name):
    arguments = commands(tmp_path)[name]
    expected, found = run(arguments), run(arguments, ["stderr"])
    assert found.returncode in (0, READER_GONE), found
    if found.returncode == 0:
        assert found.stdout == expected.stdout
    assert run(["probe", "show", "no such file.yaml"], ["stderr"]).returncode == READER_GONE


@pytest.mark.skipif(os.name != "posix", reason="closes a pipe")
@pytest.mark.parametrize("name", ["help", "extract", "study over workers"])
def test_with_both_readers_gone_a_command_still_ends(tmp_path, name):
    assert run(commands(tmp_path)[name], ["stdout", "stderr"]).returncode == READER_GONE


@pytest.mark.parametrize("name", ["stdin", "stdout", "stderr"])
def test_closed_streams_are_nowhere(tmp_path, name):
    number = ["stdin", "stdout", "stderr"].index(name)
    done = run(["probe", "list"], preexec_fn=lambda: os.close(number))
    assert done.returncode == 0, done


def run_instead(body):
    """Run the command line with a body of our own in one of its commands."""
    script = (
        "import signal, socket, sys, time, weakref\nimport hornlens.cli.doctor as command\n"
        f"def run(*arguments):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n"
        "command.doctor_command = run\nsys.argv = ['hornlens', 'doctor']\n"
        "from hornlens.__main__ import main\nmain()"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_server_that_closes_while_we_write_is_told_in_a_line():
    """Under the signal's default, the first write after the close would end the command."""
    done = run_instead("""
        ours, theirs = socket.socketpair()
        theirs.close()
        ours.sendall(b"a question")
    """)
    assert (done.returncode, done.stderr) == (
        2,
        b"hornlens: a connection was closed by the other side (broken pipe): run the same command "
        b"to go on\n",
    ), done


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_ctrl_c_that_python_drops_is_heard_again():
    """In a weak reference's callback, as imports have them, Python tells and forgets it."""
    done = run_instead("""
        class Thing:
            pass
        thing = Thing()
        kept = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
        del thing
        for _ in range(1000):
            time.sleep(0.01)
    """)
    assert (done.returncode, done.stderr) == (130, b"hornlens: interrupted\n"), done


DROPPED = """
class Thing:
    pass
thing = Thing()
kept = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
del thing
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(
    "then",
    [
        "time.sleep(3600)",  # a wait that only a signal ends: for a server, say
        "return",  # all was done before it could be sent again
        # As in numpy's import, which forgets the next one, too, where the machine is slow.
        "try:\n    time.sleep(1)\nexcept BaseException:\n    pass\nraise ImportError('no numpy')",
    ],
    ids=["it waits", "it is done", "it fails"],
)
def test_a_command_whose_ctrl_c_was_dropped_is_interrupted_whatever_comes_then(then):
    done = run_instead(f"{DROPPED}{then}\n")
    assert (done.returncode, done.stderr) == (130, b"hornlens: interrupted\n"), done
