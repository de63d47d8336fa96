"""Vectors as the index holds them: 8-bit integers for the cosine, and their signs for a quick first pass.

Only the direction of a vector counts, so each is scaled until its largest number is 127. Everything from there on is
integer arithmetic: the same vectors compare the same on every machine, with or without an extension.
"""

import math
from array import array
from collections.abc import Sequence
from operator import mul

_LARGEST = 127
#: Between these no product or quotient below leaves the range of floats.
_TINY, _HUGE = 1e-300, 1e300
_SIGNS = bytes(ord("1") if 1 <= byte <= _LARGEST else ord("0") for byte in range(256))


def quantised(vector: Sequence[float]) -> bytes | None:
    """A vector as signed bytes, one for each dimension; None for one without direction (all zero, NaN, infinite)."""
    largest = max(map(abs, vector), default=0)
    if isinstance(sum(vector), int):
        if not largest:
            return None
        most, twice = int(largest), 2 * int(largest)
        return _as_bytes([(2 * _LARGEST * int(number) + most) // twice for number in vector])
    if not largest or not all(map(math.isfinite, vector)):
        return None
    if not _TINY < largest < _HUGE:
        exponent = -math.frexp(largest)[1]
        vector = [math.ldexp(number, exponent) for number in vector]
        largest = max(map(abs, vector))
    return _as_bytes([math.floor(number * _LARGEST / largest + 0.5) for number in vector])


def _as_bytes(numbers: Sequence[int]) -> bytes:
    return array("b", numbers).tobytes()


def signs(vector: bytes) -> bytes:
    """One bit for each dimension, set where the number is above zero; padded with zero bits to whole bytes."""
    padded = vector.translate(_SIGNS) + b"0" * (-len(vector) % 8)
    return int(padded, 2).to_bytes(len(padded) // 8, "big")


class Query:
    """A quantised vector to compare others with."""

    __slots__ = ("_bits", "_numbers", "_square", "signs", "vector")

    def __init__(self, vector: bytes) -> None:
        self.vector = vector
        self.signs = signs(vector)
        self._bits = int.from_bytes(self.signs, "big")
        self._numbers = memoryview(vector).cast("b").tolist()
        self._square = sum(map(mul, self._numbers, self._numbers))

    def cosine(self, other: bytes) -> float:
        """The cosine of the angle to a quantised vector of the same width, -1 to 1; 0 where one is damaged to zeros."""
        numbers = memoryview(other).cast("b")
        product = sum(map(mul, self._numbers, numbers))
        square = self._square * sum(map(mul, numbers, numbers))
        return product / math.sqrt(square) if square else 0.0

    def distance(self, other_signs: bytes) -> int:
        """How many signs differ (Hamming distance)."""
        return (self._bits ^ int.from_bytes(other_signs, "big")).bit_count()
