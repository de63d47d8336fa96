"""Edits of the core memory: where they go, what refuses them, and that nothing else changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from openclaw_memory.bank.errors import UsageFault
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.reflect.core_edits import append, insert, replace, rethink
from openclaw_memory.reflect.core_lint import core_faults
from openclaw_memory.reflect.core_memory import (
    add_to_core,
    append_to_core,
    insert_into_core,
    read_core,
    replace_in_core,
    rethink_core,
)
from openclaw_memory.reflect.core_rules import CoreRefused, Edit, applied, check
from openclaw_memory.reflect.core_sections import Core
from openclaw_memory.reflect.core_tools import (
    core_memory_append,
    core_memory_insert,
    core_memory_replace,
    core_memory_show,
)
from openclaw_memory.reflect.suggestion_lines import Proposal

PATH = "MEMORY.md"
CORE = """---
title: mine
---
# Memory

Intro.

## People
<!-- description: Who is who | with a bar -->
<!-- openclaw-memory-promotion:k1 -->
- Mara sails. <!-- trigger: Mara --> <!-- importance: 7 -->
- Peter drinks tea.

### Family

- Ada is an aunt.

## Rules
<!-- read_only -->

- Never shout.

### Inner

- Nor whisper.

## Log

<!-- openclaw:dreaming:light:start -->
- dreamt
<!-- openclaw:dreaming:light:end -->
"""


MACHINE = "<!-- x:start -->\n- m\n<!-- x:end -->\n"


def made(core: str | bytes, edit: Edit) -> str:
    old = Core(core.encode() if isinstance(core, str) else core)
    return check(old, applied(old, edit), PATH, edit.new, edit.line).data.decode()


def core(text: str) -> Core:
    return Core(text.encode())


def refused(why: str, call, *arguments, **named) -> CoreRefused:
    with pytest.raises(CoreRefused) as caught:
        call(*arguments, **named)
    assert caught.value.why == why
    return caught.value


@pytest.fixture
def bank(tmp_path: Path) -> Workspace:
    return Workspace(str(tmp_path))


def written(bank: Workspace, text: str, name: str = PATH) -> Path:
    path = Path(bank.root) / name
    path.write_bytes(text.encode())
    return path


def test_sections_and_their_settings() -> None:
    found = {one.name: one for one in core(CORE).sections}
    assert list(found) == ["", "Memory", "People", "Family", "Rules", "Inner", "Log"]
    people, rules = found["People"], found["Rules"]
    assert (people.description, people.read_only) == ("Who is who | with a bar", False)
    assert (people.line, people.body, people.own_end, people.end) == (8, 10, 13, 17)
    assert people.trail == "Memory > People"
    assert rules.read_only
    assert found["Inner"].read_only
    assert not found["Log"].read_only


@pytest.mark.parametrize(
    ("comment", "told"),
    [
        ("<!-- read_only -->", ("", True)),
        ("<!-- read-only: yes -->", ("", True)),
        ("<!-- read_only: no -->", ("", False)),
        ("<!-- description: For ports | read_only: true -->", ("For ports", True)),
        ("<!-- description: Ports --> <!-- READ_ONLY -->", ("Ports", True)),
        ("\n<!-- description: Ports -->", ("Ports", False)),
        ("<!-- importance: 3 -->", ("", False)),
        ("<!-- a read_only thing -->", ("", False)),
        ("text\n<!-- read_only -->", ("", False)),
        ("`<!-- read_only -->`", ("", False)),
        ("```\n<!-- read_only -->\n```", ("", False)),
    ],
)
def test_settings_are_comments_right_below_the_heading(comment: str, told: tuple[str, bool]) -> None:
    section = core(f"# A\n{comment}\n\n- x\n").sections[1]
    assert (section.description, section.read_only) == told


@pytest.mark.parametrize(
    ("old", "section", "text", "new"),
    [
        ("", "People", "Mara sails.", "# Memory\n\n## People\n\n- Mara sails.\n"),
        ("# M\n", "New", "a\nb", "# M\n\n## New\n\na\nb\n"),
        ("# M", "New", "x", "# M\n\n## New\n\n- x"),
        ("# M\n\n- a\n", "m", "b", "# M\n\n- a\n- b\n"),
        ("# M\n\n- a\n  more\n\n## N\n", "M", "b", "# M\n\n- a\n  more\n- b\n\n## N\n"),
        ("# M\n\n- a\n\n## N\n- n\n", "M", "b", "# M\n\n- a\n- b\n\n## N\n- n\n"),
        ("# M\nprose\n", "M", "b", "# M\nprose\n\nb\n"),
        ("# M\r\n\r\n- a\r\n", "M", "b\nc", "# M\r\n\r\n- a\r\n\r\nb\r\nc\r\n"),
        ("# M\n<!-- description: d -->\n", "M", "b", "# M\n<!-- description: d -->\n\n- b\n"),
        ("# M\n\n- a\n", "M", "- b\n  deeper", "# M\n\n- a\n- b\n  deeper\n"),
        ("# M\n\n- a\n\n```\nopen\n", "M", "b", "# M\n\n- a\n- b\n\n```\nopen\n"),
        ("M\n=\n\n- a\n", "M", "b", "M\n=\n\n- a\n- b\n"),
        ("# M\n## A\n## B\n### A\n\n", "B > A", "b", "# M\n## A\n## B\n### A\n\n- b\n\n"),
        ("# M\n\n- a\n", "M", "### Deep\n\n- b", "# M\n\n- a\n\n### Deep\n\n- b\n"),
        (f"# M\n\n- a\n\n{MACHINE}", "M", "b", f"# M\n\n- a\n- b\n\n{MACHINE}"),
    ],
)
def test_where_an_appended_text_goes(old: str, section: str, text: str, new: str) -> None:
    edit = append(core(old), section, text, PATH)
    assert made(old, edit) == new
    again = append(core(new), section, text, PATH)
    assert made(new, again) == new


def test_a_section_that_is_called_nearly_so() -> None:
    fault = refused("no-section", append, core(CORE), "Peple", "x", PATH)
    assert "is it People?" in str(fault)
    assert (fault.where, "Memory > People" in fault.details["sections"]) == ("MEMORY.md:8", True)
    assert made("# A\n\n# B\n", append(core("# A\n\n# B\n"), "C", "c", PATH)) == "# A\n\n# B\n\n# C\n\n- c\n"
    dated = "## Promoted (2025-12-01)\n\n- a\n"
    assert (
        made(dated, append(core(dated), "Promoted (2025-12-02)", "b", PATH))
        == f"{dated}\n## Promoted (2025-12-02)\n\n- b\n"
    )
    assert "there are: Memory, People" in str(refused("no-section", append, core(CORE), "People > Work", "x", PATH))
    for name in ("<!-- x -->", "##"):
        with pytest.raises(UsageFault):
            append(core(CORE), name, "x", PATH)
    fault = refused("several-matches", append, core("# A\n# B\n# a\n"), "A", "x", PATH)
    assert "lines 1, 3" in str(fault)


def test_replacing_needs_one_match() -> None:
    assert made(CORE, replace(core(CORE), "Peter drinks tea", "Peter: cocoa", "", PATH)) == CORE.replace(
        "Peter drinks tea", "Peter: cocoa"
    )
    fault = refused("several-matches", replace, core(CORE), "-", "*", "", PATH)
    assert [one["line"] for one in fault.details["matches"]][:3] == [1, 3, 9]
    fault = refused("no-match", replace, core(CORE), "Peter drinks teas", "x", "", PATH)
    assert fault.details["matches"][0] == {"line": 12, "text": "- Peter drinks tea."}
    fault = refused("no-match", replace, core(CORE), "Peter drinks tea", "x", "Log", PATH)
    assert fault.details["matches"] == []
    assert made(CORE, replace(core(CORE), "is an", "was an", "Family", PATH)) == CORE.replace("is an", "was an")
    refused("several-matches", replace, core("# A\naaa\n"), "aa", "b", "", PATH)
    with pytest.raises(UsageFault):
        replace(core(CORE), "", "x", "", PATH)


def test_line_ends_of_a_match_are_the_files() -> None:
    old = "# A\r\n- a\r\n- b\r\n"
    assert made(old, replace(core(old), "- a\n- b", "- c\n- d\n- e", "", PATH)) == "# A\r\n- c\r\n- d\r\n- e\r\n"


def test_inserting() -> None:
    assert made("a\nb\n", insert(core("a\nb\n"), "x\ny", 1, "", "", PATH)) == "a\nx\ny\nb\n"
    assert made("a\nb\n", insert(core("a\nb\n"), "x", 0, "", "", PATH)) == "x\na\nb\n"
    assert made("a\nb", insert(core("a\nb"), "x", 2, "", "", PATH)) == "a\nb\nx"
    assert made("a\nb\n", insert(core("a\nb\n"), "x", None, "a", "", PATH)) == "a\nx\nb\n"
    assert made("a\nb\n", insert(core("a\nb\n"), "x", None, "a\n", "", PATH)) == "a\nx\nb\n"
    refused("no-match", insert, core("a\nb\n"), "x", 3, "", "", PATH)
    refused("no-match", insert, core(CORE), "x", 2, "", "", PATH)
    refused("no-match", insert, core(CORE), "x", 8, "", "Family", PATH)
    with pytest.raises(UsageFault):
        insert(core("a\n"), "x", 1, "a", "", PATH)
    with pytest.raises(UsageFault):
        insert(core("a\n"), "x", None, "", "", PATH)


def test_rethinking_keeps_settings_marks_and_what_is_inside() -> None:
    new = made(CORE, rethink(core(CORE), "People", "- Peter drinks tea.\n- Mara sails.\n- Zoe is new.", PATH))
    assert new == CORE.replace(
        "<!-- openclaw-memory-promotion:k1 -->\n- Mara sails. <!-- trigger: Mara --> <!-- importance: 7 -->\n"
        "- Peter drinks tea.\n",
        "- Peter drinks tea.\n<!-- openclaw-memory-promotion:k1 -->\n"
        "- Mara sails. <!-- trigger: Mara --> <!-- importance: 7 -->\n- Zoe is new.\n",
    )
    gone = made(CORE, rethink(core(CORE), "People", "- All new.", PATH))
    assert "- All new.\n<!-- openclaw-memory-promotion:k1 -->\n\n### Family\n" in gone
    assert "trigger: Mara" not in gone
    empty = made(CORE, rethink(core(CORE), "family", "", PATH))
    assert "### Family\n\n## Rules" in empty
    kept = made(CORE, rethink(core(CORE), "Log", "- awake", PATH))
    assert kept.endswith(
        "## Log\n\n- awake\n\n<!-- openclaw:dreaming:light:start -->\n- dreamt\n<!-- openclaw:dreaming:light:end -->\n"
    )
    refused("structure", rethink, core(CORE), "Family", "## Other", PATH)
    refused("no-section", rethink, core(CORE), "Nowhere", "x", PATH)


@pytest.mark.parametrize(
    ("why", "tool", "arguments"),
    [
        ("read-only", core_memory_append, {"content": "x", "section": "Rules"}),
        ("read-only", core_memory_append, {"content": "x", "section": "Inner"}),
        ("read-only", core_memory_replace, {"old": "Never", "new": "Always"}),
        ("read-only", core_memory_replace, {"old": "read_only", "new": "free"}),
        ("read-only", core_memory_replace, {"old": "## Rules", "new": "## Suggestions"}),
        ("read-only", core_memory_insert, {"content": "x", "after": "## Rules"}),
        ("read-only", core_memory_insert, {"content": "x", "line": 22}),
        ("front-matter", core_memory_replace, {"old": "title: mine", "new": "budget: 99999"}),
        ("managed", core_memory_replace, {"old": "dreamt", "new": "slept"}),
        ("managed", core_memory_replace, {"old": "light:end", "new": "light:stop"}),
        ("managed", core_memory_insert, {"content": "x", "after": "- dreamt"}),
        ("secret", core_memory_append, {"content": "The token is ghp_" + "a1B2" * 10, "section": "People"}),
        ("structure", core_memory_insert, {"content": "```", "line": 5}),
        ("structure", core_memory_insert, {"content": "<!-- open", "line": 5}),
        ("structure", core_memory_append, {"content": "```\nx", "section": "New"}),
        ("structure", core_memory_append, {"content": "# Top", "section": "People"}),
        ("over-budget", core_memory_append, {"content": "x" * 4000, "section": "People"}),
        ("over-budget", core_memory_replace, {"old": "tea", "new": "x" * 4000}),
        ("no-section", core_memory_insert, {"content": "x", "line": 5, "section": "Nowhere"}),
        ("changed", core_memory_append, {"content": "x", "section": "People", "expect_hash": "0" * 16}),
        ("usage", core_memory_append, {"content": " ", "section": "People"}),
        ("usage", core_memory_append, {"content": "x", "expect_hash": "nonsense"}),
    ],
)
def test_what_is_refused_changes_nothing(bank: Workspace, why: str, tool, arguments: dict[str, object]) -> None:
    path = written(bank, CORE)
    stamp = path.stat().st_mtime_ns
    answer = tool(bank, **arguments)
    assert (answer["ok"], answer["why"]) == (False, why)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (CORE.encode(), stamp)
    assert answer["hash"] == core(CORE).hash
    assert answer["usage"]["text"] == f"{len(CORE)}/4,000"


def test_front_matter_cannot_be_made(bank: Workspace) -> None:
    path = written(bank, "# A\n")
    assert core_memory_insert(bank, "---\nbudget: 9999\n---", line=0)["why"] == "front-matter"
    assert path.read_bytes() == b"# A\n"


def test_over_budget_names_the_largest_entries(bank: Workspace) -> None:
    written(bank, "---\nbudget: 100\n---\n# A\n\n- short\n- " + "long " * 10 + "\n")
    answer = core_memory_append(bank, "x" * 40, "A")
    assert [(one["line"], one["characters"]) for one in answer["entries"]] == [(7, 53), (6, 8)]
    assert answer["wanted"] == 129
    assert "MEMORY.md would have 129 of 100 characters" in answer["error"]
    assert "line 7 (53): - long" in answer["error"]


def test_a_core_that_is_too_long_can_be_shortened(bank: Workspace) -> None:
    path = written(bank, "---\nbudget: 20\n---\n# A\n\n- a long line\n- other\n")
    assert replace_in_core(bank, "a long line", "a line").usage.text == "41/20"
    refused("over-budget", append_to_core, bank, "b", "A")
    assert path.read_text() == "---\nbudget: 20\n---\n# A\n\n- a line\n- other\n"


def test_reflect_keeps_to_the_same_rules(bank: Workspace) -> None:
    path = written(bank, "# Memory\n\n## Learned\n<!-- read_only -->\n")
    told = add_to_core(bank, [Proposal("w-1", "Peter: tea.", "memory/2025-11-01.md#L4", "said", "c1")])
    assert told == (PATH, (), {"c1": "the section Learned is read-only"})
    assert path.read_text() == "# Memory\n\n## Learned\n<!-- read_only -->\n"


def test_the_hash_guards_against_a_lost_update(bank: Workspace) -> None:
    first = core_memory_append(bank, "one", "A")
    assert first["hash"] == core_memory_show(bank)["hash"]
    second = core_memory_append(bank, "two", "A", first["hash"])
    assert second["ok"]
    stale = core_memory_append(bank, "three", "A", first["hash"])
    assert (stale["why"], stale["hash"]) == ("changed", second["hash"])


def test_answers_say_where_it_stands(bank: Workspace) -> None:
    first = core_memory_append(bank, "Mara sails.", "People")
    assert (first["section"], first["citation"], first["lines"]) == ("People", "MEMORY.md#L5", {"from": 5, "to": 5})
    two = core_memory_insert(bank, "- b\n- c", after="Mara sails.")
    assert two["citation"] == "MEMORY.md#L6-L7"
    again = core_memory_append(bank, "Mara sails.", "People")
    assert (again["ok"], again["changed"], again["section"], again["citation"]) == (True, False, "People", None)
    gone = core_memory_replace(bank, "- b\n", "")
    assert (gone["ok"], gone["lines"], gone["section"]) == (True, None, "People")
    assert core_memory_append(bank, "no section named")["section"] == "Learned"


def test_bytes_that_are_no_utf8_stay(bank: Workspace) -> None:
    path = Path(bank.root) / "memory.md"
    path.write_bytes(b"\xef\xbb\xbf# A\r\n\r\n- caf\xe9\r\n- x\x00y\r\n")
    assert append_to_core(bank, "Ünï", "A").path == "memory.md"
    assert path.read_bytes() == b"\xef\xbb\xbf# A\r\n\r\n- caf\xe9\r\n- x\x00y\r\n- \xc3\x9cn\xc3\xaf\r\n"
    path.write_bytes("# A\n".encode("utf-16"))
    assert core_memory_append(bank, "x", "A")["why"] == "encoding"


def test_a_symbolic_link_is_not_written(bank: Workspace) -> None:
    (Path(bank.root) / "elsewhere.md").write_text("# A\n")
    (Path(bank.root) / PATH).symlink_to("elsewhere.md")
    assert core_memory_append(bank, "x", "A")["why"] == "fault"
    assert (Path(bank.root) / "elsewhere.md").read_text() == "# A\n"


def test_writers_of_two_processes_lose_nothing(bank: Workspace) -> None:
    code = (
        "import sys\n"
        "from openclaw_memory.bank.workspace import Workspace\n"
        "from openclaw_memory.reflect.core_memory import append_to_core\n"
        "for n in range(15):\n"
        "    append_to_core(Workspace(sys.argv[1]), f'{sys.argv[2]} {n}', sys.argv[2], timeout=60)\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, bank.root, name]) for name in ("Ports", "People")]
    assert [one.wait(60) for one in running] == [0, 0]
    lines = read_core(bank).text.splitlines()
    for name in ("Ports", "People"):
        assert [line for line in lines if line.startswith(f"- {name}")] == [f"- {name} {n}" for n in range(15)]


def test_what_lint_says() -> None:
    assert core_faults(CORE.encode()) == []
    (fault,) = core_faults(b"---\nx: 1\nbudget: lots\n---\n# A\n")
    assert (fault.line, fault.code) == (3, "bad-budget")
    (fault,) = core_faults(b"---\nbudget: 30\n---\n# A\n\n- one line\n")
    assert (fault.line, fault.code) == (1, "core-over-budget")
    assert "35/30" in fault.message
    assert "line 6 (11)" in fault.message


LINES = st.lists(
    st.sampled_from(
        ["# A", "## B", "### C", "- a", "  b", "", "prose", "- é <!-- trigger: x -->", "<!-- read_only -->", "```",
         "<!-- x:start -->", "<!-- x:end -->", "<!--", "-->", "<!-- openclaw-memory-promotion:k -->", "1. n"]
    ),
    max_size=14,
)  # fmt: skip
TEXTS = st.text(st.sampled_from("ab .-#<!>`\né"), min_size=1, max_size=12)
ENDS = st.sampled_from(["\n", "\r\n"])


def tried(call) -> Edit | None:
    try:
        return call()
    except (CoreRefused, UsageFault):
        return None


@given(LINES, ENDS, st.booleans(), TEXTS, st.sampled_from(["A", "B", "C", "New"]))
def test_appended_text_is_shown_and_all_lines_stay(
    lines: list[str], end: str, ended: bool, text: str, name: str
) -> None:
    data = (end.join(lines) + (end if ended else "")).encode()
    old = Core(data)
    edit = tried(lambda: append(old, name, text, PATH))
    assume(edit is not None)
    try:
        new = check(old, applied(old, edit), PATH, edit.new)
    except CoreRefused:
        return
    for line in text.strip("\n").split("\n"):
        assert line.strip() in new.text
    assert new.text.startswith(old.text[: edit.start])
    assert new.text.endswith(old.text[edit.end :])
    kept = iter(new.lines.raw)
    assert all(line in kept for line in old.lines.raw)
    assert new.usage.characters <= max(new.usage.budget, old.usage.characters)
    twice = append(new, name, text, PATH)
    assert (twice.new, applied(new, twice)) == ("", new.data)


@given(LINES, ENDS, st.data())
def test_a_replacement_can_be_taken_back(lines: list[str], end: str, data: st.DataObject) -> None:
    old = Core(end.join(lines).encode())
    assume(old.text)
    start = data.draw(st.integers(0, len(old.text) - 1))
    piece = old.text[start : data.draw(st.integers(start + 1, len(old.text)))]
    assume(not (piece[0] == "\n" and old.text[:start].endswith("\r")) and not piece.endswith("\r"))
    other = data.draw(TEXTS).replace("\n", old.newline)
    there = tried(lambda: replace(old, piece, other, "", PATH))
    assume(there is not None)
    new = Core(applied(old, there))
    assert new.text == old.text.replace(piece, other)
    back = tried(lambda: replace(new, other, piece, "", PATH))
    if back is not None:
        assert applied(new, back) == old.data


@given(LINES, LINES, st.integers(1, 60), st.sampled_from(["append", "replace", "insert", "rethink"]), st.data())
def test_no_edit_breaks_a_rule(lines: list[str], added: list[str], budget: int, kind: str, data: st.DataObject) -> None:
    """Whatever is tried: what passes is within the budget or shorter than before, and read-only sections, managed
    lines and front matter are as they were."""
    old = Core(f"---\nbudget: {budget}\n---\n{chr(10).join(lines)}\n".encode())
    text = "\n".join(added)
    place = data.draw(st.integers(0, len(old.lines.raw)))
    calls = {
        "append": lambda: append(old, "B", text, PATH),
        "replace": lambda: replace(old, old.lines.raw[place - 1] if place else "x", text, "", PATH),
        "insert": lambda: insert(old, text, place, "", "", PATH),
        "rethink": lambda: rethink(old, "A", text, PATH),
    }
    edit = tried(calls[kind])
    assume(edit is not None)
    try:
        new = check(old, applied(old, edit), PATH, edit.new, edit.line)
    except CoreRefused:
        return
    assert new.usage.characters <= max(budget, old.usage.characters)
    assert new.lines.raw[:3] == old.lines.raw[:3]
    for before, after in ((old, new),):
        managed = [[r for r, m in zip(c.lines.raw, c.lines.managed, strict=True) if m] for c in (before, after)]
        assert managed[0] == managed[1]
        guarded = [
            ["\n".join(c.lines.raw[one.line - 1 : one.end]).rstrip() for one in c.sections if one.read_only]
            for c in (before, after)
        ]
        assert all(one in guarded[1] for one in guarded[0])
        markers = [line for line in before.lines.raw if "promotion:" in line]
        if kind == "rethink":
            assert all(line in "\n".join(after.lines.raw) for line in markers)


def test_the_functions_write_what_the_edits_make(bank: Workspace) -> None:
    path = written(bank, CORE)
    append_to_core(bank, "Zoe", "People")
    insert_into_core(bank, "- first", after="<!-- openclaw-memory-promotion:k1 -->")
    rethink_core(bank, "Family", "- Nobody.")
    assert path.read_text() == CORE.replace(
        "<!-- openclaw-memory-promotion:k1 -->\n", "<!-- openclaw-memory-promotion:k1 -->\n- first\n"
    ).replace("drinks tea.\n", "drinks tea.\n- Zoe\n").replace("- Ada is an aunt.", "- Nobody.")
