"""`hornlens extract` of what cannot all be asked: what the terminal says, and what is written."""

import csv
import json
import re
from pathlib import Path

import pytest

from hornlens.cli.extract import show
from hornlens.report.terminal import Terminal
from tests.command import hornlens
from tests.sifted_cases import MADE, case

ORDER = ("Listed:", "Open:", "Refuted:")


def shown(result, capsys):
    show(Terminal(), result, Path("out"), 1.0)
    return capsys.readouterr().out


@pytest.mark.parametrize("name", MADE)
def test_the_terminal_says_listed_open_refuted_in_that_order(name, capsys):
    result = case(name)
    text = shown(result, capsys)
    places = [text.find(word) for word in ORDER if word in text]
    assert places == sorted(places) and "Listed:" in text and "Refuted:" in text
    assert ("Open:" in text) == bool(result.certificate.open)
    first = text.splitlines()[0]
    assert f"{len(result.rules)} rule" in first and f"{result.certificate.open:,} open" in first
    assert f"{result.certificate.sift.refuted:,} refuted" in first
    for row in result.rules[:8]:
        assert row.sentence in text
    assert "As far as it was asked" not in text and "%)" not in text.replace("95% sure)", "")
    assert len(text.splitlines()) < 60
    chosen, drawn = re.search(r"asked: ([\d,]+) chosen, ([\d,]+) drawn at random", text).groups()
    assert int(chosen) + int(drawn) == len(result.envelope.sifted.order)
    assert int(drawn) == len({draw.at for draw in result.envelope.sifted.draws})


def test_each_open_rule_says_what_it_would_take(capsys):
    result = case("ended")
    text = shown(result, capsys)
    for row in result.open[:8]:
        assert f"? {row}" in text
    assert re.search(r"about \d+ more clean random cases", text)
    assert f"… and {len(result.open) - 8} more: {Path('out') / 'open.csv'}" in text
    assert "ended by the limit on questions" in text


def test_rules_with_exceptions_stand_apart_with_their_exceptions(capsys):
    result = case("almost")
    text = shown(result, capsys)
    (almost,) = result.envelope.sifted.almost
    assert "But for at most 5% of its cases, the target always says “no” where a is a1." in text
    first = result.show(almost.exceptions[0])[0]
    assert f"except {first}" in text
    assert text.index("With exceptions:") < text.index("Refuted:")


def test_where_a_rare_label_is_given_more_often(capsys, tmp_path):
    result = case("rare")
    contrasts = result.envelope.sifted.more_often
    assert contrasts and contrasts[0].times > 2
    text = shown(result, capsys)
    assert re.search(
        r"Where a is a1 and b is b1, the target says “yes” in at least [\d.]+% of the cases, and "
        r"in at most [\d.]+% of all: at least [\d.]+ times as often\.",
        text,
    )
    given = r"Given in \d+ of 50 random cases there \(all rules together: 95% sure\)"
    assert re.search(given, text)
    result.save(tmp_path)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "times as often" in page


def test_the_command_sifts_the_built_in_probe(tmp_path):
    out = tmp_path / "out"
    done = hornlens("extract", "--equivalence", "sift", "--no-cache", "--out", out)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert done.stdout.startswith("gender-occupation on demo: ")
    for word in ("Listed:", "Refuted:", "No rates:"):
        assert word in done.stdout
    content = json.loads((out / "envelope.json").read_text("utf-8"))
    assert content["certificate"]["kind"] == "sifted" and isinstance(content["open"], list)
    with (out / "rules.csv").open(encoding="utf-8", newline="") as file:
        assert {line["warrant"] for line in csv.DictReader(file)} <= {"proved", "tested"}
    assert (out / "report.html").is_file()


def test_a_probe_that_exceeds_the_limit_is_sifted(tmp_path):
    done = hornlens("extract", "--limit", "100", "--no-cache", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "The run was ended by the limit on questions." in done.stdout
    assert "Open:" in done.stdout
    assert len(done.stdout.splitlines()) < 60


def test_a_target_without_labels_has_a_page(capsys):
    text = shown(case("unlabelled"), capsys)
    assert "no page" not in text and f"Report: {Path('out') / 'report.html'}" in text
