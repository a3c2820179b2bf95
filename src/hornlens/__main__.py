"""`python -m hornlens` is the `hornlens` command."""

from hornlens.cli.main import main

main()
