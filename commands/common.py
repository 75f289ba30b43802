"""What all commands share: the archive's place, parsers with examples, output."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from patchlore.commands.folding import columns, folded

if TYPE_CHECKING:
    from patchlore.ingest.sources.items import Problem
    from patchlore.kb.store import Archive

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def archive_path(args: argparse.Namespace) -> pathlib.Path:
    """Return the archive's folder: --archive, else $PATCHLORE_ARCHIVE, else the XDG data folder."""
    given = args.archive or os.environ.get("PATCHLORE_ARCHIVE")
    if args.archive == "":
        from patchlore.kb.errors import UsageError

        raise UsageError("--archive needs the name of a folder.")
    if given:
        return pathlib.Path(given).expanduser()
    data = os.environ.get("XDG_DATA_HOME", "")
    # The XDG specification: a path that is not absolute is to be ignored.
    base = pathlib.Path(data) if os.path.isabs(data) else pathlib.Path.home() / ".local" / "share"
    return base / "patchlore"


def open_archive(args: argparse.Namespace) -> Archive:
    """Return the archive, open for reading; raises NoArchiveError when there is none."""
    from patchlore.kb.store import Archive

    return Archive(archive_path(args))


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Lays help out for the terminal; for 80 columns where there is none, whatever $COLUMNS is."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Take what argparse gives."""
        super().__init__(*args, **{"width": (columns() or 80) - 2} | options)


def add_command(
    subparsers: Subparsers, name: str, summary: str, examples: Iterable[str], description: str = ""
) -> argparse.ArgumentParser:
    """Add a command with a summary, a description and examples that its --help shows."""
    return subparsers.add_parser(
        name,
        help=summary,
        description=description or f"{summary[0].upper()}{summary[1:]}.",
        epilog="examples:\n" + "\n".join(f"  {example}" for example in examples),
        formatter_class=HelpFormatter,
    )


def add_json(parser: argparse.ArgumentParser, form: str = "one JSON object") -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help=f"print {form}")


class _FormatHelp(str):
    """A help text that the names of formats follow; the readers are loaded when it is shown."""

    __slots__ = ()

    def __mod__(self, values: Any) -> str:
        """Return the text as argparse shows it."""
        from patchlore.ingest.detect import format_names

        return f"{self}: {', '.join(format_names())}"


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add --format for sources."""
    text = "take the files for this format instead of looking"
    parser.add_argument("--format", type=_format, metavar="F", help=_FormatHelp(text))


def _format(name: str) -> str:
    """Check the name of a format before anything is made or read."""
    from patchlore.ingest.detect import format_named
    from patchlore.ingest.errors import IngestError

    try:
        format_named(name)
    except IngestError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return name


def add_archive_id(parser: argparse.ArgumentParser, what: str = "a Message-ID") -> None:
    """Add the positional ID."""
    parser.add_argument("id", metavar="ID", help=f"{what}, or the URL of the mail in a web archive")


class Style:
    """Colours, on a terminal only and not when $NO_COLOR is set (https://no-color.org)."""

    def __init__(self) -> None:
        """Look at standard output and the environment."""
        self._on = (
            sys.stdout.isatty()
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._on and text else text

    def head(self, text: str) -> str:
        """Return a heading."""
        return self._wrap("1", text)

    def name(self, text: str) -> str:
        """Return a commit or another name that the eye looks for."""
        return self._wrap("33", text)

    def proof(self, text: str) -> str:
        """Return a line of evidence, less bright than what it proves."""
        return self._wrap("2", text)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines of text to standard output, folded where the reader has fewer columns."""
    width = columns()
    if width is None:
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return
    for text in lines:
        for line in text.split("\n"):
            sys.stdout.writelines(f"{part}\n" for part in folded(line, width))


def write_bytes(data: bytes) -> None:
    """Write bytes to standard output as they are, after what was printed before."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def print_json(value: Any) -> None:
    """Print one value as a line of JSON (UTF-8)."""
    import msgspec

    write_bytes(msgspec.json.encode(value) + b"\n")


def print_json_lines(values: Iterable[Any]) -> None:
    """Print each value as a line of JSON."""
    import msgspec

    encode = msgspec.json.Encoder().encode
    sys.stdout.flush()
    for value in values:
        sys.stdout.buffer.write(encode(value) + b"\n")
    sys.stdout.buffer.flush()


def number_from_zero(text: str) -> int:
    """Return the number of ``--limit``, 0 for all; raises ArgumentTypeError for a negative one."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("give a number from 0")
    return number


def note(text: str, *, keep_lines: bool = False) -> None:
    """Print a note to standard error; names of files and mail in it are made harmless.

    It is one line, unless it was laid out in several by us (``keep_lines``).
    """
    from patchlore.kb.text import printable, printable_lines

    print(printable_lines(text) if keep_lines else printable(text), file=sys.stderr)


class Problems:
    """What could not be read, told as it comes; files that are plainly no mail at the end."""

    def __init__(self) -> None:
        """Begin with none."""
        self.failed = False
        self._passed_over = 0
        self._names: list[str] = []

    def add(self, problem: Problem) -> None:
        """Take a problem: a note about it, or a file more that is no mail."""
        if not problem.passed_over:
            self.failed = True
            note(f"patchlore: {problem.text}")
            return
        self._passed_over += problem.passed_over
        if len(self._names) < 3 and problem.passed_over == 1:
            self._names.append(problem.path)

    def tell(self) -> None:
        """Say which files were passed over."""
        from patchlore.kb.text import count

        if self._passed_over:
            were = "was" if self._passed_over == 1 else "were"
            names = ", ".join(self._names) + (" …" if self._passed_over > len(self._names) else "")
            note(f"patchlore: {count(self._passed_over, 'file')} {were} no mail: {names}")
        self._passed_over = 0


def terminal_width() -> int:
    """Return the columns that a line is laid out for: at most 120; 100 where nobody says."""
    return min(120, columns() or 100)
