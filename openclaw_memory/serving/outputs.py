"""What the tools answer, as JSON Schema: what a model needs to know. ``docs/schemas`` has it in full."""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string"}
_TEXT_OR_NONE = {"type": ["string", "null"]}
_COUNT = {"type": "integer", "minimum": 0}
_FLAG = {"type": "boolean"}
_SHARE = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_TEXTS = {"type": "array", "items": _TEXT}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _list(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "array", "items": _object(properties, *required)}


_RESULTS = _list(
    {
        "id": {"type": "string", "description": "What supports, contradicts, replaces and retracts point at."},
        "kind": {"enum": ["world", "experience", "opinion", "observation", "note"]},
        "timestamp": {"type": ["string", "null"], "description": "The day of the log, YYYY-MM-DD."},
        "occurred": {"type": ["object", "null"], "description": "The days that it speaks of."},
        "entities": _TEXTS,
        "content": _TEXT,
        "source": {"type": "string", "description": "The citation, path#L12: cite it, or read on with memory_get."},
        "places": _TEXTS,
        "origin": {"type": "string", "description": "stated, or what was extracted or generated."},
        "confidence": {**_SHARE, "description": "Of an opinion, by now."},
        "stated_confidence": _SHARE,
        "valid_from": _TEXT_OR_NONE,
        "valid_to": {"type": ["string", "null"], "description": "From this day on it holds no more."},
        "superseded_by": _TEXT_OR_NONE,
        "score": {"type": "number"},
    },
    *("id", "kind", "content", "source", "score"),
)
_STALE = {"type": "boolean", "description": "Whether the answer may be behind the files."}
RECALL = _object(
    {
        "query": _TEXT,
        "results": _RESULTS,
        "tokens": _COUNT,
        "truncated": _FLAG,
        "omitted": _COUNT,
        "confident": {"type": ["boolean", "null"], "description": "false: nothing close was found."},
        "stale": _STALE,
        "provider": _TEXT,
        "model": _TEXT_OR_NONE,
        "reason": _TEXT,
        "fallback": _TEXT_OR_NONE,
        "warning": _TEXT_OR_NONE,
    },
    *("query", "results", "tokens", "truncated", "omitted", "confident", "stale"),
)
ENTITY = _object(
    {
        "name": _TEXT,
        "slug": _TEXT,
        "names": _TEXTS,
        "page": _TEXT_OR_NONE,
        "results": _RESULTS,
        "tokens": _COUNT,
        "truncated": _FLAG,
        "omitted": _COUNT,
        "stale": _STALE,
        "warning": _TEXT_OR_NONE,
    },
    *("name", "slug", "names", "page", "results", "tokens", "truncated", "omitted", "stale"),
)
SEARCH = _object(
    {
        "results": _list(
            {
                "path": _TEXT,
                "startLine": _COUNT,
                "endLine": _COUNT,
                "score": {"type": "number"},
                "snippet": _TEXT,
                "source": {"enum": ["memory", "sessions"]},
                "corpus": _TEXT,
                "citation": _TEXT,
            },
            *("path", "startLine", "endLine", "score", "snippet", "source"),
        ),
        "provider": _TEXT,
        "mode": _TEXT,
        "citations": _TEXT,
        "stale": _STALE,
        "warning": _TEXT,
        "unavailable": _FLAG,
        "error": _TEXT,
        "action": _TEXT,
    },
    "results",
)
GET = _object(
    {
        "status": {"enum": ["ok", "not_found", "error"]},
        "path": _TEXT,
        "text": _TEXT,
        "from": _COUNT,
        "lines": {"type": "integer", "minimum": 0, "description": "How many lines are given."},
        "truncated": _FLAG,
        "nextFrom": {"type": "integer", "minimum": 1, "description": "Where to go on."},
        "code": _TEXT,
        "error": _TEXT,
    },
    *("status", "path", "text"),
)
RETAIN = _object(
    {"retained": _list({"id": _TEXT, "source": _TEXT, "bullet": _TEXT}, "id", "source", "bullet")}, "retained"
)
REFLECT = _object(
    {
        "summary": _TEXT,
        "dry_run": _FLAG,
        "entities": _COUNT,
        "pages": _list({"path": _TEXT, "change": {"enum": ["created", "changed"]}}, "path", "change"),
        "opinions": {"type": "array", "items": {"type": "object"}},
        "closed": {"type": "array", "items": {"type": "object"}},
        "problems": {"type": "array", "items": {"type": "object"}},
        "diff": _TEXT,
        "asked": _COUNT,
    },
    *("summary", "dry_run", "pages", "problems"),
)
OPINIONS = _object(
    {
        "opinions": _list(
            {
                "id": _TEXT,
                "text": _TEXT,
                "entities": _TEXTS,
                "confidence": {**_SHARE, "description": "By now."},
                "contested": _FLAG,
                "stated": _SHARE,
                "stated_at": _TEXT_OR_NONE,
                "sources": {"type": "array", "items": {"type": "object"}},
                "evidence": {"type": "array", "items": {"type": "object"}},
            },
            *("id", "text", "entities", "confidence", "evidence"),
        )
    },
    "opinions",
)
CORE = _object(
    {
        "ok": {"type": "boolean", "description": "false: nothing was written; error says why."},
        "path": _TEXT,
        "hash": {"type": ["string", "null"], "description": "Of the core memory as it is now, for expectHash."},
        "usage": {"type": ["object", "null"], "description": "Characters used and the budget."},
        "section": _TEXT,
        "citation": _TEXT_OR_NONE,
        "changed": _FLAG,
        "why": _TEXT,
        "error": _TEXT,
    },
    *("ok", "path", "hash", "usage"),
)
