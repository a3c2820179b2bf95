"""A chat model on loopback that speaks both dialects, and misbehaves on a script.

What it believes is a function of the sentence, so that answers can be foretold. Faults are put on a
list; each call for an answer takes the next one.
"""

import hashlib
import json
import math
import re
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from hornlens.models.chat import memory

FAULTS = (
    "429",
    "429 after",
    "500",
    "503",
    "529",
    "hang",
    "cut",
    "cut early",
    "truncated",
    "malformed",
    "empty",
    "missing",
    "drip",
    "wrong model",
)
"""What passes; "401" and "400" do not."""
PROBE = """
hornlens: 1
name: jobs
templates: ["{label} was born in {place} and works as {a:job}."]
attributes:
  - {name: job, values: [nurse, engineer, soldier], unset: person}
  - {name: place, values: [Africa, Europe], unset: some place}
label: {name: gender, values: [{name: female, word: She}, {name: male, word: He}]}
"""
"""Twelve prompts."""
SENTENCE = re.compile(r"^Sentence: (.*)$", re.MULTILINE)
OPTION = re.compile(r"^(?:([0-9A-T])\.|-) (.+)$", re.MULTILINE)


def keep_to_itself(monkeypatch, folder, key="sk-test-0123456789"):
    """No key of somebody's, no file of somebody's, and nothing known of endpoints."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "xdg"))
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(memory, "_methods", {})


def lean(sentence, word):
    """How much the model likes a word in a sentence: from 0 to 1, and its own."""
    digest = hashlib.sha256(f"{sentence}|{word}".encode()).digest()
    return int.from_bytes(digest[:4]) / 2**32


class ChatServer:
    """Use it as a context manager. `paid` counts the whole answers that it gave, by question."""

    def __init__(
        self, *, latency=0.0, faults=(), logprobs=True, schema=True, echo=True, **behaviour
    ):
        self.latency, self.faults = latency, list(faults)
        self.logprobs, self.schema, self.echo = logprobs, schema, echo
        self.refused_parameters = tuple(behaviour.pop("refuses", ()))
        self.bias = behaviour.pop("bias", 0.0)
        """How much more it likes what stands first."""
        self.say = behaviour.pop("say", None)
        """What it replies to a sentence, in place of the word it likes best."""
        self.names = behaviour.pop("names", ("tiny", "other-model"))
        self.room_needed = behaviour.pop("room_needed", 1)
        self.letters = behaviour.pop("letters", 0)
        """How many letters its tokens have, beyond which replies are cut off; 0: they never are."""
        self.begins = behaviour.pop("begins", None)
        """The likeliest first tokens, in place of those that name an option."""
        self.space = behaviour.pop("space", "")
        """A token of white space that each reply begins with."""
        self.answers_as = behaviour.pop("answers_as", None)
        """What it calls itself in its so-manieth reply; None: what it was asked for."""
        self.fingerprint = behaviour.pop("fingerprint", lambda count: "fp-1")
        """The system fingerprint of its so-manieth reply."""
        self.clock = behaviour.pop("clock", None)
        """When its so-manieth reply was made; None: it gives neither a date nor an id."""
        self.cached = {} if behaviour.pop("caches", False) else None
        """A gateway's cache: what was asked before gets the reply of then, whatever the seed."""
        self.replied = 0
        self.judge = behaviour.pop("judge", None)
        """Which of the choices a judge makes of a question about a reply."""
        self.port = behaviour.pop("port", 0)
        """Where it listens; 0: where there is room."""
        assert not behaviour, behaviour
        self.paid, self.seen, self.keys = Counter(), [], set()
        self.at_once = self.most_at_once = self.begun = 0
        self.lock = threading.Lock()

    def __enter__(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.listed(self)

            def do_POST(self):
                outer.answered(self)

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, *_):
                pass  # those who hang up are what this is about

        self.server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.root = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.url = f"{self.root}/v1"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    # What is asked

    def listed(self, handler):
        self._note_key(handler)
        if self.names is None:
            return self._send(handler, 404, {"error": {"message": "no list here"}})
        return self._send(handler, 200, {"data": [{"id": name} for name in self.names]})

    def answered(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        self._note_key(handler)
        with self.lock:
            self.seen.append((handler.path, body))
            self.begun += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            fault = self.faults.pop(0) if self.faults else ""
        try:
            if self.latency:
                time.sleep(self.latency)
            self._answer(handler, body, fault)
        finally:
            with self.lock:
                self.at_once -= 1

    def _answer(self, handler, body, fault):
        refused = next((name for name in self.refused_parameters if name in body), None)
        if refused:
            instead = "; use max_completion_tokens" if refused == "max_tokens" else ""
            error = {"message": f"Unsupported parameter: {refused}{instead}", "param": refused}
            return self._send(handler, 400, {"error": error})
        if fault[:3] in ("400", "401", "403", "404", "429", "500", "503", "529"):
            wait = "0.02" if fault.endswith("after") else fault[4:]
            after = {"retry-after": wait} if wait else {}
            key = handler.headers.get("authorization", "") + handler.headers.get("x-api-key", "")
            said = {"503": "Loading model"}.get(fault[:3], f"trouble {fault} with key {key}")
            return self._send(handler, int(fault[:3]), {"error": {"message": said}}, after)
        if fault == "hang":
            time.sleep(3.0)
            return None
        if fault == "cut early":
            return handler.connection.close()
        content = self._identified(handler.path, body)
        if fault == "wrong model":
            content["model"] = "quite-another"
        elif fault == "empty":
            content |= {"choices": [], "content": []}
        elif fault == "missing":
            content.pop("content", None)
            for choice in content.get("choices", ()):
                choice.pop("message", None) if not body.get("logprobs") else None
                choice["logprobs"] = None
        data = json.dumps(content).encode()
        if fault == "malformed":
            data = b"<html>" + data
        if fault == "truncated":
            data = data[: len(data) // 2]
        if not fault:
            with self.lock:
                self.paid[json.dumps(body, sort_keys=True)] += 1
        return self._send(handler, 200, data, cut=fault == "cut", drip=fault == "drip")

    def _send(self, handler, status, content, headers=None, cut=False, drip=False):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.end_headers()
        if cut:
            handler.wfile.write(data[:5])
            handler.wfile.flush()
            handler.close_connection = True
            return handler.connection.close()
        for start in range(0, len(data), 8) if drip else ():
            handler.wfile.write(data[start : start + 8])
            handler.wfile.flush()
            time.sleep(0.1)
        if not drip:
            handler.wfile.write(data)
        return None

    def _note_key(self, handler):
        for name in ("authorization", "x-api-key"):
            if handler.headers.get(name):
                self.keys.add(handler.headers[name])

    # What it replies

    def _identified(self, path, body):
        """A reply, with who gave it and when; from the cache, if there is one."""
        key = json.dumps({k: v for k, v in body.items() if k != "seed"}, sort_keys=True)
        with self.lock:
            if self.cached is not None and key in self.cached:
                return dict(self.cached[key])
            count, self.replied = self.replied, self.replied + 1
        content = self._reply(path, body)
        if self.answers_as is not None:
            content["model"] = self.answers_as(count)
        if "system_fingerprint" in content:
            content["system_fingerprint"] = self.fingerprint(count)
        if self.clock is not None:
            content |= {"created": self.clock(count), "id": f"chatcmpl-{count}"}
        if self.cached is not None:
            self.cached[key] = dict(content)
        return content

    def _reply(self, path, body):
        anthropic = path.endswith("/messages")
        tokens = len(json.dumps(body)) // 4
        if path.endswith("/v1/completions"):
            return self._scored(body, tokens)
        user = body["messages"][-1]["content"]
        room = body.get("max_tokens", body.get("max_completion_tokens", 0))
        text, listing = self._words(user, body)
        finish = "stop"
        if room < self.room_needed:
            text, finish = "", "length"
        if self.letters and len(text) > room * self.letters:
            text, finish = text[: room * self.letters], "length"
        if anthropic:
            block = {"type": "text", "text": text}
            if body.get("tool_choice") and self.schema and text:
                block = {"type": "tool_use", "name": "answer", "input": json.loads(text)}
            usage = {"input_tokens": tokens, "output_tokens": 3}
            return {
                "type": "message", "model": body["model"], "content": [block], "usage": usage,
                "stop_reason": "max_tokens" if finish == "length" else "end_turn",
            }  # fmt: skip
        logprobs = None
        if body.get("logprobs") and self.logprobs:
            top = [{"token": t, "logprob": p} for t, p in listing[: body["top_logprobs"]]]
            content = [{"token": text, "logprob": top[0]["logprob"], "top_logprobs": top}]
            if self.space:
                before = [{"token": self.space, "logprob": -0.01}, {"token": "1", "logprob": -5.0}]
                content.insert(0, before[0] | {"top_logprobs": before})
            logprobs = {"content": content[:room]}
        message = {"role": "assistant", "content": text}
        return {
            "model": body["model"], "system_fingerprint": "fp-1",
            "choices": [{"message": message, "finish_reason": finish, "logprobs": logprobs}],
            "usage": {"prompt_tokens": tokens, "completion_tokens": 1},
        }  # fmt: skip

    def _words(self, user, body):
        """What it replies, and its likeliest first tokens with their log-probabilities."""
        found = SENTENCE.search(user)
        if self.judge and "The reply:" in user:
            return json.dumps({"answer": self.judge(user, self._choices(body))}), []
        if found is None:  # a trial
            choices = self._choices(body)
            text = json.dumps({"answer": choices[0]}) if choices and self.schema else "yes"
            return text, [("2", -0.1), ("1", -3.0), ("two", -4.0)]
        sentence, options = found[1], OPTION.findall(user)
        words = [word for _, word in options] or ["She", "He"]
        likes = [
            lean(sentence, word) * 4 + (self.bias if k == 0 else 0) for k, word in enumerate(words)
        ]
        whole = math.log(sum(map(math.exp, likes)) * 1.25)
        best = words[likes.index(max(likes))]
        named = [key or word for key, word in options] or words
        listing = [(k, like - whole) for k, like in zip(named, likes, strict=True)]
        listing += [("The", math.log(0.15)), (" the", math.log(0.05))]
        if self.begins is not None:
            listing = [(token, math.log(share)) for token, share in self.begins(words)]
        listing.sort(key=lambda pair: -pair[1])
        if self._choices(body) and self.schema:
            return json.dumps({"answer": best}), listing
        return (self.say(sentence) if self.say else best), listing

    def _choices(self, body):
        schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        for tool in body.get("tools") or ():
            schema = tool["input_schema"]
        return schema["properties"]["answer"]["enum"] if schema else []

    def _scored(self, body, tokens):
        text = body["prompt"]
        words = re.findall(r"\s*\S+", text) if self.echo else []
        values = (
            [None, *(-lean(text, f"{k}{w}") * 5 for k, w in enumerate(words[1:]))] if words else []
        )
        return {
            "model": body["model"],
            "choices": [{"text": text + " and", "finish_reason": "length", "logprobs": {
                "tokens": [*words, " and"], "token_logprobs": [*values, -1.5]}}],
            "usage": {"prompt_tokens": tokens, "completion_tokens": 1},
        }  # fmt: skip
