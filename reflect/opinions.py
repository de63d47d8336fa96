"""Opinions: rewordings merged into one, what was stated last, and the evidence since, weighed by the belief rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from .beliefs import CONTRADICTS, SUPPORTS, Belief, Item, believe
from .judging import Judging, claim
from .links import RESTATES, Link
from .statements import Place, Statement
from .suggestion_lines import confirmation_key
from .verdicts.records import NORMAL, STRONG, Claim, Stance
from .verdicts.sameness import content_words

Same = Callable[[Claim, Claim], bool]
#: A verdict this sure counts at once; one that is less sure, but more likely than not,
#: counts where the fact has all of the opinion's words, and else is asked about.
SURE, ASKED, SAID = 0.70, 0.60, 0.50
#: Of the words of a fact so many characters are quoted.
QUOTE = 90


class Opinion(NamedTuple):
    """One opinion of one entity.

    ``id``: of its first wording, which stays when others join. ``owner``: slug. ``shown``: the wording that was stated
    last with a number. ``stated``: that number (None: none was ever given), at ``stated_at``. ``members``: all
    wordings, by their first place. ``items``: the evidence since. ``history``: evidence from before, which counts no
    more. ``doubtful``: verdicts that a person should confirm: (fact, relation).
    """

    id: str
    owner: str
    shown: Statement
    stated: float | None
    stated_at: Place
    members: tuple[Statement, ...]
    belief: Belief
    items: tuple[Item, ...]
    history: tuple[Item, ...]
    doubtful: tuple[tuple[Statement, str], ...]

    @property
    def has_moved(self) -> bool:
        """Whether there is more to tell of it than what was stated."""
        return bool(self.items or self.history)

    def is_stated_on(self, path: str) -> bool:
        """Whether somebody keeps it on a page, in their own words and with the number that counts."""
        return any(
            place.path == path and place.confidence == self.stated and not place.is_ledger
            for one in self.members
            for place in one.places
        )


class Judge(NamedTuple):
    """What evidence is judged by. ``judging``: None where nothing is inferred. ``same``: whether two opinions say the
    same. ``links``: said outright, by target. ``refused``: keys of what a person has said no to
    (``suggestion_lines``)."""

    judging: Judging | None
    same: Same
    links: Mapping[str, Sequence[Link]]
    refused: frozenset[str]


def quote(text: str) -> str:
    """The start of a text, for a line of evidence."""
    return text if len(text) <= QUOTE else text[: QUOTE - 1].rstrip() + "…"


def merge(opinions: Sequence[Statement], same: Same) -> list[tuple[Statement, ...]]:
    """Opinions that are rewordings of one another, never across entities; groups and members by their first place.

    A wording joins the first group that its anchor names, or most of whose members say the same; when in doubt it
    stands alone.
    """
    groups: dict[str, _Groups] = {}
    for one in sorted(opinions, key=lambda o: (*_first_stated(o), o.id)):
        groups.setdefault(_owner(one), _Groups(same)).add(one)
    return [tuple(group) for slug in sorted(groups) for group in groups[slug].groups]


class _Groups:
    """The opinions of one entity as far as they are merged; those are compared that share a word or have none."""

    def __init__(self, same: Same) -> None:
        self.same = same
        self.groups: list[list[Statement]] = []
        self.holders: dict[str, set[int]] = {}
        self.ids: dict[str, int] = {}

    def add(self, one: Statement) -> None:
        words = content_words(one.text) or {""}
        number = self._anchored(one)
        if number is None:
            near = sorted({number for word in words for number in self.holders.get(word, ())})
            number = next((n for n in near if self._says(self.groups[n], one)), None)
        if number is None:
            number = len(self.groups)
            self.groups.append([])
        self.groups[number].append(one)
        self.ids[one.id] = number
        for word in words:
            self.holders.setdefault(word, set()).add(number)

    def _anchored(self, one: Statement) -> int | None:
        """The group that a line from a page names by its anchor."""
        anchors = [r.target.lstrip("^") for place in one.places for r in place.relations if r.kind == RESTATES]
        found = (number for key, number in self.ids.items() if any(key.startswith(anchor) for anchor in anchors))
        return min(found, default=None) if anchors else None

    def _says(self, group: Sequence[Statement], one: Statement) -> bool:
        return 2 * sum(self.same(claim(one), claim(member)) for member in group) > len(group)


def _owner(one: Statement) -> str:
    return one.leads[0] if one.leads else ""


def _first_stated(one: Statement) -> tuple[int, int, str, int]:
    # What only a page says, without a day, comes after what a log says: ids stay when a page repeats a log.
    return (0 if one.day else 1, *one.order)


def hold(
    group: Sequence[Statement],
    sources: Mapping[str, Statement],
    facts: Callable[[], Mapping[str, Statement]],
    judge: Judge,
) -> Opinion:
    """One opinion with its belief, from its wordings.

    ``sources``: what says outright that it bears on it, by id. ``facts``: gives the dated facts of the entities that it
    is about, by id.
    """
    shown, stated_at = _epoch(group)
    items: list[Item] = []
    history: list[Item] = []
    doubtful: list[tuple[Statement, str]] = []
    members = {one.id for one in group}
    outright: dict[str, Link] = {}
    for one in group:
        for link in judge.links.get(one.id, ()):
            if link.kind in (SUPPORTS, CONTRADICTS):
                outright.setdefault(link.source, link)
    for source, link in sorted(outright.items()):
        fact = sources.get(source)
        for place in fact.places if fact and fact.kind != "observation" else ():
            target = items if _order(place) >= _order(stated_at) or place.day is None else history
            strength = STRONG if link.strong else NORMAL
            reason = "confirmed" if link.confirmed else "said outright"
            assert fact is not None
            target.append(_item(fact, place, link.kind, strength, False, reason))
    if judge.judging:
        leads = sorted({slug for one in group for slug in one.leads})
        for key, verdict in judge.judging.stances(shown, leads, lambda: list(facts().values())):
            if key not in outright and key not in members:
                _infer(stated_at, group, facts()[key], verdict, judge, items, history, doubtful)
    return Opinion(
        group[0].id,
        _owner(group[0]),
        shown,
        stated_at.confidence,
        stated_at,
        tuple(group),
        believe(stated_at.confidence, items),
        tuple(items),
        tuple(history),
        tuple(doubtful),
    )


def _infer(
    stated_at: Place,
    group: Sequence[Statement],
    fact: Statement,
    verdict: Stance,
    judge: Judge,
    items: list[Item],
    history: list[Item],
    doubtful: list[tuple[Statement, str]],
) -> None:
    first_said = min((one.day for one in group if one.day), default=None)
    said_in = {(place.path, place.day) for one in group for place in one.places}
    places = [p for p in fact.places if p.day and (first_said is None or p.day >= first_said)]
    places = [p for p in places if (p.path, p.day) not in said_in and p.role != "core"]
    if not places:
        return
    if verdict.strength is None:
        return
    if any(confirmation_key(one.id, verdict.relation, fact.id) in judge.refused for one in group):
        return
    # Another opinion that sounds like this one restates it; only one that speaks against it tells anything new.
    if fact.kind == "opinion" and verdict.relation == SUPPORTS:
        return
    said_so = any(content_words(one.text) <= content_words(fact.text) for one in group)
    if not verdict.near_verbatim and verdict.probability < (SAID if said_so else SURE):
        if verdict.probability >= ASKED:
            doubtful.append((fact, verdict.relation))
        return
    how = "near-verbatim" if verdict.near_verbatim else "inferred"
    for place in places:
        target = items if _order(place) > _order(stated_at) else history
        target.append(
            _item(
                fact, place, verdict.relation, verdict.strength, not verdict.near_verbatim, f"{how}: {verdict.reason}"
            )
        )


def _epoch(group: Sequence[Statement]) -> tuple[Statement, Place]:
    """The wording and the place where the opinion was stated last with a number; where it never was, its first place.

    A line of a page without a day is what somebody keeps there: its number counts, from the last log's statement on.
    """
    told = [(place, one) for one in group for place in one.places if not place.is_ledger]
    told = told or [(place, one) for one in group for place in one.places]
    told.sort(key=lambda row: (row[0].order, row[1].id))
    numbered = [row for row in told if row[0].confidence is not None]
    if not numbered:
        place, one = next((row for row in told if row[0].day), told[0])
        return one, place
    kept = [row for row in numbered if row[0].day is None and row[0].role == "page"]
    place, one = numbered[-1]
    if kept and place.role != "page" and kept[-1][0].confidence != place.confidence:
        page, wording = kept[-1]
        return wording, page._replace(day=place.day)
    return one, place


def _item(fact: Statement, place: Place, relation: str, strength: str, inferred: bool, reason: str) -> Item:
    return Item(fact.id, place.citation, place.path, place.day, relation, strength, inferred, quote(fact.text), reason)


def _order(place: Place) -> int:
    return place.day.toordinal() if place.day else 0
