"""From what was worked out for each entity to the pages as they should be: which lines on which page, and what
differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from . import entity_page, opinions_page, topic_pages
from .blocks import Line
from .citations import Maps, followed
from .state import State
from .wording import key_of

WORLD, EXPERIENCE = "bank/world.md", "bank/experience.md"


class Page(NamedTuple):
    """A page to be: ``path``; ``block``: the block's name; ``head``: how the page starts where there is none yet."""

    path: str
    block: str
    head: str
    lines: tuple[Line, ...]


def entity_pages(state: State, entities: Iterable[str]) -> Iterator[Page]:
    """The pages of some entities."""
    for slug in sorted(entities):
        unit = state.unit(slug)
        if unit and unit["page"]:
            yield Page(unit["page"], entity_page.BLOCK, f"# {unit['name']}\n", tuple(_lines(unit["lines"])))


def shared_pages(units: Mapping[str, Mapping[str, Any]]) -> Iterator[Page]:
    """The pages that hold something of everybody. ``units``: by slug."""
    ordered = sorted(units.items(), key=lambda row: (row[1]["name"].casefold(), row[0]))
    # A ledger that nobody can read is none: where there are very many opinions, it is of those that have moved.
    all_of_them = sum(len(unit["opinions"]) for unit in units.values()) <= opinions_page.MOST
    ledger: list[Line] = []
    world: list[Line] = []
    done: list[tuple[str, str, int, Line]] = []
    for slug, unit in ordered:
        told = unit["ledger"] if all_of_them or not unit["page"] else unit["moved"]
        if told:
            ledger += [opinions_page.heading(slug, unit["name"] or "General"), *_lines(told)]
        world += _lines(unit["world"])
        done += [(day, path, line, Line(*row)) for day, path, line, row in unit["experience"]]
    yield Page(opinions_page.OPINIONS, opinions_page.BLOCK, "# Opinions\n", tuple(ledger))
    yield Page(WORLD, topic_pages.WORLD, "# World\n", tuple(world))
    yield Page(EXPERIENCE, topic_pages.EXPERIENCE, "# Experience\n", tuple(_by_month(done)))


def _lines(rows: Iterable[list[Any]]) -> list[Line]:
    return [Line(row[0], row[1], row[2], row[3], tuple(row[4])) for row in rows]


def _by_month(done: Iterable[tuple[str, str, int, Line]]) -> Iterator[Line]:
    months: dict[str, list[tuple[str, str, int, Line]]] = {}
    for row in done:
        months.setdefault(row[0][:7], []).append(row)
    for month in sorted(months, reverse=True)[: topic_pages.MONTHS]:
        yield Line(key_of("heading", "experience", month), f"## {month}", heading=True)
        own = sorted(months[month], key=lambda row: (row[1], row[2]))
        own.sort(key=lambda row: row[0], reverse=True)
        yield from (row[3] for row in own[: topic_pages.OF_A_MONTH])


def moved(line: Line, maps: Maps) -> Line:
    """A line whose citations of pages follow what they cite: writing a page moves the lines below its block."""
    text = followed(line.text, maps)
    if text == line.text:
        return line
    return line._replace(text=text, anchors=tuple(followed(anchor, maps) for anchor in line.anchors))
