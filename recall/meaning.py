"""What a question means, as a vector, and how near passages and their neighbours come to it."""

from collections.abc import Sequence
from typing import NamedTuple

from ..bank import spaces
from ..bank.driver import Connection
from ..bank.embeddings.pause import pause, paused
from ..bank.embeddings.protocol import Embedder, EmbeddingFault
from ..bank.vectors import Query, quantised
from ..bank.workspace import Workspace
from .filters import Condition

#: How many of the nearest passages become candidates.
NEAREST = 100
#: Passages whose cosine is below this have nothing to do with the question.
LEAST = 0.1
#: Where fewer than one in so many passages has no vector (a text that the provider refuses), the others are compared.
FEW_LACK = 50
_PART = 500


class Meaning(NamedTuple):
    """A question's vector, and the space that it is compared in."""

    query: Query
    space: str


class Understood(NamedTuple):
    """``meaning``: None where only words are compared. ``provider``, ``model``: what made the vector ("none", "").
    ``reason``: why that one. ``fallback``: the provider that should have, or "". ``warning``: a line, or ""."""

    meaning: Meaning | None
    provider: str
    model: str
    reason: str
    fallback: str
    warning: str


#: For a question that has nothing to compare: nobody is asked.
NO_MEANING = Understood(None, "none", "", "the question has no words of its own to compare in meaning", "", "")


def understand(workspace: Workspace, connection: Connection, text: str, bare: str) -> Understood:
    """A question's meaning by the provider that is configured, if it answers and has embedded every passage; else by
    the built-in model, unless ``fallback`` is ``none``. Never raises for what a provider does.

    ``bare``: the question without the names that most passages hold. The built-in model, which adds words up, is given
    that; a model that reads sentences is given the question.
    """
    choice = workspace.models.choice()
    if choice.embedder is None:
        return Understood(None, "none", "", choice.reason, choice.fallback_from, choice.warning)
    if choice.embedder.provider == "static":
        return _static(choice.embedder, bare, choice.reason, choice.fallback_from, choice.warning)
    named = f"{choice.embedder.provider} {choice.embedder.model}".strip()
    left = spaces.pending(connection, choice.embedder.fingerprint)
    total = connection.execute("SELECT count(*) FROM passages").fetchone()[0]
    problem = told = ""
    if left * FEW_LACK > total:
        problem = f"{left} passages are not embedded by {named} yet"
        told = f"{problem} (`openclaw memory index` does that)"
    failing = paused(workspace.index_dir, choice.embedder.fingerprint)
    problem, told = failing or problem, failing or told
    if not problem:
        try:
            vector = _checked(connection, choice.embedder, text)
            return Understood(
                Meaning(Query(vector), spaces.MODEL),
                choice.embedder.provider,
                choice.embedder.model,
                choice.reason,
                choice.fallback_from,
                choice.warning,
            )
        except EmbeddingFault as fault:
            pause(workspace.index_dir, choice.embedder.fingerprint, fault)
            problem = told = str(fault)
    if workspace.models.settings.fallback == "none":
        return Understood(None, "none", "", problem, choice.embedder.provider, f"{told}; keyword search answers")
    from ..bank.embeddings.static import StaticEmbedder

    warning = f"{told}; the built-in model answers"
    return _static(StaticEmbedder(), bare, problem, choice.embedder.provider, warning)


def _static(embedder: Embedder, text: str, reason: str, fallback: str, warning: str) -> Understood:
    try:
        vector = quantised(embedder.embed_query(text))
    except EmbeddingFault as fault:
        return Understood(None, "none", "", str(fault), embedder.provider, f"{fault}; keyword search answers")
    meaning = Meaning(Query(vector), spaces.STATIC) if vector else None
    return Understood(meaning, embedder.provider, embedder.model, reason, fallback, warning)


def _checked(connection: Connection, embedder: Embedder, text: str) -> bytes:
    """The question's vector by a provider, of the width that the passages' vectors have.

    Raises ``EmbeddingFault`` where it has another, and ``ValueError`` where the passages' own are of several: damage.
    """
    vector = quantised(embedder.embed_query(text))
    row = connection.execute("SELECT length(vector) FROM model_vectors LIMIT 1").fetchone()
    if vector is None or (row and row[0] != len(vector)):
        same = "SELECT 1 FROM model_vectors WHERE length(vector) = ? LIMIT 1"
        if vector and connection.execute(same, (len(vector),)).fetchone():
            raise ValueError("vectors of several widths in the index")
        raise EmbeddingFault(
            f"{embedder.provider} {embedder.model}: the question's vector does not fit the passages'",
            remedy="check which model answers, then run `openclaw memory reset --embeddings`",
            kind="answer",
        )
    return vector


def by_meaning(connection: Connection, meaning: Meaning, where: Condition) -> dict[int, float]:
    """The passages nearest to a question, as far as they have anything to do with it: id to cosine."""
    found = spaces.nearest(connection, meaning.space, meaning.query, NEAREST, where)
    return {passage: cosine for passage, cosine in found.items() if cosine >= LEAST}


def neighbours(connection: Connection, passages: Sequence[int]) -> dict[int, list[int]]:
    """For each passage those right before and after it in the same section."""
    found: dict[int, list[int]] = {}
    for start in range(0, len(passages), _PART):
        part = passages[start : start + _PART]
        rows = connection.execute(
            "SELECT p.id, n.id FROM passages p JOIN passages n ON n.file = p.file"
            " AND n.position IN (p.position - 1, p.position + 1) AND n.heading = p.heading"
            f" WHERE p.id IN ({', '.join('?' * len(part))})",
            part,
        )
        for passage, beside in rows:
            found.setdefault(passage, []).append(beside)
    return found


class Nearness(NamedTuple):
    """``own``: the cosine of each passage that has a vector; ``beside``: the best of its neighbours'. ``vectors``: all
    that were compared."""

    own: dict[int, float]
    beside: dict[int, float]
    vectors: dict[int, bytes]


def nearness(connection: Connection, meaning: Meaning, passages: Sequence[int]) -> Nearness:
    """How near passages, and those right before and after them, come to a question."""
    around = neighbours(connection, passages)
    wanted = dict.fromkeys(passages)
    for others in around.values():
        wanted.update(dict.fromkeys(others))
    vectors = spaces.vectors(connection, meaning.space, list(wanted))
    cosines = meaning.query.cosines(vectors)
    beside = {p: max((cosines[o] for o in others if o in cosines), default=0.0) for p, others in around.items()}
    return Nearness({p: cosines[p] for p in passages if p in cosines}, beside, vectors)
