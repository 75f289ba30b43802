"""The command line: arguments, output, exit status. The work is done below."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from patchlore import __version__

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
    "archive",
)

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


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="patchlore",
        description="A knowledge base of patch mail, with the evidence for each fact.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    # A name in Latin-1 or a console of another encoding must not end a command.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    args = make_parser().parse_args(arguments)
    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has what it wanted.  Python flushes once more
        # when it ends: that must go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("patchlore: interrupted; what was stored before is kept.", file=sys.stderr)
        return 1
    except Exception as error:
        return _report(error)
    return status


def _report(error: Exception) -> int:
    """Say what went wrong; errors that are no message for a person go on to Python."""
    from patchlore.ingest.errors import PatchloreError

    if not isinstance(error, PatchloreError):
        raise error
    print(f"patchlore: {error}", file=sys.stderr)
    return int(getattr(error, "exit_status", 1))


if __name__ == "__main__":
    raise SystemExit(main())
