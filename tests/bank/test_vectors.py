"""Laws of quantised vectors: how much is lost, what is refused, and that every machine gets the same bytes."""

from __future__ import annotations

import itertools
import math
import random
import struct
from array import array
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.bank.embeddings.static import StaticEmbedder
from openclaw_memory.bank.vectors import THRESHOLDS, Query, code, quantised, width

numbers = st.floats(allow_nan=False, allow_infinity=False)
LARGEST = 127 * 256
whole = st.integers(-(2**40), 2**40)
floats = st.lists(numbers, min_size=1, max_size=40).filter(any)
ints = st.lists(whole, min_size=1, max_size=40).filter(any)


def made(vector: Sequence[float]) -> bytes:
    found = quantised(vector)
    assert found is not None
    return found


def upper(vector: bytes) -> list[int]:
    """The numbers in 8 bits."""
    return memoryview(vector)[: width(vector)].cast("b").tolist()


def read(vector: bytes) -> list[int]:
    """The numbers in 16 bits."""
    count = width(vector)
    lower = memoryview(vector)[count : 2 * count].cast("b").tolist()
    return [256 * high + low for high, low in zip(upper(vector), lower, strict=True)]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


# Quantised


@given(floats | ints)
def test_the_largest_number_is_127_times_256_and_none_is_off_by_more_than_half_a_step(vector: list[float]) -> None:
    found = read(made(vector))
    largest = max(map(abs, vector))
    assert max(map(abs, found)) == LARGEST
    for number, whole_number in zip(vector, found, strict=True):
        assert abs(number / largest * LARGEST - whole_number) <= 0.5 + 1e-9


@given(floats | ints)
def test_a_stored_vector_is_upper_bytes_lower_bytes_and_its_length(vector: list[float]) -> None:
    found = made(vector)
    assert len(found) == 2 * len(vector) + 8
    assert width(found) == width(len(found)) == len(vector)
    assert struct.unpack("<d", found[-8:])[0] == math.sqrt(sum(number * number for number in read(found)))
    for number, high in zip(read(found), upper(found), strict=True):
        assert abs(number - 256 * high) <= 128
    assert max(map(abs, upper(found))) == 127


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
    assert read(made([1, 0.5, -0.25])) == [LARGEST, LARGEST // 2, -LARGEST // 4]


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
    assert read(made(vector)) == [LARGEST, -LARGEST]


# Code


def planes(stored: bytes) -> list[str]:
    """For each threshold the bits of a code, as digits."""
    bits = code(stored)
    size = len(bits) // len(THRESHOLDS)
    return ["".join(f"{byte:08b}" for byte in bits[start : start + size]) for start in range(0, len(bits), size)]


@given(floats | ints)
def test_a_code_has_a_bit_for_each_threshold_and_dimension_padded_with_zeros(vector: list[float]) -> None:
    found = made(vector)
    bits = (len(vector) + 7) // 8
    assert len(code(found)) == bits * len(THRESHOLDS)
    assert Query(found).code == code(found)
    shown = planes(found)
    assert len(shown) == len(THRESHOLDS)
    for plane in shown:
        assert set(plane[len(vector) :]) <= {"0"}
    # The thresholds fall: what is above one is above all that come after it.
    for higher, lower in itertools.pairwise(shown):
        assert all(a <= b for a, b in zip(higher, lower, strict=True))
    numbers = upper(found)
    rms = math.isqrt(sum(number * number for number in numbers) // len(numbers))
    for threshold, plane in zip(THRESHOLDS, shown, strict=True):
        limit = math.copysign(round(abs(threshold) * rms), threshold)
        assert plane == "".join("01"[number > limit] for number in numbers).ljust(8 * bits, "0")


@given(ints)
def test_the_code_of_what_points_the_other_way_is_another(vector: list[int]) -> None:
    one, other = made(vector), made([-number for number in vector])
    assert Query(one).distance(code(other)) > 0


@given(st.integers(1, 40).flatmap(lambda width: st.tuples(*[st.lists(whole, min_size=width, max_size=width)] * 3)))
def test_the_distance_counts_the_bits_that_differ(vectors: tuple[list[int], ...]) -> None:
    if not all(map(any, vectors)):
        return
    one, other, third = map(made, vectors)
    differ = sum(a != b for a, b in zip("".join(planes(one)), "".join(planes(other)), strict=True))
    assert Query(one).distance(code(other)) == Query(other).distance(code(one)) == differ
    assert Query(one).distance(code(one)) == 0
    around = Query(one).distance(code(third)) + Query(third).distance(code(other))
    assert Query(one).distance(code(other)) <= around


@pytest.mark.parametrize("width", [3, 13, 64, 100, 256, 1001])
def test_what_is_near_has_codes_that_are_near(width: int) -> None:
    """On the average, the nearer two vectors the fewer bits of their codes differ."""
    chance = random.Random(width)
    means = []
    for nearness in (1.0, 0.9, 0.7, 0.4, 0.0):
        total = 0
        for _ in range(60):
            one = [chance.gauss(0, 1) for _ in range(width)]
            other = [nearness * a + (1 - nearness) * chance.gauss(0, 1) for a in one]
            total += Query(made(one)).distance(code(made(other)))
        means.append(total)
    assert means[0] == 0
    assert means == sorted(means)
    assert len(set(means)) == len(means)


# Cosine


@given(st.integers(1, 24).flatmap(lambda width: st.tuples(*[st.lists(whole, min_size=width, max_size=width)] * 2)))
def test_the_exact_cosine_is_symmetric_and_as_exact_as_16_bits(pair: tuple[list[int], list[int]]) -> None:
    if not (any(pair[0]) and any(pair[1])):
        return
    one, other = map(made, pair)
    found = Query(one).exact_cosine(other)
    assert found == Query(other).exact_cosine(one)
    assert -1 <= found <= 1
    assert Query(one).exact_cosine(one) == pytest.approx(1)
    assert found == pytest.approx(cosine(read(one), read(other)), abs=1e-12)
    # Each number is off by half a step at most, so that a vector turns by so much at most.
    half = math.sqrt(len(pair[0])) / 2
    turned = sum(math.asin(min(1.0, half / math.hypot(*read(stored)))) for stored in (one, other))
    exact = math.acos(max(-1.0, min(1.0, cosine(*pair))))
    assert abs(math.acos(max(-1.0, min(1.0, found))) - exact) <= turned + 1e-6
    # The quick one leaves out the other's lower bytes, which are half a step of 256 at most.
    quick = Query(one).cosine(other)
    assert -1 <= quick <= 1
    assert abs(quick - found) <= 128 * math.sqrt(len(pair[0])) / math.hypot(*read(other)) + 1e-9


@pytest.mark.parametrize("width", [1, 3, 8, 13, 100, 255, 256, 384, 768, 1536, 3072])
def test_the_exact_cosine_is_within_a_ten_thousandth_of_that_of_the_floats(width: int) -> None:
    chance = random.Random(width)
    for nearness in (0.0, 0.5, 0.9, 0.99):
        for _ in range(10):
            one = [chance.gauss(0, 1) for _ in range(width)]
            other = [nearness * a + (1 - nearness) * chance.gauss(0, 1) for a in one]
            assert Query(made(one)).exact_cosine(made(other)) == pytest.approx(cosine(one, other), abs=1e-4)
            assert Query(made(one)).cosine(made(other)) == pytest.approx(cosine(one, other), abs=0.01)


def test_the_built_in_models_cosines() -> None:
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
    assert len(vectors) > 3
    for one in vectors:
        for other in vectors:
            query = Query(made(one))
            assert query.exact_cosine(made(other)) == pytest.approx(cosine(one, other), abs=1e-4)
            assert query.cosine(made(other)) == pytest.approx(cosine(one, other), abs=0.01)


# Damage


@pytest.mark.parametrize("length", [0.0, math.nan, math.inf, -1.0])
def test_a_vector_damaged_to_zeros_or_without_a_length_is_near_nothing(length: float) -> None:
    """One rotten row of the index ended every question with a division by zero."""
    sound = made([1.0, 2.0])
    for damaged in (bytes(len(sound)), sound[:-8] + struct.pack("<d", length)):
        assert Query(sound).cosine(damaged) == Query(sound).exact_cosine(damaged) == 0.0
        assert Query(damaged).cosine(sound) == Query(damaged).exact_cosine(sound) == 0.0
        assert Query(damaged).distance(code(sound)) >= 0


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_any_bytes_of_the_right_width_have_a_cosine(damaged: bytes, other: bytes) -> None:
    for found in (Query(damaged).cosine(other), Query(damaged).exact_cosine(other)):
        assert -1 <= found <= 1


@given(st.binary(max_size=80))
def test_a_vector_that_was_cut_is_damage(damaged: bytes) -> None:
    """What readers take for damage of the index is a ``ValueError``; it was a ``struct.error``, a traceback."""
    sound = made([3.0, 2.0, 1.0, -1.0])
    if len(damaged) != len(sound):
        with pytest.raises(ValueError, match="stored vector"):
            Query(sound).cosine(damaged)
        with pytest.raises(ValueError, match="stored vector"):
            Query(sound).exact_cosine(damaged)
    if len(damaged) < 10 or len(damaged) % 2:
        with pytest.raises(ValueError, match="stored vector"):
            Query(damaged)


@pytest.mark.parametrize("damaged", ["a text of 16 ch.", None, 7])
def test_a_vector_that_is_no_bytes_is_damage(damaged: object) -> None:
    with pytest.raises(ValueError, match="stored vector"):
        Query(made([3.0, 2.0, 1.0, -1.0])).exact_cosine(damaged)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="stored vector"):
        Query(damaged)  # type: ignore[arg-type]
