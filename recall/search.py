"""``memory_search``: chunks of the memory files for a question, as OpenClaw's tool of that name gives them.

What the caller leaves open (how many, from which score on, with citations or not) is as configured. The snippet stands
around the line that answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..bank.errors import MemoryFault
from ..bank.freshness import ask_fresh
from ..bank.search_settings import SearchSettings
from ..bank.sync import Progress
from ..bank.workspace import Workspace
from .bundle import citation, strictly_falling
from .chunk_hits import Hit, Hits, chunk_hits
from .meaning import NO_MEANING
from .snippet import make_snippet

if TYPE_CHECKING:
    from .sessions import Said

CORPORA = ("memory", "sessions", "all")
SESSIONS_OFF = (
    'session transcripts are not indexed: memory.search.sources must name "sessions", and'
    " memory.search.rememberAcrossConversations (older: experimental.sessionMemory) must be true"
)
_MARKER = re.compile(r"<!--\s*(?P<name>trigger|importance|project)\s*:\s*(?P<value>[^<>]{1,300}?)\s*-->")


def memory_search(
    workspace: Workspace,
    query: str,
    *,
    now: datetime,
    max_results: int | None = None,
    min_score: float | None = None,
    corpus: str = "",
    citations: bool | None = None,
    chat_type: str = "",
    session_key: str | None = None,
    no_sync: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Search the memory files, and transcripts where that is switched on: ``{results, provider, mode, citations,
    stale?, partial?, warning?}`` (``docs/json.md``).

    ``now``: when it is asked. ``max_results`` ≥ 1; results below ``min_score`` (0..1) are left out; both are as
    configured where they are not given (6 and 0). ``corpus``: memory, sessions or all, "" for what ``sources`` says;
    transcripts that are not switched on are not searched, which is said. ``citations``: None for what
    ``memory.citations`` says; its ``auto`` means in direct chats only, by ``chat_type`` (direct, group, channel; ""
    for what ``session_key`` tells, the chat that asks; without one it is the person at the terminal).

    With the back end ``qmd`` QMD answers; where it cannot, this does, and says so. A workspace that cannot be searched,
    or whose memory is switched off, gives ``{results: [], disabled: true, unavailable: true, error, warning, action}``
    and never raises.
    """
    settings = workspace.settings
    cited = cites(settings, chat_type or chat_type_of(session_key)) if citations is None else citations
    answer: dict[str, Any] = {
        "results": [],
        "provider": "none",
        "mode": "keyword",
        "citations": "on" if cited else "off",
    }
    if settings.off:
        return unavailable(f"memory search is switched off: {settings.off}", "set it otherwise in the configuration")
    notes: list[str] = []
    if settings.backend == "qmd":
        by_qmd = _by_qmd(workspace, query, notes, max_results, min_score, corpus, cited, session_key, now)
        if by_qmd:
            return by_qmd
    if not corpus:
        corpus = "memory" if not settings.searches_sessions else "all" if "memory" in settings.sources else "sessions"
    if corpus == "sessions" and not settings.searches_sessions:
        return answer | {"warning": SESSIONS_OFF}
    most = max(1, settings.max_results if max_results is None else max_results)
    least = (settings.min_score or 0.0) if min_score is None else min_score
    found, stale = Hits([], [], NO_MEANING), False
    if corpus != "sessions":
        try:
            found, fresh = ask_fresh(
                workspace,
                lambda connection: chunk_hits(workspace, connection, query, now, most, least),
                no_sync=no_sync or not settings.sync.on_search,
                progress=progress,
            )
        except MemoryFault as fault:
            return unavailable(str(fault), fault.remedy or "run `openclaw memory doctor`")
        stale = fresh.stale
        notes += fresh.notes
    hits: Sequence[Hit | Said] = found.hits
    patterns, understood = found.patterns, found.understood
    if corpus != "memory" and settings.searches_sessions:
        from .sessions import merged, session_hits

        said = session_hits(workspace, query, now=now, most=most, min_score=least, no_sync=no_sync)
        hits = merged(found.hits, said, most)
        understood = said.understood if corpus == "sessions" else understood
        stale = stale or said.fresh.stale
        notes += said.fresh.notes
        answer |= {"partial": True} if said.fresh.partial else {}
    elif corpus == "all":
        notes.append(SESSIONS_OFF)
    for hit, score in zip(hits, strictly_falling([hit.score for hit in hits]), strict=True):
        entry = _entry(hit, score, patterns, cited) if isinstance(hit, Hit) else _said(hit, score, cited)
        answer["results"].append(entry)
    answer |= {"provider": understood.provider, "mode": "hybrid" if understood.meaning else "keyword"}
    if understood.model:
        answer["model"] = understood.model
    if understood.fallback:
        answer["fallback"] = {"from": understood.fallback, "reason": understood.reason}
    if stale:
        answer["stale"] = True
    notes += [understood.warning] if understood.warning else []
    if notes:
        answer["warning"] = "; ".join(notes)
    debug = {"providerReason": understood.reason, "merge": "weighted" if settings.hybrid.chosen else "rank fusion"}
    return answer | {"debug": debug}


def _by_qmd(
    workspace: Workspace,
    query: str,
    notes: list[str],
    max_results: int | None,
    min_score: float | None,
    corpus: str,
    cited: bool,
    session_key: str | None,
    now: datetime,
) -> dict[str, Any] | None:
    """What QMD answers; None where it cannot, with the reason among ``notes``."""
    from .qmd.process import QmdUnavailable
    from .qmd.search import qmd_search
    from .qmd.settings import read_qmd

    agent = workspace.models.agent
    try:
        return qmd_search(
            workspace,
            read_qmd(workspace.configuration, agent)[0],
            query,
            agent=agent,
            session_key=session_key,
            max_results=max_results,
            min_score=min_score,
            corpus=corpus,
            citations=cited,
            now=now,
        )
    except QmdUnavailable as problem:
        notes.append(f"QMD does not answer: {problem.reason}; the built-in index answers")
    except MemoryFault as fault:
        notes.append(f"QMD cannot be asked: {fault}; the built-in index answers")
    return None


def chat_type_of(session_key: str | None) -> str:
    """direct, group or channel, by the key of a session; direct for the person at the terminal (None)."""
    if session_key is None:
        return "direct"
    from .qmd.scope import read_chat

    return read_chat(session_key).chat_type


def cites(settings: SearchSettings, chat_type: str) -> bool:
    """Whether results carry a citation in a chat of this type, by ``memory.citations``."""
    return settings.citations == "on" or (settings.citations == "auto" and chat_type == "direct")


def unavailable(error: str, action: str) -> dict[str, Any]:
    """The answer of a memory that cannot be searched; ``action`` says what to do."""
    return {
        "results": [],
        "disabled": True,
        "unavailable": True,
        "error": error,
        "warning": "memory search is unavailable",
        "action": action,
    }


def _said(hit: Said, score: float, citations: bool) -> dict[str, Any]:
    """A result from a transcript: nothing in it is a marker."""
    entry = _scored(hit, (hit.line, hit.end_line), score, hit.snippet, "sessions")
    return _cited(entry) if citations else entry


def _entry(hit: Hit, score: float, patterns: list[re.Pattern[str]], citations: bool) -> dict[str, Any]:
    snippet = make_snippet(hit.text, hit.line, hit.answer, patterns)
    entry = _scored(hit, (snippet.line, snippet.end_line), score, snippet.text, "memory")
    entry = _cited(entry) if citations else entry
    return entry | _markers(hit, snippet.line, snippet.end_line)


def _scored(hit: Hit | Said, lines: tuple[int, int], score: float, snippet: str, source: str) -> dict[str, Any]:
    return {
        "path": hit.path,
        "startLine": lines[0],
        "endLine": lines[1],
        "score": score,
        **({} if hit.cosine is None else {"vectorScore": round(max(0.0, hit.cosine), 6)}),
        "textScore": round(hit.lexical, 6),
        "snippet": snippet,
        "source": source,
        "corpus": source,
    }


def _cited(entry: dict[str, Any]) -> dict[str, Any]:
    source = citation(entry["path"], entry["startLine"], entry["endLine"])
    return entry | {"citation": source, "snippet": f"{entry['snippet']}\n\nSource: {source}"}


def _markers(hit: Hit, first: int, last: int) -> dict[str, Any]:
    """What the markers in a snippet's lines say: ``importance``, ``triggers``, ``projectKey``."""
    shown = "\n".join(hit.text.split("\n")[first - hit.line : last - hit.line + 1])
    found: dict[str, Any] = {}
    for marker in _MARKER.finditer(shown):
        name, value = marker["name"], marker["value"]
        if name == "trigger":
            found.setdefault("triggers", []).append(value)
        elif name == "project":
            found.setdefault("projectKey", value)
        elif value.isdigit() and 1 <= int(value) <= 10:
            found["importance"] = max(int(value), found.get("importance", 0))
    return found
