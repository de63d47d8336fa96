"""Laws of quantised vectors: how much is lost, what is refused, and that every machine gets the same bytes."""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.bank.embeddings.static import StaticEmbedder
from openclaw_memory.bank.vectors import Query, quantised, signs

numbers = st.floats(allow_nan=False, allow_infinity=False)
whole = st.integers(-(2**40), 2**40)
floats = st.lists(numbers, min_size=1, max_size=40).filter(any)
ints = st.lists(whole, min_size=1, max_size=40).filter(any)


def made(vector: Sequence[float]) -> bytes:
    found = quantised(vector)
    assert found is not None
    return found


def read(vector: bytes) -> list[int]:
    return memoryview(vector).cast("b").tolist()


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


# Quantised


@given(floats | ints)
def test_the_largest_number_is_127_and_none_is_off_by_more_than_half_a_step(vector: list[float]) -> None:
    found = read(made(vector))
    largest = max(map(abs, vector))
    assert len(found) == len(vector)
    assert max(map(abs, found)) == 127
    for number, byte in zip(vector, found, strict=True):
        assert abs(number / largest * 127 - byte) <= 0.5 + 1e-9


@given(floats | ints, st.integers(-60, 60))
def test_a_power_of_two_changes_nothing(vector: list[float], exponent: int) -> None:
    floated = [float(number) for number in vector]
    scaled = [math.ldexp(number, exponent) for number in floated if 1e-200 < abs(number) < 1e200 or number == 0]
    if len(scaled) == len(floated):
        assert made(scaled) == made(floated)


@given(ints, st.integers(1, 10**9))
def test_a_whole_factor_changes_nothing(vector: list[int], factor: int) -> None:
    assert made([number * factor for number in vector]) == made(vector)


@given(st.lists(st.floats(-1e100, 1e100), min_size=1, max_size=40).filter(any), st.floats(1e-100, 1e100))
def test_a_positive_factor_changes_no_number_by_more_than_a_step(vector: list[float], factor: float) -> None:
    scaled = [number * factor for number in vector]
    if any(scaled):
        assert max(abs(a - b) for a, b in zip(read(made(scaled)), read(made(vector)), strict=True)) <= 1


@given(ints)
def test_whole_numbers_and_floats_agree(vector: list[int]) -> None:
    floated = [float(number) for number in vector]
    assert made(floated) == made(vector) == made(array("q", vector)) == made(array("d", floated))


def test_whole_numbers_among_floats() -> None:
    """JSON writes 1.0 as 1: a vector whose largest number came as a whole one lost the fractions of all others."""
    assert made([1, 0.5, -0.25]) == made([1.0, 0.5, -0.25])
    assert read(made([1, 0.5, -0.25])) == [127, 64, -32]


@pytest.mark.parametrize(
    "vector",
    [
        [],
        [0.0],
        [0, 0, 0],
        [0.0, -0.0],
        [math.nan, 1.0],
        [1.0, math.nan],
        [math.inf, 1.0],
        [1.0, -math.inf],
        [math.inf, -math.inf],
        array("f"),
    ],
)
def test_what_has_no_direction_is_refused(vector: Sequence[float]) -> None:
    assert quantised(vector) is None


@pytest.mark.parametrize("vector", [[1e308, -1e308], [5e-324, -5e-324], [1e-310, -1e-310], [10**400, -(10**400)]])
def test_the_ends_of_the_range_have_a_direction(vector: list[float]) -> None:
    """The scale of very small numbers overflowed (``cannot convert float NaN to integer``), and so did the sum of very
    large ones, which were taken for infinite."""
    assert read(made(vector)) == [127, -127]


# Signs


@given(floats | ints)
def test_signs_are_bits_in_order_padded_with_zeros(vector: list[float]) -> None:
    found = made(vector)
    bits = signs(found)
    assert len(bits) == (len(vector) + 7) // 8
    shown = "".join(f"{byte:08b}" for byte in bits)
    assert shown == "".join("1" if number > 0 else "0" for number in read(found)).ljust(8 * len(bits), "0")


@given(st.integers(1, 40).flatmap(lambda width: st.tuples(*[st.lists(whole, min_size=width, max_size=width)] * 2)))
def test_the_distance_counts_the_signs_that_differ(pair: tuple[list[int], list[int]]) -> None:
    if any(pair[0]) and any(pair[1]):
        one, other = made(pair[0]), made(pair[1])
        differ = sum((a > 0) != (b > 0) for a, b in zip(read(one), read(other), strict=True))
        assert Query(one).distance(signs(other)) == Query(other).distance(signs(one)) == differ


# Cosine


@given(st.integers(1, 24).flatmap(lambda width: st.tuples(*[st.lists(whole, min_size=width, max_size=width)] * 2)))
def test_the_cosine_is_symmetric_and_as_exact_as_the_bytes(pair: tuple[list[int], list[int]]) -> None:
    if not (any(pair[0]) and any(pair[1])):
        return
    one, other = map(made, pair)
    found = Query(one).cosine(other)
    assert found == Query(other).cosine(one)
    assert -1 - 1e-12 <= found <= 1 + 1e-12
    assert Query(one).cosine(one) == pytest.approx(1)
    assert found == pytest.approx(cosine(read(one), read(other)), abs=1e-12)
    # Each number is off by half a step at most, so that a vector turns by so much at most.
    turned = sum(math.asin(min(1.0, math.sqrt(len(one)) / 254 / math.hypot(*read(v)) * 127)) for v in (one, other))
    exact = math.acos(max(-1.0, min(1.0, cosine(*pair))))
    assert abs(math.acos(max(-1.0, min(1.0, found))) - exact) <= turned + 1e-6


@pytest.mark.parametrize("width", [3, 8, 13, 100, 256, 384, 768, 1536, 3072])
def test_the_cosine_is_within_a_hundredth_of_that_of_the_floats(width: int) -> None:
    chance = random.Random(width)
    for nearness in (0.0, 0.5, 0.9, 0.99):
        for _ in range(10):
            one = [chance.gauss(0, 1) for _ in range(width)]
            other = [nearness * a + (1 - nearness) * chance.gauss(0, 1) for a in one]
            assert Query(made(one)).cosine(made(other)) == pytest.approx(cosine(one, other), abs=0.01)


def test_the_built_in_models_cosine_is_within_a_hundredth() -> None:
    texts = [
        "Peter lives in Lisbon.",
        "He moved to Portugal.",
        "The bike cost 400 euros.",
        "茶",
        "ZX-4417",
        "and the of",
    ]
    vectors = [list(map(float, vector)) for vector in StaticEmbedder().embed_documents(texts)]
    vectors = [vector for vector in vectors if any(vector)]
    for one in vectors:
        for other in vectors:
            assert Query(made(one)).cosine(made(other)) == pytest.approx(cosine(one, other), abs=0.01)


def test_a_vector_damaged_to_zeros_is_near_nothing() -> None:
    """One rotten row of the index ended every question with a division by zero."""
    assert Query(made([1.0, 2.0])).cosine(b"\0\0") == 0.0
