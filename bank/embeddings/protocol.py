"""What every provider of embeddings looks like to the rest of the house."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

from ..errors import MemoryFault

#: A vector as a provider gives it: ``dimensions`` finite numbers, not all zero, of any length, which does not count.
Vector = Sequence[float]


class EmbeddingFault(MemoryFault):
    """A provider could not embed. One line for a person, never with a key in it.

    ``kind``: ``missing`` (package, model file or key not there), ``auth`` (refused key), ``quota`` (rate or money),
    ``network`` (no connection, time-out, cut answer), ``server`` (5xx), ``input`` (the text was refused), ``answer``
    (what came back is not what was asked for: wrong count or width, NaN, zeros, no JSON). ``lasting``: asking again
    soon cannot help.
    """

    def __init__(self, what: str, where: str = "", remedy: str = "", *, kind: str, lasting: bool = False) -> None:
        super().__init__(what, where, remedy)
        self.kind, self.lasting = kind, lasting


class Embedder(Protocol):
    """A model that turns texts into vectors. Making one is cheap: nothing is loaded or asked before the first call."""

    #: ``static``, ``local``, ``openai``, ``gemini``, ``voyage``, or the name of a service that speaks a protocol of
    #: theirs (``services``); and the model's name as its users know it.
    provider: str
    model: str
    #: What vectors depend on besides the text: provider, model, end point, prompt form, asked dimensions, splitting of
    #: long texts. Vectors of two fingerprints are never compared. Holds no secret.
    fingerprint: str
    #: How many numbers a vector has; None until the first answer where only the end point knows.
    dimensions: int | None
    #: Longer texts are split or cut by the provider itself; a caller never has to.
    max_tokens: int

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in order. Raises ``EmbeddingFault``; nothing is returned in part."""

    def embed_query(self, text: str) -> Vector:
        """The vector to compare documents with. Raises ``EmbeddingFault``."""


@runtime_checkable
class Backfiller(Embedder, Protocol):
    """An embedder with a way of its own for many texts at once, such as a provider's batch back end."""

    def backfill(
        self, texts: Sequence[str], state_path: str, note: Callable[[str], None]
    ) -> Iterator[tuple[int, Vector]]:
        """(place in ``texts``, vector) as answers come, in any order, each place at most once.

        ``state_path``: a file in which to keep what a restart needs to go on. ``note`` gets lines for a person. Ends
        early where the rest is not ready yet; raises ``EmbeddingFault``.
        """
