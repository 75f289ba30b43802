"""Where the program starts: ``python -m patchlore`` and the installed script."""

from __future__ import annotations

import signal


def main() -> int:
    """Run the command line; return the exit status."""
    # Until patchlore.cli takes over, ^C just ends the program: no traceback of imports.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    from patchlore.cli import main as run

    return run()


if __name__ == "__main__":
    raise SystemExit(main())
