"""Evidence links of a fact, kept as written: ``(see memory/2025-11-27.md#L12)``, ``（来源：memory/a.md:17）``."""

from __future__ import annotations

import re
from collections.abc import Iterable

_GROUP = re.compile(r"[(（]([^()（）]{1,2000})[)）]")
_SPLIT = re.compile(r"[,;，；、]")
_LINK = re.compile(
    r"(?P<link>[^\s:：()（）\[\]<>\"'`，；、]{1,300}\.md(?:#L\d{1,9}(?:-L?\d{1,9})?|:\d{1,9}(?:-\d{1,9})?)?)[.\s]*$"
)
_LONGEST = 400
_EVIDENCE_DETAIL = re.compile(r"evidence\s*[:：]", re.IGNORECASE)


def evidence_links(text: str, details: Iterable[str] = ()) -> tuple[str, ...]:
    """The links to Markdown files named in brackets of ``text``, and in details that start with ``Evidence:``.

    In order, repeats dropped; "see" may be said in any language.
    """
    found: dict[str, None] = {}
    if ".md" in text:
        for group in _GROUP.finditer(text):
            _collect(group[1], found)
    for detail in details:
        label = _EVIDENCE_DETAIL.match(detail)
        if label and ".md" in detail:
            _collect(detail[label.end() :].strip(" ()（）"), found)
    return tuple(found)


def _collect(group: str, found: dict[str, None]) -> None:
    for part in _SPLIT.split(group):
        link = _LINK.search(part.rstrip("` ")[-_LONGEST:])
        if link:
            found.setdefault(link["link"])
