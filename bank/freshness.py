"""Answers from an index that says what the Markdown says now, whatever stands in the way of that.

Changed files are synced first. Where another process is writing, the index as it is answers (stale); where it cannot be
written, one in memory does; where it turns out to be damaged, it is built again and asked once more.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from . import spaces
from .driver import Connection, DatabaseError, connect
from .embeddings.pause import paused
from .errors import Busy, MemoryFault
from .index import IndexUnusable, can_write_index, fault_of_database, is_damage, open_to_read, transaction
from .schema import create
from .sync import Progress, Run, SyncReport, pending_changes, sync
from .workspace import Workspace


class Fresh(NamedTuple):
    """A read connection, whether it may be behind the Markdown, and lines for the reader about the sync."""

    connection: Connection
    stale: bool
    notes: list[str]


#: Bytes of changed Markdown that a question does not wait for: reading them would take half a second to a second.
LONG = 200_000
#: So few passages without a vector are embedded while the question waits.
FEW = 32


def open_fresh(workspace: Workspace, *, no_sync: bool = False, progress: Progress | None = None) -> Fresh:
    """A read connection to an index that says what the Markdown says now, synced if anything changed, and as far as
    that is quickly done with vectors of the configured provider.

    With ``no_sync``, when another process is writing, or when reading what changed would take long (a process of its
    own does it then), it answers at once from what is there, ``stale`` where that differs from the tree. The first
    index is always built (there is nothing else to answer from).
    """
    fresh = _open_fresh(workspace, no_sync=no_sync, progress=progress)
    if no_sync or fresh.stale:
        return fresh
    embedder = workspace.models.choice().embedder
    if embedder is None or embedder.provider == "static":
        return fresh
    left = spaces.pending(fresh.connection, embedder.fingerprint)
    if not left or paused(workspace.index_dir, embedder.fingerprint) or not can_write_index(workspace):
        return fresh
    if left > FEW:
        from .background import start_indexing

        start_indexing(workspace)
        return fresh
    from .model_space import fill

    fresh.connection.close()
    try:
        fill(workspace, embedder, timeout=0.0, batches=False)
    except MemoryFault:
        # Another process is at it, or nothing can be written: what is there answers.
        pass
    reopened = _reopened(workspace)
    return fresh._replace(connection=reopened) if reopened else _open_fresh(workspace, no_sync=no_sync)


def _open_fresh(workspace: Workspace, *, no_sync: bool, progress: Progress | None = None) -> Fresh:
    """The same, with vectors of the built-in model alone."""
    damage = ""
    try:
        connection = open_to_read(workspace)
    except IndexUnusable:
        connection = None
    if connection is not None:
        try:
            changes = pending_changes(workspace, connection)
            if not changes or no_sync:
                return Fresh(connection, bool(changes), _unread_notes(changes.unread))
            if changes.size > LONG and _left_to_another(workspace):
                told = f"{len(changes.read)} files changed and are being indexed; this answer does not know them yet"
                return Fresh(connection, True, [told, *_unread_notes(changes.unread)])
            connection.close()
        except DatabaseError as error:
            connection.close()
            if not is_damage(error):
                raise fault_of_database(error, workspace) from None
            connection, damage = None, str(error)
    try:
        report = sync(workspace, timeout=0.0 if connection is not None else 60.0, progress=progress, damage=damage)
    except Busy:
        reopened = _reopened(workspace)
        if reopened is None:
            raise
        return Fresh(reopened, True, ["another process is updating the index; this answer may miss the latest changes"])
    except MemoryFault as fault:
        if can_write_index(workspace):
            raise
        return _fresh_in_memory(workspace, progress, fault)
    reopened = _reopened(workspace)
    if reopened is None:
        raise Busy("the index was deleted while it was used", workspace.index_path, "run the command again")
    return Fresh(reopened, False, _notes(report))


def _left_to_another(workspace: Workspace) -> bool:
    """Whether another process can and will bring the index up to date."""
    from .background import start_syncing

    return can_write_index(workspace) and start_syncing(workspace)


def _reopened(workspace: Workspace) -> Connection | None:
    """The index that another process, or this one, has just written; None where it is gone or being made."""
    try:
        return open_to_read(workspace)
    except IndexUnusable:
        return None


def _fresh_in_memory(workspace: Workspace, progress: Progress | None, fault: MemoryFault) -> Fresh:
    """An index that lasts for one answer: a workspace that cannot be written can still be asked."""
    connection = connect(":memory:")
    with transaction(connection):
        create(connection)
    report = Run(workspace, connection, progress, False).run("")
    connection.execute("PRAGMA query_only=ON")
    return Fresh(connection, False, [f"{fault.what}: the index was built in memory for this answer", *_notes(report)])


def _notes(report: SyncReport) -> list[str]:
    notes = [report.note] if report.note else []
    notes += [f"{path}: not read ({why}); its last indexed text is used" for path, why in report.skipped]
    return notes + _unread_notes(report.unread)


def _unread_notes(unread: tuple[str, ...]) -> list[str]:
    return [f"{name}: cannot be read; what was indexed of it is kept" for name in unread]


Answer = TypeVar("Answer")


def ask_fresh(
    workspace: Workspace,
    ask: Callable[[Connection], Answer],
    *,
    no_sync: bool = False,
    progress: Progress | None = None,
) -> tuple[Answer, Fresh]:
    """What ``ask`` reads from a fresh index, and how fresh that was (its connection is not to be used any more): by the
    connections that the workspace keeps open, if it does, else by a new one."""
    if workspace.readers is not None:
        return workspace.readers.ask(ask, no_sync=no_sync, progress=progress)
    return ask_anew(workspace, ask, no_sync=no_sync, progress=progress)


def ask_anew(
    workspace: Workspace,
    ask: Callable[[Connection], Answer],
    *,
    no_sync: bool = False,
    progress: Progress | None = None,
) -> tuple[Answer, Fresh]:
    """The same by a new connection.

    An index that turns out to be damaged while it is read is set aside, built again and asked once more.
    """
    fresh = open_fresh(workspace, no_sync=no_sync, progress=progress)
    try:
        return ask(fresh.connection), fresh
    except DatabaseError as error:
        if not is_damage(error):
            raise fault_of_database(error, workspace) from None
        damage = str(error)
    except (ValueError, OverflowError) as error:
        # What stands in the index does not read as what was put there.
        damage = str(error)
    finally:
        fresh.connection.close()
    note = sync(workspace, timeout=60.0, progress=progress, damage=damage).note
    fresh = open_fresh(workspace, progress=progress)
    try:
        return ask(fresh.connection), fresh._replace(notes=[note, *fresh.notes])
    except DatabaseError as error:
        raise fault_of_database(error, workspace) from None
    finally:
        fresh.connection.close()
