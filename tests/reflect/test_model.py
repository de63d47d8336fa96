"""A language model behind an OpenAI-compatible address: what is asked, what counts, and what happens when it fails."""

from __future__ import annotations

import json
import threading
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from openclaw_memory.bank.config import Configuration, read_configuration
from openclaw_memory.bank.errors import MemoryFault, UsageFault
from openclaw_memory.reflect.verdicts.chat import RemoteChat, json_in
from openclaw_memory.reflect.verdicts.choosing import choose_scorer
from openclaw_memory.reflect.verdicts.model import ModelScorer
from openclaw_memory.reflect.verdicts.records import Claim
from openclaw_memory.reflect.verdicts.scorers import make_scorer
from openclaw_memory.reflect.verdicts.verdict_cache import VerdictCache

OPINION = Claim("Likes jazz.", "opinion", ("Pia",), None)
FACT = Claim("Sold her trumpet and all of her records.", "world", ("Pia",), None)
VERDICT = {
    "reasoning": "Selling everything speaks against it.",
    "same_question": True,
    "relation": "contradicts",
    "strength": "strong",
    "quotes": ["likes jazz", "sold her trumpet"],
}


class Server:
    """Answers POST /v1/chat/completions: each answer a status and a body, the last one again and again."""

    def __init__(self, *answers):
        self.asked: list[dict] = []
        self.headers: list[dict] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                server.headers.append(dict(self.headers))
                status, body = answers[min(len(server.asked), len(answers)) - 1]
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"

    def close(self):
        self.http.shutdown()
        self.http.server_close()


def said(verdict):
    return 200, {"choices": [{"message": {"content": verdict if isinstance(verdict, str) else json.dumps(verdict)}}]}


@pytest.fixture
def serve():
    servers = []

    def start(*answers):
        servers.append(Server(*answers))
        return servers[-1]

    yield start
    for one in servers:
        one.close()


def scorer(server, path="", told=None):
    chat = RemoteChat(server.url, "m", "secret-key", {}, 5.0)
    return ModelScorer(chat, make_scorer("learned"), VerdictCache(str(path)), (told if told is not None else []).append)


def test_a_verdict_counts_and_is_kept(serve, tmp_path):
    server = serve(said(VERDICT))
    found = scorer(server, tmp_path).stance(OPINION, FACT)
    assert (found.relation, found.strength, found.near_verbatim) == ("contradicts", "strong", False)
    assert "sold her trumpet" in found.reason
    again = scorer(server, tmp_path).stance(OPINION, FACT)
    assert again == found
    assert len(server.asked) == 1
    body = server.asked[0]
    schema = body["response_format"]["json_schema"]["schema"]
    assert next(iter(schema["properties"])) == "reasoning"
    assert server.headers[0]["Authorization"] == "Bearer secret-key"


@pytest.mark.parametrize(
    "answer",
    [
        VERDICT | {"quotes": ["threw away her trumpet"]},
        VERDICT | {"quotes": []},
        VERDICT | {"quotes": ["likes jazz"]},
        VERDICT | {"quotes": ["sold her trumpet"]},
        VERDICT | {"quotes": ["likes jazz", "old her trumpet"]},
        VERDICT | {"strength": "very"},
        VERDICT | {"relation": "maybe"},
        "I cannot say.",
    ],
)
def test_what_does_not_count_leaves_it_to_the_learned_judge(serve, answer):
    assert scorer(serve(said(answer))).stance(OPINION, FACT) == make_scorer("learned").stance(OPINION, FACT)


def test_another_question_is_neutral(serve):
    found = scorer(serve(said(VERDICT | {"same_question": False}))).stance(OPINION, FACT)
    assert found.relation == "neutral"


def test_a_restatement_needs_no_model(serve):
    server = serve(said(VERDICT))
    fact = Claim("No longer likes jazz.", "world", ("Pia",), None)
    assert scorer(server).stance(OPINION, fact).near_verbatim
    assert server.asked == []


def test_a_schema_that_is_refused_is_left_out(serve):
    refused = (400, {"error": {"message": "response_format is not supported"}})
    server = serve(refused, refused, said(f"Sure! {json.dumps(VERDICT)}"))
    assert scorer(server).stance(OPINION, FACT).relation == "contradicts"
    assert [body.get("response_format", {}).get("type") for body in server.asked] == [
        "json_schema",
        "json_object",
        None,
    ]


def test_a_refused_key_is_said_once_and_the_run_goes_on(serve):
    server = serve((401, {"error": {"message": "bad key secret-key"}}))
    told: list[str] = []
    judge = scorer(server, told=told)
    for _ in range(3):
        assert judge.stance(OPINION, FACT) == make_scorer("learned").stance(OPINION, FACT)
    assert len(told) == 1
    assert "secret-key" not in told[0]
    assert len(server.asked) == 1


def test_a_damaged_store_is_begun_anew(serve, tmp_path):
    path = tmp_path / "verdicts.sqlite"
    path.write_bytes(b"no database at all" * 100)
    assert scorer(serve(said(VERDICT)), tmp_path).stance(OPINION, FACT).relation == "contradicts"


def test_successions(serve):
    answer = VERDICT | {"relation": "supersedes", "quotes": ["based in lisbon", "moved to porto"]}
    old, new = (Claim(text, "world", ("Ana",), None) for text in ("Is based in Lisbon.", "Moved to Porto."))
    assert scorer(serve(said(answer))).succession(old, new).relation == "supersedes"


def test_a_fact_of_an_earlier_day_replaces_nothing(serve):
    answer = VERDICT | {"relation": "supersedes", "quotes": ["based in lisbon", "in porto"]}
    old = Claim("Is based in Lisbon.", "world", ("Ana",), date(2025, 11, 20))
    new = Claim("Settled in Porto.", "world", ("Ana",), date(2025, 11, 1))
    judge = scorer(serve(said(answer)))
    assert judge.succession(old, new).relation == "older_late"
    assert judge.succession(old, new._replace(day=old.day)).relation == "supersedes"


@pytest.mark.parametrize(("relation", "same"), [("neutral", True), ("contradicts", False)])
def test_no_strength_where_nothing_changes(serve, relation, same):
    answer = VERDICT | {"relation": relation, "same_question": same, "strength": None}
    found = scorer(serve(said(answer))).stance(OPINION, FACT)
    assert found == ("neutral", None, False, "m: “sold her trumpet”", 0.9)


def test_evidence_without_a_strength_is_normal(serve):
    found = scorer(serve(said(VERDICT | {"strength": None}))).stance(OPINION, FACT)
    assert (found.relation, found.strength, found.probability) == ("contradicts", "normal", 0.9)


@pytest.mark.parametrize(
    "text",
    ["Sold her trumpet?", "Would sell her trumpet.", "Her brother sold his trumpet.", "Tom says she sold it."],
)
def test_guards_stand_before_the_model(serve, text):
    server = serve(said(VERDICT))
    fact = FACT._replace(text=text)
    assert scorer(server).stance(OPINION, fact) == make_scorer("learned").stance(OPINION, fact)
    assert scorer(server).succession(FACT, fact._replace(text="Is she in Porto now?")).relation == "coexists"
    assert server.asked == []


def settings(tmp_path, text):
    path = tmp_path / "openclaw.json"
    path.write_text(text, encoding="utf-8")
    return read_configuration({"OPENCLAW_CONFIG_PATH": str(path), "HOME": str(tmp_path)})


def test_the_configuration_names_the_model(serve, tmp_path):
    server = serve(said(VERDICT))
    told: list[str] = []
    text = json.dumps(
        {"memory": {"reflect": {"model": {"baseUrl": server.url, "model": "m", "apiKey": "k", "colour": "red"}}}}
    )
    judge = choose_scorer("auto", settings(tmp_path, text), "main", str(tmp_path), told.append, {})
    assert judge.name == "model"
    assert judge.stance(OPINION, FACT).relation == "contradicts"
    assert "memory.reflect.model.colour: no such setting" in told[0]


@pytest.mark.parametrize(
    ("name", "text", "error", "says"),
    [
        ("model", "{}", UsageFault, "no model is configured"),
        ("oracle", "{}", UsageFault, "no such judge"),
        ("model", '{"memory": {"reflect": {"model": {"provider": "x"}}}}', UsageFault, "no such provider"),
        ("auto", '{"memory": {"reflect": {"model": {"baseUrl": 3}}}}', MemoryFault, "memory.reflect.model.baseUrl"),
    ],
)
def test_what_cannot_be_chosen(tmp_path, name, text, error, says):
    with pytest.raises(error, match=says):
        choose_scorer(name, settings(tmp_path, text), "main", str(tmp_path), print, {})


def test_nothing_configured_is_the_learned_judge(tmp_path):
    assert choose_scorer("auto", settings(tmp_path, "{}"), "main", str(tmp_path), print, {}).name == "learned"
    assert choose_scorer("none", settings(tmp_path, "{}"), "main", str(tmp_path), print, {}) is None
    assert isinstance(settings(tmp_path, "{}"), Configuration)


@pytest.mark.parametrize("text", ["", "{", "x {1} y", None, '{"a": [}', "[1]"])
def test_words_without_json(text):
    assert json_in(text) is None
