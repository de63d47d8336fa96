"""The trace that recalls leave: counted by day, bounded, and never in the way of an answer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.bank import recalls
from openclaw_memory.bank.recalls import fold_recalls, note_recall, read_recalls
from openclaw_memory.bank.workspace import Workspace

DAY = date(2025, 12, 6)


@pytest.fixture
def bank(tmp_path: Path) -> Workspace:
    (tmp_path / ".memory").mkdir()
    return Workspace(str(tmp_path))


def test_counted_once_a_day(bank: Workspace) -> None:
    assert read_recalls(bank) == Counter()
    for day, ids in [(0, ["w-1", "w-2"]), (0, ["w-1"]), (1, ["w-1"]), (2, []), (3, [f"n-{n}" for n in range(9)])]:
        note_recall(bank, DAY + timedelta(day), ids)
    assert read_recalls(bank) == Counter({"w-1": 2, "w-2": 1, **{f"n-{n}": 1 for n in range(recalls.COUNTED)}})


def test_nothing_is_made_where_nothing_is(tmp_path: Path) -> None:
    note_recall(Workspace(str(tmp_path)), DAY, ["w-1"])
    assert os.listdir(tmp_path) == []
    assert fold_recalls(Workspace(str(tmp_path))) is False
    note_recall(Workspace(str(tmp_path / "gone")), DAY, ["w-1"])


@pytest.mark.skipif(os.name == "nt", reason="links and pipes")
def test_it_never_raises_nor_waits(bank: Workspace, tmp_path: Path) -> None:
    path = Path(bank.index_dir) / recalls.FILE
    (tmp_path / "target").touch()
    path.symlink_to(tmp_path / "target")
    note_recall(bank, DAY, ["w-1"])
    assert (tmp_path / "target").read_bytes() == b""
    path.unlink()
    os.mkfifo(path)
    note_recall(bank, DAY, ["w-1"])
    path.unlink()
    path.mkdir()
    note_recall(bank, DAY, ["w-1"])
    assert read_recalls(bank) == Counter()
    assert fold_recalls(bank) is False


@given(st.lists(st.one_of(st.binary(max_size=40), st.just(b'{"day":"2025-12-06","ids":["w-1"]}'))))
def test_damage_is_passed_over(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    (folder / ".memory").mkdir()
    good = b'{"day":"2025-12-06","ids":["w-1"]}'
    (folder / ".memory" / recalls.FILE).write_bytes(b"\n".join([*lines, b'{"counts":[1],"ids":3}', b"[" * 9999, good]))
    assert read_recalls(Workspace(str(folder)))["w-1"] == 1


def test_folding_keeps_the_counts(bank: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalls, "FOLDED_AT", 2000)
    path = Path(bank.index_dir) / recalls.FILE
    for number in range(60):
        note_recall(bank, DAY + timedelta(number), ["w-1", f"w-{number}"])
    before, size = read_recalls(bank), path.stat().st_size
    assert fold_recalls(bank) is True
    assert read_recalls(bank) == before
    assert path.stat().st_size < size
    note_recall(bank, DAY + timedelta(99), ["w-1"])
    assert read_recalls(bank)["w-1"] == before["w-1"] + 1
    assert fold_recalls(bank) is False
    assert sorted(os.listdir(bank.index_dir)) == [recalls.FILE]


def test_folding_forgets_what_was_recalled_least(bank: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalls, "FOLDED_AT", 1)
    monkeypatch.setattr(recalls, "_KEPT", 2)
    for number, ids in enumerate([["a", "b"], ["a", "b"], ["c"]]):
        note_recall(bank, DAY + timedelta(number), ids)
    assert fold_recalls(bank) is True
    assert read_recalls(bank) == Counter({"a": 2, "b": 2})


def test_it_is_bounded_without_a_nightly_job(bank: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalls, "LARGEST", 1000)
    for number in range(100):
        note_recall(bank, DAY + timedelta(number), ["w-0123456789ab"])
    assert (Path(bank.index_dir) / recalls.FILE).stat().st_size < 1100


def test_lines_of_several_processes_do_not_mix(bank: Workspace) -> None:
    code = (
        "import sys; from datetime import date, timedelta\n"
        "from openclaw_memory.bank.recalls import note_recall\n"
        "from openclaw_memory.bank.workspace import Workspace\n"
        "bank = Workspace(sys.argv[1])\n"
        "for n in range(300): note_recall(bank, date(2025, 1, 1) + timedelta(n), [sys.argv[2]])\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, bank.root, name]) for name in ("w-a", "w-b", "w-c")]
    assert [one.wait(60) for one in running] == [0, 0, 0]
    assert read_recalls(bank) == Counter({"w-a": 300, "w-b": 300, "w-c": 300})
