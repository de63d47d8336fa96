"""What every scheduler is given and tells: the nightly job of one workspace, and what is installed of it."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ..bank.errors import MemoryFault, UsageFault, one_line

DEFAULT_TIME = "03:30"
#: Variables that say where the configuration lies: a scheduler starts its jobs without those of a shell.
CARRIED = ("OPENCLAW_CONFIG_PATH", "OPENCLAW_STATE_DIR")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_SECONDS = 30


class Job(NamedTuple):
    """One workspace's nightly run. ``key``: 12 hex digits of the workspace's real path. ``command``: the words of the
    command, its program as an absolute path. ``environment``: variables that it needs. ``hour``, ``minute``: local."""

    workspace: str
    key: str
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    hour: int
    minute: int

    @property
    def at(self) -> str:
        """``03:30``."""
        return f"{self.hour:02}:{self.minute:02}"


class Installed(NamedTuple):
    """What a scheduler holds for a workspace. ``text``: as it stands there. ``where``: the files, or the table. ``at``:
    ``03:30``, "" where somebody has written another rhythm. ``next``: the next run as the scheduler writes it, "" where
    it does not tell. ``log``: where the output goes."""

    backend: str
    text: str
    where: tuple[str, ...]
    at: str
    next: str
    log: str


class Scheduler(Protocol):
    """One way to have a command run every night."""

    @property
    def name(self) -> str: ...

    def available(self) -> bool:
        """Whether its tools are on this machine."""
        ...

    def text(self, job: Job) -> str:
        """What ``install`` would write. Raises ``MemoryFault`` for a path that it cannot hold."""
        ...

    def installed(self, job_key: str) -> Installed | None:
        """What is there for a workspace."""
        ...

    def install(self, job: Job) -> list[str]:
        """Write it, in place of what was there, and start it; a line for each step that is left to the user."""
        ...

    def remove(self, job_key: str) -> list[str]:
        """Stop it and take it away; a line for each step that is left to the user."""
        ...


def key_of(workspace: str) -> str:
    """12 hex digits that tell workspaces apart, by their real path."""
    return hashlib.sha256(os.fsencode(os.path.realpath(workspace))).hexdigest()[:12]


def make_job(workspace: str, at: str = DEFAULT_TIME, agent: str = "") -> Job:
    """The job of a workspace at a time of day (``03:30``). Raises ``UsageFault`` for what is no time, ``MemoryFault``
    for a path that no scheduler can hold."""
    time = _TIME.fullmatch(at.strip())
    if not time:
        raise UsageFault(f"--at {at!r}: not a time of day", remedy="write 03:30")
    root = os.path.realpath(workspace)
    options = ["--workspace", root, *(("--agent", agent) if agent else ())]
    command = (*program(), "memory", "reflect", *options)
    environment = tuple((name, os.path.abspath(os.environ[name])) for name in CARRIED if os.environ.get(name))
    for text in (*command, *(value for _, value in environment)):
        if any(char < " " or char == "\x7f" for char in text):
            raise MemoryFault("a control character in a path cannot be scheduled", ascii(text)[1:-1], "rename it")
    return Job(root, key_of(root), command, environment, int(time[1]), int(time[2]))


def program() -> tuple[str, ...]:
    """The words that start the command line: the console script beside this Python, else this Python itself."""
    script = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), "openclaw-memory")
    if os.path.isfile(script) and os.access(script, os.X_OK):
        return (script,)
    # -P: not from whatever lies in the folder that the job starts in.
    return os.path.abspath(sys.executable), "-P", "-m", "openclaw_memory"


def needs_utf8(job: Job, where: str) -> None:
    """Raise ``MemoryFault`` where a path of the job is not UTF-8, for schedulers whose files have to be."""
    for text in (*job.command, *(value for _, value in job.environment)):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            remedy = "use --backend cron, or rename it"
            raise MemoryFault(f"a path that is not UTF-8 cannot stand in {where}", ascii(text)[1:-1], remedy) from None


class Told(NamedTuple):
    """How a tool ended: its exit code and what it wrote."""

    code: int
    out: bytes
    err: str


def run_tool(words: Sequence[str], given: bytes = b"") -> Told:
    """Run a scheduler's tool to its end, its messages in English. Raises ``MemoryFault`` when it cannot be run."""
    try:
        done = subprocess.run(
            words,
            input=given,
            capture_output=True,
            env=os.environ | {"LC_ALL": "C"},
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise MemoryFault(f"{words[0]} is not on this machine", remedy="choose another --backend") from None
    except subprocess.TimeoutExpired:
        raise MemoryFault(f"{words[0]} did not end within {_SECONDS} seconds") from None
    except OSError as error:
        raise MemoryFault(f"{words[0]} cannot be run: {error.strerror}") from None
    return Told(done.returncode, done.stdout, one_line(done.stderr.decode("utf-8", "replace")))
