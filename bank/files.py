"""Reading and writing Markdown files so that nothing is lost: bytes in, bytes out, one rename at a time."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterator
from typing import NamedTuple

from .errors import Busy, MemoryFault, fault_of

_TEMPORARY = ".openclaw-memory-"
_STALE_SECONDS = 3600
BOM = b"\xef\xbb\xbf"
#: What lies below it in a workspace can be built again.
INDEX_FOLDER = ".memory"


class FileMissing(MemoryFault):
    """There is no such file."""


class ChangedMeanwhile(MemoryFault):
    """The file is not any more what was read, so it was left as it is."""


class Stamp(NamedTuple):
    """A file as it was read: ``size`` in bytes, ``mtime_ns`` since the epoch, ``inode``, and all its
    bytes."""

    size: int
    mtime_ns: int
    inode: int
    data: bytes

    def __repr__(self) -> str:
        return f"Stamp(size={self.size}, mtime_ns={self.mtime_ns}, inode={self.inode})"


class FileText(NamedTuple):
    """A file as read. ``text``: decoded, without the BOM; line ends as they are. ``newline``: the line end
    that most of its lines have. ``bom``: whether it starts with one. ``data``: every byte, BOM included."""

    text: str
    stamp: Stamp
    newline: str
    bom: bool
    data: bytes


def decode(data: bytes) -> str:
    """UTF-8 text for reading: without a leading BOM, U+FFFD for each invalid byte sequence; lines stay."""
    return data.removeprefix(BOM).decode("utf-8", errors="replace")


def newline_of(data: bytes) -> str:
    """The line end that most lines have: ``\\r\\n`` or ``\\n``."""
    windows = data.count(b"\r\n")
    return "\r\n" if windows > data.count(b"\n") - windows else "\n"


def read_text(path: str) -> FileText:
    """Read a regular file; ``FileMissing`` when there is none, ``MemoryFault`` when it cannot be read."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise MemoryFault("not a regular file", path)
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        raise FileMissing("no such file", path) from None
    except OSError as error:
        raise fault_of(error, "cannot read", path) from None
    except ValueError:
        raise MemoryFault("no path can hold such a character", path) from None
    stamp = Stamp(len(data), status.st_mtime_ns, status.st_ino, data)
    return FileText(decode(data), stamp, newline_of(data), data.startswith(BOM), data)


def read_below(root: str, relative: str) -> bytes:
    """The bytes of a regular file below a folder; ``relative`` is a posix path.

    Follows no symbolic link on the way, not even one that was put there after the path was checked. Raises ``OSError``.
    """
    if os.open not in os.supports_dir_fd:
        with open(os.path.join(root, relative), "rb") as file:
            return file.read()
    *folders, name = relative.split("/")
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in folders:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    finally:
        os.close(folder)
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", relative)
        return file.read()


def write_atomic(path: str, data: bytes, expected: Stamp | None) -> None:
    """Put ``data`` at ``path`` as a whole or not at all.

    ``expected`` is the stamp of the file as it was read, or None where there was no file. Raises
    ``ChangedMeanwhile`` when the file holds other bytes by now (or exists, or is gone), ``MemoryFault`` for a
    symbolic link, a read-only file, a full disk and the like. The file keeps its mode and owner. The folder
    must exist.
    """
    folder = os.path.dirname(path) or "."
    _sweep(folder)
    temporary = os.path.join(folder, f"{_TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}.tmp")
    try:
        status = _status(path)
        _check_unchanged(path, status, expected)
        try:
            _write_durably(temporary, data, status)
            _check_unchanged(path, _status(path), expected)
            _put_in_place(temporary, path, new=expected is None)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
    except OSError as error:
        raise fault_of(error, "cannot write", path) from None
    _sync_folder(folder)


def _sweep(folder: str) -> None:
    """Remove what a writer that was killed between writing and renaming has left, once it is an hour old."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_TEMPORARY) and entry.name.endswith(".tmp"):
                with contextlib.suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > _STALE_SECONDS:
                        os.unlink(entry.path)


def _status(path: str) -> os.stat_result | None:
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(status.st_mode):
        raise MemoryFault("not written: it is a symbolic link", path, "put a regular file in its place")
    if not stat.S_ISREG(status.st_mode):
        raise MemoryFault("not written: it is not a regular file", path)
    if not os.access(path, os.W_OK):
        raise MemoryFault("not written: the file is read-only", path, "make it writable")
    return status


def _check_unchanged(path: str, status: os.stat_result | None, expected: Stamp | None) -> None:
    if status is None and expected is None:
        return
    if status is not None and expected is not None and status.st_size == expected.size:
        with open(path, "rb") as file:
            if file.read() == expected.data:
                return
    what = "appeared" if expected is None else "was removed" if status is None else "changed"
    raise ChangedMeanwhile(f"not written: the file {what} meanwhile", path, "run the command again")


def _write_durably(temporary: str, data: bytes, like: os.stat_result | None) -> None:
    """A new file with ``data``, on the disk when this returns, with the mode and owner of ``like``."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(temporary, flags, 0o666), "wb") as file:
        file.write(data)
        file.flush()
        if like is not None:
            own = os.fstat(file.fileno())
            if hasattr(os, "chown") and (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
                with contextlib.suppress(OSError):
                    os.chown(temporary, like.st_uid, like.st_gid)
            with contextlib.suppress(PermissionError):
                os.chmod(temporary, stat.S_IMODE(like.st_mode))
        os.fsync(file.fileno())


def _put_in_place(temporary: str, path: str, new: bool) -> None:
    """Rename; a new file is linked where that is possible, which fails if another came to be there."""
    if new:
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise ChangedMeanwhile("not written: the file appeared meanwhile", path, "run the command again") from None
        except (OSError, NotImplementedError, AttributeError):
            pass
        else:
            return
    os.replace(temporary, path)


def _sync_folder(folder: str) -> None:
    """Make the rename itself durable, where the platform can."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def writer_lock(path: str, timeout: float, purpose: str = "writing") -> Iterator[None]:
    """Hold the lock file ``path`` for the body; its folder is created, but no workspace around it.

    ``timeout``: seconds to wait, 0 not at all, negative without end. ``purpose``: what others are told
    meanwhile. Raises ``Busy`` when another holds it for that long, ``MemoryFault`` when it cannot be created.
    """
    from filelock import FileLock, Timeout

    try:
        _make_folder(os.path.dirname(path) or ".")
        lock = FileLock(path)
        lock.acquire(timeout=timeout)
    except Timeout:
        raise Busy(f"busy: {_holder(path)}", path, "try again in a moment") from None
    except OSError as error:
        raise fault_of(error, "cannot lock", path) from None
    try:
        with contextlib.suppress(OSError), open(f"{path}.holder", "w", encoding="utf-8") as file:
            file.write(f"process {os.getpid()} is {purpose}")
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(f"{path}.holder")
        lock.release()


def _make_folder(folder: str) -> None:
    """A process that outlives its workspace (moved, deleted) does not make it again."""
    root, name = os.path.split(folder)
    if name == INDEX_FOLDER and not os.path.isdir(root):
        raise MemoryFault("the workspace is gone", root, "put it back, or name where it is with --workspace")
    os.makedirs(folder, exist_ok=True)


def _holder(path: str) -> str:
    """Who holds the lock, as that process wrote it down."""
    try:
        with open(f"{path}.holder", encoding="utf-8", errors="replace") as file:
            return file.read(200).strip() or "another process is writing"
    except OSError:
        return "another process is writing"
