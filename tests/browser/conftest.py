"""A real browser for the pages: one a session, a fresh context a test, and no page may complain."""

import os
import shutil
import warnings
from pathlib import Path

import pytest

from hornlens.report.page import page as page_of
from tests import report_cases as cases

LEFT_OUT = (
    "the browser tests were left out: they need Chromium (such as apt-get install chromium, "
    "or its path in HORNLENS_CHROMIUM) and the Python package playwright"
)
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
LOCAL = ("file:", "blob:", "data:")


def _chromium():
    """The same engine without a window to draw comes first: pages take half the time in it."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser")
    names += ("google-chrome", "google-chrome-stable")
    named = os.environ.get("HORNLENS_CHROMIUM")
    return named or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    executable = _chromium()
    if sync_playwright is None or executable is None:
        warnings.warn(pytest.PytestWarning(LEFT_OUT), stacklevel=1)
        pytest.skip(LEFT_OUT)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def axe():
    return pytest.importorskip("axe_playwright_python.sync_playwright").Axe()


class Pages:
    """The pages of the cases, written when they are first wanted."""

    def __init__(self, folder: Path):
        self.folder, self.results, self.contents = folder, {}, {}

    def result(self, name):
        if name not in self.results:
            make = cases.large if name == "large" else cases.CASES[name]
            self.results[name] = make()
        return self.results[name]

    def content(self, name):
        self.path(name)
        return self.contents[name]

    def path(self, name):
        path = self.folder / f"{name}.html"
        if name not in self.contents:
            self.contents[name], run = cases.saved(self.result(name))
            path.write_text(page_of("envelope.json", self.contents[name], run), "utf-8")
        return path


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    return Pages(tmp_path_factory.mktemp("pages"))


@pytest.fixture
def visit(browser, pages):
    """Open the page of a case, or of a file; at the end, nothing may have gone wrong in it."""
    contexts, complaints = [], []

    def go(name, width=1280, **options):
        path = name if isinstance(name, Path) else pages.path(name)
        options.setdefault("viewport", {"width": width, "height": 900})
        context = browser.new_context(**options)
        contexts.append(context)
        context.on("request", lambda r: r.url.startswith(LOCAL) or complaints.append(r.url))
        context.on("weberror", lambda e: complaints.append(str(e.error)))
        context.on("console", lambda m: complaints.append(f"{m.type}: {m.text}"))
        context.add_init_script(
            "addEventListener('securitypolicyviolation', (e) => console.error(e.violatedDirective))"
        )
        tab = context.new_page()
        tab.set_default_timeout(20_000)
        tab.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            tab.wait_for_selector("html[data-ready]", state="attached")
        return tab

    yield go
    for context in contexts:
        context.close()
    assert not complaints, complaints
