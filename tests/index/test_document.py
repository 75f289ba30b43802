"""What of a message is searched, and in which field."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchlore.index.document import decode_searched, make_document
from patchlore.index.engine import FIELDS
from patchlore.index.words import BREAK
from patchlore.ingest.message import Attachment, FileChange, Message, Person
from patchlore.ingest.raw import Source

SOURCE = Source(path="/mail/widgets.mbox", format="mbox")


def texts(lines: list[tuple[str, str]], **fields: object) -> dict[str, list[str]]:
    """Return the fields of a message whose body has these lines (kind, text)."""
    message = Message(
        source=SOURCE,
        body="\n".join(text for _, text in lines),
        line_kinds="".join(kind for kind, _ in lines),
        **fields,  # type: ignore[arg-type]  # each test gives fields of its own
    )
    return {name: text.split() for name, text in make_document(7, message).fields.items()}


def test_lines_go_to_fields_by_their_kind() -> None:
    """Prose, quotations and each kind of diff line have a field of their own."""
    fields = texts(
        [
            ("q", "> asked before"),
            ("t", "my answer"),
            ("n", "a note"),
            ("d", "diff --git a/x.c b/x.c"),
            ("d", "new file mode 100644"),
            ("d", "index 1111111..2222222"),
            ("@", "@@ -1,2 +3,4 @@ int poll_it(void)"),
            ("-", "-old();"),
            ("+", "+fresh();"),
            ("=", " kept();"),
            ("g", "-- "),
        ]
    )
    assert fields["quoted"] == ["asked", "before"]
    assert fields["own"][:4] == ["my", "answer", "a", "note"]
    assert fields["own"][4:] == ["diff", "git", "new", "file", "mode", "100644", BREAK]
    assert fields["dfhh"] == ["int", "poll_it", "void"]
    assert fields["dfa"] == ["old"]
    assert fields["dfb"] == ["fresh"]
    assert fields["dfctx"] == ["kept"]


def test_phrases_go_over_lines_of_prose_and_not_over_quotations() -> None:
    """Lines of one paragraph are one run; what stands between two quotations is another."""
    fields = texts([("t", "one"), ("t", "two"), ("q", "> x"), ("t", "three")])
    assert fields["own"] == ["one", "two", BREAK, "three"]


def test_each_line_of_code_is_a_run() -> None:
    """No phrase goes from one line of a diff to the next."""
    assert texts([("+", "+a b"), ("+", "+c")])["dfb"] == ["a", "b", BREAK, "c"]


@pytest.mark.parametrize(
    ("kind", "line", "text"),
    [
        ("@", "@@ -1,2 +1,3 @@ int turn(struct ring", "int turn struct ring"),
        ("@", "*ring, unsigned long slot)", "ring unsigned long slot"),
        ("+", "wrapped away)", "wrapped away"),
        ("-", "wrapped away)", "wrapped away"),
        ("=", "without a blank", "without a blank"),
        ("=", " with a blank", "with a blank"),
        ("+", "+", ""),
        ("=", "", ""),
    ],
)
def test_the_rest_of_a_wrapped_line_is_whole(kind: str, line: str, text: str) -> None:
    """Only a sign is taken off: "unsigned" is found where a hunk header was wrapped before it."""
    field = {"@": "dfhh", "+": "dfb", "-": "dfa", "=": "dfctx"}[kind]
    assert texts([(kind, line)])[field] == text.split()


def test_text_of_others_without_marks_is_quoted() -> None:
    """What stands below "-----Original Message-----" is not the author's."""
    assert texts([("o", "somebody wrote")])["quoted"] == ["somebody", "wrote"]


def test_marks_of_quotations_are_no_words() -> None:
    """Marks of any depth are taken off, also where names stand before them."""
    assert texts([("q", "> > | deep"), ("q", ">>>tight")])["quoted"] == ["deep", "tight"]


def test_the_head_is_what_a_bare_word_finds_besides_the_text() -> None:
    """Message-ID, From and the names of attachments."""
    head = texts(
        [],
        message_id="20240101120000.77-ada@example.org",
        from_=Person(name="Ada Quill", email="ada@example.org"),
        attachments=[Attachment(filename="dmesg.txt")],
    )["head"]
    assert {"20240101120000", "ada", "quill", "dmesg", "txt"} <= set(head)


def test_paths_are_words_too() -> None:
    """Both names of a renamed file are in the field of file names."""
    files = [FileChange(path="net/new.c", old_path="net/old.c")]
    assert texts([], files=files)["dfn"] == ["net", "new", "c", BREAK, "net", "old", "c"]


def test_the_searched_part_of_a_message_is_decoded_alone() -> None:
    """The document is the same from a whole Message and from its searched part."""
    message = Message(
        source=SOURCE,
        message_id="x@example.org",
        subject="ring",
        from_=Person(name="Ada"),
        body="a\n+b",
        line_kinds="t+",
        files=[FileChange(path="ring.c")],
    )
    searched = decode_searched(msgspec.msgpack.encode(message))
    assert make_document(1, searched) == make_document(1, message)


@given(st.text(), st.text("tqhocnsd@+-=bgfp?"))
def test_any_body_makes_a_document(body: str, kinds: str) -> None:
    """Bodies and kinds that do not fit together are indexed as far as they go."""
    document = make_document(1, Message(source=SOURCE, body=body, line_kinds=kinds))
    assert set(document.fields) == set(FIELDS)
