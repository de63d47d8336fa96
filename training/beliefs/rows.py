"""The training rows: pairs that people labelled, each file by another author (``data/``: NAME-AUTHOR.jsonl)."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

from openclaw_memory.reflect.verdicts.records import Claim

DATA = Path(__file__).parent / "data"
AUTHORS = ("1", "2", "3", "4", "5", "6", "7", "ml")
FILES = {"stance": "stance", "succession": "supersede"}
LABELS = {
    "stance": ("neutral", "supports", "contradicts"),
    "succession": ("coexists", "supersedes", "duplicate", "older_late"),
}
STRENGTHS = ("weak", "normal", "strong")
_KINDS = {"W": "world", "B": "experience", "O": "opinion", "S": "observation"}


def read_rows(task: str) -> list[dict[str, Any]]:
    """All rows of a task, with their ``author``."""
    return [
        {**json.loads(line), "author": author}
        for author in AUTHORS
        for line in (DATA / f"{FILES[task]}-{author}.jsonl").read_text("utf-8").splitlines()
    ]


def claims(task: str, row: dict[str, Any]) -> tuple[Claim, Claim]:
    """The two sides of a row."""
    who = (row["entity"],)
    if task == "stance":
        return Claim(row["opinion"], "opinion", who, None), Claim(row["fact"], _KINDS[row["fact_kind"]], who, None)
    return (
        Claim(row["old"], "world", who, date.fromisoformat(row["old_day"])),
        Claim(row["new"], "world", who, date.fromisoformat(row["new_day"])),
    )
