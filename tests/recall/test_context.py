"""The context before a turn: what is in it, that it fits, that it is cited, and that it is never taken back in."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from openclaw_memory.bank.errors import UsageFault
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.parsers.context_marks import END, START
from openclaw_memory.parsers.lines import read_lines
from openclaw_memory.parsers.parse import parse_file
from openclaw_memory.parsers.tokens import estimate_tokens
from openclaw_memory.recall.context import PARTS, SHARES, allocate, build_context
from openclaw_memory.recall.context_parts import due_part, recall_part
from openclaw_memory.recall.excerpt import Excerpts, Unit
from openclaw_memory.recall.shown import Shown
from openclaw_memory.recall.triggers import LATE_DAYS, due, read_marks, says, when_due

NOW = datetime(2025, 12, 6, 12, tzinfo=UTC)
TODAY = NOW.date()
CORE = """---
budget: 4000
---
# Memory

## People
<!-- description: Who is who -->

- Mara sails on Saturdays. <!-- openclaw-memory-promotion:k1 -->
- Peter: Lives in Porto. (memory/2025-11-20.md#L4)
- The lease ends soon. <!-- trigger: 2025-12-06 --> <!-- importance: 9 -->
- The alarm code is in the blue book. <!-- trigger: alarm code, Ada -->
"""
FILES = {
    "MEMORY.md": CORE,
    "memory/2025-12-06.md": "# 2025-12-06\n\n08:10 Rain, and the boat is dry.\n\n## Retain\n\n"
    "- W @Mara: Bought a red kayak.\n",
    "memory/2025-12-05.md": "# 2025-12-05\n\n- Ordered a new mast for gannet.\n",
    "memory/2025-11-20.md": "# 2025-11-20\n\n## Retain\n- W @Peter: Lives in Porto.\n"
    "- O(c=0.8) @Peter: Prefers short meetings.\n",
    "memory/2025-11-01.md": "# 2025-11-01\n\n- Water the fig. <!-- trigger: every Saturday -->\n"
    "- Call the notary.\n  <!-- trigger: tomorrow -->\n",
    "bank/entities/Ada.md": "---\naliases: [Adele]\n---\n# Ada\n\n- W @Ada: Has the spare key.\n",
}
Make = Callable[..., Workspace]


def part(answer: dict[str, Any], name: str) -> dict[str, Any]:
    return next((one for one in answer["parts"] if one["name"] == name), {"citations": [], "omitted": 0, "tokens": 0})


def cited_lines(workspace: Workspace, answer: dict[str, Any]) -> list[str]:
    found = []
    for one in answer["parts"]:
        for cited in one["citations"]:
            path, _, lines = cited.partition("#L")
            raw = (Path(workspace.root) / path).read_text("utf-8").split("\n")
            found.append(raw[int(lines.split("-")[0]) - 1])
    return found


def test_a_private_session(make: Make) -> None:
    workspace = make(FILES)
    answer = build_context(workspace, now=NOW, question="What does Peter prefer?")
    text = answer["text"]
    assert text.startswith(f"{START}\n")
    assert text.endswith(f"\n{END}\n")
    assert [one["name"] for one in answer["parts"]] == ["core", "yesterday", "today", "due", "recall"]
    assert "- Mara sails on Saturdays.\n" in text
    assert "08:10 Rain, and the boat is dry. (#L3)\n" in text
    assert "- W @Mara: Bought a red kayak. (#L7)\n" in text
    assert "- Ordered a new mast for gannet. (#L3)\n" in text
    assert "- The lease ends soon. (MEMORY.md#L11; due 2025-12-06)\n- Water the fig. (memory/2025-11-01.md#L3;" in text
    assert "- Peter: Prefers short meetings. (memory/2025-11-20.md#L5; opinion, c=0.80)\n" in text
    assert answer["tokens"] == estimate_tokens(text) <= answer["budget"] == 2000
    assert (answer["stale"], answer["warning"]) == (False, None)
    assert all(cited_lines(workspace, answer))


def test_nothing_is_shown_twice(make: Make) -> None:
    text = build_context(make(FILES), now=NOW, question="Where does Peter live? Who has a kayak?")["text"]
    assert text.count("Lives in Porto") == 1
    assert text.count("red kayak") == 1
    assert text.count("The lease ends soon") == 1
    assert text.count("mast") == 1


def test_a_group_never_sees_the_core(make: Make) -> None:
    workspace = make(FILES)
    question = "Mara sails, the lease ends, the alarm code, where does Peter live?"
    answer = build_context(workspace, now=NOW, session="group", question=question)
    assert part(answer, "core") == {"citations": [], "omitted": 0, "tokens": 0}
    assert "MEMORY.md" not in str(answer)
    for secret in ("sails on Saturdays", "lease", "alarm code is"):
        assert secret not in answer["text"]
    # What a log says too is not the core's alone.
    assert "Lives in Porto. (memory/2025-11-20.md#L4)" in answer["text"]
    assert "red kayak" in answer["text"]
    assert build_context(workspace, now=NOW, session="group")["text"].count("## ") == 3


def test_without_a_question_nothing_is_recalled(make: Make) -> None:
    answer = build_context(make(FILES), now=NOW)
    assert "recall" not in [one["name"] for one in answer["parts"]]
    assert "alarm code, due" not in answer["text"]


def test_what_a_question_triggers(make: Make) -> None:
    workspace = make(FILES)
    for question in ("What was the alarm code?", "Did Ada call?", "Has adele a key?"):
        text = build_context(workspace, now=NOW, question=question)["text"]
        assert "- The alarm code is in the blue book. (MEMORY.md#L12; about " in text, question
    text = build_context(workspace, now=NOW, question="Which code is it?")["text"]
    assert "about " not in text


def test_a_mark_below_an_entry_is_its_own(make: Make) -> None:
    answer = build_context(make(FILES), now=datetime(2025, 11, 2, 9, tzinfo=UTC), session="group")
    assert "- Call the notary. (memory/2025-11-01.md#L4; due 2025-11-02)" in answer["text"]


def test_marks_that_keep_an_entry_back(make: Make) -> None:
    day = "<!-- trigger: 2025-12-06 -->"
    workspace = make(
        {
            "memory/2025-01-01.md": f"- one {day} <!-- project: boat -->\n- two {day} <!-- observed: 2025-01-01 |"
            f" status: superseded -->\n- `{day}` three\n- four {day}\n```\n- five {day}\n```\n"
            f"<!-- x:start -->\n- six {day}\n<!-- x:end -->\n- seven ghp_{'a1B2' * 10} {day}\n"
        }
    )
    assert part(build_context(workspace, now=NOW), "due")["citations"] == ["memory/2025-01-01.md#L4"]
    answer = build_context(workspace, now=NOW, projects=["boat"])
    assert part(answer, "due")["citations"] == ["memory/2025-01-01.md#L1", "memory/2025-01-01.md#L4"]


def test_important_and_new_entries_come_first(make: Make) -> None:
    log = "".join(f"- entry number {n} of a long day\n" for n in range(1, 80))
    log = log.replace("number 3 of", "number 3 of <!-- importance: 8 -->").replace(
        "number 79 of", "number 79, the last, of"
    )
    workspace = make({"memory/2025-12-06.md": f"# 2025-12-06\n\n{log}"})
    answer = build_context(workspace, now=NOW, budget=120)
    assert answer["tokens"] <= 120
    assert "number 79" in answer["text"]
    assert "number 3 of a" in answer["text"]
    assert "number 1 of" not in answer["text"]
    shown = part(answer, "today")
    assert len(shown["citations"]) + shown["omitted"] == 79
    assert f"({shown['omitted']} more entries left out)\n" in answer["text"]
    assert shown["citations"] == sorted(shown["citations"], key=lambda one: int(one.rpartition("L")[2]))


def test_what_one_part_leaves_the_others_take(make: Make) -> None:
    log = "".join(f"- entry number {n} of a long day\n" for n in range(200))
    workspace = make({"memory/2025-12-06.md": log})
    answer = build_context(workspace, now=NOW, budget=1000)
    assert part(answer, "today")["tokens"] > 900


def test_files_of_one_day_are_shown_together(make: Make) -> None:
    workspace = make({"memory/2025-12-06.md": "- one\n", "memory/2025-12-06-call.md": "- two\n"})
    answer = build_context(workspace, now=NOW)
    assert part(answer, "today")["citations"] == ["memory/2025-12-06.md#L1", "memory/2025-12-06-call.md#L1"]
    assert "(memory/2025-12-06-call.md)\n\n- two (#L1)\n" in answer["text"]


def test_an_empty_workspace_tells_nothing(make: Make) -> None:
    answer = build_context(make({}), now=NOW, question="anything?")
    assert (answer["text"], answer["tokens"], answer["parts"]) == ("", 0, [])


def test_a_budget_that_is_too_small_tells_nothing(make: Make) -> None:
    answer = build_context(make(FILES), now=NOW, budget=30)
    assert (answer["text"], answer["tokens"]) == ("", 0)
    assert part(answer, "core")["omitted"] > 0


def test_faults(make: Make) -> None:
    workspace = make(FILES)
    with pytest.raises(UsageFault, match="session"):
        build_context(workspace, now=NOW, session="both")
    with pytest.raises(UsageFault, match="budget"):
        build_context(workspace, now=NOW, budget=0)


def test_what_cannot_be_read_is_told(make: Make) -> None:
    workspace = make(FILES | {"memory/2025-12-06.md": ""})
    (Path(workspace.root) / "memory" / "2025-12-06.md").write_bytes("- x\n".encode("utf-16"))
    answer = build_context(workspace, now=NOW)
    assert "memory/2025-12-06.md: it is UTF-16" in answer["warning"]
    assert "mast" in answer["text"]


def test_reading_writes_nothing(make: Make) -> None:
    workspace = make(FILES)
    files = list(Path(workspace.root).rglob("*.md"))
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in files]
    build_context(workspace, now=NOW, question="Where is Peter?")
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in files] == before
    assert list(Path(workspace.root).rglob("*.md")) == files
    assert not (Path(workspace.root) / ".memory" / "recalls.jsonl").exists()


def test_a_pasted_context_is_never_taken_back_in(make: Make) -> None:
    workspace = make(FILES)
    pasted = build_context(workspace, now=NOW, question="What does Peter prefer?")["text"]
    path = "memory/2025-12-07.md"
    before, after = "# 2025-12-07\n\n- Went out.\n\n", "\n- Came home.\n\n## Retain\n- W @Zoe: Has a cat.\n"
    parsed, alone = parse_file(before + pasted + after, path), parse_file(before + after, path)
    assert [one.text for one in parsed.facts] == ["Has a cat."]
    assert [one.text for one in parsed.notes] == ["Went out.", "Came home."]
    assert [one.id for one in parsed.notes] == [one.id for one in alone.notes]
    assert "Peter" not in str(parsed.chunks)
    assert parsed.diagnostics == ()
    (Path(workspace.root) / path).write_text(before + pasted + after, "utf-8")
    later = build_context(workspace, now=NOW + timedelta(days=1), question="What does Peter prefer? Who sails?")
    assert "Went out. (#L3)" in later["text"]
    assert later["text"].count(START) == 1
    assert not [one for one in part(later, "recall")["citations"] if path in one]
    assert part(later, "today")["omitted"] == 0
    assert later["text"].count("Prefers short meetings") == 1


def test_reflect_leaves_a_pasted_context(make: Make) -> None:
    from openclaw_memory.reflect.job import Options, reflect

    workspace = make(FILES)
    log = Path(workspace.root) / "memory" / "2025-12-07.md"
    pasted = build_context(workspace, now=NOW, question="What does Peter prefer?")["text"]
    log.write_text(f"# 2025-12-07\n\n{pasted}\n- Came home.\n", "utf-8")
    before = log.read_bytes()
    report = reflect(workspace, now=NOW + timedelta(days=2), scorer=None, options=Options(write_retain=True))
    assert report.problems == ()
    assert log.read_bytes() == before
    pages = "".join(path.read_text("utf-8") for path in (Path(workspace.root) / "bank").rglob("*.md"))
    assert "memory/2025-11-20.md#L5" in pages
    assert "2025-12-07" not in pages


def test_what_is_hidden_in_a_file_stays_hidden() -> None:
    text = "\n".join(
        ["# T", "<!-- a", "b -->", "- one <!-- trigger: x -->", "```", START, "- code", END, "```", "- two",
         START, "- shown before", END, "<!-- x:start -->", "- machine", "<!-- x:end -->", "```", "open", "- lost"]
    )  # fmt: skip
    found = Excerpts(text).best(10**6, lambda unit: (unit.line,))
    assert [unit.line for unit in found.units] == [4, 5, 10]
    assert "<!--" not in found.text
    assert "shown before" not in found.text
    assert "machine" in Excerpts(text, machine=True).best(10**6, lambda unit: (unit.line,)).text


LINES = st.lists(
    st.sampled_from(
        ["# A", "## Retain", "- a b c", "  - nested", "", "prose 王芳", "- é <!-- trigger: x -->", "```", "~~~", "<!--",
         "-->", START, END, "<!-- x:start -->", "<!-- x:end -->", "| a | b |", "|---|---|", "> quote", "1. n",
         "W @Mara: Sails.", "- O(c=0.5) @Peter: Likes tea.", "    code", "x\n===", "`<!--`", "- ```",
         "ghp_" + "a1" * 20]
    ),
    max_size=24,
)  # fmt: skip


@given(LINES, st.integers(1, 400))
@example(["- ```"], 400)
def test_what_is_shown_fits_and_is_clean_wherever_it_is_pasted(lines: list[str], budget: int) -> None:
    found = Excerpts("\n".join(lines), cite=True).best(budget, lambda unit: (unit.line,))
    assert estimate_tokens(found.text) <= budget
    block = f"{START}\n{found.text}\n{END}\n"
    read = read_lines(f"- before\n\n{block}\n- after\n")
    assert read.open_at is None
    assert [bool(one) for one in read.managed] == [False, False, *[True] * block.count("\n"), False, False]
    assert parse_file(f"{block}\n## Retain\n- W @a: b\n", "memory/2025-01-01.md").facts[0].text == "b"
    same = Excerpts("\n".join(lines), cite=True).best(found.cost, lambda unit: (unit.line,))
    assert same.text == found.text


@given(LINES, LINES, LINES, st.integers(1, 500), st.sampled_from(["main", "group"]))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_files_fit_any_budget(
    tmp_path_factory: pytest.TempPathFactory,
    core: list[str],
    today: list[str],
    yesterday: list[str],
    budget: int,
    session: str,
) -> None:
    root = tmp_path_factory.mktemp("any")
    (root / "memory").mkdir()
    for name, lines in {"MEMORY.md": core, "memory/2025-12-06.md": today, "memory/2025-12-05.md": yesterday}.items():
        (root / name).write_text("\n".join(lines), "utf-8")
    answer = build_context(Workspace(str(root)), now=NOW, session=session, question="Mara sails?", budget=budget)
    assert answer["tokens"] == estimate_tokens(answer["text"]) <= budget
    assert sum(one["tokens"] for one in answer["parts"]) <= budget
    assert "ghp_" not in answer["text"]
    if answer["text"]:
        pasted = parse_file(f"{answer['text']}\n- after\n", "memory/2025-12-08.md")
        assert (pasted.facts, [one.text for one in pasted.notes]) == ((), ["after"])
    if session == "group":
        assert "MEMORY.md" not in answer["text"]


@given(st.integers(-50, 5000), st.fixed_dictionaries({name: st.integers(0, 3000) for name in SHARES}))
def test_shares(budget: int, needs: dict[str, int]) -> None:
    room = allocate(budget, needs)
    assert sorted(room) == sorted(PARTS)
    assert sum(room.values()) <= max(0, budget)
    assert all(0 <= room[name] <= needs[name] for name in room)
    assert all(room[name] >= min(needs[name], int(max(0, budget) * SHARES[name])) for name in room)
    assert sum(room.values()) == min(max(0, budget), sum(needs.values()))


@pytest.mark.parametrize(
    ("phrase", "written", "day"),
    [
        ("2025-12-06", None, TODAY),
        ("2025-12-04", None, date(2025, 12, 4)),
        ("2025-12-03", None, None),
        ("2025-12-07", None, None),
        ("2025-12-01..2025-12-31", None, TODAY),
        ("2025-12-07..2025-12-31", None, None),
        ("2025-12", None, TODAY),
        ("2025-11", None, None),
        ("12-06", None, TODAY),
        ("--12-07", None, None),
        ("every day", None, TODAY),
        ("every Saturday", None, TODAY),
        ("every Sunday", None, None),
        ("jeden Samstag", None, TODAY),
        ("cada sábado", None, TODAY),
        ("every 2 weeks from 2025-11-22", None, TODAY),
        ("every 2 weeks from 2025-11-29", None, None),
        ("every other day", date(2025, 12, 4), TODAY),
        ("every 6th", None, TODAY),
        ("every month on the 7th", None, None),
        ("every year on 6 December", None, TODAY),
        ("6 December", None, TODAY),
        ("7 December", None, None),
        ("6. Dezember 2025", None, TODAY),
        ("2025年12月6日", None, TODAY),
        ("tomorrow", date(2025, 12, 5), TODAY),
        ("tomorrow", None, False),
        ("2025-02-30", None, None),
        ("Mara", None, False),
        ("May", None, False),
        ("every time we sail", None, False),
        ("Q3 2025 plan", None, False),
    ],
)
def test_days_of_a_trigger(phrase: str, written: date | None, day: date | bool | None) -> None:
    assert when_due(phrase, TODAY, written) == day


@pytest.mark.parametrize("today", [date(2025, 2, 28), date(2024, 2, 29)])
def test_a_day_that_not_every_year_has(today: date) -> None:
    assert when_due("02-29", today, None) == today
    assert when_due("every 31st", today, None) == today
    assert when_due("02-29", date(2024, 2, 28), None) is None


@given(st.dates(date(2000, 1, 1), date(2099, 12, 1)), st.integers(-40, 40))
def test_a_day_is_due_on_it_and_shortly_after(day: date, offset: int) -> None:
    today = day + timedelta(offset)
    assert when_due(day.isoformat(), today, None) == (day if 0 <= offset <= LATE_DAYS else None)
    assert when_due(f"every {day:%A}", today, None) == (today if offset % 7 == 0 else None)
    assert when_due(f"{day:%m-%d}", today, None) in (
        (today,) if (day.month, day.day) == (today.month, today.day) else (None, today)
    )
    assert when_due(f"every 10 days from {day}", today, None) == (today if offset >= 0 and offset % 10 == 0 else None)


@pytest.mark.parametrize(
    ("phrase", "question", "there"),
    [
        ("berth", "Where is the Berth?", True),
        ("berth", "Where are the berths?", False),
        ("berth renewal", "when is the renewal of the berth?", True),
        ("berth renewal", "the berth?", False),
        ("five words make one phrase", "make one phrase of five", True),
        ("five words make one phrase", "make one phrase", False),
        ("王芳", "王芳在哪里", True),
        ("a", "a", False),
        ("", "x", False),
    ],
)
def test_words_of_a_trigger(phrase: str, question: str, there: bool) -> None:
    assert says(phrase, question) is there


def test_marks() -> None:
    marks = read_marks("- x <!-- trigger: Mara, boat; 2025-12-06 --> <!-- importance: 7 -->\n  <!-- Importance: 9 -->")
    assert (marks.triggers, marks.importance) == (("Mara", "boat", "2025-12-06"), 9)
    assert read_marks("- x <!-- importance: 11 --> <!-- importance: 0 --> `<!-- importance: 3 -->`") == (
        (),
        None,
        (),
        False,
    )
    assert read_marks("<!-- project: a; b --> <!-- observed: 2025-01-01 | status: superseded -->") == (
        (), None, ("a", "b"), True,
    )  # fmt: skip
    assert due(marks, TODAY, "") == (TODAY, "2025-12-06")
    assert due(marks, date(2025, 1, 1), "about the boat") == (None, "boat")
    assert due(marks, date(2025, 1, 1), "") is None


def test_what_says_the_same() -> None:
    shown = Shown()
    shown.add("MEMORY.md", 4, 5, "Peter: Lives in Porto, near the river.", ["w-1"])
    shown.add("MEMORY.md", 6, 6, "Mara does not like tea.")
    assert shown.holds("w-1", [], "anything")
    assert shown.holds("w-2", [("MEMORY.md", 5)], "anything")
    assert shown.holds("w-2", [], "Peter: lives in Porto.")
    assert not shown.holds("w-2", [("memory/x.md", 5)], "Peter lives in Lisbon")
    assert not shown.holds("w-2", [], "Mara: like tea")
    assert not shown.holds("w-2", [], "")


def test_parts_without_anything_are_empty() -> None:
    assert due_part([], 100) == (("", (), 0, 0), [])
    assert recall_part([], True, 100, Shown()) == (("", (), 0, 0), 0)
    assert Excerpts("").best(100, lambda unit: (unit.line,)) == ("", (), 0, 0)
    assert re.fullmatch(r"<!-- \S+ v1 -->", START)
    assert Unit._fields[0] == "line"
