"""A proxy on loopback, between a model and its server, that keeps what it passes on."""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

OWN = {"host", "connection", "content-length", "transfer-encoding", "accept-encoding"}
"""Headers that are about a connection, and not passed on."""


class RecordingProxy:
    """Use it as a context manager. `seen` has path and body of every POST, as bytes."""

    def __init__(self, base_url):
        parts = urlsplit(base_url)
        self.host, self.port, self.path = parts.hostname, parts.port, parts.path
        self.seen = []

    def __enter__(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.passed_on(self, b"")

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.seen.append((self.path, body))
                outer.passed_on(self, body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}{self.path}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def passed_on(self, handler, body):
        """Send a request on as it is, and its reply back."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=120)
        headers = {k: v for k, v in handler.headers.items() if k.lower() not in OWN}
        connection.request(handler.command, handler.path, body or None, headers)
        reply = connection.getresponse()
        data = reply.read()
        handler.send_response(reply.status)
        for name, value in reply.getheaders():
            if name.lower() not in OWN:
                handler.send_header(name, value)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)
        connection.close()
