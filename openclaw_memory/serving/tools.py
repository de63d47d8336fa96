"""The one table of tools: what ``serve``, the MCP server and the plug-in offer, with names, parameters and answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..bank.sync import Progress
from ..memory import Memory
from . import outputs as told_by
from . import parameters as given


class Call(NamedTuple):
    """What comes along with a call besides its parameters. ``progress``: gives what shows progress under a heading, or
    None. ``session``, ``agent``, ``chat_type``: where the question was asked, "" where that is not told."""

    progress: Callable[[str], Progress | None] | None = None
    session: str = ""
    agent: str = ""
    chat_type: str = ""

    def shown(self, doing: str) -> Progress | None:
        """What shows progress under this heading."""
        return self.progress(doing) if self.progress else None


Arguments = Mapping[str, Any]


class Tool(NamedTuple):
    """``parameters``, ``output``: JSON Schemas of what it takes and answers. ``reads``: it changes no Markdown.
    ``destructive``: what stood there may be gone. ``idempotent``: twice the same is as once. ``call`` gives the answer,
    a JSON object."""

    name: str
    title: str
    description: str
    parameters: dict[str, Any]
    output: dict[str, Any]
    reads: bool
    destructive: bool
    idempotent: bool
    call: Callable[[Memory, Arguments, Call], dict[str, Any]]


def _search(memory: Memory, told: Arguments, call: Call) -> dict[str, Any]:
    options: dict[str, Any] = {"chat_type": call.chat_type} if call.chat_type else {}
    return memory.search(
        told["query"],
        max_results=told.get("maxResults"),
        min_score=told.get("minScore"),
        corpus=told.get("corpus", ""),
        session_key=call.session or None,
        progress=call.shown("indexing"),
        **options,
    )


def _get(memory: Memory, told: Arguments, call: Call) -> dict[str, Any]:
    return memory.get(told["path"], told.get("from", 1), told.get("lines"), session_key=call.session or None)


_RECALL = {"asOf": "as_of", "minConfidence": "min_confidence"}


def _recall(memory: Memory, told: Arguments, call: Call) -> dict[str, Any]:
    options = {_RECALL.get(name, name): value for name, value in told.items() if name != "query"}
    return memory.recall(told["query"], progress=call.shown("indexing"), **options)


def _retain(memory: Memory, told: Arguments, call: Call) -> dict[str, Any]:
    return memory.retain(told["facts"], day=told.get("day", ""))


def _reflect(memory: Memory, told: Arguments, call: Call) -> dict[str, Any]:
    return memory.reflect(dry_run=told.get("dryRun", False), progress=call.progress)


def _entity(memory: Memory, told: Arguments, call: Call) -> dict[str, Any]:
    return memory.entity(told["name"])


def _opinions(memory: Memory, told: Arguments, call: Call) -> dict[str, Any]:
    return {"opinions": memory.opinions(told.get("entity", ""))}


def _core(name: str) -> Callable[[Memory, Arguments, Call], dict[str, Any]]:
    """The tool of that name in ``reflect.core_tools``."""

    def write(memory: Memory, told: Arguments, call: Call) -> dict[str, Any]:
        from ..reflect import core_tools

        options = {_CORE.get(name, name): value for name, value in told.items()}
        answer: dict[str, Any] = getattr(core_tools, name)(memory.workspace, **options)
        return answer

    return write


_CORE = {"expectHash": "expect_hash"}


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "memory_search",
            "Search memory",
            "Search the memory files (MEMORY.md, memory/, bank/) for chunks of text, with citations. Use it before"
            " answering about earlier work, decisions, dates, people, preferences or to-dos.",
            given.SEARCH,
            told_by.SEARCH,
            True,
            False,
            True,
            _search,
        ),
        Tool(
            "memory_get",
            "Read memory",
            "Read lines of one memory file, as memory_search and memory_recall cite it (path, from, lines).",
            given.GET,
            told_by.GET,
            True,
            False,
            True,
            _get,
        ),
        Tool(
            "memory_recall",
            "Recall",
            "Answer a question with a small bundle of cited facts from memory: filtered by time, entity, kind,"
            " confidence or source, within a budget of tokens.",
            given.RECALL,
            told_by.RECALL,
            True,
            False,
            True,
            _recall,
        ),
        Tool(
            "memory_retain",
            "Retain",
            "Write facts to the log of a day, one a line: 'W @Peter: Lives in Lisbon.' (W world, B what I did,"
            " O(c=0.8) opinion, S summary). All or none are written.",
            given.RETAIN,
            told_by.RETAIN,
            False,
            False,
            False,
            _retain,
        ),
        Tool(
            "memory_reflect",
            "Reflect",
            "Bring the pages in bank/ up to date with the logs: entity pages, opinions and their confidence. Safe to"
            " repeat; dryRun writes nothing and gives a diff.",
            given.REFLECT,
            told_by.REFLECT,
            False,
            False,
            True,
            _reflect,
        ),
        Tool(
            "memory_entity",
            "What is known of one",
            "Tell what is known about one person, project, place or thing, by any of its names.",
            given.ENTITY,
            told_by.ENTITY,
            True,
            False,
            True,
            _entity,
        ),
        Tool(
            "memory_opinions",
            "Opinions",
            "List opinions with their confidence by now and the evidence for and against them.",
            given.OPINIONS,
            told_by.OPINIONS,
            True,
            False,
            True,
            _opinions,
        ),
        Tool(
            "core_memory_append",
            "Append to core memory",
            "Add to the end of a section of the core memory (MEMORY.md), which every session begins with."
            " It has a budget.",
            given.CORE_APPEND,
            told_by.CORE,
            False,
            False,
            False,
            _core("core_memory_append"),
        ),
        Tool(
            "core_memory_replace",
            "Replace in core memory",
            "Change a text of the core memory (MEMORY.md) that stands there exactly once.",
            given.CORE_REPLACE,
            told_by.CORE,
            False,
            True,
            False,
            _core("core_memory_replace"),
        ),
        Tool(
            "core_memory_insert",
            "Insert into core memory",
            "Add lines to the core memory (MEMORY.md) below a line or a text.",
            given.CORE_INSERT,
            told_by.CORE,
            False,
            False,
            False,
            _core("core_memory_insert"),
        ),
    )
}


def table() -> list[dict[str, Any]]:
    """The table as JSON (``docs/json.md``, tools)."""
    return [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "parameters": tool.parameters,
            "readOnly": tool.reads,
            "destructive": tool.destructive,
            "idempotent": tool.idempotent,
        }
        for tool in TOOLS.values()
    ]
