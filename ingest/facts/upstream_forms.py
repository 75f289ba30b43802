"""The notations by which a line of a patch says "this is commit X", as a table."""

from __future__ import annotations

import re

from patchlore.ingest.message import UpstreamRef

_SHA = r"([0-9a-f]{7,40})(?![0-9a-z])"
_COMMIT = r"commit(?:[ -]id)?[ \t]*:?[ \t]*"
#: Up to the sha in the URL of a commit: cgit, gitweb, forges, gitiles, redirects ("/linus/<sha>").
_URL = r"https?://\S{0,300}?(?:id=|h=|commit/|/\+/|/linus/|/c/)"
_NOTE = r"[ \t]*[.,;:]?[ \t]*(?:[\[(#].*|//.*)?$"
_TITLE = r"[ \t]*\(?[\"'“].*"


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(r"[ \t]{0,2}" + pattern, re.I)


#: How lines that can matter here begin, unless "upstream" stands in them: one
#: look instead of thirty at each line of a commit message.
GATE = re.compile(
    r"[ \t]{0,2}[\[(]?[ \t]*(?:commit|cherry|back-?port|snipped|taken|extracted|please|could|can you"
    r"|based|loosely|git-commit|alt-commit|origin|mainline|linus|patch-mainline"
    r"|from (?:mainline|linux)|this |just |an? |partial|manually|port|stable port|[0-9a-f]{7,40}(?![0-9a-z]))"
    r"|[\w-]{1,30} inclusion\s*$"
)
#: And what stands in each of them, but for a commit's id alone in brackets.
LINE_WORDS = (
    "upstream", "commit", "cherry", "backport", "mainline", "origin:", " inclusion", "from linux-"
)  # fmt: skip
#: Slug of the notation, relation, pattern; the first that matches a line counts.
_FORMS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    (
        "snipped-from",
        "partial",
        _form(r"(?:snipped|taken|extracted) from (?:upstream )?" + _COMMIT + _SHA),
    ),
    (
        "commit-upstream-backport",
        "backport",
        _form(_COMMIT + _SHA + r",? upstream backport\b" + _NOTE),
    ),
    ("commit-upstream", "backport", _form(_COMMIT + _SHA + r",?[ \t]+upstream(?:ed)?" + _NOTE)),
    ("commit-upstream", "backport", _form(_COMMIT + _SHA + r"[ \t]+\(upstream\)" + _NOTE)),
    (
        "commit-upstream",
        "backport",
        _form(_COMMIT + _SHA + r"[ \t]+\([\"'“].{1,200}\)[ \t]+upstream" + _NOTE),
    ),
    ("commit-upstream", "backport", _form(r"commit upstream[ \t:]+" + _SHA + _NOTE)),
    (
        "bracket-upstream-subject",
        "backport",
        _form(r"\[[ \t]*upstream[ \t]+" + _COMMIT + _SHA + _TITLE),
    ),
    (
        "bracket-upstream",
        "backport",
        _form(r"\[[ \t]*upstream[ \t]+" + _COMMIT + _SHA + r"[^\]]{0,200}(?:\]|$)"),
    ),
    (
        "bracket-upstream",
        "backport",
        _form(r"\[[ \t]*upstream[ \t:]+" + _SHA + r"(?![ \t]+commit\b)[^\]]{0,200}\]"),
    ),
    (
        "bracket-commit-upstream",
        "backport",
        _form(r"\[[ \t]*" + _COMMIT + _SHA + r"[ \t]+(?:in )?upstream\b[^\]]{0,200}\]"),
    ),
    (
        "upstream-sha-commit",
        "backport",
        _form(r"\[?[ \t]*upstream[ \t]+" + _SHA + r"[ \t]+commit\b[ \t]*[.\]]*" + _NOTE),
    ),
    (
        "backported-bracket",
        "backport",
        _form(
            r"\[[ \t]*backport(?:ed)?(?: (?:from|of))?(?: the)? (?:upstream|mainline) "
            + _COMMIT
            + _SHA
        ),
    ),
    (
        "upstream-commit-colon",
        "backport",
        _form(r"upstream[ -]commit(?:[ -]id)?[ \t]*[:=][ \t]*" + _SHA),
    ),
    (
        "upstream-commit-colon",
        "backport",
        _form(r"(?:mainline|linus)[ -]commit(?:[ -]id)?[ \t]*[:=][ \t]*" + _SHA),
    ),
    (
        "upstream-colon",
        "backport",
        _form(r"(?:upstream|mainline)(?:-commit)?[ \t]*:[ \t]*(?:commit[ \t]+)?" + _SHA + _NOTE),
    ),
    ("upstream-commit-subject", "backport", _form(r"upstream commit " + _SHA + r"[ \t]*\([\"'“]")),
    ("upstream-commit", "backport", _form(r"upstream commit " + _SHA + _NOTE)),
    (
        "this-is-commit-upstream",
        "backport",
        _form(r"this is (?:the )?(?:upstream|mainline) " + _COMMIT + _SHA + _NOTE),
    ),
    (
        "this-is-commit-upstream",
        "backport",
        _form(
            r"this is (?:the )?(?:upstream )?"
            + _COMMIT
            + _SHA
            + r"[ \t]+(?:upstream|in (?:linus|mainline|upstream))"
        ),
    ),
    (
        "backport-request",
        "request",
        _form(
            r"(?:please|could you|can you).{0,60}\b(?:backport(?:ing)? )?(?:of )?(?:the )?(?:following )?"
            r"(?:upstream|mainline) (?:" + _COMMIT + r")" + _SHA
        ),
    ),
    (
        "backport-of",
        "backport",
        _form(
            r"(?:\[[ \t]*)?(?:this (?:patch |commit )?(?:is|contains) )?(?:just )?(?:an? |the )?"
            r"(?:partial |stable )?(?:back)?port(?:ed)? (?:version )?"
            r"(?:of|from)(?: the)?(?: following)?(?: upstream| mainline| linux)?(?: patch)? "
            + _COMMIT
            + _SHA
        ),
    ),
    (
        "based-on",
        "derived",
        _form(
            r"(?:loosely )?based (?:up)?on (?:the )?(?:upstream|mainline) (?:change|commit|patch)[ \t:]*"
            + _SHA
        ),
    ),
    (
        "backported-from",
        "backport",
        _form(
            r"[\[(][ \t]*backported[ -]from(?: upstream| mainline)?(?: commit)*[ \t:]*"
            + _SHA
            + r"(.*)"
        ),
    ),
    (
        "cherry-picked",
        "cherry-pick",
        _form(
            r"[\[(]?[ \t]*(?:back-?ported and |partially |manually )?cherry[ -]?picked[ -]from(?: upstream| mainline| linux)?"
            r"(?: commit)*[ \t:]*(?:https?://\S{0,300}?(?:id=|h=|/))?" + _SHA + r"(.*)"
        ),
    ),
    ("git-commit", "backport", _form(r"git-commit:[ \t]*" + _SHA + r"(?:[ \t]*\((partial)\))?")),
    ("alt-commit", "backport", _form(r"alt-commit:[ \t]*" + _SHA)),
    (
        "dep3-origin",
        "backport",
        _form(
            r"origin:[ \t]*(?:backport|upstream)?(?:.{0,20}"
            + _URL
            + r"|[ \t]*,[ \t]*commit:[ \t]*)"
            + _SHA
        ),
    ),
    (
        "upstream-status",
        "backport",
        _form(r"upstream[ -]status:[ \t]*backport\b.{0,20}" + _URL + _SHA),
    ),
    # "[ backport of <sha> ]": a commit by its digits alone wants brackets.
    (
        "backport-of",
        "backport",
        _form(r"[\[(][ \t]*(?:partial )?backport of[ \t:]*" + _SHA + r"[ \t]*[\])]"),
    ),
    # SONiC: the commit alone, "Upstream-Status: Backport [<sha>]".
    (
        "upstream-status",
        "backport",
        _form(
            r"upstream[ -]status:[ \t]*backport(?:ed)?[ \t]*[\[(<]?[ \t]*(?:commit[ \t]+)?" + _SHA
        ),
    ),
    (
        "dep3-applied",
        "backport",
        _form(
            r"applied-upstream:[ \t]*(?:[\w.+~-]{1,40},[ \t]*)?(?:commit[ \t:]*)?"
            rf"(?:{_URL})?" + _SHA
        ),
    ),
    # crosstool-NG: "Backported from: <sha>".
    (
        "backported-from",
        "backport",
        _form(r"backported[ -]from[ \t]*:[ \t]*(?:upstream |mainline )?(?:commit[ \t]+)?" + _SHA),
    ),
    # Red Hat: "Upstream Status: linux.git commit <sha>".
    (
        "upstream-status",
        "backport",
        _form(
            r"upstream[ -]status:[ \t]*(?:[^\s,;]{1,200}[,;]?[ \t]+){0,4}?(?:commit[ \t:]+)?"
            + _SHA
            + _NOTE
        ),
    ),
    (
        "upstream-url",
        "backport",
        _form(r"(?:upstream(?:[ -]commit)?|origin(?:al)? commit)[ \t]*:[ \t]*<?" + _URL + _SHA),
    ),
    ("bare-upstream", "backport", _form(_SHA + r"[ \t]+upstream" + _NOTE)),
)
#: Forms before whose sha "partial" or "partially" may stand.
_MAYBE_PARTIAL = frozenset(["backport-of", "cherry-picked"])
_TREE_AFTER = re.compile(
    r"[ \t]*(?:\(?)(linux-(?:stable|next|[\w.-]+)|stable|mainline|master|net-next|[\w.-]+-next)\b"
)


def match_form(line: str) -> UpstreamRef | None:
    """The commit that LINE names by the first notation that fits, or None."""
    for form, relation, pattern in _FORMS:
        match = pattern.match(line)
        if match is None or match[1].isdigit():
            continue
        if form == "commit-upstream" and line.lstrip().startswith("Commit"):
            form = "capital-commit-upstream"
        rest = match[2] if match.re.groups > 1 else None
        tree = _TREE_AFTER.match(rest) if rest else None
        if rest == "partial" or (
            form in _MAYBE_PARTIAL and "partial" in line[: match.start(1)].lower()
        ):
            relation = "partial"
        return UpstreamRef(
            sha=match[1].lower(), form=form, relation=relation, tree=tree[1] if tree else None
        )
    return None
