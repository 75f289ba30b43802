"""Titles of reverts and of reverts of reverts: what they are about, and whether it is undone."""

from __future__ import annotations

#: How git writes such titles (git revert; since 2.43 a revert of a revert is "Reapply").
_REVERT, _REAPPLY = 'revert "', 'reapply "'

#: Nobody goes back and forth more often; a longer chain is no title.
_MOST = 20


def undoing(title: str | None) -> tuple[str, bool] | None:
    """Return the innermost title and whether it is undone, None for a title that does neither.

    ``Revert "x"`` undoes x; ``Reapply "x"`` and ``Revert "Revert "x""`` don't.
    """
    inner = (title or "").strip()
    reverts: list[bool] = []
    while len(reverts) < _MOST:
        head = inner[:9].casefold()
        if not inner.endswith('"'):
            break
        if head.startswith(_REVERT) and len(inner) > len(_REVERT):
            inner = inner[len(_REVERT) : -1]
            reverts.append(True)
        elif head.startswith(_REAPPLY) and len(inner) > len(_REAPPLY):
            inner = inner[len(_REAPPLY) : -1]
            reverts.append(False)
        else:
            break
    if not reverts:
        return None
    undone = False
    for is_revert in reversed(reverts):
        undone = not undone if is_revert else False
    return inner, undone


def takes_back(title: str | None) -> str | None:
    """Return the title of the commit that a title of such a form takes back itself.

    ``Revert "x"`` takes back x, ``Reapply "x"`` the revert of x.
    """
    text = (title or "").strip()
    head = text[:9].casefold()
    if text.endswith('"') and head.startswith(_REVERT) and len(text) > len(_REVERT) + 1:
        return text[len(_REVERT) : -1]
    if text.endswith('"') and head.startswith(_REAPPLY) and len(text) > len(_REAPPLY) + 1:
        return f'Revert "{text[len(_REAPPLY) : -1]}"'
    return None


def titles_about(title: str) -> list[str]:
    """Return the titles of a revert, of a revert of that, and of applying ``title`` again."""
    return [f'Revert "{title}"', f'Revert "Revert "{title}""', f'Reapply "{title}"']
