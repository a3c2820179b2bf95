"""The documentation site that `make docs` built, in a real browser: `make test-site` runs this."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import hornlens
from tests.browser.test_accessibility import serious
from tools.site.versions import LATEST, list_versions

SITE = Path(__file__).parents[2] / "build" / "site"
PAGES = [
    *("index", "theory", "architecture", "examples"),
    *("reference/python-ask", "reference/formats"),
]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where the site is served: as it is built, and the same once more as an older version."""
    assert (SITE / LATEST / "index.html").exists(), "run make docs first"
    folder = tmp_path_factory.mktemp("site")
    for version in (LATEST, "0.1"):
        (folder / version).symlink_to(SITE / LATEST)
    list_versions(folder, hornlens.__version__)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def go(browser, address):
    """Open a page; what it asks of other hosts is noted, and refused."""
    contexts, elsewhere = [], []

    def visit(page, width=1440, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        tab = context.new_page()

        def seen(route):
            if route.request.url.startswith((address, "data:", "blob:")):
                route.continue_()
            else:
                elsewhere.append(route.request.url)
                route.abort()

        tab.route("**/*", seen)
        tab.set_default_timeout(60_000)  # it may have to share the machine
        tab.goto(f"{address}/latest/{page}.html")
        return tab

    yield visit
    for context in contexts:
        context.close()
    assert elsewhere == []


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible_and_ask_nothing_of_others(go, axe, page, scheme, width):
    tab = go(page, width, scheme)
    assert tab.locator("h1").first.inner_text()
    assert serious(axe, tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")


def test_the_search_finds_what_people_look_for(go):
    tab = go("index")
    tab.get_by_role("button", name="Search").first.click()
    field = tab.get_by_role("combobox", name="Search")
    for words, page in (
        ("forbidden rule", "ci.html"),
        ("noise", "chat-models.html"),
        ("my own model", "your-own-model.html"),
    ):
        field.fill(words)
        tab.wait_for_function(
            "page => [...document.querySelectorAll('*')].some(e => e.shadowRoot && [...e.shadowRoot"
            ".querySelectorAll('a[role=option]')].some(a => a.href.includes(page)))",
            arg=page,
        )


def test_the_search_can_be_used_by_keyboard_alone(go):
    tab = go("index")
    tab.wait_for_function("[...document.querySelectorAll('*')].some(e => e.shadowRoot)")
    tab.keyboard.press("/")
    field = tab.get_by_role("combobox", name="Search")
    field.wait_for()
    tab.keyboard.type("verify a result")
    tab.get_by_role("option").first.wait_for()
    tab.keyboard.press("Enter")
    tab.wait_for_url(lambda url: not url.endswith("index.html"))


def test_a_report_can_be_reached_by_keyboard(go):
    tab = go("examples")
    link = tab.locator("main h2 a", has_text="One model, one question").first
    link.focus()
    tab.keyboard.press("Enter")
    tab.wait_for_selector("html[data-ready]", state="attached")


def test_another_version_can_be_chosen_and_the_first_page_leads_to_the_newest(go, address):
    tab = go("start")
    chosen = tab.locator(".md-version")
    assert chosen.locator("button").inner_text().strip() == hornlens.__version__
    listed = chosen.locator("a")
    assert [text.strip() for text in listed.all_inner_texts()] == [hornlens.__version__, "0.1"]
    chosen.locator("button").focus()
    listed.nth(1).focus()
    tab.keyboard.press("Enter")
    tab.wait_for_url(lambda url: "/0.1/" in url)
    assert tab.locator("h1").first.inner_text()
    tab.goto(f"{address}/")
    tab.wait_for_url(lambda url: url.endswith(f"/{LATEST}/index.html"))
