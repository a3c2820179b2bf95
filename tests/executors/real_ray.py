"""A real Ray cluster gives what this machine gives, whatever is killed meanwhile.

`make test-ray` runs this, with the attacks in full; `make test-ray-quick`, with a few, is in CI.
"""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

import hornlens
from hornlens.errors import HornlensError
from hornlens.executors.blocks import BLOCK
from hornlens.executors.cluster import _KNOCK, Needs, _knock
from hornlens.executors.pool import DEATHS
from hornlens.models.protocol import ModelOptions
from hornlens.models.registry import open_model
from tests import clusters
from tests.clusters import Counting, command, dead
from tests.command import START, TELLING
from tests.faults.rounds import rounds

SMALL = """
hornlens: 1
name: small
models: [MODEL, OTHER]
budgets: [3, 12]
runs: 2
samples: 200
"""
PROMPTS = 660


@pytest.fixture(scope="module")
def ray_environment(tmp_path_factory):
    with clusters.environment(tmp_path_factory.mktemp("environment")) as patch:
        yield patch


@pytest.fixture(scope="module")
def cluster(ray_environment):
    """A real cluster of three nodes, each with its own processes."""
    made = clusters.SmallCluster()
    yield made
    made.close()


def run(arguments, **more):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=280, **more)


def on(cluster, *more):
    return ("--executor", "ray", "--ray-address", cluster.address, *more)


def files(folder: Path) -> dict[str, bytes]:
    """Return all files that must not depend on how a result was made."""
    names = {"run.json", "times.json", "times.md", "times.tex", "times.csv", "report.html"}
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in names
    }


@pytest.fixture(scope="module")
def local(ray_environment, tmp_path_factory):
    """What an extraction, and studies, leave on this machine alone."""
    folder = tmp_path_factory.mktemp("local")
    one, two = (Counting.make(folder / name) for name in ("one", "two"))
    done = run(command("extract", folder / "extract", "--model", one.spec))
    assert done.returncode == 0, done.stderr
    for name, more in (("whole", ""), ("sampled", "limit: 100\n")):
        (folder / name).mkdir()
        plan = SMALL.replace("MODEL", one.spec).replace("OTHER", two.spec)
        (folder / name / "study.yaml").write_text(plan + more)
        done = run(command("study", folder / name, folder / name / "study.yaml", "--jobs", 1))
        assert done.returncode == 0, done.stderr
    return folder


@contextmanager
def ended(process):
    """See to it that a process that was begun does not outlive what it was begun for."""
    try:
        yield
    finally:
        process.kill()
        process.wait()


def again(local, model, **settings) -> Counting:
    """Return a model of `local`, with nothing asked yet."""
    (local / model / "log").unlink(missing_ok=True)
    return Counting.make(local / model, **settings)


# On three nodes.


TIME = r"\d+ (?:s|min|h \d+ min)"
TELLS = re.compile(
    r"(Asking|Learning)(?: \S+)? on (\d+) nodes?: ([\d,]+)(?: of ([\d,]+))? (prompts|runs)"
    rf"(?:, [\d.e-]+ \5/s(?:, about {TIME} left)?| in {TIME})?"
)


def telling(arguments: list[str]) -> list[str]:
    """Return a command that tells of each step, however quick it is: not first after 3 seconds."""
    return [*TELLING, *arguments[len(START) :]]


def told(errors: str, doing: str, total: int | None) -> int:
    """Return how many lines tell of progress: of all nodes together, with the time it takes."""
    lines = [line for line in errors.splitlines() if line.startswith(doing)]
    found = [TELLS.fullmatch(line) for line in lines]
    assert all(found), lines
    counts = [int(each[3].replace(",", "")) for each in found]
    assert counts == sorted(counts), lines
    assert {each[4] and int(each[4].replace(",", "")) for each in found} <= {total}, lines
    assert all(int(each[2]) == 3 for each in found), lines
    if total is not None:
        # The clock starts with the first answers: of these no line says how long they took.
        assert all("left" in line or " in " in line for line in lines[1:]) and counts[-1] <= total
    return len(lines)


def test_an_extraction_on_three_nodes_has_the_same_bytes_and_pays_once(cluster, local, tmp_path):
    model = again(local, "one", seconds=0.03)
    done = run(telling(command("extract", tmp_path, "--model", model.spec, *on(cluster))))
    assert (done.returncode, dead(done.stderr)) == (0, set()), done.stderr
    assert files(tmp_path / "out") == files(local / "extract" / "out")
    times = model.times()
    assert (len(times), set(times.values())) == (PROMPTS, {1})
    assert len({pid for pid, _ in model.asked()}) > 1  # a machine with much to do loads slowly
    assert told(done.stderr, "Asking counted/one", PROMPTS) >= 2
    assert json.loads((tmp_path / "out/run.json").read_text())["asked_the_model"] == PROMPTS


@pytest.mark.parametrize("name", ["whole", "sampled"])
def test_a_study_on_three_nodes_has_the_same_bytes_and_pays_once(cluster, local, tmp_path, name):
    models = [again(local, each, seconds=0.01) for each in ("one", "two")]
    done = run(telling(command("study", tmp_path, local / name / "study.yaml", *on(cluster))))
    assert (done.returncode, dead(done.stderr)) == (0, set()), done.stderr
    assert told(done.stderr, "Asking", 2 * PROMPTS if name == "whole" else None) >= 1
    assert told(done.stderr, "Learning", 8) >= 1
    assert files(tmp_path / "out") == files(local / name / "out")
    for model in models:
        times = model.times()
        assert set(times.values()) == {1}
        assert len(times) == PROMPTS if name == "whole" else 100 < len(times) <= PROMPTS
    runs = [json.loads(path.read_text()) for path in (tmp_path / "out").rglob("run.json")]
    assert sum(each["asked_the_model"] for each in runs) == sum(len(m.asked()) for m in models)


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_a_neural_model_on_two_replicas_has_the_bytes_of_one(cluster, tmp_path, kind):
    from hornlens.executors.ray import RayExecutor

    spec = neural(tmp_path / kind, kind)
    here = hornlens.extract(open_model(spec, ModelOptions(threads=1)), cache=False)
    with closing(RayExecutor(cluster.address, Needs(replicas=2))) as executor:
        there = hornlens.extract(executor.model(spec), cache=False)
    here.save(tmp_path / "here")
    there.save(tmp_path / "there")
    assert files(tmp_path / "there") == files(tmp_path / "here")


def neural(folder, kind) -> str:
    """Make an untrained checkpoint for the built-in probe's prompts, which differ in length."""
    from hornlens.probes.loading import DEFAULT, load_probe
    from tests import checkpoints

    probe = load_probe(DEFAULT)
    prompts = [prompt for cell in probe.space.cells() for prompt in probe.render(cell)]
    texts = [prompt.replace("[MASK]", word) for prompt in prompts for word in probe.label.words]
    if kind == "masked":
        checkpoints.random_masked(folder, "bert", texts)
        return f"hf/{folder}"
    checkpoints.random_causal(folder, "gpt2", texts)
    return f"causal/{folder}"


def test_two_studies_at_once_on_one_cache_ask_every_prompt_once(cluster, local, tmp_path):
    models = [again(local, each, seconds=0.01) for each in ("one", "two")]
    both = []
    for name in ("a", "b"):
        arguments = command("study", tmp_path, local / "sampled/study.yaml", *on(cluster))
        arguments[arguments.index("--out") + 1] = str(tmp_path / name)
        both.append(
            subprocess.Popen(
                arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
        )
    said = [each.communicate(timeout=280)[1] for each in both]
    assert [each.returncode for each in both] == [0, 0], said
    for name in ("a", "b"):
        assert files(tmp_path / name) == files(local / "sampled" / "out")
    for model in models:
        assert set(model.times().values()) == {1}


# Killed.


def test_killed_actors_and_nodes_change_no_byte_and_cost_what_they_had_at_work(
    cluster, local, tmp_path
):
    draw = random.Random(7)
    kills, wanted = 0, rounds(3, 50)
    for attempt in range(wanted):
        folder = tmp_path / str(attempt)
        model = again(local, "one", seconds=0.03)
        arguments = command("extract", folder, "--model", model.spec, "--format", "json")
        process = subprocess.Popen(
            [*arguments, *on(cluster, "--replicas", "3")],
            stdout=(shown := open(tmp_path / "shown", "w")),  # noqa: SIM115
            stderr=(errors := open(tmp_path / "errors", "w")),  # noqa: SIM115
        )
        before = kills
        with ended(process):
            while process.poll() is None:
                time.sleep(draw.uniform(0.5, 2.0))
                # No more than a block survives: what has killed four processes is given up.
                enough = kills == min(wanted, before + DEATHS - 1)
                if len(model.asked()) > 60 and process.poll() is None and not enough:
                    if draw.random() < 0.3:
                        cluster.lose_a_node(draw)
                        kills += 1
                    else:
                        kills += clusters.kill_somebody(model, draw)
        shown.close()
        errors.close()
        said = (tmp_path / "errors").read_text()
        where = f"attempt {attempt}, {kills} kills: {said}"
        assert process.returncode == 0, where
        assert files(folder / "out") == files(local / "extract" / "out"), where
        # And nothing else was shown, whatever Ray had to say.
        assert (tmp_path / "shown").read_text() == (folder / "out/envelope.json").read_text(), where
        gone = dead(said)
        by_the_living = Counter(p for pid, p in model.asked() if pid not in gone)
        assert set(by_the_living.values()) == {1}, where
        times = model.times()
        assert len(times) == PROMPTS and times.total() <= PROMPTS + BLOCK * len(gone), where
        if kills >= wanted:
            return
    pytest.fail(f"only {kills} kills")


def test_a_study_whose_nodes_are_lost_has_the_same_bytes(cluster, local, tmp_path):
    draw = random.Random(3)
    for attempt in range(rounds(1, 5)):
        folder = tmp_path / str(attempt)
        models = [again(local, each, seconds=0.02) for each in ("one", "two")]
        process = subprocess.Popen(
            [*command("study", folder, local / "sampled/study.yaml"), *on(cluster)],
            env={**os.environ, "PYTHONFAULTHANDLER": "1"},
            stdout=subprocess.DEVNULL,
            stderr=(errors := open(tmp_path / "errors", "w")),  # noqa: SIM115
        )
        while process.poll() is None and not models[0].asked():
            time.sleep(0.1)
        with ended(process):
            for _ in range(2):
                time.sleep(draw.uniform(0.5, 3.0))
                cluster.lose_a_node(draw)
            try:
                process.wait(timeout=200)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGABRT)  # which shows where it is
                process.wait()
        errors.close()
        said = (tmp_path / "errors").read_text()
        assert process.returncode == 0, said
        assert files(folder / "out") == files(local / "sampled" / "out"), said
        gone = dead(said)
        for model in models:
            by_the_living = Counter(p for pid, p in model.asked() if pid not in gone)
            assert set(by_the_living.values()) <= {1}, said


def test_a_model_that_lost_its_replicas_gets_the_room_of_one_that_rests(cluster, tmp_path):
    """It waited for ever: what rested held every CPU, and made room for new models only."""
    from hornlens.executors.ray import RayExecutor

    words = ("She", "He")
    first, second = (Counting.make(tmp_path / name, seconds=0.02) for name in ("one", "two"))
    with closing(RayExecutor(cluster.address)) as executor:
        resting, asked = executor.model(first.spec), executor.model(second.spec)
        asked.check(words)
        list(asked.score(["Who is a nurse?"], words))
        list(resting.score([f"Who is number {i}?" for i in range(300)], words))
        rests = executor.pool(resting)

        def replicas(wanted):
            deadline = time.monotonic() + 100
            while sum(r.about is not None for r in rests._replicas) < wanted:
                assert time.monotonic() < deadline
                rests.fill(least=3)
                rests.take(executor.cluster.ready(rests.refs))

        replicas(2)  # and one of the other, which is killed: so there is room for the third
        with suppress(ProcessLookupError):  # where nodes were lost, it may have made room already
            os.kill(second.asked()[0][0], signal.SIGKILL)
        replicas(executor.pool(resting)._limit())
        assert not executor.cluster.has_room(Needs())
        answers = [a for block in asked.score(["Who is a pilot?"], words) for a in block]
        assert len(answers) == 1


def test_a_driver_that_is_killed_goes_on_by_the_same_command(cluster, local, tmp_path):
    model = again(local, "one", seconds=0.03)
    arguments = [*command("extract", tmp_path, "--model", model.spec), *on(cluster)]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(model.asked()) < 300:
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    done = run(arguments)
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "out") == files(local / "extract" / "out")
    # Three replicas had two blocks each, at most.
    assert model.times().total() <= PROMPTS + 6 * BLOCK
    assert json.loads((tmp_path / "out/run.json").read_text())["answered_from_cache"] > 0


# What is wrong is one line.


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"absent": True}, r"no such file \(on node .*: every node needs the model\)"),
        ({"large": True}, r"does not fit on node .*: MemoryError: 4 TB wanted; it needs a larger"),
        ({"differs": True}, r"has another counted/.* than this machine .*: put the same files"),
        ({"poison": "nurse"}, r"died .*, as did 3 before it over the same prompts.*; log: .*\.err"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_is_wrong_on_a_node_is_one_line(cluster, tmp_path, settings, line):
    from hornlens.executors.ray import RayExecutor

    model = Counting.make(tmp_path / "bad", driver=os.getpid(), **settings)
    with (
        closing(RayExecutor(cluster.address, Needs(replicas=2))) as executor,
        pytest.raises(HornlensError, match=line) as raised,
    ):
        hornlens.extract(executor.model(model.spec), cache=False)
    assert "\n" not in str(raised.value)


def test_a_node_that_has_another_version_is_one_line(ray_environment, tmp_path):
    """It really has one: where it is, another file is mounted over ours."""
    from hornlens.executors.ray import RayExecutor

    ours = Path(hornlens.__file__)
    other = tmp_path / "other.py"
    now = f'__version__ = "{hornlens.__version__}"'
    other.write_text(ours.read_text().replace(now, '__version__ = "9.9"'))
    apart = ["unshare", "--mount", "sh", "-ec", 'mount --bind "$1" "$2"; shift 2; exec "$@"', "sh"]
    apart += [str(other), str(ours)]
    if shutil.which("unshare") is None or subprocess.run([*apart, "true"]).returncode:
        pytest.skip("needs the right to mount")
    made = clusters.SmallCluster(nodes=1, num_cpus=0)
    start = ("start", "--address", made.address, "--num-cpus", "1", "--block")
    ray = [sys.executable, "-m", "ray.scripts.scripts", *start, "--object-store-memory", "80000000"]
    node = subprocess.Popen([*apart, *ray], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with closing(RayExecutor(made.address)) as executor:
            deadline = time.monotonic() + 100
            while len(executor.cluster.nodes()) < 2:
                assert time.monotonic() < deadline and node.poll() is None
                time.sleep(0.5)
            with pytest.raises(HornlensError) as raised:
                hornlens.extract(executor.model("demo"), cache=False)
    finally:
        node.terminate()
        node.wait(60)
        made.close()
    assert re.fullmatch(
        r"node \S+ has hornlens 9\.9, and this is \S+: install the same on all nodes",
        str(raised.value),
    )


def test_a_node_that_runs_out_of_memory_is_one_line(ray_environment, monkeypatch):
    """Ray ends processes where memory is short; here everything is too much for it."""
    from hornlens.executors.ray import RayExecutor

    monkeypatch.setenv("RAY_memory_usage_threshold", "0.001")
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "100")
    with (
        closing(RayExecutor(None, Needs(replicas=1))) as executor,
        pytest.raises(HornlensError, match="its node ran out of memory; fewer --rep") as raised,
    ):
        hornlens.extract(executor.model("demo"), cache=False)
    assert "\n" not in str(raised.value)


def test_a_cluster_that_cannot_be_joined_is_one_line(cluster, tmp_path):
    wrong = {**os.environ, "RAY_AUTH_TOKEN": "0" * 64}
    for address, environment, line in (
        ("nonsense", None, "--ray-address must be auto or HOST:PORT, not 'nonsense'"),
        ("127.0.0.1:1", None, "no Ray cluster at 127.0.0.1:1: Connection refused"),
        (cluster.address, wrong, f"the Ray cluster at {cluster.address} wants another token"),
    ):
        shown = run(
            command("extract", tmp_path, "--executor", "ray", "--ray-address", address),
            env=environment,
        )
        assert shown.returncode == 2 and shown.stderr.count("\n") == 1, shown.stderr
        assert line in shown.stderr


def test_what_ray_says_when_all_is_well_is_not_taken_for_an_error(cluster, monkeypatch):
    noise = "print('[2026-11-17 01:40:00,000 W 1 1] gcs_client.cc: hm')"
    monkeypatch.setattr("hornlens.executors.cluster._KNOCK", f"{noise}\n{_KNOCK}\n{noise}")
    _knock(cluster.address)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    with pytest.raises(HornlensError, match="wants another token"):
        _knock(cluster.address)


def test_what_listens_but_is_no_ray_is_left_in_time(ray_environment, monkeypatch):
    monkeypatch.setattr("hornlens.executors.cluster.JOIN_SECONDS", 6.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        started = time.monotonic()
        with pytest.raises(HornlensError, match="does not let us in as a Ray cluster would"):
            _knock(f"127.0.0.1:{server.getsockname()[1]}")
        assert time.monotonic() - started < 30


def test_a_model_for_which_no_node_has_room_is_one_line(cluster, tmp_path):
    shown = run([*command("extract", tmp_path), *on(cluster, "--model-cpus", "7")])
    assert shown.returncode == 2 and shown.stderr.count("\n") == 1, shown.stderr
    assert "no node has 7 CPUs for model demo (the most are 1 CPUs, 0 GPUs)" in shown.stderr


# A cluster of this machine alone.


def rays() -> list[str]:
    """Return the folders that clusters of our own have in /tmp."""
    return [name for name in os.listdir("/tmp") if name.startswith("hornlens-ray-")]


def test_without_an_address_a_cluster_is_started_and_nothing_of_it_stays(ray_environment, tmp_path):
    model = Counting.make(tmp_path / "one")
    before = set(rays())
    code = (
        "import os, sys\n"
        "from hornlens.executors.ray import RayExecutor\n"
        "import hornlens\n"
        "before = dict(os.environ)\n"
        "executor = RayExecutor()\n"
        "hornlens.extract(executor.model(sys.argv[1]), cache=False)\n"
        "assert os.environ['RAY_AUTH_MODE'] == 'token' != before.get('RAY_AUTH_MODE')\n"
        "assert os.environ['RAY_USAGE_STATS_ENABLED'] == '0'\n"
        "assert executor.where == ' on 1 node', executor.where\n"
        "print(executor.cluster.ray.get_runtime_context().gcs_address)\n"
        "executor.close()\n"
        "assert dict(os.environ) == before\n"
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    done = run(
        [sys.executable, "-c", code, model.spec], env={**clean, "TMPDIR": "/tmp"}, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert set(model.times().values()) == {1} and len(model.asked()) == PROMPTS
    assert set(rays()) == before
    host, port = done.stdout.strip().rsplit(":", 1)
    with pytest.raises(OSError):
        socket.create_connection((host, int(port)), 2)


def test_an_interrupt_ends_the_cluster_that_was_started(ray_environment, tmp_path):
    model = Counting.make(tmp_path / "one", seconds=0.05)
    before = set(rays())
    process = subprocess.Popen(
        [*command("extract", tmp_path, "--model", model.spec, "-q"), "--executor", "ray"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Where the tests run in the background of a shell, it would be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 120
    while len(model.asked()) < 20:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    # What was proved by then is put together first, and that is said, too.
    assert process.returncode == 130
    assert said.splitlines()[-1] == "hornlens: interrupted"
    assert all(line.startswith("hornlens: ") for line in said.splitlines()), said
    assert set(rays()) <= before
    asked = len(model.asked())
    time.sleep(1)
    assert len(model.asked()) == asked
