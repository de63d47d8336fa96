"""The narrative of a log as sentences: each with the lines on which it stands, and the known names that it says.

Sentences end at the full stops of Unicode's sentence rules (UAX #29) less abbreviations, initials, decimals and the
ordinals of German dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..parsers.document import Block, parse_document
from ..parsers.records import Note
from ..parsers.scripts import has_unspaced

_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|[。！？]+[」』”\"）]*")
_ABBREVIATIONS = frozenset(
    "dr mr mrs ms prof sr jr vs inc ltd bzw usw ggf evtl inkl zzgl ing dipl e.g i.e z.b d.h u.a a.m p.m".split()
)
#: Abbreviations that are words, too: with a capital, or before a number.
_CAPITALS = frozenset(
    "st hr fr jan feb mar apr jun jul aug sep sept oct nov dec okt dez mo di mi do sa so mon tue wed thu fri sat"
    " sun".split()
)
_NUMBERED = frozenset("no nr fig vol pp approx ca abs tel art p s".split())
#: German ordinals stand before a month, or after these words.
_MONTH = re.compile(
    r"\s(?:jan(?:uar|uary)?|feb(?:ruar|ruary)?|märz?|mar(?:ch)?|apr(?:il)?|mai|may|jun[ie]?|jul[iy]?|aug(?:ust)?"
    r"|sep(?:t|tember)?|o[kc]t(?:ober)?|nov(?:ember)?|de[zc](?:ember)?|stock|etage|klasse)\b|\s\d",
    re.IGNORECASE,
)
_BEFORE_ORDINAL = frozenset("am vom zum der dem den ab bis im des die das".split())
_LAST_WORD = re.compile(r"(\S+)$")
#: Marks before the words of an entry: a box, a time of day, dashes.
_LEAD = re.compile(
    r"(?:\[[xX]\]\s*|\(?\d{1,2}:\d\d(?::\d\d)?(?!\d)\)?(?:\s?(?:am|pm|uhr|h)\b)?\s*(?:[-–—:|]\s*)?|[-–—*+•]\s+)+",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
#: What may stand between the words of a name.
_JOIN = re.compile(r"[-_.'’\s]{0,3}")


class Sentence(NamedTuple):
    """A sentence as written, list marks and times of day before it left off. ``first``: it opens its note, or a label
    opens it. ``body``: where its words begin, behind signs such as ✅ and a label in bold."""

    text: str
    line: int
    end_line: int
    first: bool
    body: int


class Named(NamedTuple):
    """``text[start:end]`` is a way to write the entity ``name``."""

    start: int
    end: int
    name: str


def prose_lines(lines: Sequence[str]) -> frozenset[int]:
    """The lines (1-based) of paragraphs and list items: not of headings, quotes, tables, code, or what is hidden."""
    found: set[int] = set()

    def walk(blocks: Iterable[Block]) -> None:
        for block in blocks:
            if block.kind == "item":
                for _, first, last in block.parts:
                    found.update(range(first, last + 1))
                walk(block.children)
            elif block.kind == "paragraph":
                found.update(range(block.line, block.end_line + 1))

    walk(parse_document("\n".join(lines)).blocks)
    return frozenset(found)


def sentences(note: Note, lines: Sequence[str] | None = None) -> list[Sentence]:
    """The sentences of a note. With the file's ``lines``, each has its own lines, and one that does not stand there in
    one piece (a comment runs through it) is left out; without them, all have the note's."""
    found: list[Sentence] = []
    place = _Place(note, lines) if lines is not None else None
    labels = _labels(lines[note.line - 1 : note.end_line]) if lines is not None else []
    for number, (start, end) in enumerate(_spans(note.text)):
        raw = note.text[start:end]
        lead = _LEAD.match(raw) if number == 0 else None
        text = " ".join(raw[lead.end() if lead else 0 :].split())
        label = next((one for one in labels if text.startswith(f"{one} ")), "")
        text = text[len(label) :].lstrip()
        if not text:
            continue
        where = place.of(text) if place else (note.line, note.end_line)
        if where:
            marks = _MARKS.match(text)
            body = marks.end() if marks else 0
            found.append(Sentence(text, *where, number == 0 or bool(_BOLD.match(text)), body))
    return found


#: A label in bold with a colon: an entry of its own begins there, also in the middle of a paragraph.
_BOLD = re.compile(r"(?:\*\*|__)[^*_]{1,40}(?:[:：]\s?(?:\*\*|__)|(?:\*\*|__)\s?[:：])")
_OPENS = re.compile(rf"(?<=\s){_BOLD.pattern}(?=\s)")
_MARKS = re.compile(rf"[^\w\s\"'“„«@`(*_\[]*\s*(?:{_BOLD.pattern}\s*)?[^\w\s\"'“„«@`(*_\[]*\s*")
#: A line that is a label in bold, or code, alone.
_LABEL = re.compile(r"\s*((?:\*\*|__)[^*_]+(?:\*\*|__)[:：]?|`[^`]+`)\s*")


def _labels(lines: Sequence[str]) -> list[str]:
    return [" ".join(match[1].split()) for line in lines if (match := _LABEL.fullmatch(line))]


class _Place:
    """Where text stands in the lines of a note, blanks aside."""

    def __init__(self, note: Note, lines: Sequence[str]) -> None:
        self._signs: list[str] = []
        self._lines: list[int] = []
        for number in range(note.line, min(note.end_line, len(lines)) + 1):
            signs = "".join(lines[number - 1].split())
            self._signs.append(signs)
            self._lines += [number] * len(signs)
        self._text = "".join(self._signs)
        self._after = 0

    def of(self, text: str) -> tuple[int, int] | None:
        wanted = "".join(text.split())
        at = self._text.find(wanted, self._after)
        if at < 0:
            return None
        self._after = at + len(wanted)
        return self._lines[at], self._lines[self._after - 1]


def _spans(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = 0
    ends: list[tuple[int, re.Match[str] | None]] = [(match.end(), match) for match in _END.finditer(text)]
    ends += [(match.start(), None) for match in _OPENS.finditer(text)]
    for end, match in sorted(ends, key=lambda one: one[0]):
        if match is None or _ends(text, start, match):
            spans.append((start, end))
            start = end
    return [*spans, (start, len(text))]


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a full stop ends a sentence."""
    mark, after = match[0], text[match.end() : match.end() + 20]
    following = after.lstrip()[:1]
    if mark[0] in "。！？":
        return True
    if mark != "." and (following.islower() or following in "),;"):
        # "again?" she said; "… and so on"
        return not following
    if mark != ".":
        return True
    word = _LAST_WORD.search(text, start, match.start())
    written = word[1].strip("(\"'“„*_") if word else ""
    last = written.casefold()
    is_initial = len(written) == 1 and written.isupper() and written != "I"
    if last in _ABBREVIATIONS or is_initial or (last in _CAPITALS and written[:1].isupper()):
        return not following
    if last in _NUMBERED and following.isdecimal():
        return False
    if last.isdecimal() and len(last) <= 2:
        before = text[start : match.start()].split()
        return not (
            following.islower()
            or _MONTH.match(after)
            or len(before) == 1
            or (len(before) > 1 and before[-2].casefold() in _BEFORE_ORDINAL)
        )
    return True


class Names:
    """The known names, found in texts: at word borders (at any character of scripts without spaces), longest first."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self._names = names
        signed: list[str] = []
        for written, name in sorted(names.items()):
            words = tuple(word for word, _, _ in _words(written))
            if not words or not name or (len(words) == 1 and len(written) == 1 and written.isascii()):
                continue
            if _SIGNED.search(written):
                signed.append(written)
            elif len(words) > 1 or len(words[0]) > 1:
                self._by_first.setdefault(words[0], []).append((words, name))
        for row in self._by_first.values():
            row.sort(key=lambda one: (-len(one[0]), one))
        signed.sort(key=lambda one: (-len(one), one))
        any_of = "|".join(map(re.escape, signed))
        self._signed = re.compile(rf"(?<![\w.]){'(?:' + any_of + ')'}(?![\w+#])", re.IGNORECASE) if signed else None

    def find(self, text: str, more: Iterable[tuple[int, int]] = (), is_german: bool = False) -> list[Named]:
        """The names in a text, in order. ``more``: stretches that another matcher holds for known names.
        ``is_german``: a name may end with the ``s`` of its genitive ("Hedwigs Adresse")."""
        words = _words(text)
        found: list[Named] = []
        for at, (word, start, end) in enumerate(words):
            match = self._at(text, words, at, word)
            if not match and is_german and word.endswith("s") and text[start].isupper():
                match = self._at(text, [*words[:at], (word[:-1], start, end)], at, word[:-1])
            if match:
                found.append(match)
        if self._signed:
            more = [*more, *(match.span() for match in self._signed.finditer(text))]
        for start, end in more:
            name = self._names.get(text[start:end].casefold(), "")
            if name and (end - start > 1 or not text[start].isascii()):
                found.append(Named(start, end, name))
        found.sort(key=lambda one: (one.start - one.end, one.start))
        kept: list[Named] = []
        code = [match.span() for match in _CODE.finditer(text)]
        for one in found:
            if (
                _is_written(text, one)
                and not _is_inside(text, one, code)
                and all(one.end <= other.start or one.start >= other.end for other in kept)
            ):
                kept.append(one)
        return sorted(kept)

    def _at(self, text: str, words: list[tuple[str, int, int]], at: int, word: str) -> Named | None:
        """The longest name whose first word is the one ``at`` which a text stands, spelled ``word``."""
        for wanted, name in self._by_first.get(word, ()):
            part = words[at : at + len(wanted)]
            if tuple(one[0] for one in part) == wanted and all(
                _JOIN.fullmatch(text, left[2], right[1]) for left, right in pairwise(part)
            ):
                return Named(words[at][1], part[-1][2], name)
        return None


#: Signs that are part of a name: "C++", ".NET", "AT&T", "A/B".
_SIGNED = re.compile(r"\A[.#]\w|[+#&/]")
#: Names that are ordinary words: at the start of a sentence they are not taken for the name.
_ORDINARY = frozenset(
    "will may mark hope bill art rich joy rose dawn sunny june april august grace faith max pat".split()
)


def _is_written(text: str, one: Named) -> bool:
    """Whether a stretch is the name and not a word that is spelled like it: a capital where the name has one."""
    shown = text[one.start : one.end]
    if " " not in shown and one.name[:1].isupper() and shown.islower():
        return False
    at_start = not any(map(str.isalnum, text[: one.start]))
    return not (at_start and shown.casefold() in _ORDINARY)


_CODE = re.compile(r"`[^`]*`")
_TOKEN_END = re.compile(r"\S*")


def _is_inside(text: str, one: Named, code: Iterable[tuple[int, int]]) -> bool:
    """Whether a name is only a part of code, of a path or of an address: these name something else."""
    for start, end in code:
        if start <= one.start and one.end <= end:
            return text[start + 1 : end - 1].strip() != text[one.start : one.end]
    before = max(text.rfind(blank, 0, one.start) for blank in " \t\n") + 1
    after = _TOKEN_END.match(text, one.end)
    left, right = text[before : one.start].lstrip("(\"'“„*_"), text[one.end : after.end() if after else one.end]
    right = right.rstrip(").,;:!?\"'”“*_")
    if "/" not in left + right and "\\" not in left + right:
        return "@" in left[1:]
    # "Mara/Tomasz" are two names, "feature/mara-2" is a path.
    return (left + right).count("/") > 1 or (left[-1:] != "/" and bool(left)) or (right[:1] != "/" and bool(right))


def _words(text: str) -> list[tuple[str, int, int]]:
    """(casefolded word, start, end); each character of a script without spaces is a word."""
    found: list[tuple[str, int, int]] = []
    for match in _WORD.finditer(text):
        if not has_unspaced(match[0]):
            found.append((match[0].casefold(), match.start(), match.end()))
            continue
        start = match.start()
        for at in range(match.start(), match.end()):
            if has_unspaced(text[at]):
                if at > start:
                    found.append((text[start:at].casefold(), start, at))
                found.append((text[at], at, at + 1))
                start = at + 1
        if start < match.end():
            found.append((text[start : match.end()].casefold(), start, match.end()))
    return found
