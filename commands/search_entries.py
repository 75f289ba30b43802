"""What ``patchlore search`` prints for reading: a series is one entry, revisions are folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from patchlore.commands.common import Style

if TYPE_CHECKING:
    from patchlore.index.hits import Hit
    from patchlore.index.snippets import Snippet

#: So many other patches of a series, and other revisions of a patch, are named.
_MOST_MEMBERS = 10
_MOST_REVISIONS = 6


class Entry(Struct, kw_only=True):
    """A hit, the other revisions of the same patch, and other patches of its series (entries)."""

    hit: Hit
    revisions: list[Hit] = field(default_factory=list)
    members: list[Entry] = field(default_factory=list)

    @property
    def hits(self) -> int:
        """How many hits it stands for."""
        return 1 + len(self.revisions) + sum(member.hits for member in self.members)


def entries_of(hits: Sequence[Hit]) -> list[Entry]:
    """Return the entries of HITS, each where its first hit stands.

    Revisions have one author, title and tree, and differ in their version.  A series is what was
    sent together, whatever the revision: a patch that v4 lacks stands by the others of v3.
    """
    entries: dict[int, Entry] = {}
    homes: dict[object, int] = {}
    moved: dict[int, int] = {}

    def home_of(key: object) -> int | None:
        place = homes.get(key)
        while place in moved:
            place = moved[place]
        return place

    for number, entry in enumerate(_fold(hits)):
        sent = [hit.sending for hit in (entry.hit, *entry.revisions) if hit.sending is not None]
        known = sorted({place for key in sent if (place := home_of(key)) is not None})
        home = known[0] if known else number
        for other in known[1:]:  # only this patch shows that both are one series
            moved[other] = home
            joined = entries.pop(other)
            entries[home].members += [joined, *joined.members]
            joined.members = []
        if known:
            entries[home].members.append(entry)
        else:
            entries[number] = entry
        homes.update(dict.fromkeys(sent, home))
    return list(entries.values())


def _fold(hits: Sequence[Hit]) -> list[Entry]:
    """Return each hit with the other revisions of the same patch; a resend stands by itself."""
    entries: list[Entry] = []
    groups: dict[object, list[Entry]] = {}
    for hit in hits:
        known = groups.setdefault(hit.patch, []) if hit.patch is not None else []
        for entry in known:
            if hit.version not in {entry.hit.version, *(one.version for one in entry.revisions)}:
                entry.revisions.append(hit)
                break
        else:
            entry = Entry(hit=hit)
            entries.append(entry)
            known.append(entry)
    return entries


def entry_lines(entry: Entry, style: Style) -> list[str]:
    """Return an entry as text: who, when and what, its id, what it stands for, the best line."""
    from patchlore.kb.text import count, day, printable

    hit = entry.hit
    who = printable(hit.name or hit.email or "?")
    lines = [
        f"{style.name(day(hit.timestamp))}  {who[:24]:24}"
        f"  {style.head(printable(hit.subject or '(no subject)'))}",
        f"            {style.proof(printable(hit.key))}",
    ]
    if entry.revisions:
        told = f"other revisions: {_revisions(entry.revisions, dates=True)}"
        lines.append(f"            {style.proof(told)}")
    if hit.snippet is not None:
        lines.append(f"            {_marked(hit.snippet, style, printable)}")
    if entry.members:
        more = count(len(entry.members), "other", "others")
        lines.append(f"            {style.proof(f'{more} of the series:')}")
    for member in entry.members[:_MOST_MEMBERS]:
        also = f" (also {_revisions(member.revisions)})" if member.revisions else ""
        lines.append(f"              {printable(member.hit.subject or '(no subject)')}")
        lines.append(f"                {style.proof(printable(member.hit.key) + also)}")
    if len(entry.members) > _MOST_MEMBERS:
        rest = len(entry.members) - _MOST_MEMBERS
        lines.append(f"              {style.proof(f'and {rest} more (--flat shows all)')}")
    return lines


def _revisions(hits: Sequence[Hit], *, dates: bool = False) -> str:
    from patchlore.kb.text import day

    shown = hits[:_MOST_REVISIONS]
    told = ", ".join(
        f"v{hit.version}" + (f" {day(hit.timestamp)}" if dates else "") for hit in shown
    )
    return told + (f" and {len(hits) - len(shown)} more" if len(hits) > len(shown) else "")


def _marked(snippet: Snippet, style: Style, printable: Callable[[str], str]) -> str:
    """The line of a snippet with what was asked for standing out."""
    pieces, end = [], 0
    for start, stop in snippet.marks:
        pieces.append(printable(snippet.text[end:start]))
        pieces.append(style.head(printable(snippet.text[start:stop])))
        end = stop
    pieces.append(printable(snippet.text[end:]))
    return "".join(pieces).strip()
