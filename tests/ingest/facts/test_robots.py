"""Reports of the kernel test robot and of syzbot."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from patchlore.ingest.message import Message
from patchlore.ingest.robot import Diagnostic, Metric, Robot
from tests.ingest.letters import DIFF, OTHER, SHA, evidence, parse

ROBOT = "kernel test robot <robot@example.org>"
SYZBOT = "syzbot <syzbot+5e0ac1d27f3b94866a1f@example.org>"
ASKED = (
    "If you fix the issue in a separate patch/commit (i.e. not just a new version of\n"
    "the same patch/commit), kindly add following tags\n"
    "| Reported-by: kernel test robot <robot@example.org>\n"
    "| Closes: https://lore.kernel.org/oe-kbuild-all/lamp-9@example.org/\n\n"
)


def report(body: str, subject: str = "Re: [PATCH] lamp: dim", sender: str = ROBOT) -> Message:
    """The facts of a robot's mail."""
    head = f"From: {sender}\nMessage-ID: <lamp-9@example.org>\nSubject: {subject}\n\n"
    return parse((head + body).encode())


def robot(body: str, subject: str = "Re: [PATCH] lamp: dim", sender: str = ROBOT) -> Robot:
    """The report in a robot's mail."""
    made = report(body, subject, sender).robot
    assert made is not None
    return made


BUILD = f"""\
tree:   https://git.example.org/pub/lamp.git lamp-6.1.y
head:   {SHA}
commit: {OTHER} [3/9] lamp: dim
config: x86_64-randconfig-a001-20230608 (https://example.org/config)
compiler: gcc-12 (Debian 12.2.0-14) 12.2.0
reproduce (this is a W=1 build):
        # https://git.example.org/pub/lamp.git/commit/?id={OTHER}
        git checkout {OTHER}

{ASKED}All errors (new ones prefixed by >>):

   drivers/lamp.c:3:1: warning: an old one
>> drivers/lamp.c:7:12: error: implicit declaration of function 'lamp_off'
>> drivers/lamp.c:9:1: warning: unused variable 'x' [-Wunused-variable]
>> ld.lld: error: undefined symbol: lamp_dim
"""


def test_build_of_a_tree() -> None:
    """Tree, branch, head, the guilty commit with its title, configuration and compiler."""
    made = robot(BUILD, "[lamp:lamp-6.1.y 3/9] drivers/lamp.c:7:12: error: implicit declaration")
    assert (made.name, made.kind, made.outcome) == ("kernel test robot", "build", "error")
    assert (made.tree, made.branch) == ("https://git.example.org/pub/lamp.git", "lamp-6.1.y")
    assert (made.head, made.commit, made.commit_subject) == (SHA, OTHER, "lamp: dim")
    assert made.config == "x86_64-randconfig-a001-20230608"
    assert made.compiler == "gcc-12 (Debian 12.2.0-14) 12.2.0"


def test_diagnostics_of_a_build() -> None:
    """What is new has a mark; a place is parted from what is said of it."""
    assert robot(BUILD).diagnostics == [
        Diagnostic(
            file="drivers/lamp.c",
            line=7,
            level="error",
            text="error: implicit declaration of function 'lamp_off'",
        ),
        Diagnostic(
            file="drivers/lamp.c",
            line=9,
            level="warning",
            text="warning: unused variable 'x' [-Wunused-variable]",
        ),
        Diagnostic(level="error", text="ld.lld: error: undefined symbol: lamp_dim"),
    ]


def test_tags_that_are_asked_for() -> None:
    """The robot asks for two tags; both stand behind a bar."""
    assert robot(BUILD).asks == [
        "Reported-by: kernel test robot <robot@example.org>",
        "Closes: https://lore.kernel.org/oe-kbuild-all/lamp-9@example.org/",
    ]


def test_build_of_a_patch() -> None:
    """Of a patch from a list: which one, on which tree, and the robot's import of it."""
    body = (
        "Hi Nora,\n\nkernel test robot noticed the following build warnings:\n\n"
        "[auto build test WARNING on lamp/for-next]\n"
        "[also build test WARNING on linus/master v6.4-rc5 next-20230608]\n\n"
        "url:    https://example.org/linux/commits/Nora-Finch/lamp-dim/20230608-091500\n"
        "base:   https://git.example.org/pub/lamp.git for-next\n"
        "patch link:    https://lore.kernel.org/r/lamp-1%40example.org\n"
        "patch subject: [PATCH v2 1/2] lamp: dim\n"
        "compiler: clang version 15.0.7\n"
        f"reproduce:\n        # https://example.org/linux/commit/{SHA}\n\n{ASKED}"
        ">> lamp.c:7: warning: Function parameter 'x' not described\n"
    )
    made = robot(body)
    assert (made.kind, made.outcome) == ("build", "warning")
    assert (made.tree, made.branch) == ("https://git.example.org/pub/lamp.git", "for-next")
    assert (made.patch_message_id, made.patch_subject) == (
        "lamp-1@example.org",
        "[PATCH v2 1/2] lamp: dim",
    )
    assert (made.commit, made.head) == (SHA, None)


def test_tree_named_in_short() -> None:
    """``[auto build test ERROR on linus/master]`` where the base has no URL; a hash is no tree."""
    made = robot("[auto build test ERROR on linus/master]\n\nbase:   the 3rd patch of lamp\n")
    assert (made.outcome, made.tree, made.branch) == ("error", "linus", "master")
    assert robot(f"[auto build test ERROR on {SHA}]\n").tree is None


def test_evidence_of_a_report() -> None:
    """Each part of a report points at its line."""
    message = report(BUILD)
    rules = {entry.rule: entry.text for entry in evidence(message, "robot")}
    assert rules["robot-tree"] == "tree:   https://git.example.org/pub/lamp.git lamp-6.1.y"
    assert rules["robot-head"] == f"head:   {SHA}"
    assert rules["robot-commit"] == f"commit: {OTHER} [3/9] lamp: dim"
    assert rules["new-diagnostic"] == ">> ld.lld: error: undefined symbol: lamp_dim"


@pytest.mark.parametrize(
    ("word", "outcome"), [("SUCCESS", "success"), ("REGRESSION", "regression")]
)
def test_status_of_a_branch(word: str, outcome: str) -> None:
    """Mails about a whole branch: its head and whether all was built."""
    made = robot(
        f"tree/branch: https://git.example.org/pub/lamp.git x86/urgent\n"
        f"branch HEAD: {SHA}  lamp: dim\n\nelapsed time: 720m\n",
        f"[lamp:x86/urgent] BUILD {word} {SHA}",
    )
    assert (made.kind, made.outcome, made.head) == ("build-status", outcome, SHA)
    assert (made.tree, made.branch) == ("https://git.example.org/pub/lamp.git", "x86/urgent")


PERFORMANCE = f"""\
Hello,

kernel test robot noticed a -34.6% regression of stress-ng.lamp.ops_per_sec on:


commit: {SHA} ("lamp: dim")
https://git.example.org/pub/linux.git master

testcase: stress-ng
test machine: 64 threads 2 sockets (Lamp Lake) with 256G memory

In addition to that, the commit also has significant impact on the following tests:

+------------------+--------------------------------------------------------+
| testcase: change | stress-ng: stress-ng.bulb.ops_per_sec +12.5% improvement |
| test machine     | 64 threads                                             |
| testcase: change | will-it-scale: per_process_ops -2% regression          |
+------------------+--------------------------------------------------------+

{ASKED}"""


def test_performance() -> None:
    """Every measurement that changed, the culprit, its tree and the machine."""
    made = robot(PERFORMANCE, f"[lamp]  {SHA[:10]}:  stress-ng.lamp.ops_per_sec -34.6% regression")
    assert made.kind == "performance"
    assert made.metrics == [
        Metric(metric="stress-ng.lamp.ops_per_sec", change="-34.6%", kind="regression"),
        Metric(metric="stress-ng.bulb.ops_per_sec", change="+12.5%", kind="improvement"),
        Metric(metric="per_process_ops", change="-2%", kind="regression"),
    ]
    assert (made.commit, made.commit_subject) == (SHA, "lamp: dim")
    assert (made.tree, made.branch) == ("https://git.example.org/pub/linux.git", "master")
    assert (made.test, made.machine) == (
        "stress-ng",
        "64 threads 2 sockets (Lamp Lake) with 256G memory",
    )


def test_performance_is_a_regression_too() -> None:
    """The first measurement is the mail's ``regression``."""
    made = report(PERFORMANCE, f"[lamp]  {SHA[:10]}:  stress-ng.lamp.ops_per_sec -34.6% regression")
    assert made.regression is not None
    assert (made.regression.metric, made.regression.change) == (
        "stress-ng.lamp.ops_per_sec",
        "-34.6%",
    )
    assert made.regression.first_bad_commit == SHA


BOOT = f"""\
Greeting,

FYI, we noticed the following commit (built with gcc-9):

commit: {SHA} ("lamp: dim")
https://git.example.org/pub/linux.git lamp/dim

in testcase: trinity
on test machine: qemu-system-x86_64 -smp 2 -m 8G

caused below changes (please refer to attached dmesg/kmsg for entire log/backtrace):

+------------------------------+------------+------------+
|                              | 9b41f0e6d2 | 5e0ac1d27f |
+------------------------------+------------+------------+
| boot_successes               | 3          | 0          |
| boot_failures                | 1          | 4          |
| INFO:task_hung               | 1          |            |
| BUG:KASAN:double-free_in_lamp | 0          | 4          |
| RIP:lamp_dim                 |            | 4          |
+------------------------------+------------+------------+

If you fix the issue, kindly add following tag
Reported-by: kernel test robot <robot@example.org>
"""


def test_boot() -> None:
    """What fails more often than before, and what it was built with."""
    made = robot(BOOT, f"{SHA[:10]}: BUG:KASAN:double-free_in_lamp")
    assert made.kind == "boot"
    assert made.symptoms == ["BUG:KASAN:double-free_in_lamp", "RIP:lamp_dim"]
    assert (made.commit, made.compiler, made.test) == (SHA, "gcc-9", "trinity")
    assert made.asks == ["Reported-by: kernel test robot <robot@example.org>"]


def test_boot_noticed_by_name() -> None:
    """Newer mails name what they noticed in quotation marks."""
    made = robot(
        f'Hello,\n\nkernel test robot noticed "WARNING:at_lib/lamp.c:#dim" on:\n\ncommit: {SHA} '
        '("lamp: dim")\nhttps://git.example.org/pub/linux.git master\n'
    )
    assert (made.kind, made.symptoms) == ("boot", ["WARNING:at_lib/lamp.c:#dim"])


def test_report_passed_on() -> None:
    """A person who passes a robot's report on; one who quotes it has none of his own."""
    passed = report("Hi Bo,\n\n" + BUILD, sender="Nora Finch <nora@example.org>").robot
    assert passed is not None
    assert (passed.name, passed.commit) == ("kernel test robot", OTHER)
    quoted = "".join(f"> {line}\n" for line in BUILD.split("\n"))
    assert report(quoted + "\nFixed.\n", sender="Nora Finch <nora@example.org>").robot is None


def test_robot_that_talks() -> None:
    """A person answers in the robot's name: no report."""
    message = report("Hi Nora,\n\nSorry, the configuration was wrong.\n")
    assert message.robot is None
    assert evidence(message, "robot") == []


CRASH = f"""\
Hello,

syzbot found the following issue on:

HEAD commit:    {SHA[:12]} Merge tag 'lamps-6.4' of git://git.example.org/lamp
git tree:       upstream
console output: https://syzkaller.appspot.com/x/log.txt?x=1
kernel config:  https://syzkaller.appspot.com/x/.config?x=f9aa2432c01bcb1f
dashboard link: https://syzkaller.appspot.com/bug?extid=5e0ac1d27f3b94866a1f
compiler:       gcc (Debian 12.2.0-14) 12.2.0, GNU ld 2.40

The issue was bisected to:

commit {OTHER}
Author: Nora Finch <nora@example.org>
Date:   Thu Jun 8 07:06:05 2023 +0000

    lamp: dim

IMPORTANT: if you fix the issue, please add the following tag to the commit:
Reported-by: syzbot+5e0ac1d27f3b94866a1f@example.org
Fixes: {OTHER[:12]} ("lamp: dim")

If the report is already addressed, let syzbot know by replying with:
#syz fix: exact-commit-title
"""


def test_crash() -> None:
    """syzbot's first mail: what was run, the bug's id, the bisected commit, the tags."""
    message = report(CRASH, "[syzbot] [lamp?] KASAN: use-after-free in lamp_dim", SYZBOT)
    made = message.robot
    assert made is not None
    assert (made.name, made.kind) == ("syzbot", "crash")
    assert (made.head, made.tree, made.bug) == (SHA[:12], "upstream", "5e0ac1d27f3b94866a1f")
    assert made.config == "https://syzkaller.appspot.com/x/.config?x=f9aa2432c01bcb1f"
    assert made.compiler == "gcc (Debian 12.2.0-14) 12.2.0, GNU ld 2.40"
    assert (made.commit, made.commit_subject) == (OTHER, "lamp: dim")
    assert made.asks == [
        "Reported-by: syzbot+5e0ac1d27f3b94866a1f@example.org",
        f'Fixes: {OTHER[:12]} ("lamp: dim")',
    ]
    assert message.commands == []


def with_tree(sentence: str) -> str:
    """A mail of syzbot that begins with SENTENCE."""
    return (
        f"{sentence}\n\ncommit {OTHER}\nAuthor: Nora Finch <nora@example.org>\n\n    lamp: dim\n\n"
        f"start commit:   {SHA[:12]} lamp: glow\ngit tree:       https://example.org/l.git next\n"
    )


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("syzbot suspects this issue was fixed by commit:", "fix-suspected"),
        ("syzbot suspects this bug could be fixed by commit:", "fix-suspected"),
        ("syzbot has bisected this issue to:", "bisection"),
        ("syzbot has bisected this bug to:", "bisection"),
    ],
)
def test_bisections_of_syzbot(sentence: str, kind: str) -> None:
    """The commit that broke it, or that seems to have fixed it."""
    made = robot(with_tree(sentence), "Re: [syzbot] lamp", SYZBOT)
    assert (made.kind, made.commit, made.commit_subject) == (kind, OTHER, "lamp: dim")
    assert (made.head, made.tree, made.branch) == (
        SHA[:12],
        "https://example.org/l.git",
        "next",
    )


@pytest.mark.parametrize(
    ("sentence", "outcome"),
    [
        (
            "syzbot has tested the proposed patch and the reproducer did not trigger any issue:",
            "success",
        ),
        (
            "syzbot has tested the proposed patch but the reproducer is still triggering an issue:",
            "failure",
        ),
        ("syzbot tried to test the proposed patch but the build/boot failed:", "failure"),
    ],
)
def test_tests_of_syzbot(sentence: str, outcome: str) -> None:
    """A proposed patch was tested; the commit is what it was applied to."""
    made = robot(
        f"Hello,\n\n{sentence}\n\n"
        "Reported-and-tested-by: syzbot+5e0ac1d27f3b94866a1f@example.org\n\n"
        f"Tested on:\n\ncommit:         {SHA[:8]} lamp: glow\ngit tree:       upstream\n",
        "Re: [syzbot] lamp",
        SYZBOT,
    )
    assert (made.kind, made.outcome, made.head) == ("test-result", outcome, SHA[:8])
    assert made.asks == ["Reported-and-tested-by: syzbot+5e0ac1d27f3b94866a1f@example.org"]


def test_monthly_report() -> None:
    """syzbot's list of open bugs."""
    made = robot(
        "Hello lamp maintainers/developers,\n\nThis is a 31-day syzbot report for the lamp "
        "subsystem.\n",
        "[syzbot] Monthly lamp report (Jun 2023)",
        SYZBOT,
    )
    assert made.kind == "status"


@pytest.mark.parametrize("make", [lambda n: ">> x.c:1:1: error: y\n" * n, lambda n: BOOT * n])
def test_lists_are_bounded(make: Callable[[int], str]) -> None:
    """A log of a thousand errors is cut: the first ones say what is wrong."""
    made = robot(make(1000))
    assert len(made.diagnostics) <= 50
    assert len(made.symptoms) <= 50


def test_patch_of_a_robot() -> None:
    """Robots send patches, too (semantic patches' warnings): no report without its signs."""
    message = report(f"Fix it.\n\n---\n{DIFF}", "[PATCH] lamp: fix ifnullfree.cocci warnings")
    assert message.is_patch
    assert message.robot is None


@pytest.mark.parametrize(
    "piece", ["| x%", "| a -1%", "|x%y", ">> a:1:", "noticed a -1% ", "tree: "]
)
def test_time_is_linear(piece: str) -> None:
    """Lines as long as facts are sought in, made of what a report's lines begin with."""
    line = (piece * 2000)[:1990] + "\n"
    start = time.process_time()
    report(line * 400)
    assert time.process_time() - start < 5
