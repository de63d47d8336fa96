"""What is read of memory.qmd, and what is told of what cannot be."""

from __future__ import annotations

import os
from typing import Any

import pytest
from openclaw_memory.bank.config import Configuration
from openclaw_memory.bank.errors import MemoryFault
from openclaw_memory.recall.qmd.settings import QmdPath, QmdSettings, Rule, Scope, read_qmd

PLACE = os.path.join(os.sep, "etc", "openclaw.json")


def read(values: dict[str, Any], agent: str = "main") -> tuple[QmdSettings, list[str]]:
    return read_qmd(Configuration(PLACE, values), agent, {"HOME": "/home/x", "NOTES": "/srv/notes"})


def test_defaults_are_those_of_the_documentation() -> None:
    settings, warnings = read({"memory": {"backend": "qmd"}})
    assert settings == QmdSettings()
    assert warnings == []
    assert (settings.command, settings.search_mode, settings.default_memory) == ("qmd", "search", True)
    assert settings.upkeep[:5] == (300.0, 15.0, True, False, 3600.0)
    assert settings.limits == (6, 700, 4000, 4.0)
    assert settings.scope == Scope(False, (Rule(True, "direct"),))


def test_the_example_of_the_documentation() -> None:
    example = {
        "includeDefaultMemory": True,
        "update": {"interval": "5m", "debounceMs": 15000},
        "limits": {"maxResults": 6, "timeoutMs": 4000},
        "scope": {"default": "deny", "rules": [{"action": "allow", "match": {"chatType": "direct"}}]},
        "paths": [{"name": "docs", "path": "~/notes", "pattern": "**/*.md"}],
    }
    settings, warnings = read({"memory": {"qmd": example}})
    assert warnings == []
    notes = os.path.join("/home/x", "notes")
    assert settings.paths == (QmdPath(notes, "**/*.md", "docs", "memory.qmd.paths[0]"),)
    assert settings._replace(paths=(), source="") == QmdSettings()
    assert settings.source == f"memory.qmd in {PLACE}"


@pytest.mark.parametrize(
    ("value", "seconds"), [("5m", 300), ("30s", 30), ("1h", 3600), ("500ms", 0.5), (250, 0.25), ("250", 0.25), (0, 0)]
)
def test_durations(value: object, seconds: float) -> None:
    assert read({"memory": {"qmd": {"update": {"interval": value}}}})[0].upkeep.interval == seconds


def test_an_agent_has_settings_of_its_own() -> None:
    values = {
        "memory": {"qmd": {"searchMode": "query", "limits": {"maxResults": 3}, "paths": ["${NOTES}"]}},
        "agents": {"entries": {"ops": {"memory": {"qmd": {"searchMode": "search", "limits": {"maxResults": 9}}}}}},
    }
    assert read(values, "ops")[0].limits.results == 9
    assert read(values, "ops")[0].search_mode == "search"
    assert read(values, "main")[0].search_mode == "query"
    assert read(values, "ops")[0].paths[0].path == "/srv/notes"


@pytest.mark.parametrize(
    ("qmd", "told"),
    [
        ({"serchMode": "query"}, "memory.qmd.serchMode: no such setting"),
        ({"serchMode": "query"}, "did you mean memory.qmd.searchMode?"),
        ({"update": {"debounce": 1}}, "did you mean memory.qmd.update.debounceMs?"),
        ({"paths": [{"path": "x", "patern": "*.md"}]}, "did you mean memory.qmd.paths[0].pattern?"),
        ({"scope": {"rules": [{"action": "allow", "match": {"chattype": "direct"}}]}}, "rules[0].match.chatType?"),
    ],
)
def test_an_unknown_key_is_told_with_the_nearest(qmd: dict[str, Any], told: str) -> None:
    warnings = read({"memory": {"qmd": qmd}})[1]
    assert len(warnings) == 1
    assert told in warnings[0]


@pytest.mark.parametrize(
    ("qmd", "key"),
    [
        ({"command": 7}, "memory.qmd.command: expected a string, got a number"),
        ({"searchMode": "grep"}, "memory.qmd.searchMode: expected one of search, vsearch, query"),
        ({"includeDefaultMemory": "yes"}, "memory.qmd.includeDefaultMemory: expected true or false"),
        ({"paths": "~/notes"}, "memory.qmd.paths: expected a list, got a string"),
        ({"paths": [7]}, "memory.qmd.paths[0]: expected a path"),
        ({"paths": [{"pattern": "*.md"}]}, "memory.qmd.paths[0].path: expected a path, got null"),
        ({"paths": [{"path": "x", "name": []}]}, "memory.qmd.paths[0].name: expected a string, got a list"),
        ({"update": {"interval": "soon"}}, "memory.qmd.update.interval: expected a duration"),
        ({"update": {"interval": -1}}, "memory.qmd.update.interval: expected a duration"),
        ({"update": []}, "memory.qmd.update: expected an object, got a list"),
        ({"limits": {"maxResults": 0}}, "memory.qmd.limits.maxResults: expected a whole number of 1 or more"),
        ({"limits": {"timeoutMs": 0}}, "memory.qmd.limits.timeoutMs: expected a time above 0"),
        ({"sessions": {"retentionDays": -1}}, "memory.qmd.sessions.retentionDays: expected a whole number"),
        ({"scope": {"default": "maybe"}}, "memory.qmd.scope.default: expected one of allow, deny"),
        ({"scope": {"rules": [{}]}}, "memory.qmd.scope.rules[0].action: expected allow or deny"),
        ({"scope": {"rules": ["deny"]}}, "memory.qmd.scope.rules[0]: expected {action, match}"),
        ({"scope": {"rules": [{"action": "deny", "match": {"chatType": "any"}}]}}, "rules[0].match.chatType: expected"),
        ({"scope": {"rules": [{"action": "deny", "match": {"channel": 1}}]}}, "rules[0].match.channel: expected"),
    ],
)
def test_a_wrong_type_is_a_fault_that_names_its_key(qmd: dict[str, Any], key: str) -> None:
    with pytest.raises(MemoryFault) as caught:
        read({"memory": {"qmd": qmd}})
    assert key in str(caught.value)
    assert PLACE in str(caught.value)


def test_whoever_speaks_of_the_scope_says_all_of_it() -> None:
    assert read({"memory": {"qmd": {"scope": {"default": "deny"}}}})[0].scope == Scope(False, ())
    assert read({"memory": {"qmd": {"scope": {"default": "allow"}}}})[0].scope == Scope(True, ())
    rules = [{"action": "deny", "match": {"chatType": "dm", "keyPrefix": "Discord:"}}]
    assert read({"memory": {"qmd": {"scope": {"rules": rules}}}})[0].scope == Scope(
        False, (Rule(False, "direct", "", "discord:"),)
    )


def test_a_relative_command_stands_beside_the_configuration() -> None:
    assert read({"memory": {"qmd": {"command": "./tools/qmd"}}})[0].command == os.path.join(
        os.path.dirname(PLACE), "tools", "qmd"
    )


def test_what_is_effective_is_taken_down() -> None:
    effective: list[Any] = []
    read_qmd(Configuration(PLACE, {"memory": {"qmd": {"searchMode": "query"}}}), "main", {}, effective)
    told = {one.key: (one.value, one.source) for one in effective}
    assert told["memory.qmd.searchMode"] == ("query", "memory.qmd.searchMode")
    assert told["memory.qmd.limits.maxResults"] == (6, "default")
    assert told["memory.qmd.scope.rules"] == ([{"action": "allow", "match": {"chatType": "direct"}}], "default")
