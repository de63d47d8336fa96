"""What the configuration says of an agent's search: several objects, of which the nearest that says something counts.

Near to far: the agent's own ``memory.search``, its own ``memorySearch`` (the older name), then both of all agents.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..config import Configuration
from ..errors import one_line
from .keys import resolve_secret, substitute


def search_layers(configuration: Configuration, agent: str) -> list[tuple[str, dict[str, Any]]]:
    """(key path, object) of every place that speaks of the search of ``agent``, the nearest first."""
    layers: list[tuple[str, dict[str, Any]]] = []
    for prefix, owner, memory in _owners(configuration, agent):
        for key, found in (("memory.search", memory.get("search")), ("memorySearch", owner.get("memorySearch"))):
            search = _object(configuration, prefix + key, found)
            if search:
                layers.append((prefix + key, search))
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
    """The nearest value of a key, of the type that it must have. ``unset``: key → why its value cannot be used."""

    def __init__(
        self,
        configuration: Configuration,
        layers: list[tuple[str, dict[str, Any]]],
        environ: Mapping[str, str],
        warnings: list[str],
    ) -> None:
        self._configuration, self._layers = configuration, layers
        self._environ, self._warnings = environ, warnings
        self.unset: dict[str, str] = {}

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

    def text(self, key: str) -> tuple[str, str]:
        """(the text with its variables filled in, its key path); "" where there is none."""
        value, path = self._typed(key, "a string", lambda found: isinstance(found, str))
        return self._filled(key, path, (value or "").strip()), path

    def _filled(self, key: str, path: str, text: str) -> str:
        text, missing = substitute(text, self._environ)
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
        return {name: self._filled(key, f"{path}.{name}", text) for name, text in (value or {}).items()}

    def secret(self, key: str) -> tuple[str, str, str]:
        """(the secret, its key path, why there is none though it is set)."""
        value, path = self._typed(key, "a string", lambda found: isinstance(found, str | dict))
        secret, problem = resolve_secret(value, self._configuration, self._environ)
        return secret, path, f"{path} {problem}" if problem else ""

    def truth(self, key: str, default: bool) -> bool:
        value, _ = self._typed(key, "true or false", lambda found: isinstance(found, bool))
        return default if value is None else bool(value)

    def whole(self, key: str, default: int) -> int:
        """A whole number of 1 or more."""
        value, _ = self._typed(key, "a whole number of 1 or more", lambda found: _is_number(found) and found >= 1)
        if value is not None and value != int(value):
            raise self._configuration.wrong_type(self._nearest(key)[1], "a whole number of 1 or more", value)
        return default if value is None else int(value)

    def number(self, key: str, default: float, zero: bool = False) -> float:
        """A finite number above 0, or of 0 and more."""
        expected = "a number of 0 or more" if zero else "a number above 0"
        value, _ = self._typed(key, expected, lambda found: _is_number(found) and (found > 0 or (zero and found == 0)))
        return default if value is None else float(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15
