"""A real llama.cpp server with SmolLM2-135M-Instruct, end to end. Run by `make test-api`."""

import json
import math
import os
import subprocess
import sys
import time
from contextlib import closing

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
pytest.importorskip("xllamacpp", reason="needs pip install 'hornlens[llamacpp]'")
pytest.importorskip("openai", reason="needs pip install 'hornlens[api]'")
torch = pytest.importorskip("torch", reason="needs pip install 'hornlens[smollm2]'")

from hornlens.api import extract  # noqa: E402
from hornlens.logic.repeats import Repeats  # noqa: E402
from hornlens.models.chat import memory  # noqa: E402
from hornlens.models.chat.calls import Manner  # noqa: E402
from hornlens.models.chat.elicitation import Asking  # noqa: E402
from hornlens.models.chat.loop import wait_for  # noqa: E402
from hornlens.models.protocol import MASK, Answer, ModelError, ModelOptions  # noqa: E402
from hornlens.models.registry import open_model  # noqa: E402
from hornlens.models.smollm2 import gguf_file, smollm2  # noqa: E402
from hornlens.probes.loading import parse_probe  # noqa: E402
from hornlens.store.sqlite import AnswerCache  # noqa: E402
from hornlens.testing.models import ask  # noqa: E402
from hornlens.verification import verify  # noqa: E402
from tests.recording_proxy import RecordingProxy  # noqa: E402

WORDS = ("She", "He")
PROBE = """
hornlens: 1
name: jobs
templates: ["{label} was born in {place} and works as {a:job}."]
attributes:
  - {name: job, values: [nurse, engineer], unset: person}
  - {name: place, values: [Africa], unset: some place}
label: {name: gender, values: [{name: female, word: She}, {name: male, word: He}]}
elicitation:
  system: Complete the sentence with one word.
"""
PROMPTS = [
    f"{MASK} was born in {place} and works as a {job}."
    for place in ("Africa", "some place")
    for job in ("nurse", "soldier", "person")
]


@pytest.fixture(scope="module")
def opened():
    """One server for all that is asked here, as `open_model` makes it; by its address."""
    model = open_model(f"gguf/{gguf_file()}", ModelOptions(elicit="say"))
    model.check(WORDS)
    address = model.connection.address
    os.environ["OPENAI_API_KEY"] = address.key  # only who has it is answered

    def connected(base_url=address.base_url, **options):
        return open_model(f"openai/{gguf_file().name}", ModelOptions(base_url=base_url, **options))

    yield connected
    del os.environ["OPENAI_API_KEY"], model


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr(memory, "_methods", {})


@pytest.mark.parametrize("method", ["choose", "constrained", "say"])
def test_a_probe_is_extracted_end_to_end(method, opened, tmp_path):
    probe = parse_probe(PROBE)
    with closing(AnswerCache(tmp_path / "a.sqlite")) as cache:
        result = extract(opened(elicit=method), probe, cache=cache)
        again = extract(opened(elicit=method), probe, cache=cache)
    assert again.record.asked == 0 and again.record.reused == 6
    assert dict(again.decisions) == dict(result.decisions)
    result.save(tmp_path / "out")
    assert verify(tmp_path / "out").ok
    replies = [reply for told in result.details.values() for reply in told.replies]
    assert len(replies) == (6 if method == "say" else 12)
    assert all(reply.tokens[0] > 10 and reply.finish and reply.fingerprint for reply in replies)
    if method == "constrained":
        assert all(reply.named in (0, 1) for reply in replies)
    if method != "choose":
        assert not any(decision.scores for decision in result.decisions.values())
    assert all(reply.reading for reply in replies)
    if method == "choose":
        # It names what stands first. What it said serves whoever averages that all the same.
        assert {d.abstained for d in result.decisions.values()} == {"order"}
        with closing(AnswerCache(tmp_path / "a.sqlite")) as cache:
            average = extract(opened(elicit=method, orders="average"), probe, cache=cache)
            each = extract(opened(elicit=method, orders="each"), probe, cache=cache)
        assert average.record.asked == each.record.asked == 0
        assert all(len(decision.scores) == 2 for decision in average.decisions.values())


def as_sent(body):
    """The bytes of a body, as the client writes JSON."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("method", ["choose", "constrained", "say"])
def test_the_messages_in_the_file_are_byte_by_byte_what_a_proxy_saw(method, opened, tmp_path):
    server = opened().connection.address.base_url
    with RecordingProxy(server) as proxy:
        result = extract(opened(proxy.url, elicit=method), parse_probe(PROBE), cache=False)
    result.save(tmp_path)
    content = json.loads((tmp_path / "envelope.json").read_text(encoding="utf-8"))
    [sent] = content["sent"]
    bodies = [as_sent(call["body"]) for call in sent["calls"]]
    seen = [body for path, body in proxy.seen if path == "/v1/chat/completions"]
    assert len(bodies) == (1 if method == "say" else 2) and set(bodies) <= set(seen)
    # Nothing else was sent about the example; and every other prompt has the same parameters.
    sentence = sent["prompt"].replace(MASK, "____").encode()
    assert sorted(body for body in seen if sentence in body) == sorted(bodies)
    differs = ("messages", "seed", "response_format")
    given = [{k: v for k, v in json.loads(b).items() if k not in differs} for b in seen]
    shown = {k: v for k, v in sent["calls"][0]["body"].items() if k not in differs}
    asked = [g for g, b in zip(given, seen, strict=True) if b"Sentence: " in b]
    assert len(asked) == 6 * len(bodies) and all(each == shown for each in asked)
    assert os.environ["OPENAI_API_KEY"] not in (tmp_path / "envelope.json").read_text()
    assert verify(tmp_path).ok


def test_a_text_to_be_scored_is_shown_as_a_proxy_saw_it_too(opened):
    """This server cannot score a text, so that there is no result; what it is sent is the same."""
    with RecordingProxy(opened().connection.address.base_url) as proxy:
        model = opened(proxy.url, elicit="likelihood")
        for place in range(len(WORDS)):
            wait_for(model.connection.ask(Asking("likelihood").call(PROMPTS[0], WORDS, [place], 0)))
    sent = model.sent(PROMPTS[0], WORDS, Answer(manner=Manner().written(1)))
    assert [(path, body) for path, body in proxy.seen] == [
        ("/v1/completions", as_sent(call.body)) for call in sent.calls
    ]
    assert sent.address.endswith("/v1/completions")


def test_repeats_are_samples_and_what_they_claim_is_verified(opened, tmp_path):
    probe = parse_probe(PROBE)
    with closing(AnswerCache(tmp_path / "a.sqlite")) as cache:
        first = extract(opened(elicit="say"), probe, cache=cache, repeats=Repeats(9, 0.2))
        more = extract(opened(elicit="say"), probe, cache=cache, repeats=Repeats(12, 0.2))
    counts = [sum(d.repeats) + d.silent for d in more.decisions.values()]
    assert more.envelope.certificate.noise is not None and max(counts) <= 12
    # Every answer is kept: more repeats go on from those that there are.
    assert more.record.reused == first.record.asked == 9 * 6
    assert more.record.asked + more.record.reused == sum(counts)
    texts = {reply.text for told in more.details.values() for reply in told.replies}
    assert len(texts) > 6  # they vary: they are samples
    assert "temperature 1" in {s.how for told in more.details.values() for s in told.replies}
    more.save(tmp_path / "out")
    assert verify(tmp_path / "out").ok


def test_log_probabilities_are_asked_again_and_their_drift_is_told(opened, tmp_path):
    model = opened(elicit="choose", orders="average")
    result = extract(model, parse_probe(PROBE), cache=False, repeats="auto")
    certificate = result.envelope.certificate
    assert certificate.kind == "noisy" and certificate.noise.drift is not None
    assert result.record.asked == 2 * 6 and certificate.noise.drift < 0.5
    result.save(tmp_path)
    assert verify(tmp_path).ok


def test_likelihood_is_refused_for_the_server_ignores_what_it_takes(opened):
    with pytest.raises(ModelError, match="gives no log-probabilities of a text"):
        opened(elicit="likelihood").check(WORDS)


def test_auto_finds_that_log_probabilities_are_given(opened):
    assert ":choose:" in opened().identity()


def test_a_model_that_is_not_served_is_caught(opened):
    model = opened()
    other = open_model("openai/other", model.options)
    with pytest.raises(ModelError, match="has no model 'other'"):
        other.check(WORDS)


def test_choose_decides_as_the_same_weights_do_in_transformers(opened, capsys):
    answers = ask(opened(elicit="choose", orders="average"), PROMPTS, WORDS)
    loaded = smollm2(ModelOptions(threads=1))._checkpoint()
    tokenizer, asking = loaded.tokenizer, Asking("choose")
    differences, agreed = [], 0
    for prompt, answer in zip(PROMPTS, answers, strict=True):
        sums = [0.0, 0.0]
        for reply in answer.replies:
            call = asking.call(prompt, WORDS, reply.order, 0)
            messages = [
                {"role": "system", "content": call.system},
                {"role": "user", "content": call.user},
            ]
            text = tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=False
            )
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            with torch.inference_mode():
                shares = loaded.model(torch.tensor([ids])).logits[0, -1].float().log_softmax(-1)
            for key, place in zip("12", reply.order, strict=True):
                spelled = [tokenizer.convert_tokens_to_ids(t) for t in (key, f"Ġ{key}")]
                own = torch.logsumexp(
                    shares[[t for t in spelled if t not in (None, tokenizer.unk_token_id)]], 0
                )
                sums[place] += float(own) / len(answer.replies)
        lead, ours = sums[0] - sums[1], answer.scores[0] - answer.scores[1]
        differences.append(abs(lead - ours))
        if abs(ours) > differences[-1]:
            assert math.copysign(1, lead) == math.copysign(1, ours), prompt
            agreed += 1
    with capsys.disabled():
        print(
            f"\nchoose, llama.cpp against transformers: leads differ by {max(differences):.3f} at "
            f"most; {agreed} of {len(PROMPTS)} decisions are beyond that, and equal"
        )
    assert max(differences) < 0.5


def test_the_server_ends_with_who_started_it(tmp_path):
    script = (
        "from hornlens.models.registry import open_model\n"
        "from hornlens.models.protocol import ModelOptions\n"
        f"model = open_model({f'gguf/{gguf_file()}'!r}, ModelOptions(elicit='say'))\n"
        "model.check(('She', 'He'))\n"
        "print(model.connection.open.__self__._process.pid, flush=True)\n"
        "import os; os._exit(1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    pid = int(done.stdout.split()[-1])
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return

        time.sleep(0.1)
    pytest.fail("the server is left behind")


def test_a_file_that_is_no_model_is_said_in_a_line(tmp_path):
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"GGUF, but no more than that")
    with pytest.raises(ModelError, match="could not load it") as caught:
        open_model(f"gguf/{file}", ModelOptions(elicit="say")).check(WORDS)
    assert "\n" not in str(caught.value)


def test_the_same_file_without_its_chat_template_is_no_chat_model(tmp_path):
    file = tmp_path / "base.gguf"
    data = gguf_file().read_bytes()
    assert data.count(b"tokenizer.chat_template") == 1
    file.write_bytes(data.replace(b"tokenizer.chat_template", b"tokenizer.chat_templatX"))
    with pytest.raises(ModelError, match="has no chat template"):
        open_model(f"gguf/{file}", ModelOptions()).check(WORDS)
