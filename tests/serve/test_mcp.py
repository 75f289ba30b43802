"""MCP over standard input and output: the handshake, tools, and whatever else may come in."""

from __future__ import annotations

import io
import json
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from patchlore.cli import make_parser
from patchlore.library import Library
from patchlore.serve.answers import QUESTIONS
from patchlore.serve.mcp import VERSIONS, answer_line, answers, bounded_lines
from tests.cli.conftest import UPSTREAM


@pytest.fixture(scope="module")
def library(archive: pathlib.Path) -> Iterator[Library]:
    """The archive, open."""
    with Library(archive) as made:
        yield made


def call(library: Library, method: str, params: object = None, number: object = 1) -> Any:
    """Return the answer to a request."""
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return answer_line(library, json.dumps(request).encode())


def use(library: Library, name: str, **arguments: object) -> tuple[bool, Any]:
    """Return whether a tool failed, and what it said."""
    result = call(library, "tools/call", {"name": name, "arguments": arguments})["result"]
    (content,) = result["content"]
    assert content["type"] == "text"
    text = content["text"]
    return result["isError"], text if result["isError"] else json.loads(text)


@pytest.mark.parametrize("version", [*VERSIONS, "1999-01-01", None])
def test_the_handshake_names_the_version(library: Library, version: str | None) -> None:
    """A revision that is known is spoken; for another the newest is offered."""
    result = call(library, "initialize", {"protocolVersion": version, "capabilities": {}})["result"]
    assert result["protocolVersion"] == (version if version in VERSIONS else VERSIONS[0])
    assert result["serverInfo"]["name"] == "patchlore"
    assert "tools" in result["capabilities"]


def test_notifications_and_answers_get_no_answer(library: Library) -> None:
    """A server must not answer them (JSON-RPC 2.0, section 4.1)."""
    for line in (
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        b'{"jsonrpc": "2.0", "method": "what/ever"}',
        b'{"jsonrpc": "2.0", "id": 7, "result": {}}',
        b"  \n",
    ):
        assert answer_line(library, line) is None


def test_every_tool_is_listed_with_its_parameters(library: Library) -> None:
    """Each has a schema that names what is required."""
    tools = call(library, "tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == list(QUESTIONS)
    assert {"search", "show", "commit", "pr", "cve", "backports", "thread"} <= set(QUESTIONS)
    for tool in tools:
        schema = tool["inputSchema"]
        assert schema["type"] == "object"
        assert set(schema["required"]) <= set(schema["properties"])
        assert tool["description"]


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("search", {"query": "fixes:" + UPSTREAM[:12]}, "fix@example.org"),
        ("show", {"id": "backport@example.org"}, "GCC 13 makes one tick of two."),
        ("thread", {"id": "reply@example.org"}, "backport@example.org"),
        ("commit", {"sha": UPSTREAM[:12]}, "picked by AUTOSEL, 15 of 24"),
        ("pr", {"number": "123456"}, "backport@example.org"),
        ("cve", {"id": "CVE-2024-12345"}, "fix@example.org"),
        ("backports", {"tree": "5.10", "limit": 5}, UPSTREAM),
        ("backports", {"to": "5.10", "from": "5.4"}, '"total": 0'),
        ("backports", {"tree": "5.10", "missing_fixes": True}, '"total": 0'),
        ("backports", {"tree": "5.10", "autosel": True, "evidence": "certain"}, UPSTREAM),
        ("stats", {}, "messages"),
    ],
)
def test_a_tool_answers(
    library: Library, name: str, arguments: dict[str, object], text: str
) -> None:
    """With the values that --json prints, as text."""
    failed, value = use(library, name, **arguments)
    assert not failed
    assert text in json.dumps(value)


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("show", {"id": "absent@example.org"}, "No mail in the archive has the Message-ID"),
        ("show", {}, "show needs id"),
        ("show", {"id": 5}, "id is a text"),
        ("search", {"query": "a", "limit": "many"}, "limit is a number"),
        ("search", {"query": "a", "limit": True}, "limit is a number"),
        ("search", {"query": "a", "x": 1}, "has no parameter 'x'"),
        ("backports", {}, "name a tree"),
        ("backports", {"tree": "5.10", "autosel": "perhaps"}, "autosel is true or false"),
        ("backports", {"tree": "5.10", "evidence": "some"}, "evidence is certain"),
        ("backports", {"tree": "5.10", "to": "6.1"}, "--to goes with --from"),
    ],
)
def test_what_a_tool_can_not_do_is_a_result(
    library: Library, name: str, arguments: dict[str, object], text: str
) -> None:
    """The assistant reads the sentence and asks better."""
    failed, said = use(library, name, **arguments)
    assert failed
    assert text in said


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"nonsense", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b'"' + b"a" * 2_000_000 + b'"', -32700),
        (b"1", -32600),
        (b"{}", -32600),
        (b"[]", -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}', -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "rm"}}', -32602),
        (
            b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call",'
            b' "params": {"name": "show", "arguments": [1]}}',
            -32602,
        ),
    ],
)
def test_what_is_no_request_is_an_error(library: Library, line: bytes, code: int) -> None:
    """The codes are those of JSON-RPC."""
    answer = answer_line(library, line)
    assert (answer["jsonrpc"], answer["error"]["code"]) == ("2.0", code)
    assert len(json.dumps(answer)) < 1000


def test_a_line_without_end_takes_no_memory(library: Library) -> None:
    """So much is read as shows that it is too long; the next line is answered."""
    stream = io.BytesIO(b"x" * 5_000_000 + b'\n{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    lines = list(bounded_lines(stream))
    assert [len(line) > 1024 * 1024 for line in lines] == [True, False]
    assert max(map(len, lines)) < 1_100_000
    first, second = (json.loads(answer) for answer in answers(library, lines))
    assert (first["error"]["code"], second["result"]) == (-32700, {})


def test_a_batch_is_answered_as_one(library: Library) -> None:
    """As 2025-03-26 has it; notifications in it get nothing."""
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"},
    ]
    answer = answer_line(library, json.dumps(batch).encode())
    assert [item["id"] for item in answer] == [1, 2]
    assert answer_line(library, json.dumps(batch[1:2]).encode()) is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
_REQUESTS = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "id": st.integers() | st.text(max_size=8)},
    optional={
        "method": st.sampled_from(["initialize", "ping", "tools/list", "tools/call"]) | _JSON,
        "params": st.fixed_dictionaries(
            {"name": st.sampled_from(list(QUESTIONS)), "arguments": _JSON}
        )
        | _JSON,
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.one_of(st.binary(max_size=200), _REQUESTS.map(lambda one: json.dumps(one).encode())))
def test_any_line_gets_one_line_or_none(library: Library, data: bytes) -> None:
    """Nothing that comes in ends the server or breaks the framing."""
    for answer in answers(library, [data]):
        assert answer.endswith(b"\n")
        assert answer.count(b"\n") == 1
        json.loads(answer)


def test_the_command_speaks_line_by_line(archive: pathlib.Path) -> None:
    """A real process: handshake, a mistake, a tool; it ends when its input does."""
    requests = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}},
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        "nonsense",
        {
            "jsonrpc": "2.0",
            "id": "two",
            "method": "tools/call",
            "params": {"name": "pr", "arguments": {"number": "123456"}},
        },
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "patchlore", "--archive", str(archive), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(requests[0]) + "\n")
    process.stdin.flush()
    # It answers at once, not when the input ends.
    assert json.loads(process.stdout.readline())["id"] == 1
    rest = "".join(f"{json.dumps(item)}\n" for item in requests[1:])
    out, err = process.communicate(rest, timeout=60)
    found = [json.loads(line) for line in out.splitlines()]
    assert [item.get("id") for item in found] == [None, "two"]
    assert "backport@example.org" in found[1]["result"]["content"][0]["text"]
    assert (process.returncode, err) == (0, "")


def test_a_list_is_asked_for_alike_everywhere(library: Library) -> None:
    """Command, API and MCP have one table of what rows may be asked for."""
    parser = make_parser()
    (commands,) = (item for item in parser._actions if item.dest == "command")
    assert isinstance(commands.choices, dict)
    options = commands.choices["backports"]._option_string_actions
    parameters = {item.name for item in QUESTIONS["backports"].parameters}
    named = {option.removeprefix("--").replace("-", "_") for option in options}
    #: Options of form and place, and those that read the asker's files.
    own = {"_h", "help", "format", "json", "output", "overrides", "try", "base", "branch",
           "built_files"}  # fmt: skip
    assert named - own == parameters - {"tree", "limit"}
