"""Reading and writing files: whole or not at all, never over somebody else's change, every byte as it was."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openclaw_memory.bank import files
from openclaw_memory.bank.errors import Busy, MemoryFault
from openclaw_memory.bank.files import (
    ChangedMeanwhile,
    FileMissing,
    decode,
    read_below,
    read_text,
    write_atomic,
    writer_lock,
)

links = pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege there")


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@given(st.binary(max_size=200))
def test_decoding_keeps_every_line(data: bytes) -> None:
    text = decode(data)
    assert text.count("\n") == data.count(b"\n")
    try:
        assert text == data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        assert "\ufffd" in text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(st.binary(max_size=200), st.binary(max_size=50))
def test_splicing_keeps_every_byte(tmp_path: Path, data: bytes, more: bytes) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(data)
    read = read_text(str(path))
    assert read.data == data
    assert read.bom == data.startswith(files.BOM)
    write_atomic(str(path), read.data + more, read.stamp)
    assert path.read_bytes() == data + more
    assert names(tmp_path) == ["a.md"]


def test_line_ends(tmp_path: Path) -> None:
    for data, newline in (
        (b"", "\n"),
        (b"a\r\nb\r\nc\n", "\r\n"),
        (b"a\nb\r\n", "\n"),
        (b"\xef\xbb\xbfa\r\n", "\r\n"),
    ):
        path = tmp_path / "a.md"
        path.write_bytes(data)
        assert read_text(str(path)).newline == newline


def test_reading_faults(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match="no such file"):
        read_text(str(tmp_path / "none.md"))
    with pytest.raises(MemoryFault, match="not a regular file"):
        read_text(str(tmp_path))
    with pytest.raises(MemoryFault):
        read_text("a\0b")


def test_new_file(tmp_path: Path) -> None:
    path = tmp_path / "new.md"
    write_atomic(str(path), b"x", None)
    assert path.read_bytes() == b"x"
    assert names(tmp_path) == ["new.md"]
    with pytest.raises(ChangedMeanwhile, match="appeared"):
        write_atomic(str(path), b"y", None)
    assert path.read_bytes() == b"x"


def test_new_file_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    write_atomic(str(tmp_path / "new.md"), b"x", None)
    assert names(tmp_path) == ["new.md"]


def test_a_file_that_appears_at_the_last_moment_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new.md"
    link = os.link

    def late(source: str, target: str) -> None:
        path.write_bytes(b"theirs")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(ChangedMeanwhile):
        write_atomic(str(path), b"ours", None)
    assert path.read_bytes() == b"theirs"
    assert names(tmp_path) == ["new.md"]


@pytest.mark.parametrize("theirs", [b"other", b"size", b"", None])
def test_refused_when_changed(tmp_path: Path, theirs: bytes | None) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"mine")
    read = read_text(str(path))
    if theirs is None:
        path.unlink()
    else:
        path.write_bytes(theirs)
        os.utime(path, ns=(read.stamp.mtime_ns, read.stamp.mtime_ns))
    with pytest.raises(ChangedMeanwhile, match="meanwhile"):
        write_atomic(str(path), b"ours", read.stamp)
    assert (path.read_bytes() if path.exists() else None) == theirs
    assert names(tmp_path) == ([] if theirs is None else ["a.md"])


def test_refused_when_changed_while_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"mine")
    read = read_text(str(path))
    fsync = os.fsync

    def slow(handle: int) -> None:
        path.write_bytes(b"them")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", slow)
    with pytest.raises(ChangedMeanwhile):
        write_atomic(str(path), b"ours", read.stamp)
    assert path.read_bytes() == b"them"
    assert names(tmp_path) == ["a.md"]


def test_a_touch_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"mine")
    read = read_text(str(path))
    os.utime(path, (1, 1))
    write_atomic(str(path), b"ours", read.stamp)
    assert path.read_bytes() == b"ours"


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "full"), PermissionError(errno.EACCES, "no"), KeyboardInterrupt()]
)
def test_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    read = read_text(str(path))

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(os, step, fail)
    expected = MemoryFault if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        write_atomic(str(path), b"new", read.stamp)
    if isinstance(error, OSError):
        assert str(path) in str(caught.value)
        assert ("full" in str(caught.value)) == (error.errno == errno.ENOSPC)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.md"]


def test_killed_between_writing_and_renaming(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    code = (
        "import os, sys; from openclaw_memory.bank.files import read_text, write_atomic; path = sys.argv[1];"
        "os.replace = lambda *_: os._exit(9); write_atomic(path, b'new' * 1000, read_text(path).stamp)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)])
    assert done.returncode == 9
    assert path.read_bytes() == b"old"
    assert all(name == "a.md" or name.startswith(".") for name in names(tmp_path))
    write_atomic(str(path), b"next", read_text(str(path)).stamp)
    assert path.read_bytes() == b"next"


@pytest.mark.skipif(os.name == "nt", reason="modes are another thing there")
def test_mode_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"x")
    path.chmod(0o640)
    write_atomic(str(path), b"y", read_text(str(path)).stamp)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    write_atomic(str(tmp_path / "b.md"), b"y", None)
    (tmp_path / "c.md").write_bytes(b"")
    assert (tmp_path / "b.md").stat().st_mode == (tmp_path / "c.md").stat().st_mode


@links
def test_links_are_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target.md"
    target.write_bytes(b"x")
    (tmp_path / "link.md").symlink_to(target)
    (tmp_path / "broken.md").symlink_to(tmp_path / "none.md")
    with pytest.raises(MemoryFault, match="symbolic link"):
        write_atomic(str(tmp_path / "link.md"), b"y", read_text(str(target)).stamp)
    with pytest.raises(MemoryFault, match="symbolic link"):
        write_atomic(str(tmp_path / "broken.md"), b"y", None)
    assert target.read_bytes() == b"x"
    assert names(tmp_path) == ["broken.md", "link.md", "target.md"]


def test_writing_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MemoryFault, match="cannot write: "):
        write_atomic(str(tmp_path / "none" / "a.md"), b"x", None)
    with pytest.raises(MemoryFault, match="regular"):
        write_atomic(str(tmp_path), b"x", None)
    path = tmp_path / "a.md"
    path.write_bytes(b"x")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(MemoryFault, match="read-only"):
        write_atomic(str(path), b"y", read_text(str(path)).stamp)


# The lock


def test_lock_makes_its_folder_and_says_who_holds_it(tmp_path: Path) -> None:
    path = str(tmp_path / ".memory" / "writer.lock")
    with writer_lock(path, 1.0, "indexing"):
        with (
            pytest.raises(Busy, match=f"process {os.getpid()} is indexing .*try again") as caught,
            writer_lock(path, 0.05),
        ):
            pass
        assert caught.value.exit_code == 75
    with writer_lock(path, 0):
        pass
    assert not os.path.exists(f"{path}.holder")


def test_lock_is_released_after_a_fault(tmp_path: Path) -> None:
    path = str(tmp_path / "writer.lock")
    with pytest.raises(OSError, match="inner"), writer_lock(path, 0):
        raise OSError("inner")
    with writer_lock(path, 0):
        pass


def test_lock_waits(tmp_path: Path) -> None:
    path = str(tmp_path / "writer.lock")
    held, order = threading.Event(), []

    def other() -> None:
        with writer_lock(path, 5):
            held.set()
            order.append("other")

    with writer_lock(path, 0):
        thread = threading.Thread(target=other)
        thread.start()
        assert not held.wait(0.2)
        order.append("first")
    thread.join(10)
    assert order == ["first", "other"]


def test_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = str(tmp_path / "writer.lock")
    code = (
        "import os, sys; from openclaw_memory.bank.files import writer_lock\n"
        "with writer_lock(sys.argv[1], 5): os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code, path]).returncode == 9
    with writer_lock(path, 1):
        pass


def test_lock_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(MemoryFault, match="cannot lock"),
        writer_lock(str(tmp_path / "file" / "writer.lock"), 0),
    ):
        pass


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="folders cannot be opened there")
def test_no_link_is_followed_when_a_file_is_read(tmp_path: Path) -> None:
    """Also not one that was put in the place of a folder after the path was checked."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_bytes(b"secret")
    root = tmp_path / "root"
    (root / "memory").mkdir(parents=True)
    (root / "memory" / "a.md").write_bytes(b"mine")
    assert read_below(str(root), "memory/a.md") == b"mine"
    (root / "linked").symlink_to(tmp_path / "outside")
    (root / "memory" / "b.md").symlink_to(tmp_path / "outside" / "a.md")
    for path in ("linked/a.md", "memory/b.md"):
        with pytest.raises(OSError, match=r"directory|symbolic"):
            read_below(str(root), path)
    with pytest.raises(OSError, match="directory"):
        read_below(str(root), "memory")
