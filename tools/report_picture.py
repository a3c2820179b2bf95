"""Draw the README's picture of the report, docs/report.png, with Chromium and Playwright.

Run from the project's root: python tools/report_picture.py
With a folder, it draws the whole page there instead, wide and narrow, in light and in dark.
"""

import io
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from hornlens.api import extract
from hornlens.report.page import page
from hornlens.results.documents.writing import extraction_as_json

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
COLOURS = 96


def picture(browser: Browser, path: Path, width: int, scheme: str, whole: bool) -> bytes:
    """Return a PNG of the page: the top of it, or the whole with a rule and a cell opened."""
    tab = browser.new_context(
        viewport={"width": width, "height": 1300},
        color_scheme=scheme,
        device_scale_factor=1 if whole else 1.5,
    ).new_page()
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-ready]", state="attached")
    if whole:
        tab.click("#rule-8 .open")
        tab.locator(".cell").nth(14).click()
        tab.evaluate("document.querySelector('.bar').style.position = 'static'; scrollTo(0, 0)")
        return tab.screenshot(full_page=True)
    end = tab.locator(".findings").bounding_box()
    height = end["y"] + end["height"] + 16 if end else 1130
    return tab.screenshot(clip={"x": 0, "y": 0, "width": width, "height": height})


with TemporaryDirectory() as folder, sync_playwright() as playwright:
    path = Path(folder) / "report.html"
    path.write_text(page("envelope.json", extraction_as_json(extract("demo", cache=False))))
    browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
    if len(sys.argv) > 1:
        for width in (1440, 1024, 390):
            for scheme in ("light", "dark"):
                out = Path(sys.argv[1]) / f"report-{width}-{scheme}.png"
                out.write_bytes(picture(browser, path, width, scheme, whole=True))
    else:
        image = Image.open(io.BytesIO(picture(browser, path, 1200, "light", whole=False)))
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
            "docs/report.png", optimize=True
        )
    browser.close()
