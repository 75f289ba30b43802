"""Text of an HTML body, for mails that have no other: never searched for diffs by tags."""

from __future__ import annotations

_HIDDEN = frozenset(["script", "style", "head", "title"])
#: Tags after whose content a new line begins.
_BLOCKS = frozenset(["p", "div", "tr", "li", "pre", "h1", "h2", "h3", "blockquote"])
#: The parser below gets the text in pieces, so that its memory does not hold it twice.
_PIECE = 1 << 16


class _Shown:
    """A target of lxml's parser: told of tags and text one by one, no tree is built.

    A tree of the 120,000 tags that a mail of 1 MiB can hold takes seconds.
    """

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.hidden = 0

    def start(self, tag: str, attributes: object) -> None:
        """A tag begins."""
        if tag in _HIDDEN:
            self.hidden += 1
        elif tag == "br" and not self.hidden:
            self.pieces.append("\n")

    def end(self, tag: str) -> None:
        """A tag ends; the parser closes all, whatever the page forgot."""
        if tag in _HIDDEN:
            self.hidden -= 1
        elif tag in _BLOCKS and not self.hidden:
            self.pieces.append("\n")

    def data(self, text: str) -> None:
        """Text between tags."""
        if not self.hidden:
            self.pieces.append(text)

    def close(self) -> str:
        """All that is shown."""
        return "".join(self.pieces)


def html_to_text(html: str) -> str:
    """The text that HTML shows, line by line; scripts and styles left out. Never raises."""
    from lxml import etree  # slow to import, and few mails need it

    target = _Shown()
    parser = etree.HTMLParser(target=target, recover=True, huge_tree=True, encoding="utf-8")
    data = html.replace("\x00", "\ufffd").encode("utf-8", "replace")
    try:
        for start in range(0, len(data), _PIECE):
            parser.feed(data[start : start + _PIECE])
        parser.close()
    except etree.LxmlError:  # nothing to be read in it, or more than the parser takes
        pass
    lines = (line.rstrip() for line in target.close().replace("\xa0", " ").split("\n"))
    return "\n".join(lines).strip("\n") + "\n"
