"""Whether the links of a built site lead somewhere, and whether a page loads what is elsewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
}
"""What a browser fetches by itself; of <link>, it depends on `rel`."""
FETCHED = {
    "stylesheet",
    "icon",
    "preload",
    "preconnect",
    "dns-prefetch",
    "modulepreload",
    "manifest",
}


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it that can be linked to."""

    def __init__(self, path: Path):
        """Read a page."""
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def has(self, place: str) -> bool:
        """Say whether a place can be linked to; every page has a top."""
        return place in self.places or place == "top"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag has."""
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if LOADED.get(tag) in given:
            self.loads.append(given[LOADED[tag]])
        if tag == "link" and FETCHED & set(given.get("rel", "").split()):
            self.loads.append(given.get("href", ""))


def problems(site: Path) -> list[str]:
    """Return what is wrong, a line each: links to nowhere, and what comes from elsewhere."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    wrong = []
    for path, page in pages.items():
        if path.name == "404.html":  # it is shown at any address
            continue
        name = path.relative_to(site)
        wrong += [
            f"{name}: loads {load} from elsewhere" for load in page.loads if urlsplit(load).netloc
        ]
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            to = to / "index.html" if to.is_dir() else to
            if not to.exists():
                wrong.append(f"{name}: {link} leads nowhere")
            elif parts.fragment and to in pages and not pages[to].has(unquote(parts.fragment)):
                wrong.append(f"{name}: {link}: there is no such place on that page")
    return wrong
