"""The OpenAI protocol: embeddings, and batches of them through uploaded files. Many other servers speak its first half.

Limits of OpenAI's own end point: 8,191 tokens a text, 2,048 texts and 300,000 tokens a request; 50,000 texts and 200 MB
a batch. Questions and documents have one form, unless the server wants an ``input_type``.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .batch import Look, entries_of, json_lines
from .rows import by_index
from .transport import FOR_QUERY, Transport

BASE_URL = "https://api.openai.com/v1"
MODEL = "text-embedding-3-small"


class OpenAIWire:
    """What is sent to and read from a server of the OpenAI protocol. ``dimensions``: as asked for, or None.
    ``name``: what messages call it."""

    provider = "openai"
    max_tokens = 8000
    texts_a_request = 256
    tokens_a_request = 100_000
    batches = True

    def __init__(
        self,
        model: str = "",
        base_url: str = "",
        dimensions: int | None = None,
        query_input_type: str = "",
        document_input_type: str = "",
        name: str = "openai",
    ) -> None:
        self.name = name
        self.model = (model or MODEL).removeprefix("openai/") if not base_url else model or MODEL
        self.base_url = base_url or BASE_URL
        self._dimensions = dimensions
        self._types = {True: query_input_type, False: document_input_type}
        self._compact = not base_url
        self.form = f"{query_input_type}/{document_input_type}" if any(self._types.values()) else ""

    def headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def request(self, texts: Sequence[str], query: bool) -> tuple[str, Any]:
        """(path, body) of the request for the vectors of ``texts``."""
        body: dict[str, Any] = {"model": self.model, "input": list(texts)}
        if self._compact:
            body["encoding_format"] = "base64"
        if self._dimensions:
            body["dimensions"] = self._dimensions
        if self._types[query]:
            body["input_type"] = self._types[query]
        return "/embeddings", body

    def rows(self, answer: Any, count: int) -> list[Any]:
        """The rows of an answer, in the order of the texts; ``ValueError`` where it is another."""
        return by_index(answer, count)

    def begin(self, transport: Transport, texts: Iterable[tuple[str, str]]) -> str:
        """Submit a batch of (id, text); the batch's own id."""
        from urllib3.filepost import encode_multipart_formdata

        lines = (
            {"custom_id": name, "method": "POST", "url": "/v1/embeddings", "body": self.request([text], False)[1]}
            for name, text in texts
        )
        file = ("embeddings.jsonl", json_lines(lines), "application/jsonl")
        data, kind = encode_multipart_formdata({"purpose": "batch", "file": file})
        uploaded = transport.json_of(
            transport.send("POST", "/files", data, {"Content-Type": kind}, "uploading a batch")
        )
        order = {
            "input_file_id": _text(uploaded, "id", transport),
            "endpoint": "/v1/embeddings",
            "completion_window": "24h",
        }
        return _text(transport.json("POST", "/batches", order, doing="ordering a batch"), "id", transport)

    def look(self, transport: Transport, batch: str) -> Look:
        """How far a batch is. One that expired or was cancelled may have answers too."""
        found = transport.json("GET", f"/batches/{batch}", doing="looking after a batch")
        status = found.get("status") if isinstance(found, dict) else None
        if status not in ("completed", "failed", "expired", "cancelled"):
            return Look("waiting")
        files = tuple(str(found[name]) for name in ("output_file_id", "error_file_id") if found.get(name))
        errors = found.get("errors")
        data = errors.get("data") if isinstance(errors, dict) else None
        said = data[0].get("message") if isinstance(data, list) and data and isinstance(data[0], dict) else ""
        leftovers = (*files, *(str(found[name]) for name in ("input_file_id",) if found.get(name)))
        return Look("done" if status == "completed" else "failed", str(said or status), files, leftovers)

    def answers(self, transport: Transport, file: str) -> Iterator[tuple[str, Any]]:
        """(id, row) for each line of a file of results; None for a row where a text was refused."""
        content = transport.send("GET", f"/files/{file}/content", None, {}, "fetching a batch")
        for entry in entries_of(content):
            response = entry.get("response")
            if not isinstance(entry.get("custom_id"), str):
                continue
            row = None
            if isinstance(response, dict) and response.get("status_code") == 200 and not entry.get("error"):
                try:
                    row = by_index(response.get("body"), 1)[0]
                except ValueError:
                    row = None
            yield entry["custom_id"], row

    def discard(self, transport: Transport, file: str) -> None:
        """Take a file from the provider: it holds what the user wrote, and would stay for a month."""
        transport.send("DELETE", f"/files/{file}", None, {}, "tidying up after a batch", FOR_QUERY)


def _text(answer: Any, name: str, transport: Transport) -> str:
    found = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(found, str) or not found:
        transport.refuse(f"the answer has no {name}")
    return found
