"""All cases, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tools.golden.case import Case
from tools.golden.classifiers import classifiers
from tools.golden.files import contexts, examples
from tools.golden.logic import ended, formulas, functions, learners, tables
from tools.golden.models import builtin, live, noisy, prompted, smollm2

KINDS = (
    *(examples, builtin, smollm2, functions, prompted, noisy),
    *(tables, formulas, learners, ended, classifiers),
)


def all_cases(
    folder: Path | None = None, slow: bool = False, with_live: bool = False
) -> Iterator[Case]:
    """Yield every case; `folder` holds contexts, of which `slow` asks for those that take long.

    `with_live`: also models that take minutes, if they are installed.
    """
    for kind in KINDS:
        yield from kind()
    if folder is not None:
        yield from contexts(folder, slow)
    if with_live:
        yield from live()
