"""graph: which entities are named together, on the screen, as JSON, or as a GraphML or DOT document."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import typer

from ..bank.driver import Connection
from ..bank.entities import Entity
from ..bank.errors import UsageFault
from ..bank.subgraph import Edge, Extent, Subgraph
from ..bank.workspace import Workspace as Bank
from ..context import open_workspace, progress_bar
from ..output import emit_json, note, paint, print_table, visible
from ..recall.bundle import citation
from .options import Agent, Debug, Json, NoSync, Workspace

FORMATS = ("text", "json", "graphml", "dot")
#: Entities shown where nothing else is asked for; documents hold all of them.
DEFAULT_LIMIT = 20
#: Characters of a fact beside its citation.
_SHOWN = 60


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the command to the application."""

    @app.command()
    def graph(
        name: Annotated[str, typer.Argument(metavar="[ENTITY]", help="Whose surroundings; else the whole graph.")] = "",
        form: Annotated[str, typer.Option("--format", metavar="NAME", help="text, json, graphml or dot.")] = "text",
        depth: Annotated[
            int | None, typer.Option(metavar="N", help="With ENTITY: as far as N steps from it (default: 1).")
        ] = None,
        limit: Annotated[
            int | None,
            typer.Option(
                metavar="N", help=f"At most N entities (default: {DEFAULT_LIMIT}; all of them in a document)."
            ),
        ] = None,
        output: Annotated[str, typer.Option(metavar="FILE", help="Write the document to this file.")] = "",
        no_sync: NoSync = False,
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Show which entities are named together, and by which facts."""
        run(lambda: graph_command(name, form, depth, limit, output, no_sync, workspace, agent, as_json), debug)


def graph_command(
    name: str,
    form: str,
    depth: int | None,
    limit: int | None,
    output: str,
    no_sync: bool,
    workspace: str,
    agent: str,
    as_json: bool,
) -> int:
    """A part of the entity graph, or a summary of all of it. A fault when nothing mentions the entity."""
    from ..bank.freshness import ask_fresh

    if form not in FORMATS:
        raise UsageFault(f"--format {form!r}: no such format", remedy=f"use {', '.join(FORMATS)}")
    if as_json and form not in ("text", "json"):
        raise UsageFault(f"--json and --format {form} ask for two things", remedy="give one of them")
    form = "json" if as_json else form
    for option, value in (("--depth", depth), ("--limit", limit)):
        if value is not None and value < 1:
            raise UsageFault(f"{option} {value}: must be 1 or more")
    if depth is not None and not name:
        raise UsageFault("--depth counts from an entity, and none is named")
    if output and form == "text":
        raise UsageFault("--output needs a document", remedy="add --format graphml, dot or json")
    if limit is None and form in ("text", "json"):
        limit = DEFAULT_LIMIT
    bank = open_workspace(workspace, agent)
    target = _target(output, bank) if output else ""
    shown, fresh = ask_fresh(
        bank, lambda connection: _read(connection, name, depth or 1, limit), no_sync=no_sync, progress=progress_bar()
    )
    freshness = {"stale": fresh.stale, "warning": "; ".join(fresh.notes) or None}
    if form == "text":
        _print(shown)
    elif form == "json" and not target:
        emit_json(as_object(shown) | freshness)
        return 0
    else:
        _deliver(_document(form, shown, freshness), target)
    if fresh.stale:
        note("this answer may be behind the files (not synced)")
    for line in fresh.notes:
        note(f"warning: {line}")
    if shown.part.omitted:
        note(f"{shown.part.omitted} more were left out; --limit lets more in")
    if target:
        note(f"wrote {output}: {_count(len(shown.part.nodes), 'entity')}, {_count(len(shown.part.edges), 'edge')}")
    return 0


class Shown(NamedTuple):
    """What is shown: around ``about`` as far as ``depth``, or (``about`` is None) of all, with its ``extent``."""

    about: Entity | None
    depth: int
    part: Subgraph
    extent: Extent | None


def _read(connection: Connection, name: str, depth: int, limit: int | None) -> Shown:
    from ..bank.entities import find_entity
    from ..bank.subgraph import around, extent, whole

    if not name:
        return Shown(None, 0, whole(connection, limit), extent(connection))
    about, _ = find_entity(connection, name)
    return Shown(about, depth, around(connection, about.slug, depth, limit), None)


def _target(output: str, bank: Bank) -> str:
    """Where ``--output`` leads. Raises ``UsageFault`` for what is Markdown of the workspace, or its index."""
    path = os.path.abspath(os.path.expanduser(output))
    folder, file = os.path.split(path)
    real = os.path.join(os.path.realpath(folder), file)
    below = bank.relative(real)
    if not os.path.isabs(below):
        top = below.split("/", 1)[0].casefold()
        if file.casefold().endswith(".md") or ("/" in below and top in ("memory", "bank", ".memory")):
            raise UsageFault("--output would write among the notes", output, "choose a place outside of them")
    return real


def _document(form: str, shown: Shown, freshness: dict[str, Any]) -> bytes:
    if form == "json":
        import json

        text = json.dumps(as_object(shown) | freshness, ensure_ascii=False, indent=2) + "\n"
        return text.encode("utf-8", "backslashreplace")
    from .graph_documents import dot, graphml

    return graphml(shown.part) if form == "graphml" else dot(shown.part)


def _deliver(data: bytes, target: str) -> None:
    """To the file, in place of what is there, or to stdout."""
    if not target:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    from ..bank.files import FileMissing, read_text, write_atomic

    try:
        stamp = read_text(target).stamp
    except FileMissing:
        stamp = None
    write_atomic(target, data, stamp)


def as_object(shown: Shown) -> dict[str, Any]:
    """What ``--json`` prints, without how fresh it is: see ``docs/json.md``."""
    about, extent = shown.about, shown.extent
    return {
        "entity": {"slug": about.slug, "name": about.name} if about else None,
        "depth": shown.depth if about else None,
        "extent": extent._asdict() if extent else None,
        "nodes": [node._asdict() for node in shown.part.nodes],
        "edges": [_edge(edge) for edge in shown.part.edges],
        "omitted": shown.part.omitted,
    }


def _edge(edge: Edge) -> dict[str, Any]:
    return {
        "between": [edge.one, edge.other],
        "weight": edge.weight,
        "facts": edge.facts,
        "notes": edge.notes,
        "source": citation(edge.path, edge.line, edge.end_line),
        "content": edge.text,
    }


def _print(shown: Shown) -> None:
    if shown.about:
        _print_around(shown.about, shown.part, shown.depth)
    elif shown.extent:
        _print_summary(shown.part, shown.extent)


def _print_around(about: Entity, part: Subgraph, depth: int) -> None:
    """One line for each entity: how near it is, and the edge that leads towards it."""
    from ..bank.subgraph import leading_edges

    print(paint(visible(about.name), "bold"))
    others = part.nodes[1:]
    if not others:
        note("named together with no other entity")
        return
    edges = leading_edges(part)
    names = {node.slug: node.name for node in part.nodes}
    rows = []
    for node in others:
        edge = edges[node.slug]
        through = names[edge.other if edge.one == node.slug else edge.one] if (node.steps or 0) > 1 else ""
        joined = [str(edge.facts), str(edge.notes), citation(edge.path, edge.line, edge.end_line), _short(edge.text)]
        nearness = "" if node.nearness is None else f"{node.nearness:.3f}"
        rows.append([node.name, nearness, *([through] if depth > 1 else []), *joined])
    print_table(rows, ["entity", "near", *(["through"] if depth > 1 else []), "facts", "notes", "source", ""])


def _print_summary(part: Subgraph, extent: Extent) -> None:
    sizes = extent.components
    parts = f", {_count(len(sizes), 'component')} (the largest of {sizes[0]})" if sizes else ""
    print(f"{_count(extent.entities, 'entity')}, {_count(extent.edges, 'edge')}{parts}")
    rows = [(node.name, str(node.degree), f"{node.strength:.2f}") for node in part.nodes if node.degree]
    if rows:
        print()
        print_table(rows, ("entity", "edges", "strength"))


def _count(number: int, what: str) -> str:
    if number == 1:
        return f"1 {what}"
    return f"{number} {what[:-1]}ies" if what.endswith("y") else f"{number} {what}s"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1].rstrip()}…"
