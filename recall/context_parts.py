"""The parts of a context as text, each within its tokens and cited."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from ..parsers.secrets import looks_secret
from ..parsers.tokens import estimate_tokens
from .bundle import citation
from .due import DueEntry
from .excerpt import Excerpts, Unit, harmless
from .shown import Said, Shown

_PLENTY = 1 << 30


class Part(NamedTuple):
    """``text``: with its heading and a line end, "" where nothing is shown. ``citations``: of each entry that is, in
    order. ``omitted``: how many are not. ``cost``: how much of the budget it takes, rounded up for each entry; with
    just that budget it is the same part."""

    text: str = ""
    citations: tuple[str, ...] = ()
    omitted: int = 0
    cost: int = 0

    @property
    def tokens(self) -> int:
        """With the blank line above it."""
        return _cost(self.text) if self.text else 0


class ShownFile(NamedTuple):
    """A file that is shown by its entries. ``order``: in which these are taken. ``said``: its facts and notes."""

    title: str
    path: str
    excerpts: Excerpts
    order: Callable[[Unit], tuple[int, ...]]
    said: Sequence[Said]


def due_part(entries: Sequence[DueEntry], budget: int) -> tuple[Part, list[DueEntry]]:
    """What is due, best first, as far as ``budget`` tokens reach; and these entries."""
    taken, lines, cost = _taken(entries, [_due_line(one) for one in entries], "## Due\n\n", budget)
    if not taken:
        return Part(omitted=len(entries)), []
    cited = tuple(citation(one.path, one.line, one.end_line) for one in taken)
    return Part(f"## Due\n\n{''.join(lines)}", cited, len(entries) - len(taken), cost), taken


def file_part(
    files: Sequence[ShownFile], budget: int, apart: Collection[tuple[str, int, int]], shown: Shown | None = None
) -> Part:
    """Entries of files, the first one's first. ``apart``: (path, first, last line) of those that are shown elsewhere.
    ``shown`` takes down what is shown here."""
    whole = Part()
    for file in files:
        without = {(line, end) for path, line, end in apart if path == file.path}
        # A line end more stands between two files.
        part, units = _one_file(file, budget - whole.cost - 1, without)
        between = "\n" if whole.text and part.text else ""
        whole = Part(
            whole.text + between + part.text,
            whole.citations + part.citations,
            whole.omitted + part.omitted,
            whole.cost + part.cost + 1,
        )
        if shown is not None:
            for unit in units:
                shown.add_unit(file.path, unit.line, unit.end_line, file.excerpts.heading_of(unit), file.said)
    return whole


def recall_part(
    results: Sequence[dict[str, Any]], confident: bool | None, budget: int, shown: Shown
) -> tuple[Part, int]:
    """Results of recall that are not shown yet, best first, as far as ``budget`` tokens reach; and the tokens that all
    of them would take."""
    wanted = [one for one in results if not shown.holds(one["id"], _places(one), _said(one))]
    head = "## Recalled\n\n" if confident else "## Recalled, though nothing close was found\n\n"
    lines = [_recall_line(one) for one in wanted]
    whole = _taken(wanted, lines, head, _PLENTY)[2] if wanted else 0
    taken, kept, cost = _taken(wanted, lines, head, budget)
    if not taken:
        return Part(omitted=len(wanted)), whole
    cited = tuple(one["source"] for one in taken)
    return Part(head + "".join(kept), cited, len(wanted) - len(taken), cost), whole


def _taken(entries: Sequence[Any], lines: Sequence[str], head: str, budget: int) -> tuple[list[Any], list[str], int]:
    """The entries whose lines fit below a heading, smaller ones filling what larger ones leave; their lines; their
    cost."""
    left = budget - _cost(head)
    taken, kept = [], []
    for one, line in zip(entries, lines, strict=True):
        cost = estimate_tokens(line)
        if cost <= left:
            left -= cost
            taken.append(one)
            kept.append(line)
    return taken, kept, budget - left


def _one_file(file: ShownFile, budget: int, without: Collection[tuple[int, int]]) -> tuple[Part, tuple[Unit, ...]]:
    head = f"## {file.title} ({file.path})\n\n"
    spent = _cost(head)
    found, tokens = file.excerpts.whole(without)
    if found.omitted or tokens > budget - spent:
        spent += estimate_tokens(f"\n({found.omitted + len(found.units)} more entries left out)\n")
        found = file.excerpts.best(budget - spent, file.order, without=without)
        spent += found.cost
    else:
        spent += tokens
    if not found.units:
        return Part(omitted=found.omitted), ()
    more = f"\n({found.omitted} more {'entries' if found.omitted > 1 else 'entry'} left out)\n" if found.omitted else ""
    cited = tuple(citation(file.path, unit.line, unit.end_line) for unit in found.units)
    return Part(head + found.text + more, cited, found.omitted, spent), found.units


def _due_line(one: DueEntry) -> str:
    why = f"due {one.due.day.isoformat()}" if one.due.day else f"about {harmless(one.due.phrase)}"
    return f"- {harmless(one.text)} ({citation(one.path, one.line, one.end_line)}; {why})\n"


def _said(result: dict[str, Any]) -> str:
    """What a result says on one line, with whom it is about."""
    text = " ".join(result["content"].split())
    missing = [name for name in result["entities"] if name.casefold() not in text.casefold()]
    return f"{', '.join(missing)}: {text}" if missing else text


def _recall_line(result: dict[str, Any]) -> str:
    source = result["source"]
    told = [source]
    if result["kind"] == "opinion" and result["confidence"] is not None:
        told.append(f"opinion, c={result['confidence']:.2f}")
    if result["timestamp"] and result["timestamp"] not in source:
        told.append(result["timestamp"])
    if result["valid_to"]:
        told.append(f"until {result['valid_to']}")
    if result["origin"] != "stated":
        told.append(result["origin"])
    return f"- {harmless(_said(result))} ({'; '.join(told)})\n"


def _places(result: dict[str, Any]) -> list[tuple[str, int]]:
    found = []
    for cited in result["places"]:
        path, _, lines = cited.rpartition("#L")
        found.append((path, int(lines.split("-")[0])))
    return found


def is_fit(result: dict[str, Any]) -> bool:
    """Whether a result may be put before an agent: no key, no password."""
    return not looks_secret(result["content"])


def _cost(text: str) -> int:
    """Tokens of a part's text with the blank line above it."""
    return estimate_tokens(f"\n{text}")
