"""Plain variations of the rows' opinions: said again, negated, hedged, with another number, by somebody else.

People wrote the rows to be hard, so that a fact with an opinion's own words is mostly none about it. In logs it mostly
is. These rows say so; they are made by rules from the opinions of the training rows and weigh half.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

_PRONOUNS = ("he", "she", "they")
_OTHERS = ("Ines", "Bruno", "Kaveh", "Lotte", "Omar", "Petra", "Yuki", "Dario")
_KIN = ("Her brother", "His sister", "A colleague", "Their neighbour", "The other team", "His wife", "Her boss")
_AGAIN = (
    "Said again that {he} {o}.",
    "Still {o}.",
    "{O}, as ever.",
    "{O} more than ever.",
    "Repeated that {he} {o}.",
    "Once more: {o}.",
    "Confirmed that {he} {o}.",
    "Really does {base} {rest}.",
    "Told me twice that {he} {o}.",
    "It shows every week: {he} {o}.",
    "{O} even in winter, {he} said.",
    "Always {o}.",
    "{O} so much that {he} wrote it down.",
)
_AGAINST = (
    "No longer {o}.",
    "Does not {base} {rest} any more.",
    "Doesn't {base} {rest}.",
    "Never {o} now.",
    "Said that {he} no longer {o}.",
    "Does not {base} {rest} after all.",
    "Says {he} does not {base} {rest}.",
    "Doesn't {base} {rest} at all these days.",
    "From now on does not {base} {rest}.",
    "Has stopped; no longer {o}.",
    "No longer {o} after last week.",
    "Told everyone {he} doesn't {base} {rest}.",
)
_HEDGED_FOR = ("Maybe still {o}.", "Seems to {base} {rest}.", "Perhaps {he} {o} after all.", "Probably still {o}.")
_HEDGED_AGAINST = (
    "Perhaps does not {base} {rest} at the moment.",
    "Maybe no longer {o}.",
    "Not sure {he} still {o}.",
    "Might not {base} {rest} any more.",
    "Perhaps does not really {base} {rest}.",
)
_TWICE = (
    "It is not true that {he} no longer {o}.",
    "Never stopped: {o}.",
    "Can't be talked out of it: {he} {o}.",
    "Nobody can say that {he} does not {base} {rest}.",
    "Does not doubt it: {o}.",
)
_NONE = (
    "{other} {o}.",
    "{kin} {o}.",
    "{other} said that {kin_low} {o}.",
    "Does {he} {base} {rest}?",
    "If it were up to {other}, {he} would {base} {rest}.",
    "{other} does not {base} {rest}.",
    "{kin} no longer {o}.",
    "Asked whether {other} {o}.",
    "As a child used to {base} {rest}.",
)
_STATE = re.compile(r"^(?P<what>(?:The |A |An |[A-Z])[\w' -]{1,60}?) (?P<be>is|are) (?P<how>[a-z].*)$")
_STATE_FOR = (
    "{what} {be} still {how}.",
    "{what} {was} {how} again today.",
    "Again: {low} {be} {how}.",
    "{what} {be} as {how} as ever.",
)
_STATE_AGAINST = (
    "{what} {be} not {how} any more.",
    "{what} {be} no longer {how}.",
    "{what} {be} not {how}.",
    "{what} {was} not {how} at all today.",
    "{what} {be} not {how} after the change.",
)
_STATE_NONE = (
    "Is {low} {how}?",
    "{what} used to be {how}, years ago.",
    "The other one {be} {how}.",
    "{other} asked if {low} {be} {how}.",
)
_VERB = re.compile(r"^(?P<verb>[A-Z][a-z]+s)\s+(?P<rest>\S.*)$")
_NUMBER = re.compile(r"\b\d{1,4}\b")
_NOT_VERBS = {
    "Always",
    "Thinks",
    "Is",
    "Has",
    "Does",
    "This",
    "Its",
    "Tests",
    "Backups",
    "Releases",
    "Meetings",
    "Trains",
    "Emails",
}


def variations(rows: Sequence[dict[str, Any]], seed: int = 0) -> Iterator[dict[str, Any]]:
    """Rows in the form of the training rows, with their ``author``."""
    chance = random.Random(seed)
    seen: set[tuple[str, str]] = set()
    for row in rows:
        key = (row["entity"], row["opinion"])
        if key in seen or row["lang"] != "en":
            continue
        seen.add(key)
        for label, strength, text in _told(row["opinion"].strip().rstrip("."), row["entity"], chance):
            yield {
                **row,
                "fact": text[:1].upper() + text[1:],
                "fact_kind": "W",
                "label": label,
                "strength": strength,
                "why": "variation",
            }


def _told(opinion: str, entity: str, chance: random.Random) -> Iterator[tuple[str, str | None, str]]:
    words = {"he": chance.choice(_PRONOUNS), "other": chance.choice(_OTHERS), "kin": chance.choice(_KIN)}
    words["kin_low"] = words["kin"][:1].lower() + words["kin"][1:]
    verb, state = _VERB.match(opinion), _STATE.match(opinion)
    if verb and verb["verb"] not in _NOT_VERBS:
        base = _base(verb["verb"].lower())
        words |= {"o": f"{verb['verb'].lower()} {verb['rest']}", "O": opinion, "base": base, "rest": verb["rest"]}
        kinds = (
            (_AGAIN, "supports", "normal", 3),
            (_AGAINST, "contradicts", "strong", 3),
            (_HEDGED_FOR, "supports", "weak", 1),
            (_HEDGED_AGAINST, "contradicts", "weak", 1),
            (_TWICE, "supports", "normal", 1),
            (_NONE, "neutral", None, 2),
        )
    elif state:
        what = state["what"]
        low = what if what.split()[0] not in ("The", "A", "An") else what[:1].lower() + what[1:]
        was = "were" if state["be"] == "are" else "was"
        words |= {"what": what, "low": low, "be": state["be"], "was": was, "how": state["how"]}
        kinds = (
            (_STATE_FOR, "supports", "normal", 2),
            (_STATE_AGAINST, "contradicts", "normal", 2),
            (_STATE_NONE, "neutral", None, 1),
        )
    else:
        return
    for frames, label, strength, count in kinds:
        for frame in chance.sample(frames, count):
            yield label, strength, frame.format(**words)
    number = _NUMBER.search(opinion)
    if number:
        other = str(max(1, round(int(number[0]) * chance.choice((0.5, 1.5, 2, 3))) + chance.choice((0, 1))))
        changed = _NUMBER.sub(other, opinion, count=1)
        if other != number[0]:
            yield "contradicts", "normal", f"{changed} from now on."
            yield "contradicts", "normal", f"{changed} instead of {number[0]}."
        yield "supports", "normal", f"Kept to it: {opinion[:1].lower()}{opinion[1:]}."


def _base(verb: str) -> str:
    """``prefers`` to ``prefer``, ``relies`` to ``rely``, ``wishes`` to ``wish``."""
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if verb.endswith(("shes", "ches", "xes", "sses", "zes", "oes")):
        return verb[:-2]
    return verb[:-1]
