"""Which heading titles open a Retain section.

People decorate the word: an emoji, a number, a colon, bold or italic marks, a tail in brackets, in any order.
What is left must be the word itself, in one of its languages, in any case.
"""

from __future__ import annotations

import re
from unicodedata import category

#: The word in the languages that are known, case-folded.
RETAIN_WORDS = frozenset(("retain", "retener", "mantieni", "reter", "保留"))

_COMMENT = re.compile(r"<!--.*?-->")
_NUMBER = re.compile(r"\d+(?:[.．]\d+)*[.)．）、](?!\d)|\d+(?:[.．]\d+)+(?=\s)")
_KEYCAP = re.compile("[0-9#*]\ufe0f?\u20e3")
_MARKS = "*_ \t"
_OPENING = {")": "(（", "）": "(（", "]": "[［", "］": "[［", "】": "【", "〕": "〔", "｝": "{｛", "}": "{｛"}
#: How much of a heading goes into the trail of what stands below it, and how much of one is looked at.
LONGEST_HEADING, LONGEST_TITLE = 120, 300


def is_retain_heading(title: str) -> bool:
    """Whether ``title``, a heading's text without ``#`` marks or underline, is the word Retain when
    stripped."""
    folded = title.casefold()
    if not any(word in folded for word in RETAIN_WORDS):
        return False
    if "<!--" in title:
        title = _COMMENT.sub(" ", title)
    before = None
    while title != before:
        before = title
        title = _without_tail(_without_head(title.strip().strip(_MARKS)))
    return title.casefold() in RETAIN_WORDS


def _without_head(title: str) -> str:
    """``title`` without one number, keycap or run of emoji at its start."""
    match = _KEYCAP.match(title) or _NUMBER.match(title)
    if match:
        return title[match.end() :]
    end = 0
    while end < len(title) and _is_emoji(title, end):
        end += 1
    return title[end:]


def _without_tail(title: str) -> str:
    """``title`` without one colon, bracket or run of emoji at its end."""
    if title.endswith((":", "：")):
        return title[:-1]
    if title and title[-1] in _OPENING:
        return title[: _opening_of_last(title)]
    end = len(title)
    while end and _is_emoji(title, end - 1):
        end -= 1
    return title[:end]


def _opening_of_last(title: str) -> int:
    """Where the bracket opens that the last character closes; the length of ``title`` where none does."""
    opening = _OPENING[title[-1]]
    closing = {closing for closing, openings in _OPENING.items() if openings == opening}
    depth = 0
    for position in range(len(title) - 1, -1, -1):
        if title[position] in closing:
            depth += 1
        elif title[position] in opening:
            depth -= 1
            if depth == 0:
                return position
    return len(title)


def _is_emoji(title: str, position: int) -> bool:
    """Whether the character belongs to an emoji: a symbol, joiner, selector, or what a selector changes."""
    char = title[position]
    if char < "\x80":
        return False
    if category(char) in ("So", "Sm", "Sk", "Cf") or char in "\ufe0e\ufe0f\u20e3":
        return True
    return title[position + 1 : position + 2] == "\ufe0f"
