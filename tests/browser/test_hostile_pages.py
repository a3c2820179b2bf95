"""Every text of every kind of document made hostile: no page runs, loads or shows any of it."""

import csv
import json
from dataclasses import replace

import pytest

import hornlens
from hornlens.errors import HornlensError
from hornlens.exact.envelopes import envelope_of_formula, envelope_of_table
from hornlens.logic.basis import dg_basis
from hornlens.logic.certificates import explored
from hornlens.logic.cnf import Cnf, clause_of
from hornlens.logic.envelope import Envelope
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from hornlens.report.page import page as page_of
from hornlens.result import Result
from hornlens.results.documents.tables import table_document
from hornlens.targets.functions import FunctionTarget
from tests import page_cases, unlabelled_cases
from tests.browser.test_comparison_page import comparison
from tests.command import ROOT
from tests.explanation_cases import explained
from tests.faults.rounds import rounds
from tools.site.drawing import drawn, svg

PAYLOAD = "</script><img src=x onerror=hacked=1><script>hacked=2</script>\"'`${hacked=3}{{7*7}}"
MOST = rounds(14, 200)
"""How many different texts of a document are changed."""
INJECTED = """(plain) => {
  const whole = new DOMParser().parseFromString(plain, "text/html");
  const scripts = (page) => page.querySelectorAll("script").length;
  return scripts(document) - scripts(whole);
}"""
"""How many scripts a page has that the page without hostile texts does not have."""
REQUESTED = """performance.getEntriesByType("resource").map((entry) => entry.name)
  .filter((name) => !/^(data|blob):/.test(name))"""


def texts(content):
    """Return different texts of a document, short and long ones; none is the name of a field."""
    different, waiting = {}, [content]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
        elif isinstance(part, str) and part:
            different[part] = None
    names = sorted(different.keys() - content.keys(), key=lambda text: (len(text), text))
    return names[:: -(-len(names) // MOST)]


def renamed(content, name):
    """Return a document in which a text is hostile, wherever it stands."""
    if isinstance(content, dict):
        return {
            (key + PAYLOAD if key == name else key): renamed(value, name)
            for key, value in content.items()
        }
    if isinstance(content, list):
        return [renamed(value, name) for value in content]
    return name + PAYLOAD if content == name else content


def hostile_page(file, content):
    """Return the page with as many hostile texts as the reader takes, and how many those are."""
    count, page = 0, page_of(file, content)
    for name in texts(content):
        changed = renamed(content, name)
        try:
            page = page_of(file, changed)
        except HornlensError:
            continue
        content, count = changed, count + 1
    return page, count


PAYLOADS = tuple(f"{name}{PAYLOAD}" for name in "abcd")
FORMULAS = ("=SUM(1;2)", "+SUM(1;2)", "-SUM(1;2)", "@SUM(1;2)")
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def unlabelled(names):
    """Return how results without labels are made, whose every name is one of these four."""
    words = Vocabulary(tuple(names))
    space = Space.of_variables(words)
    rules = Theory(4, (Rule(0b0110, -1), Rule(0b0001, 0b1001)))
    clauses = tuple(map(clause_of, ((-1, 3), (-3, -2), (-1, 2, 4))))
    first, second = words.names[:2]

    def exploration():
        basis, certificate = dg_basis(rules, space.background), explored(7, open=1)
        doubt = (Rule(0b1000, 0b1001),)
        return Envelope.of(space, basis, certificate=certificate, open=doubt)

    def refuses_two(names):
        return not {first, second} <= {*names}

    table = Table(words, (0b0001, 0b0011, 0b1010, 0b1100))
    of_table = Result.of_envelope(envelope_of_table(table), first)
    without_asking = unlabelled_cases.without_asking
    return {
        "table": lambda: replace(of_table, table=table_document(table, (second,))),
        "formula": lambda: without_asking(envelope_of_formula(Cnf(words, clauses)), first),
        "exploration": lambda: without_asking(exploration(), first),
        "target": lambda: hornlens.extract(FunctionTarget(refuses_two, space, first)),
    }


def saved(name):
    """Return the document of a result without labels."""
    return "envelope.json", unlabelled_cases.CASES[name]().as_json()


DOCUMENTS = {
    "classifier": lambda: ("envelope.json", explained("people")[2].as_json()),
    "sifted classifier": lambda: ("envelope.json", explained("drawn")[2].as_json()),
    "study": lambda: ("study.json", page_cases.STUDIES["four"]()),
    "comparison": lambda: ("comparison.json", comparison()),
    "bias": lambda: ("bias.json", page_cases.BIASES["two"]()),
    "table": lambda: saved("table"),
    "table with almost-rules": lambda: saved("summed_table"),
    "formula": lambda: saved("formula"),
    "learned formula": lambda: saved("learned"),
    "exploration": lambda: saved("exploration"),
    "target without labels": lambda: saved("visits"),
    "interrupted target": lambda: saved("interrupted"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_no_text_of_a_document_becomes_part_of_its_page(visit, tmp_path, kind):
    file, content = DOCUMENTS[kind]()
    content = json.loads(json.dumps(content))
    page, count = hostile_page(file, content)
    assert count >= 5, count
    print(f"{kind}: {count} hostile texts")
    path = tmp_path / "page.html"
    path.write_text(page, "utf-8")
    tab = visit(path)
    for summary in tab.locator("summary").all()[:20]:
        if summary.is_visible():
            summary.click()
    check_harmless(tab, page_of(file, content))


def check_harmless(tab, plain):
    """Check that nothing ran, was injected or was requested; `plain` is the page without it."""
    assert tab.evaluate("typeof hacked") == "undefined"
    assert tab.locator("img[src=x], [onerror]").count() == 0
    assert tab.evaluate(INJECTED, plain) == 0
    assert tab.evaluate(REQUESTED) == []
    assert "49" not in tab.title()


@pytest.mark.parametrize("kind", unlabelled(PAYLOADS))
def test_hostile_names_of_results_without_labels(visit, tmp_path, kind):
    unlabelled(PAYLOADS)[kind]().save(tmp_path / "hostile")
    unlabelled("abcd")[kind]().save(tmp_path / "plain")
    tab = visit(tmp_path / "hostile" / "report.html")
    assert "onerror" in tab.locator("main").inner_text()  # it is shown, as text
    check_harmless(tab, (tmp_path / "plain" / "report.html").read_text("utf-8"))


@pytest.mark.parametrize("kind", unlabelled(FORMULAS))
def test_no_cell_of_their_csv_files_is_a_formula(tmp_path, kind):
    unlabelled(FORMULAS)[kind]().save(tmp_path)
    cells = [
        cell
        for file in tmp_path.rglob("*.csv")
        for row in csv.reader(file.open(encoding="utf-8", newline=""))
        for cell in row
    ]
    assert any("SUM" in cell for cell in cells)
    wrong = [cell for cell in cells if cell[:1] in FORMULA_SIGNS and not is_number(cell)]
    assert not wrong, wrong


def is_number(cell):
    try:
        return float(cell) == float(cell)
    except ValueError:
        return False


def test_the_site_draws_no_hostile_graph(browser):
    with pytest.raises(SystemExit):
        drawn(f"```mermaid\ngraph BT\n  a{PAYLOAD} --> b\n```\n")
    tab = browser.new_page()
    tab.set_content(f"<!doctype html><title>site</title>{svg([(PAYLOAD, 'b'), ('b', 'c')])}")
    check_harmless(tab, "<!doctype html>")
    tab.close()


def test_the_script_of_the_site_writes_no_markup():
    script = (ROOT / "tools" / "site" / "site.js").read_text("utf-8")
    sinks = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(")
    assert not [sink for sink in sinks if sink in script]
