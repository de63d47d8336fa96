"""JSON-RPC 2.0, one object a line: requests in on one stream, answers out on another (``docs/commands.md``, serve).

Answers carry the id of their request and may come in any order: reads run beside each other and beside the one write
that is being done. No fault ends the process.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, NamedTuple, NoReturn

from ..bank.errors import MemoryFault, UsageFault, one_line

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, BAD_PARAMS, INTERNAL, FAULT = -32700, -32600, -32601, -32602, -32603, -32000
#: Bytes of a line; what is longer is refused unread.
LONGEST = 16 * 1024 * 1024
READERS = 4

Answer = Callable[[Mapping[str, Any]], Any]


class Method(NamedTuple):
    """``reads``: it may run beside others. ``answer``: the result for the params; may raise ``MemoryFault``."""

    reads: bool
    answer: Answer


class _Refused(Exception):
    """A request that is answered by an error."""

    def __init__(self, code: int, message: str, request: Any = None) -> None:
        super().__init__(message)
        self.code, self.request = code, request


class JsonLines:
    """A server over two byte streams. ``methods`` by name. ``warn`` gets a line for each fault that nobody foresaw."""

    def __init__(
        self, methods: Mapping[str, Method], source: BinaryIO, sink: BinaryIO, warn: Callable[[str], None]
    ) -> None:
        self.methods, self.source, self.sink, self.warn = methods, source, sink, warn
        self._writing = threading.Lock()
        self._readers = ThreadPoolExecutor(READERS, "read")
        self._writer = ThreadPoolExecutor(1, "write")

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def run(self) -> None:
        """Answer requests until the stream ends or ``shutdown`` is asked for; what was begun is answered first."""
        try:
            while line := self.source.readline(LONGEST + 1):
                if len(line) > LONGEST:
                    self._skip_line(line)
                    self._send_error(None, PARSE_ERROR, f"a line is longer than {LONGEST} bytes")
                elif line.strip() and not self._take(line):
                    break
        finally:
            self.close(wait=True)

    def close(self, *, wait: bool) -> None:
        """Take no more; ``wait`` for what is being done."""
        for pool in (self._readers, self._writer):
            pool.shutdown(wait=wait, cancel_futures=not wait)

    def _skip_line(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self.source.readline(LONGEST)

    def _take(self, line: bytes) -> bool:
        """Start on one request; False when it was the last."""
        try:
            request, wants_answer, method, params = _read(line)
            if method == "shutdown":
                self.close(wait=True)
                if wants_answer:
                    self._send({"jsonrpc": "2.0", "id": request, "result": {}})
                return False
            if method not in self.methods:
                raise _Refused(NO_METHOD, f"no such method: {one_line(method)[:80]}", request)
        except _Refused as refused:
            self._send_error(refused.request, refused.code, str(refused))
            return True
        known = self.methods[method]
        pool = self._readers if known.reads else self._writer
        pool.submit(self._answer, known, request, wants_answer, params)
        return True

    def _answer(self, method: Method, request: Any, wants_answer: bool, params: Mapping[str, Any]) -> None:
        try:
            told = {"jsonrpc": "2.0", "id": request, "result": method.answer(params)}
        except MemoryFault as fault:
            told = _error(
                request,
                BAD_PARAMS if isinstance(fault, UsageFault) else FAULT,
                str(fault),
                {"exitCode": fault.exit_code, "remedy": fault.remedy or None},
            )
        except Exception as error:
            what = one_line(f"{type(error).__name__}: {error}")
            self.warn(f"unexpected fault: {what}")
            told = _error(request, INTERNAL, f"unexpected fault: {what}")
        if wants_answer:
            self._send(told)

    def _send_error(self, request: Any, code: int, message: str) -> None:
        self._send(_error(request, code, message))

    def _send(self, told: Mapping[str, Any]) -> None:
        # A lone surrogate (a byte of a name that is no UTF-8) stays what it is: a JSON escape.
        line = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"
        with self._writing:
            try:
                self.sink.write(line)
                self.sink.flush()
            except (OSError, ValueError):
                # Nobody listens any more; the end of the other stream ends the process.
                pass


def _error(request: Any, code: int, message: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    error: dict[str, Any] = {"code": code, "message": message}
    return {"jsonrpc": "2.0", "id": request, "error": error | ({"data": data} if data else {})}


def _read(line: bytes) -> tuple[Any, bool, str, Mapping[str, Any]]:
    """A request's id, whether it wants an answer (notifications have no id), its method and its params."""
    try:
        told = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _Refused(PARSE_ERROR, f"no JSON: {one_line(str(error))}") from None
    if not isinstance(told, dict):
        raise _Refused(INVALID_REQUEST, "a request is one JSON object")
    request = told.get("id")
    if isinstance(request, bool) or not isinstance(request, str | int | float | None):
        raise _Refused(INVALID_REQUEST, "an id is a string or a number")
    method, params = told.get("method"), told.get("params")
    if not isinstance(method, str):
        raise _Refused(INVALID_REQUEST, "a request names its method", request)
    if params is not None and not isinstance(params, dict):
        raise _Refused(BAD_PARAMS, "params: must be an object with named members", request)
    return request, "id" in told, method, params or {}


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
