"""``bench embeddings``: real processes on the demo workspace, alone and beside a provider on this machine; what fails
is a row; nothing of the workspace changes."""

from __future__ import annotations

import hashlib
import json
import math
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parent.parent.parent
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "bench.json").read_text("utf-8"))
QUESTIONS = str(ROOT / "tests" / "cases" / "demo_questions.jsonl")
NOW = "2025-12-06T12:00:00"
Run = Callable[..., Any]


def hashed(text: str) -> list[float]:
    """A vector of 64 numbers: each word adds one, at a place that its hash says."""
    vector = [0.001] * 64
    for word in re.findall(r"\w+", text.casefold()):
        vector[hashlib.sha256(word.encode()).digest()[0] % 64] += 1.0
    length = math.hypot(*vector)
    return [number / length for number in vector]


class Server:
    """A server that speaks OpenAI's protocol. ``status``: what it answers with; ``asked``: each text it was given."""

    def __init__(self) -> None:
        self.status, self.asked, self.keys = 200, [], set()  # type: ignore[var-annotated]
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.keys.add(self.headers["Authorization"])
                server.asked += body["input"]
                rows = [{"index": at, "embedding": hashed(text)} for at, text in enumerate(body["input"])]
                answer: Any = {"data": rows, "model": body["model"]}
                if server.status != 200:
                    answer = {"error": {"message": "the model is out of order"}}
                data = json.dumps(answer).encode()
                self.send_response(server.status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"


@pytest.fixture
def server(tmp_path: Path, environment: dict[str, str]) -> Iterator[Server]:
    """A provider on this machine, and the configuration that names it."""
    made = Server()
    thread = threading.Thread(target=made.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    remote = {"baseUrl": made.url, "apiKey": "a-secret"}
    search = {"provider": "openai-compatible", "model": "hashing-64", "remote": remote}
    (tmp_path / "openclaw.json").write_text(json.dumps({"memory": {"search": search}}), "utf-8")
    environment["OPENCLAW_CONFIG_PATH"] = str(tmp_path / "openclaw.json")
    environment["NO_PROXY"] = "127.0.0.1"
    yield made
    made.http.shutdown()
    made.http.server_close()
    thread.join()


def rows_of(index: Path) -> dict[str, list[Any]]:
    """Every row of every table that needs no extension."""
    connection = sqlite3.connect(f"file:{index}?mode=ro", uri=True)
    try:
        names = [
            name
            for name, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
            if "VIRTUAL" not in sql
        ]
        return {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}
    finally:
        connection.close()


def told(ran: Any) -> Any:
    answer = json.loads(ran.text)
    Draft202012Validator(SCHEMA).validate(answer)
    return answer


def bench(run: Run, workspace: Path, *words: str, **variables: str) -> Any:
    return run("bench", "embeddings", "--workspace", str(workspace), "--now", NOW, *words, **variables)


def test_the_built_in_model_alone(run: Run, demo: Path) -> None:
    ran = bench(run, demo)
    assert ran.code == 0
    head, _, header, row, _, last = ran.text.splitlines()
    assert re.fullmatch(r"(\d+) of \1 passages, (\d+) of \2 files", head)
    assert header.split()[:3] == ["provider", "dim", "load"]
    assert row.split()[:2] == ["static", "256"]
    assert "only --questions can tell" in last
    assert "stood in for questions" in ran.told
    answer = told(bench(run, demo, "--json"))
    (one,) = answer["providers"]
    assert (one["name"], one["dimensions"], one["agreement"]) == ("static", 256, None)
    assert one["bytes_a_passage"] == 2 * 256 + 8 + 256 // 2
    assert (answer["best"], answer["words"], answer["probes"]) == (None, None, {"of": "passages", "count": 20})


def test_the_sample_is_no_larger_than_asked_and_always_the_same(run: Run, demo: Path) -> None:
    answers = [told(bench(run, demo, "--sample", "60", "--json")) for _ in range(2)]
    assert answers[0]["sample"] == answers[1]["sample"]
    assert answers[0]["sample"]["passages"] == 60
    assert answers[0]["sample"]["files"] > 4
    assert answers[0]["passages"] > 300
    one = answers[0]["providers"][0]
    assert one["whole_bytes"] == one["bytes_a_passage"] * answers[0]["passages"]
    assert told(bench(run, demo, "--sample", "1", "--json"))["sample"] == {"files": 1, "passages": 1}


def test_questions(run: Run, demo: Path, tmp_path: Path) -> None:
    answer = told(bench(run, demo, "--questions", QUESTIONS, "--json"))
    assert (answer["questions"], answer["missing"], answer["best"]) == (60, 0, "static")
    quality = answer["providers"][0]["quality"]
    assert 0.7 < quality["hit@1"] <= quality["hit@5"] <= quality["hit@10"] <= 1
    assert quality["hit@1"] <= quality["mrr"] <= quality["hit@10"]
    assert answer["words"]["hit@10"] > 0.7
    # The files that are expected are there, however small the sample.
    some = Path(QUESTIONS).read_text("utf-8").splitlines()[:4]
    lost = {"question": "What is nowhere?", "expect": ["memory/1999-01-01.md#L1"], "how": "words"}
    (tmp_path / "some.jsonl").write_text("\n\n".join([*some, json.dumps(lost)]) + "\n", "utf-8")
    answer = told(bench(run, demo, "--questions", "some.jsonl", "--sample", "1", "--json"))
    assert (answer["questions"], answer["missing"]) == (5, 1)
    assert answer["providers"][0]["quality"]["hit@10"] == 0.8
    assert "5 are too few to tell" in answer["why"]
    shown = bench(run, demo, "--questions", "some.jsonl")
    assert re.search(r"^words alone .* 0\.\d\d$", shown.text, re.MULTILINE)
    assert "best: static: a right line is first for" in shown.text
    assert "1 of 5 questions expect lines that are in no passage" in shown.told


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{nonsense", "not JSON"),
        ("[1]", "has no question"),
        ('{"question": " ", "expect": ["memory.md#L1"]}', "has no question"),
        ('{"question": "x"}', "does not say what is expected"),
        ('{"question": "x", "expect": []}', "does not say what is expected"),
        ('{"question": "x", "expect": ["memory.md"]}', '"memory.md" is no citation'),
        ('{"question": "x", "expect": [3]}', "3 is no citation"),
    ],
)
def test_a_broken_line(run: Run, demo: Path, tmp_path: Path, line: str, fault: str) -> None:
    good = '{"question": "x", "expect": ["memory.md#L1-L3"]}'
    (tmp_path / "asked.jsonl").write_text(f"{good}\n\n{line}\n{good}\n", "utf-8")
    ran = bench(run, demo, "--questions", "asked.jsonl")
    assert (ran.code, ran.out, ran.told.count("\n")) == (1, b"", 1)
    assert "(asked.jsonl:3)" in ran.told
    assert fault in ran.told


def test_no_questions_at_all(run: Run, demo: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n", "utf-8")
    (tmp_path / "latin.jsonl").write_bytes(b"\xff\n")
    for name, fault in (("empty", "no question in it"), ("latin", "not UTF-8"), ("gone", "cannot read the questions")):
        ran = bench(run, demo, "--questions", f"{name}.jsonl")
        assert (ran.code, ran.out, fault in ran.told, ran.told.count("\n")) == (1, b"", True, 1)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--provider", "nonsense"], "no such provider"),
        (["--provider", "olama"], "did you mean ollama?"),
        (["--provider", "none"], "it embeds nothing"),
        (["--provider", "static,auto"], "it stands for whichever is found"),
        (["--sample", "0"], "must be 1 or more"),
    ],
)
def test_wrong_usage(run: Run, demo: Path, words: list[str], fault: str) -> None:
    ran = bench(run, demo, *words)
    assert (ran.code, ran.out, fault in ran.told) == (2, b"", True)


def test_nothing_to_try_on(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    ran = bench(run, tmp_path / "bare")
    assert (ran.code, "nothing to try models on" in ran.told) == (1, True)


def test_a_provider_that_is_configured(run: Run, own_demo: Path, server: Server) -> None:
    """It is tried beside the built-in model, on the same passages, and the workspace stays as it is."""
    server.status = 500
    assert run("index", "--workspace", str(own_demo)).code == 3
    (own_demo / ".memory" / "embedding-pause.json").unlink()
    server.status, server.asked = 200, []
    index = own_demo / ".memory" / "index.sqlite"
    before = rows_of(index), sorted(path.name for path in index.parent.iterdir())
    notes = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in own_demo.rglob("*.md")}
    ran = bench(run, own_demo, "--questions", QUESTIONS, "--json")
    answer = told(ran)
    assert (ran.code, ran.err) == (0, b"")
    static, other = answer["providers"]
    assert (static["name"], other["name"], other["model"]) == ("static", "openai-compatible", "hashing-64")
    assert (other["dimensions"], other["bytes_a_passage"], other["fault"]) == (64, 2 * 64 + 8 + 64 // 2, None)
    assert 0.05 < other["agreement"] < 0.95
    assert other["agreements"] == [{"name": "static", "share": other["agreement"]}]
    assert static["agreement"] == other["agreement"]
    assert other["quality"]["hit@10"] > 0.7
    assert answer["best"] in ("static", "openai-compatible")
    assert server.keys == {"Bearer a-secret"}
    assert len(server.asked) > answer["passages"] // 2
    assert (rows_of(index), sorted(path.name for path in index.parent.iterdir())) == before
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in own_demo.rglob("*.md")} == notes
    assert b"a-secret" not in ran.out


def test_a_sample_asks_for_no_more(run: Run, own_demo: Path, server: Server) -> None:
    answer = told(bench(run, own_demo, "--sample", "30", "--json"))
    assert answer["sample"]["passages"] == 30
    # Passages, as many probes, the first call, and the sentence that tells one model from another.
    assert len(server.asked) <= 30 + 20 + 2


def test_a_provider_twice(run: Run, own_demo: Path, server: Server, environment: dict[str, str]) -> None:
    """Two names of one end point are both filled from nothing; the configured key goes to its own provider only."""
    port = server.url.rpartition(":")[2]
    config = json.loads(Path(environment["OPENCLAW_CONFIG_PATH"]).read_text("utf-8"))
    config["models"] = {"providers": {"ollama": {"baseUrl": f"http://127.0.0.1:{port}"}}}
    Path(environment["OPENCLAW_CONFIG_PATH"]).write_text(json.dumps(config), "utf-8")
    ran = bench(run, own_demo, "--sample", "40", "--provider", "openai-compatible", "--provider", "ollama", "--json")
    one, other = told(ran)["providers"]
    assert ran.code == 0
    assert (one["name"], other["name"], one["agreement"]) == ("openai-compatible", "ollama", 1.0)
    assert server.keys == {"Bearer a-secret", None}
    assert server.asked.count(server.asked[5]) >= 2


def test_one_that_fails_is_a_row(run: Run, own_demo: Path, server: Server) -> None:
    server.status = 400
    ran = bench(run, own_demo, "--json")
    answer = told(ran)
    assert ran.code == 3
    static, other = answer["providers"]
    assert (static["fault"], other["name"], other["dimensions"]) == (None, "openai-compatible", None)
    assert "out of order" in other["fault"]
    assert "\n" not in other["fault"]
    shown = bench(run, own_demo)
    lines = [line for line in shown.text.splitlines() if line.startswith("openai-compatible: ")]
    assert (shown.code, len(lines), "out of order" in lines[0]) == (3, 1, True)
    assert "embedding-pause.json" not in {path.name for path in (own_demo / ".memory").iterdir()}


def test_all_that_fail(run: Run, own_demo: Path, server: Server) -> None:
    """Another provider is not given the key of the one that is configured."""
    server.status = 401
    ran = bench(run, own_demo, "--provider", "openai-compatible,gemini", "--provider", "local", "--json")
    answer = told(ran)
    assert ran.code == 1
    faults = {one["name"]: one["fault"] for one in answer["providers"]}
    assert list(faults) == ["openai-compatible", "gemini", "local"]
    assert "no key was found" in faults["gemini"]
    assert answer["why"] == "no provider could be tried"
    assert b"a-secret" not in ran.out


def test_model_files(run: Run, demo: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"no model")
    ran = bench(run, demo, "--model-path", "broken.gguf", "--model-path", "gone.gguf", "--json")
    answer = told(ran)
    assert ran.code == 3
    names = [one["name"] for one in answer["providers"]]
    assert names == ["static", str(tmp_path / "broken.gguf"), "gone.gguf"]
    assert [bool(one["fault"]) for one in answer["providers"]] == [False, True, True]
