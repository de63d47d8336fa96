"""The nightly job on a large workspace: a first run, then a night with one new day, then one with nothing new.

    python benchmarks/reflect.py [--facts 100000] [--entities 2000] [--spread zipf|even] [--judge learned|rules|none]
        [--json]

Words are English ones and follow Zipf's law. Names are made up; they do too, so that a few entities are in most of the
facts. Each run is a process of its own; the ratios are of times in one and the same benchmark run.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

from made_up import Vocabulary
from openclaw_memory.bank.static_space import static_embedder

OF_A_DAY = 100


def english(entities: int) -> Vocabulary:
    """Names that are made up, words that the built-in model knows."""
    words = Vocabulary(entities)
    embedder = static_embedder()
    assert embedder is not None
    known = sorted(w for w in embedder._table.vocabulary() if w.isascii() and w.isalpha() and len(w) > 3)
    words.random.shuffle(known)
    kept = words.words[: len(words.words) - len(words._content)]
    words.words = [*kept, *known][: len(words.words)]
    words._weights = words._weights[: len(words.words)]
    return words


def write_day(root: Path, words: Vocabulary, day: date, count: int = OF_A_DAY) -> None:
    """One log with a Retain section."""
    lines = [f"# {day}", "", "## Retain", "", *(words.fact() for _ in range(count))]
    (root / "memory" / f"{day}.md").write_text("\n".join(lines) + "\n", "utf-8")


def night(root: Path, judge: str, now: date) -> tuple[float, int, str]:
    """Seconds, peak memory in KiB, and the summary of one run."""
    program = [sys.executable, "-m", "openclaw_memory", "reflect", "--workspace", str(root), "--judge", judge]
    start = time.perf_counter()
    done = subprocess.Popen([*program, "--now", now.isoformat()], stdout=subprocess.PIPE, text=True)
    out = done.communicate()[0]
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 3):
        raise SystemExit(f"reflect ended with {done.returncode}")
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, out.strip().splitlines()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--entities", type=int, default=2000)
    parser.add_argument("--judge", default="learned", choices=("learned", "rules", "none"))
    parser.add_argument("--spread", default="zipf", choices=("zipf", "even"), help="how often names occur")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    words = english(given.entities)
    if given.spread == "even":
        words._name_weights = list(range(1, given.entities + 1))
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        (root / "memory").mkdir()
        days = given.facts // OF_A_DAY
        for number in range(days):
            write_day(root, words, date(2023, 1, 1) + timedelta(days=number))
        today = date(2023, 1, 1) + timedelta(days=days)
        told = {}
        told["first"] = night(root, given.judge, today)
        write_day(root, words, today)
        told["one new day"] = night(root, given.judge, today + timedelta(days=1))
        told["nothing new"] = night(root, given.judge, today + timedelta(days=2))
    first = told["first"][0]
    rows = {
        name: {
            "seconds": round(seconds, 2),
            "of_first": round(seconds / first, 4),
            "peak_mib": memory // 1024,
            "said": said,
        }
        for name, (seconds, memory, said) in told.items()
    }
    if given.json:
        print(json.dumps({"facts": given.facts, "entities": given.entities, "judge": given.judge, **rows}, indent=2))
        return
    for name, row in rows.items():
        print(f"{name:<12} {row['seconds']:>8.2f} s  {row['of_first']:>7.2%}  {row['peak_mib']:>5} MiB  {row['said']}")


if __name__ == "__main__":
    main()
