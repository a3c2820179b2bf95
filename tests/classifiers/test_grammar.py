"""One grammar for rules about columns: what is shown is read back, and nothing else is raised."""

from random import Random

import numpy as np
import pytest

from hornlens.errors import InputError
from hornlens.logic.cuts import Cuts
from hornlens.targets.classifiers.boxes import cuts_asked_for
from hornlens.targets.classifiers.cases import MOST_CASES, Cases
from hornlens.targets.classifiers.conditions import (
    Both,
    Condition,
    Either,
    Not,
    OfClass,
    ParsedRule,
    conditions_in,
)
from hornlens.targets.classifiers.features import number_feature, value_feature
from hornlens.targets.classifiers.grammar import Words, parse_expression, parse_rule
from hornlens.targets.classifiers.moving import parse_motion

NAMES = (
    "age",
    "mean radius",
    "sex",
    "flag",
    "a -> b",
    "R&D",
    "income (k$)",
    'the "x"',
    "not",
    "or",
)
VALUES = {"sex": ("f", "m", "salt and pepper", "a, b", "x (y)")}
WORDS = Words(NAMES, ("yes", "no", "may be", "<=50K", "1", "True"), "loan", VALUES)


def rule(text):
    return parse_rule(text, WORDS)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("age < 25 and sex = f -> yes", "age < 25 ∧ sex = f"),
        ('"mean radius" <= 5 -> yes', '"mean radius" ≤ 5'),
        ("'mean radius' <= 5 -> yes", '"mean radius" ≤ 5'),
        ("mean radius <= 5 -> yes", '"mean radius" ≤ 5'),
        ('"mean radius ≤ 5" & flag -> yes', '"mean radius" ≤ 5 ∧ flag = "True"'),
        ("30 <= age < 60 → yes", "age ≥ 30 ∧ age < 60"),
        ("a -> b < 3 & R&D ≥ 2 → yes", '"a -> b" < 3 ∧ "R&D" ≥ 2'),
        ('the "x" > 1 -> yes', '"the \\"x\\"" > 1'),
        ("sex = salt and pepper or flag -> yes", 'sex = "salt and pepper" or flag = "True"'),
        ("sex in {a, b, f} -> yes", 'sex = "a, b" or sex = f'),
        ("sex not in (f, m) -> yes", "not (sex = f or sex = m)"),
        ("sex ∉ [x (y)] -> yes", 'not (sex = "x (y)")'),
        ("sex != f -> yes", "not (sex = f)"),
        ("sex is not f -> yes", "not (sex = f)"),
        ("not flag -> yes", 'flag = "False"'),
        ("not (flag) -> yes", 'not (flag = "True")'),
        ("age is missing or age is not known -> yes", "age is missing or not (age is known)"),
        ("not (age < 3 | age > 5) -> yes", "not (age < 3 or age > 5)"),
        ("(age < 3 or flag) and sex = f -> yes", '(age < 3 or flag = "True") ∧ sex = f'),
        ("or = 3 or not = 4 -> yes", '"or" = 3 or "not" = 4'),
        ("-> yes", "⊤"),
        ("true -> yes", "⊤"),
        ("age = -1.5e3 -> yes", "age = -1.5e3"),
        ("no -> age < 3", "no"),
        ("1 -> age < 3", "1"),
        ("1 < age -> yes", "age > 1"),
        ("1.25 < age ≤ 1.75 -> yes", "age > 1.25 ∧ age ≤ 1.75"),
    ],
)
def test_what_people_write_is_read(text, given):
    parsed = rule(text)
    assert str(parsed.given) == given
    assert rule(str(parsed)) == parsed


@pytest.mark.parametrize(
    ("right", "follows"),
    [
        *(("yes", "yes"), ("not yes", "not (yes)"), ("≠ yes", "not (yes)"), ("= yes", "yes")),
        *(("loan = yes", "yes"), ("class != yes", "not (yes)"), ("YES", "yes")),
        *(("yes or may be", 'yes or "may be"'), ("loan in {yes, no}", "yes or no")),
        *(("<=50K", '"<=50K"'), ('"<=50K"', '"<=50K"'), ("loan = <=50K", '"<=50K"')),
        *(("⊥", "⊥"), ("false", "⊥"), ("true", '"True"'), ("age < 60", "age < 60")),
    ],
)
def test_classes_are_read(right, follows):
    assert str(rule(f"age < 3 -> {right}").follows) == follows


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("age < 25 and -> yes", "expected a condition, at character 14: age < 25 and ▸-> yes"),
        ("age < 3 and flag or flag -> yes", "put one of them in parentheses, at character 18"),
        ("agee < 3 -> yes", "'agee' names no column (there are: age, mean radius"),
        ("age < 3 -> perhaps", "there is no class 'perhaps' (there are: yes, no"),
        ("age < 3", "not a rule: 'age < 3'; write"),
        ("age 3 -> yes", "unexpected '3 -> yes', at character 5"),
        ("age < 3 -> yes yes", "there is no class 'yes yes' (there are"),
        ("age < 3 -> (yes) no", "unexpected 'no', at character 18"),
        ("age < -> yes", "expected a value of age, at character 7"),
        ("sex in {f, m -> yes", 'expected "," or "}", at character 14'),
        ("((age < 3) -> yes", "expected a closing parenthesis"),
        (f"{'(' * 50}age < 3{')' * 50} -> yes", "more than 40 parentheses"),
        (f"{'not ' * 50}age < 3 -> yes", "more than 40"),
        ("age < 3 -> loan > yes", "classes have no order"),
        ("3 < age != 5 -> yes", "expected one of the signs"),
        ('"" -> yes', "nothing in the quotes"),
    ],
)
def test_errors_point_at_the_place(text, problem):
    with pytest.raises(InputError) as raised:
        rule(text)
    assert problem in str(raised.value) and "\n" not in str(raised.value)


def random_expression(rng, depth=3, right=False):
    kind = rng.randrange(7 if depth else 4)
    if right and kind < 3:
        return OfClass(rng.choice(WORDS.labels))
    if kind < 4:
        name = rng.choice(NAMES)
        sign = rng.choice(["<", "≤", ">", "≥", "=", "missing", "known"])
        odd = [
            "f",
            "3",
            "-0.5",
            "salt and pepper",
            'a "b"',
            "x\\y",
            "or",
            "a, b",
            "",
            "∧",
            "->",
            "'",
        ]
        return Condition(name, sign, "" if sign in ("missing", "known") else rng.choice(odd))
    if kind == 4:
        return Not(random_expression(rng, depth - 1, right))
    parts = [random_expression(rng, depth - 1, right) for _ in range(rng.randrange(2, 4))]
    return (Both if kind == 5 else Either)(tuple(parts))


@pytest.mark.parametrize("seed", range(2_000))
def test_what_is_shown_is_read_back(seed):
    rng = Random(seed)
    shown = ParsedRule(random_expression(rng), random_expression(rng, right=True))
    assert rule(str(shown)) == shown, str(shown)


PIECES = (
    *NAMES,
    *("yes", "no", "<=50K", "<", "<=", "≥", "=", "!=", "≠", "and", "or", "not", "in", "is", "∧"),
    *("∨", "&", "|", "->", "→", "=>", "(", ")", "[", "]", "{", "}", ",", '"', "'", "\\", "3", "-1"),
    *("missing", "known", "true", "false", "⊥", "⊤", " ", "  ", "\n", "\x00", "é", "f", "never"),
    *("turns", "into", "up", "where", "changes", "¬", "!", "∈", "∉", "x (y)", "1e999", "nan"),
)


def test_nothing_else_is_raised():
    rng = Random(0)
    read = 0
    for _ in range(100_000):
        text = rng.choice((" ", "")).join(rng.choices(PIECES, k=rng.randrange(1, 12)))
        try:
            parsed = rule(text) if rng.random() < 0.7 else parse_motion(text, WORDS)
        except InputError:
            continue
        if isinstance(parsed, ParsedRule):
            assert rule(str(parsed)) == parsed, (text, str(parsed))
            read += 1
    assert read > 100


# --- what it means ---

ROWS = [
    (age, sex, flag)
    for age in (1.0, 2.0, 2.5, 3.0, np.nan)
    for sex in ("f", "m", "x", None)
    for flag in (True, False)
]
TESTS = (
    *("age < 2", "age <= 2.5", "age = 2", "age != 2", "1 < age <= 3", "age in {1, 3}", "age > 2"),
    *(
        "age not in (1, 2)",
        "age is missing",
        "age is known",
        "sex = f",
        "sex != f",
        "sex in {f, m}",
    ),
    *("sex not in {f}", "sex is missing", "sex is not missing", "flag", "not flag", "not (flag)"),
)


def means(expression, row):
    if isinstance(expression, Not):
        return not means(expression.inner, row)
    if isinstance(expression, Both | Either):
        parts = [means(part, row) for part in expression.parts]
        return all(parts) if isinstance(expression, Both) else any(parts)
    value = row[("age", "sex", "flag").index(expression.name)]
    missing = value is None or value != value
    if expression.sign in ("missing", "known"):
        return missing == (expression.sign == "missing")
    if missing:
        return False
    if expression.name != "age":
        return str(value) == expression.value
    number = float(expression.value)
    return {
        "<": value < number,
        "≤": value <= number,
        ">": value > number,
        "≥": value >= number,
        "=": value == number,
    }[expression.sign]


def random_text(rng, depth=3):
    if not depth or rng.random() < 0.4:
        return rng.choice(TESTS)
    if rng.random() < 0.25:
        return f"not ({random_text(rng, depth - 1)})"
    parts = [f"({random_text(rng, depth - 1)})" for _ in range(rng.randrange(2, 4))]
    return rng.choice((" and ", " or ")).join(parts)


@pytest.mark.parametrize("seed", range(300))
def test_cases_are_what_an_expression_means(seed):
    """Brute force over all rows: a row is in some case just if the expression is true of it."""
    text = random_text(Random(seed))
    words = Words(("age", "sex", "flag"))
    expression = parse_expression(text, words)
    columns = [np.array([row[at] for row in ROWS], dtype=object) for at in range(3)]
    cuts = cuts_asked_for(conditions_in(expression), ["age"], {})
    age = columns[0].astype(float)
    features = (
        number_feature("age", "number", age, cuts.get("age", Cuts.at([2]))),
        value_feature("sex", "category", columns[1], ()),
        value_feature("flag", "boolean", columns[2].astype(bool), (False, True)),
    )
    cases = Cases({f.name: f for f in features}, lambda _: 1, 1).of(expression)
    own = (age, columns[1], columns[2].astype(bool))
    places = [feature.places(column) for feature, column in zip(features, own, strict=True)]
    for number, row in enumerate(ROWS):
        inside = any(
            all(case.levels(f)[own[number]] for f, own in zip(features, places, strict=True))
            for case in cases
        )
        assert inside == means(expression, row), (text, row)


def test_a_rule_with_too_many_cases_is_refused():
    names = tuple(f"x{place}" for place in range(40))
    pairs = [f"(x{2 * i} < 1 or x{2 * i + 1} < 1)" for i in range(20)]
    expression = parse_expression(" and ".join(pairs), Words(names))
    cuts = cuts_asked_for(conditions_in(expression), names, {})
    column = np.arange(4.0)
    features = {name: number_feature(name, "number", column, cuts[name]) for name in names}
    with pytest.raises(InputError, match=f"more than {MOST_CASES:,} cases"):
        Cases(features, lambda _: 1, 1).of(expression)


def test_motions_are_read_back():
    for text in (
        "age up never turns yes into no",
        "age down never turns may be into yes or no where sex = f and flag",
        '"mean radius" never changes the class',
        "mean radius never changes the decision where age < 3 or age > 5",
        "age never turns yes into another",
    ):
        motion = parse_motion(text, WORDS)
        again = parse_motion(str(motion), WORDS)
        assert motion is not None and again == motion, (text, str(motion))
    with pytest.raises(InputError, match="names no column"):
        parse_motion("agee up never turns yes into no", WORDS)
    assert parse_motion("age < 3 -> yes", WORDS) is None
