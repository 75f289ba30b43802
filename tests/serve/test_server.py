"""The page and the API, asked over HTTP: answers, errors, what keeps strangers out."""

from __future__ import annotations

import http.client
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.parse
from html.parser import HTMLParser

import pytest

from patchlore.cli import main
from patchlore.serve.server import Server
from tests.cli.conftest import UPSTREAM


def ask(
    server: Server, target: str, method: str = "GET", **headers: str
) -> tuple[int, http.client.HTTPMessage, str]:
    """Return status, headers and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        connection.request(method, target, headers=headers)
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()
    finally:
        connection.close()


def api(server: Server, name: str, **values: str) -> tuple[int, object]:
    """Return status and value of an answer of the API."""
    status, headers, body = ask(server, f"/api/{name}?{urllib.parse.urlencode(values)}")
    assert headers["Content-Type"] == "application/json"
    return status, json.loads(body)


COMMANDS = [
    ("pr", {"number": "123456"}, ["pr", "123456"]),
    ("cve", {"id": "CVE-2024-12345"}, ["cve", "CVE-2024-12345"]),
    ("commit", {"sha": UPSTREAM[:12]}, ["commit", UPSTREAM[:12]]),
    ("commit", {"sha": UPSTREAM, "tree": "5.10"}, ["commit", UPSTREAM, "--tree", "5.10"]),
]


@pytest.mark.parametrize(("name", "values", "command"), COMMANDS)
def test_the_api_gives_what_the_command_prints(
    server: Server,
    archive: pathlib.Path,
    capfd: pytest.CaptureFixture[str],
    name: str,
    values: dict[str, str],
    command: list[str],
) -> None:
    """One object is the same whoever asks."""
    capfd.readouterr()
    assert main(["--archive", str(archive), *command, "--json"]) == 0
    assert api(server, name, **values) == (200, json.loads(capfd.readouterr().out))


def test_lists_are_those_of_the_commands(
    server: Server, archive: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Rows and nodes, one a line there, are members of a list here."""
    capfd.readouterr()
    assert main(["--archive", str(archive), "backports", "5.10", "--json"]) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert api(server, "backports", tree="5.10") == (200, {"total": len(rows), "rows": rows})
    assert main(["--archive", str(archive), "thread", "reply@example.org", "--json"]) == 0
    nodes = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert api(server, "thread", id="reply@example.org") == (200, nodes)


def test_search_finds_and_is_limited(server: Server) -> None:
    """Hits and their number; words go through the index."""
    status, found = api(server, "search", query="need", limit="1")
    assert (status, found["total"], len(found["hits"])) == (200, 1, 1)  # type: ignore[index] # JSON
    status, found = api(server, "search", query="d:2024", limit="2", sort="date")
    assert (found["total"], len(found["hits"])) == (4, 2)  # type: ignore[index] # JSON


@pytest.mark.parametrize(
    ("target", "status", "text"),
    [
        ("/api/nothing", 404, "There is no such page."),
        ("/api/show?id=absent@example.org", 404, "No mail in the archive has the Message-ID"),
        ("/api/show", 400, "show needs id"),
        ("/api/show?id=a&colour=red", 400, "has no parameter 'colour'"),
        ("/api/search?query=d:whenever", 400, ""),
        ("/api/search?query=a&limit=-1", 400, "limit is a number from 0 on"),
        ("/api/search?query=a&sort=size", 400, "sort is date or rank"),
        ("/api/commit?sha=xyz", 400, "is no commit"),
        ("/api/backports?tree=9.9", 404, "The tree 9.9 is not known."),
        ("/api/backports?tree=5.10&state=gone", 400, "there is no state 'gone'"),
        ("/api/backports?tree=5.10&since=whenever", 400, "no date"),
        ("/api/review?release=6.6.9", 404, "no review round at all"),
        ("/api/search?query=" + "a" * 20_000, 400, "longer than 10,000 characters"),
        ("/api/search?" + "&".join(f"a{n}=1" for n in range(30)), 400, "too many parameters"),
        ("/api/search?query=" + "a" * 40_000, 414, "too long"),
    ],
)
def test_mistakes_are_told_in_sentences(
    server: Server, target: str, status: int, text: str
) -> None:
    """The status says whose mistake it is; nobody sees the inside of the program."""
    got, _, body = ask(server, target)
    assert got == status, body
    assert text in json.loads(body)["error"]
    assert "Traceback" not in body


PAGES = (
    "/",
    "/search?query=d:2024",
    "/show?id=backport@example.org",
    "/show?id=" + urllib.parse.quote('"><script>alert(3)</script>@example.org'),
    "/thread?id=reply@example.org",
    f"/commit?sha={UPSTREAM}",
    "/pr?number=123456",
    "/cve?id=CVE-2024-12345",
    "/backports?tree=5.10",
    "/show?id=" + urllib.parse.quote("<script>absent</script>"),
    "/" + urllib.parse.quote("<script>"),
)


class Tags(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("target", PAGES)
def test_pages_hold_no_script_and_no_foreign_link(server: Server, target: str) -> None:
    """Whatever mails say: no tag and no attribute is theirs, every link is to this server."""
    _, headers, body = ask(server, target)
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    tags = Tags()
    tags.feed(body)
    assert {tag for tag, _ in tags.found} <= {
        *("html", "head", "meta", "title", "link", "body", "form", "a", "input", "button", "h1"),
        *(
            "h2",
            "ul",
            "li",
            "dl",
            "dt",
            "dd",
            "p",
            "pre",
            "span",
            "div",
            "br",
            "table",
            "tr",
            "td",
            "th",
        ),
    }
    for _, attributes in tags.found:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("href", "action"):
            value = attributes.get(name)
            assert value is None or re.match(r"/(?!/)", value)
    assert "\x1b" not in body


@pytest.mark.parametrize("target", [page for page in PAGES if "script" not in page])
def test_links_of_pages_lead_somewhere(server: Server, target: str) -> None:
    """What a page links, the server answers, or says that the archive has it not."""
    tags = Tags()
    tags.feed(ask(server, target)[2])
    links = {attributes["href"] for tag, attributes in tags.found if tag == "a"}
    assert links
    for link in sorted(str(link) for link in links)[:40]:
        status, _, body = ask(server, link)
        assert status == 200 or (status == 404 and "archive" in body), link


def test_headers_keep_the_browser_from_running_anything(server: Server) -> None:
    """The policy allows our own style sheet alone."""
    _, headers, _ = ask(server, "/")
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'self';")
    assert headers["X-Content-Type-Options"] == "nosniff"
    status, headers, _ = ask(server, "/style.css")
    assert (status, headers["Content-Type"]) == (200, "text/css")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{}", 200),
        ("localhost:{}", 200),
        ("LOCALHOST:{}", 200),
        ("[::1]:{}", 200),
        ("localhost", 200),
        ("localhost:1", 403),
        ("evil.example.org:{}", 403),
        ("evil.example.org", 403),
        ("127.0.0.1.example.org:{}", 403),
        ("", 403),
    ],
)
def test_only_our_own_name_is_answered(server: Server, host: str, status: int) -> None:
    """A page of a stranger whose name means 127.0.0.1 gets nothing (DNS rebinding)."""
    got, _, body = ask(server, "/api/stats", Host=host.format(server.port))
    assert got == status
    assert ("messages" in body) is (status == 200)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE"])
def test_only_get_is_answered(server: Server, method: str) -> None:
    """Nothing can be changed, so nothing else means anything."""
    status, headers, _ = ask(server, "/api/stats", method)
    assert (status, headers["Allow"]) == (405, "GET")


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET /\xff\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://evil.example.org/ HTTP/1.1\r\nHost: evil.example.org\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
    ],
)
def test_what_is_no_request_is_refused(server: Server, data: bytes) -> None:
    """The answer is an error that echoes nothing, and the server goes on."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    assert b" 200 " not in answer.split(b"\n")[0]
    assert b"BREW" not in answer
    assert ask(server, "/api/stats")[0] == 200


def test_a_body_is_no_second_request(server: Server) -> None:
    """A GET with a body is answered, and the connection is closed before the body counts."""
    body = b"GET /api/stats HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = f"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(head + body)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    assert answer.count(b"HTTP/1.1 200") == 1


def test_many_ask_at_once(server: Server) -> None:
    """Each connection has an archive of its own."""
    found: list[int] = []

    def work() -> None:
        found.append(ask(server, "/api/search?query=d:2024")[0])

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [200] * 12


def test_the_command_serves_until_it_is_stopped(archive: pathlib.Path) -> None:
    """It says where, answers there, on loopback alone, and ends with status 0 by ^C."""
    process = subprocess.Popen(
        [sys.executable, "-m", "patchlore", "--archive", str(archive), "serve", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        match = re.fullmatch(r"patchlore: http://127\.0\.0\.1:(\d+)/ \(\^C ends it\)\n", line)
        assert match is not None, line
        connection = http.client.HTTPConnection("127.0.0.1", int(match[1]), timeout=20)
        connection.request("GET", "/api/stats")
        assert json.loads(connection.getresponse().read())["messages"] == 4
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def test_a_port_that_is_taken_is_told(
    server: Server, archive: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Status 2 and a sentence; no archive is the same."""
    assert main(["--archive", str(archive), "serve", "--port", str(server.port)]) == 2
    assert f"The port {server.port} can't be listened at" in capfd.readouterr().err
    assert main(["--archive", str(archive / "absent"), "serve"]) == 2
    assert "There is no archive" in capfd.readouterr().err
    with pytest.raises(SystemExit):
        main(["serve", "--port", "66000"])
