"""The workflows of the code host: what can be run of them without it."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import hornlens

ROOT = Path(__file__).parents[2]
WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}


def steps(name):
    (job, *_) = yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))["jobs"].values()
    return job["steps"]


def makefile():
    """The names of what can be made."""
    lines = (ROOT / "Makefile").read_text().splitlines()
    return {line.split(":")[0] for line in lines if ":" in line and line[:1].isalpha()}


def test_ci_looks_first_at_what_is_seen_soon_and_leaves_nothing_out():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    made = [name for name in re.findall(r"\bmake ([\w./-]+)", script) if not name.startswith(".")]
    assert made[:3] == ["lint", "test-architecture", "test"]
    assert {"test-rest", "test-real", "test-api", "test-ray-quick", "test-site"} <= set(made)
    assert {"newcomer", "audit"} <= set(made) <= makefile()
    assert made[-1] == "bench-quick"  # a measurement: nothing runs beside it
    begun, ended = (re.findall(rf"^{word} (\w+)", script, re.M) for word in ("beside", "finish"))
    assert begun == ended  # one at a time, and each is waited for
    assert script.rindex("finish ") < script.index("make bench-quick")
    recipes = (ROOT / "Makefile").read_text(encoding="utf-8")
    marks = re.findall(r"^\t\$\(TESTS\) .*-m (.*)$", recipes, re.M)
    quick = '"not torch and not slow and not long"'
    assert marks == [quick, '"(torch or slow) and not long"', "long"]  # together, all


def test_what_the_workflows_run_is_there():
    made = makefile()
    ran = [
        line.strip()
        for name in WORKFLOWS
        for job in yaml.safe_load(WORKFLOWS[name].read_text())["jobs"].values()
        for step in job["steps"]
        for line in step.get("run", "").splitlines()
    ]
    targets = [line.split()[1] for line in ran if line.startswith("make ")]
    assert {"test", "docs", "dist-check", "sbom"} <= set(targets) <= made
    assert ".ci/run" in ran and os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_tests_run_on_every_python_that_the_package_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [line.rsplit(" ", 1)[1] for line in project["classifiers"] if ":: 3." in line]
    light = yaml.safe_load(WORKFLOWS["tests"].read_text())["jobs"]["light"]
    assert light["strategy"]["matrix"]["python"] == named


def test_the_version_is_the_same_everywhere():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = [line[3:] for line in changes.splitlines() if line.startswith("## ")]
    newest = next(heading for heading in headings if heading != "Unreleased")
    assert cited == hornlens.__version__ == newest and "Unreleased" not in headings[1:]


def test_only_publishing_may_write_and_without_a_password():
    for path in WORKFLOWS.values():
        text = path.read_text(encoding="utf-8")
        assert "secrets." not in text and "password" not in text.replace("no password", "")
        content = yaml.safe_load(text)
        wanted = "write" if path.stem == "docs" else "read"
        assert content["permissions"] == {"contents": wanted}
    publish = yaml.safe_load(WORKFLOWS["release"].read_text())["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"} and publish["environment"] == "pypi"


@pytest.fixture
def checkout(tmp_path):
    """A checkout of a project with a server of its own, which has no branch of pages yet."""

    def git(*words, cwd=tmp_path):
        named = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        subprocess.run(["git", *named, *words], cwd=cwd, check=True, capture_output=True)

    git("init", "--quiet", "--bare", "server.git")
    git("clone", "--quiet", "server.git", "work")
    work = tmp_path / "work"
    (work / "README.md").write_text("a project")
    (work / ".gitignore").write_text("build\n")
    git("add", "--all", cwd=work)
    git("commit", "--quiet", "-m", "first", cwd=work)
    git("push", "--quiet", "origin", "HEAD", cwd=work)

    def clone(name):
        git("clone", "--quiet", "server.git", name)
        return tmp_path / name

    return clone


def test_the_documentation_of_a_tag_is_put_beside_that_of_others(checkout, tmp_path):
    before, _, after = [step["run"] for step in steps("docs") if "run" in step]
    for tag in ("v0.2.0", "v0.3.0"):
        work = checkout(tag)
        for step in (before, None, after):
            if step is None:  # make docs
                (work / "build" / "site" / f"{tag}.html").write_text(tag)
                continue
            done = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", step],
                cwd=work,
                env={**os.environ, "GITHUB_REF_NAME": tag},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
    shown = subprocess.run(
        ["git", "ls-tree", "--name-only", "gh-pages"],
        cwd=tmp_path / "server.git",
        capture_output=True,
        text=True,
    )
    assert shown.stdout.split() == [".nojekyll", "v0.2.0.html", "v0.3.0.html"]
