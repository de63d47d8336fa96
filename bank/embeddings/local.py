"""The provider ``local``: a GGUF embedding model of the user's own, run by llama.cpp in this process.

Models of search want to be told what a text is; each family has its own words for it, known by the file's architecture
and name. A text longer than the model's window is cut into windows of equal length, embedded one by one, and averaged
by their numbers of tokens.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from .gguf_header import GgufHeader, content_mark, read_header
from .gguf_model import LLAMA, MEAN, POOLING_NAMES, RANK, GgufModel, window_of
from .model_files import DEFAULT_MODEL, model_file
from .protocol import EmbeddingFault, Vector

#: In the fingerprint: to be raised when the way from text to vector changes.
METHOD = "1"
UNKNOWN = "no model file"


class Form(NamedTuple):
    """What stands before a query and before a document."""

    name: str
    query: str
    document: str


#: The words are those of the models' own cards.
PLAIN = Form("plain", "", "")
GEMMA = Form("gemma", "task: search result | query: ", "title: none | text: ")
NOMIC = Form("nomic", "search_query: ", "search_document: ")
E5 = Form("e5", "query: ", "passage: ")
TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
QWEN3 = Form("qwen3", TASK, "")
E5_INSTRUCT = Form("e5-instruct", TASK + " ", "")


def form_of(header: GgufHeader, file_name: str) -> Form:
    """The prompt form of a model, from its architecture, its name and its file's name."""
    names = " ".join((header.text("general.name"), header.text("general.basename"), file_name)).lower()
    if header.architecture == "gemma-embedding" or re.search(r"embedding[ _-]?gemma", names):
        return GEMMA
    if header.architecture.startswith("nomic-bert") or "nomic-embed" in names:
        return NOMIC
    if header.architecture == "qwen3" and re.search(r"embed", names):
        return QWEN3
    if re.search(r"(?<![a-z0-9])e5(?![a-z0-9])", names):
        return E5_INSTRUCT if "instruct" in names else E5
    return PLAIN


class _Source(NamedTuple):
    """The model's file and what its header says."""

    path: Path
    header: GgufHeader
    form: Form
    pooling: int
    window: int
    fingerprint: str


class LocalEmbedder:
    """An ``Embedder`` over a GGUF file.

    ``model_path`` is a path or ``hf:`` reference (see ``model_files``), "" the default model. With ``download`` a model
    that is not on this machine is fetched, at the first call or when ``fingerprint`` is first asked for. ``threads``: 0
    is a sensible number of them. Calls from several threads of the process wait for each other.
    """

    provider = "local"
    #: File name, size, a hash of both its ends, prompt form, pooling and window: the folder may change, the model not.
    fingerprint: str
    dimensions: int | None
    max_tokens: int

    def __init__(self, model_path: str = "", cache_dir: str = "", *, download: bool = False, threads: int = 0) -> None:
        self._reference, self._cache_dir, self._download = model_path.strip() or DEFAULT_MODEL, cache_dir, download
        self._is_default, self._threads = not model_path.strip(), threads
        self._source: _Source | None = None
        self._model: GgufModel | None = None
        self._download_fault: EmbeddingFault | None = None
        self.model = re.split(r"[/\\]", self._reference.partition("#")[0])[-1]

    def __getattr__(self, name: str) -> Any:
        """What the model's file says is read when it is first asked for. Where there is no readable file,
        ``fingerprint`` is that of no vector (asking raises nothing: embedding does)."""
        if name not in ("fingerprint", "dimensions", "max_tokens"):
            raise AttributeError(name)
        try:
            self._read()
        except EmbeddingFault:
            return {"fingerprint": f"local:{self.model}:{UNKNOWN}", "dimensions": None, "max_tokens": 512}[name]
        return self.__dict__[name]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector for each text, in order. Raises ``EmbeddingFault``."""
        with LLAMA:
            return [self._embed(text, "document") for text in texts]

    def embed_query(self, text: str) -> Vector:
        """The unit vector to compare documents with. Raises ``EmbeddingFault``."""
        with LLAMA:
            return self._embed(text, "query")

    def close(self) -> None:
        """Give the model's memory back; a later call loads it again."""
        with LLAMA:
            if self._model is not None:
                self._model.close()
            self._model = self._source = None

    def _read(self) -> _Source:
        """Find the model's file and read its header, once. Raises ``EmbeddingFault``."""
        if self._source is None:
            self._source = source = self._find()
            header = source.header
            self.fingerprint, self.max_tokens = source.fingerprint, source.window
            self.dimensions = header.number("embedding_length_out") or header.number("embedding_length")
        return self._source

    def _find(self) -> _Source:
        if self._download_fault is not None:
            raise self._download_fault
        try:
            path = model_file("" if self._is_default else self._reference, self._cache_dir, download=self._download)
        except EmbeddingFault as fault:
            # Connections that fail take long, and one run need not wait for the same one twice.
            self._download_fault = fault if self._download else None
            raise
        header = read_header(path)
        pooling = header.number("pooling_type") or MEAN
        if pooling == RANK:
            remedy = "set local.modelPath to an embedding model"
            raise EmbeddingFault("the model is a reranker", str(path), remedy, kind="missing", lasting=True)
        if pooling not in POOLING_NAMES:
            raise EmbeddingFault(f"pooling type {pooling} is not known", str(path), kind="missing", lasting=True)
        form, window = form_of(header, path.name), window_of(header)
        mark = content_mark(path, header.size)
        method = f"form {form.name}:pooling {POOLING_NAMES[pooling]}:window {window}:method {METHOD}"
        fingerprint = f"local:{path.name}:size {header.size}:content {mark}:{method}"
        return _Source(path, header, form, pooling, window, fingerprint)

    def _loaded(self) -> tuple[_Source, GgufModel]:
        """The model, loaded. Raises ``EmbeddingFault``, also where another file has come in place of the one read."""
        source = self._read()
        if self._model is None:
            if content_mark(source.path, source.header.size) not in source.fingerprint:
                self._source = None
                self._read()
                what = "the model file was replaced meanwhile"
                raise EmbeddingFault(what, str(source.path), "try again", kind="missing")
            self._model = GgufModel(
                source.path, source.header, pooling=source.pooling, window=source.window, threads=self._threads
            )
            self.dimensions = self._model.width
        return source, self._model

    def _embed(self, text: str, role: str) -> Vector:
        source, model = self._loaded()
        before = source.form.query if role == "query" else source.form.document
        row = model.tokens(before + text, whole=True)
        if len(row) <= source.window:
            return _unit(model.pooled(row), self.model)
        rows = windows(model, before, text, source.window)
        total = [0.0] * model.width
        for weight, part in rows:
            for place, value in enumerate(_unit(model.pooled(part), self.model)):
                total[place] += weight * value
        return _unit(total, self.model)


def windows(model: GgufModel, before: str, text: str, window: int) -> list[tuple[int, list[int]]]:
    """A long text as rows of tokens, each with ``before`` and with what the model wants around it; and before each row
    its number of tokens of the text. These numbers differ by one at most."""
    around = model.tokens("", whole=True)
    head = around[:1] if model.adds_bos or len(around) > 1 else []
    tail = around[len(head) :]
    every, start = model.tokens(before + text), model.tokens(before)
    same = 0
    while same < len(start) and start[same] == every[same]:
        same += 1
    prefix, body = every[: min(same, window // 2)], every[same:]
    room = max(1, window - len(head) - len(prefix) - len(tail))
    count = math.ceil(len(body) / room)
    cuts = [len(body) * part // count for part in range(count + 1)]
    pieces = [body[begin:end] for begin, end in pairwise(cuts)]
    return [(len(piece), [*head, *prefix, *piece, *tail]) for piece in pieces]


def _unit(values: Sequence[float], model: str) -> list[float]:
    """``values`` brought to length one. Raises ``EmbeddingFault`` for zeros and for what is no number."""
    length = math.hypot(*values)
    if not math.isfinite(length) or length < 1e-12:
        raise EmbeddingFault("the model gave a vector of zeros or of no numbers", model, kind="answer", lasting=True)
    return [value / length for value in values]
