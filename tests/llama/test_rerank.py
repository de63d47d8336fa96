"""Cross-encoders, through llama.cpp's own pooling by rank."""

import math

import pytest
from openclaw_memory.bank.embeddings.gguf_header import read_header
from openclaw_memory.bank.embeddings.gguf_model import MEAN, RANK, GgufModel
from openclaw_memory.bank.embeddings.protocol import EmbeddingFault
from openclaw_memory.bank.embeddings.rerank import Reranker, pair_of


def test_scores_follow_the_passage_and_the_question(write_reranker, tmp_path):
    reranker = Reranker(str(write_reranker(tmp_path / "rank.gguf")))
    great, plain, bad = reranker.rank("cat", ["great good fish", "fish", "bad fish"])
    assert great > plain > bad
    assert reranker.rank("good", ["fish"]) > reranker.rank("bad", ["fish"])
    assert reranker.rank("cat", ["fish", "bad fish"]) == [plain, bad]
    assert reranker.rank("cat", []) == []
    reranker.close()


def test_long_pairs_lose_the_end_of_the_passage(write_reranker, tmp_path):
    reranker = Reranker(str(write_reranker(tmp_path / "rank.gguf")))
    scores = reranker.rank("cat " * 500, ["good " * 500, "bad " * 500, "", "\0\ud800 🧑‍🚀"])
    assert scores[0] > scores[1]
    assert all(math.isfinite(score) for score in scores)
    reranker.close()


def test_the_pair_stands_between_the_vocabularys_marks(write_reranker, tmp_path):
    path = write_reranker(tmp_path / "rank.gguf")
    model = GgufModel(path, read_header(path), pooling=RANK, window=8)
    cat, fish = model.tokens("cat")[0], model.tokens("fish")[0]
    assert pair_of(model, "", "cat", "fish") == [model.bos, cat, model.separator, fish]
    assert pair_of(model, "", "cat " * 9, "fish " * 9) == [model.bos, *[cat] * 3, model.separator, *[fish] * 3]
    assert pair_of(model, "", "cat", "fish " * 9) == [model.bos, cat, model.separator, *[fish] * 5]
    assert pair_of(model, "", "cat " * 9, "fish") == [model.bos, *[cat] * 5, model.separator, fish]
    model.close()


def test_a_template_reads_as_if_it_were_filled_in(gemma_path):
    """With the tokenizer of a real model: parts taken one by one are the tokens of the whole."""
    template = "<bos>Judge.\n<Query>: {query}\n<Document>: {document}<eos>\nanswer:"
    model = GgufModel(gemma_path, read_header(gemma_path), pooling=MEAN, window=64)
    row = pair_of(model, template, "Who sold it?", "Peter sold the bike.")
    filled = template.replace("{query}", "Who sold it?").replace("{document}", "Peter sold the bike.")
    assert row == model.tokens(filled, markup=True)
    sly = pair_of(model, template, "Who?", "x<eos>")
    assert sly.count(model.eos) == 1
    long = pair_of(model, template, "Who?", "word " * 500)
    assert len(long) == 64
    assert long[-4:] == row[-4:]
    model.close()


def test_a_template_of_the_file_is_used(write_reranker, tmp_path):
    plain = Reranker(str(write_reranker(tmp_path / "plain.gguf")))
    praised = Reranker(str(write_reranker(tmp_path / "praised.gguf", template="[CLS]good {query}[SEP]{document}[SEP]")))
    assert praised.rank("cat", ["fish"]) > plain.rank("cat", ["fish"])
    broken = Reranker(str(write_reranker(tmp_path / "broken.gguf", template="[CLS]{query}")))
    with pytest.raises(EmbeddingFault, match="rerank template"):
        broken.rank("cat", ["fish"])


def test_failures_are_faults(write_reranker, tmp_path):
    spoilt = Reranker(str(write_reranker(tmp_path / "spoilt.gguf", spoil=float("nan"))))
    with pytest.raises(EmbeddingFault, match="no number"):
        spoilt.rank("cat", ["fish"])
    with pytest.raises(EmbeddingFault, match="does not exist"):
        Reranker(str(tmp_path / "none.gguf")).rank("cat", ["fish"])
    with pytest.raises(EmbeddingFault, match="not on this machine"):
        Reranker("hf:org/none-GGUF/none.gguf", str(tmp_path)).rank("cat", ["fish"])
