"""QMD's output, taken apart."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.recall.qmd.answers import QmdHit, read_hits
from openclaw_memory.recall.qmd.process import QmdUnavailable

ROW = {
    "docid": "#9b69e0",
    "score": 0.62,
    "file": "qmd://docs/sub/Motor Notes.md",
    "line": 3,
    "title": "Motor",
    "snippet": "@@ -2,3 @@ (1 before, 2 after)\n\nThe motor takes 40 ml.\n",
}
HIT = QmdHit("docs", "sub/Motor Notes.md", 0.62, 3, 2, "\nThe motor takes 40 ml.\n")


def test_a_row() -> None:
    assert read_hits(json.dumps([ROW], indent=2)) == [HIT]


@pytest.mark.parametrize(
    "before", ["Warning: 6 documents need embeddings.\n", "[info] loading\n[1]\n", "\x1b[?25h", "\n\n"]
)
def test_what_is_printed_before_the_list_is_passed_over(before: str) -> None:
    assert read_hits(before + json.dumps([ROW]) + "\n(done)\n") == [HIT]


def test_no_results() -> None:
    assert read_hits("[]\n") == []
    assert read_hits("No results found.\n") == []


def test_a_list_in_an_object() -> None:
    assert read_hits(json.dumps({"results": [ROW]})) == [HIT]


@pytest.mark.parametrize(
    "output", ["", "  \n", "Searching…", '[{"file": "qmd://a/b.md"', "{}", "[1, 2]", "[" * 5000, "null"]
)
def test_what_is_no_answer(output: str) -> None:
    with pytest.raises(QmdUnavailable):
        read_hits(output)


def test_rows_that_name_no_file() -> None:
    assert read_hits(json.dumps([ROW, {"score": 1}, {"file": 7}, {"file": "qmd://docs"}])) == [HIT]
    with pytest.raises(QmdUnavailable, match="names no files"):
        read_hits(json.dumps([{"score": 1}]))


@pytest.mark.parametrize(
    ("score", "read"),
    [(1.7, 1.0), (-1, 0.0), (True, 0.0), ("0.5", 0.0), (None, 0.0), (float("nan"), 0.0), (0.25, 0.25)],
)
def test_scores_are_between_0_and_1(score: object, read: float) -> None:
    assert read_hits(json.dumps([ROW | {"score": score}]))[0].score == read


def test_a_row_without_a_line_has_that_of_its_snippet() -> None:
    assert read_hits(json.dumps([ROW | {"line": None}]))[0].line == 2
    assert read_hits(json.dumps([ROW | {"line": 0, "snippet": "text"}]))[0] == HIT._replace(
        line=0, first=0, text="text"
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_json_is_read_or_refused(value: object) -> None:
    try:
        found = read_hits(json.dumps([ROW, value]))
    except QmdUnavailable:
        return
    assert found[0] == HIT
    assert all(hit.collection and hit.path and 0 <= hit.score <= 1 for hit in found)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(QmdUnavailable):
        assert read_hits(text) == []
