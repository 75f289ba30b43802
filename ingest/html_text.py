"""Text of an HTML body, for mails that have no other: never searched for diffs by tags."""

from __future__ import annotations


def html_to_text(html: str) -> str:
    """The text that HTML shows, line by line; scripts and styles left out."""
    from bs4 import BeautifulSoup  # slow to import, and few mails need it

    soup = BeautifulSoup(html, "lxml")
    for tag in soup(["script", "style", "head", "title"]):
        tag.decompose()
    for tag in soup.find_all("br"):
        tag.replace_with("\n")
    for tag in soup.find_all(["p", "div", "tr", "li", "pre", "h1", "h2", "h3", "blockquote"]):
        tag.append("\n")
    lines = (line.rstrip() for line in soup.get_text().replace("\xa0", " ").split("\n"))
    return "\n".join(lines).strip("\n") + "\n"
