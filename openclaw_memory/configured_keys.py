"""The keys of a configuration that have to do with memory, one by one: what each means here, and its name today."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .bank.config import Configuration, WorkspaceChoice
from .bank.layers import Setting
from .effective import effective_settings

UNDERSTOOD, RENAMED, OVERRIDDEN, IGNORED = "understood", "renamed", "overridden", "ignored"
#: What of an owner (the file itself, the defaults, an agent's entry) has to do with memory; below these, everything.
_SECTIONS = (
    "memory",
    "memorySearch",
    "compaction.reserveTokensFloor",
    "compaction.memoryFlush",
    "workspace",
    "sandbox.mode",
    "sandbox.workspaceAccess",
    "userTimezone",
)
#: Of the file alone.
_TOP = ("plugins.slots.memory", "session.store", "session.mainKey", "session.scope")
#: What today's OpenClaw has no more, and is still read here.
_KEPT = re.compile(
    r"memory\.(?:backend|qmd)\b.*|compaction\.(?:reserveTokensFloor|memoryFlush\.(?:prompt|systemPrompt))"
    r"|memory\.search\.experimental\.sessionMemory"
)
_OWNER = re.compile(r"(?:agents\.defaults|agent|agents\.entries\.[^.]+|agents\.list\[\d+\])\.")
_WARNED = re.compile(r"(?P<key>\S+): no such setting(?: \(.*\))?; (?P<advice>.*)$")


class Key(NamedTuple):
    """``key``: its path in the file. ``status``: understood, renamed (it counts; ``today`` is its present name),
    overridden (a nearer place says otherwise), or ignored. ``note``: what else there is to say, "" for nothing."""

    key: str
    status: str
    today: str
    note: str


def configured_keys(
    configuration: Configuration, choice: WorkspaceChoice, environ: Mapping[str, str]
) -> tuple[list[Key], list[str]]:
    """Every key of the configuration that has to do with memory, as it means something for the agent in ``choice``, in
    the file's order; and the warnings that name no key of it.

    Values are not told: some are secrets. Raises ``MemoryFault`` for a value of a wrong type.
    """
    settings, warnings = effective_settings(configuration, choice, environ)
    sources = {one.source: one for one in settings}
    known = {_canonical(one.key) for one in settings}
    told = dict(_advice(line) for line in warnings if _WARNED.match(line))
    found = [_key(path, sources, known, told, choice) for path in _leaves(configuration, choice.agent)]
    return found, [line for line in warnings if not _WARNED.match(line)]


def _key(
    path: str, sources: Mapping[str, Setting], known: set[str], told: Mapping[str, str], choice: WorkspaceChoice
) -> Key:
    canonical = _canonical(path)
    above = next((advice for place, advice in told.items() if path == place or path.startswith(f"{place}.")), "")
    if above:
        return Key(path, IGNORED, "", above)
    note = "today's OpenClaw has no such key; it still counts here" if _KEPT.fullmatch(canonical) else ""
    source = next((one for place, one in sources.items() if path == place or path.startswith(f"{place}.")), None)
    named = canonical == "workspace" and choice.source.startswith(f"{path} in ")
    is_older = "memorySearch" in path or path.startswith(("agent.", "agents.list["))
    today = _today(path, canonical, choice.agent) if is_older else path
    if source or named:
        return Key(path, RENAMED if is_older else UNDERSTOOD, today, note)
    if canonical == "workspace" or canonical in known or any(canonical.startswith(f"{key}.") for key in known):
        return Key(path, OVERRIDDEN, today, "a nearer place says otherwise")
    return Key(path, IGNORED, "", "it has no effect")


def _today(path: str, canonical: str, agent: str) -> str:
    """The key path of an older one by today's names."""
    if path.startswith("agents.list["):
        return f"agents.entries.{agent}.{canonical}"
    of_all = not canonical.startswith(("memory.", "plugins.", "session."))
    return f"agents.defaults.{canonical}" if of_all else canonical


def _advice(line: str) -> tuple[str, str]:
    match = _WARNED.match(line)
    assert match is not None
    return match["key"], match["advice"]


def _canonical(path: str) -> str:
    """A key by today's name, without the place that it stands in."""
    return re.sub(r"^memorySearch\b", "memory.search", _OWNER.sub("", path, count=1))


def _leaves(configuration: Configuration, agent: str) -> Iterator[str]:
    for prefix, owner in _owners(configuration, agent):
        for section in _SECTIONS if prefix else (*_SECTIONS, *_TOP):
            value: Any = owner
            for part in section.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            if value is not None:
                yield from _below(f"{prefix}{section}", value)


def _below(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _below(f"{path}.{name}", inner)
    elif value is not None:
        yield path


def _owners(configuration: Configuration, agent: str) -> Iterator[tuple[str, Any]]:
    """The same places as ``bank.layers`` looks at, and ``agent`` of the oldest files."""
    yield "", configuration.values
    for name in ("agents.defaults", "agent"):
        yield f"{name}.", configuration.object_at(name)
    for name, entry in configuration.object_at("agents.entries").items():
        if name.casefold() == agent.casefold():
            yield f"agents.entries.{name}.", entry
    for position, entry in enumerate(configuration.list_at("agents.list")):
        if isinstance(entry, dict) and str(entry.get("id", "")).casefold() == agent.casefold():
            yield f"agents.list[{position}].", entry
