"""Answers of a SPARQL endpoint on disk: each is there, whole, before the next question is asked.

So a run that was stopped is continued by running it again, and nothing is asked twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hornlens.errors import InputError
from hornlens.formats.files import read_text, write_file
from hornlens.pronouns.people import ENTITY, number_of
from hornlens.pronouns.sparql import Endpoint, TimedOut

ITEM = "http://www.wikidata.org/entity/"
LONGEST_SUFFIX = 3
"""A list is split by the last digits of ids, at most so many: into a thousand parts."""

Solutions = list[dict[str, str]]
Progress = Callable[[int], None]


class Pages:
    """The answers to questions about items, in a folder.

    A list of ids is kept as it was first answered, and a page of facts is named by the places of
    the list that it covers: they mean the same items later, whatever happens at the endpoint.
    """

    def __init__(self, folder: Path, endpoint: Endpoint, page_size: int):
        """Open a folder of answers, or begin one; answers of another endpoint are refused."""
        self.folder, self.endpoint, self.page_size = folder, endpoint, page_size
        self._size = page_size
        about = folder / "pages.json"
        content = {"format": 1, "endpoint": endpoint.url}
        if not about.exists():
            write_file(about, json.dumps(content))
        elif (before := _read(about)) != content:
            raise InputError(
                f"has answers of {before.get('endpoint')}, in format {before.get('format')}; "
                "choose another --out, or remove it",
                folder,
            )

    def ids(self, name: str, query: Callable[[str], str], suffix: str = "") -> list[str]:
        """Return the items that a query lists, by number.

        `query` gives the query for those whose id ends in some digits. If the whole list takes too
        long, it is asked for in ten parts, by the last digit; and so on.
        """
        path = self.folder / f"list-{name}{suffix and '-'}{suffix}.json"
        if not path.exists():
            try:
                rows = self.endpoint.select(query(suffix), can_split=len(suffix) < LONGEST_SUFFIX)
                write_file(path, json.dumps({"ids": in_order(row.get("item", "") for row in rows)}))
            except TimedOut:
                write_file(path, json.dumps({"split": True}))
        content = _read(path)
        if "ids" in content:
            return list(content["ids"])
        parts = (self.ids(name, query, digit + suffix) for digit in "0123456789")
        return sorted((qid for part in parts for qid in part), key=number_of)

    def facts(
        self,
        name: str,
        ids: Sequence[str],
        query: Callable[[Sequence[str]], str],
        progress: Progress,
    ) -> Iterator[tuple[str, Solutions]]:
        """Yield each item of a list with the solutions of `query` about it, page by page."""
        files = self.folder.glob(f"facts-{name}-*.json")
        ready = {_places(path)[0]: path for path in files}
        start = 0
        while start < len(ids):
            path = ready.get(start)
            if path is None:
                page, items = self._ask(ids[start:], query)
                path = self.folder / f"facts-{name}-{start:08}-{start + len(page):08}.json"
                write_file(path, json.dumps(items, separators=(",", ":")))
            end = _places(path)[1]
            content = _read(path)
            for qid in ids[start:end]:
                yield qid, content.get(qid, [])
            progress(end - start)
            start = end

    def lookup(
        self,
        name: str,
        ids: Sequence[str],
        query: Callable[[Sequence[str]], str],
        progress: Progress,
    ) -> dict[str, Solutions]:
        """Return the solutions of `query` about some items, of which few are new in each run."""
        path = self.folder / f"{name}.json"
        known = _read(path) if path.exists() else {}
        missing = [qid for qid in ids if qid not in known]
        progress(len(ids) - len(missing))
        while missing:
            page, items = self._ask(missing, query)
            known.update((qid, items.get(qid, [])) for qid in page)
            write_file(path, json.dumps(known, separators=(",", ":")))
            missing = missing[len(page) :]
            progress(len(page))
        return {qid: known[qid] for qid in ids}

    def _ask(
        self, ids: Sequence[str], query: Callable[[Sequence[str]], str]
    ) -> tuple[Sequence[str], dict[str, Solutions]]:
        """Ask about the first of these ids, as many as fit a page; return them and the answer.

        A page that takes too long is halved. Then pages grow again slowly: one stalled connection
        in a long run must not make them small for good.
        """
        while True:
            page = ids[: self._size]
            try:
                rows = self.endpoint.select(query(page), can_split=len(page) > 1)
            except TimedOut:
                self._size = (len(page) + 1) // 2
                continue
            self._size = min(self.page_size, self._size + 1 + self.page_size // 50)
            items: dict[str, Solutions] = {}
            for row in rows:
                qid = row.pop("item", "").removeprefix(ITEM)
                items.setdefault(qid, []).append(row)
            return page, {qid: items[qid] for qid in page if qid in items}


def in_order(iris: Iterable[str]) -> list[str]:
    """Return the ids of the items among these, by number; what is no item is left out."""
    ids = {iri.removeprefix(ITEM) for iri in iris}
    return sorted(filter(ENTITY.fullmatch, ids), key=number_of)


def _places(path: Path) -> tuple[int, int]:
    """Return which places of the list a page covers: from, and up to."""
    start, end = path.stem.split("-")[-2:]
    return int(start), int(end)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_text(path))
    except json.JSONDecodeError:
        content = None
    if not isinstance(content, dict):
        raise InputError("is not an answer that Hornlens kept; remove it", path)
    return content
