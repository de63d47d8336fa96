"""A model server on this machine that speaks the OpenAI protocol and does as it is told.

A message that holds ``CALL {"name": …, "arguments": …}`` makes it call that tool, if it was offered; then it answers
with what the tool gave. Anything else is answered by ``OK``. Every request is kept.
"""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_CALL = re.compile(r"CALL (\{.*\})")


class Model:
    """``with Model() as model``: ``model.url`` while it runs; ``model.requests``: the bodies in order."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.requests))
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Model:
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def offered(request: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The tools that a request offers, by name."""
    return {tool["function"]["name"]: tool["function"] for tool in request.get("tools", [])}


def text_of(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def reply(request: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The message to send, and the reason why it ends."""
    messages = request["messages"]
    asked = [
        (at, found)
        for at, one in enumerate(messages)
        if one["role"] == "user" and (found := _CALL.search(text_of(one)))
    ]
    if not asked:
        return {"role": "assistant", "content": "OK"}, "stop"
    at, found = asked[-1]
    given = [text_of(one) for one in messages[at:] if one["role"] == "tool"]
    if given:
        return {"role": "assistant", "content": f"TOLD {given[-1]}"}, "stop"
    call = json.loads(found[1])
    if call["name"] not in offered(request):
        return {"role": "assistant", "content": f"NOT OFFERED {call['name']}"}, "stop"
    function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"index": 0, "id": f"call_{at}", "type": "function", "function": function}],
    }, "tool_calls"


def _handler(requests: list[dict[str, Any]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self._send("application/json", json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]}))

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            requests.append(request)
            message, reason = reply(request)
            base = {"id": "x", "created": 1, "model": "m"}
            usage = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}
            if not request.get("stream"):
                choice = {"index": 0, "message": message, "finish_reason": reason}
                whole = base | {"object": "chat.completion", "choices": [choice], "usage": usage}
                self._send("application/json", json.dumps(whole))
                return
            chunks = [
                base
                | {
                    "object": "chat.completion.chunk",
                    "choices": [{"index": 0, "delta": message, "finish_reason": None}],
                },
                base
                | {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
                base | {"object": "chat.completion.chunk", "choices": [], "usage": usage},
            ]
            lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
            self._send("text/event-stream", "".join([*lines, "data: [DONE]\n\n"]))

        def _send(self, kind: str, text: str) -> None:
            data = text.encode("utf-8")
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
