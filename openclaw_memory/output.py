"""What people see: aligned text, coloured only on a terminal. The answer goes to stdout, everything else to stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

_COLOURS = {"dim": "2", "bold": "1", "red": "31", "green": "32", "yellow": "33", "cyan": "36", "magenta": "35"}
_KIND_COLOURS = {"world": "cyan", "experience": "green", "opinion": "magenta", "observation": "yellow", "note": "dim"}


def emit_json(answer: Any) -> None:
    """One JSON document on stdout, in UTF-8 whatever the locale."""
    text = json.dumps(answer, ensure_ascii=False, indent=2) + "\n"
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
    else:
        # A lone surrogate (a byte of a name that is no UTF-8) stays what it is: a JSON escape.
        buffer.write(text.encode("utf-8", "backslashreplace"))
        buffer.flush()


def note(line: str) -> None:
    """A line for the person at the terminal."""
    print(visible(line), file=sys.stderr)


def say(line: str) -> None:
    """A line of the answer, without what a terminal would obey."""
    print(visible(line))


def coloured() -> bool:
    """Whether stdout is a terminal that wants colour (``NO_COLOR`` is honoured)."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str) -> str:
    return f"\033[{_COLOURS[colour]}m{text}\033[0m" if coloured() else text


def _width() -> int:
    if not sys.stdout.isatty():
        return 100
    try:
        return max(40, min(120, os.get_terminal_size(sys.stdout.fileno()).columns))
    except OSError:
        return 100


def visible(text: str) -> str:
    """Text without control characters, which a terminal would obey (line ends and tabs stay)."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" if ord(c) < 160 else c for c in text)


def wrapped(text: str, indent: str) -> str:
    """Text in lines that fit the terminal, each after ``indent``; its own line ends are kept."""
    import textwrap

    room = _width() - len(indent)
    lines = [part for line in visible(text).split("\n") for part in (textwrap.wrap(line, room) or [""])]
    return "\n".join(indent + line for line in lines)


def print_recall(answer: dict[str, Any]) -> None:
    """A bundle: what is said, then its kind, day, entities, citation and score."""
    results = answer["results"]
    for number, result in enumerate(results, 1):
        head = f"{number:>2}. "
        body = wrapped(result["content"], "    ")
        print(paint(head, "dim") + body[4:])
        print(f"    {_facts_of(result)}")
        for name, signal in result.get("signals", {}).items():
            print(
                paint(
                    f"        {name:<9} {signal['share']:+.3f}  value {signal['value']:.3f}, rank {signal['rank']}",
                    "dim",
                )
            )
    _tell(answer, len(results), f", {answer['tokens']} tokens")
    if results and answer.get("confident") is False:
        note("nothing close was found; these results are weak")
    if answer["omitted"] and results:
        were = "was" if answer["omitted"] == 1 else "were"
        note(f"{answer['omitted']} more {were} left out; --k and --budget let more in")


def _facts_of(result: dict[str, Any]) -> str:
    parts = [paint(result["kind"], _KIND_COLOURS[result["kind"]])]
    if result["confidence"] is not None:
        stated = result["stated_confidence"]
        moved = stated is not None and f"{stated:.2f}" != f"{result['confidence']:.2f}"
        parts.append(f"c={result['confidence']:.2f}" + (f" (stated {stated:.2f})" if moved else ""))
    if result["timestamp"]:
        parts.append(result["timestamp"])
    if result["entities"]:
        parts.append(visible(" ".join(f"@{name}" for name in result["entities"])))
    if result["valid_to"]:
        by = f", then {visible(result['superseded_by'])}" if result["superseded_by"] else ""
        parts.append(paint(f"until {result['valid_to']}{by}", "yellow"))
    if result["origin"] != "stated":
        parts.append(result["origin"])
    others = len(result["places"]) - 1
    parts.append(paint(visible(result["source"]), "bold") + (f" (+{others})" if others else ""))
    parts.append(paint(f"{result['score']:.3f}", "dim"))
    return " · ".join(parts)


def print_search(answer: dict[str, Any]) -> None:
    """Snippets under their citation."""
    from .recall.bundle import citation

    for number, result in enumerate(answer["results"]):
        if number:
            print()
        cited = citation(result["path"], result["startLine"], result["endLine"])
        print(f"{paint(visible(cited), 'bold')}  {paint(format(result['score'], '.3f'), 'dim')}")
        snippet = result["snippet"].rsplit("\n\nSource: ", 1)[0] if "citation" in result else result["snippet"]
        print(wrapped(snippet, "  "))
    _tell(answer, len(answer["results"]), "")


def _tell(answer: dict[str, Any], count: int, more: str) -> None:
    if answer.get("stale"):
        note("this answer may be behind the files (not synced)")
    if answer.get("warning"):
        note(f"warning: {answer['warning']}")
    note("nothing found" if not count else f"{count} result{'s' if count > 1 else ''}{more}")


def print_table(rows: Sequence[Sequence[str]], header: Sequence[str]) -> None:
    """Aligned columns; the last one is not padded."""
    rows = [[visible(cell) for cell in row] for row in rows]
    widths = [max(_columns(row[n]) for row in [*rows, header]) for n in range(len(header))]
    print(paint(_row(header, widths), "dim"))
    for row in rows:
        print(_row(row, widths))


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell + " " * (width - _columns(cell)) for cell, width in zip(row, widths, strict=True)]
    return "  ".join([*cells[:-1], row[-1]]).rstrip()


def _columns(text: str) -> int:
    """How many terminal columns a text takes: two for each wide character, none for a mark."""
    import unicodedata

    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
