"""Makes ``bank/embeddings/table.bin``, the built-in embedding table, out of a teacher and WordNet.

usage: python -m training.distil --wheel WHEEL --wordnet FOLDER --cache FOLDER [--out FILE] [--plain] [--threads N]

WHEEL: the PyPI wheel of all-MiniLM-L6-v2; ``--wordnet``: WordNet's data files; ``--cache``: where the teacher's
sentences are kept between runs (they take most of the time). ``--plain``: the table before it is fitted, the baseline.
What it needs, and how good the result is, is told in ``README.md``.
"""

import argparse
import hashlib
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from openclaw_memory.bank.embeddings.static import TABLE

from training.corpus import pairs_of, read_wordnet, sentences_of
from training.fit import Pairs, Recipe, fit, start
from training.pack import packed, rotated
from training.sentences import Writer
from training.teacher import Teacher, Texts

DIMENSIONS, WRITTEN, SEED = 256, 14_144, 0
#: The vocabulary begins with marks, unused tokens and single characters; the words follow, most frequent first.
FIRST_TOKEN, FIRST_WORD = 999, 1996
#: Texts in one file of the cache, and texts that directions are found from.
CHUNK, SAMPLE = 4096, 30_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--wordnet", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=TABLE)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    args.cache.mkdir(parents=True, exist_ok=True)
    data = made(Teacher(args.wheel), args.wordnet, args.cache, args.plain)
    args.out.write_bytes(data)
    print(f"{args.out}: {len(data):,} bytes")


def made(teacher: Teacher, wordnet: Path, cache: Path, plain: bool) -> bytes:
    """The bytes of the table."""
    synsets = read_wordnet(wordnet)
    written = sentences_of(synsets, SEED + 1) + Writer(wordnet, SEED).write(WRITTEN)
    texts = [teacher.tokens(text) for text in written]
    sentences = seen(teacher, texts, cache)
    used = [number for number, text in enumerate(texts) if text]
    texts, sentences = [texts[number] for number in used], sentences[used]
    tokens = [name for name in teacher.vocabulary if not (len(name) > 2 and name[0] == "[" and name[-1] == "]")]
    numbers = [teacher.vocabulary[name] for name in tokens]
    alone = seen(teacher, [[number] for number in range(len(teacher.vocabulary))], cache)
    alone -= alone[FIRST_TOKEN:].mean(0)
    basis = directions(sentences)
    alone, sentences = alone @ basis, sentences @ basis
    table = start(alone, FIRST_WORD)
    if not plain:
        alone[:FIRST_TOKEN] = 0
        sides = [(teacher.tokens(left), teacher.tokens(right)) for left, right in pairs_of(synsets)]
        left, right = zip(*(pair for pair in sides if all(pair)), strict=True)
        table = fit(table, alone, texts, sentences, Pairs(left, right), Recipe(seed=SEED))
    return packed(tokens, rotated(table[numbers].astype(np.float64), SEED))


def seen(teacher: Teacher, texts: Texts, cache: Path) -> NDArray[np.float32]:
    """The teacher's sentence for each text, from the cache where it is there."""
    found = []
    for begin in range(0, len(texts), CHUNK):
        chunk = texts[begin : begin + CHUNK]
        path = cache / f"{hashlib.sha256(repr(chunk).encode()).hexdigest()[:24]}.npy"
        if not path.exists():
            print(f"the teacher reads texts {begin} to {begin + len(chunk)} of {len(texts)}", flush=True)
            with path.with_suffix(".part").open("wb") as file:
                np.save(file, teacher.embed(chunk).astype(np.float16))
            path.with_suffix(".part").rename(path)
        found.append(np.load(path).astype(np.float32))
    return np.concatenate(found)


def directions(sentences: NDArray[np.float32]) -> NDArray[np.float32]:
    """The 256 directions in which the sentences differ most (384 x 256), the mean left where it is."""
    sample = np.random.default_rng(SEED).permutation(len(sentences))[:SAMPLE]
    basis: NDArray[np.float32] = np.linalg.svd(sentences[sample], full_matrices=False)[2][:DIMENSIONS].T
    return basis


if __name__ == "__main__":
    main()
