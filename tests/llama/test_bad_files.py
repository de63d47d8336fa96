"""Files that are no model: one line each, and the process lives on."""

import subprocess
import sys

import pytest
from openclaw_memory.bank.embeddings.local import LocalEmbedder
from openclaw_memory.bank.embeddings.protocol import EmbeddingFault
from openclaw_memory.bank.embeddings.rerank import Reranker


def fault(path):
    embedder = LocalEmbedder(str(path))
    assert embedder.fingerprint.startswith("local:")
    with pytest.raises(EmbeddingFault) as caught:
        embedder.embed_documents(["cat"])
    assert "\n" not in str(caught.value)
    assert caught.value.kind == "missing"
    return str(caught.value)


def test_a_model_cut_short(bert_path, bert, capfd):
    data = bert_path.read_bytes()
    for length in (0, 3, 10, 24, 1000, len(data) // 2, len(data) - 4096, len(data) - 64):
        bert_path.write_bytes(data[:length])
        assert "GGUF" in fault(bert_path) or "llama.cpp cannot load the model" in fault(bert_path)
    bert_path.write_bytes(data)
    assert len(LocalEmbedder(str(bert_path)).embed_query("cat")) == 32
    assert capfd.readouterr() == ("", "")


def test_a_real_model_cut_short(gemma_path, tmp_path):
    path = tmp_path / "half.gguf"
    with gemma_path.open("rb") as file:
        path.write_bytes(file.read(60_000_000))
    assert "cut short" in fault(path)
    path.write_bytes(path.read_bytes()[:2_000_000])
    assert "cut short" in fault(path)


def test_text_named_like_a_model(tmp_path):
    path = tmp_path / "page.gguf"
    path.write_text("<!DOCTYPE html><title>404</title>" * 100)
    assert "not a GGUF file" in fault(path)


def test_an_architecture_that_llama_cpp_does_not_know(bert_path):
    bert_path.write_bytes(bert_path.read_bytes().replace(b"bert", b"burt"))
    assert "llama.cpp cannot load the model" in fault(bert_path)
    assert "burt" in fault(bert_path)


def test_a_model_without_a_tensor(bert_path):
    bert_path.write_bytes(bert_path.read_bytes().replace(b"blk.0.attn_v.weight", b"blk.0.attn_x.weight"))
    assert "llama.cpp cannot load the model" in fault(bert_path)


def test_a_reranker_is_no_embedding_model_and_the_other_way_round(write_reranker, bert_path, tmp_path):
    assert "the model is a reranker" in fault(write_reranker(tmp_path / "rank.gguf"))
    with pytest.raises(EmbeddingFault, match="the model is not a reranker"):
        Reranker(str(bert_path)).rank("cat", ["fish"])


DAMAGE = """
import random, sys
from pathlib import Path
from openclaw_memory.bank.embeddings.local import LocalEmbedder
from openclaw_memory.bank.embeddings.protocol import EmbeddingFault

good, bad = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
draw, outcomes = random.Random(7), {"vector": 0, "fault": 0}
for _ in range(150):
    data = bytearray(good)
    for _ in range(draw.choice((1, 20, 2000))):
        data[draw.randrange(2500, len(data))] ^= 1 << draw.randrange(8)
    bad.write_bytes(data)
    embedder = LocalEmbedder(str(bad))
    try:
        embedder.embed_query("cat fish")
        outcomes["vector"] += 1
    except EmbeddingFault:
        outcomes["fault"] += 1
    embedder.close()
print(sum(outcomes.values()))
"""


def test_random_damage_to_names_and_weights_never_ends_the_process(bert_path, tmp_path):
    command = [sys.executable, "-c", DAMAGE, str(bert_path), str(tmp_path / "bad.gguf")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "150", "")
