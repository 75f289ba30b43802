"""A file of an export: written without a name, in its place when it is complete."""

from __future__ import annotations

import contextlib
import os
import pathlib
import secrets
import shutil
from collections.abc import Iterator
from typing import BinaryIO


@contextlib.contextmanager
def whole_file(path: pathlib.Path) -> Iterator[BinaryIO]:
    """Yield where to write what becomes the file ``path`` when the context is left without error.

    A file that is there keeps its content till then, and its permissions.  What is
    written gets a name when it is complete, where the system has files without one: a
    run that is killed leaves nothing.  Raises OSError.
    """
    # Nobody can guess it: in a folder of all, a link might wait there.
    part = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.part")
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        number = _without_name(path.parent)
        is_named = number is None
        if number is None:
            number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(number, "wb") as out:
            yield out
            out.flush()
            if not is_named:
                # (With a folder Python follows the link in /proc to the file itself.)
                os.link(_name_of(number), part.name, dst_dir_fd=folder, follow_symlinks=True)
        if path.exists():
            shutil.copymode(path, part)
        part.replace(path)
    finally:
        os.close(folder)
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _without_name(folder: pathlib.Path) -> int | None:
    """Open a file of a folder that has no name; None where there are none or /proc is missing."""
    try:
        number = os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666)
    except (OSError, AttributeError):
        return None
    if os.path.exists(_name_of(number)):
        return number
    os.close(number)
    return None


def _name_of(number: int) -> str:
    return f"/proc/self/fd/{number}"
