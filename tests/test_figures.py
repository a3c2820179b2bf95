"""The figures: nothing clipped or overlapping, readable in print, the same bytes each time."""

import subprocess
import sys
from itertools import combinations
from random import Random
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.text import Text

from hornlens.report import figures
from hornlens.study.bias import RECORDED, ModelBias, OccupationBias, Score

NAMES = [
    *("registered nurse", "athletic director", "professor emeritus", "solicitor general"),
    *("member of the European Parliament", "$\\alpha$ player", "chef d'équipe", "<b>&amp;</b>"),
    "assistant professor of comparative and historical linguistics, of all branches of "
    "archaeology and of the study of manuscripts",
]
SMALLEST = 7
"""Points."""


def line(name, rng, counts=None):
    counts = counts or [int(10 ** rng.uniform(0, 5.5)) for _ in RECORDED]
    mean, reach = rng.uniform(-0.95, 0.95), rng.uniform(0, 0.4)
    score = Score(mean, max(-1, mean - reach), min(1, mean + reach))
    if name.endswith("3"):
        score = Score(mean, None, None)
    confusion = {
        "female": dict(zip(RECORDED, counts, strict=True)),
        "male": dict.fromkeys(RECORDED, 0),
        "abstained": dict.fromkeys(RECORDED, 0),
    }
    return OccupationBias(name, sum(counts), 5, score, score, confusion)


def many(occupations, models, seed=0):
    """Models that score the same occupations, some of them with awkward names."""
    names = [*NAMES, *(f"occupation {i}" for i in range(len(NAMES), occupations))][:occupations]
    found = []
    for m in range(models):
        rng = Random(f"{seed} {m}")
        lines = tuple(line(name, rng) for name in sorted(names))
        name = f"table/some/long/path/to/scores/of/a/model-{m}.csv" if m > 2 else f"hf/m-{m}"
        found.append(ModelBias(name, name, lines, lines[0], 9, 9, 0))
    return found


def runs(models, budgets, seed=0):
    rng = Random(seed)
    return {
        f"model {m}": {
            b: [(rng.random(), rng.random() if rng.random() < 0.8 else None) for _ in range(10)]
            for b in budgets
        }
        for m in range(models)
    }


def recorded(models):
    return {o.occupation: o.recorded for o in models[0].occupations}


CASES = {
    "people, 60": lambda: figures.people(recorded(many(60, 1)), "the 60 most biased of 75"),
    "people, 1": lambda: figures.people(recorded(many(1, 1))),
    "people, few": lambda: figures.people(
        {"nanny": {"male": 0, "female": 3, "other": 0, "unknown": 0}}
    ),
    "people, all not known": lambda: figures.people(
        {"nanny": {"male": 0, "female": 0, "other": 0, "unknown": 3_000_000}}
    ),
    "scores, 60 of 75 by 4": lambda: figures.scores(many(75, 4)),
    "scores, 13 by 2": lambda: figures.scores(many(13, 2)),
    "scores, 1 by 1": lambda: figures.scores(many(1, 1)),
    "scores, 20 by 9": lambda: figures.scores(many(20, 9)),
    "recall, 4 models": lambda: figures.recall_precision(runs(4, [50, 100, 200])),
    "recall, 8 models, far apart": lambda: figures.recall_precision(
        runs(8, [10, 20, 50, 1000, 20000])
    ),
    "recall, one budget": lambda: figures.recall_precision(runs(1, [50])),
    "recall, no rules": lambda: figures.recall_precision({"m": {50: [(0.0, None)] * 3}}),
}


def texts(figure):
    """The texts that are drawn, with their boxes in pixels."""
    figure.draw_without_rendering()
    seen = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    for axes in figure.axes:  # ticks outside the limits are made, but never drawn
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            outside = [t for t in axis.get_major_ticks() if not low <= t.get_loc() <= high]
            unseen = {id(label) for tick in outside for label in (tick.label1, tick.label2)}
            seen = [t for t in seen if id(t) not in unseen]
    return [(t, t.get_window_extent()) for t in seen]


def check_layout(figure):
    """Assert that every text is on the page and apart from the others."""
    found = texts(figure)
    assert len(found) >= 5
    page = figure.bbox
    for text, box in found:
        assert box.x0 >= page.x0 and box.x1 <= page.x1, text
        assert box.y0 >= page.y0 and box.y1 <= page.y1, text
    for (one, a), (other, b) in combinations(found, 2):
        assert not a.overlaps(b), (one, other)


@pytest.mark.parametrize("case", CASES)
def test_no_text_is_clipped_or_overlaps_another(case):
    check_layout(CASES[case]())


@pytest.mark.parametrize("case", CASES)
def test_text_can_be_read_at_the_width_of_a_page(case):
    figure = CASES[case]()
    assert figure.get_figwidth() <= 6.3 and figure.get_figheight() <= 9
    assert min(text.get_fontsize() for text, _ in texts(figure)) >= SMALLEST


@pytest.mark.parametrize("place", [(0.98, 0.5), (0.5, 0.995), (0.5, 0.06)])
def test_the_check_finds_clipped_and_overlapping_text(place):
    figure = CASES["scores, 13 by 2"]()
    check_layout(figure)
    figure.text(*place, "out of place")
    with pytest.raises(AssertionError):
        check_layout(figure)


def test_series_differ_in_colour_and_in_shape():
    pairs = [figures._series(i) for i in range(49)]
    assert len(set(pairs)) == 49
    assert len({colour for colour, _ in pairs[:7]}) == len({m for _, m in pairs[:7]}) == 7
    axes = figures.scores(many(5, 4)).axes[0]
    drawn = [line for line in axes.get_lines() if line.get_marker() not in ("None", "")]
    assert len({line.get_marker() for line in drawn}) == 4


def test_scores_stand_where_they_belong_sorted_by_their_mean():
    models = many(9, 3)
    axes = figures.scores(models).axes[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    dots = [line for line in axes.get_lines() if line.get_marker() not in ("None", "")]
    means = []
    for y, name in enumerate(names):
        row = []
        for model, line in zip(models, dots, strict=True):
            (wanted,) = (
                o.ppbs.mean for o in model.occupations if figures._short(o.occupation) == name
            )
            assert line.get_xdata()[y] == wanted
            assert abs(line.get_ydata()[y] - y) < 0.5
            row.append(wanted)
        means.append(sum(row) / len(row))
    assert means == sorted(means, reverse=True)
    bars = {tuple(map(tuple, path)) for c in axes.collections for path in c.get_segments()}
    for model in models:
        for o in model.occupations:
            assert any(a[0] == o.ppbs.low and b[0] == o.ppbs.high for a, b in bars)


def test_a_mean_without_an_interval_is_hollow():
    figure = figures.scores(many(20, 1))
    axes = figure.axes[0]
    _, sure, bare = axes.get_lines()
    assert (len(sure.get_xdata()), len(bare.get_xdata())) == (19, 1)
    assert bare.get_markerfacecolor() == "white" != sure.get_markerfacecolor()
    assert any("hollow: no interval" in text.get_text() for text, _ in texts(figure))
    assert not any("hollow" in t.get_text() for t, _ in texts(figures.scores(many(5, 1))))


def test_of_too_many_occupations_the_most_biased_are_shown_and_the_figure_says_so():
    models = many(75, 2)
    means = {
        a.occupation: abs(a.ppbs.mean + b.ppbs.mean) / 2
        for a, b in zip(models[0].occupations, models[1].occupations, strict=True)
    }
    wanted = sorted(means, key=lambda name: -means[name])[:60]
    figure = figures.scores(models, 60)
    shown = {label.get_text() for label in figure.axes[0].get_yticklabels()}
    assert shown == {figures._short(name) for name in wanted}
    said = [text.get_text() for text, _ in texts(figure)]
    assert any("the 60 most biased of 75 occupations" in text for text in said)
    assert not any("most biased" in t.get_text() for t, _ in texts(figures.scores(models, 75)))


def test_without_probabilities_every_model_is_shown_by_its_normalised_scores():
    models = many(5, 2)
    lines = tuple(
        OccupationBias(o.occupation, o.people, 5, None, Score(-0.5, None, None), o.confusion)
        for o in models[1].occupations
    )
    models[1] = ModelBias("logits", "logits", lines, lines[0], 9, 9, 0)
    axes = figures.scores(models).axes[0]
    assert "/ (p(He) + p(She))" in axes.get_xlabel()
    dots = [line for line in axes.get_lines() if line.get_marker() not in ("None", "")]
    assert set(dots[1].get_xdata()) == {-0.5}


def test_counts_and_shares_of_people_are_the_recorded_ones():
    given = {
        "nurse": {"male": 10, "female": 90, "other": 2, "unknown": 0},
        "nanny": {"male": 0, "female": 3, "other": 0, "unknown": 0},
        "actor": {"male": 300_000, "female": 100_000, "other": 0, "unknown": 7},
        "ghost": {"male": 0, "female": 0, "other": 0, "unknown": 1},
    }
    counts, shares = figures.people(given).axes
    names = [label.get_text() for label in counts.get_yticklabels()]
    assert names == ["actor (400,007)", "nurse (102)", "nanny (3)", "ghost (1)"]
    drawn = {
        line.get_label(): dict(zip(line.get_ydata(), line.get_xdata(), strict=True))
        for line in counts.get_lines()
    }
    assert drawn == {
        "women": {0: 100_000, 1: 90, 2: 3, 3: 0},
        "men": {0: 300_000, 1: 10, 2: 0, 3: 0},
        "other": {1: 2},
        "not known": {0: 7, 3: 1},
    }
    low, high = counts.get_xlim()
    assert low < 0 and high > 300_000
    (dots,) = shares.get_lines()
    assert dict(zip(dots.get_ydata(), dots.get_xdata(), strict=True)) == {0: 0.25, 1: 0.9, 2: 1.0}


def test_recall_and_precision_are_medians_over_the_runs_at_their_budgets():
    given = {"m": {200: [(0.9, None), (0.5, 0.25), (0.6, 0.75)], 50: [(0.1, None)]}}
    recall, precision = figures.recall_precision(given).axes
    (line,) = recall.get_lines()
    assert list(line.get_xdata()) == [50, 200] and list(line.get_ydata()) == [0.1, 0.6]
    (line,) = precision.get_lines()
    assert list(line.get_xdata()) == [200] and list(line.get_ydata()) == [0.5]
    (bars,) = recall.collections
    assert [path.tolist() for path in bars.get_segments()] == [
        [[50, 0.1], [50, 0.1]],
        [[200, 0.5], [200, 0.9]],
    ]


def test_files_have_the_same_bytes_each_time_real_text_and_no_date(tmp_path):
    for folder in ("a", "b"):
        with matplotlib.rc_context({"axes.facecolor": "red" if folder == "b" else "white"}):
            figures.save(figures.scores(many(20, 2)), tmp_path / folder / "scores")
    for name in ("scores.svg", "scores.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert (tmp_path / "a/scores.png").read_bytes().startswith(b"\x89PNG")
    svg = (tmp_path / "a/scores.svg").read_text()
    said = [e.text for e in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert "$\\alpha$ player" in said and "<b>&amp;</b>" in said
    assert "DejaVu Sans" in svg and "<dc:date>" not in svg and "matplotlib.org" not in svg


def test_only_this_module_loads_matplotlib():
    code = (
        "import sys, hornlens.cli.main, hornlens.cli.bias, hornlens.study.bias; "
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
