"""The nightly job as an agent of launchd (macOS): a property list under ``~/Library/LaunchAgents``.

launchd runs a job whose time passed while the machine slept when it wakes up (launchd.plist(5)).
"""

from __future__ import annotations

import os
import plistlib
import shutil
import sys
from typing import Any
from xml.parsers.expat import ExpatError

from ..bank.errors import MemoryFault, fault_of
from ..bank.files import FileMissing, read_text, write_atomic
from .schedule_job import Installed, Job, needs_utf8, run_tool


def property_list(job: Job) -> str:
    """The agent's property list, in XML."""
    log = _log(job.key)
    values: dict[str, Any] = {
        "Label": _label(job.key),
        "ProgramArguments": list(job.command),
        "StartCalendarInterval": {"Hour": job.hour, "Minute": job.minute},
        "StandardOutPath": log,
        "StandardErrorPath": log,
        "ProcessType": "Background",
    }
    if job.environment:
        values["EnvironmentVariables"] = dict(job.environment)
    return plistlib.dumps(values, sort_keys=False).decode("utf-8")


class Launchd:
    """A file in ``~/Library/LaunchAgents``, and ``launchctl``."""

    name = "launchd"

    def available(self) -> bool:
        return sys.platform == "darwin" and shutil.which("launchctl") is not None

    def text(self, job: Job) -> str:
        needs_utf8(job, "a property list")
        return property_list(job)

    def installed(self, job_key: str) -> Installed | None:
        path = _path(job_key)
        try:
            file = read_text(path)
        except FileMissing:
            return None
        return Installed(self.name, file.text, (path,), _time(file.data), "", _log(job_key))

    def install(self, job: Job) -> list[str]:
        path = _path(job.key)
        data = self.text(job).encode("utf-8")
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except OSError as error:
            raise fault_of(error, "cannot make the folder", os.path.dirname(path)) from None
        try:
            old = read_text(path)
        except FileMissing:
            old = None
        if old is None or old.data != data:
            write_atomic(path, data, old.stamp if old else None)
        start = ["launchctl", "bootstrap", _domain(), path]
        if shutil.which("launchctl") is None:
            return [f"launchctl is not on this machine; where it is, run `{' '.join(start)}`"]
        # What was loaded before is not replaced by a new file; that nothing was loaded is no fault.
        run_tool(["launchctl", "bootout", f"{_domain()}/{_label(job.key)}"])
        told = run_tool(start)
        if told.code != 0:
            return [f"launchctl says {told.err or f'nothing, and ends with {told.code}'}; run `{' '.join(start)}`"]
        return []

    def remove(self, job_key: str) -> list[str]:
        if shutil.which("launchctl") is not None:
            run_tool(["launchctl", "bootout", f"{_domain()}/{_label(job_key)}"])
        path = _path(job_key)
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise fault_of(error, "cannot delete", path) from None
        return []


def _label(key: str) -> str:
    return f"openclaw-memory.reflect.{key}"


def _path(key: str) -> str:
    return os.path.join(os.path.expanduser("~"), "Library", "LaunchAgents", f"{_label(key)}.plist")


def _log(key: str) -> str:
    return os.path.join(os.path.expanduser("~"), "Library", "Logs", f"{_label(key)}.log")


def _domain() -> str:
    """The domain of the user's graphical session."""
    if not hasattr(os, "getuid"):
        raise MemoryFault("launchd is not on this machine", remedy="choose another --backend")
    return f"gui/{os.getuid()}"


def _time(data: bytes) -> str:
    """``03:30`` of a property list, "" where somebody has written something else."""
    try:
        when = plistlib.loads(data)["StartCalendarInterval"]
        hour, minute = when["Hour"], when["Minute"]
    except (plistlib.InvalidFileException, ExpatError, ValueError, LookupError, TypeError, AttributeError):
        return ""
    daily = set(when) == {"Hour", "Minute"} and isinstance(hour, int) and isinstance(minute, int)
    return f"{hour:02}:{minute:02}" if daily else ""
