"""The page of a classifier in a real browser: rows, a map, flips, and asking it with numbers."""

import json
import re
from itertools import product

import numpy as np
import pytest

from hornlens.report.page import page as page_of
from tests.browser.test_accessibility import serious
from tests.classifier_cases import near
from tests.explanation_cases import explained


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("explanations"), {}

    def path(name):
        if name not in made:
            content = json.loads(json.dumps(explained(name)[2].as_json()))
            made[name] = folder / f"{name}.html"
            made[name].write_text(page_of("envelope.json", content), "utf-8")
        return made[name]

    return path


def plain(text):
    return re.sub("[\u2066-\u2069]", "", " ".join(text.split()))


def ask(tab, values):
    """Give an input, and return what the page says of it."""
    for name, value in values.items():
        tab.locator("#ask-controls").get_by_label(name, exact=True).fill(repr(float(value)))
    return tab.locator("#ask-verdict").inner_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["forest", "beyond"])
def test_what_it_says_of_numbers_is_what_the_model_says_to_the_last_bit(visit, written, name):
    model, rows, result = explained(name)
    tab = visit(written(name))
    draw = np.random.default_rng(0)
    ends = {column: near(edges, 1) for column, edges in result.edges.items() if edges}
    decided = 0
    for _ in range(12):
        values = {column: draw.choice(points) for column, points in ends.items()}
        row = rows.iloc[:1].assign(**values)
        said = ask(tab, values)
        if said != "Not asked, and no rule decides it.":
            decided += 1
            assert said == f"The model says {model.predict(row)[0]}.", values
    assert decided == 12 if name == "forest" else decided > 6


def test_what_would_change_the_answer_does(visit, written):
    model, rows, result = explained("forest")
    tab = visit(written("forest"))
    tab.get_by_label("Begin with row").fill("60")
    tab.get_by_label("Begin with row").press("Tab")
    assert tab.locator("#ask-verdict").inner_text() == f"The model says {model.predict(rows)[59]}."
    lines = tab.locator("#ask-rules tbody tr").all_inner_texts()
    assert lines
    for line in lines:
        column, condition, then, _ = line.split("\t")
        place = result.feature_names.index(column)
        feature = result.binned.every[place]
        levels = [
            level for level in range(feature.size) if feature.say((level, level)) == condition
        ]
        changed = rows.iloc[59:60].assign(**{column: feature.points[levels[0]]})
        assert model.predict(changed)[0] == then.strip()


def test_categories_missing_values_and_what_cannot_be_are_asked_for(visit, written):
    model, rows, _ = explained("people")
    tab = visit(written("people"))
    controls = tab.locator("#ask-controls")
    tried = set()
    for sex, pregnant, gone in product("fm", (True, False), (True, False)):
        controls.get_by_label("sex").select_option(sex)
        controls.get_by_label("pregnant").select_option("yes" if pregnant else "no")
        controls.get_by_label("missing").set_checked(gone)
        controls.get_by_label("age").fill("45")
        if not gone:
            controls.get_by_label("income").fill("1.5")
        said = tab.locator("#ask-verdict").inner_text()
        row = rows.iloc[:1].assign(age=45, sex=sex, pregnant=pregnant, income=None if gone else 1.5)
        if sex == "m" and pregnant:
            assert said == "This does not occur: the background rules it out."
        else:
            row["income"] = row["income"].astype(float)
            assert said == f"The model says {model.predict(row)[0]}."
        tried.add(said)
    assert len(tried) == 3
    controls.get_by_label("age").fill("")
    assert tab.locator("#ask-verdict").inner_text() == "Give age a number."


def test_a_binned_model_is_said_to_be_one(visit, written):
    tab = visit(written("binned"))
    assert tab.locator("#ask-verdict").inner_text().startswith("The binned model says ")
    assert "not about these numbers" in tab.locator("#ask-rules").inner_text()
    lead = tab.locator("#agreement").inner_text()
    assert "Numbers are binned: at most 3 bins a column" in lead
    assert "%" in lead


def test_the_map_counts_the_cells_behind_each_field(visit, written):
    result = explained("forest")[2]
    tab = visit(written("forest"))
    labels, names = result.labelled.labels, result.feature_names
    for down, across, fixed in (
        ("petal width", "petal length", {}),
        ("sepal width", "petal width", {"petal length": 1}),
    ):
        controls = tab.locator("#map-controls")
        controls.get_by_label("Down").select_option(down)
        controls.get_by_label("Across").select_option(across)
        for name, level in fixed.items():
            field = controls.locator("label").filter(has=tab.locator(f"span bdi:text-is('{name}')"))
            field.locator("select").select_option(str(level))
        axes = [names.index(down), names.index(across)]
        shape = [result.binned.features[axis].size for axis in axes]
        fields = tab.locator("#map .cell")
        assert fields.count() == shape[0] * shape[1]
        said = [plain(text) for text in fields.evaluate_all("list => list.map(b => b.ariaLabel)")]
        for at, (row, column) in enumerate(product(range(shape[0]), range(shape[1]))):
            where = [slice(None)] * labels.ndim
            where[axes[0]], where[axes[1]] = row, column
            for name, level in fixed.items():
                where[names.index(name)] = level
            part = labels[tuple(where)].ravel()
            for place in np.unique(part):
                count = int((part == place).sum())
                assert f"{result.classes[place]} {count}" in said[at], said[at]
            assert f"{part.size} cell" in said[at]
    tab.locator("#map .cell").first.click()
    assert tab.locator("#map-picked h3").count() == 1
    tab.locator("#map .cell").first.press("ArrowRight")
    assert tab.evaluate("document.activeElement.ariaLabel") in fields.evaluate_all(
        "list => list.slice(1, 2).map(b => b.ariaLabel)"
    )


@pytest.mark.parametrize("name", ["forest", "binned"])
def test_a_rule_shows_its_rows_those_that_break_it_first(visit, written, name):
    model, rows, result = explained(name)
    tab = visit(written(name))
    said = model.predict(rows)
    broken = [r for r in result.rules if r.support and r.confidence < 1]
    assert bool(broken) == (name == "binned")
    for rule in [*result.rules[:2], *broken[:1]]:
        number = list(result.rules).index(rule) + 1
        row = tab.locator(f"#rule-{number}")
        row.locator(".open").click()
        detail = tab.locator(f"#rule-{number}-evidence")
        inside = np.flatnonzero(
            np.all(
                [
                    (result.rows[:, a] >= lo) & (result.rows[:, a] <= hi)
                    for a, (lo, hi) in enumerate(rule.box)
                ],
                0,
            )
        )
        first = sorted(inside, key=lambda at: (said[at] == rule.label, at))
        shown = detail.locator("tbody tr").all_inner_texts()
        assert len(shown) == min(15, len(inside))
        for line, at in zip(shown, first, strict=False):
            cells = line.split("\t")
            assert cells[0].strip() == str(at + 1) and cells[1].strip() == said[at]
            assert sorted(map(float, cells[2:])) == sorted(rows.iloc[at])
        assert f"{rule.support} row" in detail.inner_text()
        row.locator(".open").click()
        assert detail.count() == 0


def test_rules_are_searched_filtered_linked_and_downloaded(visit, written):
    result = explained("forest")[2]
    tab = visit(written("forest"), accept_downloads=True)
    rows = tab.locator("#rule-table > tbody > tr")
    tab.locator("#rules").get_by_label("Class").select_option("setosa")
    assert rows.count() == len(result.rules.of("setosa"))
    tab.locator("#rules").get_by_label("Search").fill("sepal width")
    words = ("sepal", "width")
    assert rows.count() == sum(
        all(word in str(rule) for word in words) for rule in result.rules.of("setosa")
    )
    tab.locator(".findings a").nth(1).click()
    opened = tab.locator("button.open[aria-expanded=true]")
    assert plain(opened.inner_text()) == str(result.rules[1])
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="JSON").click()
    kept = json.loads(waiting.value.path().read_text("utf-8"))
    assert kept == json.loads(json.dumps(result.as_json()))
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Rules as CSV").click()
    rules = waiting.value.path().read_text("utf-8")
    assert rules == result.rules.csv()


def test_flips_are_counted_with_pairs_of_inputs(visit, written):
    result = explained("forest")[2]
    tab = visit(written("forest"))
    for feature in result.binned.features:
        line = tab.locator(".flip").filter(has=tab.get_by_role("heading", name=feature.name))
        assert line.locator(".flip-count").inner_text() == result.flips(feature.name).sentence
    tab.locator(".flip summary").first.click()
    changed = tab.locator(".flips tbody tr").first.inner_text().split("\t")
    before, after = changed[1].strip().split(" → ")
    assert before != after and {before, after} <= set(result.classes)


def test_rules_of_a_stand_in_are_not_said_of_the_model(visit, written):
    for name in ("forest", "drawn"):
        certificate = explained(name)[2].certificate
        tab = visit(written(name))
        title, said = tab.locator("h1").inner_text(), tab.locator("#rule-1 .said").inner_text()
        direct = name == "forest"
        assert certificate.scope.direct == direct
        assert title.startswith("The rules that" if direct else "The rules of a stand-in for")
        assert (", the model says" in said, ", the binned model says" in said) == (
            direct,
            not direct,
        )
        lead = tab.locator("#rules .lead").inner_text()
        every = "input (but for missing values)" if direct else "cell"
        assert f"Each speaks of every {every} that meets" in lead
        assert ("not about the model itself" in tab.locator("#caveats").inner_text()) != direct


@pytest.mark.parametrize("name", ["near", "drawn", "constant", "nasty"])
def test_pages_of_other_shapes_work(visit, written, axe, name):
    tab = visit(written(name))
    assert tab.evaluate("window.hacked") is None
    assert tab.locator("#map").is_visible() == (name != "constant")
    assert tab.locator("#ask-verdict").inner_text()
    assert tab.locator("#rule-1 .open").count() == 1
    assert serious(axe, tab) == []
    if name == "drawn":
        assert (
            "Every rule for a class with at most 1 condition that holds without exception"
            in tab.locator("#rules .lead").inner_text()
        )
        shown = tab.locator("#rule-table td.warrant").all_inner_texts()
        rules = explained(name)[2].rules
        assert shown == [rule.warrant.words for rule in rules][: len(shown)]
        assert all(text.startswith("tested, at most ") for text in shown)
        tab.get_by_role("button", name="Warrant").click()
        assert tab.locator("#rule-table th[aria-sort]").inner_text().startswith("Warrant")
    else:
        assert tab.locator("#rule-table td.warrant").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_it_is_accessible_and_fits_a_narrow_screen(visit, written, axe, scheme, width):
    tab = visit(written("forest"), width=width, color_scheme=scheme)
    tab.locator("#rule-1 .open").click()
    tab.locator("#map .cell").nth(3).click()
    tab.locator(".flip summary").first.click()
    assert serious(axe, tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_rules_are_there_without_scripts(visit, written):
    result = explained("forest")[2]
    tab = visit(written("forest"), java_script_enabled=False)
    assert tab.locator("#rule-table > tbody > tr").count() == len(result.rules)
    assert not tab.locator("#ask").is_visible()


@pytest.mark.parametrize("name", ["cut_off", "cut_off_near"])
def test_cells_that_were_not_asked_are_shown_as_such(visit, written, axe, name):
    result = explained(name)[2]
    tab = visit(written(name))
    assert tab.locator(".verdict").first.inner_text() == "Interrupted"
    names = [field.get_attribute("aria-label") for field in tab.locator("#map .cell").all()]
    fields = " ".join(map(plain, names))
    assert "No cell here was asked" in fields or re.search(r"; [0-9,]+ not asked", fields)
    assert "No cell here occurs" not in fields or result.background
    left = sum(int(n) for n in re.findall(r"; ([0-9]+) not asked", fields))
    whole = len(names) > 0 and "No cell here was asked" not in fields
    assert not whole or left == result.labelled.open
    tab.locator("#ask-controls input").first.wait_for()
    assert not serious(axe, tab)
