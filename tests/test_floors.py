"""The floors: each folder of code at the root is linked into the package and held to its place."""

from __future__ import annotations

import pathlib
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
FLOORS = {"ingest", "kb", "index", "serve", "commands"}


def test_every_floor_is_linked_into_the_package() -> None:
    """What is installed is patchlore/: a link to each floor, relative, and to cli.py."""
    links = {
        path.name: path.readlink() for path in (ROOT / "patchlore").iterdir() if path.is_symlink()
    }
    assert links == {name: pathlib.Path("..") / name for name in (*FLOORS, "cli.py")}


def test_every_package_at_the_root_is_a_floor() -> None:
    """A folder of modules that nobody links would be in no wheel."""
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages - {"bench", "fuzz", "tests", "patchlore"} == FLOORS


def test_every_floor_has_its_place_and_one_spelling() -> None:
    """The contract of import-linter has each floor, and ruff refuses other names for it."""
    (contract,) = PROJECT["tool"]["importlinter"]["contracts"]
    assert {f"patchlore.{name}" for name in FLOORS} <= set(contract["layers"])
    banned = PROJECT["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]
    assert set(banned) == FLOORS | {"cli"}
