"""Commands that people give to robots in mail: syzbot's ``#syz …`` and regzbot's ``#regzbot …``.

https://github.com/google/syzkaller/blob/master/docs/syzbot.md and
https://linux-regtracking.leemhuis.info/regzbot/reference/
"""

from __future__ import annotations

import re

from patchlore.ingest.facts.context import Context, is_robot
from patchlore.ingest.facts.links import message_id_of, urls_in
from patchlore.ingest.robot import BotCommand
from patchlore.ingest.text import NOTE, PROSE

#: More commands than this are none.
MAX_COMMANDS = 100
_COMMAND = re.compile(
    r"#(syz|regzbot|regzb|regz)(?:[ \t]*:)?[ \t_-]{1,4}\^?([a-z][a-z-]{1,30})[ \t]*:?[ \t]*(.*)",
    re.I,
)
_SYZ = frozenset(
    "fix unfix dup undup invalid test set unset upstream uncc regenerate report fixed".split()
)
_REGZBOT = frozenset(
    "introduced fix fixed-by monitor link title dup dup-of duplicate inconclusive invalid resolve"
    " resolved report from ignore-activity poke backburner unbackburner summary unlink related"
    " fix-incoming subject".split()
)
#: Commands whose value may stand on the next line: a mailer wrapped there.
_WRAPPED = frozenset({"fix", "dup", "test", "introduced", "monitor", "link", "title"})
#: The words of syzbot's own instructions, copied into a reply.
_PLACEHOLDER = re.compile(
    r"exact-(?:commit-title|subject-of-another-report)|git://repo/address", re.I
)
_POINT = r"(?:[0-9a-f]{7,40}(?![0-9a-z])|v\d{1,2}\.\d{1,3}(?:\.\d{1,3})?(?:-rc\d{1,2})?|next-\d{8})"
_COMMITS = re.compile(rf"({_POINT})(?:\^?[ \t]?\.\.\.?[ \t]?({_POINT}))?", re.I)
_HASHED = frozenset({"introduced", "fix", "fixed-by", "fixed", "test", "resolve"})


def find(context: Context) -> None:
    """Fill ``commands`` from the author's own lines; a robot's examples are none."""
    heads = context.text.heads
    index = heads.find("#")
    if index < 0 or is_robot(context.message):
        return
    kinds, lines = context.text.kinds, context.text.lines
    while index >= 0 and len(context.message.commands) < MAX_COMMANDS:
        line = lines[index]
        if kinds[index] in (PROSE, NOTE) and line[:4].lower() in ("#syz", "#reg"):
            _read(context, index, line[:1000])
        index = heads.find("#", index + 1)


def _read(context: Context, index: int, line: str) -> None:
    match = _COMMAND.match(line)
    if match is None:
        return
    bot = "syzbot" if match[1].lower() == "syz" else "regzbot"
    command, value = match[2].lower(), match[3].strip()
    if command not in (_SYZ if bot == "syzbot" else _REGZBOT):
        context.reject("commands", index, "unknown-command", line)
        return
    if not value and command in _WRAPPED and context.text.kinds[index + 1 : index + 2] == b"t":
        below = context.text.lines[index + 1][:1000].strip()
        value = "" if below.startswith(("#", "---")) else below
    if _PLACEHOLDER.search(value):
        context.reject("commands", index, "placeholder", line)
        return
    made = BotCommand(bot=bot, command=command, value=value or None)
    if command in _HASHED:
        found = _COMMITS.match(value) if command != "test" else _COMMITS.search(value)
        # A title may begin with what looks like a hash; a range or a hash stands alone.
        if found:
            made.commits = [point for point in found.groups() if point]
    urls = urls_in(value)
    if urls:
        made.message_id = message_id_of(urls[0])
    context.message.commands.append(made)
    said = f"{bot} {command}" + (f": {value}" if value else "")
    context.note("commands", said, index, f"{bot}-command", text=line)
