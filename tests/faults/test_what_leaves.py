"""What leaves the machine: for most commands nothing, whatever libraries like to send.

The commands run in a process in which every connection and every look-up of a host is written down
and refused.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import hornlens
from tests.faults import small

INPUTS = Path(__file__).parents[1] / "old" / "0.2" / "inputs"
GUARD = """
import os, socket

def written_down(name):
    def refuse(*arguments, **options):
        where = next((a for a in arguments if isinstance(a, (str, bytes, tuple))), "")
        with open(os.environ["CONNECTIONS"], "a") as file:
            file.write(f"{name} {where}\\n")
        raise OSError("no connection is made in this test")
    return refuse

class Guarded(socket.socket):
    def connect(self, address):
        if self.family == socket.AF_UNIX:
            return super().connect(address)
        return written_down("connect")(address)
    def connect_ex(self, address):
        return self.connect(address)
    def sendto(self, data, *more):
        return written_down("sendto")(more[-1])

socket.socket = Guarded
for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "create_connection"):
    setattr(socket, name, written_down(name))
"""
COMMANDS = {
    "extract": "extract --out again",
    "extract of a probe": "extract jobs.yaml --model demo --out again",
    "extract of scores": "extract jobs.yaml --model table/scores.csv --out again",
    "a dry run of a chat model": "extract jobs.yaml --model openai/some --dry-run",
    "envelope": "envelope animals.csv --out table",
    "envelope of a formula": "envelope formula.cnf --format json",
    "learn": "learn formula.cnf",
    "explore": "explore animals.yaml --expert rows/animals.csv --format json",
    "study": "study study.yaml --out study",
    "bias": "bias --model demo --out bias",
    "verify": "verify out",
    "check": "check out rules.yaml",
    "compare": "compare out out --out compared",
    "report": "report out",
    "export": "export out --format latex",
    "doctor": "doctor",
    "models": "model list",
    "probes": "probe list",
    "cache": "cache list",
    "help": "--help",
}
"""By what they show, what is run: nothing may be sent by any of them."""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """Runs commands in a folder with inputs and a result, in guarded processes."""
    folder = tmp_path_factory.mktemp("leaves")
    shutil.copytree(INPUTS, folder, dirs_exist_ok=True)
    shutil.copytree(INPUTS, folder / "inputs")
    (folder / "guard").mkdir()
    (folder / "guard" / "sitecustomize.py").write_text(GUARD)
    own = [str(folder / "guard"), os.environ.get("PYTHONPATH", "")]
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, own)),
        "CONNECTIONS": str(folder / "connections"),
        "HORNLENS_CACHE": str(folder / "cache.db"),
        "OPENAI_API_KEY": "sk-nobody-is-to-see-this",
    }

    def run(words):
        (folder / "connections").write_text("")
        done = subprocess.run(
            [sys.executable, "-m", "hornlens", *words.split()],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
        )
        return done, (folder / "connections").read_text()

    done, connections = run("extract jobs.yaml --out out")
    assert done.returncode == 0, done.stderr
    assert not connections
    return run


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_nothing_is_sent_by_what_asks_nobody_else(words, guarded):
    done, connections = guarded(words)
    assert connections == ""
    assert done.returncode in (0, 1), done.stderr


def test_the_guard_sees_a_connection(guarded):
    """And who is asked over HTTP is connected to, or nothing above would mean anything."""
    done, connections = guarded(
        "extract jobs.yaml --model openai/some --base-url http://127.0.0.1:9/v1 --out again"
    )
    assert done.returncode == 2, done.stdout
    assert connections != ""


@pytest.mark.parametrize("chosen", [None, "0"])
def test_telemetry_is_off_unless_the_user_says_otherwise(monkeypatch, chosen):
    from hornlens.models.privacy import keep_private

    names = ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY")
    for name in names:
        monkeypatch.delenv(name, raising=False)
        if chosen is not None:
            monkeypatch.setenv(name, chosen)
    keep_private()
    assert {os.environ[name] for name in names} == {chosen or "1"}


def test_a_classifier_in_onnx_is_run_without_telemetry(tmp_path, monkeypatch):
    """It would begin with files in the cache."""
    small.classifier(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    words = "explain model.onnx rows.csv --label y --out out"
    done = hornlens(*words.split(), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert not [p for p in (tmp_path / "cache").glob("*") if p.name != "hornlens"]
