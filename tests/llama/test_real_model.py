"""A model as people have it: Gemma 3 270M. It is a language model and no embedding model, so nothing is claimed of how
good its vectors are, only that they are made as they should be."""

import math

import pytest
from openclaw_memory.bank.embeddings.local import LocalEmbedder

TEXTS = ["The cargo bike cost 3,400 euros.", "王芳的猫叫什么？", "Ärger über Öl\n\n- eins\n- zwei"]


def cosine(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_documents_and_questions_have_unit_vectors_of_the_models_width(gemma):
    vectors = [*gemma.embed_documents(TEXTS), gemma.embed_query("How much was the bike?")]
    assert gemma.dimensions == 640
    assert {len(vector) for vector in vectors} == {640}
    assert all(math.isclose(math.hypot(*vector), 1, abs_tol=1e-6) for vector in vectors)
    assert len({tuple(vector) for vector in vectors}) == len(vectors)


def test_a_vector_depends_on_its_text_alone(gemma, gemma_path):
    together = gemma.embed_documents(TEXTS)
    assert [gemma.embed_documents([text])[0] for text in reversed(TEXTS)] == together[::-1]
    again = LocalEmbedder(str(gemma_path), threads=1)
    assert again.fingerprint == gemma.fingerprint
    assert cosine(again.embed_documents(TEXTS[:1])[0], together[0]) > 0.9999
    again.close()


@pytest.mark.parametrize("text", ["", " \n\t", "\0", "a\0b", "\ud800 alone", "<eos><bos>", "🧑‍🚀" * 5, "\u202e\u0301"])
def test_any_text_has_a_vector(gemma, text):
    (vector,) = gemma.embed_documents([text])
    assert len(vector) == 640
    assert all(math.isfinite(value) for value in vector)


def test_marks_in_a_text_are_text(gemma):
    one, other = gemma.embed_documents(["end<eos>", "end"])
    assert cosine(one, other) < 0.999


def test_a_text_longer_than_the_window_is_the_mean_of_its_parts(gemma):
    assert gemma.max_tokens == 512
    text = " ".join(f"line {number}" for number in range(200))
    (vector,) = gemma.embed_documents([text])
    halves = gemma.embed_documents([text[: len(text) // 2], text[len(text) // 2 :]])
    middle = [a + b for a, b in zip(*halves, strict=True)]
    assert cosine(vector, [value / math.hypot(*middle) for value in middle]) > 0.98


def test_nothing_is_written_to_standard_error(gemma_path, capfd):
    embedder = LocalEmbedder(str(gemma_path))
    embedder.embed_query("quiet, please")
    embedder.close()
    assert capfd.readouterr() == ("", "")
