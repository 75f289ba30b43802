"""Folders of an export: written beside their place, there whole or not at all; ours are known."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterable

from patchlore.kb.errors import UsageError

#: In each folder that was written, so that a later run may replace it.
MARK = ".patchlore-list"
_TEXT = "Written by patchlore backports, which replaces this folder when it is run again.\n"


def write_folder(path: pathlib.Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write files (name relative to the folder, content) as the folder ``path``.

    An existing folder is replaced when it is empty or was written so; any other is
    refused (UsageError), as is a name that leads out of the folder (ValueError).
    Raises OSError.
    """
    _check(path)
    path = pathlib.Path(os.path.abspath(path))
    part = pathlib.Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    try:
        part.chmod(0o777 & ~_umask())
        for name, data in [*files, (MARK, _TEXT.encode("ascii"))]:
            target = part / name
            if pathlib.PurePosixPath(name).is_absolute() or ".." in target.parts:
                raise ValueError(f"{name} leads out of the folder")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        _put(part, path)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _check(path: pathlib.Path) -> None:
    if not path.exists() and not path.is_symlink():
        return
    if path.is_symlink() or not path.is_dir():
        raise UsageError(f"{path} is there and is no folder: name another with --output.")
    if any(path.iterdir()) and not (path / MARK).is_file():
        raise UsageError(
            f"{path} is a folder that patchlore did not write: name another with --output."
        )


def _put(part: pathlib.Path, path: pathlib.Path) -> None:
    """Put a folder that is complete in its place, and what stood there away."""
    if not path.exists():
        part.rename(path)
        return
    old = pathlib.Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".old", dir=path.parent))
    try:
        path.rename(old / "old")
        try:
            part.rename(path)
        except OSError:
            (old / "old").rename(path)
            raise
    finally:
        if not (old / "old").exists() or path.exists():
            with contextlib.suppress(OSError):
                shutil.rmtree(old)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
