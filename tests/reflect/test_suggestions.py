"""The checklist page: what is asked, how answers are read, and that nobody's words are lost."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.parsers.parse import parse_file
from openclaw_memory.reflect.suggestion_lines import (
    Confirmation,
    Proposal,
    confirmation_key,
    proposal_key,
    read_item,
)
from openclaw_memory.reflect.suggestions import CORE_SHARE, LONGEST, PAGE, read_suggestions, render_suggestions

TODAY, LATER = date(2025, 12, 6), date(2025, 12, 20)


def confirmation(
    number: int, relation: str = "contradicts", quote: str = "Asked for the long version."
) -> Confirmation:
    subject, target = f"o-{number:012x}", f"w-{number + 4096:012x}"
    citation = f"memory/2025-12-{number % 28 + 1:02}.md#L{number + 1}"
    return Confirmation(subject, relation, citation, target, quote, confirmation_key(subject, relation, target))


def proposal(number: int, text: str = "Peter: Lives in Porto.") -> Proposal:
    own = f"w-{number + 8192:012x}"
    return Proposal(
        own, text, f"memory/2025-11-{number % 28 + 1:02}.md#L{number + 1}", "said on 3 days", proposal_key(own)
    )


ASKED = [confirmation(1), confirmation(2, "supports"), confirmation(3, "replaces", 'He said "no" twice.')]
WANTED = [proposal(1), proposal(2, 'Mara: Calls the boat "Gannet" (since 2019).')]


def page(data: bytes = b"") -> str:
    return render_suggestions(data, ASKED, WANTED, TODAY).decode()


def answer(text: str, anchor: str, change: str) -> str:
    """The page after a person has been at the line that holds ``anchor``."""
    lines = text.split("\n")
    (number,) = [n for n, line in enumerate(lines) if anchor in line and line.startswith("- ")]
    line = lines[number]
    changes = {
        "tick": line.replace("[ ]", "[x]"),
        "TICK": line.replace("- [ ]", "* [X]"),
        "dash": re.sub(r"\[.\]", "[-]", line),
        "strike": f"- [ ] ~~{line[6:]}~~",
        "strike-all": f"~~{line}~~",
        "strike-box": f"- ~~{line[2:]}~~",
        "untick": line.replace("[x]", "[ ]"),
        "remark": line.replace("[ ]", "[x]") + " he told me so",
    }
    lines[number : number + 1] = [] if change == "delete" else [changes[change]]
    return "\n".join(lines)


def test_the_page() -> None:
    assert page() == (
        "# Suggestions\n"
        "\n"
        "<!-- openclaw-memory:suggestions v1 -->\n"
        "Tick a box to agree. Strike a line out (`- [-]`) or delete it, and it is not asked again.\n"
        "\n"
        "## To confirm\n"
        "\n"
        '- [ ] ^o-000000000001 contradicted by memory/2025-12-02.md#L2 ^w-000000001001? "Asked for the long version."\n'
        '- [ ] ^o-000000000002 supported by memory/2025-12-03.md#L3 ^w-000000001002? "Asked for the long version."\n'
        '- [ ] ^o-000000000003 replaced by memory/2025-12-04.md#L4 ^w-000000001003? "He said "no" twice."\n'
        "\n"
        "## For memory.md\n"
        "\n"
        '- [ ] add to memory.md: "Peter: Lives in Porto." (memory/2025-11-02.md#L2, said on 3 days, ^w-000000002001)\n'
        '- [ ] add to memory.md: "Mara: Calls the boat "Gannet" (since 2019)." (memory/2025-11-03.md#L3, said on 3'
        " days, ^w-000000002002)\n" + page().splitlines(keepends=True)[-1]
    )
    assert re.fullmatch(
        r"<!-- /openclaw-memory:suggestions lines=([ac][0-9a-f]{7}:[0-9a-f]{6},?){5} refused= done= -->\n",
        page().splitlines(keepends=True)[-1],
    )


def test_it_is_read_as_it_was_written() -> None:
    said = read_suggestions(page())
    assert said.open == (*ASKED, *WANTED)
    assert said._replace(open=(), items=(), listed={}) == read_suggestions("")
    assert read_suggestions("# Suggestions\n\n- [x] something else\n") == read_suggestions("")


def test_the_page_says_nothing_of_its_own() -> None:
    """No line of the block becomes a fact, a note or a decision; what a person writes around it is a note."""
    ticked = render_suggestions(page().replace("[ ]", "[x]").encode(), ASKED, WANTED, TODAY).decode()
    for text in (page(), ticked):
        parsed = parse_file(f"{text}\nMara will look at these.\n", PAGE)
        assert (parsed.facts, parsed.judgements) == ((), ())
        assert [note.text for note in parsed.notes] == ["Mara will look at these."]


def test_nothing_to_ask_makes_no_page() -> None:
    assert render_suggestions(b"", [], [], TODAY) == b""
    assert render_suggestions(b"# Mine\n", [], [], TODAY) == b"# Mine\n"


@pytest.mark.parametrize("change", ["tick", "TICK", "remark"])
def test_a_ticked_confirmation_is_a_link_from_then_on(change: str) -> None:
    text = answer(page(), "^o-000000000001", change)
    said = read_suggestions(text)
    assert [one.key for one in said.confirmed] == [ASKED[0].key]
    assert ASKED[0] not in said.open
    after = render_suggestions(text.encode(), ASKED, WANTED, TODAY).decode()
    section = after.split("## Confirmed\n\n")[1].split("\n")[0]
    assert section.startswith("- [x] ^o-000000000001 contradicted by memory/2025-12-02.md#L2 ^w-000000001001")
    assert "(confirmed 2025-12-06)" in section
    assert ("he told me so" in section) == (change == "remark")
    assert read_suggestions(after).confirmed[0].key == ASKED[0].key
    # It stays without anyone asking, and only its place follows the fact.
    assert render_suggestions(after.encode(), ASKED, WANTED, LATER).decode() == after
    bare = render_suggestions(after.encode(), [], [], LATER).decode()
    assert section in bare
    moved = render_suggestions(after.encode(), [ASKED[0]._replace(citation="memory/x.md#L9")], [], LATER).decode()
    assert ("memory/x.md#L9" in moved) == (change != "remark")
    assert "(confirmed 2025-12-06)" in moved


@pytest.mark.parametrize("change", ["dash", "strike", "strike-all", "strike-box", "delete"])
@pytest.mark.parametrize(("anchor", "one"), [("^o-000000000001", ASKED[0]), ("^w-000000002002", WANTED[1])])
def test_what_is_struck_out_or_deleted_is_not_asked_again(
    change: str, anchor: str, one: Confirmation | Proposal
) -> None:
    text = answer(page(), anchor, change)
    said = read_suggestions(text)
    assert (one.key in said.refused, one.key in said.core_refused) == (one in ASKED, one in WANTED)
    after = render_suggestions(text.encode(), ASKED, WANTED, TODAY).decode()
    assert anchor not in after
    assert f"refused={one.key} " in after
    assert render_suggestions(after.encode(), ASKED, WANTED, LATER).decode() == after
    again = render_suggestions(render_suggestions(after.encode(), [], [], LATER), ASKED, WANTED, LATER).decode()
    assert again == after


def test_a_confirmation_can_be_undone() -> None:
    confirmed = render_suggestions(answer(page(), "^o-000000000001", "tick").encode(), ASKED, WANTED, TODAY).decode()
    said = read_suggestions(answer(confirmed, "^o-000000000001", "delete"))
    assert (said.confirmed, said.refused) == ((), {ASKED[0].key})
    said = read_suggestions(answer(confirmed, "^o-000000000001", "untick"))
    assert (said.confirmed, said.refused) == ((), frozenset())
    asked = render_suggestions(answer(confirmed, "^o-000000000001", "untick").encode(), ASKED, WANTED, TODAY)
    assert asked.decode() == page()


def test_a_refusal_can_be_undone_by_putting_the_line_back() -> None:
    text = page()
    line = next(one for one in text.splitlines() if "^o-000000000001" in one)
    refused = render_suggestions(answer(text, "^o-000000000001", "delete").encode(), ASKED, WANTED, TODAY).decode()
    back = refused.replace("## To confirm\n\n", f"## To confirm\n\n{line}\n")
    assert ASKED[0] in read_suggestions(back).open
    assert render_suggestions(back.encode(), ASKED, WANTED, TODAY).decode() == text
    by_hand = refused.replace("## To confirm\n\n", f"## To confirm\n\n{line.replace('[ ]', '[x]')}\n")
    assert read_suggestions(by_hand).confirmed == (ASKED[0],)


def test_a_ticked_proposal_waits_until_it_is_in_the_core() -> None:
    text = answer(page(), "^w-000000002001", "tick").replace("Lives in Porto.", "Lives in Porto, near the river.")
    (one,) = read_suggestions(text).core_ticked
    assert (one.text, one.citation, one.key) == (
        "Peter: Lives in Porto, near the river.",
        "memory/2025-11-02.md#L2",
        WANTED[0].key,
    )
    problem = {one.key: "memory.md would have 4,120 of 4,000 characters"}
    full = render_suggestions(text.encode(), ASKED, WANTED, TODAY, problems=problem).decode()
    line = next(row for row in full.splitlines() if "^w-000000002001" in row)
    assert line.startswith('- [x] add to memory.md: "Peter: Lives in Porto, near the river." (')
    assert line.endswith(" — not added: memory.md would have 4,120 of 4,000 characters")
    assert read_suggestions(full).core_ticked == (one,)
    assert render_suggestions(full.encode(), ASKED, WANTED, LATER, problems=problem).decode() == full
    other = {one.key: "memory.md would have 4,001 of 4,000 characters"}
    assert render_suggestions(full.encode(), ASKED, WANTED, LATER, problems=other).decode() == full.replace(
        "4,120", "4,001"
    )
    done = render_suggestions(full.encode(), ASKED, WANTED, TODAY, applied=[one.key]).decode()
    assert "^w-000000002001" not in done
    assert f" done={one.key} " in done
    assert read_suggestions(done).done == {one.key}
    assert read_suggestions(done).core_refused == frozenset()
    assert render_suggestions(done.encode(), ASKED, WANTED, LATER).decode() == done


def test_a_persons_words_stay() -> None:
    """A changed line, lines below one, and lines of one's own."""
    text = page().replace('long version."', 'long version!" (ask her)', 1)
    text = text.replace("## For memory.md\n", "Ask Mara on Monday.\n\n    twice\n\n## For memory.md\n")
    text = text.replace("^w-000000002001)\n", "^w-000000002001)\n  - is that so?\n    yes\n")
    after = render_suggestions(text.encode(), ASKED, WANTED, TODAY).decode()
    assert "(ask her)" in after
    assert "again.\n\nAsk Mara on Monday.\n\n    twice\n\n## To confirm" in after
    assert "^w-000000002001)\n  - is that so?\n    yes\n" in after
    assert render_suggestions(after.encode(), ASKED, WANTED, LATER).decode() == after
    gone = render_suggestions(after.encode(), [], [], LATER).decode()
    assert "Ask Mara on Monday.\n\n    twice\n  - is that so?\n    yes\n" in gone
    assert render_suggestions(gone.encode(), [], [], LATER).decode() == gone
    ticked = render_suggestions(answer(after, "^o-000000000001", "tick").encode(), ASKED, WANTED, TODAY).decode()
    assert '- [x] ^o-000000000001 contradicted by memory/2025-12-02.md#L2 ^w-000000001001? "Asked for the ' in ticked
    assert "(ask her) (confirmed 2025-12-06)" in ticked
    assert render_suggestions(ticked.encode(), ASKED, WANTED, LATER).decode() == ticked


def test_at_most_twenty_are_open() -> None:
    asked = [confirmation(n) for n in range(40)]
    wanted = [proposal(n) for n in range(40)]
    for given_asked, given_wanted, count in [
        (asked, wanted, (LONGEST - CORE_SHARE, CORE_SHARE)),
        (asked, [], (LONGEST, 0)),
        ([], wanted, (0, LONGEST)),
        (asked[:3], wanted, (3, LONGEST - 3)),
        (asked, wanted[:2], (LONGEST - 2, 2)),
    ]:
        said = read_suggestions(render_suggestions(b"", given_asked, given_wanted, TODAY).decode())
        assert set(said.open) == {*given_asked[: count[0]], *given_wanted[: count[1]]}
    text = render_suggestions(b"", asked, [], TODAY).decode()
    ticked = text.replace("- [ ]", "- [x]")
    following = read_suggestions(render_suggestions(ticked.encode(), asked, [], TODAY).decode())
    assert (len(following.confirmed), set(following.open)) == (LONGEST, set(asked[LONGEST:]))


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("<!-- openclaw-memory:suggestions v1 -->\n", ""),
        lambda text: re.sub(r"<!-- /openclaw.*-->\n", "", text),
        lambda text: text + text,
        lambda text: text.replace("suggestions v1", "suggestions v2"),
        lambda text: text.encode("utf-16").decode("latin-1"),
    ],
)
def test_damaged_marks_are_left_alone(damage) -> None:
    data = damage(page()).encode("latin-1")
    assert render_suggestions(data, [confirmation(9)], [], TODAY) == data


def test_damage_is_told() -> None:
    said = read_suggestions(page() + page())
    assert said.problem == (
        "the marks of the suggestions are damaged (bank/suggestions.md:3); mend them, or delete the block"
    )
    assert read_suggestions("```\n" + page() + "```\n").problem == ""
    assert read_suggestions("```\n" + page() + "```\n").open == ()


@pytest.mark.parametrize(
    "quote", ["a ~~struck~~ b", "x --> y <!-- z", 'ends with "', "w" * 500, "", "[x] ^o-000000000001"]
)
def test_odd_quotes(quote: str) -> None:
    one = confirmation(1, quote=quote)
    data = render_suggestions(b"", [one], [], TODAY)
    (read,) = read_suggestions(data.decode()).open
    assert read._replace(quote="") == one._replace(quote="")
    assert render_suggestions(data, [one], [], LATER) == data
    ticked = data.replace(b"[ ]", b"[x]", 1)
    confirmed = render_suggestions(ticked, [one], [], TODAY)
    assert render_suggestions(confirmed, [one], [], LATER) == confirmed
    assert [item.key for item in read_suggestions(confirmed.decode()).confirmed] == [one.key]


AROUND = st.lists(
    st.sampled_from([b"# Mine", b"", b"text", b"\x00\xff\xfe", b"- [x] buy milk", b"\r", b"```", b"```"]), max_size=5
)


@given(AROUND, AROUND, st.sampled_from([b"\n", b"\r\n"]), st.booleans(), st.booleans())
def test_no_byte_outside_the_block_changes(above, below, end: bytes, bom: bool, ended: bool) -> None:
    head = (b"\xef\xbb\xbf" if bom else b"") + b"".join(line + end for line in above)
    block = page().split("\n\n", 1)[1].encode().replace(b"\n", end)
    data = head + block.removesuffix(end) + (end if ended or below else b"") + end.join(below)
    said = read_suggestions(data.decode("utf-8", "surrogateescape"))
    after = render_suggestions(data, ASKED[1:], WANTED, TODAY)
    if said.open:
        assert after.startswith(head)
        assert after.endswith((end if ended or below else b"") + end.join(below))
    else:
        # Fences above and below make the block an example; the page gets one of its own.
        assert after.startswith(data)
    assert render_suggestions(after, ASKED[1:], WANTED, LATER) == after
    if said.open:
        assert set(read_suggestions(after.decode("utf-8", "surrogateescape")).open) == {*ASKED[1:], *WANTED}


CHANGES = st.lists(
    st.tuples(
        st.integers(0, 5), st.sampled_from(["tick", "dash", "strike", "delete", "remark", "untick", "", "twice"])
    ),
    max_size=6,
)


@given(st.lists(CHANGES, max_size=4), st.data())
def test_what_is_answered_stays_answered(nights: list[list[tuple[int, str]]], data) -> None:
    """In whatever order: rendering is idempotent, nothing refused comes back, no answer is lost."""
    every: list[Confirmation | Proposal] = [*(confirmation(n) for n in range(3)), *(proposal(n) for n in range(3))]
    text = b""
    refused: set[str] = set()
    for changes in nights:
        offered = [one for one in every if data.draw(st.booleans())]
        given_asked = [one for one in offered if isinstance(one, Confirmation)]
        given_wanted = [one for one in offered if isinstance(one, Proposal)]
        text = render_suggestions(text, given_asked, given_wanted, TODAY)
        lines = text.decode().split("\n")
        for number, change in changes:
            own = every[number].subject_id if number < 3 else every[number].fact_id  # type: ignore[union-attr]
            here = [n for n, line in enumerate(lines) if f"^{own}" in line and line.startswith("- [")]
            if len(here) != 1:
                continue
            if change == "delete":
                del lines[here[0]]
                refused.add(every[number].key)
            elif change == "twice":
                lines.insert(here[0], lines[here[0]])
            elif change in ("dash", "strike"):
                lines[here[0]] = answer(lines[here[0]], own, change)
                refused.add(every[number].key)
            elif change and every[number].key not in refused:
                lines[here[0]] = answer(lines[here[0]], own, change)
        text = "\n".join(lines).encode()
        said = read_suggestions(text.decode())
        assert not said.problem
        after = render_suggestions(text, given_asked, given_wanted, TODAY)
        again = read_suggestions(after.decode())
        assert render_suggestions(after, given_asked, given_wanted, LATER) == after
        assert {one.key for one in again.confirmed} == {one.key for one in said.confirmed}
        assert {one.key for one in again.core_ticked} == {one.key for one in said.core_ticked}
        assert (again.refused, again.core_refused) == (said.refused, said.core_refused)
        assert again.refused | again.core_refused == refused
        assert not {one.key for one in again.open} & refused
        text = after


@given(st.text(max_size=200))
def test_any_line_is_read_without_fault(line: str) -> None:
    item = read_item(line)
    assert item is None or item.key


@given(st.lists(st.sampled_from([*page().splitlines(), "- [x] x", "  deeper", "", "~~", "<!--", "-->", "```"])))
def test_any_page_is_a_fixed_point(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    once = render_suggestions(data, ASKED, WANTED, TODAY)
    assert render_suggestions(once, ASKED, WANTED, LATER) == once
