"""What needs several models, or one whose answers are known beforehand."""

import os
import threading

import pytest
from openclaw_memory.bank.embeddings.local import LocalEmbedder
from openclaw_memory.bank.embeddings.protocol import EmbeddingFault


def cosine(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_texts_of_one_meaning_are_nearer(bert):
    cats, kittens, taxes = bert.embed_documents(["cats fish", "kitten tuna", "tax april"])
    assert cosine(cats, kittens) > 0.95 > cosine(cats, taxes) + 0.3
    assert cosine(bert.embed_query("revenue"), taxes) > cosine(bert.embed_query("revenue"), cats)


def test_twenty_thousand_words(bert):
    (vector,) = bert.embed_documents(["cat fish " * 10_000])
    assert cosine(vector, bert.embed_documents(["cat fish " * 30])[0]) > 0.98


def test_windows_count_by_their_tokens(bert):
    (mixed,) = bert.embed_documents(["cat " * 240 + "tax " * 120])
    cat, tax = bert.embed_documents(["cat", "tax"])
    assert cosine(mixed, cat) > cosine(mixed, tax) > 0.1


@pytest.mark.parametrize("pooling", [1, 2, None, 0])
def test_pooling_is_the_models_else_the_mean(write_bert, tmp_path, pooling):
    embedder = LocalEmbedder(str(write_bert(tmp_path / "m.gguf", pooling=pooling)))
    assert f"pooling {'cls' if pooling == 2 else 'mean'}:" in embedder.fingerprint
    assert len(embedder.embed_query("cat")) == 32
    embedder.close()


def test_prompt_forms_change_vectors_and_fingerprint(write_bert, tmp_path):
    plain = LocalEmbedder(str(write_bert(tmp_path / "plain.gguf")))
    e5 = LocalEmbedder(str(write_bert(tmp_path / "e5.gguf", name="Multilingual E5 Small")))
    assert plain.embed_query("cat") == plain.embed_documents(["cat"])[0]
    assert e5.embed_query("cat") != e5.embed_documents(["cat"])[0]
    assert e5.embed_query("cat") == plain.embed_query("query: cat")
    assert e5.embed_documents(["cat"]) == plain.embed_documents(["passage: cat"])
    assert "form e5:" in e5.fingerprint
    (vector,) = e5.embed_documents(["cat " * 500])
    assert cosine(vector, e5.embed_documents(["cat " * 40])[0]) > 0.99


def test_another_model_of_equal_width_in_the_same_place_is_noticed(write_bert, tmp_path):
    path = write_bert(tmp_path / "m.gguf", seed=1)
    first = LocalEmbedder(str(path))
    before, vector, size = first.fingerprint, first.embed_query("cat"), path.stat().st_size
    first.close()
    os.replace(write_bert(tmp_path / "other.gguf", seed=2), path)
    second = LocalEmbedder(str(path))
    assert path.stat().st_size == size
    assert second.fingerprint != before
    assert second.dimensions == 32
    assert second.embed_query("cat") != vector
    second.close()


def test_a_model_replaced_between_fingerprint_and_first_use_is_noticed(write_bert, tmp_path):
    path = write_bert(tmp_path / "m.gguf", seed=1)
    embedder = LocalEmbedder(str(path))
    before = embedder.fingerprint
    os.replace(write_bert(tmp_path / "other.gguf", seed=2, width=64), path)
    with pytest.raises(EmbeddingFault, match="replaced meanwhile"):
        embedder.embed_query("cat")
    assert embedder.fingerprint != before
    assert embedder.dimensions == len(embedder.embed_query("cat")) == 64
    embedder.close()


def test_a_moved_model_is_the_same_model(write_bert, tmp_path):
    path = write_bert(tmp_path / "m.gguf")
    before = LocalEmbedder(str(path)).fingerprint
    (tmp_path / "models").mkdir()
    path.rename(tmp_path / "models" / "m.gguf")
    assert LocalEmbedder("m.gguf", str(tmp_path / "models")).fingerprint == before
    assert str(tmp_path) not in before


@pytest.mark.parametrize("spoil", [0.0, float("nan")])
def test_vectors_of_zeros_and_of_no_numbers_are_refused(write_bert, tmp_path, spoil):
    embedder = LocalEmbedder(str(write_bert(tmp_path / "m.gguf", spoil=spoil)))
    with pytest.raises(EmbeddingFault, match="zeros or of no numbers") as caught:
        embedder.embed_documents(["cat"])
    assert caught.value.kind == "answer"
    embedder.close()


def test_threads_wait_for_each_other(bert):
    texts = ["cat", "fish and tax", "good", "bad april"] * 5
    expected, found = bert.embed_documents(texts), {}

    def work(number):
        found[number] = [bert.embed_query(text) for text in texts]

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert list(found.values()) == [expected] * 4


def test_closed_and_used_again(bert):
    vector = bert.embed_query("cat")
    bert.close()
    bert.close()
    assert bert.embed_query("cat") == vector


def test_a_file_in_the_hubs_cache_is_found_as_the_hubs_own_package_finds_it(write_bert, tmp_path, monkeypatch):
    hub = pytest.importorskip("huggingface_hub")
    cache = tmp_path / "cache"
    snapshot = cache / "models--org--tiny-GGUF" / "snapshots" / "0123abcd"
    snapshot.mkdir(parents=True)
    refs = cache / "models--org--tiny-GGUF" / "refs"
    refs.mkdir()
    (refs / "main").write_text("0123abcd")
    path = write_bert(snapshot / "tiny-Q8_0.gguf")
    assert hub.try_to_load_from_cache("org/tiny-GGUF", "tiny-Q8_0.gguf", cache_dir=cache) == str(path)
    monkeypatch.setenv("HF_HUB_CACHE", str(cache))
    for reference in ("hf:org/tiny-GGUF/tiny-Q8_0.gguf", "hf:org/tiny-GGUF:Q8_0", "hf:org/tiny-GGUF"):
        embedder = LocalEmbedder(reference)
        assert len(embedder.embed_query("cat")) == 32
        embedder.close()
