"""The command line as a Typer application: every command, its options and its help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from .. import __version__
from ..guarded import guarded
from . import (
    bench,
    context,
    core,
    facts,
    flush,
    graph,
    importing,
    indexing,
    places,
    plugin,
    promote,
    reading,
    reflecting,
    retaining,
    schedule,
    serving,
    upkeep,
    watch,
)

HELP = """Memory for agents over plain Markdown: retain facts, recall them with citations, offline.

The Markdown in the workspace is the truth; the index in .memory/ is built from it and can be deleted at any time.
"""
EPILOG = "Every command also takes --config FILE: that openclaw.json instead of the one that would be found."


def application() -> typer.Typer:
    """A new application with all commands, in the order of their help."""
    app = typer.Typer(
        help=HELP,
        no_args_is_help=True,
        # Plain help and one-line errors: they read well in a pipe and in an agent's context, and load nothing more.
        rich_markup_mode=None,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def _all(
        version: Annotated[
            bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
        ] = False,
    ) -> None:
        pass

    for module in (
        reading,
        context,
        retaining,
        reflecting,
        core,
        promote,
        flush,
        facts,
        places,
        graph,
        indexing,
        upkeep,
        importing,
        watch,
        schedule,
        serving,
        plugin,
        bench,
    ):
        module.register(app, run)
    _add_epilog(app)
    return app


def _add_epilog(app: typer.Typer) -> None:
    """What ``entry`` takes for every command stands in the help of each."""
    for command in app.registered_commands:
        command.epilog = EPILOG
    for group in app.registered_groups:
        if group.typer_instance:
            _add_epilog(group.typer_instance)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"openclaw-memory {__version__}")
        raise typer.Exit


def run(command: Callable[[], int | None], debug: bool) -> None:
    """Run a command's work and end with its exit code."""
    raise typer.Exit(guarded(command, debug))


def run_application(arguments: list[str], program: str) -> None:
    """Parse and run; exits with the command's code, 2 for wrong usage."""
    if arguments[:1] == ["retain"]:
        # A fact written as a bullet is no option.
        arguments = [word.removeprefix("- ") for word in arguments]
    if arguments[:1] == ["mcp"]:
        arguments = serving.with_address(arguments)
    if arguments[:1] == ["core"]:
        arguments = [f"{core.ESCAPE}{word}" if word[:2] in ("- ", "-\t", "-\n") else word for word in arguments]
    application()(args=arguments, prog_name=program)
