"""One table of tools: its schemas are schemas, its answers keep to them, and they name what the commands print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openclaw_memory.bank.errors import UsageFault

from openclaw_memory import Memory
from openclaw_memory.serving.parameters import check
from openclaw_memory.serving.tools import TOOLS, Call, table

SCHEMAS = Path(__file__).parent.parent.parent / "docs" / "schemas"
NAMES = (
    *("memory_search", "memory_get", "memory_recall", "memory_retain", "memory_reflect", "memory_entity"),
    *("memory_opinions", "core_memory_append", "core_memory_replace", "core_memory_insert"),
)
CALLS: dict[str, dict[str, Any]] = {
    "memory_search": {"query": "ZX-4417"},
    "memory_get": {"path": "memory.md"},
    "memory_recall": {"query": "What does Mara prefer?", "since": "2025-01-01", "kind": ["opinion"], "k": 2},
    "memory_retain": {"facts": ["W @Peter: Lives in Lisbon."], "day": "2025-12-06"},
    "memory_reflect": {"dryRun": True},
    "memory_entity": {"name": "Mara"},
    "memory_opinions": {},
    "core_memory_append": {"content": "Likes tea."},
    "core_memory_replace": {"old": "nowhere to be found", "new": "x"},
    "core_memory_insert": {"content": "Likes coffee.", "line": 99_999},
}


def test_the_tools_are_those_of_the_contract() -> None:
    assert tuple(TOOLS) == NAMES
    for tool in TOOLS.values():
        for schema in (tool.parameters, tool.output):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert all("description" in one for one in tool.parameters["properties"].values())
        assert not (tool.reads and tool.destructive)
    assert [name for name, tool in TOOLS.items() if tool.destructive] == ["core_memory_replace"]
    assert json.loads(json.dumps(table())) == table()


@pytest.mark.parametrize("name", NAMES)
def test_answers_keep_to_their_schema(workspace: Path, name: str) -> None:
    tool = TOOLS[name]
    check(tool.parameters, CALLS[name])
    with Memory(str(workspace)) as memory:
        answer = tool.call(memory, CALLS[name], Call())
    Draft202012Validator(tool.output).validate(answer)
    assert answer


@pytest.mark.parametrize("name", ["recall", "entity", "retain", "reflect"])
def test_schemas_name_what_the_documents_name(name: str) -> None:
    documented = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
    own = TOOLS[f"memory_{name}"].output
    assert set(own["properties"]) <= set(documented["properties"])
    assert set(own["required"]) <= set(documented["required"])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["", "x", "all", "memory"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["query", "k"]), inner, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from(NAMES), st.data())
def test_parameters_are_checked_as_json_schema_says(name: str, data: st.DataObject) -> None:
    """The check of our own is that of a full validator, for the schemas of the table."""
    schema = TOOLS[name].parameters
    keys = st.sampled_from([*schema["properties"], "other"])
    told = data.draw(st.dictionaries(keys, VALUES, max_size=4))
    expected = Draft202012Validator(schema).is_valid(told)
    try:
        check(schema, told)
    except UsageFault:
        assert not expected
    else:
        assert expected
