"""The page of a comparison in a real browser."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hornlens.api import compare, extract
from hornlens.logic.decisions import Policy
from hornlens.report.page import page as page_of
from hornlens.report.page.comparison import comparison_page
from hornlens.results.analysis.comparison import COMPARISON
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.writing import extraction_as_json
from tests import report_cases as cases
from tests.command import hornlens


@cache
def comparison():
    """Three results: a model, another, and one that was cut off."""
    other = {"She": -0.1, "He": -3.0}

    def model(prompt, words):
        return other if "banker" in prompt else cases.planted(prompt, words)

    cut = Settings("budget", max_equivalence_queries=3)
    names = ("first", "other", "a result that was cut off")
    results = [
        extract(cases.planted, cases.PAPER, cache=False),
        extract(model, cases.PAPER, cache=False),
        extract(cases.planted, cases.PAPER, settings=cut, cache=False),
    ]
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.json" for name in names]
        for path, result in zip(paths, results, strict=True):
            path.write_text(json.dumps(extraction_as_json(result)))
        shown = hornlens("compare", *paths, "--format", "json")
    return json.loads(shown.stdout)


@pytest.fixture
def tab(visit, tmp_path):
    path = tmp_path / "c.html"
    path.write_text(page_of("comparison.json", comparison()))
    return visit(path, accept_downloads=True)


def test_outcomes_are_filtered_searched_and_sorted(tab):
    first, *_ = comparison()["comparisons"]
    section = tab.locator("#pair-1")
    rows = section.locator("tbody tr")
    held = ("entailed", "vacuous")
    lost = [r for r in first["rules_of_left_in_right"] if r["fate"] not in held]
    section.get_by_role("button", name="Lost").click()
    assert rows.count() == len(lost) > 0
    assert all("lost" in text for text in rows.all_inner_texts())
    section.get_by_role("button", name="Contradicted").click()
    assert all("contradicted" in text for text in rows.all_inner_texts())
    section.get_by_role("button", name="All", exact=True).click()
    section.get_by_label("Search").fill("banker")
    assert all("banker" in text for text in rows.all_inner_texts()) and rows.count() > 0
    section.get_by_label("Search").fill("")
    section.locator("th[data-key=rule] button").click()
    rules = section.locator("tbody .rule").all_inner_texts()
    collated = tab.evaluate(
        "list => [...list].sort((a, b) => a.localeCompare(b, 'en', {numeric: true}))", rules
    )
    assert rules == collated and len(rules) > 10
    assert section.locator("th[data-key=rule]").get_attribute("aria-sort") == "ascending"


def test_every_pair_has_its_names_and_its_sentences(tab):
    pairs = comparison()["comparisons"]
    assert len(pairs) == 3
    for i, pair in enumerate(pairs, start=1):
        section = tab.locator(f"#pair-{i}")
        assert section.locator("h2").inner_text() == f"{pair['left']} and {pair['right']}"
        assert section.locator(".sentence").all_inner_texts() == pair["sentences"]
        owners = section.locator("tbody td:nth-child(2)").all_inner_texts()
        assert set(owners) <= {pair["left"], pair["right"]}


def test_what_differs_comes_before_the_rules(tab):
    rows = tab.locator("#differences tbody tr").all()
    shown = [row.locator("th, td").all_inner_texts() for row in rows]
    assert shown == [["certificate", "exact", "exact", "budget exhausted"]]
    assert tab.evaluate(
        "document.querySelector('#differences').compareDocumentPosition("
        "document.querySelector('#pair-1')) === Node.DOCUMENT_POSITION_FOLLOWING"
    )
    assert tab.locator("#not-alike").count() == 0


def test_rules_that_hold_vacuously_are_apart_and_another_policy_is_warned_of(visit, tmp_path):
    dull = extract(lambda p, w: {"She": 0.0, "He": 1.0}, cases.PAPER, cache=False)
    sharp = extract(cases.planted, cases.PAPER, policy=Policy(margin=0.4), cache=False)
    compared = compare([sharp, dull], ["sharp", "dull"])
    path = tmp_path / "c.html"
    path.write_text(page_of("comparison.json", COMPARISON.as_json(compared)))
    tab = visit(path)
    assert "not asked alike" in tab.locator("#not-alike").inner_text()
    assert "margin policy 0.4 0" in " ".join(tab.locator("#differences").inner_text().split())
    section = tab.locator("#pair-1")
    section.get_by_role("button", name="Vacuous").click()
    outcomes = [line.outcome for line in compared.comparisons[0].rules_of_left_in_right]
    rows = section.locator("tbody tr")
    assert rows.count() == outcomes.count("vacuous") > 0
    assert all("only vacuously" in text for text in rows.all_inner_texts())
    counts = [int(text) for text in section.locator(".tiles b").all_inner_texts()]
    assert sum(counts[:3]) == len(outcomes)


def test_what_a_cut_off_result_does_not_know_is_said(tab):
    section = tab.locator("#pair-2")
    assert "no recorded answer breaks it" in section.inner_text()
    assert "budget exhausted" in tab.locator("main > header").inner_text()


def test_a_contradicted_rule_shows_the_prompt_that_breaks_it(tab):
    section = tab.locator("#pair-1")
    section.get_by_label("Search").fill("banker")
    row = section.locator("tbody tr").filter(has_text="banker ∧ female → ⊥")
    assert "But other accepts {banker, female}" in row.inner_text()
    assert "is a banker." in row.inner_text()


def test_the_comparison_is_downloaded_from_the_page_itself(tab):
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="JSON").click()
    assert waiting.value.suggested_filename == "comparison.json"
    assert json.loads(waiting.value.path().read_text("utf-8")) == comparison()


def test_it_fits_a_narrow_screen(visit, tmp_path):
    path = tmp_path / "c.html"
    path.write_text(page_of("comparison.json", comparison()))
    tab = visit(path, width=390)
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    overflow = "t => t.scrollWidth <= t.clientWidth"
    assert tab.locator("#pair-1 .scroll").evaluate(overflow)


def test_rates_and_sentences_are_compared(visit, tmp_path):
    one = extract(cases.planted, cases.PAPER, cache=False)
    two = extract(lambda prompt, words: [-0.1, -3.0], cases.PAPER, cache=False)
    comparison = compare([one, two], ["one", "two"])
    path = tmp_path / "rates.html"
    path.write_text(comparison_page(comparison), "utf-8")
    tab = visit(path)
    lines = tab.locator("#rates tbody tr").all_inner_texts()
    assert len(lines) == min(25, len(comparison.rates))
    first = comparison.rates[0]
    counts = [f"{n} of {of}" for n, of in zip(first.given, first.asked, strict=True)]
    assert first.value in lines[0] and all(count in lines[0] for count in counts)
    said = tab.locator("#pair-1 tbody tr").all_inner_texts()
    assert any("The model always scores “He” higher than “She”" in text for text in said)
