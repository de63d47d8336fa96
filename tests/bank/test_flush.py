"""The flush before a compaction: when it is due, what is said, and that one process alone runs it in a cycle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zoneinfo
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.bank.config import Configuration, read_configuration
from openclaw_memory.bank.errors import Busy, MemoryFault, UsageFault
from openclaw_memory.bank.flush import FlushPlan, FlushRequest, claim_flush, flush_plan, mark_flush
from openclaw_memory.bank.flush_prompts import HINT
from openclaw_memory.bank.flush_settings import read_flush
from openclaw_memory.bank.json_edits import with_members
from openclaw_memory.bank.session_store import locked_store
from openclaw_memory.bank.silent_reply import is_silent, read_reply
from openclaw_memory.bank.workspace import Workspace

NOW = datetime(2025, 12, 6, 11, 30, tzinfo=UTC)
EXAMPLE = Path(__file__).parent.parent / "cases" / "configuration" / "memory-flush.json5"
KEY = "agent:main:main"
FULL = FlushRequest("main", 180_000, 200_000)

Say = Callable[..., Configuration]


class Place:
    """A workspace, OpenClaw's state, and its configuration."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.root = folder / "workspace"
        self.store = self.state / "agents" / "main" / "sessions" / "sessions.json"
        (self.root / "memory").mkdir(parents=True)
        self.environ = {"OPENCLAW_STATE_DIR": str(self.state), "HOME": str(folder)}
        self.values: dict[str, Any] = {}

    @property
    def configuration(self) -> Configuration:
        return Configuration("openclaw.json", self.values)

    def sessions(self, entries: Any, text: str = "") -> None:
        self.store.parent.mkdir(parents=True, exist_ok=True)
        self.store.write_text(text or json.dumps(entries, indent=2), encoding="utf-8")

    def entry(self) -> dict[str, Any]:
        return json.loads(self.store.read_text("utf-8"))[KEY]

    def plan(self, request: FlushRequest = FULL, now: datetime = NOW, ask: Any = flush_plan) -> FlushPlan:
        return ask(Workspace(str(self.root)), self.configuration, request, now=now, environ=self.environ)

    def claim(self, request: FlushRequest = FULL) -> FlushPlan:
        return self.plan(request, ask=claim_flush)

    def mark(self, request: FlushRequest = FULL, **more: Any) -> Any:
        return mark_flush(self.configuration, request, now=NOW, environ=self.environ, **more)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def compaction(**values: Any) -> dict[str, Any]:
    return {"agents": {"defaults": {"compaction": values}}}


# When it is due


@pytest.mark.parametrize(
    ("tokens", "window", "due"),
    [(176_000, 200_000, False), (176_001, 200_000, True), (0, 200_000, False), (976_001, 1_000_000, True)],
)
def test_due_above_window_less_reserve_less_soft_threshold(place: Place, tokens: int, window: int, due: bool) -> None:
    plan = place.plan(FlushRequest("main", tokens, window))
    assert (plan.due, plan.code) == (due, "due" if due else "below-threshold")
    assert plan.threshold == window - 20_000 - 4_000


def test_a_small_window_keeps_a_quarter_free(place: Place) -> None:
    """As today's OpenClaw: 20,000 tokens are more than some windows have."""
    plan = place.plan(FlushRequest("main", 20_576, 32_768))
    assert (plan.reserve, plan.soft_threshold, plan.threshold, plan.due) == (8_192, 4_000, 20_576, False)
    assert place.plan(FlushRequest("main", 20_577, 32_768)).due


def test_a_reserve_that_is_set_counts_as_it_is(place: Place) -> None:
    place.values = compaction(reserveTokensFloor=20_000)
    assert place.plan(FlushRequest("main", 9_000, 32_768)).threshold == 8_768
    place.values = compaction(reserveTokensFloor=0, memoryFlush={"softThresholdTokens": 0})
    assert place.plan(FlushRequest("main", 1, 100)).threshold == 100
    place.values = compaction(reserveTokensFloor=20_000)
    plan = place.plan(FlushRequest("main", 9_000, 16_000))
    assert (plan.threshold, plan.due) == (8_000, True)
    assert plan.warnings == (
        "agents.defaults.compaction.reserveTokensFloor: 20,000 and 4,000 leave nothing of 16,000 tokens;"
        " a quarter is kept free",
    )


def test_the_example_of_the_older_documentation_takes_effect(place: Place) -> None:
    configuration = read_configuration({"OPENCLAW_CONFIG_PATH": str(EXAMPLE)})
    settings, warnings = read_flush(configuration, "main")
    assert (settings.enabled, settings.soft_threshold, settings.reserve, warnings) == (True, 4_000, 20_000, [])
    place.values = configuration.values
    plan = place.plan()
    assert plan.prompt == "Write any lasting notes to memory/2025-12-06.md; reply with NO_REPLY if nothing to store."
    assert plan.system_prompt == f"Session nearing compaction. Store durable memories now.\n\n{HINT}"
    assert (plan.due, plan.threshold) == (True, 176_000)


def test_an_agent_has_settings_of_its_own_key_by_key(place: Place) -> None:
    place.values = compaction(memoryFlush={"prompt": "All: NO_REPLY?", "softThresholdTokens": 1_000})
    place.values["agents"]["entries"] = {"work": {"compaction": {"memoryFlush": {"prompt": "Work: NO_REPLY?"}}}}
    work = place.plan(FlushRequest("agent:work:main", 1, 200_000, "work"))
    assert (work.prompt, work.soft_threshold) == ("Work: NO_REPLY?", 1_000)
    assert place.plan().prompt == "All: NO_REPLY?"


def test_it_can_be_switched_off(place: Place) -> None:
    place.values = compaction(memoryFlush={"enabled": False})
    plan = place.plan()
    assert (plan.due, plan.code) == (False, "disabled")
    assert plan.reason == "agents.defaults.compaction.memoryFlush.enabled is false"


def test_wrong_settings_are_told(place: Place) -> None:
    place.values = compaction(memoryFlush={"softTresholdTokens": 1})
    assert "did you mean agents.defaults.compaction.memoryFlush.softThresholdTokens?" in place.plan().warnings[0]
    place.values = compaction(memoryFlush={"softThresholdTokens": "4k"})
    with pytest.raises(MemoryFault, match=r"agents\.defaults\.compaction\.memoryFlush\.softThresholdTokens: expected"):
        place.plan()


def test_the_entry_says_what_the_caller_does_not(place: Place) -> None:
    asked = FlushRequest("main")
    assert place.plan(asked).code == "unknown-size"
    place.sessions({KEY: {"totalTokens": 190_000, "contextTokens": 200_000}})
    assert place.plan(asked).due
    place.sessions({KEY: {"totalTokens": 190_000, "contextTokens": 200_000, "totalTokensFresh": False}})
    assert place.plan(asked).code == "unknown-size"


def test_a_long_transcript_is_due_where_that_is_set(place: Place) -> None:
    place.sessions({KEY: {"sessionId": "s-1", "compactionCount": 1}})
    (place.store.parent / "s-1.jsonl").write_bytes(b"x" * 2048)
    asked = FlushRequest("main", 5, 200_000)
    assert not place.plan(asked).due
    for size, due in ((2048, True), ("2kb", True), ("2.5 KB", False), (0, False), ("2mb", False)):
        place.values = compaction(memoryFlush={"forceFlushTranscriptBytes": size, "model": "ollama/small"})
        assert place.plan(asked).due is due
    plan = place.plan(asked._replace(transcript=2 * 1024**2))
    assert (plan.due, plan.model) == (True, "ollama/small")
    assert plan.reason == "its transcript has 2,097,152 bytes; due from 2,097,152 on"
    assert place.claim(asked._replace(transcript=2 * 1024**2)).claimed
    assert not place.plan(asked._replace(transcript=2 * 1024**2)).due
    place.values = compaction(memoryFlush={"forceFlushTranscriptBytes": "much"})
    with pytest.raises(MemoryFault, match=r"memoryFlush\.forceFlushTranscriptBytes: expected"):
        place.plan(asked)


# Prompts


def test_the_prompts_are_those_of_openclaw_and_ask_for_facts(place: Place) -> None:
    plan = place.plan()
    for sentence in (
        "Pre-compaction memory flush. Store durable memories only in memory/2025-12-06.md (create memory/ if needed).",
        "Treat workspace bootstrap/reference files such as MEMORY.md, DREAMS.md, SOUL.md, and AGENTS.md,",
        "If memory/2025-12-06.md already exists, APPEND new content only and do not overwrite existing entries.",
        "as a list under a heading `## Retain`, one self-contained fact a line",
        "always use the canonical 2025-12-06.md filename. If nothing to store, reply with NO_REPLY.\n",
        "\nCurrent time: Saturday, December 6th, 2025 - 11:30 AM (UTC)\nReference UTC: 2025-12-06 11:30 UTC",
    ):
        assert sentence in plan.prompt
    assert plan.system_prompt.startswith("Pre-compaction memory flush turn. The session is near auto-compaction;")
    assert plan.system_prompt.endswith("You may reply, but usually NO_REPLY is correct.")
    assert "YYYY" not in plan.prompt + plan.system_prompt


@pytest.mark.skipif("Europe/Berlin" not in zoneinfo.available_timezones(), reason="no time zones are installed")
def test_the_day_is_the_persons(place: Place) -> None:
    late = datetime(2025, 12, 6, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    assert place.plan(now=late).path == "memory/2025-12-06.md"
    place.values = {"agents": {"defaults": {"userTimezone": "Europe/Berlin"}}}
    plan = place.plan(now=late)
    assert plan.path == "memory/2025-12-07.md"
    assert "Sunday, December 7th, 2025 - 5:30 AM (Europe/Berlin)\nReference UTC: 2025-12-07 04:30 UTC" in plan.prompt
    place.values = {"agents": {"defaults": {"userTimezone": "Europe/Nowhere"}}}
    assert "no such time zone: Europe/Nowhere" in place.plan(now=late).warnings[0]


# Where nothing can be written


@pytest.mark.parametrize(
    ("sandbox", "session", "locked"),
    [
        ({"mode": "all", "workspaceAccess": "ro"}, "main", True),
        ({"mode": "all", "workspaceAccess": "none"}, "main", True),
        ({"mode": "all", "workspaceAccess": "rw"}, "main", False),
        ({"mode": "all"}, "main", True),
        ({"mode": "off", "workspaceAccess": "ro"}, "main", False),
        ({"workspaceAccess": "ro"}, "main", True),
        ({"workspaceAccess": "rw"}, "main", False),
        ({"mode": "non-main", "workspaceAccess": "ro"}, "main", False),
        ({"mode": "non-main", "workspaceAccess": "ro"}, "agent:main:main", False),
        ({"mode": "non-main", "workspaceAccess": "ro"}, "agent:main:telegram:group:7", True),
        ({}, "agent:main:telegram:group:7", False),
    ],
)
def test_a_sandbox_that_may_not_write_is_passed_over(
    place: Place, sandbox: dict[str, str], session: str, locked: bool
) -> None:
    place.values = {"agents": {"defaults": {"sandbox": sandbox}}}
    plan = place.plan(FULL._replace(session=session))
    assert (plan.code, plan.due) == (("read-only", False) if locked else ("due", True))
    assert not locked or "workspaceAccess" in plan.reason
    assert place.plan(FULL._replace(session=session, access="rw")).due
    assert place.plan(FULL._replace(session=session, access="none")).code == "read-only"


def test_a_session_may_say_so_itself(place: Place) -> None:
    for own in ({"workspaceAccess": "ro"}, {"sandbox": {"workspaceAccess": "none"}}, {"sandbox": "required"}):
        place.sessions({KEY: own})
        assert place.plan().code == "read-only"
    place.values = {"agents": {"defaults": {"sandbox": {"mode": "all"}}}}
    place.sessions({KEY: {"sandboxMode": "off"}})
    assert place.plan().due


def test_a_file_system_that_may_not_be_written(lent: Path, somebody) -> None:
    place = Place(lent)
    os.chmod(place.root / "memory", 0o555)
    with somebody():
        plan = place.plan()
    assert (plan.code, plan.reason) == ("read-only", f"{place.root / 'memory'} cannot be written")
    os.chmod(place.root / "memory", 0o777)
    log = place.root / "memory" / "2025-12-06.md"
    log.touch(0o444)
    with somebody():
        assert place.plan().reason == f"{log} cannot be written"


# Once a cycle


def test_a_check_is_free_and_a_claim_counts_once(place: Place) -> None:
    assert [place.plan().due for _ in range(3)] == [True] * 3
    assert not place.store.exists()
    first, second = place.claim(), place.claim()
    assert (first.due, first.claimed, second.due, second.claimed) == (True, True, False, False)
    assert second.code == place.plan().code == "flushed"
    assert place.entry() == {"memoryFlushAt": int(NOW.timestamp() * 1000), "memoryFlushCompactionCount": 0}


def test_after_a_compaction_it_is_due_again(place: Place) -> None:
    place.sessions({KEY: {"compactionCount": 2}})
    assert place.claim().claimed
    assert place.plan().flushed == 2
    place.sessions({KEY: {**place.entry(), "compactionCount": 3}})
    plan = place.claim()
    assert (plan.claimed, plan.cycle, plan.flushed) == (True, 3, 2)
    assert place.claim(FULL._replace(cycle=4)).claimed


@pytest.mark.parametrize(
    "entry",
    [
        {"compactionCount": 4, "memoryFlushCompactionCount": 4},
        {"compactionCount": 4, "memoryFlush": {"kind": "succeeded", "compactionCount": 4}},
        {"memoryFlushCompactionCount": 0},
    ],
)
def test_what_openclaw_has_noted_counts(place: Place, entry: dict[str, Any]) -> None:
    place.sessions({KEY: entry})
    assert place.plan().code == "flushed"


def test_nothing_else_in_the_file_changes(place: Place) -> None:
    """Not its order, numbers, escapes or blanks: both are OpenClaw's."""
    text = (
        '{\n\t"agent:main:other": {"n": 1e21,  "s": "\\u00fc\\/"},\n\t"' + KEY + '": {\n\t\t"compactionCount": 1.0,\n'
        '\t\t"memoryFlushCompactionCount": 0,\n\t\t"memoryFlush": {"kind":"succeeded","compactionCount":0},\n'
        '\t\t"list": [1, 2.50]\n\t}\n}\n\n'
    )
    place.sessions(None, text)
    os.chmod(place.store, 0o600)
    assert place.claim().claimed
    moment = str(int(NOW.timestamp() * 1000))
    expected = text.replace('"memoryFlushCompactionCount": 0', '"memoryFlushCompactionCount": 1')
    expected = expected.replace("[1, 2.50]\n", '[1, 2.50],\n\t\t"memoryFlushAt": ' + moment + "\n")
    before, _, after = expected.partition('{"kind":"succeeded","compactionCount":0}')
    written = place.store.read_text("utf-8")
    assert written.startswith(before)
    assert written.endswith(after)
    assert place.entry()["memoryFlush"] == {"kind": "succeeded", "compactionCount": 1}
    assert os.name == "nt" or os.stat(place.store).st_mode & 0o777 == 0o600
    assert sorted(path.name for path in place.store.parent.iterdir()) == [".openclaw-memory.lock", "sessions.json"]


def test_a_mark_says_that_it_ran(place: Place) -> None:
    place.sessions({KEY: {"compactionCount": 7}})
    assert place.mark() == (KEY, str(place.store), 7, True, 0)
    once = place.store.read_bytes()
    assert place.mark().done
    assert place.store.read_bytes() == once
    assert place.plan().code == "flushed"


def test_a_failure_gives_the_cycle_back_up_to_three_times(place: Place) -> None:
    place.sessions({KEY: {"compactionCount": 7, "memoryFlush": {"kind": "succeeded", "compactionCount": 6}}})
    for number in (1, 2):
        assert place.claim().claimed
        assert place.mark(failed=True)[3:] == (False, number)
        assert place.plan().due
    assert place.claim().claimed
    assert place.mark(failed=True)[3:] == (True, 3)
    assert place.plan().code == "flushed"
    assert place.entry()["memoryFlush"] == {"kind": "succeeded", "compactionCount": 7}
    assert "memoryFlushFailureCount" not in place.entry()


def test_failures_are_counted_without_claims(place: Place) -> None:
    assert [place.mark(failed=True)[3:] for _ in range(3)] == [(False, 1), (False, 2), (True, 3)]
    assert place.plan().code == "flushed"
    assert place.mark(FULL._replace(cycle=1), failed=True)[3:] == (False, 1)


@pytest.mark.parametrize("name", ["main", KEY, "AGENT:main:MAIN", " agent:main:main "])
def test_a_session_by_any_of_its_names(place: Place, name: str) -> None:
    place.sessions({KEY: {"compactionCount": 3}})
    assert (place.plan(FULL._replace(session=name)).session, place.plan(FULL._replace(session=name)).cycle) == (KEY, 3)


def test_an_older_file_has_bare_keys(place: Place) -> None:
    place.sessions({"main": {"compactionCount": 5}, "telegram:group:7": {"compactionCount": 1}})
    assert place.plan().cycle == 5
    assert place.plan(FULL._replace(session="agent:main:telegram:group:7")).cycle == 1
    assert place.plan(FULL._replace(session="telegram:group:8")).session == "telegram:group:8"


def test_sessions_may_lie_elsewhere(place: Place, tmp_path: Path) -> None:
    place.values = {"session": {"store": "~/elsewhere/{agentId}.json"}}
    assert place.claim().store == str(tmp_path / "elsewhere" / "main.json")
    assert (tmp_path / "elsewhere" / "main.json").exists()


# What does not read


@pytest.mark.parametrize(
    ("text", "told", "line"),
    [
        ("", "the sessions are not JSON", 1),
        ("{", "the sessions are not JSON", 1),
        ('{\n  "a": {},\n  oops\n}', "the sessions are not JSON", 3),
        ("[]", "an object was expected", 1),
        ('{\n "agent:main:main": []}', "the session agent:main:main: an object was expected", 2),
        ('{"agent:main:main": {"compactionCount": "x"}}', "compactionCount is no whole number", 1),
        ('{"agent:main:main": {"memoryFlushCompactionCount": -1}}', "memoryFlushCompactionCount is no whole number", 1),
    ],
)
def test_bad_sessions_are_told_and_left(place: Place, text: str, told: str, line: int) -> None:
    place.sessions(None, text or " ")
    before = place.store.read_bytes()
    for ask in (place.plan, place.claim, place.mark):
        with pytest.raises(MemoryFault, match=told) as raised:
            ask()
        assert raised.value.where == f"{place.store}:{line}"
        assert "\n" not in str(raised.value)
    assert place.store.read_bytes() == before
    assert not Path(f"{place.store}.lock").exists()


@pytest.mark.parametrize("count", ["1e400", "-1", "0.5", "1e300"])
def test_a_count_that_no_session_has(place: Place, count: str) -> None:
    """A number that JSON allows and no integer holds ended in a traceback."""
    place.sessions(None, f'{{"{KEY}": {{"sessionId": "s", "compactionCount": {count}}}}}')
    with pytest.raises(MemoryFault, match="compactionCount is no whole number"):
        place.plan()


def test_bytes_that_are_no_text(place: Place) -> None:
    place.sessions({})
    place.store.write_bytes(b'{\n"a": "\xff"}')
    with pytest.raises(MemoryFault, match="not UTF-8") as raised:
        place.plan()
    assert raised.value.where == f"{place.store}:2"


@pytest.mark.parametrize(
    "request_",
    [FULL._replace(session=" "), FULL._replace(agent="../x"), FULL._replace(tokens=-1), FULL._replace(session="a\nb")],
)
def test_wrong_requests(place: Place, request_: FlushRequest) -> None:
    with pytest.raises(UsageFault):
        place.plan(request_)


# Several processes

CLAIM = """
import sys
from datetime import UTC, datetime
from openclaw_memory.bank.config import Configuration
from openclaw_memory.bank.flush import FlushRequest, claim_flush
from openclaw_memory.bank.workspace import Workspace
root, state, session = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
plan = claim_flush(Workspace(root), Configuration("", {}), FlushRequest(session, 180000, 200000),
                   now=datetime.now(UTC), environ={"OPENCLAW_STATE_DIR": state}, timeout=60)
print("claimed" if plan.claimed else "no", flush=True)
"""


def test_of_several_processes_one_claims(place: Place) -> None:
    """And nobody's note is lost: three ask for one session, three for sessions of their own."""
    sessions = ["main"] * 3 + ["a", "b", "c"]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIM, str(place.root), str(place.state), session],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for session in sessions
    ]
    for one in running:
        assert one.stdout
        assert one.stdout.readline() == "ready\n"
    for one in running:
        assert one.stdin
        one.stdin.write("go\n")
        one.stdin.flush()
    told = [one.communicate(timeout=60)[0].strip() for one in running]
    assert sorted(told[:3]) == ["claimed", "no", "no"]
    assert told[3:] == ["claimed"] * 3
    assert json.loads(place.store.read_text("utf-8")).keys() == {KEY, "a", "b", "c"}


def test_a_gateway_that_writes_is_waited_for(place: Place) -> None:
    place.sessions({KEY: {}})
    lock = Path(f"{place.store}.lock")
    lock.write_text('{"pid": 1}', encoding="utf-8")
    with pytest.raises(Busy), locked_store(str(place.store), 0.1):
        pass
    assert lock.exists()
    old = time.time() - 60
    os.utime(lock, (old, old))
    assert place.claim().claimed
    assert not lock.exists()


# JSON, and answers

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=4), st.dictionaries(st.text(max_size=4), VALUES, max_size=4), max_size=4)


@given(
    OBJECTS, st.text(max_size=4), st.dictionaries(st.text(max_size=4), VALUES, max_size=4), st.sampled_from([None, 2])
)
def test_members_are_set_as_in_the_parsed_object(
    document: dict[str, dict[str, Any]], key: str, changes: dict[str, Any], indent: int | None
) -> None:
    text = json.dumps(document, indent=indent)
    entry = {**document.get(key, {}), **changes}
    expected = {
        **document,
        key: {name: value for name, value in entry.items() if value is not None or name not in changes},
    }
    edited = with_members(text, key, changes)
    assert json.loads(edited) == expected
    if not changes and key in document:
        assert edited == text


@pytest.mark.parametrize(
    "text",
    [
        "NO_REPLY", " no_reply \n", "NO_REPLY NO_REPLY", "**NO_REPLY**", "NO_REPLY.", "`NO_REPLY`", '"NO_REPLY"',
        '{"action": "NO_REPLY"}', "<think>Nothing lasts.</think>\nNO_REPLY", "", "  \n", "(NO_REPLY)",
        "<think>Nothing.\n</think>", "<think>NO_REPLY", "thinking:\nNO_REPLY.", "Reasoning\n\nNO_REPLY",
    ],
)  # fmt: skip
def test_silence(text: str) -> None:
    assert is_silent(text)
    assert read_reply(text) == (True, "")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Stored two facts.", "Stored two facts."),
        ("Stored two facts. NO_REPLY", "Stored two facts."),
        ("Stored. **NO_REPLY", "Stored."),
        ("NO_REPLY\nStored.", "Stored."),
        ("NO_REPLYStored.", "Stored."),
        ("What does NO_REPLY mean?", "What does NO_REPLY mean?"),
        ("NO_REPLY is a word.", "NO_REPLY is a word."),
        ("xNO_REPLY", "xNO_REPLY"),
        ('{"action": "NO_REPLY", "text": "x"}', '{"action": "NO_REPLY", "text": "x"}'),
        ("NO", "NO"),
    ],
)
def test_an_answer(text: str, left: str) -> None:
    assert read_reply(text) == (False, left)


@given(st.text(alphabet='NO_REPLY \n*<think>/{}"', max_size=40))
def test_no_answer_raises_and_what_is_left_is_not_silent(text: str) -> None:
    told = read_reply(text)
    assert told.silent == (not told.text)
    assert not told.text or told.text in text
