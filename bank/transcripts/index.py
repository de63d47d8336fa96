"""The index of an agent's transcripts: where it lies, and what it knows of each transcript.

It is an index like the workspace's, of the same tables, in a file that belongs to the agent alone, and so can be asked
by ``recall`` as it is. A transcript is indexed in segments, each a row of ``files``: one that grows is read on from the
beginning of its last segment, never from its own.
"""

import contextlib
import os
from typing import NamedTuple

from ..driver import Connection, DatabaseError
from ..embeddings.keys import state_folder
from ..embeddings.models import Models
from ..embeddings.settings import EmbeddingSettings
from ..errors import MemoryFault, fault_of
from ..index import SET_ASIDE, IndexUnusable, open_to_read, open_to_write, transaction
from ..workspace import Workspace
from .sources import agent_folder

#: Raise this when what is made of a transcript changes.
FORMAT = 2
#: Stands between a transcript's path and the number of a segment.
MARK = "\t"
_TABLE = (
    # How a transcript was when it was last read: seen as in Source; end: how far (bytes, or events); lines, unasked,
    # generated: the parser's state there; skipped: lines that were no event; problem: why it could not be read.
    # The last segment, which grows on: its number, and where it begins (tail, and what tail_ says of there).
    # digest: of what was read last, from checked to end.
    "CREATE TABLE transcripts (path TEXT PRIMARY KEY, session TEXT NOT NULL, size INTEGER NOT NULL,"
    " mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, end INTEGER NOT NULL,"
    " lines INTEGER NOT NULL, unasked INTEGER NOT NULL, generated INTEGER NOT NULL, skipped INTEGER NOT NULL,"
    " problem TEXT NOT NULL, number INTEGER NOT NULL, tail INTEGER NOT NULL, tail_line INTEGER NOT NULL,"
    " tail_unasked INTEGER NOT NULL, tail_skipped INTEGER NOT NULL, tail_day INTEGER,"
    " checked INTEGER NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID"
)


class Known(NamedTuple):
    """A row of ``transcripts``."""

    path: str
    session: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    end: int
    lines: int
    unasked: int
    generated: int
    skipped: int
    problem: str
    number: int
    tail: int
    tail_line: int
    tail_unasked: int
    tail_skipped: int
    tail_day: int | None
    checked: int
    digest: str

    @property
    def seen(self) -> tuple[int, int, int, int]:
        return self.size, self.mtime_ns, self.ctime_ns, self.inode


class TranscriptIndex(Workspace):
    """The place of the index of ``agent`` below OpenClaw's ``state`` folder; only its owner may read it.

    ``vectors``: whether meaning is compared too; what was said is given to no provider, only to the built-in model.
    Raises ``ValueError`` for a name that no agent has.
    """

    private = True

    def __init__(self, state: str, agent: str, *, vectors: bool = True) -> None:
        settings = EmbeddingSettings(enabled=vectors, provider="static")
        super().__init__(os.path.join(agent_folder(state, agent), "openclaw-memory"), models=Models(settings, agent))
        self.state, self.agent = state, agent
        self.index_path = os.path.join(self.root, "transcripts.sqlite")

    @property
    def index_dir(self) -> str:
        return self.root

    @property
    def lock_path(self) -> str:
        return os.path.join(self.root, "transcripts.lock")


def index_of(workspace: Workspace) -> TranscriptIndex:
    """The place of the index of the transcripts of the workspace's agent. Raises ``MemoryFault`` for a name that no
    agent has."""
    models = workspace.models
    try:
        return TranscriptIndex(state_folder(os.environ), models.agent, vectors=models.settings.enabled)
    except ValueError as error:
        raise MemoryFault(f"no transcripts: {error}", remedy="give the agent's id with --agent") from None


def segment_path(path: str, number: int) -> str:
    """What a segment is called in ``files``."""
    return f"{path}{MARK}{number:06d}"


def cited_path(path: str) -> str:
    """The transcript that a segment is of."""
    return path.partition(MARK)[0]


def make_folder(index: TranscriptIndex) -> None:
    """Make the folder of the index, for its owner alone. Raises ``MemoryFault``."""
    try:
        os.makedirs(os.path.dirname(index.root), exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(index.root, 0o700)
    except OSError as error:
        raise fault_of(error, "cannot write the index of transcripts", index.root) from None


def opened_to_read(index: TranscriptIndex) -> Connection | None:
    """A connection of one moment, or None where nothing has been indexed yet. Raises ``IndexUnusable``."""
    connection = open_to_read(index)
    if connection is not None and not _is_current(connection):
        connection.close()
        raise IndexUnusable("was made by another version")
    return connection


def opened_to_write(index: TranscriptIndex) -> Connection:
    """A connection to a usable index, made anew if need be; the caller holds the lock. Raises ``MemoryFault``."""
    connection, _ = open_to_write(index)
    if not _is_current(connection):
        if connection.execute("SELECT count(*) FROM files").fetchone()[0]:
            connection.close()
            remove(index)
            connection, _ = open_to_write(index)
        with transaction(connection):
            connection.execute(_TABLE)
            connection.execute("INSERT INTO meta VALUES ('transcripts', ?)", (str(FORMAT),))
    # What is deleted is to be gone.
    connection.execute("PRAGMA secure_delete=ON")
    with contextlib.suppress(OSError):
        os.unlink(index.index_path + SET_ASIDE)
    return connection


def _is_current(connection: Connection) -> bool:
    try:
        row = connection.execute("SELECT value FROM meta WHERE key = 'transcripts'").fetchone()
    except DatabaseError:
        return False
    return bool(row and row[0] == str(FORMAT))


def remove(index: TranscriptIndex) -> list[str]:
    """Delete the index; the files that were there. It can be built again from the transcripts."""
    removed = []
    for tail in ("", "-wal", "-shm", "-journal", SET_ASIDE):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(index.index_path + tail)
            removed.append(os.path.basename(index.index_path) + tail)
    return removed


def known_transcripts(connection: Connection) -> dict[str, Known]:
    """Each transcript as it was when it was last read, by path."""
    return {row[0]: Known(*row) for row in connection.execute("SELECT * FROM transcripts")}
