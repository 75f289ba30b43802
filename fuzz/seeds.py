"""The first corpus of each target and the words that mutations are made with; all invented.

The mails and pages are those of the tests: what a new reader's tests hold
becomes its seeds by itself.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
from functools import cache
from pathlib import Path

import zstandard

from patchlore.ingest.detect import READERS, detect
from tests.ingest.letters import DIFF as _DIFF
from tests.ingest.letters import OTHER, SHA
from tests.ingest.test_properties import BODY_PIECES, SPECIMENS

DIFF = _DIFF.encode()
HEADERS = (
    b"From: Nora Finch <nora@example.org>\n"
    b"Date: Thu, 8 Jun 2023 09:06:05 +0200\n"
    b"Message-ID: <lamp-1@example.org>\n"
)
SENDERS = (b"Nora Finch", b"kernel test robot", b"syzbot")
SUBJECTS = (
    "[PATCH 5.10.y v2 1/2] lamp: dim",
    "Re: [PATCH] lamp: dim",
    'Patch "lamp: dim" has been added to the 6.6-stable tree',
    'FAILED: patch "lamp: dim" failed to apply to 5.4-stable tree',
    "[PATCH 6.6 000/267] 6.6.9-rc1 review",
    "Linux 6.6.9",
    'Revert "lamp: dim"',
    "lamp",
    f"[lamp]  {SHA[:10]}:  will-it-scale.per_process_ops -7.0% regression",
    "[lamp:master 3/9] drivers/lamp.c:7:1: warning: unused variable 'x'",
    "[syzbot] [lamp?] KASAN: use-after-free in lamp_dim",
    "Re: [syzbot] WARNING in lamp_dim",
    "[tip: x86/urgent] lamp: dim",
    "[GIT PULL] lamps for 6.6",
    "[merged mm-stable] lamp-dim.patch removed from -mm tree",
)

_BODIES = (
    f'commit {SHA} upstream.\n\nDim.\n\nFixes: {OTHER[:12]} ("lamp: glow")\n'
    "Cc: stable@vger.kernel.org # 5.4+\nLink: https://lore.kernel.org/r/lamp-0@example.org\n"
    f"Signed-off-by: Nora Finch <nora@example.org>\n---\n lamp.c | 2 +-\n\n{_DIFF}-- \n2.41.0\n",
    f"This reverts commit {SHA}.\n\nbase-commit: {SHA}\nprerequisite-patch-id: {OTHER}\n"
    "Depends-on: <lamp-0@example.org>\nchange-id: 20230608-lamp-5e0ac1d27f3b\n",
    "Hello Nora,\n\nkernel test robot noticed the following build warnings:\n\n"
    f"[auto build test WARNING on lamp/master]\n[cannot apply to linus/master v6.4-rc5]\n\n"
    "url:    https://github.com/example/lamp/commits/Nora-Finch/lamp-dim/20230608-091500\n"
    "base:   https://git.example.org/lamp.git master\n"
    "patch link:    https://lore.kernel.org/r/lamp-1%40example.org\n"
    "patch subject: [PATCH] lamp: dim\n"
    "config: x86_64-allyesconfig (https://download.example.org/config)\n"
    "compiler: clang version 15.0.7 (https://example.org/llvm 8dfdcc7b7b)\n"
    "reproduce (this is a W=1 build):\n\n"
    "| Reported-by: kernel test robot <robot@example.org>\n"
    "| Closes: https://lore.kernel.org/oe-kbuild-all/lamp-9@example.org/\n\n"
    "All warnings (new ones prefixed by >>):\n\n"
    ">> drivers/lamp.c:7:1: warning: unused variable 'x' [-Wunused-variable]\n"
    f"tree:   https://git.example.org/lamp.git master\nhead:   {SHA}\ncommit: {OTHER} [3/9] dim\n",
    f"FYI, we noticed a -7.0% regression of will-it-scale.per_process_ops due to commit:\n\n\n"
    f'commit: {SHA} ("lamp: dim")\nhttps://git.example.org/lamp.git master\n\n'
    "in testcase: will-it-scale\non test machine: 104 threads\nwith following parameters:\n\n"
    "| testcase: change | stress-ng: stress-ng.lamp.ops_per_sec +12.5% improvement |\n"
    f"first bad commit: [{SHA}] lamp: dim\n",
    f"Hello,\n\nsyzbot found the following issue on:\n\nHEAD commit:    {SHA[:12]} Merge tag\n"
    "git tree:       upstream\nconsole output: https://syzkaller.appspot.com/x/log.txt?x=1\n"
    "dashboard link: https://syzkaller.appspot.com/bug?extid=5e0ac1d27f3b94866a1f\n"
    "compiler:       gcc (Debian 12.2.0-14) 12.2.0, GNU ld 2.40\n\n"
    "Reported-by: syzbot+5e0ac1d27f3b94866a1f@syzkaller.appspotmail.com\n"
    f'Fixes: {SHA[:12]} ("lamp")\n#syz fix: lamp: dim\n#syz dup: other\n#syz invalid\n'
    f"#syz test: https://git.example.org/lamp.git master\n#regzbot introduced: {SHA[:12]}..v6.1\n"
    "#regzbot fix: lamp: dim\n#regzbot monitor: https://lore.kernel.org/r/a@example.org\n",
    "Bench in cycles/byte:\n\n          gcc-7.2.1   gcc-8.1.0  clang-15\n-O2    14.9  15.1   9\n"
    "\n| compiler | size | time |\n| gcc 12.2 | 10 | 3% |\n| gcc 13.1 | 12 | - |\n",
    "Applied, thanks!\n\n[1/2] lamp: dim\n      commit: " + SHA + "\n"
    "      https://git.example.org/lamp/c/" + OTHER[:12] + "\n",
    "GCC PR108477, PR target/89587, https://gcc.gnu.org/PR114952 and\n"
    "http://gcc.gnu.org/bugzilla/show_bug.cgi?id=3D82365#c14, CVE-2023-12345\n",
    "the filename of the patch is:\n     lamp-dim.patch\nand it can be found in queue-6.6\n\n"
    f"From {SHA} Mon Sep 17 00:00:00 2001\nFrom: Nora Finch <nora@example.org>\n"
    f"Subject: lamp: dim\n\n[ Upstream commit {OTHER} ]\n---\n{_DIFF}",
    "> q\n\n-----Original Message-----\nFrom: Ada Quill\nSent: now\n\nOn Thu, Nora wrote:\n| a\n",
)
_NOTES = (
    "# 5.4+", "# v4.9+", "[4.20+]", "(v2.6.12+)", "# for v4.15 and up", "# >= v4.19",
    "# 4.4,4.9,4.14", "# before 4.15", "# 5.12 and older", "# between 4.19 and 5.4", "# 4.9 only",
    "# 5.1.x: 3be232f11a3c: LAMP: dim", '# b566d38857fc ("lamp: dim")', "# after -rc3",
    "# v6.18-rc1", "# after 4 weeks in mainline", "# depends on 941f7298c70c", "# 3.3.x",
    "# 5.4.x-", "6.6.9-rc1",
    "linux-5.10.y", "6.1.y-cip", "v5.10", "5.15.*",
)  # fmt: skip
_WORDS = (
    "=?utf-8?q?B=C3=B6?= <bo@example.org>", "=?UTF-8?B?QsO2?=", "=?iso-8859-1*de?q?a_b?= =?x?q?y?=",
    "\x00utf-8 \u2028 text", "\x05\x1b$B$3\x1b(B",
)  # fmt: skip
_DATES = (
    "Thu, 8 Jun 2023 09:06:05 +0200", "8 Jun 23 9:06 PDT (x)", "Thu Jun  8 09:06:05 2023",
    "2023-06-08T09:06:05.123456789Z", "Fri Nov 20 2015 - 03:04:35 EST",
    "from a by b; Thu, 1 Jan 1970",
)  # fmt: skip
_ADDRESSES = (
    'Nora Finch <nora@example.org>, "Finch, Ada" <ada@example.org>', "a@...mple.org",
    "nora at example.org (Nora)", "lamps: a@example.org, b@example.org;", "lamp@xxxxxxxxxxx",
    '"a\\"b" <1+b[bot]@example.org>, <>, ""',
)  # fmt: skip
_QUERIES = (
    "s:lamp AND f:nora", "(a OR b) NOT c", '"lamp dim" d:20180101..20180401',
    "pr:target/89587 +x -y",
    "dfn:lamp.c stable:5.10.y status:needed", "commit:5e0ac1d27f3b z:10k..1m", "reviewed-by:nora*",
    "bug:llvm:143908 is:patch cve:2023-1234",
)  # fmt: skip
_RANGES = (
    "20180101..20180401",
    "2018..",
    "..2018-04",
    "2020-02-14T12:30:00",
    "10k..1m",
    "@1234567890",
)
_HTML = (
    "<p>a<br>b &amp; c</p><pre>x\n  y</pre><script>z</script>",
    "<table><tr><td>a<td>b</table>",
)

_SYNTAX = (
    b"Content-Type: |multipart/mixed; boundary=|text/html; charset=|message/rfc822|format=flowed"
    b"|Content-Transfer-Encoding: base64\n|quoted-printable|References: <|\n\n--|--\n|<pre>|</pre>"
    b"|&lt;|&#64;|<!--X-|-->|<li><em>|</em>: |<a href=|\nFrom |\r\n|\xef\xbb\xbf|\xc2\xa0"
    b"|From mboxrd@z Thu Jan  1 00:00:00 1970\n|Content-Length: 3\n"
).split(b"|")
_TEXTS = (*_NOTES, *_WORDS, *_DATES, *_ADDRESSES, *_QUERIES, *_RANGES)

#: Words that mutations are made with; libFuzzer puts one in where it likes.
TOKENS = tuple(
    dict.fromkeys(
        [
            *(piece.encode() for piece in BODY_PIECES if piece),
            *(line[:60].encode() for body in _BODIES for line in body.split("\n") if line),
            *(text.encode() for text in _TEXTS),
            *_SYNTAX,
        ]
    )
)


def mails() -> list[bytes]:
    """Whole mails."""
    heads = [HEADERS + b"Subject: " + subject.encode() + b"\n\n" for subject in SUBJECTS]
    return [*SPECIMENS, *(heads[n % len(heads)] + b.encode() for n, b in enumerate(_BODIES))]


def bodies() -> list[bytes]:
    """A byte that picks a subject and a sender, then a body."""
    picks = range(len(SUBJECTS) * len(SENDERS))
    return [bytes([pick]) + _BODIES[pick % len(_BODIES)].encode() for pick in picks]


def patches() -> list[bytes]:
    """Patches as files, diffs alone, damaged diffs."""
    return [
        DIFF,
        *(body.encode() for body in _BODIES if "diff --git" in body),
        *(mail.partition(b"\n\n")[2] for mail in SPECIMENS),
        b"Description: dim\nOrigin: upstream\nLast-Update: 2023-06-08\n---\n" + DIFF,
        "\n".join(BODY_PIECES).encode(),
    ]


def any_format() -> list[bytes]:
    """A byte that picks a format, then a mail or a page."""
    content = [*mails()[:3], *(page for pages in _by_format().values() for page in pages[:1])]
    return [bytes([n]) + data for data in content for n in range(0, 16, 5)]


def notes() -> list[bytes]:
    """Notes of Cc: stable lines, and versions."""
    return [text.encode() for text in _NOTES]


def words() -> list[bytes]:
    """Encoded words, and text in odd charsets."""
    return [text.encode("utf-8", "replace") for text in _WORDS]


def dates() -> list[bytes]:
    """Dates of headers and of archives."""
    return [text.encode() for text in _DATES]


def addresses() -> list[bytes]:
    """Address lists, broken and masked."""
    return [text.encode() for text in _ADDRESSES]


def ids() -> list[bytes]:
    """Message-IDs and content types."""
    return [
        b"<lamp-1@example.org> <lamp-2@example.org>",
        b"lamp@example.org x",
        b'text/plain; charset="utf-8"; format=flowed',
    ]


def subjects() -> list[bytes]:
    """Subjects with and without tags."""
    return [
        text.encode() for text in (*SUBJECTS, "[PATCH AUTOSEL 6.17-5.4 v2.1 3/7] a", "[x] [RFC] b")
    ]


def html() -> list[bytes]:
    """Bodies in HTML."""
    return [text.encode() for text in _HTML]


def mailboxes() -> list[bytes]:
    """Mailboxes of all four variants."""
    first, second = mails()[0], mails()[2]
    line = b"From nora@example.org Thu Jun  8 07:06:05 2023\n"
    masked = b"From nora at example.org  Thu Jun  8 07:06:05 2023\n"
    return [
        line + first + b"\n" + line + second.replace(b"\nFrom ", b"\n>From "),
        b"From mboxrd@z Thu Jan  1 00:00:00 1970\n" + first + b">From x\n>>From y\n",
        line + b"Content-Length: 6\n" + HEADERS + b"\nFrom x\n\n" + line + second,
        b"From " + SHA.encode() + b" Mon Sep 17 00:00:00 2001\n" + first,
        masked + b"From: nora at example.org (Nora)\nDate: Thu, 8 Jun 2023\nSubject: x\n\ny\n",
        first[40:] + b"\n" + line + second,
    ]


def packed() -> list[bytes]:
    """A little text in each compression, whole and twice over."""
    data = b"From: nora@example.org\n\nDim.\n" * 9
    made = [
        gzip.compress(data, mtime=0),
        bz2.compress(data),
        lzma.compress(data),
        zstandard.compress(data),
    ]
    return [*made, *(one + one for one in made), gzip.compress(made[3], mtime=0)]


def files() -> list[bytes]:
    """Files of every kind."""
    pages = [page for found in _by_format().values() for page in found[:3]]
    return [*mailboxes(), *packed(), *patches()[:3], *mails()[:2], *pages]


def pages_of(form: str) -> list[bytes]:
    """What the tests have of pages in the format FORM; mails where they have none."""
    return _by_format().get(form) or mails()[:2]


def queries() -> list[bytes]:
    """Queries."""
    return [text.encode() for text in _QUERIES]


def regexes() -> list[bytes]:
    """Expressions of queries."""
    return [text.encode() for text in (r"a|b*", r"lamp_(dim|off)\(", r"[^a-z\d]{2,3}?$", r"^\s+.x")]


def ranges() -> list[bytes]:
    """Spans of time and of sizes."""
    return [text.encode() for text in _RANGES]


def built_files() -> list[bytes]:
    """Lists of what a configuration builds."""
    return [
        b"./lib/lamp.o\n./drivers/fan/fan.o\n",
        b"/build/linux/lib/lamp.c\n# text\n",
        b'[{"directory": "/build", "command": "cc -c lib/lamp.c", "file": "../src/lib/lamp.c"}]',
    ]


def pathspecs() -> list[bytes]:
    """Paths as git takes them."""
    texts = ("drivers/fan/", "*.c", ":(glob)drivers/**/f?n.[ch]", ":!include", ":(icase)LIB/*")
    return [text.encode() for text in texts]


def overrides() -> list[bytes]:
    """Lines of overrides."""
    return [
        b"5e0ac1d27f3b not-affected 5.10 # no lamps\nCVE-2023-90001 ignore\n",
        b"5e0ac1d27f3b94866a1fd0c2b7e8934d5a6f7b01 # told by git-fixes\ndrivers/fan/\n",
    ]


@cache
def _by_format() -> dict[str, list[bytes]]:
    """The texts that stand in the tests of sources, by the format that they show."""
    found: dict[str, list[bytes]] = {}
    folder = Path(__file__).parent.parent / "tests" / "ingest" / "sources"
    for path in sorted(folder.glob("test_*.py")):
        module = importlib.import_module(f"tests.ingest.sources.{path.stem}")
        for value in vars(module).values():
            data = value.encode("utf-8", "replace") if isinstance(value, str) else value
            if isinstance(data, bytes) and len(data) > 80:
                form = detect(data)
                if form is not None and form.name in READERS:
                    found.setdefault(form.name, []).append(data)
    return found
