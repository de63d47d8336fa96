"""The records that parsing yields: immutable, each with the lines that it was read from.

Lines are what an editor shows: 1-based, split on ``\\n`` only. Days are ``datetime.date``; an interval includes
both of its ends.
"""

from datetime import date
from typing import NamedTuple

#: The four types of a Retain fact by their letter, plus the letter that older logs use (``E``, read as ``B``).
KIND_BY_LETTER = {
    "W": "world",
    "B": "experience",
    "O": "opinion",
    "S": "observation",
    "E": "experience",
}
LETTER_BY_KIND = {"world": "W", "experience": "B", "opinion": "O", "observation": "S"}
NOTE = "note"
KINDS = (*LETTER_BY_KIND, NOTE)


class Diagnostic(NamedTuple):
    """A fault in somebody's text, as a value: ``line`` (1-based), a stable ``code``, and one line for a person."""

    line: int
    code: str
    message: str = ""


class Interval(NamedTuple):
    """When something happened: two days, both included, and how exactly they are known.

    ``precision`` is one of ``day``, ``range`` (both ends were given), ``week``, ``month``, ``season``, ``year``.
    """

    first: date
    last: date
    precision: str


class TimeExpression(NamedTuple):
    """A stretch of text that speaks of time: ``text[start:end]``, and what it means.

    ``interval`` is None where it cannot be resolved (a relative word in a file without a day, or a bare duration).
    ``source`` is ``absolute`` (stands on its own), ``relative`` (resolved against the day), ``yearless`` (a month or
    a day without its year, resolved to the nearest one), ``clock`` (a time of day) or ``duration`` ("for two years").
    """

    start: int
    end: int
    interval: Interval | None
    source: str


class Relation(NamedTuple):
    """What a fact says of another one outright. ``kind``: supports, contradicts, replaces, retracts, or restates (the
    anchor at the end of a line that was written from a page's: it stands for what the anchor names). ``target``:
    ``^o-7f3a91`` (an id or the start of one) or ``memory/2025-11-20.md#L5``. ``strong``: said to be strong evidence."""

    kind: str
    target: str
    strong: bool


class Fact(NamedTuple):
    """One typed fact of a Retain section or of a bank page.

    ``kind``: world, experience, opinion or observation. ``entities``: names as written, without repeats, leading ones
    first. ``confidence``: 0..1 or None. ``text``: one line. ``details``: its nested bullets, flattened. ``evidence``:
    the links it names, as written. ``path``: posix, relative to the workspace. ``day``: of the log, or of the dated
    heading above it. ``times``: the time expressions in the text and the details. ``id`` is the same wherever the
    fact stands. ``relations``: what it says of others outright, which is no part of the text.
    """

    kind: str
    entities: tuple[str, ...]
    confidence: float | None
    text: str
    details: tuple[str, ...]
    evidence: tuple[str, ...]
    path: str
    line: int
    end_line: int
    day: date | None
    times: tuple[TimeExpression, ...]
    occurred: Interval | None
    heading: str
    id: str
    relations: tuple[Relation, ...] = ()


class Note(NamedTuple):
    """A list item, paragraph, table, quote or code block of narrative: recallable and cited, never a typed fact.

    ``origin`` is ``stated``, or ``generated`` for what stands inside a block that a machine maintains.
    """

    text: str
    entities: tuple[str, ...]
    path: str
    line: int
    end_line: int
    day: date | None
    times: tuple[TimeExpression, ...]
    occurred: Interval | None
    heading: str
    origin: str
    id: str


class Judgement(NamedTuple):
    """What a page that reflect wrote says of one fact, by its id (``key``): an opinion's ``confidence`` by now, or the
    days on which a fact ``first`` and ``last`` held and the id of what took its place ("" for none)."""

    key: str
    confidence: float | None
    first: date | None
    last: date | None
    successor: str


class Chunk(NamedTuple):
    """A window of whole lines for ``memory_search``: about 400 tokens, overlapping its neighbour by about 80.

    ``heading`` is the trail of headings above its first line ("Projects > Boat"). A line longer than a chunk is cut,
    and each piece cites it.
    """

    text: str
    line: int
    end_line: int
    heading: str


class ParsedFile(NamedTuple):
    """Everything that one Markdown file says.

    ``role``: log, page (typed bank page), core (``MEMORY.md``), plain, or outside. ``title``: first heading, or "".
    ``aliases``: the other names of an entity page. ``front_matter``: keys to values as text or tuples of text.
    ``judgements``: what the blocks of a page that reflect maintains have decided.
    """

    path: str
    role: str
    day: date | None
    title: str
    aliases: tuple[str, ...]
    front_matter: dict[str, str | tuple[str, ...]]
    facts: tuple[Fact, ...]
    notes: tuple[Note, ...]
    chunks: tuple[Chunk, ...]
    diagnostics: tuple[Diagnostic, ...]
    judgements: tuple[Judgement, ...] = ()
