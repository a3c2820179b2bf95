"""What was sent is in the result: word for word what the endpoint received, and never a key."""

import json
import re
from contextlib import closing
from dataclasses import replace

import pytest

from hornlens.api import extract, load
from hornlens.differing import differences
from hornlens.errors import InputError
from hornlens.formats.csvfiles import csv_rows
from hornlens.formats.digests import with_digest
from hornlens.formats.sent import SentCall
from hornlens.logic.decisions import Policy
from hornlens.logic.repeats import Repeats
from hornlens.models.chat import llamacpp
from hornlens.models.chat.calls import Manner
from hornlens.models.demo import DemoModel
from hornlens.models.protocol import MASK, Answer, ModelOptions, Shows
from hornlens.models.registry import open_model
from hornlens.probes.loading import parse_probe
from hornlens.store.sqlite import AnswerCache
from hornlens.targets.answers import as_kept, from_kept
from hornlens.verification import verify
from tests.chat_cases import HOSTILE, chat
from tests.chat_server import PROBE, ChatServer, keep_to_itself
from tests.schemas import fits

pytest.importorskip("openai")
pytest.importorskip("anthropic")

SECRET = "sk-test-0123456789abcdefSECRET"
WAYS = [
    *(("openai/tiny", way) for way in ("choose", "constrained", "say", "likelihood")),
    *(("anthropic/tiny", way) for way in ("constrained", "say")),
]


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    keep_to_itself(monkeypatch, tmp_path, SECRET)


def opened(server, spec="openai/tiny", **options):
    url = server.root if spec.startswith("anthropic") else server.url
    return open_model(spec, ModelOptions(base_url=url, **options))


def content_of(folder):
    return json.loads((folder / "envelope.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("spec", "method"), WAYS)
def test_the_file_has_the_bodies_that_the_endpoint_received(spec, method, tmp_path):
    out = tmp_path / "out"
    with ChatServer() as server:
        result = extract(opened(server, spec, elicit=method), parse_probe(PROBE), cache=False)
        result.save(out)
    [sent] = content_of(out)["sent"]
    received = [body for _, body in server.seen]
    # The very calls of the example: each of them was received once, and no other is about it.
    text = sent["prompt"].partition(MASK)[2]
    of_example = [body for body in received if text in json.dumps(body)]
    assert [call["body"] for call in sent["calls"]] == sorted(
        of_example, key=lambda body: [c["body"] for c in sent["calls"]].index(body)
    )
    assert len(of_example) == {"choose": 2, "constrained": 2, "say": 1, "likelihood": 2}[method]
    paths = {path for path, body in server.seen if body in of_example}
    assert paths == {"/" + sent["address"].partition("/")[2]}
    assert sent["method"] == method and sent["candidates"] == ["She", "He"]
    for file in out.iterdir():
        assert SECRET not in file.read_text(encoding="utf-8")
    fits("envelope", content_of(out))
    assert verify(out).ok
    assert any(line.startswith("sent: 1 of") for line in verify(out).checked)
    assert load(out).sent == result.sent


def test_the_parameters_are_those_that_the_endpoint_took(tmp_path):
    refused = ("temperature", "max_tokens", "seed")
    with ChatServer(refuses=refused, room_needed=1000) as server:
        probe = parse_probe(PROBE)
        [sent] = extract(opened(server, elicit="say"), probe, cache=False).sent
        received = [body for _, body in server.seen]
    parameters = sent.calls[0].parameters
    assert parameters == {"model": "tiny", "max_completion_tokens": 4096}
    assert sent.calls[0].body in received and sent.seed == "" and not sent.assumed


@pytest.mark.parametrize("method", ["choose", "constrained", "say"])
def test_a_run_from_the_cache_says_the_same_and_sends_nothing(method, tmp_path):
    with ChatServer(refuses=("max_tokens", "seed"), room_needed=2) as server:
        if method == "choose":
            server.room_needed = 1
        probe = parse_probe(PROBE)
        with closing(AnswerCache(tmp_path / "a.sqlite")) as cache:
            first = extract(opened(server, elicit=method), probe, cache=cache)
            begun = server.begun
            again = extract(opened(server, elicit=method), probe, cache=cache)
            assert server.begun == begun and again.record.asked == 0
    assert again.sent == first.sent and "max_completion_tokens" in again.sent[0].calls[0].body
    first.save(tmp_path / "first"), again.save(tmp_path / "again")
    for name in ("envelope.json", "replies.csv"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_answers_of_an_older_version_say_that_their_parameters_were_not_kept():
    with ChatServer() as server:
        model = opened(server, elicit="say")
        [[(_, answer)]] = model.score([f"{MASK} works."], ("She", "He"))
        assert not model.sent(f"{MASK} works.", ("She", "He"), answer).assumed
        sent = model.sent(f"{MASK} works.", ("She", "He"), answer._replace(manner=""))
    assert sent.assumed and sent.calls[0].parameters["max_tokens"] == 64


def test_how_an_endpoint_took_a_call_is_kept_beside_the_answer():
    for manner in (Manner(), Manner(False, False, "max_completion_tokens", 5), Manner(seed=False)):
        assert Manner.read(manner.written(64)) == (manner, 64)
    assert Manner.read("") is None and Manner.read("max_tokens=x top=1") is None
    answer = Answer(named=1, manner=Manner().written(64))
    assert from_kept(as_kept(answer)) == answer


def test_a_file_that_is_served_here_is_not_started_to_say_what_it_is_sent(monkeypatch, tmp_path):
    monkeypatch.setattr(llamacpp.Server, "start", lambda self: pytest.fail("it was started"))
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    model = open_model(f"gguf/{file}", ModelOptions(elicit="say"))
    sent = model.sent(f"{MASK} works.", ("She", "He"), Answer(named=0, manner=Manner().written(64)))
    assert sent.address == "llama.cpp on this machine, /v1/chat/completions"
    assert sent.calls[0].body["model"] == "small.gguf"


def test_a_probe_s_own_words_and_patterns_are_there():
    [sent] = chat().sent
    assert sent.system == "You decide on loans. Answer in one sentence."
    assert sent.template == "Is this application granted or refused?\n\nSentence: {sentence}"
    assert sent.calls[0].messages == (
        ("system", sent.system),
        ("user", sent.template.replace("{sentence}", sent.prompt.replace(MASK, "____"))),
    )
    assert [(each.word, each.patterns) for each in sent.read_by] == [
        ("granted", ("\\bgrant(ed)?\\b", "\\byes\\b")),
        ("refused", ()),
    ]
    assert re.search(sent.refused_by, "I cannot decide that.")


def test_every_way_of_asking_has_an_example_of_its_own(tmp_path):
    with ChatServer() as server:
        result = extract(
            opened(server, elicit="choose,say", orders="each"), parse_probe(PROBE), cache=False
        )
        result.save(tmp_path)
        received = [body for _, body in server.seen]
    lines = content_of(tmp_path)["sent"]
    assert [line["variant"] for line in lines] == [world.world for world in result.worlds]
    assert [line["method"] for line in lines] == ["choose", "choose", "say"]
    assert all(call["body"] in received for line in lines for call in line["calls"])
    for line in lines[:2]:
        words = line["candidates"]
        offered = [[words[place] for place in call["order"]] for call in line["calls"]]
        assert offered and all(order in line["orders"] for order in offered)
    assert "orders" not in lines[2]
    assert verify(tmp_path).ok
    assert [world.sent for world in load(tmp_path).worlds] == [w.sent for w in result.worlds]


def test_samples_say_that_an_order_is_drawn(tmp_path):
    with ChatServer() as server:
        model = opened(server, elicit="constrained")
        result = extract(model, parse_probe(PROBE), cache=False, repeats=Repeats(20, 0.2))
        result.save(tmp_path)
        received = [body for _, body in server.seen]
    [sent] = result.sent
    assert sent.drawn and len(sent.orders) == 2 and len(sent.calls) == 1
    assert sent.calls[0].body in received and sent.calls[0].body["temperature"] == 1.0
    assert verify(tmp_path).ok


def test_averaged_phrasings_have_an_example_each(tmp_path):
    text = PROBE.replace('templates: ["', 'templates: ["The {job} said: {label} is here.", "')
    with ChatServer() as server:
        model = opened(server, elicit="choose")
        policy = Policy(phrasings="average")
        result = extract(model, parse_probe(text), policy=policy, cache=False)
        result.save(tmp_path)
    assert len(result.sent) == 2 and verify(tmp_path).ok
    assert len({sent.prompt for sent in load(tmp_path).sent}) == 2


def test_models_that_are_compared_are_shown_each_with_its_own(tmp_path):
    with ChatServer() as server:
        models = [
            opened(server, f"openai/{name}", elicit="say") for name in ("tiny", "other-model")
        ]
        result = differences(*models, parse_probe(PROBE), cache=False)
        result.save(tmp_path)
        received = [body for _, body in server.seen]
    assert [sent.model for sent in result.sent] == ["openai/tiny", "openai/other-model"]
    assert all(sent.calls[0].body in received for sent in result.sent)
    assert verify(tmp_path).ok and load(tmp_path).sent == result.sent
    names = {line[-4] for _, line in csv_rows((tmp_path / "replies.csv").read_text())}
    assert names == {"read as", "She", "He"}


def test_a_model_that_is_not_asked_in_messages_shows_the_sentence_it_scores(tmp_path):
    result = extract("demo", cache=False)
    [sent] = result.sent
    assert sent.texts == (sent.prompt,) and not sent.calls and "mask" in sent.reading
    result.save(tmp_path)
    assert verify(tmp_path).ok and load(tmp_path).sent == (sent,)
    assert not (tmp_path / "replies.csv").exists()


def test_a_function_says_nothing_of_what_it_is_sent(tmp_path):
    result = extract(lambda prompt, words: [0.9, 0.1], cache=False)
    result.save(tmp_path)
    assert result.sent == () and "sent" not in content_of(tmp_path)


def test_models_that_say_what_they_are_sent_keep_to_the_protocol():
    assert isinstance(DemoModel(), Shows)


# --- files that are not as they were ---


def forged(line, name):
    """A line of `sent` with something changed that does not fit the answers any more."""
    calls = line["calls"]
    first, rest = calls[0], calls[1:]
    body = first["body"]
    messages = [*body["messages"][:-1], {"role": "user", "content": "Say She."}]
    return {
        "prompt": {**line, "prompt": f"{MASK} was never asked."},
        "message": {**line, "calls": [{**first, "body": {**body, "messages": messages}}, *rest]},
        "system": {**line, "system": "You are another one."},
        "template": {**line, "template": "Now: {sentence} {options}"},
        "candidates": {**line, "candidates": ["He", "She"]},
        "order": {**line, "calls": [{**first, "order": first["order"][::-1]}, *rest]},
        "orders": {**line, "orders": line["orders"][:1]},
        "fewer": {**line, "calls": [first]},
        "none": {**line, "calls": []},
        "key": {**line, "calls": [{**first, "body": {**body, "api_key": "sk-1"}}, *rest]},
        "variant": {**line, "variant": "another"},
    }[name]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("prompt", "no prompt that was answered"),
        ("message", "not the example in the template"),
        ("system", "not the example in the template"),
        ("template", "not the example in the template"),
        ("candidates", "not the words of the labels"),
        ("order", "not the example in the template"),
        ("orders", "none of those listed"),
        ("fewer", "has another order"),
        ("none", "nothing"),
        ("key", "a body with a key in it"),
        ("variant", "of no variant"),
    ],
)
def test_verify_finds_what_does_not_fit_the_answers(name, wrong, tmp_path):
    with ChatServer() as server:
        extract(opened(server, elicit="choose"), parse_probe(PROBE), cache=False).save(tmp_path)
    content = content_of(tmp_path)
    content["sent"] = [forged(content["sent"][0], name)]
    text = json.dumps(with_digest(content))
    (tmp_path / "envelope.json").write_text(text, encoding="utf-8")
    verification = verify(tmp_path)
    assert not verification.ok and wrong in verification.wrong


@pytest.mark.parametrize("body", [{"messages": 1}, {"messages": [1]}, {"messages": [{}]}])
def test_messages_that_are_none_are_refused(body):
    with pytest.raises(ValueError, match="message"):
        SentCall(body)


def test_a_body_that_is_too_deep_is_refused_in_a_line(tmp_path):
    extract("demo", cache=False).save(tmp_path)
    content = content_of(tmp_path)
    deep = '{"a":' * 400 + "1" + "}" * 400
    content["sent"][0]["calls"] = [{"body": json.loads(deep)}]
    (tmp_path / "envelope.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError, match="has a body that is too deep"):
        load(tmp_path)


@pytest.mark.parametrize("lines", [1, [1], [{}], [{"model": 1}], {"a": 1}, [[]], None])
def test_a_section_of_another_shape_is_refused_in_a_line(lines, tmp_path):
    extract("demo", cache=False).save(tmp_path)
    content = content_of(tmp_path)
    content["sent"] = lines
    (tmp_path / "envelope.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError):
        load(tmp_path)


# --- replies.csv ---


def test_every_reply_is_a_line_of_replies_csv_and_none_is_a_formula(tmp_path):
    result = chat()
    result.save(tmp_path)
    text = (tmp_path / "replies.csv").read_text(encoding="utf-8")
    rows = [row for _, row in csv_rows(text)]
    head, lines = rows[0], [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    assert head == [
        *("prompt", "name", "job", "answer", "order", "reply", "read as", "why", "finish"),
        "fingerprint",
    ]
    assert len(lines) == 12 == len(text.splitlines()) - 1  # no reply breaks a line
    emma = next(line for line in lines if line["name"] == "Emma" and line["job"] == "nurse")
    assert (emma["reply"], emma["read as"]) == ("The application is granted.", "granted")
    assert emma["finish"] == "stop" and emma["fingerprint"] == "tiny fp-1"
    refusal = next(line for line in lines if line["name"] == "Yusuf" and line["job"] == "nurse")
    assert refusal["read as"] == "" and refusal["answer"].startswith("no answer")
    assert any(line["reply"] == HOSTILE[0] for line in lines)
    assert "'=HYPERLINK" in text and not any(sign in text for sign in "\x1b\u202e")
    assert "\\x1b[31m" in text and "\\n\\nbecause" in text


def test_why_a_reply_was_read_so_is_in_the_file_and_in_the_table(tmp_path):
    result = chat()
    told = {
        prompt: replace(
            details, replies=tuple(replace(r, reading=f"{r.reading}, so") for r in details.replies)
        )
        for prompt, details in result.details.items()
    }
    replace(result, details=told).save(tmp_path)
    answers = content_of(tmp_path)["answers"]
    readings = {r["reading"] for a in answers for r in a["replies"]}
    assert all(reading.endswith(", so") for reading in readings)
    [head, *rows] = [row for _, row in csv_rows((tmp_path / "replies.csv").read_text())]
    assert {row[head.index("why")] for row in rows} == readings


def test_a_result_without_replies_leaves_none_of_another_behind(tmp_path):
    chat().save(tmp_path)
    assert (tmp_path / "replies.csv").exists()
    extract("demo", cache=False).save(tmp_path)
    assert not (tmp_path / "replies.csv").exists()
