"""``serve``: JSON-RPC 2.0, one object a line, and nothing else ever on stdout."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import openclaw_memory

SCHEMAS = Path(__file__).parent.parent.parent / "docs" / "schemas"
REGISTRY = Registry().with_resources(
    (path.name, Resource.from_contents(json.loads(path.read_text("utf-8")))) for path in SCHEMAS.glob("*.json")
)


def valid(name: str, answer: object) -> None:
    schema = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
    Draft202012Validator(schema, registry=REGISTRY).validate(answer)


def test_the_first_line_says_who_is_there(serve, workspace: Path) -> None:
    told = serve(ready=False).receive()
    params = {"version": openclaw_memory.__version__, "workspace": str(workspace), "agent": "main"}
    assert told == {"jsonrpc": "2.0", "method": "ready", "params": params}


def test_every_method_answers_its_object(serve) -> None:
    server = serve()
    along = {"sessionKey": "agent:main:main", "agentId": "main", "chatType": "direct"}
    recalled = server.ask("memory_recall", query="What does Mara prefer?", k=2, kind="opinion", **along)["result"]
    valid("recall", recalled)
    assert recalled["results"][0]["content"].startswith("Prefers releases on Tuesday mornings")
    found = server.ask("memory_search", query="ZX-4417", maxResults=1, **along)["result"]
    valid("search", found)
    assert found["results"][0]["citation"]
    read = server.ask("memory_get", path="memory.md", lines=2)["result"]
    valid("get", read)
    assert (read["lines"], read["nextFrom"]) == (2, 3)
    valid("entity", server.ask("memory_entity", name="wang fang")["result"])
    valid("opinions", server.ask("memory_opinions", entity="Elif")["result"]["opinions"])
    told = server.ask("status")["result"]
    valid("status", told)
    assert (told["index"]["usable"], told["index"]["stale"]) == (True, False)
    valid("context", server.ask("context", session="main", question="What does Mara prefer?")["result"])
    asked = server.ask("flush_check", sessionKey="agent:main:main", tokens=190_000, contextWindow=200_000)["result"]
    assert (asked["due"], asked["claimed"]) == (True, False)


def test_what_is_written_is_known_to_the_next_answer(serve, workspace: Path) -> None:
    server = serve()
    written = server.ask("memory_retain", facts=["W @Peter: Owns a quokka named Bolt."], day="2025-12-06")["result"]
    valid("retain", written)
    for name in ("Comet", "Dasher"):
        best = server.ask("memory_recall", query="Who owns a quokka?", k=1)["result"]["results"][0]
        assert best["source"] == written["retained"][0]["source"]
        # By somebody else, right before the question.
        log = workspace / "memory" / f"2025-12-{7 if name == 'Comet' else 8:02}.md"
        log.write_text(f"# Log\n\n## Retain\n- W @Ines: Owns a wombat named {name}.\n", encoding="utf-8")
        answer = server.ask("memory_recall", query=f"wombat {name}", k=1)["result"]
        assert (answer["results"][0]["content"], answer["stale"]) == (f"Owns a wombat named {name}.", False)
    done = server.ask("core_memory_append", content="Ines keeps wombats.", section="Learned")["result"]
    valid("core", done)
    assert "Ines keeps wombats." in (workspace / "memory.md").read_text("utf-8")
    refused = server.ask("core_memory_replace", old="no such text", new="x")["result"]
    assert (refused["ok"], bool(refused["error"])) == (False, True)
    report = server.ask("memory_reflect", dryRun=True)["result"]
    valid("reflect", report)
    assert report["dry_run"]
    assert not (workspace / "bank" / "entities" / "Ines.md").exists()


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        (b"{", None, -32700),
        (b"\xff\xfe", None, -32700),
        (b'{"id": 1, "method": "status", "params": {"x": NaN}}', None, -32700),
        (b"[" * 100_000, None, -32700),
        (b"[]", None, -32600),
        (b"7", None, -32600),
        (b'{"id": [], "method": "status"}', None, -32600),
        (b'{"id": true, "method": "status"}', None, -32600),
        (b'{"id": "a"}', "a", -32600),
        (b'{"id": "a", "method": 3}', "a", -32600),
        (b'{"id": "a", "method": "memory_forget"}', "a", -32601),
        (b'{"id": 1.5, "method": "status", "params": []}', 1.5, -32602),
        (b'{"id": 1, "method": "memory_get", "params": {}}', 1, -32602),
        (b'{"id": 1, "method": "memory_get", "params": {"path": 3}}', 1, -32602),
        (b'{"id": 1, "method": "memory_get", "params": {"path": "memory.md", "from": 0}}', 1, -32602),
        (b'{"id": 1, "method": "memory_get", "params": {"path": "memory.md", "form": 1}}', 1, -32602),
        (b'{"id": 1, "method": "memory_recall", "params": {"query": "x", "since": "soon"}}', 1, -32602),
        (b'{"id": 1, "method": "memory_recall", "params": {"query": "x", "k": true}}', 1, -32602),
        (b'{"id": 1, "method": "memory_recall", "params": {"query": "x", "minConfidence": 2}}', 1, -32602),
        (b'{"id": 1, "method": "memory_search", "params": {"query": "x", "corpus": "mail"}}', 1, -32602),
        (b'{"id": 1, "method": "memory_retain", "params": {"facts": []}}', 1, -32602),
        (b'{"id": 1, "method": "memory_retain", "params": {"facts": ["no type"]}}', 1, -32602),
        (b'{"id": 1, "method": "memory_entity", "params": {"name": "Nobody"}}', 1, -32000),
    ],
)
def test_a_fault_is_an_answer_and_not_the_end(faulty, line: bytes, request_id: object, code: int) -> None:
    faulty.send(line)
    answer = faulty.receive()
    assert (answer["id"], answer["error"]["code"]) == (request_id, code)
    message = answer["error"]["message"]
    assert message
    assert "\n" not in message
    assert "Traceback" not in message
    if code == -32000:
        assert answer["error"]["data"]["exitCode"] == 1
        assert answer["error"]["data"]["remedy"]
    assert faulty.ask("memory_get", path="memory.md", lines=1)["result"]["status"] == "ok"


def test_reads_go_on_beside_a_long_write(serve, workspace: Path) -> None:
    server = serve()
    server.ask("memory_recall", query="x")
    server.send(b'{"id": "reflect", "method": "memory_reflect", "params": {}}')
    server.send(b'{"id": "get", "method": "memory_get", "params": {"path": "memory.md", "lines": 1}}')
    assert [server.receive()["id"], server.receive()["id"]] == ["get", "reflect"]


def test_what_was_begun_is_answered_before_the_end(serve) -> None:
    server = serve()
    for number in range(8):
        server.send(b'{"id": %d, "method": "memory_recall", "params": {"query": "cargo bike"}}' % number)
    server.send(b'{"method": "memory_recall", "params": {"query": "a notification gets no answer"}}')
    server.send(b'{"id": "end", "method": "shutdown"}')
    answers = [server.receive() for _ in range(9)]
    assert {answer["id"] for answer in answers[:8]} == set(range(8))
    assert answers[8] == {"jsonrpc": "2.0", "id": "end", "result": {}}
    assert server.ended() == (0, b"", b"")


def test_it_ends_with_its_stdin_and_when_told_to(serve) -> None:
    assert serve().end() == (0, b"", b"")
    server = serve()
    server.ask("memory_recall", query="cargo bike")
    server.process.send_signal(signal.SIGTERM)
    assert server.ended() == (0, b"", b"")


def test_a_reader_that_went_away_is_no_fault(workspace: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "openclaw_memory", "serve", "--workspace", str(workspace)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as process:
        process.stdout.readline()
        process.stdout.close()
        _, told = process.communicate(b'{"id": 1, "method": "memory_recall", "params": {"query": "x"}}\n', timeout=60)
    assert (process.returncode, told) == (0, b"")


def test_no_workspace_is_one_line_and_no_ready(tmp_path: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "openclaw_memory", "serve", "--workspace", str(tmp_path / "none")]
    done = subprocess.run(command, input=b"", capture_output=True, env=environment, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (1, b"", 1)


def test_what_changed_is_read_before_anybody_asks(serve, workspace: Path) -> None:
    server = serve()
    server.ask("memory_recall", query="cargo bike")
    (workspace / "memory" / "2025-12-09.md").write_text("- A numbat came by.\n", encoding="utf-8")
    until = time.monotonic() + 30
    while server.ask("status")["result"]["index"]["stale"]:
        assert time.monotonic() < until
        time.sleep(0.1)
