"""Which page is which: keys of an archive's pages, from where they were saved and their links."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

#: Formats of which a file is one page with one mail: where it was saved names it.
PAGE_FORMATS = frozenset(
    ["openwall-html", "mhonarc-html", "pipermail-html", "marc-html", "lkml-html"]
)

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}:")
_SUFFIX = re.compile(r"\.html?\Z", re.I)
#: A link of a page is not longer.
_LIMIT = 2000


def page_key(path: str) -> str:
    """The key of the page that was saved at PATH (or is at that URL).

    ``lists/lamp/2023/06/08/7/index.html``, ``lists/lamp/2023/06/08/7.html`` and
    ``lists/lamp/2023/06/08/7`` are one page: wget makes the first two of the third.
    """
    head, _, name = path.rpartition("/")
    is_folder = head and name.lower() in ("index.html", "index.htm")
    path = head if is_folder else _SUFFIX.sub("", path)
    return path.rstrip("/") or path


def link_key(path: str, href: str) -> str | None:
    """The key of the page that HREF leads to from the page saved at PATH; None for no page.

    A link to another site stays a URL, and one from a site's root (``/lists/…``)
    stays as it is, since nobody knows where the root was saved.
    """
    href = href.strip()[:_LIMIT].split("#", 1)[0]
    if not href:
        return None
    if _SCHEME.match(href) is not None:
        return page_key(href) if href.lower().startswith(("http:", "https:")) else None
    if href.startswith("/"):
        return page_key(href)
    # Relative links count from the page's URL, in which index.html is no folder of its own.
    base = posixpath.dirname(page_key(path))
    return page_key(posixpath.normpath(posixpath.join(base, unquote(href.split("?", 1)[0]))))


def listed_key(path: str, href: str) -> str | None:
    """As ``link_key``, for a link of an index page, whose URL ends in a slash when it is a folder.

    A day's page ``2023/06/08/`` saved as ``2023/06/08/index.html`` links its
    first mail as ``1``; a month's ``2023-June/thread.html`` as ``000466.html``.
    """
    if _SCHEME.match(href.strip()) is not None or href.strip().startswith("/"):
        return link_key(path, href)
    folder = posixpath.dirname(path) if _SUFFIX.search(path) is not None else path
    return link_key(posixpath.join(folder, "page.html"), href)
