"""A language model in a GGUF file, run by llama.cpp: its answers follow the grammar of the schema.

What llama.cpp cannot bear ends the process, so the file's header is looked at before, and the conversation is cut to
what the window holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from ...bank.embeddings.gguf_header import GgufHeader, content_mark, read_header
from ...bank.embeddings.gguf_model import LLAMA, _quiet, llama_cpp, threads_of
from ...bank.embeddings.model_files import model_file
from ...bank.embeddings.protocol import EmbeddingFault
from .chat import Messages, json_in

#: Tokens of an answer, of the conversation with it, and of what a model's template puts around a message.
ANSWER_TOKENS, WINDOW, _AROUND = 600, 2048, 64
#: Characters of a line, tried until all fits; the last does in any script, of four tokens a character at most.
_LINES = (2000, 1000, 500, 250, 100)
_KEY = "memory.reflect.model.modelPath"


class LocalChat:
    """``reference``: a path, or a file that a model hub's cache has (``hf:…``, ``model_files``). Nothing is loaded
    before the first question, and nothing is ever downloaded."""

    def __init__(self, reference: str) -> None:
        self._reference = reference
        self.name = Path(reference).name or reference

    @cached_property
    def fingerprint(self) -> str:
        """The file's name, and a mark of what is in it."""
        try:
            path = model_file(self._reference)
            return f"gguf {path.name} {content_mark(path, path.stat().st_size)}"
        except (EmbeddingFault, OSError):
            return f"gguf {self.name} -"

    def ask(self, messages: Messages, schema: Mapping[str, Any]) -> Any:
        """The answer as JSON, None where it is none. Raises ``EmbeddingFault``."""
        model = self._model
        try:
            with LLAMA, _quiet(llama_cpp()):
                told = _fitted(model, messages)
                # What was asked before would change the last digits, and so now and then a word.
                model.reset()
                answer = model.create_chat_completion(
                    [{"role": "user", "content": told}],
                    temperature=0.0,
                    seed=1,
                    max_tokens=ANSWER_TOKENS,
                    response_format={"type": "json_object", "schema": dict(schema)},
                )
            return json_in(answer["choices"][0]["message"]["content"])
        except Exception as error:  # templates, grammars and the window each complain in their own way
            what = f"the model cannot be asked: {type(error).__name__}, {str(error)[:200]}"
            raise EmbeddingFault(what, self.name, f"check {_KEY}", kind="answer") from None

    @cached_property
    def _model(self) -> Any:
        api = llama_cpp()
        try:
            path = model_file(self._reference)
            header = read_header(path)
        except EmbeddingFault as fault:
            raise EmbeddingFault(fault.what, fault.where, f"check {_KEY}", kind=fault.kind, lasting=True) from None
        if not _speaks(header):
            remedy = f"set {_KEY} to a model for chats"
            raise EmbeddingFault("the model gives vectors, no words", str(path), remedy, kind="missing", lasting=True)
        try:
            with LLAMA, _quiet(api):
                return api.Llama(str(path), n_ctx=WINDOW, n_threads=threads_of(0), verbose=False, seed=1)
        except Exception as error:  # a file that is no model for chats fails in many ways
            what = f"llama.cpp cannot load the model: {str(error)[:200]}"
            raise EmbeddingFault(what, str(path), f"check {_KEY}", kind="missing", lasting=True) from None


def _speaks(header: GgufHeader) -> bool:
    """Whether a model writes word after word: none that pools, that looks at all words at once, or that has an encoder
    beside it."""
    is_causal = header.number("attention.causal")
    has_encoder = any(name.startswith("enc.") for name in header.tensors)
    return not header.number("pooling_type") and is_causal != 0 and not has_encoder


def _fitted(model: Any, messages: Messages) -> str:
    """The conversation as one message, since not every model's template has a place for the system's; of the last one
    each line is cut until all fits the window."""
    *before, last = (one["content"].encode("utf-8", "replace").decode() for one in messages)
    told = ""
    for longest in _LINES:
        told = "\n\n".join([*before, "\n".join(line[:longest] for line in last.split("\n"))])
        if len(model.tokenize(told.encode(), special=True)) <= WINDOW - ANSWER_TOKENS - _AROUND:
            break
    return told
