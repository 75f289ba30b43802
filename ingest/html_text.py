"""Text of an HTML body, for mails that have no other: never searched for diffs by tags."""

from __future__ import annotations

_HIDDEN = frozenset(["script", "style", "head", "title"])
#: Tags after whose content a new line begins.
_BLOCKS = frozenset(["p", "div", "tr", "li", "pre", "h1", "h2", "h3", "blockquote"])


def html_to_text(html: str) -> str:
    """The text that HTML shows, line by line; scripts and styles left out.

    The tree is walked with a stack of its own: tags are nested as deep as a
    sender likes.
    """
    from bs4 import BeautifulSoup  # slow to import, and few mails need it
    from bs4.element import CData, NavigableString, Tag

    pieces: list[str] = []
    stack: list[object] = [BeautifulSoup(html, "lxml")]
    while stack:
        node = stack.pop()
        if isinstance(node, Tag):
            if node.name in _HIDDEN:
                continue
            if node.name == "br":
                pieces.append("\n")
            elif node.name in _BLOCKS:
                stack.append("\n")
            stack.extend(reversed(node.contents))
        elif type(node) in (NavigableString, CData, str):
            pieces.append(str(node))
    lines = (line.rstrip() for line in "".join(pieces).replace("\xa0", " ").split("\n"))
    return "\n".join(lines).strip("\n") + "\n"
