"""The files beside a document are those of its result: each one cut, swapped or changed is not."""

import json
import shutil
from dataclasses import replace
from random import Random

import numpy as np
import pytest

import hornlens
from hornlens.errors import InputError
from hornlens.formats.digests import with_digest
from hornlens.formats.jsonfiles import json_text
from hornlens.results.analysis.review import begin_review
from hornlens.results.documents.findings import Findings
from hornlens.results.documents.saving import write_extraction
from hornlens.rewriting import BESIDE, OF_A_RUN
from hornlens.verification import RUN
from hornlens.verifying.ledger import REWRITTEN, Ledger, intact
from hornlens.verifying.scored import NO_BASELINE
from tests import chat_cases
from tests.command import hornlens as run

SMALL = """
hornlens: 1
name: small
templates: [{templates}]
attributes:
  - {{name: job, values: [nurse, priest, cook], unset: person}}
  - {{name: country, values: [Norway, Chad], unset: somewhere}}
label:
  name: gender
  values: [{{name: female, word: She}}, {{name: male, word: He}}]
"""
ONE = '"{label} lives in {country} and is a {job}."'
TWO = ONE + ', "{label}, a {job}, comes from {country}."'


def model(seed):
    def moody(prompt, words):
        return [Random(f"{seed} {prompt} {word}").gauss(-3, 1) for word in words]

    return moody


def small(seed, templates=ONE, settings=None, **policy):
    from hornlens.probes.loading import parse_probe

    probe = parse_probe(SMALL.format(templates=templates))
    chosen = hornlens.Policy(**policy)
    return hornlens.extract(model(seed), probe, policy=chosen, settings=settings, cache=False)


def classifier(seed):
    rows = np.array([[20.0, 1.0], [30.0, 0.0], [50.0, 1.0]])
    cut = 30 + seed
    return hornlens.explain(lambda x: x[:, 0] >= cut, rows, bins={"x0": [cut], "x1": [0.5]})


MADE = {
    "answers": small,
    "almost": lambda seed: small(seed, settings=hornlens.Settings(min_confidence=0.6)),
    "open": lambda seed: small(
        seed, settings=hornlens.Settings("sift", max_conditions=2, max_questions=4)
    ),
    "phrasings": lambda seed: small(seed, TWO),
    "classifier": classifier,
    "chat": lambda seed: chat_cases.asked(
        chat_cases.LOAN.replace("engineer", ("engineer", "cook")[seed]),
        server={"say": chat_cases.loan_reply},
    ),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two results of each kind, by kind."""
    results = {}
    for kind, make in MADE.items():
        folders = []
        for seed in range(2):
            folder = tmp_path_factory.mktemp(kind) / kind
            result = make(seed)
            result.save(folder)
            if kind == "chat":
                review = (
                    begin_review(hornlens.load(folder), 4)
                    .with_verdict(0, True)
                    .with_verdict(1, False)
                )
                review.save(folder)
            assert hornlens.verify(folder).ok, hornlens.verify(folder).wrong
            folders.append(folder)
        results[kind] = folders
    return results


def wrong_in(folder):
    """Return what is wrong with a result; "" if nothing is."""
    try:
        done = hornlens.verify(folder)
    except InputError as error:
        return str(error)
    assert done.ok or "\n" not in done.wrong
    return done.wrong or ""


def is_same_but_for_the_run(*files):
    one, other = (json.loads(data) for data in files)
    return all(one[key] == other[key] for key in one if key not in OF_A_RUN)


@pytest.mark.parametrize(
    "kind", ["answers", *(pytest.param(k, marks=pytest.mark.slow) for k in MADE if k != "answers")]
)
def test_a_file_that_is_cut_swapped_or_changed_is_wrong(kind, made, tmp_path):
    one, other = made[kind]
    folder, rng = tmp_path / kind, Random(kind)
    shutil.copytree(one, folder)
    for path in sorted(folder.iterdir()):
        if path.name == "envelope.json":
            continue
        kept = path.read_bytes()
        forged = {
            "cut": kept[: len(kept) // 2],
            "a line less": kept[: kept.rstrip(b"\n").rfind(b"\n") + 1],
            "a line more": kept + b"x\n",
            "empty": b"",
            "swapped": (other / path.name).read_bytes(),
        }
        if path.name == "run.json" and is_same_but_for_the_run(kept, forged["swapped"]):
            del forged["swapped"]  # `verify` names what a run alone knows as not checked
        for place in rng.sample(range(len(kept)), min(len(kept), 4)):
            changed = kept[:place] + bytes([kept[place] ^ 1]) + kept[place + 1 :]
            forged[f"byte {place}"] = changed
        for how, data in forged.items():
            if data == kept:
                continue
            path.write_bytes(data)
            wrong = wrong_in(folder)
            assert path.name in wrong, (path.name, how, wrong)
        path.write_bytes(kept)
    assert wrong_in(folder) == ""


def test_every_file_that_a_result_can_have_was_tried(made):
    names = {path.name for folders in made.values() for path in folders[0].iterdir()}
    assert {*BESIDE} - names == {"explanation.json", "table.json"}  # of version 0.2


@pytest.mark.parametrize("name", ["almost.csv", "open.csv", "replies.csv", "review.json"])
def test_a_file_of_another_kind_of_result_does_not_belong_there(name, made, tmp_path):
    folder = tmp_path / "result"
    shutil.copytree(made["answers"][0], folder)
    source = next(f for folders in made.values() for f in folders if (f / name).is_file())
    shutil.copy(source / name, folder)
    assert name in wrong_in(folder)


def test_documents_of_version_0_2_do_not_stand_beside_a_newer_one(made, tmp_path):
    folder = tmp_path / "result"
    shutil.copytree(made["answers"][0], folder)
    (folder / "table.json").write_text("{}")
    assert wrong_in(folder) == "table.json: this result has none; it is that of another one"


def test_files_that_are_missing_or_unknown_are_named(made, tmp_path):
    folder = tmp_path / "result"
    shutil.copytree(made["answers"][0], folder)
    (folder / "rules.csv").unlink()
    (folder / "notes.txt").write_text("anything")
    done = hornlens.verify(folder)
    assert done.ok and "files that are not there: rules.csv" in done.not_checked
    assert "files that are no part of the result: notes.txt" in done.not_checked
    assert RUN in done.not_checked


def test_a_result_may_be_moved_and_its_page_made_again(made, tmp_path):
    for kind, (one, _) in made.items():
        folder = tmp_path / f"{kind}, moved"
        shutil.copytree(one, folder)
        assert wrong_in(folder) == "", kind
        assert run("report", folder).returncode == 0
        assert wrong_in(folder) == "", kind


def test_a_result_without_a_name_may_be_moved(tmp_path):
    envelope = hornlens.envelope("examples/animals.csv").envelope
    nameless = hornlens.Result.of(Findings.of_envelope(envelope, ""))
    nameless.save(tmp_path / "one & only")
    (tmp_path / "one & only").rename(tmp_path / "other")
    done = hornlens.verify(tmp_path / "other", "examples/animals.csv")
    assert done.ok, done.wrong


def test_a_run_on_another_python_or_in_a_study_is_no_other_result(made, tmp_path):
    folder = tmp_path / "result"
    shutil.copytree(made["answers"][0], folder)
    path = folder / "run.json"
    content = json.loads(path.read_text())
    path.write_text(json_text(with_digest({**content, "python": "3.99.0"})))
    assert wrong_in(folder) == ""
    path.write_text(json_text(with_digest({**content, "probe": "another"})))
    assert wrong_in(folder) == 'run.json: probe: is "another", not "small"'
    write_extraction(folder, hornlens.load(folder), key="some key")
    assert wrong_in(folder) == ""


@pytest.mark.parametrize("seconds", [2.4496, 0.0996, 0.0004, 59.9496, 0.0])
def test_a_page_is_the_same_whatever_the_run_took(tmp_path, seconds):
    """run.json has three digits: 2.4496 s were shown as 2.4 s, and as 2.5 s when made again."""
    result = small(1)
    record = replace(result.record, seconds=seconds)
    hornlens.Result.of(replace(result, record=record)).save(tmp_path)
    assert wrong_in(tmp_path) == ""


def test_a_review_whose_counts_were_mended_is_wrong(made, tmp_path):
    folder = tmp_path / "chat"
    shutil.copytree(made["chat"][0], folder)
    path = folder / "review.json"
    content = json.loads(path.read_text())
    content["agreement"]["agree"] += 1
    path.write_text(json_text(content))
    assert wrong_in(folder) == "review.json: its counts are not those of its own answers"


# --- scores.csv is read back: that the answers follow from it is worked out ---


@pytest.mark.parametrize("calibration", ["none", "neutral", "mean"])
@pytest.mark.parametrize("phrasings", ["each", "average"])
def test_scores_are_those_of_the_answers(tmp_path, calibration, phrasings):
    small(7, TWO, phrasings=phrasings, calibration=calibration).save(tmp_path)
    done = hornlens.verify(tmp_path)
    assert done.ok and any(line.startswith("scores.csv: ") for line in done.checked), done
    path = tmp_path / "scores.csv"
    kept = path.read_text()
    header, *lines = kept.splitlines()
    for number, line in enumerate(lines):
        start, first, second = line.rsplit(",", 2)
        for changed in (f"{start},{second},{first}", f"{start},{float(first) + 0.01!r},{second}"):
            if changed == line:
                continue
            forged = [header, *lines[:number], changed, *lines[number + 1 :]]
            path.write_text("\n".join(forged) + "\n")
            assert wrong_in(tmp_path).startswith("scores.csv: "), (calibration, changed)
        path.write_text("\n".join([header, *lines[:number], *lines[number + 1 :]]) + "\n")
        assert "scores.csv: has no line for" in wrong_in(tmp_path)
    path.write_text(kept.replace("nurse", "plumber"))
    assert "scores.csv" in wrong_in(tmp_path)
    stranger = f"{kept}x,-1.0,-2.0\n"
    path.write_text(stranger)
    if calibration == "none":
        assert wrong_in(tmp_path) == "scores.csv: 'x' is no prompt of this result"


def test_a_baseline_whose_prompts_are_not_there_is_named(tmp_path):
    settings = hornlens.Settings("pac", 0.6, 0.6, seed=2)
    small(3, calibration="neutral", settings=settings).save(tmp_path)
    answers = json.loads((tmp_path / "envelope.json").read_text())["answers"]
    done = hornlens.verify(tmp_path)
    assert done.ok, done.wrong
    assert all(answer["set"] for answer in answers) == (NO_BASELINE in done.not_checked)


# --- documents of other versions, and without a digest ---


def test_what_another_version_wrote_is_named_field_by_field(made, tmp_path, monkeypatch):
    from hornlens import verification

    ledger = Ledger({"warnings[].sentence": REWRITTEN, "model.name": intact("the model's name")})
    monkeypatch.setattr(verification, "ledger_of", lambda content: ledger)
    folder = tmp_path / "result"
    shutil.copytree(made["answers"][0], folder)
    path = folder / "envelope.json"
    content = json.loads(path.read_text()) | {"warnings": [{"sentence": "Forged."}]}
    path.write_text(json_text(with_digest(content)))
    assert wrong_in(folder).startswith("warnings")
    path.write_text(json_text(with_digest({**content, "hornlens": "0.1.7"})))
    done = hornlens.verify(folder)
    words = "what only hornlens 0.1.7 could write again: warnings[].sentence"
    assert done.ok and words in done.not_checked
    assert done.intact[words] == ("warnings[].sentence",)
    assert done.intact["the model's name"] == ("model.name",)
    named = next(line for line in done.not_checked if line.startswith("files beside it, of horn"))
    assert "report.html" in named and "rules.csv" in named and "scores.csv" not in named
    lines = [line for section in done.sections.values() for line in section]
    assert lines.count("the model's name") == 1


def test_a_document_without_a_digest_says_so(made, tmp_path):
    folder = tmp_path / "result"
    shutil.copytree(made["answers"][0], folder)
    path = folder / "envelope.json"
    content = json.loads(path.read_text())
    del content["digest"]
    path.write_text(json_text(content))
    done = hornlens.verify(folder)
    assert "that the file is as it was written: it has no digest" in done.not_checked
    assert not done.intact and not done.has_digest


def test_the_digest_is_printed_and_nothing_else(made, tmp_path):
    folder = made["answers"][0]
    digest = json.loads((folder / "envelope.json").read_text())["digest"]
    for path in (folder, folder / "envelope.json"):
        done = run("verify", path, "--digest")
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{digest}\n", "")
    content = json.loads((folder / "envelope.json").read_text())
    (tmp_path / "spaced.json").write_text(json.dumps(content, indent=4))
    assert run("verify", tmp_path / "spaced.json", "--digest").stdout == f"{digest}\n"
    (tmp_path / "list.json").write_text("[]")
    assert run("verify", tmp_path / "list.json", "--digest").returncode == 2
    done = run("verify", folder, "--digest", "--format", "json")
    assert done.returncode == 2 and "goes with no other option" in done.stderr
