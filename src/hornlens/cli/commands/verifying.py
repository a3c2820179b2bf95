"""Commands that say what a result is worth: check, verify, seal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import typer

from hornlens.cli.options import Debug
from hornlens.errors import HornlensError, InputError

if TYPE_CHECKING:
    from hornlens.verifying.outcomes import Verification

Against = Annotated[
    Optional[Path],
    typer.Option(
        metavar="FILE",
        help="The .cnf, .csv or .cxt of which it is the envelope; of an exploration, its "
        "X.exploration.json.",
    ),
]
Background = Annotated[
    Optional[Path],
    typer.Option(
        metavar="FILE",
        help="What was taken for granted, with --against: a Horn .cnf or a .json.",
    ),
]


def check(
    results: Annotated[
        list[Path], typer.Argument(help="Folders of results, or envelope.json files.")
    ],
    rules: Annotated[
        Path, typer.Argument(metavar="RULES.yaml", help="What is required of each of them.")
    ],
    against: Against = None,
    format: Annotated[
        Literal["text", "json", "junit", "github"],
        typer.Option(help="For people, machines, JUnit's readers, or GitHub (annotations)."),
    ] = "text",
    out: Annotated[
        Optional[Path],
        typer.Option(help="Write that to a file, and print the text for people.", metavar="FILE"),
    ] = None,
    debug: Debug = False,
) -> None:
    """Hold results against rules that are forbidden or required.

    Each result is verified first. Exit code 1 if a requirement is violated, with the answers that
    show it; 2 if a result does not verify: a gate for CI.
    """
    from hornlens.formats.files import check_writable, write_file
    from hornlens.repeating import check_files
    from hornlens.report.checks import WRITERS
    from hornlens.report.terminal import Terminal
    from hornlens.results.documents.requirements_file import read_requirements

    if out is not None:
        check_writable(out.parent)
    read_requirements(rules)  # before there is work to lose
    verified = [_verified(path, against) for path in results]
    checks = check_files(results, rules, verified=verified)
    if out is not None:
        write_file(out, WRITERS[format](checks))
    sys.stdout.write(WRITERS["text" if out is not None else format](checks))
    if out is not None:
        Terminal().say(f"As {format}: {out}")
    raise typer.Exit(int(not checks.passed))


def _verified(path: Path, against: Path | None) -> str:
    """Verify a result, or its shape where what it is of is not there; return how far that went."""
    from hornlens.formats.jsonfiles import read_json
    from hornlens.verification import needs_file, verify
    from hornlens.verifying.verify import document_in

    # One file may go with several results: those that have answers do not need it.
    own = against if against and needs_file(read_json(document_in(path))) else None
    done = verify(path, own, shape=True)
    if done.wrong is not None:
        raise InputError(f"does not verify: {done.wrong}", path)
    return done.status


def verify(
    path: Annotated[
        Path, typer.Argument(metavar="RESULT", help="A folder of results, or an envelope.json.")
    ],
    against: Against = None,
    background: Background = None,
    seal: Annotated[
        bool, typer.Option("--seal", help="It has to be sealed, too; say by whom with --key.")
    ] = False,
    key: Annotated[
        Optional[Path],
        typer.Option(
            metavar="PUB.pem", help="The public key of whoever is to have sealed it; means --seal."
        ),
    ] = None,
    digest: Annotated[
        bool, typer.Option("--digest", help="Print the digest of the document, and nothing else.")
    ] = False,
    format: Annotated[
        Literal["text", "json"], typer.Option(help="How to print what was checked.")
    ] = "text",
    debug: Debug = False,
) -> None:
    """Check a result by its recorded answers, without the code that made it.

    Says what was recomputed, what only the digest covers, and what was not checked. Exit code 1
    says that something is wrong, and what.
    """
    from hornlens.formats.jsonfiles import json_text
    from hornlens.verification import digest_in, verify

    if background is not None and against is None:
        raise HornlensError("--background goes with --against")
    if seal and key is None:
        raise HornlensError("--seal goes with --key PUB.pem: whose seal is it to be?")
    if digest:
        if against is not None or key is not None or format != "text":
            raise HornlensError("--digest prints the digest, and goes with no other option")
        print(digest_in(path))
        return
    done = verify(path, against, background, key=key)
    if format == "json":
        sys.stdout.write(json_text(done.as_json()))
    else:
        _print(path, done)
    raise typer.Exit(int(not done.ok))


def _print(path: Path, done: Verification) -> None:
    """Print what was recomputed, what is only intact, and what was not checked."""
    from hornlens.report.terminal import Terminal

    terminal = Terminal()
    if done.wrong is not None:
        terminal.say(f"Wrong: {path}: {done.wrong}")
        return
    terminal.say(f"{path}: {done.sentence}")
    for title, lines in done.sections.items():
        terminal.say(f"{title}:" if lines else f"{title}: nothing.")
        for line in lines:
            terminal.say(f"- {line}")
    terminal.say(f"Digest: {done.digest}")


def seal(
    path: Annotated[
        Optional[Path],
        typer.Argument(metavar="RESULT", help="A folder of results, or the document in it."),
    ] = None,
    key: Annotated[
        Optional[Path],
        typer.Option(
            metavar="KEY.pem",
            help="Your private key. Its passphrase, if any, is in HORNLENS_SEAL_PASSPHRASE.",
        ),
    ] = None,
    new_key: Annotated[
        Optional[Path],
        typer.Option(
            metavar="NAME",
            help="Make a key pair instead: NAME.pem, which is private, and NAME.pub.pem.",
        ),
    ] = None,
    against: Against = None,
    background: Background = None,
    debug: Debug = False,
) -> None:
    """Verify a result and sign it with your key: `verify --key` tells others that it is yours.

    Writes seal.json beside the document: an in-toto statement on all files of the result, in a DSSE
    envelope. A result that does not verify is not sealed.
    """
    from hornlens.report.terminal import Terminal
    from hornlens.sealing.keys import fingerprint, read_public_key
    from hornlens.sealing.keys import new_key as make_key
    from hornlens.verification import seal

    terminal = Terminal()
    if new_key is not None:
        if path is not None or key is not None:
            raise HornlensError("--new-key makes a key pair, and seals nothing: use it alone")
        private, public = make_key(new_key)
        terminal.say(f"{private}: the private key. Keep it to yourself.")
        terminal.say(f"{public}: the public key. Give it to whoever checks your seals.")
        terminal.say(f"Key: {fingerprint(read_public_key(public))}")
        return
    if path is None or key is None:
        raise HornlensError("give a result and --key KEY.pem; or make a key with --new-key NAME")
    if background is not None and against is None:
        raise HornlensError("--background goes with --against")
    written = seal(path, key, against, background)
    terminal.say(f"Sealed: {written}")
    terminal.say(f"To check it: hornlens verify {path} --seal --key PUB.pem")
