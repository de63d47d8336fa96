"""Entity names: how two spellings are known to be one name, and where a text mentions one.

The folded slug is the identity ("An entity's identity is its folded slug"): Unicode NFC, case-folded, with ``-``,
``_``, blanks and camel joins all equal, so that ``@The-Castle``, ``@the_castle``, ``@TheCastle`` and
``@"The Castle"`` name one entity.
"""

from __future__ import annotations

import re
import unicodedata

from .scripts import has_unspaced

_POSSESSIVE = re.compile(r"(?<=\w)(?:['’]s)+$")
_JOINS = re.compile(r"[-_\s]+")
_OPENERS = frozenset("([{<\"'“”„‘’«»‹›（「『【〔《〈*~,;!?、，。；：！？·|—–/&+")
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»"}
_LONGEST = 200


def fold(name: str) -> str:
    """The folded slug of a name: equal for spellings of one name, and for its English possessive (``@Peter's``).

    Idempotent; "" for a name of joins only.
    """
    joined = _JOINS.sub("", unicodedata.normalize("NFC", name).casefold())
    folded = _POSSESSIVE.sub("", joined.lstrip("@"))
    return unicodedata.normalize("NFC", folded)


def _is_slug_char(char: str) -> bool:
    return char.isalnum() or char in "-_" or unicodedata.category(char) in ("Mn", "Mc", "Me")


def entity_at(text: str, start: int) -> tuple[str, int] | None:
    """The entity whose ``@`` stands at ``start`` and the offset after it, or None where that is no entity.

    Forms: ``@slug`` (letters of any script, digits, ``-``, ``_``, an inner ``.`` or ``'``), ``@"Ana Maria"``,
    ``@[[Ana Maria]]`` (also ``@[[Ana Maria|Ana]]``). ``@scope/pkg`` is none.
    """
    at = start + 1
    if text.startswith("[[", at):
        close = text.find("]]", at + 2, at + 2 + _LONGEST)
        name = text[at + 2 : close].split("|", 1)[0].strip() if close > 0 else ""
        return (name, close + 2) if name and "\n" not in name and fold(name) else None
    closing = _QUOTES.get(text[at : at + 1])
    if closing:
        close = text.find(closing, at + 1, at + 1 + _LONGEST)
        name = text[at + 1 : close].strip() if close > 0 else ""
        return (name, close + 1) if name and fold(name) else None
    end = at
    size = len(text)
    while end < size and end - at <= _LONGEST:
        char = text[end]
        if _is_slug_char(char):
            end += 1
        elif char in ".'’‌‍" and end > at and end + 1 < size and text[end + 1].isalnum():
            end += 2
        else:
            break
    name = text[at:end]
    if not any(map(str.isalnum, name)) or end - at > _LONGEST:
        return None
    if text.startswith("/", end) and not text.startswith("/@", end):
        return None
    return name, end


def code_spans(text: str) -> list[tuple[int, int]]:
    """The stretches of ``text`` inside code spans, back-ticks included, by CommonMark's rule (runs of one length)."""
    if "`" not in text:
        return []
    runs = [(m.start(), m.end()) for m in re.finditer("`+", text)]
    after: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        after.setdefault(runs[number][1] - runs[number][0], []).append(number)
    spans = []
    number = 0
    while number < len(runs):
        start, end = runs[number]
        same = after[end - start]
        while same and same[-1] <= number:
            same.pop()
        if same:
            number = same[-1]
            spans.append((start, runs[number][1]))
        number += 1
    return spans


def mentions(text: str) -> list[str]:
    """The entities that a text names with ``@``, in order, exact repeats dropped.

    A mention counts at a token start only: not in an e-mail address, a URL, ``pkg@1.2``, or a code span.
    """
    if "@" not in text:
        return []
    found: dict[str, None] = {}
    spans = iter([*code_spans(text), (len(text), len(text))])
    opened, closed = next(spans)
    at = text.find("@")
    while at >= 0:
        while at >= closed and opened < len(text):
            opened, closed = next(spans)
        if at >= opened and at < closed:
            at = text.find("@", closed)
            continue
        entity = entity_at(text, at) if _starts_token(text, at) else None
        if entity:
            found.setdefault(entity[0])
        at = text.find("@", entity[1] if entity else at + 1)
    return list(found)


def _starts_token(text: str, at: int) -> bool:
    if at == 0:
        return True
    before = text[at - 1]
    if before == "/":
        return at > 1 and (text[at - 2].isspace() or bool(re.search(r"@\S+$", text[max(0, at - 80) : at - 1])))
    return before.isspace() or before in _OPENERS or has_unspaced(before)
