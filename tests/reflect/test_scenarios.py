"""Whole small workspaces whose facts say outright what they do to others: nothing is inferred, all comes out right."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from pathlib import Path

import pytest
from openclaw_memory.parsers.parse import parse_file

CASES = Path(__file__).parent.parent / "cases" / "scenarios"
BENCHMARK = Path(__file__).parent.parent.parent / "benchmarks" / "scenarios.py"


def benchmark():
    spec = importlib.util.spec_from_file_location("scenarios_benchmark", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fact_at(folder: Path, place) -> object:
    path, line = place
    source = folder / path if (folder / path).exists() else folder / "_deleted" / path
    return next(fact for fact in parse_file(source.read_text("utf-8"), path).facts if fact.line == line)


def opinion_of(folder: Path, one) -> str:
    """The id of the first line that states an opinion."""
    found = []
    for file in sorted((folder / "memory").glob("*.md")):
        for fact in parse_file(file.read_text("utf-8"), f"memory/{file.name}").facts:
            wanted = fact.kind == "opinion" and one["entity"] in fact.entities
            if wanted and one["opinion_contains"].casefold() in fact.text.casefold():
                found.append(fact.id)
    return found[0]


def links(folder: Path, expected) -> dict[tuple[str, int], list[str]]:
    """What the facts of a scenario have to say outright, by place."""
    told: dict[tuple[str, int], list[str]] = {}
    for one in expected:
        for relation in ("supports", "contradicts"):
            for place in [*one.get(relation, ()), *one.get(f"{relation}_any_of", ())]:
                told.setdefault(tuple(place), []).append(f"({relation} ^{opinion_of(folder, one)})")
        if "superseded_line" in one and "current_line" in one:
            old = fact_at(folder, one["superseded_line"])
            told.setdefault(tuple(one["current_line"]), []).append(f"(replaces ^{old.id})")
    return {place: sorted(set(written)) for place, written in told.items()}


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.iterdir()))
def test_outright_links_are_enough(name, tmp_path):
    folder = tmp_path / name
    shutil.copytree(CASES / name, folder)
    expected = json.loads((folder / "expect.json").read_text("utf-8"))
    for (path, line), written in links(folder, expected).items():
        for file in (folder / path, folder / "_deleted" / path):
            if file.exists():
                rows = file.read_text("utf-8").split("\n")
                rows[line - 1] = f"{rows[line - 1]} {' '.join(written)}"
                file.write_text("\n".join(rows), encoding="utf-8")
    wrong = [w for w in benchmark().run_scenario(folder, None) if not re.search("did not drop more", w)]
    assert wrong == []
