"""The page of a result: that of its answers where it gives labels, and of its rules where not."""

from __future__ import annotations

from typing import Any

from hornlens.report.page.extraction import extraction_page
from hornlens.report.page.unlabelled import unlabelled_page
from hornlens.results.documents.findings import Findings


def result_page(
    result: Findings,
    content: dict[str, Any] | None = None,
    name: str = "",
    file: str = "",
    review: str = "",
) -> str:
    """Return the page of a result; `content` is its JSON.

    `name` is what people call it, where it does not say so itself, and `file` what holds it.
    `review` is what a person's check of its replies has found, in words.
    """
    if result.asked and result.space.label is not None:
        return extraction_page(result, content, review)
    return unlabelled_page(result, content, name, file)
