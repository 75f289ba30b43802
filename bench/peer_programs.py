"""The programs that are compared: how each is filled, and how it is asked what it holds."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import Protocol

from bench.lore_server import serving
from bench.material import Material
from bench.measuring import Usage, run, size_of


class Program(Protocol):
    """A program that can be filled with mail and searched."""

    name: str

    def missing(self) -> str | None:
        """Why it can't be measured here, or None."""

    def fill(self, home: Path, material: Material) -> Usage:
        """Fill it from nothing in the empty folder HOME, so that all can be searched."""

    def count(self, home: Path, material: Material) -> int:
        """Ask it how many messages it finds."""

    def size(self, home: Path) -> int:
        """Bytes of what it keeps; for those that leave the mail in its maildir or git, its index."""


class Patchlore:
    """This program, with one of its engines or without an index."""

    def __init__(self, name: str, engine: str | None) -> None:
        self.name = name
        self._engine = engine

    def missing(self) -> str | None:
        """It is here."""
        return None

    def fill(self, home: Path, material: Material) -> Usage:
        """Ingest the epoch."""
        return self.fill_from(home, material.epoch)

    def fill_from(self, home: Path, source: Path) -> Usage:
        """Ingest SOURCE; an engine that is not the default one is named to `index`."""
        mine = self.command(home)
        if self._engine == "whoosh":
            return run([*mine, "ingest", source])[0]
        usage = run([*mine, "ingest", "--no-index", source])[0]
        if self._engine is not None:
            usage += run([*mine, "index", "--engine", self._engine])[0]
        return usage

    def count(self, home: Path, material: Material) -> int:
        """The messages of the archive less those that the index does not see."""
        numbers = json.loads(run([*self.command(home), "stats", "--json"])[1])
        unseen = 0 if self._engine is None else int(numbers["not_indexed"])
        return int(numbers["messages"]) - unseen

    def size(self, home: Path) -> int:
        """Raw mail, facts and both indexes."""
        return size_of(home / "archive")

    def command(self, home: Path) -> list[str | Path]:
        """How the program is called with the archive in HOME."""
        return [sys.executable, "-m", "patchlore", "--archive", home / "archive"]


class Notmuch:
    """notmuch: Xapian over a maildir."""

    name = "notmuch"

    def missing(self) -> str | None:
        """Debian's package notmuch."""
        return _not_in_path("notmuch")

    def fill(self, home: Path, material: Material) -> Usage:
        """Run `notmuch new`."""
        (home / "config").write_text(
            f"[database]\npath={home / 'database'}\nmail_root={material.maildir}\n"
            "[user]\nname=Ada\nprimary_email=ada@example.org\n[new]\ntags=inbox\n"
        )
        (home / "database").mkdir()
        return run(["notmuch", "new", "--quiet"], self._environment(home))[0]

    def count(self, home: Path, material: Material) -> int:
        """Ask for all messages: one for each Message-ID."""
        return int(run(["notmuch", "count", "*"], self._environment(home))[1])

    def size(self, home: Path) -> int:
        """Its database."""
        return size_of(home / "database")

    def _environment(self, home: Path) -> dict[str, str]:
        return {**os.environ, "HOME": str(home), "NOTMUCH_CONFIG": str(home / "config")}


class Mu:
    """mu: Xapian over a maildir."""

    name = "mu"

    def missing(self) -> str | None:
        """Debian's package maildir-utils."""
        return _not_in_path("mu")

    def fill(self, home: Path, material: Material) -> Usage:
        """Run `mu init` and `mu index`."""
        place = f"--muhome={home / 'mu'}"
        usage = run(["mu", "init", place, f"--maildir={material.maildir}"])[0]
        return usage + run(["mu", "index", place, "--quiet"])[0]

    def count(self, home: Path, material: Material) -> int:
        """Ask for all messages: one for each file."""
        return run(["mu", "find", f"--muhome={home / 'mu'}", "", "--fields", "l"])[1].count("\n")

    def size(self, home: Path) -> int:
        """Its database."""
        return size_of(home / "mu")


class PublicInbox:
    """public-inbox with full text (index level full): Xapian and SQLite over git."""

    name = "public-inbox"

    def missing(self) -> str | None:
        """Debian's package public-inbox, with Xapian for Perl."""
        return _not_in_path("public-inbox-init") or _not_in_path("public-inbox-index")

    def fill(self, home: Path, material: Material) -> Usage:
        """Run `public-inbox-init` and, with the epoch in its place, `public-inbox-index`."""
        environment = self._environment(home)
        inbox = home / "inbox"
        usage = run(
            ["public-inbox-init", "-V2", "-L", "full", "bench", inbox, "http://127.0.0.1/bench",
             "bench@example.org"], environment,
        )[0]  # fmt: skip
        epoch = inbox / "git" / "0.git"
        if epoch.exists():
            shutil.rmtree(epoch)
        shutil.copytree(material.epoch, epoch)
        return usage + run(["public-inbox-index", "-L", "full", inbox], environment)[0]

    def count(self, home: Path, material: Material) -> int:
        """Ask Xapian how many documents it has."""
        program = (
            "use PublicInbox::Inbox; use PublicInbox::Search; print PublicInbox::Inbox->new("
            "{inboxdir=>$ARGV[0],version=>2,name=>'bench'})->search->xdb->get_doccount"
        )
        return int(run(["perl", "-e", program, home / "inbox"], self._environment(home))[1])

    def size(self, home: Path) -> int:
        """All but the git repository, which is the mail."""
        return size_of(home / "inbox") - size_of(home / "inbox" / "git")

    def _environment(self, home: Path) -> dict[str, str]:
        return {**os.environ, "HOME": str(home), "PI_CONFIG": str(home / "config")}


class KernelLore:
    """kernel-lore-mcp as its wheel installs it: columns, trigrams, BM25 (tantivy), raw mail."""

    name = "kernel-lore-mcp"

    def __init__(self, folder: Path | None = None) -> None:
        """Take the folder of its programs (bin of a venv); without one, those in the path."""
        self._folder = folder

    def missing(self) -> str | None:
        """The wheel kernel-lore-mcp, for Python 3.12."""
        return (
            None if self._program("kernel-lore-ingest") else "kernel-lore-ingest is not installed"
        )

    def fill(self, home: Path, material: Material) -> Usage:
        """Run `kernel-lore-ingest --with-bm25` over a mirror with the one list."""
        mirror = home / "mirror"
        mirror.mkdir()
        (mirror / "bench").symlink_to(material.inbox.absolute())
        return run(
            [self._program("kernel-lore-ingest"), "--with-bm25", "--log-level", "ERROR",
             "--data-dir", home / "data", "--lore-mirror", mirror],
        )[0]  # fmt: skip

    def count(self, home: Path, material: Material) -> int:
        """Ask for the messages of the list; the BM25 tier must say that it is up to date."""
        status = json.loads(
            run([self._program("kernel-lore-mcp"), "status", "--data-dir", home / "data"])[1]
        )
        if status["tier_status"]["bm25"] != "in sync":
            return 0
        program = (
            "import sys; from kernel_lore_mcp._core import Reader\n"
            "print(Reader(sys.argv[1]).count('list', 'bench')['count'])"
        )
        python = Path(self._program("kernel-lore-ingest")).parent / "python"
        return int(run([python, "-c", program, home / "data"])[1].split()[-1])

    def size(self, home: Path) -> int:
        """All that it keeps."""
        return size_of(home / "data")

    def _program(self, name: str) -> str:
        if self._folder is not None:
            path = self._folder / name
            return str(path) if path.exists() else ""
        return shutil.which(name) or ""


class KernelLoreSync(KernelLore):
    """The same with its relational tier too (over.db: addresses, files, functions by mail).

    That is what its guide installs; only `kernel-lore-sync` fills it, from a
    server, which runs here.  The time of fetching is taken off.
    """

    name = "kernel-lore-mcp over.db"

    def fill(self, home: Path, material: Material) -> Usage:
        """Run `kernel-lore-sync --with-over --with-bm25` against a server of this machine."""
        with serving(material.inbox, "bench") as address:
            usage, output = run(
                [self._program("kernel-lore-sync"), "--data-dir", home / "data", "--with-over",
                 "--with-bm25", "--manifest-url", f"{address}/manifest.js.gz"],
            )  # fmt: skip
        for line in output.splitlines():
            found = re.search(r'"fetch phase done".*"elapsed_secs":([0-9.]+)', line)
            if found:
                usage.seconds -= float(found[1])
        return usage

    def count(self, home: Path, material: Material) -> int:
        """Ask its relational tier, which must be as full as the others."""
        with contextlib.closing(sqlite3.connect(home / "data" / "over.db")) as connection:
            rows = connection.execute("SELECT count(DISTINCT message_id) FROM over").fetchone()[0]
        return min(int(rows), super().count(home, material))

    def size(self, home: Path) -> int:
        """All but its clone of the repository."""
        return super().size(home) - size_of(home / "data" / "shards")


def programs(kernel_lore: Path | None) -> list[Program]:
    """All programs, ours first; KERNEL_LORE is the folder with the programs of kernel-lore-mcp."""
    return [
        Patchlore("patchlore", "whoosh"),
        Patchlore("patchlore sqlite", "sqlite"),
        Patchlore("patchlore facts", None),
        Notmuch(),
        Mu(),
        PublicInbox(),
        KernelLore(kernel_lore),
        KernelLoreSync(kernel_lore),
    ]


def _not_in_path(program: str) -> str | None:
    return None if shutil.which(program) else f"{program} is not installed"
