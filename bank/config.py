"""Which workspace is meant: by the command line, the environment, the configuration, or by default.

The configuration is JSON5 (``openclaw.json``; homes of older releases are found too). It is read only when
nothing nearer names a workspace, and costs nothing where there is no such file.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from .errors import MemoryFault, UsageFault, fault_of

#: The folder of the state and the name of the configuration, newest release first.
HOMES = ((".openclaw", "openclaw.json"), (".moltbot", "moltbot.json"), (".clawdbot", "clawdbot.json"))
DEFAULT_AGENT = "main"


class WorkspaceChoice(NamedTuple):
    """``path``: absolute, may not exist. ``agent``: its id. ``source``: where that was read, in a few
    words."""

    path: str
    agent: str
    source: str


class Configuration(NamedTuple):
    """A configuration file (absolute ``path``) and what it holds; ``path`` is "" where there is none."""

    path: str
    values: dict[str, Any]

    def get(self, key: str) -> Any:
        """The value at a dotted key path, or None. ``MemoryFault`` where a part on the way is no object."""
        value: Any = self.values
        walked: list[str] = []
        for part in key.split("."):
            if value is None:
                return None
            if not isinstance(value, dict):
                raise self.wrong_type(".".join(walked), "an object", value)
            value = value.get(part)
            walked.append(part)
        return value

    def object_at(self, key: str) -> dict[str, Any]:
        """The object at ``key``, {} where there is none."""
        value = self.get(key)
        if value is not None and not isinstance(value, dict):
            raise self.wrong_type(key, "an object", value)
        return value or {}

    def list_at(self, key: str) -> list[Any]:
        """The list at ``key``, [] where there is none."""
        value = self.get(key)
        if value is not None and not isinstance(value, list):
            raise self.wrong_type(key, "a list", value)
        return value or []

    def wrong_type(self, key: str, expected: str, value: object) -> MemoryFault:
        """The fault for a value of the wrong type, by the path of its key."""
        return MemoryFault(f"{key}: expected {expected}, got {_kind(value)}", self.path, "correct it in this file")


def find_workspace(
    explicit: str | None,
    agent: str | None,
    environ: Mapping[str, str],
    configuration: Configuration | None = None,
) -> WorkspaceChoice:
    """The workspace to use. ``explicit`` is the ``--workspace`` option, ``agent`` the ``--agent`` option.
    ``configuration``: what ``read_configuration`` gives, where that was read already.

    Order: ``explicit``, ``OPENCLAW_WORKSPACE``, the agent's own entry in the configuration, the default of all agents
    there, ``~/.openclaw/workspace``. Without an entry of its own no agent but the default one is at these two: it has a
    folder of its name in the one, ``workspace-<id>`` beside the other, as OpenClaw has it. Raises ``UsageFault`` for an
    empty option and for an agent that the configuration does not have, ``MemoryFault`` for a configuration that cannot
    be read or that holds a wrong type.
    """
    if explicit is not None:
        if not explicit.strip():
            raise UsageFault("--workspace is empty", remedy="give the folder of a workspace")
        return WorkspaceChoice(_absolute(explicit, environ), agent or DEFAULT_AGENT, "--workspace")
    named = environ.get("OPENCLAW_WORKSPACE", "")
    if named.strip():
        return WorkspaceChoice(_absolute(named, environ), agent or DEFAULT_AGENT, "OPENCLAW_WORKSPACE")
    configuration = configuration or read_configuration(environ)
    entries = _entries(configuration) if configuration.path else {}
    chosen = agent or _default_agent(entries)
    if agent and agent.casefold() not in {DEFAULT_AGENT, *map(str.casefold, entries)}:
        listed = f"the configuration has {', '.join(entries)}" if entries else "no configuration names any agent"
        raise UsageFault(f"no such agent: {agent}", configuration.path, listed)
    # In whatever case it is asked for, an agent has one name: its folders are called so.
    chosen = next((name for name in entries if name.casefold() == chosen.casefold()), chosen)
    places: list[tuple[str, Any, str]] = []
    for name, (key, entry) in entries.items():
        if name.casefold() == chosen.casefold():
            places.append((f"{key}.workspace", entry.get("workspace"), ""))
    shared = not entries or chosen.casefold() == _default_agent(entries).casefold()
    if configuration.path:
        below = "" if shared else chosen
        places += [(key, configuration.get(key), below) for key in ("agents.defaults.workspace", "agent.workspace")]
    for key, value, below in places:
        if value is not None and not isinstance(value, str):
            raise configuration.wrong_type(key, "a string", value)
        if value and value.strip():
            place = os.path.join(_absolute(_expand(value.strip(), key, configuration, environ), environ), below)
            return WorkspaceChoice(os.path.normpath(place), chosen, f"{key} in {configuration.path}")
    default = _default_place(chosen, environ)
    return default if shared else default._replace(path=f"{default.path}-{chosen}")


def configured_agents(configuration: Configuration) -> list[str]:
    """The ids of the agents that the configuration names, that of the default agent first."""
    entries = _entries(configuration)
    default = _default_agent(entries)
    return sorted(entries, key=lambda name: name != default)


def configuration_path(environ: Mapping[str, str]) -> str:
    """The configuration file that is there, or ""."""
    if environ.get("OPENCLAW_CONFIG_PATH"):
        candidates = [_absolute(environ["OPENCLAW_CONFIG_PATH"], environ)]
    elif environ.get("OPENCLAW_STATE_DIR"):
        state = _absolute(environ["OPENCLAW_STATE_DIR"], environ)
        candidates = [os.path.join(state, name) for _, name in HOMES]
    else:
        candidates = [os.path.join(_home(environ), *names) for names in HOMES]
    return next((path for path in candidates if os.path.lexists(path)), "")


def read_configuration(environ: Mapping[str, str]) -> Configuration:
    """The configuration file as an object; raises ``MemoryFault`` when it is broken or cannot be read."""
    path = configuration_path(environ)
    if not path:
        return Configuration("", {})
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise fault_of(error, "the configuration cannot be read", path) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise MemoryFault("the configuration is not UTF-8 text", f"{path}:{line}", "save it as UTF-8") from None
    values = _parse(text, path)
    if not isinstance(values, dict):
        raise MemoryFault(f"the configuration: expected an object, got {_kind(values)}", path, "correct this file")
    return Configuration(path, values)


def _parse(text: str, path: str) -> Any:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    import json5

    try:
        return json5.loads(text)
    except RecursionError:
        raise MemoryFault("the configuration is nested too deeply", path, "correct this file") from None
    except ValueError as error:
        place, _, reason = str(error).partition(" ")
        line = place.rpartition(":")[2]
        where = f"{path}:{line}" if line.isdigit() else path
        raise MemoryFault(f"the configuration is not JSON5: {reason}", where, "correct this file") from None


def _entries(configuration: Configuration) -> dict[str, tuple[str, dict[str, Any]]]:
    """Agent id → (its key path, its entry); ``agents.entries`` before the older ``agents.list``."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, entry in configuration.object_at("agents.entries").items():
        if entry is None:
            continue
        if not isinstance(entry, dict):
            raise configuration.wrong_type(f"agents.entries.{name}", "an object", entry)
        found[name] = (f"agents.entries.{name}", entry)
    for position, entry in enumerate(configuration.list_at("agents.list")):
        if not isinstance(entry, dict):
            raise configuration.wrong_type(f"agents.list[{position}]", "an object", entry)
        identity = entry.get("id")
        if identity is not None and not isinstance(identity, str):
            raise configuration.wrong_type(f"agents.list[{position}].id", "a string", identity)
        if identity:
            found.setdefault(identity, (f"agents.list[{position}]", entry))
    return found


def _default_agent(entries: dict[str, tuple[str, dict[str, Any]]]) -> str:
    """The agent that is meant when none is named: the one marked default, else ``main``, else the first."""
    for name, (_, entry) in entries.items():
        if entry.get("default") is True:
            return name
    return DEFAULT_AGENT if DEFAULT_AGENT in entries or not entries else next(iter(entries))


def _default_place(agent: str, environ: Mapping[str, str]) -> WorkspaceChoice:
    """Where OpenClaw keeps the workspace when the configuration names none, as it tells by itself."""
    if environ.get("OPENCLAW_WORKSPACE_DIR", "").strip():
        place = _absolute(environ["OPENCLAW_WORKSPACE_DIR"].strip(), environ)
        return WorkspaceChoice(place, agent, "OPENCLAW_WORKSPACE_DIR")
    if environ.get("OPENCLAW_STATE_DIR", "").strip():
        place = os.path.join(_absolute(environ["OPENCLAW_STATE_DIR"].strip(), environ), "workspace")
        return WorkspaceChoice(place, agent, "OPENCLAW_STATE_DIR")
    places = [os.path.join(_home(environ), folder, "workspace") for folder, _ in HOMES]
    for place, (folder, _) in zip(places, HOMES, strict=True):
        if os.path.isdir(place):
            source = "the default" if folder == HOMES[0][0] else f"the home of an older release, ~/{folder}"
            return WorkspaceChoice(place, agent, source)
    oldest = os.path.join(_home(environ), "clawd")
    if os.path.isdir(oldest) and any(os.path.isdir(os.path.dirname(place)) for place in places[1:]):
        return WorkspaceChoice(oldest, agent, "the default of an older release, ~/clawd")
    return WorkspaceChoice(places[0], agent, "the default")


def _expand(value: str, key: str, configuration: Configuration, environ: Mapping[str, str]) -> str:
    """``value`` with each ``${VAR}`` replaced; an unset variable raises ``MemoryFault``."""
    if "${" not in value:
        return value
    import re

    def replace(match: re.Match[str]) -> str:
        name = match.group(1)
        if not environ.get(name):
            raise MemoryFault(
                f"{key}: the environment variable {name} is not set",
                configuration.path,
                "set it, or write the path",
            )
        return environ[name]

    return re.sub(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", replace, value)


def _home(environ: Mapping[str, str]) -> str:
    named = environ.get("USERPROFILE") if os.name == "nt" else environ.get("HOME")
    return named or os.path.expanduser("~")


def in_home(path: str, environ: Mapping[str, str]) -> str:
    """``path`` with a leading ``~`` filled in."""
    return os.path.join(_home(environ), path[2:]) if path == "~" or path.startswith(("~/", "~" + os.sep)) else path


def _absolute(path: str, environ: Mapping[str, str]) -> str:
    return os.path.abspath(in_home(path, environ))


def _kind(value: object) -> str:
    """What JSON calls a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    return {"str": "a string", "list": "a list", "dict": "an object"}.get(type(value).__name__, type(value).__name__)
