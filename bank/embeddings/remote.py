"""A provider across the network as an embedder: requests as large as it takes, each answer checked.

How much a provider takes is learned: a request that is refused for its size is halved, and the smaller number of texts
is kept for what follows. A single text that is refused is cut to half its length, and again, until it is taken; that
is worked out anew each time, so that the vector of a text depends on nothing but the text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .lengths import cut, tokens
from .protocol import EmbeddingFault, Vector
from .refusals import TooLarge
from .rows import vector_of
from .settings import BatchSettings
from .transport import FOR_DOCUMENTS, FOR_QUERY, Patience, Transport

if TYPE_CHECKING:
    from .batch import Look

#: Tokens; a text that is refused even so is refused for another reason.
_SHORTEST = 8
#: What stands in for a text without a letter: no provider embeds an empty one.
_BLANK = "."


class Wire(Protocol):
    """The protocol of a provider: what is sent, and what the answer means. ``provider``: whose protocol it is, for the
    fingerprint; ``name``: the service that is asked, as settings and messages call it. ``form``: how questions differ
    from documents, for the fingerprint. ``batches``: whether it is a ``BatchWire``."""

    provider: str
    name: str
    model: str
    base_url: str
    form: str
    max_tokens: int
    texts_a_request: int
    tokens_a_request: int
    batches: bool

    def headers(self, key: str) -> dict[str, str]: ...

    def request(self, texts: Sequence[str], query: bool) -> tuple[str, Any]: ...

    def rows(self, answer: Any, count: int) -> list[Any]: ...


class BatchWire(Wire, Protocol):
    """A protocol that has batches."""

    def begin(self, transport: Transport, texts: Sequence[tuple[str, str]]) -> str: ...

    def look(self, transport: Transport, batch: str) -> "Look": ...

    def answers(self, transport: Transport, file: str) -> Iterator[tuple[str, Any]]: ...

    def discard(self, transport: Transport, file: str) -> None: ...


class RemoteEmbedder:
    """An ``Embedder`` that asks a provider. ``key`` "" sends none; ``headers`` go with each request, in the
    place of the protocol's own. Making one asks nothing; it raises ``EmbeddingFault`` for an address that is none."""

    def __init__(
        self,
        wire: Wire,
        key: str = "",
        headers: Mapping[str, str] | None = None,
        dimensions: int | None = None,
        batch: BatchSettings | None = None,
        *,
        patience: Patience = FOR_DOCUMENTS,
        query_patience: Patience = FOR_QUERY,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self.wire, self.batch = wire, batch or BatchSettings()
        self.provider, self.model, self.max_tokens = wire.name, wire.model, wire.max_tokens
        self.dimensions = dimensions
        own = {name.casefold(): name for name in headers or {}}
        sent = {name: value for name, value in wire.headers(key).items() if name.casefold() not in own}
        self.transport = Transport(wire.name, wire.base_url, {**sent, **(headers or {})}, patience, sleep)
        width = dimensions or "own"
        form = f" {wire.form}" if wire.form else ""
        self.fingerprint = (
            f"{wire.provider} {wire.model} at {self.transport.base_url}, width {width},{form} cut {wire.max_tokens}"
        )
        self._query_patience = query_patience
        self._most = wire.texts_a_request
        self._cuts = 0

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in order. Raises ``EmbeddingFault``; nothing is returned in part."""
        return self._in_requests([self.fit(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        """The vector to compare documents with. Somebody waits for it: one repetition, ten seconds for an answer."""
        return self._embed([self.fit(text)], True)[0]

    def backfill(
        self, texts: Sequence[str], state_path: str, note: Callable[[str], None]
    ) -> Iterator[tuple[int, Vector]]:
        """(position, vector) for each of ``texts``, as they come and in no order: through the provider's batches where
        those are switched on and there are many texts, else in plain requests.

        ``state_path``: a file that keeps which batches are on their way, so that another run takes up their results.
        ``note`` gets a line for a person now and then. Ends early, with such a line, where some texts still wait for
        their batch (call again later). Raises ``EmbeddingFault`` as ``embed_documents`` does.
        """
        from .batch import backfill

        return backfill(self, texts, state_path, note)

    def close(self) -> None:
        """Give the connections back. The embedder can be used again."""
        self.transport.close()

    def fit(self, text: str) -> str:
        """``text`` as it is sent: neither blank nor too long."""
        return cut(text, self.max_tokens) if text.strip() else _BLANK

    def check(self, row: Any) -> Vector:
        """A row of an answer as a vector; raises ``ValueError`` for one that is none. The first sets the width."""
        vector = vector_of(row, self.dimensions)
        self.dimensions = len(vector)
        return vector

    def _in_requests(self, texts: Sequence[str]) -> list[Vector]:
        vectors: list[Vector] = []
        while len(vectors) < len(texts):
            group: list[str] = []
            size = 0.0
            for text in texts[len(vectors) : len(vectors) + self._most]:
                size += tokens(text)
                if group and size > self.wire.tokens_a_request:
                    break
                group.append(text)
            vectors += self._embed(group, False)
        return vectors

    def _embed(self, texts: Sequence[str], query: bool) -> list[Vector]:
        try:
            return self._ask(texts, query)
        except TooLarge as fault:
            if len(texts) == 1:
                return self._shortened(texts[0], query, fault)
        half, cuts = (len(texts) + 1) // 2, self._cuts
        vectors = self._embed(texts[:half], query) + self._in_requests(texts[half:])
        if cuts == self._cuts:
            # Every text was taken as it is: it was their number that was too large.
            self._most = min(self._most, half)
        return vectors

    def _shortened(self, text: str, query: bool, fault: TooLarge) -> list[Vector]:
        self._cuts += 1
        most = min(float(self.max_tokens), tokens(text)) / 2
        while most >= _SHORTEST:
            try:
                return self._ask([cut(text, most)], query)
            except TooLarge as again:
                fault = again
            most /= 2
        raise EmbeddingFault(
            fault.what, fault.where, "the text is refused at any length; check the model", kind="input", lasting=True
        )

    def _ask(self, texts: Sequence[str], query: bool) -> list[Vector]:
        path, body = self.wire.request(texts, query)
        doing = "embedding the question" if query else "embedding"
        answer = self.transport.json("POST", path, body, doing, self._query_patience if query else None)
        try:
            return [self.check(row) for row in self.wire.rows(answer, len(texts))]
        except ValueError as error:
            self.transport.refuse(str(error))
