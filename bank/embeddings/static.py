"""The built-in model: a table of one row for each token; a text's vector is the sum of its tokens' rows.

A row is 256 small whole numbers and a scale, and the sum is taken in whole numbers: whoever adds, in whatever order,
gets the same vector to the last bit. Nothing is divided: a vector's length says nothing, cosine is all that counts.

``table.bin`` is made by ``training/distil.py``, is read in place (mmap) and is little-endian throughout:

    header   64 bytes: magic ``OCMTABLE``; version, rows, dimensions; offsets of the four parts and of the end (uint32
             each); digest (first 16 bytes of the SHA-256 of all that follows the header); 8 zero bytes
    offsets  uint32 x (rows + 1): where each token begins in the next part, and where the last ends
    tokens   UTF-8, nothing between them, sorted by their bytes; a piece that continues a word has ``##`` before it
    scales   uint16 x rows, at an even offset
    values   int8 x rows x dimensions

A token's row is found by halving the sorted tokens, so that a question costs neither a vocabulary in memory nor numpy;
many documents at once are worth both.
"""

import mmap
import os
import struct
import sys
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from .protocol import EmbeddingFault, Vector
from .wordpiece import pieces, words

TABLE = os.path.join(os.path.dirname(__file__), "table.bin")
MAGIC, VERSION = b"OCMTABLE", 1
HEADER = struct.Struct("<8s8I16s8x")
_PAIR, _SCALE = struct.Struct("<2I").unpack_from, struct.Struct("<H").unpack_from
#: From so many texts on the dict vocabulary and numpy are worth loading.
MANY = 200
#: Words whose rows are remembered.
_REMEMBERED = 50_000
#: The sign of a number in 8 bits.
_NEGATIVE = 0x80


class Table:
    """``table.bin``, open. Raises ``EmbeddingFault`` (``missing``) when it is not there or not whole."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            with open(path, "rb") as file:
                self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise _damaged(path, "cannot be read") from error
        if len(self.data) < HEADER.size:
            raise _damaged(path, "is cut short")
        magic, version, rows, dimensions, *parts, digest = HEADER.unpack_from(self.data)
        if magic != MAGIC or version != VERSION:
            raise _damaged(path, "is of another format")
        self._offsets, self._tokens, self._scales, self._values, end = parts
        least = (4 * (rows + 1), rows, 2 * rows, rows * dimensions)
        if end != len(self.data) or any(
            stop - start < size for start, stop, size in zip(parts, parts[1:], least, strict=False)
        ):
            raise _damaged(path, "is cut short")
        self.rows: int = rows
        self.dimensions: int = dimensions
        self.digest: str = digest.hex()
        self._mask = int.from_bytes(bytes([_NEGATIVE]) * dimensions, "big")
        self._numbers = memoryview(self.data)[self._values :].cast("b")

    def find(self, token: str) -> int | None:
        """The row of a token."""
        data, offsets, tokens = self.data, self._offsets, self._tokens
        wanted = token.encode("utf-8", "surrogatepass")
        low, high = 0, self.rows
        while low < high:
            middle = (low + high) // 2
            begin, end = _PAIR(data, offsets + 4 * middle)
            found = data[tokens + begin : tokens + end]
            if found == wanted:
                return middle
            if found < wanted:
                low = middle + 1
            else:
                high = middle
        return None

    def add(self, total: list[int], row: int, times: int) -> list[int]:
        """``total`` and ``times`` a row."""
        factor = times * _SCALE(self.data, self._scales + 2 * row)[0]
        start = row * self.dimensions
        values = self._numbers[start : start + self.dimensions].tolist()
        return [number + factor * value for number, value in zip(total, values, strict=True)]

    def numbers(self, row: int) -> Sequence[int]:
        """A row without its scale."""
        return self._numbers[row * self.dimensions : (row + 1) * self.dimensions]

    def signs(self, row: int) -> int:
        """One bit for each dimension of a row, the highest of its byte, set where it is below zero."""
        start = self._values + row * self.dimensions
        return int.from_bytes(self.data[start : start + self.dimensions], "big") & self._mask

    def vocabulary(self) -> dict[str, int]:
        """Every token and its row."""
        ends = struct.unpack_from(f"<{self.rows + 1}I", self.data, self._offsets)
        tokens = self.data[self._tokens : self._tokens + ends[-1]]
        return {tokens[ends[row] : ends[row + 1]].decode(): row for row in range(self.rows)}

    def arrays(self, numpy: Any) -> tuple[Any, Any]:
        """(scales, values) as numpy arrays; the values are not copied."""
        scales = numpy.frombuffer(self.data, "<u2", self.rows, self._scales).astype(numpy.int64)
        values = numpy.frombuffer(self.data, "i1", self.rows * self.dimensions, self._values)
        return scales, values.reshape(self.rows, self.dimensions)


def _damaged(path: str | os.PathLike[str], how: str) -> EmbeddingFault:
    remedy = "install openclaw-memory again"
    return EmbeddingFault(f"the built-in embedding table {how}", str(path), remedy, kind="missing", lasting=True)


class StaticEmbedder:
    """The built-in model as an ``Embedder``; vectors are arrays of 64-bit integers.

    A text without any known token has a vector of zeros. Making one opens the table, and raises ``EmbeddingFault`` if
    that is damaged; after that nothing can fail.
    """

    provider = "static"
    model = "openclaw-static-256"
    max_tokens = 1_000_000

    def __init__(self, path: str | os.PathLike[str] = TABLE) -> None:
        self._table = Table(path)
        self._find: Callable[[str], int | None] = self._table.find
        self._known: dict[str, tuple[int, ...]] = {}
        self._signs: dict[str, int] = {}
        self.dimensions: int | None = self._table.dimensions
        self.fingerprint = f"static:{self.model}:{self._table.digest}"

    def embed_query(self, text: str) -> Vector:
        total = [0] * self._table.dimensions
        counts: dict[int, int] = {}
        for row in self._rows(text):
            counts[row] = counts.get(row, 0) + 1
        for row, times in counts.items():
            total = self._table.add(total, row, times)
        return array("q", total)

    def signs(self, word: str) -> int:
        """One bit for each dimension of the row of a word (one of ``wordpiece.words``), set where it is below zero; 0
        for a word that is no token of its own: cutting it into pieces takes long, and they say little."""
        known = self._signs.get(word)
        if known is None:
            row = self._find(word)
            known = 0 if row is None else self._table.signs(row)
            if len(self._signs) < _REMEMBERED:
                self._signs[word] = known
        return known

    def direction(self, word: str) -> Vector:
        """A word's vector of any length: for one that is a token its row as it stands in the table."""
        row = self._find(word)
        return self.embed_query(word) if row is None else self._table.numbers(row)

    def knows(self, word: str) -> bool:
        """Whether a word is a token of its own, and not put together of pieces that may mean anything."""
        return all(len(self._word(part)) == 1 for part in words(word))

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        # Importing numpy takes as long as many texts do without it.
        if len(texts) >= MANY or "numpy" in sys.modules:
            try:
                import numpy
            except ImportError:
                pass
            else:
                return self._with_numpy(texts, numpy)
        return [self.embed_query(text) for text in texts]

    def _with_numpy(self, texts: Sequence[str], numpy: Any) -> list[Vector]:
        """The same numbers, many times as fast."""
        if self._find == self._table.find:
            self._find = self._table.vocabulary().get
        scales, values = self._table.arrays(numpy)
        vectors: list[Vector] = []
        for text in texts:
            rows, times = numpy.unique(numpy.array(self._rows(text), numpy.int64), return_counts=True)
            vectors.append(array("q", ((times * scales[rows]) @ values[rows]).tobytes()))
        return vectors

    def _rows(self, text: str) -> list[int]:
        """The rows of a text's tokens, in order."""
        return [row for word in words(text) for row in self._word(word)]

    def _word(self, word: str) -> tuple[int, ...]:
        known = self._known.get(word)
        if known is None:
            known = tuple(pieces(word, self._find))
            if len(self._known) < _REMEMBERED:
                self._known[word] = known
        return known
