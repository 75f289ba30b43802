"""Answers as pages: HTML without scripts, everything from mail escaped, names as links."""

from __future__ import annotations

import html
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from patchlore.kb.text import day, printable, printable_lines

STYLE = """\
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 72em; padding: 1em; }
pre, code, .proof { font-family: ui-monospace, monospace; font-size: 13px; }
pre { overflow-x: auto; } form { margin-bottom: 1em; } input[name=query] { width: 60%; }
.proof { color: #666; } dt { font-weight: bold; margin-top: .6em; } dd { margin-left: 1.5em; }
ul { padding-left: 1.2em; } td, th { vertical-align: top; text-align: left; padding: .2em .6em; }
.q { color: #678; } .add { color: #070; } .del { color: #a00; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } a { color: #8bf; }
.proof, .q { color: #999; } .add { color: #8d8; } .del { color: #f88; } }
"""

#: Depth at which values are no longer told one below the other.
_DEEPEST = 12

#: Fields that only a program needs.
_SILENT = frozenset({"id", "thread", "fidelity", "line_kinds", "span", "schema"})
#: Fields whose value names something, and the page that tells about it.
_LINKS = {
    "key": ("show", "id"),
    "message_id": ("show", "id"),
    "sha": ("commit", "sha"),
    "commit": ("commit", "sha"),
    "upstream_commit": ("commit", "sha"),
    "fixes": ("commit", "sha"),
    "upstream_commits": ("commit", "sha"),
    "primary_upstream": ("commit", "sha"),
    "spellings": ("commit", "sha"),
    "tree": ("backports", "tree"),
    "cve": ("cve", "id"),
    "cves": ("cve", "id"),
    "release": ("review", "release"),
}
_KINDS = {"q": "q", "o": "q", "+": "add", "-": "del"}


def page(title: str, body: str) -> str:
    """Return a page; ``body`` is HTML already, ``title`` a text."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{_text(title)} - patchlore</title>"
        '<link rel="stylesheet" href="/style.css"></head><body>'
        '<form action="/search"><a href="/">patchlore</a> '
        '<input name="query" aria-label="query"> <button>Search</button></form>'
        f"<h1>{_text(title)}</h1>\n{body}\n</body></html>\n"
    )


def start_page(stats: Mapping[str, Any]) -> str:
    """Return the first page: boxes for each question, and what the archive holds."""
    boxes = "".join(
        f'<li><form action="/{name}">{_text(label)} <input name="{parameter}" '
        f'aria-label="{_text(label)}"> <button>Show</button></form></li>'
        for name, parameter, label in (
            ("show", "id", "mail (Message-ID)"),
            ("thread", "id", "conversation (Message-ID)"),
            ("commit", "sha", "commit"),
            ("pr", "number", "bug of GCC"),
            ("cve", "id", "CVE"),
            ("backports", "tree", "list of a stable tree"),
            ("review", "release", "review round"),
        )
    )
    return page("What the mail says", f"<ul>{boxes}</ul>{value_html(stats)}")


def answer_page(name: str, values: Mapping[str, str], answer: Any) -> str:
    """Return the page of an answer to a question."""
    title = f"{name} {' '.join(values.values())}"
    match name:
        case "search":
            return page(title, _search(answer))
        case "show":
            return page(printable(answer.get("subject")) or title, _message(answer))
        case "thread":
            return page(title, _thread(answer))
        case "backports":
            return page(f"backports {values.get('tree', '')}", _backports(answer))
    return page(title, value_html(answer))


def link(name: str, parameter: str, value: str, text: str | None = None) -> str:
    """Return a link to the page of a question."""
    target = f"/{name}?{urllib.parse.urlencode({parameter: value}, errors='replace')}"
    return f'<a href="{html.escape(target)}">{_text(value if text is None else text)}</a>'


def value_html(value: Any, name: str = "", depth: int = 0) -> str:
    """Return any value of an answer as HTML: objects as lists of names, names as links."""
    if isinstance(value, Mapping):
        if "subject" in value and "kind" in value and "sender" in value:
            return _brief(value)
        if "rule" in value and "text" in value and "line" in value and len(value) <= 7:
            return _proof(value)
        if depth >= _DEEPEST:
            return _text(value)
        fields = "".join(
            f"<dt>{_text(str(key).replace('_', ' '))}</dt><dd>{told}</dd>"
            for key, inner in value.items()
            if key not in _SILENT and (told := value_html(inner, str(key), depth + 1))
        )
        return f"<dl>{fields}</dl>" if fields else ""
    if isinstance(value, list | tuple):
        items = [one for item in value if (one := value_html(item, name, depth + 1))]
        if not any(isinstance(item, Mapping | list) for item in value):
            return ", ".join(items)
        return f"<ul>{''.join(f'<li>{one}</li>' for one in items)}</ul>" if items else ""
    if value is None or value == "" or value is False:
        return ""
    if isinstance(value, str) and name in _LINKS:
        return link(*_LINKS[name], value)
    if name in ("timestamp", "first", "last") and isinstance(value, int):
        return day(value)
    return "yes" if value is True else _text(value)


def _text(value: object) -> str:
    return html.escape(printable(str(value)))


def _brief(brief: Mapping[str, Any]) -> str:
    subject = brief.get("subject") or "(no subject)"
    head = f"{day(brief.get('timestamp'))} {brief['kind']}, {brief.get('sender') or '?'}: "
    return _text(head) + link("show", "id", str(brief["key"]), str(subject))


def _proof(proof: Mapping[str, Any]) -> str:
    commit, id_ = proof.get("commit"), proof.get("message_id")
    where = link("commit", "sha", str(commit)) if commit else ""
    where = where or (link("show", "id", str(id_)) if id_ else "")
    place = "header" if proof["line"] == 0 else f"line {proof['line']}" if proof["line"] else ""
    sure = proof.get("confidence", "certain")
    sure = "" if sure == "certain" else f" ({sure})"
    return f'<span class="proof">{where} {_text(place + sure)}: {_text(proof["text"] or "")}</span>'


def _search(results: Mapping[str, Any]) -> str:
    rows = []
    for hit in results["hits"]:
        head = f"{day(hit['timestamp'])} {hit['name'] or hit['email'] or '?'}: "
        row = _text(head) + link("show", "id", hit["key"], hit["subject"] or "(no subject)")
        snippet = hit.get("snippet")
        if snippet:
            row += f'<br><span class="proof">{_text(snippet["text"])}</span>'
        rows.append(f"<li>{row}</li>")
    notes = [f"<p>{_text(note)}</p>" for note in results["notes"]]
    if results.get("suggestion"):
        notes.append(f"<p>Perhaps you mean {link('search', 'query', results['suggestion'])}.</p>")
    shown = f"{len(rows):,} of {results['total']:,}"
    return f"<p>{shown}</p>{''.join(notes)}<ul>{''.join(rows)}</ul>"


def _message(message: Mapping[str, Any]) -> str:
    head = {
        "from": _person(message.get("from")),
        "to": ", ".join(filter(None, map(_person, message["to"]))),
        "cc": ", ".join(filter(None, map(_person, message["cc"]))),
        "date": message.get("date_iso"),
        "message_id": message.get("message_id"),
    }
    thread = ""
    if message.get("message_id"):
        thread = f"<p>{link('thread', 'id', message['message_id'], 'the conversation')}</p>"
    body = "\n".join(_body_lines(message["body"], message["line_kinds"]))
    told = {
        name: value
        for name, value in message.items()
        if name not in (*head, "body", "references", "subject", "source", "rejected")
    }
    return f"{value_html(head)}{thread}<pre>{body}</pre><h2>Facts</h2>{value_html(told)}"


def _body_lines(body: str, kinds: str) -> Iterator[str]:
    for number, line in enumerate(printable_lines(body).split("\n")):
        style = _KINDS.get(kinds[number : number + 1])
        text = html.escape(line)
        yield f'<span class="{style}">{text}</span>' if style else text


def _person(person: Mapping[str, Any] | None) -> str:
    if person is None:
        return ""
    address = person.get("email") or person.get("email_masked")
    return " ".join(filter(None, (person.get("name"), f"<{address}>" if address else "")))


def _thread(nodes: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for node in nodes:
        indent = "&nbsp;&nbsp;" * min(node["depth"], 30)
        message = node["message"]
        seen = _brief(message) if message else f"(not seen) {_text(node['message_id'])}"
        lines.append(f"<div>{indent}{seen}</div>")
    return "".join(lines)


def _backports(answer: Mapping[str, Any]) -> str:
    rows = []
    for row in answer["rows"]:
        sha = row["upstream_commit"]
        commit = link("commit", "sha", sha, sha[:12]) if sha else "(not known)"
        state = row["state"]
        if row["state_before"]:
            state += f" (before: {row['state_before']})"
        when = (row["date_iso"] or "")[:10]
        rows.append(
            f"<tr><td>{_text(state)}</td><td>{commit}</td><td>{_text(row['subject'] or '')}<br>"
            f"{_text(when + ' ' + row['reason'])}<br>{_proof(row['evidence'])}</td></tr>"
        )
    head = "<tr><th>state</th><th>commit</th><th>title, reason, proof</th></tr>"
    shown = f"{len(rows):,} of {answer['total']:,}"
    return f"<p>{shown}</p><table>{head}{''.join(rows)}</table>"
