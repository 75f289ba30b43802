"""The parts of any multipart mail, as the standard library's parser finds them."""

from __future__ import annotations

import email
import email.errors
import email.message
import email.policy
from collections.abc import Iterator
from typing import Any

from patchlore.ingest.errors import Defect
from patchlore.ingest.multipart import Leaf
from patchlore.ingest.raw import Raw, Source

#: What the standard library raises for mails that it can't write again.
_GENERATOR_ERRORS = (
    email.errors.MessageError, UnicodeError, ValueError, LookupError, TypeError, AttributeError
)  # fmt: skip


#: Characters of a field that are read for its parameters.  The library takes time with the
#: square of them: 4 s for a Content-Type of 1 MiB with a quotation that never closes.
_MOST_OF_A_FIELD = 1 << 15


class _Part(email.message.Message):
    """A part whose fields are read as far as fields go; it is written as it came."""

    def get(self, name: str, failobj: Any = None) -> Any:
        """Return the field NAME, cut off where it is absurd."""
        value = super().get(name, failobj)
        if value is failobj or len(text := str(value)) <= _MOST_OF_A_FIELD:
            return value
        return text[:_MOST_OF_A_FIELD]


def parsed_parts(data: bytes, source: Source) -> Iterator[Leaf | Raw | Defect] | Defect:
    """The parts of the mail DATA: leaves, enclosed mails (found in SOURCE), what is wrong.

    A defect alone where the library can't read the mail.
    """
    try:
        tree = email.message_from_bytes(data, _class=_Part, policy=email.policy.compat32)
    except (RecursionError, ValueError, LookupError, TypeError, AttributeError) as error:
        return Defect("mime-unreadable", text=type(error).__name__)
    return _parts_of(tree, source)


def _parts_of(tree: email.message.Message, source: Source) -> Iterator[Leaf | Raw | Defect]:
    """An explicit stack: nesting is as deep as a sender likes."""
    stack = [tree]
    while stack:
        node = stack.pop()
        payload = _content(node)
        if node.get_content_type() == "message/rfc822":
            nested = _nested(node, source)
            if nested is not None:
                yield nested
        elif isinstance(payload, list):
            stack.extend(
                child for child in reversed(payload) if isinstance(child, email.message.Message)
            )
        else:
            yield _leaf_of(node)


def _nested(part: email.message.Message, source: Source) -> Raw | Defect | None:
    payload = _content(part)
    inner = payload[0] if isinstance(payload, list) and payload else None
    if not isinstance(inner, email.message.Message):
        return None
    octets = _as_bytes(inner)
    if octets is None:
        return Defect("nested-unreadable")
    nested = Source(path=source.path, format="rfc822", fidelity=source.fidelity)
    return Raw(data=octets, source=nested)


def _leaf_of(part: email.message.Message) -> Leaf:
    """What the standard library says of a part."""
    payload = _content(part)
    return Leaf(
        content_type=part.get_content_type(),
        charset=_charset(part),
        format=str(part.get_param("format", "")).lower(),
        delsp=str(part.get_param("delsp", "")).lower(),
        filename=_filename(part),
        disposition=str(part.get("content-disposition", "")).strip().lower(),
        encoding=str(part.get("content-transfer-encoding", "")).strip().lower(),
        payload=_octets(payload) if isinstance(payload, str) else b"",
    )


def _as_bytes(message: email.message.Message) -> bytes | None:
    """An enclosed mail's octets, or None where the standard library can't write it."""
    try:
        return message.as_bytes(unixfrom=False)
    except RecursionError:
        return None
    except _GENERATOR_ERRORS:
        pass
    try:  # a header in octets that no charset claims: as text
        return message.as_string().encode("utf-8", "replace")
    except (*_GENERATOR_ERRORS, RecursionError):
        return None


def _content(part: email.message.Message) -> object:
    """A part's text as the parser took it, or the list of the parts inside it.

    Message.get_payload decodes text by its charset, also with decode=False:
    the octets are lost then, and a charset with a NUL in its name raises.
    """
    return vars(part)["_payload"]


def _octets(payload: str) -> bytes:
    """The parser keeps raw octets as surrogates; text it decoded itself is UTF-8 again."""
    try:
        return payload.encode("ascii", "surrogateescape")
    except UnicodeEncodeError:
        return payload.encode("utf-8", "surrogateescape")


def _charset(part: email.message.Message) -> str | None:
    try:
        value = part.get_param("charset")
    except (ValueError, LookupError, TypeError):
        return None
    return value if isinstance(value, str) else None


def _filename(part: email.message.Message) -> str | None:
    try:
        name = part.get_filename()
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    return str(name) if name else None
