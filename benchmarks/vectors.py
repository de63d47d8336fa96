"""The nearest passages to a question, as recall finds them, against every vector compared in full by sqlite-vec.

usage: python benchmarks/vectors.py [--passages 100000] [--questions 21] [--topics N] [--json]

Passages are sentences and facts of English words, drawn by Zipf's law from the words that the built-in model knows (its
rows are the longer the rarer a word is, which gives their order); with ``--topics`` half of a passage's words are of
one of N subjects. A question is some words of one passage. All of it is always the same for the same numbers.

The peer is one ``vec0`` table of the same vectors, unquantised (float32), asked for the ten of least cosine distance.
Ours are the tables of a real index: the question is embedded (which the peer is spared), then ``spaces.nearest`` is
asked for ten, once with the extension and once without, where the same must come out, and for the hundred that recall
asks for. Questions take turns (peer, ours, …), a first round is not counted, medians are given; ``found``: the share of
the peer's ten that are among ours.

It needs the package with numpy and sqlite-vec. It measures and does not judge: its exit code is 0 whatever it measured.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy
from made_up import PER_FILE, Vocabulary
from openclaw_memory.bank import spaces
from openclaw_memory.bank.driver import Connection, connect, connect_to_read, describe, load_vectors
from openclaw_memory.bank.embeddings.static import StaticEmbedder, Table
from openclaw_memory.bank.index import PAGE_SIZE, transaction
from openclaw_memory.bank.schema import create
from openclaw_memory.bank.vectors import Query, quantised

SIZE, ASKED_BY_RECALL = 10, 100
#: What the project asks of itself: the share of the peer's time, and of what the peer finds.
TIME_BOUND, FOUND_BOUND = 0.25, 0.98
_PEER = f"SELECT rowid FROM peer WHERE embedding MATCH ? AND k = {SIZE}"
_PART = 2000
_SUBJECT_WORDS = 60


class English(Vocabulary):
    """The made-up vocabulary with words that the built-in model knows."""

    def __init__(self, embedder: StaticEmbedder, topics: int) -> None:
        super().__init__(400)
        table: Table = embedder._table
        rows = {word: row for word, row in table.vocabulary().items() if word.isascii() and word.isalpha()}
        scales, values = table.arrays(numpy)
        places = numpy.array(list(rows.values()))
        lengths = scales[places] * numpy.linalg.norm(values[places].astype(numpy.float64), axis=1)
        names = list(rows)
        self.words = [names[place] for place in numpy.argsort(lengths, kind="stable").tolist()]
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(self.words))))
        rare = self.words[200:]
        self._subjects = [self.random.sample(rare, _SUBJECT_WORDS) for _ in range(topics)]

    def passage(self, number: int) -> str:
        text = self.fact() if number % PER_FILE > 5 else self.sentence()
        if not self._subjects:
            return text
        subject = self._subjects[number // 3 % len(self._subjects)]
        own = self.random.choices(subject, k=len(text.split()) // 2)
        return " ".join(word for pair in zip(text.split(), own, strict=False) for word in pair)

    def question(self, form: str, passages: list[str]) -> tuple[str, str]:
        """Three to five words of one passage behind a few that ask."""
        words = [word.strip(".:@").lower() for word in self.random.choice(passages).split()]
        asked = self.random.sample(words, min(len(words), self.random.randint(3, 5)))
        return f"{form} {' '.join(asked)}?", ""


class Measured(NamedTuple):
    """One way to ask: the median in seconds, that as a share of the peer's, and the share of its ten that are found."""

    way: str
    seconds: float
    ratio: float
    found: float


class Stores:
    """The same passages in an index of ours and in the peer's table; each is asked on a connection that only reads."""

    def __init__(self, folder: Path, texts: Sequence[str], embedder: StaticEmbedder) -> None:
        self.embedder = embedder
        ours, theirs = str(folder / "index.sqlite"), str(folder / "peer.sqlite")
        self.filling = self._fill(ours, theirs, texts)
        self.peer, self.index, self.plain = (connect_to_read(path) for path in (theirs, ours, ours))
        for connection in (self.peer, self.index):
            _load(connection)

    def _fill(self, ours: str, theirs: str, texts: Sequence[str]) -> dict[str, float]:
        index, peer = connect(ours), connect(theirs)
        index.execute(f"PRAGMA page_size={PAGE_SIZE}")
        for connection in (index, peer):
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            _load(connection)
        seconds = dict.fromkeys(("embedding", "ours", "peer"), 0.0)
        with transaction(index):
            create(index)
        with transaction(index), transaction(peer):
            width = self.embedder.dimensions
            peer.execute(f"CREATE VIRTUAL TABLE peer USING vec0(embedding float[{width}] distance_metric=cosine)")
            for start in range(0, len(texts), _PART):
                part = texts[start : start + _PART]
                began = time.perf_counter()
                vectors = self.embedder.embed_documents(part)
                embedded = time.perf_counter()
                peer.executemany("INSERT INTO peer(rowid, embedding) VALUES (?, ?)", _floats(vectors, start + 1))
                inserted = time.perf_counter()
                _insert_passages(index, part, start + 1)
                made = time.perf_counter()
                rows = [
                    spaces.Row(number, _key(number), small)
                    for number, vector in enumerate(vectors, start + 1)
                    if (small := quantised(vector))
                ]
                spaces.insert(index, spaces.STATIC, rows)
                spaces.keep_in_step(index, spaces.STATIC)
                ended = time.perf_counter()
                parts = (embedded - began, ended - made, inserted - embedded)
                seconds = {name: total + one for (name, total), one in zip(seconds.items(), parts, strict=True)}
        index.close()
        peer.close()
        return seconds

    def ask_peer(self, question: str) -> tuple[float, list[int]]:
        ((_, floats),) = _floats([self.embedder.embed_query(question)], 0)
        began = time.perf_counter()
        rows = self.peer.execute(_PEER, (floats,)).fetchall()
        return time.perf_counter() - began, [passage for (passage,) in rows]

    def asking(self, connection: Connection, size: int) -> Callable[[str], tuple[float, list[int]]]:
        def ask(question: str) -> tuple[float, list[int]]:
            began = time.perf_counter()
            vector = quantised(self.embedder.embed_query(question))
            found = spaces.nearest(connection, spaces.STATIC, Query(vector), size) if vector else {}
            return time.perf_counter() - began, list(found)

        return ask

    def close(self) -> None:
        for connection in (self.peer, self.index, self.plain):
            connection.close()


def _load(connection: Connection) -> None:
    problem = load_vectors(connection)
    if problem:
        sys.exit(f"sqlite-vec is needed here: {problem}")


def _key(number: int) -> str:
    return f"n-{hashlib.sha256(str(number).encode()).hexdigest()[:12]}"


def _floats(vectors: Sequence[Sequence[float]], first: int) -> list[tuple[int, bytes]]:
    """(row, float32 of length one), counted from ``first``."""
    rows = numpy.array(vectors, numpy.float64)
    rows /= numpy.maximum(numpy.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return [(number, row.astype("<f4").tobytes()) for number, row in enumerate(rows, first)]


def _insert_passages(index: Connection, texts: Sequence[str], first: int) -> None:
    """What the vectors' rows refer to."""
    files = sorted({number // PER_FILE + 1 for number in range(first, first + len(texts))})
    index.executemany(
        "INSERT OR IGNORE INTO files VALUES (?, ?, 'log', NULL, '', 0, 0, 0, 0, 0, '')",
        [(file, f"memory/{file}.md") for file in files],
    )
    index.executemany(
        "INSERT INTO passages (id, file, position, key, kind, origin, text, details, line, end_line, timely, spans,"
        " heading, entities, evidence) VALUES (?, ?, ?, ?, 'note', 'stated', ?, '', 1, 1, 0, '[]', '', '[]', '[]')",
        [
            (number, number // PER_FILE + 1, number % PER_FILE, _key(number), text)
            for number, text in enumerate(texts, first)
        ],
    )


def measure(stores: Stores, questions: Sequence[str]) -> tuple[list[Measured], bool]:
    """Each way, the peer first; and whether the index gave the same in the same order without the extension."""
    ways = {
        "peer: float32 in full": stores.ask_peer,
        "ours": stores.asking(stores.index, SIZE),
        f"ours, {ASKED_BY_RECALL} as recall asks": stores.asking(stores.index, ASKED_BY_RECALL),
        "ours, without the extension": stores.asking(stores.plain, SIZE),
        f"ours, {ASKED_BY_RECALL}, without": stores.asking(stores.plain, ASKED_BY_RECALL),
    }
    rounds = [[ask(question) for ask in ways.values()] for question in (questions[0], *questions)][1:]
    columns = list(zip(*rounds, strict=True))
    medians = [median(seconds for seconds, _ in column) for column in columns]
    shares = [
        sum(len({*found} & {*theirs}) / max(1, len(theirs)) for (_, found), (_, theirs) in pairs) / len(rounds)
        for pairs in (list(zip(column, columns[0], strict=True)) for column in columns)
    ]
    same = all(with_it[1] == without[1] for one in rounds for with_it, without in ((one[1], one[3]), (one[2], one[4])))
    rows = zip(ways, medians, shares, strict=True)
    return [Measured(way, seconds, seconds / medians[0], share) for way, seconds, share in rows], same


def told(passages: int, asked: int, topics: int) -> dict[str, Any]:
    embedder = StaticEmbedder()
    words = English(embedder, topics)
    texts = [words.passage(number) for number in range(passages)]
    forms = ("what about", "when was", "who has", "where is the", "how did")
    questions = [words.question(forms[number % len(forms)], texts)[0] for number in range(asked)]
    with tempfile.TemporaryDirectory(prefix="vectors-") as folder:
        stores = Stores(Path(folder), texts, embedder)
        try:
            rows, same = measure(stores, questions)
            vec = stores.index.execute("SELECT vec_version()").fetchone()[0]
            sizes = {name: _bytes(Path(folder), name) for name in ("index", "peer")}
        finally:
            stores.close()
    ours = rows[1]
    return {
        "passages": passages,
        "dimensions": embedder.dimensions,
        "questions": asked,
        "topics": topics,
        "machine": {"sqlite": describe()["sqlite"], "driver": describe()["driver"], "vec": vec},
        "rows": [row._asdict() for row in rows],
        "same_without_extension": same,
        "bytes": sizes,
        "filling": stores.filling,
        "claims": [
            {
                "claim": "time, share of the peer's",
                "measured": ours.ratio,
                "bound": TIME_BOUND,
                "holds": ours.ratio <= TIME_BOUND,
            },
            {
                "claim": "found of the peer's ten",
                "measured": ours.found,
                "bound": FOUND_BOUND,
                "holds": ours.found >= FOUND_BOUND,
            },
            {"claim": "the same without the extension", "measured": float(same), "bound": 1, "holds": same},
        ],
    }


def _bytes(folder: Path, name: str) -> int:
    return sum(path.stat().st_size for path in folder.glob(f"{name}.sqlite*"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=21, help="how many different ones are asked (15 or more)")
    parser.add_argument("--topics", type=int, default=0, help="subjects that passages keep to; 0: none")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    answer = told(max(100, args.passages), max(15, args.questions), max(0, args.topics))
    if args.json:
        print(json.dumps(answer, indent=1))
        return
    print(f"{answer['passages']:,} passages x {answer['dimensions']} dimensions, {answer['questions']} questions")
    print(", ".join(f"{name}: {value}" for name, value in answer["machine"].items()))
    print(f"\n  {'':34}{'ratio':>8}{'median':>12}{'found':>9}")
    for row in answer["rows"]:
        print(f"  {row['way']:34}{row['ratio']:>8.3f}{row['seconds'] * 1000:>9.2f} ms{row['found']:>9.4f}")
    print(f"\n  {'claim':34}{'measured':>9}{'bound':>8}")
    for claim in answer["claims"]:
        verdict = "pass" if claim["holds"] else "FAIL"
        print(f"  {claim['claim']:34}{claim['measured']:>9.4g}{claim['bound']:>8}  {verdict}")
    filling = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in answer["filling"].items())
    print(f"\n  filling: {filling}; files: " + ", ".join(f"{n} {b / 1e6:.0f} MB" for n, b in answer["bytes"].items()))


if __name__ == "__main__":
    main()
