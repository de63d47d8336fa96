"""The rerank hook: a GGUF cross-encoder that reads a question and a passage together and says how well they fit.

Off unless a model is configured. The pair is written as the model was trained, in the way of llama.cpp's own server: by
the template ``rerank`` of the file where it has one (Qwen3 rerankers), else question and passage with the vocabulary's
marks between and around them (BERT, BGE and Jina rerankers). Where it fails, the caller keeps its own order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from .gguf_header import read_header
from .gguf_model import LLAMA, RANK, GgufModel, window_of
from .model_files import model_file
from .protocol import EmbeddingFault

TEMPLATE = "tokenizer.chat_template.rerank"
#: Tensors of a classification head; without one a model gives no scores, only numbers.
HEADS = frozenset({"cls.weight", "cls.output.weight"})


class Reranker:
    """``model_path``: a path or ``hf:`` reference (see ``model_files``). Nothing is loaded before the first call."""

    def __init__(self, model_path: str, cache_dir: str = "", *, download: bool = False, threads: int = 0) -> None:
        self._reference, self._cache_dir = model_path.strip(), cache_dir
        self._download, self._threads = download, threads
        self._model: GgufModel | None = None
        self._template = ""
        self.model = re.split(r"[/\\]", self._reference.partition("#")[0])[-1]

    def rank(self, query: str, texts: Sequence[str]) -> list[float]:
        """A score for each text, in order; higher fits better. Scores compare within one call only: their scale is the
        model's own. A pair too long for the model loses the end of its text. Raises ``EmbeddingFault``."""
        with LLAMA:
            model = self._loaded() if texts else None
            return [self._score(model, query, text) for text in texts] if model else []

    def close(self) -> None:
        """Give the model's memory back; a later call loads it again."""
        with LLAMA:
            if self._model is not None:
                self._model.close()
            self._model = None

    def _loaded(self) -> GgufModel:
        if self._model is None:
            if not self._reference:
                raise EmbeddingFault("no rerank model is set", remedy="set rerankModel", kind="missing", lasting=True)
            path = model_file(self._reference, self._cache_dir, download=self._download)
            header = read_header(path)
            if not header.tensors & HEADS:
                remedy = "set rerankModel to a GGUF that was converted with its classification head"
                raise EmbeddingFault("the model is not a reranker", str(path), remedy, kind="missing", lasting=True)
            self._template = header.text(TEMPLATE)
            self._model = GgufModel(path, header, pooling=RANK, window=window_of(header), threads=self._threads)
        return self._model

    def _score(self, model: GgufModel, query: str, text: str) -> float:
        score = model.pooled(pair_of(model, self._template, query, text))[0]
        if not math.isfinite(score):
            raise EmbeddingFault("the model gave a score that is no number", self.model, kind="answer", lasting=True)
        return score


def pair_of(model: GgufModel, template: str, query: str, text: str) -> list[int]:
    """Question and passage as one row of tokens, ``model.window`` long at most: the question may take half of it, the
    passage what is left. Marks of the vocabulary that stand in either are read as text."""
    if template:
        return _templated(model, template, query, text)
    end = model.eos if model.eos >= 0 else model.separator
    before = [model.bos] if model.adds_bos else []
    between = [end] * model.adds_eos + [model.separator] * model.adds_separator
    after = [end] if model.adds_eos else []
    return _fitted(model.window, before, model.tokens(query), between, model.tokens(text), after)


def _templated(model: GgufModel, template: str, query: str, text: str) -> list[int]:
    """The pair by a template with the places ``{query}`` and ``{document}``, in this order."""
    before, _, rest = template.partition("{query}")
    between, found, after = rest.partition("{document}")
    if not found:
        what = "the model's rerank template has no place for the question or for the passage"
        raise EmbeddingFault(what, model.path.name, kind="missing", lasting=True)
    # The blank before a word belongs to the word's token, so it goes to the text that follows it.
    head, link = before.rstrip(" "), between.rstrip(" ")
    return _fitted(
        model.window,
        model.tokens(head, markup=True),
        model.tokens(before[len(head) :] + query),
        model.tokens(link, markup=True),
        model.tokens(between[len(link) :] + text),
        model.tokens(after, markup=True),
    )


def _fitted(
    window: int, before: list[int], query: list[int], between: list[int], text: list[int], after: list[int]
) -> list[int]:
    room = max(2, window - len(before) - len(between) - len(after))
    query = query[: max(room // 2, room - len(text))]
    return [*before, *query, *between, *text[: room - len(query)], *after]
