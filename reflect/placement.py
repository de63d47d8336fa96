"""In which order the lines of a block stand: ours in the order in which they are offered, a person's where they were.

A person's line stays in its section, after the line that stood before it, or at the section's end where that is gone.
An indented one belongs to the line that it hangs below: it goes where that goes, nothing unindented comes between a
line and what hangs below it, and where the line is gone it comes right below the heading, lest it hang below another.
A section that people wrote into keeps its heading. So an order that this made is made again by it.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Sequence
from datetime import date
from typing import NamedTuple, TypeVar

Id = str | int
_T = TypeVar("_T", bound=Hashable)


class Piece(NamedTuple):
    """A line of a block. ``id``: its key for ours, a number for a person's. ``key``: see ``parsers.blocks``. ``raw``:
    its bytes with the line end. ``day``: when a person's was first seen, None for ours. ``cuts``: whether a section
    starts with it. ``heading``: whether it looks like a heading. ``hangs``: whether it belongs to a line above it."""

    id: Id
    key: str | None
    raw: bytes
    hash: str
    day: date | None
    cuts: bool
    heading: bool
    hangs: bool


class Wanted(NamedTuple):
    """A line that is to stand: ours, or the person's that took its place. ``above``: the id of the line that it hangs
    below, None for one of its own."""

    piece: Piece
    above: Id | None


def place(old: Sequence[Piece], wanted: Sequence[Wanted]) -> list[Piece]:
    """The lines of a block in order: all that are wanted and all of a person's in ``old`` (the lines that stand now).

    A heading that is wanted is left out where nothing stands below it; a paragraph that starts a section is not.
    """
    pieces = {one.id: one for one in old if one.day or one.cuts} | {one.piece.id: one.piece for one in wanted}
    theirs = {number for number, one in pieces.items() if one.day}
    skeletons, below = _skeletons(wanted)
    before = _sections(old)
    written = {one.piece.id for one in wanted}
    hanging: dict[Id, list[Id]] = {}
    bodies: dict[str, list[Id]] = {}

    def unit(root: Id) -> list[Id]:
        inner = _interleave(below.get(root, ()), hanging.get(root, ()), theirs)
        return [root, *(one for each in inner for one in (unit(each) if each in below else [each]))]

    orphans: dict[str, list[Id]] = {}
    for key, section in before.items():
        for root, hung in section.units:
            if root is not None and (root.day or root.id in written):
                hanging[root.id] = [one.id for one in hung]
            else:
                orphans.setdefault(key, []).extend(one.id for one in hung if one.day)
    for key in {**skeletons, **before}:
        roots = [root for root, _ in before[key].units if root] if key in before else []
        tail = _tail(roots)
        ordered = _interleave(skeletons.get(key, ()), [one.id for one in roots[:tail]], theirs)
        ordered += [one.id for one in roots[tail:]]
        bodies[key] = [
            *(one for each in orphans.get(key, ()) for one in (unit(each) if each in below else [each])),
            *(one for root in ordered for one in unit(root)),
        ]
    heads = {key: section.head for key, section in before.items() if section.head}
    heads |= {one.piece.key or "": one.piece for one in wanted if one.piece.cuts}
    ends = {key for key in skeletons if key and not heads[key].heading}
    shown = {key for key, body in bodies.items() if key and (body or heads[key].day or key in ends)}
    order = _interleave(
        [key for key in skeletons if key in shown],
        [key for key in before if key in shown],
        shown - skeletons.keys(),
    )
    result = [pieces[one] for one in bodies.get("", ())]
    for key in order:
        result += [heads[key], *(pieces[one] for one in bodies[key])]
    return result


class _Section(NamedTuple):
    """A section as it stands now: its heading, and its lines with what hangs below each (first: below none)."""

    head: Piece | None
    units: list[tuple[Piece | None, list[Piece]]]


def _skeletons(wanted: Sequence[Wanted]) -> tuple[dict[str, list[Id]], dict[Id, list[Id]]]:
    """The wanted lines of each section ("": above the first heading), and what hangs below each of them."""
    sections: dict[str, list[Id]] = {"": []}
    below: dict[Id, list[Id]] = {}
    current = sections[""]
    for piece, above in wanted:
        if piece.cuts:
            current = sections[piece.key or ""] = []
        elif above is None:
            current.append(piece.id)
        else:
            below.setdefault(above, []).append(piece.id)
    return sections, below


def _sections(old: Sequence[Piece]) -> dict[str, _Section]:
    current = _Section(None, [(None, [])])
    sections = {"": current}
    for piece in old:
        if piece.cuts:
            current = sections[piece.key or ""] = _Section(piece, [(None, [])])
        elif piece.hangs:
            current.units[-1][1].append(piece)
        else:
            current.units.append((piece, []))
    return sections


def _tail(roots: Sequence[Piece]) -> int:
    """Where a person's own section begins at the end of one of ours: at a heading below which nothing is ours."""
    tail = len(roots)
    for number in range(len(roots) - 1, -1, -1):
        if not roots[number].day:
            break
        if roots[number].heading:
            tail = number
    return tail


def _interleave(skeleton: Sequence[_T], old: Sequence[_T], theirs: Container[_T]) -> list[_T]:
    """``skeleton`` in its order, with what is ``theirs`` of ``old`` put in after the one that stood before it; where
    that is gone, in its own place in the skeleton, if it has one, else at the end."""
    slots = set(skeleton)
    follows: dict[_T | None, _T] = {}
    standing = {one for one in slots if one not in theirs}
    late: list[_T] = []
    previous: _T | None = None
    for one in old:
        if one in theirs:
            if previous is None or previous in theirs or previous in standing:
                follows[previous] = one
            elif one in slots:
                standing.add(one)
            else:
                late.append(one)
        previous = one
    result: list[_T] = []
    for start in (None, *(one for one in skeleton if one in standing), *late):
        if start is not None:
            result.append(start)
        following = follows.get(start)
        while following is not None:
            result.append(following)
            following = follows.get(following)
    return result
