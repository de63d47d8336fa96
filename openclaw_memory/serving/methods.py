"""The methods of ``serve``: every tool by its name, and what a program besides asks for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from ..bank.config import WorkspaceChoice, read_configuration
from ..bank.errors import UsageFault
from ..memory import Memory
from ..status import status_of
from .json_lines import Method
from .parameters import CONTEXT, FLUSH_CHECK, NOTHING, check
from .tools import TOOLS, Call, Tool

#: May come along with any request: the session that asks, its agent, and what kind of chat it is.
ALONG = {"sessionKey": "session", "agentId": "agent", "chatType": "chat_type"}


def methods(memory: Memory, choice: WorkspaceChoice) -> dict[str, Method]:
    """All of them, by name."""
    found = {name: Method(tool.reads, _of_tool(memory, tool)) for name, tool in TOOLS.items()}
    found["status"] = Method(True, _checked(NOTHING, lambda told, call: status_of(memory.workspace, choice)[0]))
    found["context"] = Method(True, _checked(CONTEXT, lambda told, call: memory.context(**told)))
    found["flush_check"] = Method(False, _checked(FLUSH_CHECK, lambda told, call: _flush_check(memory, told, call)))
    return found


def _flush_check(memory: Memory, told: Mapping[str, Any], call: Call) -> dict[str, Any]:
    from ..bank.flush import FlushRequest, claim_flush, flush_plan
    from ..commands.flush import plan_json

    request = FlushRequest(
        told.get("session") or call.session,
        told.get("tokens"),
        told.get("contextWindow"),
        call.agent or memory.agent,
        told.get("compactionCount"),
        told.get("workspaceAccess", ""),
    )
    if not request.session:
        raise UsageFault("params.session: is missing", remedy="name it, or send sessionKey along")
    ask = claim_flush if told.get("claim") else flush_plan
    now = datetime.now().astimezone()
    return plan_json(ask(memory.workspace, read_configuration(os.environ), request, now=now))


def _of_tool(memory: Memory, tool: Tool) -> Callable[[Mapping[str, Any]], Any]:
    return _checked(tool.parameters, lambda told, call: tool.call(memory, told, call))


def _checked(
    schema: Mapping[str, Any], answer: Callable[[Mapping[str, Any], Call], Any]
) -> Callable[[Mapping[str, Any]], Any]:
    """Checks params, and keeps apart what comes along with any request."""

    def checked(params: Mapping[str, Any]) -> Any:
        along: dict[str, Any] = {}
        for name, field in ALONG.items():
            value = params.get(name)
            if value is not None and not isinstance(value, str):
                raise UsageFault(f"params.{name}: must be string")
            along[field] = value or ""
        told = {name: value for name, value in params.items() if name not in ALONG and value is not None}
        return answer(check(schema, told), Call(**along))

    return checked
