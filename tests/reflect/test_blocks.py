"""Generated lines and people's edits share a block: what is ours, what is theirs, and that nobody loses a line."""

import re
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openclaw_memory.bank.files import BOM, decode
from openclaw_memory.parsers.blocks import Block, read_block
from openclaw_memory.parsers.lines import split_lines
from openclaw_memory.reflect.blocks import Edit, Line, merge

DAY = date(2025, 12, 2)
NEXT = DAY + timedelta(1)
NOW, PREFERS, EARLIER = "0000000a", "0000000b", "0000000c"
PORTO, SHORT, NUMBERS, CAT, RELATED = "00000001", "00000002", "00000003", "00000004", "00000005"
OPINION = "^o-7f3a91c2d4e5"
LINES = (
    Line(NOW, "## Now", True),
    Line(PORTO, "- Moved to Porto. (memory/2025-12-02.md#L10)", anchors=("memory/2025-12-02.md#L10",)),
    Line(CAT, "- Has a cat. (memory/2025-12-02.md#L1)", anchors=("memory/2025-12-02.md#L1",)),
    Line(PREFERS, "## Prefers", True),
    Line(SHORT, f"- Short replies. c=0.83 (memory/2025-11-20.md#L4, {OPINION})", anchors=(OPINION,)),
    Line(NUMBERS, "  - stated 0.80", parent=SHORT),
    Line(RELATED, "Related: [Andy](Andy.md)"),
)
BODY = (
    "## Now\n- Moved to Porto. (memory/2025-12-02.md#L10)\n- Has a cat. (memory/2025-12-02.md#L1)\n\n"
    f"## Prefers\n- Short replies. c=0.83 (memory/2025-11-20.md#L4, {OPINION})\n  - stated 0.80\n\n"
    "Related: [Andy](Andy.md)\n"
)


def first_page(data=b"# Peter\n", lines=LINES, head=b""):
    return merge(data, "entity", lines, DAY, head).data


def body(data):
    """What stands between the marks."""
    inside = re.search(rb"<!-- openclaw-memory:entity v1 -->\r?\n(.*)<!-- /openclaw-memory:entity ", data, re.DOTALL)
    return inside[1].decode("utf-8", "surrogateescape")


def block_of(data):
    return read_block(split_lines(decode(data)), "entity")


def edited(old, new, page=None, lines=LINES):
    """The merge after a person replaced ``old`` by ``new``; it changes nothing when it is done again."""
    page = page or first_page()
    assert old.encode() in page
    merged = merge(page.replace(old.encode(), new.encode(), 1), "entity", lines, NEXT)
    assert merged.damage is None
    assert merge(merged.data, "entity", lines, NEXT + timedelta(9)).data == merged.data
    return merged


# A page without a block


def test_a_page_gets_the_block_at_its_end():
    page = first_page(b"# Peter\n\nMy brother.\n")
    assert page.startswith(b"# Peter\n\nMy brother.\n\n<!-- openclaw-memory:entity v1 -->\n## Now\n")
    assert body(page) == BODY
    assert page.endswith(b" dropped= kept= -->\n")
    assert block_of(page).dropped == ()


@pytest.mark.parametrize(
    ("data", "above", "below"),
    [
        (b"", b"", b"\n"),
        (b"a", b"a\n\n", b""),
        (b"a\n\n", b"a\n\n", b"\n"),
        (b"a\r\nb\r\n", b"a\r\nb\r\n\r\n", b"\r\n"),
        (BOM, BOM, b"\n"),
        (BOM + b"a \xff\xfe", BOM + b"a \xff\xfe\n\n", b""),
        (b"---\nx: 1\n---\n", b"---\nx: 1\n---\n\n", b"\n"),
    ],
)
def test_line_ends_and_what_stands_above_stay(data, above, below):
    page = first_page(data, LINES[:2])
    newline = b"\r\n" if b"\r" in data else b"\n"
    assert page.startswith(above + b"<!-- openclaw-memory:entity v1 -->" + newline)
    assert page.endswith(b"kept= -->" + below)
    assert page.count(b"\n") == page.count(newline)


def test_an_empty_page_starts_with_the_head():
    assert first_page(b"", head=b"# Peter\n").startswith(b"# Peter\n\n<!-- ")
    assert first_page(b"x\n", head=b"# Peter\n").startswith(b"x\n\n<!-- ")


def test_nothing_to_write_starts_no_block():
    assert merge(b"# x\n", "entity", (), DAY, b"h").data == b"# x\n"
    assert merge(b"", "entity", LINES[:1], DAY, b"h").data == b""


@pytest.mark.parametrize("text", ["# x\n\n```\ncode\n", "# x\n\n<!-- todo\n"])
def test_no_block_is_hidden_by_what_never_ends(text):
    merged = merge(text.encode(), "entity", LINES, DAY)
    assert merged.data == text.encode()
    assert merged.damage.line == 3


def test_an_empty_block_stays():
    page = merge(first_page(), "entity", (), NEXT)
    assert body(page.data) == ""
    assert page.edits == ()
    assert merge(page.data, "entity", (), NEXT).data == page.data


# Ours


def test_our_lines_change_and_go_as_the_facts_do():
    new = (LINES[0], LINES[2], LINES[1]._replace(text="- Lives in Porto."), Line("00000009", "- New."))
    merged = merge(first_page(), "entity", new, NEXT)
    assert body(merged.data) == "## Now\n- Has a cat. (memory/2025-12-02.md#L1)\n- Lives in Porto.\n- New.\n"
    assert merged.edits == ()


def test_a_line_that_was_moved_goes_back():
    moved = edited("- Has a cat. (memory/2025-12-02.md#L1)\n", "")
    assert [one.key for one in moved.edits] == [CAT]
    page = first_page().replace(b"- Has a cat. (memory/2025-12-02.md#L1)\n", b"", 1)
    page = page.replace(b"Related", b"- Has a cat. (memory/2025-12-02.md#L1)\nRelated", 1)
    assert body(merge(page, "entity", LINES, NEXT).data) == BODY


def test_blanks_are_theirs():
    merged = edited("\n\n## Prefers", "  \n\n\n\n## Prefers")
    assert body(merged.data) == BODY.replace("\n\n## Prefers", "  \n\n\n\n## Prefers")
    assert merged.edits == ()


def test_text_that_would_break_the_block_is_made_harmless():
    lines = (
        Line("00000001", "- ``` code\nand <!-- /openclaw-memory:entity --> more\r\n"),
        Line("00000002", "~~~\0"),
        Line("00000003", " \n"),
        Line("00000001", "- twice"),
    )
    page = first_page(lines=lines)
    assert body(page) == "- \\``` code and <! -- /openclaw-memory:entity -- > more\n\n\\~~~\ufffd\n"
    assert merge(page, "entity", lines, NEXT).data == page


# Theirs


def test_a_changed_line_takes_the_place():
    old = "- Has a cat. (memory/2025-12-02.md#L1)"
    merged = edited(old, "- Has two cats.")
    assert body(merged.data) == BODY.replace(old, "- Has two cats.")
    assert merged.edits == (Edit("changed", CAT, "- Has two cats.", 6, NEXT, True),)
    later = merge(merged.data, "entity", (LINES[0], Line("00000009", "- New."), *LINES[1:]), NEXT)
    assert body(later.data) == BODY.replace(old, "- Has two cats.").replace("## Now\n", "## Now\n- New.\n")
    assert later.edits == (Edit("changed", CAT, "- Has two cats.", 7, NEXT, False),)


def test_an_anchor_tells_whose_place_it_is():
    page = first_page().replace(b"- Has a cat. (memory/2025-12-02.md#L1)\n", b"", 1)
    merged = edited("- Moved to Porto. (memory/2025-12-02.md#L10)", "- Cats (memory/2025-12-02.md#L1)\n- Oporto", page)
    found = [(one.kind, one.key, one.text) for one in merged.edits]
    assert found == [
        ("changed", CAT, "- Cats (memory/2025-12-02.md#L1)"),
        ("changed", PORTO, "- Oporto"),
    ]


def test_of_two_lines_with_an_anchor_one_takes_the_place():
    old = f"- Short replies. c=0.83 (memory/2025-11-20.md#L4, {OPINION})"
    merged = edited(old, f"- Short. ({OPINION})\n- Very short. ({OPINION})")
    assert [(one.kind, one.key) for one in merged.edits] == [("changed", SHORT), ("added", None)]


def test_lines_below_stay_below_whatever_stands_above_them():
    old = f"- Short replies. c=0.83 (memory/2025-11-20.md#L4, {OPINION})"
    merged = edited(old, f"- Very short. ({OPINION})")
    new = (*LINES[:4], Line("00000009", "- Tea. c=0.7"), Line("00000008", "  - stated", parent="00000009"), *LINES[4:])
    assert f"- Very short. ({OPINION})\n  - stated 0.80\n" in body(merge(merged.data, "entity", new, NEXT).data)


def test_no_line_comes_between_a_line_and_what_is_new_below_it():
    """A note below an opinion that had no numbers yet."""
    page = first_page(lines=LINES[3:5])
    page = page.replace(b"e5)\n", b"e5)\n  - my note\n- my own\n", 1)
    merged = merge(page, "entity", LINES[3:6], NEXT)
    assert "e5)\n  - my note\n  - stated 0.80\n- my own\n" in body(merged.data)


def test_an_indented_note_goes_where_its_line_goes():
    page = edited("#L10)\n", "#L10)\n  - at Rua X\n- mine\n").data
    moved = (LINES[0], LINES[2], Line(EARLIER, "## Earlier", True), LINES[1]._replace(text="- Lived in Porto."))
    merged = merge(page, "entity", moved, NEXT)
    assert body(merged.data) == (
        "## Now\n- Has a cat. (memory/2025-12-02.md#L1)\n- mine\n\n## Earlier\n- Lived in Porto.\n  - at Rua X\n"
    )
    gone = merge(page, "entity", (LINES[0], LINES[2]), NEXT)
    assert body(gone.data) == "## Now\n  - at Rua X\n- Has a cat. (memory/2025-12-02.md#L1)\n- mine\n"


def test_an_added_line_stays_where_it_is():
    merged = edited("- Has a cat", "- mine\n\n  more of it\n- Has a cat")
    assert body(merged.data) == BODY.replace("- Has a cat", "- mine\n\n  more of it\n- Has a cat")
    assert [one.kind for one in merged.edits] == ["added", "added"]
    without = merge(merged.data, "entity", LINES[:1] + LINES[2:3], NEXT)
    assert body(without.data) == "## Now\n- Has a cat. (memory/2025-12-02.md#L1)\n- mine\n\n  more of it\n"
    assert [one.day for one in without.edits] == [NEXT, NEXT]


def test_a_section_with_a_line_of_theirs_keeps_its_heading_and_place():
    page = edited("  - stated 0.80\n", "  - stated 0.80\n- mine\n").data
    merged = merge(page, "entity", (*LINES[:3], Line(EARLIER, "## Earlier", True), Line("00000009", "- Old.")), NEXT)
    assert "cat. (memory/2025-12-02.md#L1)\n\n## Prefers\n- mine\n\n## Earlier\n- Old.\n" in body(merged.data)
    assert body(merge(merged.data, "entity", LINES, NEXT).data) == BODY.replace("Prefers\n", "Prefers\n- mine\n")


def test_what_closes_the_block_stays_its_end():
    """ "Related" belongs to no section, so one that is not offered any more stays above it."""
    old = f"- Short replies. c=0.83 (memory/2025-11-20.md#L4, {OPINION})"
    page = edited(old, f"- Very short. ({OPINION})").data
    merged = merge(page, "entity", (*LINES[:3], LINES[6]), NEXT)
    assert body(merged.data) == BODY.replace(f"{old}\n  - stated 0.80\n", f"- Very short. ({OPINION})\n")
    below = edited("Related: [Andy](Andy.md)\n", "Related: [Andy](Andy.md)\n\nmine\n", merged.data)
    new = (*LINES[:3], Line(EARLIER, "## Earlier", True), Line("00000009", "- Old."), LINES[6])
    assert "- Old.\n\nRelated: [Andy](Andy.md)\n\nmine\n" in body(merge(below.data, "entity", new, NEXT).data)


def test_their_own_section_stays_below_ours():
    page = edited("#L1)\n", "#L1)\n\n## My notes\n- mine\n").data
    merged = merge(page, "entity", (*LINES[:3], Line("00000009", "- New."), *LINES[3:]), NEXT)
    assert "#L1)\n- New.\n\n## My notes\n- mine\n\n## Prefers\n" in body(merged.data)


def test_a_renamed_heading():
    merged = edited("## Now", "## These days")
    assert merged.edits == (Edit("changed", NOW, "## These days", 4, NEXT, True),)
    assert body(merged.data) == BODY.replace("## Now", "## These days")
    gone = merge(merged.data, "entity", LINES[3:6], NEXT)
    assert body(gone.data).startswith("## These days\n\n## Prefers\n")
    back = edited("## These days\n", "", merged.data)
    assert body(back.data) == BODY


def test_their_copy_of_our_line_is_theirs():
    line = "- Moved to Porto. (memory/2025-12-02.md#L10)\n"
    merged = edited("Related:", f"{line}\nRelated:")
    assert [(one.kind, one.text) for one in merged.edits] == [("added", line.strip())]
    later = merge(merged.data, "entity", LINES[2:], NEXT)
    assert line in body(later.data)


def test_lines_that_say_the_same_are_told_apart_by_their_neighbours():
    lines = (
        Line("00000001", "- a"),
        Line("00000002", "  - now 0.80", parent="00000001"),
        Line("00000003", "- b"),
        Line("00000004", "  - now 0.80", parent="00000003"),
    )
    page = first_page(lines=lines)
    last = page.replace(b"- b\n  - now 0.80\n", b"- b\n", 1)
    assert block_of(merge(last, "entity", lines, NEXT).data).dropped == ("00000004",)
    first = page.replace(b"- a\n  - now 0.80\n", b"- a\n", 1)
    assert block_of(merge(first, "entity", lines, NEXT).data).dropped == ("00000002",)


# Deleted and forgotten


def test_a_deleted_line_stays_away_until_its_key_changes():
    merged = edited("- Has a cat. (memory/2025-12-02.md#L1)\n", "")
    assert merged.edits == (Edit("dropped", CAT, "- Has a cat. (memory/2025-12-02.md#L1)", 0, None, True),)
    changed = tuple(line._replace(text=f"{line.text} more") if line.key == CAT else line for line in LINES)
    later = merge(merged.data, "entity", changed, NEXT)
    assert later.data == merged.data
    assert later.edits[0][2:] == ("- Has a cat. (memory/2025-12-02.md#L1) more", 0, None, False)
    away = merge(merge(merged.data, "entity", LINES[:2], NEXT).data, "entity", LINES, NEXT)
    assert away.data == merged.data
    assert "- New" in body(merge(merged.data, "entity", (*LINES, Line("00000009", "- New")), NEXT).data)


def test_what_hangs_below_a_deleted_line_goes_too():
    merged = edited(f"- Short replies. c=0.83 (memory/2025-11-20.md#L4, {OPINION})\n", "")
    assert "stated" not in body(merged.data)
    assert "Prefers" not in body(merged.data)
    merged = edited("Related: [Andy](Andy.md)\n", "", merged.data)
    assert block_of(merged.data).dropped == (SHORT, RELATED)


def test_a_deleted_heading_comes_back_with_its_lines():
    assert body(edited("## Prefers\n", "").data) == BODY
    page = edited(BODY[BODY.index("## Prefers") : BODY.index("Related")], "").data
    page = edited("Related: [Andy](Andy.md)\n", "", page).data
    assert "## Prefers" not in body(page)
    assert "## Prefers\n- New" in body(merge(page, "entity", (*LINES, Line("00000009", "- New")), NEXT).data)


def test_their_line_deleted_takes_its_key_along():
    page = edited("- Has a cat. (memory/2025-12-02.md#L1)", "- Has two cats.").data
    merged = edited("- Has two cats.\n", "", page)
    assert "cat" not in body(merged.data)
    assert [(one.kind, one.key) for one in merged.edits] == [("dropped", CAT)]
    anew = edited("## Now\n", "## Now\n- No cat (memory/2025-12-02.md#L1)\n", merged.data)
    assert [(one.kind, one.key) for one in anew.edits] == [("changed", CAT)]


def test_their_line_changed_again_is_new():
    page = edited("- Has a cat. (memory/2025-12-02.md#L1)", "- Has two cats.").data
    merged = merge(page.replace(b"two cats", b"three cats"), "entity", LINES, NEXT + timedelta(1))
    assert merged.edits == (Edit("changed", CAT, "- Has three cats.", 6, NEXT + timedelta(1), True),)


@pytest.mark.parametrize(
    "stone",
    [
        "<!-- forget memory/2025-12-02.md#L1 -->",
        "<!-- forget: has a  CAT -->",
        "Not this: <!-- Forget:cat --> please",
    ],
)
@pytest.mark.parametrize("inside", [True, False])
def test_a_tombstone_keeps_a_line_out(stone, inside):
    old, new = ("## Now", f"{stone}\n## Now") if inside else ("# Peter\n", f"# Peter\n{stone}\n")
    merged = edited(old, new)
    line = 4 if inside else 2
    assert "Has a cat" not in body(merged.data)
    assert "Porto" in body(merged.data)
    assert merged.edits[-1] == Edit("forgotten", CAT, LINES[2].text, line, None, True)
    gone = merge(merged.data.replace(stone.encode() + b"\n", b"", 1), "entity", LINES, NEXT)
    assert body(gone.data) == BODY


def test_a_tombstone_for_an_opinion_takes_its_numbers_along():
    merged = edited("# Peter\n", f"# Peter\n<!-- forget {OPINION} -->\n")
    assert "Short" not in body(merged.data)
    assert "stated" not in body(merged.data)
    assert "Related" in body(merged.data)


@pytest.mark.parametrize(
    "stone", ["`<!-- forget: cat -->`", "```\n<!-- forget: cat -->\n```", "<!-- forget: a -->", "<!-- forget: at -->"]
)
def test_what_is_no_tombstone(stone):
    assert body(edited("# Peter\n", f"# Peter\n{stone}\n").data) == BODY


def test_a_tombstone_takes_nobodys_place():
    merged = edited("- Has a cat. (memory/2025-12-02.md#L1)", "<!-- forget memory/2025-12-02.md#L1 -->")
    assert [(one.kind, one.key) for one in merged.edits] == [("added", None), ("forgotten", CAT)]


# Damage


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("<!-- openclaw-memory:entity v1 -->", "", 13),
        ("<!-- openclaw-memory:entity v1 -->", "<!-- openclaw-memory:entity v2 -->", 3),
        ("<!-- openclaw-memory:entity v1 -->", "x <!-- openclaw-memory:entity v1 -->", 3),
        ("## Now", "<!-- openclaw-memory:entity v1 -->", 4),
        ("## Now", "<!-- openclaw-memory:other v1 -->", 4),
        ("<!-- /openclaw-memory", "<!- /openclaw-memory", 13),
        (" dropped= kept=", " kept= dropped=", 13),
        (f"{PORTO}:", "xyz:", 13),
        (" dropped=", f",{PORTO}:123456 dropped=", 13),
        (" dropped=", ",+ dropped=", 13),
        ("kept=", "kept=-:123456:2025-13-40", 13),
        ("# Peter", "<!-- /openclaw-memory:entity lines= dropped= kept= -->", 1),
    ],
)
def test_a_damaged_block_is_left_alone(old, new, line):
    page = first_page()
    assert old.encode() in page
    page = page.replace(old.encode(), new.encode(), 1)
    merged = merge(page, "entity", LINES[:2], NEXT)
    assert merged.data == page
    assert merged.damage.line == line
    assert merged.damage.message


def test_an_end_that_was_deleted_or_copied():
    page = first_page()
    end = page.rindex(b"<!--")
    assert merge(page[:end], "entity", LINES, NEXT).damage.line == 3
    twice = merge(page + page[end:], "entity", LINES, NEXT)
    assert (twice.data, twice.damage.line) == (page + page[end:], 14)


def test_a_fence_that_would_hide_the_end_is_reported():
    """Each half of a fence around our lines stays; where they would meet the wrong way round, nothing is written."""
    page = first_page(lines=LINES[:3]).replace(b"## Now\n", b"## Now\n```\n", 1) + b"\n```\n"
    merged = merge(page, "entity", LINES, NEXT)
    assert (merged.data, merged.edits) == (page, ())
    assert merged.damage


def test_two_blocks_of_a_page_leave_each_other_alone():
    page = merge(first_page(), "world", (Line("00000001", "- Sea."),), DAY).data
    new = merge(page, "entity", LINES[:2], NEXT).data
    assert new.endswith(page[page.index(b"\n<!-- openclaw-memory:world") :])
    again = merge(new, "world", (), NEXT).data
    assert again.startswith(new[: new.index(b"- Sea.")])


# Laws


KEYS = [f"{number:08x}" for number in range(1, 13)]
HEADINGS = [f"{number:08x}" for number in range(0xA0, 0xA4)]


@st.composite
def offers(draw):
    """Lines to write, in sections: each key in a wording of its own, some below others, some with an anchor."""
    keys = draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=8))
    headings = draw(st.permutations(HEADINGS))
    lines, parent = [], ""
    for key in keys:
        if headings and draw(st.integers(0, 3)) == 0:
            head = headings.pop()
            lines.append(Line(head, f"## gen {head}", True))
            parent = ""
        wording = draw(st.sampled_from(["", " again", " \u2028\x85 sep"]))
        anchor = f"^w-0000{key}"
        if parent and draw(st.booleans()):
            lines.append(Line(key, f"  - gen {key}{wording}", parent=parent))
        else:
            form = draw(st.sampled_from(["- gen {}{} ({})", "gen {}{} ({})"]))
            lines.append(Line(key, form.format(key, wording, anchor), anchors=(anchor,)))
            parent = key
    return tuple(lines)


THEIRS = [
    "- mine {}",
    "  - mine {}",
    "mine {}",
    "\tmine {}",
    "### mine {}",
    "## mine {}",
    "> mine {} \u2028 \x85",
    "# mine {}",
]
EDITS = st.lists(
    st.tuples(
        st.sampled_from(
            ["insert", "insert", "delete", "delete", "change", "change", "move", "copy", "blank", "anchor"]
        ),
        st.integers(0, 40),
        st.integers(0, 40),
        st.sampled_from(THEIRS),
        st.sampled_from(["", "\r", " "]),
    ),
    max_size=6,
)
MARK = re.compile(rb"(?:\xef\xbb\xbf)?\s*<!-- /?openclaw-memory:entity .*-->\s*")


def by_hand(data, edits, count):
    """A page after somebody's edits anywhere on it but in the marks; every line of theirs is one of a kind."""
    bom, lines = data[: len(data) - len(data.removeprefix(BOM))], data.removeprefix(BOM).split(b"\n")
    for what, place, other, form, ending in edits:
        free = [number for number, line in enumerate(lines) if not MARK.fullmatch(line)]
        at = free[place % len(free)] if free else 0
        text = (form.format(f"p{count[0]}") + ending).encode().replace(b"mine", b"mine\xff")
        count[0] += 1
        anchor = re.search(rb"\^w-[0-9a-f]{12}", lines[at]) if free else None
        if what == "insert":
            lines.insert(place % (len(lines) + 1), text)
        elif what == "blank":
            lines.insert(place % (len(lines) + 1), b" ")
        elif free and what == "delete":
            del lines[at]
        elif free and what == "change":
            lines[at] = text
        elif anchor and what == "anchor":
            lines[at] = text.replace(b"mine", b"mine " + anchor[0], 1)
        elif free and what == "move":
            lines.insert(other % len(lines), lines.pop(at))
        elif free and what == "copy":
            lines.insert(other % (len(lines) + 1), lines[at])
    return bom + b"\n".join(lines)


def parts(data):
    """A page as (above, lines inside, below) its block, marks left with what is outside."""
    lines = data.split(b"\n")
    marks = [number for number, line in enumerate(lines) if MARK.fullmatch(line)]
    if not marks:
        return data, [], b""
    first, last = marks
    return b"\n".join(lines[: first + 1]), lines[first + 1 : last], b"\n".join(lines[last + 1 :])


def ours(lines):
    """The keys of the generated lines among lines, in order, headings with ``#``."""
    found = (re.match(rb"\s*(#*)[- ]*gen ([0-9a-f]{8})", line) for line in lines)
    return [match[1].decode()[:1] + match[2].decode() for match in found if match]


PAGES = st.builds(
    lambda bom, text, newline, end: bom + text.replace("\n", newline).encode().replace(b"~", b"\xff") + end,
    st.sampled_from([b"", BOM]),
    st.sampled_from(["", "# Page\n", "---\na: 1\n---\n# P\n\nby hand ~ \u2028 \n\n", "a\n\n\nb\n"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([b"", b"no end"]),
)


@given(PAGES, st.lists(st.tuples(offers(), EDITS), min_size=1, max_size=5))
@settings(max_examples=400, deadline=None)
def test_nobody_loses_a_line(data, steps):
    count, away, copied, day = [0], set(), set(), DAY
    for lines, edits in steps:
        before = ours(parts(data)[1])
        data = by_hand(data, edits, count)
        above, inside, below = parts(data)
        merged = merge(data, "entity", lines, day)
        assert merged.damage is None

        again = merge(merged.data, "entity", lines, day + timedelta(1))
        assert again.data == merged.data
        assert again.edits == tuple(edit._replace(new=False) for edit in merged.edits)

        # What stands outside is not touched, a final line end not added.
        new_above, new_inside, new_below = parts(merged.data)
        if inside or MARK.search(data):
            assert (new_above, new_below) == (above, below)
        else:
            assert new_above.startswith(data)
            assert new_below == b""

        # Every line of theirs is there, byte for byte, and told of with the day it was first seen.
        theirs = [line for line in inside if b"mine" in line]
        assert sorted(theirs) == sorted(line for line in new_inside if b"mine" in line)
        told = [edit for edit in merged.edits if edit.day]
        page = split_lines(decode(merged.data))
        assert [edit.text for edit in told] == [page[edit.line - 1] for edit in told]
        assert {edit.text.rstrip() for edit in told} >= {decode(line).rstrip() for line in theirs}

        # What they deleted or changed never comes back; copies of ours, and what they took elsewhere, are theirs.
        now = ours(inside)
        away |= {key for key in before if key not in now and key[0] != "#"}
        copied |= {key for key in now if now.count(key) > 1} | set(ours(above.split(b"\n") + below.split(b"\n")))
        written = ours(new_inside)
        assert not (away - copied) & set(written)

        # What nobody touched is there once, in its order.
        offered = {line.key: line for line in lines}
        untouched = [
            ("#" if line.heading else "") + key
            for key, line in offered.items()
            if line.parent not in away | copied and key not in away
        ]
        known = [key for key in written if key in untouched and key not in copied]
        assert [key for key in known if key[0] != "#"] == [
            key for key in untouched if key[0] != "#" and key not in copied
        ]
        if not copied:
            assert known == [key for key in untouched if key in known]
            assert len(known) == len(set(known))
        data, day = merged.data, day + timedelta(1)


@given(
    st.lists(
        st.sampled_from([*THEIRS, "```", "~~~ x", "<!--", "-->", "  ```", "<!-- forget: gen -->", "---", ""]),
        max_size=12,
    ),
    offers(),
    offers(),
    st.integers(0, 30),
)
@settings(max_examples=300, deadline=None)
def test_whatever_they_write_is_kept_or_the_page_is_left_alone(texts, first, second, place):
    data = merge(b"# x\n", "entity", (Line("00000000", "- first"), *first), DAY).data
    lines = data.split(b"\n")
    theirs = [text.format(number).encode() for number, text in enumerate(texts)]
    place = 3 + place % (len(lines) - 4)
    data = b"\n".join([*lines[:place], *theirs, *lines[place:]])
    merged = merge(data, "entity", second, NEXT)
    if merged.damage:
        assert merged.data == data
        return
    assert isinstance(read_block(split_lines(decode(merged.data)), "entity"), Block)
    assert merge(merged.data, "entity", second, NEXT).data == merged.data
    lines = parts(merged.data)[1]
    assert all(not line.strip() or line in lines for line in theirs)
