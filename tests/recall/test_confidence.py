"""Whether an answer says that it is in doubt: measured on the demo workspace, and the plain cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).parent.parent / "cases"


def doubted(demo: Any, ask: Any, name: str) -> float:
    """The share of a set of questions whose answer says that nothing close was found."""
    rows = [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()]
    answers = [ask(demo, row["question"], **row.get("args", {})) for row in rows]
    return sum(answer["confident"] is False for answer in answers) / len(answers)


def test_what_nothing_answers_is_in_doubt_and_what_is_there_is_not(demo: Any, ask: Any) -> None:
    """What is reached, rounded to a whole 5 percent."""
    assert doubted(demo, ask, "demo_unanswerable") >= 0.80
    assert doubted(demo, ask, "demo_questions") <= 0.05


PLANS = "".join(f"- Note {number} about the garden, the shed and plan {number * 7}.\n" for number in range(40))
NOTES = {"memory/2025-12-01.md": f"{PLANS}- The boiler was repaired by Rathje.\n"}


@pytest.mark.parametrize(
    ("question", "args", "confident"),
    [
        ("Who repaired the boiler?", {}, True),
        ("What did the astronaut eat in orbit?", {}, False),
        ("Wer hat Zimtschnecken gebacken?", {}, False),
        ("", {"since": "2025-11-30"}, True),
        ("xyzzy", {}, False),
    ],
)
def test_plain_cases(make: Any, ask: Any, question: str, args: dict[str, str], confident: bool) -> None:
    assert ask(make(NOTES), question, **args)["confident"] is confident


def test_a_language_of_endings_is_not_judged_by_words_that_are_only_like_it(make: Any, ask: Any) -> None:
    notes = {"memory/2025-12-01.md": "- Die Mietvertragsverlängerung wurde abgelehnt.\n- Der Hund schläft.\n"}
    answer = ask(make(notes), "Wurde der Mietvertrag beendet?")
    assert (answer["results"][0]["source"], answer["confident"]) == ("memory/2025-12-01.md#L1", None)
