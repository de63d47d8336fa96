"""The built-in model's space, kept complete: every passage has its vector in the transaction that writes the passage.

The built-in model is a sum over a table, not work that a transaction should not wait for; so an index is never without
vectors, whatever becomes of the provider that somebody has configured.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from . import spaces
from .driver import Connection
from .embeddings.protocol import EmbeddingFault
from .embeddings.static import StaticEmbedder
from .vectors import quantised

_BATCH = 2000


@cache
def static_embedder() -> StaticEmbedder | None:
    """The built-in model; None for a package without its table, which still finds by words."""
    try:
        return StaticEmbedder()
    except EmbeddingFault:
        return None


def model_mark() -> str:
    """What the built-in model's vectors depend on."""
    embedder = static_embedder()
    return embedder.fingerprint if embedder else "none"


def embedded_text(text: str, details: str) -> str:
    """What is embedded of a passage."""
    return f"{text}\n{details}" if details else text


def vectors_of(connection: Connection, file: int) -> dict[str, bytes]:
    """The vectors of a file's passages, by the text that they were made of."""
    rows = connection.execute(
        "SELECT p.text, p.details, v.vector FROM passages p JOIN static_vectors v ON v.passage = p.id WHERE p.file = ?",
        (file,),
    )
    return {embedded_text(text, details): vector for text, details, vector in rows}


def fill(connection: Connection, files: Iterable[int], known: Mapping[str, bytes]) -> None:
    """Give vectors to the passages of some files that have none: ``known`` ones, else the model's.

    A text that the model knows no word of gets none. Inside the caller's transaction.
    """
    embedder = static_embedder()
    if embedder is None:
        return
    pending: list[tuple[int, str, str]] = []
    for file in files:
        passages = connection.execute(
            "SELECT id, key, text, details FROM passages WHERE file = ? ORDER BY position", (file,)
        )
        pending += [(passage, key, embedded_text(text, details)) for passage, key, text, details in passages]
    for start in range(0, len(pending), _BATCH):
        part = pending[start : start + _BATCH]
        new = list(dict.fromkeys(text for _, _, text in part if text not in known))
        made = dict(zip(new, map(quantised, embedder.embed_documents(new)), strict=True)) if new else {}
        found = ((passage, key, known.get(text) or made.get(text)) for passage, key, text in part)
        rows = [spaces.Row(passage, key, vector) for passage, key, vector in found if vector]
        spaces.insert(connection, spaces.STATIC, rows)
    spaces.keep_in_step(connection, spaces.STATIC)
