"""Texts cut into pieces: as the BERT tokenizer cuts them, whatever the text, and in time linear in it.

``wordpiece.jsonl`` holds what the tokenizer of all-MiniLM-L6-v2 made of each text, without the pieces it did not know.
"""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.bank.embeddings.static import TABLE, Table
from openclaw_memory.bank.embeddings.wordpiece import LONGEST_WORD, pieces, words

CASES = Path(__file__).parent.parent / "cases" / "wordpiece.jsonl"
VOCABULARY = Table(TABLE).vocabulary()
NAMES = {row: token for token, row in VOCABULARY.items()}


def cut(text: str) -> list[str]:
    return [NAMES[row] for word in words(text) for row in pieces(word, VOCABULARY.get)]


@pytest.mark.parametrize("case", [json.loads(line) for line in CASES.read_text("utf-8").splitlines()])
def test_as_the_tokenizer_of_the_teacher_cuts(case: dict[str, object]) -> None:
    assert cut(str(case["text"])) == case["pieces"]


def test_an_unknown_character_is_left_out_and_its_word_goes_on() -> None:
    assert cut("good ☕coffee☕time") == ["good", "coffee", "time"]
    assert cut("\ud800broken\udfff pair") == ["broken", "pair"]


def test_a_word_that_is_too_long_has_no_pieces() -> None:
    assert cut("x" * (LONGEST_WORD + 1) + " after") == ["after"]
    assert cut("x" * LONGEST_WORD)


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_no_text_fails(text: str) -> None:
    assert all(word == word.strip() and word for word in words(text))
    cut(text)


@given(st.text(alphabet="abcdefghij"))
def test_the_pieces_of_plain_letters_spell_the_word(word: str) -> None:
    assert "".join(piece.removeprefix("##") for piece in cut(word)) == (word if len(word) <= LONGEST_WORD else "")


@pytest.mark.parametrize("unit", ["a", "é", "a\u0301\u0327", "字", "! ", "word ", "zqxj" * 20 + " "])
def test_time_is_linear_in_the_text(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    started = time.process_time()
    cut(text)
    assert time.process_time() - started < 5
