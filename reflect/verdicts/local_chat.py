"""A language model in a GGUF file, run by llama.cpp: its answers follow the grammar of the schema."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from ...bank.embeddings.gguf_header import content_mark, read_header
from ...bank.embeddings.gguf_model import LLAMA, _quiet, llama_cpp, threads_of
from ...bank.embeddings.model_files import model_file
from ...bank.embeddings.protocol import EmbeddingFault
from .chat import Messages, json_in

#: Tokens of an answer, and of a conversation with it.
ANSWER_TOKENS, WINDOW = 400, 2048
#: Of each message so many characters are read, so that the window holds in any language.
_LONGEST = 1600
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
        # One message: not every model's template has a place for the system's.
        told = "\n\n".join(one["content"][:_LONGEST] for one in messages)
        try:
            with LLAMA, _quiet(llama_cpp()):
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
            read_header(path)
        except EmbeddingFault as fault:
            raise EmbeddingFault(fault.what, fault.where, f"check {_KEY}", kind=fault.kind, lasting=True) from None
        try:
            with LLAMA, _quiet(api):
                return api.Llama(str(path), n_ctx=WINDOW, n_threads=threads_of(0), verbose=False, seed=1)
        except Exception as error:  # a file that is no model for chats fails in many ways
            what = f"llama.cpp cannot load the model: {str(error)[:200]}"
            raise EmbeddingFault(what, str(path), f"check {_KEY}", kind="missing", lasting=True) from None
