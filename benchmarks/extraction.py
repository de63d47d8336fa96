"""How well sentences are found in narrative: precision and recall over logs with what a person would retain of them.

    python benchmarks/extraction.py [--show]

Runs with rules alone and with spaCy, over the logs that the rules were made with and, apart, those held out.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from openclaw_memory.parsers.lines import split_lines
from openclaw_memory.parsers.parse import parse_file
from openclaw_memory.reflect.extraction import Candidate, extract
from openclaw_memory.reflect.language import Language, load_language

CASES = Path(__file__).parent.parent / "tests" / "cases" / "extraction"
Row = tuple[str, tuple[str, ...], str]


def found_in(log: Path, language: Language | None) -> list[Candidate]:
    """The candidates of a case's log."""
    told = json.loads(log.with_suffix(".json").read_text("utf-8"))
    text = log.read_text("utf-8")
    parsed = parse_file(text, f"memory/{told['day']}.md")
    names = {name.casefold(): name for name in told["names"]}
    return extract(parsed.notes, names, language, split_lines(text))


def expected_of(log: Path) -> set[Row]:
    rows = json.loads(log.with_suffix(".json").read_text("utf-8"))["expected"]
    return {(row["kind"], tuple(row["entities"]), row["text"]) for row in rows}


def measure(folder: Path, language: Language | None, show: bool) -> tuple[int, int, int]:
    """(right, found, expected): a candidate is right if its kind, entities and text are those expected."""
    right = found = expected = 0
    for log in sorted(folder.glob("*.md")):
        rows = {(one.kind, one.entities, one.text): one for one in found_in(log, language)}
        wanted = expected_of(log)
        right += len(wanted & set(rows))
        found += len(rows)
        expected += len(wanted)
        if show:
            for row in sorted(set(rows) - wanted):
                print(f"  {log.stem}: not wanted: {row} {rows[row].score} {rows[row].reason}")
            for row in sorted(wanted - set(rows)):
                print(f"  {log.stem}: missed: {row}")
    return right, found, expected


def main() -> None:
    for title, language in (("rules", None), ("with spaCy", load_language())):
        if title != "rules" and language is None:
            print("spaCy is not installed")
            return
        for name, folder in (("development", CASES), ("held out", CASES / "heldout")):
            started = time.perf_counter()
            right, found, expected = measure(folder, language, "--show" in sys.argv)
            took = time.perf_counter() - started
            precision, recall = right / max(found, 1), right / max(expected, 1)
            print(
                f"{title}, {name}: precision {precision:.2f} ({right}/{found}),"
                f" recall {recall:.2f} ({right}/{expected}), {took * 1000:.0f} ms"
            )


if __name__ == "__main__":
    main()
