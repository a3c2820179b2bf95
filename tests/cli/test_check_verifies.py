"""`hornlens check` verifies first: what does not verify never passes a gate."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import hornlens
from hornlens.formats.digests import with_digest
from hornlens.formats.jsonfiles import json_text
from tests.command import ROOT
from tests.command import hornlens as run

FORBID = "hornlens: 1\nforbid: [nurse & male -> false]\n"
REQUIRE = "hornlens: 1\nrequire: [flies & lays eggs -> feathers]\n"
ANIMALS = ROOT / "examples" / "animals.csv"
CAVEAT = "Only the shape and the digest of this result were verified: --against FILE recomputes it."


def nurses(prompt, words):
    return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]


@pytest.fixture
def gate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hornlens.extract(nurses, cache=False).save("out")
    Path("forbid.yaml").write_text(FORBID)
    Path("require.yaml").write_text(REQUIRE)
    hornlens.envelope(ANIMALS).save("animals")
    return tmp_path


def forge(path, change):
    """Change a document, and mend its digest."""
    content = json.loads(Path(path).read_text())
    change(content)
    Path(path).write_text(json_text(with_digest(content)))


def breaking(content):
    """Let an answer break the forbidden rule, so that the gate would pass."""
    answer = next(a for a in content["answers"] if a["set"] == ["nurse"])
    answer["scores"], answer["winner"] = answer["scores"][::-1], "male"


FORGERIES = {
    "an answer": breaking,
    "a rule": lambda content: content["rules"].pop(),
    "what is read again": lambda content: content["readable"][0].update(sentence="Nothing."),
    "hidden in the background": lambda content: content["background"].append(
        {"if": ["nurse", "female"], "then": None}
    ),
}


@pytest.mark.parametrize("form", ["text", "json", "junit", "github"])
@pytest.mark.parametrize("how", FORGERIES)
def test_a_forged_result_is_exit_code_2_and_one_line(gate, how, form):
    assert run("check", "out", "forbid.yaml").returncode == 1
    forge("out/envelope.json", FORGERIES[how])
    done = run("check", "out", "forbid.yaml", "--format", form)
    assert done.returncode == 2 and done.stdout == "", done
    assert done.stderr.startswith("hornlens: out: ") and done.stderr.count("\n") == 1


def test_a_changed_digest_or_file_is_exit_code_2(gate):
    path = Path("out/envelope.json")
    kept = path.read_text()
    path.write_text(kept.replace('"name": "function"', '"name": "trusted"', 1))
    done = run("check", "out", "forbid.yaml")
    assert done.returncode == 2 and "does not verify: digest: is sha256:" in done.stderr
    path.write_text(kept)
    Path("out/rules.csv").write_text("rule\n")
    done = run("check", "out", "forbid.yaml", "--out", "gate.txt")
    assert done.returncode == 2 and "rules.csv: is not that of this result" in done.stderr
    assert not Path("gate.txt").exists()


def test_one_forged_result_among_several_spoils_the_gate(gate):
    hornlens.extract(nurses, cache=False).save("other")
    forge("other/envelope.json", breaking)
    done = run("check", "out", "other", "forbid.yaml")
    assert done.returncode == 2 and done.stderr.startswith("hornlens: other: does not verify: ")


def test_a_result_that_was_recomputed_says_so_in_json(gate):
    content = json.loads(run("check", "out", "forbid.yaml", "--format", "json").stdout)
    assert content["results"][0]["verified"] == "recomputed"
    assert CAVEAT not in run("check", "out", "forbid.yaml").stdout


def test_without_its_file_only_the_shape_of_a_table_is_verified_and_the_outcome_says_so(gate):
    done = run("check", "animals", "require.yaml")
    assert done.returncode == 0 and done.stdout.splitlines()[1] == CAVEAT
    content = json.loads(run("check", "animals", "require.yaml", "--format", "json").stdout)
    assert content["passed"] and content["results"][0]["verified"] == "intact"
    done = run("check", "animals", "require.yaml", "--format", "junit")
    suite = ElementTree.fromstring(done.stdout)[0]
    assert suite.find("system-out").text == CAVEAT
    done = run("check", "animals", "require.yaml", "--format", "github")
    assert done.stdout == f"hornlens check: none of 1 requirement violated. {CAVEAT}\n"
    content = json.loads(Path("animals/envelope.json").read_text())
    del content["digest"]
    Path("animals/envelope.json").write_text(json_text(content))
    done = run("check", "animals", "require.yaml")
    assert done.returncode == 0 and "it has no digest" in done.stdout.splitlines()[1]


def test_against_its_file_a_table_is_recomputed(gate):
    done = run("check", "animals", "require.yaml", "--against", ANIMALS)
    assert done.returncode == 0 and CAVEAT not in done.stdout
    other = Path("other.csv")
    lines = ANIMALS.read_text().splitlines()
    other.write_text("\n".join(lines[:-1]) + "\n")
    done = run("check", "animals", "require.yaml", "--against", other)
    assert done.returncode == 2 and "animals: does not verify: " in done.stderr


def test_one_file_may_go_with_results_that_do_not_need_it(gate):
    Path("any.yaml").write_text("hornlens: 1\nrules: {at_least: 1}\n")
    done = run("check", "out", "animals", "any.yaml", "--against", ANIMALS, "--format", "json")
    assert done.returncode == 0
    assert [r["verified"] for r in json.loads(done.stdout)["results"]] == ["recomputed"] * 2


def test_a_forged_rule_of_a_table_that_fits_no_basis_is_exit_code_2(gate):
    forge("animals/envelope.json", lambda content: content["rules"][0].update(then=None))
    done = run("check", "animals", "require.yaml")
    assert done.returncode == 2 and "animals: " in done.stderr


def test_verify_itself_does_not_take_shape_for_truth(gate):
    done = run("verify", "animals")
    assert done.returncode == 2 and "with --against FILE" in done.stderr
    outcome = hornlens.verify("animals", shape=True)
    assert outcome.status == "intact" and outcome.sentence.startswith("only intact: ")
