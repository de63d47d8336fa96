"""The entities nearest to one, read from the index; ``graph`` works them out. A question needs no more of the graph."""

from .driver import Connection


def neighbours(connection: Connection, slug: str, most: int = -1) -> list[tuple[str, float]]:
    """The entities nearest to one (personalised PageRank), best first: (slug, weight in (0, 1]); the nearest weighs 1.
    At most ``most``, -1 for all that are kept."""
    rows = connection.execute(
        "SELECT other, weight FROM neighbours WHERE slug = ? ORDER BY weight DESC, other LIMIT ?", (slug, most)
    )
    return [(other, weight) for other, weight in rows]
