"""How far a sift is: as lines, as a bar, in a notebook, and in Python."""

import re

import pytest

import hornlens
from hornlens import FunctionTarget, HornlensError, Limits, Settings
from hornlens.learning.events import Progress, Queries, Sifting
from hornlens.report import progress
from hornlens.report.notebooks import Bar
from hornlens.report.progress import Live, ProgressLines
from tests import command
from tests.sifted_cases import SIFT, granted, question, scores, space


def test_it_says_what_was_asked_what_is_live_and_what_is_to_go():
    live = Live("Asking m")
    assert str(live) == "Asking m" and live.standing == ""
    live.watch(Progress(Queries(3)))
    assert live.standing == ""
    live.watch(Sifting(40, 1_318, 9_000))
    assert live.standing == "40 asked, 1,318 candidates live"
    live.watch(Sifting(1_240, 318, 9_000, 900))
    assert live.standing == "1,240 asked, 318 candidates live, about 900 to go"
    live.watch(Sifting(1_241, 1, 9_000, 1))
    assert live.standing == "1,241 asked, 1 candidate live, about 1 to go"


def test_others_see_the_events_too():
    events = []
    live = Live("Asking m")
    seen = live.beside(events.append)
    seen(Sifting(1, 2, 3))
    assert events == [Sifting(1, 2, 3)] and live.standing
    live.beside(None)(Sifting(2, 2, 3))


def test_lines_say_it_instead_of_their_own_count(monkeypatch):
    monkeypatch.setattr(progress, "FIRST", command.FIRST)
    now, lines = [0.0], []
    live = Live("Asking m")
    shown = ProgressLines(live, None, "prompts", lambda: now[0], lines.append)
    for step in range(1, 5):
        now[0] += command.FIRST
        live.watch(Sifting(10 * step, 100 - step, 200, 50 if step > 2 else None))
        shown.advance(10)
    shown.finish()
    assert lines[0] == "Asking m: 10 asked, 99 candidates live"  # the clock starts with these
    assert lines[1] == "Asking m: 30 asked, 97 candidates live, about 50 to go, 3.3 prompts/s"
    assert lines[-1] == "Asking m: 40 prompts in 12 s"


def test_a_notebook_says_it():
    live = Live("Asking m")
    bar = Bar(lambda *_, **__: None, live, None, "prompts", lambda: 0.0)
    live.watch(Sifting(1_240, 318, 9_000, 900))
    assert bar.text(2.0).startswith("Asking m: 1,240 asked, 318 candidates live, about 900 to go")


@pytest.fixture
def told(monkeypatch, capsys):
    """Have every step said; return what was."""
    monkeypatch.setattr(progress, "FIRST", 0.0)
    monkeypatch.setattr(progress, "GROWTH", 0.0)
    return lambda: capsys.readouterr().err.splitlines()


def test_python_shows_it_of_a_target(told):
    hornlens.extract(FunctionTarget(granted, space(5, 4)), settings=SIFT, progress=True)
    lines = told()
    assert lines and all(line.startswith("Asking function: ") for line in lines)
    assert re.search(r": [\d,]+ asked, [\d,]+ candidates? live", lines[-2])
    assert any("to go" in line for line in lines)


def test_python_shows_it_of_a_model(told):
    hornlens.extract(scores, question(4, 3), settings=SIFT, cache=False, progress=True)
    assert any(re.search(r"asked, [\d,]+ candidates live", line) for line in told())


def test_python_counts_the_cells_of_any_target():
    for how in ("sift", "exhaustive", "pac"):
        counts = []
        target = FunctionTarget(granted, space(3, 3))
        settings = Settings(equivalence=how, epsilon=0.3, delta=0.3)
        result = hornlens.extract(target, settings=settings, progress=counts.append)
        assert sum(counts) == len(result.decisions), how
    limited = hornlens.extract(
        FunctionTarget(granted, space(3, 3)),
        limits=Limits(max_questions=20),
        progress=counts.append,
    )
    assert len(limited.decisions) == 20


def test_a_target_still_takes_no_probe():
    with pytest.raises(HornlensError, match="give it no probe, repeats or cache"):
        hornlens.extract(FunctionTarget(granted, space(3, 3)), "gender-occupation")


def test_the_command_says_it(tmp_path):
    done = command.hornlens(
        *("extract", "--equivalence", "sift", "--no-cache", "--out", tmp_path / "out"),
        telling=True,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"Asking demo: [\d,]+ asked, [\d,]+ candidates? live", done.stderr)
