"""The same words asked of patchlore, notmuch, mu and lei, as programs, over the same mails."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from bench.search_questions import words_of
from bench.search_timing import programs
from patchlore.kb.store import Archive

#: What is noted of an index that is kept: seconds that it took, by program.
_FILLED = "filled.json"

#: Of each program: the commands that fill it, and the one that takes a question.
_Tool = tuple[list[list[str]], list[str]]


def side_by_side(path: Path, number: int, folder: Path, most: int = 20) -> dict[str, str]:
    """Ask each program the same words, MOST at most, of the newest NUMBER mails of an archive.

    What they index stays in FOLDER; one that holds it already is only asked.
    """
    words = _prepare(path, number, folder)[:most]
    home = str(folder.absolute())
    environment = {
        **os.environ,
        "HOME": home,
        "XDG_CACHE_HOME": f"{home}/cache",
        "XDG_CONFIG_HOME": f"{home}/config",
        "XDG_DATA_HOME": f"{home}/data",
    }
    noted = folder / _FILLED
    seconds: dict[str, float] = msgspec.json.decode(noted.read_bytes()) if noted.exists() else {}
    results: dict[str, str] = {}
    try:
        for name, (preparing, asking) in _tools(home).items():
            if name != "patchlore" and shutil.which(name) is None:
                results[name] = "is not installed"
                continue
            if name not in seconds:
                start = time.perf_counter()
                for command in preparing:
                    subprocess.run(command, env=environment, capture_output=True, check=False)
                seconds[name] = time.perf_counter() - start
                noted.write_bytes(msgspec.json.encode(seconds))
            row = programs([[*asking, word] for word in words], environment)
            results[name] = (
                f"{row['median']:8.1f} (95th {row['p95']:.1f});"
                f" indexing {number / max(seconds[name], 0.001):,.0f} mails/s"
            )
    finally:
        if shutil.which("lei"):
            subprocess.run(
                ["lei", "daemon-kill"], env=environment, capture_output=True, check=False
            )
    return results


def _prepare(path: Path, number: int, folder: Path) -> list[str]:
    """Write the mails as a maildir where FOLDER has none; return the words to ask."""
    chance = random.Random(20240229)
    mail = folder / "mail"
    with Archive(path) as archive:
        words = [word for word in words_of(archive, chance, 80) if word.isalpha()][:20]
        if mail.exists():
            return words
        for name in ("cur", "new", "tmp"):
            (mail / name).mkdir(parents=True)
        rows = archive.execute("SELECT id FROM message ORDER BY timestamp DESC LIMIT ?", (number,))
        for (id_,) in rows.fetchall():
            (mail / "cur" / f"{id_}.x:2,S").write_bytes(archive.raw(id_))
    (folder / ".notmuch-config").write_text(
        f"[database]\npath={mail.absolute()}\n[user]\nname=A\nprimary_email=a@example.org\n"
    )
    return words


def _tools(home: str) -> dict[str, _Tool]:
    mail = f"{home}/mail"
    ours = [sys.executable, "-m", "patchlore", "--archive", f"{home}/archive"]
    return {
        "patchlore": ([[*ours, "ingest", mail]], [*ours, "search", "--limit", "20"]),
        "notmuch": ([["notmuch", "new", "--quiet"]], ["notmuch", "search", "--limit=20"]),
        "mu": (
            [["mu", "init", f"--maildir={mail}"], ["mu", "index", "--quiet"]],
            ["mu", "find", "--maxnum=20"],
        ),
        "lei": (
            [["lei", "init"], ["lei", "import", mail]],
            ["lei", "q", "--limit=20", "-f", "json"],
        ),
    }
