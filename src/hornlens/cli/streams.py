"""Standard output and error: UTF-8, to nowhere if closed, and quiet when their reader has gone.

`hornlens … | head` closes our output while we write. Python tells that as a BrokenPipeError, the
same that a server's closed connection gives: so it is answered here, where it is known which one
it is. Letting the signal behind it (SIGPIPE) end the command would end it for a server, too, and
without a word.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import NoReturn

from hornlens.formats.files import UNENCODABLE

READER_GONE = 141
"""The exit code of a command whose reader has gone: what a shell says of other commands, too."""


def ready_streams() -> None:
    """Make standard output and error ready to be written to."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        elif type(stream) is TextIOWrapper and stream is getattr(sys, f"__{name}__"):
            lines, at_once = stream.line_buffering, stream.write_through
            ours = _Output(
                stream.detach(),
                encoding="utf-8",
                errors=UNENCODABLE,
                line_buffering=lines,
                write_through=at_once,
            )
            setattr(sys, name, ours)
            setattr(sys, f"__{name}__", ours)
        elif isinstance(stream, TextIOWrapper):  # somebody else's
            stream.reconfigure(encoding="utf-8", errors=UNENCODABLE)


class _Output(TextIOWrapper):
    """A stream that ends the command when its reader has gone, after all that has to be closed."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except BrokenPipeError:
            self._end()

    def flush(self) -> None:
        try:
            super().flush()
        except BrokenPipeError:
            self._end()

    def _end(self) -> NoReturn:
        nowhere = os.open(os.devnull, os.O_WRONLY)  # for what is still in our buffer, or comes
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)
        sys.exit(READER_GONE)
