"""The page of a model whose answers vary: what is certain, what is possible, what is undecided."""

from hornlens.logic.decisions import UNDECIDED
from hornlens.report.page.extraction import SETTLING
from hornlens.results.analysis.possible import possible_rules, undecided_of
from tests.browser.test_accessibility import serious
from tests.browser.test_extraction_page import ask
from tests.report_cases import PAPER


def test_what_is_certain_and_what_is_possible_stand_apart(visit, pages):
    result, tab = pages.result("varying"), visit("varying")
    lines = [line for line in possible_rules(result) if not line.certain]
    left = undecided_of(result)
    assert lines and left  # the case has what this is about
    lead = tab.locator("#possible .lead").inner_text()
    assert lead.startswith(f"{len(left)} prompts could not be decided, for the answers vary.")
    assert f"{len(lines)} possible rules" in tab.locator("#possible-caption").inner_text()
    rows = tab.locator("#possible tbody > tr")
    assert rows.count() == len(lines)
    certain = tab.locator("#rule-table .rule").all_inner_texts()
    for row, line in zip(rows.all(), lines, strict=True):
        assert row.locator("th").inner_text() not in certain
        assert row.locator("td").first.inner_text().startswith("Possibly: In its most frequent")
        assert row.locator("td.n").inner_text() == str(len(line.undecided))


def test_every_possible_rule_names_the_prompts_that_would_settle_it(visit, pages):
    result, tab = pages.result("varying"), visit("varying")
    lines = [line for line in possible_rules(result) if not line.certain]
    many = 0
    for row, line in zip(tab.locator("#possible tbody > tr").all(), lines, strict=True):
        prompts = [" / ".join(result.show(cell)) for cell, _ in line.undecided]
        place = row.locator("td").last
        assert place.locator("bdi").first.inner_text() == prompts[0]
        if len(prompts) > 1:
            place.locator("summary").click()
            assert place.locator("li").all_inner_texts() == prompts[1:SETTLING]
            many += 1
    assert many


def test_an_undecided_prompt_says_so_where_it_is_asked_about(visit, pages):
    content, tab = pages.content("varying"), visit("varying")
    answer = next(a for a in content["answers"] if a.get("abstained") == UNDECIDED)
    chosen = {
        a.name: next((v.name for v in a.values if v.name in answer["set"]), "unset")
        for a in PAPER.attributes
    }
    card = ask(tab, chosen).inner_text()
    assert "answers vary too much" in card and "fills in" not in card


def test_a_decided_prompt_has_counts_and_no_lead(visit, pages):
    content, tab = pages.content("varying"), visit("varying")
    answer = next(a for a in content["answers"] if a["winner"])
    chosen = {
        a.name: next((v.name for v in a.values if v.name in answer["set"]), "unset")
        for a in PAPER.attributes
    }
    verdict = ask(tab, chosen).locator("#ask-verdict").inner_text()
    asked = sum(answer["repeats"]) + answer.get("silent", 0)
    assert verdict.endswith(f", in {max(answer['repeats'])} of {asked} answers.")
    assert tab.locator("#map").count() == 0 and tab.locator(".strip").count() == 0


def test_the_certificate_says_the_risk_and_no_warning_takes_counts_for_chances(visit):
    words = visit("varying").locator("main").inner_text()
    assert "Certain despite noise" in words and "With probability 0.95 or more" in words
    assert "makes no difference" not in words and "are not told apart" not in words


def test_where_all_is_decided_no_other_rule_is_possible(visit):
    lead = visit("steady").locator("#possible .lead").inner_text()
    assert lead == "Every prompt is decided: no other rule is possible."


def test_the_page_is_accessible_with_all_prompts_open(visit, axe):
    tab = visit("varying")
    tab.evaluate("document.querySelectorAll('#possible details').forEach(d => { d.open = true })")
    assert serious(axe, tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
