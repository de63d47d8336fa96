"""core show, append, replace, insert, rethink: the core memory, within its budget."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..bank.errors import UsageFault
from ..bank.workspace import Workspace as Bank
from ..context import open_workspace
from ..output import emit_json, note, say, visible
from .options import Agent, Debug, Json, Workspace

if TYPE_CHECKING:
    from ..reflect.core_memory import Written

#: Stands before an argument that starts like a bullet, lest it be taken for an option. No argument can hold it itself.
ESCAPE = "\0"

Within = Annotated[
    str, typer.Option("--section", metavar="NAME", help="Only in the section of this heading (People > Family).")
]
Expect = Annotated[
    str, typer.Option("--expect-hash", metavar="HASH", help="Refuse unless the file is still the one of this hash.")
]
Commit = Annotated[bool, typer.Option("--commit", help="Make a git commit of the file, and of nothing else.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="The message of that commit.")]
Text = Annotated[str, typer.Argument(help="The text; '-' reads stdin.")]


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the group of commands to the application."""
    group = typer.Typer(
        help="Read and change the core memory within its budget.", no_args_is_help=True, rich_markup_mode=None
    )
    app.add_typer(group, name="core")

    @group.command()
    def show(
        section: Within = "",
        numbers: Annotated[bool, typer.Option("--numbers", "-n", help="With the number of each line.")] = False,
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Print the core memory. Its sections and how full it is go to stderr."""
        run(lambda: show_command(section, numbers, workspace, agent, as_json), debug)

    @group.command()
    def append(
        section: Annotated[str, typer.Argument(help="A heading; it is made where there is none.")],
        text: Text,
        expect_hash: Expect = "",
        commit: Commit = False,
        reason: Reason = "",
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Add a text to the end of a section."""
        from ..reflect.core_memory import append_to_core

        def write(bank: Bank) -> Written:
            return append_to_core(bank, given(text), word(section), expect_hash=expect_hash)

        run(lambda: write_command(write, "append to", commit, reason, workspace, agent, as_json), debug)

    @group.command()
    def replace(
        old: Annotated[str, typer.Argument(help="A text that stands there exactly once.")],
        new: Annotated[str, typer.Argument(help="What takes its place; '-' reads stdin.")],
        section: Within = "",
        expect_hash: Expect = "",
        commit: Commit = False,
        reason: Reason = "",
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Change a text that stands there exactly once."""
        from ..reflect.core_memory import replace_in_core

        def write(bank: Bank) -> Written:
            return replace_in_core(bank, word(old), given(new), section=word(section), expect_hash=expect_hash)

        run(lambda: write_command(write, "change", commit, reason, workspace, agent, as_json), debug)

    @group.command()
    def insert(
        text: Text,
        line: Annotated[
            int | None, typer.Option("--line", metavar="N", help="Below this line of the file; 0 is the top.")
        ] = None,
        after: Annotated[
            str, typer.Option("--after", metavar="TEXT", help="Below the line of this text, which stands there once.")
        ] = "",
        section: Within = "",
        expect_hash: Expect = "",
        commit: Commit = False,
        reason: Reason = "",
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Add lines below a line or a text."""
        from ..reflect.core_memory import insert_into_core

        def write(bank: Bank) -> Written:
            return insert_into_core(
                bank, given(text), line=line, after=word(after), section=word(section), expect_hash=expect_hash
            )

        run(lambda: write_command(write, "insert into", commit, reason, workspace, agent, as_json), debug)

    @group.command()
    def rethink(
        section: Annotated[str, typer.Argument(help="A heading that is there.")],
        text: Annotated[str, typer.Argument(help="All that the section is to say; without it stdin is read.")] = "-",
        expect_hash: Expect = "",
        commit: Commit = False,
        reason: Reason = "",
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Say a section anew; those that stand in it stay."""
        from ..reflect.core_memory import rethink_core

        def write(bank: Bank) -> Written:
            return rethink_core(bank, word(section), given(text), expect_hash=expect_hash)

        run(lambda: write_command(write, "rethink", commit, reason, workspace, agent, as_json), debug)


def given(argument: str) -> str:
    """An argument as it was written, or stdin for ``-``."""
    if argument != "-":
        return word(argument)
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeError:
        raise UsageFault("stdin is not UTF-8", remedy="write it in UTF-8") from None


def word(argument: str) -> str:
    """An argument as it was written."""
    try:
        return argument.removeprefix(ESCAPE).encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        raise UsageFault("not UTF-8", argument[:60], "write it in UTF-8") from None


def show_command(section: str, numbers: bool, workspace: str, agent: str, as_json: bool) -> int:
    """The core's text, or a section's, as it stands in the file."""
    from ..reflect.core_matches import only
    from ..reflect.core_memory import core_name, read_core
    from ..reflect.core_tools import core_memory_show

    bank = open_workspace(workspace, agent)
    path = core_name(bank)
    core = read_core(bank)
    raw = core.lines.raw
    first, last = 1, len(raw)
    if section:
        one = only(core, word(section), path)
        first, last = one.line, one.end
    if as_json:
        answer = core_memory_show(bank)
        if section:
            answer["text"] = "\n".join(answer["text"].split("\n")[first - 1 : last]).rstrip("\n") + "\n"
        emit_json(answer)
        return 0
    if numbers:
        width = len(str(last))
        lines = [f"{number:>{width}}  {raw[number - 1]}" for number in range(first, last + 1)]
    else:
        lines = core.text.split("\n")[first - 1 : last]
    text = "".join(f"{line}\n" for line in lines)
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
    for one in core.sections:
        if one.line and (one.description or one.read_only):
            told = "; ".join(filter(None, (one.description, "read-only" if one.read_only else "")))
            note(f"{path}:{one.line}: {one.name}: {told}")
    note(f"{path}: {core.usage.text} characters, hash {core.hash}")
    return 0


def write_command(
    write: Callable[[Bank], Written],
    doing: str,
    commit: bool,
    reason: str,
    workspace: str,
    agent: str,
    as_json: bool,
) -> int:
    """Make an edit, and a commit of it where that is wanted. What the rules refuse is exit code 1; with ``--json`` the
    refusal is the answer."""
    from ..reflect.core_rules import CoreRefused
    from ..reflect.core_tools import refusal, written_json

    if reason and not commit:
        raise UsageFault("--reason is the message of a commit", remedy="add --commit, or leave it out")
    bank = open_workspace(workspace, agent)
    before = _uncommitted(bank) if commit else set()
    try:
        done = write(bank)
    except CoreRefused as refused:
        if not as_json:
            raise
        emit_json(refusal(bank, refused))
        return 1
    answer = written_json(done)
    if commit:
        answer["commit"] = _commit(bank, done, reason or f"Core memory: {doing} {done.section or done.path}", before)
    if as_json:
        emit_json(answer)
        return 0
    say(done.citation or done.path)
    if not done.changed:
        note("nothing changed: it stands there already")
    note(f"{done.path}: {done.usage.text} characters, hash {done.hash}")
    if commit:
        told = answer["commit"]
        note(f"committed {told['id'][:12]}" if told["id"] else f"not committed: {told['reason']}")
    return 0


def _uncommitted(bank: Bank) -> set[str]:
    from ..reflect.commit import dirty
    from ..reflect.core_memory import core_name

    return dirty(bank.root, [core_name(bank)])


def _commit(bank: Bank, done: Written, message: str, before: set[str]) -> dict[str, str | None]:
    """``{id, reason}``: the commit, or why there is none."""
    from ..reflect.commit import commit_pages

    if not done.changed:
        return {"id": None, "reason": "nothing changed"}
    made = commit_pages(bank.root, [done.path], message, dirty_before=before)
    why = "; ".join(reason for _, reason in made.left_out) or made.reason
    return {"id": made.commit, "reason": None if made.commit else why}
