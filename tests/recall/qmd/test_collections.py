"""Which collections there should be, and bringing QMD in step with them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.recall.qmd.collections import Collection, bring_in_step, wanted_collections
from openclaw_memory.recall.qmd.home import Made
from openclaw_memory.recall.qmd.process import QmdUnavailable, find_qmd

from .conftest import Bench, StandIn

LIST = (
    "Collections (2):\n\ndocs (qmd://docs/)\n  Pattern:  **/*.md\n  Files:    2\n\nold (qmd://old/)\n  Pattern:  *.md\n"
)


def wanted(bench: Bench) -> dict[str, Collection]:
    return wanted_collections(bench.workspace, bench.settings, bench.home)[0]


def step(bench: Bench, made: dict[str, Made], new: dict[str, Collection]) -> tuple[dict[str, Made], list[str]]:
    return bring_in_step(find_qmd(bench.command, bench.home, bench.environ), new, made, 10)


def calls(stand_in: StandIn) -> list[list[str]]:
    return [one["words"][1:] for one in stand_in.calls]


def test_the_memory_has_a_collection_for_each_of_its_places(bench: Bench) -> None:
    root = bench.workspace.root
    assert {name: (one.root, one.pattern, one.source) for name, one in wanted(bench).items()} == {
        "memory-root": (root, "{MEMORY,memory}.md", "memory"),
        "memory-dir": (os.path.join(root, "memory"), "**/*.md", "memory"),
        "memory-bank": (os.path.join(root, "bank"), "**/*.md", "memory"),
    }
    bench.configure(includeDefaultMemory=False)
    assert wanted(bench) == {}


def test_names_are_as_given_or_made_of_the_folder_and_stay(bench: Bench) -> None:
    for name in ("notes", "My Wiki", "笔记"):
        (bench.folder / name).mkdir()
    one, two = {"path": "../notes"}, {"path": "../My Wiki", "pattern": "**/*.txt"}
    bench.configure(includeDefaultMemory=False, paths=[one, two])
    names = list(wanted(bench))
    assert names[0].startswith("notes-")
    assert names[1].startswith("my-wiki-")
    bench.configure(includeDefaultMemory=False, paths=[two, {"path": "../笔记"}, one])
    assert set(names) < set(wanted(bench))
    bench.configure(includeDefaultMemory=False, paths=[one | {"name": "Team Docs"}, two | {"name": "sessions"}])
    assert list(wanted(bench)) == ["team-docs", next(name for name in wanted(bench) if name.startswith("sessions-"))]


def test_two_entries_never_share_a_name(bench: Bench) -> None:
    for name in ("a", "b"):
        (bench.folder / name).mkdir()
    paths = [{"path": "../a", "name": "docs"}, {"path": "../b", "name": "docs"}, {"path": "../a", "name": "again"}]
    bench.configure(includeDefaultMemory=False, paths=paths)
    names = list(wanted(bench))
    assert names[0] == "docs"
    assert names[1].startswith("docs-")
    assert len(names) == 2


def test_a_file_is_a_collection_of_one(bench: Bench) -> None:
    name = "to [do] {x}, (a+b)!.md"
    bench.write({name: "- x\n", "to d x, (a+b)!.md": "- y\n"}, bench.folder / "notes")
    bench.configure(includeDefaultMemory=False, paths=[{"path": f"../notes/{name}", "name": "todo"}])
    one = wanted(bench)["todo"]
    assert one.root == os.path.realpath(bench.folder / "notes")
    assert one.has(name)
    assert not one.has("to d x, (a+b)!.md")
    assert not one.has(f"sub/{name}")


def test_what_does_not_exist_is_told(bench: Bench) -> None:
    bench.configure(paths=[{"path": "../nowhere"}])
    found, warnings = wanted_collections(bench.workspace, bench.settings, bench.home)
    assert len(found) == 3
    assert warnings == [f"memory.qmd.paths[0]: {os.path.realpath(bench.folder / 'nowhere')} does not exist"]


def test_a_memory_folder_that_is_a_link_is_not_followed(bench: Bench) -> None:
    os.rename(bench.root / "bank", bench.folder / "elsewhere")
    os.symlink(bench.folder / "elsewhere", bench.root / "bank")
    found, warnings = wanted_collections(bench.workspace, bench.settings, bench.home)
    assert "memory-bank" not in found
    assert "symbolic link" in warnings[0]


@pytest.mark.parametrize(
    ("pattern", "taken", "left"),
    [
        ("**/*.md", ["a.md", "b/c/a.md"], ["a.txt", "a.md/b"]),
        ("*.md", ["a.md"], ["b/a.md"]),
        ("{MEMORY,memory}.md", ["MEMORY.md", "memory.md"], ["Memory.md", "x/MEMORY.md"]),
        ("a.md, journals/*.md", ["a.md", "journals/b.md"], ["b.md"]),
        ("notes/[a,b].md", ["notes/a.md", "notes/,.md"], ["notes/c.md"]),
    ],
)
def test_patterns(pattern: str, taken: list[str], left: list[str]) -> None:
    one = Collection("x", "/x", pattern, "memory")
    assert all(map(one.has, taken))
    assert not any(map(one.has, left))


@given(st.text("ab*?{}[],/!^.", max_size=20), st.text("ab,/.", max_size=10))
def test_any_pattern_can_be_asked(pattern: str, path: str) -> None:
    assert Collection("x", "/x", pattern, "memory").has(path) in (True, False)


def test_what_is_missing_is_added_and_what_is_there_is_left(bench: Bench, stand_in: StandIn) -> None:
    new = {
        "docs": Collection("docs", "/srv/docs", "**/*.md", "memory"),
        "wiki": Collection("wiki", "/srv/wiki", "*.md", "memory"),
    }
    stand_in.plan(collection_list={"out": LIST})
    ours, warnings = step(bench, {"docs": Made("/srv/docs", "**/*.md", "docs")}, new)
    assert calls(stand_in) == [["list"], ["add", "/srv/wiki", "--name", "wiki", "--mask", "*.md"]]
    assert ours == {"docs": Made("/srv/docs", "**/*.md", "docs"), "wiki": Made("/srv/wiki", "*.md", "wiki")}
    assert warnings == []


def test_what_changed_is_made_anew_and_what_is_not_wanted_removed(bench: Bench, stand_in: StandIn) -> None:
    stand_in.plan(collection_list={"out": LIST})
    made = {"docs": Made("/srv/docs", "**/*.md", "docs"), "old": Made(str(bench.root), "*.md", "old")}
    ours, _ = step(bench, made, {"docs": Collection("docs", "/srv/docs", "*.txt", "memory")})
    assert calls(stand_in) == [
        ["list"],
        ["remove", "docs"],
        ["remove", "old"],
        ["add", "/srv/docs", "--name", "docs", "--mask", "*.txt"],
    ]
    assert ours == {"docs": Made("/srv/docs", "*.txt", "docs")}


def test_a_folder_that_is_away_keeps_its_collection(bench: Bench, stand_in: StandIn) -> None:
    stand_in.plan(collection_list={"out": LIST})
    made = {"old": Made("/srv/unmounted", "*.md", "old")}
    assert step(bench, made, {}) == (made, [])
    assert calls(stand_in) == [["list"]]


def test_collections_of_others_are_left_alone(bench: Bench, stand_in: StandIn) -> None:
    show = {"out": "Collection: docs\n  Path:     /home/x/docs\n  Pattern:  **/*.md\n  Include:  yes (default)\n"}
    stand_in.plan(collection_list={"out": LIST}, collection_show=show)
    ours, warnings = step(bench, {}, {"docs": Collection("docs", "/srv/docs", "**/*.md", "memory")})
    assert ours == {}
    assert "another collection named docs" in warnings[0]
    assert calls(stand_in) == [["list"], ["show", "docs"]]


def test_one_of_the_same_place_is_used_under_its_own_name_and_never_removed(bench: Bench, stand_in: StandIn) -> None:
    add = {"code": 1, "err": "A collection already exists for this path and pattern:\n  Name: old (qmd://old/)\n"}
    show = {"out": "Collection: old\n  Path:     /srv/wiki\n  Pattern:  *.md\n"}
    stand_in.plan(collection_list={"out": LIST}, collection_add=add, collection_show=show)
    ours, warnings = step(bench, {}, {"wiki": Collection("wiki", "/srv/wiki", "*.md", "memory")})
    assert ours == {"wiki": Made("/srv/wiki", "*.md", "old")}
    assert warnings == []
    assert step(bench, ours, {}) == (ours, [])
    os.makedirs(bench.folder / "wiki")
    there = {"wiki": Made(str(bench.folder / "wiki"), "*.md", "old")}
    assert step(bench, there, {}) == ({}, [])
    assert not any(words[0] == "remove" for words in calls(stand_in))


def test_what_cannot_be_made_or_removed_is_told(bench: Bench, stand_in: StandIn) -> None:
    failing: dict[str, Any] = {"code": 1, "err": "disk full\n"}
    stand_in.plan(collection_list={"out": LIST}, collection_add=failing, collection_remove=failing)
    made = {"old": Made(str(bench.root), "*.md", "old")}
    ours, warnings = step(bench, made, {"wiki": Collection("wiki", "/srv/wiki", "*.md", "memory")})
    assert ours == {}
    assert [line.rpartition(": ")[2] for line in warnings] == ["disk full", "disk full"]


def test_without_a_list_nothing_is_done(bench: Bench, stand_in: StandIn) -> None:
    stand_in.plan(collection_list={"code": 1, "err": "broken\n"})
    with pytest.raises(QmdUnavailable, match="broken"):
        step(bench, {}, wanted(bench))
    assert len(stand_in.calls) == 1


def test_a_workspace_without_memory_yet(bench: Bench, tmp_path: Path) -> None:
    for name in ("memory", "bank"):
        for path in (bench.root / name).iterdir():
            path.unlink()
        (bench.root / name).rmdir()
    assert list(wanted(bench)) == ["memory-root"]
