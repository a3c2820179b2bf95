"""The pages of studies and of bias scores as files: what is in them is what the JSON says."""

import copy
import json
import re
from collections import Counter
from functools import reduce
from itertools import pairwise
from operator import getitem
from urllib.parse import unquote

import pytest

from hornlens.errors import HornlensError, InputError
from hornlens.formats.digests import with_digest
from hornlens.logic.named import NamedRule
from hornlens.report.page import charts, page, read_page
from hornlens.report.page import study as study_module
from tests import page_cases as cases
from tests.command import hornlens
from tests.report.test_report import Document, rule_text
from tests.report_cases import NASTY

ALL = [("study.json", name) for name in cases.STUDIES]
ALL += [("bias.json", name) for name in cases.BIASES]
RUN = {
    "started": "2026-01-02T03:04:05+00:00",
    "seconds": 75.25,
    "models": [{"name": "m", "asked_the_model": 1200, "answered_from_cache": 3}],
}


def named(line):
    """A line of JSON as a rule."""
    then = line["then"]
    return NamedRule(tuple(line["if"]), None if then is None else tuple(then))


@pytest.fixture(scope="module")
def made():
    kept = {}

    def get(kind, name):
        if (kind, name) not in kept:
            content = {"study.json": cases.STUDIES, "bias.json": cases.BIASES}[kind][name]()
            run = RUN if kind == "bias.json" else cases.times(content, minutes=71.5)
            text = page(kind, content, run)
            kept[kind, name] = content, run, text, Document(text)
        return kept[kind, name]

    return get


def percent(value):
    if value is None:
        return "–"
    if 0 < value < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= value < 1 else f"{100 * value:.0f}%"


def score(value):
    text = f"{abs(value):.3f}"
    return text if text == "0.000" else ("−" if value < 0 else "+") + text


def words(element):
    return " ".join(element["text"].split())


class Tree(Document):
    """A page taken apart that also knows which element is in which."""

    def handle_starttag(self, tag, attrs):
        parents = list(self.open)
        super().handle_starttag(tag, attrs)
        self._place(parents)

    def handle_startendtag(self, tag, attrs):
        super().handle_startendtag(tag, attrs)
        self._place(self.open)

    def _place(self, parents):
        self.elements[-1].update(inside=[], children=[])
        for parent in parents:
            parent["inside"].append(self.elements[-1])
        if parents:
            parents[-1]["children"].append(self.elements[-1])

    def section(self, name):
        (found,) = [e for e in self.elements if e["attributes"].get("id") == name]
        return found

    def within(self, part, tag, **attributes):
        wanted = {key.rstrip("_"): value for key, value in attributes.items()}
        return [
            e
            for e in part["inside"]
            if e["tag"] == tag and wanted.items() <= e["attributes"].items()
        ]

    def rows(self, name, table=0):
        """The rows of a section's table: of each its attributes, and its cells."""
        body = self.within(self.section(name), "tbody")[table]
        return [(row["attributes"], row["children"]) for row in body["children"]]


# Of both kinds.


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_the_data_in_the_page_is_the_result(made, kind, name):
    content, _, _, document = made(kind, name)
    assert json.loads(document.one("script", id="data")["text"]) == with_digest(content)


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_nothing_is_fetched_and_nothing_styled_or_scripted_in_attributes(made, kind, name):
    _, _, text, document = made(kind, name)
    assert len(document.all("script")) == 2 and len(document.all("style")) == 1
    assert "unsafe" not in text[: text.index("<style>")]
    for element in document.elements:
        for key, value in element["attributes"].items():
            assert key != "style" and not key.startswith("on"), element
            if key in ("src", "href", "action", "srcset", "poster", "xlink:href"):
                assert value.startswith(("#", "data:image/svg+xml,", "./")), element


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_what_a_page_points_to_is_there_once(made, kind, name):
    document = made(kind, name)[3]
    names = [e["attributes"]["id"] for e in document.elements if "id" in e["attributes"]]
    assert len(names) == len(set(names))
    for element in document.elements:
        for key in ("href", "aria-labelledby"):
            value = element["attributes"].get(key, "")
            if key == "aria-labelledby" and value:
                assert value in names
            if value.startswith("#"):
                assert value[1:] in names, value


@pytest.mark.parametrize("kind", ["study.json", "bias.json"])
def test_names_that_try_to_get_out_stay_text(made, kind):
    document = made(kind, "hostile")[3]
    assert not document.all("img") and len(document.all("title")) == 1
    isolated = [e["text"] for e in document.all("bdi")]
    for name in NASTY:
        assert name in isolated
    assert "49" not in re.sub(r"[\d.,+−%]*49[\d.,%]*", "", words(document.one("main")))


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_the_same_result_gives_the_same_bytes(made, kind, name):
    content, run, text, _ = made(kind, name)
    assert page(kind, copy.deepcopy(content), copy.deepcopy(run)) == text


@pytest.mark.parametrize("kind", ["study.json", "bias.json"])
def test_what_is_no_result_is_refused_in_a_line(tmp_path, kind):
    (tmp_path / kind).write_text('{"models": [{}], "study": 3}')
    with pytest.raises(InputError, match=f"is no {kind} of hornlens"):
        read_page(tmp_path)


@pytest.mark.parametrize("leaf", [None, 0, "x", [], 2])
def test_every_part_of_a_bias_document_may_be_wrong_and_that_is_a_line(made, tmp_path, leaf):
    """Whatever one replaces or leaves out, the page is made, or a line says why it is not."""
    content = made("bias.json", "single")[0]

    def places(value, path=()):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in inner:
            yield (*path, key)
            if isinstance(each, dict | list):
                yield from places(each, (*path, key))

    ended = Counter()
    for path in [*places(content)]:
        changed = copy.deepcopy(content)
        *above, last = path
        place = reduce(getitem, above, changed)
        if leaf == "x" and isinstance(place, dict):
            del place[last]
        else:
            place[last] = leaf
        (tmp_path / "bias.json").write_text(json.dumps(changed))
        try:
            read_page(tmp_path)
            ended["page"] += 1
        except HornlensError:
            ended["told"] += 1
        except Exception as error:
            raise AssertionError(f"{path} = {leaf!r}") from error
    assert ended["told"] > 10, ended


# Studies.


@pytest.mark.parametrize("name", ["four", "one", "single run", "crowded"])
def test_the_findings_of_a_study_say_its_recall_and_precision(made, name):
    content, _, text, _ = made("study.json", name)
    tree = Tree(text)
    said = [words(e) for e in tree.within(tree.section("findings"), "p", class_="sentence")]
    several = len(content["models"]) > 1
    for model, sentence in zip(content["models"], said, strict=False):
        rules = model["exact"]["to_find"]
        if not rules:
            assert sentence == f"{model['model']} obeys no rule, and no run claims one."
            continue
        first = min(model["budgets"], key=lambda part: part["budget"])
        mean = first["mean"]
        assert sentence == (
            (f"{model['model']}: a" if several else "A")
            + f" run of {first['budget']} queries finds {percent(mean['recall'])} of the "
            f"{rules} rules there are; "
            + (
                "no run has a rule."
                if mean["precision"] is None
                else f"{percent(mean['precision'])} of what it finds is true."
            )
        )
    measures = " ".join(words(e) for e in tree.all("div", class_="measure"))
    for model in content["models"]:
        for part in sorted(model["budgets"], key=lambda part: part["budget"])[1:]:
            if model["exact"]["rules"]:
                mean = part["mean"]
                assert (
                    f"{part['budget']:,} queries: {percent(mean['recall'])} found, "
                    f"{percent(mean['precision'])} true" in measures
                )


def test_a_model_without_rules_whose_runs_claim_some_is_said_to(made):
    content = copy.deepcopy(made("study.json", "empty")[0])
    content["models"][0]["budgets"][1]["runs"][2]["rules"] = 4
    text = page("study.json", content)
    tree = Tree(text)
    first, second, *_ = [words(e) for e in tree.all("p", class_="sentence")]
    assert first == "e obeys no rule; yet 1 of 30 runs claims one."
    assert second == "f obeys no rule, and no run claims one."
    assert "No run found a rule." in words(tree.section("rules"))
    assert "There is no rule to find" in words(tree.section("recall"))
    assert not [e for e in tree.all("section") if e["attributes"].get("id") == "exact"]


@pytest.mark.parametrize("name", ["four", "unjudged", "hostile"])
def test_the_most_stable_rules_stand_at_the_top(made, name):
    content, _, text, _ = made("study.json", name)
    stable = content["study"]["stable"]
    found = {}
    for m, model in enumerate(content["models"]):
        for part in model["budgets"]:
            for rule in part["rules"]:
                found.setdefault(rule_text(rule), {}).setdefault(m, []).append(rule["found"])
    strength = {
        rule: (
            sum(max(counts) >= stable for counts in by_model.values()),
            sum(sum(counts) for counts in by_model.values() if max(counts) >= stable),
        )
        for rule, by_model in found.items()
    }
    best = sorted((s for s in strength.values() if s[0]), reverse=True)[: study_module.BEST]
    tree = Tree(text)
    (place,) = tree.all("ol", class_="findings best")
    shown = [e["text"] for e in tree.within(place, "span", class_="rule")]
    assert [strength[rule] for rule in shown] == best and len(best) > 1
    counts = [
        sum(map(int, re.findall(r"(\d+) of \d+ runs?", words(e)))) for e in tree.within(place, "li")
    ]
    assert counts == [total for _, total in best]


@pytest.mark.parametrize(
    ("rule", "reading"),
    [
        ({"if": [], "then": None}, "Nothing is accepted."),
        ({"if": ["a"], "then": None}, "Never a."),
        ({"if": ["a", "b"], "then": None}, "a and b never go together."),
        ({"if": ["a", "b", "c"], "then": None}, "a, b and c never go together."),
        ({"if": [], "then": ["a"]}, "Always a."),
        ({"if": ["a"], "then": ["b", "c"]}, "With a always goes b and c."),
        ({"if": ["<a>"], "then": None}, "Never &lt;a&gt;."),
    ],
)
def test_rules_are_read_in_plain_words(rule, reading):
    said = study_module._reading(named(rule))
    assert re.sub("</?(b|bdi)>", "", said) == reading


@pytest.mark.parametrize("name", cases.STUDIES)
def test_every_rule_that_a_run_found_is_in_the_table(made, name):
    content, _, text, _ = made("study.json", name)
    expected = [
        (str(m), str(b), rule_text(r), r["found"], r["entailed"], r["true"])
        for b in range(len(content["study"]["budgets"]))
        for m, model in enumerate(content["models"])
        for r in model["budgets"][b]["rules"]
    ]
    if not expected:
        return
    tree = Tree(text)
    shown = []
    for attributes, cells in tree.rows("rules"):
        (rule,) = tree.within(cells[0], "span", class_="rule")
        numbers = [c["text"] for c in cells[1:] if c["attributes"].get("class") == "n"]
        true = {"yes": True, "no": False, None: None}[attributes.get("data-true")]
        key = attributes["data-model"], attributes["data-budget"]
        shown.append((*key, rule["text"], *map(int, numbers), true))
        assert (attributes["data-stable"] == "yes") == (
            int(numbers[0]) >= content["study"]["stable"]
        )
        if true is not None:
            assert cells[-1]["text"] == ("true" if true else "not true")
    assert shown == expected


def test_of_too_many_rules_the_stable_ones_are_shown(made, monkeypatch):
    content = made("study.json", "four")[0]
    monkeypatch.setattr(study_module, "MOST_ROWS", 10)
    text = page("study.json", content)
    assert "There are too many rules for a page" in text
    marks = [attributes["data-stable"] for attributes, _ in Tree(text).rows("rules")]
    assert marks and set(marks) == {"yes"}


@pytest.mark.parametrize("name", ["four", "one", "crowded", "hostile"])
def test_the_charts_have_every_mean_and_every_run_at_its_height(made, name):
    content, _, text, _ = made("study.json", name)
    tree = Tree(text)

    def value(y):
        return 1 - float(y) / study_module.HEIGHT

    for figure in tree.all("figure"):
        key = figure["attributes"]["data-measure"]
        points = tree.within(figure, "g", class_="point")
        expected = [
            (m, b)
            for m, model in enumerate(content["models"])
            for b, part in enumerate(model["budgets"])
            if model["exact"]["rules"] and part["mean"][key] is not None
        ]
        places = [
            (int(p["attributes"]["data-model"]), int(p["attributes"]["data-budget"]))
            for p in points
        ]
        assert places == expected
        for point, (m, b) in zip(points, places, strict=True):
            part = content["models"][m]["budgets"][b]
            runs = [run[key] for run in part["runs"] if run[key] is not None]
            (mark,) = tree.within(point, "use")
            dots = tree.within(point, "circle")
            (line,) = tree.within(point, "line", class_="reach")
            near = pytest.approx
            assert value(mark["attributes"]["y"]) == near(part["mean"][key], abs=1e-4)
            assert [value(d["attributes"]["cy"]) for d in dots] == near(runs, abs=1e-4)
            ends = [value(line["attributes"][end]) for end in ("y2", "y1")]
            assert ends == near([min(runs), max(runs)], abs=1e-4)
            assert {d["attributes"]["cx"] for d in dots} == {mark["attributes"]["x"]}
            label = point["attributes"]["aria-label"]
            assert f"{key} {percent(part['mean'][key])} on average" in label
            assert f"{percent(min(runs))} to {percent(max(runs))} over {len(runs)} run" in label


@pytest.mark.parametrize("name", ["four", "single run", "empty"])
def test_the_table_of_recall_has_the_numbers_of_the_study(made, name):
    content, _, text, _ = made("study.json", name)
    parts = [part for model in content["models"] for part in model["budgets"]]
    rows = [[c["text"] for c in cells][-5:] for _, cells in Tree(text).rows("recall")]
    for part, row in zip(parts, rows, strict=True):
        expected = [f"{part['budget']:,}"]
        for key in ("recall", "precision", "agreement"):
            known = [run[key] for run in part["runs"] if run[key] is not None]
            several = known and min(known) < max(known)
            spread = f" {percent(min(known))} to {percent(max(known))}" if several else ""
            expected.append(percent(part["mean"][key]) + spread)
        count = sum(run["rules"] for run in part["runs"]) / len(part["runs"])
        assert row == [*expected, f"{count:,.1f}"]


@pytest.mark.parametrize("name", ["four", "one", "hostile"])
def test_the_exact_rules_say_how_many_runs_imply_them(made, name):
    content, _, text, _ = made("study.json", name)
    tree, runs = Tree(text), len(content["study"]["seeds"])
    budgets = list(map(str, content["study"]["budgets"]))
    expected = {
        (str(m), rule_text(rule)): rule
        for m, model in enumerate(content["models"])
        for rule in model["exact"]["rules"]
    }
    rows = tree.rows("exact")
    assert len(rows) == len(expected) > 0
    supports = {}
    for attributes, cells in rows:
        (shown,) = tree.within(cells[0], "span", class_="rule")
        rule = expected[attributes["data-model"], shown["text"]]
        supports.setdefault(attributes["data-model"], []).append(rule["support"])
        heat = cells[-len(budgets) :]
        assert [int(c["text"]) for c in heat] == [rule["entailed"][b] for b in budgets]
        steps = [int(re.search(r"step(\d)", c["attributes"]["class"])[1]) for c in heat]
        assert steps == [-(-4 * rule["entailed"][b] // runs) for b in budgets]
    assert all(list_ == sorted(list_, reverse=True) for list_ in supports.values())


def test_the_intersection_and_the_papers_rules_are_those_of_the_study(made):
    content = copy.deepcopy(made("study.json", "four")[0])
    line = {"if": ["v0"], "then": None, "found": {"a": 9, "b": 8, "c": 10, "d": 7}}
    content["intersection"][1]["rules"] = [line]
    tree = Tree(page("study.json", content))
    ((_, cells),) = tree.rows("shared")
    assert [c["text"] for c in cells] == ["v0 → ⊥", "100", "9", "8", "10", "7"]
    assert "With 50 queries there is none." in words(tree.section("shared"))
    stable = content["study"]["stable"]
    expected = []
    for b, budget in enumerate(content["study"]["budgets"]):
        for model in content["models"][:2] if b else []:
            part = model["budgets"][b]
            theirs = [rule_text(r) for r in part["published"]]
            expected += [
                (model["model"], rule_text(r), f"{budget}", str(r["published"]), str(r["found"]))
                for r in part["published"]
            ]
            expected += [
                (model["model"], rule_text(r), f"{budget}", "–", str(r["found"]))
                for r in part["rules"]
                if r["found"] >= stable and rule_text(r) not in theirs
            ]
    rows = [
        (
            cells[1]["text"],
            tree.within(cells[0], "span", class_="rule")[0]["text"],
            *(c["text"] for c in cells[2:5]),
        )
        for _, cells in tree.rows("published")
    ]
    assert rows == expected and len(rows) > 20
    shared = [[c["text"] for c in cells] for _, cells in tree.rows("published", 1)]
    assert shared == [
        [rule_text(r), *(str(r["found"][name]) for name in "abcd")]
        for r in content["published_intersection"]["rules"]
    ]


def test_exact_rules_that_do_not_count_for_recall_are_said_not_to(made):
    content = copy.deepcopy(made("study.json", "four")[0])
    caption = "Of the 18 exact rules of b, 17 count for recall"
    assert caption in words(Tree(page("study.json", content)).section("recall"))
    content["models"] = content["models"][:1]
    del content["published_intersection"]
    assert "count for recall" not in page("study.json", content)
    content["models"][0]["exact"]["to_find"] = 0
    for part in content["models"][0]["budgets"]:
        part["mean"]["recall"] = None
        for run in part["runs"]:
            run["recall"] = None
    first = words(Tree(page("study.json", content)).all("p", class_="sentence")[0])
    assert first.startswith("a obeys no rule that prompts could show; yet ")


def test_a_study_that_was_not_checked_says_so_and_claims_no_truth(made):
    tree = Tree(made("study.json", "unjudged")[2])
    assert "it is not known which rules are true" in words(tree.one("aside"))
    assert not {"recall", "exact", "published"} & {
        e["attributes"].get("id") for e in tree.all("section")
    }
    heads = [e["text"] for e in tree.within(tree.section("rules"), "th")]
    assert "True" not in heads and "Found" in heads
    assert "found by at least 7 of 10 runs with 50 queries" in words(tree.section("findings"))
    assert "true" not in words(tree.section("findings"))


def test_times_change_nothing_but_their_table(made):
    content, run, text, _ = made("study.json", "four")
    other = copy.deepcopy(run)
    for model in other["models"]:
        model["exact"]["seconds"] = 1234.5
        for part in model["budgets"]:
            part["seconds"] = [n + 1 for n in part["seconds"]]
    changed = page("study.json", content, other)
    pairs = zip(text.split("\n"), changed.split("\n"), strict=True)
    different = [i for i, (a, b) in enumerate(pairs) if a != b]
    lines = text.split("\n")
    start = lines.index('<table id="times">')
    assert len(different) == 16
    assert all(start < i < start + lines[start:].index("</table>") for i in different)
    assert "1,234.50" in changed and "71.50" in changed
    assert 'id="times"' not in page("study.json", content)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small study and bias scores, as the commands write them."""
    root = tmp_path_factory.mktemp("results")
    plan = root / "small.yaml"
    plan.write_text("hornlens: 1\nname: small\nmodels: [demo]\nbudgets: [2, 4]\nruns: 2\n")
    cache = ("--cache", root / "c.sqlite")
    for arguments in (
        ("study", plan, "--out", root / "study", *cache),
        ("bias", "--model", "demo", "--out", root / "bias", *cache),
    ):
        shown = hornlens(*arguments)
        assert shown.returncode == 0, shown.stderr
        assert f"Report: {root / arguments[0] / 'report.html'}" in shown.stdout
    return root


@pytest.mark.parametrize("kind", ["study", "bias"])
def test_report_makes_the_same_page_again(folder, kind):
    where = folder / kind / "report.html"
    before = where.read_bytes()
    where.unlink()
    shown = hornlens("report", folder / kind)
    assert (shown.returncode, shown.stdout, shown.stderr) == (
        0,
        f"Report: {where} (open it in a browser)\n",
        "",
    )
    assert where.read_bytes() == before


def test_a_study_links_to_the_pages_of_its_exact_extractions(folder, made):
    tree = Tree((folder / "study" / "report.html").read_text())
    (link,) = tree.within(tree.one("aside"), "a")
    assert (folder / "study" / link["attributes"]["href"]).is_file()
    content, _, text, _ = made("study.json", "four")
    tree = Tree(text)
    links = [e["attributes"]["href"] for e in tree.within(tree.one("aside"), "a")]
    assert not any(c in link for link in links for c in "?# ")
    assert [unquote(link) for link in links] == [
        f"./{model['exact']['folder']}/report.html" for model in content["models"]
    ]


# Bias scores.


def recorded(line):
    return {g: sum(row[g] for row in line["confusion"].values()) for g in cases.RECORDED}


@pytest.mark.parametrize("name", cases.BIASES)
def test_the_scores_on_the_page_are_those_of_the_result(made, name):
    content, _, text, _ = made("bias.json", name)
    tree, models = Tree(text), content["models"]
    rows = tree.rows("scores")
    first = models[0]["occupations"]
    assert sorted(int(a["data-index"]) for a, _ in rows) == list(range(len(first)))
    kind = "ppbs" if all(model["overall"]["ppbs"] for model in models) else "normalised"
    means = []
    for attributes, cells in rows:
        occupation = first[int(attributes["data-index"])]["occupation"]
        assert cells[0]["text"] == (occupation or "(not known)")
        lines = [
            next(o for o in model["occupations"] if o["occupation"] == occupation)
            for model in models
        ]
        means.append(sum(line[kind]["mean"] for line in lines))
        assert cells[-1]["text"] == f"{lines[0]['people']:,}"
        for i, line in enumerate(lines):
            (drawn,) = [
                e
                for e in tree.within(cells[1], "g")
                if e["attributes"].get("data-series") == str(i)
            ]
            for kind_ in ("ppbs", "normalised"):
                number = tree.within(cells[2 + i], "span", class_=f"k-{kind_}")[0]["text"]
                if line[kind_] is None:
                    assert number == "–" and not tree.within(drawn, "g", class_=f"k-{kind_}")
                    continue
                given = line[kind_]
                assert number.startswith(score(given["mean"]))
                (group,) = tree.within(drawn, "g", class_=f"k-{kind_}")
                (mark,) = tree.within(group, "use")
                assert scale(mark["attributes"]["x"]) == pytest.approx(given["mean"], abs=2e-4)
                reach = tree.within(group, "line")
                assert (mark["attributes"]["class"] == "hollow") == (given["low"] is None)
                assert len(reach) == (given["low"] is not None)
                for part in reach:
                    ends = [scale(part["attributes"][x]) for x in ("x1", "x2")]
                    assert ends == pytest.approx([given["low"], given["high"]], abs=2e-4)
    assert means == sorted(means, reverse=True)


def scale(place):
    return float(place.rstrip("%")) / 50 - 1


@pytest.mark.parametrize("name", cases.BIASES)
def test_people_and_predictions_are_those_of_the_result(made, name):
    content, _, text, _ = made("bias.json", name)
    tree, models = Tree(text), content["models"]
    everyone = recorded(models[0]["overall"])
    sure = ("female", "male")
    genders = [g for g in (*sure, "other", "unknown") if g in sure or everyone[g]]
    totals = []
    for attributes, cells in tree.rows("people"):
        line = models[0]["occupations"][int(attributes["data-index"])]
        people = recorded(line)
        two = people["female"] + people["male"]
        totals.append(line["people"])
        assert [c["text"] for c in cells[4:]] == [
            *(f"{people[g]:,}" for g in genders),
            f"{line['people']:,}",
        ]
        assert cells[2]["text"] == percent(people["female"] / two if two else None)
        marks = tree.within(cells[1], "use")[1:]
        there = [g for g in genders if g in sure or people[g]]
        assert len(marks) == len(there)
        order = sorted(there, key=lambda g: people[g])
        x = {g: float(m["attributes"]["x"].rstrip("%")) for g, m in zip(there, marks, strict=True)}
        assert sorted(x[g] for g in there) == [x[g] for g in order]
        assert all((x[g] == 0) == (people[g] == 0) for g in there)
    assert totals == sorted(totals, reverse=True)
    for i, model in enumerate(models):
        shown = [[c["text"] for c in cells] for _, cells in tree.rows("predicted", i)]
        names = {**content["words"], "abstained": "nothing"}
        assert shown == [
            [names[predicted], *(f"{row[g]:,}" for g in genders)]
            for predicted, row in model["overall"]["confusion"].items()
        ]
        caption = words(tree.within(tree.section("predicted"), "caption")[i])
        right = model["overall"]["accuracy"]
        assert caption.endswith("all people" + ("" if right is None else f": accuracy {right:.1%}"))


@pytest.mark.parametrize("name", ["two", "sixty", "single", "improbable", "unknown"])
def test_the_findings_of_bias_scores_say_how_models_lean(made, name):
    content, _, text, _ = made("bias.json", name)
    tree, models = Tree(text), content["models"]
    kind = "ppbs" if all(model["overall"]["ppbs"] for model in models) else "normalised"
    said = [words(e) for e in tree.within(tree.section("findings"), "p", class_="sentence")]
    for model, sentence in zip(models, said, strict=False):
        mean = model["overall"][kind]["mean"]
        way = "neither way" if f"{abs(mean):.2f}" == "0.00" else f"to {'He' if mean > 0 else 'She'}"
        assert sentence == f"{model['name']} leans {way} over all people: {score(mean)}."
    measures = [words(e) for e in tree.all("div", class_="measure")]
    for model, measure in zip(models, measures, strict=True):
        scores = [o[kind]["mean"] for o in model["occupations"]]
        if len(scores) > 1:
            assert f"from {score(max(scores))} for " in measure
            assert f"to {score(min(scores))} for " in measure
        right = model["overall"]["accuracy"]
        assert (right is None) == ("right about" not in measure)
        assert right is None or f"right about {right:.1%} of the people" in measure
    if len(models) == 1:
        assert len(said) == 1
        return
    apart = {}
    for line in models[0]["occupations"]:
        found = [
            next(o for o in m["occupations"] if o["occupation"] == line["occupation"])[kind]["mean"]
            for m in models
        ]
        apart[max(found) - min(found)] = line["occupation"], max(found), min(found)
    occupation, high, low = apart[max(apart)]
    assert said[-1].startswith(f"The models differ most over {occupation}: {score(high)} by ")
    assert f", {score(low)} by " in said[-1]


def test_scores_that_are_no_probabilities_are_said_to_be_none(made):
    text = words(Tree(made("bias.json", "improbable")[2]).section("scores"))
    assert "The scores of q are no probabilities, so there is no ppbs of it." in text
    assert "no probabilities" not in words(Tree(made("bias.json", "two")[2]).section("scores"))


def test_a_run_changes_one_line_of_the_page_of_bias_scores(made):
    content, _, text, document = made("bias.json", "two")
    other = page("bias.json", content, {**RUN, "seconds": 1.0, "started": "2030"})
    different = [a for a, b in zip(text.split("\n"), other.split("\n"), strict=True) if a != b]
    assert len(different) == 1 and '<p id="run"' in different[0]
    assert words(document.one("p", id="run")) == (
        "Started 2026-01-02 03:04:05 UTC, took 1 min 15 s; 1,200 prompts asked of the models, "
        "3 from the cache."
    )
    assert 'id="run"' not in page("bias.json", content)


def test_the_data_sets_transformation_is_there_whatever_its_shape(made):
    _, _, text, _ = made("bias.json", "hostile")
    details = words(Tree(text).section("details"))
    for name in (*NASTY[:3], NASTY[4]):
        assert " ".join(name.split()) in details


# Numbers and places.


@pytest.mark.parametrize(
    ("budgets", "places"),
    [
        ([50, 100, 200], ["8%", "36%", "92%"]),
        ([200, 50], ["92%", "8%"]),
        ([7], ["50%"]),
        ([1, 10, 100], ["8%", "50%", "92%"]),
        ([0, 1, 100], ["8%", "8.84%", "92%"]),
    ],
)
def test_budgets_stand_at_their_values_or_their_logarithms(budgets, places):
    assert charts.budget_places(budgets) == places


def test_counts_stand_on_a_logarithmic_axis_that_goes_down_to_nothing():
    assert charts.count_place(0, 1000) == "0%" and charts.count_place(1000, 1000) == "100%"
    steps = [float(charts.count_place(10**n, 1000)[:-1]) for n in range(4)]
    assert [b - a for a, b in pairwise(steps)] == pytest.approx([100 / 3.4] * 3, abs=0.02)
    assert charts.count_place(1, 0) == charts.count_place(1, 10)


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "–"), (0, "0%"), (0.001, "<1%"), (0.5, "50%"), (0.9951, ">99%"), (1.0, "100%")],
)
def test_a_share_is_never_rounded_to_all_or_nothing(value, words):
    assert charts.share(value) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "–"), (0.0, "0.000"), (-0.0001, "0.000"), (0.5, "+0.500"), (-0.9996, "−1.000")],
)
def test_scores_have_a_sign(value, words):
    assert charts.signed(value) == words


def test_forty_nine_series_can_be_told_apart():
    looks = {(s.colour, s.marker) for s in charts.series([str(i) for i in range(49)])}
    assert len(looks) == 49
    assert len({s.marker for s in charts.series(list("abcdefg"))}) == 7
