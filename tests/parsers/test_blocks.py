"""Blocks that reflect maintains: where they stand, which lines in them are a person's, and that recall finds those."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openclaw_memory.parsers.alignment import align, increasing
from openclaw_memory.parsers.blocks import (
    Block,
    Damage,
    Entry,
    TheirLine,
    block_names,
    end_mark,
    line_hash,
    read_block,
    start_mark,
)
from openclaw_memory.parsers.lines import split_lines
from openclaw_memory.parsers.parse import parse_file

A, B, C = "0000000a", "0000000b", "0000000c"
DAY = date(2025, 12, 3)


def page(told, shown, dropped=(), name="entity"):
    """A page whose end mark tells of ``told`` (key or None, text, day) and whose block shows other lines."""
    entries = [Entry(key, line_hash(text), day) for key, text, day in told]
    return ["# x", "", start_mark(name), *shown, end_mark(name, entries, dropped), "below"]


def test_ours_and_theirs():
    told = [(A, "## Now", None), (None, "- mine", DAY), (B, "- b", None), (C, "- c was ours", DAY)]
    lines = page(told, ["## Now", "- mine", "", "- new", "- c was ours  "], (A,))
    block = read_block(lines, "entity")
    assert (block.name, block.first, block.last, block.dropped) == ("entity", 3, 9, (A,))
    assert [(one.key, one.line) for one in block.entries] == [(A, 4), (None, 5), (B, 0), (C, 8)]
    assert block.own_lines == (4,)
    assert block.their_lines == (TheirLine(5, None, DAY), TheirLine(7, None, None), TheirLine(8, C, DAY))
    assert block.unlisted == (7,)


def test_an_end_mark_reads_back():
    entries = (Entry(A, "123456", None), Entry(None, "abcdef", DAY), Entry(B, "000000", DAY))
    text = end_mark("entity", entries, (C,))
    kept = f"-:abcdef:2025-12-03,{B}:000000:2025-12-03"
    assert text == f"<!-- /openclaw-memory:entity lines={A}:123456,+,+ dropped={C} kept={kept} -->"
    block = read_block([start_mark("entity"), text], "entity")
    assert (block.entries, block.dropped) == (entries, (C,))


def test_an_end_mark_without_kept_lines_of_an_older_page():
    mark = f"<!-- /openclaw-memory:entity lines={A}:{line_hash('- a')} dropped= -->"
    assert read_block([start_mark("entity"), "- a", mark], "entity").own_lines == (2,)


def test_blanks_at_the_end_of_a_line_do_not_count():
    assert line_hash("- a \t\r") == line_hash("- a") != line_hash("- a\u2028")
    assert len(line_hash("")) == 6


def test_the_names_of_a_page():
    lines = [*page([], []), *page([], [], name="world"), "`<!-- openclaw-memory:none v1 -->`", "<!-- a:start -->"]
    assert block_names(lines) == ("entity", "world")
    assert read_block(lines, "none") is None
    assert read_block(lines, "worl") is None


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_marks_in_fences_and_front_matter_are_none(fence):
    assert read_block([fence, *page([], []), fence], "entity") is None
    assert read_block(["---", "a: 1", f"# {start_mark('entity')}", "---"], "entity") is None
    # A fence that never ends hides nothing from the writer: the block would else be started again.
    assert isinstance(read_block([fence, *page([], [])], "entity"), Block)


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["a", start_mark("x")], 2),
        (["a", end_mark("x", (), ())], 2),
        ([end_mark("x", (), ()), start_mark("x")], 1),
        ([start_mark("x"), start_mark("x"), end_mark("x", (), ())], 2),
        ([*page([], [], name="x"), *page([], [], name="x")], 8),
        ([start_mark("x"), end_mark("x", (), ()), end_mark("x", (), ())], 3),
        ([start_mark("x"), start_mark("y"), end_mark("x", (), ()), end_mark("y", (), ())], 2),
        (["<!-- openclaw-memory:x -->", end_mark("x", (), ())], 1),
        ([f"- {start_mark('x')}", end_mark("x", (), ())], 1),
        ([start_mark("x"), "<!-- /openclaw-memory:x -->"], 2),
        ([start_mark("x"), "<!-- /openclaw-memory:x lines=1 dropped= kept= -->"], 2),
        (["<!-- openclaw-memory:x:start -->", "<!-- openclaw-memory:x:end -->"], 1),
    ],
)
def test_damage(lines, line):
    found = read_block(lines, "x")
    assert isinstance(found, Damage)
    assert found.line == line
    assert found.message


# Alignment


@pytest.mark.parametrize(
    ("told", "found", "places"),
    [
        ("abc", "abc", [0, 1, 2]),
        ("abc", "axc", [0, None, 2]),
        ("abc", "cab", [1, 2, 0]),
        # Equal lines are known by what stands beside them.
        ("axbxcx", "axbcx", [0, 1, 2, None, 3, 4]),
        ("axbx", "abx", [0, None, 1, 2]),
        ("bx", "xbx", [1, 2]),
        ("", "ab", []),
        ("aa", "a", [0, None]),
    ],
)
def test_alignment(told, found, places):
    assert align(list(told), list(found)) == places


TEXTS = st.lists(st.sampled_from("abcdef"), max_size=12)


@given(TEXTS, TEXTS)
@settings(max_examples=300)
def test_each_line_is_found_as_often_as_it_is_there(told, found):
    places = align(told, found)
    taken = [at for at in places if at is not None]
    assert len(set(taken)) == len(taken)
    assert all(found[at] == text for text, at in zip(told, places, strict=True) if at is not None)
    assert len(taken) == sum(min(told.count(text), found.count(text)) for text in set(told))
    assert align(told, told) == list(range(len(told)))


@given(st.lists(st.integers(0, 9), unique=True))
def test_the_longest_run_that_kept_its_order(numbers):
    run = increasing(list(enumerate(numbers)))
    assert [second for _, second in run] == sorted(second for _, second in run)
    best = [1] * len(numbers)
    for at, number in enumerate(numbers):
        best[at] = 1 + max((best[n] for n in range(at) if numbers[n] < number), default=0)
    assert len(run) == max(best, default=0)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=8),
    st.lists(st.sampled_from("abcxy "), max_size=8),
)
def test_every_line_with_text_is_ours_or_theirs(told, shown):
    entries = [(f"{n:08x}", text, DAY if theirs else None) for n, (text, theirs) in enumerate(told)]
    lines = split_lines("\n".join(page(entries, shown)))
    block = read_block(lines, "entity")
    theirs = [one.line for one in block.their_lines]
    assert sorted([*block.own_lines, *theirs]) == [n for n in range(4, block.last) if lines[n - 1].strip()]


# Recall finds what people wrote into a block

OURS = [
    (A, "## Now", None),
    (B, "- W @Peter: Lives in Porto. (memory/2025-12-02.md#L10)", None),
    (C, "  - stated 0.80", None),
]


def read(lines, path="bank/entities/Peter.md"):
    parsed = parse_file("\n".join(lines), path)
    facts = [(one.line, one.text, one.details) for one in parsed.facts]
    return facts, [(one.line, one.text, one.heading) for one in parsed.notes]


def test_our_lines_are_no_facts_and_no_notes():
    lines = page(OURS, [text for _, text, _ in OURS])
    assert read(lines) == ([], [(8, "below", "x")])


@pytest.mark.parametrize("day", [None, DAY])
def test_their_lines_are_read_as_any_page_is(day):
    """Seen by a run or not, above, between and below ours, which are neither their parents nor their details."""
    theirs = [
        "They met in Faro.",
        "- Has a cat.",
        "- B @Peter: Fixed the door.",
        "  - my note",
        "### Mine",
        "- O(c=0.7) @Peter: Tea.",
    ]
    shown = [OURS[0][1], theirs[0], OURS[1][1], *theirs[1:4], OURS[2][1], *theirs[4:]]
    known = {text: (None, text, day) for text in theirs if day} | {one[1]: one for one in OURS}
    lines = page([known[text] for text in shown if text in known], shown)
    facts, notes = read(lines)
    assert facts == [(8, "Fixed the door.", ("my note",)), (12, "Tea.", ())]
    assert notes == [(5, "They met in Faro.", "x"), (7, "Has a cat.", "x"), (14, "below", "x > Mine")]


def test_a_changed_line_keeps_their_notes_below_it_and_none_of_our_lines():
    shown = ["## Now", "- W @Peter: Lives in Oporto.", "  - stated 0.80", "    - since May"]
    facts, notes = read(page(OURS, shown))
    assert facts == [(5, "Lives in Oporto.", ("since May",))]
    assert [text for _, text, _ in notes] == ["below"]


@pytest.mark.parametrize(
    "end", ["", "<!-- /openclaw-memory:entity -->", "<!-- /openclaw-memory:entity lines=x dropped= kept= -->"]
)
def test_a_block_that_cannot_be_read_stays_hidden(end):
    lines = ["# x", "", start_mark("entity"), "- W @Peter: Mine.", end]
    assert read(lines) == ([], [])


def test_their_lines_in_a_log_are_facts_below_a_retain_heading():
    lines = ["## Retain", *page(OURS, ["- W @Peter: Mine.", OURS[1][1]])[2:]]
    assert read(lines, "memory/2025-12-03.md")[0] == [(3, "Mine.", ())]
