"""Servers on loopback that do as a function says, byte by byte, and keep what reaches them."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from hornlens.api import extract
from hornlens.models.chat.pacing import Patience
from hornlens.models.protocol import ModelOptions
from hornlens.models.registry import open_model
from hornlens.probes.loading import parse_probe
from tests.chat_server import PROBE, ChatServer

KEY = "sk-proj-Zz9hQk3vT7mWx2LpYb8RnC4sDf6GjA1uEo5i"
KINDS = ("openai", "anthropic", "ollama")
PATIENCE = Patience(attempts=2, busy=2.0, first_pause=0.002, longest_pause=0.01, timeout=2.0)
PROXIES = [f(name) for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
           for f in (str, str.upper)]  # fmt: skip


class HostileServer:
    """Use it as a context manager. `respond(handler, path, body)` writes whatever it likes.

    `seen` has the method, the path, the headers and the body of every request, as text.
    """

    def __init__(self, respond=None):
        self.respond, self.seen = respond, []
        self.closing = threading.Event()

    def __enter__(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answered(self):
                size = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(size)
                outer.seen.append((self.command, self.path, str(self.headers), body.decode()))
                if outer.respond is None:
                    sent_json(self, {"data": []})
                else:
                    outer.respond(self, self.path, json.loads(body) if body[:1] == b"{" else {})

            def __getattr__(self, name):
                if name.startswith("do_"):
                    return self.answered
                raise AttributeError(name)

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, *_):
                pass  # those who hang up are what this is about

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.host = f"127.0.0.1:{self.server.server_address[1]}"
        self.root = f"http://{self.host}"
        self.url = f"{self.root}/v1"
        return self

    def __exit__(self, *_):
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()


def sent(handler, status, data=b"", **headers):
    """Send a whole response."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def sent_json(handler, content, status=200):
    """Send JSON; `content` may be text that is JSON, or nearly so."""
    text = content if isinstance(content, str) else json.dumps(content)
    sent(handler, status, text.encode("utf-8", "surrogatepass"), content_type="application/json")


def reply_to(path, body):
    """What an honest model replies, to be spoilt."""
    if path.endswith("/models") or not body:
        return {"data": [{"id": "tiny"}]}
    return ChatServer()._reply(path, body)


def base_of(server, kind):
    """The address of a server that speaks a dialect."""
    return server.root if kind == "anthropic" else server.url


def run(server, kind="openai", method="say", patience=PATIENCE, cache=False, **options):
    """Ask a server all prompts of the small probe."""
    model = open_model(
        f"{kind}/tiny", ModelOptions(base_url=base_of(server, kind), elicit=method, **options)
    )
    model.connection.patience = patience
    return extract(model, parse_probe(PROBE), cache=cache)


def command(server, folder, *more, kind="openai", elicit="say"):
    """The words of a command that asks a server."""
    probe = folder / "probe.yaml"
    probe.write_text(PROBE, encoding="utf-8")
    return [
        *("extract", probe, "--model", f"{kind}/tiny", "--base-url", base_of(server, kind)),
        *("--elicit", elicit, "--out", folder / "out", "--cache", folder / "a.sqlite"),
        *more,
    ]
