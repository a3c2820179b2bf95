"""Disks that really fill: no room, no inodes, quotas, no handles, read-only. All files or none.

A file system in memory is mounted for that, which takes root; elsewhere these tests are skipped.
"""

import os
import resource
import shutil
import subprocess
import sys
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import pytest

from hornlens.store.sqlite import AnswerCache
from tests.command import START, hornlens
from tests.faults import small
from tests.faults.rounds import rounds

COMMANDS = {
    "extract": "extract probe.yaml --model table/scores.csv --no-cache --out OUT",
    "envelope": "envelope table.csv --out OUT",
    "explain": "explain model.onnx rows.csv --label y --out OUT",
    "study": "study study.yaml --cache answers.sqlite --out OUT",
    "bias": "bias ./people --model table/people.csv --no-cache --out OUT",
    "compare": "compare one two --out OUT",
    "check": "check one rules.yaml --format json --out OUT/check.json",
    "report": "report one --out OUT/page.html",
    "export": "export one --format latex --out OUT/rules.tex",
    "convert": "convert table.csv OUT/table.cxt",
}
ROOM = (0, 40, 100, 4, 12, 300)[: rounds(2, 6)]
"""Kilobytes that are free."""


@contextmanager
def disk(folder, options):
    """Mount a file system in memory."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a file system in memory (root)")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder, free):
    """Leave so many kilobytes free."""
    state = os.statvfs(folder)
    taken = state.f_bavail * state.f_frsize - free * 1024
    if taken > 0:
        (folder / "fill").write_bytes(bytes(taken))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    small.write_all(folder)
    small.dataset(folder / "people")
    small.people_model(folder / "people.csv")
    small.classifier(folder)
    plan = folder / "study.yaml"
    shorter = (
        ("budgets: [2, 9]", "budgets: [2]"),
        ("runs: 2", "runs: 1"),
        ("samples: 40", "samples: 9"),
    )
    for long, short in shorter[: rounds(3, 0)]:
        plan.write_text(plan.read_text().replace(long, short))
    for name, scores in (("one", "scores"), ("two", "other")):
        words = f"extract probe.yaml --model table/{scores}.csv --no-cache --out {name}"
        assert hornlens(*words.split(), cwd=folder).returncode == 0
    return folder


@pytest.fixture(scope="module")
def whole(inputs, tmp_path_factory):
    """What a command writes where nothing is in its way, and its exit code: once for all tests."""

    @cache
    def written(name):
        folder = tmp_path_factory.mktemp(f"whole-{name}")
        shown = run(name, inputs, folder / "out")
        assert shown.returncode in (0, 1), shown.stderr
        return files(folder / "out"), shown.returncode

    return written


def files(folder):
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def is_whole_or_nothing(name, out, wanted, shown):
    """Assert that a command has written all of its files, or said in a line why none."""
    written = files(out) if out.exists() else set()
    assert not [path for path in written if path.name.endswith(".tmp")]
    if shown.returncode == 0:
        assert written == wanted
        return
    assert shown.returncode == 2, (shown.returncode, shown.stderr)
    assert shown.stderr.count("\n") == 1 and "Traceback" not in shown.stderr, shown.stderr
    # What a study has finished stays: its runs, each whole.
    kept = ("exact", "runs") if name == "study" else ()
    assert {path for path in written if path.parts[0] not in kept} == set()


def run(name, inputs, out, **more):
    return hornlens(*COMMANDS[name].replace("OUT", str(out)).split(), cwd=inputs, **more)


@pytest.mark.parametrize("name", COMMANDS)
def test_on_a_disk_without_room_all_files_are_written_or_none(tmp_path, inputs, whole, name):
    (wanted, code), refused = whole(name), 0
    once = name in ("bias", "explain", "study") and rounds(1, 0)  # they take their time
    for number, free in enumerate(ROOM[:1] if once else ROOM):
        with disk(tmp_path / f"disk-{number}", "size=2m") as folder:
            fill(folder, free)
            shown = run(name, inputs, folder / "out")
            if shown.returncode == 1 and name == "check":
                shown.returncode = 0  # some rule is violated, and that is written
            is_whole_or_nothing(name, folder / "out", wanted, shown)
            refused += shown.returncode == 2
            if shown.returncode == 2:
                assert "No space left on device" in shown.stderr or "full" in shown.stderr
                before = files(folder / "out") if (folder / "out").exists() else set()
                (folder / "fill").unlink(missing_ok=True)
                assert run(name, inputs, folder / "out").returncode == code
                assert files(folder / "out") == wanted >= before
    assert refused


@pytest.mark.parametrize("name", COMMANDS)
def test_on_a_disk_without_inodes_all_files_are_written_or_none(tmp_path, inputs, whole, name):
    (wanted, _), refused = whole(name), 0
    for inodes in (2, 1, 3, 5)[: rounds(1, 4)]:
        with disk(tmp_path / f"disk-{inodes}", f"size=20m,nr_inodes={inodes}") as folder:
            shown = run(name, inputs, folder / "out")
            if shown.returncode == 1 and name == "check":
                shown.returncode = 0
            is_whole_or_nothing(name, folder / "out", wanted, shown)
            refused += shown.returncode == 2
    assert refused


@pytest.mark.parametrize("name", COMMANDS)
def test_on_a_disk_that_is_read_only_nothing_is_written(tmp_path, inputs, name):
    with disk(tmp_path / "disk", "size=2m,ro") as folder:
        shown = run(name, inputs, folder / "out")
        assert shown.returncode == 2 and "Read-only file system" in shown.stderr
        assert shown.stderr.count("\n") == 1 and files(folder) == set()


def limited(words, folder, **limits):
    """Run a command with less than it needs of something."""

    def lower():
        for name, most in limits.items():
            resource.setrlimit(getattr(resource, name), (most, most))

    return subprocess.run(
        [*START, *words], cwd=folder, preexec_fn=lower, capture_output=True, text=True
    )


@pytest.mark.parametrize("most", [1000, 0, 30_000, 200_000][: rounds(1, 4)])
@pytest.mark.parametrize("name", ["extract", "envelope", "report"])
def test_a_quota_for_files_is_one_line(tmp_path, inputs, whole, name, most):
    words = COMMANDS[name].replace("OUT", str(tmp_path / "out")).split()
    shown = limited(words, inputs, RLIMIT_FSIZE=most)
    is_whole_or_nothing(name, tmp_path / "out", whole(name)[0], shown)


# The cache.

EXTRACT = "extract probe.yaml --model table/scores.csv --quiet --cache"


def answers_in(path):
    with closing(AnswerCache(path)) as cache:
        return sum(model.answers for model in cache.models())


@pytest.mark.parametrize("free", [4, 60, 0, 40, 76, 100][: rounds(2, 6)])
def test_a_cache_on_a_disk_without_room_is_one_line_and_goes_on_when_there_is_some(
    tmp_path, inputs, free
):
    with disk(tmp_path / "disk", "size=1m") as folder:
        fill(folder, free)
        cache = folder / "c.sqlite"
        shown = hornlens(*EXTRACT.split(), cache, "--out", tmp_path / "out", cwd=inputs)
        assert shown.returncode == 2, shown
        assert "cache cannot be" in shown.stderr and shown.stderr.count("\n") == 1, shown.stderr
        assert not (tmp_path / "out" / "envelope.json").exists()
        (folder / "fill").unlink()
        again = hornlens(*EXTRACT.split(), cache, "--out", tmp_path / "out", cwd=inputs)
        assert (again.returncode, again.stderr) == (0, "")
        assert answers_in(cache) == 16 and not [*folder.glob("*damaged*")]


def test_a_cache_with_a_quota_is_one_line(tmp_path, inputs):
    for number, most in enumerate((4096, 50_000, 0, 20_000)[: rounds(2, 4)]):
        cache = tmp_path / f"{number}.sqlite"
        shown = limited([*EXTRACT.split(), str(cache)], inputs, RLIMIT_FSIZE=most)
        assert shown.returncode == 2 and shown.stderr.count("\n") == 1, (most, shown)
        again = hornlens(*EXTRACT.split(), cache, cwd=inputs)
        assert (again.returncode, again.stderr) == (0, "") and answers_in(cache) == 16
        assert not [*tmp_path.glob("*damaged*")]


@pytest.fixture(scope="module")
def cached(inputs):
    """A cache with all answers."""
    assert hornlens(*EXTRACT.split(), inputs / "full.sqlite", cwd=inputs).returncode == 0
    return inputs / "full.sqlite"


def with_handles(most, words, folder):
    """Run a command that may open so many files, those of Python's start included."""
    script = (
        "import resource; from hornlens.__main__ import main; "
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({most}, {most})); main()"
    )
    return subprocess.run(
        [sys.executable, "-c", script, *words], cwd=folder, capture_output=True, text=True
    )


@pytest.mark.parametrize("most", [3, 5, 6, 8, *range(4, 40)][: rounds(4, 40)])
def test_too_few_handles_are_one_line_and_harm_nothing(tmp_path, inputs, cached, most):
    cache = Path(shutil.copy(cached, tmp_path))
    words = [*EXTRACT.split(), str(cache), "--out", str(tmp_path / "out")]
    shown = with_handles(most, words, inputs)
    lines = shown.stderr.count("\n")
    assert (shown.returncode, lines) == ((2, 1) if most < 7 else (0, 0)), shown
    assert answers_in(cache) == 16 and not [*tmp_path.glob("*damaged*")]


def test_a_library_for_which_there_is_no_handle_is_one_line():
    pytest.importorskip("_ctypes_test", reason="needs a library in a file")
    script = (
        "import resource; from importlib.util import find_spec; import hornlens.logging; "
        "from hornlens.cli import main; find_spec('_ctypes_test'); "
        "main._run = lambda words: __import__('_ctypes_test'); "
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)); main.main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    line = "hornlens: too many open files: allow more of them (ulimit -n)\n"
    assert (done.returncode, done.stderr) == (2, line)


def test_a_cache_on_a_disk_that_is_read_only_is_one_line(tmp_path, inputs):
    with disk(tmp_path / "disk", "size=2m") as folder:
        cache = folder / "c.sqlite"
        assert hornlens(*EXTRACT.split(), cache, cwd=inputs).returncode == 0
        whole = cache.read_bytes()
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        shown = hornlens(*EXTRACT.split(), cache, cwd=inputs)
        assert shown.returncode == 2 and shown.stderr.count("\n") == 1, shown
        assert cache.read_bytes() == whole
        shown = hornlens(*EXTRACT.split(), folder / "new.sqlite", cwd=inputs)
        assert shown.returncode == 2 and shown.stderr.count("\n") == 1, shown


def test_a_damaged_cache_on_a_full_disk_is_left_as_it_is(tmp_path, inputs):
    with disk(tmp_path / "disk", "size=1m") as folder:
        cache = folder / "c.sqlite"
        assert hornlens(*EXTRACT.split(), cache, cwd=inputs).returncode == 0
        with cache.open("r+b") as file:
            file.write(b"not a database")
        broken = cache.read_bytes()
        fill(folder, 8)
        shown = hornlens(*EXTRACT.split(), cache, cwd=inputs)
        assert shown.returncode == 2 and shown.stderr.count("\n") == 1, shown
        assert cache.read_bytes() == broken
        (folder / "fill").unlink()
        assert sorted(path.name for path in folder.iterdir()) == ["c.sqlite"]
        shown = hornlens(*EXTRACT.split(), cache, cwd=inputs)
        assert shown.returncode == 0 and "Answers that could be read: 16" in shown.stderr
