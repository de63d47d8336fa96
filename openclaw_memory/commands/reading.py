"""recall, search, get: the definitions of what ``answers`` does (and ``fast`` parses)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from ..answers import get_command, recall_command, search_command
from .options import Agent, Debug, Json, NoSync, Now, Workspace


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the commands to the application."""

    @app.command()
    def recall(
        query: Annotated[str, typer.Argument(help="A question or some words, in any language.")],
        since: Annotated[
            str, typer.Option(metavar="WHEN", help="From then on: 30d, 2w, yesterday, last week, 2026-03.")
        ] = "",
        until: Annotated[str, typer.Option(metavar="WHEN", help="Up to then.")] = "",
        around: Annotated[
            str, typer.Option(metavar="WHEN", help="Near then: within a week of a day, or the span's own length.")
        ] = "",
        as_of: Annotated[
            str, typer.Option(metavar="WHEN", help="As it was known then: nothing from logs of later days.")
        ] = "",
        entity: Annotated[str, typer.Option(metavar="NAME", help="Only what mentions or names this entity.")] = "",
        kind: Annotated[
            str, typer.Option(metavar="KINDS", help="world, experience, opinion, observation, note; several by commas.")
        ] = "",
        min_confidence: Annotated[
            float | None, typer.Option(metavar="C", help="Opinions at least this sure, 0..1.")
        ] = None,
        source: Annotated[
            str, typer.Option(metavar="PATH", help="Only files whose path starts so: bank/, memory/2025-11.")
        ] = "",
        k: Annotated[
            int | None, typer.Option("--k", "-k", metavar="N", help="At most N results (default: 20).")
        ] = None,
        budget: Annotated[
            int | None, typer.Option(metavar="TOKENS", help="At most so many tokens (default: 1200).")
        ] = None,
        explain: Annotated[bool, typer.Option("--explain", help="Show what spoke for each result.")] = False,
        no_sync: NoSync = False,
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Answer a question with a small cited bundle."""
        given = locals()
        run(lambda: recall_command(**_own(given)), debug)

    @app.command()
    def search(
        query: Annotated[str, typer.Argument(help="What to look for.")] = "",
        query_option: Annotated[str, typer.Option("--query", metavar="TEXT", help="The same, as an option.")] = "",
        max_results: Annotated[int | None, typer.Option(metavar="N", help="At most N chunks (default: 6).")] = None,
        min_score: Annotated[
            float | None, typer.Option(metavar="S", help="Only chunks that score at least this, 0..1.")
        ] = None,
        corpus: Annotated[
            str, typer.Option(metavar="NAME", help="memory, sessions or all (default: as configured).")
        ] = "",
        no_sync: NoSync = False,
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Search the memory files for text. This is the tool memory_search."""
        given = locals()
        run(lambda: search_command(**_own(given)), debug)

    @app.command()
    def get(
        path: Annotated[str, typer.Argument(help="A memory file, or a citation: memory/2025-11-27.md#L12-L14.")],
        from_line: Annotated[int | None, typer.Option("--from", metavar="N", help="Start at line N.")] = None,
        lines: Annotated[int | None, typer.Option(metavar="N", help="At most N lines (default: 120).")] = None,
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Print a memory file, or the lines of a citation. This is the tool memory_get."""
        given = locals()
        run(lambda: get_command(**_own(given)), debug)


def _own(given: dict[str, Any]) -> dict[str, Any]:
    """A function's parameters without what it closes over."""
    return {name: value for name, value in given.items() if name != "run"}
