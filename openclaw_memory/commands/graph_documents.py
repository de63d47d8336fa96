"""The entity graph as documents for other programs: GraphML (networkx, Gephi, yEd) and DOT (Graphviz).

Any name survives in both; a character that no such document may hold is written as an escape (``\\x01``).
"""

from __future__ import annotations

import io
import re
from typing import Any

from ..bank.subgraph import Edge, Node, Subgraph
from ..recall.bundle import citation

#: What XML 1.0 can hold, but line ends and tabs, which readers turn into blanks.
_NO_TEXT = re.compile("[^ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x7f-\x9f]")
#: What Graphviz would read as an HTML entity in a label.
_ENTITY = re.compile(r"&(?=#?\w+;)")


def graphml(part: Subgraph) -> bytes:
    """A GraphML document; nodes are identified by their slug."""
    import networkx

    graph = networkx.Graph()
    for node in part.nodes:
        graph.add_node(_plain(node.slug), **_node_values(node))
    for edge in part.edges:
        graph.add_edge(_plain(edge.one), _plain(edge.other), **_edge_values(edge))
    buffer = io.BytesIO()
    networkx.write_graphml_xml(graph, buffer, encoding="utf-8", prettyprint=True, named_key_ids=True)
    return buffer.getvalue().rstrip() + b"\n"


def dot(part: Subgraph) -> bytes:
    """A DOT document; nodes are labelled with their name, and an edge is as broad as its weight."""
    number = {node.slug: f"n{place}" for place, node in enumerate(part.nodes)}
    heaviest = max((edge.weight for edge in part.edges), default=1.0)
    lines = ["graph memory {", "  node [shape=box, style=rounded];"]
    for node in part.nodes:
        values = {"label": _label(node.name), "slug": _quoted(_plain(node.slug))}
        lines.append(f"  {number[node.slug]} [{_listed(values)}];")
    for edge in part.edges:
        cited = _label(citation(edge.path, edge.line, edge.end_line))
        values = {
            "penwidth": f"{1 + 4 * edge.weight / heaviest:.2f}",
            "tooltip": cited,
            "strength": f'"{edge.weight}"',
            "facts": f'"{edge.facts}"',
            "notes": f'"{edge.notes}"',
        }
        lines.append(f"  {number[edge.one]} -- {number[edge.other]} [{_listed(values)}];")
    return ("\n".join([*lines, "}"]) + "\n").encode("utf-8")


def _node_values(node: Node) -> dict[str, Any]:
    values = {"name": _plain(node.name), "degree": node.degree, "strength": node.strength}
    more = {"steps": node.steps, "nearness": node.nearness}
    return values | {name: value for name, value in more.items() if value is not None}


def _edge_values(edge: Edge) -> dict[str, Any]:
    cited = _plain(citation(edge.path, edge.line, edge.end_line))
    return {"weight": edge.weight, "facts": edge.facts, "notes": edge.notes, "source": cited}


def _plain(text: str) -> str:
    return _NO_TEXT.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _label(text: str) -> str:
    """A string that Graphviz shows as the text: a backslash doubled, and no entity in it."""
    return _quoted(_ENTITY.sub("&amp;", _plain(text)))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _listed(values: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())
