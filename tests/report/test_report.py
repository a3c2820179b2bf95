"""report.html as a file: what is in it, what cannot get out of it, and what writes it."""

import base64
import copy
import csv
import hashlib
import json
import os
import re
from fractions import Fraction
from html.parser import HTMLParser
from importlib import resources
from math import exp, log
from pathlib import Path

import pytest

from hornlens import FunctionTarget, Limits, Nominal, Policy, Space, extract
from hornlens.cli.commands.results import report
from hornlens.errors import InputError
from hornlens.logic.certificates import pac
from hornlens.report.page import assemble, environment, extraction, page, read_page
from hornlens.report.page.assemble import embedded_json, number, rounded
from hornlens.report.page.chance import chance_picture
from hornlens.results.wording.odds import odds
from tests import report_cases as cases
from tests.command import hornlens

VOID = {"meta", "link", "br", "input", "path"}


class Document(HTMLParser):
    """A page taken apart: elements, and the text and attributes of each."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.open = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "attributes": dict(attrs), "text": ""}
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.elements.append({"tag": tag, "attributes": dict(attrs), "text": ""})

    def handle_endtag(self, tag):
        while self.open.pop()["tag"] != tag:
            pass

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, tag, **attributes):
        wanted = {key.rstrip("_"): value for key, value in attributes.items()}
        return [
            e
            for e in self.elements
            if e["tag"] == tag and wanted.items() <= e["attributes"].items()
        ]

    def one(self, tag, **attributes):
        (found,) = self.all(tag, **attributes)
        return found


@pytest.fixture(scope="module")
def saved():
    kept = {}

    def get(name):
        if name not in kept:
            result = cases.CASES[name]()
            content, run = cases.saved(result)
            kept[name] = result, content, run, page("envelope.json", content, run)
        return kept[name]

    return get


@pytest.mark.parametrize("name", cases.CASES)
def test_the_data_in_the_page_is_the_result(saved, name):
    _, content, _, text = saved(name)
    block = Document(text).one("script", id="data")
    assert json.loads(block["text"]) == json.loads(json.dumps(content))


@pytest.mark.parametrize("name", cases.CASES)
def test_only_the_pages_own_script_and_style_may_run(saved, name):
    document = Document(saved(name)[3])
    policy = next(
        e["attributes"]["content"]
        for e in document.all("meta")
        if e["attributes"].get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy
    for tag, attributes in (("script", {"type": "module"}), ("style", {})):
        body = document.one(tag, **attributes)["text"].encode()
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    data = document.all("script", type="application/json")
    assert len(document.all("script")) == 1 + len(data) and len(data) == 2


@pytest.mark.parametrize("name", cases.CASES)
def test_nothing_is_fetched_and_nothing_styled_or_scripted_in_attributes(saved, name):
    for element in Document(saved(name)[3]).elements:
        for key, value in element["attributes"].items():
            assert key != "style" and not key.startswith("on"), element
            if key in ("src", "href", "action", "srcset", "poster"):
                assert value.startswith(("#", "data:image/svg+xml,")), element


def test_names_that_try_to_get_out_stay_text(saved):
    _, content, _, text = saved("hostile")
    document = Document(text)
    assert not document.all("img") and len(document.all("style")) == 1
    assert len(document.all("title")) == 1
    names = [e["text"] for e in document.all("bdi")]
    for name in (*cases.NASTY, "</title>", "</style><b>", content["probe"]["description"]):
        assert name in names
    assert "49" not in document.one("main")["text"].replace("0.49", "")


def test_json_in_the_page_has_no_markup_and_reads_back():
    content = {"a": ["</script>", "<!--", "&amp;", "\u2028\u2029", '"Infinity"', "-Infinity, NaN"]}
    text = embedded_json(content)
    assert not set(text) & set("<>&\u2028\u2029") and json.loads(text) == content
    odd = {**content, "b": [float("-inf"), float("inf"), float("nan"), -1.5]}
    back = json.loads(embedded_json(odd), parse_constant=pytest.fail)
    assert back == {**content, "b": [float("-inf"), float("inf"), None, -1.5]}


LONG_AGO = 1_000_000_000


def nothing(data):
    return data


def its_end(data):
    return data[:-100]


def all_of_it(data):
    return b""


def a_bit(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :]


@pytest.mark.parametrize("damage", [nothing, its_end, all_of_it, a_bit])
def test_compiled_templates_are_kept_for_the_user_alone(saved, tmp_path, monkeypatch, damage):
    _, content, run, text = saved("three_labels")
    monkeypatch.setattr(environment, "user_cache_path", lambda name: tmp_path / name)
    kept = tmp_path / "hornlens" / "templates"
    whole = None
    for _ in range(2):
        assemble._environment.cache_clear()
        assert page("envelope.json", content, run) == text
        assert kept.stat().st_mode & 0o777 == 0o700
        found = {file.name: file.read_bytes() for file in kept.iterdir()}
        assert len(found) == 8  # the page's, what it extends, imports, includes
        if whole is not None:  # what was damaged has been made again, what was not has been used
            assert found == whole
            made = {file.stat().st_mtime == LONG_AGO for file in kept.iterdir()}
            assert made == {damage is nothing}
        whole = found
        for name, data in found.items():
            (kept / name).write_bytes(damage(data))
            os.utime(kept / name, (LONG_AGO, LONG_AGO))
    assemble._environment.cache_clear()


def a_file(folder):
    folder.parent.mkdir()
    folder.write_text("a file where the folder should be")


def others_can_write_to(folder):
    folder.mkdir(parents=True)
    folder.chmod(0o777)


def a_link_to(folder):
    folder.parent.mkdir()
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    folder.symlink_to(elsewhere)


@pytest.mark.parametrize("make", [a_file, others_can_write_to, a_link_to])
def test_templates_are_not_kept_where_others_could_put_some(saved, tmp_path, monkeypatch, make):
    _, content, run, text = saved("three_labels")
    folder = tmp_path / "hornlens" / "templates"
    make(folder)
    monkeypatch.setattr(environment, "user_cache_path", lambda name: tmp_path / name)
    assemble._environment.cache_clear()
    assert page("envelope.json", content, run) == text
    assert not folder.is_dir() or not [*folder.iterdir()]
    assemble._environment.cache_clear()


def no_home(name):
    raise RuntimeError("could not determine the home directory")


def home_by_name(name):
    return Path("~/.cache") / name


def test_templates_that_were_compiled_in_another_way_are_not_run(saved, tmp_path, monkeypatch):
    _, content, run, text = saved("hostile")
    monkeypatch.setattr(environment, "user_cache_path", lambda name: tmp_path / name)
    monkeypatch.setitem(environment.OPTIONS, "autoescape", False)
    assemble._environment.cache_clear()
    assert page("envelope.json", content, run) != text
    monkeypatch.setitem(environment.OPTIONS, "autoescape", True)
    assemble._environment.cache_clear()
    assert page("envelope.json", content, run) == text
    assemble._environment.cache_clear()


@pytest.mark.parametrize("home", [no_home, home_by_name])
def test_without_a_home_there_is_a_page_all_the_same(saved, tmp_path, monkeypatch, home):
    _, content, run, text = saved("three_labels")
    monkeypatch.setattr(environment, "user_cache_path", home)
    monkeypatch.chdir(tmp_path)
    assemble._environment.cache_clear()
    assert page("envelope.json", content, run) == text
    assert not [*tmp_path.iterdir()]
    assemble._environment.cache_clear()


def test_scripts_never_make_markup_from_data():
    folder = resources.files("hornlens.report.page") / "static"
    for file in folder.iterdir():
        text = file.read_text("utf-8")
        assert "</" not in text, file
        for risky in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert risky not in text, (file, risky)


def rule_text(line):
    right = "⊥" if line["then"] is None else " ∧ ".join(line["then"]) or "⊤"
    return f"{' ∧ '.join(line['if']) or '⊤'} → {right}"


@pytest.mark.parametrize("name", ["demo", "strict", "three_labels", "tested", "learned", "hostile"])
def test_without_scripts_the_table_has_every_rule_with_the_numbers_of_the_result(saved, name):
    result, content, _, text = saved(name)
    document = Document(text)
    lines = content["readable"]
    rows = [e for e in document.all("tr") if "data-index" in e["attributes"]]
    order = [int(row["attributes"]["data-index"]) for row in rows]
    assert sorted(order) == list(range(len(lines)))
    in_file = [row["sentence"] for row in csv.DictReader(result.rules.csv().splitlines(True))]
    assert [lines[i]["sentence"] for i in order] == in_file
    for row, i in zip(rows, order, strict=True):
        line = lines[i]
        rule, broken = result.envelope.readable.rules[i], 0
        for cell, decision in result.decisions.items():
            if decision.winner is not None:
                broken += not rule.satisfied_by(result.space.with_label(cell, decision.winner))
        evidence = result.evidence[i]
        measures = [number(line["mean_margin"])]
        measures.append(number(line["closest"]["margin"] if line["closest"] else None))
        if result.in_odds:
            shares = [1 / (1 + exp(-margin)) for margin in evidence.margins]
            measures = ["–", "–"]
            if shares:
                measures = [odds(sum(shares) / len(shares)), odds(min(shares), "down")]
        assert row["text"] == "".join(
            [
                rule_text(line),
                line["sentence"].replace("“", "").replace("”", ""),
                "holds vacuously: no prompt that could break it got an answer"
                if result.vacuity[i] == "silence"
                else "",
                f"broken by {broken} recorded answer{'s' * (broken > 1)}" if broken else "",
                "" if result.why_no_chance else chance_picture(result).beside(i),
                {"tested": "tested, at most 20%", "learned": "none" if broken else "open"}.get(
                    name, ""
                ),
                f"{len(result.could_break(evidence)):,}",
                *measures,
            ]
        )


def test_findings_are_the_strongest_rules_as_sentences(saved):
    _, content, _, text = saved("demo")
    document = Document(text)
    said = [e["text"].strip() for e in document.all("p", class_="sentence")]
    strongest = sorted(content["readable"], key=lambda r: (-r["support"], -r["mean_margin"]))
    assert said == [re.sub("[“”]", "", r["sentence"]) for r in strongest[: len(said)]]
    assert len(said) == extraction.FINDINGS
    assert "<em><bdi>He</bdi></em> where <b><bdi>the person is a nurse</bdi></b> (at least" in text
    assert "60 prompts could break it, none does" in " ".join(
        document.one("ol", class_="findings")["text"].split()
    )


def test_each_tick_of_a_finding_is_a_margin():
    leads = [0.0, 5.0, 10.0, 10.0, float("inf")]
    path, said = extraction._strip(leads, 10.0, in_odds=False)
    assert path == "M1 0v12M80 0v12M159 0v12" and said == "Leads from 0.00, on a scale to 10.00"
    path, said = extraction._strip([0.0, log(3), float("inf")], 10.0, in_odds=True)
    assert path == "M1 0v12M80 0v12M159 0v12"
    assert said == (
        "Odds of at least 50.0 : 50.0, on average 75 : 25, on a scale from even to certain"
    )
    assert extraction._strip([], 0.0, in_odds=True) == ("", "")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("demo", ["Exact", "Every prompt of the probe was asked"]),
        ("pac", ["Probably approximately correct", "probability 0.8", "at most 15% of random"]),
        ("budget", ["Budget exhausted", "after 8 equivalence queries", "no rule is proved yet"]),
        ("learned", ["Budget exhausted", "rules may be missing or too strong"]),
        ("empty", ["Unanswered", "None of 660 questions was answered"]),
    ],
)
def test_the_certificate_is_said_in_plain_words(saved, name, words):
    _, content, _, text = saved(name)
    card = Document(text).one("aside")["text"]
    assert all(word in " ".join(card.split()) for word in [*words, content["claim"]]), card
    assert ("every Horn rule that the model obeys" in card) == (name == "demo")
    assert ("are a fact about" in card) == (name == "demo")


def test_small_tolerances_are_not_rounded_away():
    words = pac(epsilon=0.0025, delta=0.001, samples=1).sentence
    assert "probability 0.999," in words and "at most 0.25% of" in words
    words = pac(epsilon=1e-7, delta=1e-7, samples=1).sentence
    assert "probability 0.9999999," in words and "at most 1e-05% of" in words


def test_the_page_says_who_when_and_how_many(saved):
    _, content, _, text = saved("demo")
    card = " ".join(Document(text).one("aside")["text"].split())
    for words in (
        "Prompts asked660 of 660",
        "Modeldemo",
        "Started 2026-01-02 03:04:05 UTC, took 1 min 15 s; 660 prompts asked of the model, 0 from",
    ):
        assert words in card
    assert content["model"]["identity"] in text


def test_the_question_stands_at_the_top_with_its_blank_and_its_words(saved):
    _, _, _, text = saved("demo")
    head = text[text.index('<header class="title">') : text.index('id="findings"')]
    assert "<mark>▁▁▁</mark> was born <b>⟨<bdi>period</bdi>⟩</b>" in head
    assert "<bdi>She</bdi></em> or <em><bdi>He</bdi>" in head
    _, _, _, text = saved("cells")
    head = text[text.index('<header class="title">') : text.index('id="findings"')]
    assert "<mark>" not in head and "<bdi>granted</bdi></em> or <em><bdi>refused</bdi>" in head


def test_seeds_and_tolerances_are_told_only_where_something_was_drawn(saved):
    def shown(name):
        _, _, _, text = saved(name)
        return text[: text.index('id="data"')]

    words = ("<dt>Seed</dt>", "<dt>seed</dt>", "<dt>epsilon</dt>", "<dt>delta</dt>")
    assert not any(word in shown("demo") for word in words)
    assert all(word in shown("pac") for word in words)
    assert all(word in shown("budget") for word in words)


def test_words_are_explained_on_the_page_and_so_is_what_rules_do_not_show(saved):
    _, _, _, text = saved("demo")
    for word in ("interpretation", "rejects", "non-Horn negative", "odds"):
        assert text.count(f"<dfn>{word}</dfn>") == 1, word
    assert "No rule is no all-clear" in text and "not about people" in text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (0.01, "less than 0.1 s"),
        (3.14, "3.1 s"),
        (59.97, "1 min 0 s"),
        (119.7, "2 min 0 s"),
        (3600, "1 h 0 min"),
        (7380, "2 h 3 min"),
    ],
)
def test_durations(seconds, words):
    assert extraction.duration(seconds) == words


def test_the_same_result_gives_the_same_bytes_and_a_run_changes_one_line(saved):
    _, content, run, text = saved("demo")
    assert page("envelope.json", copy.deepcopy(content), dict(run)) == text
    other = page("envelope.json", content, {**run, "seconds": 1.0, "started": "2030"})
    different = [a for a, b in zip(text.split("\n"), other.split("\n"), strict=True) if a != b]
    assert len(different) == 1 and '<p id="run"' in different[0]
    without = page("envelope.json", content)
    assert 'id="run"' not in without


def test_the_built_in_probes_page_is_small(saved):
    assert len(saved("demo")[3].encode()) < 1_500_000


def test_more_answers_than_a_page_can_hold_are_left_out_and_it_says_so(saved, monkeypatch):
    _, content, run, _ = saved("demo")
    monkeypatch.setattr(extraction, "MOST_ANSWERS", 659)
    text = page("envelope.json", content, run)
    assert "660 answers are too many for a page" in text
    block = json.loads(Document(text).one("script", id="data")["text"])
    assert block["answers"] == [] and len(block["rules"]) == len(content["rules"])
    assert 'id="map"' not in text and 'id="rule-57"' in text


def test_half_a_surrogate_pair_does_not_stop_the_page(saved):
    _, content, run, _ = saved("demo")
    content = copy.deepcopy(content)
    content["probe"]["description"] = json.loads('"a \\ud800 b"')
    page("envelope.json", content, run).encode("utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two results on disk, and their comparison."""
    root = tmp_path_factory.mktemp("results")
    for name, model in (("a", "demo"), ("b", "demo-balanced")):
        shown = hornlens("extract", "--model", model, "--no-cache", "--out", root / name)
        assert shown.returncode == 0, shown.stderr
    shown = hornlens("compare", root / "a", root / "b", "--out", root / "c")
    assert shown.returncode == 0, shown.stderr
    assert f"Report: {root / 'c' / 'report.html'}" in shown.stdout
    return root


@pytest.mark.parametrize("name", ["a", "c", "a/envelope.json", "c/comparison.json"])
def test_report_makes_the_same_page_again(folder, name):
    where = folder / name[0] / "report.html"
    before = where.read_bytes()
    where.unlink()
    shown = hornlens("report", folder / name)
    assert (shown.returncode, shown.stdout, shown.stderr) == (
        0,
        f"Report: {where} (open it in a browser)\n",
        "",
    )
    assert where.read_bytes() == before


def test_report_opens_the_page_or_says_that_it_cannot(folder, monkeypatch, capsys):
    opened = []
    for answer in (True, False):
        monkeypatch.setattr("webbrowser.open", lambda uri, a=answer: opened.append(uri) or a)
        report(folder / "a", show=True)
    assert opened == [(folder / "a" / "report.html").resolve().as_uri()] * 2
    assert capsys.readouterr().err.count("no browser could be opened") == 1


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))


@pytest.mark.parametrize(
    ("files", "target", "message"),
    [
        ({}, "", "has no results to report on (there would be: envelope.json"),
        ({}, "nothing", "no such file"),
        ({"x.json": {}}, "x.json", "has no page: it is not a result of hornlens"),
        ({"envelope.json": {}, "comparison.json": {}}, "", "has envelope.json and comparison.json"),
        ({"envelope.json": "{"}, "", "envelope.json:1: is not JSON"),
        ({"envelope.json": []}, "", "is not a result of hornlens"),
        ({"envelope.json": {}}, "", "is no envelope.json of hornlens"),
        ({"run.json": {"started": ""}}, "run.json", "has no page: it is not a result of hornlens"),
        (
            {"learned.json": {"variables": [], "certificate": {}, "cnf": []}},
            "learned.json",
            "is a formula that was learned via an encoding: it has no rules",
        ),
        ({"envelope.json": {"probe": 3}}, "", "is no envelope.json of hornlens"),
        ({"comparison.json": {"comparisons": []}}, "", "is no comparison.json of hornlens"),
        ({"envelope.json": "[" * 100_000}, "", "is JSON of numbers too long or nesting too deep"),
    ],
)
def test_what_is_no_result_is_refused_in_a_line(tmp_path, files, target, message):
    for name, content in files.items():
        write(tmp_path / name, content)
    with pytest.raises(InputError) as raised:
        read_page(tmp_path / target)
    assert message in str(raised.value)
    assert str(tmp_path) in str(raised.value) and not (tmp_path / "report.html").exists()


def test_a_result_with_a_variable_that_is_not_its_own_is_refused(folder, tmp_path):
    content = json.loads((folder / "a" / "envelope.json").read_text())
    content["readable"][0]["if"] = ["nobody"]
    write(tmp_path / "envelope.json", content)
    shown = hornlens("report", tmp_path)
    assert shown.returncode == 2 and shown.stderr.count("\n") == 1
    assert "envelope.json: the target has no variable 'nobody'" in shown.stderr


def test_the_page_of_a_comparison_has_each_rule_once_with_what_breaks_it(folder):
    content = json.loads((folder / "c" / "comparison.json").read_text())
    document = Document((folder / "c" / "report.html").read_text())
    (pair,) = content["comparisons"]
    left, right = pair["rules_of_left_in_right"], pair["rules_of_right_in_left"]
    rows = [e for e in document.all("tr") if "data-group" in e["attributes"]]
    of = {"lost": left, "new": right}

    def rule_and_sentence(line):
        return rule_text(line) + line["sentence"]

    for group, lines in of.items():
        shown = [r["text"] for r in rows if r["attributes"]["data-group"] == group]
        vacuous = [line for line in lines if line["fate"] == "vacuous"]
        kept = [r["text"] for r in rows if r["attributes"]["data-fate"] == "vacuous"]
        gone = [line for line in lines if line["fate"] not in ("entailed", "vacuous")]
        broken = [text for text in shown if text not in kept]
        assert len(broken) == len(gone) > 0
        for line in vacuous:
            (text,) = [t for t in kept if t.startswith(f"{rule_and_sentence(line)}It holds in")]
            assert "but only vacuously" in text
        for line in gone:
            (text,) = [t for t in shown if t.startswith(f"{rule_and_sentence(line)}But")]
            assert line["witness"]["prompts"][0] in text
            assert "{" + ", ".join(line["witness"]["accepted"]) + "}" in text
    shared = {
        r["text"].split("It follows")[0] for r in rows if r["attributes"]["data-group"] == "shared"
    }
    own = {rule_text(x) for x in left}
    assert shared == {
        rule_and_sentence(x)
        for x in (*left, *right)
        if x["fate"] == "entailed" and (x in left or rule_text(x) not in own)
    }
    tiles = next(e["text"] for e in document.all("ul") if "tiles" in e["attributes"]["class"])
    counts = [int(n) for n in re.findall(r"(\d+) [a-z]+:", tiles)]
    assert counts == [
        sum(x["fate"] == "entailed" for x in left),
        sum(x["fate"] == "vacuous" for x in left),
        sum(x["fate"] not in ("entailed", "vacuous") for x in left),
        sum(x["fate"] != "entailed" for x in right),
        sum(x["fate"] == "contradicted" for x in (*left, *right)),
    ]
    common = document.one("ul", class_="plain common")["text"]
    assert [line.strip() for line in common.strip().splitlines()] == [
        rule_text(line) for line in content["common"]
    ]


def test_a_comparison_of_hostile_or_empty_results_is_a_page_too(saved, tmp_path):
    for name in ("hostile", "empty"):
        folder = tmp_path / name
        folder.mkdir()
        write(folder / "envelope.json", saved(name)[1])
        shown = hornlens("compare", folder, folder, "--out", tmp_path / "out", "--format", "json")
        assert shown.returncode == 0, shown.stderr
        assert shown.stdout == (tmp_path / "out" / "comparison.json").read_text()
        document = Document((tmp_path / "out" / "report.html").read_text())
        assert len(document.all("script")) == 2 and not document.all("img")
        block = json.loads(document.one("script", id="data")["text"])
        assert block == json.loads(shown.stdout)


@pytest.mark.parametrize("value", [1 / 8, 5 / 8, 1 / 16, 0.125, 2.675, 0.005, 12.345])
def test_halves_are_rounded_up_as_the_scripts_of_the_page_do(value):
    exact = Fraction(value)
    for places in (0, 2, 3):
        scaled = exact * 10**places
        whole = int(scaled + Fraction(1, 2))
        assert Fraction(rounded(value, places)) == Fraction(whole, 10**places)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [("study.json", ("study", "seeds"), []), ("bias.json", ("models",), [])],
)
def test_a_damaged_result_is_one_clear_error(tmp_path, name, path, value):
    content = {"study": {"seeds": [1], "budgets": [1]}, "models": []}
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    (tmp_path / name).write_text(json.dumps(content))
    with pytest.raises(InputError, match="of another version"):
        read_page(tmp_path)


@pytest.mark.parametrize("abstain", ["accept", "reject"])
def test_where_nothing_was_answered_no_rule_is_said_to_hold(abstain, tmp_path):
    """Neither by a warning, nor above the rules, nor beside one."""
    space = Space((Nominal("job", ("nurse", "cook")),), Nominal("pronoun", ("she", "he")))
    silent = FunctionTarget(lambda names: None, space)
    result = extract(silent, policy=Policy(abstain=abstain))
    assert result.certificate.unanswered and bool(len(result.rules)) == (abstain == "reject")
    result.save(tmp_path)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "gave no answer" in page
    for claim in ("holds vacuously", "hold only because", "holds only because"):
        assert claim not in page
    assert not any("because of that" in warning.sentence for warning in result.warnings)


def test_who_was_not_asked_did_not_refuse_to_answer(tmp_path):
    space = Space((Nominal("job", ("nurse", "cook")),), Nominal("pronoun", ("she", "he")))
    target = FunctionTarget(lambda names: "she", space)
    ended = Limits(time_limit=1, clock=iter(range(0, 10**6, 10)).__next__)
    result = extract(target, limits=ended)
    assert result.certificate.answered == (0, 0)
    result.save(tmp_path)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "The target was not asked anything." in page and "gave no answer" not in page
