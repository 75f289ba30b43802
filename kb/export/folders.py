"""Folders of an export: written beside their place, there whole or not at all; ours are known."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import shutil
from collections.abc import Iterable, Iterator

from patchlore.kb.errors import UsageError

#: In each folder that was written, so that a later run may replace it.
MARK = ".patchlore-list"
_TEXT = "Written by patchlore backports, which replaces this folder when it is run again.\n"


def write_folder(path: pathlib.Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write files (name relative to the folder, content) as the folder ``path``.

    An existing folder is replaced when it is empty or was written so; any other is
    refused (UsageError), as is a name that leads out of the folder (ValueError).  A link
    is followed.  What a run that was killed has left beside it goes away.  Raises OSError.
    """
    given, path = path, pathlib.Path(os.path.realpath(path))
    with _alone(path):
        part, old = _beside(path, "part"), _beside(path, "old")
        if _is_ours(old) and not path.exists():
            old.rename(path)
        for left in (part, old):
            if left.exists():
                _check(left, left)
                shutil.rmtree(left)
        _check(path, given)
        part.mkdir()
        try:
            for name, data in [(MARK, _TEXT.encode("ascii")), *files]:
                target = part / name
                if pathlib.PurePosixPath(name).is_absolute() or ".." in target.parts:
                    raise ValueError(f"{name} leads out of the folder")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            _put(part, path, old)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _beside(path: pathlib.Path, what: str) -> pathlib.Path:
    return path.with_name(f".{path.name}.{what}")


@contextlib.contextmanager
def _alone(path: pathlib.Path) -> Iterator[None]:
    """See to it that nobody else writes a folder here meanwhile; raises UsageError."""
    number = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = f"{path.parent} is being written by another run of patchlore."
            raise UsageError(text) from None
        except OSError:
            pass  # some file systems of a network lock no folders
        yield
    finally:
        os.close(number)


def _is_ours(path: pathlib.Path) -> bool:
    """Whether a folder may be replaced: it is empty, or was written by us."""
    if not path.is_dir() or path.is_symlink():
        return False
    return (path / MARK).is_file() or not any(path.iterdir())


def _check(path: pathlib.Path, given: pathlib.Path) -> None:
    if not path.exists() and not path.is_symlink():
        return
    if path.is_symlink() or not path.is_dir():
        raise UsageError(f"{given} is there and is no folder: name another with --output.")
    if not _is_ours(path):
        raise UsageError(
            f"{given} is a folder that patchlore did not write: name another with --output."
        )


def _put(part: pathlib.Path, path: pathlib.Path, old: pathlib.Path) -> None:
    """Put a folder that is complete in its place, and what stood there away."""
    if not path.exists():
        part.rename(path)
        return
    path.rename(old)
    try:
        part.rename(path)
    except OSError:
        old.rename(path)
        raise
    shutil.rmtree(old, ignore_errors=True)
