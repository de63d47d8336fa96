"""Running QMD: found on the PATH or where it is configured, in the agent's own home, and never for longer than given.

QMD keeps a process of its own behind the one that is started, and waits without end for a model that it cannot fetch:
at a time-out the whole group of processes is ended.
"""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, NamedTuple

from ...bank.config import in_home
from ...bank.errors import MemoryFault, one_line
from .home import Home, make_home

#: An answer is no longer than this; what is longer is none.
LONGEST_ANSWER = 8 * 1024 * 1024
_LONGEST_COMPLAINT = 64 * 1024
#: Seconds between two looks at it, for it to end by itself when it is told to, and for its output to arrive then.
_LOOK = 0.05
_GRACE = 0.1
_ARRIVAL = 0.5
#: What would lead QMD to another configuration or index than the agent's.
_ELSEWHERE = ("QMD_CONFIG_DIR", "INDEX_PATH", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")


class QmdUnavailable(MemoryFault):
    """QMD gave no answer; another may be asked. ``reason``: one line, without what to do."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(f"QMD: {reason}", remedy=remedy)
        self.reason = one_line(reason)


class QmdTooLate(QmdUnavailable):
    """It was not done in time."""


class Ended(NamedTuple):
    """How a run ended by itself."""

    code: int
    output: str
    complaint: str

    @property
    def why(self) -> str:
        """In a few words, why it failed."""
        lines = [line.strip() for line in (self.complaint or self.output).splitlines() if line.strip()]
        told = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "")
        return one_line(f"exit code {self.code}" + (f": {told[:200]}" if told else ""))


class Qmd(NamedTuple):
    """``words``: the program, by its real place, and the arguments that always follow. ``environ``: of the caller."""

    words: tuple[str, ...]
    home: Home
    environ: Mapping[str, str]

    def run(self, arguments: Sequence[str], timeout: float, longest: int = 0) -> Ended:
        """Run a command of QMD for at most ``timeout`` seconds. Raises ``QmdUnavailable`` where it cannot be started,
        is not done in time, or says more than ``longest`` bytes (0: what is more is dropped)."""
        make_home(self.home)
        # A project's own index somewhere above would be used in place of the agent's, but for a named one.
        named = ("--index", "index") if _has_index_above(self.home.folder) else ()
        command = [*self.words, *named, *arguments]
        doing = one_line(" ".join(arguments[:2] if arguments[0] == "collection" else arguments[:1]))
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.home.folder,
                env=_environment(self.home, self.environ),
                start_new_session=True,
                close_fds=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise QmdUnavailable(f"{self.words[0]} cannot be started: {reason}") from None
        return _wait(process, doing, timeout, longest)


def find_qmd(command: str, home: Home, environ: Mapping[str, str]) -> Qmd:
    """QMD as it is configured. Raises ``QmdUnavailable`` where there is no such program."""
    whole = in_home(command.strip(), environ)
    try:
        words = [whole] if os.path.isfile(whole) else shlex.split(command, posix=os.name != "nt")
    except ValueError as error:
        raise QmdUnavailable(f"the command {command!r} cannot be read: {error}", "correct memory.qmd.command") from None
    if not words:
        raise QmdUnavailable("the command is empty", "set memory.qmd.command")
    words = [in_home(word, environ) for word in words]
    found = shutil.which(words[0], path=environ.get("PATH", os.defpath))
    if not found:
        raise QmdUnavailable(
            f"{words[0]}: no such program",
            "install it with `npm install -g @tobilu/qmd`, or set memory.qmd.command to where it is",
        )
    return Qmd((os.path.abspath(found), *words[1:]), home, environ)


def _environment(home: Home, environ: Mapping[str, str]) -> dict[str, str]:
    own = {name: value for name, value in environ.items() if name not in _ELSEWHERE}
    return own | {"XDG_CONFIG_HOME": home.config, "XDG_CACHE_HOME": home.cache, "PWD": home.folder, "NO_COLOR": "1"}


def _has_index_above(folder: str) -> bool:
    while True:
        if any(os.path.exists(os.path.join(folder, ".qmd", name)) for name in ("index.yaml", "index.yml")):
            return True
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above


def _wait(process: "subprocess.Popen[bytes]", doing: str, timeout: float, longest: int) -> Ended:
    until = time.monotonic() + timeout
    assert process.stdout is not None
    assert process.stderr is not None
    output = _Reader(process.stdout, longest or _LONGEST_COMPLAINT, longest > 0)
    complaint = _Reader(process.stderr, _LONGEST_COMPLAINT, False)
    late = QmdTooLate(f"`{doing}` was not done within {round(timeout, 1):g} s, and was ended")
    try:
        while not output.has_ended(max(0.0, min(_LOOK, until - time.monotonic()))):
            if process.poll() is not None:
                break
            if time.monotonic() >= until:
                raise late
        if not output.too_long:
            try:
                code = process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise late from None
            if not (output.has_ended(_ARRIVAL) and complaint.has_ended(_ARRIVAL)):
                _end_group(process)
        if output.too_long:
            raise QmdUnavailable(f"`{doing}` said more than {longest} bytes, and was ended")
        return Ended(code, output.text(), complaint.text())
    finally:
        if process.poll() is None:
            _end_group(process)
            process.wait()
        for reader in (output, complaint):
            reader.close()


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """End the process, unless it has ended, and whatever it has started."""
    if os.name == "nt":
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
        time.sleep(_GRACE)
        os.killpg(process.pid, signal.SIGKILL)


class _Reader:
    """Reads a pipe to its end in a thread of its own, and keeps its first ``most`` bytes; ``strict``: reads no more
    than those, and is ``too_long`` then."""

    def __init__(self, pipe: IO[bytes], most: int, strict: bool) -> None:
        self.too_long = False
        self._pipe, self._most, self._strict = pipe, most, strict
        self._parts: list[bytes] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        kept = 0
        with contextlib.suppress(OSError):
            while data := os.read(self._pipe.fileno(), 1 << 16):
                if self._strict and kept + len(data) > self._most:
                    self.too_long = True
                    return
                self._parts.append(data[: self._most - kept])
                kept = min(self._most, kept + len(data))

    def has_ended(self, timeout: float) -> bool:
        """Whether the pipe is read to its end, or too long; waits so many seconds for it."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def text(self) -> str:
        return b"".join(self._parts).decode("utf-8", "replace")

    def close(self) -> None:
        """Close the pipe, unless a process that has left the group holds it open and it is still read."""
        if self.has_ended(_ARRIVAL):
            self._pipe.close()
