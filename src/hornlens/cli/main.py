"""Running the command line: streams, errors in one line, exit codes, interrupts."""

from __future__ import annotations

import _thread
import errno
import gc
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from types import TracebackType
from typing import NoReturn, TextIO

import typer
from typer.main import get_command

from hornlens.cli.app import GROUPS, app
from hornlens.cli.streams import ready_streams
from hornlens.deprecation import HornlensDeprecationWarning
from hornlens.errors import HornlensError
from hornlens.formats.plain import one_line, visible

BAD_INPUT, OUR_ERROR, INTERRUPTED = 2, 3, 130


def main() -> NoReturn:
    """Run the command line; turn errors into one line and an exit code."""
    debug = len(_without_debug(sys.argv[1:])) < len(sys.argv[1:])
    try:
        gc.set_threshold(100_000, 20, 20)  # starting makes many objects and little garbage
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it would search for them
        ready_streams()
        sys.unraisablehook, sys.excepthook = _dropped, _printed
        _show_deprecations()
        _show_log()
        arguments = _without_debug(sys.argv[1:])
        code = _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        _stop()
    except Exception as error:
        if isinstance(error, typer.Abort) or _lost or _comes_of_an_interrupt(error):
            _stop()
        message = _in_a_line(error)
        if debug:
            for line in _safe(traceback.format_exc()).splitlines():
                print(visible(line), file=sys.stderr)
            sys.exit(BAD_INPUT if message else OUR_ERROR)
        if message is None:
            _fail(f"{_unforeseen(error)}; the whole of it: {_written_down()}", OUR_ERROR)
        _fail(message, BAD_INPUT)
    finally:
        gc.freeze()  # files are closed: what is left goes with the process, unsearched for cycles
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: a Ctrl-C changes nothing
    if code == INTERRUPTED or _lost:  # typer turns Ctrl-C into an exit code of its own
        _stop()
    sys.exit(code if isinstance(code, int) else 0)


def _run(arguments: list[str]) -> object:
    """Run a command; return its exit code, if it has one."""
    if not arguments:
        from hornlens.cli.next_steps import next_steps

        print(next_steps())
        return 0
    if arguments[:3] == ["completion", "--words", "--"]:
        from hornlens.cli.completion import words_after

        for word in words_after(get_command(app), arguments[3:]):
            print(word)
        return 0
    if len(arguments) == 1 and arguments[0] in GROUPS:
        arguments.append("--help")  # which is what typer does, too, but as an error
    try:
        return get_command(app)(arguments, standalone_mode=False)  # app() has a hook of its own
    except SystemExit as ended:
        # What typer makes of any closed pipe or connection; those of our output end in their own
        # way, and what is left is trouble.
        if ended.code == 1 and isinstance(ended.__context__, BrokenPipeError):
            raise ended.__context__ from None
        raise


def _show_deprecations() -> None:
    """Print what is deprecated as one line each on standard error; Python would be silent on it."""
    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, HornlensDeprecationWarning):
            print("hornlens: warning:", one_line(str(message)), file=sys.stderr)
        else:
            usual(message, category, filename, lineno, file, line)

    warnings.showwarning = show
    warnings.simplefilter("once", HornlensDeprecationWarning)


def _show_log() -> None:
    """Show the library's log, if HORNLENS_LOG names a level."""
    if level := os.environ.get("HORNLENS_LOG"):
        from hornlens.logging import set_verbosity

        try:
            set_verbosity(level)  # type: ignore[arg-type]
        except ValueError as error:
            raise HornlensError(f"HORNLENS_LOG: {error}") from None


def _without_debug(arguments: list[str]) -> list[str]:
    """Return arguments without `--debug`, which every command takes, wherever it stands."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return [word for word in arguments[:end] if word != "--debug"] + arguments[end:]


def _in_a_line(error: Exception) -> str | None:
    """Return what is wrong, if it is the user's to mend."""
    if isinstance(error, HornlensError):
        return str(error)
    if isinstance(error, ConnectionError):
        said = (error.strerror or str(error)).lower()
        return f"a connection was closed by the other side ({said}): run the same command to go on"
    if _lacks_handles(error):
        return "too many open files: allow more of them (ulimit -n)"
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place[:200]}{(error.strerror or str(error)).lower()}"
    if isinstance(error, MemoryError):
        return "this needs more memory than there is: ask for less, or on a larger machine"
    if hasattr(error, "format_message"):  # of typer, or of click under older versions of typer
        message = error.format_message().replace("Value error, ", "")
        command = getattr(getattr(error, "ctx", None), "command_path", "hornlens")
        return f"{message} (see '{command} --help')"
    return None


def _lacks_handles(error: Exception) -> bool:
    """Return whether no more files can be opened; a library that is one is an ImportError."""
    if isinstance(error, OSError):
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return isinstance(error, ImportError) and os.strerror(errno.EMFILE) in str(error)


def _unforeseen(error: Exception) -> str:
    """Say what went wrong that nobody thought of."""
    reason = " ".join(str(error).split())[:200]
    return f"an error of hornlens itself: {type(error).__name__}" + (
        f": {reason}" if reason else ""
    )


def _written_down() -> str:
    """Write the traceback into a file of its own; return where it is."""
    import tempfile

    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="hornlens-", suffix=".txt", encoding="utf-8", delete=False
        ) as file:
            command = " ".join(["hornlens", *sys.argv[1:]])
            file.write(_safe(f"{command}\n\n{traceback.format_exc()}"))
            return f"{file.name} (please send it to us)"
    except (OSError, UnicodeError):
        return "run the same command with --debug"


def _comes_of_an_interrupt(error: BaseException | None) -> bool:
    """Return whether a Ctrl-C is behind an error: a library that it hits may make it its own."""
    from hornlens.limits import is_ctrl_c

    while error is not None and not is_ctrl_c(error):
        error = error.__cause__ or error.__context__
    return error is not None


_lost = False
"""Whether Python dropped a Ctrl-C: whatever the command comes to after that, it was interrupted."""


def _dropped(trouble: sys.UnraisableHookArgs) -> None:
    """Hear of a Ctrl-C that Python drops, as in a weak reference's callback, which imports have."""
    if isinstance(trouble.exc_value, KeyboardInterrupt):
        _hear_again()
    else:
        sys.__unraisablehook__(trouble)


def _printed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Hear of a Ctrl-C that is printed and forgotten, as an extension module does in its import.

    numpy's then raises an ImportError of its own, which says nothing of that.
    """
    if issubclass(kind, KeyboardInterrupt):
        _hear_again()
    else:
        sys.__excepthook__(kind, error, trace)


def _hear_again() -> None:
    """Send a Ctrl-C again that was dropped, as a signal: it ends a wait, too.

    Nothing hangs on when it comes. The command may be over by then, or may have failed because of
    the one that was dropped; and if this one is dropped as well, all this happens again.
    """
    global _lost
    _lost = True
    _thread.start_new_thread(_send_again, ())  # a Thread takes locks, which may be held just here


def _send_again() -> None:
    time.sleep(0.005)  # most often, the place that drops it is left by then
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _stop() -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # one that was dropped may still be on its way
    # Under `python -m`, Python ends by the signal if a Ctrl-C came inside an exec (dataclasses do
    # that), even where it was caught; the next exec makes it forget.
    exec("")
    _fail("interrupted", INTERRUPTED)


def _fail(message: str, code: int) -> NoReturn:
    print("hornlens:", one_line(_safe(message)), file=sys.stderr)
    sys.exit(code)


def _safe(text: str) -> str:
    """Return text without the keys and passwords of the environment."""
    from hornlens.logging import without_secrets

    return without_secrets(text)
