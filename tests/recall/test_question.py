"""Reading a question: content words, identifiers, days, and what kind of answer is wanted."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openclaw_memory.recall.question import quoted, read_question

TODAY = date(2025, 12, 6)


def texts(question: str) -> list[str]:
    return [term.text for term in read_question(question, TODAY).terms]


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("What does Peter prefer?", ["peter", "prefer"]),
        ("Where are the passports?", ["passports"]),
        ("Peter's boat", ["peter", "boat"]),
        ("boat boat Boat BOAT", ["boat"]),
        ("Wo ist der Schlüssel?", ["schlüssel"]),
        ("¿Dónde está la llave?", ["llave"]),
        ("What did we do last week?", []),
        ("What happened to the boat last week?", ["boat"]),
        ("who", ["who"]),
        ("???", []),
        ("", []),
        ("what is the and of", ["what", "is", "the", "and", "of"]),
        ("Did the cactus die?", ["cactus", "die"]),
    ],
)
def test_content_words(question: str, terms: list[str]) -> None:
    assert texts(question) == terms


@pytest.mark.parametrize(
    ("question", "identifiers"),
    [
        ("ZX-4417", ("ZX-4417",)),
        ("What does commit a828e60 do?", ("a828e60",)),
        ("cause of E_CONN_4031?", ("E_CONN_4031",)),
        ("version 2.8.2 or v2.9", ("2.8.2", "v2.9")),
        ("what is in /etc/hosts.", ("/etc/hosts",)),
        ("port 8431", ("8431",)),
        ("a well-known fact, e-mail", ()),
        ("What happened on 2025-11-27?", ()),
        ("in 2025", ()),
        ("42 things", ()),
    ],
)
def test_identifiers(question: str, identifiers: tuple[str, ...]) -> None:
    found = read_question(question, TODAY).identifiers
    assert tuple(one.lstrip("/") for one in found) == tuple(one.lstrip("/") for one in identifiers)


@pytest.mark.parametrize(
    ("question", "pieces"),
    [
        ("猫", {"猫"}),
        ("王芳的猫叫什么？", {"王芳", "猫叫"}),
        ("什么时候办签证？", {"办签", "签证"}),
        ("鍵はどこですか？", {"鍵"}),
        ("gannet的端口", {"gannet", "端口"}),
    ],
)
def test_scripts_without_spaces(question: str, pieces: set[str]) -> None:
    assert set(texts(question)) == pieces


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("what did we do yesterday?", date(2025, 12, 5), date(2025, 12, 5)),
        ("what happened on Nov 27, 2025?", date(2025, 11, 27), date(2025, 11, 27)),
        ("what happened in November 2025?", date(2025, 11, 1), date(2025, 11, 30)),
        ("2025-11-27", date(2025, 11, 27), date(2025, 11, 27)),
    ],
)
def test_days(question: str, first: date, last: date) -> None:
    (found,) = read_question(question, TODAY).times
    assert found.interval is not None
    assert (found.interval.first, found.interval.last) == (first, last)


@pytest.mark.parametrize(
    ("question", "when", "opinion"),
    [
        ("When does Peter arrive?", True, False),
        ("How long did it take?", True, False),
        ("What does Peter think about tea?", False, True),
        ("Wann kommt Peter?", True, False),
        ("什么时候办签证？", True, False),
        ("王芳喜欢喝什么茶？", False, True),
        ("Where is the boat?", False, False),
    ],
)
def test_kind_of_answer(question: str, when: bool, opinion: bool) -> None:
    read = read_question(question, TODAY)
    assert (read.asks_when, read.asks_opinion) == (when, opinion)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Where is the key?", "en"),
        ("Wo ist der Schlüssel für das Haus?", "de"),
        ("¿Dónde está la llave de la casa?", "es"),
        ("Où est la clé de la maison ?", "fr"),
        ("gannet", "en"),
        ("", "en"),
    ],
)
def test_language(question: str, language: str) -> None:
    assert read_question(question, TODAY).language == language


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80))
def test_any_string_is_read(question: str) -> None:
    read = read_question(question, TODAY)
    assert len(read.terms) <= 48
    assert len({term.text for term in read.terms}) == len(read.terms)
    for term in read.terms:
        assert term.text
        assert term.phrase[0] == term.phrase[-1] == '"'
        assert term.phrase[1:-1].replace('""', "").count('"') == 0
        assert "\0" not in term.phrase


@given(st.text())
def test_quoted_is_one_string(text: str) -> None:
    inner = quoted(text)[1:-1]
    assert inner.replace('""', '"') == text.replace("\0", " ")
