"""Every case of the grammar, as data: ``tests/cases/parser/NNN-name/``."""

import json
from pathlib import Path

import pytest
from openclaw_memory.parsers.parse import parse_file

CASES = Path(__file__).parent.parent / "cases" / "parser"
FIELDS = ("kind", "entities", "text", "line", "end_line", "details", "evidence")


def as_lists(value):
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("case", sorted(p.name for p in CASES.iterdir()))
def test_case(case):
    folder = CASES / case
    expected = json.loads((folder / "expect.json").read_text("utf-8"))
    path = (folder / "path.txt").read_text("utf-8").rstrip("\n")
    parsed = parse_file((folder / "input.md").read_bytes().decode("utf-8", "replace"), path)

    assert parsed.path == expected["path"]
    assert (parsed.day and parsed.day.isoformat()) == expected["day"]
    got = [{field: as_lists(getattr(fact, field)) for field in FIELDS} for fact in parsed.facts]
    assert got == [{field: fact[field] for field in FIELDS} for fact in expected["facts"]]
    for fact, right in zip(parsed.facts, expected["facts"], strict=True):
        assert fact.confidence == pytest.approx(right["confidence"], abs=1e-9)
    found = {(d.line, d.code) for d in parsed.diagnostics}
    assert found == {(d["line"], d["code"]) for d in expected["diagnostics"]}
