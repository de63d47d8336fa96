"""The nightly job of a workspace, in whichever scheduler this machine has: crontab, systemd or launchd."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

from ..bank.errors import MemoryFault, UsageFault
from .schedule_cron import Cron
from .schedule_job import DEFAULT_TIME, Installed, Job, Scheduler, key_of, make_job
from .schedule_launchd import Launchd
from .schedule_systemd import Systemd

__all__ = ["BACKENDS", "DEFAULT_TIME", "Installed", "Job", "all_installed", "choose", "key_of", "make_job", "named"]

_SCHEDULERS: dict[str, Scheduler] = {one.name: one for one in (Cron(), Systemd(), Launchd())}
BACKENDS = ("auto", *_SCHEDULERS)


def named(backend: str) -> tuple[Scheduler, ...]:
    """The scheduler of a name, or for ``auto`` all of them. Raises ``UsageFault`` for any other name."""
    if backend not in BACKENDS:
        raise UsageFault(f"--backend {backend!r}: no such scheduler", remedy=f"use {', '.join(BACKENDS)}")
    return tuple(_SCHEDULERS.values()) if backend == "auto" else (_SCHEDULERS[backend],)


def choose(backend: str, job: Job) -> Scheduler:
    """The scheduler to install into: the one that is named, else the one that holds the job already, else the machine's
    own (launchd on macOS, systemd where the user's answers, else cron). Raises ``MemoryFault`` where there is none."""
    wanted = named(backend)
    if backend != "auto":
        return wanted[0]
    held = all_installed(wanted, job.key)
    if held:
        return _SCHEDULERS[held[0].backend]
    order = ("launchd",) if sys.platform == "darwin" else ("systemd", "cron")
    for name in order:
        if _SCHEDULERS[name].available():
            return _SCHEDULERS[name]
    command = shlex.join(job.command) if os.name != "nt" else " ".join(f'"{word}"' for word in job.command)
    raise MemoryFault(
        "no scheduler was found (crontab, systemd, launchd)", remedy=f"have this run every night: {command}"
    )


def all_installed(schedulers: tuple[Scheduler, ...], key: str) -> list[Installed]:
    """What is installed for a workspace. A crontab is asked only where there is the command for it."""
    found: list[Installed] = []
    for scheduler in schedulers:
        if scheduler.name == "cron" and shutil.which("crontab") is None:
            continue
        one = scheduler.installed(key)
        if one:
            found.append(one)
    return found
