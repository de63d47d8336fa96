"""The belief rule: its table, and its laws."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.reflect.beliefs import (
    CONTRADICTS,
    NORMAL,
    PRIOR_STRENGTH,
    STRONG,
    SUPPORTS,
    WEAK,
    Item,
    believe,
    course,
)

DAY = date(2026, 1, 1)
STEP = 1 / (PRIOR_STRENGTH + 1)


def item(number, relation, strength=NORMAL, inferred=False, path=None, day=None):
    when = DAY + timedelta(days=number) if day is None else day
    name = path or f"memory/{when.isoformat()}.md"
    return Item(f"w-{number:012x}", f"{name}#L{number + 1}", name, when, relation, strength, inferred, "…", "said")


def told(relation, count, strength=NORMAL):
    return [item(number, relation, strength) for number in range(count)]


#: The table of the design: c0, then 1, 3, 5 supports; 1 weak, 1, 3 contradictions; 1, 2 strong ones.
TABLE = [
    (0.50, 0.571, 0.667, 0.727, 0.462, 0.429, 0.333, 0.429, 0.300),
    (0.70, 0.743, 0.800, 0.836, 0.646, 0.600, 0.467, 0.600, 0.420),
    (0.80, 0.829, 0.867, 0.891, 0.738, 0.686, 0.533, 0.686, 0.480),
    (0.90, 0.914, 0.933, 0.945, 0.831, 0.771, 0.600, 0.771, 0.540),
]
COLUMNS = [
    told(SUPPORTS, 1), told(SUPPORTS, 3), told(SUPPORTS, 5), told(CONTRADICTS, 1, WEAK), told(CONTRADICTS, 1),
    told(CONTRADICTS, 3), told(CONTRADICTS, 1, STRONG), told(CONTRADICTS, 2, STRONG),
]  # fmt: skip


@pytest.mark.parametrize("row", TABLE)
def test_the_table(row):
    assert [round(believe(row[0], items).confidence, 3) for items in COLUMNS] == list(row[1:])


def test_no_number_is_the_prior_and_numbers_are_clamped():
    assert believe(None, ()).confidence == 0.60
    assert believe(1.0, ()).confidence == pytest.approx(0.95)
    assert believe(0.0, ()).confidence == pytest.approx(0.05)


def test_one_day_of_one_document_is_one_witness():
    twice = [item(0, CONTRADICTS, path="a.md", day=DAY), item(1, CONTRADICTS, path="a.md", day=DAY)]
    assert believe(0.8, twice).confidence == believe(0.8, twice[:1]).confidence
    weak = [item(0, SUPPORTS, WEAK, path="a.md", day=DAY), item(1, SUPPORTS, WEAK, path="a.md", day=DAY)]
    assert believe(0.8, weak).support == 1.0


def test_one_fact_copied_on_one_day_is_one_witness():
    copied = [item(0, CONTRADICTS, path="a.md", day=DAY), item(0, CONTRADICTS, path="b.md", day=DAY)]
    assert believe(0.8, copied).contradiction == 1.0
    assert believe(0.8, copied).copied == 1.0
    strong = [one._replace(strength=STRONG) for one in copied]
    assert believe(0.8, strong).contradiction == 1.0


def test_a_strong_contradiction_needs_a_second_witness_to_weigh_twice():
    strong = item(0, CONTRADICTS, STRONG)
    assert believe(0.8, [strong]).contradiction == 1.0
    assert believe(0.8, [strong, item(1, CONTRADICTS, WEAK)]).contradiction == 2.5
    assert believe(0.8, [item(0, CONTRADICTS, STRONG, inferred=True), item(1, CONTRADICTS)]).contradiction == 1.5


def test_contested():
    assert believe(0.8, [*told(SUPPORTS, 1), item(9, CONTRADICTS)]).contested
    assert not believe(0.8, told(SUPPORTS, 5)).contested
    assert not believe(0.8, [item(0, SUPPORTS, WEAK), item(1, CONTRADICTS, WEAK)]).contested


ITEM = st.builds(
    lambda number, relation, strength, inferred, doc, day: item(
        number, relation, strength, inferred, f"memory/{doc}.md", None if day is None else DAY + timedelta(days=day)
    )._replace(day=None if day is None else DAY + timedelta(days=day)),
    st.integers(0, 12),
    st.sampled_from([SUPPORTS, CONTRADICTS]),
    st.sampled_from([WEAK, NORMAL, STRONG]),
    st.booleans(),
    st.sampled_from("abcd"),
    st.none() | st.integers(0, 3),
)
ITEMS = st.lists(ITEM, max_size=12)
STATED = st.none() | st.floats(0, 1)


@given(STATED, ITEMS)
def test_bounded(stated, items):
    assert 0 < believe(stated, items).confidence < 1


@given(STATED, ITEMS, st.randoms(use_true_random=False))
def test_the_order_does_not_matter_and_saying_it_again_neither(stated, items, chance):
    mixed = [*items, *items]
    chance.shuffle(mixed)
    assert believe(stated, mixed) == believe(stated, items)


@given(STATED, ITEMS, ITEM)
def test_support_never_lowers_and_contradiction_never_raises(stated, items, more):
    before, after = believe(stated, items).confidence, believe(stated, [*items, more]).confidence
    if more.relation == SUPPORTS:
        assert after >= before - 1e-12
    else:
        assert after <= before + 1e-12


@given(STATED, ITEMS)
def test_one_uncorroborated_witness_moves_it_by_a_seventh_at_most(stated, items):
    """From any prior, and beside any evidence that does not corroborate it."""
    for relation in (SUPPORTS, CONTRADICTS):
        own = [one for one in items if one.relation == relation and one.path == "memory/a.md" and one.day == DAY]
        others = [one for one in items if one.relation != relation and one.id not in {x.id for x in own}]
        moved = believe(stated, [*others, *own]).confidence - believe(stated, others).confidence
        assert abs(moved) <= STEP + 1e-12


@given(STATED, ITEMS, ITEM)
def test_taking_a_line_away_undoes_what_it_did(stated, items, more):
    before = believe(stated, items)
    believe(stated, [*items, more])
    assert believe(stated, items) == before


@given(STATED, ITEMS)
def test_the_course_ends_where_the_belief_is(stated, items):
    steps = course(stated, items, DAY)
    assert steps[-1][1] == pytest.approx(believe(stated, items).confidence)
    assert steps[0][1] == believe(stated, ()).confidence


@given(STATED, ITEMS)
def test_the_sum_is_the_witnesses(stated, items):
    belief = believe(stated, items)
    weighed = sum(witness.weight for witness in belief.witnesses)
    assert belief.support + belief.contradiction == pytest.approx(weighed - belief.copied)
    assert belief.confidence == pytest.approx(
        (PRIOR_STRENGTH * belief.prior + belief.support) / (PRIOR_STRENGTH + belief.support + belief.contradiction)
    )
