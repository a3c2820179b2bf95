"""report.html: one self-contained page for each kind of result, made from its JSON."""

from hornlens.report.page.kinds import KINDS, page, read_page, write_page

__all__ = ["KINDS", "page", "read_page", "write_page"]
