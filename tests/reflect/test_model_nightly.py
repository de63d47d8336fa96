"""The nightly job with a model behind an address, as a shell runs it: asked once, quoted, and done without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

OLD = """# 2025-11-01

## Retain
- O(c=0.8) @Pia: Likes jazz records.
- W @Pia: Lives in Porto.
"""
NEW = """# 2025-11-20

## Retain
- W @Pia: Sold all of her jazz records to a neighbour.
- W @Pia: Has a flat in Porto with a view.
"""


class Contradicting(BaseHTTPRequestHandler):
    """Says of each newer line that it contradicts an opinion, and leaves facts as they are."""

    asked = 0

    def do_POST(self) -> None:
        type(self).asked += 1
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        quotes = [line.partition(": ")[2] for line in body["messages"][-1]["content"].split("\n")]
        relations = body["response_format"]["json_schema"]["schema"]["properties"]["relation"]["enum"]
        relation = "contradicts" if "contradicts" in relations else "coexists"
        verdict = {"reasoning": "", "same_question": True, "relation": relation, "strength": "normal"}
        said = json.dumps(verdict | {"quotes": quotes})
        data = json.dumps({"choices": [{"message": {"role": "assistant", "content": said}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def model() -> Iterator[tuple[ThreadingHTTPServer, type[Contradicting]]]:
    handler = type("Handler", (Contradicting,), {"asked": 0})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server, handler
    server.shutdown()
    server.server_close()


def openclaw(tmp_path: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """The command in a clean environment. ``--now`` is the same in all runs."""
    workspace = tmp_path / "w"
    if not workspace.exists():
        (workspace / "memory").mkdir(parents=True)
        for day, text in (("2025-11-01", OLD), ("2025-11-20", NEW)):
            (workspace / "memory" / f"{day}.md").write_text(text, encoding="utf-8")
    own = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "no_proxy": "127.0.0.1", "TZ": "UTC"}
    command = [sys.executable, "-m", "openclaw_memory", *arguments]
    where = ["--workspace", str(workspace), "--now", "2025-12-06T09:00"]
    return subprocess.run(
        [*command, *where], env=own | environ, capture_output=True, text=True, encoding="utf-8", timeout=60
    )


def test_asked_once_and_kept(tmp_path: Path, model: tuple[ThreadingHTTPServer, type[Contradicting]]) -> None:
    server, handler = model
    address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    settings = {"memory": {"reflect": {"model": {"baseUrl": address, "model": "m", "apiKey": "secret-key"}}}}
    path = tmp_path / "openclaw.json"
    path.write_text(json.dumps(settings), encoding="utf-8")
    configured = {"OPENCLAW_CONFIG_PATH": str(path)}
    first = openclaw(tmp_path, "reflect", **configured)
    assert (first.returncode, first.stderr) == (0, "")
    assert handler.asked > 0
    count = handler.asked
    page = (tmp_path / "w" / "bank" / "opinions.md").read_bytes()
    assert "nothing new" in openclaw(tmp_path, "reflect", **configured).stdout
    (tmp_path / "w" / ".memory" / "reflect.sqlite").unlink()
    assert "nothing new" in openclaw(tmp_path, "reflect", **configured).stdout
    (told,) = json.loads(openclaw(tmp_path, "opinions", "--json", **configured).stdout)
    assert told["confidence"] < told["stated"]
    assert [item["quote"] for item in told["evidence"]] == ["Sold all of her jazz records to a neighbour."]
    assert handler.asked == count
    assert (tmp_path / "w" / "bank" / "opinions.md").read_bytes() == page
    for kept in (tmp_path / "w").rglob("*"):
        assert not kept.is_file() or b"secret-key" not in kept.read_bytes()


def test_a_model_that_is_not_there_is_one_line(
    tmp_path: Path, model: tuple[ThreadingHTTPServer, type[Contradicting]]
) -> None:
    server, _ = model
    server.server_close()
    address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    ran = openclaw(tmp_path, "reflect", OPENCLAW_REFLECT_BASE_URL=address, OPENCLAW_REFLECT_MODEL="m")
    assert ran.returncode == 0
    assert "wrote" in ran.stdout
    assert len(ran.stderr.splitlines()) == 1
    assert "no connection" in ran.stderr
    learned = (tmp_path / "w" / "bank" / "opinions.md").read_bytes()
    again = openclaw(tmp_path, "reflect", "--judge", "learned")
    assert (again.returncode, again.stderr) == (0, "")
    assert (tmp_path / "w" / "bank" / "opinions.md").read_bytes() == learned


@pytest.mark.parametrize(
    ("judge", "says"), [("model", "set memory.reflect.model.baseUrl"), ("oracle", "auto, learned, rules, model, none")]
)
def test_a_judge_that_cannot_be_had(tmp_path: Path, judge: str, says: str) -> None:
    ran = openclaw(tmp_path, "reflect", "--judge", judge)
    assert ran.returncode == 2
    assert len(ran.stderr.splitlines()) == 1
    assert says in ran.stderr


class Slow(Contradicting):
    """Answers after a moment, and knows how many questions it had at a time."""

    now = most = 0
    lock = threading.Lock()

    def do_POST(self) -> None:
        own = type(self)
        with own.lock:
            own.now += 1
            own.most = max(own.most, own.now)
        time.sleep(0.1)
        super().do_POST()
        with own.lock:
            own.now -= 1


@pytest.mark.parametrize("concurrency", [1, 3])
def test_so_many_questions_at_a_time_as_are_set(tmp_path: Path, concurrency: int) -> None:
    handler = type("Handler", (Slow,), {"asked": 0, "now": 0, "most": 0})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_address[1]}/v1"
        (tmp_path / "w" / "memory").mkdir(parents=True)
        told = ["Sold her jazz records.", "Gave a jazz record away.", "Lost the jazz records.", "Broke a jazz record."]
        lines = "".join(f"- W @Pia: {text}\n" for text in told)
        (tmp_path / "w" / "memory" / "2025-11-01.md").write_text(OLD, encoding="utf-8")
        (tmp_path / "w" / "memory" / "2025-11-20.md").write_text(f"## Retain\n{lines}", encoding="utf-8")
        model = {"baseUrl": address, "model": "m", "concurrency": concurrency}
        path = tmp_path / "openclaw.json"
        path.write_text(json.dumps({"memory": {"reflect": {"model": model}}}), encoding="utf-8")
        assert openclaw(tmp_path, "reflect", OPENCLAW_CONFIG_PATH=str(path)).returncode == 0
        assert handler.asked >= len(told)
        assert handler.most == 1 if concurrency == 1 else 1 < handler.most <= concurrency
    finally:
        server.shutdown()
        server.server_close()
