"""Every limit ends with a result: `explain`, `prove` and `flips`, in Python and by command."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from itertools import product

import numpy as np
import pandas
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import hornlens
from hornlens import Limits
from hornlens.cli.app import app
from hornlens.errors import HornlensError
from hornlens.exact.boxes.cells import OPEN, OUTSIDE
from hornlens.learning.events import Ended, Progress, RuleAdded
from hornlens.limits import ENDING
from hornlens.results.documents.settings import Settings
from hornlens.targets.classifiers import answering
from hornlens.targets.classifiers.target import ClassifierTarget
from tests.classifier_cases import one_thread
from tests.faults.rounds import rounds

__all__ = ["one_thread"]

DRAW = np.random.default_rng(11)
ROWS = DRAW.random((300, 4))
CLASSES = np.where(ROWS[:, 0] + ROWS[:, 1] > 1, "yes", "no")
FOREST = RandomForestClassifier(5, max_depth=3, random_state=0).fit(ROWS, CLASSES)
WORDS = "abcd"


class Lookup:
    """A model over categories that says what is written in a table, and remembers the inputs."""

    def __init__(self, labels):
        self.labels, self.inputs = labels, []

    def __call__(self, rows):
        cells = [tuple(map(WORDS.index, row)) for row in rows.to_numpy()]
        self.inputs += cells
        return np.array([self.labels[cell] for cell in cells])


def random_case(seed):
    """A random table of labels over two or three columns, and some rows over all their values."""
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(2, 5, rng.integers(2, 4)).tolist())
    labels = rng.integers(0, 2, shape)
    # Patches of one class, so that there are rules broader than a cell.
    for _ in range(2):
        patch = tuple(slice(*sorted(rng.integers(0, size + 1, 2).tolist())) for size in shape)
        labels[patch] = rng.integers(0, 2)
    labels.flat[0], labels.flat[-1] = 0, 1
    ends = [tuple(size - 1 for size in shape), tuple(0 for _ in shape)]
    levels = [*ends, *(tuple(rng.integers(0, size) for size in shape) for _ in range(4))]
    levels += [tuple(min(at, size - 1) for size in shape) for at in range(4)]
    rows = pandas.DataFrame(
        [[WORDS[at] for at in cell] for cell in levels],
        columns=[f"c{axis}" for axis in range(len(shape))],
    )
    return rng, labels, rows


def ranges(size):
    """What can be said of a category: nothing, or one value."""
    return [(0, size - 1), *((at, at) for at in range(size))] if size > 1 else [(0, 0)]


def slices(box):
    return tuple(slice(low, high + 1) for low, high in box)


def boxes_of(labels):
    """Every box whose cells all were asked and have one class, by brute force."""
    found = {}
    for box in product(*map(ranges, labels.shape)):
        inside = set(labels[slices(box)].ravel().tolist()) - {OUTSIDE}
        if len(inside) == 1 and min(inside) >= 0:
            found[box] = inside.pop()
    return found


def contains(outer, inner):
    return all(a <= c and d <= b for (a, b), (c, d) in zip(outer, inner, strict=True))


@pytest.mark.parametrize("seed", range(rounds(60, 240)))
def test_rules_hold_however_the_other_cells_are_answered_and_none_is_missing(seed):
    rng, labels, rows = random_case(seed)
    model = Lookup(labels)
    most = int(rng.integers(1, labels.size + 1))
    wanted = [{"rules": "all"}, {}, {"max_conditions": 1}, {"max_conditions": 2}][seed % 4]
    limits = Limits(max_questions=most)
    result = hornlens.explain(model, rows, limits=limits, **wanted)
    known = result.labelled.labels
    asked = known >= 0
    assert known.shape == labels.shape and (known[asked] == labels[asked]).all()
    assert (known[~asked] == OPEN).all() and asked.sum() == min(most, labels.size)
    # Nothing else than rows and so many cells was put to the model.
    rows_of_x = {tuple(map(WORDS.index, row)) for row in rows.to_numpy()}
    assert len(set(model.inputs) - rows_of_x) <= most and limits.questions <= most
    # Two models that agree on what was asked, and on nothing else, obey all that is listed.
    certain = boxes_of(known)
    for other in (labels, np.where(asked, labels, 1 - labels), np.where(asked, labels, 0)):
        for box, place in result.boxes:
            assert set(other[slices(box)].ravel().tolist()) == {int(result.classes[place])}
    listed = {rule.box for rule in result.boxes}
    assert listed <= set(certain)
    general = {
        box for box in certain if not any(box != wide and contains(wide, box) for wide in certain)
    }
    assert listed <= general
    if "rules" in wanted:
        assert listed == general
    elif wanted:
        (conditions,) = wanted.values()
        said = {box for box in general if len(said_of(box, labels.shape)) <= conditions}
        assert listed == said
    else:  # a cover decides every cell that was asked
        for cell in np.argwhere(asked).tolist():
            assert any(contains(box, [(at, at) for at in cell]) for box in listed)
    certificate = result.certificate
    if asked.all():
        assert certificate.ended is None and certificate.complete
        return
    assert certificate.ended.reason == "max_questions" and not certificate.complete
    assert certificate.unasked == (~asked).sum() and certificate.cells == labels.size
    assert "exact" not in repr(result)
    assert not any(certificate.meets(level) for level in ("exact", "bounded", "tested"))


def said_of(box, shape):
    return [part for part, size in zip(box, shape, strict=True) if part != (0, size - 1)]


@pytest.mark.parametrize("seed", range(60))
def test_listed_cells_that_were_not_asked_break_no_rule(seed):
    rng, labels, rows = random_case(seed)
    wanted = [{}, {"max_conditions": 2}][seed % 2]
    most = int(rng.integers(1, labels.size))
    given = {"domain": "data", "changes": 1, **wanted}
    whole = hornlens.explain(Lookup(labels), rows, **given)
    result = hornlens.explain(Lookup(labels), rows, limits=Limits(max_questions=most), **given)
    cells, known = result.labelled.cells, result.labelled.labels
    assert (cells == whole.labelled.cells).all()
    assert np.count_nonzero(known >= 0) == min(most, len(cells))
    for box, place in result.boxes:
        inside = result.labelled.inside(box)
        assert inside.any() and (known[inside] == place).all()
    if not wanted:
        for cell in cells[known >= 0].tolist():
            assert any(contains(box, [(at, at) for at in cell]) for box, _ in result.boxes)
    assert result.certificate.unasked == np.count_nonzero(known == OPEN)
    assert bool(result.certificate.ended) == (most < len(cells))


def test_limits_that_are_not_reached_change_nothing(tmp_path):
    background = ["x0 > 0.5 -> x1 > 0.1"]
    for options in ({}, {"background": background}, {"limit": 10}, {"domain": "data"}):
        for model in (FOREST, FOREST.predict):
            plain = hornlens.explain(model, ROWS, **options)
            limits = Limits(time_limit=3600, max_rules=10**6)
            limited = hornlens.explain(model, ROWS, limits=limits, **options)
            plain.save(tmp_path / "plain")
            limited.save(tmp_path / "limited")
            for name in ("envelope.json", "rules.csv", "report.html"):
                first, second = (tmp_path / "plain" / name, tmp_path / "limited" / name)
                assert first.read_bytes() == second.read_bytes(), options


@pytest.mark.parametrize("options", [{}, {"limit": 10}, {"domain": "data"}, {"max_conditions": 2}])
@pytest.mark.parametrize("limit", [{"max_questions": 40}, {"max_questions": 700}, {"max_rules": 2}])
@pytest.mark.parametrize("kind", ["forest", "function"])
def test_what_was_ended_is_saved_loaded_verified_and_checked(tmp_path, options, limit, kind):
    model = FOREST if kind == "forest" else FOREST.predict
    limits = Limits(**limit)
    result = hornlens.explain(model, ROWS, limits=limits, **options)
    assert limits.max_questions is None or limits.questions <= limits.max_questions
    result.save(tmp_path)
    done = hornlens.verify(tmp_path)
    assert done.ok, done.wrong
    loaded = hornlens.load(tmp_path)
    assert loaded.certificate == result.certificate and str(loaded.rules) == str(result.rules)
    again = pickle.loads(pickle.dumps(result)) if kind == "forest" else result
    assert str(again.rules) == str(result.rules)
    certificate = result.certificate
    if certificate.ended is None:
        return
    sifted = certificate.sift is not None
    assert certificate.title == ("Sifted" if sifted else "Interrupted")
    assert certificate.sentence.startswith("The run was ended")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert f">{certificate.title}<" in page and (
        ("as general as it can be" in page) == (sifted and len(result.rules) > 0)
    )
    if not certificate.scope.direct:
        assert "of the binned model" in certificate.sentence
    assert not result.check({"at_least": "exact"}) and not loaded.check({"at_least": "bounded"})
    for rule in result.rules[:5] if options.get("domain") is None else ():
        text = f"{' & '.join(c for c in rule.conditions if c[0] == 'x') or 'true'} -> {rule.label}"
        if all(c[0] == "x" for c in rule.conditions) and certificate.proved:
            (outcome,) = result.check({"require": [text], "allow": ["surrogate"]}).outcomes
            assert outcome.status == "holds", outcome
    if result.labelled.open and options.get("domain") is None:
        with pytest.raises(HornlensError, match="were not asked before the run was ended"):
            result.basis()
        (outcome,) = result.check({"require": ["x0 <= 99 -> yes"]}).outcomes
        assert outcome.status in ("broken", "unknown")


def test_the_vote_of_trees_lists_what_is_proved_by_then():
    whole = hornlens.explain(FOREST, ROWS, limit=10)
    boxes = {(rule.box, rule.place) for rule in whole.rules}
    for most in (1, 100, 400, 5_000, 12_000):
        limits = Limits(max_questions=most)
        result = hornlens.explain(FOREST, ROWS, limit=10, limits=limits)
        assert limits.questions <= most
        ended = result.certificate.ended
        assert result.certificate.proved and bool(result.certificate.complete) == (ended is None)
        assert ended or most >= 400
        for rule in result.rules:
            assert any(contains(box, rule.box) and p == rule.place for box, p in boxes), rule


def test_fewer_questions_show_fewer_rules_and_leave_the_others_open():
    given = {"limit": 10, "max_conditions": 1, "n_bins": 6}
    whole = hornlens.explain(FOREST.predict, ROWS[:, :4], **given)
    assert whole.certificate.ended is None and not whole.open
    for most in (1, 20, 60, 100_000):
        result = hornlens.explain(
            FOREST.predict, ROWS[:, :4], limits=Limits(max_questions=most), **given
        )
        sieve = result.certificate.sift
        assert sieve.questions == len(result.labelled.cells) == min(most, sieve.questions)
        assert (result.certificate.ended is None) == (most == 100_000)
        assert len(result.rules) <= len(whole.rules)
        assert result.open or most == 100_000


def test_a_time_limit_ends_a_slow_model(tmp_path):
    def slow(rows):
        time.sleep(0.002 * len(rows))
        return np.where(rows[:, 0] > 0.5, "yes", "no")

    slow.classes_ = np.array(["no", "yes"])
    clock = time.perf_counter()
    limits = Limits(time_limit=0.5)
    result = hornlens.explain(slow, ROWS[:50], n_bins=8, limits=limits)
    assert time.perf_counter() - clock < 4  # 4,096 cells and 10,000 inputs would take half a minute
    assert limits.reason == "time_limit" and result.certificate.ended.reason == "time_limit"
    assert 0 < result.certificate.unasked < result.certificate.cells and len(result.rules) > 1
    # The agreement was not measured to the end: nothing is claimed of every input.
    assert 0 < result.agreement.drawn < 10_000 and result.certificate.scope.of == "surrogate"
    clock = time.perf_counter()
    result.save(tmp_path)
    assert time.perf_counter() - clock < 2 and hornlens.verify(tmp_path).ok


def test_rows_that_were_not_asked_in_time_are_left_out(tmp_path):
    def slow(rows):
        time.sleep(0.01 * len(rows))
        return np.where(rows[:, 0] > 0.5, "yes", "no")

    slow.classes_ = np.array(["no", "yes"])
    result = hornlens.explain(slow, ROWS, limits=Limits(time_limit=0.2))
    assert 0 < len(result.rows) < 300 and len(result.said) == len(result.rows)
    assert any("of 300 rows of X were asked" in note for note in result.notes)
    result.save(tmp_path)
    assert hornlens.verify(tmp_path).ok and len(hornlens.load(tmp_path).rows) == len(result.rows)


def test_events_and_progress_come_along():
    seen, inputs = [], []

    def model(rows):
        inputs.append(len(rows))
        return FOREST.predict(rows)

    model.classes_ = FOREST.classes_
    counts = []
    result = hornlens.explain(
        *(model, ROWS),
        bins="quantile",
        limits=Limits(max_questions=100),
        progress=counts.append,
        watch=seen.append,
    )
    assert sum(counts) == sum(inputs) and len(counts) == len(inputs)
    asked = [event.queries.cells for event in seen if isinstance(event, Progress)]
    assert asked == sorted(asked) and asked[-1] == 100
    added = [event for event in seen if isinstance(event, RuleAdded)]
    assert [event.position for event in added] == list(range(len(result.rules)))
    assert isinstance(seen[-1], Ended) and seen[-1].certificate == result.certificate
    whole = []
    hornlens.explain(FOREST, ROWS, watch=whole.append)
    assert whole[-1].certificate.meets("exact")


def test_progress_true_shows_a_bar(capsys, monkeypatch):
    from hornlens.report import progress

    monkeypatch.setattr(progress, "FIRST", 0.0)
    hornlens.explain(FOREST, ROWS, progress=True)
    assert "Asking RandomForestClassifier" in capsys.readouterr().err
    hornlens.prove(FOREST.predict, "x0 > 2 -> yes", ROWS, progress=True)
    assert "Asking predict" in capsys.readouterr().err
    hornlens.flips(FOREST, "x0", ROWS, progress=True)
    assert "Asking RandomForestClassifier" in capsys.readouterr().err


def test_proofs_that_are_ended_are_not_refuted_and_say_so():
    rule = "x0 > 0.9 & x1 > 0.9 -> yes"
    assert hornlens.prove(FOREST, rule, ROWS).status == "proved"
    ended = hornlens.prove(FOREST, rule, ROWS, limits=Limits(time_limit=1e-9))
    assert ended.status == "not refuted" and not ended
    assert "the run was ended by its time limit" in ended.sentence
    several = hornlens.prove(FOREST, "x0 > 0.9 -> not no", ROWS, limits=Limits(time_limit=1e-9))
    assert several.status in ("not refuted", "refuted") and not several
    limits = Limits(max_questions=7)
    ended = hornlens.prove(FOREST.predict, rule, ROWS, limits=limits)
    assert ended.status == "not refuted" and limits.questions <= 7
    assert "the run was ended by the limit on questions" in ended.sentence
    labels = np.zeros((3, 3), dtype=int)
    labels[2, 2] = 1
    rows = pandas.DataFrame([["a", "a"], ["b", "b"], ["c", "c"]], columns=["c0", "c1"])
    assert hornlens.prove(Lookup(labels), "c0 = a -> 0", rows).status == "proved"
    for most in (1, 2):
        done = hornlens.prove(
            Lookup(labels), "c0 = a -> 0", rows, limits=Limits(max_questions=most)
        )
        assert done.status == "not refuted"
    # An input that breaks it refutes it, whatever was not asked.
    assert (
        hornlens.prove(Lookup(labels), "c0 = c -> 0", rows, limits=Limits(max_questions=1)).status
        == "refuted"
    )


def test_flips_that_are_ended_are_not_proved_and_count_what_was_asked():
    def model(rows):
        return np.where(rows[:, 0] > 0.5, "yes", "no")

    assert hornlens.flips(model, "x1", ROWS).rows == 0
    whole = hornlens.flips(model, "x1", ROWS, bins={"x0": [0.5], "x1": [0.5]}, limit=1_000)
    assert whole.proved and whole.of_rows == 300
    for most in (1, 3, 20, 200):
        limits = Limits(max_questions=most)
        given = {"bins": {"x0": [0.5], "x1": [0.5]}, "limit": 1_000, "limits": limits}
        ended = hornlens.flips(model, "x1", ROWS, **given)
        assert limits.questions <= most and ended.of_rows < 300
        assert not ended.ever and (most >= 20 or not ended.proved)
        open_words = ("is not proved", "Not every cell was asked", "No two cells that were asked")
        assert ended.proved or any(words in ended.sentence for words in open_words)
    trees = hornlens.flips(FOREST, "x3", ROWS, limit=10, limits=Limits(time_limit=1e-9))
    assert not trees.proved


def open_files(tmp_path, model=FOREST, count=300):
    skops = pytest.importorskip("skops.io")
    skops.dump(model, tmp_path / "forest.skops")
    lines = [",".join(map(str, row)) for row in ROWS[:count].tolist()]
    (tmp_path / "rows.csv").write_text("\n".join(["x0,x1,x2,x3", *lines]) + "\n")
    return [str(tmp_path / "forest.skops"), str(tmp_path / "rows.csv")]


@pytest.mark.parametrize("limit", ["--max-questions=50", "--max-rules=3", "--time-limit=0.000001"])
def test_the_command_ends_with_what_is_proved(tmp_path, limit):
    files = open_files(tmp_path)
    done = CliRunner().invoke(app, ["explain", *files, limit, "--out", str(tmp_path / "out"), "-q"])
    assert done.exit_code == 0, done.output
    assert "Interrupted: The run was ended" in done.output
    assert hornlens.verify(tmp_path / "out").ok
    result = hornlens.load(tmp_path / "out")
    assert result.certificate.ended and not result.certificate.complete
    printed = CliRunner().invoke(app, ["explain", *files, limit, "--format", "json", "-q"])
    content = json.loads(printed.stdout)
    assert content["certificate"]["kind"] == "interrupted" and printed.exit_code == 0
    basis = CliRunner().invoke(app, ["explain", *files, "--max-questions=9", "--basis", "-q"])
    assert basis.exit_code == 0 and "no full basis" in basis.stderr
    wrong = CliRunner().invoke(app, ["explain", *files, "--time-limit=-1"])
    assert wrong.exit_code != 0


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_ends_a_real_process_with_what_is_proved(tmp_path):
    model = RandomForestClassifier(120, max_depth=8, random_state=0).fit(ROWS, CLASSES)
    files = open_files(tmp_path, model)
    options = ["--bins=quantile", "--n-bins=26", "--limit=500000", "--out", str(tmp_path / "out")]
    # The first line of progress tells that it has begun.
    begin = (
        "from hornlens.report import progress; progress.FIRST = 0.2; "
        "from hornlens.__main__ import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", begin, "explain", *files, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    first = process.stderr.readline().decode()
    assert first.startswith("Asking forest.skops: "), first
    clock = time.perf_counter()
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=120)
    took = time.perf_counter() - clock
    assert process.returncode == 130, said.decode()
    assert ENDING in said and took < 30
    assert b"The run was ended by hand, before " in out
    result = hornlens.load(tmp_path / "out")
    assert result.certificate.ended.reason == "interrupt" and result.certificate.unasked > 0
    assert (tmp_path / "out" / "report.html").is_file()
    assert len(result.rules) > 0


def forged(tmp_path, change):
    model = Lookup(random_case(5)[1])
    result = hornlens.explain(model, random_case(5)[2], limits=Limits(max_questions=5))
    assert result.labelled.open
    result.save(tmp_path)
    file = tmp_path / "envelope.json"
    content = json.loads(file.read_text("utf-8"))
    change(content)
    file.write_text(json.dumps(content), "utf-8")
    return hornlens.verify(tmp_path)


def agreements(content):
    return content["classifier"]["agreement"], content["certificate"]["scope"]["agreement"]


def test_a_forged_file_is_found_out(tmp_path):
    assert forged(tmp_path, lambda c: None).ok

    def complete(content):
        content["certificate"]["complete"] = {"decides": True}
        del content["certificate"]["ended"]

    def without_ending(content):
        del content["certificate"]["ended"]

    def fewer(content):
        content["certificate"]["unasked"] -= 1

    def wider(content):
        rule = content["readable"][0]
        rule["conditions"], rule["box"] = rule["conditions"][1:], rule["box"][1:]

    def bounded(content):
        content["certificate"]["complete"] = {"max_conditions": 2}

    def compared(content):
        for line in agreements(content):
            line["compared"] = 1

    def drawn(content):
        for line in agreements(content):
            line["drawn"] = 12

    for change in (complete, without_ending, fewer, wider, bounded, compared, drawn):
        done = forged(tmp_path, change)
        assert not done.ok and done.wrong, change.__name__
    with pytest.raises(HornlensError, match="claims to be complete"):
        forged(tmp_path, bounded)
        hornlens.load(tmp_path)


class Counted:
    """A model that counts the rows that it is given."""

    def __init__(self, model, named=True):
        self.model, self.rows = model, 0
        if named:
            self.classes_ = FOREST.classes_

    def predict(self, rows):
        self.rows += len(rows)
        return self.model(rows)


MODELS = {"forest": FOREST.predict, "sum": lambda rows: np.where(rows.sum(1) > 2, "yes", "no")}
WAYS = [{}, {"limit": 10}, {"domain": "data"}, {"bins": {"x0": [0.5], "x1": [0.5]}}]


@pytest.mark.parametrize("most", [1, 7, 299, 300, 301, 777, 5_000, 60_000][:: rounds(3, 1)])
@pytest.mark.parametrize("options", WAYS)
def test_every_row_that_the_model_is_given_is_counted_and_limited(tmp_path, most, options):
    for named in (True, False):
        model, limits = Counted(MODELS["sum"], named), Limits(max_calls=most)
        result = hornlens.explain(model, ROWS, limits=limits, **options)
        assert model.rows == limits.calls == result.record.asked <= most
        assert result.envelope.statistics["predicted"] == model.rows
        result.save(tmp_path / str(named))
        result.save(tmp_path / "again")  # the flips were asked already
        assert model.rows == limits.calls <= most
        content = json.loads((tmp_path / str(named) / "envelope.json").read_text("utf-8"))
        run = json.loads((tmp_path / "again" / "run.json").read_text("utf-8"))
        assert content["statistics"]["predicted"] == run["asked_the_model"] == model.rows
        done = hornlens.verify(tmp_path / str(named))
        assert done.ok, done.wrong
        if most <= 777 and result.certificate.ended is None:
            raise AssertionError("a run that was ended says so")
        if result.certificate.ended is not None:
            assert result.certificate.ended.reason == limits.reason == "max_calls"
            assert "the limit on calls" in result.certificate.sentence
            assert not result.certificate.complete
        if most < 300:
            assert any(f"after {most:,} of 300 rows" in note for note in result.notes)
        if len(result.classes) == 2:
            result.check({"require": ["x0 > 0.5 -> yes"], "forbid": ["x0 > 0.9 -> no"]})
        result.flips("x0")
        assert model.rows == limits.calls <= most


@pytest.mark.parametrize("most", [1, 5, 299, 305, 900, 100_000])
def test_calls_of_prove_and_flips_are_counted_and_limited(most):
    for named in (True, False) if most > 5 else (True,):
        for rule in ("x0 > 0.9 & x1 > 0.9 -> yes", "x0 > 0.99 -> no", "x3 <= 2 -> no"):
            for kind in ("forest", "sum"):
                model, limits = Counted(MODELS[kind], named), Limits(max_calls=most)
                proof = hornlens.prove(model, rule, ROWS, limits=limits)
                assert model.rows == limits.calls <= most and proof.status != "proved"
                if limits.reason:
                    assert "by the limit on calls" in proof.sentence or proof.status == "refuted"
        model, limits = Counted(MODELS["sum"], named), Limits(max_calls=most)
        flips = hornlens.flips(model, "x0", ROWS, limits=limits)
        assert model.rows == limits.calls <= most
        assert not flips.proved or flips.of_pairs == 384  # all cells were asked
    for rule in ("x0 > 0.9 & x1 > 0.9 -> yes", "x0 <= 99 -> no"):
        limits = Limits(max_calls=most)
        proof = hornlens.prove(FOREST, rule, ROWS, limits=limits)
        assert limits.calls <= most
        if limits.reason == "max_calls":
            # What is refuted stays so, though the search for a row like those of X was ended.
            assert proof.status == "refuted" or "by the limit on calls" in proof.sentence


@pytest.mark.parametrize("most", [1, 30, 500, 100_000])
def test_calls_of_a_classifier_that_is_extracted_are_counted_and_limited(most):
    for settings in (None, Settings(equivalence="sift")):
        model, limits = Counted(MODELS["sum"]), Limits(max_calls=most)
        target = ClassifierTarget.of(model, ROWS, n_bins=3)
        result = hornlens.extract(target, settings=settings, limits=limits)
        assert 0 < model.rows <= limits.calls <= most
        ended = result.certificate.ended
        assert (ended is not None and ended.reason == "max_calls") == (limits.reason is not None)
        # A second run of the same target has its own limits.
        second = Limits(max_calls=most)
        hornlens.extract(target, settings=settings, limits=second)
        assert second.calls == limits.calls


def test_calls_of_language_models_are_limited_elsewhere():
    with pytest.raises(HornlensError, match=r"use ModelOptions\(limits=Spending\(calls=…\)\)"):
        hornlens.extract("demo", cache=False, limits=Limits(max_calls=5))
    with pytest.raises(HornlensError, match="--max-calls must be 1 or more"):
        Limits(max_calls=0)


def test_the_command_counts_and_limits_calls(tmp_path):
    files = open_files(tmp_path)
    done = CliRunner().invoke(app, ["explain", *files, "--max-calls=400", "-q"])
    assert done.exit_code == 0 and "The run was ended by the limit on calls" in done.output
    asked = "The model was asked about 400 rows: 100 cells, 300 rows of X, and 0 inputs"
    assert asked in " ".join(done.output.split())
    whole = CliRunner().invoke(app, ["explain", *files, "--out", str(tmp_path / "o"), "-q"])
    assert "with a column changed." in " ".join(whole.output.split())
    target = f"classifier/{','.join(files)}"
    extract = ["extract", "--target", target, "--max-calls=20", "--out", str(tmp_path / "e"), "-q"]
    done = CliRunner().invoke(app, extract)
    content = json.loads((tmp_path / "e" / "envelope.json").read_text("utf-8"))
    assert done.exit_code == 0 and content["certificate"]["ended"] == {"reason": "max_calls"}


def test_of_a_table_with_very_many_values_some_rows_are_looked_at_and_that_is_said(monkeypatch):
    monkeypatch.setattr(answering, "MOST_VALUES", 600)
    rows = np.random.default_rng(0).normal(size=(1_000, 3))
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(
        rows, rows[:, 0] + rows[:, 1] > 0
    )
    result = hornlens.explain(model, rows, seed=3)
    assert any("1,000 rows" in note and "200 of them, drawn" in note for note in result.notes)
    assert (result.predict(rows) == model.predict(rows)).all()
    assert result.rules[0].support <= 200 == result.envelope.statistics["rows"]
    again = hornlens.explain(model, rows, seed=3)
    assert [row.support for row in again.rules] == [row.support for row in result.rules]
    other = hornlens.explain(lambda some: some[:, 0] > 0, rows, bins={"x0": [0]})
    assert sum(row.support for row in other.rules) == 200
    assert not any("drawn" in note for note in hornlens.explain(model, rows[:200]).notes)
