"""What a provider means when it does not answer with vectors: its status and its words, as a kind of fault.

The status alone does not tell: a text that is too long is a 400 here and a 500 there, a bad key a 401 or a 400, an
empty account a 429 like a moment of haste.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from .protocol import EmbeddingFault


class TooLarge(EmbeddingFault):
    """The provider refused the request for its size: too many texts, or one that is too long."""


class Unsupported(EmbeddingFault):
    """The end point does not have what was asked of it: no such path, no such model."""


class Refusal(NamedTuple):
    """``said``: the provider's own words, not yet fit to be shown; "" where they must not be. ``passing``: the same
    request may be answered later. ``lasting`` and ``kind`` as in ``EmbeddingFault``, of which ``of`` is a class."""

    said: str
    kind: str
    remedy: str
    passing: bool = False
    lasting: bool = True
    of: type[EmbeddingFault] = EmbeddingFault


_PASSING = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 524, 529))
_SIZE = re.compile(
    r"too (long|large|many|big)|maximum|context (length|size|window)|exceed|at most|max(imum)?[_ ]|tokens|batch size",
    re.IGNORECASE,
)
_NOT_SIZE = re.compile(r"api[_ ]?key|rate|quota|credential|billing", re.IGNORECASE)
_KEY = re.compile(r"api[_ ]?key", re.IGNORECASE)
_MONEY = re.compile(r"insufficient|billing", re.IGNORECASE)


def refusal(status: int, body: bytes) -> Refusal:
    """What an answer of ``status`` (400 and above) with ``body`` means."""
    said, code = _words(body)
    words = f"{said} {code}"
    if status in (401, 403) or (status == 400 and _KEY.search(words)):
        return Refusal("the key was refused", "auth", "check the key and what it may do")
    if status == 413 or (status in (400, 422, 500) and _SIZE.search(words) and not _NOT_SIZE.search(words)):
        return Refusal(said, "input", "", lasting=False, of=TooLarge)
    if status == 402 or (status == 429 and _MONEY.search(words)):
        return Refusal(said, "quota", "check the account with the provider")
    if status in (404, 405, 501):
        return Refusal(said, "missing", "check remote.baseUrl and the model", of=Unsupported)
    if status in _PASSING or status > 500:
        kind = "quota" if status == 429 else "server"
        return Refusal(said, kind, "try again later", passing=status in _PASSING, lasting=False)
    return Refusal(said, "input", "check the model and its settings")


def _words(body: bytes) -> tuple[str, str]:
    """(what a refusal says, its code or type), as far as they can be read. Most providers wrap them in ``error``."""
    import json

    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        page = body.lstrip().startswith(b"<")
        return "" if page else body[:2000].decode("utf-8", "replace"), ""
    if isinstance(answer, list) and answer:
        answer = answer[0]
    inner = answer.get("error", answer) if isinstance(answer, dict) else answer
    if not isinstance(inner, dict):
        return str(inner)[:2000], ""
    said: Iterable[Any] = (inner.get(name) for name in ("message", "detail", "error"))
    codes = (inner.get(name) for name in ("code", "type", "status", "error_type"))
    return next((str(text) for text in said if text), "")[:2000], " ".join(str(code) for code in codes if code)
