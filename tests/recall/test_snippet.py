"""Snippets: around the line that answers, never longer than 700 characters, always whole lines where they fit."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from openclaw_memory.recall.snippet import LONGEST_SNIPPET, make_snippet

WORD = [re.compile("needle", re.IGNORECASE)]


def test_short_text_whole() -> None:
    assert make_snippet("one\ntwo\nthree", 5, (6, 6), WORD) == ("one\ntwo\nthree", 5, 7)


def test_blank_ends_are_cut() -> None:
    assert make_snippet("\n\none\n\n", 1, (3, 3), WORD) == ("one", 3, 3)


def test_around_an_answer_in_the_middle() -> None:
    lines = [f"line {number} " + "x" * 60 for number in range(40)]
    lines[20] = "the needle is here"
    snippet = make_snippet("\n".join(lines), 101, (121, 121), WORD)
    assert "the needle is here" in snippet.text
    assert snippet.line < 121 < snippet.end_line
    assert snippet.text == "\n".join(lines[snippet.line - 101 : snippet.end_line - 100])


def test_a_long_line_is_cut_around_the_word() -> None:
    line = "hay " * 400 + "the needle lies here " + "hay " * 400
    snippet = make_snippet(line, 7, (7, 7), WORD)
    assert "the needle lies here" in snippet.text
    assert snippet.text.startswith("… ")
    assert snippet.text.endswith(" …")
    assert (snippet.line, snippet.end_line) == (7, 7)


def test_a_long_answer_of_many_lines_shows_the_word() -> None:
    lines = ["hay " * 50 for _ in range(20)]
    lines[15] = "a needle"
    snippet = make_snippet("\n".join(lines), 1, (1, 20), WORD)
    assert "a needle" in snippet.text
    assert snippet.line <= 16 <= snippet.end_line


def test_where_most_of_the_words_stand_together() -> None:
    words = [re.compile("red"), re.compile("boat")]
    line = "red " + "hay " * 300 + "the red boat " + "hay " * 300
    assert "the red boat" in make_snippet(line, 1, (1, 1), words).text


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.text(st.characters(exclude_characters="\n"), max_size=300) | st.just("needle " * 150) | st.just(""),
        min_size=1,
        max_size=20,
    ),
    st.integers(1, 1000),
    st.integers(-3, 25),
    st.integers(0, 5),
)
def test_always(lines: list[str], first: int, offset: int, length: int) -> None:
    answer = (first + offset, first + offset + length)
    snippet = make_snippet("\n".join(lines), first, answer, WORD)
    assert len(snippet.text) <= LONGEST_SNIPPET
    assert first <= snippet.line <= snippet.end_line < first + len(lines)
    shown = "\n".join(lines[snippet.line - first : snippet.end_line - first + 1])
    if len(shown) <= LONGEST_SNIPPET:
        assert snippet.text == shown
    else:
        assert snippet.text.removeprefix("… ").removesuffix(" …") in shown
