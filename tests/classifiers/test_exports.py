"""Rules of a classifier as SQL, Python, PMML and JSON: executed, they decide as the model does."""

import json
import sqlite3

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import hornlens
from hornlens.cli.app import app
from hornlens.errors import HornlensError, InputError
from hornlens.formats.decisions.lists import (
    DecisionList,
    ListColumn,
    ListCondition,
    ListRule,
)
from hornlens.formats.decisions.sql import write_sql
from hornlens.formats.decisions.writers import CLASS_WRITERS
from tests.classifier_cases import data, near, one_thread
from tests.classifiers.deciding import EVALUATORS, by_python, by_sql
from tests.schemas import fits

__all__ = ["one_thread"]

ROWS = 100_000
FORMATS = pytest.mark.parametrize("form", CLASS_WRITERS)


def draws(result, count, missing=(), seed=0):
    """Rows as columns of plain values: on cuts, next to them, anywhere, and missing at times."""
    rng, columns = np.random.default_rng(seed), []
    for feature in result.binned.every:
        if feature.cuts is None:
            pool = feature.values
            column = [pool[place] for place in rng.integers(0, len(pool), count)]
        else:
            values = feature.cuts.values
            pool = np.array([*near(values, 1), 0.0, -1e30, 1e30, *feature.points[: feature.known]])
            low, high = (min(values), max(values)) if values else (0.0, 1.0)
            drawn = rng.uniform(low - 1, high + 1, count)
            numbers = np.where(rng.random(count) < 0.5, rng.choice(pool, count), drawn)
            column = (np.floor(numbers) if feature.kind == "whole" else numbers).tolist()
            if feature.kind == "whole":
                column = [int(min(max(value, -1e15), 1e15)) for value in column]
        if feature.missing or feature.name in missing:
            gaps = rng.random(count) < 0.1
            column = [None if gap else one for gap, one in zip(gaps, column, strict=True)]
        columns.append(column)
    return columns


def as_numbers(columns):
    return np.array(
        [[np.nan if value is None else value for value in column] for column in columns], float
    ).T


def numbers():
    """A forest over doubles, whose thresholds are of single precision."""
    rows, classes = data("iris")
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(rows, classes)
    return hornlens.explain(model, rows), lambda columns: model.predict(as_numbers(columns))


def gaps():
    """Histogram boosting over doubles, with missing values in two of three columns."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 3))
    wanted = np.where(rows[:, 0] + rows[:, 1] * rows[:, 2] > 0, "yes", "no")
    rows[rng.random(rows.shape) < 0.15] = np.nan
    rows[:, 2] = np.nan_to_num(rows[:, 2])
    model = HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=4).fit(rows, wanted)
    return hornlens.explain(model, rows), lambda columns: model.predict(as_numbers(columns))


def single():
    """Boosting over an array of single precision: what is compared is rounded to it."""
    rows, classes = data("breast_cancer")
    rows = rows.astype(np.float32)
    model = GradientBoostingClassifier(n_estimators=4, max_depth=2).fit(rows, classes == 1)
    return hornlens.explain(model, rows), lambda columns: model.predict(as_numbers(columns))


HOSTILE = ('a"; DROP TABLE given; --', "it's\\", "größe ≥ 'π'", "-- */ comment", "row", "{x!r}")
VALUES = ("o'clock", 'say "x"', "'; DROP TABLE given; --", "Ω <&> ]]>", "back\\slash", "")


def frames():
    """A tree over a frame whose names and values would break out of any quotes."""
    pandas = pytest.importorskip("pandas")
    rng, count = np.random.default_rng(1), 600
    words = rng.choice(VALUES, count)
    sizes = pandas.Categorical(rng.choice(["S", "M", "L"], count), ["S", "M", "L"], ordered=True)
    frame = pandas.DataFrame(
        {
            HOSTILE[0]: words,
            HOSTILE[1]: rng.integers(-50, 50, count),
            HOSTILE[2]: sizes,
            HOSTILE[3]: rng.random(count) < 0.5,
            HOSTILE[4]: rng.normal(size=count),
            HOSTILE[5]: rng.choice([1, 2, 5], count).astype(object),
        }
    )
    wanted = np.where(frame[HOSTILE[1]] + 20 * frame[HOSTILE[3]] > 5, "it's", 'no"t --')
    wanted = np.where(np.isin(words, VALUES[:3]) & (frame[HOSTILE[4]] > 0), "π", wanted)
    encoded = make_column_transformer(
        (OneHotEncoder(), [HOSTILE[0], HOSTILE[2]]), remainder="passthrough"
    )
    model = make_pipeline(encoded, DecisionTreeClassifier(max_depth=6, random_state=0))
    model.fit(frame, wanted)

    def predict(columns):
        given = pandas.DataFrame(dict(zip(frame.columns, columns, strict=True)))
        return model.predict(given.astype(frame.dtypes))

    return hornlens.explain(model, frame), predict


CASES = {case.__name__: case for case in (numbers, gaps, single, frames)}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    result, predict = CASES[request.param]()
    columns = draws(result, ROWS)
    return result, columns, predict(columns).tolist()


@FORMATS
def test_executed_it_decides_100_000_rows_as_the_model_does(case, form):
    result, columns, wanted = case
    assert result.certificate.scope.direct and result.certificate.complete.decides
    answers = EVALUATORS[form](result.export(form), result.feature_names, columns)
    wrong = [place for place in range(ROWS) if answers[place] != wanted[place]]
    assert not wrong, [[column[wrong[0]] for column in columns], answers[wrong[0]]]
    assert len(set(wanted)) > 1


@FORMATS
def test_a_result_that_was_saved_is_exported_as_the_same(form, tmp_path):
    result, _ = frames()
    result.save(tmp_path)
    assert hornlens.load(tmp_path).export(form) == result.export(form)


@FORMATS
def test_what_no_rule_decides_is_no_class_or_the_one_that_is_given(form):
    rows, classes = data("iris")
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(rows, classes)
    result = hornlens.explain(model, rows, max_conditions=1)
    columns = draws(result, 5_000, missing=("x0", "x3"))
    known = np.array([None not in row for row in zip(*columns, strict=True)])
    wanted = np.full(len(known), None, dtype=object)
    wanted[known] = result.predict(as_numbers(columns)[known])
    assert {0, None} <= set(wanted) and (wanted[known] == None).any()  # noqa: E711
    evaluate = EVALUATORS[form]
    assert evaluate(result.export(form), result.feature_names, columns) == wanted.tolist()
    wanted[wanted == None] = 2  # noqa: E711
    text = result.export(form, otherwise="2")
    assert evaluate(text, result.feature_names, columns) == wanted.tolist()


@FORMATS
@pytest.mark.parametrize("otherwise", [None, "π"])
def test_a_value_that_the_rules_do_not_know_is_decided_by_none(form, otherwise):
    result, _ = frames()
    columns = draws(result, 6)
    columns[0][0], columns[0][1], columns[1][2], columns[4][3] = "never seen", None, None, None
    columns[2][4] = "XL"
    text = result.export(form, otherwise)
    answers = EVALUATORS[form](text, result.feature_names, columns)
    assert answers[:5] == [otherwise] * 5 and answers[5] is not None


@FORMATS
def test_a_rule_without_conditions_decides_all(form):
    rows = np.arange(6.0)[:, None]
    result = hornlens.explain(lambda x: np.full(len(x), "same"), rows, bins={"x0": [3]})
    answers = EVALUATORS[form](result.export(form), ["x0"], [[1.0, 4.0]])
    assert answers == ["same", "same"]


@FORMATS
def test_classes_keep_their_type(form):
    rows = np.arange(6.0)[:, None]
    for classes in ((False, True), (0, 7), (0.5, 1.5), ("0", "1")):
        says = np.array(classes)
        result = hornlens.explain(
            lambda x, says=says: says[(x[:, 0] >= 3).astype(int)], rows, bins={"x0": [3]}
        )
        answers = EVALUATORS[form](result.export(form), ["x0"], [[1.0, 4.0]])
        assert (answers == list(classes) and isinstance(answers[0], type(classes[0]))) or (
            form == "sql" and answers == [0, 1]
        )


def test_python_takes_columns_by_name_and_any_type_of_number():
    result, _ = numbers()
    module = {}
    exec(result.export("python"), module)
    classify, cut = module["classify"], result.edges["x3"][0]
    row = {"x0": 5.0, "x2": 1.0, "x3": cut, "x1": 0.0}
    below = {**row, "x3": np.nextafter(cut, 0)}
    assert classify(**row) == classify(row) == result.predict([[5, 0, 1, cut]])[0]
    assert classify(below) == result.predict([[5, 0, 1, below["x3"]]])[0]
    pandas = pytest.importorskip("pandas")
    assert classify(pandas.Series(row)) == classify(row)
    assert classify({**row, "x3": pandas.NA}) is None
    assert classify({**row, "x3": np.float32(cut)}) == classify(
        {**row, "x3": float(np.float32(cut))}
    )
    with pytest.raises(KeyError, match="x3"):
        classify(x0=1, x1=1, x2=1)


def test_sql_reads_each_number_back_to_the_last_bit():
    from hornlens.formats.decisions.sql import _number

    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, 20_000, dtype=np.uint64).view(np.float64)
    values = bits[np.isfinite(bits)].tolist()
    values += rng.normal(size=20_000).astype(np.float32).astype(float).tolist()
    values += rng.normal(size=5_000).round(3).tolist() + rng.integers(-99, 99, 50).tolist()
    values += [5e-324, -5e-324, 1.7976931348623157e308, 2.0**53, 2.0**53 + 2, 0.1, -0.0, 1e22, 1e-7]
    with sqlite3.connect(":memory:") as database:
        for value in map(float, values):
            (read,) = database.execute(f"SELECT {_number(value)}").fetchone()
            assert read == value, (value, _number(value), read)


@FORMATS
def test_whole_numbers_that_no_float_holds_are_compared_as_they_are(form):
    cut = 2**60 + 1
    column = ListColumn("ts", "whole")
    rule = ListRule((ListCondition(0, at_least=cut),), "late", "ts", 0, 0, "proved")
    text = CLASS_WRITERS[form](
        DecisionList("m", "class", "", ("early", "late"), (column,), (rule,), "early")
    )
    answers = EVALUATORS[form](text, ["ts"], [[cut - 1, cut, cut + 1]])
    assert answers == ["early", "late", "late"]


def test_sql_and_python_have_each_text_on_the_line_of_its_comment():
    result, _ = frames()
    for form, mark in (("sql", "--"), ("python", "#")):
        lines = [line for line in result.export(form).splitlines() if "→" in line]
        assert lines and all(line.strip().startswith(mark) for line in lines)


@FORMATS
def test_the_claim_of_the_rules_is_in_the_file(form):
    rows, _ = data("iris")
    result = hornlens.explain(lambda x: x[:, 3] > 1, rows)
    assert not result.certificate.scope.direct
    assert "binned model" in result.export(form)


def test_formats_that_decide_rows_refuse_what_does_not():
    result = hornlens.extract(lambda prompt, words: [0.9, 0.1], cache=False)
    for form in CLASS_WRITERS:
        with pytest.raises(HornlensError, match="they are for rules of a classifier") as refused:
            result.export(form)
        assert "\n" not in str(refused.value)
    rows, classes = data("iris")
    tree = DecisionTreeClassifier(max_depth=2).fit(rows, classes)
    told = hornlens.explain(tree, rows)
    with pytest.raises(InputError, match=r"no class 'iris' \(there are: 0, 1, 2\)"):
        told.export("sql", otherwise="iris")
    for form in ("json", "csv", "text", "latex"):
        with pytest.raises(HornlensError, match="otherwise is for sql, python, pmml"):
            told.export(form, otherwise="1")


@pytest.mark.parametrize(
    ("name", "form", "message"),
    [
        ("nul\0", "sql", "no character of number 0"),
        ("bell\a", "pmml", "no character"),
        ("half\ud800", "python", "half of a character"),
    ],
)
def test_names_that_a_format_cannot_hold_are_refused(name, form, message):
    with pytest.raises(HornlensError, match=message) as refused:
        CLASS_WRITERS[form](
            DecisionList("m", "class", "", ("a",), (ListColumn(name, "number"),), ())
        )
    assert "\n" not in str(refused.value)


def test_values_that_are_neither_text_nor_numbers_are_refused():
    pandas = pytest.importorskip("pandas")
    days = pandas.Categorical(pandas.to_datetime(["2020-01-01", "2020-01-02"]))
    frame = pandas.DataFrame({"day": days})
    told = hornlens.explain(lambda x: np.arange(len(x)) * 0, frame)
    with pytest.raises(HornlensError, match="values of type Timestamp"):
        told.export("sql")


def test_the_command_writes_them_too(tmp_path, capsys):
    result, _ = numbers()
    result.save(tmp_path / "out")
    for form in CLASS_WRITERS:
        arguments = ["export", str(tmp_path / "out"), "--format", form]
        assert (app(arguments, standalone_mode=False) or 0) == 0
        assert capsys.readouterr().out == result.export(form)
        app(
            [*arguments, "--otherwise", "1", "--out", str(tmp_path / "rules")],
            standalone_mode=False,
        )
        assert (tmp_path / "rules").read_text("utf-8") == result.export(form, otherwise="1")
        capsys.readouterr()


def test_the_json_fits_its_schema():
    for make in CASES.values():
        fits("class-rules", json.loads(make()[0].export("json-rules")))


def test_a_list_without_rules_is_never_of_a_class():
    result, _ = numbers()
    listed = result.decision_list()
    none = type(listed)(listed.model, "class", "", listed.classes, listed.columns, ())
    columns = draws(result, 3)
    assert by_sql(write_sql(none), result.feature_names, columns) == [None] * 3
    assert by_python(CLASS_WRITERS["python"](none), result.feature_names, columns) == [None] * 3
    assert json.loads(CLASS_WRITERS["json-rules"](none))["rules"] == []
