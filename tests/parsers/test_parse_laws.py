"""Laws that hold for any input: no exception, lines that point at the text, rendering that reads back, linear time."""

import time

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from openclaw_memory.parsers.chunks import CHUNK_TOKENS
from openclaw_memory.parsers.lines import split_lines
from openclaw_memory.parsers.names import fold, mentions
from openclaw_memory.parsers.notes import LONGEST_NOTE_TOKENS
from openclaw_memory.parsers.parse import parse_file
from openclaw_memory.parsers.prefix import parse_typed
from openclaw_memory.parsers.retain import fact_id, render_fact
from openclaw_memory.parsers.tokens import estimate_tokens

PATHS = st.sampled_from(
    [
        "memory/2026-01-05.md",
        "memory/notes.md",
        "bank/opinions.md",
        "bank/entities/A.md",
        "MEMORY.md",
        "USER.md",
        "docs/a.md",
    ]
)
WORDS = [
    "W",
    "B",
    "O",
    "(c=0.9)",
    "（90%）",
    "@Ana",
    '@"Ana Maria"',
    "@[[B c]]",
    ":",
    "：",
    "- ",
    "* ",
    "• ",
    "1. ",
    "  ",
    "\t",
    "\n",
    "\n\n",
    "\r\n",
    "## Retain",
    "### x",
    "---",
    "***",
    "```",
    "~~~",
    "<!--",
    "-->",
    "<!-- a:start -->",
    "<!-- a:end -->",
    "> ",
    "| a | b |",
    "|---|---|",
    "`",
    "**",
    "[x] ",
    "text",
    "霧の日",
    "E",
    "e:",
    "<name>",
    "(see memory/2026-01-02.md#L3)",
    "Evidence: a.md",
    "Nov 27",
    "yesterday",
    " ",
    "\r",
    "﻿",
    "\0",
    "– ",
    "===",
    "\\",
    "    ",
    "<!-- /openclaw-memory:x -->",
    "<!-- openclaw-memory:x v1 -->",
    "=",
    "#",
    "a@b.c",
    "@s/p",
]
MARKDOWN = st.lists(st.sampled_from(WORDS) | st.text(max_size=6), max_size=60).map("".join)
RETAIN = MARKDOWN.map(lambda text: "## Retain\n\n- W @Ana: x\n" + text)


@given(st.binary(max_size=400) | MARKDOWN.map(str.encode), PATHS)
def test_any_bytes_parse(data, path):
    parse_file(data.decode("utf-8", "replace"), path)


@given(MARKDOWN | RETAIN, PATHS)
@settings(max_examples=300)
def test_lines_point_at_the_text(text, path):
    parsed = parse_file(text, path)
    lines = split_lines(text)
    for record in (*parsed.facts, *parsed.notes, *parsed.chunks):
        assert 1 <= record.line <= record.end_line <= len(lines)
        cited = "".join("\n".join(lines[record.line - 1 : record.end_line]).split())
        first = "".join(record.text.split())[:3]
        assert first[:1] in cited
    for fact in parsed.facts:
        assert lines[fact.end_line - 1].strip()
    for diagnostic in parsed.diagnostics:
        assert 1 <= diagnostic.line <= max(1, len(lines))
    assert [f.line for f in parsed.facts] == sorted(f.line for f in parsed.facts)


def told(fact):
    return (fact.kind, fact.entities, fact.confidence, fact.text, fact.details, fact.evidence, fact.id)


@given(RETAIN, st.sampled_from(["memory/2026-01-05.md", "bank/opinions.md"]))
@settings(max_examples=400)
@example("## Retain\n- W @a: x\n  -      > quote", "memory/2026-01-05.md")
@example("## Retain\n- W @a: x\n  - --\n    -", "memory/2026-01-05.md")
def test_render_reads_back(text, path):
    facts = parse_file(text, path).facts
    assume(facts)
    written = "## Retain\n\n" + "\n".join(
        render_fact(f.kind, f.entities, f.confidence, f.text, f.details) for f in facts
    )
    again = parse_file(written, path).facts
    assert [told(f) for f in again] == [told(f) for f in facts]


@given(MARKDOWN | RETAIN, PATHS)
def test_nothing_is_larger_than_its_bound(text, path):
    parsed = parse_file(text * 40, path)
    assert all(estimate_tokens(chunk.text) <= CHUNK_TOKENS + 1 for chunk in parsed.chunks)
    assert all(estimate_tokens(note.text) <= LONGEST_NOTE_TOKENS + 1 for note in parsed.notes)


@given(MARKDOWN)
def test_chunks_cover_every_line(text):
    parsed = parse_file(text, "memory/2026-01-05.md")
    covered = {n for chunk in parsed.chunks for n in range(chunk.line, chunk.end_line + 1)}
    lines = split_lines(text)
    front = (
        0
        if not parsed.front_matter
        else next(n for n in range(1, len(lines)) if lines[n].rstrip() in ("---", "...")) + 1
    )
    assert all(n in covered for n, line in enumerate(lines, 1) if line.strip() and n > front)


@given(st.text(max_size=30))
def test_folding_is_idempotent(name):
    assert fold(fold(name)) == fold(name)


@pytest.mark.parametrize(
    "names", [("The-Castle", "the_castle", "TheCastle", "The Castle"), ("Zoë", "Zoë"), ("STRAßE-9", "strasse-9")]
)
def test_spellings_of_one_name(names):
    assert len({fold(name) for name in names}) == 1
    assert len({fact_id("world", [name], "Painted.") for name in names}) == 1


@given(st.text(max_size=60))
def test_any_head_and_any_mention_parse(text):
    parse_typed(text)
    assert all(fold(name) for name in mentions("@" + text))


SIZE = 60_000
SHAPES = {
    "one long line": lambda n: "word " * (n // 5),
    "one long fact": lambda n: "## Retain\n- W @a: " + "word " * (n // 5),
    "nested bullets on a line": lambda n: "## Retain\n" + "- " * (n // 2) + "W: x",
    "nested bullets by indent": lambda n: "".join(" " * (i % 300) + "- a\n" for i in range(n // 150)),
    "brackets": lambda n: "## Retain\n- W: " + "[" * n,
    "round brackets": lambda n: "## Retain\n- W: " + "(" * n,
    "links": lambda n: "## Retain\n- W: " + "(a.md " * (n // 6),
    "back-ticks": lambda n: "## Retain\n- W: " + " ".join("`" * (i % 200) for i in range(n // 100)),
    "at signs": lambda n: "## Retain\n- W: " + "@" * n,
    "open quotes": lambda n: "## Retain\n- W: " + '@"' * (n // 2),
    "entities": lambda n: "## Retain\n- W " + "@a " * (n // 3) + ": x",
    "comments": lambda n: "<!-- a -->" * (n // 10),
    "open comments": lambda n: "a <!-- \n" * (n // 8),
    "comments over lines": lambda n: "a <!--\nb -->" * (n // 12),
    "fences": lambda n: "```\n" * (n // 4),
    "indented open fences": lambda n: "    ~~~~ a\n" * (n // 11),
    "managed starts": lambda n: "".join(f"<!-- a{i}:start -->\n" for i in range(n // 20)),
    "quotes": lambda n: "> " * (n // 2),
    "bare facts": lambda n: "## Retain\n" + "W @a: b\n" * (n // 8),
    "headings": lambda n: "".join("#" * (1 + i % 6) + " a\n" for i in range(n // 5)),
    "pipes": lambda n: "|" * n + "\n" + "|-" * (n // 2),
    "front matter": lambda n: "---\na: [" + "'a'," * (n // 4) + "]\n---\n",
    "carriage returns": lambda n: "\r" * n,
    "long titles": lambda n: "# " + "long " * (n // 10) + "\n" + "## a\n" * (n // 10),
    "marks in a title": lambda n: "## retain " + "<!--" * (n // 4),
    "emoji in a title": lambda n: "## " + "🧠 " * (n // 2) + "retain",
    "a long list in front matter": lambda n: "---\na:\n" + "- b\n" * (n // 4) + "---\n",
    "wide text": lambda n: "潮水涨落" * (n // 12),
}


def cost(text):
    started = time.process_time()
    parse_file(text, "memory/2026-01-05.md")
    return time.process_time() - started


@pytest.mark.parametrize("shape", SHAPES)
def test_time_is_linear(shape):
    """Four times the input takes about four times as long, never the sixteen of a quadratic rule."""
    make = SHAPES[shape]
    ratios = []
    for _ in range(3):
        ratios.append((cost(make(4 * SIZE)) + 0.02) / (cost(make(SIZE)) + 0.02))
        if ratios[-1] < 8:
            return
    pytest.fail(f"4 x the input took {min(ratios):.1f} x as long")


def test_possessives_name_the_same():
    assert fold("Okoro's") == fold("Okoro’s") == fold("okoro")
    assert fold("N'Dour") == "n'dour"


def test_nothing_below_an_empty_bullet_is_lost():
    """A letter alone is an empty fact; the typed bullets below it used to vanish with it."""
    parsed = parse_file(
        "## Retain\n\n- b\n  - W @Ana: kept\n    - with its detail\n  - plain\n", "memory/2026-01-05.md"
    )
    assert [(fact.text, fact.details) for fact in parsed.facts] == [("kept", ("with its detail",))]
    assert [note.text for note in parsed.notes] == ["plain"]
    assert [d.code for d in parsed.diagnostics] == ["empty-fact"]


def notes(text):
    return [(n.text, n.line, n.end_line, n.heading) for n in parse_file(text, "memory/2026-01-05.md").notes]


def test_lines_that_are_entries_are_notes_of_their_own():
    """Other dashes, arrows, boxes without a blank and times of day used to stick to the line before."""
    text = (
        "# Day\n\n09:00 stand-up\n09:30 dentist,\nback at ten\n\n- oat milk\n– cabin wifi\n→ key at Jonas\n-[ ] tires\n"
    )
    assert [note[:3] for note in notes(text)] == [
        ("09:00 stand-up", 3, 3),
        ("09:30 dentist, back at ten", 4, 5),
        ("oat milk", 7, 7),
        ("cabin wifi", 8, 8),
        ("key at Jonas", 9, 9),
        ("[ ] tires", 10, 10),
    ]


def test_what_hangs_below_an_item_has_it_in_its_heading():
    assert notes("# Plans\n\n- Reading\n  - Stoner\n    - by the lake\n") == [
        ("Reading", 3, 3, "Plans"),
        ("Stoner", 4, 4, "Plans > Reading"),
        ("by the lake", 5, 5, "Plans > Reading > Stoner"),
    ]
