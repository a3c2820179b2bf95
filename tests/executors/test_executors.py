"""Executors, as far as they go without Ray; tests/executors/real_ray.py has the rest."""

import random
import shutil
import subprocess
import sys

import pytest

import hornlens
from hornlens.errors import HornlensError
from hornlens.executors.actors import Failure, Loaded
from hornlens.executors.blocks import Block, Bundle, cut, packed
from hornlens.executors.cluster import Cluster, Needs, Node, _why
from hornlens.executors.pool import NODE_LOST, Pool, _cause, _Replica
from hornlens.executors.remote_runs import RunQuestion
from hornlens.models.protocol import Answer
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
        (["--executor", "ray", "--target", "rows/x.csv"], "a target is asked here"),
        (["--executor", "ray", "--model", "openai/any"], "a chat model"),
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


def pool() -> Pool:
    return Pool(Cluster(), "m", lambda: None, "m:1", Needs())


def test_a_node_with_another_version_or_other_weights_is_told_in_a_line():
    for loaded, line in (
        (Loaded("m:1", "9.9", "10.0.0.7", 1, False), "node 10.0.0.7 has hornlens 9.9, and this is"),
        (Loaded("m:2", hornlens.__version__, "10.0.0.7", 1, False), "has another m (m:2)"),
    ):
        with pytest.raises(HornlensError) as raised:
            pool()._loaded(_Replica(None), loaded)
        assert line in str(raised.value) and "\n" not in str(raised.value)


def test_why_a_process_died_is_said_in_few_words():
    class OutOfMemoryError(Exception):
        pass

    class NodeDiedError(Exception):
        pass

    killed = "1 worker(s) were killed due to the node running low on memory. (several\nlines)"
    for error in (OutOfMemoryError("Task was killed"), Exception(killed)):
        assert "its node ran out of memory" in _cause(error)
    for error in (NodeDiedError(""), Exception("The actor died because its node has died. Node")):
        assert _cause(error) == NODE_LOST
    assert "killed, or crashed" in _cause(Exception("The actor is dead: SYSTEM_ERROR"))


def test_what_goes_wrong_with_a_model_is_a_line_with_its_node():
    asked = pool()
    full = Failure("10.0.0.7", "CUDA out of memory. Tried to allocate 20 GiB", "OutOfMemoryError")
    assert asked._in_a_line(full, loading=True).startswith("model m does not fit on node 10.0.0.7:")
    absent = Failure("10.0.0.7", "/models/m: no such folder")
    assert "(on node 10.0.0.7: every node needs the model)" in asked._in_a_line(absent, True)
    broken = Failure("10.0.0.7", "shape mismatch", "ValueError")
    assert "model m failed on node 10.0.0.7: ValueError: shape mismatch" in asked._in_a_line(broken)


def test_blocks_have_every_prompt_once_and_whole_batches():
    draw = random.Random(5)
    for _ in range(300):
        count, size = draw.randrange(1, 200), draw.randrange(1, 70)
        bundle = Bundle([f"p{i}" for i in range(count)], ("a",), "question")
        blocks = cut(bundle, size, draw.randrange(0, 9))
        assert [p for block in blocks for p in block.prompts] == bundle.prompts
        assert all(len(block.prompts) <= size for block in blocks)
        order = draw.sample(range(count), count)
        each = draw.randrange(1, 40)
        batches = [order[start : start + each] for start in range(0, count, each)]
        blocks = packed(bundle, batches, size)
        assert [p for block in blocks for p in block.prompts] == [f"p{i}" for i in order]
        assert [n for block in blocks for n in block.sizes] == [len(batch) for batch in batches]
        assert all(sum(block.sizes) == len(block.prompts) < size + each for block in blocks)


def test_a_ctrl_c_while_workers_are_begun_is_heeded_afterwards():
    """It was ignored: a study that was interrupted just then ran to its end."""
    code = (
        "import os, signal, sys, time\n"
        "from hornlens.executors.local import holding_ctrl_c\n"
        "try:\n"
        "    with holding_ctrl_c():\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(0.1)\n"
        "        print('held', flush=True)\n"
        "    time.sleep(5)\n"
        "    print('lost', flush=True)\n"
        "except KeyboardInterrupt:\n"
        "    print('heeded', flush=True)\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
        "assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, set())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout.split(), done.returncode) == (["held", "heeded"], 0), done.stderr


@pytest.mark.parametrize("seconds", [0.05, 0.11, 0.17, 0.23])
def test_a_worker_that_is_ended_while_it_sends_a_result_holds_nobody_up(seconds):
    """Half a result was left in a pipe, and the command waited for the rest for ever."""
    script = [sys.executable, "-m", "tests.executors.large_results", str(seconds)]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("ended\n", 0), done.stderr


FORGED = (
    None,
    "answers",
    [],
    [None],
    [(-1.0, -2.0)],
    [Answer((-1.0, -2.0))] * 2,
    [Answer("ab")],
    [Answer({-1.0, -2.0})],
    [Answer(("-1.0", "-2.0"))],
    [Answer((True, False))],
    [Answer((-1.0, -2.0), "ab")],
    [Answer((-1.0, -2.0), first=(("a", "b"),))],
    [Answer((-1.0, -2.0), share="all")],
    [Answer((-1.0, -2.0), outcome=7)],
    [Answer(named="1")],
    [Answer(replies=(1,))],
)
"""What a forged node may return where the answer to one prompt is wanted."""


@pytest.mark.parametrize("value", FORGED, ids=repr)
def test_what_a_forged_node_returns_in_place_of_answers_is_refused_in_a_line(value):
    with pytest.raises(HornlensError, match=r"something else than answers of model m: is the same"):
        pool()._answered(Block(["p"], ("a", "b")), value)


def test_answers_of_every_form_that_models_give_are_taken():
    for answer in (
        Answer((-1.0, -2)),
        Answer((-1.0, -2.0), (0, 4), (("a", 0.5), ("b", 1)), 0.7, ("word",)),
        Answer(outcome="refusal"),
        Answer(named=1, manner="x"),
    ):
        assert pool()._answered(Block(["p"], ("a", "b")), [answer]) == [answer]


@pytest.mark.parametrize(
    "value", [None, [0, 1], [[0]], [[0], [0]], [[0, 1, 2]], [["0", "1"]], [[True, 0]], [[], [0, 1]]]
)
def test_batches_of_a_forged_node_are_refused_in_a_line(value):
    replica = _Replica(None)
    replica.planning = (None, Bundle(["p", "q"], ("a", "b")))
    with pytest.raises(HornlensError, match="something else than batches of model m"):
        pool()._planned(replica, value)


@pytest.mark.parametrize("value", [None, True, ("m:1", "9.9", "ip", 1, False)])
def test_a_forged_node_that_says_it_has_loaded_a_model_is_refused_in_a_line(value):
    with pytest.raises(HornlensError, match="something else than whether model m was loaded"):
        pool()._loaded(_Replica(None), value)


def test_a_question_of_a_forged_run_is_known_by_its_form():
    assert RunQuestion(["p"], ("a",), 0).is_one
    for forged in (("p", ("a",), 0), ([1], ("a",), 0), (["p"], "a", 0), (["p"], ("a",), "0")):
        assert not RunQuestion(*forged).is_one
