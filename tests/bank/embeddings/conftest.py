"""A server on this machine that speaks the protocols of OpenAI, Gemini and Voyage, batches and files included, and that
can be told to misbehave."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest
from openclaw_memory.bank.embeddings.gemini import GeminiWire
from openclaw_memory.bank.embeddings.openai import OpenAIWire
from openclaw_memory.bank.embeddings.remote import RemoteEmbedder
from openclaw_memory.bank.embeddings.settings import BatchSettings
from openclaw_memory.bank.embeddings.transport import Patience
from openclaw_memory.bank.embeddings.voyage import VoyageWire

#: No test may show it.
SECRET = "sk-test-Vq7Lm2Zx9Rk4Tn8Wd3"
WIDTH = 8
#: The path of a request for vectors.
VECTORS = r"/embeddings(\?|$)|:(embedContent|batchEmbedContents)$"
#: Waits that a test can afford.
QUICK = Patience(connect=2.0, read=2.0, retries=3, backoff=0.01, longest=5.0)


def vector(text: str) -> list[float]:
    """The vector of ``text``: the same numbers in single precision."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return [struct.unpack("f", struct.pack("f", byte / 100 + 0.01))[0] for byte in digest[:WIDTH]]


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Reply(NamedTuple):
    """What to answer instead of vectors. ``cut``: bytes that are promised and do not come. ``delay``: seconds."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = {}
    cut: int = 0
    delay: float = 0.0


class Provider:
    """``plan``: for the next requests for vectors, each a reply, or what is done to the true answer. ``states``: what
    the next looks at a batch find; then it is done. ``refused``: texts that batches bring back with an error.
    ``batch_reply``: to every request that is not for vectors; ``gets``: to the next of them that only read.
    ``gemini_way``: where results are, as ``documented`` or as Google's own ``library`` looks for them."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.plan: list[Reply | Callable[[Any], Any]] = []
        self.states: list[str] = []
        self.refused: set[str] = set()
        self.batch_reply: Reply | None = None
        self.gets: list[Reply | None] = []
        self.gemini_way = "documented"
        self.most_texts = 10_000
        self.most_characters = 10_000_000
        self.size_status = 400
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, str] = {}
        self.lines: Callable[[list[bytes]], list[bytes]] = lambda lines: lines[::-1]
        self.url = ""

    def embeddings(self) -> list[Request]:
        """The requests for vectors, in order."""
        return [found for found in self.requests if re.search(VECTORS, found.path)]

    def counted(self, part: str, method: str = "POST") -> int:
        return sum(found.method == method and part in found.path for found in self.requests)


class Handler(BaseHTTPRequestHandler):
    provider: Provider
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self.handle_one("GET")

    def do_POST(self) -> None:
        self.handle_one("POST")

    def do_DELETE(self) -> None:
        self.handle_one("DELETE")

    def handle_one(self, method: str) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kind = self.headers.get("Content-Type", "")
        body = json.loads(data) if data and kind.startswith("application/json") else data
        self.provider.requests.append(Request(method, self.path, dict(self.headers.items()), body))
        path = self.path.split("?")[0]
        gets = self.provider.gets
        if re.search(VECTORS, path):
            self.embed(path, body)
        elif self.provider.batch_reply:
            self.reply(self.provider.batch_reply)
        elif method == "GET" and gets and (reply := gets.pop(0)):
            self.reply(reply)
        elif "gemini" in path or "v1beta" in path:
            self.gemini_batch(method, path, kind, body)
        else:
            self.openai_batch(method, path, kind, body)

    def reply(self, reply: Reply) -> None:
        time.sleep(reply.delay)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body) + reply.cut))
        self.end_headers()
        self.wfile.write(reply.body)
        if reply.cut:
            self.close_connection = True

    def json(self, answer: Any) -> None:
        self.reply(Reply(body=json.dumps(answer).encode()))

    def embed(self, path: str, body: Any) -> None:
        provider = self.provider
        step = provider.plan.pop(0) if provider.plan else None
        if isinstance(step, Reply):
            return self.reply(step)
        texts = texts_of(path, body)
        if len(texts) > provider.most_texts or any(len(text) > provider.most_characters for text in texts):
            said = {"error": {"message": "This request exceeds the maximum size", "type": "invalid_request_error"}}
            return self.reply(Reply(provider.size_status, json.dumps(said).encode()))
        answer = answer_of(path, body, texts)
        return self.json(step(answer) if step else answer)

    def openai_batch(self, method: str, path: str, kind: str, body: Any) -> None:
        provider = self.provider
        if (method, path) == ("POST", "/v1/files"):
            message = BytesParser().parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
            parts = {
                part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
                for part in message.get_payload()
            }
            assert parts["purpose"] == b"batch"
            name = f"file-{len(provider.files)}"
            provider.files[name] = parts["file"]
            return self.json({"id": name, "object": "file"})
        if (method, path) == ("POST", "/v1/batches"):
            assert body["endpoint"] == "/v1/embeddings"
            assert body["completion_window"] == "24h"
            name = f"batch_{len(provider.batches)}"
            provider.batches[name] = body["input_file_id"]
            return self.json({"id": name, "status": "validating", "output_file_id": None})
        if path.startswith("/v1/batches/"):
            name = path.rpartition("/")[2]
            if name not in provider.batches:
                return self.reply(Reply(404, b'{"error":{"message":"no such batch"}}'))
            status = provider.states.pop(0) if provider.states else "completed"
            answer: dict[str, Any] = {"id": name, "status": status, "output_file_id": None, "error_file_id": ""}
            answer["input_file_id"] = provider.batches[name]
            if status in ("completed", "expired"):
                good, bad = self.openai_results(provider.batches[name], half=status == "expired")
                provider.files["out"], provider.files["err"] = b"\n".join(good) + b"\n", b"\n".join(bad)
                answer["output_file_id"] = "out"
                answer["error_file_id"] = "err" if bad else ""
            if status == "failed":
                answer["errors"] = {"object": "list", "data": [{"message": f"bad input for {SECRET}", "line": 1}]}
            return self.json(answer)
        name = path.split("/")[3]
        if method == "DELETE":
            return self.json({"id": name, "deleted": bool(provider.files.pop(name))})
        return self.reply(Reply(body=provider.files[name]))

    def openai_results(self, file: str, half: bool) -> tuple[list[bytes], list[bytes]]:
        good, bad = [], []
        lines = self.provider.files[file].split(b"\n")
        for line in lines[: len(lines) // 2] if half else lines:
            entry = json.loads(line)
            assert (entry["method"], entry["url"]) == ("POST", "/v1/embeddings")
            (text,) = entry["body"]["input"]
            result: dict[str, Any] = {"id": "r", "custom_id": entry["custom_id"], "error": None}
            if text in self.provider.refused:
                result["response"] = {"status_code": 400, "body": {"error": {"message": "refused"}}}
                bad.append(json.dumps(result).encode())
            else:
                answer = answer_of("/v1/embeddings", entry["body"], [text])
                result["response"] = {"status_code": 200, "body": answer}
                good.append(json.dumps(result).encode())
        return self.provider.lines(good), bad

    def gemini_batch(self, method: str, path: str, kind: str, body: Any) -> None:
        provider = self.provider
        if path == "/upload/v1beta/files":
            message = BytesParser().parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
            about, lines = (part.get_payload(decode=True) for part in message.get_payload())
            assert json.loads(about)["file"]["mimeType"] == "application/jsonl"
            name = f"files/f{len(provider.files)}"
            provider.files[name] = lines
            return self.json({"file": {"name": name, "state": "ACTIVE"}})
        if path.endswith(":asyncBatchEmbedContent"):
            name = f"batches/b{len(provider.batches)}"
            provider.batches[name] = body["batch"]["inputConfig"]["file_name"]
            return self.json({"name": name, "metadata": {"state": "BATCH_STATE_PENDING"}})
        if path.startswith("/v1beta/batches/"):
            name = path.removeprefix("/v1beta/")
            state = provider.states.pop(0) if provider.states else "BATCH_STATE_SUCCEEDED"
            answer: dict[str, Any] = {"name": name, "metadata": {"state": state}}
            if state == "BATCH_STATE_SUCCEEDED":
                answer["done"] = True
                place = answer["metadata"] if provider.gemini_way == "library" else answer
                place["output" if provider.gemini_way == "library" else "response"] = {"responsesFile": "files/out"}
                provider.files["files/out"] = b"\n".join(self.gemini_results(provider.batches[name]))
            if state == "BATCH_STATE_FAILED":
                answer |= {"done": True, "error": {"code": 3, "message": "bad input"}}
            return self.json(answer)
        if path == {"library": "", "documented": "/download"}[provider.gemini_way] + "/v1beta/files/out:download":
            assert "alt=media" in self.path
            return self.reply(Reply(body=provider.files["files/out"]))
        return self.reply(Reply(404, b"{}"))

    def gemini_results(self, file: str) -> list[bytes]:
        results = []
        for line in self.provider.files[file].strip().split(b"\n"):
            entry = json.loads(line)
            text = entry["request"]["content"]["parts"][0]["text"]
            if text in self.provider.refused:
                results.append({"key": entry["key"], "error": {"code": 3, "message": "refused"}})
            else:
                results.append({"key": entry["key"], "response": {"embedding": {"values": vector(text)}}})
        return self.provider.lines([json.dumps(result).encode() for result in results])


def texts_of(path: str, body: Any) -> list[str]:
    if path.endswith(":embedContent"):
        return [body["content"]["parts"][0]["text"]]
    if path.endswith(":batchEmbedContents"):
        return [one["content"]["parts"][0]["text"] for one in body["requests"]]
    assert isinstance(body["input"], list)
    return list(body["input"])


def answer_of(path: str, body: Any, texts: list[str]) -> Any:
    asked = [body, *body.get("requests", [])][-1]
    width = next(
        (asked[name] for name in ("dimensions", "output_dimension", "outputDimensionality") if name in asked), 99
    )
    rows = [vector(text)[:width] for text in texts]
    if path.endswith(":embedContent"):
        return {"embedding": {"values": rows[0]}}
    if path.endswith(":batchEmbedContents"):
        return {"embeddings": [{"values": row} for row in rows]}
    coded: list[Any] = list(rows)
    if body.get("encoding_format") == "base64":
        coded = [base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode() for row in rows]
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(coded)]
    return {"object": "list", "data": data, "model": body["model"], "usage": {"total_tokens": 1}}


@pytest.fixture
def provider() -> Iterator[Provider]:
    yield from served()


@pytest.fixture
def elsewhere() -> Iterator[Provider]:
    """A second host."""
    yield from served()


def served() -> Iterator[Provider]:
    """One such server, until the iterator goes on."""
    provider = Provider()
    handler = type("Bound", (Handler,), {"provider": provider})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    # A client that was killed is no fault of the server's.
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    provider.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield provider
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def embedder(provider: Provider) -> Iterator[Callable[..., RemoteEmbedder]]:
    """Makes embedders for a protocol's name that ask the server on this machine."""
    made: list[RemoteEmbedder] = []

    def make(
        name: str, model: str = "", key: str = SECRET, dimensions: int | None = None, **more: Any
    ) -> RemoteEmbedder:
        wire: Any
        if name == "gemini":
            wire = GeminiWire(model, f"{provider.url}/v1beta", dimensions)
        elif name == "voyage":
            wire = VoyageWire(model, f"{provider.url}/v1", dimensions)
        else:
            wire = OpenAIWire(model, f"{provider.url}/v1", dimensions)
        more.setdefault("patience", QUICK)
        more.setdefault("query_patience", QUICK)
        more.setdefault("batch", BatchSettings(enabled=True, poll_seconds=0.01))
        made.append(RemoteEmbedder(wire, key, dimensions=dimensions, **more))
        return made[-1]

    yield make
    for one in made:
        one.close()
