"""``memory_search`` answered by QMD.

QMD is asked from the index that it has; bringing that in step is left to a process in the background, but for the very
first time where ``waitForBootSync`` says so. Whatever keeps QMD from answering is a ``QmdUnavailable``: the built-in
index answers then.
"""

import os
import re
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ...bank.workspace import Workspace
from ..chunk_hits import word_pattern
from ..question import Question
from ..search import cites
from .answers import QmdHit, read_hits
from .background import start_upkeep
from .collections import Collection, matching
from .entries import find_places, make_entries
from .home import Record, home_of, read_record
from .pause import pause, paused
from .process import LONGEST_ANSWER, Ended, Qmd, QmdTooLate, QmdUnavailable, find_qmd
from .questions import any_word_query, arguments, is_refusal, understand, whole_query
from .scope import allows, denial, read_chat
from .settings import QmdSettings
from .upkeep import Due, wait_for_update, what_is_due

__all__ = ["QmdUnavailable", "qmd_search"]

#: QMD is asked for more than is shown: some files lie in two collections, some are gone.
_ASKED = 3
#: Seconds that have to be left for a second try.
_LEAST = 0.3


class Found(NamedTuple):
    """``compared``: words, both (words and meanings), or vectors. ``note``: what did not go as it should, or ""."""

    hits: list[QmdHit]
    compared: str
    note: str = ""


_COMPARED = {"search": "words", "vsearch": "vectors", "query": "both"}


def qmd_search(
    workspace: Workspace,
    settings: QmdSettings,
    query: str,
    *,
    agent: str,
    session_key: str | None = None,
    max_results: int | None = None,
    min_score: float | None = None,
    corpus: str = "",
    citations: bool | None = None,
    environ: Mapping[str, str] | None = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Search by QMD: an answer of ``memory_search`` with ``backend: "qmd"``.

    ``session_key``: the chat that asks; None for the person at the terminal, who may. ``max_results``: no more than
    ``memory.qmd.limits.maxResults`` in any case. ``min_score``: on QMD's own score; as configured where it is not
    given. ``corpus``: memory, sessions or all; "" for all that there is. ``citations``: None for what
    ``memory.citations`` says. A chat that ``memory.qmd.scope`` denies gets no results and a warning. Raises
    ``QmdUnavailable``.
    """
    environ = os.environ if environ is None else environ
    chat = None if session_key is None else read_chat(session_key)
    chat_type = chat.chat_type if chat else "direct"
    cited = cites(workspace.settings, chat_type) if citations is None else citations
    answer: dict[str, Any] = {
        "results": [],
        "backend": "qmd",
        "provider": "qmd",
        "mode": "keyword" if settings.search_mode == "search" else "hybrid",
        "citations": "on" if cited else "off",
    }
    if chat and not allows(settings.scope, chat):
        return answer | {"warning": denial(chat)}
    if not query.strip():
        return answer
    if corpus == "sessions" and not settings.sessions.enabled:
        if workspace.settings.searches_sessions:
            raise QmdUnavailable("it has no sessions, as memory.qmd.sessions.enabled is false")
        return answer | {"warning": "session transcripts are not exported: memory.qmd.sessions.enabled is false"}
    until = time.monotonic() + settings.limits.timeout
    home = home_of(agent, environ)
    qmd = find_qmd(settings.command, home, environ)
    record = read_record(home)
    due = what_is_due(workspace, settings, home, record, time.time())
    notes = list(due.warnings)
    if due.update and not record.update.done and settings.upkeep.wait:
        wait_for_update(workspace, settings, agent=agent, environ=environ)
        until = time.monotonic() + settings.limits.timeout
        record = read_record(home)
        due = what_is_due(workspace, settings, home, record, time.time())
    going = (due.update or due.embed) and start_upkeep(workspace, agent, environ)
    ours = _ready(due, record, corpus, going)
    if record.update.reason:
        notes.append(f"QMD's index is not updated: {record.update.reason}")
    if settings.search_mode != "search" and record.embed.reason:
        notes.append(f"QMD has not embedded: {record.embed.reason}")
    limit = min(settings.limits.results, max(1, max_results or settings.limits.results))
    question = understand(query, (now or datetime.now().astimezone()).date())
    if reason := paused(home, settings):
        raise QmdUnavailable(f"{reason}; it is asked again within a minute")
    try:
        found = _ask(qmd, settings, question, list(ours), limit * _ASKED, until)
    except QmdTooLate as late:
        pause(home, settings, late.reason)
        raise
    if settings.search_mode == "vsearch" and not found.hits and not record.embed.done:
        raise QmdUnavailable(record.embed.reason or "it has embedded nothing yet")
    least = (workspace.settings.min_score or 0.0) if min_score is None else min_score
    patterns = [word_pattern(term.text) for term in question.terms]
    hits = [hit for hit in found.hits if hit.score >= least]
    shown, gone = find_places(workspace, ours, hits, patterns)
    answer["results"] = make_entries(shown[:limit], patterns, settings.limits, cited, found.compared == "vectors")
    answer["mode"] = "keyword" if found.compared == "words" else "hybrid"
    if due.behind or gone:
        answer["stale"] = True
    if found.note:
        notes.append(found.note)
    if notes:
        answer["warning"] = "; ".join(notes)
    return answer


def _ready(due: Due, record: Record, corpus: str, going: bool) -> dict[str, Collection]:
    """The collections to search, by QMD's names. Raises ``QmdUnavailable`` where none of them is set up; ``going``:
    whether that goes on."""
    made = matching(due.wanted, record)
    ours = {
        made[name].name: one for name, one in due.wanted.items() if name in made and corpus in ("", "all", one.source)
    }
    if not ours:
        if record.update.reason:
            raise QmdUnavailable(record.update.reason)
        if record.update.done and not due.behind:
            raise QmdUnavailable("; ".join(record.warnings) or "it has no collection to search")
        how = "which goes on in the background" if going else "and nothing in the background does so"
        raise QmdUnavailable(f"it is not set up yet, {how}")
    return ours


def _ask(
    qmd: Qmd, settings: QmdSettings, question: Question, collections: Sequence[str], most: int, until: float
) -> Found:
    """Ask as configured, and by ``query`` where QMD does not know the command or an option."""
    mode = settings.search_mode
    ended = _run(qmd, arguments(mode, whole_query(mode, question), collections, most), until)
    note = ""
    if ended.code and mode != "query" and is_refusal(ended.complaint or ended.output):
        note = f"QMD does not know `{mode}` as it was asked ({ended.why}); asked by `query`"
        mode = "query"
        ended = _run(qmd, arguments(mode, whole_query(mode, question), collections, most), until)
    if ended.code:
        raise QmdUnavailable(f"`{mode}` failed with {ended.why}")
    hits = read_hits(ended.output)
    if mode != "search" or hits:
        return Found(hits, _COMPARED[mode], note)
    return _ask_for_any(qmd, question, collections, most, until)


def _ask_for_any(qmd: Qmd, question: Question, collections: Sequence[str], most: int, until: float) -> Found:
    """Documents with any of the words, where none has all of them. That this fails is worth no more than a note."""
    query = any_word_query(question)
    if not re.search(r"\w", query.replace("lex:", "")) or until - time.monotonic() < _LEAST:
        return Found([], "words")
    try:
        ended = _run(qmd, arguments("query", query, collections, most, "--no-rerank"), until)
        if ended.code:
            raise QmdUnavailable(ended.why)
        return Found(read_hits(ended.output), "words")
    except QmdUnavailable as problem:
        return Found([], "words", f"no note holds all the words; asking for any of them failed: {problem.reason}")


def _run(qmd: Qmd, words: Sequence[str], until: float) -> Ended:
    return qmd.run(words, max(0.0, until - time.monotonic()), LONGEST_ANSWER)
