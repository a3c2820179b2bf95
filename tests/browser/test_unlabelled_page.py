"""The page of results without labels in a real browser: of targets, formulas, tables, experts."""

import csv
import io
import json

import pytest

from hornlens.results.documents.saving import extraction_files
from tests import unlabelled_cases as cases
from tests.browser.test_accessibility import serious
from tests.browser.test_extraction_page import download
from tests.report_cases import NASTY


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Save a case; return its result and its page."""
    place, kept = tmp_path_factory.mktemp("unlabelled"), {}

    def get(name):
        if name not in kept:
            kept[name] = {**cases.CASES, "many": cases.many, "audited": cases.audited}[name]()
            kept[name].save(place / name)
        return kept[name], place / name / "report.html"

    return get


def status(tab):
    return tab.locator("#rule-controls .status").inner_text()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", [*cases.CASES, "audited"])
def test_every_page_opens_and_fits(visit, saved, name, width):
    result, path = saved(name)
    tab = visit(path, width=width)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert result.envelope.certificate.sentence in tab.locator("aside").inner_text()
    assert tab.locator("#rule-table > tbody > tr").count() == min(25, len(result.rules))
    assert tab.evaluate("window.hacked") is None


@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [
        ("visits", "light", 1280),
        ("visits", "dark", 390),
        ("summed_formula", "dark", 1280),
        ("summed_table", "light", 390),
        ("table", "dark", 1280),
        ("exploration", "light", 1280),
        ("silent", "light", 1280),
        ("hostile", "dark", 390),
    ],
)
def test_it_is_accessible(visit, axe, saved, name, scheme, width):
    tab = visit(saved(name)[1], width=width, color_scheme=scheme)
    for button in tab.locator("button.open").all()[:3]:
        button.click()
    assert serious(axe, tab) == []


def test_rules_are_searched_and_narrowed_down_by_variable(visit, saved):
    result, path = saved("formula")
    tab = visit(path)
    assert status(tab) == "7 rules"
    tab.get_by_label("Search").fill("always swims")
    assert status(tab) == "2 of 7 rules"
    tab.get_by_label("Search").fill("")
    tab.get_by_label("Variable").select_option("fur")
    assert status(tab) == "1 of 7 rules"
    assert "feathers ∧ fur → ⊥" in tab.locator("#rule-table > tbody").inner_text()
    tab.get_by_label("Variable").select_option("")
    assert status(tab) == "7 rules"
    assert len(result.rules) == 7


def test_a_rule_opens_to_its_forms_and_its_warrant(visit, saved):
    tab = visit(saved("formula")[1])
    tab.locator("#findings a").first.click()
    assert tab.locator("#rule-1 .open").get_attribute("aria-expanded") == "true"
    opened = tab.locator("#rule-1-evidence").inner_text()
    assert "bird → feathers ∧ eggs" in opened and "Proved: no case breaks it." in opened
    assert "forces" not in opened and "are in envelope.json" not in opened


def test_a_rule_of_a_target_opens_to_the_answers_behind_it(visit, saved):
    result, path = saved("visits")
    tab = visit(path)
    tab.locator("#rule-1 .open").click()
    opened = tab.locator("#rule-1-evidence")
    first = result.strongest_first()[0]
    assert opened.locator("tbody tr").count() == min(10, first.support)
    assert set(opened.locator("tbody td:nth-child(2)").all_inner_texts()) == {"rejected"}
    assert "forces the rule if the target, asked, rejected it" in opened.inner_text()
    tab.get_by_label("Attribute").select_option("sex")
    tab.get_by_label("Value").select_option("female")
    assert status(tab) == "1 of 2 rules"


def test_what_no_horn_rule_can_say_is_an_intersection_of_what_is_accepted(visit, saved):
    tab = visit(saved("not_horn")[1])
    rows = tab.locator("#non-horn tbody tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [
        ["{}", "{tea} ∩ {coffee}"],
        ["{milk}", "{tea, milk} ∩ {coffee, milk}"],
    ]


@pytest.mark.parametrize("name", ["summed_formula", "summed_table"])
def test_exceptions_of_almost_rules_are_all_shown(visit, saved, name):
    result, path = saved(name)
    tab = visit(path)
    rule = result.envelope.almost.rules[0]
    tab.locator("#almost-table button.broken").first.click()
    shown = tab.locator("#almost-table .detail tbody tr")
    assert shown.count() == min(10, rule.broken)
    first = ", ".join(result.envelope.vocabulary.names_of(rule.exceptions[0]))
    text = shown.first.inner_text()
    assert f"{{{first}}}" in text
    assert (f"line {rule.lines[0]}" in text) if rule.lines else "line" not in text
    slider = tab.locator("#level-slider")
    slider.fill("1")
    assert tab.locator("#level-table > tbody > tr").count() == 1


@pytest.mark.parametrize("name", ["visits", "budget", "formula", "table", "exploration"])
def test_the_files_of_the_page_are_those_on_disk(visit, saved, name):
    result, path = saved(name)
    files, _ = extraction_files(result)
    tab = visit(path)
    assert download(tab, "Rules as CSV") == ("rules.csv", files["rules.csv"])
    held, text = download(tab, "JSON")
    assert held == "envelope.json"
    assert json.loads(text) == json.loads(files["envelope.json"])
    if result.asked:
        lines = list(csv.reader(io.StringIO(download(tab, "Answers as CSV")[1])))
        assert lines[0] == ["cell", "sex", "age", "place", "winner", "margin"]
        assert len(lines) == len(result.decisions) + 1
        assert {line[-2] for line in lines[1:]} == {"accepted", "rejected", ""}


def test_three_thousand_rules_are_turned_a_page_at_a_time(visit, saved):
    tab = visit(saved("many")[1])
    assert status(tab) == "3,000 rules"
    assert tab.locator("#rule-table > tbody > tr").count() == 25
    tab.locator("#rule-pager [data-turn=Next]").click()
    assert "26–50 of 3,000" in tab.locator("#rule-pager").inner_text()
    tab.get_by_label("Search").fill("v37 v41")
    assert status(tab) == "1 of 3,000 rules"
    tab.locator("#rule-table .open").first.click()
    assert "v37 and v41 never go together." in tab.locator(".detail").inner_text()
    assert tab.get_by_role("button", name="JSON").count() == 0  # the page has not all of it


def test_without_scripts_all_is_there(visit, saved):
    result, path = saved("summed_table")
    tab = visit(path, java_script_enabled=False)
    assert tab.locator("#rule-table > tbody > tr").count() == len(result.rules)
    assert tab.locator("#rule-controls").is_hidden()


def test_hostile_names_are_read_as_they_are(visit, saved):
    tab = visit(saved("hostile")[1])
    tab.locator("#rule-1 .open").click()
    opened = tab.locator("#rule-1-evidence").inner_text()
    assert NASTY[0] in opened and NASTY[1] in opened
    assert tab.evaluate("window.hacked") is None
    assert tab.locator("img").count() == 0
