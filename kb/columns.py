"""Values of columns as Python has them, and lists of values as one parameter."""

from __future__ import annotations

import json
from collections.abc import Iterable


def text_or_none(value: object) -> str | None:
    """Return a text of a row; None for NULL and for the empty text that stands for "not given"."""
    return None if value is None or value == "" else str(value)


def number_or_none(value: object) -> int | None:
    """Return a number of a row, None for NULL; raises ValueError for what is no number."""
    return None if value is None else int(str(value))


def json_list(values: Iterable[object]) -> str:
    """Return values for json_each: one parameter for a list of any length."""
    return json.dumps(list(values))
