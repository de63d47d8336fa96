"""The built-in model: the same whole numbers by either way of adding, a table that is checked, sense in the ranks."""

import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openclaw_memory.bank.embeddings.protocol import Embedder, EmbeddingFault
from openclaw_memory.bank.embeddings.static import MANY, TABLE, StaticEmbedder, Table

STATIC = StaticEmbedder()
TEXTS = st.text(alphabet=st.characters(exclude_categories=[])) | st.lists(
    st.sampled_from("the bike was stolen in paris, Zürich! 字 unbelievably ##ing zqxj".split())
).map(" ".join)


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))


def test_it_is_an_embedder() -> None:
    embedder: Embedder = STATIC
    assert (embedder.provider, embedder.dimensions) == ("static", 256)
    assert Table(TABLE).digest in embedder.fingerprint


def test_the_shipped_table_is_small_enough() -> None:
    assert Path(TABLE).stat().st_size <= 8_000_000


@settings(deadline=None, max_examples=30)
@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_numpy_and_pure_python_give_the_same_numbers(texts: list[str]) -> None:
    pytest.importorskip("numpy")
    one_by_one = StaticEmbedder().embed_documents(texts)
    many = StaticEmbedder().embed_documents(texts * MANY)
    assert one_by_one * MANY == many
    assert [STATIC.embed_query(text) for text in texts] == one_by_one


@given(TEXTS, TEXTS)
def test_a_text_is_the_sum_of_its_parts(one: str, other: str) -> None:
    parts = [sum(pair) for pair in zip(STATIC.embed_query(one), STATIC.embed_query(other), strict=True)]
    assert list(STATIC.embed_query(f"{one} {other}")) == parts


@given(st.lists(st.sampled_from("who stole the red bike of my neighbour in Lisbon ?".split())), st.randoms())
def test_the_order_of_words_is_nothing(text: list[str], random: object) -> None:
    assert STATIC.embed_query(" ".join(sorted(text))) == STATIC.embed_query(" ".join(text))


@pytest.mark.parametrize("text", ["", " \n", "\ud800", "☕", "x" * 101])
def test_a_text_without_known_tokens_is_zeros(text: str) -> None:
    assert not any(STATIC.embed_query(text))
    assert not any(STATIC.embed_documents([text] * MANY)[-1])


def test_every_token_is_found_and_nothing_else() -> None:
    table = Table(TABLE)
    vocabulary = table.vocabulary()
    assert len(vocabulary) == table.rows
    assert all(table.find(token) == row for token, row in vocabulary.items())
    assert [table.find(token) for token in ("", "\x00", "zqxj", "##", "\udfff", "\U0010ffff")] == [None] * 6


def test_all_dimensions_carry_about_as_much() -> None:
    vectors = STATIC.embed_documents([token for token in Table(TABLE).vocabulary() if token.isalpha()][::10])
    spread = [sum(vector[n] ** 2 / sum(x * x for x in vector) for vector in vectors) for n in range(256)]
    assert max(spread) < 4 * min(spread)


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("Who stole the bicycle?", "The bike was taken by a thief.", "We painted the kitchen yellow."),
        ("What does she eat in the morning?", "Her breakfast is oatmeal with berries.", "The server was restarted."),
        ("Which doctor treats his teeth?", "Appointment with the dentist on Monday", "The train to Berlin was late"),
        ("Where do they live?", "They moved into a flat in Lisbon.", "The invoice was paid."),
        ("automobile", "car", "banana"),
        ("Is the database broken?", "SQL queries fail since the upgrade", "The cake needs more sugar"),
    ],
)
def test_what_means_the_same_is_near(question: str, near: str, far: str) -> None:
    asked = STATIC.embed_query(question)
    assert cosine(asked, STATIC.embed_query(near)) > cosine(asked, STATIC.embed_query(far)) + 0.1


def test_a_table_that_is_not_whole_is_missing(tmp_path: Path) -> None:
    whole, path = Path(TABLE).read_bytes(), tmp_path / "table.bin"
    for data in (None, b"", whole[:40], whole[:64], whole[:-1], b"x" + whole[1:], whole[:8] + b"\x09" + whole[9:]):
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(EmbeddingFault) as caught:
            StaticEmbedder(path)
        assert caught.value.kind == "missing"
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_question_loads_neither_numpy_nor_the_vocabulary() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "from openclaw_memory.bank.embeddings.static import StaticEmbedder\n"
        "assert any(StaticEmbedder().embed_query('Where is the key?'))\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert not {"numpy", "dataclasses", "inspect", "json"} & set(run.stdout.split())
