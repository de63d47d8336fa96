"""What the tools take, as JSON Schema, and the check of what was given against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..bank.errors import UsageFault


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def _count(description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "description": description}


_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_WHEN = "30d, 2w, yesterday, last week, 2026-03, 2026-03-14"

SEARCH = _object(
    {
        "query": _text("What to look for, in any language."),
        "maxResults": _count("At most so many chunks (6 unless configured)."),
        "minScore": {**_SHARE, "description": "Only chunks that score at least this."},
        "corpus": _text("Which texts.", enum=["memory", "sessions", "all"]),
    },
    "query",
)
GET = _object(
    {
        "path": _text("A memory file, as it is cited: memory/2025-11-27.md."),
        "from": _count("The first line (1)."),
        "lines": _count("At most so many lines (120)."),
    },
    "path",
)
RECALL = _object(
    {
        "query": _text("A question or some words, in any language."),
        "since": _text(f"From then on: {_WHEN}."),
        "until": _text("Up to then."),
        "around": _text("Near then: within a week of a day, or the span's own length."),
        "asOf": _text("As it was known then: nothing from logs of later days."),
        "entity": _text("Only what mentions or names this entity."),
        "kind": {
            "type": ["string", "array"],
            "items": {"type": "string"},
            "description": "world, experience, opinion, observation, note; several by commas or as a list.",
        },
        "minConfidence": {**_SHARE, "description": "Opinions at least this sure."},
        "source": _text("Only files whose path starts so: bank/, memory/2025-11."),
        "k": _count("At most so many results (20)."),
        "budget": _count("At most so many tokens (1200)."),
    },
    "query",
)
RETAIN = _object(
    {
        "facts": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "description": "Facts, one each: 'W @Peter: Lives in Lisbon.'",
        },
        "day": _text("The log to write to: 2025-11-27, yesterday (today)."),
    },
    "facts",
)
REFLECT = _object({"dryRun": {"type": "boolean", "description": "Write nothing; give a unified diff."}})
ENTITY = _object({"name": _text("A name in any spelling, or an alias.")}, "name")
OPINIONS = _object({"entity": _text("Only those about this one.")})
_SECTION = _text("The heading of the section (Learned), or its trail: Notes > Boats.")
_HASH = _text("The hash of an earlier answer: refuse when the core memory has changed since.")
CORE_APPEND = _object(
    {"content": _text("Lines to add to the end of a section."), "section": _SECTION, "expectHash": _HASH}, "content"
)
CORE_REPLACE = _object(
    {
        "old": _text("A text that stands there exactly once."),
        "new": _text("What takes its place; empty to take it out."),
        "section": _SECTION,
        "expectHash": _HASH,
    },
    "old",
    "new",
)
CORE_INSERT = _object(
    {
        "content": _text("Lines to add."),
        "line": {"type": "integer", "minimum": 0, "description": "Below this line."},
        "after": _text("Below this text."),
        "section": _SECTION,
        "expectHash": _HASH,
    },
    "content",
)
NOTHING = _object({})
CONTEXT = _object(
    {
        "session": _text("main, or group, which never sees the core memory.", enum=["main", "group"]),
        "question": _text("What is about to be answered; without one nothing is recalled."),
        "budget": _count("At most so many tokens (2000)."),
    }
)
FLUSH_CHECK = _object(
    {
        "session": _text("The key of the session."),
        "tokens": {"type": "integer", "minimum": 0, "description": "In the conversation now."},
        "contextWindow": {"type": "integer", "minimum": 1, "description": "Of the model, in tokens."},
        "compactionCount": {"type": "integer", "minimum": 0, "description": "How often it was compacted."},
        "claim": {"type": "boolean", "description": "Take the cycle when a flush is due."},
        "workspaceAccess": _text("What the caller knows of the workspace.", enum=["rw", "ro", "none"]),
    }
)

#: What may hold lone surrogates: questions, which are answered all the same, and names of files that are no UTF-8.
_AS_FOUND = frozenset(("query", "question", "path", "source"))
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def check(schema: Mapping[str, Any], told: Any, where: str = "params") -> Any:
    """``told`` as its schema means it: 2.0 is the integer 2. Raises ``UsageFault`` for what a schema of this table does
    not allow: the first such thing, by its place."""
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(told, kind) for kind in kinds):
        raise UsageFault(f"{where}: must be {' or '.join(kinds)}")
    if isinstance(told, float) and "integer" in kinds:
        told = int(told)
    if isinstance(told, str) and where.rpartition(".")[2] not in _AS_FOUND and not _is_text(told):
        raise UsageFault(f"{where}: holds half a character", remedy="send whole characters of Unicode")
    if "enum" in schema and told not in schema["enum"]:
        raise UsageFault(f"{where}: must be one of {', '.join(map(str, schema['enum']))}")
    if isinstance(told, int | float) and not isinstance(told, bool):
        if "minimum" in schema and not told >= schema["minimum"]:
            raise UsageFault(f"{where}: must be {schema['minimum']} or more")
        if "maximum" in schema and not told <= schema["maximum"]:
            raise UsageFault(f"{where}: must be {schema['maximum']} or less")
    if isinstance(told, list):
        if len(told) < schema.get("minItems", 0):
            raise UsageFault(f"{where}: must hold {schema['minItems']} or more")
        return [check(schema.get("items", {}), item, f"{where}[{at}]") for at, item in enumerate(told)]
    return _check_members(schema, told, where) if isinstance(told, dict) else told


def _check_members(schema: Mapping[str, Any], told: Mapping[str, Any], where: str) -> dict[str, Any]:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in told:
            raise UsageFault(f"{where}.{name}: is missing")
    for name in told:
        if name not in known and schema.get("additionalProperties") is False:
            raise UsageFault(f"{where}.{name}: no such parameter", remedy=f"use {', '.join(known) or 'none'}")
    return {name: check(known.get(name, {}), value, f"{where}.{name}") for name, value in told.items()}


def _is_text(told: str) -> bool:
    try:
        told.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is(told: Any, kind: str) -> bool:
    if isinstance(told, bool) and kind in ("integer", "number"):
        return False
    if kind == "integer" and isinstance(told, float) and told.is_integer():
        return True
    return isinstance(told, _TYPES[kind])
