"""Compilers that mails name, measurements by compiler, and workarounds for old compilers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from patchlore.ingest.message import KIND_ADDED, Message, Table
from patchlore.kb.errors import DossierError
from patchlore.kb.reading import Brief, Bug, briefs
from patchlore.kb.store import Archive

Version = tuple[int, ...]

_ASKED = re.compile(r"(?:(gcc|clang|llvm)[ -]?)?v?(\d{1,3}(?:\.\d{1,3}){0,2})", re.IGNORECASE)

# How code asks for the version of its compiler.  Numbers like 80100 are 8.1.0.
_CONDITIONS = (
    re.compile(r"\b(?:CONFIG_)?(?P<name>GCC|CLANG)_VERSION\s{0,4}(?P<sign>[<>=!]=?)"
               r"\s{0,4}(?P<number>\d{5,6})\b"),
    re.compile(r"\b(?P<name>gcc|clang)-min-version\b[ ,(]{1,4}(?P<number>\d{5,6})\b"),
    re.compile(r"\b__(?P<name>GNUC)__\s{0,4}(?P<sign>[<>=!]=?)\s{0,4}(?P<version>\d{1,2})\b"),
    re.compile(r"\b__(?P<name>clang)_major__\s{0,4}(?P<sign>[<>=!]=?)\s{0,4}(?P<version>\d{1,2})\b"),
    re.compile(r"\b__(?P<name>GNUC)_PREREQ\s{0,2}\(\s{0,2}(?P<version>\d{1,2}\s{0,2},\s{0,2}\d{1,2})\)"),
    re.compile(r"\btest-(?P<sign>lt|le|gt|ge)[ ,(]{1,4}\$[({](?:CONFIG_)?(?P<name>GCC|CLANG)"
               r"_VERSION[)}][ ,]{1,4}(?P<number>\d{5,6})\b"),
    re.compile(r"\bcc-ifversion,?\s{0,4}(?P<sign>-lt|-le|-ge|-gt),?\s{0,4}(?P<four>\d{4})\b"),
)  # fmt: skip
#: Signs of conditions on old compilers.
_OLD = ("<", "<=", "==")
_SIGNS = {
    dash + word: sign
    for word, sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="))
    for dash in ("-", "")
}

#: Characters of a line that are looked at.
_WIDTH = 500


class CompilerNamed(Struct, kw_only=True):
    """A compiler that mails name, how many do, and where it stands in them."""

    name: str
    version: str | None
    messages: int
    where: list[str]
    #: Of the first mail, where it stands in it.
    key: str
    line: int | None = None
    text: str | None = None


class MeasuredTable(Struct, kw_only=True):
    """Measurements by compiler, and the mail that has them."""

    key: str
    timestamp: int | None
    line: int | None
    table: Table


class OldCompiler(Struct, kw_only=True):
    """A compiler older than what is asked for, as a patch names it.

    ``sign`` is that of a condition in code (``<`` of ``GCC_VERSION < 70100``).
    """

    name: str
    version: str
    where: str
    sign: str | None
    line: int | None
    text: str | None


class Workaround(Struct, kw_only=True):
    """A patch about a bug of a compiler that names a compiler older than a minimum."""

    bugs: list[Bug]
    message: Brief
    compilers: list[OldCompiler]


class Minimum(Struct, frozen=True):
    """The oldest compiler that is still to be supported."""

    name: str
    version: Version

    def is_above(self, version: Version, sign: str | None = None) -> bool:
        """Whether a compiler is older; "< 8" means older ones even where 8 is the minimum.

        "gcc 8" is any 8.x: it is not older than 8.3.
        """
        size = min(len(version), len(self.version))
        mine, theirs = self.version[:size], version[:size]
        return theirs < mine or (sign == "<" and theirs == mine and not any(version[size:]))


def parse_minimum(text: str) -> Minimum:
    """Return the compiler that ``gcc-8``, ``clang 13.0.1`` or ``5.1`` (of GCC) names.

    Raises DossierError.
    """
    match = _ASKED.fullmatch(text.strip())
    if match is None:
        raise DossierError(f"{text} is no compiler: write gcc-8, gcc-5.1 or clang-13.")
    name = (match[1] or "gcc").lower().replace("llvm", "clang")
    return Minimum(name, _version(match[2]))


def compilers_of(
    shown: Iterable[tuple[Brief, Message]],
) -> tuple[list[CompilerNamed], list[MeasuredTable]]:
    """Return the compilers that messages name, the oldest first, and the tables in them."""
    named: dict[tuple[str, str | None], CompilerNamed] = {}
    tables: list[MeasuredTable] = []
    for brief, message in shown:
        proofs = [proof for proof in message.evidence if proof.fact == "compilers"]
        for compiler in message.compilers:
            key = (compiler.name, compiler.version)
            if key not in named:
                spelled = " ".join(filter(None, key))
                proof = next((one for one in proofs if one.value == spelled), None)
                named[key] = CompilerNamed(
                    name=compiler.name,
                    version=compiler.version,
                    messages=0,
                    where=[],
                    key=brief.key,
                    line=proof.line if proof else None,
                    text=proof.text if proof else None,
                )
            found = named[key]
            found.messages += 1
            if compiler.where not in found.where:
                found.where.append(compiler.where)
        lines = [proof.line for proof in message.evidence if proof.fact == "tables"]
        for index, table in enumerate(message.tables):
            if all(table != known.table for known in tables):
                tables.append(
                    MeasuredTable(
                        key=brief.key,
                        timestamp=brief.timestamp,
                        line=lines[index] if index < len(lines) else None,
                        table=table,
                    )
                )
    ordered = sorted(named.values(), key=lambda item: (item.name, _version(item.version or "")))
    return ordered, tables


def workarounds(
    archive: Archive, minimum: Minimum, *, tracker: str = "gcc", since: int | None = None
) -> Iterator[Workaround]:
    """Yield the patches about bugs that name a compiler older than MINIMUM, the newest first.

    Of the revisions of a patch only the newest; patches that name the bug in a
    context line or a quotation only don't count.
    """
    rows = archive.execute(
        "SELECT message.id, message.title_hash FROM message WHERE is_patch AND id IN"
        " (SELECT message FROM bug_ref WHERE tracker = ?1 AND strength <= 2)"
        " AND (?2 IS NULL OR timestamp >= ?2) ORDER BY timestamp DESC, id DESC",
        (tracker, since),
    ).fetchall()
    seen: set[int] = set()
    for id_, title in rows:
        if title in seen:
            continue
        found = list(_old_compilers(archive.message(id_), minimum))
        if found:
            if title is not None:
                seen.add(title)
            yield Workaround(
                bugs=[
                    Bug(tracker=tracker, number=number, name=name, component=component)
                    for number, name, component in archive.execute(
                        "SELECT number, name, max(component) FROM bug_ref WHERE message = ?"
                        " AND tracker = ? AND strength <= 2 GROUP BY number, name ORDER BY number",
                        (id_, tracker),
                    )
                ],
                message=briefs(archive, (id_,))[id_],
                compilers=found,
            )


def _old_compilers(message: Message, minimum: Minimum) -> Iterator[OldCompiler]:
    proofs = {
        proof.value: proof for proof in reversed(message.evidence) if proof.fact == "compilers"
    }
    for compiler in message.compilers:
        if compiler.where in ("quoted", "diff-context", "diff-removed") or compiler.version is None:
            continue
        name = compiler.name.replace("llvm", "clang")
        if name == minimum.name and minimum.is_above(_version(compiler.version)):
            proof = proofs.get(f"{compiler.name} {compiler.version}")
            yield OldCompiler(
                name=name,
                version=compiler.version,
                where=compiler.where,
                sign=None,
                line=proof.line if proof else None,
                text=proof.text if proof else None,
            )
    for number, line in added_lines(message):
        for name, version, sign in conditions(line):
            # ">= 7" is about newer ones too.
            if sign in _OLD and name == minimum.name and minimum.is_above(version, sign):
                yield OldCompiler(
                    name=name,
                    version=".".join(map(str, version)),
                    where="diff-added",
                    sign=sign,
                    line=number,
                    text=line.strip(),
                )


def added_lines(message: Message) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that a message's diff adds."""
    if KIND_ADDED in message.line_kinds:
        lines = zip(message.body.split("\n"), message.line_kinds, strict=False)
        for number, (line, kind) in enumerate(lines, 1):
            if kind == KIND_ADDED:
                yield number, line[1:]


def conditions(line: str) -> Iterator[tuple[str, Version, str | None]]:
    """Yield compiler, version and sign of each condition on the compiler in a LINE of code.

    >>> list(conditions("#if GCC_VERSION < 70100 || __GNUC__ >= 9"))
    [('gcc', (7, 1), '<'), ('gcc', (9,), '>=')]
    """
    line = line[:_WIDTH]
    for pattern in _CONDITIONS:
        for match in pattern.finditer(line):
            groups = match.groupdict()
            name = (groups.get("name") or "gcc").lower().replace("gnuc", "gcc")
            sign = groups.get("sign")
            if groups.get("number"):
                number = int(groups["number"])
                version: Version = (number // 10000, number // 100 % 100, number % 100)
            elif groups.get("four"):
                version = (int(groups["four"][:2]), int(groups["four"][2:]))
            else:
                version = tuple(int(part) for part in groups["version"].split(","))
            while len(version) > 1 and version[-1] == 0:
                version = version[:-1]
            yield name, version, _SIGNS.get(sign or "", sign)


def _version(text: str) -> Version:
    return tuple(int(part) for part in text.split(".") if part.isdigit())
