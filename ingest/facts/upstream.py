"""Upstream commits of backports: every notation by which a patch says "this is commit X"."""

from __future__ import annotations

import re

from patchlore.ingest.facts.context import Context
from patchlore.ingest.facts.requests import read_requests
from patchlore.ingest.facts.upstream_forms import GATE, LINE_WORDS, match_form
from patchlore.ingest.message import Confidence, UpstreamRef

#: "[ Upstream commits <sha> and <sha> ]": one backport of several.
_PLURAL = re.compile(r"[ \t]{0,2}\[?[ \t]*upstream commits[ \t:]+(?=[0-9a-f]{7})", re.I)
_BRACKET_SHA = re.compile(r"[ \t]{0,2}\[[ \t]*([0-9a-f]{12,40})[ \t]*\][ \t]*$")
_BARE_COMMIT = re.compile(r"commit ([0-9a-f]{40})\s*$")
#: First half of a marker that a mailer broke: "commit <sha>" / "upstream.".
_BROKEN = re.compile(
    r"[ \t]{0,2}[\[(]?[ \t]*(?:upstream(?:[ \t]+commit)?|commit[ \t]+[0-9a-f]{7,40}"
    r"|(?:cherry[ -]?picked|backported) from(?: commit)?|upstream commit[ \t]*:)[ \t]*$",
    re.I,
)
_NEGATIVE = re.compile(
    r"\b(?:no|without(?: an?)?) upstream (?:commit|equivalent|counterpart)|\bnot (?:yet )?(?:applicable )?upstream\b"
    r"|\bnot (?:a )?(?:backport|cherry-pick)|commit (?:n/?a|none|xxx+) upstream|upstream commit:? *(?:none|n/a|no)\b"
    r"|\bno such upstream|^\s*\[? *stable[- ]only\b|not upstream(?:ed)?\b|upstream:? *(?:none|n/a|no)\s*$"
    r"|no (?:direct |exact )?(?:upstream|mainline) (?:commit|patch|equivalent)"
    r"|^[ \t]{0,2}upstream[ -]status:[ \t]*(?:inappropriate|denied)\b",
    re.I,
)
_HEX = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,40}(?![0-9A-Za-z])")
#: Header blocks of distributions in which a lone "commit <sha>" has a meaning of its own:
#: openEuler's "stable inclusion", CIQ's "commit-author", Red Hat's "Upstream Status:".
_BLOCK = re.compile(
    r"(?:([\w-]{1,30}) inclusion\s*$|(commit-author) \S|(upstream[ -]status)\s*:)", re.I
)
#: What a lone "commit <sha>" is in each block; None where it is not the upstream one.
_BLOCK_FORMS = {
    "mainline": "openeuler-mainline",
    "upstream": "openeuler-mainline",
    "commit-author": "ciq-commit",
    "upstream status": "upstream-status",
    "upstream-status": "upstream-status",
}
_MAINLINE_TAG = re.compile(
    r"(?:patch-mainline:[ \t]*|from (?:mainline|linux)-)(v\d+\.\d+(?:\.\d+)?(?:-rc\d+)?)\s*$", re.I
)
_CONFIDENCE: dict[str, Confidence] = {"bare-commit": "medium", "bracket-sha": "high", "based-on": "medium",
                                      "backport-request": "high", "bare-upstream": "high"}  # fmt: skip
#: A line with "upstream" and a hex run that is no marker, and the name of the reason.
_REJECTIONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("syz-command", re.compile(r"\s*#syz\b", re.I)),
    ("change-id", re.compile(r"\s*(?:x-)?change-id:", re.I)),
    ("robots-head", re.compile(r"\s*(?:HEAD commit|git tree|dashboard link|console output|kernel config):", re.I)),
    ("other-tag", re.compile(r"\s*(?:fixes|stable-dep-of|link|closes|message-id|reported-by|in-reply-to|base-commit|prerequisite-[a-z-]+):", re.I)),
    ("url-or-file-name", re.compile(r"[\w.:/@~+-]*upstream[\w.:/@~+?=&;%-]*[/_.?=-][\w.:/@~+?=&;%-]*", re.I)),
    # "commit 4567… upstream.  (v6.2)" as git log shows it in a list of what was taken
    ("indented-example", re.compile(r" {3}|[ ]{0,2}\t")),
    # "- 36ed9b6e3961 (upstream 7e43e0a1141d)" in a list of suspects
    ("mention", re.compile(r"[-*\s]*(?:commit )?[0-9a-f]{7,40}[ \t]+\([^()]{0,40}\bupstream", re.I)),
    ("mention", re.compile(r".*\b(?:in|by|with|of|from|see|as|like|and|since|the|fixed|rebased?|merged?|introduced)\b", re.I)),
)  # fmt: skip
#: Words that a marker is made of; a line with three others is a sentence.
_MARKER_WORDS = frozenset(
    "upstream commit commits id sha sha1 patch change mainline linux backport".split()
)


def find(context: Context) -> None:
    """Fill ``upstream_commits``, ``upstream_refs``, ``primary_upstream``, ``not_upstream``, ``unmatched``."""
    words = context.words
    if not words.any("upstream", "commit", "cherry", "backport", "mainline", " ]", "please"):
        return
    refs: list[tuple[UpstreamRef, int]] = []
    lines = context.message_lines
    wanted = _lines_to_read(context)
    first = next((index for index, line in lines if line.strip()), -1)
    inclusion = ""
    skip = -1
    for position, (index, line) in enumerate(lines):
        if wanted is not None and index not in wanted:
            continue
        if index in context.claimed or index == skip or not line:
            continue
        if "\xa0" in line:
            line = line.replace("\xa0", " ")
        lowered = line.lower()
        if "upstream" not in lowered and GATE.match(lowered) is None:
            continue
        opening = _BLOCK.match(line)
        if opening:
            inclusion = (opening[1] or opening[2] or opening[3]).lower()
        tag = _MAINLINE_TAG.match(line)
        if tag and context.message.mainline_tag is None:
            context.message.mainline_tag = tag[1]
            context.note("mainline_tag", tag[1], index, "distribution-header")
        plural = _PLURAL.match(line)
        if plural:
            for sha in _HEX.findall(line, plural.end()):
                refs.append((UpstreamRef(sha=sha.lower(), form="bracket-upstream"), index))
            context.claimed.add(index)
            continue
        ref = match_form(line)
        if ref is None and _BROKEN.match(line) and position + 1 < len(lines):
            ref = match_form(f"{line.rstrip()} {lines[position + 1][1].strip()}")
            if ref is not None:
                skip = lines[position + 1][0]
                context.claimed.add(skip)
        if ref is None:
            ref = _match_by_place(context, line, index == first, inclusion)
        if ref is not None and _NEGATIVE.search(line):
            context.reject("upstream_commits", index, "negative", line)
            ref = None
        if ref is not None:
            refs.append((ref, index))
            context.claimed.add(index)
        elif "upstream" in line.lower() and _NEGATIVE.search(line):
            context.message.not_upstream = True
            context.note("not_upstream", "true", index, "negative")
            context.claimed.add(index)
    asked = list(read_requests(context))
    if asked:
        # Read with its trees, a request says more than the one line that a form has matched.
        shas = {ref.sha for ref, _ in asked}
        refs = [pair for pair in refs if pair[0].relation != "request" or pair[0].sha not in shas]
        refs += asked
        context.claimed.update(index for _, index in asked)
    _store(context, refs)
    if "upstream" in words:
        _report_others(context)


def _lines_to_read(context: Context) -> set[int] | None:
    """The lines that can hold a marker; None for all."""
    if context.text.flat or _targets_stable(context):  # "[ 0123456789ab ]" alone
        return None
    return {index for word in LINE_WORDS for index in context.words.lines(word)}


def _match_by_place(
    context: Context, line: str, is_first: bool, inclusion: str
) -> UpstreamRef | None:
    """Notations that count only where they stand: a lone ``commit <sha>``, ``[ <sha> ]``."""
    bare = _BARE_COMMIT.match(line)
    if bare:
        if inclusion:
            # "stable inclusion": the sha is the stable tree's, the mainline one stands below.
            form = _BLOCK_FORMS.get(inclusion)
            return UpstreamRef(sha=bare[1], form=form) if form else None
        if is_first and context.message.is_patch:
            return UpstreamRef(sha=bare[1], form="bare-commit")
    bracket = _BRACKET_SHA.match(line)
    if bracket and _targets_stable(context):
        return UpstreamRef(sha=bracket[1].lower(), form="bracket-sha")
    return None


def _targets_stable(context: Context) -> bool:
    tags = context.message.subject_tags
    if tags is None:
        return False
    trees = [tags.target_tree] if isinstance(tags.target_tree, str) else tags.target_tree or []
    return any(re.match(r"\d+\.\d+", tree) for tree in trees) or any(
        "stable" in prefix.lower() for prefix in tags.prefixes
    )


def _store(context: Context, refs: list[tuple[UpstreamRef, int]]) -> None:
    message = context.message
    seen: set[tuple[str, str | None]] = set()
    named = set(message.upstream_commits)
    for ref, index in refs:
        confidence = _CONFIDENCE.get(ref.form, "certain")
        if ref.sha not in named:
            named.add(ref.sha)
            message.upstream_commits.append(ref.sha)
        elif ref.relation == "request":
            index = -2  # the line is noted already, for another tree
        if index != -2:
            context.note("upstream_commits", ref.sha, index, ref.form, confidence=confidence)
        # A commit that is asked for in several trees is a reference for each.
        key = (ref.sha, ref.tree if ref.relation == "request" else None)
        if key not in seen:
            seen.add(key)
            message.upstream_refs.append(ref)
    strong = [ref for ref, _ in refs if ref.relation in ("backport", "partial", "cherry-pick")]
    if strong:
        message.primary_upstream = strong[0].sha


def _report_others(context: Context) -> None:
    """Every other line with "upstream" beside a hex run: rejected by a named rule, or unmatched."""
    from patchlore.ingest.message import Unmatched

    explained = False
    for index, line in context.own_lines:
        if 0 <= context.layout.cut < index and line.startswith("LLM Generated explanations"):
            explained = True
        if index in context.claimed or ("pstream" not in line and "PSTREAM" not in line):
            continue
        if not any(not run.isdigit() for run in _HEX.findall(line)):
            continue
        if _NEGATIVE.search(line):
            context.reject("upstream_commits", index, "negative", line)
            continue
        if context.message.is_reply and not context.message.is_patch:
            context.reject("upstream_commits", index, "reply-without-patch", line)
            continue
        if explained:
            context.reject("upstream_commits", index, "generated-explanation", line)
            continue
        for rule, pattern in _REJECTIONS:
            if pattern.match(line) or (
                rule == "url-or-file-name" and "upstream" not in _words(line)
            ):
                context.reject("upstream_commits", index, rule, line)
                break
        else:
            if _is_sentence(line):
                context.reject("upstream_commits", index, "mention", line)
                continue
            number = context.text.line_number(index)
            context.message.unmatched.append(Unmatched(line=number, text=line[:500]))


def _is_sentence(line: str) -> bool:
    """Does the line say more than a marker would?"""
    return sum(word.isalpha() for word in _words(line) - _MARKER_WORDS) >= 3


def _words(line: str) -> set[str]:
    """The words of a line that stand free: not inside a URL, a path or a name."""
    return {word.strip(".,;:()[]\"'").lower() for word in line.split()}
