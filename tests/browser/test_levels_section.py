"""The slider of the levels, and almost-rules with their exceptions, in a real browser."""

import pytest

import hornlens
from hornlens.report.summaries import left_out_in_words, level_in_words


@pytest.fixture(scope="module")
def almost(tmp_path_factory):
    """The page of a result with almost-rules."""
    folder = tmp_path_factory.mktemp("almost")
    settings = hornlens.Settings(min_confidence=0.9, max_conditions=2, detail="75%")
    result = hornlens.extract(settings=settings, cache=False)
    result.save(folder)
    return result, folder / "report.html"


def test_the_slider_shows_a_level_and_what_it_leaves_out(visit, almost):
    result, path = almost
    levels, tab = result.envelope.levels, visit(path)
    rows = tab.locator("#level-table > tbody > tr")
    assert rows.count() == levels.chosen == 9  # the level that was asked for
    for level in (0, 3, 9, 8, len(levels.steps)):
        tab.locator("#level-slider").fill(str(level))
        assert rows.count() == level
        assert tab.locator("#level-said").inner_text() == f"{level_in_words(levels, level)}."
        assert tab.locator("#level-left").inner_text() == left_out_in_words(levels, level)
        said = tab.locator("#level-slider").get_attribute("aria-valuetext")
        assert said == level_in_words(levels, level)


def test_exceptions_open_and_go_with_their_level(visit, almost):
    _, path = almost
    tab = visit(path)
    button = tab.locator("#level-table button.broken").first
    button.click()
    detail = tab.locator("#level-table > tbody > .detail")
    assert detail.locator("tbody tr").count() == 3
    assert "fashion designer" in detail.inner_text()
    tab.locator("#level-slider").fill("7")
    assert detail.count() == 0
    tab.locator("#level-slider").fill("8")
    assert detail.count() == 1
    button.click()
    assert detail.count() == 0


def test_almost_rules_stand_apart_with_all_their_exceptions(visit, almost):
    result, path = almost
    tab = visit(path)
    rows = tab.locator("#almost-table > tbody > tr")
    assert rows.count() == len(result.envelope.almost.rules) == 2
    assert "But for 3 of 60 prompts" in rows.first.inner_text()
    assert "no rules" in tab.locator("#almost .lead").inner_text()
    tab.locator("#almost-table button.broken").nth(1).click()
    assert tab.locator("#almost-table .detail tbody tr").count() == 4
    for sentence in tab.locator("#rule-table .said").all_inner_texts():
        assert not sentence.startswith("But for")


@pytest.mark.slow
def test_twenty_thousand_prompts_under_the_slider_stay_smooth(visit, pages):
    levels, tab = pages.content("large")["levels"], visit("large")
    last = len(levels["steps"])
    spent = tab.evaluate(
        "(last) => {const slider = document.getElementById('level-slider');"
        " const t = performance.now();"
        " for (const level of [last, 0, last, 1]) {"
        "  slider.value = level; slider.dispatchEvent(new Event('input'));}"
        " return (performance.now() - t) / 4;}",
        last,
    )
    assert tab.locator("#level-table > tbody > tr").count() == 1
    assert spent < 1_000  # far more than it takes: a page that hangs is found out
