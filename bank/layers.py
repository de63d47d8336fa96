"""What the configuration says of an agent's memory: several objects, of which the nearest that says something counts.

Near to far: the agent's own entry, the top of the file, the defaults of all agents; in each, today's name of a section
before its older one.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .config import Configuration
from .embeddings.keys import resolve_secret, substitute
from .errors import MemoryFault, one_line

#: (key path, object) of the places that speak of one section, the nearest first.
Layers = list[tuple[str, dict[str, Any]]]
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
DEFAULT = "default"
_CORRECT = "correct it in this file"


class Setting(NamedTuple):
    """An effective value: ``key`` by today's name, ``value`` as JSON (secrets are not shown), ``source``: the key path
    that it was read from, or "default"."""

    key: str
    value: Any
    source: str


def search_layers(configuration: Configuration, agent: str) -> Layers:
    """The layers of the search of ``agent``: ``memory.search``, and ``memorySearch`` of older files."""
    return section_layers(configuration, agent, "memory.search", "memorySearch")


def section_layers(configuration: Configuration, agent: str, section: str, older: str = "") -> Layers:
    """The layers of a ``section`` (a dotted key below each owner), and of its ``older`` name."""
    layers: Layers = []
    for prefix, owner, _ in _owners(configuration, agent):
        for key in filter(None, (section, older)):
            found: Any = owner
            place = prefix.removesuffix(".")
            for part in key.split("."):
                found = _object(configuration, place, found).get(part)
                place = f"{place}.{part}" if place else part
            if section_found := _object(configuration, place, found):
                layers.append((place, section_found))
    return layers


def misspelt_sections(configuration: Configuration, agent: str) -> Iterator[str]:
    """A warning for each key that is nearly the name of a section which ``search_layers`` looks for; all other keys
    there are OpenClaw's own."""
    for prefix, owner, memory in _owners(configuration, agent):
        looked_for = [(prefix, key, name) for key in owner for name in ("memory", "memorySearch")]
        looked_for += [(f"{prefix}memory.", key, "search") for key in memory]
        for place, key, name in looked_for:
            if key != name and _is_nearly(key, name):
                yield one_line(f"{place}{key}: no such setting ({configuration.path}); did you mean {place}{name}?")


def _is_nearly(key: str, name: str) -> bool:
    """Whether two words have nearly the same letters; an import of ``difflib`` is not worth its time here."""
    key, name = key.casefold(), name.casefold()
    same = sum(min(key.count(letter), name.count(letter)) for letter in set(name))
    return 2 * same >= 0.85 * (len(key) + len(name))


def _owners(configuration: Configuration, agent: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """(prefix of its key paths, the object, its ``memory``) of every object that may speak of the search of an agent,
    the nearest first."""
    owners: list[tuple[str, Any]] = []
    for name, entry in configuration.object_at("agents.entries").items():
        if name.casefold() == agent.casefold():
            owners.append((f"agents.entries.{name}", entry))
    for position, entry in enumerate(configuration.list_at("agents.list")):
        if isinstance(entry, dict) and str(entry.get("id", "")).casefold() == agent.casefold():
            owners.append((f"agents.list[{position}]", entry))
    owners += [("", configuration.values), ("agents.defaults", configuration.object_at("agents.defaults"))]
    for place, value in owners:
        prefix = f"{place}." if place else ""
        owner = _object(configuration, place, value)
        yield prefix, owner, _object(configuration, f"{prefix}memory", owner.get("memory"))


def _object(configuration: Configuration, key: str, value: Any) -> dict[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise configuration.wrong_type(key, "an object", value)
    return value or {}


def unknown_keys(
    values: dict[str, Any], known: dict[str, Any], place: str, configuration: Configuration
) -> Iterator[str]:
    """A warning for each key of ``values`` (at the key path ``place``) that is not in ``known``, down to where that has
    None for a key."""
    for key, value in values.items():
        if key not in known:
            from difflib import get_close_matches

            near = get_close_matches(key.casefold(), [name.casefold() for name in known], 1, 0.6)
            meant = next((name for name in known if near and name.casefold() == near[0]), "")
            advice = f"did you mean {place}.{meant}?" if meant else "it has no effect"
            yield one_line(f"{place}.{key}: no such setting ({configuration.path}); {advice}")
        elif known[key] and isinstance(value, dict):
            yield from unknown_keys(value, known[key], f"{place}.{key}", configuration)


class LayerReader:
    """The nearest value of a key, of the type that it must have. ``unset``: key → why its value cannot be used.

    ``effective``, where it is given, takes down every value that is read, under ``section`` and its key.
    """

    def __init__(
        self,
        configuration: Configuration,
        layers: Layers,
        environ: Mapping[str, str],
        warnings: list[str],
        section: str = "memory.search",
        effective: list[Setting] | None = None,
    ) -> None:
        self._configuration, self._layers = configuration, layers
        self._environ, self._warnings = environ, warnings
        self._section, self._effective = section, effective
        self.unset: dict[str, str] = {}

    def note(self, key: str, value: Any, path: str) -> None:
        """Take a value down as effective, read from ``path`` ("" for a default)."""
        if self._effective is not None:
            self._effective.append(Setting(f"{self._section}.{key}", value, path or DEFAULT))

    def _nearest(self, key: str) -> tuple[Any, str]:
        """(value, its whole key path); (None, "") where nobody says."""
        for place, layer in self._layers:
            value: Any = layer
            path = place
            for part in key.split("."):
                value = _object(self._configuration, path, value).get(part)
                path = f"{path}.{part}"
            if value is not None:
                return value, path
        return None, ""

    def _typed(self, key: str, expected: str, fits: Callable[[Any], bool]) -> tuple[Any, str]:
        value, path = self._nearest(key)
        if value is not None and not fits(value):
            raise self._configuration.wrong_type(path, expected, value)
        return value, path

    def place(self, key: str) -> str:
        """The key path that ``key`` is read from, "" where nobody says."""
        return self._nearest(key)[1]

    def filled(self, place: str, text: str) -> str:
        """``text``, which stands at ``place``, with its variables filled in."""
        return self._filled(place, place, text)

    def text(self, key: str, default: str = "") -> tuple[str, str]:
        """(the text with its variables filled in, its key path); ``default`` where there is none."""
        value, path = self._typed(key, "a string", lambda found: isinstance(found, str))
        filled = self._filled(key, path, (value or "").strip()) or default
        self.note(key, filled or None, path)
        return filled, path

    def texts(self, key: str, default: Sequence[str] = ()) -> tuple[str, ...]:
        """A list of strings."""
        value, path = self._typed(
            key, "a list of strings", lambda found: isinstance(found, list) and all(isinstance(t, str) for t in found)
        )
        found = tuple(default) if value is None else tuple(self._filled(key, path, text.strip()) for text in value)
        self.note(key, list(found), path)
        return found

    def items(self, key: str) -> tuple[list[Any], str]:
        """(a list of whatever, its key path): what is in it is for the caller to look at."""
        value, path = self._typed(key, "a list", lambda found: isinstance(found, list))
        self.note(key, value or [], path)
        return value or [], path

    def choice(self, key: str, names: Sequence[str], default: str) -> str:
        """One of ``names``, in any case."""
        value, path = self._typed(
            key, f"one of {', '.join(names)}", lambda found: isinstance(found, str) and found.strip().lower() in names
        )
        found = default if value is None else str(value).strip().lower()
        self.note(key, found, path)
        return found

    def _filled(self, key: str, path: str, text: str) -> str:
        text, missing = substitute(text, self._environ)
        if "\0" in text or not _is_encodable(text):
            raise MemoryFault(f"{path}: holds a character that no path can hold", self._configuration.path, _CORRECT)
        if missing:
            self.unset[key] = f"{path} names the environment variable {missing}, which is not set"
            if key.split(".")[0] != "remote":
                self._warnings.append(f"{self.unset[key]} ({self._configuration.path}); set it, or write the value")
        return text

    def headers(self, key: str) -> dict[str, str]:
        value, path = self._typed(key, "an object", lambda found: isinstance(found, dict))
        for name, text in (value or {}).items():
            if not isinstance(text, str):
                raise self._configuration.wrong_type(f"{path}.{name}", "a string", text)
        self.note(key, sorted(value or {}), path)
        return {name: self._filled(key, f"{path}.{name}", text) for name, text in (value or {}).items()}

    def secret(self, key: str) -> tuple[str, str, str]:
        """(the secret, its key path, why there is none though it is set)."""
        value, path = self._typed(key, "a string", lambda found: isinstance(found, str | dict))
        secret, problem = resolve_secret(value, self._configuration, self._environ)
        self.note(key, "(hidden)" if secret else None, path)
        return secret, path, f"{path} {problem}" if problem else ""

    def truth(self, key: str, default: bool) -> bool:
        value, path = self._typed(key, "true or false", lambda found: isinstance(found, bool))
        self.note(key, default if value is None else value, path)
        return default if value is None else bool(value)

    def whole(self, key: str, default: int, least: int = 1) -> int:
        """A whole number of ``least`` or more."""
        expected = f"a whole number of {least} or more"
        value, path = self._typed(
            key, expected, lambda found: _is_number(found) and found >= least and found == int(found)
        )
        self.note(key, default if value is None else int(value), path)
        return default if value is None else int(value)

    def number(self, key: str, default: float, zero: bool = False, most: float = 1e15) -> float:
        """A finite number above 0, or of 0 and more, and at most ``most``."""
        expected = "a number of 0 or more" if zero else "a number above 0"
        expected += f", at most {most:g}" if most < 1e15 else ""
        value, path = self._typed(
            key,
            expected,
            lambda found: _is_number(found) and (found > 0 or (zero and found == 0)) and found <= most,
        )
        self.note(key, default if value is None else value, path)
        return default if value is None else float(value)

    def duration(self, key: str, default: float, unit: str = "ms") -> float:
        """Seconds, 0 or more: a text such as "5m", "30s", "1h", "500ms", or a number of ``unit``."""
        value, path = self._typed(key, 'a duration such as "5m", or a number of 0 or more', _is_duration)
        if value is None:
            seconds = default
        elif isinstance(value, str):
            match = _DURATION.fullmatch(value.strip())
            seconds = float(match[1]) * _SECONDS[match[2].lower()] if match else float(value) * _SECONDS[unit]
        else:
            seconds = float(value) * _SECONDS[unit]
        self.note(key, f"{seconds:g}s", path)
        return seconds


def _is_encodable(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _is_duration(value: object) -> bool:
    if isinstance(value, str):
        return bool(_DURATION.fullmatch(value.strip())) or value.strip().isdecimal()
    return _is_number(value) and isinstance(value, int | float) and value >= 0


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15
