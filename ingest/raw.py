"""``Raw``: one mail's bytes and where they came from; what every source yields."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Fidelity = Literal["exact", "rewritten", "masked", "flattened"]

#: From the best copy of a message to the worst: whose facts count (kb/merge.py).
FIDELITIES: tuple[Fidelity, ...] = ("exact", "rewritten", "masked", "flattened")


class Place(Struct, kw_only=True, gc=False):
    """What the folder that a patch lies in says of it (sources/patch_folder.py).

    ``tree`` (``6.6.y``), ``state`` (``queued``, ``released``) and ``release``
    (``6.6.9``) by stable-queue's layout; ``tree``, ``state`` (``posted``) and
    ``cve`` where fixes are kept by vulnerability and tree; ``order`` from 1,
    ``strip`` (``patch -pN``) and ``guards`` by the series that lists it.
    """

    tree: str | None = None
    state: Literal["queued", "released", "posted"] | None = None
    release: str | None = None
    cve: str | None = None
    order: int | None = None
    strip: int | None = None
    guards: list[str] = []


class Source(Struct, kw_only=True, gc=False):
    """Where a copy of a message was found.

    ``offset`` is what finds it again in its container: the byte offset in an
    mbox or a file of several pages, 0 where the file is the mail. In a
    public-inbox repository ``blob`` is the id of the mail's blob. What is in an
    archive has a path like ``patches.tar.gz!queue-6.6/lamp.patch``.
    """

    path: str
    format: str
    offset: int = 0
    fidelity: Fidelity = "exact"
    list: str | None = None
    blob: str | None = None
    place: Place | None = None


class Raw(Struct, kw_only=True, gc=False):
    """One message as it was found: ``data`` are its bytes, container escapes undone.

    ``data`` and ``source.format`` are all that parsing needs, so an archive
    that keeps both can always be rebuilt. ``cut``: its container ended in the
    middle of it (a download that broke off), so its end may be missing.
    """

    data: bytes
    source: Source
    cut: bool = False
