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
from .language import Language, Reading, named_subjects
from .narrative import Named, Names, Sentence, prose_lines, sentences

#: A candidate below this is not told of.
LEAST_SCORE = 0.6
#: Characters of the longest and words of the shortest sentence.
LONGEST, FEWEST_WORDS = 300, 3
#: Shares of the score: a known name (one that only spaCy found); it stands in the subject; a verb of a state or an act;
#: a number that tells how much or when; a day or a time.
_NAME, _NEW_NAME, _SUBJECT, _VERB, _FIGURE, _TIME = 0.35, 0.25, 0.2, 0.2, 0.2, 0.08
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_QUOTED = re.compile(r"[\"“”„«»「」『』]")
_QUOTE = re.compile(r"[\"“„«「『]([^\"“”„«»「」『』]*)[\"”“»」』]")
_SAYING = re.compile(r"[\w)]\s*[:：]\s*[\"“„«「]")
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
        subject: Antecedent | None = None
        for sentence in sentences(note, lines):
            named = known.find(sentence.text, matcher.find(sentence.text) if matcher else ())
            named = named or _mentioned(sentence.text)
            reader = _Reader(sentence, named, subject, language)
            candidate = reader.candidate(note)
            if candidate:
                found.setdefault(candidate.id, candidate)
            subject = reader.only_subject
    return sorted(found.values(), key=lambda one: (one.path, one.line, one.end_line))


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


class Antecedent(NamedTuple):
    """The entity that a pronoun may mean, and the sort of verb that told of it."""

    name: str
    sort: str

    def agrees(self, pronoun: str) -> bool:
        """Whether a pronoun can mean it: "it" is hardly somebody who has just acted, "she" hardly a thing whose name
        has no capital."""
        if pronoun.strip(" \t*_\"'(").casefold() in ("it", "es", "它"):
            return self.sort in ("be", "state") or self.name[:1].islower()
        return not self.name[:1].islower()


class _Reader:
    """One sentence, read: who it is about, which verb tells it, and what speaks for it."""

    def __init__(
        self, sentence: Sentence, named: list[Named], before: Antecedent | None, language: Language | None
    ) -> None:
        self.sentence, self.text = sentence, sentence.text
        self.named = named
        self.before = before
        self._language = language
        self.unspaced = has_unspaced(self.text)
        self.words = [(match[0].casefold(), match.start()) for match in _WORD.finditer(self.text)]
        self.verb, self.verb_at, self.sort = self._main_verb()
        self.liking = self._liking()
        self.subjects = [one for one in named if one.start < self.verb_at]

    @property
    def is_bare_act(self) -> bool:
        """Whether the verb tells a deed or a having, which says little without an object of some length."""
        return self.sort not in ("be", "state", "event") or self.verb in ("has", "had", "have")

    @property
    def only_subject(self) -> Antecedent | None:
        """What a pronoun in the next sentence means: the only entity that stands as this one's subject."""
        subjects = {one.name for one in self.subjects}
        return Antecedent(next(iter(subjects)), self.sort) if self.verb and len(subjects) == 1 else None

    def candidate(self, note: Note) -> Candidate | None:
        if not self._is_statement():
            return None
        pronoun = signs.PRONOUNS.match(self.text)
        led = bool(pronoun and self.before and self.before.agrees(pronoun[0]))
        if pronoun and not led:
            return None
        reading = self._language.read(self.text) if self._language and self._is_english() else None
        entities = [self.before.name] if led and self.before else []
        entities += [one.name for one in self.named]
        known = bool(entities)
        if not known and reading:
            entities = named_subjects(self.text, reading) if self.verb else []
        if not entities:
            return None
        kind, score, reason = self._judge(reading, led, known)
        if score < LEAST_SCORE:
            return None
        by_slug: dict[str, str] = {}
        for name in entities:
            by_slug.setdefault(fold(name), name)
        told = tuple(by_slug.values())
        place = (note.path, self.sentence.line, self.sentence.end_line, note.day)
        return Candidate(kind, told, self.text, *place, score, reason, fact_id(kind, told, self.text))

    def _is_english(self) -> bool:
        return not self.unspaced and signs.is_english(word for word, _ in self.words)

    def _is_statement(self) -> bool:
        text = self.text
        size = len(characters(text)) // 2 if self.unspaced else 0
        if len(text) > LONGEST or len(self.words) + size < FEWEST_WORDS:
            return False
        if text.endswith(("?", "？", "…", ":", "：", "...")) or "?" in text or "？" in text:
            return False
        quotes = len(_QUOTED.findall(text))
        if (
            quotes % 2
            or any(len(quote.split()) > 3 for quote in _QUOTE.findall(text))
            or text[0] in '"“„«「『'
            or _SPEAKER.match(text)
        ):
            return False
        if any(pattern.search(text) for pattern in (_SAYING, signs.CHATTER, signs.CREDENTIAL)):
            return False
        if not self.liking and (signs.UNSURE.search(text) or signs.REPORTED.search(text)):
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
            if signs.PHRASES.match(self.text, at):
                return word, at, "event"
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
        if self.liking:
            return "opinion", 0.9, f"a liking: {self.liking}"
        head = {word for word, at in self.words if at < self.verb_at}
        we = bool(signs.FIRST_PERSON & head) or bool(self.unspaced and signs.FIRST_PERSON_UNSPACED.match(self.text))
        # "Today repariere ich …": German turns verb and subject.
        we = we or any(word in ("ich", "wir") for word, _ in self.words[:4])
        opens = bool(self.words) and self.words[0][0] == self.verb
        logged = self.sentence.first and opens and self.sort in ("event", "past")
        subject = led or bool(self.subjects)
        score = _NAME if known else _NEW_NAME
        reasons: list[str] = []
        if subject or we or logged or not known:
            score += _SUBJECT
            reasons.append("about it")
        if reading and self.subjects and not led and not we and reading.subjects and not self._in_subject(reading):
            score -= 0.1
        if self.sort in ("state", "event", "be"):
            score += _VERB
            reasons.append(f"{self.sort}: {self.verb}")
        elif self.sort == "trivial":
            score -= 0.15
        elif self.sort == "past":
            score -= 0.0 if logged else 0.05
        elif ":" not in self.text:
            score -= 0.2
        rest = self._without_names()
        figure, time = bool(signs.FIGURE.search(rest)), bool(signs.TIME.search(rest))
        if figure or time:
            score += _FIGURE if figure else _TIME
            reasons.append("a figure" if figure else "a time")
        elif self.is_bare_act and len(self.named) < 2 and len(self.words) < 5 and not self.unspaced:
            score -= 0.2
        if not led and self._leans_on_others():
            score -= 0.25
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

    def _leans_on_others(self) -> bool:
        """Whether an object of the sentence stands in another one: "Mara turned it down"."""
        if len({one.name for one in self.named}) > 1:
            return False
        after = max((one.end for one in self.subjects), default=self.verb_at)
        return bool(
            signs.DANGLING.match(self.text, self.verb_at)
            or signs.DANGLING.match(self.text, after)
            or signs.SOMEBODY_ELSE.search(self.text)
        )

    def _in_subject(self, reading: Reading) -> bool:
        return any(start <= one.start < end for one in self.subjects for start, end in reading.subjects)

    def _without_names(self) -> str:
        pieces, at = [], 0
        for one in self.named:
            pieces.append(self.text[at : one.start])
            at = one.end
        return " ".join([*pieces, self.text[at:]])
