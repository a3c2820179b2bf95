"""What was sent, and the replies, on the page: word for word, and narrowed down as readers want."""

import json
import time
from pathlib import Path

import pytest

from hornlens.report.page import page as page_of
from tests.browser.test_accessibility import serious
from tests.browser.test_extraction_page import field

OLD = Path(__file__).parents[1] / "old" / "0.2" / "chat"


def test_the_messages_stand_there_as_they_were_sent(visit, pages):
    [sent], tab = pages.content("chat")["sent"], visit("chat")
    shown = [
        (box.locator(".role").inner_text(), box.locator("pre").evaluate("e => e.textContent"))
        for box in tab.locator("#sent .message").all()
    ]
    messages = [(m["role"], m["content"]) for m in sent["calls"][0]["body"]["messages"]]
    assert shown == [*messages, ("template", sent["template"])]
    facts = tab.locator("#sent .facts").inner_text()
    assert "max_tokens\n64" in facts and "\\bgrant(ed)?\\b, \\byes\\b" in facts
    assert sent["address"] in facts and str(sent["calls"][0]["body"]["seed"]) in facts
    question = tab.locator("#question").inner_text()
    assert "which of these does the model reply, granted or refused?" in question
    assert "blank" not in question and "This is what was sent." in question


def test_without_scripts_what_was_sent_is_there_too(visit):
    tab = visit("chat", java_script_enabled=False)
    assert "You decide on loans." in tab.locator("#sent").inner_text()
    assert tab.locator("#replies").is_hidden()


def test_each_way_of_asking_unfolds_to_its_own_messages(visit, pages):
    lines, tab = pages.content("chat_ways")["sent"], visit("chat_ways")
    ways = tab.locator("#sent > details")
    assert ways.count() == len(lines) == 2
    for way, line in zip(ways.all(), lines, strict=True):
        assert way.locator("> summary").inner_text() == line["variant"]
        if not way.evaluate("e => e.open"):
            way.locator("> summary").press("Enter")
        user = line["calls"][0]["body"]["messages"][-1]["content"]
        assert way.locator("pre").nth(1).evaluate("e => e.textContent") == user


def test_other_models_show_the_sentence_that_they_score(visit, pages):
    [sent], tab = pages.content("demo")["sent"], visit("demo")
    assert tab.locator("#sent pre").all_inner_texts() == sent["texts"]
    assert tab.locator("#replies").count() == 0


def test_a_result_that_does_not_say_has_no_such_section(visit):
    tab = visit("strict")
    assert tab.locator("#sent").count() == 0 and tab.locator('a[href="#sent"]').count() == 0


def test_a_file_of_an_older_version_has_its_replies_and_no_messages(visit, tmp_path):
    content = json.loads((OLD / "envelope.json").read_text(encoding="utf-8"))
    path = tmp_path / "page.html"
    path.write_text(page_of("envelope.json", content), "utf-8")
    tab = visit(path)
    assert tab.locator("#sent").count() == 0 and entries(tab).count() > 0
    question = tab.locator("#question").inner_text()
    assert "which of these does the model reply, She or He?" in question
    assert "blank" not in question


def replies_of(content):
    return [(answer, reply) for answer in content["answers"] for reply in answer["replies"]]


def entries(tab):
    return tab.locator("#reply-list li")


def test_every_reply_is_listed_as_it_came(visit, pages):
    content, tab = pages.content("chat"), visit("chat")
    wanted = replies_of(content)
    assert entries(tab).count() == len(wanted) == 12
    for entry, (answer, reply) in zip(entries(tab).all(), wanted, strict=True):
        assert entry.locator(".prompt").inner_text() == answer["prompts"][0].replace(
            "[MASK]", "____"
        )
        texts = entry.locator(".reply bdi").evaluate_all("all => all.map((e) => e.textContent)")
        assert texts[-1:] == ([reply["text"]] if reply["text"] else [])
    assert tab.evaluate("window.hacked") is None
    assert tab.locator("#reply-list script, #reply-list b").count() == 0


def test_replies_are_narrowed_down_by_answer_reading_value_and_words(visit, pages):
    content, tab = pages.content("chat"), visit("chat")
    wanted, status = replies_of(content), tab.locator("#reply-controls [role=status]")

    def count(keep):
        return sum(keep(answer, reply) for answer, reply in wanted)

    answer, read = (field(tab, "#reply-controls", name) for name in ("Answer", "Reply read"))
    answer.select_option(label="refused")
    refused = count(lambda a, r: a["winner"] == "refused")
    assert entries(tab).count() == refused > 0
    assert status.inner_text() == f"{refused} of 12 replies"
    answer.select_option(label="no answer")
    silent = count(lambda a, r: a["winner"] is None)
    assert entries(tab).count() == silent > 1
    answer.select_option(label="no answer: a refusal")
    assert entries(tab).count() == count(lambda a, r: a.get("abstained") == "refusal") == 1
    assert "I cannot decide that." in entries(tab).inner_text()
    answer.select_option(label="any")
    read.select_option(label="nothing")
    assert entries(tab).count() == count(lambda a, r: r["named"] < 0)
    read.select_option(label="anything")
    field(tab, "#reply-controls", "name").select_option(label="Li")
    assert entries(tab).count() == count(lambda a, r: "Li" in a["set"]) == 3
    field(tab, "#reply-controls", "job").select_option(label="unset")
    assert entries(tab).count() == 1
    field(tab, "#reply-controls", "job").select_option(label="any")
    field(tab, "#reply-controls", "name").select_option(label="any")
    tab.locator("#reply-controls input").fill("because")
    tab.wait_for_function("document.querySelectorAll('#reply-list li').length === 1")


def test_why_a_reply_was_read_so_stands_beside_it(visit, pages, tmp_path):
    content = json.loads(json.dumps(pages.content("chat")))
    for answer in content["answers"]:
        answer["replies"][0] |= {"reading": "<b>one pattern</b>", "finish": "length"}
    path = tmp_path / "page.html"
    path.write_text(page_of("envelope.json", content), "utf-8")
    entry = entries(visit(path)).first
    assert "<b>one pattern</b>" in entry.inner_text() and "ended by: length" in entry.inner_text()


@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [("chat", "light", 1440), ("chat", "dark", 390), ("chat_ways", "dark", 1440)],
)
def test_both_sections_are_accessible_and_fit(visit, axe, name, scheme, width):
    tab = visit(name, color_scheme=scheme, width=width)
    tab.evaluate(
        "document.querySelectorAll('#sent details, #replies details').forEach(d => d.open = 1)"
    )
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert serious(axe, tab) == []


def test_the_replies_are_reached_and_narrowed_down_by_keyboard(visit):
    tab = visit("chat")
    field(tab, "#reply-controls", "name").focus()
    tab.keyboard.type("unset")
    assert entries(tab).count() == 3
    for _ in range(2):  # the next choice, and from there what a long reply folds away
        tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert tab.locator("#reply-list details").first.evaluate("e => e.open")


def test_thousands_of_replies_open_at_once(visit, pages, tmp_path):
    content = json.loads(json.dumps(pages.content("chat")))
    for answer in content["answers"]:
        answer["replies"] = answer["replies"] * 1000
    path = tmp_path / "page.html"
    path.write_text(page_of("envelope.json", content), "utf-8")
    begin = time.perf_counter()
    tab = visit(path)
    assert entries(tab).count() == 25
    tab.locator("#reply-list [data-turn=Next]").click()
    field(tab, "#reply-controls", "name").select_option(label="Li")
    assert tab.locator("#reply-controls [role=status]").inner_text() == "3,000 of 12,000 replies"
    assert time.perf_counter() - begin < 15
