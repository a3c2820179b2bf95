"""How replies of chat models are read: what is chosen, denied, mentioned, cut off, or for order."""

import json
import struct
import time
from contextlib import closing
from random import Random

import pytest

from hornlens.api import extract, load
from hornlens.models.chat.choosing import scores_of
from hornlens.models.chat.gguf import has_chat_template
from hornlens.models.chat.reading import read_choice, read_text
from hornlens.models.protocol import Elicitation, ModelOptions
from hornlens.models.registry import open_model
from hornlens.probes.loading import parse_probe
from hornlens.store.sqlite import AnswerCache
from hornlens.testing.models import ask, refusal
from hornlens.verification import verify
from tests.chat_server import PROBE, ChatServer, keep_to_itself

pytest.importorskip("openai")

WORDS = ("She", "He")
PROMPT = "[MASK] was born in Africa and works as a nurse."
LOAN = ("grant", "deny")


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    keep_to_itself(monkeypatch, tmp_path)


def model_at(server, **options):
    return open_model("openai/tiny", ModelOptions(base_url=server.url, **options))


def read(text, words=WORDS, patterns=None, prompt=PROMPT):
    reading = read_text(text, words, patterns or {}, prompt)
    return words[reading.named] if reading.named >= 0 else reading.outcome


# --- free text ---


@pytest.mark.parametrize(
    "text",
    [
        "He",
        "he",
        "HE.",
        "“He”",
        "'He'",
        "**He**",
        "`He`",
        "```\nHe\n```",
        "- He",
        "1. He",
        "<answer>He</answer>",
        '{"answer": "He"}',
        "The answer is He.",
        "Answer: **He**",
        "My final answer: He",
        "I would choose He.",
        "I'd say “he”.",
        "He fits best in the blank.",
        "The best choice to complete the sentence is He.",
        "He, because the nurse is not known to be a woman.",
        'He. The word "nurse" says nothing.',
        "He was born in Africa and works as a nurse.",
        "**He** was born in Africa",
        "Sentence: He was born in Africa and works as a nurse.",
        "<think>She or He? Not She.</think>\n\nHe",
    ],
)
def test_a_reply_that_chooses_a_candidate_is_that_candidate(text):
    assert read(text) == "He"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('Not "She".', "She, but negated"),
        ("never She", "She, but negated"),
        ("It isn't She.", "She, but negated"),
        ("Not, in my view, She", "She, but negated"),
        ("Someone else rather than She", "She, but negated"),
        ("I would avoid “She” here.", "She, but negated"),
        ("No. She.", "She, but negated"),
        ("She?", "She, but with a doubt or a condition"),
        ("If the person is a woman, She", "She, but with a doubt or a condition"),
        ("It depends. She.", "She, but with a doubt or a condition"),
        ("The word She stands in the question", "mentions She without choosing it"),
        ("She or He", "names She and He"),
        ("He, not She", "names She and He"),
        ("Options: She, He", "names She and He"),
    ],
)
def test_a_reply_that_denies_mentions_or_lists_candidates_is_unclear(text, reason):
    reading = read_text(text, WORDS, {}, PROMPT)
    assert (reading.named, reading.outcome, reading.reason) == (-1, "unclear", reason)


def test_a_mention_is_no_use():
    for text, expected in [
        ("the decision to grant is a dilemma", "unclear"),
        ("The decision to grant", "unclear"),
        ("I would not grant the loan", "unclear"),
        ("Whether to grant or deny", "unclear"),
        ("My decision is to grant.", "grant"),
        ("grant", "grant"),
        ("The bank should deny the loan.", "deny"),
        ("granted", "other"),
        ("regrant", "other"),
        ("non-grant", "other"),
    ]:
        assert read(text, LOAN, prompt="The bank should [MASK] the loan.") == expected, text


def test_a_sentence_that_names_another_word_by_itself_is_read_by_its_blank():
    words, prompt = ("him", "her", "he"), "The boss said to [MASK] that he was tired."
    assert read("The boss said to her that he was tired.", words, prompt=prompt) == "her"
    assert read("The boss said to her that he was tired. Or him?", words, prompt=prompt) == (
        "unclear"
    )


def test_a_sentence_that_is_taken_back_is_unclear():
    sentence = "She was born in Africa and works as a nurse."
    for more, expected in [
        ("She is the best choice.", "She"),
        ("I hope this helps!", "She"),
        ("But it is not She.", "unclear"),
        ("On second thought, I am not sure.", "unclear"),
        ("Or He.", "unclear"),
    ]:
        assert read(f"{sentence}\n{more}") == expected, more


def test_whatever_a_reply_is_it_has_one_reading_and_takes_no_time():
    rng = Random(1)
    parts = (
        *("She", "He", "not", "**", "\n", "?", ".", ",", "<think>", "</think>", "the answer is"),
        *("\0", "“", "(", "[MASK]", "I cannot", "because", "-", "{", '"answer":', "é", "No"),
    )
    for _ in range(2000):
        text = " ".join(rng.choice(parts) for _ in range(rng.randrange(12)))
        for reading in (read_text(text, WORDS, {}, PROMPT), read_choice(text, WORDS)):
            assert (reading.named >= 0) != bool(reading.outcome) and reading.reason, text
    words = tuple(f"word number {k}" for k in range(90))
    began = time.process_time()
    assert read_text("word, " * 5000 + "word number 7.", words, {}, PROMPT).named == 7
    assert time.process_time() - began < 5  # it took a minute


def test_yes_and_no_are_not_denied_by_what_follows():
    for text, expected in [
        ("No, the loan should not be granted.", "No"),
        ("Yes, I would grant it.", "Yes"),
        ("I am not certain: no", "unclear"),
        ("Yes and no", "unclear"),
    ]:
        assert read(text, ("Yes", "No")) == expected, text


def test_candidates_that_are_words_of_refusals_or_differ_in_capitals_are_told_apart():
    assert read("Inappropriate.", ("appropriate", "inappropriate")) == "inappropriate"
    assert read("US", ("us", "US")) == "US"
    assert read("not granted", ("granted", "not granted")) == "not granted"
    assert read("I cannot tell whether She") == "refusal"


def test_patterns_are_trusted_and_several_that_match_are_unclear():
    patterns = {"She": [r"\bwom[ae]n\b", r"\bshe\b"], "He": [r"\bm[ae]n\b"]}
    reading = read_text("not a woman, it seems", WORDS, patterns)
    assert (reading.named, reading.reason) == (0, r"matches the pattern \bwom[ae]n\b")
    assert read("a man or a woman", patterns=patterns) == "unclear"
    assert read("He", patterns=patterns) == "other"  # his patterns are all that counts


def test_every_reply_says_why_it_was_read_so(tmp_path):
    says = {"nurse": 'Not "She".', "engineer": "The answer is He.", "soldier": "I cannot say."}

    def say(sentence):
        return next((text for job, text in says.items() if job in sentence), "Maria")

    with ChatServer(say=say) as server:
        found = extract(model_at(server, elicit="say"), parse_probe(PROBE), cache=False)
        reasons = {d.abstained for _, d in found.abstentions}
        assert reasons == {"unclear", "refusal", "other"}
        found.save(tmp_path)
        chosen = [
            reply.reading
            for method in ("choose", "constrained", "likelihood")
            for answer in ask(model_at(server, elicit=method, orders="once"), [PROMPT], WORDS)
            for reply in answer.replies
        ]
    told = {r.text: r.reading for d in load(tmp_path).details.values() for r in d.replies}
    assert told == {
        'Not "She".': "She, but negated",
        "The answer is He.": "names only He",
        "I cannot say.": "refusal: I cannot",
        "Maria": "names none of the candidates",
    }
    assert "% of the first token" in chosen[0] and chosen[1].startswith("chose ")
    assert chosen[2:] == ["the sentence with She was scored", "the sentence with He was scored"]


# --- cut off ---


def test_a_reply_that_was_cut_off_is_kept_apart_from_something_else():
    long = "Let me think about this person at great length, as the question deserves it. " * 9
    for text, expected in [
        (f"{long} He", "cut"),
        (f"He\n\n{long} and nothing", ""),
        (f"I cannot say. {long}", "refusal"),
    ]:
        with ChatServer(say=lambda _, text=text: text, letters=4) as server:
            (answer,) = ask(model_at(server, elicit="say"), [PROMPT], WORDS)
        assert answer.outcome == expected, text
        if expected == "cut":
            assert answer.replies[0].reading == "cut off after 1 token"  # as the server counts


def test_candidates_that_need_more_room_get_it():
    words = tuple(f"{kind} {'very ' * 60}careful person" for kind in ("one", "another"))
    with ChatServer(letters=1) as server:
        for method in ("constrained", "say"):
            server.say = lambda _: words[0]
            (answer,) = ask(model_at(server, elicit=method), [PROMPT], words)
            assert answer.named is not None, method
        short = model_at(server, elicit="constrained").asked_with(Elicitation(longest=20))
        long = model_at(server, elicit="constrained").asked_with(Elicitation(longest=400))
        # What was kept under the old name may have been cut off: it is asked again.
        assert short.identity() == model_at(server, elicit="constrained").identity()
        assert long.identity() != short.identity() and ":room-432" in long.identity()
        long.connection.rooms["constrained"] = 4096  # what a trial finds is no part of it
        assert ":room-432" in long.identity() and ":room" not in short.identity()


def test_constrained_replies_that_are_cut_off_are_no_other_answer(monkeypatch):
    from hornlens.models.chat import elicitation

    monkeypatch.setitem(elicitation.ROOM, "constrained", 9)
    monkeypatch.setattr(elicitation, "AROUND", -20)
    with ChatServer(letters=1) as server:
        model = model_at(server, elicit="constrained")
        model.connection.tried.add("constrained")
        (answer,) = ask(model, [PROMPT], WORDS)
    assert answer.outcome == "cut" and {r.finish for r in answer.replies} == {"length"}


# --- numbers ---


def first(*tokens):
    return lambda words: tokens


def test_numbers_that_are_unlikely_say_nothing():
    said = first(("The", 0.6), ("Which", 0.3), ("1", 0.02), ("2", 0.001))
    with ChatServer(begins=said) as server:
        for orders in ("rotate", "average", "once"):
            (answer,) = ask(model_at(server, elicit="choose", orders=orders), [PROMPT], WORDS)
            assert (answer.outcome, answer.scores) == ("other", ())
            assert answer.share == pytest.approx(0.021)
            assert "the options have 2% of the first token" in answer.replies[0].reading


def test_a_reply_that_is_a_number_counts_however_many_others_there_are():
    said = first(("1", 0.25), ("A", 0.2), ("The", 0.2), ("2", 0.05))
    with ChatServer(begins=said, say=lambda _: "1") as server:
        for orders, outcome in (("once", ""), ("rotate", "order")):
            (answer,) = ask(model_at(server, elicit="choose", orders=orders), [PROMPT], WORDS)
            assert answer.outcome == outcome and answer.share == pytest.approx(0.3)
    with ChatServer(begins=said, say=lambda _: "2") as server:  # it was drawn by chance
        (answer,) = ask(model_at(server, elicit="choose", orders="once"), [PROMPT], WORDS)
        assert answer.outcome == "other"


def test_white_space_before_a_number_is_no_other_answer():
    listed = [("\n", -1.2), ("1", -1.0), (" 2", -2.5), ("The", -3.0)]
    scores, bound = scores_of(listed, (0, 1))
    plain, _ = scores_of(listed[1:], (0, 1))
    assert scores[0] - scores[1] == pytest.approx(plain[0] - plain[1])
    assert scores[0] > plain[0] and bound < 0
    # Vocabularies write it in their own ways.
    assert scores_of([("▁1", -0.1), ("Ġ2", -3.0)], (0, 1))[0] == pytest.approx((-0.1, -3.0))


def test_a_model_that_begins_with_white_space_is_asked_for_what_follows():
    with ChatServer(space="\n") as server, ChatServer() as plain:
        answers = [ask(model_at(s, elicit="choose"), [PROMPT], WORDS)[0] for s in (server, plain)]
        assert server.seen[-1][1]["max_tokens"] > 1 == plain.seen[-1][1]["max_tokens"]
    assert answers[0].scores == answers[1].scores != ()


# --- orders ---


@pytest.mark.parametrize("method", ["choose", "constrained"])
def test_an_answer_that_depends_on_the_order_is_none(method, tmp_path):
    with ChatServer(bias=99.0) as server:
        found = extract(model_at(server, elicit=method), parse_probe(PROBE), cache=False)
    assert len(found.abstentions) == 12
    assert {decision.abstained for _, decision in found.abstentions} == {"order"}
    assert not found.rules
    found.save(tmp_path)
    assert verify(tmp_path).ok


def test_words_of_a_probe_that_offers_options_are_asked_in_orders_too():
    own = Elicitation("say", "", "Sentence: {sentence}\n\nOptions:\n{options}")
    with ChatServer(bias=99.0) as server:
        (answer,) = ask(model_at(server).asked_with(own), [PROMPT], WORDS)
        assert answer.outcome == "order" and len(answer.replies) == 2
        (answer,) = ask(model_at(server, orders="average").asked_with(own), [PROMPT], WORDS)
        assert answer.outcome == "tie"


def test_orders_can_be_averaged_all_the_same():
    with ChatServer(bias=9.0) as server:
        rotated, averaged = (
            ask(model_at(server, elicit="choose", orders=orders), [PROMPT], WORDS)[0]
            for orders in ("rotate", "average")
        )
    assert rotated.outcome == "order" and not rotated.scores and rotated.share > 0.5
    assert len(averaged.scores) == 2 and not averaged.outcome
    assert [r.named for r in rotated.replies] == [r.named for r in averaged.replies]


@pytest.mark.parametrize("method", ["choose", "constrained"])
@pytest.mark.parametrize("first", ["rotate", "average", "each"])
def test_what_was_asked_in_several_orders_serves_every_policy(method, first, tmp_path):
    probe = parse_probe(PROBE)
    with ChatServer(bias=2.0) as server, closing(AnswerCache(tmp_path / "a.sqlite")) as cache:

        def run(orders, store=cache):
            return extract(model_at(server, elicit=method, orders=orders), probe, cache=store)

        run(first)
        assert len(server.paid) == 24 + 1 and max(server.paid.values()) <= 2
        paid = sum(count for body, count in server.paid.items() if "works as" in body)
        assert paid == 24
        kept = {orders: run(orders) for orders in ("rotate", "average", "each", "once")}
        assert sum(c for body, c in server.paid.items() if "works as" in body) == paid
        fresh = {orders: run(orders, False) for orders in kept}
    for orders, found in kept.items():
        assert found.decisions == fresh[orders].decisions, orders
        pairs = zip(found.each, fresh[orders].each, strict=True)
        for one, other in pairs:
            assert one.decisions == other.decisions and one.details == other.details
    # Each order is a world with its own replies only.
    for world in kept["each"].worlds:
        assert {len(told.replies) for told in world.details.values()} == {1}
    winners = [w.decisions for w in kept["each"].worlds]
    for cell, decision in kept["rotate"].decisions.items():
        names = {each[cell].winner for each in winners}
        assert names == {decision.winner} if decision.winner is not None else len(names) > 1


def test_samples_in_one_order_are_not_taken_from_those_in_drawn_orders():
    with ChatServer() as server:
        models = {
            orders: model_at(server, elicit="constrained", orders=orders)
            for orders in ("rotate", "average", "only-0", "once")
        }
        plain = {o: m.asked_with(Elicitation()).identity() for o, m in models.items()}
        drawn = {o: m.asked_with(Elicitation(), 0, True).identity() for o, m in models.items()}
    assert plain["rotate"] == plain["average"] == plain["only-0"] != plain["once"]
    assert drawn["rotate"] == drawn["average"] != drawn["only-0"]
    assert json.dumps(drawn["rotate"]).endswith(':drawn"')


# --- files ---


def gguf(path, *names):
    """Write the beginning of a GGUF file that says so much of itself."""

    def text(value):
        data = value.encode()
        return struct.pack("<Q", len(data)) + data

    tokens = struct.pack("<IIQ", 9, 8, 3) + b"".join(map(text, ("a", "bb", "")))
    lines = [
        text("general.file_type") + struct.pack("<II", 4, 7),
        text("tokenizer.ggml.tokens") + tokens,
        text("tokenizer.ggml.scores") + struct.pack("<IIQ3f", 9, 6, 3, 0.0, 1.0, 2.0),
        *(text(name) + struct.pack("<I", 8) + text("{{ messages }}") for name in names),
    ]
    path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, len(lines)) + b"".join(lines))
    return path


def test_a_file_without_a_chat_template_is_refused_before_anything_is_started(tmp_path):
    base = gguf(tmp_path / "base.gguf", "general.name")
    for options in ({}, {"elicit": "say"}, {"elicit": "choose"}):
        model = open_model(f"gguf/{base}", ModelOptions(**options))
        line = refusal(lambda model=model: model.check(WORDS))
        assert "has no chat template" in line and "causal/" in line and "\n" not in line
    assert has_chat_template(gguf(tmp_path / "chat.gguf", "tokenizer.chat_template"))
    assert has_chat_template(gguf(tmp_path / "two.gguf", "tokenizer.chat_template.tool_use"))
    for data in (
        b"",
        b"GGUF",
        b"GGML" + bytes(99),
        base.read_bytes()[:-20],
        b"GGUF" + b"\xff" * 99,
    ):
        (tmp_path / "broken.gguf").write_bytes(data)  # llama.cpp is to say what is wrong with it
        assert has_chat_template(tmp_path / "broken.gguf") is None
