"""Axe finds nothing serious on the pages, in light and in dark, wide and narrow."""

import pytest

from hornlens.report.page import page as page_of
from tests.browser.test_comparison_page import comparison


def serious(axe, tab):
    found = axe.run(tab, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        (v["id"], v["impact"], [n["html"][:160] for n in v["nodes"][:4]])
        for v in found
        if v["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_the_page_of_an_extraction_is_accessible(visit, axe, scheme, width):
    tab = visit("demo", width=width, color_scheme=scheme)
    tab.click("#rule-8 .open")
    tab.locator(".cell").nth(14).click()
    assert serious(axe, tab) == []


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        *(("empty", "light"), ("budget", "dark"), ("cells", "light")),
        *(("sifted_ended", "light"), ("sifted_rare", "dark")),
    ],
)
def test_so_are_pages_of_other_shapes(visit, axe, name, scheme):
    assert serious(axe, visit(name, color_scheme=scheme)) == []


def test_axe_would_find_a_violation(visit, axe):
    tab = visit("no_attribute")
    tab.evaluate("document.querySelector('.note').style.color = 'rgb(200, 200, 200)'")
    assert [rule for rule, *_ in serious(axe, tab)] == ["color-contrast"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_so_is_the_page_of_a_comparison(visit, axe, scheme, tmp_path):
    path = tmp_path / "c.html"
    path.write_text(page_of("comparison.json", comparison()))
    assert serious(axe, visit(path, color_scheme=scheme)) == []
