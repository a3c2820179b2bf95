"""The figures: nothing clipped or overlapping, readable in print, the same bytes each time."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from itertools import combinations, pairwise
from random import Random
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.text import Text

from hornlens.pronouns.bias import RECORDED, ModelBias, OccupationBias
from hornlens.pronouns.intervals import Score
from hornlens.report import bias_figures, figures
from hornlens.report.labels import LONGEST, WIDEST, short, short_labels
from hornlens.report.study_figures import recall_precision

NAMES = [
    *("registered nurse", "athletic director", "professor emeritus", "solicitor general"),
    *("member of the European Parliament", "$\\alpha$ player", "chef d'équipe", "<b>&amp;</b>"),
    "assistant professor of comparative and historical linguistics, of all branches of "
    "archaeology and of the study of manuscripts",
]
PATHS = [
    f"hf//home/me/models/bert-base-cased-seed-{i}-step-100000-of-the-long-training-run"
    for i in range(1, 8)
]
BUDGETS = [10, 20, 30, 40, 50, 60, 70, 80, 100, 200, 300, 500, 1000]
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
    return OccupationBias(sum(counts), 5, score, score, confusion, occupation=name)


def many(occupations, models, seed=0):
    """Models that score the same occupations, some of them with awkward names."""
    names = [*NAMES, *(f"occupation {i}" for i in range(len(NAMES), occupations))][:occupations]
    found = []
    for m in range(models):
        rng = Random(f"{seed} {m}")
        lines = tuple(line(name, rng) for name in sorted(names))
        name = f"table/some/long/path/to/scores/of/a/model-{m}.csv" if m > 2 else f"hf/m-{m}"
        found.append(ModelBias(name, name, lines, lines[0]))
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


def named(names, found):
    """The same models or runs, under other names."""
    if isinstance(found, dict):
        return dict(zip(names, found.values(), strict=True))
    return [replace(model, name=name) for name, model in zip(names, found, strict=True)]


def legend(figure):
    (found,) = figure.legends
    return [text.get_text() for text in found.get_texts()]


def note(figure):
    (found,) = figure.legends
    return found.get_title().get_text()


def recorded(models):
    return {o.occupation: o.recorded for o in models[0].occupations}


CASES = {
    "people, 60": lambda: bias_figures.people(recorded(many(60, 1)), "the 60 most biased of 75"),
    "people, 1": lambda: bias_figures.people(recorded(many(1, 1))),
    "people, few": lambda: bias_figures.people(
        {"nanny": {"male": 0, "female": 3, "other": 0, "unknown": 0}}
    ),
    "people, all not known": lambda: bias_figures.people(
        {"nanny": {"male": 0, "female": 0, "other": 0, "unknown": 3_000_000}}
    ),
    "scores, 60 of 75 by 4": lambda: bias_figures.scores(many(75, 4)),
    "scores, 13 by 2": lambda: bias_figures.scores(many(13, 2)),
    "scores, 1 by 1": lambda: bias_figures.scores(many(1, 1)),
    "scores, 20 by 9": lambda: bias_figures.scores(many(20, 9)),
    "recall, 4 models": lambda: recall_precision(runs(4, [50, 100, 200])),
    "recall, 8 models, far apart": lambda: recall_precision(runs(8, [10, 20, 50, 1000, 20000])),
    "recall, one budget": lambda: recall_precision(runs(1, [50])),
    "scores, 60 by 7": lambda: bias_figures.scores(named(PATHS, many(60, 7))),
    "scores, 1 by 20": lambda: bias_figures.scores(many(1, 20)),
    "recall, 13 budgets": lambda: recall_precision(runs(7, BUDGETS)),
    "recall, large budgets": lambda: recall_precision(runs(4, range(100_000, 200_001, 10_000))),
    "recall, 20 models": lambda: recall_precision(
        named([f"{'W' * 40}{i}{'W' * 40}" for i in range(20)], runs(20, [50, 100, 200]))
    ),
    "recall, some left out": lambda: recall_precision(
        named(PATHS[:3], runs(3, [50, 100])), [*PATHS[3:], "demo"]
    ),
    "recall, no rules": lambda: recall_precision({"m": {50: [(0.0, None)] * 3}}),
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


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_no_text_is_clipped_or_overlaps_another(case):
    check_layout(CASES[case]())


@pytest.mark.slow
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
    pairs = [figures.look(i) for i in range(49)]
    assert len(set(pairs)) == 49
    assert len({colour for colour, _ in pairs[:7]}) == len({m for _, m in pairs[:7]}) == 7
    axes = bias_figures.scores(many(5, 4)).axes[0]
    drawn = [line for line in axes.get_lines() if line.get_marker() not in ("None", "")]
    assert len({line.get_marker() for line in drawn}) == 4


def test_scores_stand_where_they_belong_sorted_by_their_mean():
    models = many(9, 3)
    axes = bias_figures.scores(models).axes[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    dots = [line for line in axes.get_lines() if line.get_marker() not in ("None", "")]
    means = []
    for y, name in enumerate(names):
        row = []
        for model, line in zip(models, dots, strict=True):
            (wanted,) = (o.ppbs.mean for o in model.occupations if short(o.occupation) == name)
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
    figure = bias_figures.scores(many(20, 1))
    axes = figure.axes[0]
    _, sure, bare = axes.get_lines()
    assert (len(sure.get_xdata()), len(bare.get_xdata())) == (19, 1)
    assert bare.get_markerfacecolor() == "white" != sure.get_markerfacecolor()
    assert any("hollow: no interval" in text.get_text() for text, _ in texts(figure))
    assert not any("hollow" in t.get_text() for t, _ in texts(bias_figures.scores(many(5, 1))))


def test_of_too_many_occupations_the_most_biased_are_shown_and_the_figure_says_so():
    models = many(75, 2)
    means = {
        a.occupation: abs(a.ppbs.mean + b.ppbs.mean) / 2
        for a, b in zip(models[0].occupations, models[1].occupations, strict=True)
    }
    wanted = sorted(means, key=lambda name: -means[name])[:60]
    figure = bias_figures.scores(models, 60)
    shown = {label.get_text() for label in figure.axes[0].get_yticklabels()}
    assert shown == {short(name) for name in wanted}
    said = [text.get_text() for text, _ in texts(figure)]
    assert any("the 60 most biased of 75 occupations" in text for text in said)
    assert not any("most biased" in t.get_text() for t, _ in texts(bias_figures.scores(models, 75)))


def test_without_probabilities_every_model_is_shown_by_its_normalised_scores():
    models = many(5, 2)
    lines = tuple(
        replace(o, ppbs=None, normalised=Score(-0.5, None, None)) for o in models[1].occupations
    )
    models[1] = ModelBias("logits", "logits", lines, lines[0])
    axes = bias_figures.scores(models).axes[0]
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
    counts, shares = bias_figures.people(given).axes
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
    recall, precision = recall_precision(given).axes
    (line,) = recall.get_lines()
    assert list(line.get_xdata()) == [50, 200] and list(line.get_ydata()) == [0.1, 0.6]
    (line,) = precision.get_lines()
    assert list(line.get_xdata()) == [200] and list(line.get_ydata()) == [0.5]
    (bars,) = recall.collections
    assert [path.tolist() for path in bars.get_segments()] == [
        [[50, 0.1], [50, 0.1]],
        [[200, 0.5], [200, 0.9]],
    ]


@pytest.mark.slow
@pytest.mark.parametrize("budgets", [[50], [50, 100], [50, 100, 200], [50, 100, 450], BUDGETS])
@pytest.mark.parametrize("models", [1, 2, 7, 20])
def test_the_models_of_a_budget_stand_in_order_and_apart_from_those_of_the_next(models, budgets):
    given = {f"model {m}": {b: [(0.5, 0.5)] for b in budgets} for m in range(models)}
    figure = recall_precision(given)
    figure.draw_without_rendering()
    for axes in figure.axes:
        there = [
            [float(x) for x, _ in line.get_transform().transform(line.get_xydata())]
            for line in axes.get_lines()
        ]
        right = [axes.transData.transform((b, 0.5))[0] for b in budgets]
        gap = min((b - a for a, b in pairwise(right)), default=axes.bbox.width)
        for place, at in zip(right, zip(*there, strict=True), strict=True):
            assert all(a < b for a, b in pairwise(at))
            assert (at[0] + at[-1]) / 2 == pytest.approx(place)
            assert at[-1] - at[0] <= 0.4 * gap + 1e-6 or budgets == [50]
            assert axes.bbox.x0 <= at[0] and at[-1] <= axes.bbox.x1
            for bars, x in zip(axes.collections, at, strict=True):
                assert x in [
                    float(v[0])
                    for v in bars.get_transform().transform(
                        [path[0] for path in bars.get_segments()]
                    )
                ]


@pytest.mark.parametrize(
    "budgets", [BUDGETS, range(100_000, 200_001, 10_000), range(1, 60), [1, 10**9, 10**9 + 1]]
)
def test_labels_of_budgets_are_left_out_only_where_they_would_touch(budgets):
    figure = recall_precision(runs(2, budgets))
    figure.draw_without_rendering()
    for axes in figure.axes:
        assert list(axes.get_xticks()) == list(budgets)
        labels = axes.get_xticklabels()
        shown = [label.get_text() for label in labels]
        assert (shown[0], shown[-1]) == (f"{budgets[0]:,}", f"{budgets[-1]:,}")
        boxes = [label.get_window_extent() for label in labels if label.get_text()]
        assert 2 <= len(boxes) < len(budgets)
        assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
        for budget, label in zip(budgets, labels, strict=True):
            assert label.get_text() in ("", f"{budget:,}")
            if not label.get_text():
                label.set_text(f"{budget:,}")
                box = label.get_window_extent().padded(4 / 72 * figure.dpi)
                assert any(box.x0 < other.x1 and other.x0 < box.x1 for other in boxes), budget


def test_of_labels_that_touch_the_round_ones_stay():
    axes = recall_precision(runs(2, BUDGETS)).axes[0]
    shown = {label.get_text() for label in axes.get_xticklabels()}
    assert {"10", "100", "200", "500", "1,000"} <= shown


@pytest.mark.parametrize(
    ("budgets", "scale"),
    [
        ([50, 100, 200], "linear"),
        (range(10, 101, 10), "linear"),
        (BUDGETS, "log"),
        ([0, 1, 1000], "linear"),
    ],
)
def test_crowded_budgets_stand_on_a_logarithmic_axis_if_it_parts_them(budgets, scale):
    assert recall_precision(runs(1, budgets)).axes[0].get_xscale() == scale


def test_models_left_out_are_named_in_the_note():
    given = runs(2, [50, 100])
    plain = "median over runs; bars from the least to the most"
    assert note(recall_precision(given)) == plain
    for left_out, said in [
        (["demo-balanced"], "demo-balanced has no rules"),
        (["a", "b"], "a and b have no rules"),
        (["a", "b", "c"], "a, b and c have no rules"),
        ([f"model-{i}-of-many" for i in range(9)], None),
        ([PATHS[0] * 2], None),
    ]:
        whole = note(recall_precision(given, left_out))
        first, second = whole.split("\n")
        assert first == plain and len(second) <= 90
        assert said is None or second == said
    many_names = [f"model-{i}-of-many" for i in range(9)]
    _, second = note(recall_precision(given, many_names)).split("\n")
    assert second == f"{', '.join(many_names[:3])} and 6 more have no rules"


def test_models_with_long_names_are_told_apart_in_the_legend():
    wanted = [f"…cased-seed-{i}-step…-long-training-run" for i in range(1, 8)]
    assert legend(recall_precision(named(PATHS, runs(7, [50, 100])))) == wanted
    assert legend(bias_figures.scores(named(PATHS, many(3, 7)))) == wanted


def test_names_in_a_left_out_note_differ_from_those_in_the_legend():
    figure = recall_precision(named(PATHS[:1], runs(1, [50])), PATHS[1:2])
    assert legend(figure) == ["…cased-seed-1-step…-long-training-run"]
    assert "…cased-seed-2-step…-long-training-run has no rules" in note(figure)


def test_long_occupations_that_differ_in_the_middle_have_rows_of_their_own():
    ends = "teacher at a school of the city", "for pupils of sixteen and older"
    names = [f"{ends[0]} {subject} {ends[1]}" for subject in ("of Latin", "of Greek")]
    lines = tuple(line(name, Random(name)) for name in sorted(names))
    scores = bias_figures.scores([ModelBias("m", "m", lines, lines[0])])
    people = bias_figures.people({o.occupation: o.recorded for o in lines})
    for figure in (scores, people):
        labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        assert sorted("Latin" in label for label in labels) == [False, True]
        assert sorted("Greek" in label for label in labels) == [False, True]


def cut_from(label, name):
    """Whether the label is the name, perhaps without some parts of it, marked by dots."""
    pattern = ".+".join(map(re.escape, label.split("…")))
    return re.fullmatch(pattern, name) is not None


FAMILIES = [
    f"hf//home/{who}/checkpoints/of/the/{base}-base-cased-seed-{seed}-after-100000-steps-final"
    for who in ("me", "you")
    for base in ("bert", "roberta")
    for seed in (1, 10)
]


@pytest.mark.parametrize(
    "names",
    [
        PATHS,
        ["demo", *PATHS],
        FAMILIES,
        [f"hf//home/me/models/bert-base-cased-seed-{i}" for i in range(12)],
        ["a" * 60 + "b" + "a" * 60, "a" * 61 + "b" + "a" * 59],
        ["x" * 50, "x" * 51, "x" * 52],
        [f"{'long/' * 12}model-{i}/weights/{'of/the/last/step/' * 3}" for i in range(3)],
    ],
)
def test_shortened_names_are_distinct_and_made_of_the_names(names):
    labels = short_labels(names)
    assert len(set(labels)) == len(names)
    for label, name in zip(labels, names, strict=True):
        assert len(label) <= WIDEST and cut_from(label, name)


def test_names_that_no_cut_tells_apart_are_numbered():
    part = "astretchthatallthenameshave" * 2
    names = [f"{i}{part}{j}{part}{k}{part}{i}" for i in "12" for j in "12" for k in "12"]
    for given in (names, ["twice", "twice"], ["", "(not known)"]):
        labels = short_labels(given)
        assert [label.split(": ")[0] for label in labels] == [str(i + 1) for i in range(len(given))]


def test_any_names_stay_distinct_and_short_and_short_ones_are_untouched():
    for seed in range(300):
        rng = Random(seed)
        parts = ["".join(rng.choices("ab/-", k=rng.randint(1, 30))) for _ in range(4)]
        names = {"".join(rng.choices(parts, k=rng.randint(1, 5))) for _ in range(9)}
        names = sorted(names)
        labels = short_labels(names)
        assert len(set(labels)) == len(names), names
        assert max(map(len, labels)) <= WIDEST, names
        if not labels[0].startswith("1: "):
            assert all(cut_from(*pair) for pair in zip(labels, names, strict=True)), names
            for label, name in zip(labels, names, strict=True):
                assert label == name or len(name) > LONGEST, names


def test_files_have_the_same_bytes_each_time_real_text_and_no_date(tmp_path):
    for folder in ("a", "b"):
        with matplotlib.rc_context({"axes.facecolor": "red" if folder == "b" else "white"}):
            figures.save(bias_figures.scores(many(20, 2)), tmp_path / folder / "scores")
    for name in ("scores.svg", "scores.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert (tmp_path / "a/scores.png").read_bytes().startswith(b"\x89PNG")
    svg = (tmp_path / "a/scores.svg").read_text()
    said = [e.text for e in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert "$\\alpha$ player" in said and "<b>&amp;</b>" in said
    assert "DejaVu Sans" in svg and "<dc:date>" not in svg and "matplotlib.org" not in svg


def test_only_figures_load_matplotlib():
    code = (
        "import sys, hornlens.cli.main, hornlens.cli.bias, hornlens.cli.study; "
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("command", ["study", "bias"])
def test_without_matplotlib_everything_but_the_figures_is_written_and_that_is_said(
    command, tmp_path
):
    """As after a plain `pip install hornlens`; figures of an earlier result do not stay."""
    out = tmp_path / "out"
    out.mkdir()
    for name in ("scores.svg", "people.png"):
        (out / name).write_text("of another result")
    plan = tmp_path / "small.yaml"
    plan.write_text(
        "hornlens: 1\nname: small\nmodels: [demo]\nbudgets: [3]\nruns: 1\nsamples: 50\n"
    )
    arguments = [str(plan)] if command == "study" else ["--model", "demo"]
    arguments = [command, *arguments, "--out", str(out), "--quiet"]
    code = (
        "import sys; sys.modules['matplotlib'] = None; "
        f"sys.argv = ['hornlens', *{arguments!r}]; "
        "from hornlens.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "HORNLENS_CACHE": str(tmp_path / "answers.sqlite")},
    )
    assert done.returncode == 0, done.stderr
    assert "pip install 'hornlens[figures]'" in done.stdout
    assert (out / "report.html").exists()
    left = {path.name for path in out.rglob("*") if path.suffix in (".svg", ".png")}
    assert left == (set() if command == "bias" else {"scores.svg", "people.png"})
