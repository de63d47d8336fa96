"""The reading commands: recall, search, get. Each prints its answer to stdout, everything else to stderr, and returns
the exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable

from .bank.errors import MemoryFault, UsageFault
from .context import open_workspace, progress_bar, read_now
from .output import emit_json, note, print_recall, print_search, visible

_CITATION_MARK = "#L"


def recall_command(
    query: str,
    *,
    since: str = "",
    until: str = "",
    around: str = "",
    as_of: str = "",
    entity: str = "",
    kind: str = "",
    min_confidence: float | None = None,
    source: str = "",
    k: int | None = None,
    budget: int | None = None,
    explain: bool = False,
    no_sync: bool = False,
    workspace: str = "",
    agent: str = "",
    now: str = "",
    as_json: bool = False,
    debug: bool = False,
) -> int:
    """Answer a question with a cited bundle."""
    from .bank.recalls import note_recall
    from .recall.engine import DEFAULT_BUDGET, DEFAULT_K, recall
    from .recall.filters import make_filters

    for option, value in (("--k", k), ("--budget", budget)):
        if value is not None and value < 1:
            raise UsageFault(f"{option} {value}: must be 1 or more")
    moment = read_now(now)
    filters = make_filters(
        moment,
        since=since,
        until=until,
        around=around,
        as_of=as_of,
        entity=entity,
        kind=kind,
        min_confidence=min_confidence,
        source=source,
    )
    bank = open_workspace(workspace, agent)
    answer = recall(
        bank,
        _as_utf8(query),
        now=moment,
        k=DEFAULT_K if k is None else k,
        budget=DEFAULT_BUDGET if budget is None else budget,
        filters=filters,
        explain=explain,
        no_sync=no_sync,
        progress=progress_bar(),
    )
    if as_json:
        emit_json(answer)
    else:
        print_recall(answer)
    if not no_sync:
        note_recall(bank, moment.date(), [result["id"] for result in answer["results"]])
    return 0


def search_command(
    query: str = "",
    *,
    query_option: str = "",
    max_results: int | None = None,
    min_score: float | None = None,
    corpus: str = "",
    no_sync: bool = False,
    workspace: str = "",
    agent: str = "",
    now: str = "",
    as_json: bool = False,
    debug: bool = False,
) -> int:
    """Search the memory files for chunks."""
    from .recall.search import CORPORA, memory_search

    if not (query or query_option):
        raise UsageFault("nothing to search for", remedy='give a query: openclaw memory search "the port of gannet"')
    if max_results is not None and max_results < 1:
        raise UsageFault(f"--max-results {max_results}: must be 1 or more")
    if min_score is not None and not 0 <= min_score <= 1:
        raise UsageFault(f"--min-score {min_score}: must be from 0 to 1")
    if corpus and corpus not in CORPORA:
        raise UsageFault(f"--corpus {corpus!r}: no such corpus", remedy=f"use {', '.join(CORPORA)}")
    answer = memory_search(
        open_workspace(workspace, agent),
        _as_utf8(query or query_option),
        now=read_now(now),
        max_results=max_results,
        min_score=min_score,
        corpus=corpus,
        no_sync=no_sync,
        progress=progress_bar(),
    )
    if as_json:
        emit_json(answer)
        return 1 if answer.get("unavailable") else 0
    if answer.get("unavailable"):
        raise MemoryFault(str(answer["error"]), remedy=str(answer["action"]))
    print_search(answer)
    return 0


def get_command(
    path: str,
    *,
    from_line: int | None = None,
    lines: int | None = None,
    workspace: str = "",
    agent: str = "",
    now: str = "",
    as_json: bool = False,
    debug: bool = False,
) -> int:
    """Print lines of a memory file; ``path`` may be a citation (``memory/2025-11-27.md#L12-L14``)."""
    from .recall.get import memory_get

    name, first, count = split_citation(path)
    if _CITATION_MARK[0] in name and not name.endswith(".md"):
        raise UsageFault("not a citation", path, "write it like memory/2025-11-27.md#L12 or #L12-L14")
    start = first if from_line is None else from_line
    answer = memory_get(open_workspace(workspace, agent), name, start, lines if lines is not None else count)
    if as_json:
        emit_json(answer)
        return 0 if answer["status"] == "ok" else 1
    if answer["status"] == "not_found":
        raise MemoryFault("no such file", name, "see `openclaw memory status` for what is indexed")
    if answer["status"] == "error":
        raise MemoryFault(str(answer["error"]))
    text = str(answer["text"])
    if answer.get("truncated"):
        text, _, more = text.rpartition("\n\n")
        if count is None:
            note(more.replace("Use from=", "Use --from ").replace(" to continue", " to go on"))
    if text:
        print(visible(text) if sys.stdout.isatty() else text)
    else:
        note(f"{name} has no line {start}")
    return 0


def _as_utf8(argument: str) -> str:
    """An argument that a locale without UTF-8 took for single bytes, read as what it was written in."""
    try:
        return argument.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        return argument


def split_citation(path: str) -> tuple[str, int, int | None]:
    """``path#L12-L14`` as (path, 12, 3); a path alone as (path, 1, None)."""
    name, mark, tail = path.rpartition(_CITATION_MARK)
    first, _, last = tail.partition("-")
    last = last.removeprefix("L") or first
    if not mark or not (first.isdecimal() and last.isdecimal()) or int(first) < 1 or int(last) < int(first):
        return path, 1, None
    return name, int(first), int(last) - int(first) + 1


COMMANDS: dict[str, Callable[..., int]] = {"recall": recall_command, "search": search_command, "get": get_command}
