"""The chat protocol as servers really speak it: what they refuse, cut, delay and wrap, against one on this machine."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from openclaw_memory.bank.embeddings.protocol import EmbeddingFault
from openclaw_memory.bank.embeddings.transport import Patience
from openclaw_memory.reflect.verdicts.chat import RemoteChat
from openclaw_memory.reflect.verdicts.model import FAILURES, ModelScorer
from openclaw_memory.reflect.verdicts.prompts import STANCE, messages, schema
from openclaw_memory.reflect.verdicts.records import Claim
from openclaw_memory.reflect.verdicts.scorers import make_scorer
from openclaw_memory.reflect.verdicts.verdict_cache import AGAIN_AFTER, VerdictCache

#: No test may show it.
SECRET = "sk-test-Vq7Lm2Zx9Rk4Tn8Wd3"
QUICK = Patience(connect=2.0, read=0.5, retries=2, backoff=0.01, longest=1.0, total=5.0)
OPINION = Claim("Likes jazz.", "opinion", ("Pia",), None)
FACT = Claim("Sold her trumpet and all of her records.", "world", ("Pia",), None)
VERDICT = {
    "reasoning": "Selling everything speaks against it.",
    "same_question": True,
    "relation": "contradicts",
    "strength": "strong",
    "quotes": ["Likes jazz", "sold  her TRUMPET"],
}
LEARNED = make_scorer("learned")


class Reply(NamedTuple):
    """``cut``: bytes that are promised and do not come; ``delay``: seconds."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    cut: int = 0
    delay: float = 0.0


def said(content: Any) -> Reply:
    message = {"role": "assistant", "content": content}
    return Reply(body=json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode())


def refused(status: int, message: str, *headers: tuple[str, str]) -> Reply:
    return Reply(status, json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode(), headers)


GOOD = said(json.dumps(VERDICT))


class Server:
    """``plan``: the next replies; afterwards a good one, ``slow`` seconds later. ``most``: how many questions were
    here at a time."""

    def __init__(self) -> None:
        self.plan: list[Reply] = []
        self.asked: list[dict[str, Any]] = []
        self.slow, self.here, self.most = 0.0, 0, 0
        lock = threading.Lock()
        server, done = self, threading.Event()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                assert self.path == "/v1/chat/completions"
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    server.asked.append(body)
                    server.here += 1
                    server.most = max(server.most, server.here)
                    reply = server.plan.pop(0) if server.plan else GOOD._replace(delay=server.slow)
                done.wait(reply.delay)
                with lock:
                    server.here -= 1
                self.send_response(reply.status)
                for name, value in reply.headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body) + reply.cut))
                self.end_headers()
                self.wfile.write(reply.body)
                self.close_connection = bool(reply.cut)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.handle_error = lambda *_: None  # type: ignore[method-assign]
        self.done = done
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"

    def forms(self) -> list[str | None]:
        return [body.get("response_format", {}).get("type") for body in self.asked]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    one = Server()
    yield one
    one.done.set()
    one.http.shutdown()
    one.http.server_close()


def chat(server: Server) -> RemoteChat:
    return RemoteChat(server.url, "m", SECRET, {}, patience=QUICK)


def ask(one: RemoteChat, fact: Claim = FACT) -> Any:
    return one.ask(messages(STANCE, OPINION, fact), schema(STANCE))


def facts(count: int) -> list[Claim]:
    return [FACT._replace(text=f"Sold her trumpet number {number} at the fair.") for number in range(count)]


@pytest.mark.parametrize(
    "reply",
    [
        refused(429, "slow down", ("Retry-After", "0.01")),
        refused(500, "oops"),
        refused(503, "loading model"),
        GOOD._replace(cut=100),
        GOOD._replace(delay=0.8),
    ],
)
def test_what_passes_is_asked_again(server: Server, reply: Reply) -> None:
    server.plan = [reply]
    assert ask(chat(server)) == VERDICT
    assert len(server.asked) == 2


def test_a_longer_wait_than_there_is_is_a_fault(server: Server) -> None:
    server.plan = [refused(429, "slow down", ("Retry-After", "3600"))]
    with pytest.raises(EmbeddingFault, match="asks to wait 3600 s"):
        ask(chat(server))
    assert len(server.asked) == 1


def test_a_refused_schema_is_not_tried_again(server: Server) -> None:
    server.plan = [refused(400, "response_format json_schema is not supported"), GOOD, refused(400, "filtered")]
    one = chat(server)
    assert ask(one) == VERDICT
    with pytest.raises(EmbeddingFault, match="filtered"):
        ask(one)
    assert ask(one) == VERDICT
    assert server.forms() == ["json_schema", "json_object", "json_object", "json_object"]


def test_a_question_that_no_form_helps_leaves_the_forms_as_they_were(server: Server) -> None:
    server.plan = [refused(400, "filtered")] * 3
    one = chat(server)
    with pytest.raises(EmbeddingFault, match="filtered"):
        ask(one)
    assert ask(one) == VERDICT
    assert server.forms() == ["json_schema", "json_object", None, "json_schema"]


def test_parameters_that_a_model_does_not_take_are_left_out(server: Server) -> None:
    server.plan = [
        refused(400, "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
        refused(400, "Unsupported value: 'temperature' does not support 0 with this model."),
    ]
    one = chat(server)
    assert ask(one) == ask(one) == VERDICT
    last = server.asked[-1]
    assert "max_completion_tokens" in last
    assert not {"temperature", "max_tokens"} & last.keys()
    assert server.forms() == ["json_schema"] * 4


@pytest.mark.parametrize(
    "content",
    [
        f"<think>\nIs it {{so}}?\n</think>\n{json.dumps(VERDICT)}",
        f"```json\n{json.dumps(VERDICT)}\n```",
        f"Here you are: {json.dumps(VERDICT)}. Anything else?",
        f'The template opened the thinking: {{"relation": "neutral"}}? No.</think>{json.dumps(VERDICT)}',
        f"In the form {{reasoning, ...}}: {json.dumps(VERDICT)} {{so}}",
    ],
)
def test_an_answer_in_other_words_is_found(server: Server, content: str) -> None:
    server.plan = [said(content)]
    assert ask(chat(server)) == VERDICT


def test_line_ends_in_strings_and_answers_in_parts(server: Server) -> None:
    verdict = VERDICT | {"reasoning": "One line\nand another."}
    content = json.dumps(verdict).replace("\\n", "\n")
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": content}]
    server.plan = [said(content), said(parts)]
    one = chat(server)
    assert ask(one) == ask(one) == verdict


def test_a_strict_server_gets_types_and_no_lengths(server: Server) -> None:
    assert ask(chat(server)) == VERDICT
    sent = server.asked[0]["response_format"]["json_schema"]
    properties = sent["schema"]["properties"]
    assert sent["strict"]
    assert list(properties) == sent["schema"]["required"]
    assert next(iter(properties)) == "reasoning"
    text = json.dumps(sent)
    assert not any(bound in text for bound in ("maxLength", "minItems", "maxItems"))
    assert all("type" in value or all("type" in one for one in value["anyOf"]) for value in properties.values())


@pytest.mark.parametrize("body", [b"<html>", b'{"choices": [', b"", b"[]", b'{"choices": []}', b'{"choices": [null]}'])
def test_an_answer_that_is_none_leaves_it_to_the_learned_judge(server: Server, body: bytes, tmp_path: Path) -> None:
    server.plan = [Reply(body=body)]
    judge = ModelScorer(chat(server), LEARNED, VerdictCache(str(tmp_path)), [].append)
    assert judge.stance(OPINION, FACT) == LEARNED.stance(OPINION, FACT)


def test_three_failures_and_it_is_asked_nothing_more(server: Server, tmp_path: Path) -> None:
    server.plan = [refused(500, f"no {SECRET}")] * 100
    told: list[str] = []
    judge = ModelScorer(chat(server), LEARNED, VerdictCache(str(tmp_path)), told.append)
    for fact in facts(8):
        assert judge.stance(OPINION, fact) == LEARNED.stance(OPINION, fact)
    assert len(server.asked) == FAILURES * (1 + QUICK.retries)
    assert len(told) == 1
    assert "learned judge" in told[0]
    assert SECRET not in told[0]


def test_one_refused_question_does_not_end_the_run(server: Server, tmp_path: Path) -> None:
    server.plan = [GOOD, refused(400, "filtered")]
    judge = ModelScorer(chat(server), LEARNED, VerdictCache(str(tmp_path)), [].append)
    first, second, third = facts(3)
    assert judge.stance(OPINION, first).relation == "contradicts"
    assert judge.stance(OPINION, second) == LEARNED.stance(OPINION, second)
    assert judge.stance(OPINION, third).reason.startswith("m: ")


def test_a_server_that_does_not_run_is_said_once(server: Server) -> None:
    server.http.server_close()
    told: list[str] = []
    judge = ModelScorer(chat(server), LEARNED, VerdictCache(""), told.append)
    for fact in facts(4):
        assert judge.stance(OPINION, fact) == LEARNED.stance(OPINION, fact)
    assert len(told) == 1
    assert "memory.reflect.model.baseUrl" in told[0]


def test_a_server_that_does_not_answer_is_waited_for_twice_in_a_run(server: Server) -> None:
    server.slow = 60.0
    told: list[str] = []
    judge = ModelScorer(RemoteChat(server.url, "m", SECRET, {}, timeout=0.2), LEARNED, VerdictCache(""), told.append)
    for fact in facts(4):
        assert judge.stance(OPINION, fact) == LEARNED.stance(OPINION, fact)
    assert len(server.asked) == 2
    assert len(told) == 1
    assert "no answer in time" in told[0]


@pytest.mark.parametrize(("strength", "probability"), [("weak", 0.7), ("normal", 0.9), ("strong", 0.9)])
def test_probabilities(server: Server, strength: str, probability: float) -> None:
    server.plan = [said(json.dumps(VERDICT | {"strength": strength}))]
    judge = ModelScorer(chat(server), LEARNED, VerdictCache(""), [].append)
    found = judge.stance(OPINION, FACT)
    assert (found.relation, found.strength, found.probability) == ("contradicts", strength, probability)


def test_no_secret_is_in_what_is_kept(server: Server, tmp_path: Path) -> None:
    address = server.url.replace("//", f"//user:{SECRET}@") + f"?token={SECRET}"
    one = RemoteChat(address, "m", SECRET, {"X-Key": SECRET}, patience=QUICK)
    judge = ModelScorer(one, LEARNED, VerdictCache(str(tmp_path)), [].append)
    judge.stance(OPINION, FACT)
    assert SECRET not in judge.fingerprint
    assert server.url in judge.fingerprint
    for path in tmp_path.iterdir():
        assert SECRET.encode() not in path.read_bytes()


def test_what_was_not_answered_is_asked_again_half_a_day_later(server: Server, tmp_path: Path) -> None:
    def judge() -> ModelScorer:
        return ModelScorer(chat(server), LEARNED, VerdictCache(str(tmp_path)), [].append)

    first, second = facts(2)
    before = judge()
    mark = before.fingerprint
    server.plan = [GOOD, *[refused(500, "oops")] * (1 + QUICK.retries)]
    before.stance(OPINION, first)
    before.stance(OPINION, second)
    assert judge().fingerprint == mark
    failed = VerdictCache(str(tmp_path))
    assert failed.rounds(time.time() + AGAIN_AFTER + 1) == 1
    after = judge()
    assert after.fingerprint != mark
    count = len(server.asked)
    assert after.stance(OPINION, first).relation == "contradicts"
    assert len(server.asked) == count
    assert after.stance(OPINION, second).reason.startswith("m: ")
    assert len(server.asked) == count + 1
    assert judge().fingerprint == after.fingerprint


def several(server: Server, tmp_path: Path, concurrency: int = 3) -> tuple[ModelScorer, list[tuple[Claim, Claim]]]:
    judge = ModelScorer(chat(server), LEARNED, VerdictCache(str(tmp_path)), [].append, concurrency)
    return judge, [(OPINION, fact) for fact in facts(8)]


def test_several_at_a_time_after_the_first(server: Server, tmp_path: Path) -> None:
    server.slow = 0.1
    judge, pairs = several(server, tmp_path)
    server.plan = [refused(400, "json_schema is not supported"), GOOD]
    judge.prepare(STANCE, pairs)
    assert server.forms() == ["json_schema", *["json_object"] * len(pairs)]
    assert server.most == 3
    told = [judge.stance(*pair) for pair in pairs]
    assert {(one.relation, one.reason) for one in told} == {("contradicts", "m: “sold her TRUMPET”")}
    judge.prepare(STANCE, pairs)
    again, _ = several(server, tmp_path)
    again.prepare(STANCE, pairs)
    assert len(server.asked) == 1 + len(pairs)
    # One at a time they are answered alike.
    alone = ModelScorer(chat(server), LEARNED, VerdictCache(""), [].append)
    assert [alone.stance(*pair) for pair in pairs] == told


def test_what_needs_no_model_is_not_prepared(server: Server, tmp_path: Path) -> None:
    judge, _ = several(server, tmp_path)
    judge.prepare(STANCE, [(OPINION, FACT._replace(text=text)) for text in ("Does she like jazz?", "Likes jazz.")])
    several(server, tmp_path, 1)[0].prepare(STANCE, [(OPINION, FACT)])
    assert server.asked == []


def test_a_server_that_fails_is_not_asked_for_all(server: Server, tmp_path: Path) -> None:
    server.plan = [refused(401, "no")] * 100
    judge, pairs = several(server, tmp_path)
    judge.prepare(STANCE, pairs)
    assert [judge.stance(*pair) for pair in pairs] == [LEARNED.stance(*pair) for pair in pairs]
    assert len(server.asked) == 1
    server.plan = [GOOD, *[refused(500, "oops")] * 100]
    again, _ = several(server, tmp_path)
    again.prepare(STANCE, pairs)
    assert len(server.asked) == 2 + FAILURES * (1 + QUICK.retries)
    assert sum(again.stance(*pair).reason.startswith("m: ") for pair in pairs) == 1
