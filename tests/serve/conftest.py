"""An archive of a few mails, some of them hostile, and a server that answers from it."""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Iterator

import pytest

from patchlore.cli import main
from patchlore.serve.server import Server
from tests.cli.conftest import BACKPORT, FIX, REPLY

EVIL = """\
From: "<script>alert(1)</script>" <eve@example.org>
Date: Fri, 5 Jan 2024 03:04:05 +0000
Subject: Re: [PATCH AUTOSEL 5.10 15/24] "><img src=x onerror=alert(2)>
Message-ID: <"><script>alert(3)</script>@example.org>
In-Reply-To: <backport@example.org>
References: <backport@example.org>

> </pre><script>alert(4)</script>
\x1b[31mred javascript:alert(5) https://example.org/"onmouseover="alert(6)
"""


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The folder of the archive."""
    folder = tmp_path_factory.mktemp("mails")
    for name, text in (("1", BACKPORT), ("2", REPLY), ("3", FIX), ("4", EVIL)):
        (folder / f"{name}.eml").write_text(text)
    path = tmp_path_factory.mktemp("archive")
    assert main(["--archive", str(path), "ingest", "--list", "widgets", str(folder)]) == 0
    return path


@pytest.fixture(scope="session")
def server(archive: pathlib.Path) -> Iterator[Server]:
    """A server that listens at any port that is free."""
    with Server(archive) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()
