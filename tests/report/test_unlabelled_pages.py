"""The page of results without labels: what it shows, and that it never claims too much."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import escape

from hornlens import load
from hornlens.errors import InputError
from hornlens.logic.certificates import EXACT, Certificate
from hornlens.report.page import page, read_page, unlabelled, write_page
from hornlens.report.page.unlabelled import unlabelled_page
from hornlens.results.documents.saving import worked_out
from tests import unlabelled_cases as cases
from tests.command import hornlens as command
from tests.report.test_report_pages import Tree, words
from tests.report_cases import NASTY

FALSE_OF_ANYTHING_LESS = (
    "Together they are complete",
    "every Horn rule that",
    "every other Horn rule",
    "was settled",
    "Proved: no case breaks it",
    "say all there is to say",
)
"""What only an exact result may say."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Each case by its name: the result, the folder it is saved in, and its page, read."""
    kept, place = {}, tmp_path_factory.mktemp("unlabelled")

    def get(name):
        if name not in kept:
            result = {**cases.CASES, "audited": cases.audited, "many": cases.many}[name]()
            result.save(place / name)
            text = (place / name / "report.html").read_text("utf-8")
            kept[name] = result, place / name, text, Tree(text)
        return kept[name]

    return get


def shown_rules(document):
    return [
        (words(row["children"][0]), [words(cell) for cell in row["children"][1:]])
        for row in document.one("table", id="rule-table")["inside"]
        if row["tag"] == "tr" and row["attributes"].get("id", "").startswith("rule-")
    ]


@pytest.mark.parametrize("name", [*cases.CASES, "audited"])
def test_the_page_has_the_certificate_and_every_rule_with_its_warrant(made, name):
    result, _, _, document = made(name)
    certificate = result.envelope.certificate
    card = words(document.one("aside"))
    assert certificate.title in card and certificate.sentence in card
    rules = result.rules
    if not rules:
        assert not document.all("table", id="rule-table")
        return
    lines = shown_rules(document)
    assert len(lines) == len(rules)
    for (cell, (warrant, *support)), row in zip(lines, rules, strict=True):
        assert row.sentence in cell
        if certificate.unanswered:
            assert warrant == "none"
        elif certificate.word is not None:
            assert warrant == "by word"
        else:
            assert warrant == row.warrant.words
        known = result.asked or result.envelope.support is not None
        assert bool(support) == known
        if result.envelope.sifted is not None:
            assert support == [str(row.warrant.tested or "–"), str(row.cells)]
        elif support:
            assert support[0].startswith(f"{row.support:,}")


@pytest.mark.parametrize("name", cases.CASES)
def test_it_is_made_again_with_the_same_bytes(made, name):
    _, folder, text, _ = made(name)
    assert read_page(folder) == (folder / "report.html", text)
    load(folder).save(folder)
    assert (folder / "report.html").read_text("utf-8") == text
    assert read_page(folder) == (folder / "report.html", text)


@pytest.mark.parametrize("name", [*cases.CASES, "audited"])
def test_what_a_page_points_to_is_there_once_and_nothing_is_fetched(made, name):
    document = made(name)[3]
    names = [e["attributes"]["id"] for e in document.elements if "id" in e["attributes"]]
    assert len(names) == len(set(names))
    for element in document.elements:
        for key, value in element["attributes"].items():
            assert key != "style" and not key.startswith("on"), element
            if key in ("src", "href", "action"):
                assert value.startswith(("#", "data:image/svg+xml,")), element
            if key == "href" and value.startswith("#"):
                assert value[1:] in names, value


def test_names_that_try_to_get_out_stay_text(made):
    document = made("hostile")[3]
    assert not document.all("img") and len(document.all("title")) == 1
    assert len(document.all("script")) == 3
    isolated = [e["text"] for e in document.all("bdi")]
    for name in NASTY:
        assert name in isolated


# --- it never claims more than the certificate ---


@pytest.mark.parametrize(
    "name", ["budget", "interrupted", "silent", "silent_and_rejected", "audited", "learned"]
)
def test_a_result_that_is_not_exact_is_not_called_so(made, name):
    result, _, _, document = made(name)
    said = words(document.one("main"))
    for claim in FALSE_OF_ANYTHING_LESS:
        # Single rules may be proved where the run was ended.
        if "Proved" not in claim or not result.envelope.certificate.proved:
            assert claim not in said, claim
    assert "firm" not in document.one("aside")["inside"][1]["attributes"]["class"]


@pytest.mark.parametrize(
    "certificate",
    [
        cases.Audited("tested"),
        cases.Audited("open"),
        Certificate("tested"),
        Certificate("open"),
        Certificate(),
    ],
)
@pytest.mark.parametrize("name", ["formula", "table", "visits"])
def test_a_certificate_of_ones_own_is_not_made_more_of(made, name, certificate):
    result = made(name)[0]
    if name == "visits":
        certificate = replace(certificate, answered=result.certificate.answered)
    envelope = replace(
        result.envelope, certificate=certificate, own_warrants=None, levels=None, almost=None
    )
    if name == "visits" and certificate.weakest == "tested":  # no answer was a sample
        with pytest.raises(AssertionError, match="nothing was sampled"):
            unlabelled_page(replace(result, envelope=envelope, table=None))
        return
    text = unlabelled_page(replace(result, envelope=envelope, table=None))
    said = words(Tree(text).one("main"))
    assert certificate.sentence in said and certificate.title in said
    for claim in FALSE_OF_ANYTHING_LESS:
        assert claim not in said or (claim.startswith("Proved") and certificate.proved), claim
    assert "others may be missing" in said
    if not envelope.warrants[0].known:
        assert "The rules that are listed below are open: nothing proves them." in said


def test_where_nothing_was_answered_there_is_no_finding(made):
    for name in ("silent", "silent_and_rejected"):
        document = made(name)[3]
        assert "The target gave no answer." in words(document.section("findings"))
        assert "Not known: the target gave no answer." in words(document.section("limits"))
    assert "Counting no answer as rejected, the target accepts nothing." in words(
        document.section("rules")
    )


def test_an_exploration_rests_on_what_was_answered(made):
    document = made("exploration")[3]
    said = words(document.one("main"))
    assert "According to the answers, flies and swims never go together." in said
    assert "Nobody could say whether these hold." in words(document.section("open"))
    assert "eggs → feathers" in words(document.section("open"))
    assert "They hold if what was answered is true." in words(document.section("rules"))
    assert words(document.section("limits")).count("Not known.") == 1
    assert "proved" not in words(document.section("rules"))


def test_open_rules_are_listed_apart(made):
    result, _, _, document = made("budget")
    assert result.envelope.open and result.rules
    for rule in result.envelope.open:
        text = result.space.show(rule)
        assert text in words(document.section("open"))
    assert "another answer may break them" in words(document.section("open"))


# --- what is there beside the rules ---


def test_levels_and_almost_rules_have_their_own_counts(made):
    for name in ("summed_formula", "summed_table"):
        result, _, _, document = made(name)
        almost = words(document.section("almost"))
        assert result.envelope.almost.rules
        for each in result.envelope.almost.rules:
            assert f"{each.broken:,} of {each.of:,}" in almost
            assert f"But for {each.broken:,} of {each.of:,} cases, " in almost
        steps = document.one("table", id="level-table")
        rows = [e for e in steps["inside"] if e["tag"] == "tr" and "data-line" in e["attributes"]]
        assert len(rows) == len(result.envelope.levels.steps)
        for row, step in zip(rows, result.envelope.levels.steps, strict=True):
            assert words(row["children"][2]) == f"{len(step.exceptions):,}"
            follows = result.envelope.entails(step.rule)
            assert ("never" in words(row) or "always" in words(row)) == follows


def test_a_table_keeps_its_lattice_wherever_it_is_saved(made, tmp_path):
    result, folder, text, document = made("table")
    assert len(document.all("circle")) == result.table.concepts
    assert sorted(file.name for file in folder.iterdir()) == [
        *("envelope.json", "report.html", "rules.csv")
    ]
    again = load(folder)
    assert again.table == result.table
    again.save(tmp_path / "copy")
    assert (tmp_path / "copy" / "report.html").read_text("utf-8") == text


def test_the_lattice_of_another_table_is_not_shown(made, tmp_path):
    formula = made("formula")[0]
    formula.save(tmp_path)
    old = Path(__file__).parents[1] / "old" / "0.2" / "table" / "table.json"
    (tmp_path / "table.json").write_bytes(old.read_bytes())
    assert load(tmp_path).table is None
    with pytest.raises(InputError, match=r"has envelope\.json and table\.json: name the file"):
        read_page(tmp_path)
    assert read_page(tmp_path / "envelope.json")[1].count("<circle") == 0


def test_of_very_many_rules_the_first_are_listed(made):
    result, _, text, document = made("many")
    listed = shown_rules(document)
    assert len(result.rules) == 3_200 and len(listed) == unlabelled.MOST_RULES
    assert "200 rules more are in envelope.json" in words(document.section("rules"))
    assert "3,200 rules of many" in words(document.one("h1"))
    assert [support[-1] for _, support in listed[:3]] == ["999", "999", "999"]
    data = json.loads(document.one("script", id="data")["text"])
    assert len(data["rules"]) == len(data["readable"]) == unlabelled.MOST_RULES
    assert len(text) < 4_000_000


def test_more_answers_than_a_page_can_hold_are_left_out_and_it_says_so(made, monkeypatch):
    monkeypatch.setattr(unlabelled, "MOST_ANSWERS", 10)
    text = unlabelled_page(made("visits")[0])
    assert "90 answers are too many for a page" in words(Tree(text).one("main"))


# --- where a page is written ---


@pytest.fixture
def lone(made, tmp_path):
    for name in ("formula", "table", "visits"):
        folder = made(name)[1]
        text = (folder / "envelope.json").read_text("utf-8")
        (tmp_path / f"my {name}.json").write_text(text, "utf-8")
    return tmp_path


@pytest.mark.parametrize("name", ["formula", "table", "visits"])
def test_a_file_of_any_name_has_its_page_beside_it(lone, name):
    done = command("report", f"my {name}.json", cwd=lone)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"my {name}.html" in done.stdout
    text = (lone / f"my {name}.html").read_text("utf-8")
    assert text == read_page(lone / f"my {name}.json")[1]
    assert not (lone / "report.html").exists()
    before = (lone / f"my {name}.html").stat().st_mtime_ns
    assert command("report", f"my {name}.json", cwd=lone).returncode == 0  # a page of ours
    assert (lone / f"my {name}.html").stat().st_mtime_ns > before
    out = command("report", f"my {name}.json", "--out", "pages/p.html", cwd=lone)
    assert out.returncode == 0, out.stderr
    assert (lone / "pages" / "p.html").read_text("utf-8") == text


def test_what_is_no_page_of_ours_is_not_overwritten(lone):
    for path, arguments in (
        ("my formula.html", ["my formula.json"]),
        ("notes.txt", ["my formula.json", "--out", "notes.txt"]),
        ("report.html", [".", "--out", "report.html"]),
    ):
        (lone / path).write_text("<p>mine</p>")
        if arguments[0] == ".":
            (lone / "envelope.json").write_text((lone / "my formula.json").read_text())
        done = command("report", *arguments, cwd=lone)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"hornlens: {path}: is there already, and is no page of hornlens: name another file "
            "by --out\n"
        )
        assert (lone / path).read_text() == "<p>mine</p>"
    with pytest.raises(InputError, match="is a directory"):
        write_page(lone, "text")


def test_the_run_of_another_result_is_not_quoted(lone):
    (lone / "run.json").write_text("{}")
    assert "Started" not in words(Tree(read_page(lone / "my visits.json")[1]).one("aside"))


def test_a_result_that_has_no_name_is_a_page_too(made):
    content = json.loads((made("formula")[1] / "envelope.json").read_text("utf-8"))
    document = Tree(page("envelope.json", content))
    assert words(document.one("h1")) == "7 rules"
    assert words(document.one("title")) == "Rules"


def test_sentences_are_escaped_and_numbers_are_grouped():
    envelope = replace(cases.no_rules().envelope, certificate=replace(EXACT, cells=0))
    assert "No rule holds beyond what is taken for granted." in unlabelled_page(
        worked_out_of(envelope)
    )
    table = cases.table()
    text = unlabelled_page(table)
    assert str(escape("attribute <0> & more")) in text
    assert not re.search(r"attribute <0>", text.split('<script type="application/json"')[0])


def worked_out_of(envelope):
    from hornlens.results.documents.envelope import envelope_as_json

    return worked_out(envelope_as_json(envelope), cases.NOWHERE)
