"""One file, whole: its role and day, facts, notes, chunks and faults."""

from __future__ import annotations

from .chunks import make_chunks
from .context_marks import blank_context
from .days import CORE, LOG, OUTSIDE, PAGE, log_day, role_of
from .document import Document, parse_document
from .headings import LONGEST_HEADING, LONGEST_TITLE
from .ledger import read_judgements
from .masks import OWN
from .notes import parse_notes
from .records import Diagnostic, Fact, ParsedFile
from .retain import Placed, parse_facts, place_blocks
from .secrets import looks_secret


def parse_file(text: str, path: str) -> ParsedFile:
    """Read one Markdown file as if it stood at ``path`` (posix, relative to the workspace).

    Any text parses; what is wrong with it is in ``diagnostics``, sorted by line. ``outside`` files give no facts and no
    diagnostics.
    """
    role = role_of(path)
    document = parse_document(text)
    day, impossible = log_day(path)
    diagnostics = document.diagnostics
    facts: list[Fact] = []
    rest: list[Placed]
    if role in (LOG, CORE, PAGE):
        facts, rest = parse_facts(document, path, role, day, diagnostics)
        if impossible:
            diagnostics.append(Diagnostic(1, "impossible-date", "the date in the file's name does not exist"))
    else:
        rest = list(place_blocks(document, day))
    diagnostics.extend(
        Diagnostic(number, "secret-like", "this looks like a key or token; keep it out of memory")
        for number, line in enumerate(document.lines.raw, 1)
        if looks_secret(line)
    )
    titles = _trails(document)
    front = document.lines.front
    return ParsedFile(
        path,
        role,
        day,
        next((b.text[:LONGEST_TITLE] for b in document.blocks if b.kind == "heading" and b.text), ""),
        _aliases(front.values),
        front.values,
        tuple(facts),
        tuple(parse_notes(document, path, rest)),
        tuple(
            make_chunks(_without_marks(blank_context(document.lines.raw, document.lines.managed)), titles, front.end)
        ),
        () if role == OUTSIDE else tuple(sorted(set(diagnostics))),
        read_judgements(document.lines.raw, document.lines.managed, OWN) if role == PAGE else (),
    )


def _without_marks(lines: list[str]) -> list[str]:
    """Lines as they are searched: the marks of our own blocks hold keys and hashes, which nobody looks for."""
    return ["" if "openclaw-memory:" in line and line.lstrip().startswith("<!--") else line for line in lines]


def _aliases(values: dict[str, str | tuple[str, ...]]) -> tuple[str, ...]:
    for key, value in values.items():
        if key.casefold() in ("aliases", "alias"):
            names = value.split(",") if isinstance(value, str) else value
            return tuple(name.strip().lstrip("@") for name in names if name.strip())
    return ()


def _trails(document: Document) -> list[tuple[int, str]]:
    """(line, "A > B > C") for each heading, with those it stands under."""
    trails: list[tuple[int, str]] = []
    open_headings: list[tuple[int, str]] = []
    for block in document.blocks:
        if block.kind == "heading":
            while open_headings and open_headings[-1][0] >= block.level:
                open_headings.pop()
            open_headings.append((block.level, block.text[:LONGEST_HEADING]))
            trails.append((block.line, " > ".join(text for _, text in open_headings if text)))
    return trails
