"""The page of a sifted result: listed, open and refuted rules, the curve, what was drawn."""

import csv
import io

import pytest

from tests import sifted_cases
from tests.browser.test_extraction_page import download


def texts(tab, selector):
    return [text.strip() for text in tab.locator(selector).all_inner_texts()]


def test_listed_open_and_refuted_rules_stand_in_that_order(visit, pages):
    tab, result = visit("sifted_ended"), pages.result("sifted_ended")
    order = tab.evaluate("[...document.querySelectorAll('main section[id]')].map((s) => s.id)")
    wanted = ["findings", "rules", "open", "refuted"]
    assert [name for name in order if name in wanted] == wanted
    findings = tab.inner_text("#findings")
    assert result.behind(0)[1] in findings
    assert not any(row.sentence in findings for row in result.open)
    refuted = result.certificate.sift.refutes(1, result.certificate.open)
    assert f"{refuted}." in tab.inner_text("#refuted")
    for name in ("rates", "map", "survival"):
        assert tab.locator(f"#{name}").count() == 0


def test_open_rules_are_searched_sorted_and_turned(visit, pages):
    tab, result = visit("sifted_ended"), pages.result("sifted_ended")
    assert tab.locator("#open tbody tr").count() == min(25, len(result.open))
    row = result.open[3]
    first, second = row.conditions[:2]
    tab.fill("#open input[type=search]", f"{first} {second}")
    shown = texts(tab, "#open tbody tr")
    assert shown and all(first in text and second in text for text in shown)
    tab.fill("#open input[type=search]", "")
    tab.click("#open th:nth-child(3) button")
    cells = [int(text) for text in texts(tab, "#open tbody td:nth-child(3)")]
    assert cells == sorted(cells, reverse=True)
    assert f"about {row.needs}" in tab.inner_text("#open tbody")


def test_the_evidence_says_what_was_drawn(visit, pages):
    tab, result = visit("sifted_prompted"), pages.result("sifted_prompted")
    tab.click("#rule-table button.open")
    drawn = {result.envelope.sifted.order[draw.at] for draw in result.envelope.sifted.draws}
    words = set()
    while True:
        for line in tab.locator("#rules table.prompts tbody tr").all():
            fields = line.locator("td")
            prompt, how = fields.first.inner_text(), fields.last.inner_text()
            cell = next(c for c in result.decisions if prompt_with(result, c) == prompt)
            assert how == ("at random" if cell in drawn else "chosen")
            words.add(how)
        more = tab.locator("#rules .evidence [data-turn=Next]:not(:disabled)")
        if not more.count():
            break
        more.click()
    assert words == {"at random", "chosen"}


def prompt_with(result, cell):
    word = ("good", "bad")[result.decisions[cell].winner]
    return result.show(cell)[0].replace("[MASK]", word)


def test_answers_are_downloaded_with_what_was_drawn(visit, pages):
    tab, result = visit("sifted_ended"), pages.result("sifted_ended")
    name, text = download(tab, "Answers as CSV")
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    assert name == "answers.csv" and len(lines) == len(result.decisions)
    at_random = sum(line["asked"] == "at random" for line in lines)
    assert at_random == len({draw.at for draw in result.envelope.sifted.draws})


def test_the_curve_falls_and_ends_with_the_last_question(visit, pages):
    tab, result = visit("sifted_ended"), pages.result("sifted_ended")
    record = result.envelope.sifted
    ways = tab.locator("#refuted .way")
    assert 1 < ways.count() <= 170
    heights = [float(ways.nth(i).get_attribute("y2")) for i in range(ways.count())]
    assert heights == sorted(heights)  # from above: fewer are lower
    assert ways.last.get_attribute("x2") == "100%"
    said = tab.locator("#refuted svg[role=img]").get_attribute("aria-label")
    assert f"{record.candidates:,} candidates at first" in said
    assert f"{record.curve[-1][1]:,} live after {len(record.order):,} questions" in said
    assert tab.locator("#refuted .fixed").count() == len(record.families)
    assert tab.locator("#refuted .families tbody tr").count() == len(record.families)


def test_rare_labels_are_findings_of_their_own(visit):
    tab = visit("sifted_rare")
    assert "times as often" in tab.inner_text("#findings")
    assert "times as often" in tab.inner_text("#exceptions")
    summary = tab.locator("#exceptions details summary")
    summary.click()
    assert tab.locator("#exceptions details li").count() == 20


def test_what_is_not_proved_is_said_where_somebody_asks(visit):
    tab = visit("sifted_ended")
    assert "not all of which are proved" in tab.inner_text("#ask-verdict")


@pytest.mark.parametrize("name", ["sifted_ended", "sifted_rare", "sifted_prompted"])
def test_it_fits_a_narrow_screen(visit, name):
    tab = visit(name, width=390)
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_page_without_labels_has_the_same_sections(visit, tmp_path):
    result = sifted_cases.case("unlabelled_ended")
    result.save(tmp_path)
    tab = visit(tmp_path / "report.html")
    assert tab.locator("#open tbody tr").count() == 25
    assert tab.locator("#refuted .way").count() > 1
    assert "No rule is shown yet." in tab.inner_text("#findings")
