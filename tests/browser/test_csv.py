"""CSV that the page makes is CSV as Python makes it, whatever the names are."""

import json
from importlib import resources
from random import Random

from hornlens.formats.csvfiles import csv_text
from tests.faults.test_hostile_text import ODD, PLAIN, TEXT, odd_text

SCRIPT = (resources.files("hornlens.report.page") / "static" / "csv.js").read_text("utf-8")


def test_cells_are_those_of_python(browser):
    rng = Random(5)
    rows = [[odd_text(rng, TEXT), rng.choice([*TEXT, *PLAIN])] for _ in range(300)]
    rows.append(["-1.5", "-1e-05"])
    text = browser.new_page().evaluate(
        f"(given) => {{{SCRIPT}; return csvText(JSON.parse(given)); }}", json.dumps(rows)
    )
    assert text == csv_text(rows[0], rows[1:])
    assert len({piece for piece in ODD if piece in "".join(map("".join, rows))}) > 20
