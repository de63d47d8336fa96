"""How well verdicts are inferred: opinions and newer facts, older and newer facts, and whole small workspaces.

    python benchmarks/beliefs.py --stance FILE --supersede FILE [--scenarios DIR] [--scorer rules|learned|model]
        [--json]

Rates are fractions of all rows. Rows are never printed: those that are measured on are not to be read.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from openclaw_memory.bank.config import DEFAULT_AGENT, read_configuration
from openclaw_memory.reflect.verdicts.records import Claim, Scorer
from scenarios import run_scenarios

KINDS = {"W": "world", "B": "experience", "O": "opinion", "S": "observation"}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def stance(scorer: Scorer, told: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Accuracy and errors of stances."""
    said = []
    for row in told:
        who = (row["entity"],)
        fact = Claim(row["fact"], KINDS[row.get("fact_kind", "W")], who, None)
        said.append(scorer.stance(Claim(row["opinion"], "opinion", who, None), fact).relation)
    pairs = [(row["label"], relation) for row, relation in zip(told, said, strict=True)]
    size = len(pairs) or 1
    return {
        "accuracy": accuracy(pairs),
        "macro_f1": macro_f1(pairs),
        "false_contradictions": sum(a == "neutral" and b == "contradicts" for a, b in pairs) / size,
        "missed_contradictions": sum(a == "contradicts" and b != "contradicts" for a, b in pairs) / size,
        "swapped": sum({a, b} == {"supports", "contradicts"} for a, b in pairs) / size,
        "by_why": grouped((row["why"], pair) for row, pair in zip(told, pairs, strict=True)),
        "by_lang": grouped((row["lang"], pair) for row, pair in zip(told, pairs, strict=True)),
    }


def supersede(scorer: Scorer, told: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Accuracy and errors of successions."""
    pairs = []
    for row in told:
        who = (row["entity"],)
        old = Claim(row["old"], "world", who, date.fromisoformat(row["old_day"]))
        new = Claim(row["new"], "world", who, date.fromisoformat(row["new_day"]))
        pairs.append((row["label"], scorer.succession(old, new).relation))
    size = len(pairs) or 1
    return {
        "accuracy": accuracy(pairs),
        "macro_f1": macro_f1(pairs),
        "false_supersessions": sum(a != "supersedes" and b == "supersedes" for a, b in pairs) / size,
    }


def accuracy(pairs: Sequence[tuple[str, str]]) -> float:
    return sum(a == b for a, b in pairs) / (len(pairs) or 1)


def macro_f1(pairs: Sequence[tuple[str, str]]) -> float:
    """The mean of the F1 of each label that occurs."""
    truth, said = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    right = Counter(a for a, b in pairs if a == b)
    return sum(2 * right[label] / (truth[label] + said[label]) for label in truth) / (len(truth) or 1)


def grouped(told: Iterable[tuple[str, tuple[str, str]]]) -> dict[str, Any]:
    groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name, pair in told:
        groups[name].append(pair)
    return {name: {"rows": len(own), "accuracy": round(accuracy(own), 3)} for name, own in sorted(groups.items())}


def scorer_of(name: str) -> Scorer:
    from openclaw_memory.reflect.verdicts.scorers import make_scorer

    if name != "model":
        return make_scorer(name)
    from openclaw_memory.reflect.verdicts.choosing import choose_scorer

    configuration = read_configuration(os.environ)
    scratch = tempfile.mkdtemp()
    found = choose_scorer("model", configuration, DEFAULT_AGENT, scratch, lambda line: print(line, file=sys.stderr))
    assert found is not None
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stance", type=Path)
    parser.add_argument("--supersede", type=Path)
    parser.add_argument("--scenarios", type=Path)
    parser.add_argument("--scorer", default="learned", choices=("rules", "learned", "model"))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    scorer = scorer_of(given.scorer)
    told: dict[str, Any] = {}
    if given.stance:
        told["stance"] = stance(scorer, rows(given.stance))
    if given.supersede:
        told["supersede"] = supersede(scorer, rows(given.supersede))
    if given.scenarios:
        told["scenarios"] = run_scenarios(given.scenarios, scorer)
    if given.json:
        print(json.dumps(told, indent=2, ensure_ascii=False))
        return
    for name, values in told.items():
        print(name)
        for key, value in values.items():
            if isinstance(value, dict):
                print(
                    f"  {key}: "
                    + ", ".join(f"{k} {v['accuracy']:.2f}/{v['rows']}" if "rows" in v else k for k, v in value.items())
                )
            else:
                print(f"  {key}: {value:.3f}" if isinstance(value, float) else f"  {key}: {value}")


if __name__ == "__main__":
    main()
