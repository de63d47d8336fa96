"""Faults that were found by use and by attack, each with its story."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from openclaw_memory.bank.driver import connect
from openclaw_memory.bank.errors import UsageFault
from openclaw_memory.bank.index import remove
from openclaw_memory.bank.sync import sync

LONG = "The harbour office opened at eight and the ferry to the island left with nobody on board that day. "


def test_the_snippet_of_a_long_line_is_where_the_answer_stands(make, find):
    """All chunks of one long line have the same line numbers, and the first piece used to be shown."""
    text = LONG * 22 + "The gannet is moored at berth forty-two. " + LONG * 6
    answer = find(make({"memory/2025-12-01.md": text}), "where is the gannet moored?")
    assert "berth forty-two" in answer["results"][0]["snippet"]


def test_the_snippet_is_around_the_line_with_most_words(make, find):
    """It used to be cut around the first line with any word of the question."""
    text = f"The port is {LONG * 6}\n{LONG * 2}\nThe gannet is moored at berth forty-two.\n"
    answer = find(make({"memory/2025-12-01.md": text}), "where in the port is the gannet moored?")
    assert "berth forty-two" in answer["results"][0]["snippet"]


def test_text_after_a_nested_list_or_a_fence_cites_its_own_lines(make, ask):
    """An item's later paragraph was cited with the item's first line."""
    text = "- deploy steps\n  - run make\n\n  then call Zoe\n- other\n  ```\n  make\n  ```\n  ask Ruben\n"
    workspace = make({"memory/2025-12-01.md": text})
    assert ask(workspace, "call Zoe")["results"][0]["source"] == "memory/2025-12-01.md#L4"
    assert ask(workspace, "ask Ruben")["results"][0]["source"] == "memory/2025-12-01.md#L9"


def test_what_hangs_below_a_fact_is_recalled(make, ask):
    """A table, a quote or a code block below a typed bullet stood in no record at all."""
    text = "## Retain\n\n- W @a: backup runs nightly\n\n  ```\n  tarstow push\n  ```\n\n  > ask Ruben first\n"
    workspace = make({"memory/2025-12-01.md": text})
    assert ask(workspace, "tarstow push")["results"][0]["source"] == "memory/2025-12-01.md#L6"
    assert "Ruben" in ask(workspace, "Ruben")["results"][0]["content"]


def test_an_entity_filter_is_no_stem(make, ask):
    """``--entity Mark`` let "marking the exams" through."""
    text = "- W @Mark: Lives in Kiel.\n- W @Anna: Was marking the exams.\n- Mark called.\n"
    workspace = make({"memory/2025-12-01.md": "## Retain\n" + text})
    found = {result["content"] for result in ask(workspace, "exams Kiel called", entity="Mark")["results"]}
    assert found == {"Lives in Kiel.", "Mark called."}


def test_places_pass_the_filters_too(make, ask):
    fact = "## Retain\n- W @Mark: Lives in Kiel.\n"
    workspace = make({"memory/2025-12-01.md": fact, "memory/2025-12-04.md": fact})
    (result,) = ask(workspace, "Kiel", as_of="2025-12-02")["results"]
    assert result["places"] == ["memory/2025-12-01.md#L2"]


def test_a_named_entity_answers_when_no_word_does(make, ask):
    """In a small workspace a question in other words found nothing, though all that was known was about the name."""
    text = "## Retain\n- W @Peter: Lives in Lisbon.\n- O(c=0.9) @Peter: Prefers short replies.\n"
    workspace = make({"memory/2025-12-01.md": text})
    for question in ("What city is Peter in?", "Wo wohnt Peter?", "How old is Peter?"):
        assert ask(workspace, question)["results"], question


def test_what_is_only_alike_counts_less(make, ask):
    """``stay`` found "staging" and came before the line with the question's own words."""
    text = "- Priya reported that the staging cluster is down\n- We agreed to keep Postgres 14\n- Hates phone calls\n"
    workspace = make({"memory/2025-12-01.md": text})
    results = ask(workspace, "Why do we stay on Postgres 14?")["results"]
    assert "Postgres" in results[0]["content"]
    alike = ask(workspace, "clutser")["results"]
    assert "cluster" in alike[0]["content"]
    assert alike[0]["score"] < 0.6


def test_irregular_forms_meet(make, ask):
    workspace = make({"memory/2025-12-01.md": "- Marek found the key\n- Ran seven kilometres\n- Gave Mum a scarf\n"})
    for question, word in (("What did Marek find?", "key"), ("How far did I run?", "seven"), ("give mum", "scarf")):
        assert word in ask(workspace, question)["results"][0]["content"], question


def test_now_asks_for_the_newest(make, ask):
    """Of three homes the oldest came first, since its log was the shortest."""
    more = "".join(f"- W @Peter: Bought a lamp number {n}.\n" for n in range(6))
    homes = {"2025-01-10": "Lisbon", "2025-09-02": "Porto", "2025-12-04": "Braga"}
    files = {f"memory/{day}.md": f"## Retain\n- W @Peter: Lives in {home}.\n" for day, home in homes.items()}
    files["memory/2025-12-04.md"] += more
    assert ask(make(files), "where does Peter live now?")["results"][0]["content"] == "Lives in Braga."


def test_the_best_result_is_cut_and_not_passed_over(make, ask):
    """A small budget used to be filled with whatever was small enough."""
    text = "- mum's cat is called Minka, and she sleeps on the radiator all winter long\n- ticket HZ-20931\n"
    answer = ask(make({"memory/2025-12-01.md": text}), "mum's cat", budget=8)
    assert answer["results"][0]["content"].startswith("mum's cat")
    assert answer["results"][0]["content"].endswith("…")
    assert answer["tokens"] <= 8


def test_a_question_without_words_answers_nothing(make, ask):
    workspace = make({"memory/2025-12-01.md": "- text\n"})
    for question in ("", "  ", "?", "-"):
        assert ask(workspace, question)["results"] == []
    assert ask(workspace, "", since="2025-11-30")["results"]


@pytest.mark.parametrize("kind", [",", " , "])
def test_a_kind_that_names_none_is_wrong(make, ask, kind):
    with pytest.raises(UsageFault):
        ask(make({"memory/2025-12-01.md": "- text\n"}), "text", kind=kind)


def test_a_row_that_does_not_read_is_damage(make, ask):
    """A broken JSON cell made every recall and every sync fail until the index was deleted by hand."""
    workspace = make({"memory/2025-12-01.md": "## Retain\n- W @Mark: Lives in Kiel.\n"})
    sync(workspace)
    connection = connect(workspace.index_path)
    connection.execute("UPDATE passages SET entities = ?", [json.dumps(["Mark"])[:-2]])
    connection.close()
    answer = ask(workspace, "where does Mark live?")
    assert [result["content"] for result in answer["results"]] == ["Lives in Kiel."]
    assert "built again" in answer["warning"]


def test_a_long_heading_is_not_stored_with_every_passage(make):
    """A paragraph over ``---`` is a heading; every passage below it used to hold all of it."""
    sizes = []
    heading = "word " * 4000
    for title in ("word ", heading):
        workspace = make({"memory/2025-12-01.md": title + "\n---\n\n" + "- item\n" * 500})
        sync(workspace)
        sizes.append(Path(workspace.index_path).stat().st_size)
        assert remove(workspace)
    assert sizes[1] - sizes[0] < 10 * len(heading)


def test_a_name_counts_in_a_small_workspace(make, ask):
    """Five of forty passages named Tilda; so she was taken for somebody whom everything mentions, and a line about
    where another lives came first."""
    tilda = ("Moved to Lyon on Nov 1, 2026.", "Broke her left wrist.", "Plays the viola.", "Has a sister in Graz.")
    files = {
        "memory/2026-11-01.md": "## Retain\n" + "".join(f"- W @Tilda: {fact}\n" for fact in (*tilda, "Hates fennel.")),
        "bank/entities/Ines.md": "# Ines\n- W: Lives in Porto with her husband Duarte.\n- W: Teaches physics.\n",
    }
    files |= {f"memory/2026-10-{day:02}.md": f"- Bought lamp number {day}.\n" for day in range(1, 25)}
    first = ask(make(files), "Where does Tilda live?")["results"][0]
    assert first["entities"] == ["Tilda"]
