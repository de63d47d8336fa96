"""One sentence of narrative, read: who it is about, which verb tells it, and what speaks for retaining it."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..parsers.names import fold
from ..parsers.scripts import characters, has_unspaced
from . import narrative_verbs as verbs
from . import sentence_signs as signs
from .language import Language, Reading, named_subjects
from .narrative import Named, Sentence

#: A sentence that scores less is not told of.
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
#: "Fixed: …", "gannet: …".
_PLAIN_LABEL = re.compile(r"[^\s:：*_][^:：.;]{0,40}[:：]\s+")
_BRACKETS = re.compile(r"\([^()]*\)|（[^（）]*）")
#: What stands beside the sentence itself: in brackets or quotes, or behind a dash that none closes.
_BESIDE = re.compile(
    r"\"[^\"]*\"|“[^”]*”|\([^()]*\)|（[^（）]*）|\s(?:—|–|-{1,2})\s(?!.*\s(?:—|–|-{1,2})\s).*\Z", re.DOTALL
)
#: Right behind a name that opens an entry: what stands there is said by it, or of it.
_COLON = re.compile(r"[*_`]*\s*[:：]")


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


class Worth(NamedTuple):
    """``kind``: world, experience or opinion. ``entities``: leading one first. ``score``: 0..1. ``reason``: for a
    person."""

    kind: str
    entities: tuple[str, ...]
    score: float
    reason: str


class Reader:
    """A sentence with the names in it; ``before``: what a pronoun in it may mean."""

    def __init__(
        self, sentence: Sentence, named: list[Named], before: Antecedent | None, language: Language | None
    ) -> None:
        self.sentence, self.text, self.body = sentence, sentence.text, sentence.body
        self.named = named
        self.before = before
        self._language = language
        self.unspaced = has_unspaced(self.text)
        self.words = [(match[0].casefold(), match.start()) for match in _WORD.finditer(self.text, self.body)]
        self.verb, self.verb_at, self.sort = self._main_verb()
        self.liking = self._liking()
        self.subjects = [one for one in named if one.start < self.verb_at]

    @property
    def only_subject(self) -> Antecedent | None:
        """What a pronoun in the next sentence means: the only entity that stands as this one's subject."""
        subjects = {one.name for one in self.subjects}
        return Antecedent(next(iter(subjects)), self.sort) if self.verb and len(subjects) == 1 else None

    def worth(self) -> Worth | None:
        """What the sentence is worth, None for one that is not to be told of."""
        if not self._is_statement():
            return None
        pronoun = signs.PRONOUNS.match(self.text, self.body)
        led = bool(pronoun and self.before and self.before.agrees(pronoun[0]))
        if pronoun and not led:
            return None
        reading = self._language.read(self.text) if self._language and self._is_english() else None
        entities = [self.before.name] if led and self.before else []
        entities += [one.name for one in self.named]
        known = bool(entities)
        if not known and reading:
            entities = named_subjects(self.text, reading) if self.verb else []
        if not entities or self._is_about_others():
            return None
        kind, score, reason = self._judge(reading, led, known)
        if score < LEAST_SCORE:
            return None
        by_slug: dict[str, str] = {}
        for name in entities:
            by_slug.setdefault(fold(name), name)
        return Worth(kind, tuple(by_slug.values()), score, reason)

    def _is_about_others(self) -> bool:
        """Whether all names stand in brackets."""
        if not self.named or (self.before and signs.PRONOUNS.match(self.text, self.body)):
            return False
        outside = _BRACKETS.sub(lambda match: " " * len(match[0]), self.text)
        return all(not outside[one.start : one.end].strip() for one in self.named)

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
            or self._is_said_by_a_name()
        ):
            return False
        if any(pattern.search(text) for pattern in (_SAYING, signs.CHATTER, signs.CREDENTIAL)):
            return False
        if not self.liking and (signs.UNSURE.search(text) or signs.REPORTED.search(text)):
            return False
        starts = {0, self.body, *(match.end() for match in [_PLAIN_LABEL.match(text, self.body)] if match)}
        if any(pattern.match(text, at) for pattern in (signs.ORDER, signs.VAGUE_START) for at in starts):
            return False
        return not any(pattern.search(text) for pattern in (signs.CODE, signs.PASSING, signs.TOKEN, signs.PAIRS))

    def _is_said_by_a_name(self) -> bool:
        """Whether a name opens an entry as a speaker does ("Des: freeze on Thursday"). Of a thing, or with a deed
        behind it ("Lotsenstieg: internet ordered"), it is what the entry is about."""
        opening = next((one for one in self.named if not any(map(str.isalnum, self.text[: one.start]))), None)
        if opening is None or opening.name[:1].islower() or not _COLON.match(self.text, opening.end):
            return False
        return self.sort not in ("event", "past")

    def _main_verb(self) -> tuple[str, int, str]:
        """The first finite verb, where it stands, and its sort: state, be, event, trivial or "" for none."""
        taken = [(one.start, one.end) for one in self.named]
        beside = [match.span() for match in _BESIDE.finditer(self.text)]
        is_german = signs.is_german(word for word, _ in self.words)
        before, after_name = "", False
        for word, at in self.words:
            if any(start <= at < end for start, end in taken):
                before, after_name = "", True
                continue
            is_joined = self.text[at - 1 : at] in ("-", "/") or self.text[at + len(word) :][:1] in ("-", "/")
            if is_joined or any(start <= at < end for start, end in beside):
                before, after_name = word, False
                continue
            if word in verbs.STATES or verbs.is_plural_state(word, before, after_name):
                return word, at, "state"
            if word in verbs.COPULA:
                return word, at, "be"
            if verbs.PHRASES.match(self.text, at):
                return word, at, "event"
            if word in verbs.TRIVIAL:
                return word, at, "trivial"
            if word in verbs.EVENTS:
                return word, at, "event"
            if verbs.is_past(word) or (is_german and verbs.is_preterite(word, before, after_name)):
                return word, at, "past"
            before, after_name = word, False
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
        headed = any(one.start < self.body for one in self.named)
        logged = self.sentence.first and opens and self.sort in ("event", "past")
        logged = logged and not (headed and self.verb in verbs.BY_ITSELF)
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
        elif not self._is_told_by_colon():
            score -= 0.2
        rest = self._without_names()
        figure, time = bool(signs.FIGURE.search(rest)), bool(signs.TIME.search(rest))
        if figure or time:
            score += _FIGURE if figure else _TIME
            reasons.append("a figure" if figure else "a time")
        elif self._is_short() or self._was_so():
            score -= 0.2
        lacks_object = logged and not headed and verbs.WITH_OBJECT.match(self.text, self.verb_at)
        if not led and (lacks_object or self._leans_on_others()):
            score -= 0.25
        kind = "experience" if (we or logged) and self.sort != "" else "world"
        return kind, round(max(0.0, min(1.0, score)), 2), "; ".join(reasons)

    def _is_short(self) -> bool:
        """Whether a deed or a having lacks an object of some length, without which it says little."""
        bare = self.sort not in ("be", "state", "event") or self.verb in ("has", "had", "have")
        return bare and len(self.named) < 2 and len(self.words) < 5 and not self.unspaced

    def _is_told_by_colon(self) -> bool:
        """Whether a colon stands for the verb: "Rent of the yard: 180 euros". What stands before it is no label in
        bold, and names the entity; a figure follows."""
        label = _PLAIN_LABEL.match(self.text)
        if self.body or not label or not any(one.end <= label.end() for one in self.named):
            return False
        return bool(signs.TIME.search(self.text, label.end()))

    def _was_so(self) -> bool:
        """Whether the verb tells how something was that day ("was over the moon"), not what was done to it."""
        if self.verb not in ("was", "were", "war", "waren"):
            return False
        after = [word for word, at in self.words if at > self.verb_at][:4]
        return not any(verbs.is_past(word) for word in after)

    def _liking(self) -> str:
        for one in self.named:
            match = signs.LIKING.match(self.text, one.end)
            if match:
                return match[0].strip()
        match = signs.PRONOUNS.match(self.text, self.body) if self.before else None
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
