"""Progress where nobody looks on: a line now and then, by a clock of our own."""

import re
from itertools import pairwise

import pytest

from hornlens.report import progress
from hornlens.report.progress import ProgressLines, RuleLines
from hornlens.report.terminal import Terminal
from tests import command


@pytest.fixture(autouse=True)
def _progress_is_said(monkeypatch):
    monkeypatch.setattr(progress, "FIRST", command.FIRST)


def lines_of(steps, total=1000):
    """What is said by a run of (seconds, done) steps, with the time of each line."""
    now, said = [100.0], []
    lines = ProgressLines(
        "Asking m", total, "prompts", lambda: now[0], lambda line: said.append((now[0] - 100, line))
    )
    for seconds, done in steps:
        now[0] += seconds
        lines.advance(done)
    lines.finish()
    return said


def test_a_short_run_says_nothing():
    assert lines_of([(0.1, 50)] * 20) == []
    assert lines_of([]) == []


def test_a_long_run_says_what_is_done_how_fast_and_how_long_it_will_take():
    said = lines_of([(1.0, 10)] * 100)
    assert said[0] == (3.0, "Asking m: 30 of 1,000 prompts, 10 prompts/s, about 2 min left")
    assert said[-1] == (100.0, "Asking m: 1,000 of 1,000 prompts in 2 min")
    times = [time for time, _ in said]
    assert times == [3, 9, 21, 45, 93, 100]
    for time, line in said[:-1]:
        done, rate = re.search(r": ([\d,]+) of 1,000 prompts, (\d+) prompts/s", line).groups()
        assert (int(done), int(rate)) == (10 * time, 10)


def test_lines_of_a_very_long_run_are_a_minute_apart():
    times = [time for time, _ in lines_of([(1.0, 1)] * 1000)]
    assert max(b - a for a, b in pairwise(times)) == 60


@pytest.mark.parametrize("known", [0, 600])
def test_loading_and_what_the_cache_knows_do_not_change_the_rate(known):
    first = [(20.0, known)] if known else [(20.0, 5)]
    said = lines_of([*first, *[(1.0, 5)] * 30], total=5 + known + 150)
    rates = [re.search(r"([\d.]+) prompts/s", line) for _, line in said[1:-1]]
    assert rates and {float(rate[1]) for rate in rates} == {5.0}


def test_what_is_done_says_so_at_once_and_only_once():
    now, said = [0.0], []
    lines = ProgressLines("Asking m", 10, "prompts", lambda: now[0], said.append)
    for _ in range(5):
        now[0] += 4
        lines.advance(0)  # nothing is done, and nothing said
        lines.advance(2)
    assert said[-1] == "Asking m: 10 of 10 prompts in 20 s" and said[0].startswith("Asking m: 2 of")
    before = list(said)
    now[0] += 100  # while something else goes on
    lines.finish()
    assert said == before


def test_without_a_total_there_is_no_time_left():
    (first, second, *_) = lines_of([(4.0, 1)] * 3, total=None)
    assert first == (4.0, "Asking m: 1 prompts")
    assert second == (12.0, "Asking m: 3 prompts, 0.25 prompts/s")


def test_quiet_says_nothing_and_an_unwatched_run_says_it_on_standard_error(capsys):
    now = iter(range(0, 1000, 2))
    for quiet in (True, False):
        with Terminal(quiet, lambda: next(now)).bar("Asking m", 10, "prompts") as advance:
            for _ in range(5):
                advance(2)
        shown = capsys.readouterr()
        assert shown.out == "" and bool(shown.err) is not quiet
    assert shown.err.startswith("Asking m: 4 of 10 prompts, ")


def test_a_search_says_how_many_rules_how_fast_and_what_is_settled():
    now, said = [0.0], []
    lines = RuleLines("Learning: ", lambda: now[0], said.append)
    lines.note(1, None)
    now[0] = 100.0
    lines.note(250, 0.5, "7 queries")
    lines.note(251, 0.6)  # not again at once
    assert said == ["Learning: 250 rules, 2.5 rules/s, 50% settled, 7 queries"]


def test_the_time_left_counts_no_loading():
    said = lines_of([(60.0, 1), (1.0, 10), (1.0, 10)], total=950)
    assert said[0] == (60.0, "Asking m: 1 of 950 prompts")
    said = lines_of([(60.0, 1), (6.0, 60), (6.0, 60)], total=950)
    assert said[1] == (66.0, "Asking m: 61 of 950 prompts, 10 prompts/s, about 1 min left")
