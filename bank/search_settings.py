"""How the memory is searched, by the configuration: sources, further paths, limits, weights, freshness, citations.

Both eras are read (``memory.search`` and ``agents.*.memorySearch``), key by key, the nearest place first. What embeds
is read by ``embeddings.settings``.
"""

import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from .config import Configuration, in_home
from .errors import one_line
from .layers import LayerReader, Setting, search_layers, section_layers, unknown_keys

SOURCES = ("memory", "sessions")
_NAME = re.compile(r"\w[\w.-]{0,127}")
CITATIONS = ("auto", "on", "off")
BACKENDS = ("builtin", "qmd")


class ExtraPath(NamedTuple):
    """``path``: absolute or relative to the workspace, ``~`` filled in. ``pattern``: which files below a folder, as a
    glob on the posix path below it ("" for every ``.md`` file)."""

    path: str
    pattern: str = ""


class Hybrid(NamedTuple):
    """The weighted merge of OpenClaw's older documentation. ``chosen``: whether the configuration asks for it; else
    ranks are fused. The weights sum to 1."""

    chosen: bool = False
    enabled: bool = True
    vector_weight: float = 0.7
    text_weight: float = 0.3
    candidate_multiplier: int = 4


class SyncSettings(NamedTuple):
    """``interval``, ``debounce``: seconds (an interval of 0: never). ``delta_bytes``, ``delta_messages``: how much a
    transcript grows before it is indexed again (0: at once)."""

    watch: bool = True
    debounce: float = 1.5
    interval: float = 0.0
    on_search: bool = True
    on_session_start: bool = True
    delta_bytes: int = 100_000
    delta_messages: int = 50


class SearchSettings(NamedTuple):
    """``min_score``: None where it is not set. ``session_memory``: whether transcripts may be indexed at all; whether
    they are searched is said by ``sources``. ``store_path``: where the index lies, "" for the workspace's own place.
    ``slot``: what holds OpenClaw's memory slot ("none": memory is off)."""

    enabled: bool = True
    backend: str = "builtin"
    citations: str = "auto"
    sources: tuple[str, ...] = ("memory",)
    session_memory: bool = False
    extra_paths: tuple[ExtraPath, ...] = ()
    max_results: int = 6
    min_score: float | None = None
    hybrid: Hybrid = Hybrid()
    sync: SyncSettings = SyncSettings()
    store_path: str = ""
    slot: str = ""

    @property
    def searches_sessions(self) -> bool:
        """Whether transcripts are indexed and searched."""
        return self.session_memory and "sessions" in self.sources

    @property
    def off(self) -> str:
        """Why the memory tools are switched off, or ""."""
        if self.slot.casefold() == "none":
            return 'plugins.slots.memory is "none"'
        return "" if self.enabled else "memory.search.enabled is false"


#: What may stand below ``memory``, besides the sections that other modules know.
MEMORY_KEYS: dict[str, Any] = dict.fromkeys(("backend", "citations", "search", "qmd", "reflect"))


def read_search(
    configuration: Configuration,
    agent: str,
    environ: Mapping[str, str] | None = None,
    effective: list[Setting] | None = None,
) -> tuple[SearchSettings, list[str]]:
    """The settings of ``agent``, and the warnings to show, one line each.

    ``environ`` (by default the process's own) fills in ``${VAR}`` and ``~``; ``effective`` takes down what is read.
    Raises ``MemoryFault`` for a value of a wrong type.
    """
    if not configuration.values and effective is None:
        return SearchSettings(), []
    environ = os.environ if environ is None else environ
    warnings: list[str] = []
    memory = section_layers(configuration, agent, "memory")
    for place, layer in memory:
        warnings += unknown_keys(layer, MEMORY_KEYS, place, configuration)
    overall = LayerReader(configuration, memory, environ, warnings, "memory", effective)
    slots = section_layers(configuration, agent, "plugins.slots")
    reader = LayerReader(
        configuration, search_layers(configuration, agent), environ, warnings, "memory.search", effective
    )
    defaults = SearchSettings()
    settings = SearchSettings(
        enabled=reader.truth("enabled", defaults.enabled),
        backend=overall.choice("backend", BACKENDS, defaults.backend),
        citations=overall.choice("citations", CITATIONS, defaults.citations),
        sources=_sources(reader, configuration),
        session_memory=_session_memory(reader),
        extra_paths=_extra_paths(reader, configuration, environ),
        max_results=reader.whole("query.maxResults", defaults.max_results),
        min_score=_min_score(reader),
        hybrid=_hybrid(reader),
        sync=_sync(reader),
        store_path=_store_path(reader, agent, environ, warnings),
        slot=LayerReader(configuration, slots, environ, warnings, "plugins.slots", effective).text("memory")[0],
    )
    return settings, warnings


def _sources(reader: LayerReader, configuration: Configuration) -> tuple[str, ...]:
    found = reader.texts("sources", ("memory",))
    for name in found:
        if name not in SOURCES:
            raise configuration.wrong_type(f"{reader.place('sources')}", f"a list of {' and '.join(SOURCES)}", name)
    return found or ("memory",)


def _store_path(reader: LayerReader, agent: str, environ: Mapping[str, str], warnings: list[str]) -> str:
    path, place = reader.text("store.path")
    if "{agentId}" in path and not _NAME.fullmatch(agent):
        told = one_line(f"{place}: the agent {agent!r} is no name of a file; its index lies in .memory/ instead")
        warnings.append(told)
        return ""
    return in_home(path.replace("{agentId}", agent), environ)


def _session_memory(reader: LayerReader) -> bool:
    older = reader.truth("experimental.sessionMemory", False)
    return reader.truth("rememberAcrossConversations", False) or older


def _extra_paths(
    reader: LayerReader, configuration: Configuration, environ: Mapping[str, str]
) -> tuple[ExtraPath, ...]:
    found: list[ExtraPath] = []
    values, place = reader.items("extraPaths")
    for position, value in enumerate(values):
        entry = {"path": value} if isinstance(value, str) else value
        if not isinstance(entry, dict):
            raise configuration.wrong_type(f"{place}[{position}]", "a path, or {path, pattern}", value)
        for key in ("path", "pattern"):
            if entry.get(key) is not None and not isinstance(entry[key], str):
                raise configuration.wrong_type(f"{place}[{position}].{key}", "a string", entry[key])
        path = reader.filled(f"{place}[{position}]", (entry.get("path") or "").strip())
        if not path:
            raise configuration.wrong_type(f"{place}[{position}].path", "a path", entry.get("path"))
        one = ExtraPath(in_home(path, environ), (entry.get("pattern") or "").strip())
        if one not in found:
            found.append(one)
    return tuple(found)


def _min_score(reader: LayerReader) -> float | None:
    if not reader.place("query.minScore"):
        reader.note("query.minScore", None, "")
        return None
    return reader.number("query.minScore", 0.0, zero=True, most=1.0)


def _hybrid(reader: LayerReader) -> Hybrid:
    """Asked for by any of its weights; ``enabled: false`` asks for vectors alone, as in OpenClaw."""
    defaults = Hybrid()
    enabled = reader.truth("query.hybrid.enabled", defaults.enabled)
    vector = reader.number("query.hybrid.vectorWeight", defaults.vector_weight, zero=True)
    text = reader.number("query.hybrid.textWeight", defaults.text_weight, zero=True)
    multiplier = reader.whole("query.hybrid.candidateMultiplier", defaults.candidate_multiplier)
    chosen = not enabled or any(
        reader.place(f"query.hybrid.{key}") for key in ("vectorWeight", "textWeight", "candidateMultiplier")
    )
    if not enabled:
        vector, text = 1.0, 0.0
    total = vector + text
    if total == 0:
        vector, text, total = defaults.vector_weight, defaults.text_weight, 1.0
    return Hybrid(chosen, enabled, vector / total, text / total, multiplier)


def _sync(reader: LayerReader) -> SyncSettings:
    defaults = SyncSettings()
    minutes = reader.duration("sync.intervalMinutes", 0.0, "m")
    return SyncSettings(
        watch=reader.truth("sync.watch", defaults.watch),
        debounce=reader.duration("sync.watchDebounceMs", defaults.debounce, "ms"),
        interval=reader.duration("sync.interval", minutes, "m"),
        on_search=reader.truth("sync.onSearch", defaults.on_search),
        on_session_start=reader.truth("sync.onSessionStart", defaults.on_session_start),
        delta_bytes=reader.whole("sync.sessions.deltaBytes", defaults.delta_bytes, 0),
        delta_messages=reader.whole("sync.sessions.deltaMessages", defaults.delta_messages, 0),
    )
