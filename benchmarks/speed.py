"""Speed, memory and size, measured on generated workspaces, each beside a peer in the same run.

usage: python benchmarks/speed.py [--sizes 1000,10000,100000] [--quick] [--json] [--bin PATH/TO/openclaw-memory]

A workspace of N passages is N / 10 Markdown files: daily logs with narrative, list items and a Retain section, one in
fifty a page below ``bank/entities/``; words by Zipf's law; always the same for the same size. The peer is the least
that the same machine can do: plain lines in one FTS5 table of the standard library's sqlite3, a bare process of the
same interpreter that asks it, ``os.walk`` and ``os.stat`` over the same tree.

Runs alternate with the peer's (A B A B), one warm-up of each is not counted, and medians are given; a ratio is one
median over the other. What is measured is a regular install of this checkout, built into a temporary environment (or
the one that ``--bin`` names). The script itself needs only the standard library, and judges nothing: its exit code is
0 when it has measured, whatever it measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from made_up import PER_FILE, write_workspace
from probes import BARE, CHANGED, COMMAND, FRESH, INDEX, PLAIN_INDEX, WARM, Install

NOW = "2026-01-01T09:00"


class Row(NamedTuple):
    """One measure: medians of ours and the peer's in ``unit`` (s, MiB, bytes), and of how many runs."""

    measure: str
    peer: str
    unit: str
    ours: float
    theirs: float
    runs: int

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs if self.theirs else 0.0


class Claim(NamedTuple):
    """A bound that the project sets itself; ``row`` is what was measured."""

    claim: str
    bound: float
    row: Row


def alternate(runs: int, *works: Callable[[int], Any]) -> list[list[Any]]:
    """What each work returned, run after run in turn, the first run of each left out."""
    return [list(column)[1:] for column in zip(*([work(n) for work in works] for n in range(runs + 1)), strict=True)]


class Bench:
    """One workspace, measured part by part; ``runs`` scales how often."""

    def __init__(self, install: Install, folder: Path, files: int, runs: int) -> None:
        self.install, self.files, self.runs, self.folder = install, files, runs, folder
        self.root, self.plain = folder / "workspace", folder / "plain.sqlite"
        self.logs, self.questions = write_workspace(self.root, files)
        write_workspace(folder / "tiny", 10)
        self.first = 0.0
        self.configured = {}
        for provider in ("static", "none"):
            path = folder / f"{provider}.json"
            path.write_text(json.dumps({"memory": {"search": {"provider": provider}}}), "utf-8")
            self.configured[provider] = {"OPENCLAW_CONFIG_PATH": str(path)}

    def index(self, runs: int) -> list[Row]:
        """First index, and the memory and the size of it. Each child first indexes ten files, so that imports are not
        timed; there is no other warm-up."""

        def ours() -> tuple[float, float]:
            for root in (self.root, self.folder / "tiny"):
                shutil.rmtree(root / ".memory", ignore_errors=True)
            seconds, peak = self.install.value(INDEX, str(self.folder / "tiny"), str(self.root))
            return seconds, peak

        def theirs() -> tuple[float, float]:
            self.plain.unlink(missing_ok=True)
            seconds, peak = self.install.value(PLAIN_INDEX, str(self.root), str(self.plain))
            return seconds, peak

        pairs = [(*ours(), *theirs(), self.install.child("")[1]) for _ in range(runs)]
        first, peak, plain, plain_peak, bare = (median(column) for column in zip(*pairs, strict=True))
        self.first = first
        markdown = sum(path.stat().st_size for path in self.root.rglob("*.md"))
        index = sum(path.stat().st_size for path in (self.root / ".memory").glob("index.sqlite*"))
        return [
            Row("first index", "lines into plain FTS5", "s", first, plain, runs),
            Row("first index, peak memory", "bare interpreter", "MiB", peak, bare, runs),
            Row("lines into plain FTS5, peak memory", "bare interpreter", "MiB", plain_peak, bare, runs),
            Row("index on disk", "the Markdown", "bytes", index, markdown, 1),
        ]

    def changed(self) -> Row:
        paths = map(str, self.logs[:: max(1, len(self.logs) // (self.runs + 1))][: self.runs + 1])
        seconds, _ = self.install.value(CHANGED, str(self.root), *paths)
        return Row("one changed file synced", "first index", "s", median(seconds), self.first, len(seconds))

    def fresh(self) -> Row:
        pairs, _ = self.install.value(FRESH, str(self.root), str(self.runs * 3))
        ours, theirs = (median(column) for column in zip(*pairs, strict=True))
        return Row("nothing changed: freshness pass", "os.walk + os.stat", "s", ours, theirs, len(pairs))

    def asking(self, number: int) -> list[str]:
        return ["recall", self.questions[number % 20][0], "--workspace", str(self.root), "--now", NOW]

    def spent(self, arguments: list[str], variables: Mapping[str, str] | None = None) -> float:
        started = time.perf_counter()
        self.install.run(arguments, variables)
        return time.perf_counter() - started

    def with_vectors(self) -> Row:
        """Both read a configuration; the peer's switches vectors off."""
        ours, theirs = alternate(
            self.runs * 3,
            lambda n: self.spent([self.install.command, *self.asking(n)], self.configured["static"]),
            lambda n: self.spent([self.install.command, *self.asking(n)], self.configured["none"]),
        )
        words = "the same, vectors off"
        return Row("recall, cold, with vectors", words, "s", median(ours), median(theirs), self.runs * 3)

    def cold(self) -> Row:
        ours, theirs = alternate(
            self.runs * 3,
            lambda n: self.spent([self.install.command, *self.asking(n)]),
            lambda n: self.spent([self.install.python, "-c", BARE, str(self.plain), self.questions[n % 20][1]]),
        )
        return Row("recall, cold process", "bare process, FTS5 query", "s", median(ours), median(theirs), self.runs * 3)

    def recall(self) -> list[Row]:
        where = [str(self.root), str(self.plain), NOW, str(max(1, self.runs // 2)), json.dumps(self.questions)]
        timed, _ = self.install.value(WARM, *where)
        ours, theirs, unknown, theirs_unknown = (median(column) for column in zip(*timed, strict=True))
        peaks, bare = alternate(
            3, lambda n: self.install.child(COMMAND, *self.asking(n))[1], lambda n: self.install.child("")[1]
        )
        return [
            self.cold(),
            self.with_vectors(),
            Row("recall, warm", "FTS5 query, warm", "s", ours, theirs, len(timed)),
            Row("recall, warm, one word in no passage", "FTS5 query, warm", "s", unknown, theirs_unknown, len(timed)),
            Row("recall, peak memory", "bare interpreter", "MiB", median(peaks), median(bare), 3),
        ]


def claims(install: Install, folder: Path, runs: int, known: dict[int, list[Row]]) -> list[Claim]:
    """The four bounds, on 2,000 and 10,000 files; a size that was measured already is not measured again."""
    if 2_000 not in known:
        bench = Bench(install, folder / "claims-2000", 2_000, runs)
        bench.index(1)
        known[2_000] = [bench.cold(), bench.with_vectors()]
        shutil.rmtree(bench.folder)
    if 10_000 not in known:
        bench = Bench(install, folder / "claims-10000", 10_000, runs)
        known[10_000] = [*bench.index(1), bench.changed(), bench.fresh()]
        shutil.rmtree(bench.folder)
    found = {files: {row.measure: row for row in rows} for files, rows in known.items()}
    return [
        Claim("cold recall on 2,000 files, times the bare process", 4, found[2_000]["recall, cold process"]),
        Claim(
            "cold recall on 2,000 files, times the same without vectors",
            2.5,
            found[2_000]["recall, cold, with vectors"],
        ),
        Claim(
            "nothing changed in 10,000 files, times os.walk + os.stat",
            3,
            found[10_000]["nothing changed: freshness pass"],
        ),
        Claim("one changed file of 10,000, share of the first index", 0.1, found[10_000]["one changed file synced"]),
    ]


def machine(install: Install) -> dict[str, Any]:
    code = "import platform, sqlite3; from openclaw_memory.bank.driver import describe\n"
    code += "print(json.dumps([platform.python_version(), sqlite3.sqlite_version, describe()['sqlite']]))"
    (python, plain, own), _ = install.value(code)
    system = f"{platform.system()} {platform.machine()}"
    return {"cores": os.cpu_count(), "system": system, "python": python, "sqlite": own, "sqlite of the peer": plain}


def shown(value: float, unit: str) -> str:
    if unit == "bytes":
        return f"{value / 1e6:,.2f} MB"
    if unit == "MiB":
        return f"{value:.1f} MiB"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.2f} ms"


def print_table(told: dict[str, Any]) -> None:
    print(", ".join(f"{name}: {value}" for name, value in told["machine"].items()))
    for size in told["sizes"]:
        print(f"\n{size['passages']:,} passages in {size['files']:,} files")
        print(f"  {'':36}{'ratio':>9}{'ours':>14}{'peer':>14}  {'peer is':28}{'runs':>5}")
        for row in size["rows"]:
            ours, theirs = shown(row["ours"], row["unit"]), shown(row["theirs"], row["unit"])
            print(f"  {row['measure']:36}{row['ratio']:>9.3g}{ours:>14}{theirs:>14}  {row['peer']:28}{row['runs']:>5}")
    print(f"\n  {'claim':60}{'measured':>9}{'bound':>7}")
    for claim in told["claims"]:
        verdict = "pass" if claim["holds"] else "FAIL"
        print(f"  {claim['claim']:60}{claim['measured']:>9.3g}{claim['bound']:>7}  {verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000", help="passages of each workspace")
    parser.add_argument("--quick", action="store_true", help="1,000 passages only, and fewer runs")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--bin", type=Path, help="the openclaw-memory of a regular install, instead of building one")
    args = parser.parse_args()
    sizes = [1000] if args.quick else [int(size) for size in args.sizes.split(",")]
    runs = 3 if args.quick else 7
    with tempfile.TemporaryDirectory(prefix="speed-") as temporary:
        folder = Path(temporary)
        install = Install(args.bin.absolute()) if args.bin else Install.built(folder)
        told: dict[str, Any] = {"machine": machine(install), "sizes": []}
        known: dict[int, list[Row]] = {}
        for size in sizes:
            print(f"measuring {size:,} passages", file=sys.stderr)
            bench = Bench(install, folder / str(size), max(1, size // PER_FILE), runs)
            rows = bench.index(runs if size <= 10_000 else 3)
            rows = [*rows, bench.fresh(), *bench.recall(), bench.changed()]
            known[bench.files] = rows
            told["sizes"].append({"passages": size, "files": bench.files, "rows": [_told(row) for row in rows]})
            shutil.rmtree(bench.folder)
        print("measuring the claims", file=sys.stderr)
        told["claims"] = [
            {
                "claim": claim.claim,
                "measured": claim.row.ratio,
                "bound": claim.bound,
                "holds": claim.row.ratio <= claim.bound,
                "row": _told(claim.row),
            }
            for claim in claims(install, folder, runs, known)
        ]
    if args.json:
        print(json.dumps(told, indent=1))
    else:
        print_table(told)


def _told(row: Row) -> dict[str, Any]:
    return {**row._asdict(), "ratio": row.ratio}


if __name__ == "__main__":
    main()
