"""The name of the function that a hunk header shows."""

from __future__ import annotations

import re
from functools import lru_cache

# What git puts behind the "@@" is the nearest line above that looks like the
# beginning of something (git's userdiff.c).  One is looked for after the other.
_PATTERNS = tuple(
    re.compile(pattern).search
    for pattern in (
        # Macros that make a function, and have its name in them: "SYSCALL_DEFINE3(splice_ring,".
        r"^[A-Z0-9_]{0,60}(?:DEFINE|ENTRY|START|TEST)[A-Z0-9_]{0,60}\( ?([A-Za-z_]\w{0,200})",
        # Python, Rust, Go, shell, Makefile's define
        r"^\s{0,40}(?:async |pub |export |unsafe ){0,3}(?:def|class|fn|func|function|define|sub)"
        r" {1,4}(?:\([^()]{0,200}\) )?([A-Za-z_]\w{0,200})",
        # C and its kin: the word before the first bracket that is no attribute.
        r"([A-Za-z_~]\w{0,200}) ?\((?!\()",
        r"\b(?:struct|union|enum|class|interface|trait|impl|namespace|module|package)"
        r" {1,4}([A-Za-z_]\w{0,200})",
        # A variable's initial value, a label
        r"([A-Za-z_]\w{0,200})(?:\[[^\]]{0,80}\])? ?[=:]",
    )
)

# Before a bracket these are no functions.
_NO_NAMES = frozenset(
    "if while for switch return sizeof typeof defined do else case"
    " __attribute__ __printf __acquires __releases __must_hold __section __aligned".split()
)

#: Characters of a header that are looked at.
MAX_HEADING = 300


@lru_cache(maxsize=4096)
def function_name(header: str) -> str | None:
    """Return the name in HEADER, the text behind the second ``@@``; None where there is none.

    The revisions of a series have the same headers again and again.

    >>> function_name(" static int ring_poll(struct ring *ring)")
    'ring_poll'
    >>> function_name(" struct ring {")
    'ring'
    """
    text = header[:MAX_HEADING].strip()
    for search in _PATTERNS:
        match = search(text)
        while match is not None and match[1] in _NO_NAMES:
            text = text[match.end() :]
            match = search(text)
        if match is not None:
            return match[1]
        text = header[:MAX_HEADING].strip()
    return None
