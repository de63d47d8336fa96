"""Language models that answer in JSON, and the ones behind an address that speaks the OpenAI chat protocol.

Servers of this protocol differ in what they take: some know no schema, some no JSON mode, some models no temperature
and another name for the longest answer. What is refused is left out, and stays so for the other questions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

from ...bank.embeddings.protocol import EmbeddingFault
from ...bank.embeddings.transport import Patience, Transport

#: Tokens of an answer: room for models that think aloud before it.
ANSWER_TOKENS = 2000
#: Seconds for one answer, where the configuration says nothing.
TIMEOUT = 60.0
Messages = Sequence[Mapping[str, str]]
#: Some templates open the thinking themselves, so that only its end is in the answer.
_THOUGHT = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL)
#: Brackets at which an object is looked for.
_TRIES = 20
_BOUNDS = ("maxLength", "minItems", "maxItems")


class Chat(Protocol):
    """A model. ``name`` and ``fingerprint`` hold no key; the fingerprint changes when its answers may."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    def ask(self, messages: Messages, schema: Mapping[str, Any]) -> Any:
        """The answer as JSON, None where it is none. Raises ``EmbeddingFault`` where the model cannot be asked."""
        ...


class RemoteChat:
    """``POST {base_url}/chat/completions``. A server that refuses the schema is asked for any JSON object, then
    plainly. ``patience``: how long to wait, by default ``timeout`` seconds for an answer and two repetitions, one where
    no answer came (a server may load the model first). Raises ``EmbeddingFault`` for what is no address."""

    def __init__(
        self,
        base_url: str,
        model: str,
        key: str,
        headers: Mapping[str, str],
        timeout: float = TIMEOUT,
        patience: Patience | None = None,
    ) -> None:
        self.name = model
        own = {"Authorization": f"Bearer {key}"} if key else {}
        patience = patience or Patience(connect=5.0, read=timeout, retries=2, total=1.5 * timeout)
        try:
            self._transport = Transport(f"the model {model}", base_url, {**own, **headers}, patience)
        except EmbeddingFault as fault:
            raise _of_reflect(fault) from None
        #: Without the user, the password and the query that an address may hold.
        self.fingerprint = f"chat {self._transport.base_url} {model}"
        self._forms = ["json_schema", "json_object", ""]
        self._settled = False
        self._optional: dict[str, Any] = {"temperature": 0, "max_tokens": ANSWER_TOKENS}

    def ask(self, messages: Messages, schema: Mapping[str, Any]) -> Any:
        forms = list(self._forms)
        while True:
            form = _form(forms[0], _unbounded(schema))
            body = {"model": self.name, "messages": list(messages), **self._optional, **form}
            try:
                answer = self._transport.json("POST", "/chat/completions", body, "judging")
            except EmbeddingFault as fault:
                if fault.kind == "input" and self._left_out(fault.what):
                    continue
                if fault.kind == "input" and len(forms) > 1 and not self._settled:
                    del forms[0]
                    continue
                raise _of_reflect(fault) from None
            # A later refusal speaks of the question, not of the form.
            self._forms, self._settled = forms, True
            return json_in(_content(answer))

    def _left_out(self, said: str) -> bool:
        """Whether a refusal names one of the optional parameters, which is then sent no more, or by its other name."""
        for name in list(self._optional):
            if re.search(rf"\b{name}\b", said):
                value = self._optional.pop(name)
                if name == "max_tokens":
                    self._optional["max_completion_tokens"] = value
                return True
        return False


def _form(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """What asks for a form of the answer: json_schema, json_object, or "" for none."""
    if name == "json_schema":
        named = {"name": "verdict", "strict": True, "schema": schema}
        return {"response_format": {"type": name, "json_schema": named}}
    return {"response_format": {"type": name}} if name else {}


def _unbounded(schema: Any) -> Any:
    """A schema without lengths, which strict servers refuse; they are for models that know no end."""
    if isinstance(schema, Mapping):
        return {key: _unbounded(value) for key, value in schema.items() if key not in _BOUNDS}
    return schema


def _content(answer: Any) -> Any:
    """The words of an answer; some servers give them in parts."""
    try:
        content = answer["choices"][0]["message"]["content"]
        return content if isinstance(content, str) else "".join(part.get("text") or "" for part in content)
    except (KeyError, IndexError, TypeError, AttributeError):
        return None


def _of_reflect(fault: EmbeddingFault) -> EmbeddingFault:
    """The fault with this configuration's own key paths."""
    what, remedy = (re.sub(r"\bremote\.(?=\w)", "memory.reflect.model.", text) for text in (fault.what, fault.remedy))
    return EmbeddingFault(what, fault.where, remedy, kind=fault.kind, lasting=fault.lasting)


def json_in(text: Any) -> Any:
    """The first JSON object in a model's words, None where there is none; what it thought aloud is passed over."""
    if not isinstance(text, str):
        return None
    text = _THOUGHT.sub("", text)
    for start in islice((at for at, letter in enumerate(text) if letter == "{"), _TRIES):
        try:
            # Grammars let line ends into strings.
            return json.JSONDecoder(strict=False).raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
    return None
