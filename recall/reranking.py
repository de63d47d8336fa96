"""The optional last step: a model that reads question and passage together puts the first results in its own order.

Off unless ``rerank.model`` is configured. What holds an identifier of the question stays in front; if the model fails,
everything stays where it is.
"""

from collections.abc import Sequence

from ..bank.embeddings.protocol import EmbeddingFault
from ..bank.workspace import Workspace
from .bundle import Ranked, content

#: How many results the model reads.
RERANKED = 30


def reranked(workspace: Workspace, question: str, ranked: Sequence[Ranked]) -> tuple[list[Ranked], str]:
    """The candidates, the first of them as the model orders them, and a warning ("" where there is none).

    The scores stay where they are and the candidates move, so that a place means what it meant.
    """
    reranker = workspace.models.reranker()
    fixed = [one for one in ranked[:RERANKED] if "exact" in one.signals]
    moving = [one for one in ranked[:RERANKED] if "exact" not in one.signals]
    if reranker is None or len(moving) < 2:
        return list(ranked), ""
    try:
        values = reranker.rank(question, [content(one.passage) for one in moving])
    except EmbeddingFault as fault:
        return list(ranked), f"{fault}; the results are not reranked"
    places = sorted(range(len(moving)), key=lambda place: (-values[place], place))
    head = [*fixed, *(moving[place] for place in places)]
    scores = [one.score for one in ranked[:RERANKED]]
    moved = [one._replace(score=score) for one, score in zip(head, scores, strict=True)]
    return [*moved, *ranked[RERANKED:]], ""
