"""``patchlore show``, ``thread`` and ``explain``: single messages and conversations."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from patchlore.commands.common import (
    Style,
    Subparsers,
    add_archive_id,
    add_command,
    add_json,
    note,
    open_archive,
    print_json,
    print_json_lines,
    print_lines,
    terminal_width,
    write_bytes,
)

if TYPE_CHECKING:
    from patchlore.ingest.message import Message, Person
    from patchlore.kb.edges_reading import Became
    from patchlore.kb.store import Archive


def add_parsers(subparsers: Subparsers) -> None:
    """Add the commands."""
    parser = add_command(
        subparsers,
        "show",
        "a message, commit, bug or CVE, whichever the name names",
        [
            "patchlore show 20240102030405.1-2-ada@example.org",
            "patchlore show https://lore.kernel.org/r/20240102030405.1-2-ada@example.org",
            "patchlore show --raw ID | git am",
            "patchlore show --diff ID | git apply --check",
            "patchlore show PR83356",
        ],
        "--raw prints the mail of the best copy, byte for byte; --diff only its diff.",
    )
    add_archive_id(parser, "a Message-ID, a commit, a bug, a CVE")
    parser.add_argument("--raw", action="store_true", help="the mail as sent")
    parser.add_argument("--diff", action="store_true", help="only the diff")
    add_json(parser)
    parser.set_defaults(run=run_show)

    parser = add_command(
        subparsers,
        "thread",
        "the conversation that a message belongs to",
        ["patchlore thread 20240102030405.1-2-ada@example.org"],
        "Replies stand below what they answer; mails that were not seen have their places.",
    )
    add_archive_id(parser)
    add_json(parser, "JSON Lines")
    parser.set_defaults(run=run_thread)

    parser = add_command(
        subparsers,
        "explain",
        "each fact of a message with its line, rule and confidence; what was rejected",
        ["patchlore explain 20240102030405.1-2-ada@example.org"],
    )
    add_archive_id(parser)
    add_json(parser)
    parser.set_defaults(run=run_explain)


def run_show(args: argparse.Namespace) -> int:
    """Print what ID names; 1 when it is not in the archive."""
    from patchlore.commands.commits import stored_lines
    from patchlore.commands.dossiers import bug_lines, commit_lines, commit_object, show_gcc_commit
    from patchlore.kb.dossiers.bugs import bug_dossier
    from patchlore.kb.dossiers.commits import commit_dossier
    from patchlore.kb.git_reading import read_stored
    from patchlore.kb.reading import find_message, resolve

    with open_archive(args) as archive:
        named = resolve(archive, args.id)
        if named.kind == "message":
            return _show_message(archive, find_message(archive, args.id), args)
        if args.raw or args.diff:
            note(f"patchlore: {args.id} is no message: --raw and --diff need a Message-ID.")
            return 2
        if named.kind == "cve":
            return _show_cve(archive, named.value, as_json=args.json)
        if named.kind == "gcc-commit":
            return show_gcc_commit(archive, named.value, as_json=args.json)
        if named.bug is not None:
            dossier = bug_dossier(archive, named.bug)
            if args.json:
                print_json(dossier)
            else:
                print_lines(bug_lines(dossier))
            return 0
        commit = commit_dossier(archive, named.value)
        if args.json:
            print_json(commit_object(commit))
        else:
            print_lines(commit_lines(commit))
            if commit.git.commit is not None:
                stored = read_stored(archive, commit.git.commit.sha)
                print_lines([] if stored is None else stored_lines(stored, Style()))
        return 0


def _show_message(archive: Archive, id_: int, args: argparse.Namespace) -> int:
    from patchlore.kb.edges_reading import became
    from patchlore.kb.inferring import infer_address
    from patchlore.kb.reading import keys_beside

    if args.raw:
        write_bytes(archive.raw(id_))
        return 0
    message = archive.message(id_)
    if args.diff:
        lines = list(diff_lines(message))
        if not lines:
            note("patchlore: the message carries no diff of its own.")
            return 1
        write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
        return 0
    others = [key for key in keys_beside(archive, id_) if key != args.id.strip("<> ")]
    if others:
        note(f"patchlore: other mails have this Message-ID, too: {', '.join(others)}")
    copies = _copies(archive, id_)
    commits = became(archive, id_)
    if args.json:
        print_json({**_builtins(message), "copies": copies, "became": commits})
    else:
        people = (message.from_, message.author, *message.to, *message.cc)
        whole = {person.email_masked: infer_address(archive, person) for person in people if person}
        print_lines(message_lines(message, copies, commits, whole))
    return 0


def _show_cve(archive: Archive, name: str, *, as_json: bool) -> int:
    from patchlore.commands.lines import print_naming

    rows = archive.execute("SELECT message FROM cve WHERE name = ?", (name,)).fetchall()
    if not rows:
        note(f"patchlore: no mail in the archive names {name}.")
        return 1
    messages = [message for (message,) in rows]
    print_naming(archive, messages, "cve", name, name, as_json=as_json)
    return 0


def _builtins(message: Message) -> dict[str, Any]:
    import msgspec

    value: dict[str, Any] = msgspec.to_builtins(message)
    return value


def _copies(archive: Archive, id_: int) -> list[dict[str, Any]]:
    from patchlore.ingest.raw import FIDELITIES

    rows = archive.execute(
        "SELECT source.path, source.format, copy.offset, copy.fidelity, source.list, copy.size,"
        " hex(copy.sha256) FROM copy JOIN source ON source.id = copy.source"
        " WHERE copy.message = ? ORDER BY copy.fidelity, copy.id",
        (id_,),
    )
    return [
        {
            "path": path,
            "format": format,
            "offset": offset,
            "fidelity": FIDELITIES[fidelity],
            "list": list_ or None,
            "size": size,
            "sha256": sha256.lower(),
        }
        for path, format, offset, fidelity, list_, size, sha256 in rows
    ]


def diff_lines(message: Message) -> Iterator[str]:
    """Yield the lines of the author's own diff, as the body has them."""
    from patchlore.ingest.message import (
        KIND_ADDED,
        KIND_BINARY,
        KIND_CONTEXT,
        KIND_DIFF,
        KIND_HUNK,
        KIND_REMOVED,
    )

    kinds = {KIND_DIFF, KIND_HUNK, KIND_ADDED, KIND_REMOVED, KIND_CONTEXT, KIND_BINARY}
    for line, kind in zip(message.body.split("\n"), message.line_kinds, strict=False):
        if kind in kinds:
            yield line


def message_lines(
    message: Message,
    copies: list[dict[str, Any]],
    commits: Sequence[Became] = (),
    whole: Mapping[str | None, str | None] | None = None,
) -> Iterator[str]:
    """Yield a message as text: head, facts, the commits that its patch became, body.

    ``whole`` has inferred addresses by the masked ones.
    """
    whole = whole or {}
    from patchlore.commands.commits import became_lines
    from patchlore.kb.text import printable, printable_lines, shorten

    style = Style()
    width = terminal_width()

    def fact(name: str, value: str | None) -> Iterator[str]:
        if value:
            yield shorten(f"{name:12} {printable(value)}", 2 * width)

    yield style.head(printable(message.subject) or "(no subject)")
    yield from fact("Message-ID", message.message_id)
    yield from fact("From", _person(message.from_, whole))
    if message.author != message.from_:
        yield from fact("Author", _person(message.author, whole))
    yield from fact("Date", message.date_iso or message.effective_date_iso)
    yield from fact("To", ", ".join(_person(person, whole) for person in message.to))
    yield from fact("Cc", ", ".join(_person(person, whole) for person in message.cc))
    yield from fact("In reply to", message.in_reply_to)
    for ref in message.upstream_refs:
        yield from fact("upstream", f"{ref.sha} ({ref.relation}, by {ref.form})")
    for name, refs in (
        ("fixes", message.fixes),
        ("reverts", message.reverts),
        ("stable dep", message.stable_dep_of),
    ):
        for commit in refs:
            title = f' ("{commit.subject}")' if commit.subject else ""
            yield from fact(name, commit.sha + title)
    for bug in message.gcc_prs:
        component = f"{bug.component}/" if bug.component else ""
        yield from fact("GCC bug", f"PR {component}{bug.number} ({', '.join(bug.where)})")
    for file in message.files:
        counts = "binary" if file.binary else f"+{file.added or 0} -{file.removed or 0}"
        old = f" (was {file.old_path})" if file.old_path else ""
        yield from fact("file", f"{file.path}{old} {file.status} {counts}")
    for defect in message.defects:
        yield from fact("defect", f"{defect.code} line {defect.line}: {defect.text}")
    for copy in copies:
        place = f"{copy['path']} at {copy['offset']}" if copy["offset"] else copy["path"]
        yield from fact("copy", f"{place} ({copy['format']}, {copy['fidelity']})")
    yield from became_lines(commits, style)
    yield ""
    yield printable_lines(message.body.rstrip("\n"))


def _person(person: Person | None, whole: Mapping[str | None, str | None]) -> str:
    if person is None:
        return ""
    address = person.email or person.email_masked
    inferred = None if person.email else whole.get(person.email_masked)
    mark = f" (inferred: {inferred})" if inferred else ""
    if person.name and address:
        return f"{person.name} <{address}>{mark}"
    return (person.name or address or "") + mark


def run_thread(args: argparse.Namespace) -> int:
    """Print a conversation."""
    from patchlore.kb.dossiers.threads import thread_nodes
    from patchlore.kb.reading import find_messages
    from patchlore.kb.text import count, day, printable, shorten

    with open_archive(args) as archive:
        asked = find_messages(archive, args.id)
        nodes = thread_nodes(archive, args.id)
    if args.json:
        print_json_lines(
            {
                "depth": node.depth,
                "message_id": node.text if node.message is None else node.message.message_id,
                "seen": node.message is not None,
                "rule": node.rule,
                "message": node.message,
            }
            for node in nodes
        )
        return 0
    style = Style()
    width = terminal_width()
    seen = sum(node.message is not None for node in nodes)
    print_lines([style.head(f"thread of {count(seen, 'mail')}")])
    for node in nodes:
        indent = "  " * min(node.depth, 20)
        if node.message is None:
            print_lines([style.proof(f"{indent}(not seen) <{printable(node.text)}>")])
            continue
        brief = node.message
        mark = "*" if brief.id in asked else " "
        head = f"{mark}{indent}{day(brief.timestamp)} {printable(brief.sender) or '(no sender)'}: "
        weak = {
            None: "",
            "index": ", by the archive's index",
            "page": ", by the archive's page",
            "subject": ", by its subject",
        }
        how = weak.get(node.rule, "")
        print_lines(
            [
                shorten(head + (printable(brief.subject) or "(no subject)"), width),
                style.proof(f" {indent}  {brief.kind}{how} <{printable(brief.key)}>"),
            ]
        )
    return 0


def run_explain(args: argparse.Namespace) -> int:
    """Print each fact with its evidence, and the rejected candidates."""
    from patchlore.kb.reading import find_message

    with open_archive(args) as archive:
        message = archive.message(find_message(archive, args.id))
    if args.json:
        print_json(
            {
                "message_id": message.message_id,
                "subject": message.subject,
                "evidence": message.evidence,
                "rejected": message.rejected,
                "defects": message.defects,
                "unmatched": message.unmatched,
            }
        )
    else:
        print_lines(explain_lines(message))
    return 0


def explain_lines(message: Message) -> Iterator[str]:
    """Yield the facts of a message with their evidence as text."""
    from patchlore.kb.text import printable, shorten

    style = Style()
    width = terminal_width()
    yield style.head(f"<{message.message_id or 'no Message-ID'}> {printable(message.subject)}")
    fact = None
    for item in sorted(message.evidence, key=lambda item: item.fact):
        if item.fact != fact:
            fact = item.fact
            yield ""
            yield style.head(fact)
        yield f"  {style.name(shorten(printable(item.value), width))}"
        place = f"line {item.line}" if item.line else "header"
        sure = f"{place}, rule {item.rule}, {item.confidence}: "
        yield style.proof(shorten(f"    {sure}{printable(item.text).strip()}", 2 * width))
    if message.rejected:
        yield ""
        yield style.head("considered and rejected")
        for other in message.rejected:
            head = f"  {other.fact}, line {other.line}, rule {other.rule}: "
            yield shorten(head + printable(other.text).strip(), 2 * width)
    if message.unmatched:
        yield ""
        yield style.head("not understood")
        for line in message.unmatched:
            yield shorten(f"  line {line.line}: {printable(line.text).strip()}", 2 * width)
    if message.defects:
        yield ""
        yield style.head("defects")
        for defect in message.defects:
            yield shorten(
                f"  line {defect.line}, {defect.code}: {printable(defect.text)}", 2 * width
            )
