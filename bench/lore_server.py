"""A server of one mailing list as lore.kernel.org serves it: its manifest, its repository."""

from __future__ import annotations

import contextlib
import gzip
import http.server
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def serving(inbox: Path, name: str) -> Iterator[str]:
    """Serve the first epoch of INBOX as /NAME/git/0.git while the block runs; yields the address.

    Repositories are served by git's own `git http-backend`, on loopback only.
    """
    manifest = {f"/{name}/git/0.git": {"fingerprint": "0" * 40, "modified": 1700000000}}
    packed = gzip.compress(json.dumps(manifest).encode())

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/manifest.js.gz":
                self.send_response(200)
                self.end_headers()
                self.wfile.write(packed)
            else:
                self._git(b"")

        def do_POST(self) -> None:
            if self.headers.get("transfer-encoding") != "chunked":
                self._git(self.rfile.read(int(self.headers.get("content-length") or 0)))
                return
            chunks = []
            while size := int(self.rfile.readline(), 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self._git(b"".join(chunks))

        def _git(self, body: bytes) -> None:
            path, _, query = self.path.removeprefix(f"/{name}").partition("?")
            answer = subprocess.run(
                ["git", "http-backend"],
                input=body,
                capture_output=True,
                check=False,
                env={
                    **os.environ,
                    "GIT_PROJECT_ROOT": str(inbox.absolute()),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("content-type", ""),
                    "CONTENT_LENGTH": str(len(body)),
                    "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
                    "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
                },
            ).stdout
            head, _, data = answer.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
            self.send_response(int(fields.pop("Status", "200").split()[0]))
            for key, value in fields.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
