"""schedule install, show, remove: reflect every night, by the scheduler that the machine has."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..bank.errors import MemoryFault, UsageFault
from ..bank.workspace import Workspace as Bank
from ..context import choose
from ..output import emit_json, note, say
from .options import Agent, Debug, Json, Workspace

if TYPE_CHECKING:
    from ..reflect.schedule import Installed

Backend = Annotated[
    str, typer.Option("--backend", metavar="NAME", help="auto, cron, systemd or launchd.", show_default=True)
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the group of commands to the application."""
    group = typer.Typer(help="Reflect every night.", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name="schedule")

    @group.command()
    def install(
        at: Annotated[str, typer.Option(metavar="HH:MM", help="The time of day, local.")] = "03:30",
        backend: Backend = "auto",
        yes: Yes = False,
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Have the workspace reflected upon every night. Shows what would be written, and asks."""
        run(lambda: install_command(at, backend, yes, workspace, agent, as_json), debug)

    @group.command()
    def show(
        backend: Backend = "auto",
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Show what is installed for the workspace."""
        run(lambda: show_command(backend, workspace, agent, as_json), debug)

    @group.command()
    def remove(
        backend: Backend = "auto",
        yes: Yes = False,
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Take the nightly job away again. Shows what would be taken away, and asks."""
        run(lambda: remove_command(backend, yes, workspace, agent, as_json), debug)


def install_command(at: str, backend: str, yes: bool, workspace: str, agent: str, as_json: bool) -> int:
    """Write the job; exit code 3 when a step was left to the user."""
    from ..reflect import schedule

    root = Bank.open(choose(workspace, agent).path).root
    job = schedule.make_job(root, at, agent)
    scheduler = schedule.choose(backend, job)
    text = scheduler.text(job)
    before = scheduler.installed(job.key)
    changed = before is None or before.text != text
    if changed:
        _ask(text, f"Install this for {root} ({scheduler.name})?", "schedule install", yes)
    notes = scheduler.install(job)
    found = schedule.all_installed(schedule.named("auto"), job.key)
    also = [one.backend for one in found if one.backend != scheduler.name]
    notes += [f"it is installed in {name} too; take that away with --backend {name}" for name in also]
    _tell(root, [one for one in found if one.backend == scheduler.name], changed, notes, as_json)
    if not as_json and not changed:
        note("it was installed already")
    return 3 if len(notes) > len(also) else 0


def show_command(backend: str, workspace: str, agent: str, as_json: bool) -> int:
    """What the schedulers hold for the workspace; it need not exist any more."""
    from ..reflect import schedule

    root = Bank(choose(workspace, agent).path).root
    found = schedule.all_installed(schedule.named(backend), schedule.key_of(root))
    if not as_json:
        for one in found:
            say(f"# {one.backend}, {', '.join(one.where)}")
            for line in one.text.splitlines():
                say(line)
    _tell(root, found, False, [], as_json)
    return 0


def remove_command(backend: str, yes: bool, workspace: str, agent: str, as_json: bool) -> int:
    """Take the job out of every scheduler that is meant; exit code 3 when a step was left to the user."""
    from ..reflect import schedule

    root = Bank(choose(workspace, agent).path).root
    key = schedule.key_of(root)
    schedulers = schedule.named(backend)
    found = schedule.all_installed(schedulers, key)
    if found:
        _ask("".join(one.text for one in found), f"Take this away for {root}?", "schedule remove", yes)
    held = {one.backend for one in found}
    notes = [line for one in schedulers if one.name in held for line in one.remove(key)]
    if as_json:
        _tell(root, [], bool(found), notes, as_json)
        return 3 if notes else 0
    for one in found:
        say(f"removed from {one.backend}")
    if not found:
        note("nothing was installed")
    for line in notes:
        note(line)
    return 3 if notes else 0


def _ask(text: str, question: str, command: str, yes: bool) -> None:
    """Show a text and ask about it. Raises ``UsageFault`` where nobody can answer, ``MemoryFault`` for a no."""
    if not yes and not sys.stdin.isatty():
        raise UsageFault(f"{command} asks first, and nobody is there to answer", remedy="add --yes")
    for line in text.splitlines():
        note(line)
    if not yes and not typer.confirm(question, err=True):
        raise MemoryFault("nothing was changed")


def _tell(root: str, found: Sequence[Installed], changed: bool, notes: Sequence[str], as_json: bool) -> None:
    if as_json:
        jobs = [
            {
                "backend": one.backend,
                "at": one.at or None,
                "where": list(one.where),
                "text": one.text,
                "next": one.next or None,
                "log": one.log,
            }
            for one in found
        ]
        emit_json({"workspace": root, "jobs": jobs, "changed": changed, "notes": list(notes)})
        return
    for one in found:
        when = f"every day at {one.at}" if one.at else "at times of its own"
        print(f"{one.backend}: {when}" + (f", next {one.next}" if one.next else ""))
        note(f"its output goes to {one.log}")
    if not found:
        note("nothing is installed")
    for line in notes:
        note(line)
