"""What a workspace holds, by reading every file that the index would read, and nothing else: nothing is written.

It parses as ``sync`` does, so that what is counted here is what is found afterwards.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from datetime import date
from typing import NamedTuple

from ..parsers.days import CORE, LOG, PAGE, PLAIN, is_dream_report
from ..parsers.hints import hints
from ..parsers.lines import read_lines
from ..parsers.marks import find_marks
from ..parsers.names import fold
from ..parsers.parse import parse_file
from ..parsers.records import Fact, Note, ParsedFile
from .files import decode, read_below
from .scan import Scan, scan
from .workspace import Workspace

#: Bytes from which on a file is told of: it is read, but nobody will.
LARGE = 1_000_000
#: What a file is to a reader: finer than the grammar's roles.
ROLES = ("core", "user", "log", "slugged-log", "undated", "dream-report", "page", "entity-page", "other-page", "extra")

Progress = Callable[[int, int], None]


class Seen(NamedTuple):
    """One file. ``facts``: how many of each kind. ``entities``: folded names. ``language``: a code, "" for no words."""

    path: str
    role: str
    size: int
    day: date | None
    facts: Counter[str]
    notes: int
    entities: frozenset[str]
    language: str


class Issue(NamedTuple):
    """Something in a file that keeps a part of it from being used as it was meant. ``line``: 1-based."""

    code: str
    path: str
    line: int
    message: str


class Survey(NamedTuple):
    """``files`` by path. ``names``: how the entities are written most often, with how many files name them, most named
    first. ``marks``: kind to places as (path, line). ``skipped``: path and why it could not be read. ``scan``: what was
    looked at."""

    files: tuple[Seen, ...]
    names: tuple[tuple[str, int], ...]
    marks: dict[str, list[tuple[str, int]]]
    issues: tuple[Issue, ...]
    skipped: tuple[tuple[str, str], ...]
    scan: Scan


def survey(
    workspace: Workspace, language_of: Callable[[str], str] = lambda text: "", progress: Progress | None = None
) -> Survey:
    """Look through a workspace. ``language_of``: the language of a text, as a code; "" for none."""
    found = scan(workspace)
    files: list[Seen] = []
    issues: list[Issue] = []
    skipped: list[tuple[str, str]] = []
    marks: dict[str, list[tuple[str, int]]] = {}
    spelt: dict[str, Counter[str]] = {}
    for done, path in enumerate(sorted(found.files)):
        if progress:
            progress(done, len(found.files))
        try:
            data = _read(workspace, path)
        except OSError as error:
            skipped.append((path, error.strerror or type(error).__name__))
            continue
        text = decode(data)
        parsed = parse_file(text, path)
        for mark in find_marks(read_lines(text)) if "<!--" in text or "[[" in text else ():
            marks.setdefault(mark.kind, []).append((path, mark.line))
        issues += _issues(data, text, parsed)
        records: list[Fact | Note] = [*parsed.facts, *parsed.notes]
        named = {fold(name): name for one in records for name in one.entities}
        for slug, name in named.items():
            spelt.setdefault(slug, Counter())[name] += 1
        files.append(
            Seen(
                path,
                role_in(parsed),
                len(data),
                parsed.day,
                Counter(fact.kind for fact in parsed.facts),
                len(parsed.notes),
                frozenset(named),
                language_of(" ".join(one.text for one in records)),
            )
        )
    if progress and files:
        progress(len(found.files), len(found.files))
    names = [(min(how, key=lambda name: (-how[name], name)), how.total()) for how in spelt.values()]
    return Survey(
        tuple(files),
        tuple(sorted(names, key=lambda one: (-one[1], one[0]))),
        marks,
        tuple(issues),
        tuple(skipped),
        found,
    )


def role_in(parsed: ParsedFile) -> str:
    """What a file is to a reader: one of ``ROLES``."""
    path = parsed.path
    if parsed.role == CORE:
        return "core"
    if parsed.role == LOG:
        if is_dream_report(path):
            return "dream-report"
        if parsed.day is None:
            return "undated"
        plain = "".join(char for char in path.rsplit("/", 1)[-1].removesuffix(".md") if char.isalnum())
        return "log" if plain.isdecimal() and len(plain) in (2, 8) else "slugged-log"
    if parsed.role == PAGE:
        return "entity-page" if "/entities/" in path else "page"
    if parsed.role == PLAIN:
        return "user" if path == "USER.md" else "other-page"
    return "extra"


def _issues(data: bytes, text: str, parsed: ParsedFile) -> list[Issue]:
    path = parsed.path
    found = [Issue(one.code, path, one.line, one.message) for one in (*parsed.diagnostics, *hints(text, path))]
    if len(data) > LARGE:
        found.append(Issue("large-file", path, 1, f"{len(data):,} bytes; it is read, but split it where you can"))
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        found.append(Issue("utf-16", path, 1, "this is UTF-16 and reads as nonsense; save it as UTF-8"))
        return found
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found.append(Issue("not-utf-8", path, line, "a byte that is no UTF-8 reads as �; save the file as UTF-8"))
    return found


def _read(workspace: Workspace, path: str) -> bytes:
    if not os.path.isabs(path):
        return read_below(workspace.root, path)
    with open(path, "rb") as file:
        return file.read()
