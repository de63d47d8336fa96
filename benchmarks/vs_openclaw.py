"""Stock ``openclaw memory`` beside ours: the same workspace of 500 dated notes, the same thirty questions.

usage: python benchmarks/vs_openclaw.py [--openclaw build/openclaw] [--bin PATH/TO/openclaw-memory] [--json]

``--openclaw``: a folder into which npm has installed ``openclaw`` and a Node (``make test-openclaw`` makes one). Both
get a home of their own, no key and no network, as each is by default. Each question is a process of its own, asked of
one and then of the other (A B A B): wall-clock seconds and peak memory are medians over all of them. A question counts
as answered when one of the results' snippets holds the answer; an old fact has to come first. The script judges
nothing: its exit code is 0 when it has measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from vs_openclaw_questions import DAYS, NO_PROVIDER, Question, write_notes

TIMEOUT = 300.0
WITHOUT_KEY = {"memory": {"search": {"provider": "openai", "model": "text-embedding-3-small"}}}


class Ran(NamedTuple):
    """Wall-clock seconds, peak resident memory of the process tree's largest process in MiB, what it printed."""

    seconds: float
    mebibytes: float
    out: str


class Side(NamedTuple):
    """One of the two: its command, its environment, its workspace and its configuration file."""

    name: str
    command: Sequence[str]
    environment: dict[str, str]
    workspace: Path
    config: Path

    def run(self, *arguments: str) -> Ran:
        began = time.perf_counter()
        process = subprocess.Popen(
            [*self.command, "memory", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.environment,
            cwd=self.workspace,
        )
        timer = threading.Timer(TIMEOUT, process.kill)
        timer.start()
        assert process.stdout
        out = process.stdout.read().decode("utf-8", "replace")
        _, status, used = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
        return Ran(time.perf_counter() - began, used.ru_maxrss / unit, out)

    def configure(self, values: dict[str, Any]) -> None:
        agents = {"defaults": {"workspace": str(self.workspace)}}
        self.config.write_text(json.dumps({"agents": agents, **values}), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--openclaw", type=Path, default=Path(__file__).parent.parent / "build" / "openclaw")
    parser.add_argument("--bin", default=str(Path(sys.executable).parent / "openclaw-memory"))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    stock = stock_command(arguments.openclaw)
    if not stock or not shutil.which(arguments.bin):
        what = arguments.bin if stock else arguments.openclaw
        print(f"vs_openclaw: {what}: not there; see the usage above (--help)", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="vs-openclaw-") as folder:
        told = measure(Path(folder), stock, [arguments.bin])
    print(json.dumps(told, indent=2, ensure_ascii=False) if arguments.json else as_text(told))
    return 0


def stock_command(folder: Path) -> list[str]:
    """Node and the command line of an OpenClaw that npm has installed into ``folder``, [] where they are not there."""
    modules = folder / "node_modules"
    nodes = [*modules.glob("node-*/bin/node"), *modules.glob("node-*/bin/node.exe")]
    entry = modules / "openclaw" / "openclaw.mjs"
    return [str(nodes[0].resolve()), str(entry.resolve())] if nodes and entry.is_file() else []


def measure(folder: Path, stock: list[str], ours: list[str]) -> dict[str, Any]:
    today = datetime.now().astimezone().date()
    sides: list[Side] = []
    questions: list[Question] = []
    for name, command in (("stock", stock), ("ours", ours)):
        home = folder / name
        workspace, config = home / "workspace", home / ".openclaw" / "openclaw.json"
        config.parent.mkdir(parents=True)
        questions = write_notes(workspace, today)
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "TZ", "TMPDIR") if key in os.environ}
        environment = kept | {"HOME": str(home), "OPENCLAW_STATE_DIR": str(config.parent), "NO_COLOR": "1"}
        side = Side(name, command, environment, workspace, config)
        side.configure({})
        sides.append(side)
    indexed = {side.name: side.run("index", "--force") for side in sides}
    answers: dict[str, list[dict[str, Any]]] = {side.name: [] for side in sides}
    for question in questions:
        for side in sides:
            if question.write:
                (side.workspace / question.write[0]).write_text(question.write[1], encoding="utf-8")
            answers[side.name].append(ask(side, question))
    for side in sides:
        side.configure(WITHOUT_KEY)
    for query, answer in NO_PROVIDER:
        for side in sides:
            answers[side.name].append(ask(side, Question("provider without a key", query, answer)))
    return {
        "notes": DAYS,
        "questions": len(questions) + len(NO_PROVIDER),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "sides": {side.name: summary(indexed[side.name], answers[side.name]) for side in sides},
    }


def ask(side: Side, question: Question) -> dict[str, Any]:
    ran = side.run("search", question.query, "--json")
    try:
        results = json.loads(ran.out)["results"]
    except (ValueError, KeyError, TypeError):
        results = []
    found = next((rank for rank, one in enumerate(results, 1) if question.answer in one.get("snippet", "")), 0)
    scores = [one.get("score", 0.0) for one in results]
    return {
        "about": question.about,
        "query": question.query,
        "rank": found,
        "answered": found == 1 if question.about == "old fact" else found > 0,
        "results": len(results),
        "strict": all(a > b for a, b in pairwise(scores)),
        "seconds": ran.seconds,
        "mebibytes": ran.mebibytes,
    }


def summary(indexed: Ran, answers: list[dict[str, Any]]) -> dict[str, Any]:
    kinds = list(dict.fromkeys(answer["about"] for answer in answers))
    return {
        "index": {"seconds": indexed.seconds, "mebibytes": indexed.mebibytes},
        "search": {
            "seconds": median(answer["seconds"] for answer in answers),
            "mebibytes": median(answer["mebibytes"] for answer in answers),
        },
        "answered": sum(answer["answered"] for answer in answers),
        "by": {
            kind: [sum(a["answered"] for a in answers if a["about"] == kind), sum(a["about"] == kind for a in answers)]
            for kind in kinds
        },
        "strictOrder": [sum(a["strict"] for a in answers if a["results"] > 1), sum(a["results"] > 1 for a in answers)],
        "answers": answers,
    }


def as_text(told: dict[str, Any]) -> str:
    stock, ours = told["sides"]["stock"], told["sides"]["ours"]
    lines = [f"{told['notes']} notes, {told['questions']} questions; {told['machine']}", ""]
    lines.append(f"{'':<28}{'stock':>10}{'ours':>10}{'ratio':>9}")
    for name, of, unit in (
        ("first index", "index", "s"),
        ("first index", "index", "MiB"),
        ("a question, cold", "search", "s"),
        ("a question, cold", "search", "MiB"),
    ):
        key = "seconds" if unit == "s" else "mebibytes"
        theirs, own = stock[of][key], ours[of][key]
        lines.append(f"{name + ', ' + unit:<28}{theirs:>10.2f}{own:>10.2f}{theirs / own:>8.1f}x")
    lines.append(f"{'answered':<28}{stock['answered']:>10}{ours['answered']:>10}")
    for kind, (found, of) in ours["by"].items():
        lines.append(f"  {kind:<26}{stock['by'][kind][0]:>7}/{of}{found:>8}/{of}")
    strict = [f"{side['strictOrder'][0]}/{side['strictOrder'][1]}" for side in (stock, ours)]
    lines.append(f"{'answers in strict order':<28}{strict[0]:>10}{strict[1]:>10}")
    missed = [answer["query"] for answer in ours["answers"] if not answer["answered"]]
    return "\n".join([*lines, *(f"ours missed: {query}" for query in missed)])


if __name__ == "__main__":
    sys.exit(main())
