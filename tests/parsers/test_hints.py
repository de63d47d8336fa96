"""Hints: what parses, but hardly as it was meant."""

from openclaw_memory.parsers.hints import hints


def told(text, path="memory/2026-01-05.md"):
    return [(hint.line, hint.code) for hint in hints(text, path)]


def test_typed_bullets_where_no_facts_are_read():
    text = "## Retian\n- W @Alarm: installed\n- B: slate\n- O(c=0.5): fine\n## Retain\n- W @a: x\n- y\n"
    assert told(text) == [(2, "outside-retain"), (4, "outside-retain")]
    assert told("- W @Ana: x\n", "bank/people.md") == [(1, "outside-retain")]
    assert told("- W @Ana: x\n", "bank/world.md") == []
    assert told("- W @Ana: x\n", "docs/a.md") == []


def test_a_comment_that_never_ends():
    assert told("text\n\n<!-- todo\n## Retain\n- W @a: hidden\n") == [(3, "open-comment")]
    assert told("text <!-- closed -->\n") == []
    assert told("```\nopen fence\n") == []
