"""The page of a table in a real browser: rules, lattice and concepts; light and dark."""

from dataclasses import replace
from random import Random

import pytest

from hornlens.exact.envelopes import envelope_of_table
from hornlens.logic.table import Table
from hornlens.logic.vocabulary import Vocabulary
from hornlens.report.page.result import result_page
from hornlens.result import Result
from hornlens.results.documents.tables import table_document


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = Random(7)
    names = tuple(f"attribute <{i}> & more" for i in range(9))
    rows = tuple(sum((rng.random() < 0.5) << i for i in range(9)) for _ in range(12))
    table = Table(Vocabulary(names), rows)
    made = tmp_path_factory.mktemp("table") / "report.html"
    named = Result.of_envelope(envelope_of_table(table), "t.csv")
    result = replace(named, table=table_document(table))
    made.write_text(result_page(result), encoding="utf-8")
    return made, result


@pytest.fixture
def opened(browser, file):
    page = browser.new_page()
    problems = []
    page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(file[0].as_uri())
    page.wait_for_selector("html[data-ready]")
    yield page
    page.close()
    assert not problems


def test_it_shows_rules_and_lattice_and_can_be_searched(opened, file):
    result = file[1]
    assert opened.locator("#lattice circle").count() == result.table.concepts
    assert opened.locator("#rules tbody tr").count() == min(25, len(result.rules))
    opened.locator("#concepts input").fill("attribute <3>")
    shown = opened.locator("#concepts tbody tr:visible")
    assert 0 < shown.count() < result.table.concepts
    assert all("attribute <3>" in text for text in shown.all_inner_texts())


def test_what_a_concept_is_above_and_below_is_lit(opened, file):
    lattice = file[1].table.lattice
    place = next(i for i, node in enumerate(lattice) if node.above and node.rows == 1)
    opened.locator(f'[data-node="{place}"] circle').hover()
    lit = opened.locator(".lattice.chosen g.lit").count()
    reached, waiting = set(), [place]
    while waiting:
        i = waiting.pop()
        if i not in reached:
            reached.add(i)
            waiting += lattice[i].above
    assert len(reached) + 1 <= lit <= len(lattice)


def test_it_is_accessible_in_light_and_dark(opened, axe):
    for _ in range(2):
        found = axe.run(opened)
        assert found.violations_count == 0, found.generate_report()
        opened.locator("#theme").click()
