"""What a fact says of others outright: ``(supports ^o-7f3a91)``, ``(replaces memory/2025-11-20.md#L5)``.

The bracket is no part of the fact's text: the same thing said with and without it is one fact.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .records import Relation

RELATIONS = ("supports", "contradicts", "replaces", "retracts")
#: An id needs so many of its twelve hex digits at least.
SHORTEST_ID = 6

_ID = re.compile(rf"\^?(?P<id>[wbos]-[0-9a-f]{{{SHORTEST_ID},12}})", re.IGNORECASE)
_PLACE = re.compile(r"(?P<path>[^\s#()（）,;]{1,300}\.md)(?:#L|:)(?P<line>[1-9]\d{0,8})(?:-L?\d{1,9})?")
_GROUP = re.compile(
    rf"\s*[(（]\s*(?P<before>strongly\s+)?(?P<kind>{'|'.join(RELATIONS)})(?P<after>\s+strongly)?\s*[:：]?\s+"
    r"(?P<targets>[^()（）]{1,2000}?)\s*[)）]",
    re.IGNORECASE,
)
_ANCHOR = re.compile(rf"\s+\^(?P<id>[wbos]-[0-9a-f]{{{SHORTEST_ID},12}})(?P<stop>[.\s]*)$")
_SPLIT = re.compile(r"\s*[,;，；、]\s*|\s+and\s+")
_STOPS = ".,;:!?。，；！？"


class Target(NamedTuple):
    """What a relation points at: an id or the start of one (``id``), or a place (``path``, ``line``); the other is
    empty ("" and 0)."""

    id: str
    path: str
    line: int


def parse_target(written: str) -> Target | None:
    """``^o-7f3a91``, ``o-7f3a91c2d4e5``, ``memory/2025-11-20.md#L5`` or ``…:5``; None for anything else."""
    named = _ID.fullmatch(written)
    if named:
        return Target(named["id"].lower(), "", 0)
    place = _PLACE.fullmatch(written)
    return Target("", place["path"].removeprefix("./"), int(place["line"])) if place else None


def take_relations(text: str) -> tuple[str, tuple[Relation, ...]]:
    """A fact's text without its relations, and these, in order, repeats dropped.

    A bracket in which anything else stands is text. A fact that consists of relations alone keeps them as its text. An
    anchor at the text's end (``^o-7f3a91``) is the relation ``restates``.
    """
    lowered = text.lower()
    if "^" not in text and not any(kind in lowered for kind in RELATIONS):
        return text, ()
    found: dict[Relation, None] = {}
    kept: list[str] = []
    at = 0
    for group in _GROUP.finditer(text):
        targets = [parse_target(part.strip("`")) for part in _SPLIT.split(group["targets"])]
        if not all(targets):
            continue
        for target in targets:
            assert target is not None
            written = f"^{target.id}" if target.id else f"{target.path}#L{target.line}"
            found[Relation(group["kind"].lower(), written, bool(group["before"] or group["after"]))] = None
        kept.append(text[at : group.start()])
        at = group.end()
        if kept[-1] and text[at : at + 1].strip() and text[at] not in _STOPS:
            kept.append(" ")
    rest = "".join([*kept, text[at:]]).strip() if found else text
    anchor = _ANCHOR.search(rest)
    if anchor and rest[: anchor.start()].strip():
        found[Relation("restates", f"^{anchor['id']}", False)] = None
        rest = rest[: anchor.start()].rstrip()
    return rest if rest.strip(_STOPS + " ") else text, tuple(found)


def render_relation(relation: Relation) -> str:
    """``(strongly supports ^o-7f3a91)``, or the anchor alone, as ``take_relations`` reads it back."""
    if relation.kind == "restates":
        return relation.target
    return f"({'strongly ' if relation.strong else ''}{relation.kind} {relation.target})"
