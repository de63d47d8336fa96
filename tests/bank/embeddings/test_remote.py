"""Plain requests to the three providers: their forms, their faults, their limits, and where the key goes."""

from __future__ import annotations

import base64
import json
import socket
import struct
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from openclaw_memory.bank.embeddings.lengths import cut, tokens
from openclaw_memory.bank.embeddings.openai import OpenAIWire
from openclaw_memory.bank.embeddings.protocol import Backfiller, EmbeddingFault
from openclaw_memory.bank.embeddings.remote import RemoteEmbedder
from openclaw_memory.bank.embeddings.transport import Patience
from openclaw_memory.bank.embeddings.voyage import VoyageWire

from .conftest import QUICK, SECRET, WIDTH, Provider, Reply, vector

Make = Callable[..., RemoteEmbedder]
EVERY = pytest.mark.parametrize("name", ["openai", "gemini", "voyage"])
TEXTS = ["the cargo bike", "自行车", "Zoë's résumé"]


def fault(call: Callable[[], Any]) -> EmbeddingFault:
    """The fault that ``call`` raises: one line without the key, also where all of it is looked at."""
    with pytest.raises(EmbeddingFault) as caught:
        call()
    for shown in (str(caught.value), repr(caught.value), repr(caught.value.args), repr(vars(caught.value))):
        assert "\n" not in shown
        assert not any(SECRET[at : at + 6] in shown for at in range(len(SECRET) - 5)), shown
    return caught.value


@EVERY
def test_documents_and_a_question(name: str, embedder: Make, provider: Provider) -> None:
    asked = embedder(name)
    assert asked.dimensions is None
    assert [list(found) for found in asked.embed_documents(TEXTS)] == [vector(text) for text in TEXTS]
    assert asked.dimensions == WIDTH
    assert list(asked.embed_query("where?")) == vector("where?")
    assert asked.embed_documents([]) == []
    assert len(provider.requests) == 2


def test_each_provider_is_asked_in_its_own_form(embedder: Make, provider: Provider) -> None:
    for name in ("openai", "gemini", "voyage"):
        embedder(name, dimensions=4).embed_documents(["a"])
        embedder(name).embed_query("b")
    openai, openai_q, gemini, gemini_q, voyage, voyage_q = provider.requests
    assert openai.path == "/v1/embeddings"
    assert openai.headers["Authorization"] == f"Bearer {SECRET}"
    assert openai.body == {"model": "text-embedding-3-small", "input": ["a"], "dimensions": 4}
    assert openai_q.body == {"model": "text-embedding-3-small", "input": ["b"]}
    assert gemini.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert gemini.headers["x-goog-api-key"] == SECRET
    assert "Authorization" not in gemini.headers
    (one,) = gemini.body["requests"]
    assert one == {
        "model": "models/gemini-embedding-001",
        "content": {"parts": [{"text": "a"}]},
        "taskType": "RETRIEVAL_DOCUMENT",
        "outputDimensionality": 4,
    }
    assert gemini_q.path == "/v1beta/models/gemini-embedding-001:embedContent"
    assert gemini_q.body["taskType"] == "RETRIEVAL_QUERY"
    assert voyage.body["input_type"] == "document"
    assert voyage.body["output_dimension"] == 4
    assert voyage_q.body["input_type"] == "query"
    assert voyage_q.body["model"] == "voyage-4-large"


def test_the_second_generation_of_gemini_takes_words_for_the_task(embedder: Make, provider: Provider) -> None:
    asked = embedder("gemini", "models/gemini-embedding-2")
    asked.embed_documents(["a"])
    asked.embed_query("b")
    texts = [found.body for found in provider.requests]
    assert texts[0]["requests"][0]["content"]["parts"][0]["text"] == "title: none | text: a"
    assert texts[1]["content"]["parts"][0]["text"] == "task: search result | query: b"
    assert "taskType" not in texts[1]
    assert asked.fingerprint != embedder("gemini").fingerprint


@pytest.mark.parametrize("wire", [OpenAIWire(), VoyageWire()])
def test_the_providers_themselves_are_asked_for_base64(wire: OpenAIWire | VoyageWire) -> None:
    assert wire.request(["a"], False)[1]["encoding_format"] == "base64"
    assert wire.base_url.startswith("https://")


def test_base64_is_read_as_single_precision(embedder: Make, provider: Provider) -> None:
    coded = base64.b64encode(struct.pack("<4f", 0.5, -1.25, 0.0, 3.0)).decode()
    provider.plan = [lambda answer: answer | {"data": [{"index": 0, "embedding": coded}]}]
    assert list(embedder("openai").embed_query("x")) == [0.5, -1.25, 0.0, 3.0]


def test_input_types_for_servers_that_want_them(provider: Provider) -> None:
    wire = OpenAIWire("m", f"{provider.url}/v1", None, "query", "passage")
    asked = RemoteEmbedder(wire)
    asked.embed_documents(["a"])
    asked.embed_query("b")
    assert [found.body["input_type"] for found in provider.requests] == ["passage", "query"]
    asked.close()


def test_a_server_without_a_key(embedder: Make, provider: Provider) -> None:
    asked = embedder("openai", "any-model", key="")
    assert list(asked.embed_query("x")) == vector("x")
    assert "Authorization" not in provider.requests[0].headers


def test_own_headers_take_the_place_of_the_protocols(embedder: Make, provider: Provider) -> None:
    asked = embedder("openai", headers={"authorization": "Token t0ken-of-mine", "X-Team": "memory"})
    asked.embed_query("x")
    sent = {name.casefold(): value for name, value in provider.requests[0].headers.items()}
    assert sent["authorization"] == "Token t0ken-of-mine"
    assert sent["x-team"] == "memory"
    provider.plan = [Reply(400, b'{"error":"no such Token t0ken-of-mine"}')]
    assert "t0ken-of" not in str(fault(lambda: asked.embed_query("x")))


def test_it_is_what_the_rest_of_the_house_expects(embedder: Make) -> None:
    assert isinstance(embedder("openai"), Backfiller)


def test_a_question_is_not_asked_again_when_its_time_is_up(embedder: Make, provider: Provider) -> None:
    brief = QUICK._replace(total=0.1)
    provider.plan = [Reply(503, delay=0.15)] * 2
    assert fault(lambda: embedder("openai", query_patience=brief).embed_query("x")).kind == "server"
    assert len(provider.requests) == 1


# What the address holds


def test_a_user_and_a_query_in_the_address_are_sent_and_not_shown(provider: Provider) -> None:
    address = provider.url.replace("http://", f"http://me:{SECRET}@") + f"/v1/?version=2&key={SECRET}"
    asked = RemoteEmbedder(OpenAIWire("m", address), patience=QUICK, query_patience=QUICK)
    asked.embed_query("x")
    (sent,) = provider.requests
    assert sent.path == f"/v1/embeddings?version=2&key={SECRET}"
    assert base64.b64decode(sent.headers["Authorization"].split()[1]) == f"me:{SECRET}".encode()
    assert SECRET not in asked.fingerprint
    provider.plan = [Reply(400, f"no: {SECRET} me:{SECRET} http://x?key={SECRET}".encode())]
    fault(lambda: asked.embed_query("x"))
    asked.close()


@pytest.mark.parametrize("address", ["ftp://host/v1", "host:8080", "http://", "http://[::1", "http://host:port/"])
def test_an_address_that_is_none(address: str) -> None:
    found = fault(lambda: RemoteEmbedder(OpenAIWire("m", address)))
    assert "remote.baseUrl" in str(found)
    assert found.lasting


# Refusals


@EVERY
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_said_at_once(name: str, status: int, embedder: Make, provider: Provider) -> None:
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {SECRET[:9]}***"}}).encode()
    provider.plan = [Reply(status, body)]
    found = fault(lambda: embedder(name).embed_documents(TEXTS))
    assert (found.kind, found.lasting) == ("auth", True)
    assert "check the key" in str(found)
    assert len(provider.requests) == 1


def test_gemini_calls_a_bad_key_a_bad_request(embedder: Make, provider: Provider) -> None:
    body = {"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID"}}
    provider.plan = [Reply(400, json.dumps(body).encode())]
    assert fault(lambda: embedder("gemini").embed_query("x")).kind == "auth"


@EVERY
def test_after_retry_after_in_seconds(name: str, embedder: Make, provider: Provider) -> None:
    waits: list[float] = []
    provider.plan = [Reply(429, b"{}", {"Retry-After": "3"}), Reply(503, b"", {"retry-after-ms": "1500"})]
    assert len(embedder(name, sleep=waits.append).embed_documents(TEXTS)) == 3
    assert waits == [3.0, 1.5]


def test_after_retry_after_as_a_date(embedder: Make, provider: Provider) -> None:
    waits: list[float] = []
    then = datetime.now(UTC) + timedelta(seconds=4)
    provider.plan = [Reply(429, b"{}", {"Retry-After": format_datetime(then, usegmt=True)})]
    embedder("openai", sleep=waits.append).embed_query("x")
    assert 1.0 < waits[0] <= 4.0


def test_nobody_waits_longer_than_the_caller_can(embedder: Make, provider: Provider) -> None:
    provider.plan = [Reply(429, b"{}", {"Retry-After": "3600"})]
    found = fault(lambda: embedder("openai").embed_query("x"))
    assert (found.kind, found.lasting) == ("quota", False)
    assert "3600 s" in str(found)
    assert len(provider.requests) == 1


def test_a_retry_after_that_says_nothing(embedder: Make, provider: Provider) -> None:
    provider.plan = [Reply(429, b"{}", {"Retry-After": "soon"})]
    assert list(embedder("openai").embed_query("x")) == vector("x")


def test_an_empty_account_is_not_asked_again(embedder: Make, provider: Provider) -> None:
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    provider.plan = [Reply(429, json.dumps(body).encode())]
    found = fault(lambda: embedder("openai").embed_query("x"))
    assert (found.kind, found.lasting) == ("quota", True)
    assert len(provider.requests) == 1


def test_a_server_that_recovers(embedder: Make, provider: Provider) -> None:
    waits: list[float] = []
    provider.plan = [Reply(500, b"oops"), Reply(502, b"<html>"), Reply(529)]
    assert list(embedder("openai", sleep=waits.append).embed_query("x")) == vector("x")
    assert waits == [0.01, 0.02, 0.04]


def test_a_server_that_does_not_recover(embedder: Make, provider: Provider) -> None:
    provider.plan = [Reply(500, b'{"error":{"message":"out of order"}}')] * 9
    found = fault(lambda: embedder("openai").embed_query("x"))
    assert (found.kind, found.lasting) == ("server", False)
    assert "out of order" in str(found)
    assert len(provider.requests) == 1 + QUICK.retries


def test_a_model_that_is_not_there(embedder: Make, provider: Provider) -> None:
    provider.plan = [Reply(404, b'{"error":{"message":"The model `x` does not exist"}}')]
    found = fault(lambda: embedder("openai", "x").embed_query("x"))
    assert (found.kind, found.lasting) == ("missing", True)
    assert "does not exist" in str(found)


@pytest.mark.parametrize("status", [400, 429, 500, 503])
def test_what_a_server_echoes_is_never_shown(status: int, embedder: Make, provider: Provider) -> None:
    echoes = [
        SECRET,
        f"Bearer {SECRET}",
        f"x-goog-api-key:{SECRET},",
        f'"{SECRET[3:15]}"',
        "AIzaSyOther",
        "sk-other-key",
    ]
    provider.plan = [Reply(status, " ".join(["bad\nthing", *echoes]).encode())] * 9
    found = fault(lambda: embedder("openai").embed_query("x"))
    assert "bad thing" in str(found)
    assert "AIzaSy" not in str(found)
    assert "sk-other" not in str(found)


# The network


def test_no_answer_in_time(embedder: Make, provider: Provider) -> None:
    hasty = Patience(connect=1.0, read=0.1, retries=1, backoff=0.01, longest=1.0)
    provider.plan = [Reply(delay=0.4), Reply(delay=0.4)]
    began = time.monotonic()
    found = fault(lambda: embedder("openai", query_patience=hasty).embed_query("x"))
    assert (found.kind, found.lasting) == ("network", False)
    assert "no answer in time" in str(found)
    assert len(provider.requests) == 2
    assert time.monotonic() - began < 1.0


def test_a_slow_answer_and_then_a_quick_one(embedder: Make, provider: Provider) -> None:
    hasty = Patience(connect=1.0, read=0.1, retries=1, backoff=0.01, longest=1.0)
    provider.plan = [Reply(delay=0.3)]
    assert list(embedder("openai", query_patience=hasty).embed_query("x")) == vector("x")


@EVERY
def test_a_cut_answer_is_asked_for_again(name: str, embedder: Make, provider: Provider) -> None:
    provider.plan = [Reply(body=b'{"data": [', cut=500)]
    assert [list(found) for found in embedder(name).embed_documents(TEXTS)] == [vector(text) for text in TEXTS]
    provider.plan = [Reply(body=b'{"data": [', cut=500)] * 9
    found = fault(lambda: embedder(name).embed_documents(TEXTS))
    assert found.kind == "network"
    assert "cut" in str(found)


def test_nobody_is_there() -> None:
    asked = RemoteEmbedder(OpenAIWire("m", "http://127.0.0.1:9/v1"), SECRET, patience=QUICK, query_patience=QUICK)
    found = fault(lambda: asked.embed_query("x"))
    assert (found.kind, found.lasting) == ("network", False)
    assert "no connection (http://127.0.0.1:9)" in str(found)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_server_that_was_not_started_is_no_reason_to_wait(host: str) -> None:
    """Indexing waited a quarter of a minute for it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    waits: list[float] = []
    asked = RemoteEmbedder(OpenAIWire("m", f"http://{host}:{port}/v1", name="ollama"), sleep=waits.append)
    found = fault(lambda: asked.embed_documents(TEXTS))
    assert "is it started?" in str(found)
    assert str(found).startswith("ollama: ")
    assert waits == [0.3]


def test_a_key_that_no_header_can_hold(provider: Provider) -> None:
    for key in (f"{SECRET}\nX: y", f"{SECRET}…"):
        asked = RemoteEmbedder(OpenAIWire("m", f"{provider.url}/v1"), key, patience=QUICK, query_patience=QUICK)
        assert fault(lambda: asked.embed_query("x")).kind == "input"  # noqa: B023
    assert not provider.requests


def test_proxies_of_the_environment_are_used(
    embedder: Make, provider: Provider, elsewhere: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("http_proxy", elsewhere.url.replace("http://", f"http://me:{SECRET}@"))
    assert list(embedder("openai").embed_query("x")) == vector("x")
    assert not provider.requests
    assert elsewhere.requests[0].path == f"{provider.url}/v1/embeddings"
    monkeypatch.setenv("http_proxy", f"socks9://{SECRET}@127.0.0.1:1")
    assert "proxy" in str(fault(lambda: embedder("openai").embed_query("x")))


# Redirects


def test_a_redirect_never_carries_the_key_to_another_host(
    embedder: Make, provider: Provider, elsewhere: Provider
) -> None:
    for status in (301, 302, 303, 307, 308):
        provider.plan = [Reply(status, b"", {"Location": f"{elsewhere.url}/v1/embeddings"})]
        found = fault(lambda: embedder("openai").embed_query("x"))
        assert (found.kind, found.lasting) == ("server", True)
        assert "remote.baseUrl" in str(found)
    assert not elsewhere.requests


def test_a_redirect_on_the_same_host(embedder: Make, provider: Provider) -> None:
    provider.plan = [Reply(308, b"", {"Location": "/v2/embeddings"})]
    assert list(embedder("openai").embed_query("x")) == vector("x")
    assert provider.requests[1].path == "/v2/embeddings"
    assert provider.requests[1].headers["Authorization"] == f"Bearer {SECRET}"
    provider.plan = [Reply(307, b"", {"Location": f"/v{n}/embeddings"}) for n in range(9)]
    assert fault(lambda: embedder("openai").embed_query("x")).kind == "server"


def test_a_download_may_leave_the_host_with_empty_hands(
    embedder: Make, provider: Provider, elsewhere: Provider
) -> None:
    elsewhere.files["out"] = b"results"
    provider.plan = [Reply(302, b"", {"Location": f"{elsewhere.url}/v1/files/out"})]
    found = embedder("openai").transport.send("GET", "/embeddings", None, {})
    assert found == b"results"
    assert not [value for value in elsewhere.requests[0].headers.values() if SECRET in value]


# Answers


def rows(answer: Any) -> list[Any]:
    return answer.get("data") or answer.get("embeddings") or []


def first(answer: Any, value: Any) -> Any:
    row = rows(answer)[0]
    row["embedding" if "embedding" in row else "values"] = value
    return answer


@EVERY
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda answer: {name: row[:2] if isinstance(row, list) else row for name, row in answer.items()}, "2 vectors"),
        (lambda answer: first(answer, [0.1] * 5), "numbers where"),
        (lambda answer: first(answer, [float("nan")] * WIDTH), "not finite"),
        (lambda answer: first(answer, [1e39] * WIDTH), "not finite"),
        (lambda answer: first(answer, [0.0] * WIDTH), "all zeros"),
        (lambda answer: first(answer, []), "empty"),
        (lambda answer: first(answer, ["0.1"] * WIDTH), "no list of numbers"),
        (lambda answer: first(answer, None), "no list of numbers"),
        (lambda answer: first(answer, "@@@"), "no list of numbers"),
        (lambda answer: [], "holds no vectors"),
        (lambda answer: {"data": 3, "embeddings": "x"}, "holds no vectors"),
    ],
)
def test_an_answer_that_is_not_what_was_asked_for(
    name: str, spoil: Callable[[Any], Any], said: str, embedder: Make, provider: Provider
) -> None:
    asked = embedder(name)
    asked.embed_query("x")
    provider.plan = [spoil]
    found = fault(lambda: asked.embed_documents(TEXTS))
    assert found.kind == "answer"
    assert said in str(found)


def test_rows_are_put_in_order(embedder: Make, provider: Provider) -> None:
    provider.plan = [lambda answer: answer | {"data": answer["data"][::-1]}]
    assert [list(found) for found in embedder("voyage").embed_documents(TEXTS)] == [vector(text) for text in TEXTS]
    provider.plan = [lambda answer: answer | {"data": [{"embedding": row["embedding"]} for row in answer["data"]]}]
    assert [list(found) for found in embedder("openai").embed_documents(TEXTS)] == [vector(text) for text in TEXTS]
    for wrong in ([0, 0, 1], [1, 2, 3], [0, None, 1], ["0", "1", "2"]):
        provider.plan = [
            lambda answer, wrong=wrong: {
                "data": [row | {"index": at} for row, at in zip(answer["data"], wrong, strict=True)]
            }
        ]
        assert "numbered" in str(fault(lambda: embedder("openai").embed_documents(TEXTS)))


@pytest.mark.parametrize("body", [b"<html>welcome</html>", b"", b'{"data": [', b"[" * 100_000, b"null", b'"x"'])
def test_a_body_that_is_no_answer(body: bytes, embedder: Make, provider: Provider) -> None:
    for name in ("openai", "gemini"):
        provider.plan = [Reply(body=body)]
        found = fault(lambda: embedder(name).embed_query("x"))  # noqa: B023
        assert found.kind == "answer"


def test_a_width_that_was_not_asked_for(embedder: Make, provider: Provider) -> None:
    asked = embedder("gemini", dimensions=256)
    assert asked.dimensions == 256
    assert "8 numbers where 256" in str(fault(lambda: asked.embed_query("x")))


# Sizes


@EVERY
@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_too_many_texts_are_asked_for_in_smaller_requests(
    name: str, status: int, embedder: Make, provider: Provider
) -> None:
    provider.most_texts, provider.size_status = 5, status
    texts = [f"note {n}" for n in range(40)]
    asked = embedder(name)
    assert [list(found) for found in asked.embed_documents(texts)] == [vector(text) for text in texts]
    before = len(provider.requests)
    asked.embed_documents(texts)
    assert len(provider.requests) - before == 8  # What was learned is kept.


@EVERY
def test_a_text_that_is_too_long_is_cut_and_the_others_are_not(name: str, embedder: Make, provider: Provider) -> None:
    provider.most_characters = 100
    texts = [f"note {n}" for n in range(20)]
    texts[7] = "word " * 50
    found = [list(one) for one in embedder(name).embed_documents(texts)]
    # 250 characters, then 125, then 62, each up to the end of a word.
    assert found[7] == vector(("word " * 12).strip())
    del found[7], texts[7]
    assert found == [vector(text) for text in texts]
    # The number of texts a request stays what it was.
    before = len(provider.requests)
    asked = embedder(name)
    asked.embed_documents(["word " * 50, *texts])
    asked.embed_documents(texts)
    last = provider.requests[before:][-1].body
    assert len(last.get("input") or last["requests"]) == 19


def test_the_vector_of_a_cut_text_depends_on_nothing_else(embedder: Make, provider: Provider) -> None:
    provider.most_characters, provider.most_texts = 100, 3
    long = "some words that go on " * 30
    alone = embedder("openai").embed_documents([long])[0]
    among = embedder("openai").embed_documents([*"abcdefg", long, "x" * 900])[7]
    assert alone == among


def test_a_text_that_is_refused_at_any_length(embedder: Make, provider: Provider) -> None:
    provider.most_characters = 0
    found = fault(lambda: embedder("openai").embed_documents(["some words", "more"]))
    assert (found.kind, found.lasting) == ("input", True)
    assert len(provider.requests) < 10


def test_another_bad_request_is_not_taken_for_a_size(embedder: Make, provider: Provider) -> None:
    provider.plan = [Reply(400, b'{"error":{"message":"dimensions is not supported by this model"}}')]
    found = fault(lambda: embedder("openai").embed_documents(TEXTS))
    assert (found.kind, found.lasting) == ("input", True)
    assert "not supported" in str(found)
    assert len(provider.requests) == 1


def test_requests_hold_no_more_than_the_provider_takes(embedder: Make, provider: Provider) -> None:
    embedder("gemini").embed_documents([f"note {n}" for n in range(250)])
    assert [len(found.body["requests"]) for found in provider.requests] == [100, 100, 50]
    provider.requests.clear()
    embedder("voyage").embed_documents(["word " * 20_000] * 5)
    assert [len(found.body["input"]) for found in provider.requests] == [2, 2, 1]
    assert VoyageWire("voyage-4-lite").tokens_a_request > VoyageWire("voyage-4").tokens_a_request


def test_blank_and_broken_texts(embedder: Make, provider: Provider) -> None:
    found = embedder("openai").embed_documents(["", " \n", "a\ud800b", "nul\0"])
    assert len(found) == 4
    assert provider.requests[0].body["input"] == [".", ".", "a?b", "nul\0"]


def test_lengths() -> None:
    assert tokens("word " * 4) == 5
    assert tokens("自行车") == 3
    assert tokens("жизнь") == 2.5
    assert cut("自行车", 2) == "自行"
    assert cut("short", 100) == "short"
    head = cut("one two three four five six", 5)
    assert head == "one two three four"
    assert tokens(cut("ж" * 1000 + "x" * 1000, 300)) <= 300
    assert cut("anything", 0) == ""


def test_the_fingerprint_says_what_a_vector_depends_on(embedder: Make) -> None:
    prints = {
        embedder("openai").fingerprint,
        embedder("openai", "other").fingerprint,
        embedder("openai", dimensions=256).fingerprint,
        embedder("gemini").fingerprint,
        embedder("voyage").fingerprint,
        RemoteEmbedder(OpenAIWire(), SECRET).fingerprint,
    }
    assert len(prints) == 6
    assert embedder("openai", key="another-key").fingerprint == embedder("openai").fingerprint
    assert not any("sk-" in one for one in prints)
