"""Rules by phrasings, and each phrasing's own answers, in a real browser."""

import csv
import io

import pytest

from hornlens.results.analysis.worlds import survival
from tests import report_cases as cases
from tests.browser.test_extraction_page import ask, download, field

SIGNS = {"holds": "●", "vacuous": "○", "broken": "×", "unknown": "?"}
MANY = ["phrasings", "sampled_phrasings"]


@pytest.mark.parametrize("name", MANY)
def test_the_picture_shows_what_becomes_of_each_rule_in_each_phrasing(visit, pages, name):
    result, tab = pages.result(name), visit(name)
    lines = survival(result)
    rows = tab.locator("#survival-table > tbody > tr")
    assert 0 < len(lines) <= 25 and rows.count() == len(lines)
    names = [world.world for world in result.worlds]
    for row, line in zip(rows.all(), lines, strict=True):
        assert row.locator(".lot").all_inner_texts() == [SIGNS[o] for o in line.outcomes]
        said = [sign.get_attribute("aria-label") for sign in row.locator(".lot").all()]
        assert said == [f"{n}: {o}" for n, o in zip(names, line.outcomes, strict=True)]
        assert row.locator("td.n").inner_text() == f"{line.kept} of {len(names)}"
    lead = tab.locator("#survival .lead").inner_text()
    everywhere = sum(line.everywhere for line in lines)
    assert f"{len(lines)} rules are unbroken in some phrasing, {everywhere} of them in all" in lead


def test_the_cases_have_rules_that_survive_and_rules_that_do_not(pages):
    outcomes = {o for line in survival(pages.result("phrasings")) for o in line.outcomes}
    assert {"holds", "broken"} <= outcomes
    outcomes = {o for line in survival(pages.result("sampled_phrasings")) for o in line.outcomes}
    assert {"holds", "broken", "unknown"} <= outcomes


def test_a_broken_rule_opens_to_the_answer_that_breaks_it(visit, pages):
    content, tab = pages.content("phrasings"), visit("phrasings")
    place, line = next((i, x) for i, x in enumerate(content["survival"]) if x["broken_in"])
    name, position = next(iter(line["broken_in"].items()))
    answer = content["answers"][position]
    variant = next(v for v in content["variants"] if v["name"] == name)
    row = tab.locator("#survival-table > tbody > tr").nth(place)
    button = row.get_by_role("button", name=f"{name}: broken")
    button.click()
    shown = tab.locator("#survival-table .detail").inner_text()
    word = variant["label"][answer["winner"]]
    assert answer["variant"] == name and f"Broken in {name} by:" in shown
    assert answer["prompts"][0].replace("[MASK]", word) in shown
    button.click()
    assert tab.locator("#survival-table .detail").count() == 0


def test_asked_yourself_every_phrasing_answers_in_its_own_words(visit, pages):
    content, tab = pages.content("phrasings"), visit("phrasings")
    words = {v["name"]: v["label"] for v in content["variants"]}
    for colour in ("unset", "red", "blue"):
        for size in ("unset", "big", "small"):
            card = ask(tab, {"colour": colour, "size": size})
            named = sorted({colour, size} - {"unset"})
            here = [a for a in content["answers"] if sorted(a["set"]) == named]
            assert [a["variant"] for a in here] == list(words)
            filled = [
                a["prompts"][0].replace("[MASK]", words[a["variant"]][a["winner"]]) for a in here
            ]
            assert card.locator(".prompt").all_inner_texts() == filled
            said = card.locator("#ask-verdict").inner_text()
            for label in ("g", "b"):
                if count := sum(a["winner"] == label for a in here):
                    assert f"{label} in {count}" in said


def test_the_map_shows_one_phrasing_or_the_mean_of_all(visit, pages):
    content, tab = pages.content("phrasings"), visit("phrasings")
    field(tab, "#map-controls", "Rows").select_option(label="colour")
    field(tab, "#map-controls", "Columns").select_option(label="size")
    cell = "#map-body tbody tr:nth-child(2) td:nth-child(2) button"  # red, unset
    for chosen, wanted in (("averaged", None), ("turned", "turned"), ("norsk", "norsk")):
        field(tab, "#map-controls", "phrasing").select_option(label=chosen)
        tab.locator(cell).click()
        asked = sum(
            a["set"] == ["red"] and wanted in (None, a["variant"]) for a in content["answers"]
        )
        assert tab.locator("#map-picked .prompts tbody tr").count() == asked > 0


def test_answers_as_csv_say_the_phrasing_of_each(visit, pages):
    content = pages.content("phrasings")
    _, text = download(visit("phrasings", accept_downloads=True), "Answers as CSV")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    given = [(r["prompt"], r["phrasing"], r["winner"], float(r["g"])) for r in rows]
    answers = content["answers"]
    assert given == [(a["prompts"][0], a["variant"], a["winner"], a["scores"][0]) for a in answers]


def test_an_average_is_told_as_one_and_pasted_into_no_sentence(visit, pages):
    content, tab = pages.content("averaged"), visit("averaged", accept_downloads=True)
    assert tab.locator("#survival").count() == 0
    assert "on average over 2 phrasings" in tab.locator("#question").inner_text()
    tab.click("#rule-1 .open")
    blanks = tab.locator(".evidence .prompt mark").all_inner_texts()
    assert blanks and set(blanks) == {"▁▁▁"}
    card = ask(tab, {"colour": "red", "size": "unset"})
    assert set(card.locator(".prompt mark").all_inner_texts()) == {"▁▁▁"}
    assert "prefers good on average over 2 phrasings" in card.inner_text()
    _, text = download(tab, "Answers as CSV")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [r["prompts"] for r in rows] == [" | ".join(a["prompts"]) for a in content["answers"]]
    assert [float(r["mean of good"]) for r in rows] == [a["scores"][0] for a in content["answers"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", MANY)
def test_on_a_narrow_screen_the_sentences_stay_and_the_symbols_go(visit, name, scheme):
    tab = visit(name, width=390, color_scheme=scheme)
    for table in ("#rule-table", "#survival-table"):
        row = tab.locator(f"{table} > tbody > tr").first
        box = row.locator(".rule").bounding_box()  # it may stay as the name of a button, unseen
        assert row.locator(".said").is_visible() and (box is None or box["width"] <= 1)
    tab.get_by_role("button", name="Canonical").click()
    row = tab.locator("#rule-table > tbody > tr").first
    assert row.locator(".rule").bounding_box()["width"] > 1
    assert not row.locator(".said").is_visible()
    for broken in tab.locator("#survival-table button.lot").all():
        broken.click()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_page_without_scripts_has_the_picture_too(visit, pages):
    tab = visit("phrasings", java_script_enabled=False)
    assert tab.locator("#survival-table tbody tr").count() == len(
        survival(pages.result("phrasings"))
    )
    assert cases.COLOURS.variants[0].name in tab.locator("#survival").inner_text()
