"""Parameters that JSON allows and Python trips over: 2.0 as a count, halves of characters, numbers without end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from openclaw_memory.bank.errors import UsageFault

from openclaw_memory.serving.parameters import check
from openclaw_memory.serving.tools import TOOLS

HALF = "\ud83d"


def test_a_whole_number_is_an_integer_however_it_is_written(serve) -> None:
    server = serve()
    plain = server.ask("memory_search", query="Mara", maxResults=2)["result"]
    assert len(plain["results"]) == 2
    written = server.ask("memory_search", query="Mara", maxResults=2.0)["result"]
    assert [one["citation"] for one in written["results"]] == [one["citation"] for one in plain["results"]]
    assert server.ask("memory_get", path="memory.md", **{"from": 2.0, "lines": 1.0})["result"]["lines"] == 1
    for much in (1e300, 10**30):
        assert server.ask("memory_search", query="Mara", maxResults=much)["result"]["results"]
        assert server.ask("memory_recall", query="Mara", k=much, budget=much)["result"]["results"]
        assert server.ask("memory_get", path="memory.md", **{"from": much})["result"]["lines"] == 0
        assert server.ask("context", budget=much)["result"]["text"]


def test_half_a_character_is_written_nowhere_and_asked_for_all_the_same(serve, workspace: Path) -> None:
    server = serve()
    before = (workspace / "memory.md").read_bytes()
    refused: list[tuple[str, dict[str, Any]]] = [
        ("core_memory_append", {"content": f"- {HALF}"}),
        ("core_memory_append", {"content": "- \udce9 would be a byte"}),
        ("core_memory_insert", {"content": HALF, "line": 3}),
        ("memory_retain", {"facts": [f"W @Peter: Likes {HALF}."]}),
        ("memory_entity", {"name": HALF}),
    ]
    for method, params in refused:
        error = server.ask(method, **params)["error"]
        assert error["code"] == -32602, method
        assert "half a character" in error["message"]
    assert (workspace / "memory.md").read_bytes() == before
    assert server.ask("memory_search", query=f"Mara {HALF}")["result"]["results"]
    assert server.ask("memory_recall", query=f"Mara {HALF}")["result"]["results"]
    assert server.ask("memory_get", path=f"memory/{HALF}.md")["result"]["status"] != "ok"


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_check_gives_back_what_it_was_given(tool) -> None:
    example = {"string": "x", "integer": 3, "number": 0.5, "boolean": True, "array": ["x"]}
    told = {}
    for name, schema in tool.parameters["properties"].items():
        kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
        told[name] = schema["enum"][0] if "enum" in schema else example[kind]
    assert check(tool.parameters, told) == told
    with pytest.raises(UsageFault, match="no such parameter"):
        check(tool.parameters, {**told, "other": 1})
