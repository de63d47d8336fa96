"""A workspace that stays open: every write that was over before the question is known to the answer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openclaw_memory.bank import told_changes
from openclaw_memory.bank.errors import MemoryFault
from openclaw_memory.bank.told_changes import Watch
from openclaw_memory.bank.workspace import Workspace

from openclaw_memory import Memory

linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells it on Linux alone")


@pytest.fixture(params=["told", "looked at"])
def memory(workspace: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """An open memory that is told of changes, and one that has to look."""
    if request.param == "looked at":
        monkeypatch.setattr(told_changes, "_is_local", lambda place: False)
    with Memory(str(workspace)) as opened:
        for _ in range(3):
            opened.recall("cargo bike")
        yield opened


def first(memory: Memory, question: str) -> str:
    answer = memory.recall(question, k=1)
    assert not answer["stale"]
    return answer["results"][0]["content"] if answer["results"] else ""


def fact(text: str) -> str:
    return f"# Log\n\n## Retain\n- W @Ines: {text}\n"


def test_each_way_to_change_a_file_is_seen(memory: Memory, workspace: Path) -> None:
    log = workspace / "memory" / "2025-12-08.md"
    log.write_text(fact("Owns a wombat named Comet."), "utf-8")
    assert first(memory, "wombat") == "Owns a wombat named Comet."
    # As many bytes, in place.
    with open(log, "r+b") as file:
        file.seek(log.read_bytes().index(b"Comet"))
        file.write(b"Daisy")
    assert first(memory, "wombat") == "Owns a wombat named Daisy."
    # As an editor saves.
    other = workspace / "memory" / ".2025-12-08.md.tmp"
    other.write_text(fact("Owns a wombat named Elsie."), "utf-8")
    os.replace(other, log)
    assert first(memory, "wombat") == "Owns a wombat named Elsie."
    # By another process, in a folder that is new, and that moves.
    folder = workspace / "memory" / "projects" / "zoo"
    code = f"import os; os.makedirs({str(folder)!r}); open({str(folder / 'pets.md')!r}, 'w').write('- A numbat.\\n')"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert first(memory, "numbat") == "A numbat."
    (folder / "more.md").write_text("- A quoll.\n", "utf-8")
    assert first(memory, "quoll") == "A quoll."
    folder.rename(workspace / "bank" / "zoo")
    assert memory.recall("quoll", k=1)["results"][0]["source"] == "bank/zoo/more.md#L1"
    (workspace / "bank" / "zoo" / "more.md").write_text("- A bilby.\n", "utf-8")
    assert first(memory, "bilby") == "A bilby."
    shutil.rmtree(workspace / "bank" / "zoo")
    assert "bilby" not in first(memory, "bilby")
    (workspace / "memory.md").write_text("# Memory\n\n- The okapi sleeps.\n", "utf-8")
    assert first(memory, "okapi") == "The okapi sleeps."
    log.unlink()
    assert "wombat" not in first(memory, "wombat")


def test_an_index_that_goes_or_breaks_is_built_again(memory: Memory, workspace: Path) -> None:
    index = Path(memory.workspace.index_path)
    before = memory.recall("cargo bike")["results"]
    environment = os.environ | {"HOME": str(workspace.parent)}
    command = [sys.executable, "-m", "openclaw_memory", "reset", "--yes", "--workspace", str(workspace)]
    subprocess.run(command, check=True, env=environment, capture_output=True)
    assert memory.recall("cargo bike")["results"] == before
    assert index.exists()
    for name in (index, Path(f"{index}-wal")):
        if name.exists():
            name.write_bytes(b"no database " * 1000)
    assert memory.recall("cargo bike")["results"] == before


def test_faults_of_a_question_are_not_taken_for_damage(memory: Memory) -> None:
    with pytest.raises(MemoryFault):
        memory.entity("Nobody")
    assert not Path(f"{memory.workspace.index_path}.set-aside").exists()


@linux
def test_a_quiet_workspace_is_not_looked_at(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as nothing changes, answers come from what is kept: no file is looked at, none is opened."""
    from openclaw_memory.bank import resident, sync

    monkeypatch.setattr(told_changes, "TRUSTED", 1e9)
    with Memory(str(workspace)) as memory:
        for _ in range(3):
            memory.recall("cargo bike")

        def fail(*arguments: object, **named: object) -> None:
            raise AssertionError("looked at the files, or opened the index")

        for module, name in ((resident, "pending_changes"), (resident, "open_to_read"), (sync, "scan")):
            monkeypatch.setattr(module, name, fail)
        for _ in range(3):
            assert memory.recall("cargo bike")["results"]


@linux
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["write", "append", "move", "remove", "folder"]), st.integers(0, 5)), max_size=12
    )
)
def test_every_change_is_counted(tmp_path: Path, steps: list[tuple[str, int]]) -> None:
    root = tmp_path / "w"
    shutil.rmtree(root, ignore_errors=True)
    for name in ("memory", "bank"):
        (root / name).mkdir(parents=True)
    places = [root / "a.md", root / "memory" / "a.md", root / "bank" / "a.md"]
    places += [root / "memory" / "x" / "a.md", root / "bank" / "x" / "y" / "a.md", root / "memory" / "b.md"]
    watch = Watch(Workspace(str(root)))
    try:
        for what, number in steps:
            before, place = watch.count(), places[number]
            was = place.read_bytes() if place.exists() else None
            if what == "folder":
                place.parent.mkdir(parents=True, exist_ok=True)
                continue
            if what in ("write", "append") and place.parent.exists():
                with open(place, "ab" if what == "append" else "wb") as file:
                    file.write(b"x\n")
            elif what == "move" and place.exists():
                os.replace(place, root / "memory" / "moved.md")
            elif what == "remove" and place.exists():
                place.unlink()
            now = place.read_bytes() if place.exists() else None
            if now != was:
                assert watch.count() != before
    finally:
        watch.close()
    assert watch.count() is None


def test_where_nothing_can_be_told_it_says_so(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told_changes, "_mounts", lambda: [("/", "nfs4")])
    watch = Watch(Workspace(str(workspace)))
    assert watch.count() is None
    watch.close()


@linux
def test_a_workspace_that_moves_away_is_not_trusted(workspace: Path) -> None:
    watch = Watch(Workspace(str(workspace)))
    assert watch.count() is not None
    workspace.rename(workspace.parent / "elsewhere")
    assert watch.count() is None
    watch.close()
