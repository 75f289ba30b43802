"""Commands to syzbot and to regzbot."""

from __future__ import annotations

import pytest

from patchlore.ingest.robot import BotCommand
from tests.ingest.letters import OTHER, SHA, evidence, parse_letter, parse_patch


def commands(line: str) -> list[BotCommand]:
    """The commands of a reply that holds LINE."""
    text = f"On Thu, syzbot wrote:\n> Hello\n\n{line}\n\nNora\n"
    return parse_letter(text, "In-Reply-To: <a@example.org>", subject="Re: lamp").commands


@pytest.mark.parametrize(
    ("line", "command", "value"),
    [
        ("#syz fix: lamp: dim", "fix", "lamp: dim"),
        ("#syz fix lamp: dim", "fix", "lamp: dim"),
        ("#syz-fix: lamp: dim", "fix", "lamp: dim"),
        ("#syz: fix: lamp: dim", "fix", "lamp: dim"),
        ("#SYZ fix: lamp: dim", "fix", "lamp: dim"),
        ("#syz fix:\nlamp: dim", "fix", "lamp: dim"),
        ("#syz dup: WARNING in lamp_dim", "dup", "WARNING in lamp_dim"),
        ("#syz invalid", "invalid", None),
        ("#syz undup", "undup", None),
        ("#syz test: https://example.org/l.git next", "test", "https://example.org/l.git next"),
        ("#syz test", "test", None),
        ("#syz set subsystems: lamp", "set", "subsystems: lamp"),
    ],
)  # fmt: skip
def test_syz(line: str, command: str, value: str | None) -> None:
    """The colons are optional; a title may stand on the next line."""
    assert commands(line) == [BotCommand(bot="syzbot", command=command, value=value)]


@pytest.mark.parametrize(
    ("line", "command", "commits"),
    [
        (f"#regzbot introduced: {SHA}", "introduced", [SHA]),
        (f"#regzbot introduced {SHA[:12]}", "introduced", [SHA[:12]]),
        (f"#regzbot ^introduced {SHA[:12]}", "introduced", [SHA[:12]]),
        (f"#regzbot introduced: {SHA[:12]}..{OTHER[:12]}", "introduced", [SHA[:12], OTHER[:12]]),
        (f"#regzbot introduced: {SHA[:12]}^..{OTHER[:12]}", "introduced", [SHA[:12], OTHER[:12]]),
        ("#regzbot introduced: v6.3..v6.4-rc5", "introduced", ["v6.3", "v6.4-rc5"]),
        ("#regzbot introduced: v6.1.3...v6.1.4", "introduced", ["v6.1.3", "v6.1.4"]),
        (f"#regzbot fix: {SHA[:12]}", "fix", [SHA[:12]]),
        (f"#regzbot fixed-by: {SHA[:12]}", "fixed-by", [SHA[:12]]),
        ("#regzbot fix: lamp: dim", "fix", []),
        ("#regzbot fix: faded lamps", "fix", []),
        ("#regzbot title: lamp stays dark", "title", []),
        ("#regzb dup-of: https://lore.kernel.org/r/b@example.org", "dup-of", []),
        ("#regzbot ignore-activity", "ignore-activity", []),
    ],
)
def test_regzbot(line: str, command: str, commits: list[str]) -> None:
    """What introduced a regression: a commit, or a range of commits or releases."""
    (made,) = commands(line)
    assert (made.bot, made.command, made.commits) == ("regzbot", command, commits)


@pytest.mark.parametrize("command", ["monitor", "link", "dup", "report"])
def test_mail_named_by_a_command(command: str) -> None:
    """A URL of an archive names a mail."""
    (made,) = commands(f"#regzbot {command}: https://lore.kernel.org/lamp/b%2B1@example.org/")
    assert made.message_id == "b+1@example.org"


def test_commit_in_a_test() -> None:
    """``#syz test: repository commit``: the commit is one."""
    (made,) = commands(f"#syz test: https://example.org/l.git {SHA}")
    assert made.commits == [SHA]


@pytest.mark.parametrize(
    "line",
    [
        "> #syz fix: lamp: dim",
        "Say #syz fix: lamp: dim",
        "#syzkaller is good",
        "#regression in lamp",
        "#forregzbot: introduced",
        "# syz fix",
    ],
)
def test_no_command(line: str) -> None:
    """A command begins a line of the author's own."""
    assert commands(line) == []


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("#syz fix: exact-commit-title", "placeholder"),
        ("#syz dup: exact-subject-of-another-report", "placeholder"),
        ("#syz test: git://repo/address.git branch-or-commit-hash", "placeholder"),
        ("#syz thanks", "unknown-command"),
    ],
)
def test_commands_turned_down(line: str, rule: str) -> None:
    """Words of the robot's instructions that were left in a reply; what no robot knows."""
    message = parse_letter(line + "\n", subject="Re: lamp")
    assert message.commands == []
    assert [entry.rule for entry in message.rejected if entry.fact == "commands"] == [rule]


def test_command_in_a_patch() -> None:
    """A patch tried out by syzbot has the command above the diff or below the cut."""
    assert parse_patch("#syz test").commands == [BotCommand(bot="syzbot", command="test")]


def test_evidence() -> None:
    """The line that gives the command."""
    message = parse_letter("Hi.\n\n#syz fix: lamp: dim\n", subject="Re: lamp")
    (entry,) = evidence(message, "commands")
    assert (entry.value, entry.line, entry.rule) == (
        "syzbot fix: lamp: dim",
        3,
        "syzbot-command",
    )
