"""The documents say what the program does: their examples, options, prefixes, formats, links."""

from __future__ import annotations

import argparse
import difflib
import json
import pathlib
import re
from collections.abc import Iterator

import pytest

from patchlore.cli import make_parser
from patchlore.index.prefixes import PREFIXES, SYNONYMS
from patchlore.ingest.detect import format_names
from patchlore.kb.backports import STATES
from patchlore.kb.export import FORMATS
from patchlore.kb.export.table import COLUMNS
from patchlore.kb.history import KINDS
from tests.docs_console import DOCUMENTS, ROOT, Block, Example, Shell, blocks_of, matches, renew

DOCS = ROOT / "docs"
CLI = (DOCS / "cli.md").read_text("utf-8")
SEARCH = (DOCS / "search.md").read_text("utf-8")
BACKPORTS = (DOCS / "backports.md").read_text("utf-8")
FACTS = (DOCS / "facts.md").read_text("utf-8")

USERS = ("cli.md", "search.md", "backports.md")
BLOCKS = [block for document in DOCUMENTS for block in blocks_of(document)]

_CODE = re.compile(r"`+([^`\n]+)`+")
_LINK = re.compile(r"\[[^\]\n]*\]\(([^()\s]+)\)")


@pytest.fixture(scope="session")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """Return a shell with an archive of the demo's mail."""
    return Shell(tmp_path_factory.mktemp("docs"))


def commands() -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of all commands by name."""
    for action in make_parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def section(text: str, title: str) -> str:
    """Return what stands below the heading ``## title``, up to the next one of its rank."""
    _, found, rest = text.partition(f"\n## {title}\n")
    assert found, f"there is no section {title}"
    return rest.partition("\n## ")[0]


def mentioned(text: str) -> set[str]:
    """Return the words that stand in ``code`` marks, and the parts of such texts."""
    return {word for code in _CODE.findall(text) for word in (code, *re.split(r"[\s=,|\\]+", code))}


# -- the examples ----------------------------------------------------------------------


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_an_example_prints_what_the_document_says(block: Block, shell: Shell) -> None:
    """Each command of a console block prints what stands below it; `…` stands for any lines."""
    for example, printed in zip(block.examples, shell.run(block), strict=True):
        if not matches(example.expected, printed):
            difference = "\n".join(
                difflib.unified_diff(example.expected, printed, "document", "printed", lineterm="")
            )
            pytest.fail(f"$ {example.command}\n{difference}\n'tools/update-docs' writes it anew.")


def test_every_document_for_users_has_examples() -> None:
    """No block is overlooked because its fence is written in another way."""
    for document in (ROOT / "README.md", *(DOCS / name for name in USERS)):
        text = document.read_text("utf-8")
        found = sum(block.document == document for block in BLOCKS)
        assert 0 < found == text.count("\n```console\n")
        outside = re.sub(r"```console\n.*?```", "", text, flags=re.DOTALL)
        assert "\n$ " not in outside, document.name


# -- commands and options --------------------------------------------------------------


@pytest.mark.parametrize("name", commands())
def test_every_option_is_documented(name: str) -> None:
    """The section of a command in docs/cli.md has a row for each option, and for no other."""
    rows = re.findall(r"^\| (`-.*?) \|", section(CLI, name), re.MULTILINE)
    told = {word for row in rows for word in mentioned(row) if word.startswith("-")}
    told = {word for word in told if " " not in word}
    known = {
        option
        for action in commands()[name]._actions
        for option in action.option_strings
        if option not in ("-h", "--help")
    }
    assert told == known


@pytest.mark.parametrize("name", commands())
def test_every_choice_of_an_option_is_documented(name: str) -> None:
    """What an option can be set to stands in the section of its command."""
    told = mentioned(section(CLI, name))
    for action in commands()[name]._actions:
        for choice in action.choices or ():
            assert choice in told, f"{name} {action.option_strings}"


def test_every_section_is_of_a_command() -> None:
    """The sections of docs/cli.md and its table are those of the program."""
    sections = re.findall(r"^## ([a-z]+)$", CLI, re.MULTILINE)
    assert sorted(sections) == sorted(commands())
    table = re.findall(r"\[`([a-z]+)`\]\(#[a-z]+\)", CLI)
    assert sorted(table) == sorted(commands())


def test_the_options_without_a_command_are_documented() -> None:
    """--archive and its like stand in the part about all commands."""
    told = mentioned(section(CLI, "What holds for all"))
    for action in make_parser()._actions:
        assert set(action.option_strings) <= told, action.option_strings
        if action.dest == "print_completion":
            assert set(action.choices or ()) <= told


def test_every_source_format_is_documented() -> None:
    """The names that --format of ingest takes stand in its section, and no others."""
    text = section(CLI, "ingest")
    listed = text[text.index("Formats for `--format`:") :]
    assert set(_CODE.findall(listed)) - {"--format"} == set(format_names())


# -- the query language ----------------------------------------------------------------


def test_every_prefix_has_a_row() -> None:
    """The tables of docs/search.md have each prefix of the query language, and no other."""
    rows = re.findall(r"^\| (`[a-z-]+:`.*?) \|", SEARCH, re.MULTILINE)
    told = {code.removesuffix(":") for row in rows for code in _CODE.findall(row)}
    assert told - {"reviewed-by"} == set(PREFIXES)


def test_every_value_of_a_prefix_is_documented() -> None:
    """The kinds of is:, event:, where: and fidelity: stand in the row of the prefix."""
    for prefix in PREFIXES.values():
        if prefix.choices:
            (row,) = re.findall(rf"^\| `{prefix.name}:` \|.*$", SEARCH, re.MULTILINE)
            assert set(prefix.choices) <= mentioned(row), prefix.name


def test_every_synonym_is_documented() -> None:
    """The habits of other programs that are understood are listed."""
    told = mentioned(SEARCH.partition("### Synonyms")[2].partition("\n## ")[0])
    assert {f"{name}:" for name in SYNONYMS} <= told


# -- backport lists --------------------------------------------------------------------


def test_every_format_of_a_list_has_a_row() -> None:
    """The table of formats in docs/backports.md is that of the program."""
    rows = re.findall(r"^\| `(\w[a-z-]*)` \|", section(BACKPORTS, "Formats"), re.MULTILINE)
    assert sorted(rows) == sorted(FORMATS)


def test_every_event_has_a_row() -> None:
    """The table of events has each kind of event, in the order of a backport's life or not."""
    rows = re.findall(r"^\| `([a-z-]+)` \|", section(BACKPORTS, "Events"), re.MULTILINE)
    assert sorted(rows) == sorted(KINDS)


def test_every_state_is_explained() -> None:
    """All states that --state takes are explained."""
    assert set(STATES) <= mentioned(section(BACKPORTS, "States"))


def test_every_column_is_documented() -> None:
    """The columns of the CSV format are listed."""
    assert set(COLUMNS) <= mentioned(section(BACKPORTS, "Formats"))


# -- fields of JSON --------------------------------------------------------------------

_COMMIT = "456708cc42bd"
_ID = "20231205031455.660314-14-sorrel@example.org"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("search --json --limit 0 lanes", section(CLI, "search")),
        ("pr --json 199201", section(CLI, "pr")),
        ("prs --json", section(CLI, "prs") + section(CLI, "pr")),
        (f"commit --json {_COMMIT}", section(CLI, "commit")),
        (f"thread --json {_ID}", section(CLI, "thread")),
        (f"explain --json {_ID}", section(CLI, "explain") + FACTS),
        (f"show --json {_ID}", section(CLI, "show") + section(CLI, "parse") + FACTS),
        ("parse demo/mail/inbox", section(CLI, "parse") + FACTS),
        ("backports 6.6 --json", BACKPORTS),
        ("stats --json", section(CLI, "stats")),
        ("check --json", section(CLI, "check")),
    ],
)
def test_every_field_of_json_is_documented(command: str, text: str, shell: Shell) -> None:
    """Each name in what --json prints stands in the section of the command or of shared objects."""
    example = Example(command=f"patchlore {command}", expected=[], start=0, output=0, end=0)
    (lines,) = shell.run(Block(document=DOCS / "cli.md", examples=[example]))
    shared = section(CLI, "What holds for all").partition("### Objects that")[2]
    told = mentioned(text + shared)
    told |= {word for code in told for word in re.split(r"\W+", code)}
    names = {name for line in lines for name in _names(json.loads(line))}
    assert names - told == set()


def _names(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner)


# -- links -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [*DOCUMENTS, ROOT / "CHANGELOG.md", ROOT / "demo" / "README.md"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_links_lead_somewhere(document: pathlib.Path) -> None:
    """A link to a file or a heading of the project names one that exists."""
    text = re.sub(r"^```.*?^```", "", document.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in _LINK.findall(text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (document.parent / name).resolve() if name else document
        assert path.exists(), target
        if anchor:
            assert anchor in _anchors(path), target


def _anchors(path: pathlib.Path) -> set[str]:
    """The anchors of a document's headings, as forges make them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


# -- the comparison itself -------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "printed", "equal"),
    [
        ("a b", "a b", True),
        ("a b", "a", False),
        ("a b", "a b c", False),
        ("a …", "a b c", True),
        ("a …", "a", True),
        ("… c", "a b c", True),
        ("a … b … c", "a x b y c", True),
        ("a … b … c", "a x y c", False),
        ("a … a", "a", False),
        ("…", "a b", True),
    ],
)
def test_an_elision_stands_for_any_number_of_lines(
    expected: str, printed: str, equal: bool
) -> None:
    """All other lines have to be there, in order and without anything between them."""
    assert matches(expected.split(), printed.split()) is equal


@pytest.mark.parametrize(
    ("expected", "printed", "renewed"),
    [
        ("a b", "c d e", "c d e"),
        ("a …", "x y z", "x …"),
        ("a … z", "b c d", "b … d"),
        ("a … m n … z", "b c m o d e", "b … m o … e"),
        ("… m n …", "a b m c d", "… m c …"),
        ("a … gone … z", "b c d", "b … d"),
        ("a … z", "b", "b"),
    ],
)
def test_renewing_keeps_elisions_in_their_places(expected: str, printed: str, renewed: str) -> None:
    """Lines at the ends keep their number; in the middle what is left of the old ones decides."""
    assert renew(expected.split(), printed.split()) == renewed.split()


def test_speed_is_not_compared() -> None:
    """A summary line is the same on a slow machine; a count in it is not."""
    fast, slow = "read 2, new 2 in 0.1 s (1,200 mails/s)", "read 2, new 2 in 9.5 s (2 mails/s)"
    assert matches([fast], [slow])
    assert not matches([fast], [slow.replace("new 2", "new 1")])


def test_a_line_that_is_no_command_is_an_error(tmp_path: pathlib.Path) -> None:
    """A console block that begins with anything but a command of patchlore can't be run."""
    document = tmp_path / "page.md"
    document.write_text("text\n```console\n$ rm -r /\n```\n")
    with pytest.raises(ValueError, match=r"page\.md:3"):
        blocks_of(document)
