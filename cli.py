"""The command line: arguments, output, exit status. The work is done below."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from patchlore import __version__
from patchlore.commands.common import HelpFormatter

#: Modules of patchlore.commands, in the order in which --help tells their commands.
MODULES = (
    "ingest",
    "parse",
    "search",
    "dossiers",
    "cves_files_people",
    "messages",
    "series",
    "backports",
    "review",
    "archive",
    "serving",
)

#: A full disk, a quota, a stream that is closed or a medium that fails.
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO)

_EPILOG = """\
examples:
  patchlore ingest ~/Mail/stable.mbox          read mail into the archive
  patchlore pr 83356                           what is known about a GCC bug
  patchlore commit 148b974deea9                what is known about a commit
  patchlore backports 5.10                     the backport list of a stable tree
  patchlore search 's:crypto f:quill fixes:148b974deea9'

The archive is --archive DIR, else $PATCHLORE_ARCHIVE, else patchlore in the XDG
data folder (~/.local/share).  Exit status: 0; 1 nothing found, or part of the
input failed; 2 wrong usage.  'patchlore COMMAND --help' shows examples.
"""


class _PrintCompletion(argparse.Action):
    """``--print-completion SHELL``: shtab is loaded only when it is asked for."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        import shtab

        print(shtab.complete(parser, shell=str(values)))
        parser.exit(0)


class _Parser(argparse.ArgumentParser):
    """A parser whose help is lost with an error, not silently, when it can't be written."""

    def _print_message(self, message: str, file: Any = None) -> None:
        if message:
            (sys.stderr if file is None else file).write(message)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = _Parser(
        prog="patchlore",
        description="A knowledge base of patch mail, with the evidence for each fact.",
        epilog=_EPILOG,
        formatter_class=HelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"patchlore {__version__}")
    parser.add_argument(
        "--archive", metavar="DIR", help="the archive's folder (default: $PATCHLORE_ARCHIVE)"
    )
    parser.add_argument(
        "--print-completion",
        action=_PrintCompletion,
        choices=("bash", "zsh", "tcsh"),
        help="print a completion script for a shell",
    )
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", required=True
    )
    for name in MODULES:
        importlib.import_module(f"patchlore.commands.{name}").add_parsers(subparsers)
    return parser


class _Terminated(BaseException):
    """SIGTERM came: what is open is closed on the way out, as for ^C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    _prepare_streams()
    try:
        before = [
            (number, signal.signal(number, handler))
            for number, handler in (
                (signal.SIGINT, signal.default_int_handler),
                (signal.SIGTERM, _terminate),
            )
        ]
    except ValueError:  # signals belong to the main thread
        before = []
    try:
        return _run(arguments)
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        try:
            args = make_parser().parse_args(arguments)
        except SystemExit:
            sys.stdout.flush()  # --help and --version have printed
            raise
        status: int = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up_output()  # the reader (head, less) has what it wanted
        return 0
    except KeyboardInterrupt:
        return _stopped(signal.SIGINT)
    except _Terminated:
        return _stopped(signal.SIGTERM)
    except Exception as error:
        return _report(error)
    return status


def _prepare_streams() -> None:
    """Let each standard stream be there and take any text.

    One that the caller closed (``>&-``) fails when it is used, and its number
    is never that of a file which is opened later: the archive's, for one.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            with contextlib.suppress(OSError):
                os.fstat(number)
                continue
            # Opened the wrong way round, so that reading or writing fails.
            wrong = os.O_WRONLY if mode == "r" else os.O_RDONLY
            opened = os.open(os.devnull, os.O_RDWR if name == "stderr" else wrong)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115
    # A name in Latin-1 or a console of another encoding must not end a command.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _terminate(number: int, frame: object) -> None:
    raise _Terminated


def _give_up_output() -> None:
    """Python flushes standard output once more when it ends: that must go nowhere."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stopped(number: signal.Signals) -> int:
    """Say that a signal ended the command; the status is the one that shells give then."""
    _give_up_output()
    with contextlib.suppress(OSError):
        print("patchlore: interrupted; what was stored before is kept.", file=sys.stderr)
    return 128 + number


def _report(error: Exception) -> int:
    """Say what went wrong; errors that are no message for a person go on to Python."""
    import sqlite3

    from patchlore.commands.common import note
    from patchlore.ingest.errors import PatchloreError

    if isinstance(error, PatchloreError):
        note(f"patchlore: {error}", keep_lines=error.has_lines)
        return int(getattr(error, "exit_status", 1))
    if isinstance(error, sqlite3.Error):
        note(
            f"patchlore: the archive can't be used ({error}): "
            "run 'patchlore check --repair', which saves what can be read."
        )
        return 1
    if not isinstance(error, OSError):
        raise error
    reason = error.strerror or str(error)
    if error.filename is not None:
        note(f"patchlore: {os.fsdecode(error.filename)} can't be used: {reason}.")
        return 1
    if error.errno not in _OUTPUT_ERRORS:
        raise error
    _give_up_output()
    note(f"patchlore: writing to standard output failed: {reason}.")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
