"""``Mail``: headers, text parts and attachments, decoded; what every reader makes of a ``Raw``.

A mail as sent is read by mime.py, an archive's page by its module in
sources/. What follows (layout, diffs, facts) sees only this form.
"""

from __future__ import annotations

from msgspec import Struct

from patchlore.ingest.errors import Defect
from patchlore.ingest.message import Attachment, Patchwork
from patchlore.ingest.raw import Raw


class TextPart(Struct, kw_only=True, gc=False):
    """A part that is shown as text; ``text`` has LF line ends.

    ``data`` are the bytes that ``text`` was decoded from by ``charset``
    (transfer encoding undone), for patch ids; empty where a page had none.
    """

    text: str
    data: bytes = b""
    charset: str = "utf-8"
    content_type: str = "text/plain"
    filename: str | None = None
    is_attachment: bool = False


class Mail(Struct, kw_only=True, gc=False):
    """A mail in decoded form.

    ``headers`` keeps names as written and values unfolded and decoded, in
    order. ``flat``: the line structure of the text is lost. ``hints`` are
    facts that only the container knows: ``patchwork_id``, ``list``, ``url``,
    ``thread-prev`` and ``thread-next`` (links as the page has them).
    """

    headers: list[tuple[str, str]] = []
    parts: list[TextPart] = []
    attachments: list[Attachment] = []
    nested: list[Raw] = []
    defects: list[Defect] = []
    flat: bool = False
    format_flowed: bool = False
    hints: dict[str, str] = {}
    patchwork: Patchwork | None = None

    def by_name(self) -> dict[str, list[str]]:
        """All values of each header, in order, by its name in lower case."""
        named: dict[str, list[str]] = {}
        for key, value in self.headers:
            named.setdefault(key.lower(), []).append(value)
        return named

    def get(self, name: str) -> str | None:
        """The first value of the header NAME (any case), or None."""
        wanted, length = name.lower(), len(name)
        for key, value in self.headers:
            if len(key) == length and key.lower() == wanted:
                return value
        return None

    def get_all(self, name: str) -> list[str]:
        """All values of the header NAME (any case), in order."""
        wanted = name.lower()
        return [value for key, value in self.headers if key.lower() == wanted]
