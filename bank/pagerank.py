"""Personalised PageRank from one entity over the entities around it, solved exactly.

A walker starts at an entity, follows edges by their weight, and goes back to the start with probability 1 - 0.85 at
each step; how often it is met somewhere says how near that is (Page, Brin, Motwani and Winograd 1999; with one start:
Haveliwala 2002). Two constraints of spreading activation (Crestani 1997) keep the question local. Distance: only the
start and its strongest neighbours lead on. Fan-out: a neighbour that is linked to very many leads nowhere, since what
it is linked to says little of the start. So an answer depends on few edges, and few answers depend on one edge.
"""

from collections.abc import Mapping

#: The probability of following an edge; the usual one.
FOLLOW = 0.85

Edges = Mapping[str, int]


def walk(start: str, own: Edges, leading: Mapping[str, Edges]) -> dict[str, float]:
    """How often a walker from ``start`` is met at each other entity: a share of all its steps, above 0.

    ``own``: the start's edges, other end to weight. ``leading``: all edges of those neighbours that lead on. The graph
    is undirected and made of these edges alone, so every other entity is linked to the start or to them. Their
    equations are put into those of the start and the leading ones, which leaves a symmetric, diagonally dominant system
    of their number; the order of all sums is that of the names, so that equal edges give equal bits.
    """
    inner = [*sorted(leading), start]
    place = {slug: number for number, slug in enumerate(inner)}
    size = len(inner)
    matrix = [[0.0] * size for _ in inner]
    strength = [0] * size
    outer: dict[str, list[tuple[int, int]]] = {}
    for row, slug in enumerate(inner):
        edges = own if slug == start else leading[slug]
        for other in sorted(edges):
            weight = edges[other]
            strength[row] += weight
            column = place.get(other)
            if column is None:
                outer.setdefault(other, []).append((row, weight))
            elif column > row:
                matrix[row][column] -= FOLLOW * weight
        matrix[row][row] += strength[row]
    for _, links in sorted(outer.items()):
        total = sum(weight for _, weight in links)
        for number, (row, weight) in enumerate(links):
            share = FOLLOW * FOLLOW * weight / total
            for column, more in links[number:]:
                matrix[row][column] -= share * more
    met = _solved(matrix)
    found = {slug: met[place[slug]] * strength[place[slug]] for slug in inner if slug != start}
    for other, links in outer.items():
        reached = 0.0
        for row, weight in links:
            reached += met[row] * weight
        found[other] = FOLLOW * reached
    return found


def _solved(matrix: list[list[float]]) -> list[float]:
    """x of ``matrix`` · x = (0, …, 0, 1 - FOLLOW), by elimination; only the upper half is read, and it is used up.

    No pivots are looked for: a symmetric, diagonally dominant system needs none.
    """
    size = len(matrix)
    for step, pivot in enumerate(matrix):
        for row in range(step + 1, size):
            if pivot[row]:
                share = pivot[row] / pivot[step]
                below = matrix[row]
                for column in range(row, size):
                    below[column] -= share * pivot[column]
    found = [0.0] * size
    found[-1] = (1 - FOLLOW) / matrix[-1][-1]
    for row in range(size - 2, -1, -1):
        total = 0.0
        for column in range(row + 1, size):
            total -= matrix[row][column] * found[column]
        found[row] = total / matrix[row][row]
    return found
