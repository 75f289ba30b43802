"""Bugs of GCC and of other trackers, and where in the mail each one stands."""

from __future__ import annotations

import re
from functools import cached_property

from patchlore.ingest.facts.context import MAX_LINE, Context
from patchlore.ingest.facts.trailers import is_tag
from patchlore.ingest.message import CONFIDENCES, Confidence, GccBug, OtherBug
from patchlore.ingest.text import ADDED, CONTEXT, FOREIGN, QUOTED, REMOVED, SIGNATURE

#: Components of GCC's Bugzilla, so that "PR kern/12345" (NetBSD) and "PR ld/27230" are told apart.
_GCC_COMPONENTS = frozenset(
    "ada algol68 analyzer bootstrap c c++ cobol d debug demangler diagnostics driver fastjar fortran"
    " gcov-profile general go inline-asm ipa java jit libada libbacktrace libcc1 libdecnumber libf2c"
    " libffi libfortran libgcc libgcj libgdiagnostics libgomp libiberty libitm libmudflap libobjc libquadmath"
    " libstdc++ lto middle-end modula2 objc objc++ optimization other pch pending plugins preprocessor"
    " regression rtl-optimization rust sanitizer spam target testsuite translation tree-optimization"
    " treelang web xml".split()
)
_SOURCEWARE_COMPONENTS = frozenset(
    "ld gas binutils gold gprof gprofng libctf libsframe gdb exp breakpoints libc math nptl dynamic-link"
    " stdio malloc localedata string network build".split()
)
_GCC_URL = re.compile(
    r"gcc\.gnu\.org/(?:bugzilla/)?(?:show_bug\.cgi\?(?:[\w=&]*&)?id=(?:3D)?|PR|bugs?/|)(\d{2,6})(?![\w-]|\.\w)",
    re.I,
)
_COMPONENT = re.compile(r"\bPR[ \t]*[:#]?[ \t]*([a-zA-Z][a-zA-Z0-9+-]{0,20})/(\d{1,6})\b(?!\.\d)")
_NAMED = re.compile(
    r"\bgcc(?:'s)?[ \t]+(?:PR[ \t]*[#/:]?|bug(?:zilla)?(?:[ \t]+bug)?(?:[ \t]+report)?[ \t]*[#:]?|bz[ \t]*#?)[ \t]*(\d{3,6})\b(?!\.\d)",
    re.I,
)
_BARE = re.compile(r"(?<![\w/-])PR[ \t]?#?(\d{4,6})\b(?![\w]|\.\d|-\d)")
_GCC_SIGN = re.compile(r"gcc\.gnu\.org|\bgcc[- ]?\d|\bGCC\b|\bgcc\b(?!-)|\bGNU compiler", re.ASCII)
#: Qualcomm's clock controller is called gcc too: "<&gcc PRNG_CLK>", "gcc: clock-controller@…".
_CLOCK = re.compile(
    r"[<&]gcc\b|\bgcc[-_](?:sm|sdm|msm|qcs|sc|ipq|apq|x1|mdm|sa)\d|gcc:|clock-controller"
)
_NOT_GCC = re.compile(
    r"llvm|clang|\[(?:InstCombine|X86|AArch64|ARM|DAG\w*|SLP|LoopVectorize|RISCV?)\]|\(NFC\)|github|gitlab|pull request"
    r"|merge request|Rust-GCC|gitea|codeberg",
    re.I,
)
#: Tracker, words of which a line must have one (in lower case), pattern.
_OTHERS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    ("kernel", ("bugzilla.kernel",), re.compile(r"bugzilla\.kernel\.org/(?:show_bug\.cgi\?(?:[\w=&]*&)?id=(?:3D)?)?(\d{3,7})", re.I)),
    ("llvm", ("llvm",), re.compile(r"(?:bugs\.llvm\.org/(?:show_bug\.cgi\?id=(?:3D)?)?|llvm\.org/pr|llvm\.org/PR|github\.com/llvm/llvm-project/issues/)(\d{1,7})", re.I)),
    ("clang-built-linux", ("clangbuiltlinux",), re.compile(r"github\.com/ClangBuiltLinux/linux/issues/(\d{1,6})", re.I)),
    ("sourceware", ("sourceware",), re.compile(r"sourceware\.org/(?:bugzilla/)?(?:show_bug\.cgi\?id=(?:3D)?|PR)(\d{2,6})", re.I)),
    ("debian", ("debian",), re.compile(r"bugs\.debian\.org/(?:cgi-bin/bugreport\.cgi\?bug=(?:3D)?)?(\d{4,8})|\bDebian bug ?#?(\d{4,8})", re.I)),
    ("redhat", ("redhat",), re.compile(r"bugzilla\.redhat\.com/(?:show_bug\.cgi\?id=(?:3D)?)?(\d{4,8})", re.I)),
    ("suse", ("bsc#", "bnc#", "boo#", "suse", "novell"), re.compile(r"bugzilla\.(?:suse\.com|opensuse\.org|novell\.com)/(?:show_bug\.cgi\?id=(?:3D)?)?(\d{4,8})|\b(?:bsc|bnc|boo)#(\d{4,8})", re.I)),
    ("launchpad", ("launchpad",), re.compile(r"(?:bugs\.)?launchpad\.net/(?:[\w./+-]{0,80}/)?\+?bugs?/(\d{3,8})", re.I)),
    ("freedesktop", ("freedesktop",), re.compile(r"bugs\.freedesktop\.org/show_bug\.cgi\?id=(?:3D)?(\d{3,7})", re.I)),
    ("gentoo", ("gentoo",), re.compile(r"bugs\.gentoo\.org/(?:show_bug\.cgi\?id=(?:3D)?)?(\d{4,8})", re.I)),
)  # fmt: skip
_SYZBOT = re.compile(
    r"syzkaller\.appspot\.com/bug\?(?:extid|id)=(?:3D)?([0-9a-f]{16,40})|\bsyzbot[+-]([0-9a-f]{16,40})",
    re.I,
)
_GCC_COMMIT = re.compile(
    r"gcc\.gnu\.org/(?:g:([0-9a-f]{7,40})|(r\d{1,2}-\d{1,6})(?:-g[0-9a-f]{7,40})?|(r\d{4,6})\b"
    r"|git/\S{0,80}?h=([0-9a-f]{7,40}))|(?<![\w-])(r\d{1,2}-\d{1,6})-g[0-9a-f]{7,40}\b"
    r"|\bgcc(?:'s)?[ \t]+(?:(?:trunk|commit|revision|master)[ \t(]+){1,2}(r\d{1,2}-\d{1,6}|r\d{5,6})\b",
    re.I,
)
#: What ``git describe`` says in a repository of GCC; no other project's begins so.
_DESCRIBED = re.compile(r"r\d{1,2}-\d{1,6}-g[0-9a-f]{7}", re.I)
#: A line without one of these names no bug.
_SIGNS = (
    "gcc", "bugzilla", "bugs.", "bug/", "bugs/", "debian bug", "syz", "bsc#", "bnc#", "boo#",
    "llvm", "sourceware", "issues/", "launchpad",
)  # fmt: skip
#: "PR" is in every "PRINT" and "PROT_READ"; before a number, a component or a wrap it is not.
_PR = re.compile(
    r"PR(?:[ \t]?#?\d|[ \t]{0,3}[:#]?[ \t]{0,3}[a-zA-Z][a-zA-Z0-9+-]{0,20}/\d|$)", re.M
)


class _Finder:
    """Collects bugs over a message's lines in order of appearance."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.gcc: dict[int, GccBug] = {}
        self.others: dict[tuple[str, int | str], OtherBug] = {}
        self.commits: dict[str, None] = {}

    @cached_property
    def has_gcc_sign(self) -> bool:
        """Does GCC's name stand anywhere here, clock controllers aside?"""
        text = f"{self.context.message.subject or ''}\n{self.context.text.body}"
        for match in _GCC_SIGN.finditer(text):
            around = text[max(0, match.start() - 2) : match.end() + 20]
            if not _CLOCK.search(around):
                return True
        return False

    def add(
        self, number: int, component: str | None, where: str, confidence: Confidence, index: int,
        rule: str, text: str,
    ) -> None:  # fmt: skip
        """One sighting of a GCC bug; the strongest confidence of all sightings counts."""
        bug = self.gcc.get(number)
        if bug is None:
            bug = self.gcc[number] = GccBug(number=number, confidence=confidence)
        bug.component = bug.component or component
        if where not in bug.where:
            bug.where.append(where)
        if CONFIDENCES.index(confidence) < CONFIDENCES.index(bug.confidence):
            bug.confidence = confidence
        self.context.note("gcc_prs", number, index, rule, text=text, confidence=confidence)

    def read(self, line: str, where: str, index: int) -> None:
        """Find the bugs of one line in the order in which they stand there."""
        found: list[tuple[int, int, str | None, Confidence, str, str]] = []
        lowered = line.lower()
        if "gcc.gnu.org" in lowered:
            found.extend(
                (m.start(), int(m[1]), None, "certain", "gcc-bugzilla-url", m[0])
                for m in _GCC_URL.finditer(line)
            )
        if "PR" in line:
            found.extend(self._read_pr(line, index))
        if "gcc" in lowered:
            taken = {number for _, number, *_ in found}
            for match in _NAMED.finditer(line):
                if int(match[1]) not in taken:
                    found.append(
                        (match.start(), int(match[1]), None, "certain", "gcc-bug-named", match[0])
                    )
        if "gcc" in lowered or "-g" in lowered:
            for match in _GCC_COMMIT.finditer(line):
                name = next(group for group in match.groups() if group).lower()
                if name not in self.commits:
                    self.commits[name] = None
                    self.context.note("gcc_commits", name, index, "gcc-commit", text=match[0])
        for _, number, component, confidence, rule, text in sorted(found, key=lambda item: item[0]):
            self.add(number, component, where, confidence, index, rule, text)
        self._read_others(line, index)

    def _read_pr(
        self, line: str, index: int
    ) -> list[tuple[int, int, str | None, Confidence, str, str]]:
        found: list[tuple[int, int, str | None, Confidence, str, str]] = []
        for match in _COMPONENT.finditer(line):
            component, number = match[1].lower(), int(match[2])
            if component in ("gcc", "bug"):
                found.append((match.start(), number, None, "certain", "pr-gcc", match[0]))
            elif component in _GCC_COMPONENTS:
                found.append(
                    (match.start(), number, component, "certain", "pr-component", match[0])
                )
            elif component in _SOURCEWARE_COMPONENTS:
                self._add_other("sourceware", number, component, index, match[0])
            elif component == "kern":
                self._add_other("netbsd", number, component, index, match[0])
        bare = list(_BARE.finditer(line))
        if not bare or (not found and "gcc.gnu.org" not in line and _NOT_GCC.search(line)):
            return found
        for match in bare:
            number = int(match[1])
            named = line[max(0, match.start() - 4) : match.start()].lower().endswith("gcc ")
            if named or (number < 10_000 and not found):
                continue  # "GCC PR 15089" has its own rule; a small number needs GCC's name
            confidence: Confidence = "medium" if self.has_gcc_sign else "low"
            if found and any(item[4] == "pr-component" for item in found):
                confidence = "high"
            found.append((match.start(), number, None, confidence, "pr-number", match[0]))
        return found

    def _read_others(self, line: str, index: int) -> None:
        lowered = line.lower()
        for tracker, needles, pattern in _OTHERS:
            if not any(needle in lowered for needle in needles):
                continue
            for match in pattern.finditer(line):
                number = next(group for group in match.groups() if group)
                self._add_other(tracker, int(number), None, index, match[0])
        for match in _SYZBOT.finditer(line) if "syz" in lowered else ():
            self._add_syzbot((match[1] or match[2]).lower(), index, match[0])

    def _add_other(
        self, tracker: str, number: int, component: str | None, index: int, text: str
    ) -> None:
        key = (tracker, number)
        if key not in self.others:
            self.others[key] = OtherBug(tracker=tracker, number=number, component=component)
            rule = "tracker-url" if component is None else "pr-component"
            self.context.note("other_prs", f"{tracker}:{number}", index, rule, text=text)

    def _add_syzbot(self, digest: str, index: int, text: str) -> None:
        key = ("syzbot", digest)
        if key not in self.others:
            self.others[key] = OtherBug(tracker="syzbot", id=digest)
            self.context.note("other_prs", f"syzbot:{digest}", index, "syzbot-id", text=text)


_WHERE = {ADDED: "diff-added", REMOVED: "diff-removed", CONTEXT: "diff-context", QUOTED: "quoted",
          FOREIGN: "quoted"}  # fmt: skip


def find(context: Context) -> None:
    """Fill ``gcc_prs``, ``other_prs`` and ``gcc_commits``."""
    message = context.message
    finder = _Finder(context)
    subject = (message.subject or "")[:MAX_LINE]
    if "PR" in subject or any(sign in subject.lower() for sign in _SIGNS):
        finder.read(subject, "subject", -1)
    kinds = context.text.kinds
    lines = dict(context.lines_with(*_SIGNS))
    if "PR" in context.text.body:
        lines.update(context.lines_matching(_PR))
    if "-g" in context.text.body:
        lines.update(context.lines_matching(_DESCRIBED))
    for index, line in sorted(lines.items()):
        kind = kinds[index]
        if kind != SIGNATURE:
            where = _WHERE.get(kind) or _where_in_own_text(context, line)
            finder.read(_unwrapped(context, index, line), where, index)
    message.gcc_prs = list(finder.gcc.values())
    message.other_prs = list(finder.others.values())
    message.gcc_commits = list(finder.commits)


def _unwrapped(context: Context, index: int, line: str) -> str:
    """LINE with the next one's first word where a wrap parted "PR" from its number."""
    lines = context.text.lines
    if line.endswith("PR") and index + 1 < len(lines):
        words = lines[index + 1][:200].lstrip("> ").split(maxsplit=1)
        return f"{line} {words[0]}" if words else line
    return line


def _where_in_own_text(context: Context, line: str) -> str:
    """``trailer`` for a tag line of a patch, else ``body``."""
    key, colon, value = line.partition(":")
    if colon and context.message.is_patch and is_tag(key.strip(), value.strip()):
        return "trailer"
    return "body"
