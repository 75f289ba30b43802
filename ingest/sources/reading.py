"""Reading sources: whatever a path names, as a stream of mails, marks and problems."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator

from msgspec import structs

from patchlore.ingest.detect import Format, format_named
from patchlore.ingest.raw import Place, Raw
from patchlore.ingest.sources.compression import Readable
from patchlore.ingest.sources.files import Stream, read_file, why
from patchlore.ingest.sources.items import Found, Item, Listing, Mark, MarkOf, OnListing, Problem
from patchlore.ingest.sources.maildir import is_maildir, read_maildir
from patchlore.ingest.sources.patch_folder import place_of, series_of
from patchlore.ingest.sources.paths import path_text
from patchlore.ingest.sources.public_inbox import epochs_of, is_bare_repository, read_repository

__all__ = ["Item", "Listing", "Mark", "Problem", "read_source"]

#: The database of an archive of patchlore (kb/database.py), which may lie among mails.
_ARCHIVE = "archive.sqlite"

#: How many files without mail a folder's problems name one by one.
_NAMED_FILES = 20


def _no_mark(key: str) -> str | None:
    return None


def read_source(
    path: str,
    *,
    list_name: str | None = None,
    format: str | None = None,
    mark_of: MarkOf = _no_mark,
    on_listing: OnListing | None = None,
) -> Iterator[Item]:
    """Every mail that PATH holds: a file, a folder, a repository, or ``-`` for standard input.

    LIST_NAME is noted with each mail. FORMAT (a name of detect.py's table)
    overrides what the content of files says. ``mark_of(key)`` gives the state
    that a Mark of an earlier run stored for that key; what has not changed
    since yields nothing. What can't be read is a Problem and the rest goes on.
    ON_LISTING gets what index pages of archives say of the threads.

    Raises IngestError for an unknown FORMAT, at the first step.
    """
    form = format_named(format) if format is not None else None
    if list_name is not None:
        list_name = path_text(list_name)
    reader = _Reader(
        list_name,
        form,
        lambda key: mark_of(path_text(key)),
        wants_listings=on_listing is not None,
    )
    for item in _named(reader.stream(sys.stdin.buffer, "-") if path == "-" else reader.path(path)):
        if not isinstance(item, Listing):
            yield item
        elif on_listing is not None:
            on_listing(item)


def _named(items: Iterator[Found]) -> Iterator[Found]:
    """ITEMS with names of files that are text (paths.py).

    Mails that lie in a folder which says something of them say so.
    """
    last = None
    named = ""
    place = None
    for item in items:
        if isinstance(item, Raw):
            source = item.source
            if source.path is not last:
                last, place = source.path, place_of(source.path)
                named = path_text(last)
            source.path = named
            if place is not None:
                source.place = _joined(source.place, place)
        elif isinstance(item, Problem):
            text = item.text.replace(item.path, path_text(item.path)) if item.path else item.text
            item = structs.replace(item, path=path_text(item.path), text=text)
        else:
            key = "path" if isinstance(item, Listing) else "source"
            item = structs.replace(item, **{key: path_text(getattr(item, key))})
        yield item


def _joined(listed: Place | None, place: Place) -> Place:
    """What a series says of a patch, and what the folder says."""
    if listed is None:
        return place
    return structs.replace(listed, tree=place.tree, state=place.state, release=place.release)


class _Reader:
    """One call of read_source: what the caller asked for, and the folders it has been in."""

    def __init__(
        self,
        list_name: str | None,
        form: Format | None,
        mark_of: MarkOf,
        *,
        wants_listings: bool = False,
    ) -> None:
        self.wants_listings = wants_listings
        self.list_name = list_name
        self.form = form
        self.mark_of = mark_of
        self.folders: set[tuple[int, int]] = set()
        #: Files that a series has had read; the walk does not read them again.
        self.listed: set[str] = set()

    def path(self, path: str) -> Iterator[Found]:
        """What PATH holds, as the user named it."""
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            yield Problem(path, 0, f"{path}: {why(error)}.", "unreadable")
            return
        if stat.S_ISDIR(mode):
            yield from self.named_folder(path)
        elif stat.S_ISREG(mode):
            yield from self.named_file(path)
        else:
            try:
                with open(path, "rb") as file:
                    yield from self.stream(file, path)
            except OSError as error:
                yield Problem(path, 0, f"{path}: {why(error)}.", "unreadable")

    def named_file(self, path: str) -> Iterator[Found]:
        """A file that the user named: says so when it is known to hold no mail."""
        kinds: set[type[Found]] = set()
        without_mail = 0
        for item in self.file(path):
            if isinstance(item, Problem) and item.code == "no-mail" and item.path != path:
                without_mail += 1
                item = _passed(item)
            else:
                kinds.add(type(item))
            yield item
        if without_mail and kinds <= {Mark}:
            yield Problem(path, 0, f"{path}: there is no mail in this archive.", "no-mail")
            return
        if kinds <= {Mark, Listing} and Mark in kinds and not self.wants_listings:
            text = f"{path}: it is an archive's page of links; name the pages of messages."
            yield Problem(path, 0, text, "no-mail")

    def named_folder(self, path: str) -> Iterator[Found]:
        """A folder that the user named: says so when there is no mail in it at all."""
        if _is_archive(path):
            text = f"{path} is an archive of patchlore: name it by --archive. For its mails: "
            text += f"patchlore --archive {path} export --all"
            yield Problem(path, 0, text, "no-mail")
            return
        idle: list[str] = []
        useful = False
        without_mail = 0
        for item in self.folder(path, idle):
            if isinstance(item, Problem) and item.code == "no-mail":
                if item.path == path:
                    yield item
                    return
                without_mail += 1
                if without_mail > _NAMED_FILES:
                    continue
                item = _passed(item)
            useful = useful or not isinstance(item, Problem) or item.code != "no-mail"
            yield item
        if without_mail > _NAMED_FILES:
            more = without_mail - _NAMED_FILES
            text = f"{path}: {more} more files in it hold no mail."
            yield Problem(path, 0, text, "no-mail", more)
        if not useful and not idle:
            yield Problem(
                path,
                0,
                f"{path}: there is no mail in this folder. Name a folder of mails or patches, "
                "a maildir, or a public-inbox (the folder that has git/0.git in it).",
                "no-mail",
            )

    def folder(self, path: str, idle: list[str]) -> Iterator[Found]:
        """What is in a folder, sorted; IDLE gets a name for each source that had nothing new."""
        try:
            status = os.stat(path)
            names = sorted(os.listdir(path))
        except OSError as error:
            yield Problem(path, 0, f"{path}: {why(error)}.", "unreadable")
            return
        if (status.st_dev, status.st_ino) in self.folders:
            return  # a symbolic link back up
        if _ARCHIVE in names and _is_archive(path):
            idle.append(path)
            return
        self.folders.add((status.st_dev, status.st_ino))
        repositories = [path] if is_bare_repository(path) else epochs_of(path)
        if repositories:
            for repository in repositories:
                yield from _noting_idle(
                    read_repository(repository, list_name=self.list_name, mark_of=self.mark_of),
                    repository,
                    idle,
                )
            return
        if is_maildir(path):
            mails = read_maildir(path, list_name=self.list_name, mark_of=self.mark_of)
            yield from _noting_idle(mails, path, idle)
            names = [name for name in names if name not in ("cur", "new", "tmp")]
            # Maildir++ keeps its folders as ".Name"; other files there are the server's.
            names = [name for name in names if os.path.isdir(os.path.join(path, name))]
        else:
            names = [name for name in names if not name.startswith(".")]
        series = series_of(path, names)
        if series is not None:
            yield from series.problems()
            for name, place in series.present:
                inner = os.path.join(path, name)
                for item in self.entry(inner, idle):
                    if isinstance(item, Raw):
                        item.source.place = place
                    yield item
                self.listed.add(inner)
            names = [name for name in names if name != series.name]
        for name in names:
            inner = os.path.join(path, name)
            if inner not in self.listed:
                yield from self.entry(inner, idle)

    def entry(self, path: str, idle: list[str]) -> Iterator[Found]:
        """A file or folder that stands in a folder."""
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            yield Problem(path, 0, f"{path}: {why(error)}.", "unreadable")
            return
        if stat.S_ISDIR(mode):
            if os.path.basename(path) != ".git":
                yield from self.folder(path, idle)
        elif stat.S_ISREG(mode):
            yield from _noting_idle(self.file(path), path, idle)

    def file(self, path: str) -> Iterator[Found]:
        """The mails of one file, and the mark that says how far it was read."""
        yield from read_file(path, list_name=self.list_name, form=self.form, mark_of=self.mark_of)

    def stream(self, file: Readable, path: str) -> Iterator[Found]:
        """The mails of a stream that can be read once: a pipe, standard input."""
        yield from Stream(file, path, self.list_name, self.form).run()


def _is_archive(folder: str) -> bool:
    """Whether a folder is an archive of patchlore: text from mail is in it, but no mail.

    Its mark (application_id) need not be in the file yet while it is first filled.
    """
    try:
        with open(os.path.join(folder, _ARCHIVE), "rb") as file:
            is_database = file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False
    return is_database and os.path.isfile(os.path.join(folder, "lock"))


def _passed(problem: Problem) -> Problem:
    """A problem with a file beside mails, as a note: it is not one of them."""
    return structs.replace(problem, passed_over=max(1, problem.passed_over))


def _noting_idle(items: Iterator[Found], name: str, idle: list[str]) -> Iterator[Found]:
    """ITEMS; when there are none, NAME goes to IDLE: it is known and has nothing new."""
    empty = True
    for item in items:
        empty = False
        yield item
    if empty and len(idle) < 1:
        idle.append(name)
