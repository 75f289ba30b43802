"""Writing what a bench measured into its section of a document, others left alone."""

from __future__ import annotations

import pathlib


def write_section(path: pathlib.Path, name: str, text: str) -> None:
    """Replace what stands in a document between the markers of a section, or append one.

    The markers are comments, ``<!-- name: begin -->`` and ``<!-- name: end -->``.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    document = path.read_text("utf-8") if path.exists() else ""
    made = f"{begin}\n\n{text.strip()}\n\n{end}"
    head, found, rest = document.partition(begin)
    if found:
        _, _, tail = rest.partition(end)
        document = head + made + tail
    else:
        document = f"{document.rstrip()}\n\n{made}\n".lstrip("\n")
    path.write_text(document, "utf-8")
