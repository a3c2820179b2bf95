"""The `hornlens` command, also as `python -m hornlens`.

Ctrl-C is answered from the first line of `main` on. What comes before is Python's own start, in
which it is Python that answers.
"""

# All that is needed of `signal`, which takes longer to import.
import _signal as signal  # type: ignore[import-not-found]
import os


def main() -> None:
    """Import the command line and run it; until it is there, Ctrl-C ends everything at once."""
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interruptible:
        signal.signal(signal.SIGINT, _stop_at_once)
    from hornlens.cli import main as command_line

    if interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        command_line.main()
    except KeyboardInterrupt:  # in the midst of ending
        _stop_at_once()


def _stop_at_once(*_: object) -> None:
    # No exception: one that comes inside an import may be swallowed, or told as another.
    try:
        os.write(2, b"hornlens: interrupted\n")
    finally:  # whether or not anybody is there to read it
        os._exit(130)


if __name__ == "__main__":
    main()
