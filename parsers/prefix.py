"""The head of a typed bullet: ``TYPE[(c=X)] @entity… : text``, read part by part.

The grammar is in ``docs/retain-grammar.md``; a bare letter is a type only with a colon, an entity or a confidence
right after it, since ``O barco…`` and ``E poi…`` are ordinary words.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .names import entity_at
from .records import KIND_BY_LETTER

_BOX = re.compile(r"\[[ xX]\](?=\s|$)\s*")
_LETTER = re.compile(r"(?P<bold>\*\*|__)?\s*(?P<letter>[WBOSEwbose])(?![^\W_])")
_CONFIDENCE = re.compile(
    r"\s*[(（]\s*(?:[cC]\s*[=:：＝]\s*(?P<given>[^()（）\n]{0,40}?)"
    r"|(?P<bare>[-+]?(?:\d{0,9}[.,]\d{1,9}|\d{1,9}(?:[.,]\d{1,9})?\s*%)))\s*[)）]"
)
_NUMBER = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})\s*(?P<percent>%)?")
_COLON = re.compile(r"\s*[:：]")
_BLANKS = re.compile(r"\s*")
_BETWEEN = re.compile(r"\s*(?:[,、，&+]\s*)?(?=@)")
_PLACEHOLDER_ENTITY = re.compile(r"\s*@<[^<>\n]{0,80}>")
_PLACEHOLDERS = re.compile(r"<[^<>\n]{1,200}>")


class Typed(NamedTuple):
    """The parts of a typed bullet. ``letter`` as written; ``text`` may be empty; ``bad_confidence`` when one was
    given that is no number in 0..1."""

    letter: str
    confidence: float | None
    bad_confidence: bool
    entities: tuple[str, ...]
    text: str

    @property
    def kind(self) -> str:
        return KIND_BY_LETTER[self.letter.upper()]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said: no text, or ``<placeholders>`` that nobody filled in."""
        rest = _PLACEHOLDERS.sub("", self.text) if "<" in self.text else self.text
        return not self.text or (rest != self.text and not any(map(str.isalnum, rest)))


def confidence_value(given: str) -> float | None:
    """``0.9``, ``.9``, ``90%`` as a number in 0..1; None for anything else (``0,9``, NaN, 1.5)."""
    match = _NUMBER.fullmatch(given.strip())
    if not match:
        return None
    value = float(match["number"]) / (100 if match["percent"] else 1)
    return value if 0 <= value <= 1 else None


def parse_typed(text: str) -> Typed | None:
    """The parts of ``text`` (a bullet without its marker, its lines joined) if it is typed, else None.

    A letter alone is typed and empty. Linear in the length of the head.
    """
    box = _BOX.match(text)
    at = box.end() if box else 0
    letter = _LETTER.match(text, at)
    if not letter:
        return None
    bold = letter["bold"] or ""
    at = _close_bold(text, letter.end(), bold)
    bold = "" if at != letter.end() else bold
    confidence = _CONFIDENCE.match(text, at)
    value: float | None = None
    bad = False
    if confidence:
        value = confidence_value(confidence["given"] if confidence["given"] is not None else confidence["bare"])
        bad = value is None
        at = confidence.end()
    entities, at, bold, placeholder = _leading_entities(text, at, bold)
    colon = _COLON.match(text, at)
    if colon:
        at = colon.end()
    elif not (confidence or entities or placeholder) and text[at:].strip():
        return None
    if bold:
        closed = _close_bold(text, at, bold)
        if closed == at and not text.endswith(bold):
            return None
        text = text[:-2] if closed == at else text
        at = closed
        colon = None if colon else _COLON.match(text, at)
        at = colon.end() if colon else at
    return Typed(letter["letter"], value, bad, tuple(dict.fromkeys(entities)), text[at:].strip())


def _leading_entities(text: str, at: int, bold: str) -> tuple[list[str], int, str, bool]:
    """Entities from ``at`` on, the offset after them, the bold mark still open, and whether a placeholder stood
    there."""
    entities: list[str] = []
    placeholder = False
    while True:
        closed = _close_bold(text, at, bold)
        if closed != at:
            at, bold = closed, ""
        slot = _PLACEHOLDER_ENTITY.match(text, at)
        if slot:
            at, placeholder = slot.end(), True
            continue
        gap = (_BETWEEN if entities else _BLANKS).match(text, at)
        start = gap.end() if gap else at
        entity = entity_at(text, start) if gap and text.startswith("@", start) else None
        if not entity:
            return entities, at, bold, placeholder
        entities.append(entity[0])
        at = entity[1]


def _close_bold(text: str, at: int, bold: str) -> int:
    """The offset after a closing bold mark at ``at``, or ``at``."""
    if not bold:
        return at
    gap = _BLANKS.match(text, at)
    start = gap.end() if gap else at
    return start + len(bold) if text.startswith(bold, start) else at
