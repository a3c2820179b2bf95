"""Rates and flips on the page of an extraction, in a real browser."""

from dataclasses import replace

import pytest

from hornlens.api import extract
from hornlens.logic.decisions import Policy
from hornlens.probes.probe import numbered
from tests import report_cases as cases


def test_bars_are_as_long_as_the_shares_and_say_them(visit, pages):
    tab = visit("demo")
    rates = pages.result("demo").rates
    charts = tab.locator("#rates table.rates")
    assert charts.count() == len(rates.attributes) == 3
    for chart, expected in zip(charts.all(), rates.attributes, strict=True):
        rows = chart.locator("tbody tr")
        assert rows.count() == len(expected.values)
        for row, rate in zip(rows.all(), expected.values, strict=True):
            picture = row.locator("svg")
            said = ", ".join(
                f"{word} {count}" for word, count in zip(["She", "He"], rate.counts, strict=True)
            )
            assert picture.get_attribute("aria-label") == f"{rate.value}: {said}"
            whole = picture.bounding_box()["width"]
            for i, share in enumerate(rate.shares):
                bar = picture.locator(f"rect.l{i}")
                width = bar.evaluate("r => r.width.baseVal.value") if bar.count() else 0
                assert abs(width - share * whole) < 1
            assert row.locator("td.n").all_inner_texts() == [str(n) for n in rate.counts]


def test_flips_are_shown_with_both_prompts_and_answers(visit, pages):
    tab = visit("demo")
    result = pages.result("demo")
    for place, expected in enumerate(result.rates.attributes):
        said = tab.locator("#rates .flip-count").nth(place).inner_text()
        assert f"changed the answer in {expected.flips:,} of {expected.pairs:,} pairs" in said
        details = tab.locator("#rates details").nth(place)
        assert not details.locator("table").is_visible()
        details.locator("summary").click()
        rows = details.locator("tbody tr")
        assert rows.count() == len(expected.examples) == 5
        for row, flip in zip(rows.all(), expected.examples, strict=True):
            prompts = row.locator(".prompt").all_inner_texts()
            for prompt, cell, label in zip(prompts, flip.cells, flip.labels, strict=True):
                word = result.question.words[label]
                assert prompt == result.show(cell)[0].replace("[MASK]", word)


@pytest.mark.slow
@pytest.mark.parametrize("name", cases.CASES)
def test_they_fit_a_narrow_screen(visit, pages, name):
    tab = visit(name, width=390)
    result = pages.result(name)  # a sift has no rates
    told = [each for each in result.rates.attributes if each.values] if result.has_rates else []
    assert tab.locator("#rates table.rates").count() == len(told)
    for details in tab.locator("#rates details").all():
        details.locator("summary").click()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_averaged_answer_is_not_pasted_into_a_sentence(visit, tmp_path):
    (template,) = cases.PAPER.templates
    twice = replace(cases.PAPER, variants=numbered((template, f"So {template}")))
    policy = Policy(phrasings="average")
    extract(cases.planted, twice, policy=policy, cache=False).save(tmp_path)
    tab = visit(tmp_path / "report.html")
    tab.locator("#rates summary").first.click()
    row = tab.locator("#rates .flips tbody tr").first
    assert "on average over 2 phrasings" in row.inner_text()
    assert row.locator(".prompt mark").count() == 0
