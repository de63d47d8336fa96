"""Typed facts: which bullets of a document are facts, and how a fact is written.

Two places hold them: sections of a log under a heading **Retain**, and the typed pages of the bank. See
``docs/retain-grammar.md``.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date
from typing import NamedTuple

from .days import day_of
from .document import Block, Document
from .evidence import evidence_links
from .headings import LONGEST_HEADING, LONGEST_TITLE, is_retain_heading
from .names import fold, mentions
from .prefix import Typed, parse_typed
from .records import LETTER_BY_KIND, Diagnostic, Fact, Relation
from .relations import render_relation, take_relations
from .times import find_times, occurred

_WORDY = re.compile(r"[\s.。!！]+$")
_PLAIN_SLUG = re.compile(r"[^\W_][\w-]*", re.UNICODE)
_OPENS_BLOCK = re.compile(r"[>|#=]|[-*+•–—](\s|$)|\d{1,9}[.)](\s|$)|([-*_])(\s*\3){2,}\s*$")
_MESSAGES = {
    "legacy-type": "E is read as B (experience); write B",
    "lowercase-type": "write the type letter as a capital",
    "bad-confidence": "confidence must be a number from 0 to 1, such as (c=0.8); it is left out",
    "empty-fact": "this bullet says nothing; fill it in or delete it",
    "untyped-bullet": "a bullet under Retain starts with W, B, O or S, such as `- W @Peter: …`",
}


class Placed(NamedTuple):
    """A top-level block with what stands above it: the heading trail, the line of the nearest heading (0: none),
    whether a Retain section is open, and the day of a dated heading."""

    block: Block
    trail: tuple[str, ...]
    section: int
    in_retain: bool
    day: date | None


def place_blocks(document: Document, day: date | None) -> Iterator[Placed]:
    """The top-level blocks of a document other than headings, in order."""
    trail: list[tuple[int, str]] = []
    retain_level = section = 0
    dated: list[tuple[int, date]] = []
    for block in document.blocks:
        if block.kind != "heading":
            heading_day = dated[-1][1] if dated else day
            yield Placed(block, tuple(t for _, t in trail), section, retain_level > 0, heading_day)
        elif not block.managed:
            level, section = block.level, block.line
            while trail and trail[-1][0] >= level:
                trail.pop()
            while dated and dated[-1][0] >= level:
                dated.pop()
            if retain_level and level <= retain_level:
                retain_level = 0
            if not retain_level and is_retain_heading(block.text[:LONGEST_TITLE]):
                retain_level = level
            trail.append((level, block.text[:LONGEST_HEADING]))
            named = day_of(block.text) if day is None else None
            if named:
                dated.append((level, named))


def parse_facts(
    document: Document, path: str, role: str, day: date | None, diagnostics: list[Diagnostic]
) -> tuple[list[Fact], list[Placed]]:
    """The typed facts of a document, and the blocks that are none (narrative, for ``notes``).

    ``role`` is log or core (facts under Retain headings) or page (facts anywhere outside managed blocks). Faults go to
    ``diagnostics``.
    """
    reader = _Reader(path, role, diagnostics)
    for placed in place_blocks(document, day):
        reader.read(placed)
    reader.close_bare()
    return reader.facts, reader.rest


class _Reader:
    def __init__(self, path: str, role: str, diagnostics: list[Diagnostic]) -> None:
        self.path = path
        self.role = role
        self.diagnostics = diagnostics
        self.facts: list[Fact] = []
        self.rest: list[Placed] = []
        self.bare: tuple[Typed, Placed, list[Block]] | None = None

    def read(self, placed: Placed) -> None:
        block = placed.block
        if self.bare and self.bare[1].section != placed.section:
            self.close_bare()
        active = (placed.in_retain or self.role == "page") and not block.managed
        if block.kind != "item" or not active:
            self.close_bare()
            self.rest.append(placed)
            return
        typed = parse_typed(block.text) if block.marker in ("bullet", "bare") else None
        if typed is None and self.bare and block.marker != "dash":
            self.bare[2].append(block)
            return
        self.close_bare()
        if typed is None:
            self._untyped(placed)
        elif block.marker == "bare":
            self.bare = (typed, placed, [])
        else:
            self._typed(typed, placed, [])

    def close_bare(self) -> None:
        """A bare typed line has got the whole list below it."""
        if self.bare:
            typed, placed, below = self.bare
            self.bare = None
            self._typed(typed, placed, below)

    def _untyped(self, placed: Placed) -> None:
        block = placed.block
        if placed.in_retain and (block.text or block.children):
            self._report(block.line, "untyped-bullet")
        for child in block.children:
            inner = placed._replace(block=child)
            typed = parse_typed(child.text) if child.kind == "item" and child.marker == "bullet" else None
            if typed:
                self._typed(typed, inner, [])
            elif child.kind == "item":
                self._untyped(inner)
        nested = tuple(c for c in block.children if c.kind != "item")
        self.rest.append(placed._replace(block=block._replace(children=nested)))

    def _typed(self, typed: Typed, placed: Placed, below: list[Block]) -> None:
        block = placed.block
        if typed.is_empty:
            self._report(block.line, "empty-fact")
            # There is no fact to hold what stands below: typed bullets are facts of their own, the rest is narrative.
            for child in (*block.children, *below):
                inner = placed._replace(block=child)
                own = parse_typed(child.text) if child.marker == "bullet" else None
                if own:
                    self._typed(own, inner, [])
                else:
                    self.rest.append(inner)
            return
        if typed.letter in "Ee":
            self._report(block.line, "legacy-type")
        if typed.letter.islower():
            self._report(block.line, "lowercase-type")
        if typed.bad_confidence:
            self._report(block.line, "bad-confidence")
        details = tuple(_details([*block.children, *below]))
        # A table, a quote or a code block below a fact is no detail of it, but narrative that hangs below it.
        trail = (*placed.trail, typed.text[:LONGEST_HEADING])
        for other in _others([*block.children, *below]):
            self.rest.append(placed._replace(block=other, trail=trail))
        self.facts.append(
            make_fact(
                typed.kind,
                (*typed.entities, *mentions(typed.text)),
                typed.confidence,
                typed.text,
                details,
                path=self.path,
                line=block.line,
                end_line=max([block.end_line, *(b.end_line for b in below)]),
                day=placed.day,
                heading=" > ".join(placed.trail),
            )
        )

    def _report(self, line: int, code: str) -> None:
        self.diagnostics.append(Diagnostic(line, code, _MESSAGES[code]))


def _details(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if block.kind == "item":
            if block.text:
                yield block.text
            yield from _details(block.children)


def _others(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        if block.kind == "item":
            yield from _others(block.children)
        else:
            yield block


def make_fact(
    kind: str,
    entities: Iterable[str],
    confidence: float | None,
    text: str,
    details: tuple[str, ...] = (),
    *,
    path: str,
    line: int,
    end_line: int,
    day: date | None,
    heading: str = "",
) -> Fact:
    """A fact record with what follows from its text: relations, evidence links, when it happened, its id."""
    names = tuple(dict.fromkeys(entities))
    text, relations = take_relations(text)
    evidence = evidence_links(text, details)
    times = tuple(find_times("\n".join([text, *details]), day))
    return Fact(
        kind,
        names,
        confidence,
        text,
        details,
        evidence,
        path,
        line,
        end_line,
        day,
        times,
        occurred(one for one in times if one.end <= len(text)),
        heading,
        fact_id(kind, names, text),
        relations,
    )


def normalise(text: str) -> str:
    """A text without what does not change its meaning: NFC, case, runs of blanks, the final full stop."""
    return _WORDY.sub("", " ".join(unicodedata.normalize("NFC", text).casefold().split()))


def fact_id(kind: str, entities: Iterable[str], text: str) -> str:
    """``w-3f0c…``: the type's letter and 12 hex digits over kind, folded entities and normalised text, so that the
    same fact has the same id wherever it stands."""
    names = ",".join(sorted({fold(name) for name in entities}))
    digest = hashlib.sha256(f"{kind}\n{names}\n{normalise(text)}".encode("utf-8", "surrogatepass"))
    return f"{LETTER_BY_KIND[kind].lower()}-{digest.hexdigest()[:12]}"


def render_entity(name: str) -> str:
    """``@name`` in the simplest form that reads back as the same name."""
    if _PLAIN_SLUG.fullmatch(name):
        return f"@{name}"
    return f"@[[{name}]]" if '"' in name else f'@"{name}"'


def render_fact(
    kind: str,
    entities: Iterable[str],
    confidence: float | None,
    text: str,
    details: Iterable[str] = (),
    relations: Iterable[Relation] = (),
) -> str:
    """The bullet that reads back as this fact; details as nested bullets on lines of their own."""
    mark = "" if confidence is None else f"(c={confidence:.6f}".rstrip("0").rstrip(".") + ")"
    names = "".join(f" {render_entity(name)}" for name in entities)
    # An anchor stands last, where it is read as one.
    told = map(render_relation, sorted(relations, key=lambda one: one.kind == "restates"))
    linked = "".join(f" {one}" for one in told if one not in text)
    head = f"- {LETTER_BY_KIND[kind]}{mark}{names}: {text}{linked}"
    return "\n".join([head, *map(_render_detail, details)])


def _render_detail(detail: str) -> str:
    # Text that Markdown would take for a quote, a rule or another list is set off as CommonMark sets off code.
    return f"  -      {detail}" if _OPENS_BLOCK.match(detail) else f"  - {detail}"
