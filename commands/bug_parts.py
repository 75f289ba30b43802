"""Parts of the dossier of a bug as text: its tracker's record, measurements, old workarounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from patchlore.commands.common import Style
from patchlore.commands.lines import brief_lines, proof_line
from patchlore.kb.text import count, printable
from patchlore.kb.versions import short_name

#: How a mail has to do with a patch.
_HOW = {"carries": "carries ", "title": "has the title of ", "answers": "answers "}

if TYPE_CHECKING:
    from patchlore.kb.dossiers.bugs import BugDossier
    from patchlore.kb.dossiers.compilers import MeasuredTable, Workaround
    from patchlore.kb.dossiers.related import Related


def record_lines(dossier: BugDossier, style: Style) -> Iterator[str]:
    """Yield the bug as its tracker has it, and the message that has the record."""
    record, key = dossier.record, dossier.record_key
    if record is None:
        return
    if record.title:
        yield f"  {printable(record.title)}"
    state = " ".join(filter(None, (record.status, record.resolution, record.severity)))
    if state:
        yield f"  {printable(state)}"
    for name, value in (
        ("works with", ", ".join(record.known_to_work)),
        ("fails with", ", ".join(record.known_to_fail)),
        ("to be fixed in", record.target_milestone or ""),
    ):
        if value:
            yield f"  {name}: {printable(value)}"
    for name, numbers in (
        ("duplicate of", [record.duplicate_of] if record.duplicate_of is not None else []),
        ("depends on", record.depends),
        ("blocks", record.blocks),
    ):
        if numbers:
            yield f"  {name}: {', '.join(map(str, numbers))}"
    if key is not None:
        yield style.proof(f"    <{printable(key)}>")


def tree_lines(dossier: BugDossier, style: Style) -> Iterator[str]:
    """Yield what became of each commit about the bug in the stable trees."""
    for commit in dossier.commits:
        for tree in commit.trees:
            state = f"{tree.state} ({printable(tree.reason)})"
            yield f"  {style.name(commit.sha[:12])} in {short_name(tree.tree)}: {state}"
            yield proof_line(style, tree.key, tree.line, tree.text, tree.confidence)


def compiler_lines(dossier: BugDossier, style: Style) -> Iterator[str]:
    """Yield the compilers that mails about the bug name, and the measurements in them."""
    if dossier.compilers:
        yield ""
        yield style.head("compilers named")
    for compiler in dossier.compilers:
        where = f"{count(compiler.messages, 'mail')}, {', '.join(compiler.where)}"
        yield "  " + " ".join(filter(None, (compiler.name, compiler.version, f"({where})")))
        yield proof_line(style, compiler.key, compiler.line, compiler.text, "certain")
    for measured in dossier.tables:
        yield ""
        yield from _table_lines(measured, style)


def related_lines(found: Sequence[Related], style: Style) -> Iterator[str]:
    """Yield the mails that don't name the bug but have to do with the patches that do."""
    if not found:
        return
    yield ""
    yield style.head("not named, but about the same patches")
    for one in found:
        yield from brief_lines(one.message, style)
        sha = f"upstream {style.name(one.sha)}, as " if one.sha else ""
        yield f"  {_HOW[one.how]}{sha}<{printable(one.to)}>"
        if one.sha:
            yield proof_line(style, one.message.key, one.line, one.text, "certain")


def _table_lines(measured: MeasuredTable, style: Style) -> Iterator[str]:
    """A table of measurements, its columns in line."""
    table = measured.table
    unit = f" in {printable(table.unit)}" if table.unit else ""
    line = f" line {measured.line}" if measured.line else ""
    yield style.head(f"measured{unit}") + style.proof(f"  <{printable(measured.key)}>{line}")
    rows = [["", *map(printable, table.columns)]]
    rows += [[printable(row.compiler), *map(_cell, row.values)] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=False)]
    for first, *cells in rows:
        shown = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=False))
        yield f"  {first:{widths[0]}}  {'  '.join(shown)}".rstrip()


def _cell(value: float | str | None) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else printable(str(value))


def workaround_lines(workaround: Workaround, style: Style) -> Iterator[str]:
    """Yield a patch that names an old compiler, and the lines in which it does."""
    yield from brief_lines(workaround.message, style)
    yield f"  about {', '.join(str(bug) for bug in workaround.bugs)}"
    for old in workaround.compilers:
        sign = f"{old.sign} " if old.sign else ""
        yield f"  {old.name} {sign}{old.version} ({old.where})"
        yield proof_line(style, workaround.message.key, old.line, old.text, "certain")
