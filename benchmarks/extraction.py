"""How well sentences are found in narrative: precision and recall over logs with what a person would retain of them.

    python benchmarks/extraction.py [--show] [--demo]

Runs with rules alone and with spaCy, over the logs that the rules were made with and, apart, those held out. ``--show``
lists what is wrong; ``--demo`` lists what is found in the demo workspace instead.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

from openclaw_memory.parsers.lines import split_lines
from openclaw_memory.parsers.parse import parse_file
from openclaw_memory.reflect.extraction import Candidate, candidate_line, extract
from openclaw_memory.reflect.language import Language, load_language

ROOT = Path(__file__).parent.parent
CASES = ROOT / "tests" / "cases" / "extraction"
DEMO = ROOT / "workspace_template" / "demo"
Row = tuple[str, tuple[str, ...], str]


class Count(NamedTuple):
    """``right``: found and expected; ``fine``: found, and expected or at least not minded."""

    right: int = 0
    fine: int = 0
    found: int = 0
    expected: int = 0
    notes: int = 0


def found_in(log: Path, language: Language | None) -> tuple[list[Candidate], int]:
    """The candidates of a case's log, and how many notes it has."""
    told = json.loads(log.with_suffix(".json").read_text("utf-8"))
    text = log.read_text("utf-8")
    parsed = parse_file(text, f"memory/{told['day']}.md")
    names = {name.casefold(): name for name in told["names"]}
    return extract(parsed.notes, names, language, split_lines(text), parsed.facts), len(parsed.notes)


def wanted_of(log: Path, key: str = "expected") -> set[Row]:
    """What a person would retain of a case's log; with the key ``also``, what they would not mind."""
    rows = json.loads(log.with_suffix(".json").read_text("utf-8")).get(key, [])
    return {(row["kind"], tuple(row["entities"]), row["text"]) for row in rows}


def measure(folder: Path, language: Language | None, show: bool) -> Count:
    """A candidate counts if its kind, entities and text are those of a row."""
    total = Count()
    for log in sorted(folder.glob("*.md")):
        candidates, notes = found_in(log, language)
        rows = {(one.kind, one.entities, one.text): one for one in candidates}
        wanted, also = wanted_of(log), wanted_of(log, "also")
        fine = set(rows) & (wanted | also)
        one = Count(len(wanted & set(rows)), len(fine), len(rows), len(wanted), notes)
        total = Count(*(a + b for a, b in zip(total, one, strict=True)))
        if show:
            for row in sorted(set(rows) - fine):
                print(f"  {log.stem}: not wanted: {row} {rows[row].score} {rows[row].reason}")
            for row in sorted(wanted - set(rows)):
                print(f"  {log.stem}: missed: {row}")
    return total


def show_demo(language: Language | None) -> None:
    """Print what is found in the demo's logs, by the names that its pages and facts know."""
    texts = {path.relative_to(DEMO).as_posix(): path.read_text("utf-8") for path in sorted(DEMO.rglob("*.md"))}
    files = {path: parse_file(text, path) for path, text in texts.items()}
    names: dict[str, str] = {}
    for path, parsed in files.items():
        if path.startswith("bank/entities/"):
            names |= {name.casefold(): parsed.title for name in (Path(path).stem, parsed.title, *parsed.aliases)}
    for parsed in files.values():
        for fact in parsed.facts:
            for name in fact.entities:
                names.setdefault(name.casefold(), name)
    for path, parsed in files.items():
        if parsed.role == "log":
            for one in extract(parsed.notes, names, language, split_lines(texts[path]), parsed.facts):
                print(f"{one.kind:10} {one.score:.2f} {', '.join(one.entities)}: {candidate_line(one)}")


def main() -> None:
    if "--demo" in sys.argv:
        show_demo(load_language())
        return
    for title, language in (("rules", None), ("with spaCy", load_language())):
        if title != "rules" and language is None:
            print("spaCy is not installed")
            return
        for name, folder in (("development", CASES), ("held out", CASES / "heldout")):
            measure(folder, language, False)  # what is compiled or loaded at first use is not counted
            started = time.perf_counter()
            one = measure(folder, language, "--show" in sys.argv)
            took = (time.perf_counter() - started) * 1000 / max(one.notes, 1)
            precision, recall = one.fine / max(one.found, 1), one.right / max(one.expected, 1)
            print(
                f"{title}, {name}: precision {precision:.2f} ({one.fine}/{one.found}),"
                f" recall {recall:.2f} ({one.right}/{one.expected}), {took:.2f} ms a note, parsing included"
            )


if __name__ == "__main__":
    main()
