"""The folder in which an agent's QMD lives: ``<state>/agents/<id>/qmd/``, with what is written down of it there.

``xdg-config`` and ``xdg-cache`` are QMD's own; ``openclaw-memory.json`` says which collections are ours, and when QMD
was last told to update and to embed.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...bank.embeddings.keys import state_folder
from ...bank.errors import UsageFault, fault_of
from ...bank.transcripts.sources import agent_folder

_VERSION = 1


class Home(NamedTuple):
    """``folder``: absolute; neither it nor what is in it need exist. ``state``: OpenClaw's folder."""

    folder: str
    state: str
    agent: str

    @property
    def config(self) -> str:
        return os.path.join(self.folder, "xdg-config")

    @property
    def cache(self) -> str:
        return os.path.join(self.folder, "xdg-cache")

    @property
    def record_path(self) -> str:
        return os.path.join(self.folder, "openclaw-memory.json")

    @property
    def lock_path(self) -> str:
        """The lock of whoever sets up collections, updates or embeds."""
        return os.path.join(self.folder, "openclaw-memory.lock")


def home_of(agent: str, environ: Mapping[str, str]) -> Home:
    """The home of an agent's QMD. Raises ``UsageFault`` for a name that would lead elsewhere."""
    state = os.path.abspath(state_folder(environ))
    try:
        return Home(os.path.join(agent_folder(state, agent), "qmd"), state, agent)
    except ValueError as error:
        raise UsageFault(str(error)) from None


def make_home(home: Home) -> None:
    """Make the folders, for their owner alone: they will hold what was said. Raises ``MemoryFault``."""
    try:
        os.makedirs(os.path.dirname(home.folder), exist_ok=True)
        for folder in (home.folder, home.config, home.cache):
            os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise fault_of(error, "cannot make QMD's folder", home.folder) from None


class Made(NamedTuple):
    """A collection that was set up. ``name``: as QMD calls it, which is not ours where QMD had it before."""

    root: str
    pattern: str
    name: str


class Work(NamedTuple):
    """When (seconds since the epoch) some work was last begun, and last begun with success; how often it has failed
    since then, and why the last time."""

    tried: float = 0.0
    done: float = 0.0
    failures: int = 0
    reason: str = ""

    def succeeded(self, began: float) -> "Work":
        return Work(began, began)

    def failed(self, began: float, reason: str) -> "Work":
        return Work(began, self.done, self.failures + 1, reason)


class Record(NamedTuple):
    """``made``: our collections by our names. ``asked``: a mark of all that were wanted at the last update, of which
    some may not have been made. ``warnings``: of that update."""

    made: Mapping[str, Made] = {}
    update: Work = Work()
    embed: Work = Work()
    warnings: tuple[str, ...] = ()
    asked: str = ""


def read_record(home: Home) -> Record:
    """What is written down; an empty record where there is none, or one that cannot be read."""
    import json

    try:
        with open(home.record_path, encoding="utf-8") as file:
            data = json.load(file)
        if not isinstance(data, dict) or data.get("version") != _VERSION:
            return Record()
        made = {
            name: Made(str(one["root"]), str(one["pattern"]), str(one["name"])) for name, one in data["made"].items()
        }
        warnings = tuple(str(line) for line in data.get("warnings", ()))
        return Record(made, _work(data["update"]), _work(data["embed"]), warnings, str(data["asked"]))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Record()


def _work(data: Mapping[str, Any]) -> Work:
    return Work(float(data["tried"]), float(data["done"]), int(data["failures"]), str(data["reason"]))


def write_record(home: Home, record: Record) -> None:
    """Write it down, as a whole or not at all. Whoever does so holds the lock. Raises ``MemoryFault``."""
    import json

    from ...bank.files import FileMissing, read_text, write_atomic

    data = {
        "version": _VERSION,
        "made": {name: one._asdict() for name, one in sorted(record.made.items())},
        "update": record.update._asdict(),
        "embed": record.embed._asdict(),
        "warnings": list(record.warnings),
        "asked": record.asked,
    }
    try:
        before = read_text(home.record_path).stamp
    except FileMissing:
        before = None
    write_atomic(home.record_path, (json.dumps(data, ensure_ascii=False, indent=1) + "\n").encode("utf-8"), before)
