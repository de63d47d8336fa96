"""entity, entities: what is known of one, and which there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from ..bank.errors import UsageFault
from ..context import open_workspace, progress_bar, read_now
from ..output import emit_json, note, paint, print_recall, print_table, say, visible
from .options import Agent, Debug, Json, NoSync, Now, Workspace


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the commands to the application."""

    @app.command()
    def entity(
        name: Annotated[str, typer.Argument(help="A name in any spelling, or an alias.")],
        k: Annotated[int, typer.Option("--k", "-k", metavar="N", help="At most N results.")] = 20,
        budget: Annotated[int, typer.Option(metavar="TOKENS", help="At most so many tokens.")] = 1200,
        no_sync: NoSync = False,
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Tell what is known about one person, project, place or thing."""
        run(lambda: entity_command(name, k, budget, no_sync, workspace, agent, now, as_json), debug)

    @app.command()
    def entities(
        no_sync: NoSync = False,
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """List the entities, most mentioned first."""
        run(lambda: entities_command(no_sync, workspace, agent, as_json), debug)


def entity_command(
    name: str, k: int, budget: int, no_sync: bool, workspace: str, agent: str, now: str, as_json: bool
) -> int:
    """An entity's names, page and facts. A fault when nothing mentions it."""
    from ..recall.about import about

    for option, value in (("--k", k), ("--budget", budget)):
        if value < 1:
            raise UsageFault(f"{option} {value}: must be 1 or more")
    bank = open_workspace(workspace, agent)
    answer = about(bank, name, now=read_now(now), k=k, budget=budget, no_sync=no_sync, progress=progress_bar())
    if as_json:
        emit_json(answer)
        return 0
    others = [other for other in answer["names"] if other != answer["name"]]
    print(paint(visible(answer["name"]), "bold") + (visible(f" (also {', '.join(others)})") if others else ""))
    if answer["page"]:
        say(answer["page"])
    print()
    print_recall(answer)
    return 0


def entities_command(no_sync: bool, workspace: str, agent: str, as_json: bool) -> int:
    """All entities with how often they are mentioned; names that several pages claim are told on stderr."""
    from ..bank.entities import all_entities, ambiguous_names
    from ..bank.freshness import ask_fresh

    (listed, ambiguous), _ = ask_fresh(
        open_workspace(workspace, agent),
        lambda connection: (all_entities(connection), ambiguous_names(connection)),
        no_sync=no_sync,
        progress=progress_bar(),
    )
    if as_json:
        rows = [{"slug": s, "name": n, "mentions": m, "page": p} for s, n, m, p in listed]
        claims = [{"name": name, "pages": list(pages)} for name, pages in ambiguous]
        emit_json({"entities": rows, "ambiguous": claims})
        return 0
    if listed:
        print_table([(n, str(m), "page" if p else "") for _, n, m, p in listed], ("entity", "mentions", ""))
    for name, pages in ambiguous:
        note(f"{name}: claimed by the pages {', '.join(pages)}; linked to none")
    note(f"{len(listed)} entit{'y' if len(listed) == 1 else 'ies'}")
    return 0
