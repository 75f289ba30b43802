"""Every notation by which a patch says "this is commit X upstream", and what is none."""

from __future__ import annotations

import pytest

from tests.ingest.letters import DIFF, OTHER, SHA, THIRD, evidence, parse_letter, parse_patch

MARKERS = [
    ("commit-upstream", "backport", f"commit {SHA} upstream."),
    ("commit-upstream", "backport", f"commit {SHA} upstream"),
    ("commit-upstream", "backport", f"commit {SHA[:12]} upstream."),
    ("commit-upstream", "backport", f"commit {SHA}\u00a0upstream."),
    ("commit-upstream", "backport", f"commit {SHA} upstream.   (v5.4)"),
    ("commit-upstream", "backport", f"commit {SHA} upstream. # with lamp_lock"),
    ("commit-upstream", "backport", f"commit {SHA} upstream, [lamp side only]"),
    ("capital-commit-upstream", "backport", f"Commit {SHA} upstream."),
    ("bracket-upstream", "backport", f"[ Upstream commit {SHA} ]"),
    ("bracket-upstream", "backport", f"[Upstream commit {SHA}]"),
    ("bracket-upstream", "backport", f"[ upstream commit {SHA} ]"),
    ("bracket-upstream", "backport", f"[ UPSTREAM COMMIT {SHA} ]"),
    ("bracket-upstream", "backport", f"[  Upstream  commit   {SHA}  ]"),
    ("bracket-upstream", "backport", f"[ Upstream commit: {SHA} ]"),
    ("bracket-upstream", "backport", f"[ Upstream commit {SHA}, with fuzz ]"),
    ("bracket-upstream", "backport", f"[ Upstream commit {SHA} ] (lamp side only)"),
    ("bracket-commit-upstream", "backport", f"[ commit {SHA} upstream ]"),
    ("bracket-commit-upstream", "backport", f"[commit {SHA} upstream.]"),
    ("bracket-upstream-subject", "backport", f'[ Upstream commit {SHA[:13]} ("lamp: dim") ]'),
    ("upstream-commit-colon", "backport", f"Upstream commit: {SHA}"),
    ("upstream-commit-colon", "backport", f"Upstream-commit: {SHA}"),
    ("upstream-commit-colon", "backport", f"Mainline commit: {SHA}"),
    ("bare-upstream", "backport", f"{SHA} upstream."),
    ("this-is-commit-upstream", "backport", f"This is commit {SHA} upstream."),
    ("this-is-commit-upstream", "backport", f"This is upstream commit {SHA}."),
    ("snipped-from", "partial", f"Snipped from commit {SHA} upstream."),
    ("backported-bracket", "backport", f"[Backported upstream commit: {SHA}]"),
    ("based-on", "derived", f"Based on upstream change {SHA}"),
    ("bare-commit", "backport", f"commit {SHA}"),
    ("commit-upstream", "backport", f"commit {SHA} (upstream)"),
    ("commit-upstream", "backport", f'commit {SHA[:12]} ("lamp: dim") upstream.'),
    ("commit-upstream", "backport", f"commit upstream {SHA}."),
    ("bracket-commit-upstream", "backport", f"[ commit {SHA} in upstream ]"),
    ("cherry-picked", "partial", f"(partially cherry picked from commit {SHA})"),
    ("backport-of", "backport", f"[ backport of {SHA} ]"),
    ("backport-of", "partial", f"This is a partial backport of upstream commit {SHA}."),
    ("backport-of", "backport", f"[ This is the stable port of upstream commit {SHA} ]"),
    ("dep3-origin", "backport", f"Origin: upstream, https://git.example.org/linus/{SHA}"),
    ("upstream-url", "backport", f"Upstream: https://git.example.org/netdev/net/c/{SHA}"),
    ("upstream-commit", "backport", f"Upstream commit {SHA}"),
    ("upstream-commit", "backport", f"upstream commit {SHA}."),
    ("upstream-sha-commit", "backport", f"upstream {SHA} commit."),
    ("upstream-sha-commit", "backport", f"[ upstream {SHA} commit ]"),
    ("upstream-commit-subject", "backport", f'Upstream commit {SHA[:12]} ("lamp: dim")'),
    ("commit-upstream-backport", "backport", f"commit {SHA} upstream backport."),
    (
        "backport-request",
        "request",
        f"Please merge the following backport of upstream commit {SHA}",
    ),
    ("cherry-picked", "cherry-pick", f"(cherry picked from commit {SHA})"),
    ("cherry-picked", "cherry-pick", f"(cherry-picked from commit {SHA})"),
    ("cherry-picked", "cherry-pick", f"Cherry-picked from {SHA}"),
    ("cherry-picked", "cherry-pick", f"(cherry picked from commit commit {SHA})"),
    (
        "cherry-picked",
        "cherry-pick",
        f"(cherry-picked from commit https://git.example.org/linux.git/commit/?id={SHA})",
    ),
    ("backported-from", "backport", f"(backported from commit {SHA})"),
    ("backport-of", "backport", f"This is a backport of upstream commit {SHA}."),
    ("git-commit", "backport", f"Git-commit: {SHA}"),
    ("git-commit", "partial", f"Git-commit: {SHA} (partial)"),
    ("alt-commit", "backport", f"Alt-commit: {SHA}"),
]


@pytest.mark.parametrize(
    ("form", "relation", "line"), MARKERS, ids=[line.replace(SHA, "X") for _, _, line in MARKERS]
)
def test_marker_names_the_upstream_commit(form: str, relation: str, line: str) -> None:
    """A marker gives the hash, its form and relation, and points at its line as evidence."""
    message = parse_patch(
        f"{line}\n\nThe lamp stays dark.\n\nSigned-off-by: Bo Reed <bo@example.org>"
    )
    (ref,) = message.upstream_refs
    assert SHA.startswith(ref.sha)
    assert (ref.form, ref.relation) == (form, relation)
    assert message.upstream_commits == [ref.sha]
    (proof,) = evidence(message, "upstream_commits")
    assert (proof.line, proof.rule, proof.value) == (1, form, ref.sha)
    assert proof.text == line.strip()
    assert not message.unmatched
    wanted = ref.sha if relation in ("backport", "partial", "cherry-pick") else None
    assert message.primary_upstream == wanted


@pytest.mark.parametrize("tree", ["linux-stable", "linux-next", "net-next", "linux-5.4.y"])
def test_cherry_pick_names_the_tree_beside_the_hash(tree: str) -> None:
    """``(Cherry picked from commit <sha> linux-stable)`` is of that tree."""
    message = parse_patch(f"Text.\n\n(Cherry picked from commit {SHA} {tree})")
    assert message.upstream_refs[0].tree == tree


def test_broken_marker_is_joined() -> None:
    """A mailer that breaks a marker over two lines does not hide it."""
    message = parse_patch(f"[ Upstream commit\n  {SHA} ]\n\nText.")
    assert message.upstream_commits == [SHA]


def test_several_commits_are_kept_in_order() -> None:
    """A patch made of several upstream commits names them all; the first counts as its own."""
    message = parse_patch(
        f"commit {SHA} upstream.\ncommit {OTHER} upstream.\n[ Upstream commit {THIRD} ]\n\nText."
    )
    assert message.upstream_commits == [SHA, OTHER, THIRD]
    assert message.primary_upstream == SHA


def test_a_commit_named_twice_counts_once() -> None:
    """Marker and cherry-pick line of one commit are one reference with two proofs."""
    message = parse_patch(f"commit {SHA} upstream.\n\nText.\n\n(cherry picked from commit {SHA})")
    assert message.upstream_commits == [SHA]
    assert len(evidence(message, "upstream_commits")) == 2


def test_indented_marker_in_a_patch_is_an_example() -> None:
    """A marker indented by four is shown, not meant."""
    message = parse_patch(f"Backports begin with\n\n    commit {SHA} upstream.\n\nas you know.")
    assert message.upstream_commits == []


def test_quoted_marker_belongs_to_the_quoted_author() -> None:
    """A reply that quotes a marker is no backport of that commit."""
    message = parse_letter(
        f"> commit {SHA} upstream.\n>\n> Text.\n\nLooks good.\n",
        "In-Reply-To: <lamp-0@example.org>",
        subject="Re: [PATCH 5.10.y] lamp: dim",
    )
    assert message.upstream_commits == []


@pytest.mark.parametrize(
    ("subject", "wanted"),
    [
        ("[PATCH 5.10.y] lamp: dim", [SHA]),
        ("[PATCH -stable,5.4 1/2] lamp: dim", [SHA]),
        ("[PATCH stable] lamp: dim", [SHA]),
        ("[PATCH net] lamp: dim", []),
        ("[PATCH] lamp: dim", []),
    ],
)
def test_hash_in_brackets_counts_in_stable_patches_only(subject: str, wanted: list[str]) -> None:
    """``[ <sha> ]`` is netfilter's marker in mails whose tag names a stable tree; nowhere else."""
    assert parse_patch(f"[ {SHA} ]\n\nText.", subject=subject).upstream_commits == wanted


@pytest.mark.parametrize(
    "line",
    [
        "No upstream commit exists for this commit.",
        "There is no upstream commit: the driver was removed in v6.0.",
        "[ Not upstream: the code was rewritten there. ]",
        "commit n/a upstream.",
        "Upstream commit: none",
        "This is not a backport; upstream removed the driver.",
        "This patch is not upstream.",
    ],
)
def test_no_upstream_commit_is_a_fact_of_its_own(line: str) -> None:
    """A patch that says so has no upstream commit, whatever else it cites."""
    message = parse_patch(f'{line}\n\nSee commit {SHA[:12]} ("lamp: glow").')
    assert message.not_upstream
    assert message.upstream_commits == []
    assert message.primary_upstream is None
    assert evidence(message, "not_upstream")[0].line == 1


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("syz-command", f"#syz test: upstream {SHA}"),
        ("change-id", f"change-id: 20240101-topic-upstream-bindings-{SHA[:12]}"),
        ("robots-head", f"HEAD commit: {SHA[:12]} Merge tag 'lamp-upstream' of git.example.org"),
        ("mention", f"This should be addressed by upstream commit {SHA}"),
        ("mention", f"Already fixed by upstream commit {SHA}."),
        ("mention", f"* Rebase on the upstream: commit {SHA[:12]}"),
        ("mention", f"- {OTHER[:12]} (upstream {SHA})"),
        ("indented-example", f"    commit {SHA} upstream.   (v6.2)"),
        ("url-or-file-name", f"https://git.example.org/upstream/linux/{SHA}"),
        ("url-or-file-name", f"See lamp-upstream-{SHA[:12]}.patch"),
    ],
)
def test_upstream_beside_a_hash_that_is_no_marker_is_rejected_by_name(rule: str, line: str) -> None:
    """What only looks like a reference is turned down by a rule that says why."""
    message = parse_patch(
        f"The lamp stays dark.\n{line}\n\nSigned-off-by: Bo Reed <bo@example.org>"
    )
    assert message.upstream_commits == []
    assert not message.unmatched
    assert [entry.rule for entry in message.rejected if entry.fact == "upstream_commits"] == [rule]


def test_generated_explanations_below_the_cut_are_rejected_by_name() -> None:
    """What a language model wrote about an AUTOSEL patch is prose, whatever it looks like."""
    message = parse_letter(
        f"[ Upstream commit {SHA} ]\n\nText.\n\nSigned-off-by: Bo Reed <bo@example.org>\n---\n\n"
        "LLM Generated explanations, may be completely bogus:\n\n"
        f"- **Reports**: Upstream commit {OTHER[:13]} fixes lamp\n\n" + DIFF
    )
    assert message.upstream_commits == [SHA]
    assert not message.unmatched
    assert [entry.rule for entry in message.rejected] == ["generated-explanation"]


def test_unknown_notation_is_reported() -> None:
    """A line with upstream and a hash that no rule knows is counted, never dropped silently."""
    message = parse_patch(f"Text.\n\nupstream => {SHA}")
    assert [(entry.line, entry.text) for entry in message.unmatched] == [(3, f"upstream => {SHA}")]


def test_gerrit_change_id_is_no_commit() -> None:
    """``cherry picked from Change-Id: I…`` names no commit."""
    message = parse_patch(f"Text.\n\n(cherry picked from Change-Id: I{SHA})")
    assert message.upstream_commits == []


def test_openeuler_stable_inclusion_names_the_stable_commit() -> None:
    """In ``stable inclusion`` the commit is the stable tree's; the mainline one stands below."""
    message = parse_patch(
        f"stable inclusion\nfrom stable-v6.7.3\ncommit {SHA}\ncategory: bugfix\n"
        f"bugzilla: https://gitee.example.org/I5A6BA\nCVE: CVE-2023-1234567\n\n"
        f"--------------------------------\n\ncommit {OTHER} upstream.\n\nText."
    )
    assert message.upstream_commits == [OTHER]
    assert message.primary_upstream == OTHER
    assert message.cves == ["CVE-2023-1234567"]


def test_openeuler_mainline_inclusion_names_the_upstream_commit() -> None:
    """In ``mainline inclusion`` the commit is the upstream one."""
    message = parse_patch(
        f"mainline inclusion\nfrom mainline-v6.7-rc3\ncommit {SHA}\ncategory: bugfix\n\n"
        f"--------------------------------\n\nText."
    )
    (ref,) = message.upstream_refs
    assert (ref.sha, ref.form) == (SHA, "openeuler-mainline")


def test_suse_header_gives_commit_and_references() -> None:
    """SUSE's patch headers name the upstream commit, its alternatives and the bugs."""
    message = parse_patch(
        f"Git-commit: {SHA}\nAlt-commit: {OTHER}\nAlt-commit: {THIRD}\n"
        "Patch-mainline: v6.5-rc7\nReferences: CVE-2023-4321 bsc#1215150\n\nText."
    )
    assert message.primary_upstream == SHA
    assert message.upstream_commits == [SHA, OTHER, THIRD]
    assert message.cves == ["CVE-2023-4321"]
    assert [(bug.tracker, bug.number) for bug in message.other_prs] == [("suse", 1215150)]
    assert message.mainline_tag == "v6.5-rc7"


def test_ciq_header_gives_commit_and_cve() -> None:
    """CIQ's kernels name the commit on a line of its own below ticket and CVE."""
    message = parse_patch(
        "jira LAMP-123\ncve CVE-2023-4321\ncommit-author Ada Quill <ada@example.org>\n"
        f"commit {SHA}\nupstream-diff Context changes in lamp.c\n\nText."
    )
    assert message.upstream_commits == [SHA]
    assert message.cves == ["CVE-2023-4321"]


@pytest.mark.parametrize(
    "line",
    [
        f"Upstream Status: commit {SHA}",
        f"Upstream Status: git.example.org/linux.git commit {SHA}",
        f"Upstream-Status: Backport [https://git.example.org/linux/commit/?id={SHA}]",
        f"Upstream: {SHA}",
        f"Upstream: https://git.example.org/linux/commit/{SHA}",
    ],
)
def test_distributions_upstream_status(line: str) -> None:
    """Red Hat's and Yocto's status lines name the commit."""
    message = parse_patch(f"{line}\n\nText.\n\nSigned-off-by: Bo Reed <bo@example.org>")
    assert message.upstream_commits == [SHA]


def test_ubuntu_break_fix_names_introduction_and_fix() -> None:
    """``break-fix: <intro|-> <fix>`` names commits, none of them a marker of this patch."""
    message = parse_patch(f"Text.\n\nbreak-fix: - {SHA}\nbreak-fix: {OTHER} {THIRD}")
    assert message.upstream_commits == []
    assert [(m.sha, m.relation) for m in message.mentioned_commits] == [
        (SHA, "fixed-by"),
        (OTHER, "introduced-by"),
        (THIRD, "fixed-by"),
    ]


@pytest.mark.parametrize("prefix", ["UPSTREAM", "BACKPORT", "FROMGIT", "FROMLIST"])
def test_android_prefix_stays_in_the_title(prefix: str) -> None:
    """Android's subject prefixes are no brackets; its Change-Id is no commit."""
    message = parse_patch(
        f"Text.\n\nBug: 254441685\n(cherry picked from commit {SHA})\nChange-Id: I{OTHER}",
        subject=f"[PATCH] {prefix}: lamp: dim",
    )
    assert message.clean_subject == f"{prefix}: lamp: dim"
    assert message.upstream_commits == [SHA]
    assert message.dependencies == []


def test_deviation_note_stays_in_the_commit_message() -> None:
    """``[bo: Backported to 3.16: …]`` is kept word for word and is no reference."""
    note = "[bo: Backported to 3.16:\n - Adjust context\n - lamp_dim() takes no lock there]"
    message = parse_patch(f"commit {SHA} upstream.\n\nText.\n\n{note}")
    assert message.commit_message is not None
    assert note in message.commit_message
    assert message.upstream_commits == [SHA]


def test_red_hat_shows_the_upstream_commit_inside_the_message() -> None:
    """Below ``Upstream Status:`` a commit as git show prints it is the upstream one."""
    message = parse_patch(
        "JIRA: https://issues.example.org/browse/LAMP-123\n"
        "Upstream Status: https://git.example.org/linux.git\n\n"
        f"commit {SHA}\nAuthor: Ada Quill <ada@example.org>\n"
        "Date:   Thu Jun 1 09:06:05 2023 +0200\n\n"
        f'    lamp: dim\n    \n    Fixes: {OTHER[:12]} ("lamp: glow")\n\n'
        "Signed-off-by: Bo Reed <bo@example.org>"
    )
    assert message.upstream_commits == [SHA]
    assert message.own_commit is None
    assert message.author is not None
    assert message.author.name == "Nora Finch"
    assert [ref.sha for ref in message.fixes] == [OTHER[:12]]
    assert [tag.key for tag in message.trailers] == ["JIRA", "Fixes", "Signed-off-by"]


def test_a_message_that_cites_another_commit_keeps_its_marker() -> None:
    """A commit as git log prints it in the middle of a message is cited, not carried."""
    message = parse_patch(
        f"[ Upstream commit {SHA} ]\n\nThe commit\n\ncommit {OTHER}\n"
        "Author: Ada Quill <ada@example.org>\nDate:   Thu Jun 1 09:06:05 2023 +0200\n\n"
        "    lamp: don't allow oversized bulbs\n\n"
        "limits the bulbs. Apply the same limit to candles.\n\n"
        "Signed-off-by: Bo Reed <bo@example.org>"
    )
    assert message.upstream_commits == [SHA]
    assert message.own_commit is None
    assert message.author is not None
    assert message.author.name == "Nora Finch"
    assert message.unmatched == []
    assert [tag.key for tag in message.trailers] == ["Signed-off-by"]


@pytest.mark.parametrize("mixed", [1, 2, 3])
def test_a_marker_may_end_in_another_line_end_than_the_rest(mixed: int) -> None:
    """A tool that put a marker of its own above a text wrote CR LF; the text has LF."""
    lines = [f"commit {SHA} upstream.", "", "Dim the lamp.", "", f"Fixes: {OTHER[:12]}"]
    text = "".join(line + ("\r\n" if n < mixed else "\n") for n, line in enumerate(lines))
    message = parse_patch(text)
    assert message.upstream_commits == [SHA]
    assert message.unmatched == []
    assert evidence(message, "upstream_commits")[0].text == f"commit {SHA} upstream."
