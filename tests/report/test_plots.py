"""What `result.plot` draws is what the result says; bars of notebooks say how far the work is."""

import pytest

import hornlens
from hornlens import FunctionTarget, Nominal, Settings, Space, Worlds, extract
from hornlens.errors import HornlensError
from hornlens.report import terminal
from hornlens.report.notebooks import bars

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    matplotlib.pyplot.close("all")


def black_box(prompt, words):
    return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]


@pytest.fixture(scope="module")
def result():
    return extract(black_box, cache=False, settings=Settings(detail="1"))


def test_rules_are_drawn_with_their_support(result):
    axes = result.plot.rules()
    assert [label.get_text() for label in axes.get_yticklabels()] == str(result.rules).split("\n")
    assert [bar.get_width() for bar in axes.patches] == [row.support for row in result.rules]


def test_the_map_has_the_shares_of_the_answers(result):
    axes = result.plot.map("occupation", "continent", label="female")
    names = [label.get_text() for label in axes.get_yticklabels()]
    (image,) = axes.get_images()
    assert image.get_array().shape == (len(names), len(axes.get_xticklabels()))
    for name, row in zip(names, image.get_array().tolist(), strict=True):
        assert set(row) == {1.0 if name == "nurse" else 0.0}
    assert names[-1] == "unset" and axes.get_ylabel() == "occupation"


def test_rates_are_drawn_for_each_value(result):
    axes = result.plot.rates("occupation")
    rates = result.rates["occupation"].values
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == [value.shares[place] for place in (0, 1) for value in rates]


def test_levels_are_a_curve_from_none_to_all(result):
    (line, _) = result.plot.levels().get_lines()
    levels = result.envelope.levels
    explained = [levels.explained(n) / levels.rejections for n in range(len(levels.steps) + 1)]
    assert line.get_ydata().tolist() == explained and line.get_xdata()[0] == 0


def test_survival_counts_the_rules_that_hold_in_so_many_worlds():
    space = Space((Nominal("job", ("nurse", "pilot")),), Nominal("answer", ("yes", "no")))

    def asks(*jobs):
        return FunctionTarget(lambda names: "yes" if set(names) & set(jobs) else "no", space)

    both = extract(Worlds("two", {"old": asks("nurse"), "new": asks("nurse", "pilot")}))
    heights = [bar.get_height() for bar in both.plot.survival().patches]
    assert len(heights) == 2 and heights[0] > heights[1] == len(both.rules)


def test_axes_that_are_given_are_drawn_into(result):
    figure, axes = matplotlib.pyplot.subplots()
    assert result.plot.rules(most=1, ax=axes) is axes and len(axes.patches) == 1
    assert figure.axes == [axes]


def test_names_with_dollar_signs_are_no_formulas():
    pay, job = Nominal("pay", ("$1", "$2$")), Nominal("job", ("a_b",))
    space = Space((pay, job), Nominal("x", ("y", "n")))
    odd = extract(FunctionTarget(lambda names: "y" if "$1" in names else "n", space))
    for axes in (odd.plot.rules(), odd.plot.map("pay"), odd.plot.rates("pay")):
        axes.figure.canvas.draw()
        assert any("$" in label.get_text() for label in axes.get_yticklabels())


def test_what_cannot_be_drawn_says_why(result):
    plain = extract(black_box, cache=False)
    budget = Settings(equivalence="budget", max_equivalence_queries=3)
    sampled = extract(black_box, cache=False, settings=budget)
    for draw, why in (
        (sampled.plot.levels, "asks everything"),
        (plain.plot.survival, "variants"),
        (lambda: plain.plot.map("job"), "no attribute 'job' .there are: period, continent"),
        (lambda: plain.plot.map(label="x"), "no label 'x' .there are: female, male"),
        (lambda: plain.plot.map("period", "period"), "different"),
        (lambda: plain.plot.rates("job"), "no attribute"),
    ):
        with pytest.raises(HornlensError, match=why):
            draw()


def test_without_matplotlib_the_extra_is_named(result, monkeypatch):
    monkeypatch.setattr("hornlens.report.plots.can_draw", lambda: False)
    with pytest.raises(HornlensError, match=r"pip install 'hornlens\[figures\]'"):
        result.plot.rules()


class Shown:
    """Stands for what IPython's `display` returns."""

    def __init__(self):
        self.looks = []

    def display(self, look, raw, display_id):
        self.looks.append(look)
        return self

    def update(self, look, raw):
        self.looks.append(look)


def test_a_bar_of_a_notebook_is_replaced_now_and_then_and_ends_whole():
    shown, now = Shown(), [0.0]
    (advance,) = bars(shown.display, [("Asking <x>", 10, "prompts")], lambda: now[0])
    for _ in range(10):
        now[0] += 0.05
        advance(1)
    assert 2 <= len(shown.looks) < 8
    assert shown.looks[-1]["text/plain"] == "Asking <x>: 10 of 10 prompts in 1 s"
    assert 'max="10" value="10"' in shown.looks[-1]["text/html"]
    assert "<x>" not in shown.looks[-1]["text/html"]


def test_progress_of_extract_is_shown_where_people_are(monkeypatch):
    shown = Shown()
    monkeypatch.setattr(terminal, "notebook", lambda: shown.display)
    hornlens.extract(black_box, cache=False, progress=True)
    assert shown.looks[-1]["text/plain"].startswith("Asking function: 660 of 660 prompts in ")
    monkeypatch.undo()
    assert terminal.notebook() is None  # pytest is none
