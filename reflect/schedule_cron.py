"""The nightly job as a line of the user's crontab.

The line stands between two comment lines that name the workspace by its key; every other byte of the table is put back
as ``crontab -l`` gave it. cron ends a command at an unescaped ``%`` (crontab(5)), and implementations differ on
backslashes before other characters, so that a path with one is refused.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from typing import NamedTuple

from ..bank.errors import MemoryFault
from .schedule_job import Installed, Job, Told, run_tool

#: Vixie cron cuts a command off after 999 bytes, without a word.
LONGEST_COMMAND = 999
LOG = ".memory/reflect.log"
_WHEN = re.compile(r"(\d{1,2}) (\d{1,2}) \* \* \* ")


class Block(NamedTuple):
    """Where the marked line stands: ``table[first:end]`` with both marks and line ends; ``line``: what is between."""

    first: int
    end: int
    line: bytes


def entry(job: Job) -> str:
    """The three lines: a mark, the job, a mark."""
    words = " ".join([*(f"{name}={shlex.quote(value)}" for name, value in job.environment), shlex.join(job.command)])
    root = shlex.quote(job.workspace)
    # The folder of the log may be deleted at any time; a workspace that is gone is not made again.
    command = f"cd {root} && mkdir -p .memory && {words} >>{LOG} 2>&1"
    if "\\" in command:
        raise MemoryFault("cron cannot hold a path with a backslash", job.workspace, "choose another --backend")
    command = command.replace("%", "\\%")
    if len(os.fsencode(command)) > LONGEST_COMMAND:
        where = f"{len(os.fsencode(command))} bytes, cron takes {LONGEST_COMMAND}"
        raise MemoryFault("the command is too long for cron", where, "choose another --backend")
    return f"{_mark(job.key)}\n{job.minute} {job.hour} * * * {command}\n{_mark(job.key, '/')}\n"


def with_entry(table: bytes, key: str, text: str) -> bytes:
    """The table with the workspace's lines replaced by ``text``, or with ``text`` at its end."""
    block = find(table, key)
    added = os.fsencode(text)
    if block:
        return table[: block.first] + added + table[block.end :]
    return table + (b"\n" if table and not table.endswith(b"\n") else b"") + added


def without_entry(table: bytes, key: str) -> bytes:
    """The table without the workspace's lines."""
    block = find(table, key)
    return table[: block.first] + table[block.end :] if block else table


def find(table: bytes, key: str) -> Block | None:
    """The workspace's lines. Raises ``MemoryFault`` where its marks do not hold exactly one line: what else stands
    there is somebody's."""
    lines = table.splitlines(keepends=True)
    marks = (_mark(key).encode(), _mark(key, "/").encode())
    opens = [number for number, line in enumerate(lines) if line.strip() == marks[0]]
    closes = [number for number, line in enumerate(lines) if line.strip() == marks[1]]
    if not opens and not closes:
        return None
    if len(opens) != 1 or len(closes) != 1 or closes[0] != opens[0] + 2:
        line = (opens or closes)[0] + 1
        remedy = f"take the lines around '{marks[0].decode()}' out with `crontab -e`"
        raise MemoryFault("the marks in the crontab do not hold one line", f"crontab:{line}", remedy)
    first = sum(map(len, lines[: opens[0]]))
    end = first + sum(map(len, lines[opens[0] : closes[0] + 1]))
    return Block(first, end, lines[opens[0] + 1].rstrip(b"\r\n"))


def _mark(key: str, close: str = "") -> str:
    return f"# {close}openclaw-memory reflect {key}"


class Cron:
    """The user's crontab, read and written by the ``crontab`` command."""

    name = "cron"

    def available(self) -> bool:
        return shutil.which("crontab") is not None

    def text(self, job: Job) -> str:
        return entry(job)

    def installed(self, job_key: str) -> Installed | None:
        table = self._read()
        block = find(table, job_key)
        if block is None:
            return None
        line = os.fsdecode(block.line)
        when = _WHEN.match(line)
        at = f"{int(when[2]):02}:{int(when[1]):02}" if when else ""
        return Installed(self.name, os.fsdecode(table[block.first : block.end]), ("crontab",), at, "", LOG)

    def install(self, job: Job) -> list[str]:
        self._write(with_entry(self._read(), job.key, entry(job)))
        return []

    def remove(self, job_key: str) -> list[str]:
        self._write(without_entry(self._read(), job_key))
        return []

    def _read(self) -> bytes:
        told = run_tool(["crontab", "-l"])
        if told.code == 0:
            return told.out
        # The second is what busybox says.
        said = told.err.lower()
        if "no crontab" in said or ("can't open" in said and "no such file" in said):
            return b""
        raise _fault("the crontab cannot be read", told)

    def _write(self, table: bytes) -> None:
        told = run_tool(["crontab", "-"], table)
        if told.code != 0:
            raise _fault("the crontab was not changed", told)
        if self._read() != table:
            raise MemoryFault("the crontab is not what was written", remedy="look at it with `crontab -l`")


def _fault(what: str, told: Told) -> MemoryFault:
    return MemoryFault(f"{what}: crontab says {told.err or f'nothing, and ends with {told.code}'}")
