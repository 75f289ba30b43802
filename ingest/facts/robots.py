"""Reports of test robots: the kernel test robot's builds, boots and measurements, syzbot's crashes.

Only a robot's own mail is read here, or a person's that passes its report on;
what a reply quotes of one is ``regression`` (reports.py) at most. The forms
are those of https://github.com/intel/lkp-tests and
https://github.com/google/syzkaller (dashboard/app/mail_*.txt).
"""

from __future__ import annotations

import re

from patchlore.ingest.facts.context import MAX_LINE, Context, is_robot
from patchlore.ingest.facts.links import clean_url, message_id_of
from patchlore.ingest.robot import Diagnostic, Metric, Robot
from patchlore.ingest.text import FOREIGN

#: The frame of a report is at its top; logs and sources below run to thousands of lines.
_TOP = 400
_DIAGNOSTICS = 50
_FIELD = re.compile(
    r"(tree/branch|tree|branch HEAD|head commit|head|start commit|commit|base|patch link|patch subject"
    r"|config|kernel config|compiler|git tree|dashboard link|in testcase|testcase|on test machine"
    r"|test machine):[ \t]*(\S.*)",
    re.I,
)
_SHA = re.compile(r"([0-9a-f]{7,40})(?![0-9a-z])[ \t]*(.*)")
_TREE = re.compile(r"((?:https?|git|ssh)://\S{1,200})(?:[ \t]+(\S{1,150}))?")
_SHORT_TREE = re.compile(r"([\w.-]{1,60})/([\w./-]{1,100})$")
_AUTO_TEST = re.compile(r"\[auto build test (WARNING|ERROR|\w{1,20}) on (\S{1,100})\]")
_STATUS = re.compile(r"\bBUILD (SUCCESS|REGRESSION|FAILURE|DONE|INCOMPLETE)\b[ \t]*(.*)")
_IMPORTED = re.compile(r"[ \t#]{0,12}https?://\S{1,100}?/commit/([0-9a-f]{40})")
_NEW = re.compile(r">> ?(\S.*)")
_PLACE = re.compile(r"([^\s:]{1,200}):(\d{1,7})(?::\d{1,5})?:[ \t]*(.*)")
_LEVEL = re.compile(
    r"\b(?:fatal |internal compiler )?(error|warning|undefined reference|undefined!)", re.I
)
_NOTICED = re.compile(
    r"(?:noticed|found) an?[ \t]+([+-]?\d+(?:\.\d+)?%)[ \t]+(regression|improvement)[ \t]+of[ \t]+([^\s:]{1,150})",
    re.I,
)
_CHANGED = re.compile(
    r"(?<![^\s:|])([^\s:|]{1,150})[ \t]+([+-]?\d+(?:\.\d+)?%)[ \t]+(regression|improvement)\b", re.I
)
_NOTICED_NAME = re.compile(r"(?:noticed|found)[ \t]+\"([^\"]{1,200})\"[ \t]+on", re.I)
_BUILT_WITH = re.compile(r"\(built with ((?:gcc|clang)-\d[\d.]{0,10})")
_ROW = re.compile(r"\|[ \t]*([^|]{1,200}?)[ \t]*\|([ \t\d|]{1,200})\|[ \t]*$")
_NO_SYMPTOM = frozenset({"boot_successes", "boot_failures", ""})
_ASKED = re.compile(
    r"(?:\|[ \t])?(Reported-by|Closes|Reported-and-tested-by|Tested-by|Fixes|Link):[ \t]*(\S.*)",
    re.I,
)
_SYZBOT_BUG = re.compile(r"bug\?(?:extid|id)=(?:3D)?([0-9a-f]{16,40})")
_SYZBOT_KINDS = (
    (re.compile(r"syzbot suspects this (?:issue|bug) (?:was|could be) fixed by", re.I), "fix-suspected"),
    (re.compile(r"syzbot has bisected this (?:issue|bug) to|bisection (?:of|result)", re.I), "bisection"),
    (re.compile(r"syzbot (?:has )?(?:tested|tried to test) the proposed patch", re.I), "test-result"),
    (re.compile(r"syzbot (?:has )?found the following|syzbot hit the following|syzbot has found a reproducer", re.I), "crash"),
    (re.compile(r"this is a \d+-day syzbot report|this is the (?:monthly|weekly)|syzbot report for", re.I), "status"),
)  # fmt: skip
_FAILED = re.compile(r"\bbut\b|still triggering|failed|error", re.I)


def find(context: Context) -> None:
    """Fill ``robot`` from a robot's own mail."""
    message = context.message
    if not (is_robot(message) or _passed_on(context)):
        return
    top = [
        (index, line)
        for index, line in enumerate(context.text.lines[:_TOP])
        if len(line) <= MAX_LINE and context.text.kinds[index] != FOREIGN
    ]
    robot = Robot(name=_name(context), kind="")
    evidence = len(message.evidence)
    if robot.name == "syzbot":
        _read_syzbot(context, robot, top)
    else:
        _read_test_robot(context, robot, top)
    if robot.kind:
        message.robot = robot
    else:
        del message.evidence[evidence:]


def _name(context: Context) -> str:
    sender = context.message.from_
    said = f"{sender.name} {sender.email}".lower() if sender else ""
    return "syzbot" if "syzbot" in said else "kernel test robot"


def _passed_on(context: Context) -> bool:
    """Does a person pass a robot's report on? Its request for a tag is not quoted then."""
    if "kindly add following tag" not in context.words:
        return False
    at = context.lower.find("kindly add following tag")
    start = context.lower.rfind("\n", 0, at) + 1
    return context.lower[start] not in ">|"


# -- syzbot ---------------------------------------------------------------------------


def _read_syzbot(context: Context, robot: Robot, top: list[tuple[int, str]]) -> None:
    for index, line in top:
        if not robot.kind and "syzbot" in line:
            below = context.text.lines[index + 1] if index + 1 < len(context.text.lines) else ""
            _read_syzbot_kind(context, robot, index, line, below)
        elif robot.kind:
            _read_syzbot_line(context, robot, index, line)


def _read_syzbot_kind(context: Context, robot: Robot, index: int, line: str, below: str) -> None:
    joined = f"{line} {below}"
    for pattern, kind in _SYZBOT_KINDS:
        match = pattern.search(joined)
        if match:
            robot.kind = kind
            context.note("robot", f"syzbot {kind}", index, f"syzbot-{kind}")
            if kind == "test-result":
                robot.outcome = "failure" if _FAILED.search(joined, match.end()) else "success"
            return


def _read_syzbot_line(context: Context, robot: Robot, index: int, line: str) -> None:
    match = _FIELD.match(line)
    if match:
        key, value = match[1].lower(), match[2].strip()
        if key in ("head commit", "start commit") or (
            key == "commit" and robot.kind == "test-result"
        ):
            sha = _SHA.match(value)
            if sha and robot.head is None:
                robot.head = sha[1]
                context.note("robot", f"head {sha[1]}", index, "syzbot-head", text=line)
        elif key == "git tree" and robot.tree is None:
            _set_tree(robot, value)
            context.note("robot", f"tree {value}", index, "syzbot-tree", text=line)
        elif key == "compiler" and robot.compiler is None:
            robot.compiler = value
        elif key == "kernel config" and robot.config is None:
            robot.config = clean_url(value)
        elif key == "dashboard link" and robot.bug is None:
            bug = _SYZBOT_BUG.search(value)
            if bug:
                robot.bug = bug[1]
                context.note("robot", f"bug {bug[1]}", index, "syzbot-dashboard", text=line)
        return
    if line.startswith("commit ") and robot.commit is None:
        # "The issue was bisected to:" / "commit <sha>" / "Author: …" / "    title".
        sha = _SHA.match(line, 7)
        if sha:
            robot.commit = sha[1]
            robot.commit_subject = _indented_title(context, index)
            context.note("robot", f"commit {sha[1]}", index, "syzbot-commit", text=line)
        return
    _read_ask(context, robot, index, line)


def _indented_title(context: Context, index: int) -> str | None:
    """The title of a commit shown as git log does: the first indented line below."""
    for line in context.text.lines[index + 1 : index + 8]:
        if line[:4] == "    " and line.strip():
            return line.strip()[:300]
    return None


# -- the kernel test robot ---------------------------------------------------------------


def _read_test_robot(context: Context, robot: Robot, top: list[tuple[int, str]]) -> None:
    _read_robot_subject(context, robot)
    imported: str | None = None
    for index, line in top:
        head = line[:1]
        if head == ">":
            _read_diagnostic(context, robot, index, line)
        elif head == "[":
            auto = _AUTO_TEST.match(line)
            if auto and robot.outcome is None:
                robot.kind = robot.kind or "build"
                robot.outcome = auto[1].lower()
                _set_tree(robot, auto[2])
                context.note("robot", f"build {robot.outcome}", index, "auto-build-test", text=line)
        elif head == "|" and _read_row(context, robot, index, line):
            continue
        elif head in (" ", "\t", "#"):
            match = _IMPORTED.match(line) if imported is None and "/commit/" in line else None
            if match:
                imported = match[1]
        elif not _read_robot_field(context, robot, index, line):
            _read_sentence(context, robot, index, line)
            _read_ask(context, robot, index, line)
    if robot.commit is None and imported is not None:
        robot.commit = imported  # the robot's own import of a patch from a list


def _read_robot_subject(context: Context, robot: Robot) -> None:
    subject = (context.message.subject or "")[:MAX_LINE]
    status = _STATUS.search(subject)
    if status:
        robot.kind = "build-status"
        robot.outcome = "success" if status[1] == "SUCCESS" else status[1].lower()
        context.note("robot", f"build-status {robot.outcome}", -1, "build-status", text=status[0])
        return
    changed = _CHANGED.search(subject)
    if changed:
        _add_metric(context, robot, -1, changed[1], changed[2], changed[3], changed[0])


def _read_robot_field(context: Context, robot: Robot, index: int, line: str) -> bool:
    match = _FIELD.match(line)
    if match is None:
        return False
    key, value = match[1].lower(), match[2].strip()
    if key in ("tree", "tree/branch", "base"):
        if _TREE.match(value):
            _set_tree(robot, value)
            context.note("robot", f"tree {value}", index, "robot-tree", text=line)
    elif key in ("head", "branch head"):
        sha = _SHA.match(value)
        if sha and robot.head is None:
            robot.head = sha[1]
            context.note("robot", f"head {sha[1]}", index, "robot-head", text=line)
    elif key == "commit":
        _read_commit(context, robot, index, line, value)
    elif key == "patch link":
        robot.patch_message_id = message_id_of(clean_url(value))
    elif key == "patch subject":
        robot.patch_subject = value
    elif key == "config":
        robot.config = robot.config or value.partition(" (")[0]
    elif key == "compiler":
        robot.compiler = robot.compiler or value
    elif "testcase" in key:
        robot.test = robot.test or value
    else:
        robot.machine = robot.machine or value
    return True


def _read_commit(context: Context, robot: Robot, index: int, line: str, value: str) -> None:
    """``commit: <sha> [3/9] title`` or ``commit: <sha> ("title")``, its tree on the line below."""
    sha = _SHA.match(value)
    if sha is None or robot.commit is not None:
        return
    robot.commit = sha[1]
    title = re.sub(r"^\[\d+/\d+\][ \t]*", "", sha[2]).strip()
    if title.startswith('("'):
        title = title.removeprefix('("').removesuffix('")')
    robot.commit_subject = title or None
    context.note("robot", f"commit {sha[1]}", index, "robot-commit", text=line)
    below = context.text.lines[index + 1] if index + 1 < len(context.text.lines) else ""
    tree = _TREE.match(below)
    if tree and robot.tree is None and tree[2]:
        _set_tree(robot, below)
        context.note("robot", f"tree {below.strip()}", index + 1, "robot-tree", text=below)


def _read_sentence(context: Context, robot: Robot, index: int, line: str) -> None:
    """What the robot says it noticed."""
    if "oticed" not in line and "build " not in line and "caused below" not in line:
        return
    noticed = _NOTICED.search(line)
    if noticed:
        _add_metric(context, robot, index, noticed[3], noticed[1], noticed[2], noticed[0])
        return
    named = _NOTICED_NAME.search(line)
    if named:
        robot.kind = robot.kind or "boot"
        _add_symptom(context, robot, index, named[1], line)
    elif "noticed the following commit" in line or "caused below changes" in line:
        built = _BUILT_WITH.search(line)
        robot.compiler = robot.compiler or (built[1] if built else None)
        if not robot.kind:
            robot.kind = "boot"
            context.note("robot", "boot", index, "robot-boot")
    elif re.search(r"noticed the following build (warning|error)", line):
        robot.kind = robot.kind or "build"
        robot.outcome = robot.outcome or ("warning" if "build warn" in line else "error")
        context.note("robot", f"build {robot.outcome}", index, "robot-build")


def _read_row(context: Context, robot: Robot, index: int, line: str) -> bool:
    """A row of a table: a further measurement, or how often a symptom was seen before and after."""
    if "%" in line:
        changed = _CHANGED.search(line)
        if changed:
            _add_metric(context, robot, index, changed[1], changed[2], changed[3], changed[0])
            return True
    row = _ROW.match(line)
    if row:
        counts = [cell.strip() for cell in row[2].split("|")]
        before, after = counts[0], counts[-1]
        worse = after.isdigit() and int(after) > int(before if before.isdigit() else 0)
        if len(counts) == 2 and worse and row[1] not in _NO_SYMPTOM:
            robot.kind = robot.kind or "boot"
            _add_symptom(context, robot, index, row[1], line)
        return True
    if _ASKED.match(line):
        _read_ask(context, robot, index, line)
        return True
    return False


def _read_diagnostic(context: Context, robot: Robot, index: int, line: str) -> None:
    """``>> file.c:7:1: warning: …``: what is new with the commit (older ones have no mark)."""
    match = _NEW.match(line)
    if match is None or len(robot.diagnostics) >= _DIAGNOSTICS:
        return
    said = match[1].rstrip()
    level = _LEVEL.search(said)
    word = None if level is None else "warning" if level[1].lower() == "warning" else "error"
    place = _PLACE.match(said)
    if place:
        made = Diagnostic(file=place[1], line=int(place[2]), level=word, text=place[3])
    else:
        made = Diagnostic(level=word, text=said)
    robot.kind = robot.kind or "build"
    if robot.kind == "build" and (robot.outcome is None or word == "error"):
        robot.outcome = word or robot.outcome
    robot.diagnostics.append(made)
    context.note("robot", f"{word or 'diagnostic'} {said}", index, "new-diagnostic", text=line)


def _add_metric(
    context: Context, robot: Robot, index: int, metric: str, change: str, kind: str, said: str
) -> None:
    made = Metric(metric=metric, change=change, kind=kind.lower())
    robot.kind = robot.kind or "performance"
    if made not in robot.metrics and len(robot.metrics) < _DIAGNOSTICS:
        robot.metrics.append(made)
        context.note("robot", f"{metric} {change} {made.kind}", index, "robot-metric", text=said)


def _add_symptom(context: Context, robot: Robot, index: int, symptom: str, line: str) -> None:
    if symptom not in robot.symptoms and len(robot.symptoms) < _DIAGNOSTICS:
        robot.symptoms.append(symptom)
        context.note("robot", f"symptom {symptom}", index, "robot-symptom", text=line)


# -- both ----------------------------------------------------------------------------------


def _read_ask(context: Context, robot: Robot, index: int, line: str) -> None:
    match = _ASKED.match(line)
    if match and len(robot.asks) < _DIAGNOSTICS:
        made = f"{match[1]}: {match[2].strip()}"
        if made not in robot.asks:
            robot.asks.append(made)
            context.note("robot", made, index, "robot-asks", text=line)


def _set_tree(robot: Robot, value: str) -> None:
    """A tree and its branch: ``URL branch``, ``tree/branch`` or a name alone."""
    tree = _TREE.match(value)
    if tree:
        robot.tree, robot.branch = tree[1], tree[2]
    elif robot.tree is None and not _SHA.fullmatch(value):
        short = _SHORT_TREE.match(value)
        robot.tree, robot.branch = (short[1], short[2]) if short else (value, None)
