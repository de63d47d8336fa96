"""How QMD is configured: ``memory.qmd``, of all agents or of one (``agents.entries.<id>.memory.qmd``).

Wrong types are faults that name their key; keys that mean nothing are warnings that name the nearest one that does.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...bank.config import Configuration, in_home
from ...bank.layers import LayerReader, Setting, section_layers, unknown_keys

SEARCH_MODES = ("search", "vsearch", "query")
CHAT_TYPES = ("direct", "group", "channel")
ACTIONS = ("allow", "deny")
#: Other words for a direct chat, which session keys and older files use.
DIRECT = ("direct", "dm")
ALL_MARKDOWN = "**/*.md"


class QmdPath(NamedTuple):
    """A folder or file to index besides the memory. ``path``: absolute or relative to the workspace. ``pattern``: a
    glob on the paths below a folder. ``name``: of its collection, "" for one made of the path. ``key``: where it is
    configured."""

    path: str
    pattern: str = ALL_MARKDOWN
    name: str = ""
    key: str = ""


class SessionExport(NamedTuple):
    """``retention_days``: sessions that have been silent for longer are not exported; 0 for no end. ``folder``: below
    which they lie, "" for the place in the agent's QMD home."""

    enabled: bool = False
    retention_days: int = 0
    folder: str = ""


class Upkeep(NamedTuple):
    """All in seconds; an interval of 0: never. ``debounce``: the least time between two updates. ``wait``: whether the
    first update is waited for. The time-outs are those of setting collections up, updating and embedding."""

    interval: float = 300.0
    debounce: float = 15.0
    on_boot: bool = True
    wait: bool = False
    embed_interval: float = 3600.0
    command_timeout: float = 30.0
    update_timeout: float = 120.0
    embed_timeout: float = 120.0


class Limits(NamedTuple):
    """``timeout``: seconds for a whole search."""

    results: int = 6
    snippet_characters: int = 700
    injected_characters: int = 4000
    timeout: float = 4.0


class Rule(NamedTuple):
    """Applies where all of its conditions that are not "" hold. Everything but ``action`` is in small letters."""

    allow: bool
    chat_type: str = ""
    channel: str = ""
    key_prefix: str = ""
    raw_key_prefix: str = ""


class Scope(NamedTuple):
    """Who may search: the first rule that applies decides, and ``allow`` where none does."""

    allow: bool = False
    rules: tuple[Rule, ...] = (Rule(True, "direct"),)


class QmdSettings(NamedTuple):
    """``command``: a program's name or path, which arguments may follow. ``source``: the file and key that speak of
    QMD, "" where everything is by default."""

    command: str = "qmd"
    search_mode: str = "search"
    default_memory: bool = True
    paths: tuple[QmdPath, ...] = ()
    sessions: SessionExport = SessionExport()
    upkeep: Upkeep = Upkeep()
    limits: Limits = Limits()
    scope: Scope = Scope()
    source: str = ""


_MATCH = dict.fromkeys(("chatType", "channel", "keyPrefix", "rawKeyPrefix"))
_KNOWN: dict[str, Any] = {
    **dict.fromkeys(("command", "searchMode", "includeDefaultMemory", "paths")),
    "sessions": dict.fromkeys(("enabled", "retentionDays", "exportDir")),
    "update": {
        **dict.fromkeys(("interval", "debounceMs", "onBoot", "waitForBootSync", "embedInterval")),
        **dict.fromkeys(("commandTimeoutMs", "updateTimeoutMs", "embedTimeoutMs")),
    },
    "limits": dict.fromkeys(("maxResults", "maxSnippetChars", "maxInjectedChars", "timeoutMs")),
    "scope": {"default": None, "rules": None},
}


def read_qmd(
    configuration: Configuration,
    agent: str,
    environ: Mapping[str, str] | None = None,
    effective: list[Setting] | None = None,
) -> tuple[QmdSettings, list[str]]:
    """The settings of ``agent``, and the warnings to show, one line each.

    ``environ`` (by default the process's own) fills in ``${VAR}`` and ``~``; ``effective`` takes down what is read.
    Raises ``MemoryFault`` for a value of a wrong type.
    """
    if not configuration.values and effective is None:
        return QmdSettings(), []
    environ = os.environ if environ is None else environ
    layers = section_layers(configuration, agent, "memory.qmd")
    warnings: list[str] = []
    for place, layer in layers:
        warnings += unknown_keys(layer, _KNOWN, place, configuration)
    reader = LayerReader(configuration, layers, environ, warnings, "memory.qmd", effective)
    export = reader.text("sessions.exportDir")[0]
    settings = QmdSettings(
        command=_command(reader.text("command", "qmd")[0], configuration),
        search_mode=reader.choice("searchMode", SEARCH_MODES, "search"),
        default_memory=reader.truth("includeDefaultMemory", True),
        paths=_paths(reader, configuration, environ, warnings),
        sessions=SessionExport(
            reader.truth("sessions.enabled", False),
            reader.whole("sessions.retentionDays", 0, 0),
            in_home(export, environ),
        ),
        upkeep=_upkeep(reader, configuration),
        limits=_limits(reader, configuration),
        scope=_scope(reader, configuration, warnings),
        source=f"{layers[0][0]} in {configuration.path}" if layers else "",
    )
    return settings, warnings


def _command(text: str, configuration: Configuration) -> str:
    """A path that is not absolute is one beside the configuration, wherever the command is run."""
    if text.startswith(("./", "../")) and configuration.path:
        return os.path.normpath(os.path.join(os.path.dirname(configuration.path), text))
    return text


def _paths(
    reader: LayerReader, configuration: Configuration, environ: Mapping[str, str], warnings: list[str]
) -> tuple[QmdPath, ...]:
    found: list[QmdPath] = []
    values, place = reader.items("paths")
    for position, value in enumerate(values):
        key = f"{place}[{position}]"
        entry = {"path": value} if isinstance(value, str) else value
        if not isinstance(entry, dict):
            raise configuration.wrong_type(key, "a path, or {path, pattern, name}", value)
        warnings += unknown_keys(entry, dict.fromkeys(("path", "pattern", "name")), key, configuration)
        texts = {}
        for name in ("path", "pattern", "name"):
            text = entry.get(name)
            if text is not None and not isinstance(text, str):
                raise configuration.wrong_type(f"{key}.{name}", "a string", text)
            texts[name] = (text or "").strip()
        path = in_home(reader.filled(f"{key}.path", texts["path"]), environ)
        if not path:
            raise configuration.wrong_type(f"{key}.path", "a path", entry.get("path"))
        found.append(QmdPath(path, texts["pattern"].removeprefix("./") or ALL_MARKDOWN, texts["name"], key))
    return tuple(found)


def _upkeep(reader: LayerReader, configuration: Configuration) -> Upkeep:
    defaults = Upkeep()
    return Upkeep(
        interval=reader.duration("update.interval", defaults.interval),
        debounce=reader.duration("update.debounceMs", defaults.debounce),
        on_boot=reader.truth("update.onBoot", defaults.on_boot),
        wait=reader.truth("update.waitForBootSync", defaults.wait),
        embed_interval=reader.duration("update.embedInterval", defaults.embed_interval),
        command_timeout=_timeout(reader, configuration, "update.commandTimeoutMs", defaults.command_timeout),
        update_timeout=_timeout(reader, configuration, "update.updateTimeoutMs", defaults.update_timeout),
        embed_timeout=_timeout(reader, configuration, "update.embedTimeoutMs", defaults.embed_timeout),
    )


def _limits(reader: LayerReader, configuration: Configuration) -> Limits:
    defaults = Limits()
    return Limits(
        results=reader.whole("limits.maxResults", defaults.results),
        snippet_characters=reader.whole("limits.maxSnippetChars", defaults.snippet_characters),
        injected_characters=reader.whole("limits.maxInjectedChars", defaults.injected_characters),
        timeout=_timeout(reader, configuration, "limits.timeoutMs", defaults.timeout),
    )


def _timeout(reader: LayerReader, configuration: Configuration, key: str, default: float) -> float:
    seconds = reader.duration(key, default)
    if seconds == 0:
        raise configuration.wrong_type(reader.place(key), "a time above 0", 0)
    return seconds


def _scope(reader: LayerReader, configuration: Configuration, warnings: list[str]) -> Scope:
    """Whoever says anything of the scope says all of it: the rule for direct chats is a default like any other."""
    allow = reader.choice("scope.default", ACTIONS, "deny") == "allow"
    if not reader.place("scope.rules"):
        direct = not reader.place("scope.default")
        reader.note("scope.rules", [{"action": "allow", "match": {"chatType": "direct"}}] if direct else [], "")
        return Scope(allow, Scope().rules if direct else ())
    values, place = reader.items("scope.rules")
    rules = []
    for position, value in enumerate(values):
        key = f"{place}[{position}]"
        if not isinstance(value, dict):
            raise configuration.wrong_type(key, "{action, match}", value)
        warnings += unknown_keys(value, {"action": None, "match": _MATCH}, key, configuration)
        if value.get("action") not in ACTIONS:
            raise configuration.wrong_type(f"{key}.action", "allow or deny", value.get("action"))
        match = value.get("match")
        if match is not None and not isinstance(match, dict):
            raise configuration.wrong_type(f"{key}.match", "an object", match)
        rules.append(_rule(value["action"] == "allow", match or {}, f"{key}.match", configuration))
    return Scope(allow, tuple(rules))


def _rule(allow: bool, match: dict[str, Any], key: str, configuration: Configuration) -> Rule:
    texts = {}
    for name in _MATCH:
        text = match.get(name)
        if text is not None and not isinstance(text, str):
            raise configuration.wrong_type(f"{key}.{name}", "a string", text)
        texts[name] = (text or "").strip().lower()
    kind = "direct" if texts["chatType"] in DIRECT else texts["chatType"]
    if kind and kind not in CHAT_TYPES:
        raise configuration.wrong_type(f"{key}.chatType", f"one of {', '.join(CHAT_TYPES)}", match["chatType"])
    return Rule(allow, kind, texts["channel"], texts["keyPrefix"], texts["rawKeyPrefix"])
