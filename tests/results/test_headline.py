"""The headline: rules in the order of what each adds, and a class for the rows that they leave."""

import copy
import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import hornlens
from hornlens.errors import HornlensError
from hornlens.formats.digests import with_digest
from hornlens.formats.jsonfiles import json_text
from tests.verifying.explanation_kinds import KINDS, explained


def inside(rule, row):
    return all(low <= level <= high for level, (low, high) in zip(row, rule.box, strict=True))


def by_brute_force(result, most):
    """Choose the rules again, row by row; return them, the default, and what is left and right."""
    rows, said = result.rows.tolist(), result.said.tolist()
    left, given, lines = set(range(len(rows))), {}, []
    while len(lines) < most:
        gains = [sum(inside(rule, rows[row]) for row in left) for rule in result.rules]
        if not gains or not max(gains):
            break
        place = gains.index(max(gains))
        new = {row for row in left if inside(result.rules[place], rows[row])}
        given.update(dict.fromkeys(new, result.rules[place].place))
        left -= new
        lines.append((place, len(new), len(rows) - len(left)))
    rest = [said[row] for row in (left or range(len(rows)))]
    default = max(range(len(result.classes)), key=lambda place: (rest.count(place), -place))
    given.update(dict.fromkeys(left, default))
    right = sum(given[row] == said[row] for row in range(len(rows)))
    return lines, default, len(left), right


def lines_of(headline):
    return [(line.place, line.new, line.decided) for line in headline.rules]


@pytest.mark.parametrize("name", KINDS)
def test_each_rule_is_the_one_that_decides_most_of_what_is_left(name):
    result = explained(name)
    labels = result.binned.classifier.labels
    for most in (1, 2, 10):
        headline = result.headline(most)
        lines, default, left, right = by_brute_force(result, most)
        assert lines_of(headline) == lines, name
        assert (headline.otherwise, headline.left, headline.right) == (labels[default], left, right)
        assert headline.rows == len(result.rows)
        assert [line.rule for line in headline.rules] == [result.rules[p] for p, _, _ in lines]
        assert [line.share for line in headline.rules] == [d / headline.rows for _, _, d in lines]


@pytest.mark.parametrize("seed", range(15))
def test_the_list_is_greedy_for_random_forests(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 6, (60, 3)).astype(float)
    classes = rng.integers(0, 3, 60)
    model = RandomForestClassifier(3, max_depth=4, random_state=seed).fit(rows, classes)
    result = hornlens.explain(model, rows, limit=200_000 if seed % 2 else 10)
    headline = result.headline(5)
    lines, default, left, right = by_brute_force(result, 5)
    assert lines_of(headline) == lines, seed
    assert headline.otherwise == result.binned.classifier.labels[default]
    assert (headline.left, headline.right) == (left, right)


def test_it_can_be_read_at_a_glance():
    rows = np.arange(20.0)[:, None]
    model = DecisionTreeClassifier().fit(rows, np.where(rows[:, 0] < 12, "low", "high"))
    headline = hornlens.explain(model, rows).headline(1)
    assert str(headline) == " 60.00%  +12  x0 ≤ 11.5 → low\notherwise high (8 rows)"
    assert headline.sentence == (
        "1 rule decides 60.00% of 20 rows; with high for the others, the list agrees with the "
        "model on 100%."
    )


def test_without_rules_only_the_default_is_left():
    model, rows, options = KINDS["leaves"]()
    result = hornlens.explain(model, rows, cover=0, max_conditions=0, **options)
    headline = result.headline()
    assert not result.rules and not headline.rules
    assert headline.left == headline.rows == len(rows)
    assert headline.share == 0


FORGERIES = {
    "another order": lambda line: line["rules"].reverse(),
    "another rule": lambda line: line["rules"][0].update(rule=1),
    "one less": lambda line: line["rules"].pop(),
    "none": lambda line: line.update(rules=[]),
    "more new rows": lambda line: line["rules"][0].update(new=40),
    "more rows so far": lambda line: line["rules"][1].update(decided=39),
    "another default": lambda line: line.update(otherwise="False"),
    "no rows left": lambda line: line.update(left=3),
    "more right": lambda line: line.update(right=41),
    "another field": lambda line: line.update(sure=True),
    "nothing": lambda line: line.clear(),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_headline_is_refused(name, tmp_path):
    content = json.loads(json_text(explained("leaves").as_json()))
    path = tmp_path / "envelope.json"
    path.write_text(json_text(content))
    assert hornlens.verify(path).ok
    forged = copy.deepcopy(content)
    line = forged["classifier"]["headline"]
    before = copy.deepcopy(line)
    FORGERIES[name](line)
    if line == before:
        line["otherwise"] = "True"
    path.write_text(json_text(with_digest(forged)))
    try:
        done = hornlens.verify(path)
    except HornlensError:
        return
    assert not done.ok, name


def test_it_is_saved_shown_and_loaded(tmp_path):
    result = explained("leaves")
    result.save(tmp_path)
    assert hornlens.verify(tmp_path).ok
    loaded = hornlens.load(tmp_path)
    assert loaded.headline() == result.headline()
    page = (tmp_path / "report.html").read_text()
    assert "the first rule that applies to a row decides it" in page
    assert f"{result.headline().rules[0].new:,}</b> more of 40 rows" in page
