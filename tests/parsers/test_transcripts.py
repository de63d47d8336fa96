"""Transcripts: what counts as said, what is left out, and that no line can raise."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openclaw_memory.parsers.context_marks import END, NAME
from openclaw_memory.parsers.secrets import REDACTED, redact
from openclaw_memory.parsers.transcripts import (
    LONGEST_LINE,
    State,
    is_generated_key,
    parse_transcript,
)


def message(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": content, **more}}


def lines(*events: Any) -> list[bytes]:
    return [json.dumps(event).encode() + b"\n" for event in events]


def texts(*events: Any) -> list[str]:
    return [turn.text for turn in parse_transcript(lines(*events)).turns]


def user(text: str) -> list[str]:
    return texts(message("user", text))


def test_roles_blocks_lines_and_times() -> None:
    told = parse_transcript(
        lines(
            {"type": "session", "id": "s", "timestamp": "2026-01-12T09:00:00.000Z"},
            message("user", "Where is the gannet?") | {"timestamp": "2026-01-12T10:00:00.000Z"},
            message("toolResult", [{"type": "text", "text": "berth 14"}]),
            message(
                "assistant",
                [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "text", "text": "At berth 14."},
                    {"type": "toolCall", "name": "x"},
                    {"type": "text", "text": "All is well."},
                ],
                timestamp=1_768_212_060_000,
            ),
            {"type": "compaction", "summary": "…"},
            message("user", "Thanks.", timestamp=1_768_212_120),
            message("assistant", [{"type": "image", "data": "AAAA"}]),
        )
    )
    ten = datetime(2026, 1, 12, 10, tzinfo=UTC)
    assert told.turns == (
        ("user", "Where is the gannet?", 2, ten),
        ("assistant", "At berth 14.\nAll is well.", 4, ten.replace(minute=1)),
        ("user", "Thanks.", 6, ten.replace(minute=2)),
    )
    assert (told.skipped, told.state) == (0, State(7))


@pytest.mark.parametrize(
    "when",
    [
        "",
        "soon",
        "2026-13-45T10:00:00Z",
        "9999-12-31T23:59:59-23:59",
        0,
        -5,
        1e300,
        True,
        None,
        [],
        {},
        "0001-01-01T00:00:00+23:59",
    ],
)
def test_times_that_are_none(when: Any) -> None:
    assert parse_transcript(lines(message("user", "text", timestamp=when))).turns[0].time is None


def test_broken_lines_are_counted_and_the_numbers_stay() -> None:
    told = parse_transcript(
        [
            b"\xef\xbb\xbf" + lines(message("user", "after a mark"))[0],
            b"\n",
            b"not json\n",
            b'{"type":"message","message":{"role":"user","content":"\xff\xfe"}}\n',
            b"[1, 2]\n",
            b'{"type":"message","message":"text"}\n',
            b'{"type":"message","message":{"role":7,"content":"x"}}\n',
            b'{"type":"message","message":{"role":"user","content":{"text":"x"}}}\n',
            b"[" * 100_000 + b"\n",
            b"1" * 10_000 + b"\n",
            b"x" * (LONGEST_LINE + 1),
            lines(message("user", "the last"))[0].rstrip(b"\n"),
            b'{"type":"message","message":{"role":"us',
        ]
    )
    assert [(turn.text, turn.line) for turn in told.turns] == [("after a mark", 1), ("the last", 12)]
    assert told.skipped == 7


def test_what_cannot_be_stored() -> None:
    assert user("a\x00b \ud83d c \x1b[0m") == ["a b   c  [0m"]


@pytest.mark.parametrize(
    "prompt",
    [
        "[OpenClaw heartbeat poll]",
        "Read HEARTBEAT.md if it exists (workspace context). Follow it strictly.",
        "Look at the boat every hour. If nothing needs attention, reply HEARTBEAT_OK.",
        "[Mon 2026-01-12 10:00 UTC] Read HEARTBEAT.md if it exists.",
        "Pre-compaction memory flush. Store durable memories now.",
        "Store what matters. If nothing to store, reply with NO_REPLY.",
        "Run the following periodic tasks (only those due based on their intervals):\n- a",
    ],
)
def test_turns_that_nobody_asked_for(prompt: str) -> None:
    """The whole turn, until a person speaks."""
    assert texts(
        message("user", prompt),
        message("assistant", "Looking."),
        message("assistant", "The bilge is dry."),
        message("user", "Good morning"),
        message("assistant", "Morning!"),
    ) == ["Good morning", "Morning!"]


def test_turns_by_their_provenance() -> None:
    def of(**provenance: str) -> list[str]:
        return texts(message("user", "question", provenance=provenance), message("assistant", "answer"))

    assert of(kind="internal_system", sourceTool="heartbeat") == []
    assert of(kind="internal_system", sourceTool="memory_search") == []
    assert of(kind="inter_session") == ["answer"]
    assert of(kind="external_user") == ["question", "answer"]


@pytest.mark.parametrize("reply", ["NO_REPLY", " no_reply ", "**NO_REPLY**", "HEARTBEAT_OK", '{"action": "NO_REPLY"}'])
def test_replies_that_say_nothing(reply: str) -> None:
    assert texts(message("user", "hello"), message("assistant", reply)) == ["hello"]


@pytest.mark.parametrize(
    "text",
    [
        "System: [2026-01-12 10:00:00] Gateway restarted.",
        "System (untrusted): [10:00] exec finished: code 0",
        "[cron:3f backup] Back up the disk.",
        "Exec completed (abc, code 0) :: done",
        "exec finished: all",
    ],
)
def test_messages_of_the_system(text: str) -> None:
    assert user(text) == []


def test_generated_sessions_say_nothing() -> None:
    dream = {
        "type": "custom",
        "customType": "openclaw:bootstrap-context:full",
        "data": {"runId": "dreaming-narrative-7"},
    }
    told = parse_transcript(lines(message("user", "before"), dream, message("assistant", "a dream")))
    assert told == ((), 0, State(3, False, True))
    run = {"type": "message", "sessionKey": "agent:main:cron:backup:run:9", "message": {"role": "user", "content": "x"}}
    assert parse_transcript(lines(run)).state.generated
    assert is_generated_key("agent:main:dreaming-narrative-light")
    assert not is_generated_key("agent:main:cron:backup")
    assert not is_generated_key("agent:main:main")


def test_what_was_put_into_a_message() -> None:
    own = f"<!-- {NAME} 2026-01-12 -->\n- Peter lives in Lisbon\n{END}"
    assert user(f"{own}\n\nWhere is Peter?") == ["Where is Peter?"]
    assert user(f"Where is Peter?\n<!-- {NAME} -->\nnever closed") == ["Where is Peter?"]
    assert user(own) == []
    recalled = "<relevant-memories>\n- berth 14\n</relevant-memories>\n"
    assert user(f"{recalled}Which berth?") == ["Which berth?"]
    assert user("What is a <relevant-memories> tag?") == ["What is a <relevant-memories> tag?"]
    active = "Context:\n<active_memory_plugin>\nberth 14\n</active_memory_plugin>\n\nWhich berth?"
    assert user(active) == ["Which berth?"]
    runtime = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\na\n<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nb\n"
    runtime += "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\nc\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"
    assert user(f"before\n{runtime}\nafter") == ["before\n\nafter"]
    channel = (
        '[Mon 2026-01-12 10:00 GMT+1] Conversation info: ⟦openclaw:ctx⟧\n```json\n{"chat": "x"}\n```\n\n'
        "Sender: ⟦openclaw:ctx⟧\nPeter\n\nWhich berth?\n\nContext: ⟦openclaw:ctx⟧\n<<<EXTERNAL>>>\nnoise"
    )
    assert user(channel) == ["Which berth?"]
    assert user("Delivery: to send a message, use the `message` tool.\nHello") == ["Hello"]


SECRETS = {
    "password: hunter2": "hunter2",
    "my password is hunter2!": "hunter2",
    "Passwort: Geheim7x": "Geheim7x",
    "şifre: gizli9": "gizli9",
    '"passwd": "two words"': "two words",
    "**Password**: ab,cd;ef": "cd;ef",
    "DB_PASS=abc123": "abc123",
    "token=abcdef12": "abcdef12",
    "api key: AbCdEf123456": "AbCdEf123456",
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY": "wJalr",
    "postgres://bob:p@ss/w@host/db": "p@ss",
    "https://bob:s3cret@example.org/a": "s3cret",
    "https://abcdefghij0123456789@git.example/x": "abcdefghij",
    "Authorization: Bearer abc.def-ghi_jkl": "abc.def",
    "Authorization: Basic dXNlcjpwYXNz": "dXNlc",
    "curl -H 'X-Api-Key: 0123456789'": "0123456789",
    "bearer 0123456789abcdef": "0123456789abcdef",
    "Cookie: sid=abcdef; theme=dark": "abcdef",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----": "b3Bl",
    "-----BEGIN PRIVATE KEY-----\nMIIE": "MIIE",
    "use sk-proj-abcdefgh12345": "abcdefgh12345",
    "ghp_0123456789abcdefABCDEF0123456789abcd": "0123456789",
    "xoxb-1234567890-abcdef": "abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc": "eyJzdWIi",
    "curl --token s3cr3tvalue": "s3cr3tvalue",
    "seed phrase: correct horse battery staple": "battery",
    "bot 123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw": "AAHdq",
    "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXX": "XXXXXXXX",
    "PIN: 1234": "1234",
}


@pytest.mark.parametrize("text", SECRETS)
def test_secrets_are_blotted_out(text: str) -> None:
    for said in (text, f"Well, {text}", f"({text})\nand so on"):
        told = user(said)[0]
        assert SECRETS[text] not in told
        assert REDACTED in told


@pytest.mark.parametrize(
    "text",
    [
        "the password is wrong",
        "max_tokens: 4096 and tokens: 1200",
        "The key: point one",
        "http://host:8080/x and mail@example.org",
        "password: ${DB_PASSWORD}",
        "skip the pinned task; a risk-free, desk-bound week",
        "commit 3f2a9c0d1e5b7a8c9d0e1f2a3b4c5d6e7f8a9b0c",
        "Berth 14: pay by 2026-01-12 10:00",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


PIECES = st.sampled_from(
    [
        *SECRETS,
        *SECRETS.values(),
        "password",
        ":",
        "=",
        " ",
        "\n",
        '"',
        "'",
        "`",
        "://",
        "@",
        "token",
        "is",
        REDACTED,
        "[",
        "-",
    ]
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=8).map("".join))
@settings(deadline=None, max_examples=300)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "message", "role", "content", "text", "timestamp", "provenance", "kind"])
            | st.text(max_size=4),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
EVENTS = st.builds(
    lambda role, content, more: json.dumps(
        {"type": "message", "message": {"role": role, "content": content, **more}}
    ).encode(),
    st.sampled_from(["user", "assistant", "toolResult", "system"]),
    st.text(max_size=40) | st.sampled_from(["NO_REPLY", "Read HEARTBEAT.md", "hello"]) | JSON,
    st.dictionaries(st.sampled_from(["timestamp", "provenance"]), JSON, max_size=2),
)
LINES = st.lists(EVENTS | JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=40), max_size=8)


@given(LINES)
@settings(deadline=None, max_examples=300)
def test_any_lines_can_be_read(data: list[bytes]) -> None:
    told = parse_transcript(data)
    assert told.state.line == len(data)
    assert 0 <= told.skipped <= len(data)
    for turn in told.turns:
        assert turn.role in ("user", "assistant")
        assert turn.text.strip()
        assert 1 <= turn.line <= len(data)
        assert turn.text.encode("utf-8")
        assert "\0" not in turn.text
    assert [turn.line for turn in told.turns] == sorted(turn.line for turn in told.turns)


@given(LINES, st.integers(0, 8))
@settings(deadline=None, max_examples=200)
def test_reading_on_is_reading_at_once(data: list[bytes], cut: int) -> None:
    at_once = parse_transcript(data)
    first = parse_transcript(data[:cut])
    then = parse_transcript(data[cut:], first.state)
    assert then.state == at_once.state
    assert first.skipped + then.skipped == at_once.skipped
    if not at_once.state.generated:
        assert first.turns + then.turns == at_once.turns


HOSTILE = [
    *("eyJ", "eyJ-", "password: ", "password is ", "token=", "://a:", "://", "SG.", "-----BEGIN PRIVATE KEY-----"),
    *("secret_", "_key_", "--token ", "1:", "authorization: ", "cookie: ", "NO_REPLY ", "System: [", "[cron:"),
    *(f"<!-- {NAME}", END, "<relevant-memories>", "⟦openclaw:ctx⟧\n", "Delivery: ", "```json\n"),
    *("\n", " ", "if nothing needs attention, "),
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_is_linear(unit: str) -> None:
    def seconds(size: int) -> float:
        data = lines(message("user", unit * (size // len(unit))))
        taken = []
        for _ in range(3):
            start = time.process_time()
            parse_transcript(data)
            taken.append(time.process_time() - start)
        return min(taken)

    small, large = seconds(50_000), seconds(400_000)
    assert large < 0.05 + 16 * small
