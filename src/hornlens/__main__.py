"""The `hornlens` command, also as `python -m hornlens`.

Ctrl-C is answered from the first line of `main` on. What comes before is Python's own start, in
which it is Python that answers.
"""

# All that is needed of `signal`, which takes longer to import.
import _signal as signal  # type: ignore[import-not-found]
import errno
import os


def main() -> None:
    """Import the command line and run it; until it is there, Ctrl-C ends everything at once."""
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interruptible:
        signal.signal(signal.SIGINT, _stop_at_once)
    try:
        from hornlens.cli import main as command_line

        if interruptible:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command_line.main()
    except KeyboardInterrupt:  # in the midst of ending
        _stop_at_once()
    except OSError as error:  # not a single file can be opened: neither our own, nor a log
        if error.errno != errno.EMFILE:
            raise
        _end(b"too many open files: allow more of them (ulimit -n)", 2)


def _stop_at_once(*_: object) -> None:
    # No exception: one that comes inside an import may be swallowed, or told as another.
    _end(b"interrupted", 130)


def _end(message: bytes, code: int) -> None:
    try:
        os.write(2, b"hornlens: " + message + b"\n")
    finally:  # whether or not anybody is there to read it
        os._exit(code)


if __name__ == "__main__":
    main()
