"""A GGUF model loaded by llama.cpp: text into tokens, one row of tokens into one pooled vector.

What llama.cpp cannot bear ends the process (it aborts), so what it is given is checked before: the file by its header,
the pooling by the tensors that it needs, each row of tokens by the window. One row is decoded at a time, so that a
vector does not depend on what else is embedded in the same call, not by one bit.

llama.cpp keeps scores of the whole vocabulary for each token of a row, whether asked for or not: 1 MB a token for a
vocabulary of 262,144. That bounds the window (``SCORES``), not only the context that the model was trained on.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from .gguf_header import GgufHeader
from .model_files import PACKAGE_REMEDY
from .protocol import EmbeddingFault

#: Pooling types of llama.cpp (``llama_pooling_type``).
MEAN, CLS, LAST, RANK = 1, 2, 3, 4
POOLING_NAMES = {MEAN: "mean", CLS: "cls", LAST: "last", RANK: "rank"}
#: The longest row, in tokens, and the most scores (floats) that a row may take: 512 MB.
LONGEST_WINDOW = 2048
SCORES = 1 << 27
#: ``GGML_LOG_LEVEL_ERROR``.
ERROR_LEVEL = 4
#: llama.cpp's log is one for the process, and so is the lock of all that talk to it.
LLAMA = threading.RLock()


def window_of(header: GgufHeader) -> int:
    """How many tokens a row may have: what the model was trained on, what memory bears, and at most 2,048."""
    trained = header.number("context_length") or 512
    return max(16, min(trained, LONGEST_WINDOW, SCORES // max(1, header.vocabulary)))


def threads_of(wanted: int) -> int:
    """All cores that the process may use, half of them where there are many (two threads a core), at most 16."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return wanted if wanted > 0 else min(16, cores if cores <= 4 else cores // 2)


class GgufModel:
    """``pooling``: MEAN, CLS, LAST or RANK; ``window``: the longest row in tokens; ``width``: numbers in a vector."""

    def __init__(self, path: Path, header: GgufHeader, *, pooling: int, window: int, threads: int = 0) -> None:
        """Loads the model. Raises ``EmbeddingFault`` (``missing``)."""
        self.path, self.window = path, window
        with LLAMA:
            self._api = llama_cpp()
            try:
                self._load(pooling, threads_of(threads))
            except AttributeError as error:
                what = f"this llama-cpp-python is too old ({error})"
                remedy = f"pip install --upgrade llama-cpp-python, or {PACKAGE_REMEDY}"
                raise EmbeddingFault(what, "", remedy, kind="missing", lasting=True) from None

    def _load(self, pooling: int, threads: int) -> None:
        api = self._api
        with _quiet(api) as errors:
            api.llama_backend_init()
            model = api.llama_model_load_from_file(os.fsencode(self.path), api.llama_model_default_params())
            if not model:
                raise self._load_fault(errors)
            settings = api.llama_context_default_params()
            settings.n_ctx = settings.n_batch = settings.n_ubatch = self.window
            settings.n_seq_max = 1
            settings.embeddings = True
            settings.pooling_type = pooling
            settings.n_threads = settings.n_threads_batch = threads
            context = api.llama_init_from_model(model, settings)
            if not context:
                api.llama_model_free(model)
                raise self._load_fault(errors)
            batch = api.llama_batch_init(self.window, 0, 1)
        self._free = weakref.finalize(self, _free, api, model, context, batch)
        self._context, self._batch = context, batch
        self._vocab = api.llama_model_get_vocab(model)
        self.bos, self.eos = api.llama_vocab_bos(self._vocab), api.llama_vocab_eos(self._vocab)
        self.separator = api.llama_vocab_sep(self._vocab)
        self.adds_bos = bool(api.llama_vocab_get_add_bos(self._vocab))
        self.adds_eos = bool(api.llama_vocab_get_add_eos(self._vocab))
        self.adds_separator = bool(api.llama_vocab_get_add_sep(self._vocab))
        self.encodes = bool(api.llama_model_has_encoder(model)) and not bool(api.llama_model_has_decoder(model))
        if pooling == RANK:
            self.width = int(api.llama_model_n_cls_out(model))
        else:
            self.width = int(getattr(api, "llama_model_n_embd_out", api.llama_model_n_embd)(model))

    def _load_fault(self, errors: list[str]) -> EmbeddingFault:
        reason = f": {errors[0]}" if errors else ""
        remedy = "download the file again, or upgrade llama-cpp-python if the model is newer than it"
        return EmbeddingFault(
            f"llama.cpp cannot load the model{reason}", str(self.path), remedy, kind="missing", lasting=True
        )

    def close(self) -> None:
        """Give the memory back. Nothing may be asked afterwards."""
        with LLAMA:
            self._free()

    def tokens(self, text: str, *, whole: bool = False, markup: bool = False) -> list[int]:
        """``text`` as tokens; ``whole`` adds what the model wants around it, ``markup`` reads marks like ``<eos>``."""
        data = text.encode("utf-8", "replace")
        with LLAMA, _quiet(self._api):
            room = len(data) + 16
            while True:
                row = (self._api.llama_token * room)()
                count = self._api.llama_tokenize(self._vocab, data, len(data), row, room, whole, markup)
                if count >= 0:
                    return list(row[:count])
                if -count <= room:
                    raise EmbeddingFault("the text cannot be tokenised", self.path.name, kind="input", lasting=True)
                room = -count

    def pooled(self, row: Sequence[int]) -> list[float]:
        """The pooled output of one row of tokens, at most ``window`` long. Raises ``EmbeddingFault`` (``answer``)."""
        api = self._api
        row = row[: self.window] or [max(self.bos, self.eos, 0)]
        with LLAMA, _quiet(api) as errors:
            batch = self._batch
            batch.n_tokens = len(row)
            for place, token in enumerate(row):
                batch.token[place], batch.pos[place], batch.logits[place] = token, place, True
                batch.n_seq_id[place], batch.seq_id[place][0] = 1, 0
            memory = api.llama_get_memory(self._context)
            if memory:
                api.llama_memory_clear(memory, True)
            status = (api.llama_encode if self.encodes else api.llama_decode)(self._context, batch)
            values = api.llama_get_embeddings_seq(self._context, 0) if status == 0 else None
            if not values:
                reason = errors[0] if errors else f"status {status}"
                raise EmbeddingFault(f"the model gave no vector: {reason}", self.path.name, kind="answer")
            return list(values[: self.width])


def llama_cpp() -> Any:
    """The package llama_cpp. Raises ``EmbeddingFault`` (``missing``) where it is not there or cannot be loaded."""
    # Threads that wait sleep instead of spinning: three times less work on a busy machine. Read when it is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        return import_module("llama_cpp")
    except ModuleNotFoundError as error:
        what = f"the package {'llama-cpp-python' if error.name == 'llama_cpp' else error.name} is not installed"
    except Exception as error:  # a shared library that does not load says so in many ways
        what = f"the package llama-cpp-python cannot be loaded: {error}"
    raise EmbeddingFault(what, "", PACKAGE_REMEDY, kind="missing", lasting=True)


def _free(api: Any, model: Any, context: Any, batch: Any) -> None:
    with _quiet(api):
        api.llama_batch_free(batch)
        api.llama_free(context)
        api.llama_model_free(model)


@contextmanager
def _quiet(api: Any) -> Iterator[list[str]]:
    """llama.cpp writes nothing on standard error meanwhile; yields the list that its errors are put in."""
    errors: list[str] = []

    def note(level: int, text: bytes, _: object) -> None:
        if level == ERROR_LEVEL:
            told = text.decode("utf-8", "replace").partition(": ")[2].strip()
            errors.append(told.removeprefix("error loading model: "))

    callback: Callable[..., Any] = api.llama_log_callback(note)
    api.llama_log_set(callback, ctypes.c_void_p(0))
    try:
        yield errors
    finally:
        api.llama_log_set(import_module("llama_cpp._logger").llama_log_callback, ctypes.c_void_p(0))
