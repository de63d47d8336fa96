"""The Voyage protocol: that of OpenAI for embeddings, with its own names, and with a form for questions and one for
documents (the provider puts a prompt before each).

Limits: 32,000 tokens a text, 1,000 texts a request, and as many tokens a request as the model's size allows.
"""

from collections.abc import Sequence
from typing import Any

from .rows import by_index

BASE_URL = "https://api.voyageai.com/v1"
MODEL = "voyage-4-large"


class VoyageWire:
    """What is sent to and read from Voyage. ``dimensions``: as asked for, or None."""

    provider = "voyage"
    name = "voyage"
    max_tokens = 32_000
    texts_a_request = 128
    batches = False
    form = "query/document"

    def __init__(self, model: str = "", base_url: str = "", dimensions: int | None = None) -> None:
        self.model = (model or MODEL).removeprefix("voyage/")
        self.base_url = base_url or BASE_URL
        self._dimensions = dimensions
        self._compact = not base_url
        # Half of 1,000,000, 320,000 and 120,000: what is counted here is an estimate.
        lite = self.model.endswith("-lite")
        middle = self.model in ("voyage-4", "voyage-3.5", "voyage-3", "voyage-2")
        self.tokens_a_request = 500_000 if lite else 160_000 if middle else 60_000

    def headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def request(self, texts: Sequence[str], query: bool) -> tuple[str, Any]:
        """(path, body) of the request for the vectors of ``texts``."""
        body: dict[str, Any] = {"model": self.model, "input": list(texts), "truncation": True}
        body["input_type"] = "query" if query else "document"
        if self._compact:
            body["encoding_format"] = "base64"
        if self._dimensions:
            body["output_dimension"] = self._dimensions
        return "/embeddings", body

    def rows(self, answer: Any, count: int) -> list[Any]:
        """The rows of an answer, in the order of the texts; ``ValueError`` where it is another."""
        return by_index(answer, count)
