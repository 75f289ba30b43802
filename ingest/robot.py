"""Values of test robots' reports and of the commands that people give to robots in mail."""

from __future__ import annotations

from msgspec import Struct


class Diagnostic(Struct, kw_only=True, gc=False):
    """What a compiler or linker said; ``level`` is error, warning, or None."""

    file: str | None = None
    line: int | None = None
    level: str | None = None
    text: str


class Metric(Struct, kw_only=True, gc=False):
    """A measurement that changed: ``change`` as written (``-41.6%``).

    ``kind``: regression or improvement.
    """

    metric: str
    change: str
    kind: str


class Robot(Struct, kw_only=True, gc=False):
    """A test robot's report, in its own mail (docs/facts.md, "Robots").

    ``name``: kernel test robot, syzbot. ``kind``: build, build-status, boot,
    performance; crash, bisection, fix-suspected, test-result, status.
    """

    name: str
    kind: str
    #: error, warning (build); success, failure (build-status, test-result).
    outcome: str | None = None
    #: A URL, or the name that the robot gives (``upstream``, ``net-next``).
    tree: str | None = None
    branch: str | None = None
    #: The commit that was built or run, and the one that is found guilty.
    head: str | None = None
    commit: str | None = None
    commit_subject: str | None = None
    #: The mail whose patch was tested.
    patch_subject: str | None = None
    patch_message_id: str | None = None
    compiler: str | None = None
    config: str | None = None
    test: str | None = None
    machine: str | None = None
    #: syzbot's id of the bug.
    bug: str | None = None
    diagnostics: list[Diagnostic] = []
    metrics: list[Metric] = []
    #: What went wrong at boot or in a test, by the robot's name for it.
    symptoms: list[str] = []
    #: Tags that the robot asks for, as written: ``Reported-by: …``, ``Closes: …``.
    asks: list[str] = []


class BotCommand(Struct, kw_only=True, gc=False):
    """A command to a robot: ``#syz fix: title``, ``#regzbot introduced: <sha>``.

    ``commits`` are hashes and versions of the value (two for a range),
    ``message_id`` the mail that a URL in it names.
    """

    bot: str
    command: str
    value: str | None = None
    commits: list[str] = []
    message_id: str | None = None
