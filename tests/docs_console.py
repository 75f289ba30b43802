"""The examples of the documents: what they say that a command prints, and what it prints now.

A fenced block of the kind ``console`` in README.md or docs/*.md is an example::

    $ patchlore prs --since 2023-12-10
    PR 188077 …

Each of its commands is run by a shell, in a folder that has ``demo/``, with an
archive of the demo's mail in ``$PATCHLORE_ARCHIVE``; what it prints (standard
output, then standard error) has to be what stands below it. So:

* A line ``…`` stands for any number of lines.
* A command that fails has ``$ echo $?`` below it, and its status there.
* A block that begins with ``patchlore ingest`` begins without an archive.
* ``demo/make-tree FOLDER`` makes a git repository to try patches in.
* Folders stand as ``/home/ada/…``; how fast the machine is does not matter.

Blocks of another kind (``sh``) are not run: they need somebody's own mail.
``tools/update-docs`` writes what the commands print now into the documents.
"""

from __future__ import annotations

import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence

from msgspec import Struct

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
ELISION = "…"

#: Where the examples seem to run.
HOME = "/home/ada"

_FENCE = "```"
_PROGRAMS = ("patchlore", "echo", "cat", "ls", "demo/make-tree")
_SPEED = re.compile(r"in \d+\.\d s \([\d,]+ mails/s\)")


class Example(Struct, kw_only=True):
    """A command of a document and the lines that it is said to print."""

    command: str
    expected: list[str]
    #: Lines of the document (from 0): the command's first, the output's first, behind its last.
    start: int
    output: int
    end: int


class Block(Struct, kw_only=True):
    """A fenced block of examples, which share an archive."""

    document: pathlib.Path
    examples: list[Example]

    @property
    def name(self) -> str:
        """Where the block stands: ``README.md:12``."""
        return f"{self.document.relative_to(ROOT)}:{self.examples[0].start + 1}"


def blocks_of(document: pathlib.Path) -> list[Block]:
    """Return the blocks of examples of a document; raises ValueError for one that can't be run."""
    lines = document.read_text("utf-8").split("\n")
    blocks: list[Block] = []
    start: int | None = None
    fenced = False
    for number, line in enumerate(lines):
        if not line.startswith(_FENCE):
            continue
        if fenced and start is not None:
            blocks.append(
                Block(document=document, examples=_examples(document, lines, start, number))
            )
        fenced = not fenced
        start = number + 1 if fenced and line == f"{_FENCE}console" else None
    return blocks


def _examples(document: pathlib.Path, lines: Sequence[str], start: int, end: int) -> list[Example]:
    examples: list[Example] = []
    number = start
    while number < end:
        first = number
        command = lines[number].removeprefix("$ ")
        if command == lines[number] or command.split(" ", 1)[0] not in _PROGRAMS:
            raise ValueError(f"{document.name}:{number + 1}: this is no command of an example")
        while command.endswith("\\"):
            number += 1
            command = f"{command[:-1].rstrip()} {lines[number].strip()}"
        number += 1
        output = number
        while number < end and not lines[number].startswith("$ "):
            number += 1
        behind = number
        while behind > output and not lines[behind - 1]:  # a blank line before the next command
            behind -= 1
        examples.append(
            Example(
                command=command,
                expected=list(lines[output:behind]),
                start=first,
                output=output,
                end=behind,
            )
        )
    return examples


class Shell:
    """Runs the examples in a folder of its own, with an archive of the demo's mail."""

    def __init__(self, folder: pathlib.Path) -> None:
        """Make the archive; ``folder`` is empty and stays for as long as the shell is used."""
        self._folder = folder.resolve()
        self._work = self._folder / "patchlore"
        self._archive = self._folder / "demo-archive"
        self._pristine = self._folder / "pristine"
        self._work.mkdir()
        shutil.copytree(ROOT / "demo", self._work / "demo")
        done = self._run("patchlore ingest demo/mail")
        if done.returncode:
            raise RuntimeError(f"the demo's mail can't be ingested: {done.stderr}")
        self._archive.rename(self._pristine)

    def run(self, block: Block) -> list[list[str]]:
        """Return what each command of a block prints, as lines.

        The status of a command that fails without an ``echo $?`` below it is
        a line of what it prints, so that it can't be overlooked.
        """
        shutil.rmtree(self._archive, ignore_errors=True)
        if not block.examples[0].command.startswith("patchlore ingest"):
            shutil.copytree(self._pristine, self._archive)
        printed: list[list[str]] = []
        status = 0
        following = [example.command for example in block.examples[1:]] + [""]
        for example, next_command in zip(block.examples, following, strict=True):
            if example.command == "echo $?":
                printed.append([str(status)])
                continue
            done = self._run(example.command)
            status = done.returncode
            lines = self._lines(done.stdout) + self._lines(done.stderr)
            if status and next_command != "echo $?":
                lines.append(f"(status {status})")
            printed.append(lines)
        return printed

    def _run(self, command: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
        return subprocess.run(
            ["sh", "-c", command],
            cwd=self._work,
            env={
                "PATH": path,
                "HOME": str(self._folder),
                "PATCHLORE_ARCHIVE": str(self._archive),
                "LC_ALL": "C.UTF-8",
            },
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )

    def _lines(self, text: str) -> list[str]:
        lines = text.replace(str(self._folder), HOME).split("\n")
        while lines and not lines[-1]:
            del lines[-1]
        return lines


def matches(expected: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether what was printed is what was expected, where a line ``…`` stands for any lines."""
    wanted = [_timeless(line) for line in expected]
    lines = [_timeless(line) for line in printed]
    pieces = _pieces(wanted)
    if len(pieces) == 1:
        return wanted == lines
    first, *middle, last = (piece for _, piece in pieces)
    begin, end = len(first), len(lines) - len(last)
    if begin > end or lines[:begin] != first or lines[end:] != last:
        return False
    for piece in middle:
        places = range(begin, end - len(piece) + 1)
        found = next((at for at in places if lines[at : at + len(piece)] == piece), None)
        if found is None:
            return False
        begin = found + len(piece)
    return True


def renew(expected: Sequence[str], printed: Sequence[str]) -> list[str]:
    """Return what should be expected of a command that printed this, with the elisions kept.

    The lines before the first elision and those behind the last one keep their
    number. Between two, what is left of the old lines says where they are; an
    elision that has lost its place is left out.
    """
    if matches(expected, printed):
        return list(expected)
    pieces = _pieces(expected)
    if len(pieces) == 1:
        return list(printed)
    matcher = difflib.SequenceMatcher(None, expected, printed, autojunk=False)
    kept = {
        block.a + offset: block.b + offset
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    }
    result: list[str] = []
    end = 0
    for number, (start, piece) in enumerate(pieces):
        if number == 0:
            begin = 0
        elif number == len(pieces) - 1:
            begin = len(printed) - len(piece)
        else:
            known = [at for at in range(start, start + len(piece)) if at in kept]
            if not known:
                continue
            begin = kept[known[0]] - (known[0] - start)
        if number and begin > end:
            result.append(ELISION)
        begin = max(begin, end)
        end = max(begin, min(begin + len(piece), len(printed)))
        result += printed[begin:end]
    return result


def _pieces(lines: Sequence[str]) -> list[tuple[int, list[str]]]:
    """What stands between elisions, each with the number of its first line."""
    pieces: list[tuple[int, list[str]]] = [(0, [])]
    for number, line in enumerate(lines):
        if line == ELISION:
            pieces.append((number + 1, []))
        else:
            pieces[-1][1].append(line)
    return pieces


def _timeless(line: str) -> str:
    return _SPEED.sub("in … s", line)


def update(document: pathlib.Path, shell: Shell) -> bool:
    """Write what the commands of a document print now into it; return whether that is new."""
    lines = document.read_text("utf-8").split("\n")
    old = list(lines)
    for block in reversed(blocks_of(document)):
        printed = shell.run(block)
        for example, output in zip(reversed(block.examples), reversed(printed), strict=True):
            lines[example.output : example.end] = renew(example.expected, output)
    if lines == old:
        return False
    document.write_text("\n".join(lines), "utf-8")
    return True


def main(names: Iterable[str]) -> None:
    """Update the documents with these names, or all; tell which ones changed."""
    documents = [pathlib.Path(name).resolve() for name in names] or list(DOCUMENTS)
    with tempfile.TemporaryDirectory(prefix="patchlore-docs.") as folder:
        shell = Shell(pathlib.Path(folder))
        for document in documents:
            if update(document, shell):
                print(f"{document.relative_to(ROOT)} is changed: read the difference.")


if __name__ == "__main__":
    main(sys.argv[1:])
