"""The page's own checker in a real browser: it agrees with `verify`, on results and forgeries."""

import json
import random
import re
import time
from copy import deepcopy
from importlib import resources
from pathlib import Path

import pytest

from hornlens.errors import HornlensError
from hornlens.formats.digests import digest_of, with_digest
from hornlens.report.page import page as page_of
from hornlens.report.page import read_page
from hornlens.report.page.assemble import embedded_json
from hornlens.report.page.selfcheck import SCRIPTS
from hornlens.verifying.verify import verify_content
from tests import report_cases as cases
from tests.api.test_matrix import MADE
from tests.browser.test_accessibility import serious
from tests.faults.rounds import rounds
from tests.verifying.walking import changes

OLD = Path(__file__).parents[1] / "old" / "0.2"
STATIC = resources.files("hornlens.report.page") / "static"
SOURCE = "\n".join((STATIC / name).read_text("utf-8") for name in SCRIPTS)
JUDGE = """async (texts) => {
  const outcomes = [];
  for (const text of texts) {
    const { stated, digest } = await Verifier.digestOf(text);
    const content = JSON.parse(text);
    const parts = content.classifier ? await Verifier.unpack(content) : null;
    const { ok, wrong, notChecked, fields } = Verifier.verify(content, parts);
    outcomes.push({ ok, wrong, notChecked, fields, same: stated === digest });
  }
  return outcomes;
}"""
UNVERIFIED = ("formula in Python", "table in Python", "scaled table")
"""Without a file to hold them against, `verify` refuses these: they hold no answers."""
SHORT = ("labelled", "prompted", "worlds", "noisy", "interrupted", "unlabelled", "budget")
SHORT += ("explanation", "table in Python", "sifted in part")
"""The kinds whose documents are changed where time is short."""
STRICTER = {
    "certificate.rules": "has to be a number",
    "certificate.noise": "answers are undecided, and nothing says why",
    "variants[].certificate.rules": "has to be a number",
    "variants": "two of one name",
    "space": "results of 0.1 had none; pages are never of these",
    "answers[].margin": "an answer without scores has no lead",
    "answers[].abstained": "scores that decide leave no room for another reason",
    "answers[].prompts": "the prompts of each way of asking are counted here",
    "classifier": "the packed cells and rows have to be of one length",
}
"""What the page refuses and `verify_content`, at least once, did not; with the reason."""
HARMLESS = {
    "backwards": "what is listed is a set, or all that refers to it still agrees",
    "an entry twice": "what is listed is a set",
    "dropped": "what is not stated is not claimed",
    "emptied": "what is not stated is not claimed",
}
"""Changes that claim nothing, where `verify` accepts them as well."""
HARMLESS_FIELDS = {
    "readable[].closest.answer": "another answer that is as close",
    "variants[].readable[].closest.answer": "another answer that is as close",
    "possible.readable[].certain": "null is no more than false",
}


@pytest.fixture(scope="module")
def tab(browser):
    context = browser.new_context()
    page = context.new_page()
    page.add_script_tag(content=SOURCE)
    yield page
    context.close()


def judge(tab, contents, batch=100):
    """Give documents, as pages embed them, to the checker in the tab."""
    outcomes = []
    for start in range(0, len(contents), batch):
        texts = [embedded_json(content) for content in contents[start : start + batch]]
        outcomes += tab.evaluate(JUDGE, texts)
    return outcomes


def refused(content):
    """Why `verify` refuses a document; None if it accepts it."""
    try:
        return verify_content(json.loads(json.dumps(content)), Path("envelope.json")).wrong
    except HornlensError as error:
        return str(error)


def pattern(keys):
    text = "".join("[]" if isinstance(key, int) else f".{key}" for key in keys)
    return text.lstrip(".")


def is_named(field, names):
    """Whether a field is among some patterns, or below one; `*.sentence` is one at any depth."""
    for name in names:
        if name.startswith("*."):
            if re.search(rf"(^|\.){re.escape(name[2:])}($|[.\[])", field.replace("[]", "") + "."):
                return True
            if re.search(rf"(^|\.){re.escape(name[2:])}($|[.\[])", field):
                return True
        elif field == name or field.startswith((f"{name}.", f"{name}[")) or field == name[:-2]:
            return True
    return False


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    for kind, make in MADE.items():
        make().save(folder / kind)
    return {kind: json.loads((folder / kind / "envelope.json").read_text("utf-8")) for kind in MADE}


def test_genuine_results_of_every_kind_agree(tab, documents):
    outcomes = judge(tab, list(documents.values()))
    assert {k: o["wrong"] for k, o in zip(documents, outcomes, strict=True) if not o["ok"]} == {}
    assert all(outcome["same"] for outcome in outcomes)
    assert all(outcome["notChecked"] for outcome in outcomes)


@pytest.mark.slow
def test_so_do_results_of_every_shape(tab, pages):
    """Both refuse what a learner merely took for true: answers break it."""
    contents = {name: pages.content(name) for name in cases.CASES}
    outcomes = judge(tab, list(contents.values()))
    wrong = {k: o["wrong"] for k, o in zip(contents, outcomes, strict=True) if not o["ok"]}
    assert [*wrong] == [k for k in contents if refused(contents[k])] == ["learned"], wrong
    assert all(outcome["same"] for outcome in outcomes)


def accepted_or_unfair(tab, kind, content, count, seed):
    """Change a document; return what the page takes and does not name, and what it alone refuses.

    Beside these, how many changes were tried.
    """
    rng = random.Random(f"{kind} {seed}")
    every = list(changes(content, rng, most=rounds(1, 6)))
    some = rng.sample(every, min(count, len(every)))
    outcomes = judge(tab, [with_digest(change.content) for change in some])
    unnamed, unfair = [], []
    for change, outcome in zip(some, outcomes, strict=True):
        field = pattern(change.keys)
        shown = f"{kind}: {change} ({outcome['wrong']})"
        assert outcome["same"], shown
        if outcome["ok"] and not is_named(field, outcome["fields"]):
            same = refused(change.content) is None
            if not (same and (change.how in HARMLESS or field in HARMLESS_FIELDS)):
                unnamed.append(shown)
        alone = not outcome["ok"] and kind not in UNVERIFIED and not is_named(field, STRICTER)
        if alone and refused(change.content) is None:
            unfair.append(shown)
    return unnamed, unfair, len(some)


@pytest.mark.slow
def test_no_change_of_a_document_passes_that_is_not_named_as_unchecked(tab, documents):
    """Short: some hundred changes; long: ten thousand."""
    count, tried = rounds(30, 700), 0
    wrong = []
    for kind in documents if count > 30 else SHORT:
        content = documents[kind]
        unnamed, unfair, own = accepted_or_unfair(tab, kind, content, count, 0)
        wrong += [*(f"passes: {line}" for line in unnamed), *(f"alone: {line}" for line in unfair)]
        tried += own
    assert wrong == []
    assert tried >= rounds(250, 10_000)


# --- the forgeries that people thought of ---


def answer_of(content, *names):
    return next(a for a in content["answers"] if set(a["set"]) == set(names))


def hidden_counterexample(content):
    answer = answer_of(content, "nurse")
    answer.update(winner="male", scores=answer["scores"][::-1])


def refused_with_scores(content):
    answer = answer_of(content, "nurse")
    answer.update(winner=None, abstained="refusal", scores=[0.99, 0.01], margin=0.98)
    content["abstentions"] = [content["answers"].index(answer)]
    content["certificate"]["answered"][0] -= 1
    content["statistics"]["abstentions"] = 1


def swapped_labels(content):
    for answer in content["answers"]:
        answer["winner"] = {"female": "male", "male": "female"}[answer["winner"]]


def forged_support(content):
    content["readable"][0]["support"] += 100


def dropped_answers(content):
    del content["answers"][-3:]
    content["certificate"]["answered"] = [len(content["answers"])] * 2


def dropped_rule(content):
    del content["rules"][0], content["readable"][0]
    content["certificate"]["rules"] -= 1


def extra_rule(content):
    line = {"if": ["cook", "female"], "then": None, "warrant": {"kind": "proved"}}
    like = content["readable"][0]
    about = [i for i, a in enumerate(content["answers"]) if "cook" in a["set"]]
    content["rules"].append(line)
    content["readable"].append({**like, **line, "evidence": about, "prompts": len(about)})
    content["certificate"]["rules"] += 1


@pytest.mark.parametrize(
    ("forge", "why"),
    [
        (hidden_counterexample, "is accepted"),
        (refused_with_scores, "refusal is not why there is no winner"),
        (swapped_labels, "the winner has not won"),
        (forged_support, "support is"),
        (dropped_answers, "cells were asked"),
        (dropped_rule, "a rule is missing"),
        (extra_rule, "it rejects the left side of another"),
    ],
)
def test_the_forgeries_of_the_issue_are_refused(tab, documents, forge, why):
    content = deepcopy(documents["prompted"])
    forge(content)
    (outcome,) = judge(tab, [with_digest(content)])
    assert not outcome["ok"] and why in outcome["wrong"]
    if forge is not refused_with_scores:
        assert refused(content) is not None


# --- digests ---


@pytest.mark.parametrize(
    "value",
    [
        *("</script> & \\u003c \\", "日本語 \u2028 \ud83d\ude00", "\ud800"),
        *(1e22, 10**30, -0.0, 1.0, float("inf")),
    ],
)
def test_the_digest_is_worked_out_from_the_text(tab, value):
    content = with_digest({"a": [value], "b": {value if isinstance(value, str) else "x": "</b>"}})
    text = embedded_json(content)
    stated, digest = tab.evaluate(
        "async (text) => Object.values(await Verifier.digestOf(text))", text
    )
    assert stated == digest == digest_of(content)


def test_a_digest_needs_nothing_of_the_browser(tab):
    """A page that is not let at the browser's own SHA-256 has its own; around block ends, too."""
    import hashlib

    texts = ["x" * n for n in (0, 1, 55, 56, 63, 64, 65, 119, 120, 1000)]
    own = tab.evaluate(
        "(texts) => texts.map((t) => Verifier.sha256(new TextEncoder().encode(t)))", texts
    )
    assert own == [hashlib.sha256(text.encode()).hexdigest() for text in texts]


# --- on the page ---


def outcome_of(tab):
    tab.wait_for_selector("#self-check[data-outcome]", state="attached")
    return tab.locator("#self-check")


@pytest.mark.parametrize("name", ["demo", "budget", "infinite", "hostile", "sifted_ended"])
def test_a_page_checks_itself_and_says_what_it_did_not(visit, pages, name):
    tab = visit(name)
    shown = outcome_of(tab)
    assert shown.get_attribute("data-outcome") == "ok"
    assert "rules and counts agree" in shown.inner_text()
    assert pages.content(name)["digest"] in shown.inner_text()
    tab.locator("#self-check summary").last.click()
    assert "the target's own: ask it again" in shown.inner_text()
    assert "A page can be forged as a whole" in shown.inner_text()


@pytest.mark.parametrize("mended", [False, True])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_forged_page_says_so_in_red(visit, axe, pages, tmp_path, mended, scheme):
    content, run = cases.saved(pages.result("demo"))
    text = page_of("envelope.json", content, run)
    forged = deepcopy(content)
    forged["readable"][0]["support"] += 1
    changed = embedded_json(with_digest(forged) if mended else forged)
    assert text.count(embedded_json(content)) == 1
    path = tmp_path / "forged.html"
    path.write_text(text.replace(embedded_json(content), changed), "utf-8")
    tab = visit(path, width=390, color_scheme=scheme)
    shown = outcome_of(tab)
    assert shown.get_attribute("data-outcome") == "wrong"
    assert ("support is" if mended else "the digest is") in shown.locator("p").first.inner_text()
    assert "Do not rely on this page" in shown.inner_text()
    assert serious(axe, tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_page_without_the_answers_does_not_claim_to_have_checked(
    visit, pages, tmp_path, monkeypatch
):
    monkeypatch.setattr("hornlens.report.page.extraction.MOST_ANSWERS", 5)
    path = tmp_path / "page.html"
    path.write_text(page_of("envelope.json", pages.content("budget")), "utf-8")
    tab = visit(path)
    assert tab.locator("#self-check").count() == 0
    assert "too little of the result to check itself" in tab.locator(".self-check").inner_text()


def test_so_does_the_page_of_a_study_s_run_which_is_kept_without_them(visit, tmp_path):
    [run, *_] = sorted((OLD / "study" / "runs").rglob("envelope.json"))
    path = tmp_path / "page.html"
    path.write_text(read_page(run)[1], "utf-8")
    tab = visit(path)
    assert tab.locator("#self-check").count() == 0
    assert "too little of the result to check itself" in tab.locator(".self-check").inner_text()


@pytest.mark.parametrize("kind", ["explanation", "table in Python", "unlabelled", "sifted worlds"])
def test_pages_of_other_kinds_check_themselves(visit, documents, tmp_path, kind):
    path = tmp_path / "page.html"
    path.write_text(page_of("envelope.json", documents[kind]), "utf-8")
    shown = outcome_of(visit(path))
    assert shown.get_attribute("data-outcome") == "ok"
    assert documents[kind]["digest"] in shown.inner_text()


@pytest.mark.slow
def test_a_hundred_thousand_answers_take_seconds(tab):
    from benchmarks.pages import wide_result

    content = wide_result(100_000)
    text = embedded_json(content)
    start = time.perf_counter()
    (outcome,) = tab.evaluate(JUDGE, [text])
    assert outcome["ok"] and outcome["same"], outcome["wrong"]
    assert time.perf_counter() - start < 60  # some seconds, on a machine that does nothing else
