"""The opinions that are held, as the command and the tool of that name tell them."""

from __future__ import annotations

from typing import Any

from ..parsers.names import fold
from .view import View


def held_opinions(view: View, entity: str = "") -> list[dict[str, Any]]:
    """All opinions, or those about one entity, the surest first (``docs/json.md``, opinions)."""
    wanted = fold(entity)
    found = [o for o in view.opinions if not wanted or wanted in (o["owner"], *map(fold, o["names"]))]
    return [opinion_json(one) for one in sorted(found, key=lambda o: (-o["confidence"], o["id"]))]


def opinion_json(one: dict[str, Any]) -> dict[str, Any]:
    """An opinion of a view as JSON."""
    return {
        "id": one["id"],
        "text": one["text"],
        "entities": one["names"],
        "confidence": one["confidence"],
        "contested": one["contested"],
        "stated": one["stated"],
        "stated_at": one["stated_at"],
        "stated_on": one["stated_on"],
        "sources": [{"id": key, "source": source} for key, source in one["members"]],
        "evidence": [evidence_json(item) for item in one["items"]],
        "before": [evidence_json(item) for item in one["history"]],
    }


def evidence_json(item: list[Any]) -> dict[str, Any]:
    """A piece of evidence, as a unit keeps it."""
    names = ("id", "source", "path", "day", "relation", "strength", "inferred", "quote", "reason")
    return {name: value for name, value in zip(names, item, strict=True) if name != "path"}
