"""Which answers of a model count: laws over texts and over whatever a model may say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from openclaw_memory.reflect.verdicts.chat import json_in
from openclaw_memory.reflect.verdicts.prompts import RELATIONS, STANCE, messages, read_answer, schema
from openclaw_memory.reflect.verdicts.records import Claim

WORDS = st.lists(st.text("abcdeäöüéñжд", min_size=1, max_size=6), min_size=1, max_size=8)
SPACES = st.sampled_from([" ", "  ", "\n", "\t "])
TASKS = st.sampled_from(sorted(RELATIONS))
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["supports", "weak", "Likes"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def claim(text: str) -> Claim:
    return Claim(text, "world", ("Pia",), None)


def verdict(*quotes: str, **more: Any) -> dict[str, Any]:
    answer = {"reasoning": "", "same_question": True, "relation": "supports", "strength": "weak"}
    return answer | {"quotes": list(quotes)} | more


@given(WORDS, WORDS, st.data())
def test_words_of_both_texts_count_in_any_case_and_spacing(old: list[str], new: list[str], data: st.DataObject) -> None:
    quotes = []
    for words in (old, new):
        first = data.draw(st.integers(0, len(words) - 1))
        last = data.draw(st.integers(first + 1, len(words)))
        quotes.append(data.draw(SPACES).join(words[first:last]).upper())
    found = read_answer(STANCE, verdict(*quotes), claim(" ".join(old)), claim(f"{' '.join(new)}."))
    assert found is not None
    assert "\n" not in found.quote


@given(WORDS, WORDS, st.text("abc", min_size=1, max_size=4))
def test_a_word_of_neither_text_does_not(old: list[str], new: list[str], word: str) -> None:
    assume(word not in old and word not in new)
    texts = claim(" ".join(old)), claim(" ".join(new))
    assert read_answer(STANCE, verdict(old[0], new[0]), *texts) is not None
    assert read_answer(STANCE, verdict(old[0], new[0], word), *texts) is None
    assert read_answer(STANCE, verdict(old[0], f"{new[-1]} {word}"), *texts) is None


@given(TASKS, st.fixed_dictionaries({}, optional=dict.fromkeys(schema(STANCE)["required"], ANYTHING)) | ANYTHING)
def test_nothing_that_a_model_says_is_an_error(task: str, answer: Any) -> None:
    found = read_answer(task, answer, claim("Likes it."), claim("Likes tea."))
    assert found is None or (found.relation in RELATIONS[task] and found.quote)
    assert json_in(f"So: {json.dumps(answer)}") == answer or not isinstance(answer, dict)


@given(st.text(max_size=80))
def test_words_without_an_object_are_none_or_one(text: str) -> None:
    found = json_in(text)
    assert found is None or isinstance(found, dict)


@pytest.mark.parametrize(
    ("old", "new", "quotes", "counts"),
    [
        ("喜欢爵士乐。", "卖掉了她的小号。", ("爵士", "小号"), True),
        ("喜欢爵士乐。", "卖掉了她的小号。", ("爵士", "钢琴"), False),
        ("Doesn’t mind rain.", "Walked through “heavy” rain.", ("doesn't mind", "“heavy” rain"), True),
        ("Writes C++ at work.", "Ported it to C++ (all of it).", ("C++", "C++ (all of it)"), True),
        ("Cafe\u0301 fan.", "Was at the café.", ("café", "the cafe\u0301"), True),
        ("Likes tea.", "Likes coffee.", ("tea", "..."), False),
        ("Likes tea.", "Likes coffee.", ("a", "e"), False),
    ],
)
def test_quotes(old: str, new: str, quotes: tuple[str, ...], counts: bool) -> None:
    assert (read_answer(STANCE, verdict(*quotes), claim(old), claim(new)) is not None) is counts


@given(TASKS, st.text(max_size=60), st.text(max_size=60))
def test_each_text_stands_on_a_line_of_its_own(task: str, old: str, new: str) -> None:
    names = tuple(f"Name {number}" for number in range(500))
    system, user = messages(task, claim(old), claim(new)._replace(entities=names))
    assert len(user["content"].split("\n")) == 2
    assert len(system["content"]) < 1200
    assert len(messages(task, claim(old * 500), claim("x" * 9000))[1]["content"]) < 4100
