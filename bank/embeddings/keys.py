"""Where the key of a provider comes from: the settings, the environment, or what OpenClaw has stored.

OpenClaw writes a secret as itself, as ``${NAME}`` or ``$NAME`` (a variable of the environment), or as a reference
``{source: "env"|"file"|"exec", provider, id}``. Programs are never run for a key here. Its own keys are profiles of an
agent (``agents/<id>/agent/``): in ``auth-profiles.json``, today in the table ``auth_profile_store``; an agent without
one of its own uses those of ``main``. Only profiles of the type ``api_key`` count: no provider of embeddings takes the
tokens of a subscription.
"""

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..config import DEFAULT_AGENT, HOMES, Configuration
from .services import OFFICIAL, STORED_AS, VARIABLES

if TYPE_CHECKING:
    from .settings import EmbeddingSettings

_STORE = "openclaw-agent.sqlite"
_MARKERS = ("secretref-env:", "__env__:")


class Key(NamedTuple):
    """A key, and where it was found, in words that may be shown; both "" where there is none."""

    value: str = ""
    source: str = ""

    def __repr__(self) -> str:
        return f"Key(source={self.source!r})"


def find_key(
    provider: str, settings: "EmbeddingSettings", environ: Mapping[str, str], agent: str, state_dir: str = ""
) -> Key:
    """The key of ``provider``, but for that of ``settings.remote``, which belongs to one provider alone.

    Order: the provider's variables, the profiles of the agent, those of ``main``, ``models.providers`` as far as it
    names no end point of its own. ``state_dir``: OpenClaw's folder, by default the one that ``environ`` leads to.
    """
    for variable in VARIABLES.get(provider, ()):
        value = environ.get(variable, "").strip()
        if value:
            return Key(value, variable)
    stored_as = STORED_AS.get(provider, provider)
    state_dir = state_dir or state_folder(environ)
    for owner in dict.fromkeys((agent, DEFAULT_AGENT)):
        folder = os.path.join(state_dir, "agents", owner, "agent")
        for place, store in _stores(folder):
            value = _profile_key(store, stored_as, environ)
            if value:
                return Key(value, f"the profile for {stored_as} in {place}")
    endpoint = settings.endpoints.get(stored_as)
    if endpoint and (not endpoint.base_url or f"{endpoint.base_url}/".startswith(OFFICIAL.get(provider, "-"))):
        return Key(endpoint.api_key, endpoint.source if endpoint.api_key else "")
    return Key()


def state_folder(environ: Mapping[str, str]) -> str:
    """The folder in which OpenClaw keeps its state; the newest release's where none is there."""
    named = environ.get("OPENCLAW_STATE_DIR", "").strip()
    home = environ.get("USERPROFILE" if os.name == "nt" else "HOME") or os.path.expanduser("~")
    if named:
        return os.path.join(home, named[2:]) if named.startswith("~/") else named
    places = [os.path.join(home, folder) for folder, _ in HOMES]
    return next((place for place in places if os.path.isdir(place)), places[0])


def _stores(folder: str) -> Iterator[tuple[str, Any]]:
    """(file, what it holds) for each store of profiles in ``folder`` that can be read."""
    place = os.path.join(folder, "auth-profiles.json")
    if os.path.exists(place):
        yield place, _json_file(place)
    place = os.path.join(folder, _STORE)
    if os.path.exists(place):
        yield place, _database(place)


def _json_file(path: str) -> Any:
    import json

    try:
        with open(path, encoding="utf-8-sig") as file:
            return json.load(file)
    except (OSError, ValueError, RecursionError):
        return None


def _database(path: str) -> Any:
    import json
    import sqlite3
    from contextlib import closing
    from urllib.request import pathname2url

    try:
        # Nobody has it open where there is no log beside it, and then nothing is written beside it either.
        still = "" if os.path.exists(f"{path}-wal") else "&immutable=1"
        uri = f"file:{pathname2url(os.path.abspath(path))}?mode=ro{still}"
        with closing(sqlite3.connect(uri, uri=True, timeout=1.0)) as connection:
            row = connection.execute("SELECT store_json FROM auth_profile_store ORDER BY store_key='primary' DESC")
            return json.loads((row.fetchone() or ("null",))[0])
    except (sqlite3.Error, ValueError, TypeError, RecursionError):
        return None


def _profile_key(store: Any, provider: str, environ: Mapping[str, str]) -> str:
    """The key for ``provider`` among the profiles of ``store``: the order that it gives itself, then ``default``."""
    profiles = store.get("profiles") if isinstance(store, dict) else None
    if not isinstance(profiles, dict):
        return ""
    order = store.get("order")
    preferred = order.get(provider) if isinstance(order, dict) else None
    names = [name for name in preferred if isinstance(name, str)] if isinstance(preferred, list) else []
    for name in dict.fromkeys([*names, f"{provider}:default", *profiles]):
        profile = profiles.get(name)
        if isinstance(profile, dict) and profile.get("provider") == provider and profile.get("type") == "api_key":
            for field in ("key", "keyRef"):
                value, _ = resolve_secret(profile.get(field), Configuration("", {}), environ)
                if value:
                    return value
    return ""


def resolve_secret(value: Any, configuration: Configuration, environ: Mapping[str, str]) -> tuple[str, str]:
    """(the secret, why there is none though it is set: the rest of a sentence that begins with its key path)."""
    if isinstance(value, dict):
        return _resolve_reference(value, configuration, environ)
    text = value.strip() if isinstance(value, str) else ""
    name = next((text.removeprefix(marker) for marker in _MARKERS if text.startswith(marker)), "")
    if not name and text[:1] == "$" and text[1:].replace("_", "").isalnum() and text[1:].isupper():
        name = text[1:]
    if not name and text in {"GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "VOYAGE_API_KEY"}:
        name = text
    if name:
        return _variable(name, environ)
    text, missing = substitute(text, environ)
    return ("", f"names the environment variable {missing}, which is not set") if missing else (text, "")


def _resolve_reference(
    value: dict[str, Any], configuration: Configuration, environ: Mapping[str, str]
) -> tuple[str, str]:
    source, identity = value.get("source"), value.get("id")
    if not isinstance(identity, str) or not identity.strip():
        return "", "is a reference without an id"
    if source == "env":
        return _variable(identity.strip(), environ)
    if source == "file":
        return _secret_file(str(value.get("provider") or ""), identity.strip(), configuration, environ)
    return "", f"is a secret of the source {source!r}, which is not looked up here"


def _variable(name: str, environ: Mapping[str, str]) -> tuple[str, str]:
    value = environ.get(name, "").strip()
    return (value, "") if value else ("", f"names the environment variable {name}, which is not set")


def _secret_file(
    alias: str, identity: str, configuration: Configuration, environ: Mapping[str, str]
) -> tuple[str, str]:
    """A secret in a file that ``secrets.providers`` names: the whole file, or a JSON pointer into it."""
    values: Any = configuration.values.get("secrets")
    secrets = values if isinstance(values, dict) else {}
    defaults, providers = secrets.get("defaults"), secrets.get("providers")
    alias = alias or str((defaults if isinstance(defaults, dict) else {}).get("file") or "default")
    entry = (providers if isinstance(providers, dict) else {}).get(alias)
    entry = entry if isinstance(entry, dict) else {}
    path = entry.get("path")
    if not isinstance(path, str):
        return "", f"names the secret provider {alias!r}, which secrets.providers does not have as a file"
    home = environ.get("HOME") or os.path.expanduser("~")
    path = os.path.join(home, path[2:]) if path.startswith("~/") else path
    if entry.get("mode") == "singleValue":
        try:
            with open(path, encoding="utf-8") as file:
                found: Any = file.read().strip()
        except (OSError, UnicodeDecodeError):
            found = None
    else:
        found = _json_file(path)
        for part in identity.removeprefix("/").split("/"):
            part = part.replace("~1", "/").replace("~0", "~")
            found = found.get(part) if isinstance(found, dict) else None
    return (
        (found, "") if isinstance(found, str) and found else ("", f"names {identity!r} in {path}, which is not there")
    )


def substitute(text: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """(``text`` with each ``${VAR}`` filled in, the first variable that is not set or ""). That one stays as it is."""
    if "${" not in text:
        return text, ""
    import re

    names = re.findall(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", text)
    missing = next((name for name in names if not environ.get(name)), "")
    return re.sub(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", lambda m: environ.get(m[1]) or m[0], text), missing
