"""Plain command lines of the reading commands, parsed without the command-line library, whose import would be most of
the time that a recall takes.

Only what is unmistakable is taken: known options with their values, one query or path. Anything else (help,
abbreviations, mistakes) is left to the Typer application, which defines these options; a test holds this table to it.
"""

from __future__ import annotations

import re
from typing import Any

_WHERE: dict[str, tuple[str, type]] = {
    "--workspace": ("workspace", str),
    "--agent": ("agent", str),
    "--now": ("now", str),
    "--json": ("as_json", bool),
    "--debug": ("debug", bool),
}
_FRESHNESS: dict[str, tuple[str, type]] = {"--no-sync": ("no_sync", bool)}
OPTIONS: dict[str, dict[str, tuple[str, type]]] = {
    "recall": {
        **_WHERE,
        **_FRESHNESS,
        "--since": ("since", str),
        "--until": ("until", str),
        "--around": ("around", str),
        "--as-of": ("as_of", str),
        "--entity": ("entity", str),
        "--kind": ("kind", str),
        "--min-confidence": ("min_confidence", float),
        "--source": ("source", str),
        "--k": ("k", int),
        "-k": ("k", int),
        "--budget": ("budget", int),
        "--explain": ("explain", bool),
    },
    "search": {
        **_WHERE,
        **_FRESHNESS,
        "--query": ("query_option", str),
        "--max-results": ("max_results", int),
        "--min-score": ("min_score", float),
        "--corpus": ("corpus", str),
    },
    "get": {**_WHERE, "--from": ("from_line", int), "--lines": ("lines", int)},
}
#: How numbers are written plainly; what else Python or Typer would take is left to Typer.
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?")
#: The one argument of each command.
ARGUMENT = {"recall": "query", "search": "query", "get": "path"}


def parse(arguments: list[str]) -> tuple[str, dict[str, Any]] | None:
    """The command and the keyword arguments of its function, or None where the line is not plain."""
    if not arguments or arguments[0] not in OPTIONS:
        return None
    command = arguments[0]
    known = OPTIONS[command]
    options: dict[str, Any] = {}
    rest = iter(arguments[1:])
    for word in rest:
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name in known:
            target, kind = known[name]
            if kind is bool:
                if equals:
                    return None
                options[target] = True
                continue
            given = value if equals else next(rest, None)
            if given is None or (not equals and given.startswith("-")):
                return None
            if name == "--workspace" and not given.strip():
                return None
            if kind is not str and not _NUMBER.fullmatch(given):
                return None
            try:
                options[target] = kind(given)
            except ValueError:
                return None
        elif word.startswith("-") or ARGUMENT[command] in options:
            return None
        else:
            options[ARGUMENT[command]] = word
    if ARGUMENT[command] not in options and "query_option" not in options:
        return None
    return command, options
