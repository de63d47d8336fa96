"""The nightly job as a timer of the user's systemd.

``Persistent=true`` makes up for a night in which the machine slept. Quoting as in systemd.service(5), "Command lines":
words in double quotes with C escapes, ``%`` doubled against specifiers, ``$`` doubled against variables.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil

from ..bank.errors import MemoryFault, fault_of
from ..bank.files import FileMissing, read_text, write_atomic
from .schedule_job import Installed, Job, needs_utf8, run_tool

_CALENDAR = re.compile(r"^OnCalendar=\*-\*-\* (\d\d:\d\d):00$", re.MULTILINE)


def service(job: Job) -> str:
    """The unit that runs the command once."""
    command = " ".join([*_program(job.command[0]), *(_argument(word) for word in job.command[1:])])
    environment = "".join(f"Environment={quote(f'{name}={value}')}\n" for name, value in job.environment)
    return (
        "[Unit]\n"
        f"Description=openclaw-memory reflect, {_plain(job.workspace)}\n"
        "\n"
        "[Service]\n"
        "Type=oneshot\n"
        f"{environment}ExecStart={command}\n"
        "Nice=10\n"
    )


def _program(path: str) -> list[str]:
    """The words that start a program: systemd takes no quotes, backslashes or dollar signs in the path of one."""
    if not set(path) & set("\"'\\$"):
        return [quote(path)]
    if "=" in path:
        raise MemoryFault("systemd cannot start a program of that path", path, "choose another --backend")
    return ["/usr/bin/env", _argument(path)]


def timer(job: Job) -> str:
    """The unit that starts it every day."""
    return (
        "[Unit]\n"
        f"Description=openclaw-memory reflect every night, {_plain(job.workspace)}\n"
        "\n"
        "[Timer]\n"
        f"OnCalendar=*-*-* {job.at}:00\n"
        "Persistent=true\n"
        "\n"
        "[Install]\n"
        "WantedBy=timers.target\n"
    )


def quote(word: str) -> str:
    """A word in double quotes, without what systemd would take for an escape or a specifier."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _argument(word: str) -> str:
    return quote(word).replace("$", "$$")


def _plain(text: str) -> str:
    """Text of a description: specifiers doubled; a backslash at the line's end would join it with the next."""
    return text.replace("%", "%%").replace("\\", "/")


class Systemd:
    """Unit files under ``$XDG_CONFIG_HOME/systemd/user``, and ``systemctl --user``."""

    name = "systemd"

    def available(self) -> bool:
        """Whether a user's systemd answers; in a container ``systemctl`` alone says nothing."""
        return shutil.which("systemctl") is not None and run_tool(["systemctl", "--user", "show-environment"]).code == 0

    def text(self, job: Job) -> str:
        units = self._units(job)
        return "".join(f"# {path}\n{units[path]}" for path in units)

    def installed(self, job_key: str) -> Installed | None:
        texts: dict[str, str] = {}
        for path in self._paths(job_key):
            try:
                texts[path] = read_text(path).text
            except FileMissing:
                continue
        if not texts:
            return None
        text = "".join(f"# {path}\n{one}" for path, one in texts.items())
        at = _CALENDAR.search(text)
        unit = _unit(job_key)
        log = f"journalctl --user -u {unit}.service"
        return Installed(self.name, text, tuple(texts), at[1] if at else "", self._next(unit), log)

    def install(self, job: Job) -> list[str]:
        for path, text in self._units(job).items():
            try:
                os.makedirs(os.path.dirname(path), exist_ok=True)
            except OSError as error:
                raise fault_of(error, "cannot make the folder", os.path.dirname(path)) from None
            data = text.encode("utf-8")
            try:
                old = read_text(path)
            except FileMissing:
                old = None
            if old is None or old.data != data:
                write_atomic(path, data, old.stamp if old else None)
        start = ["systemctl", "--user", "enable", "--now", f"{_unit(job.key)}.timer"]
        return _steps(["systemctl", "--user", "daemon-reload"], start)

    def remove(self, job_key: str) -> list[str]:
        timer_unit = f"{_unit(job_key)}.timer"
        notes = _steps(["systemctl", "--user", "disable", "--now", timer_unit])
        folder = _folder()
        for path in (*self._paths(job_key), os.path.join(folder, "timers.target.wants", timer_unit)):
            try:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
            except OSError as error:
                raise fault_of(error, "cannot delete", path) from None
        return notes + _steps(["systemctl", "--user", "daemon-reload"])

    def _units(self, job: Job) -> dict[str, str]:
        needs_utf8(job, "a unit of systemd")
        return dict(zip(self._paths(job.key), (service(job), timer(job)), strict=True))

    def _paths(self, key: str) -> tuple[str, str]:
        base = os.path.join(_folder(), _unit(key))
        return f"{base}.service", f"{base}.timer"

    def _next(self, unit: str) -> str:
        if shutil.which("systemctl") is None:
            return ""
        words = ["systemctl", "--user", "show", f"{unit}.timer", "--property=NextElapseUSecRealtime", "--value"]
        told = run_tool(words)
        return told.out.decode("utf-8", "replace").strip() if told.code == 0 else ""


def _unit(key: str) -> str:
    return f"openclaw-memory-reflect-{key}"


def _folder() -> str:
    """Where a user's units lie. The specification says that a relative ``XDG_CONFIG_HOME`` is to be ignored."""
    given = os.environ.get("XDG_CONFIG_HOME", "")
    home = given if os.path.isabs(given) else os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(home, "systemd", "user")


def _steps(*commands: list[str]) -> list[str]:
    """Run commands until one fails; what the user is told then."""
    for number, words in enumerate(commands):
        left = " && ".join(" ".join(one) for one in commands[number:])
        if shutil.which(words[0]) is None:
            return [f"systemctl is not on this machine; where it is, run `{left}`"]
        told = run_tool(words)
        if told.code != 0:
            return [f"systemctl says {told.err or f'nothing, and ends with {told.code}'}; when it can, run `{left}`"]
    return []
