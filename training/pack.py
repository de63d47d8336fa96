"""A trained table as the bytes of ``table.bin`` (the format is told in ``bank/embeddings/static.py``)."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from openclaw_memory.bank.embeddings.static import HEADER, MAGIC, VERSION


def rotated(table: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """The table in a random basis: cosines are what they were, and all dimensions carry about as much."""
    width = table.shape[1]
    basis, triangle = np.linalg.qr(np.random.default_rng(seed).standard_normal((width, width)))
    turned: NDArray[np.float64] = table @ (basis * np.sign(np.diag(triangle)))
    return turned


def quantised(table: NDArray[np.float64]) -> tuple[NDArray[np.uint16], NDArray[np.int8]]:
    """(scales, values): each row's largest number becomes 127, and the largest scale 65535."""
    largest = np.abs(table).max(1)
    unit = largest.max() / 65535
    scales = np.maximum(np.rint(largest / unit), 1)
    values = np.clip(np.rint(table / (scales[:, None] * unit / 127)), -127, 127)
    return scales.astype("<u2"), values.astype("i1")


def packed(tokens: Sequence[str], table: NDArray[np.float64]) -> bytes:
    """The file that holds one row of ``table`` for each token."""
    names = [token.encode() for token in tokens]
    order = sorted(range(len(names)), key=lambda row: names[row])
    scales, values = quantised(table[order])
    ends = np.cumsum([0, *(len(names[row]) for row in order)]).astype("<u4")
    text = b"".join(names[row] for row in order)
    text += bytes(-len(text) % 2)
    parts = [ends.tobytes(), text, scales.tobytes(), values.tobytes()]
    starts = np.cumsum([HEADER.size, *map(len, parts)]).tolist()
    body = b"".join(parts)
    digest = hashlib.sha256(body).digest()[:16]
    return HEADER.pack(MAGIC, VERSION, len(tokens), table.shape[1], *starts, digest) + body
