"""Facts that close each other: in chains, back and forth, and by people who take a fact back."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.reflect.verdicts.scorers import make_scorer
from openclaw_memory.reflect.view import look

NOW = datetime(2026, 6, 1).astimezone()


def standings(tmp_path: Path, logs: dict[str, list[str]], scorer=None) -> dict[str, tuple[str, str | None]]:
    (tmp_path / "memory").mkdir(exist_ok=True)
    for day, lines in logs.items():
        text = "\n".join(["## Retain", *lines, ""])
        (tmp_path / "memory" / f"{day}.md").write_text(text, encoding="utf-8")
    view = look(Workspace.open(str(tmp_path)), now=NOW, scorer=scorer)
    return {fact["text"]: (fact["state"], fact["valid_to"]) for fact in view.facts}


def test_somebody_moves_back(tmp_path):
    found = standings(
        tmp_path,
        {
            "2026-01-01": ["- W @Ana: Lives in Lisbon."],
            "2026-02-01": ["- W @Ana: Lives in Porto. (replaces memory/2026-01-01.md#L2)"],
            "2026-03-01": ["- W @Ana: Lives in Lisbon."],
        },
    )
    assert found == {"Lives in Lisbon.": ("active", None), "Lives in Porto.": ("superseded", "2026-03-01")}


def test_a_chain_closes_link_by_link(tmp_path):
    found = standings(
        tmp_path,
        {
            "2026-01-01": ["- W @Ana: Lives in Lisbon."],
            "2026-02-01": ["- W @Ana: Lives in Porto."],
            "2026-03-01": ["- W @Ana: Lives in Braga."],
        },
        make_scorer("rules"),
    )
    assert found == {
        "Lives in Lisbon.": ("superseded", "2026-02-01"),
        "Lives in Porto.": ("superseded", "2026-03-01"),
        "Lives in Braga.": ("active", None),
    }


def test_a_fact_that_was_wrong(tmp_path):
    found = standings(
        tmp_path,
        {
            "2026-01-01": ["- W @Ana: Has two dogs."],
            "2026-02-01": ["- W @Ana: Has never had a dog. (retracts memory/2026-01-01.md#L2)"],
        },
    )
    assert found["Has two dogs."] == ("retracted", "2026-02-01")


def test_what_two_people_share_is_closed_for_both(tmp_path):
    logs = {
        "2026-01-01": ["- W @Ana @Bram: Lives in Lisbon."],
        "2026-02-01": ["- W @Bram: Lives in Porto."],
    }
    assert standings(tmp_path, logs, make_scorer("rules"))["Lives in Lisbon."] == ("superseded", "2026-02-01")


def test_spans_that_do_not_touch_stand_side_by_side(tmp_path):
    logs = {
        "2026-01-01": ["- W @Ana: Lives in Lisbon (Jan 1–Jan 20, 2026)."],
        "2026-02-01": ["- W @Ana: Lives in Porto (Feb 1–Feb 20, 2026)."],
    }
    assert {state for state, _ in standings(tmp_path, logs, make_scorer("rules")).values()} == {"active"}
