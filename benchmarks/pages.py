"""The page's own checker, in a browser, against `verify`: the same document in one run."""

import os
import shutil
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import hornlens
from hornlens import FunctionTarget, Nominal, Space
from hornlens.formats.digests import with_digest
from hornlens.report.page.assemble import embedded_json
from hornlens.report.page.selfcheck import SCRIPTS
from hornlens.results.documents.saving import result_as_json
from hornlens.verifying.verify import verify_content

STATIC = Path(hornlens.__file__).parent / "report" / "page" / "static"
CHECK = """async (text) => {
  const { stated, digest } = await Verifier.digestOf(text);
  const outcome = Verifier.verify(JSON.parse(text));
  return outcome.ok && stated === digest ? "" : outcome.wrong ?? "digest";
}"""


@cache
def wide_result(answers: int) -> dict[str, Any]:
    """The document of a target with scores over about so many cells, five attributes alike."""
    values = round(answers**0.2) - 1
    attributes = [Nominal(a, tuple(f"{a}{i}" for i in range(values))) for a in "abcde"]
    space = Space(tuple(attributes), Nominal("label", ("no", "yes")))

    def scores(names: Any) -> dict[str, float]:
        cell = set(names)
        yes = "a0" in cell or {"b1", "c1"} <= cell or {"c2", "d2", "e2"} <= cell
        lead = 1 + sum(map(len, cell)) / 7
        return {"no": 0.0 if yes else lead, "yes": lead if yes else 0.0}

    result = hornlens.extract(FunctionTarget(scores, space))
    return with_digest(result_as_json(result))


def selfcheck(answers: int) -> dict[str, Any]:
    """The page's checker in Chromium, and `verify` on the same document: the ratio of the two."""
    from playwright.sync_api import sync_playwright

    content = wide_result(answers)
    start = perf_counter()
    assert verify_content(content, Path("envelope.json")).ok
    python = perf_counter() - start
    source = "\n".join((STATIC / name).read_text("utf-8") for name in SCRIPTS)
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    browser = os.environ.get("HORNLENS_CHROMIUM") or next(filter(None, map(shutil.which, names)))
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = started.new_page()
        tab.add_script_tag(content=source)
        text = embedded_json(content)
        tab.evaluate("(text) => { globalThis.text = text }", text)
        start = perf_counter()
        wrong = tab.evaluate(f"() => ({CHECK})(globalThis.text)")
        seconds = perf_counter() - start
        started.close()
    assert wrong == "", wrong
    count = len(content["answers"])
    return {
        "seconds": seconds,
        "answers": count,
        "rules": len(content["rules"]),
        "ratio": python / seconds,
    }
