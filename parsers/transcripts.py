"""Session transcripts: JSON lines, one event a line, read into what a user and an assistant said to each other.

Only text of the roles user and assistant counts. What OpenClaw or this package put into a message (recalled memory,
the state of the channel, runtime notes), turns that nobody asked for (heartbeats, wake-ups, the flush before a
compaction, recall itself) and replies that say nothing are left out, as OpenClaw's own indexing leaves them out; what
looks like a secret is blotted out. Lines that are no event are skipped and counted; no line can raise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from . import context_marks
from .secrets import redact

#: A longer line is not read: nobody says that much, and OpenClaw keeps no longer event.
LONGEST_LINE = 4 * 1024 * 1024
USER, ASSISTANT = "user", "assistant"


class Turn(NamedTuple):
    """One message. ``role``: user or assistant. ``text``: redacted, never empty, line ends as ``\\n``. ``line``: of the
    file, 1-based. ``time``: when it was said (UTC), or None."""

    role: str
    text: str
    line: int
    time: datetime | None


class State(NamedTuple):
    """What the lines after some line depend on: ``line``, how many there were; ``unasked``: whether what follows
    answers a turn that nobody asked for; ``generated``: whether the session was found to be a machine talking to
    itself (a scheduled run, a dream), which says nothing."""

    line: int = 0
    unasked: bool = False
    generated: bool = False


class Transcript(NamedTuple):
    """``turns``: in order, none where the session is ``generated``. ``skipped``: how many lines were no event.
    ``state``: where the next lines go on."""

    turns: tuple[Turn, ...]
    skipped: int
    state: State


def parse_transcript(lines: Iterable[bytes], state: State | None = None) -> Transcript:
    """Read lines (with or without their line ends) that follow ``state``, by default a file's first ones."""
    number, unasked, generated = state or State()
    turns: list[Turn] = []
    skipped = 0
    for line in lines:
        number += 1
        if len(line) > LONGEST_LINE:
            skipped += 1
            continue
        event = _event(line)
        if event is None:
            skipped += bool(line.strip())
            continue
        generated = generated or _is_generated(event)
        message = event.get("message")
        if event.get("type") != "message" or not isinstance(message, dict):
            continue
        role = message.get("role")
        if role not in (USER, ASSISTANT):
            continue
        text = _text(message.get("content"))
        if role == USER:
            unasked = _is_unasked(message, text)
            if _provenance(message).get("kind") == "inter_session":
                continue
        if unasked or generated:
            continue
        said = _said(text, role)
        if said:
            turns.append(Turn(role, said, number, _time(message.get("timestamp")) or _time(event.get("timestamp"))))
    return Transcript(() if generated else tuple(turns), skipped, State(number, unasked, generated))


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _text(content: Any) -> str:
    """The text of a message: its own, or its text blocks' joined."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = (block for block in content if isinstance(block, dict) and block.get("type") == "text")
    return "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))


def _provenance(message: dict[str, Any]) -> dict[str, Any]:
    found = message.get("provenance")
    return found if isinstance(found, dict) else {}


_CRON_RUN = re.compile(r"agent:[^:]+:cron:[^:]+:run:")
_DREAM = "dreaming-narrative-"


def _is_generated(event: dict[str, Any]) -> bool:
    """Whether an event says that its session is a scheduled run, or one of those in which OpenClaw writes its dreams
    down."""
    message, data = event.get("message"), event.get("data")
    own = message.get("__openclaw") if isinstance(message, dict) and message.get("role") != USER else None
    for owner in (event, data, own):
        if isinstance(owner, dict):
            names = [owner.get("runId"), owner.get("sessionKey")]
            if any(isinstance(name, str) and is_generated_key(name) for name in names):
                return True
    return False


def is_generated_key(key: str) -> bool:
    """Whether a session of this key (``agent:main:cron:backup:run:7``) is a machine talking to itself."""
    return bool(_CRON_RUN.match(key)) or (key.split(":", 2)[-1] if ":" in key else key).startswith(_DREAM)


# Turns that nobody asked for

_WAKES = (
    "[OpenClaw heartbeat poll]",
    "[OpenClaw exec completion]",
    "[OpenClaw cron wake]",
    "[OpenClaw session event]",
    "Read HEARTBEAT.md",
    "Follow the heartbeat monitor scratch context",
    "Run the following periodic tasks (only those due",
    "Pre-compaction memory flush",
)
#: How a prompt ends that is answered by silence where there is nothing to say; people may word what is before it.
_IF_NOTHING = re.compile(
    r"if (?:nothing needs attention|(?:there is )?nothing to store),? reply (?:with )?", re.IGNORECASE
)
_SYSTEM = re.compile(r"System(?: \(untrusted\))?: \[[^\]\n]{1,200}\]\s*")
_CRON = re.compile(r"\[cron:[^\]\n]{1,300}\]")
_EXEC = re.compile(r"exec finished(?::|\s{0,4}\()|exec (?:completed|failed) \([\w-]{1,64}, ", re.IGNORECASE)
_SILENT = re.compile(r"""[\W_]{0,20}(?:NO_REPLY|HEARTBEAT_OK)(?:\s{1,8}NO_REPLY){0,8}[\W_]{0,20}""", re.IGNORECASE)
_SILENT_ENVELOPE = re.compile(r'\{\s{0,20}"action"\s{0,20}:\s{0,20}"\s{0,20}NO_REPLY\s{0,20}"\s{0,20}\}')


def _is_unasked(message: dict[str, Any], text: str) -> bool:
    """Whether a user message is none: a heartbeat or another wake-up, or recall in a turn of its own."""
    provenance = _provenance(message)
    if provenance.get("kind") == "internal_system":
        return provenance.get("sourceTool") in ("heartbeat", "memory_search", "memory_get")
    text = _without_timestamp(text.strip())
    return text.startswith(_WAKES) or _IF_NOTHING.search(text[-600:]) is not None


def _is_noise(text: str, role: str) -> bool:
    """Whether a message, taken by itself, says nothing."""
    if role == USER and (_SYSTEM.match(text) or _CRON.match(text)):
        return True
    if _SILENT.fullmatch(text) or _SILENT_ENVELOPE.fullmatch(text):
        return True
    envelope = _SYSTEM.match(text)
    return bool(_EXEC.match(text, envelope.end() if envelope else 0))


# What was put into a message

_TIMESTAMP = re.compile(r"\[[A-Za-z]{3} \d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]{0,60}\] {0,8}")
_MARK = "⟦openclaw:ctx⟧"
_DELIVERY = re.compile(
    r"^[ \t]*Delivery: (?:to send a message, use|Final assistant text is not|No visible reply is delivered)[^\n]*\n?",
    re.MULTILINE,
)
#: Opening and closing marks of what is put in as a block, and whether one without its end goes on to the end of the
#: message. They may stand in one another.
_BLOCKS = (
    (f"<!-- {context_marks.NAME}", context_marks.END, True),
    ("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>", True),
    ("<active_memory_plugin>", "</active_memory_plugin>", False),
    ("<relevant-memories>", "</relevant-memories>", False),
)
_OLDER_CONTEXT = "OpenClaw runtime context (internal):\n"
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_LONE_LABEL = re.compile(r"^[ \t]*Context:[ \t]*$", re.MULTILINE)


def _said(text: str, role: str) -> str:
    """What is left of a message's text, redacted; "" where that is nothing."""
    text = text.replace("\r\n", "\n")
    text = _without_blocks(text)
    if role == USER:
        text = _without_inbound(text)
    text = text.strip()
    if not text or _is_noise(text, role):
        return ""
    return redact(_UNSTORABLE.sub(" ", text)).strip()


def _without_blocks(text: str) -> str:
    for start, end, to_the_end in _BLOCKS:
        if start not in text:
            continue
        kept: list[str] = []
        depth = at = 0
        for mark in re.finditer(f"{re.escape(start)}|{re.escape(end)}", text):
            if mark[0] == start:
                if not depth:
                    kept.append(text[at : mark.start()])
                    at = mark.start()
                depth += 1
            elif depth:
                depth -= 1
                if not depth:
                    at = mark.end()
        if not (depth and to_the_end):
            kept.append(text[at:])
        text = "".join(kept)
    return text.partition(_OLDER_CONTEXT)[0]


def _without_inbound(text: str) -> str:
    """A user's text without what the channel put before and behind it: headings that bear OpenClaw's mark with the
    block below each, hints on delivery, the moment."""
    text = _DELIVERY.sub("", _without_timestamp(text.lstrip()))
    if _MARK in text:
        kept: list[str] = []
        ends = ""
        for line in text.split("\n"):
            bare = line.strip()
            if ends:
                ends = "" if bare == ends or (ends == "\n" and not bare) else "```" if bare == "```json" else ends
            elif bare == f"Context: {_MARK}":
                break
            elif bare.endswith(_MARK):
                ends = "\n"
            else:
                kept.append(line)
        text = "\n".join(kept)
    return _without_timestamp(_LONE_LABEL.sub("", text).lstrip())


def _without_timestamp(text: str) -> str:
    found = _TIMESTAMP.match(text)
    return text[found.end() :] if found else text


_LATEST = 253_402_214_400


def _time(value: Any) -> datetime | None:
    """A moment as a number (seconds or milliseconds) or in ISO 8601; None for anything else, and for impossible
    ones."""
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value.strip()[:40])
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 < value < _LATEST * 1000:
        return None
    seconds = value if value < 100_000_000_000 else value / 1000
    return datetime.fromtimestamp(seconds, UTC) if seconds < _LATEST else None
