"""The page of an extraction in a real browser: what people see is what the result says."""

import csv
import io
import json
import math
import re
from random import Random

import pytest

from hornlens.api import extract
from hornlens.report.page import page as page_of
from hornlens.report.page.assemble import number
from hornlens.results.documents.settings import Settings
from hornlens.results.wording.odds import odds
from tests import report_cases as cases
from tests.report.test_report import rule_text

PAPER = cases.PAPER


def texts(tab, selector):
    return tab.locator(selector).all_inner_texts()


def shown_rules(tab):
    return [text.strip() for text in texts(tab, "#rule-table > tbody > tr > td .rule")]


def strongest(content):
    """The readable rules in the order of the page."""
    order = sorted(
        range(len(content["readable"])),
        key=lambda i: (
            -content["readable"][i]["support"],
            -(content["readable"][i]["mean_margin"] or 0),
        ),
    )
    return [(content["readable"][i], content["rules"][i]) for i in order]


def field(tab, place, label):
    """A select by the text of its label."""
    return (
        tab.locator(f"{place} label.field")
        .filter(has_text=re.compile(f"^{label}"))
        .locator("select")
    )


@pytest.mark.parametrize("name", cases.CASES)
def test_every_kind_of_result_opens_and_fits_a_narrow_screen(visit, name):
    tab = visit(name, width=390)
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if tab.locator("#rule-1 .open").count():
        tab.click("#rule-1 .open")
    if tab.locator(".cell").count():
        tab.locator(".cell").last.click()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_sorting_goes_both_ways_and_says_so(visit, pages):
    content = pages.content("demo")
    tab = visit("demo")
    header = tab.locator("#rule-table th[data-key=closest]")
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "descending"
    assert tab.locator("#rule-table th[aria-sort]").count() == 1
    calls = {rule_text(r): r["closest"]["margin"] for r in content["readable"]}
    assert [calls[rule] for rule in shown_rules(tab)] == sorted(calls.values())[::-1][:25]
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert [calls[rule] for rule in shown_rules(tab)] == sorted(calls.values())[:25]
    cells = texts(tab, "#rule-table > tbody > tr > td:nth-child(4)")
    shares = [1 / (1 + math.exp(-call)) for call in sorted(calls.values())[:25]]
    assert cells == [odds(share, "down") for share in shares]


def test_search_finds_rules_by_any_words(visit, pages):
    lines = [r for r, _ in strongest(pages.content("demo"))]
    tab = visit("demo")
    search = tab.get_by_label("Search")
    search.fill("DANCER australia")
    wanted = [
        rule_text(r)
        for r in lines
        if all(w in f"{rule_text(r)} {r['sentence']}".lower() for w in ("dancer", "australia"))
    ]
    assert 0 < len(wanted) <= 25 and shown_rules(tab) == wanted
    assert tab.locator("#rule-controls .status").inner_text() == f"{len(wanted)} of 57 rules"
    search.fill("no such thing")
    assert texts(tab, "#rule-table > tbody > tr") == ["No rules match."]
    search.fill("")
    assert len(shown_rules(tab)) == 25
    assert tab.locator("#rule-controls .status").inner_text() == "57 rules"


def test_rules_are_filtered_by_attribute_and_value(visit, pages):
    lines = [r for r, _ in strongest(pages.content("demo"))]
    tab = visit("demo")
    value = field(tab, "#rule-controls", "Value")
    assert value.is_disabled()
    field(tab, "#rule-controls", "Attribute").select_option(label="continent")
    continents = set(pages.content("demo")["probe"]["attributes"]["continent"])
    named = [r for r in lines if continents & {*r["if"], *(r["then"] or [])}]
    assert tab.locator("#rule-controls .status").inner_text() == f"{len(named)} of 57 rules"
    value.select_option(label="Asia")
    asia = [rule_text(r) for r in named if "Asia" in [*r["if"], *(r["then"] or [])]]
    assert shown_rules(tab) == asia
    field(tab, "#rule-controls", "Attribute").select_option(label="any")
    assert tab.locator("#rule-controls .status").inner_text() == "57 rules"


def test_the_canonical_form_is_the_basis(visit, pages):
    both = strongest(pages.content("strict"))
    assert any(rule_text(short) != rule_text(full) for short, full in both)
    tab = visit("strict")
    everything = []
    tab.get_by_role("button", name="Canonical").click()
    while True:
        everything += shown_rules(tab)
        onward = tab.get_by_role("button", name="Next rules")
        if onward.is_disabled():
            break
        onward.click()
    assert sorted(everything) == sorted(rule_text(full) for _, full in both)
    tab.get_by_role("button", name="Readable").click()
    assert shown_rules(tab) == [rule_text(short) for short, _ in both[:25]]


def test_another_form_is_sorted_anew(visit, tmp_path):
    content, run = cases.saved(cases.three_labels())
    content["rules"].reverse()  # so that the two forms of a rule sort apart
    path = tmp_path / "apart.html"
    path.write_text(page_of("envelope.json", content, run), "utf-8")
    tab = visit(path)
    rows = "[...document.querySelectorAll('#rule-table > tbody > tr')].map((row) => row.id)"
    header = tab.locator("th[data-key=rule] button")
    header.click()
    before = tab.evaluate(rows)
    tab.get_by_role("button", name="Canonical").click()
    after = tab.evaluate(rows)
    header.click()
    header.click()
    assert before != after == tab.evaluate(rows)


def test_a_rule_is_copied_in_the_form_that_is_shown(visit, pages):
    both = strongest(pages.content("strict"))
    tab = visit("strict", permissions=["clipboard-read", "clipboard-write"])
    tab.get_by_role("button", name="Canonical").click()
    full = next(full for short, full in both if rule_text(short) != rule_text(full))
    tab.get_by_label("Search").fill(rule_text(full))
    tab.get_by_role("button", name=rule_text(full), exact=True).click()
    copied = []
    for i in range(2):
        tab.locator(".evidence .buttons button").nth(i).click()
        tab.wait_for_function(
            "i => document.querySelectorAll('.evidence button')[i].textContent === 'Copied'",
            arg=i,
        )
        copied.append(tab.evaluate("navigator.clipboard.readText()"))
    assert copied[0] == rule_text(full)
    assert re.findall(r"text{(.*?)}", copied[1]) == [*full["if"], *(full["then"] or [])]


def broken_by(content, line):
    """The answers whose winner a rule rejects, straight from the names."""
    right = line["then"]
    said = [
        {*content["answers"][i]["set"], content["answers"][i]["winner"]} for i in line["evidence"]
    ]
    return [
        position
        for position, names in zip(line["evidence"], said, strict=True)
        if None not in names and {*line["if"]} <= names and (right is None or not {*right} <= names)
    ]


@pytest.mark.parametrize("name", ["tested", "learned"])
def test_a_rule_that_answers_break_says_so_wherever_it_stands(visit, pages, name):
    content = pages.content(name)
    lines = [line for line, _ in strongest(content)]
    tab = visit(name)
    seen = 0
    for rank, line in enumerate(lines, 1):
        broken = broken_by(content, line)
        said = f"broken by {len(broken)} recorded answer{'' if len(broken) == 1 else 's'}"
        assert texts(tab, f"#rule-{rank} .warn-text") == ([said] if broken else [])
        if rank <= 8:
            finding = tab.locator(".findings li").nth(rank - 1).locator(".warn-text")
            assert finding.all_inner_texts() == ([said] if broken else [])
        if not broken:
            continue
        seen += 1
        tab.click(f"#rule-{rank} .open")
        detail = tab.locator(f"#rule-{rank}-evidence")
        first = detail.locator(".segments button").first
        assert first.inner_text() == f"{len(broken)} {'breaks' if len(broken) == 1 else 'break'} it"
        assert first.get_attribute("aria-pressed") == "true"
        assert "gave an answer that the rule rules out" in detail.inner_text()
        words = content["probe"]["label"]
        answers = [content["answers"][i] for i in broken]
        prompts = {a["prompts"][0].replace("[MASK]", words[a["winner"]]) for a in answers}
        shown = detail.locator(".prompts tbody td:first-child").all_inner_texts()
        assert len(shown) == min(10, len(broken)) and set(shown) <= prompts
        chosen = {
            a.name: next((v.name for v in a.values if v.name in answers[0]["set"]), "unset")
            for a in PAPER.attributes
        }
        row = ask(tab, chosen).locator("tbody tr").nth([*words].index(answers[0]["winner"]))
        assert rule_text(line) in row.locator(".rule").all_inner_texts()
        assert "The model says it all the same: the rule" in row.locator(".warn-text").inner_text()
    assert lines and bool(seen) == (name == "learned")  # only old files list what answers break


def test_a_rule_opens_to_its_prompts_with_scores_and_the_closest_call(visit, pages):
    content = pages.content("demo")
    tab = visit("demo")
    for rank in (0, 7):  # a rule that ends in ⊥, and one that does not
        line, _ = strongest(content)[rank]
        tab.click(f"#rule-{rank + 1} .open")
        assert tab.locator(f"#rule-{rank + 1} .open").get_attribute("aria-expanded") == "true"
        detail = tab.locator(f"#rule-{rank + 1}-evidence")
        result = pages.result("demo")
        evidence = result.evidence[content["readable"].index(line)]
        speaking = sorted(
            (e for e in evidence.exhibits if e.margin is not None), key=lambda e: e.margin
        )
        rows = detail.locator(".prompts tbody tr")
        assert rows.count() == 10
        for i, exhibit in enumerate(speaking[:10]):
            cells = rows.nth(i).locator("td").all_inner_texts()
            word = PAPER.label.words[exhibit.decision.winner]
            assert cells == [
                PAPER.render(exhibit.cell)[0].replace("[MASK]", word),
                *map(number, exhibit.decision.scores),
                lead_text(result, exhibit.margin),
            ]
        closest = content["answers"][line["closest"]["answer"]]["prompts"][0]
        facts = detail.locator(".facts").inner_text()
        assert closest.removeprefix("[MASK]") in facts
        assert f"by {lead_text(result, line['closest']['margin'])}" in facts
    detail.get_by_role("button", name="1 other").click()
    assert "nurse" in detail.locator(".prompts tbody").inner_text()
    tab.click("#rule-8 .open")
    assert tab.locator("#rule-8-evidence").count() == 0


def test_prompts_of_a_rule_are_turned_page_by_page(visit):
    tab = visit("demo")
    tab.click("#rule-1 .open")
    detail = tab.locator("#rule-1-evidence")
    seen = set()
    for _ in range(6):
        seen |= set(detail.locator(".prompts tbody td:first-child").all_inner_texts())
        onward = detail.get_by_role("button", name="Next prompts")
        if onward.is_enabled():
            onward.click()
    assert len(seen) == 60 and all("footballer" in prompt for prompt in seen)


def test_rules_are_copied_as_text_and_latex(visit):
    tab = visit("demo", permissions=["clipboard-read", "clipboard-write"])
    tab.click("#rule-1 .open")
    for i, copied in enumerate(
        ("footballer ∧ female → ⊥", r"$\text{footballer} \land \text{female} \to \bot$")
    ):
        tab.locator("#rule-1-evidence .buttons button").nth(i).click()
        tab.wait_for_function(
            "i => document.querySelectorAll('.evidence button')[i].textContent === 'Copied'",
            arg=i,
        )
        assert tab.evaluate("navigator.clipboard.readText()") == copied


def test_a_finding_leads_to_its_rule_even_if_the_table_is_filtered(visit):
    tab = visit("demo")
    tab.get_by_label("Search").fill("priest")
    tab.locator(".findings a").nth(5).click()
    assert tab.locator("#rule-6-evidence").is_visible()
    assert tab.evaluate("document.activeElement.closest('tr').id") == "rule-6"
    assert tab.get_by_label("Search").input_value() == ""


def test_a_link_to_a_rule_opens_it(visit, pages):
    tab = visit("demo")
    tab.goto("about:blank")
    tab.goto(f"{pages.path('demo').as_uri()}#rule-40")
    tab.wait_for_selector("html[data-ready]", state="attached")
    assert tab.locator("#rule-40-evidence").is_visible()


def test_the_address_follows_the_findings_and_the_rules_follow_the_address(visit):
    tab = visit("demo")
    at = "id => document.activeElement.closest('tr')?.id === id && location.hash === `#${id}`"
    for rank in (2, 5, 5):
        tab.locator(".findings a").nth(rank - 1).click()
        tab.wait_for_function(at, arg=f"rule-{rank}")
    tab.go_back()
    tab.wait_for_function(at, arg="rule-2")
    tab.go_forward()
    tab.wait_for_function(at, arg="rule-5")
    tab.evaluate("location.hash = '#rule-31'")
    tab.wait_for_function(at, arg="rule-31")
    assert tab.locator("#rule-31-evidence").is_visible()


def expected_map(result, rows, columns, fixed, label):
    """The mean lead of a label over two attributes, straight from the decisions."""
    space = result.space
    table = {}
    for cell, decision in result.decisions.items():
        chosen = [space.vocabulary.names_of(cell & g) or ("unset",) for g in space.groups[:-1]]
        if any(chosen[a][0] != value for a, value in fixed.items()):
            continue
        others = [s for i, s in enumerate(decision.scores) if i != label]
        lead = decision.scores[label] - max(others)
        key = tuple("all prompts" if a is None else chosen[a][0] for a in (rows, columns))
        table.setdefault(key, []).append(lead)
    if result.in_odds:
        shares = {k: [1 / (1 + math.exp(-lead)) for lead in leads] for k, leads in table.items()}
        return {key: share_text(sum(each) / len(each)) for key, each in shares.items()}
    return {key: signed(sum(leads) / len(leads)) for key, leads in table.items()}


def share_text(share):
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{math.floor(100 * share + 0.5)}%"


def lead_text(result, margin):
    """How far an answer is ahead, as the page says it."""
    return odds(1 / (1 + math.exp(-margin))) if result.in_odds else number(margin)


def shown_map(tab):
    heads = texts(tab, ".map thead th")
    found = {}
    for row in tab.locator(".map tbody tr").all():
        name = row.locator("th").inner_text()
        for head, cell in zip(heads, row.locator(".cell").all_inner_texts(), strict=True):
            found[name, head] = cell
    return found


def signed(value):
    return f"+{number(value)}" if value > 0 else number(value)


def agrees(tab, expected):
    assert shown_map(tab) == expected


def test_the_map_shows_the_mean_leads_for_any_choice_of_axes(visit, pages):
    result = pages.result("demo")
    tab = visit("demo")
    agrees(tab, expected_map(result, 2, 0, {}, 0))  # occupation × period
    field(tab, "#map-controls", "continent").select_option(label="Asia")
    agrees(tab, expected_map(result, 2, 0, {1: "Asia"}, 0))
    field(tab, "#map-controls", "continent").select_option(label="unset")
    agrees(tab, expected_map(result, 2, 0, {1: "unset"}, 0))
    field(tab, "#map-controls", "Lead of").select_option(label="He")
    agrees(tab, expected_map(result, 2, 0, {1: "unset"}, 1))
    field(tab, "#map-controls", "continent").select_option(label="averaged")
    field(tab, "#map-controls", "Columns").select_option(label="continent")
    agrees(tab, expected_map(result, 2, 1, {}, 1))
    field(tab, "#map-controls", "Rows").select_option(label="continent")  # they change places
    agrees(tab, expected_map(result, 1, 2, {}, 1))
    field(tab, "#map-controls", "Columns").select_option(label="none")
    agrees(tab, expected_map(result, 1, None, {}, 1))


@pytest.mark.parametrize(
    ("name", "rows", "columns"),
    [("three_labels", 1, 0), ("one_attribute", 0, None), ("no_attribute", None, None)],
)
def test_maps_of_other_shapes(visit, pages, name, rows, columns):
    result = pages.result(name)
    tab = visit(name)
    if name == "no_attribute":
        assert shown_map(tab) == {("all prompts", "all prompts"): "+1.00"}
        return
    for label, word in enumerate(result.question.words.values()):
        field(tab, "#map-controls", "Lead of").select_option(label=word)
        agrees(tab, expected_map(result, rows, columns, {}, label))


def test_cells_without_a_lead_or_a_mean_say_so_with_three_labels(visit, tmp_path):
    question = cases.probe(
        "odd",
        "{x} {y} {label}.",
        {"x": ["even", "torn", "good"], "y": ["up"]},
        {"a": "alpha", "b": "beta", "c": "gamma"},
    )

    def model(prompt, words):
        if "torn" in prompt:
            return [0.0, -math.inf, -math.inf] if "up" in prompt else [-math.inf, 0.0, -1.0]
        return [3.0, 1.0, 0.0] if "good" in prompt else [1.0, 1.0, 0.0]

    path = tmp_path / "odd.html"
    result = extract(model, question, cache=False)
    path.write_text(page_of("envelope.json", *cases.saved(result)), "utf-8")
    tab = visit(path)
    field(tab, "#map-controls", "Columns").select_option(label="none")

    def said():
        labels = tab.locator(".cell").evaluate_all("cells => cells.map((c) => c.ariaLabel)")
        return [re.sub("[\u2068\u2069]", "", label).split(";")[0] for label in labels]

    torn = "torn: No mean: endless leads both ways"
    assert said() == [
        "unset: No lead on average",
        "even: No lead on average",
        torn,
        "good: alpha leads by 2.00 on average",
    ]
    field(tab, "#map-controls", "Lead of").select_option(label="gamma")
    assert said()[1] == "even: The best other leads by 1.00 on average"
    for cell in tab.locator(".cell").all():
        cell.click()
        assert tab.locator("#map-picked .prompts").is_visible()


def test_a_map_of_very_long_attributes_is_shown_in_parts(visit, tmp_path):
    def values(name):
        return [f"{name}{i}" for i in range(60)]

    question = cases.probe(
        "long", "{x} {y} {label}.", {"x": values("x"), "y": values("y")}, {"g": "good", "b": "bad"}
    )
    settings = Settings("budget", max_equivalence_queries=2, seed=1)
    result = extract(lambda p, w: [1.0, 0.0], question, settings=settings, cache=False)
    path = tmp_path / "long.html"
    path.write_text(page_of("envelope.json", *cases.saved(result)))
    tab = visit(path)
    assert tab.locator(".map tbody tr").count() == 40 and tab.locator(".map thead th").count() == 24
    # There are 61 rows, two parts of them, and 61 columns, three parts: focus stays where it can.
    for button, after in (
        ("Next rows of the map", "Previous rows of the map"),
        ("Next columns of the map", "Next columns of the map"),
    ):
        tab.get_by_role("button", name=button).click()
        assert tab.evaluate("document.activeElement.ariaLabel") == after
    assert texts(tab, ".map tbody th")[0] == "x39" and texts(tab, ".map thead th")[0] == "y23"
    assert set(shown_map(tab).values()) <= {"·", "+1.00"}


def test_the_rules_that_speak_of_a_cell_are_marked(visit, pages):
    result = pages.result("demo")
    names = PAPER.vocabulary
    tab = visit("demo")
    heads = texts(tab, ".map thead th")
    rules = [
        set(names.names_of(r.antecedent & ~PAPER.space.label_mask))
        for r in result.envelope.readable
    ]
    for row in tab.locator(".map tbody tr").all():
        occupation = row.locator("th").inner_text()
        marks = row.locator(".cell").evaluate_all("c => c.map((b) => b.dataset.rules ?? '')")
        for period, mark in zip(heads, marks, strict=True):
            here = {occupation, period}
            continents = {v.name for v in PAPER.attributes[1].values}
            if any(r <= here for r in rules):
                assert mark == "all"
            else:
                assert mark == ("some" if any(r - continents <= here for r in rules) else "")


def test_picking_a_cell_shows_its_prompts_and_rules(visit, pages):
    tab = visit("demo")
    cell = tab.locator(".map tbody tr").nth(2).locator(".cell").nth(5)
    cell.hover()
    readout = tab.locator("#map-readout").inner_text()
    assert readout.startswith("nurse, after 1970") and "10 prompts" in readout
    cell.click()
    assert cell.get_attribute("aria-pressed") == "true"
    picked = tab.locator("#map-picked")
    prompts = picked.locator(".prompts tbody td:first-child").all_inner_texts()
    assert len(prompts) == 10
    assert all(p.startswith("She was born after 1970") and "nurse" in p for p in prompts)
    picked.get_by_role("button", name="nurse ∧ male → ⊥").click()
    assert tab.evaluate("document.activeElement.textContent") == "nurse ∧ male → ⊥"


def ask(tab, choices):
    for name, value in choices.items():
        field(tab, "#ask-controls", name).select_option(label=value)
    return tab.locator("#ask-answer")


@pytest.mark.parametrize("name", ["demo", "abstaining", "pac"])
def test_asking_gives_the_recorded_answer_and_the_rules_that_reject_the_others(visit, pages, name):
    content, result = pages.content(name), pages.result(name)
    tab = visit(name)
    rng = Random(name)
    rules = list(result.envelope.readable)
    for answer in rng.sample(content["answers"], 12):
        chosen = {
            a.name: next((v.name for v in a.values if v.name in answer["set"]), "unset")
            for a in PAPER.attributes
        }
        card = ask(tab, chosen)
        said = card.locator(".verdict").inner_text()
        if answer["winner"] is None:
            assert said == "The model has no answer: a tie."
        else:
            word = content["probe"]["label"][answer["winner"]]
            lead = lead_text(result, answer["margin"])
            act = f"scores {word} highest" if result.in_odds else f"says {word}"
            assert said == f"The model {act}, by {lead}."
            filled = answer["prompts"][0].replace("[MASK]", word)
            assert card.locator(".sentence").inner_text() == filled
        cell = PAPER.vocabulary.mask(answer["set"])
        for label in range(2):
            row = card.locator("tbody tr").nth(label)
            assert row.locator("td").first.inner_text() == number(answer["scores"][label])
            x = PAPER.space.with_label(cell, label)
            broken = [r.show(PAPER.vocabulary) for r in rules if not r.satisfied_by(x)]
            assert row.locator(".rule").all_inner_texts() == broken[:5]
            words = row.locator("td").last.inner_text()
            if broken:
                assert words.startswith("Ruled out by")
            elif PAPER.label.values[label].name == answer["winner"] or answer["winner"] is None:
                assert words == "Allowed."
            else:
                assert "It loses" in words and ("non-Horn negative" in words) == (name != "pac")


def test_of_complete_cells_nothing_can_be_left_unset_and_every_question_was_asked(visit, pages):
    content, space = pages.content("complete_cells"), pages.result("complete_cells").space
    tab = visit("complete_cells")
    for attribute in space.attributes:
        options = field(tab, "#ask-controls", attribute.name).locator("option").all_inner_texts()
        assert options == [attribute.describe(leaf) for leaf in attribute.leaves]
    assert "Not asked" not in tab.locator("#ask-answer .verdict").inner_text()
    for answer in content["answers"]:
        cell = space.vocabulary.mask(answer["set"])
        chosen = dict(zip([a.name for a in space.attributes], space.conditions(cell), strict=True))
        said = ask(tab, chosen).locator(".verdict").inner_text()
        if answer["winner"] is None:
            assert said == "The target has no answer: no answer."
        else:
            assert said == f"The target says {answer['winner']}, by {number(answer['margin'])}."
    assert "unset" not in tab.locator("main").inner_text().replace("label unset", "")


@pytest.mark.slow
def test_a_question_that_was_not_asked_says_so_and_what_the_rules_predict(visit, pages):
    result = pages.result("pac")
    missing = [cell for cell in PAPER.space.cells() if cell not in result.decisions]
    assert missing
    tab = visit("pac")
    for cell in missing:
        chosen = {
            a.name: (*PAPER.vocabulary.names_of(cell & g), "unset")[0]
            for a, g in zip(PAPER.attributes, PAPER.space.groups, strict=False)
        }
        card = ask(tab, chosen)
        allowed = [
            value.word
            for i, value in enumerate(PAPER.label.values)
            if result.envelope.readable.satisfied_by(PAPER.space.with_label(cell, i))
        ]
        ending = {
            0: "The rules reject every answer.",
            1: f"The rules predict {''.join(allowed)}.",
            2: "The rules leave it open.",
        }[len(allowed)]
        assert card.locator(".verdict").inner_text() == f"Not asked. {ending}"
        assert "was not asked this" in card.inner_text()
        sentence = re.sub("[\u2068\u2069]", "", card.locator(".sentence").inner_text())
        for name, value in chosen.items():
            assert f"⟨{value if value != 'unset' else f'{name}: unset'}⟩" in sentence


@pytest.mark.parametrize("name", ["demo", "strict"])
def test_all_non_horn_negatives_are_listed(visit, pages, name):
    result = pages.result(name)
    mask = PAPER.vocabulary.mask
    tab = visit(name)
    place = tab.locator("#non-horn")
    found = set()
    while True:
        for rejected, parts in place.locator("tbody tr").evaluate_all(
            "rows => rows.map((r) => [...r.cells].map((c) => [...c.querySelectorAll('.set')]"
            ".map((s) => [...s.querySelectorAll('bdi')].map((b) => b.textContent))))"
        ):
            x = mask(rejected[0])
            found.add(x)
            together = -1
            for part in parts:
                together &= mask(part)
            assert together == x
        onward = place.get_by_role("button", name="Next non-Horn negatives")
        if not onward.count() or onward.is_disabled():
            break
        onward.click()
    assert found == result.excluded and len(found) == result.envelope.non_horn.count


def test_abstentions_are_listed_with_their_reason(visit):
    tab = visit("abstaining")
    assert "60 prompts: 60 because the candidates tied" in tab.locator("#details").inner_text()
    rows = tab.locator("#abstentions tbody tr")
    assert rows.count() == 10 and all("a tie" in text for text in rows.all_inner_texts())


def test_each_rule_says_what_stands_behind_it_where_not_all_are_proved(visit, pages):
    assert "warrant" not in visit("demo").locator("#rules").inner_text().lower()
    for name, words, sentence in (
        (
            "tested",
            "tested, at most 20%",
            "Tested by samples, none of which broke it: at most 20% of its cases do.",
        ),
        ("learned", "open", "Open: no recorded answer breaks it, and nothing proves it."),
        ("learned", "none", "None: recorded answers break it."),
    ):
        tab = visit(name)
        shown = texts(tab, "#rule-table td.warrant")
        assert set(shown) == ({words} if name == "tested" else {"open", "none"})
        assert texts(tab, ".findings .warrant")[shown.index(words)] == sentence
        number = shown.index(words) + 1
        tab.click(f"#rule-{number} .open")
        assert sentence in tab.locator(f"#rule-{number}-evidence").inner_text()
        tab.get_by_role("button", name="Warrant").click()
        assert tab.locator("#rule-table th[aria-sort]").inner_text().startswith("Warrant")


def test_open_rules_stand_apart_and_nothing_is_claimed_of_them(visit, pages):
    result = pages.result("budget")
    tab = visit("budget")
    part = tab.locator("#hypotheses")
    assert part.locator("h2").inner_text() == "Open rules"
    assert part.locator("li").all_inner_texts() == [
        result.space.show(rule) for rule in result.envelope.open
    ]
    assert "Not proved." in part.locator(".lead").inner_text()
    assert "No rule is proved yet." in tab.locator("#findings").inner_text()
    body = tab.locator("main").inner_text()
    assert "complete" not in body and "every other Horn rule" not in body
    assert "The rules are a fact" not in body


def test_a_result_without_rules(visit):
    tab = visit("empty")
    found = tab.locator("#findings").inner_text()
    assert "The model gave no answer." in found and "obeys no" not in found
    assert tab.locator("aside .verdict").inner_text() == "Unanswered"
    assert "None of 660 questions was answered" in tab.locator("aside").inner_text()
    assert tab.locator("#limits .lead").inner_text() == "Not known: the model gave no answer."
    rates = tab.locator("#rates").inner_text()
    assert "none has an answer on both sides" in rates and "never changed" not in rates
    assert tab.locator("#rule-table").count() == 0
    assert tab.locator("#ask-answer .verdict").inner_text() == "The model has no answer: a tie."


def test_infinite_scores_are_shown_as_such(visit):
    tab = visit("infinite")
    assert shown_map(tab)["red", "all prompts"] == "0%"
    assert "−∞" in ask(tab, {"colour": "red"}).inner_text()


OF_PROMPTS = r"\b(prompt|model|probe|template|fill)"
SEEN = (
    "[...document.querySelectorAll('body > :not(script), [aria-label], title')].flatMap("
    "(e) => [e.matches('body > *, title') ? e.textContent : '', e.ariaLabel ?? '']).join(' | ')"
)


@pytest.mark.parametrize("name", ["cells", "sampled_cells", "scored_cells"])
def test_a_target_without_prompts_is_spoken_of_in_its_own_words(visit, pages, name):
    result = pages.result(name)
    scored = name == "scored_cells"
    tab = visit(name)
    shown = {result.space.show(rule) for rule in result.envelope.readable}
    assert set(shown_rules(tab)) == shown and any("30 ≤ age < 60" in rule for rule in shown)
    for opener in tab.locator("#rule-table .open").all():
        opener.click()
    assert tab.locator("#map").count() == tab.locator("nav a[href='#map']").count() == scored
    if scored:
        for cell in tab.locator(".cell").all():
            cell.click()
        field(tab, "#map-controls", "sex").select_option(label="female")
        last = tab.locator(".map tbody tr").first.locator(".cell").last  # Asia: it says nothing
        assert "No scores" in last.get_attribute("aria-label")
    heads = ["Rule", "Could break it", "Mean margin", "Closest call"]
    assert texts(tab, "#rule-table > thead th") == heads[: 4 if scored else 2]
    assert re.findall(OF_PROMPTS, tab.evaluate(SEEN), re.IGNORECASE) == []
    assert "NaN" not in tab.evaluate(SEEN) and "undefined" not in tab.evaluate(SEEN)


def places_of(space, cell):
    """What the fields of a cell are set to, by the names of the attributes."""
    parts = zip(space.attributes, space.offsets, space.groups, strict=False)
    return {
        a.name: a.describe((cell & group) >> at) if cell & group else "unset"
        for a, at, group in parts
    }


@pytest.mark.parametrize("name", ["cells", "sampled_cells", "scored_cells"])
def test_asking_a_target_without_prompts_shows_the_row_of_what_is_set(visit, pages, name):
    result = pages.result(name)
    space, tab = result.space, visit(name)
    for cell in Random(name).sample(sorted(space.cells()), 15):
        card = ask(tab, places_of(space, cell))
        row = ", ".join(space.conditions(cell)) or "nothing set"
        assert card.locator(".sentence").inner_text() == row
        decision, said = result.decisions.get(cell), card.locator(".verdict").inner_text()
        if decision is None:
            assert said.startswith("Not asked.") and "The target was not asked" in card.inner_text()
        elif decision.winner is None:
            assert said == "The target has no answer: no answer."
        else:
            word = space.label.variables[decision.winner]
            lead = f", by {number(decision.margin)}" if decision.scores else ""
            assert said == f"The target says {word}{lead}."
        for label, line in enumerate(card.locator("tbody tr").all()):
            x = space.with_label(cell, label)
            broken = [space.show(r) for r in result.envelope.readable if not r.satisfied_by(x)]
            assert line.locator(".rule").all_inner_texts() == broken[:5]


@pytest.mark.parametrize("name", ["cells", "scored_cells"])
def test_the_answers_of_a_target_without_prompts_are_a_table_with_a_column_for_each_thing(
    visit, pages, name
):
    result = pages.result(name)
    tab = visit(name, accept_downloads=True)
    _, text = download(tab, "Answers as CSV")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [*rows[0]] == [
        *("cell", "sex", "age", "place", "granted", "refused", "winner", "margin")
    ]
    for row, (_, decision) in zip(rows, sorted(result.decisions.items()), strict=True):
        assert None not in row and None not in row.values()
        winner = "" if decision.winner is None else ("granted", "refused")[decision.winner]
        assert row["winner"] == winner
        given = [float(row[word]) for word in ("granted", "refused") if row[word]]
        assert given == pytest.approx(decision.scores)
        assert (row["margin"] == "") == (decision.scores == ())


def download(tab, name):
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name=name, exact=True).click()
    return waiting.value.suggested_filename, waiting.value.path().read_text("utf-8")


@pytest.mark.parametrize("name", ["demo", "hostile", "infinite", "tested"])
def test_the_data_is_downloaded_from_the_page_itself(visit, pages, name):
    content, result = pages.content(name), pages.result(name)
    tab = visit(name, accept_downloads=True)
    file, text = download(tab, "JSON")
    assert file == "envelope.json" and json.loads(text) == json.loads(json.dumps(content))
    file, text = download(tab, "Rules as CSV")
    assert file == "rules.csv"
    given, ours = (
        list(csv.DictReader(io.StringIO(t, newline=""))) for t in (text, result.rules.csv())
    )
    assert len(given) == len(ours) > 0
    for a, b in zip(given, ours, strict=True):
        for key in ("mean_margin", "smallest_margin", "share", "bound"):
            x, y = a.pop(key).replace("Infinity", "inf"), b.pop(key)
            assert (x == y == "") or float(x) == pytest.approx(float(y), rel=1e-5)
        assert a == b
    file, text = download(tab, "Answers as CSV")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    prompts = [p for answer in content["answers"] for p in answer["prompts"]]
    assert file == "answers.csv" and [row[0] for row in rows[1:]] == prompts


def test_names_that_try_to_get_out_do_not(visit):
    tab = visit("hostile")
    for opener in tab.locator("#rule-table .open").all():
        opener.click()
    for cell in tab.locator(".cell").all()[:12]:
        cell.click()
    for select in tab.locator("select").all():
        if select.is_enabled():
            select.select_option(index=1)
    tab.get_by_role("button", name="Canonical").click()
    assert tab.evaluate("window.hacked") is None
    assert tab.locator("img").count() == 0
    assert tab.locator("script").count() == 3  # the data, the view of it, and the page's own
    assert cases.NASTY[1] in tab.locator("#details").inner_text()


def focused(tab):
    return tab.evaluate(
        "(() => {const a = document.activeElement; const s = getComputedStyle(a);"
        " return [a.id || a.getAttribute('aria-label') || a.textContent.trim().slice(0, 40),"
        " s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2];})()"
    )


def test_everything_can_be_done_with_the_keyboard_alone(visit):
    tab = visit("demo")
    tab.keyboard.press("Tab")
    assert focused(tab)[0] == "Skip to the content"
    tab.keyboard.press("Enter")
    reached = []
    for _ in range(120):
        tab.keyboard.press("Tab")
        name, visible = focused(tab)
        assert visible, f"no visible focus on {name}"
        reached.append(name)
        if name == "footballer ∧ female → ⊥":
            tab.keyboard.press("Enter")
            assert tab.locator("#rule-1-evidence").is_visible()
        if tab.evaluate("document.activeElement.matches('.cell')"):
            break
    for wanted in (
        "JSON",
        "Canonical",
        "Could break it",
        "Odds on average",
        "Copy LaTeX",
        "Next rules",
    ):
        assert wanted in reached, wanted
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("End")
    assert "nurse" in focused(tab)[0] and "after 1970" in focused(tab)[0]
    assert tab.locator("#map-readout").inner_text().startswith("nurse, after 1970")
    tab.keyboard.press("Enter")
    assert tab.locator("#map-picked .prompts").is_visible()
    tab.keyboard.press("Home")
    assert "nurse" in focused(tab)[0] and "unset" in focused(tab)[0]
    for _ in range(20):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.closest('#ask-controls') !== null"):
            break
    tab.keyboard.press("ArrowDown")
    assert "before 1875" in tab.locator("#ask-answer .sentence").inner_text()


def test_sorting_by_keyboard_keeps_the_focus(visit):
    tab = visit("demo")
    button = tab.locator("th[data-key=mean] button")
    button.focus()
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.textContent") == "Odds on average"
    tab.get_by_role("button", name="Next rules").focus()
    for _ in range(3):
        tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.dataset.turn") == "Previous"  # there is no next


def brightness(tab):
    colour = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, re.findall(r"\d+", colour)[:3]))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_follow_the_system_until_the_button_is_pressed(visit, scheme):
    tab = visit("demo", color_scheme=scheme)
    assert (brightness(tab) > 600) == (scheme == "light")
    other = {"light": "Dark", "dark": "Light"}[scheme]
    tab.get_by_role("button", name=other, exact=True).click()
    assert (brightness(tab) > 600) == (scheme == "dark")
    tab.emulate_media(color_scheme={"light": "dark", "dark": "light"}[scheme])
    assert (brightness(tab) > 600) == (scheme == "dark")


def test_printed_it_has_all_findings_and_all_rules_and_no_controls(visit, tmp_path):
    tab = visit("demo")
    tab.get_by_label("Search").fill("nurse")
    tab.evaluate(
        "addEventListener('beforeprint', () => {"
        " window.rows = document.querySelectorAll('#rule-table > tbody > tr').length;})"
    )
    data = tab.pdf(path=tmp_path / "page.pdf", format="A4")
    assert data.startswith(b"%PDF") and data.count(b"/Type /Page\n") >= 3
    assert tab.evaluate("window.rows") == 57
    assert len(shown_rules(tab)) < 25  # and afterwards as before
    tab.emulate_media(media="print")
    assert tab.locator(".findings li").count() == 8
    for hidden in ("#rule-controls", "#theme", "#ask", "#downloads", "#map-controls", "nav"):
        assert not tab.locator(hidden).is_visible(), hidden


def test_without_scripts_findings_certificate_and_rules_are_there(visit):
    tab = visit("demo", java_script_enabled=False)
    assert tab.locator(".findings li").count() == 8
    assert tab.get_by_role("complementary").get_by_text("Every prompt").is_visible()
    assert tab.locator("#rule-table > tbody > tr:visible").count() == 57
    for hidden in ("#rule-controls", "#map", "#ask", "#theme"):
        assert not tab.locator(hidden).is_visible()


@pytest.mark.slow
def test_twenty_thousand_prompts_stay_smooth(visit, pages, capsys):
    content = pages.content("large")
    assert len(content["answers"]) == 12**4
    path = pages.path("large")
    assert path.stat().st_size < 15_000_000
    tab = visit("large")
    elements = "document.querySelectorAll('*').length"
    assert tab.evaluate(elements) < 3_000
    spent = tab.evaluate(
        "(() => {const t = performance.now();"
        " document.querySelector('th[data-key=mean] button').click();"
        " return performance.now() - t;})()"
    )
    tab.locator(".cell").first.click()
    tab.click("#rule-table .open >> nth=0")
    assert tab.evaluate(elements) < 4_000
    timing = tab.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    with capsys.disabled():
        print(
            f"\n{path.stat().st_size / 1e6:.1f} MB, {len(content['rules'])} rules: "
            f"interactive after {timing:.0f} ms, sorted in {spent:.0f} ms"
        )


def test_the_models_own_first_words_stand_beside_what_it_was_asked(visit, pages):
    content, tab = pages.content("demo"), visit("demo")
    answer = next(a for a in content["answers"] if a["set"] == ["nurse"])
    text = ask(tab, {"period": "unset", "continent": "unset", "occupation": "nurse"}).inner_text()
    shown = text.split("Its own first words: ")[1].split(". The candidates hold")[0]
    assert [part.rsplit(" ", 1)[0] for part in shown.split(", ")] == [
        word for word, _ in answer["first_words"]
    ]
    tab.click("#rule-1 .open")
    assert "of the model’s probability, on average" in tab.locator(".evidence").inner_text()
    said = ask(visit("one_attribute"), {"colour": "red"}).inner_text()
    assert "first words" not in said  # a function has none


def test_on_a_small_screen_the_map_says_that_it_scrolls(visit):
    tab = visit("demo", viewport={"width": 390, "height": 800})
    hint = tab.locator("#map .scrolls")
    hint.wait_for(state="visible")
    assert "scrolls sideways" in hint.inner_text()
    tab.set_viewport_size({"width": 1440, "height": 900})
    hint.wait_for(state="hidden")
