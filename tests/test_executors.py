"""Executors, as far as they go without Ray; tests/real_ray.py has the rest."""

import shutil
import subprocess
import sys

import pytest

from hornlens.executors.cluster import Cluster, Needs, Node, _why
from tests.clusters import command


def run(arguments):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=280)


def test_where_all_answers_are_known_ray_is_not_even_imported(tmp_path):
    code = (
        "import sys\n"
        "sys.modules['ray'] = None\n"
        "from hornlens.cli.app import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
    )
    arguments = command("extract", tmp_path)
    assert run(arguments).returncode == 0
    done = run([sys.executable, "-c", code, *arguments[3:], "--executor", "ray"])
    assert done.returncode == 0, done.stderr
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "c.sqlite").unlink()
    done = run([sys.executable, "-c", code, *arguments[3:], "--executor", "ray"])
    assert "--executor ray needs pip install 'hornlens[ray]'" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--replicas", "2"], "--replicas is for --executor ray"),
        (["--model-gpus", "0.5"], "--model-gpus is for --executor ray"),
        (["--executor", "ray", "--model-cpus", "0"], "say how many --replicas"),
        (["--executor", "ray", "--target", "table/x.csv"], "a target is asked here"),
    ],
)
def test_options_that_do_not_go_together_are_refused(tmp_path, options, line):
    shown = run(command("extract", tmp_path, *options))
    assert shown.returncode == 2 and line in shown.stderr, shown.stderr


def test_room_is_counted_by_what_is_scarcest():
    node = Node("a", {"CPU": 16.0, "GPU": 4.0})
    assert [node.room(Needs(cpus, gpus)) for cpus, gpus in ((1, 0), (1, 1), (8, 1), (1, 0.1))] == [
        *(16, 4, 2, 16)
    ]
    assert Node("b", {}).room(Needs()) == 0 and node.room(Needs(17)) == 0


def test_why_a_cluster_cannot_be_joined_is_said_with_what_to_do():
    told = "Version mismatch: The cluster was started with:\n    Ray: 2.55.0\n    Python: 3.12.1\n"
    assert "has other versions: The cluster was started with: Ray: 2.55.0" in _why(
        "h:1", "RuntimeError", told
    )
    assert "ray start --address h:1" in _why("h:1", "RuntimeError", "No node info found matching")
    assert "no Ray cluster runs here" in _why("auto", "ConnectionError", "Could not find any")
    assert "\n" not in _why("h:1", "OSError", "several\nlines")


def test_a_cluster_that_was_never_asked_for_is_closed_without_ado():
    Cluster().close()
