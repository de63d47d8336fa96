"""How the flush is configured: ``compaction.memoryFlush``, of all agents or of one, in the names of both eras.

The older documentation has ``agents.defaults.compaction.{reserveTokensFloor, memoryFlush{enabled, softThresholdTokens,
prompt, systemPrompt}}``; today's OpenClaw has no prompts and no floor there any more, and ``model`` and
``forceFlushTranscriptBytes`` besides. All are read. Whether the workspace may be written is said by ``sandbox{mode,
workspaceAccess}``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from .config import Configuration
from .layers import LayerReader, Layers, Setting, section_layers, unknown_keys

#: Tokens: what is kept free for the next turns, and how long before that the flush is due.
RESERVE, SOFT_THRESHOLD = 20_000, 4_000
ACCESS = ("rw", "ro", "none")
MODES = ("off", "non-main", "all")
SCOPES = ("per-sender", "global")
_KNOWN: dict[str, Any] = dict.fromkeys(
    ("enabled", "softThresholdTokens", "prompt", "systemPrompt", "model", "forceFlushTranscriptBytes")
)
_SECTION = "agents.defaults"
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*(b?|kb|mb|gb)", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3}


class FlushSettings(NamedTuple):
    """``reserve``: None where it is not set. ``prompt``, ``system_prompt``: as written, "" for those that OpenClaw has.
    ``model``: for the turn, "" for the session's own. ``force_bytes``: of a transcript, from which on it is due
    whatever the tokens; 0 for never. ``sandbox``, ``access``: ``sandbox.mode`` and ``sandbox.workspaceAccess``, ""
    where they are not set. ``zone``: the person's time zone, "" for this machine's. ``store``: where the sessions are
    kept, "" for the agent's own folder; ``{agentId}`` is not filled in. ``places``: which keys were set, as (name, key
    path)."""

    enabled: bool = True
    soft_threshold: int = SOFT_THRESHOLD
    reserve: int | None = None
    prompt: str = ""
    system_prompt: str = ""
    model: str = ""
    force_bytes: int = 0
    sandbox: str = ""
    access: str = ""
    main_key: str = "main"
    scope: str = "per-sender"
    zone: str = ""
    store: str = ""
    places: Mapping[str, str] = {}


def read_flush(
    configuration: Configuration,
    agent: str,
    environ: Mapping[str, str] | None = None,
    effective: list[Setting] | None = None,
) -> tuple[FlushSettings, list[str]]:
    """The settings of ``agent``, and the warnings to show, one line each.

    ``environ`` (by default the process's own) fills in ``${VAR}``; ``effective`` takes down what is read. Raises
    ``MemoryFault`` for a value of a wrong type.
    """
    environ = os.environ if environ is None else environ
    warnings: list[str] = []

    def reader(section: str) -> LayerReader:
        layers = section_layers(configuration, agent, section)
        return LayerReader(configuration, layers, environ, warnings, f"{_SECTION}.{section}", effective)

    for place, layer in section_layers(configuration, agent, "compaction.memoryFlush"):
        warnings += unknown_keys(layer, _KNOWN, place, configuration)
    flush, compaction, sandbox = map(reader, ("compaction.memoryFlush", "compaction", "sandbox"))
    session = [("session", configuration.object_at("session"))]
    sessions = LayerReader(configuration, session, environ, warnings, "session", effective)
    defaults = [("agents.defaults", configuration.object_at("agents.defaults"))]
    general = LayerReader(configuration, defaults, environ, warnings, _SECTION, effective)
    places = {
        "enabled": flush.place("enabled"),
        "reserve": compaction.place("reserveTokensFloor"),
        "soft_threshold": flush.place("softThresholdTokens"),
        "prompt": flush.place("prompt"),
        "system_prompt": flush.place("systemPrompt"),
        "sandbox": sandbox.place("mode"),
        "access": sandbox.place("workspaceAccess"),
        "zone": general.place("userTimezone"),
    }
    reserve = compaction.whole("reserveTokensFloor", RESERVE, 0)
    settings = FlushSettings(
        flush.truth("enabled", True),
        flush.whole("softThresholdTokens", SOFT_THRESHOLD, 0),
        reserve if places["reserve"] else None,
        flush.text("prompt")[0],
        flush.text("systemPrompt")[0],
        flush.text("model")[0],
        _force_bytes(configuration, section_layers(configuration, agent, "compaction.memoryFlush"), flush),
        sandbox.choice("mode", MODES, "off") if places["sandbox"] else "",
        sandbox.choice("workspaceAccess", ACCESS, "none") if places["access"] else "",
        sessions.text("mainKey", "main")[0],
        sessions.choice("scope", SCOPES, "per-sender"),
        general.text("userTimezone")[0],
        sessions.text("store")[0],
        {name: place for name, place in places.items() if place},
    )
    return settings, warnings


def _force_bytes(configuration: Configuration, layers: Layers, reader: LayerReader) -> int:
    """A number of bytes, or a text such as "2mb"; 0 where nobody says."""
    name = "forceFlushTranscriptBytes"
    value: Any = next((layer[name] for _, layer in layers if layer.get(name) is not None), 0)
    size = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if size:
        value = float(size[1]) * _UNITS[size[2].lower()]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise configuration.wrong_type(reader.place(name), 'a number of bytes, or a size such as "2mb"', value)
    reader.note(name, int(value), reader.place(name))
    return int(value)
