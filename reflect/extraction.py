"""Facts that nobody typed: sentences of a log's narrative that tell something lasting of somebody it knows.

Precision goes before recall: what is a question, a wish, a plan, an order, a supposition, somebody's words or talk of
the moment is left out. A sentence is taken as it was written; nothing is re-told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ..parsers.names import fold, mentions
from ..parsers.records import Note
from ..parsers.retain import fact_id
from ..parsers.scripts import characters, has_unspaced
from ..parsers.secrets import looks_secret
from . import sentence_signs as signs
from .language import Language, Reading
from .narrative import Named, Names, Sentence, prose_lines, sentences

#: A candidate below this is not told of.
LEAST_SCORE = 0.5
#: Characters of the longest and words of the shortest sentence.
LONGEST, FEWEST_WORDS = 300, 3
#: Shares of the score: a known name; it stands in the subject; a verb of a state or an act; a number or a day.
_NAME, _SUBJECT, _VERB, _NUMBER = 0.35, 0.2, 0.2, 0.15
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_QUOTED = re.compile(r"[\"“”„«»「」『』]")
_LONG_QUOTE = re.compile(r"[\"“„«「『][^\"“”„«»「」『』]*(?:\s[^\"“”„«»「」『』]*){3,}[\"”“»」』]")
_SPEAKER = re.compile(r"\W*[\w .-]{1,30}:\s*[\"“„'‘«]|\W*[<\[][^\]>]{1,30}[\]>]\s*\S+:|\A\[?\d{1,2}:\d\d\]?\s+\w+:\s")


class Candidate(NamedTuple):
    """A sentence worth retaining. ``kind``: world, experience or opinion. ``entities``: as the workspace writes them,
    the leading one first. ``text``: as written, on the lines ``line`` to ``end_line`` of ``path``. ``score``: 0..1.
    ``reason``: what spoke for it, for a person. ``id``: of the fact that it would be."""

    kind: str
    entities: tuple[str, ...]
    text: str
    path: str
    line: int
    end_line: int
    day: date | None
    score: float
    reason: str
    id: str


def extract(
    notes: Sequence[Note],
    names: Mapping[str, str],
    language: Language | None = None,
    lines: Sequence[str] | None = None,
) -> list[Candidate]:
    """The sentences of one file's notes that are worth retaining, in the order of the file.

    ``names``: each way to write a known entity, casefolded, and the entity's name. ``language``: for names that nobody
    knows yet, and subjects. ``lines``: of the file, 1-based from its first; with them each candidate cites the very
    lines of its sentence, and quotes, tables and code are known for what they are.
    """
    known = Names(names)
    matcher = language.matcher(names) if language and names else None
    prose = prose_lines(lines) if lines is not None else None
    found: dict[str, Candidate] = {}
    for note in notes:
        if not _is_prose(note, prose, lines):
            continue
        subject: str | None = None
        for sentence in sentences(note, lines):
            named = known.find(sentence.text, matcher.find(sentence.text) if matcher else ())
            named = named or _mentioned(sentence.text)
            reader = _Reader(sentence, named, subject, language)
            candidate = reader.candidate(note)
            if candidate:
                found.setdefault(candidate.id, candidate)
            subject = reader.only_subject
    return sorted(found.values(), key=lambda one: (one.path, one.line, one.end_line, one.id))


def _is_prose(note: Note, prose: frozenset[int] | None, lines: Sequence[str] | None) -> bool:
    """Whether a note is narrative: no quote, table, code or generated text, no secret, no list of what is to do."""
    if note.origin != "stated" or looks_secret(note.text) or signs.ORDER_SECTION.search(note.heading):
        return False
    if note.text.startswith((">", "|", "[ ]", "```", "~~~")):
        return False
    if prose is None or lines is None:
        return True
    return all(n in prose for n in range(note.line, note.end_line + 1) if n <= len(lines) and lines[n - 1].strip())


def _mentioned(text: str) -> list[Named]:
    """The names that a text marks with @, which nobody has to know."""
    found = ((text.find(f"@{name}"), name) for name in mentions(text))
    return [Named(at, at + 1 + len(name), name) for at, name in found if at >= 0]


class _Reader:
    """One sentence, read: who it is about, which verb tells it, and what speaks for it."""

    def __init__(self, sentence: Sentence, named: list[Named], before: str | None, language: Language | None) -> None:
        self.sentence, self.text = sentence, sentence.text
        self.named = named
        self.before = before
        self._language = language
        self.unspaced = has_unspaced(self.text)
        self.words = [(match[0].casefold(), match.start()) for match in _WORD.finditer(self.text)]
        self.verb, self.verb_at, self.sort = self._main_verb()
        self.subjects = [one for one in named if one.start < self.verb_at]

    @property
    def only_subject(self) -> str | None:
        """The entity that a pronoun in the next sentence means: the only one that stands as this one's subject."""
        subjects = {one.name for one in self.subjects}
        return next(iter(subjects)) if self.verb and len(subjects) == 1 else None

    def candidate(self, note: Note) -> Candidate | None:
        if not self._is_statement():
            return None
        starts_with_pronoun = bool(signs.PRONOUNS.match(self.text))
        if starts_with_pronoun and not self.before:
            return None
        reading = self._language.read(self.text) if self._language and not self.unspaced else None
        led = starts_with_pronoun and self.before
        entities = [self.before] if led and self.before else []
        entities += [one.name for one in self.named]
        known = bool(entities)
        if not known and reading:
            entities = _unknown(self.text, reading, self.verb)
        if not entities:
            return None
        kind, score, reason = self._judge(reading, bool(led), known)
        if score < LEAST_SCORE:
            return None
        by_slug: dict[str, str] = {}
        for name in entities:
            by_slug.setdefault(fold(name), name)
        told = tuple(by_slug.values())
        place = (note.path, self.sentence.line, self.sentence.end_line, note.day)
        return Candidate(kind, told, self.text, *place, score, reason, fact_id(kind, told, self.text))

    def _is_statement(self) -> bool:
        text = self.text
        size = len(characters(text)) // 2 if self.unspaced else 0
        if len(text) > LONGEST or len(self.words) + size < FEWEST_WORDS:
            return False
        if text.endswith(("?", "？", "…", ":", "：", "...")) or "?" in text or "？" in text:
            return False
        quotes = len(_QUOTED.findall(text))
        if quotes % 2 or _LONG_QUOTE.search(text) or text[0] in '"“„«「『' or _SPEAKER.match(text):
            return False
        if any(pattern.search(text) for pattern in (signs.UNSURE, signs.REPORTED, signs.CHATTER, signs.CREDENTIAL)):
            return False
        if signs.ORDER.match(text) or signs.VAGUE_START.match(text) or signs.CODE.search(text):
            return False
        return not signs.PASSING.search(text)

    def _main_verb(self) -> tuple[str, int, str]:
        """The first finite verb, where it stands, and its sort: state, be, event, trivial or "" for none."""
        taken = [(one.start, one.end) for one in self.named]
        for word, at in self.words:
            if any(start <= at < end for start, end in taken):
                continue
            if word in signs.STATES:
                return word, at, "state"
            if word in signs.COPULA:
                return word, at, "be"
            if word in signs.TRIVIAL:
                return word, at, "trivial"
            if word in signs.EVENTS:
                return word, at, "event"
            if signs.is_past(word):
                return word, at, "past"
        if self.unspaced:
            match = signs.STATES_UNSPACED.search(self.text)
            if match:
                return match[0], match.start(), "state"
        return "", len(self.text), ""

    def _judge(self, reading: Reading | None, led: bool, known: bool) -> tuple[str, float, str]:
        """The kind, the score and the reason."""
        liking = self._liking()
        if liking:
            return "opinion", 0.9, f"a liking: {liking}"
        head = [word for word, at in self.words if at < self.verb_at]
        we = bool(signs.FIRST_PERSON & set(head[:6])) or bool(
            self.unspaced and signs.FIRST_PERSON_UNSPACED.match(self.text)
        )
        # "Today repariere ich …": German turns verb and subject.
        we = we or any(word in ("ich", "wir") for word, _ in self.words[:4])
        logged = (
            self.sentence.first
            and bool(self.words)
            and self.words[0][0] == self.verb
            and self.sort
            in (
                "event",
                "past",
            )
        )
        subject = led or bool(self.subjects)
        score = _NAME if known else _NAME - 0.05
        reasons: list[str] = []
        if subject or we or logged:
            score += _SUBJECT
            reasons.append("about it")
        if reading and subject and not led and not we and reading.subjects and not self._in_subject(reading):
            score -= 0.1
        if self.sort in ("state", "event", "be"):
            score += _VERB
            reasons.append(f"{self.sort}: {self.verb}")
        elif self.sort == "past":
            score += _VERB / 2
            reasons.append(f"past: {self.verb}")
        elif self.sort == "trivial":
            score -= 0.15
        elif ":" not in self.text:
            score -= 0.2
        if signs.NUMBER.search(self._without_names()) or self._tells_a_day():
            score += _NUMBER
            reasons.append("number or day")
        kind = "experience" if (we or logged) and self.sort != "" else "world"
        return kind, round(max(0.0, min(1.0, score)), 2), "; ".join(reasons)

    def _liking(self) -> str:
        for one in self.named:
            match = signs.LIKING.match(self.text, one.end)
            if match:
                return match[0].strip()
        match = signs.PRONOUNS.match(self.text) if self.before else None
        liked = signs.LIKING.match(self.text, match.end()) if match else None
        return liked[0].strip() if liked else ""

    def _in_subject(self, reading: Reading) -> bool:
        return any(start <= one.start < end for one in self.subjects for start, end in reading.subjects)

    def _without_names(self) -> str:
        pieces, at = [], 0
        for one in self.named:
            pieces.append(self.text[at : one.start])
            at = one.end
        return " ".join([*pieces, self.text[at:]])

    def _tells_a_day(self) -> bool:
        return bool(_DAY.search(self.text))


_DAY = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|march|april|june|july|august|september|october"
    r"|november|december|januar|februar|märz|mai|juni|juli|oktober|dezember)\b|\b(?:since|until|seit|bis)\b|每周|每天",
    re.IGNORECASE,
)


def _unknown(text: str, reading: Reading, verb: str) -> list[str]:
    """Names that nobody knows: people, organisations and places that stand in the subject of an English sentence."""
    if not verb or not reading.has_verb or not reading.subjects:
        return []
    inside = [
        (start, end)
        for start, end, _ in reading.names
        if any(first <= start < last for first, last in reading.subjects)
    ]
    return [text[start:end] for start, end in inside if len(text[start:end]) > 2 and text[start].isupper()]
