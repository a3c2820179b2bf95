"""The `hornlens` command, also as `python -m hornlens`."""

import signal


def main() -> None:
    """Import the command line and run it; until it is there, Ctrl-C ends everything at once."""
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interruptible:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from hornlens.cli import main as command_line

    if interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command_line.main()


if __name__ == "__main__":
    main()
