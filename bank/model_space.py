"""The configured provider's space, filled as its answers come: in batches, outside of write transactions.

Each batch that came back is written at once and remembered in the cache, so a run that is killed half-way is gone on
with by the next. Vectors of another fingerprint are taken out first; a model that was replaced behind the same name is
noticed by a sentence that is embedded again in each run that asks for anything. Texts that a provider refuses, or
answers with no vector, are found by halving what they came in, and wait.
"""

import contextlib
import os
import queue
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from . import spaces
from .driver import Connection, DatabaseError
from .embedding_lock import Role, embedding_lock
from .embeddings.cache import VectorCache
from .embeddings.pause import forget, pause
from .embeddings.protocol import Backfiller, Embedder, EmbeddingFault, Vector
from .files import writer_lock
from .index import fault_of_database, open_to_write, transaction
from .static_space import embedded_text
from .sync import Progress
from .vectors import Query, quantised, width
from .workspace import Workspace

#: How many passages are looked at, and written, at a time.
BATCH = 256
#: From so many new texts on, a provider's own way for backfills is taken, where it has one.
BACKFILL_FROM = 200
#: What a backfill brought is written after so many seconds, while more is waited for.
SECONDS = 1.0
#: Embedded again in each run: the same model gives the same vector, or nearly so.
PROBE = "The quick brown fox jumps over the lazy dog."
_SAME_MODEL = 0.98
#: So many requests may be refused for what is in them before the provider is taken to be at fault.
_REFUSALS = 12
_OF_A_TEXT = ("answer", "input")
_STATE = "batches.json"
_PROBE_KEY = "model_probe"
Answer = TypeVar("Answer")


class FillReport(NamedTuple):
    """``embedded``: texts that the provider embedded; ``cached``: vectors that were known; ``pending``: passages that
    still have none; ``notes``: lines for a person, about what went wrong."""

    embedded: int
    cached: int
    pending: int
    notes: list[str]


def fill_chosen(
    workspace: Workspace, *, progress: Progress | None = None, timeout: float = 60.0, role: Role = "command"
) -> FillReport | None:
    """Embed what has no vector yet by the provider that is configured; None where that is the built-in model.

    A local model that is not here is fetched, and so is a rerank model. See ``fill``.
    """
    problem = workspace.models.fetch_reranker()
    if problem and problem not in workspace.models.warnings:
        workspace.models.warnings = (*workspace.models.warnings, problem)
    embedder = workspace.models.choice(download=True).embedder
    if embedder is None or embedder.provider == "static":
        return None
    return fill(workspace, embedder, progress=progress, timeout=timeout, role=role)


def fill(
    workspace: Workspace,
    embedder: Embedder,
    *,
    progress: Progress | None = None,
    timeout: float = 60.0,
    batches: bool = True,
    role: Role = "question",
) -> FillReport:
    """Embed what has no vector yet. ``timeout``: seconds to wait for another writer, batch by batch. ``batches``:
    whether there is time for a provider's own way for backfills. ``role``: see ``embedding_lock``.

    Never raises for what the provider does: what could not be embedded stays pending and is told in ``notes``. Raises
    ``Busy`` where another process is embedding or the writer lock is not had in time.
    """
    with embedding_lock(workspace, timeout, role):
        try:
            connection = _opened(workspace, timeout)
            try:
                return _Fill(workspace, connection, embedder, progress, timeout, batches).run()
            finally:
                connection.close()
        except DatabaseError as error:
            raise fault_of_database(error, workspace) from None


def _opened(workspace: Workspace, timeout: float) -> Connection:
    with writer_lock(workspace.lock_path, timeout, "embedding"):
        return open_to_write(workspace)[0]


class _Pending(NamedTuple):
    passage: int
    key: str
    text: str


class _Fill:
    """One run; the caller holds the embedding lock. ``problem``: what the provider failed with last."""

    def __init__(
        self,
        workspace: Workspace,
        connection: Connection,
        embedder: Embedder,
        progress: Progress | None,
        timeout: float,
        batches: bool,
    ) -> None:
        self.workspace, self.connection, self.embedder = workspace, connection, embedder
        self.progress, self.timeout, self.batches = progress, timeout, batches
        settings = workspace.models.settings
        most = settings.cache_max_entries if settings.cache_enabled else 0
        self.cache = VectorCache(workspace.index_dir, embedder.fingerprint, most)
        self.state = os.path.join(workspace.index_dir, _STATE)
        self.embedded = self.cached = self.refusals = self.left_out = 0
        self.notes: list[str] = []
        self.problem: EmbeddingFault | None = None
        self.probed = False

    def run(self) -> FillReport:
        try:
            self._prepare()
            total = spaces.pending(self.connection, self.embedder.fingerprint)
            try:
                for done in self._batches():
                    if self.progress:
                        self.progress(min(done, total), total)
            except EmbeddingFault as fault:
                self.problem = fault
            if self.problem:
                pause(self.workspace.index_dir, self.embedder.fingerprint, self.problem)
                self.notes.append(
                    f"{self.left_out} texts cannot be embedded: {self.problem}" if self.left_out else str(self.problem)
                )
            elif self.embedded:
                forget(self.workspace.index_dir)
            self._finish()
        finally:
            self.cache.close()
        left = spaces.pending(self.connection, self.embedder.fingerprint)
        return FillReport(self.embedded, self.cached, left, self.notes)

    def _prepare(self) -> None:
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (spaces.FINGERPRINT,)).fetchone()
        if not row or row[0] != self.embedder.fingerprint:
            self._begin_anew()

    def _begin_anew(self) -> None:
        with self._writing():
            spaces.clear(self.connection, spaces.MODEL)
            self.connection.execute("DELETE FROM meta WHERE key = ?", (_PROBE_KEY,))
            self.connection.execute(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", (spaces.FINGERPRINT, self.embedder.fingerprint)
            )

    def _finish(self) -> None:
        with self._writing():
            spaces.keep_in_step(self.connection, spaces.MODEL)

    def _batches(self) -> Iterator[int]:
        """Write all that is pending, yielding how many passages are done after each batch."""
        done, last = 0, -1
        while rows := self._next(last, BATCH):
            known = self._known(rows)
            new = list(dict.fromkeys(row.text for row in rows if row.text not in known))
            if new and not self.probed and self._is_another(known.values()):
                last = -1
                continue
            if new and self.batches and isinstance(self.embedder, Backfiller) and self._is_for_batches(new):
                try:
                    yield from self._backfill(self.embedder, done)
                    return
                except EmbeddingFault as fault:
                    if fault.kind not in _OF_A_TEXT:
                        raise
                self.batches, last = False, -1
                continue
            self.cached += len(known)
            if new:
                known |= self._embedded(new)
            self._write(rows, known)
            done, last = done + len(rows), rows[-1].passage
            yield done

    def _is_for_batches(self, new: Sequence[str]) -> bool:
        """Whether there is much to embed, or some of it is on its way since an earlier run."""
        return len(new) >= BACKFILL_FROM or _batches_wait(self.state)

    def _backfill(self, embedder: Backfiller, done: int) -> Iterator[int]:
        """Everything that is pending at once, by the provider's own way; written as it comes."""
        rows = self._next(-1, -1)
        known = self._known(rows)
        self.cached += len(known)
        by_text: dict[str, list[_Pending]] = {}
        for row in rows:
            by_text.setdefault(row.text, []).append(row)
        texts = [text for text in by_text if text not in known]
        self._write([row for row in rows if row.text in known], known)
        done += sum(len(by_text[text]) for text in known)
        with contextlib.closing(in_time(embedder.backfill(texts, self.state, self.notes.append))) as answers:
            for part in answers:
                made = self._taken((texts[number], vector) for number, vector in part)
                written = [row for text in made for row in by_text[text]]
                self._write(written, made)
                done += len(written)
                yield done

    def _is_another(self, known: Iterable[bytes]) -> bool:
        """Whether the model gives another vector for the probe than before, or one of another width than those that are
        known; then all is begun anew."""
        self.probed = True
        made = quantised(self.embedder.embed_documents([PROBE])[0])
        if made is None:
            raise _refused(self.embedder)
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (_PROBE_KEY,)).fetchone()
        # An index that was built anew knows no probe, but what is in the cache is not of today either.
        before = bytes.fromhex(row[0]) if row else self.cache.get([PROBE]).get(PROBE, made)
        widths = {len(made), len(before), self._size() or len(made), *map(len, known)}
        another = len(widths) > 1 or Query(made).cosine(before) < _SAME_MODEL
        if another:
            self.notes.append(f"{self.embedder.model}: another model answers to that name now; all is embedded anew")
            self.cache.forget()
            self._begin_anew()
        self.cache.put({PROBE: made})
        if another or not row:
            with self._writing():
                self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_PROBE_KEY, made.hex()))
        return another

    def _known(self, rows: Sequence[_Pending]) -> dict[str, bytes]:
        """The vectors that the cache has, of the width that those have which are written already."""
        known = self.cache.get(row.text for row in rows)
        width = self._size() or next((len(known[row.text]) for row in rows if row.text in known), 0)
        return {text: vector for text, vector in known.items() if len(vector) == width}

    def _size(self) -> int:
        """How many bytes the vectors have that are written already, 0 where none is."""
        row = self.connection.execute("SELECT length(vector) FROM model_vectors LIMIT 1").fetchone()
        return int(row[0]) if row else 0

    def _embedded(self, texts: Sequence[str]) -> dict[str, bytes]:
        """The vectors of new texts, but for those that the provider cannot embed."""
        try:
            return self._taken(zip(texts, self.embedder.embed_documents(texts), strict=True))
        except EmbeddingFault as fault:
            if fault.kind not in _OF_A_TEXT or self.refusals == _REFUSALS:
                raise
            self.refusals += 1
            if len(texts) == 1:
                self.left_out += 1
                self.problem = fault
                return {}
        half = len(texts) // 2
        made = self._embedded(texts[:half])
        return made | self._embedded(texts[half:])

    def _taken(self, answers: Iterable[tuple[str, Vector]]) -> dict[str, bytes]:
        """What a provider has answered, checked, quantised and remembered."""
        size = self._size()
        made: dict[str, bytes] = {}
        for text, vector in answers:
            whole = quantised(vector)
            if whole is None:
                raise _refused(self.embedder)
            if size not in (0, len(whole)):
                named = f"{self.embedder.provider} {self.embedder.model}"
                raise EmbeddingFault(
                    f"{named}: a vector of {width(whole)} numbers came, not {width(size)}",
                    remedy="check which model answers, then run `openclaw memory reset --embeddings`",
                    kind="server",
                    lasting=True,
                )
            size = len(whole)
            made[text] = whole
        self.embedded += len(made)
        self.cache.put(made)
        return made

    def _write(self, rows: Sequence[_Pending], vectors: Mapping[str, bytes]) -> None:
        """Write vectors for those passages that still say what was embedded."""
        for start in range(0, len(rows), BATCH):
            part = {row.passage: row for row in rows[start : start + BATCH]}
            with self._writing():
                still = self.connection.execute(
                    "SELECT p.id, p.key, p.text, p.details FROM passages p"
                    " LEFT JOIN model_vectors v ON v.passage = p.id"
                    f" WHERE v.passage IS NULL AND p.id IN ({', '.join('?' * len(part))})",
                    tuple(part),
                ).fetchall()
                spaces.insert(
                    self.connection,
                    spaces.MODEL,
                    [
                        spaces.Row(passage, key, vectors[part[passage].text])
                        for passage, key, text, details in still
                        if embedded_text(text, details) == part[passage].text and part[passage].text in vectors
                    ],
                )

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        with writer_lock(self.workspace.lock_path, self.timeout, "embedding"), transaction(self.connection):
            yield

    def _next(self, after: int, most: int) -> list[_Pending]:
        rows = self.connection.execute(
            "SELECT p.id, p.key, p.text, p.details FROM passages p LEFT JOIN model_vectors v ON v.passage = p.id"
            " WHERE v.passage IS NULL AND p.id > ? ORDER BY p.id LIMIT ?",
            (after, most),
        ).fetchall()
        return [_Pending(passage, key, embedded_text(text, details)) for passage, key, text, details in rows]


def _refused(embedder: Embedder) -> EmbeddingFault:
    return EmbeddingFault(
        f"{embedder.provider} {embedder.model}: a vector without direction came (all zeros, or not numbers)",
        remedy="check the model",
        kind="answer",
    )


def _batches_wait(state: str) -> bool:
    """Whether batches of an earlier run are on their way."""
    import json

    try:
        with open(state, encoding="utf-8") as file:
            return bool(json.load(file)["batches"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def in_time(
    answers: Iterator[Answer], most: int = BATCH, seconds: float = SECONDS
) -> Generator[list[Answer], None, None]:
    """Answers in lists of at most ``most``, none of them held back for longer than ``seconds`` while the next one is
    waited for, which may take hours: they are waited for in a thread of its own. Raises what ``answers`` raises, after
    all that came before it."""
    come: queue.Queue[tuple[Answer] | BaseException | None] = queue.Queue(most)
    stopped = threading.Event()

    def hand_over(one: tuple[Answer] | BaseException | None) -> bool:
        while not stopped.is_set():
            try:
                come.put(one, timeout=0.2)
                return True
            except queue.Full:
                continue
        return False

    def wait() -> None:
        try:
            for answer in answers:
                if not hand_over((answer,)):
                    return
            hand_over(None)
        except BaseException as error:
            hand_over(error)

    threading.Thread(target=wait, name="embedding", daemon=True).start()
    part: list[Answer] = []
    one: tuple[Answer, ...] | BaseException | None
    until = 0.0
    try:
        while True:
            try:
                one = come.get(timeout=max(0.0, until - time.monotonic()) if part else seconds)
            except queue.Empty:
                one = ()
            if not part:
                until = time.monotonic() + seconds
            if isinstance(one, tuple):
                part += one
            if part and (not isinstance(one, tuple) or len(part) >= most or time.monotonic() >= until):
                yield part
                part = []
            if isinstance(one, BaseException):
                raise one
            if one is None:
                return
    finally:
        stopped.set()
