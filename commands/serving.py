"""``patchlore serve`` and ``mcp``: answers to a browser, to programs, to assistants."""

from __future__ import annotations

import argparse
import contextlib

from patchlore.commands.common import Subparsers, add_command, archive_path, note

#: Where the page is unless told otherwise.
PORT = 8016


def add_parsers(subparsers: Subparsers) -> None:
    """Add the commands."""
    parser = add_command(
        subparsers,
        "serve",
        "a web page and an API, for this machine alone",
        ["patchlore serve", "patchlore serve --port 0    any port that is free"],
        "Answers at http://127.0.0.1:PORT/ until it is stopped (^C). Nothing is written, and "
        "no other machine can ask.",
    )
    parser.add_argument(
        "--port", type=_port, default=PORT, metavar="N", help=f"the port (default: {PORT})"
    )
    parser.set_defaults(run=run_serve)

    parser = add_command(
        subparsers,
        "mcp",
        "tools for assistants that speak MCP, over standard input and output",
        ["patchlore --archive ~/mail.archive mcp"],
        "Reads a JSON-RPC message a line and answers each in a line, until its input ends. "
        "Tools: search, show, thread, commit, pr, cve, backports, review, stats.",
    )
    parser.set_defaults(run=run_mcp)


def run_serve(args: argparse.Namespace) -> int:
    """Serve until a signal ends it."""
    from patchlore.kb.errors import UsageError
    from patchlore.serve.server import Server

    try:
        server = Server(archive_path(args), args.port)
    except OSError as error:
        raise UsageError(
            f"The port {args.port} can't be listened at: {error.strerror}; --port names another."
        ) from error
    with server:
        note(f"patchlore: {server.url} (^C ends it)")
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    return 0


def run_mcp(args: argparse.Namespace) -> int:
    """Answer line by line until standard input ends."""
    import sys

    from patchlore.commands.common import write_bytes
    from patchlore.library import Library
    from patchlore.serve.mcp import answers, bounded_lines

    with Library(archive_path(args)) as library:
        for answer in answers(library, bounded_lines(sys.stdin.buffer)):
            write_bytes(answer)
    return 0


def _port(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else -1
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is no port: give a number from 0 to 65535")
    return number
