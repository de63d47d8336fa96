"""The text that the table is trained on: WordNet's definitions, examples and sets of words that mean the same.

WordNet 3.0 is read from its own data files (Debian: ``wordnet-base``, ``/usr/share/wordnet``; format: wndb(5WN)).
"""

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

PARTS = ("noun", "verb", "adj", "adv")
#: Lexicographer files of living things: mostly Latin names.
_LATIN = {"05", "20"}
_SENTENCE = re.compile(r'"([^"]+)"')


class Synset(NamedTuple):
    """``terms`` mean the same: ``definition`` says what, ``examples`` use one of them. ``latin``: it lives."""

    terms: tuple[str, ...]
    definition: str
    examples: tuple[str, ...]
    latin: bool


def read_wordnet(folder: Path) -> list[Synset]:
    """All synsets, in the order of the files."""
    return [synset for part in PARTS for synset in _read_part(folder / f"data.{part}")]


def _read_part(path: Path) -> Iterator[Synset]:
    for line in path.read_text("utf-8", errors="replace").splitlines():
        if line.startswith(" ") or " | " not in line:
            continue
        data, gloss = line.split(" | ", 1)
        fields = data.split()
        count = int(fields[3], 16)
        terms = tuple(_term(field) for field in fields[4 : 4 + 2 * count : 2])
        definition = gloss.split('"', 1)[0].strip().rstrip(";:, ")
        examples = tuple(text.strip() for text in _SENTENCE.findall(gloss))
        yield Synset(terms, definition, examples, fields[1] in _LATIN)


def _term(field: str) -> str:
    """``lost_and_found`` as people write it; the marks of an adjective's place go."""
    return re.sub(r"\((a|p|ip)\)$", "", field).replace("_", " ")


def sentences_of(synsets: Sequence[Synset], seed: int) -> list[str]:
    """Every example, in random order, and as many definitions between them; none of animals and plants."""
    chance = random.Random(seed)
    examples = sorted({text for synset in synsets for text in synset.examples})
    definitions = sorted({synset.definition for synset in synsets if not synset.latin})
    chance.shuffle(examples)
    chance.shuffle(definitions)
    return [text for pair in zip(examples, definitions, strict=False) for text in pair]


def pairs_of(synsets: Sequence[Synset]) -> list[tuple[str, str]]:
    """What is said twice: a term and its definition, an example and the definition, two terms of one synset."""
    pairs = []
    for synset in synsets:
        if not synset.latin:
            pairs += [(text, synset.definition) for text in (*synset.terms, *synset.examples)]
            pairs += [(synset.terms[0], term) for term in synset.terms[1:2]]
    return pairs
