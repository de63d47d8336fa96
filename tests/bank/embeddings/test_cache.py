"""The cache of vectors: what it keeps, what goes first, and that whatever is wrong with its file costs nothing more."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openclaw_memory.bank.driver import connect
from openclaw_memory.bank.embeddings.cache import FILE, VectorCache, digest, remove


@contextmanager
def cache(folder: Path, model: str = "m", most: int = 1000) -> Iterator[VectorCache]:
    found = VectorCache(str(folder), model, most)
    try:
        yield found
    finally:
        found.close()


def vector(text: str) -> bytes:
    return digest(text)[:8] + b"\x01"


def kept(folder: Path) -> int:
    with closing(sqlite3.connect(folder / FILE)) as connection:
        return int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])


def put(folder: Path, *texts: str, model: str = "m", most: int = 1000) -> None:
    with cache(folder, model, most) as found:
        found.put({text: vector(text) for text in texts})


def known(folder: Path, *texts: str, model: str = "m", most: int = 1000) -> list[str]:
    with cache(folder, model, most) as found:
        vectors = found.get(texts)
    assert vectors == {text: vector(text) for text in vectors}
    return list(vectors)


def test_what_was_put_is_had_again_by_the_same_model_alone(tmp_path: Path) -> None:
    texts = ["a", "", " ", "a\n", "茶", "\ud800 half a pair", "x" * 100_000]
    put(tmp_path, *texts)
    assert sorted(known(tmp_path, *texts, "b")) == sorted(texts)
    assert known(tmp_path, *texts, model="another") == []
    put(tmp_path, "a", model="another")
    assert known(tmp_path, *texts, model="another") == ["a"]


def test_many_texts_at_once(tmp_path: Path) -> None:
    texts = [f"text {n}" for n in range(2345)]
    put(tmp_path, *texts, most=5000)
    assert len(known(tmp_path, *texts, most=5000)) == 2345


@pytest.mark.parametrize("most", [1, 2, 10])
def test_the_limit_holds_for_all_models_together(tmp_path: Path, most: int) -> None:
    put(tmp_path, *"abcdefgh", most=most)
    assert kept(tmp_path) == min(8, most)
    put(tmp_path, *"ijklmnop", model="another", most=most)
    assert kept(tmp_path) == most
    assert known(tmp_path, *"ijklmnop", model="another", most=most)


def test_what_was_not_needed_for_longest_goes_first(tmp_path: Path) -> None:
    put(tmp_path, *"abcde")
    put(tmp_path, *"fghij")
    assert sorted(known(tmp_path, *"abc")) == list("abc")
    put(tmp_path, *"klm", most=8)
    assert kept(tmp_path) == 8
    everything = known(tmp_path, *"abcdefghijklm")
    assert set("abcklm") < set(everything)
    assert not set("de") & set(everything)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=12), st.integers(1, 20))
def test_any_row_of_runs(tmp_path: Path, runs: list[list[int]], most: int) -> None:
    """As a list of texts by when they were last needed, cut to the limit after each run."""
    remove(str(tmp_path))
    last: dict[str, int] = {}
    for turn, run in enumerate(runs):
        texts = [str(number) for number in run]
        with cache(tmp_path, most=most) as found:
            had = found.get(texts)
            assert set(had) == set(texts) & set(last)
            found.put({text: vector(text) for text in texts if text not in had})
        last |= dict.fromkeys(texts, turn)
        order = sorted(last, key=lambda text: (-last[text], digest(text)))
        last = {text: last[text] for text in order[:most]}
        assert kept(tmp_path) == len(last)


def test_a_limit_of_none_keeps_none(tmp_path: Path) -> None:
    put(tmp_path, "a", most=0)
    assert known(tmp_path, "a", most=0) == []
    assert not (tmp_path / FILE).exists()


def test_forgetting_is_for_one_model(tmp_path: Path) -> None:
    put(tmp_path, "a")
    put(tmp_path, "a", model="another")
    with cache(tmp_path) as found:
        found.forget()
    assert known(tmp_path, "a") == []
    assert known(tmp_path, "a", model="another") == ["a"]


def test_it_is_removed_with_what_stands_beside_it(tmp_path: Path) -> None:
    put(tmp_path, "a")
    assert remove(str(tmp_path))
    assert os.listdir(tmp_path) == []
    assert not remove(str(tmp_path))


# What may be wrong with the file


@pytest.mark.parametrize("content", [b"", b"garbage", b"SQLite format 3\0" + b"\xff" * 5000, b"\0" * 4096])
def test_garbage_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    assert known(tmp_path, "a") == []
    put(tmp_path, "a")
    assert known(tmp_path, "a") == ["a"]


@pytest.mark.parametrize("table", ["CREATE TABLE vectors (x)", "CREATE TABLE models (id INTEGER PRIMARY KEY)"])
def test_other_tables_are_begun_anew(tmp_path: Path, table: str) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute(table)
    put(tmp_path, "a")
    put(tmp_path, "a")
    assert known(tmp_path, "a") == ["a"]


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_cut_or_overwritten_file_is_begun_anew_by_the_next_run_at_the_latest(tmp_path: Path, share: float) -> None:
    """A damage that showed after the opening was found anew in each run, and nothing was ever remembered again."""
    texts = [f"text {n}" for n in range(2000)]
    for cut in (True, False):
        remove(str(tmp_path))
        put(tmp_path, *texts, most=5000)
        path = tmp_path / FILE
        data = path.read_bytes()
        size = int(len(data) * share)
        path.write_bytes(data[:size] if cut else data[:4096] + b"\xa5" * (size - 4096) + data[size:])
        for _ in range(2):
            known(tmp_path, *texts, most=5000)
            put(tmp_path, *texts, most=5000)
        assert len(known(tmp_path, *texts, most=5000)) == 2000


def test_a_row_that_is_no_vector_is_not_known(tmp_path: Path) -> None:
    put(tmp_path, *"abcd")
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        for text, value in {"a": "text", "b": 3, "c": bytes(9)}.items():
            connection.execute("UPDATE vectors SET vector = ? WHERE digest = ?", (value, digest(text)))
        connection.commit()
    assert known(tmp_path, *"abcd") == ["d"]


def test_a_file_that_another_process_holds_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a")
    monkeypatch.setattr("openclaw_memory.bank.driver.BUSY_MS", 50)
    with closing(connect(str(tmp_path / FILE))) as connection, cache(tmp_path) as open_already:
        connection.execute("BEGIN IMMEDIATE")
        # What is there is read, though that it was needed cannot be written down.
        assert open_already.get(["a"]) == {"a": vector("a")}
        open_already.put({"b": vector("b")})
        put(tmp_path, "c")
        connection.execute("ROLLBACK")
    assert known(tmp_path, *"abc") == ["a"]


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_cannot_be_written_remembers_nothing(
    lent: Path, somebody: Callable[[], AbstractContextManager[None]], what: str
) -> None:
    with somebody():
        put(lent, "a")
        (lent / FILE).chmod(0o444)
        if what == "folder":
            lent.chmod(0o555)
        put(lent, "b")
        known(lent, "a", "b")
        lent.chmod(0o755)
        # What SQLite puts beside it has its permissions.
        for path in lent.iterdir():
            path.chmod(0o644)
        assert known(lent, "a", "b") == ["a"]


def test_a_folder_in_its_place_and_no_folder_at_all(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    put(tmp_path, "a")
    assert known(tmp_path, "a") == []
    put(tmp_path / "nowhere", "a")
    assert known(tmp_path / "nowhere", "a") == []
