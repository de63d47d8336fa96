"""Language models that answer in JSON: behind an OpenAI-compatible address, or in a GGUF file by llama.cpp."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from ...bank.embeddings.protocol import EmbeddingFault
from ...bank.embeddings.transport import Patience, Transport

#: Tokens of an answer, and of a conversation that a model in a file takes.
ANSWER_TOKENS, WINDOW = 400, 2048
Messages = Sequence[Mapping[str, str]]


class Chat(Protocol):
    """A model. ``name`` and ``fingerprint`` hold no key."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    def ask(self, messages: Messages, schema: Mapping[str, Any]) -> Any:
        """The answer as JSON, None where it is none. Raises ``EmbeddingFault`` where the model cannot be asked."""
        ...


class RemoteChat:
    """``POST {base_url}/chat/completions``. A server that refuses the schema is asked for any JSON object, then
    plainly."""

    def __init__(self, base_url: str, model: str, key: str, headers: Mapping[str, str], timeout: float) -> None:
        self.name = model
        self.fingerprint = f"chat {base_url} {model}"
        own = {"Authorization": f"Bearer {key}"} if key else {}
        patience = Patience(connect=5.0, read=timeout, retries=2, total=3 * timeout)
        self._transport = Transport(f"the model {model}", base_url, {**own, **headers}, patience)
        self._forms = ["json_schema", "json_object", ""]

    def ask(self, messages: Messages, schema: Mapping[str, Any]) -> Any:
        while True:
            body: dict[str, Any] = {"model": self.name, "messages": list(messages), "temperature": 0}
            body["max_tokens"] = ANSWER_TOKENS
            form = self._forms[0]
            if form == "json_schema":
                named = {"name": "verdict", "strict": True, "schema": schema}
                body["response_format"] = {"type": form, "json_schema": named}
            elif form:
                body["response_format"] = {"type": form}
            try:
                answer = self._transport.json("POST", "/chat/completions", body, "judging")
            except EmbeddingFault as fault:
                if len(self._forms) > 1 and fault.kind == "input":
                    del self._forms[0]
                    continue
                raise
            try:
                text = answer["choices"][0]["message"]["content"]
            except (KeyError, IndexError, TypeError):
                return None
            return json_in(text)


class LocalChat:
    """A GGUF model. Its answers follow the schema's grammar."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = path.name
        self.fingerprint = f"gguf {path.name} {path.stat().st_size if path.exists() else 0}"
        self._model: Any = None

    def ask(self, messages: Messages, schema: Mapping[str, Any]) -> Any:
        if self._model is None:
            self._model = self._loaded()
        cut = [{**one, "content": one["content"][: 2 * WINDOW]} for one in messages]
        form = {"type": "json_object", "schema": dict(schema)}
        try:
            answer = self._model.create_chat_completion(
                cut, temperature=0.0, max_tokens=ANSWER_TOKENS, response_format=form, seed=1
            )
            return json_in(answer["choices"][0]["message"]["content"])
        except (ValueError, RuntimeError, KeyError) as error:
            what = f"the model {self.name} cannot be asked: {error}"
            raise EmbeddingFault(what, str(self._path), kind="answer") from None

    def _loaded(self) -> Any:
        try:
            llama = import_module("llama_cpp")
        except ImportError:
            remedy = "pip install 'openclaw-memory[llama]'"
            what = "llama-cpp-python is not installed"
            raise EmbeddingFault(what, str(self._path), remedy, kind="missing", lasting=True) from None
        if not self._path.is_file():
            remedy = "check memory.reflect.model.modelPath"
            raise EmbeddingFault("no such model file", str(self._path), remedy, kind="missing", lasting=True)
        try:
            return llama.Llama(str(self._path), n_ctx=WINDOW, verbose=False, seed=1)
        except (ValueError, RuntimeError) as error:
            what = f"the model cannot be loaded: {error}"
            raise EmbeddingFault(what, str(self._path), kind="missing", lasting=True) from None


def json_in(text: Any) -> Any:
    """The JSON object in a model's words, None where there is none."""
    if not isinstance(text, str):
        return None
    start, end = text.find("{"), text.rfind("}")
    try:
        return json.loads(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        return None
