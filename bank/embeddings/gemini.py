"""The Gemini protocol: one text or up to a hundred a request, and batches of them through uploaded files.

``gemini-embedding-001`` is told by ``taskType`` whether it reads a question or a document (2,048 tokens a text); the
models of the second generation take that as words before the text (8,192 tokens). Widths below a model's own are not
normalised by the provider; cosine does not mind. A batch is a long-running operation, ``batches/…``; its states are
spelled ``BATCH_STATE_…`` or ``JOB_STATE_…``, and its file of results stands in either of two places.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .batch import Look, entries_of, json_lines
from .refusals import Unsupported
from .transport import Transport

BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
MODEL = "gemini-embedding-001"
_BOUNDARY = "openclaw-memory-part"


class GeminiWire:
    """What is sent to and read from Gemini. ``dimensions``: as asked for, or None."""

    provider = "gemini"
    name = "gemini"
    texts_a_request = 100
    tokens_a_request = 100_000
    batches = True

    def __init__(self, model: str = "", base_url: str = "", dimensions: int | None = None) -> None:
        bare = model.strip().removeprefix("models/")
        self.model = bare.removeprefix("google/").removeprefix("gemini/") or MODEL
        self.base_url = re.sub(r"/openai/?$", "", base_url.rstrip("/")) or BASE_URL
        self._dimensions = dimensions
        self._prompts = self.model.startswith("gemini-embedding-2")
        self.max_tokens = 8000 if self._prompts else 2000
        self.form = "prompts" if self._prompts else "task types"

    def headers(self, key: str) -> dict[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def _one(self, text: str, query: bool) -> dict[str, Any]:
        if self._prompts:
            text = f"task: search result | query: {text}" if query else f"title: none | text: {text}"
        body: dict[str, Any] = {"model": f"models/{self.model}", "content": {"parts": [{"text": text}]}}
        if not self._prompts:
            body["taskType"] = "RETRIEVAL_QUERY" if query else "RETRIEVAL_DOCUMENT"
        if self._dimensions:
            body["outputDimensionality"] = self._dimensions
        return body

    def request(self, texts: Sequence[str], query: bool) -> tuple[str, Any]:
        """(path, body) of the request for the vectors of ``texts``."""
        path = f"/models/{self.model}"
        if query and len(texts) == 1:
            return f"{path}:embedContent", self._one(texts[0], True)
        return f"{path}:batchEmbedContents", {"requests": [self._one(text, query) for text in texts]}

    def rows(self, answer: Any, count: int) -> list[Any]:
        """The rows of an answer, in the order of the texts; ``ValueError`` where it is another."""
        found = answer if isinstance(answer, dict) else {}
        data = [found["embedding"]] if "embedding" in found else found.get("embeddings")
        if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
            raise ValueError("the answer holds no vectors")
        if len(data) != count:
            raise ValueError(f"{len(data)} vectors for {count} texts")
        return [row.get("values") for row in data]

    def begin(self, transport: Transport, texts: Iterable[tuple[str, str]]) -> str:
        """Submit a batch of (id, text); the batch's own id."""
        lines = json_lines({"key": name, "request": self._one(text, False)} for name, text in texts)
        about = json_lines([{"file": {"displayName": "openclaw-memory", "mimeType": "application/jsonl"}}])
        parts = ((b"application/json; charset=UTF-8", about), (b"application/jsonl; charset=UTF-8", lines))
        mark = _BOUNDARY.encode()
        data = b"".join(b"--%s\r\nContent-Type: %s\r\n\r\n%s\r\n" % (mark, kind, part) for kind, part in parts)
        data += b"--%s--\r\n" % mark
        kind = f"multipart/related; boundary={_BOUNDARY}"
        where = f"{_route(transport.base_url, 'upload')}/files?uploadType=multipart"
        uploaded = transport.json_of(transport.send("POST", where, data, {"Content-Type": kind}, "uploading a batch"))
        file = uploaded.get("file", uploaded) if isinstance(uploaded, dict) else {}
        name = file.get("name") if isinstance(file, dict) else None
        if not isinstance(name, str):
            transport.refuse("the uploaded file has no name")
        order = {"batch": {"displayName": "openclaw-memory", "inputConfig": {"file_name": name}}}
        answer = transport.json("POST", f"/models/{self.model}:asyncBatchEmbedContent", order, doing="ordering a batch")
        batch = answer.get("name") if isinstance(answer, dict) else None
        if not isinstance(batch, str) or not batch:
            transport.refuse("the batch has no name")
        return batch

    def look(self, transport: Transport, batch: str) -> Look:
        """How far a batch is."""
        found = transport.json("GET", f"/batches/{batch.removeprefix('batches/')}", doing="looking after a batch")
        found = found if isinstance(found, dict) else {}
        about, response, error = (_inner(found, name) for name in ("metadata", "response", "error"))
        state = re.sub(r"^(BATCH|JOB)_STATE_", "", str(about.get("state") or found.get("state") or ""))
        if error or state in ("FAILED", "CANCELLED", "CANCELED", "EXPIRED"):
            return Look("failed", str(error.get("message") or state.lower()))
        file = response.get("responsesFile") or _inner(about, "output").get("responsesFile")
        # The file may come a moment after the state that promises it.
        return (
            Look("done", files=(str(file),))
            if file and (found.get("done") or state == "SUCCEEDED")
            else Look("waiting")
        )

    def answers(self, transport: Transport, file: str) -> Iterator[tuple[str, Any]]:
        """(id, row) for each line of a file of results; None for a row where a text was refused."""
        path = f"/files/{file.removeprefix('files/')}:download?alt=media"
        try:
            where = _route(transport.base_url, "download") + path
            content = transport.send("GET", where, None, {}, "fetching a batch")
        except Unsupported:
            content = transport.send("GET", path, None, {}, "fetching a batch")
        for entry in entries_of(content):
            name = next((entry[word] for word in ("key", "custom_id", "request_id") if entry.get(word)), None)
            if isinstance(name, str):
                inner = _inner(_inner(entry, "response"), "embedding") or _inner(entry, "embedding")
                yield name, inner.get("values")

    def discard(self, transport: Transport, file: str) -> None:
        """Nothing: the provider itself takes files away after two days."""


def _inner(answer: dict[str, Any], name: str) -> dict[str, Any]:
    found = answer.get(name)
    return found if isinstance(found, dict) else {}


def _route(base_url: str, way: str) -> str:
    """Where files go up or come down: the word stands before the version in the path."""
    head, slash, version = base_url.rpartition("/")
    versioned = bool(re.fullmatch(r"v\d+\w*", version))
    return f"{head}/{way}{slash}{version}" if versioned else f"{base_url}/{way}"
