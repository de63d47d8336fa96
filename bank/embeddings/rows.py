"""The vectors in an answer: put in the order of the texts, decoded, and checked. ``ValueError`` says in a few words
what is wrong with them."""

from array import array
from math import isfinite
from typing import Any


def by_index(answer: Any, count: int) -> list[Any]:
    """The rows of an answer of the OpenAI form, ``{"data": [{"index": 0, "embedding": …}, …]}``, in order. Where no row
    has an index, they are in order as they are."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        raise ValueError("the answer holds no vectors")
    if len(data) != count:
        raise ValueError(f"{len(data)} vectors for {count} texts")
    places = [row.get("index") for row in data]
    if any(place is not None for place in places):
        if sorted(place for place in places if isinstance(place, int)) != list(range(count)):
            raise ValueError("the vectors are numbered wrongly")
        data = sorted(data, key=lambda row: row["index"])
    return [row.get("embedding") for row in data]


def vector_of(row: Any, width: int | None) -> "array[float]":
    """A row as numbers of single precision: a list of numbers, or base64 of little-endian float32. ``width``: how many
    there must be."""
    numbers = array("f")
    try:
        if isinstance(row, str):
            from base64 import b64decode
            from sys import byteorder

            numbers.frombytes(b64decode(row, validate=True))
            if byteorder == "big":
                numbers.byteswap()
        elif isinstance(row, list):
            numbers.extend(row)
        else:
            raise ValueError
    except (ValueError, TypeError, OverflowError):
        raise ValueError("a vector is no list of numbers") from None
    if not numbers:
        raise ValueError("a vector is empty")
    if width is not None and len(numbers) != width:
        raise ValueError(f"a vector has {len(numbers)} numbers where {width} were expected")
    if not isfinite(sum(numbers)):
        raise ValueError("a vector holds a number that is not finite")
    if not any(numbers):
        raise ValueError("a vector is all zeros")
    return numbers
