"""Real Ray clusters of several nodes on this machine, and models that count what they are asked."""

import json
import os
import re
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODELS = '''
import json, os, random, time
from pathlib import Path
from hornlens.models.protocol import Answer, ModelError
from hornlens.models.registry import ModelKind

class Counted:
    """Answers by the prompt alone, and writes down each that it is asked, as it is asked."""

    def __init__(self, rest, options):
        self.folder, self.name = Path(rest), f"counted/{Path(rest).name}"
        self.settings = json.loads((self.folder / "settings.json").read_text())

    def here(self):
        return os.getpid() == self.settings["driver"]

    def check(self, candidates):
        if self.settings.get("absent") and not self.here():
            raise ModelError(f"{self.folder}/weights: no such file")
        if self.settings.get("large"):
            raise MemoryError("4 TB wanted")

    def identity(self):
        other = self.settings.get("differs") and not self.here()
        return f"counted:{self.folder.name}{' changed' if other else ''}"

    def score(self, prompts, candidates):
        poison = self.settings.get("poison")
        for index, prompt in enumerate(prompts):
            handle = os.open(self.folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(handle, f"{os.getpid()} {prompt}\\n".encode())
            os.close(handle)
            if poison and poison in prompt:
                os._exit(1)
            time.sleep(self.settings.get("seconds", 0))
            draw = random.Random(prompt)
            words = range(len(candidates))
            scores = tuple(-(word ^ ("nurse" in prompt)) - draw.random() for word in words)
            yield [(index, Answer(scores, None, (("word", draw.random()),), 0.5))]

kind = ModelKind("counted/FOLDER", "counts", Counted)
'''
ENTRY = "[hornlens.models]\ncounted = counted_models:kind\n"


@dataclass(frozen=True)
class Counting:
    """A model that counts: its spec, and what it was asked."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, **settings) -> "Counting":
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps({"driver": 0, **settings}))
        return cls(folder)

    @property
    def spec(self) -> str:
        return f"counted/{self.folder}"

    def asked(self) -> list[tuple[int, str]]:
        """Return every prompt that the model was asked, with the process that was asked."""
        log = self.folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [(int(pid), prompt) for pid, prompt in (line.split(" ", 1) for line in lines)]

    def times(self) -> Counter:
        return Counter(prompt for _, prompt in self.asked())


def install(folder: Path) -> None:
    """Put the models that count where Python finds them, as an installed package."""
    info = folder / "counted_models-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: counted_models\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY)
    (folder / "counted_models.py").write_text(MODELS)


@contextmanager
def environment(folder: Path):
    """Have the models that count, and a secret for clusters, in this and all other processes."""
    install(folder / "site")
    # Not under `folder`: sockets are put there, and their paths are limited.
    place = tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True)
    with place, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", place.name)
        patch.syspath_prepend(str(folder / "site"))
        paths = [str(folder / "site"), str(ROOT / "src"), str(ROOT)]
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        patch.setenv("OMP_NUM_THREADS", "1")
        yield patch


class SmallCluster:
    """A head and two more nodes, which come and go."""

    def __init__(self, nodes: int = 3, num_cpus: int = 1):
        from ray.cluster_utils import Cluster

        from hornlens.executors.cluster import read_settings_again

        read_settings_again()
        self.common = {
            "num_cpus": num_cpus,
            "object_store_memory": 80_000_000,
            "include_dashboard": False,
        }
        self.cluster = Cluster(initialize_head=True, head_node_args=self.common)
        self.nodes = [self.cluster.add_node(**self.common) for _ in range(nodes - 1)]

    @property
    def address(self) -> str:
        return self.cluster.address

    def lose_a_node(self, draw) -> None:
        """Kill one of the nodes, with all that is on it, and begin another one."""
        node = self.nodes.pop(draw.randrange(len(self.nodes)))
        self.cluster.remove_node(node, allow_graceful=False)
        for left in reversed(range(5)):
            try:
                self.nodes.append(self.cluster.add_node(**self.common))
                return
            except Exception:  # a machine with much to do takes longer than Ray waits for a node
                if not left:
                    raise
                time.sleep(2)

    def close(self) -> None:
        self.cluster.shutdown()


def kill_somebody(model: Counting, draw) -> bool:
    """Kill one of the processes that have answered lately; say whether there was one."""
    for pid in draw.sample(lately := sorted({pid for pid, _ in model.asked()[-60:]}), len(lately)):
        try:
            os.kill(pid, signal.SIGKILL)
            return True
        except ProcessLookupError:
            continue
    return False


DIED = re.compile(r"a process of model .* died .*worker-\*-(\d+)\.err")


def dead(errors: str) -> set[int]:
    """Return the processes of models that the driver says have died."""
    return {int(pid) for pid in DIED.findall(errors)}


def command(name: str, folder: Path, *more: object) -> list[str]:
    return [
        *(sys.executable, "-m", "hornlens", name, *map(str, more)),
        *("--out", str(folder / "out"), "--cache", str(folder / "c.sqlite")),
    ]
