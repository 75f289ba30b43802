"""No regular expression of the project needs what some Pythons compile wrongly."""

from __future__ import annotations

import io
import pathlib
import re
import tokenize

_ROOT = pathlib.Path(__file__).parent.parent
_FLOORS = ("ingest", "kb", "index", "serve", "commands")


def _patterns() -> list[tuple[str, str]]:
    """Place and text of each raw string, its character classes left out."""
    found = []
    for floor in _FLOORS:
        for path in sorted((_ROOT / floor).rglob("*.py")):
            for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
                quote = re.match(r"[a-zA-Z]{1,2}(?=[\"'])", token.string)
                if token.type != tokenize.STRING or not quote or "r" not in quote[0].lower():
                    continue
                text = re.sub(r"\\.", "e", token.string)
                text = re.sub(r"\{[a-zA-Z]\w*\}", "c", text)  # what an f-string puts in
                text = re.sub(r"\[\^?\]?[^\]]*\]", "c", text)
                found.append((f"{path.relative_to(_ROOT)}:{token.start[0]}", text))
    return found


def test_no_pattern_is_possessive_or_atomic() -> None:
    """Python 3.11.0 to 3.11.2 compile nested possessive quantifiers to something else."""
    patterns = _patterns()
    assert len(patterns) > 100
    unsafe = [place for place, text in patterns if re.search(r"[+*?}]\+|\(\?>", text)]
    assert unsafe == []
