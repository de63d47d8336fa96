"""Recall: a question in, a small cited bundle out, by words, entities and time.

Stages: read the question, gather candidates from each channel, weigh the signals, fold repeats, fit the budget.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ..bank import spaces
from ..bank.driver import Connection
from ..bank.entities import entity, named_in
from ..bank.freshness import ask_fresh
from ..bank.neighbours import neighbours
from ..bank.static_space import static_embedder
from ..bank.sync import Progress
from ..bank.workspace import Workspace
from ..parsers.scripts import characters, spaced
from . import candidates as channels
from . import signals
from .bundle import (
    REPEAT_PENALTY,
    Ranked,
    fit,
    fold_repeats,
    ordered,
    push_back_repeats,
    result,
    strict_scores,
    with_signal,
)
from .confidence import is_confident
from .expression import Expression, expression
from .filters import Filters, about, condition
from .kindred import kindred
from .meaning import NO_MEANING, Understood, by_meaning, nearness, understand
from .name_pattern import name_pattern
from .question import Question, Term, quoted, read_question
from .standing import Standing, asks_state, holding, marked, standings
from .stopwords import stop_words
from .twins import lend, of_twins

DEFAULT_K = 20
DEFAULT_BUDGET = 1200
#: What a match of words that are only like the question's is worth in English.
ALIKE = 0.4
#: A best passage by words with this share of what all of a question's words could bring says all that words can say.
FULL_SHARE = 1.0
#: How much less a match of words is worth where other words of the question stand nowhere: the power that is added to
#: what it is worth, times the share of these.
REWORDED = 0.5
#: Words of so many candidates, the best by all other signals, are compared in meaning with the question's.
COMPARED = 120
#: How many entities beside a named one are looked at.
NEIGHBOURS = 8
#: With fewer passages by words than this, what is known of a named entity is looked at too.
FEW = 10
#: A question about so few days looks at everything of these days.
NARROW_DAYS = 14
#: An entity that more passages than this share mention says little: its name is then no search word beside others.
COMMON_ENTITY = 0.10
#: Where fewer passages than this mention it, as in a small workspace, it is not common all the same.
COMMON_LEAST = 30


def recall(
    workspace: Workspace,
    query: str,
    *,
    now: datetime,
    k: int = DEFAULT_K,
    budget: int = DEFAULT_BUDGET,
    filters: Filters | None = None,
    explain: bool = False,
    no_sync: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Answer a question from a workspace, synced first: the object that ``recall --json`` prints (``docs/json.md``).

    ``now``: when it is asked (relative words count from its day). ``k``: at most so many results. ``budget``: at most
    so many tokens of content. ``filters`` are hard. ``explain`` adds each result's signals.
    """

    def ask(connection: Connection) -> _Answer:
        ranking = rank(workspace, connection, query, now=now, filters=filters or Filters())
        taken, spent, omitted = fit(ranking.ranked, max(0, k), max(0, budget))
        where = condition(filters or Filters(), connection)
        places = channels.places_of(connection, [one.passage.key for one in taken], where)
        return _Answer(ranking, taken, spent, omitted, places)

    no_sync = no_sync or not workspace.settings.sync.on_search
    answer, fresh = ask_fresh(workspace, ask, no_sync=no_sync, progress=progress)
    ranking, taken, spent, omitted, places = answer
    understood = ranking.understood
    results = []
    for one, score in zip(taken, strict_scores(taken, ranking.best), strict=True):
        entry = result(one, places.get(one.passage.key, ()), score, ranking.known.get(one.passage.key))
        if explain:
            entry["signals"] = _explained(one, ranking.ranked)
        results.append(entry)
    return {
        "query": query,
        "results": results,
        "tokens": spent,
        "truncated": omitted > 0,
        "omitted": omitted,
        "confident": ranking.confident,
        "stale": fresh.stale,
        "provider": understood.provider,
        "model": understood.model or None,
        "reason": understood.reason,
        "fallback": understood.fallback or None,
        "warning": "; ".join(filter(None, (*fresh.notes, understood.warning))) or None,
    }


class _Answer(NamedTuple):
    ranking: "Ranking"
    taken: list[Ranked]
    spent: int
    omitted: int
    places: dict[str, list[tuple[str, int, int]]]


class Ranking(NamedTuple):
    """All candidates for a question, best first, repeats folded; the largest score that was in reach; how the question
    was understood; how what they say stands, by key; the question as it was read, with what FTS5 was asked; and whether
    the first is likely an answer (None where that cannot be told)."""

    ranked: list[Ranked]
    best: float
    understood: Understood
    known: dict[str, Standing]
    question: Question
    expression: Expression
    confident: bool | None


def rank(workspace: Workspace, connection: Connection, query: str, *, now: datetime, filters: Filters) -> Ranking:
    """Everything that may answer a question, in order."""
    search = _Search(workspace, connection, read_question(query, now.date()), filters)
    passages = channels.load(connection, search.gather())
    weighed, best = search.weigh(passages)
    told = search.compare_words(ordered(weighed))
    if search.meaning:
        told = lend(told, search.vectors or spaces.vectors(connection, spaces.STATIC, of_twins(told)))
    ranked, understood = push_back_repeats(fold_repeats(told)), search.understood
    as_of = search.filters.as_of.toordinal() if search.filters.as_of else None
    known = standings(connection, [one.passage for one in ranked], as_of)
    ranked = marked(ranked, known, search.state)
    if workspace.models.settings.rerank_model:
        from .reranking import reranked

        ranked, problem = reranked(workspace, query, ranked)
        warnings = filter(None, (understood.warning, problem))
        understood = understood._replace(warning="; ".join(warnings))
    confident = bool(ranked) and (best <= 0 or search.is_confident(ranked[0].score / best))
    return Ranking(ranked, best, understood, known, search.question, search.expression, confident)


class _Names(NamedTuple):
    """What the question names: the patterns to find them by, their search terms dropped or not, and the question
    without the names that most passages hold. ``near``: the entities that are often named together with these, and how
    near they are."""

    named: tuple[signals.Named, ...]
    slugs: tuple[str, ...]
    terms: tuple[Term, ...]
    bare: str
    near: Mapping[str, float]


class _Search:
    """One question against one index."""

    def __init__(self, workspace: Workspace, connection: Connection, question: Question, filters: Filters) -> None:
        self.connection = connection
        self.question = question
        self.state = asks_state(question)
        if self.state and filters.as_of is None:
            # How things stood then is not told by what was said later.
            filters = filters._replace(as_of=self.state.last)
        self.filters = filters
        self.where = condition(filters, connection)
        self.names = self._read_names()
        self.embedder = static_embedder()
        english = self.embedder if question.language == "en" and workspace.models.choice().embedder else None
        self.expression = expression(connection, question, self.names.terms, english.knows if english else None)
        # The built-in model knows English, and what it makes of the pieces of other words means nothing.
        self.bare = self._without_unknown(self.names.bare) if question.language == "en" else ""
        # What asks for a day or for what is known of somebody, and for nothing more, has no meaning to compare.
        self.understood = (
            understand(workspace, connection, question.text, self.bare) if self._has_content() else NO_MEANING
        )
        self.meaning = self.understood.meaning
        self.asked = [t.interval for t in question.times if t.interval]
        if filters.around:
            self.asked.append(filters.around)
        self.reworded = self._reworded() if self.meaning and question.language == "en" else 0.0
        self.lexical: dict[int, float] = {}
        self.alike: dict[int, float] = {}
        self.strength = 1.0
        #: The built-in model's vectors of the candidates, where they were read.
        self.vectors: Mapping[int, bytes] = {}

    def gather(self) -> list[int]:
        """Candidate ids from all channels, each in its own order."""
        found: dict[int, None] = {}
        if self.expression.exact:
            self.lexical = channels.by_words(self.connection, self.expression.exact, self.where)
        if self.expression.alike:
            self.alike = channels.by_words(self.connection, self.expression.alike, self.where)
        possible = FULL_SHARE * self.expression.possible
        self.strength = min(1.0, max(self.lexical.values(), default=0.0) / possible) if possible else 1.0
        found.update(dict.fromkeys([*self.lexical, *self.alike]))
        if self.meaning:
            found.update(dict.fromkeys(by_meaning(self.connection, self.meaning, self.where)))
        for identifier in self.question.identifiers:
            hits = channels.by_words(self.connection, f"text : {quoted(spaced(identifier))}", self.where)
            found.update(dict.fromkeys(hits))
        if not self._has_content() or len(self.lexical) < FEW:
            for slug in self.names.slugs:
                sql, names = about(self.connection, slug)
                found.update(dict.fromkeys(channels.by_entity(self.connection, sql, names, self.where)))
            if self._has_content() and self.names.near:
                marks = ", ".join("?" * len(self.names.near))
                sql = f"p.id IN (SELECT passage FROM mentions WHERE slug IN ({marks}))"
                found.update(dict.fromkeys(channels.by_entity(self.connection, sql, [*self.names.near], self.where)))
        if self.state:
            found.update(dict.fromkeys(holding(self.connection, self.state, self.where)))
        for interval in self.asked:
            first, last = interval.first.toordinal(), interval.last.toordinal()
            if not self._has_content() or not self.lexical or last - first <= NARROW_DAYS:
                found.update(dict.fromkeys(channels.by_time(self.connection, first, last, self.where)))
        if not found and not self.question.terms and self.where.sql:
            found.update(dict.fromkeys(channels.newest(self.connection, self.where)))
        return list(found)

    def weigh(self, passages: Sequence[channels.Passage]) -> tuple[list[Ranked], float]:
        ids = [passage.id for passage in passages]
        lexical = self._blended(self.lexical, self.alike, ids)
        chunks, alike = (
            signals.section_scores(passages, channels.by_chunks(self.connection, match)) if match else {}
            for match in (self.expression.exact, self.expression.alike)
        )
        section = self._blended(chunks, alike, ids, from_zero=True)
        own, beside = self._nearness(ids)
        meaning, beside = signals.meaning_scores(own, ids), signals.meaning_scores(beside, ids)
        exact = [signals.identifier_pattern(identifier) for identifier in self.question.identifiers]
        recent = signals.recent_signals(passages)
        words = bool(self.expression.exact)
        told_apart = any(not one.is_common for one in self.names.named)
        in_play = {"lexical": words, "section": words, "entity": told_apart}
        in_play |= dict.fromkeys(("meaning", "unsaid", "beside", "kindred", "twin"), bool(own))
        in_play["reworded"] = bool(own) and self.reworded > 0
        in_play |= {"lead": bool(self.names.named), "nearby": bool(self.names.near), "now": self.question.asks_now}
        in_play |= {"time": bool(self.asked), "when": self.question.asks_when, "exact": bool(exact)}
        in_play |= {"opinion": self.question.asks_opinion, "held": self.state is not None}
        weighed = []
        for passage in passages:
            mentioned, leads = signals.entity_signals(passage, self.names.named)
            values = {
                "lexical": lexical[passage.id],
                "section": section[passage.id],
                "meaning": meaning[passage.id],
                "unsaid": (1 - self.strength) ** 2 * meaning[passage.id],
                "beside": beside[passage.id],
                "entity": mentioned,
                "lead": leads,
                "nearby": 0.0 if mentioned else signals.nearby_signal(passage, self.names.near),
                "time": signals.time_signal(passage, self.asked),
                "when": signals.when_signal(passage) if self.question.asks_when else 0.0,
                "exact": signals.exact_signal(passage, exact),
                "opinion": float(self.question.asks_opinion and passage.kind == "opinion"),
                "question": float(passage.text.rstrip().endswith(("?", "？"))),
                "typed": float(passage.kind != "note"),
                "recent": recent[passage.id],
                "now": recent[passage.id] if self.question.asks_now else 0.0,
            }
            kept = {name: value for name, value in values.items() if value >= signals.FAINT}
            weighed.append(Ranked(passage, signals.total(kept), kept))
        return weighed, signals.best_total(name for name, played in in_play.items() if played)

    def is_confident(self, score: float) -> bool | None:
        """Whether a first result with such a score is likely an answer; where filters alone were asked for, nothing
        has a score."""
        weighed = self.expression.possible > 0 or not self.expression.missing
        return is_confident(score, self.strength, self.meaning is not None, weighed)

    def _nearness(self, ids: list[int]) -> tuple[Mapping[int, float], Mapping[int, float]]:
        """The cosines of passages and of their neighbours."""
        if self.meaning is None:
            return {}, {}
        near = nearness(self.connection, self.meaning, ids)
        if self.meaning.space == spaces.STATIC:
            self.vectors = near.vectors
        return near.own, near.beside

    def compare_words(self, ranked: Sequence[Ranked]) -> list[Ranked]:
        """The candidates with the signal ``kindred`` for the best of them, ordered again."""
        if self.meaning is None or self.embedder is None:
            return list(ranked)
        head, tail = ranked[:COMPARED], ranked[COMPARED:]
        dropped = stop_words(self.question.language)
        said = kindred(self.embedder, self.bare, dropped, [one.passage for one in head])
        told = [with_signal(one, "kindred", said.get(one.passage.id, 0.0)) for one in head]
        told = [with_signal(one, "reworded", self.reworded * said.get(one.passage.id, 0.0)) for one in told]
        return ordered([*told, *tail])

    def _blended(
        self, exact: dict[int, float], alike: dict[int, float], ids: list[int], from_zero: bool = False
    ) -> dict[int, float]:
        """Normalised scores of the words themselves, worth as much as the best passage has of them (less, where what is
        asked seems to be said in other words), or, worth less, of words like them."""
        own = signals.normalised({i: score for i, score in exact.items() if score > 0}, ids, from_zero)
        others = signals.normalised({i: score for i, score in alike.items() if score > 0}, ids, from_zero)
        worth = self.strength ** (1 + REWORDED * self.reworded)
        return {i: max(worth * own[i], ALIKE * others[i]) for i in ids}

    def _reworded(self) -> float:
        """The share of the question's words that no passage has though they mean something: what they are after, if it
        is there, is said in other words."""
        asked = [term.text for term in self.names.terms if term.kind == "word"]
        others = {word for word in self.expression.missing if self.embedder and self.embedder.knows(word)}
        return len(others.intersection(asked)) / len(asked) if asked else 0.0

    def _without_unknown(self, text: str) -> str:
        """A text without those words that neither a passage nor the built-in model has."""
        embedder = self.embedder
        if embedder is None:
            return text
        for term in self.expression.missing:
            if not embedder.knows(term):
                text = re.sub(rf"(?<!\w){re.escape(term)}(?!\w)", " ", text, flags=re.IGNORECASE)
        return text

    def _has_content(self) -> bool:
        """Whether the question has words beyond the names and the times in it."""
        return any(not self._is_time(term) for term in self.names.terms)

    def _is_time(self, term: Term) -> bool:
        return any(term.text in self.question.text[t.start : t.end].casefold() for t in self.question.times)

    def _read_names(self) -> _Names:
        terms = self.question.terms
        slugs: dict[str, None] = {}
        spans: list[str] = []
        for slug, (first, last) in named_in(self.connection, self.question.words):
            slugs.setdefault(slug)
            spans += [word.casefold() for word in self.question.words[first:last]]
        for word in self.question.words:
            split = characters(word)
            for slug, (first, last) in named_in(self.connection, split, 8) if split else ():
                slugs.setdefault(slug)
                spans.append("".join(split[first:last]))
        named, common, bare = [], False, self.question.text
        near: dict[str, float] = {}
        for slug in slugs:
            known = entity(self.connection, slug)
            pattern, is_common = name_pattern(known.names), self._is_common(known.slugs)
            named.append(signals.Named(frozenset(known.slugs), pattern, is_common))
            common = common or is_common
            if is_common:
                bare = pattern.sub(" ", bare)
                continue
            for other, weight in neighbours(self.connection, slug, NEIGHBOURS):
                near[other] = max(weight, near.get(other, 0.0))
        rest = tuple(term for term in terms if not any(term.text in span for span in spans))
        if named and common and rest:
            terms = rest
        elif named and not rest:
            terms = ()
        bare = bare if any(map(str.isalnum, bare)) else self.question.text
        return _Names(tuple(named), tuple(slugs), terms, bare, near)

    def _is_common(self, slugs: Sequence[str]) -> bool:
        marks = ", ".join("?" * len(slugs))
        uses, passages = self.connection.execute(
            f"SELECT (SELECT count(DISTINCT passage) FROM mentions WHERE slug IN ({marks})),"
            " (SELECT count(*) FROM passages)",
            tuple(slugs),
        ).fetchone()
        return bool(uses > max(COMMON_LEAST, COMMON_ENTITY * passages))


def _explained(one: Ranked, ranked: Sequence[Ranked]) -> dict[str, dict[str, float]]:
    """For each signal of a result: its value, its share of the score, and its rank among all candidates."""
    told = {}
    for name, value in sorted(one.signals.items()):
        weight = signals.WEIGHTS.get(name, -REPEAT_PENALTY)
        better = sum(1 for other in ranked if other.signals.get(name, 0.0) > value)
        told[name] = {"value": round(value, 4), "share": round(weight * value, 4), "rank": better + 1}
    return told
