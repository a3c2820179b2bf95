"""A small Wikidata for tests: its RDF in a real SPARQL engine, served over HTTP, with faults."""

import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from urllib.parse import parse_qs

import pyoxigraph as rdf

WD, WDT = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
P, PS = "http://www.wikidata.org/prop/", "http://www.wikidata.org/prop/statement/"
PSV = "http://www.wikidata.org/prop/statement/value/"
WIKIBASE = "http://wikiba.se/ontology#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
XSD = "http://www.w3.org/2001/XMLSchema#"
MALE, FEMALE, NON_BINARY = "Q6581097", "Q6581072", "Q48270"
UNKNOWN = "?"
"""Wikidata's "unknown value"."""


class Wikidata:
    """Items with statements, ranks and time values, as Wikibase writes them in RDF."""

    def __init__(self):
        self.store = rdf.Store()
        self._number = count(1)

    def _add(self, subject, predicate, value):
        self.store.add(rdf.Quad(subject, rdf.NamedNode(predicate), value))

    def state(self, item, prop, value, rank="Normal", best=True, precision=None):
        """Add a statement; `best` ones get their truthy triple too."""
        number = next(self._number)
        subject = rdf.NamedNode(WD + item)
        statement = rdf.NamedNode(f"{WD}statement/{item}-{number}")
        if value == UNKNOWN:
            # The dumps have blank nodes here, the public endpoint made-up addresses.
            made_up = rdf.NamedNode(f"http://www.wikidata.org/.well-known/genid/{number}")
            term = rdf.BlankNode(f"b{number}") if number % 2 else made_up
        elif precision is not None:
            term = rdf.Literal(value, datatype=rdf.NamedNode(XSD + "dateTime"))
            node = rdf.NamedNode(f"http://www.wikidata.org/value/{number}")
            self._add(statement, PSV + prop, node)
            self._add(node, WIKIBASE + "timeValue", term)
            whole = rdf.Literal(str(precision), datatype=rdf.NamedNode(XSD + "integer"))
            self._add(node, WIKIBASE + "timePrecision", whole)
        else:
            term = rdf.NamedNode(WD + value)
        self._add(subject, P + prop, statement)
        self._add(statement, PS + prop, term)
        self._add(statement, WIKIBASE + "rank", rdf.NamedNode(f"{WIKIBASE}{rank}Rank"))
        if best:
            self._add(statement, TYPE, rdf.NamedNode(WIKIBASE + "BestRank"))
            self._add(subject, WDT + prop, term)

    def person(self, item, occupations, genders=(), births=(), countries=(), kinds=("Q5",)):
        """Add a person. A birth is a date, or (date, precision), or (date, precision, rank)."""
        for prop, values in (("P31", kinds), ("P106", occupations), ("P21", genders)):
            for value in values:
                self.state(item, prop, value)
        for value in countries:
            value, rank = value if isinstance(value, tuple) else (value, "Normal")
            ranks = [c[1] if isinstance(c, tuple) else "Normal" for c in countries]
            self.state(item, "P27", value, rank, rank == _best(ranks))
        full = [(*(b if isinstance(b, tuple) else (b, 11)), "Normal")[:3] for b in births]
        for date, precision, rank in full:
            best = rank == _best([b[2] for b in full])
            self.state(item, "P569", date, rank, best, None if date == UNKNOWN else precision)

    def country(self, item, *continents):
        """Add a country on these continents."""
        for continent in continents:
            self.state(item, "P30", continent)


def _best(ranks):
    return "Preferred" if "Preferred" in ranks else "Normal"


class Server(ThreadingHTTPServer):
    """Serves a Wikidata; `fault(number, query)` says what goes wrong with a request, if anything.

    `asked` has every query that came, `agents` who asked, `answered` those that went well.
    """

    daemon_threads = True

    def __init__(self, wikidata, fault=lambda number, query: None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.wikidata, self.fault = wikidata, fault
        self.asked, self.answered, self.agents = [], [], []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/sparql"

    def handle_error(self, request, client_address):
        """Say nothing: clients that go away are what the tests are about."""


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        query = parse_qs(body)["query"][0]
        server = self.server
        server.asked.append(query)
        server.agents.append(self.headers["User-Agent"])
        fault = server.fault(len(server.asked), query)
        if fault is not None and fault(self) is not True:
            return
        solutions = server.wikidata.store.query(query)
        self.give(solutions.serialize(format=rdf.QueryResultsFormat.JSON))
        server.answered.append(query)

    def give(self, body, status=200, kind="application/sparql-results+json", headers=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def status(code, **headers):
    """Answer with an HTTP status; underscores in names of headers are hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.give(b"sorry", code, "text/plain", named)


def web_page(handler):
    handler.give(b"<!DOCTYPE html><html><body>Please wait</body></html>", 200, "text/html")


def half_a_result(handler):
    """A whole HTTP answer with half a result in it."""
    handler.give(b'{"head":{"vars":["item"]},"results":{"bindings":[{"item":{"type":"uri"')


def stack_trace(handler):
    """What Wikidata does when time runs out after the first rows: status 200, then a trace."""
    handler.give(
        b'{"head":{"vars":["item"]},"results":{"bindings":[\n'
        b"SPARQL-QUERY: queryStr=SELECT ...\njava.util.concurrent.TimeoutException\n"
        b"\tat java.util.concurrent.FutureTask.get(FutureTask.java:205)\n"
    )


def broken_off(handler):
    """Promise more than is sent."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"head":')
    handler.close_connection = True


def broken_off_chunks(handler):
    """Begin a chunked answer and end the connection inside a chunk."""
    handler.protocol_version = "HTTP/1.1"
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b'40\r\n{"head":')
    handler.close_connection = True


def hang_up(handler):
    """Close the connection without a word."""
    handler.close_connection = True


def sleep(seconds):
    """Answer too late, into the void."""

    def late(handler):
        time.sleep(seconds)
        return True

    return late


@contextmanager
def serving(wikidata, fault=lambda number, query: None):
    """Serve a Wikidata for as long as the block lasts."""
    server = Server(wikidata, fault)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
