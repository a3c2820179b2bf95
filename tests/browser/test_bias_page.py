"""The page of bias scores in a real browser: what people see and reach is what bias.json says."""

import csv
import io
import json
import re

import pytest

from hornlens.formats.digests import with_digest
from hornlens.report.page import page as page_of
from tests import page_cases as cases
from tests.browser.test_accessibility import serious
from tests.report.test_report_pages import score

FITS = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture(scope="session")
def biases(tmp_path_factory):
    """Return a bias.json and the path of its page."""
    folder, kept = tmp_path_factory.mktemp("biases"), {}
    made = {**cases.BIASES, "many": lambda: cases.bias(("a", "b", "c", "d"), occupations=500)}

    def get(name):
        if name not in kept:
            path = folder / f"{name}.html"
            kept[name] = made[name](), path
            path.write_text(page_of("bias.json", kept[name][0]), "utf-8")
        return kept[name]

    return get


def names(section):
    return section.locator("tbody tr[data-index] .name").all_inner_texts()


def lines_of(content, occupation):
    return [
        next(o for o in model["occupations"] if o["occupation"] == occupation)
        for model in content["models"]
    ]


def ordered(content, key, down=True):
    all_names = [o["occupation"] for o in content["models"][0]["occupations"]]
    return sorted(all_names, key=lambda name: key(lines_of(content, name)), reverse=down)


@pytest.mark.parametrize("name", cases.BIASES)
def test_every_result_opens_and_fits_a_narrow_screen(visit, biases, name):
    tab = visit(biases(name)[1], width=390)
    assert tab.evaluate(FITS)
    tab.locator("#scores button.open").first.click()
    assert tab.locator("#scores .detail .confusion").first.is_visible()
    tab.locator("#scores .plot.anchor").last.hover()
    assert tab.locator(".tip:visible").count() == 1
    assert tab.evaluate(FITS)


def test_occupations_are_sorted_by_any_model_by_name_and_by_people(visit, biases):
    content, path = biases("sixty")
    section = visit(path).locator("#scores")
    order = section.locator("label.field").filter(has_text=re.compile("^Order")).locator("select")
    assert names(section) == ordered(content, lambda ls: sum(o["ppbs"]["mean"] for o in ls))[:30]
    order.select_option("c")
    assert names(section) == ordered(content, lambda ls: ls[2]["ppbs"]["mean"])[:30]
    header = section.locator("th[data-key=m2]")
    assert header.get_attribute("aria-sort") == "descending"
    header.get_by_role("button").click()
    assert names(section) == ordered(content, lambda ls: ls[2]["ppbs"]["mean"], down=False)[:30]
    section.locator("th[data-key=people] button").click()
    assert order.input_value() == "people"
    people = [lines_of(content, n)[0]["people"] for n in names(section)]
    assert (
        people
        == sorted(
            (lines_of(content, n)[0]["people"] for n in ordered(content, lambda ls: 0)),
            reverse=True,
        )[:30]
    )
    order.select_option("Occupation")
    assert names(section)[:3] == ["occupation 0", "occupation 1", "occupation 2"]
    section.get_by_role("button", name="Next occupations").click()
    assert names(section) == [f"occupation {i}" for i in range(30, 60)]


def test_the_search_looks_at_names_only(visit, biases):
    section = visit(biases("sixty")[1]).locator("#scores")
    section.get_by_label("Search").fill("OCCUPATION 5")
    wanted = [f"occupation {i}" for i in range(60) if "5" in str(i)]
    assert sorted(names(section)) == sorted(wanted)
    assert section.get_by_role("status").inner_text() == "15 of 60 occupations"


def test_scores_change_between_ppbs_and_normalised_and_stay_sorted(visit, biases):
    content, path = biases("two")
    tab = visit(path)
    section = tab.locator("#scores")
    section.locator("th[data-key=m0] button").click()
    for button, kind in (("Normalised", "normalised"), ("ppbs", "ppbs")):
        section.get_by_role("button", name=button, exact=True).click()
        expected = ordered(content, lambda ls, kind=kind: ls[0][kind]["mean"])
        assert [lines_of(content, n)[0][kind]["mean"] for n in names(section)] == [
            lines_of(content, n)[0][kind]["mean"] for n in expected
        ]
        shown = section.locator("tbody tr td[data-series='0']").all_inner_texts()
        assert [text.split("\n")[0] for text in shown] == [
            score(lines_of(content, n)[0][kind]["mean"]) for n in expected
        ]
        marks = section.locator(f"tbody .k-{kind} use:visible").count()
        assert marks == section.locator("tbody .plot use:visible").count() - len(expected) > 0
    assert section.locator("th[data-key=m0]").get_attribute("aria-sort") == "descending"


def test_a_model_without_ppbs_has_none(visit, biases):
    content, path = biases("improbable")
    section = visit(path).locator("#scores")
    assert section.get_by_role("button", name="Normalised").get_attribute("aria-pressed") == "true"
    section.get_by_role("button", name="ppbs", exact=True).click()
    assert set(section.locator("td[data-series='1']").all_inner_texts()) == {"–"}
    means = [lines_of(content, n)[0]["ppbs"]["mean"] for n in names(section)]
    assert means == sorted(means, reverse=True)  # the mean of the models that have one


def test_models_are_shown_and_hidden(visit, biases):
    content, path = biases("sixty")
    tab = visit(path)
    section = tab.locator("#scores")
    for name in ("a", "d"):
        section.locator(".series").get_by_role("button", name=name, exact=True).click()
    assert section.locator("th[data-series]:visible").count() == 2
    seen = "parts => [...new Set(parts.map((p) => p.dataset.series))].sort()"
    assert section.locator("tbody [data-series]:visible").evaluate_all(seen) == ["1", "2"]
    mean = ordered(content, lambda ls: ls[1]["ppbs"]["mean"] + ls[2]["ppbs"]["mean"])
    assert names(section) == mean[:30]
    section.locator("tbody .plot").first.hover()
    tip = tab.locator(".tip:visible").inner_text()
    assert "\nb\n" in tip.replace(" ", "") and "\nd\n" not in tip.replace(" ", "")
    section.get_by_role("button", name="Next occupations").click()
    assert section.locator("tbody [data-series]:visible").evaluate_all(seen) == ["1", "2"]


def test_an_occupation_shows_its_values_when_pointed_at_or_focused(visit, biases):
    content, path = biases("two")
    tab = visit(path)
    row = tab.locator("#scores tbody tr").nth(2)
    lines = lines_of(content, row.locator(".name").inner_text())
    expected = [f"{lines[0]['occupation']}, {lines[0]['people']:,} people"]
    for model, line in zip(content["models"], lines, strict=True):
        given = line["ppbs"]
        value = score(given["mean"])
        if given["low"] is not None:
            value += f" ({score(given['low'])} … {score(given['high'])})"
        expected += [model["name"], value]
    tip = tab.locator(".tip:visible")
    row.locator(".plot").hover()
    assert [line.strip() for line in tip.inner_text().split("\n") if line.strip()] == expected
    tab.mouse.move(3, 3)
    assert tip.count() == 0
    row.locator("button.open").focus()
    assert [line.strip() for line in tip.inner_text().split("\n") if line.strip()] == expected
    tab.keyboard.press("Escape")
    assert tip.count() == 0


def test_an_occupation_opens_with_its_predictions(visit, biases):
    content, path = biases("sixty")
    tab = visit(path)
    row = tab.locator("#scores tbody tr").nth(4)
    name = row.locator(".name").inner_text()
    button = row.locator("button.open")
    button.focus()
    tab.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    detail = tab.locator("#scores .detail")
    lines = lines_of(content, name)
    assert f"{lines[0]['people']:,} people in " in detail.inner_text()
    tables = detail.locator("table")
    assert tables.count() == 4
    for i, line in enumerate(lines):
        people = {g: sum(r[g] for r in line["confusion"].values()) for g in cases.RECORDED}
        genders = [g for g in ("female", "male", "other", "unknown") if people[g]]
        cells = (
            tables.nth(i)
            .locator("tbody tr")
            .evaluate_all("rows => rows.map((r) => [...r.cells].map((c) => c.textContent))")
        )
        said = {"female": "She", "male": "He", "abstained": "nothing"}
        assert cells == [
            [said[p], *(f"{row[g]:,}" for g in genders)] for p, row in line["confusion"].items()
        ]
        facts = detail.locator("dl").nth(i).inner_text()
        assert f"{line['accuracy']:.1%}" in facts and score(line["normalised"]["mean"]) in facts
    tab.keyboard.press("Enter")
    assert detail.count() == 0 and button.get_attribute("aria-expanded") == "false"


def test_people_are_sorted_by_share_and_by_gender(visit, biases):
    content, path = biases("sixty")
    section = visit(path).locator("#people")

    def women(lines):
        rows = lines[0]["confusion"].values()
        return [sum(row[g] for row in rows) for g in ("female", "male")]

    def shown(key):
        return [key(lines_of(content, name)) for name in names(section)]

    def expected(key):
        return [key(lines_of(content, name)) for name in ordered(content, key)[:30]]

    for column, key in {
        "women": lambda ls: women(ls)[0] / sum(women(ls)),
        "g1": lambda ls: women(ls)[1],
    }.items():
        section.locator(f"th[data-key={column}] button").click()
        assert shown(key) == expected(key)


def download(tab, name):
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name=name, exact=True).click()
    return waiting.value.suggested_filename, waiting.value.path().read_text("utf-8")


@pytest.mark.parametrize("name", ["two", "improbable", "hostile"])
def test_the_data_is_downloaded_from_the_page_itself(visit, biases, name):
    content, path = biases(name)
    tab = visit(path, accept_downloads=True)
    file, text = download(tab, "JSON")
    assert file == "bias.json" and json.loads(text) == with_digest(content)
    all_lines = [(m["name"], o) for m in content["models"] for o in m["occupations"]]
    file, text = download(tab, "Scores as CSV")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    header = ["model", "occupation", "people", "sentences", "ppbs", "ppbs_low", "ppbs_high"]
    header += ["normalised", "normalised_low", "normalised_high", "accuracy", *cases.RECORDED]
    assert file == "bias.csv" and rows[0] == header
    for row, (model, line) in zip(rows[1:], all_lines, strict=True):
        people = [sum(r[g] for r in line["confusion"].values()) for g in cases.RECORDED]
        assert row[:2] == [model, line["occupation"]] and list(map(int, row[-4:])) == people
        given = [
            (line[k] or {}).get(e) for k in ("ppbs", "normalised") for e in ("mean", "low", "high")
        ]
        assert [float(cell) if cell else None for cell in row[4:11]] == [*given, line["accuracy"]]
    file, text = download(tab, "Predictions as CSV")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert file == "confusion.csv" and rows[1:] == [
        [model, line["occupation"], predicted, *(str(row[g]) for g in cases.RECORDED)]
        for model, line in all_lines
        for predicted, row in line["confusion"].items()
    ]


def test_names_that_try_to_get_out_do_not(visit, biases):
    content, path = biases("hostile")
    tab = visit(path)
    for opener in tab.locator("#scores button.open").all():
        opener.click()
    for place in tab.locator(".plot.anchor").all()[:6]:
        place.hover()
    for button in tab.locator(".sort").all():
        button.click()
    assert tab.locator("#scores .detail").count() == len(content["models"][0]["occupations"])
    assert tab.evaluate("window.hacked") is None
    assert tab.locator("img").count() == 0 and tab.locator("script").count() == 2


@pytest.mark.slow
def test_five_hundred_occupations_stay_smooth(visit, biases, capsys):
    _, path = biases("many")
    assert path.stat().st_size < 4_000_000
    tab = visit(path)
    assert tab.evaluate("document.querySelectorAll('*').length") < 3_500
    assert names(tab.locator("#scores")) and len(names(tab.locator("#scores"))) == 30
    spent = tab.evaluate(
        "(() => {const t = performance.now();"
        " document.querySelector('#scores th[data-key=m1] button').click();"
        " return performance.now() - t;})()"
    )
    timing = tab.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    with capsys.disabled():
        print(
            f"\n{path.stat().st_size / 1e6:.1f} MB, 500 occupations of 4 models: "
            f"interactive after {timing:.0f} ms, sorted in {spent:.0f} ms"
        )


def test_printed_it_has_all_occupations_and_no_controls(visit, biases, tmp_path):
    tab = visit(biases("sixty")[1])
    tab.evaluate(
        "addEventListener('beforeprint', () => {window.rows = ['scores', 'people'].map((id) =>"
        " document.querySelectorAll(`#${id} tbody tr[data-index]`).length);})"
    )
    assert tab.pdf(path=tmp_path / "page.pdf", format="A4").startswith(b"%PDF")
    assert tab.evaluate("window.rows") == [60, 60]
    tab.emulate_media(media="print")
    for hidden in ("#scores .controls", "#theme", "#downloads", "nav", ".pager"):
        assert not tab.locator(hidden).first.is_visible(), hidden


def test_without_scripts_findings_and_figures_are_there(visit, biases):
    tab = visit(biases("sixty")[1], java_script_enabled=False)
    assert tab.locator("#scores tbody tr:visible").count() == 60
    assert tab.locator("#people tbody tr:visible").count() == 60
    assert tab.locator("#scores .k-ppbs use:visible").count() == 240
    assert tab.locator("#scores .k-normalised:visible").count() == 0
    assert tab.locator("#predicted table:visible").count() == 4
    for hidden in (".controls", "#theme", "#downloads"):
        assert not tab.locator(hidden).first.is_visible()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        *(("two", 1280, "light"), ("two", 1280, "dark"), ("sixty", 390, "dark")),
        *(("single", 1280, "light"), ("hostile", 1280, "light")),
    ],
)
def test_the_page_of_bias_scores_is_accessible(visit, biases, axe, name, width, scheme):
    tab = visit(biases(name)[1], width=width, color_scheme=scheme)
    tab.locator("#scores button.open").first.click()
    if name != "single":
        tab.locator("#scores .series button").first.click()
    tab.locator("#scores .plot.anchor").last.hover()
    assert serious(axe, tab) == []
