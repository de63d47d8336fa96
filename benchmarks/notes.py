"""Recall measured on the demo workspace: questions about notes, and paraphrases that share no word with their answer.

usage: python benchmarks/notes.py [--json]

The questions stand in ``tests/cases/demo_questions.jsonl`` and ``demo_paraphrases.jsonl``. hit@k: share of questions
with a right line among the first k results; by way of asking (words, entity, time, kind, cjk, …). Weights that are
tuned on conversations are checked here, so that they do not bend to them. doubted: share of questions whose answer
says ``confident: false``; of those in ``demo_unanswerable.jsonl``, which nothing answers, it should be all.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

from openclaw_memory.bank.template import copy_template
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.engine import recall
from openclaw_memory.recall.filters import make_filters

CASES = Path(__file__).parent.parent / "tests" / "cases"
NOW = datetime.fromisoformat("2025-12-06T12:00")
KS = (1, 3, 5, 10)


def measure(workspace: Workspace, name: str) -> dict[str, dict[str, float]]:
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for question in map(json.loads, (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()):
        rank, doubted = rank_of(workspace, question)
        row: Counter[str] = Counter({f"hit@{k}": float(rank <= k) for k in KS} | {"doubted": float(doubted), "n": 1})
        for group in filter(None, (question.get("how"), f"all {name.removeprefix('demo_')}")):
            sums[group].update(row)
    return {
        group: {key: (value if key == "n" else round(value / c["n"], 3)) for key, value in c.items()}
        for group, c in sums.items()
    }


def rank_of(workspace: Workspace, question: dict[str, Any]) -> tuple[float, bool]:
    """The rank of the first result that cites an expected line, and whether the answer itself is in doubt."""
    given = {name.replace("-", "_"): value for name, value in (question.get("args") or {}).items()}
    answer = recall(workspace, question["question"], now=NOW, k=max(KS), filters=make_filters(NOW, **given))
    right = set(question.get("expect", ()))
    ranks = (float(rank) for rank, result in enumerate(answer["results"], 1) if right & set(result["places"]))
    return next(ranks, float("inf")), answer["confident"] is False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        copy_template(temporary, demo=True)
        workspace = Workspace.open(temporary)
        names = ("demo_questions", "demo_paraphrases", "demo_unanswerable")
        table = {group: row for name in names for group, row in measure(workspace, name).items()}
    if args.json:
        print(json.dumps(table, indent=1))
        return
    columns = [*(f"hit@{k}" for k in KS), "doubted", "n"]
    print(f"{'':18}" + "".join(f"{name:>9}" for name in columns))
    for group, values in table.items():
        print(f"{group:18}" + "".join(f"{values[name]:>9}" for name in columns))


if __name__ == "__main__":
    main()
