"""What reading a source yields besides mail: how far it got, and what it could not read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from patchlore.ingest.raw import Raw


class Mark(Struct, frozen=True):
    """Everything of ``source`` that was yielded so far is complete up to ``state``.

    ``source`` is a stable key (the kind and absolute path of a file, maildir or
    repository); ``state`` is for the reader that made it and for nobody else.
    """

    source: str
    state: str


class Problem(Struct, frozen=True):
    """A source, or a part of one, that could not be read; the rest goes on.

    ``text`` is a whole sentence for a person that names the file and says what
    to do; ``offset`` is in bytes of the file as it is on disk. ``code``: ``no-mail`` (it
    holds something else), ``empty``, ``unreadable`` (the system says no),
    ``damaged`` (a part of it is lost), ``packed`` (there may be mail in it, but in
    a form that is not read). ``passed_over`` is above 0 for files that
    are plainly no mail and no patch, met in a folder or an archive beside those
    that are (a README): nothing is missing; it is how many.
    """

    path: str
    offset: int
    text: str
    code: str = "damaged"
    passed_over: int = 0


class Listed(Struct, frozen=True, kw_only=True):
    """A mail that an index page names.

    ``url`` is the key of its page (links.py), equal to ``Message.page.url`` of
    the mail itself; ``message_id`` is there where the page has ids (pipermail,
    public-inbox). ``depth`` is 0 for what begins a thread, ``parent`` the place
    among the page's entries of the mail that this one answers.
    """

    url: str | None = None
    message_id: str | None = None
    depth: int = 0
    parent: int | None = None
    subject: str | None = None
    sender: str | None = None


class Listing(Struct, frozen=True, kw_only=True):
    """An index page of an archive, by day, month or thread: the order and who answers whom.

    ``order`` says what the order of the entries means; only one by ``thread``
    has depths and parents.
    """

    path: str
    list: str | None = None
    order: Literal["thread", "date", "subject", "author"] = "date"
    entries: tuple[Listed, ...] = ()


Item = Raw | Mark | Problem

#: What a file gives; listings go to those only who ask for them.
Part = Raw | Problem | Listing
Found = Item | Listing

OnListing = Callable[[Listing], None]

#: Gives the state that a Mark of an earlier run stored for a source's key.
MarkOf = Callable[[str], str | None]
