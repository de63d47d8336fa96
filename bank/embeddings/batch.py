"""Many texts at once through a provider's batches: half the price, and hours if it must be.

Each text goes by a digest of itself and of the embedder's fingerprint; results are matched by it, never by their order.
Which batches carry which texts is kept in a file, so that a run that ends early (or does not want to wait) pays for
nothing twice: the next one takes up the results. What a batch does not bring, for whatever reason, is asked for in
plain requests; after two batches in a row that failed, so is everything else in that run.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .protocol import EmbeddingFault, Vector

if TYPE_CHECKING:
    from .remote import BatchWire, RemoteEmbedder

#: From how many texts on a batch is worth its while.
BATCH_FROM = 200
#: What goes into one batch; providers take 50,000 texts, but limit the tokens that wait.
_TEXTS, _TOKENS = 10_000, 1_000_000
_FAILURES = 2
_LONGEST_KEPT = 7 * 24 * 3600


class Look(NamedTuple):
    """How far a batch is: ``waiting``, ``done`` or ``failed``; what the provider says of it; its files of results, and
    those that are left with the provider when it is over."""

    state: str
    said: str = ""
    files: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()


def json_lines(entries: Iterable[Any]) -> bytes:
    """One line of JSON for each entry, without a line end after the last."""
    import json

    return "\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries).encode("utf-8", "replace")


def entries_of(content: bytes) -> Iterator[dict[str, Any]]:
    """The objects in a file of results; a line that holds none is passed over."""
    import json

    for line in content.split(b"\n"):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            yield entry


def backfill(
    embedder: "RemoteEmbedder", texts: Sequence[str], state_path: str, note: Callable[[str], None]
) -> Iterator[tuple[int, Vector]]:
    """See ``RemoteEmbedder.backfill``."""
    yield from _Run(embedder, texts, state_path, note).vectors()


class _Run:
    """One call of ``backfill``. ``left``: digest → positions of the texts that have no vector yet."""

    def __init__(
        self, embedder: "RemoteEmbedder", texts: Sequence[str], state_path: str, note: Callable[[str], None]
    ) -> None:
        self.embedder, self.wire, self.settings = embedder, cast("BatchWire", embedder.wire), embedder.batch
        self.transport = embedder.transport
        self.texts = texts
        self.left: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            self.left.setdefault(_digest(embedder.fingerprint, text), []).append(position)
        self.state = _State(state_path, note)
        self._note = note
        self.failures = 0
        self.off = not (self.settings.enabled and self.wire.batches)

    def note(self, line: str) -> None:
        self._note(f"{self.wire.name}: {line}")

    def vectors(self) -> Iterator[tuple[int, Vector]]:
        running = self._running() if self.wire.batches else {}
        carried = {digest for digests in running.values() for digest in digests}
        rest = [digest for digest in self.left if digest not in carried]
        if self.off or len(rest) < BATCH_FROM:
            yield from self._plain(rest)
            groups: list[list[str]] = []
        else:
            groups = self._groups(rest)
        since = dict.fromkeys(running, _now())
        while running or groups:
            while groups and not self.off and len(running) < self.settings.concurrency:
                group = groups.pop(0)
                batch = self._begin(group)
                if batch:
                    running[batch], since[batch] = group, _now()
                else:
                    yield from self._plain(group)
            if self.off:
                yield from self._plain([digest for group in groups for digest in group])
                groups = []
            brought = False
            for batch in list(running):
                look = self._look(batch)
                if look.state != "waiting":
                    yield from self._take_up(batch, running.pop(batch), look)
                    brought = True
            late = any(_now() - since[batch] > self.settings.timeout_minutes * 60 for batch in running)
            if running and (late or not self.settings.wait) and not (groups and brought):
                break
            if running and not brought:
                self.transport.wait(max(self.settings.poll_seconds, 0.01))
        if self.left:
            self.note(f"{sum(map(len, self.left.values()))} texts wait for a batch; index again later for the results")

    def _running(self) -> dict[str, list[str]]:
        """batch → digests, of those on their way with a text that is still wanted."""
        found: dict[str, list[str]] = {}
        for batch, digests in self.state.batches(self.embedder.fingerprint).items():
            wanted = [digest for digest in digests if digest in self.left]
            if wanted:
                found[batch] = wanted
        if found:
            self.note(f"{sum(map(len, found.values()))} texts are in a batch of an earlier run")
        return found

    def _groups(self, digests: Sequence[str]) -> list[list[str]]:
        from .lengths import tokens

        groups: list[list[str]] = [[]]
        size = 0.0
        for digest in digests:
            more = tokens(self._text(digest))
            if groups[-1] and (len(groups[-1]) >= _TEXTS or size + more > _TOKENS):
                groups.append([])
                size = 0.0
            groups[-1].append(digest)
            size += more
        return groups

    def _text(self, digest: str) -> str:
        return self.embedder.fit(self.texts[self.left[digest][0]])

    def _begin(self, group: Sequence[str]) -> str:
        """Submit a batch; its id, "" where that failed."""
        from .refusals import Unsupported

        try:
            batch = self.wire.begin(self.transport, [(digest, self._text(digest)) for digest in group])
        except Unsupported:
            self.off = True
            self.note("there are no batches here; the texts go in plain requests")
            return ""
        except EmbeddingFault as fault:
            if fault.kind == "auth":
                raise
            self._failed(self._why(fault))
            return ""
        self.state.remember(batch, self.embedder.fingerprint, group)
        self.note(f"a batch of {len(group)} texts is on its way ({batch})")
        return batch

    def _look(self, batch: str) -> Look:
        try:
            return self.wire.look(self.transport, batch)
        except EmbeddingFault as fault:
            if fault.kind == "auth":
                raise
            # A connection that fails now may be there at the next look; a batch that nobody knows will not.
            return Look("failed", self._why(fault)) if fault.lasting else Look("waiting")

    def _take_up(self, batch: str, digests: Sequence[str], look: Look) -> Iterator[tuple[int, Vector]]:
        """What a batch brought that has ended, then the rest of its texts in plain requests."""
        wanted = set(digests)
        for file in look.files:
            try:
                for digest, row in self.wire.answers(self.transport, file):
                    if digest not in wanted or digest not in self.left:
                        continue
                    try:
                        vector = self.embedder.check(row)
                    except ValueError:
                        continue
                    for position in self.left.pop(digest):
                        yield position, vector
            except EmbeddingFault as fault:
                if fault.kind == "auth":
                    raise
                self.note(f"results of {batch} cannot be fetched: {self._why(fault)}")
        missing = [digest for digest in digests if digest in self.left]
        if look.state == "failed" or len(missing) == len(digests):
            self._failed(self.transport.show(look.said) or "it brought nothing")
        else:
            self.failures = 0
        if missing:
            self.note(f"{len(missing)} of {len(digests)} texts of {batch} go in plain requests")
            yield from self._plain(missing)
        self.state.forget(batch)
        for file in look.leftovers:
            try:
                self.wire.discard(self.transport, file)
            except EmbeddingFault as fault:
                self.note(f"{file} stays with the provider: {self._why(fault)}")

    def _why(self, fault: EmbeddingFault) -> str:
        return fault.what.removeprefix(f"{self.wire.name}: ")

    def _failed(self, reason: str) -> None:
        self.failures += 1
        self.note(f"a batch failed: {reason}")
        if self.failures >= _FAILURES and not self.off:
            self.off = True
            self.note("two batches failed one after the other; no more batches in this run")

    def _plain(self, digests: Sequence[str]) -> Iterator[tuple[int, Vector]]:
        step = self.wire.texts_a_request
        for begin in range(0, len(digests), step):
            group = digests[begin : begin + step]
            found = self.embedder.embed_documents([self._text(digest) for digest in group])
            for digest, vector in zip(group, found, strict=True):
                for position in self.left.pop(digest):
                    yield position, vector


class _State:
    """The file that keeps which batches are on their way: batch → fingerprint, digests of its texts, time. One that
    cannot be read counts as empty; no key and no text is in it."""

    def __init__(self, path: str, note: Callable[[str], None]) -> None:
        import json

        self._path, self._note = path, note
        self._batches: dict[str, dict[str, Any]] = {}
        try:
            with open(path, encoding="utf-8") as file:
                kept = json.load(file).get("batches")
            for batch, entry in kept.items():
                fits = isinstance(entry["texts"], list) and all(isinstance(text, str) for text in entry["texts"])
                if fits and _now() - float(entry["since"]) < _LONGEST_KEPT:
                    self._batches[batch] = entry
        except FileNotFoundError:
            pass
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            note(f"the list of batches cannot be read and begins anew ({path})")

    def batches(self, fingerprint: str) -> dict[str, list[str]]:
        return {batch: entry["texts"] for batch, entry in self._batches.items() if entry["fingerprint"] == fingerprint}

    def remember(self, batch: str, fingerprint: str, digests: Sequence[str]) -> None:
        self._batches[batch] = {"fingerprint": fingerprint, "texts": list(digests), "since": int(_now())}
        self._write()

    def forget(self, batch: str) -> None:
        if self._batches.pop(batch, None):
            self._write()

    def _write(self) -> None:
        import json

        temporary = f"{self._path}.{os.getpid()}.tmp"
        try:
            os.makedirs(os.path.dirname(self._path) or ".", exist_ok=True)
            with open(temporary, "w", encoding="utf-8") as file:
                json.dump({"batches": self._batches}, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self._path)
        except OSError as error:
            self._note(f"the list of batches cannot be kept: {error.strerror} ({self._path})")


def _digest(fingerprint: str, text: str) -> str:
    from hashlib import blake2b

    return blake2b(f"{fingerprint}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _now() -> float:
    from time import time

    return time()
