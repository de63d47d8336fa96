"""Vectors as the index holds them: whole numbers of 16 bits for the cosine, and a code of a few bits for a first pass.

Only the direction of a vector counts, so each is scaled until its largest number is 127 x 256. What is kept is the
upper bytes of its numbers, then the lower ones, then its length: the upper ones alone are a vector of 8 bits, near
enough for most things. Everything is integer arithmetic up to the last division: the same vectors compare the same on
every machine, with or without an extension.
"""

import math
import struct
from array import array
from collections.abc import Mapping, Sequence
from functools import cache
from operator import mul
from typing import Any

_LARGEST = 127 * 256
#: Between these no product or quotient below leaves the range of floats.
_TINY, _HUGE = 1e-300, 1e300
_LENGTH = struct.Struct("<d")
#: The code's thresholds, in root mean squares of a vector's numbers: its distance grows with how far numbers differ.
THRESHOLDS = (0.84, 0.25, -0.25, -0.84)


def quantised(vector: Sequence[float]) -> bytes | None:
    """A vector as stored, ``2 * dimensions + 8`` bytes; None for one without direction (all zero, NaN, infinite)."""
    largest = max(map(abs, vector), default=0)
    if isinstance(sum(vector), int):
        if not largest:
            return None
        most, twice = int(largest), 2 * int(largest)
        return _stored([(2 * _LARGEST * int(number) + most) // twice for number in vector])
    if not largest or not all(map(math.isfinite, vector)):
        return None
    if not _TINY < largest < _HUGE:
        exponent = -math.frexp(largest)[1]
        vector = [math.ldexp(number, exponent) for number in vector]
        largest = max(map(abs, vector))
    return _stored([math.floor(number * _LARGEST / largest + 0.5) for number in vector])


def _stored(numbers: Sequence[int]) -> bytes:
    upper = [(number + 128) >> 8 for number in numbers]
    lower = [number - 256 * high for number, high in zip(numbers, upper, strict=True)]
    length = math.sqrt(sum(map(mul, numbers, numbers)))
    return array("b", upper).tobytes() + array("b", lower).tobytes() + _LENGTH.pack(length)


def width(stored: bytes | int) -> int:
    """How many dimensions a stored vector, or one of so many bytes, has."""
    return ((stored if isinstance(stored, int) else len(stored)) - _LENGTH.size) // 2


def code(stored: bytes) -> bytes:
    """For each threshold one bit for each dimension, set where the number is above it; whole bytes for each threshold.

    How many bits of two codes differ (Hamming distance) says about how far apart the vectors are.
    """
    upper = stored[: width(stored)]
    numbers = memoryview(upper).cast("b")
    square = sum(map(mul, numbers, numbers)) // max(1, len(upper))
    planes = []
    for threshold in THRESHOLDS:
        limit = round(abs(threshold) * math.isqrt(square)) * (1 if threshold > 0 else -1)
        padded = upper.translate(_above(limit)) + b"0" * (-len(upper) % 8)
        planes.append(int(padded, 2).to_bytes(len(padded) // 8, "big"))
    return b"".join(planes)


@cache
def _above(limit: int) -> bytes:
    """For each byte, read as a signed number, the digit 1 where it is above ``limit``, else 0."""
    return bytes(ord("1") if (byte ^ 0x80) - 0x80 > limit else ord("0") for byte in range(256))


_numpy: Any = None


def use_numpy() -> None:
    """Compare many vectors at once with numpy from now on, if it is installed. Loading it takes a while."""
    global _numpy
    try:
        import numpy
    except ImportError:
        return
    _numpy = numpy


class Query:
    """A stored vector to compare others of the same width with. ``upper``: its numbers in 8 bits.

    Making one and comparing raise ``ValueError`` for what is no stored vector, or none of the same width: damage.
    """

    __slots__ = ("_bits", "_code", "_length", "_numbers", "_stored", "_width", "upper")

    def __init__(self, stored: bytes) -> None:
        self._width = width(stored) if isinstance(stored, bytes) else 0
        if self._width < 1 or len(stored) != _LENGTH.size + 2 * self._width:
            raise ValueError("a stored vector is damaged")
        self.upper = stored[: self._width]
        self._stored, self._code, self._bits = stored, b"", 0
        lower = memoryview(stored)[self._width : 2 * self._width].cast("b")
        self._numbers = [256 * high + low for high, low in zip(memoryview(self.upper).cast("b"), lower, strict=True)]
        (self._length,) = _LENGTH.unpack_from(stored, 2 * self._width)

    @property
    def code(self) -> bytes:
        """The vector's code; only a search needs it."""
        if not self._code:
            self._code = code(self._stored)
            self._bits = int.from_bytes(self._code, "big")
        return self._code

    def cosine(self, stored: bytes) -> float:
        """The cosine of the angle to another vector by its upper bytes: within 0.01, and quick."""
        numbers = self._numbers_of(stored)
        return self._divided(256 * sum(map(mul, self._numbers, numbers[: self._width])), stored)

    def exact_cosine(self, stored: bytes) -> float:
        """The cosine of the angle to another vector, -1 to 1; 0 where one is damaged to zeros."""
        numbers = self._numbers_of(stored)
        product = 256 * sum(map(mul, self._numbers, numbers[: self._width]))
        return self._divided(product + sum(map(mul, self._numbers, numbers[self._width : 2 * self._width])), stored)

    def cosines(self, stored: Mapping[int, bytes], *, exact: bool = False) -> dict[int, float]:
        """``cosine``, or ``exact_cosine``, of several vectors, by their keys.

        The same to the last bit with numpy, where a process that lives long uses it: all products and sums are whole
        numbers below 2^53.
        """
        one_by_one = self.exact_cosine if exact else self.cosine
        numpy = _numpy
        size = _LENGTH.size + 2 * self._width
        if numpy is None or not stored or any(not isinstance(v, bytes) or len(v) != size for v in stored.values()):
            return {key: one_by_one(vector) for key, vector in stored.items()}
        rows = numpy.frombuffer(b"".join(stored.values()), numpy.int8).reshape(len(stored), size)
        own = numpy.array(self._numbers, numpy.float64)
        products = 256 * (rows[:, : self._width].astype(numpy.float64) @ own)
        if exact:
            products += rows[:, self._width : 2 * self._width].astype(numpy.float64) @ own
        lengths = self._length * numpy.ascontiguousarray(rows[:, 2 * self._width :]).view("<f8")[:, 0]
        return {
            key: max(-1.0, min(1.0, product / length)) if 0 < length < math.inf else 0.0
            for key, product, length in zip(stored, products.tolist(), lengths.tolist(), strict=True)
        }

    def _numbers_of(self, stored: bytes) -> "memoryview[int]":
        if not isinstance(stored, bytes) or len(stored) != _LENGTH.size + 2 * self._width:
            raise ValueError("a stored vector is damaged, or of another width")
        return memoryview(stored).cast("b")

    def _divided(self, product: int, stored: bytes) -> float:
        lengths = self._length * _LENGTH.unpack_from(stored, 2 * self._width)[0]
        return max(-1.0, min(1.0, product / lengths)) if 0 < lengths < math.inf else 0.0

    def distance(self, other: bytes) -> int:
        """How many bits of the codes differ."""
        if not self._code:
            self._bits = int.from_bytes(self.code, "big")
        return (self._bits ^ int.from_bytes(other, "big")).bit_count()
