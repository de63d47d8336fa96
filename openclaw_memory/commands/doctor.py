"""doctor: what could be wrong with a workspace, its index or this installation, one check after another."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..bank.config import read_configuration
from ..bank.driver import Connection, DatabaseError, describe
from ..bank.errors import MemoryFault
from ..bank.layers import DEFAULT, Setting
from ..bank.workspace import Workspace
from ..context import choose
from ..effective import effective_settings
from ..output import emit_json, paint, print_table, visible

OK, WARN, FAIL = "ok", "warn", "fail"
_MARKS = {OK: ("ok  ", "green"), WARN: ("warn", "yellow"), FAIL: ("FAIL", "red")}
_HEADER = ("setting", "value", "from")
#: The oldest SQLite whose FTS5 does what the index needs.
OLDEST_SQLITE = (3, 35, 0)


class Check(NamedTuple):
    """One check: its name, ok, warn or fail, and a line that says what was found and what to do."""

    name: str
    status: str
    message: str


def doctor_command(workspace: str, agent: str, as_json: bool) -> int:
    """Run all checks, and show what is effective; exit code 1 when a check failed."""
    settings: list[Setting] = []
    checks = list(_checks(workspace, agent, settings))
    if as_json:
        emit_json({"checks": [check._asdict() for check in checks], "settings": [one._asdict() for one in settings]})
    else:
        for check in checks:
            mark, colour = _MARKS[check.status]
            print(f"{paint(mark, colour)}  {check.name:<14} {visible(check.message)}")
        if settings:
            print()
            # What somebody has set comes first: the rest is as everywhere.
            shown = sorted(settings, key=lambda one: one.source == DEFAULT)
            print_table([(one.key, json.dumps(one.value, ensure_ascii=False), one.source) for one in shown], _HEADER)
    return 1 if any(check.status == FAIL for check in checks) else 0


def integrity(connection: Connection) -> str:
    """What SQLite's own checks find wrong with the index, "" when nothing."""
    try:
        found = [row[0] for row in connection.execute("PRAGMA quick_check(5)")]
        return "" if found == ["ok"] else "; ".join(map(str, found))
    except DatabaseError as error:
        return str(error)


def _checks(workspace: str, agent: str, settings: list[Setting]) -> Iterator[Check]:
    """Each check; ``settings`` is filled with what is effective, as far as the configuration can be read."""
    yield from _installation()
    try:
        configuration = read_configuration(os.environ)
    except MemoryFault as fault:
        yield Check("configuration", FAIL, str(fault))
        return
    where = configuration.path or "no openclaw.json; defaults are used"
    try:
        choice = choose(workspace, agent, configuration)
        bank = Workspace.open(choice.path)
    except MemoryFault as fault:
        yield Check("configuration", OK, where)
        yield Check("workspace", FAIL, str(fault))
        return
    configured = False
    try:
        effective, warnings = effective_settings(configuration, choice, os.environ)
        settings += effective
        bank = Workspace.configured(choice.path, configuration, choice.agent)
        warnings += [line for line in bank.warnings if line not in warnings]
        configured = True
        for line in warnings:
            yield Check("configuration", WARN, line)
        if not warnings:
            yield Check("configuration", OK, where)
        if bank.settings.off:
            yield Check("configuration", WARN, f"the memory tools are switched off: {bank.settings.off}")
    except MemoryFault as fault:
        yield Check("configuration", FAIL, str(fault))
    yield Check("workspace", OK, f"{bank.root} ({choice.source})")
    yield from _files(bank)
    yield from _index(bank)
    if configured:
        yield from _embeddings(bank)
        yield from _sources(bank)
    yield from _git(bank)


def _installation() -> Iterator[Check]:
    engine = describe()
    version = tuple(int(part) for part in engine["sqlite"].split("."))
    yield Check("python", OK, sys.version.split()[0])
    if not engine["fts5"]:
        yield Check("sqlite", FAIL, f"SQLite {engine['sqlite']} has no FTS5; install pysqlite3 or another Python")
    elif version < OLDEST_SQLITE:
        yield Check("sqlite", FAIL, f"SQLite {engine['sqlite']} is too old; install pysqlite3 or another Python")
    else:
        yield Check("sqlite", OK, f"{engine['sqlite']} by {engine['driver']}, FTS5 built in")


def _files(bank: Workspace) -> Iterator[Check]:
    from ..bank.files import read_text
    from ..bank.passed_over import is_missing
    from ..bank.scan import scan
    from ..parsers.parse import parse_file

    found = scan(bank)
    for folder in found.unread:
        missing = is_missing(bank, folder)
        what = "is not there; correct memory.search.extraPaths" if missing else "cannot be read; check its permissions"
        yield Check("files", FAIL, f"{folder}: {what}")
    faults = 0
    secrets = []
    for path in sorted(found.files):
        try:
            diagnostics = parse_file(read_text(os.path.join(bank.root, path)).text, path).diagnostics
        except MemoryFault as fault:
            yield Check("files", FAIL, str(fault))
            continue
        faults += sum(1 for d in diagnostics if d.code != "secret-like")
        secrets += [f"{path}:{d.line}" for d in diagnostics if d.code == "secret-like"]
    yield Check("files", OK, f"{len(found.files)} Markdown files")
    if faults:
        what = "line does" if faults == 1 else "lines do"
        yield Check("lint", WARN, f"{faults} {what} not parse as meant; see `openclaw memory lint`")
    if secrets:
        more = f" and {len(secrets) - 3} more" if len(secrets) > 3 else ""
        yield Check("secrets", WARN, f"key-like strings at {', '.join(secrets[:3])}{more}; take them out of memory")
    if len(bank.core_paths()) > 1:
        yield Check("core", WARN, "MEMORY.md and memory.md both exist; both are read, keep one")


def _index(bank: Workspace) -> Iterator[Check]:
    from ..bank.entities import ambiguous_names
    from ..bank.index import IndexUnusable, can_write_index, open_to_read
    from ..bank.sync import pending_changes

    try:
        connection = open_to_read(bank)
    except IndexUnusable as problem:
        yield Check("index", WARN, f"the index {problem}; the next command sets it aside and builds it again")
        return
    except MemoryFault as fault:
        yield Check("index", WARN, str(fault))
        return
    if connection is None:
        if can_write_index(bank):
            yield Check("index", OK, "none yet; the next command builds it")
        else:
            yield Check("index", WARN, f"cannot be written in {bank.root}; each answer builds one in memory")
        return
    try:
        problem_found = integrity(connection)
        if problem_found:
            yield Check("index", FAIL, f"{problem_found}; delete it with `openclaw memory reset --yes`")
            return
        pending: Any = pending_changes(bank, connection)
        count = len(pending.read) + len(pending.absent)
        yield Check("index", OK, "up to date" if not count else f"{count} files changed; the next command reads them")
        for name, pages in ambiguous_names(connection):
            yield Check("names", WARN, f"{name} is claimed by the pages {', '.join(pages)}; it is linked to none")
    finally:
        connection.close()


def _sources(bank: Workspace) -> Iterator[Check]:
    """The other back end and the other source, where they are configured."""
    if bank.settings.backend == "qmd":
        from ..recall.qmd.settings import read_qmd
        from ..recall.qmd.status import qmd_status

        told = qmd_status(bank, read_qmd(bank.configuration, bank.models.agent)[0], agent=bank.models.agent)
        if told["problem"]:
            yield Check("qmd", WARN, f"{told['problem']}; the built-in index answers")
        else:
            yield Check("qmd", OK, f"{told['version'] or 'QMD'} with {len(told['collections'])} collections")
        for line in told["warnings"]:
            yield Check("qmd", WARN, line)
    if bank.settings.searches_sessions:
        from ..bank.transcripts.index import index_of

        place = index_of(bank).index_path
        told_place = place if os.path.isfile(place) else "none yet; the next search begins it"
        yield Check("transcripts", OK, f"searched for the agent {bank.models.agent}; index: {told_place}")
    elif "sessions" in bank.settings.sources:
        yield Check(
            "transcripts",
            WARN,
            "memory.search.sources names sessions, but memory.search.rememberAcrossConversations"
            " (older: experimental.sessionMemory) is not true; they are not searched",
        )


def _embeddings(bank: Workspace) -> Iterator[Check]:
    from ..bank.embeddings.pause import paused
    from ..status import vector_engine

    choice = bank.models.choice()
    embedder = choice.embedder
    failing = embedder and paused(bank.index_dir, embedder.fingerprint)
    if choice.warning or failing:
        yield Check("embeddings", WARN, choice.warning or f"{failing}; the built-in model answers meanwhile")
    else:
        named = f"{embedder.provider} {embedder.model}" if embedder else "none, words only"
        yield Check("embeddings", OK, f"{named} ({choice.reason})")
    engine = vector_engine(bank)
    if engine["vec"]:
        yield Check("vectors", OK, f"sqlite-vec {engine['vec']}")
    elif not bank.models.settings.vector_extension:
        yield Check("vectors", OK, f"compared in the process ({engine['noVec']})")
    else:
        yield Check("vectors", WARN, f"sqlite-vec is not used: {engine['noVec']}; vectors are compared in the process")


def _git(bank: Workspace) -> Iterator[Check]:
    if not os.path.isdir(os.path.join(bank.root, ".git")):
        yield Check("git", WARN, "the workspace is no git repository; `git init` keeps its history")
        return
    try:
        with open(os.path.join(bank.root, ".gitignore"), encoding="utf-8", errors="replace") as file:
            ignored = any(line.strip().strip("/") == ".memory" for line in file)
    except OSError:
        ignored = False
    if ignored:
        yield Check("git", OK, "the workspace is a repository, .memory/ is ignored")
    else:
        yield Check("git", WARN, "add the line .memory/ to .gitignore; the index need not be in git")
