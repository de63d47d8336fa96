"""What an id, the start of one, or a place in a file points at."""

from __future__ import annotations

from ..parsers.relations import Target
from .driver import Connection


def find_targets(connection: Connection, target: Target) -> list[str]:
    """The ids of the facts that a target may mean, sorted: those that begin so, or that stand on that line."""
    if target.id:
        rows = connection.execute(
            "SELECT DISTINCT key FROM passages WHERE key >= ? AND key < ? AND kind <> 'note'",
            (target.id, f"{target.id}g"),
        )
    else:
        rows = connection.execute(
            "SELECT DISTINCT p.key FROM passages p JOIN files f ON f.id = p.file WHERE f.path = ?"
            " AND ? BETWEEN p.line AND p.end_line AND p.kind <> 'note'",
            (target.path, target.line),
        )
    return sorted(row[0] for row in rows)
