"""The page of a study in a real browser: what people see and reach is what study.json says."""

import csv
import io
import json
import re

import pytest

from hornlens.formats.digests import with_digest
from hornlens.report.page import page as page_of
from tests import page_cases as cases
from tests.browser.test_accessibility import serious
from tests.report.test_report import rule_text
from tests.report.test_report_pages import percent

FITS = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture(scope="session")
def studies(tmp_path_factory):
    """Return a study.json and the path of its page."""
    folder, kept = tmp_path_factory.mktemp("studies"), {}

    def get(name):
        if name not in kept:
            path = folder / f"{name}.html"
            content = cases.STUDIES[name]()
            path.write_text(page_of("study.json", content, cases.times(content)), "utf-8")
            kept[name] = content, path
        return kept[name]

    return get


def field(place, label):
    """A select by the text of its label."""
    return place.locator("label.field").filter(has_text=re.compile(f"^{label}")).locator("select")


def shown(section):
    """The rules in a section's table, and the numbers beside them."""
    return (
        section.locator("table")
        .first.locator("tbody tr:has(.rule)")
        .evaluate_all(
            "rows => rows.map((r) => [r.querySelector('.rule').textContent,"
            " ...[...r.cells].slice(1).map((c) => c.textContent)])"
        )
    )


@pytest.mark.parametrize("name", cases.STUDIES)
def test_every_study_opens_and_fits_a_narrow_screen(visit, studies, name):
    tab = visit(studies(name)[1], width=390)
    assert tab.evaluate(FITS)
    if tab.locator(".point").count():
        tab.locator(".point").last.focus()
        assert tab.locator(".tip:visible").count() == 1
    assert tab.evaluate(FITS)


def test_rules_are_chosen_by_model_budget_stability_and_truth(visit, studies):
    content, path = studies("four")
    section = visit(path).locator("#rules")
    assert {row[2] for row in shown(section)} == {"200"}  # the largest budget, stable rules
    part = content["models"][1]["budgets"][0]
    field(section, "Model").select_option("b")
    field(section, "Queries").select_option("50")
    stable = [r for r in part["rules"] if r["found"] >= 7]
    assert [row[0] for row in shown(section)] == [rule_text(r) for r in stable]
    assert section.get_by_role("status").inner_text().startswith(f"{len(stable)} of ")
    field(section, "Show").select_option("all")
    field(section, "True").select_option("not true")
    false = [r for r in part["rules"] if not r["true"]]
    assert shown(section) == [
        [rule_text(r), "b", "50", str(r["found"]), str(r["entailed"]), "", "not true"]
        for r in false
    ]
    assert 0 < len(false) <= 25
    section.get_by_label("Search").fill("FEMALE v1")
    wanted = [rule_text(r) for r in false]
    wanted = [text for text in wanted if "female" in text and "v1" in text]
    assert [row[0] for row in shown(section)] == wanted
    section.get_by_label("Search").fill("no such words")
    assert shown(section) == [] and section.get_by_text("No rules match.").is_visible()


def test_rules_are_sorted_and_paged(visit, studies):
    content, path = studies("crowded")
    section = visit(path).locator("#rules")
    for label in ("Model", "Queries", "Show"):
        field(section, label).select_option("all")
    everything = [r for m in content["models"] for p in m["budgets"] for r in p["rules"]]
    header = section.locator("th[data-key=entailed]")
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "descending"
    counts = []
    while True:
        counts += [int(row[4]) for row in shown(section)]
        onward = section.get_by_role("button", name="Next rules")
        if onward.is_disabled():
            break
        onward.click()
    assert counts == sorted((r["entailed"] for r in everything), reverse=True)
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert int(shown(section)[0][4]) == min(counts)


def test_the_exact_rules_are_sorted_by_any_budget(visit, studies):
    content, path = studies("four")
    section = visit(path).locator("#exact")
    field(section, "Model").select_option("c")
    section.locator("th[data-key=b1] button").click()
    counts = [r["entailed"]["100"] for r in content["models"][2]["exact"]["rules"]]
    assert [int(row[5]) for row in shown(section)] == sorted(counts, reverse=True)[:15]
    section.locator("th[data-key=margin] button").click()
    section.locator("th[data-key=margin] button").click()
    margins = [row[3] for row in shown(section)]
    assert margins[0] == "0.00" and margins == sorted(margins, key=float)


def test_the_papers_rules_are_filtered(visit, studies):
    content, path = studies("four")
    section = visit(path).locator("#published")
    field(section, "Stable").select_option("the paper’s only")
    rows = shown(section)
    lost = [r for m in content["models"][:2] for p in m["budgets"] for r in p["published"]]
    lost = [r for r in lost if r["found"] < 7]
    assert sorted(row[0] for row in rows) == sorted(map(rule_text, lost)) and lost
    field(section, "Stable").select_option("ours only")
    assert all(row[3] == "–" and int(row[4]) >= 7 for row in shown(section))


def test_a_mark_shows_every_runs_value_when_pointed_at_or_focused(visit, studies):
    content, path = studies("four")
    tab = visit(path)
    chart = tab.locator("figure[data-measure=precision]")
    point = chart.locator(".point[data-model='1'][data-budget='0']")
    part = content["models"][1]["budgets"][0]
    runs = [r for r in part["runs"] if r["precision"] is not None]
    expected = f"b, 50 queries precision, mean {percent(part['mean']['precision'])} " + " ".join(
        f"seed {r['seed']} {percent(r['precision'])}" for r in runs
    )
    tip = tab.locator(".tip:visible")
    point.locator(".mean").hover()
    assert " ".join(tip.inner_text().split()) == expected
    tab.mouse.move(5, 5)
    assert tip.count() == 0
    point.focus()
    assert " ".join(tip.inner_text().split()) == expected
    tab.keyboard.press("Escape")
    assert tip.count() == 0


def test_the_arrow_keys_go_from_mark_to_mark(visit, studies):
    tab = visit(studies("four")[1])
    chart = tab.locator("figure[data-measure=recall]")
    assert chart.locator(".point[tabindex='0']").count() == 1
    chart.locator(".point[tabindex='0']").focus()

    def at():
        return tab.evaluate(
            "[document.activeElement.dataset.model, document.activeElement.dataset.budget]"
        )

    path = {"ArrowRight": ["0", "1"], "ArrowDown": ["1", "1"], "End": ["1", "2"]}
    path |= {"ArrowUp": ["0", "2"], "ArrowLeft": ["0", "1"], "Home": ["0", "0"]}
    for key, place in path.items():
        tab.keyboard.press(key)
        assert at() == place, key
    tab.keyboard.press("ArrowLeft")  # there is nothing further
    assert at() == ["0", "0"] and chart.locator(".point[tabindex='0']").count() == 1


def test_models_come_and_go_in_both_charts(visit, studies):
    tab = visit(studies("four")[1])
    button = tab.locator("#recall .series").get_by_role("button", name="a", exact=True)
    names = tab.locator("#recall .series button").all_inner_texts()
    assert names == ["a", "b", "c"]  # d has no rules, and so no recall
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    for chart in tab.locator(".chart").all():
        assert chart.locator(".point:visible").evaluate_all(
            "points => [...new Set(points.map((p) => p.dataset.model))]"
        ) == ["1", "2"]
        assert chart.locator(".point[tabindex='0']").get_attribute("data-model") == "1"
    button.click()
    assert tab.locator(".chart .point[data-model='0']:visible").count() == 6


def download(tab, name):
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name=name, exact=True).click()
    return waiting.value.suggested_filename, waiting.value.path().read_text("utf-8")


@pytest.mark.parametrize("name", ["four", "unjudged", "hostile"])
def test_the_data_is_downloaded_from_the_page_itself(visit, studies, name):
    content, path = studies(name)
    tab = visit(path, accept_downloads=True)
    file, text = download(tab, "JSON")
    assert file == "study.json" and json.loads(text) == with_digest(content)
    parts = [(m["model"], p) for m in content["models"] for p in m["budgets"]]
    file, text = download(tab, "Rules as CSV")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert file == "rules.csv" and rows[1:] == [
        [
            *(model, str(part["budget"]), "; ".join(r["if"])),
            "FALSE" if r["then"] is None else "; ".join(r["then"]),
            *(str(r["found"]), str(r["entailed"])),
            {True: "true", False: "false", None: ""}[r["true"]],
        ]
        for model, part in parts
        for r in part["rules"]
    ]
    file, text = download(tab, "Runs as CSV")
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    runs = [run for _, part in parts for run in part["runs"]]
    assert file == "runs.csv" and len(lines) == len(runs)
    for line, run in zip(lines, runs, strict=True):
        assert int(line["model_calls"]) == run["statistics"]["model_calls"]
        known = run.get("recall")
        assert line["recall"] == "" if known is None else float(line["recall"]) == known


def test_names_that_try_to_get_out_do_not(visit, studies):
    tab = visit(studies("hostile")[1])
    for point in tab.locator(".point").all()[:4]:
        point.focus()
    for select in tab.locator("select").all():
        select.select_option(index=1)
    for button in tab.locator(".sort").all():
        button.click()
    tab.locator("aside a").first.evaluate("a => a.href.startsWith('file:') || a.click()")
    assert tab.locator("aside a").first.evaluate("a => a.protocol") == "file:"
    assert tab.evaluate("window.hacked") is None
    assert tab.locator("img").count() == 0 and tab.locator("script").count() == 2


def test_everything_is_reached_with_the_tab_key_and_seen_to_be(visit, studies):
    tab = visit(studies("four")[1])
    reached = []
    for _ in range(120):
        tab.keyboard.press("Tab")
        name, outline, mark = tab.evaluate(
            "(() => {const a = document.activeElement; const s = getComputedStyle(a);"
            " const m = a.querySelector?.('.mean');"
            " if (a === document.body) return ['', true, true];"
            " return [(a.labels?.[0]?.textContent ?? a.getAttribute('aria-label') ?? a.textContent)"
            ".trim().slice(0, 30), s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2,"
            " m && parseFloat(getComputedStyle(m).strokeWidth) >= 2];})()"
        )
        if name == "":
            break
        assert outline or mark, f"no visible focus on {name}"
        reached.append(name)
    for wanted in ("JSON", "Recall", "Search", "Next rules", "200 queries", "Paper’s runs"):
        assert wanted in reached, wanted
    assert sum(name.startswith("\u2068") for name in reached) == 2  # one stop a chart


def test_printed_it_has_the_stable_rules_and_no_controls(visit, studies, tmp_path):
    content, path = studies("four")
    tab = visit(path)
    tab.evaluate(
        "addEventListener('beforeprint', () => {"
        " window.rows = document.querySelectorAll('#rules tbody tr[data-stable=yes]').length;})"
    )
    assert tab.pdf(path=tmp_path / "page.pdf", format="A4").startswith(b"%PDF")
    stable = [r for m in content["models"] for p in m["budgets"] for r in p["rules"]]
    assert tab.evaluate("window.rows") == sum(r["found"] >= 7 for r in stable)
    tab.emulate_media(media="print")
    assert tab.locator("#rules tr[data-stable=no]:visible").count() == 0
    assert tab.get_by_text("Printed are the stable ones").is_visible()
    for hidden in ("#rules .controls", "#theme", "#downloads", "nav", ".pager"):
        assert not tab.locator(hidden).first.is_visible(), hidden


def test_without_scripts_findings_charts_and_tables_are_there(visit, studies):
    content, path = studies("four")
    tab = visit(path, java_script_enabled=False)
    rules = sum(len(p["rules"]) for m in content["models"] for p in m["budgets"])
    assert tab.locator("#rules tbody tr:visible").count() == rules
    assert tab.locator("#recall tbody tr:visible").count() == 12
    assert tab.locator(".chart .mean:visible").count() == 18
    assert tab.locator(".findings").first.is_visible()
    for hidden in (".controls", "#theme", "#downloads"):
        assert not tab.locator(hidden).first.is_visible()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        *(("four", 1280, "light"), ("four", 1280, "dark"), ("four", 390, "light")),
        *(("unjudged", 1280, "dark"), ("empty", 1280, "light"), ("hostile", 1280, "dark")),
    ],
)
def test_the_page_of_a_study_is_accessible(visit, studies, axe, name, width, scheme):
    tab = visit(studies(name)[1], width=width, color_scheme=scheme)
    if tab.locator(".point").count():
        tab.locator("#recall .series button").first.click()
        tab.locator(".point:visible").first.focus()
    assert serious(axe, tab) == []
