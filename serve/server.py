"""The page and the API on this machine: HTTP on a loopback address, GET alone, nothing written."""

from __future__ import annotations

import html
import sys
import urllib.parse
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import PathLike
from typing import Any

import msgspec

from patchlore import __version__
from patchlore.ingest.errors import PatchloreError
from patchlore.kb.errors import NotFoundError
from patchlore.kb.text import printable_lines
from patchlore.library import Library
from patchlore.serve.answers import QUESTIONS, ask
from patchlore.serve.pages import STYLE, answer_page, page, start_page

#: The only address that is listened at: what mail says is for this machine alone.
ADDRESS = "127.0.0.1"

#: Names of this machine that a browser may have asked for.  A page of somebody else can
#: make its own name mean 127.0.0.1 (DNS rebinding); then the Host is that name.
_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})

#: A slow or silent client is left after so many seconds.
_PATIENCE = 30

_LONGEST_TARGET = 32_768

_HEADERS = (
    (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
)


class Server(ThreadingHTTPServer):
    """A server for one archive; ``server_address`` is (address, port)."""

    daemon_threads = True

    def __init__(self, archive: str | PathLike[str], port: int = 0) -> None:
        """Listen at a port of the loopback address (0: any that is free); raises OSError.

        Raises ArchiveError where there is no archive that can be read.
        """
        Library(archive).close()
        self.archive = archive
        super().__init__((ADDRESS, port), Handler)

    @property
    def port(self) -> int:
        """The port that is listened at."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """Where the first page is."""
        return f"http://{ADDRESS}:{self.port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say in a line what went wrong with a connection; one that broke off is no news."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            print(f"patchlore: a request failed ({type(error).__name__}).", file=sys.stderr)


class Handler(BaseHTTPRequestHandler):
    """Answers one connection, with an archive opened for it."""

    server: Server
    server_version = f"patchlore/{__version__}"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = _PATIENCE

    def do_GET(self) -> None:
        """Answer a question, as a page or below /api/ as JSON."""
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # what follows is a body, no request of its own
        if not self._is_for_us():
            self._send_error(HTTPStatus.FORBIDDEN, "This server answers to its own address only.")
            return
        if len(self.path) > _LONGEST_TARGET:
            self._send_error(HTTPStatus.REQUEST_URI_TOO_LONG, "The address is too long.")
            return
        target = urllib.parse.urlsplit(self.path)
        try:
            pairs = urllib.parse.parse_qsl(target.query, max_num_fields=20, errors="replace")
        except ValueError:
            self._send_error(HTTPStatus.BAD_REQUEST, "There are too many parameters.")
            return
        name = target.path.removeprefix("/")
        if name == "style.css":
            self._send(HTTPStatus.OK, "text/css", STYLE.encode())
        elif name in ("", "api", "api/"):
            self._answer("", {}, as_json=name != "")
        else:
            self._answer(name.removeprefix("api/"), dict(pairs), as_json=name.startswith("api/"))

    def _refuse(self) -> None:
        """Answer any other method: nothing can be changed here."""
        self.close_connection = True
        self._send_error(HTTPStatus.METHOD_NOT_ALLOWED, "Only GET is answered.")

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = _refuse
    do_CONNECT = _refuse

    def _answer(self, name: str, values: dict[str, str], *, as_json: bool) -> None:
        if name and name not in QUESTIONS:
            self._send_error(HTTPStatus.NOT_FOUND, "There is no such page.", as_json=as_json)
            return
        try:
            with Library(self.server.archive) as library:
                answer = ask(library, name or "stats", values)
        except PatchloreError as error:
            self._send_error(_status_of(error), str(error), as_json=as_json)
            return
        except Exception as error:  # whatever it is, the client gets an answer
            text = f"The archive can't answer ({type(error).__name__})."
            self._send_error(HTTPStatus.INTERNAL_SERVER_ERROR, text, as_json=as_json)
            return
        if as_json:
            self._send(HTTPStatus.OK, "application/json", msgspec.json.encode(answer) + b"\n")
            return
        shown = answer_page(name, values, answer) if name else start_page(answer)
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", shown.encode("utf-8", "replace"))

    def _is_for_us(self) -> bool:
        """Whether the Host of the request is this machine and our port."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1:
            return False
        host, _, port = hosts[0].strip().lower().rpartition(":")
        if not host or port.endswith("]"):
            return hosts[0].strip().lower() in _HOSTS
        return host in _HOSTS and port == str(self.server.port)

    def _send_error(self, status: HTTPStatus, text: str, *, as_json: bool | None = None) -> None:
        if as_json is None:
            as_json = self.path.startswith("/api/")
        if as_json:
            self._send(status, "application/json", msgspec.json.encode({"error": text}) + b"\n")
            return
        shown = page(status.phrase, f"<pre>{_escaped(text)}</pre>")
        self._send(status, "text/html; charset=utf-8", shown.encode("utf-8", "replace"))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what http.server itself refuses in our own form: it would echo the request."""
        self.close_connection = True
        self._send(HTTPStatus(code), "text/plain; charset=utf-8", b"This is no request.\n")

    def _send(self, status: HTTPStatus, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in _HEADERS:
            self.send_header(name, value)
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: what somebody looks for is nobody's business."""


def _status_of(error: PatchloreError) -> HTTPStatus:
    if isinstance(error, NotFoundError):
        return HTTPStatus.NOT_FOUND
    if getattr(error, "exit_status", 1) == 2:
        return HTTPStatus.BAD_REQUEST
    return HTTPStatus.INTERNAL_SERVER_ERROR


def _escaped(text: str) -> str:
    return html.escape(printable_lines(text))
