"""Thresholds behind other steps: shown in few digits, never across a row, exact in the file."""

import copy
import json

import numpy as np
import pandas
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import hornlens
from hornlens.errors import HornlensError
from hornlens.formats.digests import with_digest
from hornlens.formats.jsonfiles import json_text
from hornlens.logic.cuts import ROUNDED, number_text, rounded_text

NOTE = "thresholds are shown rounded by less than a millionth"


def people(count=300):
    rng = np.random.default_rng(4)
    return pandas.DataFrame(
        {
            "age": rng.integers(17, 90, count).astype(float),
            "income": np.exp(rng.normal(10, 1, count)).round(2),
            "share": rng.random(count) * 1e-4,
        }
    )


def classes(rows):
    return (rows["age"] > 22) & (rows["income"] > 20_000) | (rows["share"] > 6e-5)


SCALERS = [StandardScaler, MinMaxScaler, RobustScaler]


def scaled(scaler):
    rows = people()
    model = make_pipeline(scaler(), GradientBoostingClassifier(n_estimators=8, random_state=0))
    model.fit(rows, classes(rows))
    return model, rows, hornlens.explain(model, rows)


@pytest.mark.parametrize("scaler", SCALERS)
def test_few_digits_are_shown_and_no_row_lies_between(scaler, tmp_path):
    _, rows, result = scaled(scaler)
    lengths = []
    for feature in result.binned.every:
        values = rows[feature.name].to_numpy()
        cuts = feature.cuts
        for place, (cut, text) in enumerate(cuts.pairs):
            shown = float(text)
            lies_above = values > shown if place in cuts.after else values >= shown
            assert (lies_above == (values >= cut)).all(), (feature.name, cut, text)
            assert abs(shown - cut) <= ROUNDED * abs(cut)
            assert (shown < cut) == (place in cuts.after), (feature.name, cut, text)
            lengths.append(len(text.replace(".", "").lstrip("0")))
        shown = [float(text) for text in cuts.texts]
        assert shown == sorted(shown)
    assert np.mean(lengths) < 7
    assert len([note for note in result.notes if note.startswith(NOTE)]) == 1
    result.save(tmp_path)
    done = hornlens.verify(tmp_path)
    assert done.ok, done.wrong
    assert hornlens.load(tmp_path).edges == result.edges
    assert "thresholds are shown rounded" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("scaler", SCALERS)
def test_what_is_shown_is_read_back_as_the_exact_threshold(scaler):
    model, rows, result = scaled(scaler)
    for rule in list(result.rules)[:8]:
        verdict = hornlens.prove(model, f"{' and '.join(rule.conditions)} -> {rule.label}", rows)
        assert verdict.status == "proved", rule


def test_a_threshold_that_the_trees_compare_as_it_is_stays_as_it_is():
    rows = people()
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(rows, classes(rows))
    result = hornlens.explain(model, rows)
    assert not any(NOTE in note for note in result.notes)


def test_rounding_stops_at_rows_and_neighbours():
    rows = np.array([22.0, 22.4999999, 23.0])
    assert rounded_text(22.49999997, rows) == ("22.5", False)
    assert rounded_text(22.50000003, rows) == ("22.5", True)  # 22.5 itself lies below
    assert rounded_text(22.00000001, rows) == ("22", True)
    assert rounded_text(22.49999997, rows, high=22.49999999) == ("22.49999997", False)
    assert rounded_text(1234567.125, np.array([])) == ("1234567", True)


def shown_as(text):
    """Return what shows the first threshold of a column otherwise, in every part of the file."""

    def change(content):
        feature, attribute = content["classifier"]["features"][0], content["space"]["attributes"][0]
        old, name = feature["texts"][0], feature["name"]
        feature["texts"][0] = attribute["cuts"][0] = text
        whole = json.dumps(content)
        for sign in ("<", "\u2265", "\u2264", ">"):
            before, now = (json.dumps(f"{name} {sign} {shown}")[1:-1] for shown in (old, text))
            whole = whole.replace(before, now)
        content.clear()
        content.update(json.loads(whole))

    return change


def wrong_side(content):
    """Show the first threshold as a number near it that is itself decided otherwise."""
    feature = content["classifier"]["features"][0]
    sign = 1 if 0 in feature["after"] else -1
    number = float(f"{feature['cuts'][0] * (1 + sign * 4e-7):.12g}")
    shown_as(number_text(number))(content)


FORGERIES = {
    "far away": shown_as("30.5"),
    "a little off": shown_as("22.6"),
    "on the wrong side": wrong_side,
    "across a row": shown_as("22.00002"),
    "no number": shown_as("many"),
    "without the note": lambda content: content["classifier"]["notes"].pop(0),
    "a note on other columns": lambda content: content["classifier"]["notes"].__setitem__(
        0, content["classifier"]["notes"][0].replace("age", "rage")
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_threshold_that_is_shown_as_something_else_is_refused(name, tmp_path):
    _, _, result = scaled(StandardScaler)
    content = json.loads(json_text(result.as_json()))
    assert content["classifier"]["features"][0]["name"] == "age"
    forged = copy.deepcopy(content)
    FORGERIES[name](forged)
    assert forged != content
    path = tmp_path / "envelope.json"
    path.write_text(json_text(with_digest(forged)))
    try:
        done = hornlens.verify(path)
    except HornlensError:
        return
    assert not done.ok, name
