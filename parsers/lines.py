"""A file as lines, with what hides text taken out: front matter, code fences, HTML comments, managed blocks.

Two forms of each line are kept. ``plain`` is the line without comments: the text of facts and notes. ``structure`` is
what the Markdown block parser is given: the same number of lines, but with the habits that CommonMark does not know
(``•`` bullets, typed lines without a bullet, ``41. ## Retain``) put into its forms, and nesting bounded.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .blocks import read_blocks
from .front_matter import FrontMatter, read_front_matter
from .masks import FENCE, OWN, Fence, find_managed, mask_hidden
from .prefix import parse_typed
from .records import Diagnostic

_HEADING = re.compile(r" {0,3}(?:\d{1,9}[.)]\s+)?(?=#{1,6}(?:\s|$))")
_CHAIN = re.compile(r"(?:\s*(?:[-*+•>]|\d{1,9}[.)])(?=[\s>]))+")
_CHAIN_PART = re.compile(r"\s*(?:[-*+•>]|\d{1,9}[.)])(?=[\s>])")
_UNICODE_BLANK = re.compile(r"[^\S \t]")
_DASH = re.compile(r" {0,3}[–—]\s+")
_DEEPEST_INDENT = 100
_LONGEST_CHAIN = 12


class Lines(NamedTuple):
    """``raw``: the lines as in the file (no line ends, no BOM). ``managed``: per line 0, FOREIGN or OWN; what people
    wrote into a block of ours is 0 too. ``fenced``: per line whether it belongs to a code fence. ``bare``: numbers
    (0-based) of typed lines without a bullet; ``dashed``: of lines that look typed after a dash. ``open_at``: the line
    (0-based) of a fence or comment that never ends and hides the rest, or None. ``diagnostics`` of the file as a
    whole."""

    raw: list[str]
    plain: list[str]
    structure: list[str]
    managed: bytearray
    fenced: bytearray
    bare: frozenset[int]
    dashed: frozenset[int]
    open_at: int | None
    front: FrontMatter
    diagnostics: list[Diagnostic]


def split_lines(text: str) -> list[str]:
    """Lines as an editor counts them: split on ``\\n`` only, a final ``\\r`` and a BOM dropped, NUL shown as U+FFFD."""
    lines = text.removeprefix("﻿").replace("\0", "�").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def read_lines(text: str) -> Lines:
    """Split and mask a whole file. Linear in its size."""
    raw = split_lines(text)
    front = read_front_matter(raw)
    diagnostics = [Diagnostic(1, "bad-front-matter", "front matter does not parse; read as text")] if front.bad else []
    plain = [""] * front.end + raw[front.end :]
    fences, open_at = mask_hidden(plain, front.end, diagnostics)
    fenced = bytearray(len(raw))
    for fence in fences:
        fenced[fence.first : fence.last + 1] = b"\1" * (fence.last + 1 - fence.first)
    managed = find_managed(raw, front.end, fenced)
    silent = _release_theirs(raw, managed, b"\1" * front.end + fenced[front.end :]) if OWN in managed else frozenset()
    structure = list(plain)
    bare: set[int] = set()
    dashed: set[int] = set()
    for number in range(front.end, len(plain)):
        if number in silent:
            structure[number] = ""
        elif plain[number] and not fenced[number]:
            structure[number], what = _structure_of(plain[number])
            if what:
                (bare if what == "bare" else dashed).add(number)
    for fence in fences:
        _restate(structure, fence)
    return Lines(
        raw, plain, structure, managed, fenced, frozenset(bare), frozenset(dashed), open_at, front, diagnostics
    )


def _release_theirs(raw: list[str], managed: bytearray, fenced: bytes | bytearray) -> frozenset[int]:
    """Take the lines that people wrote into our own blocks out of ``managed``, so that they are read as any page's.

    Returns the lines (0-based) of ours in these blocks that are not to be read as Markdown, headings aside: a person's
    line is no part of the item above it that says what a fact says already, nor is such an item a detail of theirs.
    """
    silent: set[int] = set()
    for block in read_blocks(raw, fenced):
        theirs = [one.line - 1 for one in block.their_lines if managed[one.line - 1] == OWN]
        for number in theirs:
            managed[number] = 0
        if theirs:
            ours = (one - 1 for one in block.own_lines)
            silent.update(number for number in ours if not fenced[number] and not _HEADING.match(raw[number]))
    return frozenset(silent)


def _restate(structure: list[str], fence: Fence) -> None:
    """Write a fence in the one form on which every block parser agrees about where it ends."""
    opener = FENCE.match(structure[fence.first])
    structure[fence.first] = (opener["lead"] if opener else "") + "```"
    for number in range(fence.first + 1, fence.last):
        structure[number] = fence.indent + "x"
    if fence.last > fence.first:
        structure[fence.last] = fence.indent + "```"


def _structure_of(line: str) -> tuple[str, str]:
    """The line as the block parser gets it, and whether it is ``bare`` or ``dash``-typed."""
    if not line.isascii():
        line = _UNICODE_BLANK.sub(" ", line)
        start = len(line) - len(line.lstrip())
        if line.startswith("•", start):
            line = f"{line[:start]}*{line[start + 1 :]}"
    line = line.replace("\r", " ")
    indent = len(line) - len(line.lstrip())
    if indent > _DEEPEST_INDENT:
        line = " " * _DEEPEST_INDENT + line[indent:]
    chain = _CHAIN.match(line)
    if chain and chain.end() > 2 * _LONGEST_CHAIN:
        at = 0
        for _ in range(_LONGEST_CHAIN):
            part = _CHAIN_PART.match(line, at)
            at = part.end() if part else at
        if _CHAIN_PART.match(line, at):
            line = f"{line[:at]} x"
    heading = _HEADING.match(line)
    if heading:
        return line[heading.end() :], ""
    if line[:1] in "WBOSEwbose*_" and _looks_typed(line):
        return f"- {line}", "bare"
    dash = _DASH.match(line)
    if dash and _looks_typed(line[dash.end() :]):
        return f"- {line[dash.end() :]}", "dash"
    return line, ""


def _looks_typed(line: str) -> bool:
    typed = parse_typed(line[:2000]) if len(line.rstrip()) > 1 else None
    return typed is not None and bool(typed.entities or typed.text or ":" in line or "：" in line)
