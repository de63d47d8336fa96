"""Time expressions in text: where they stand, and the days that they mean.

A text is read in two steps, both linear. Its words become letters, one for each class of word
(``time_letters``): "Nov 27–Dec 1, 2025" is ``b n~b n, y``. Then an ordered table of short patterns over those
letters is tried at each place where one may begin; the first whose days exist (``time_meaning``) wins. No
pattern repeats anything, so none can run away, and each is compiled when a text first needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta

from . import time_meaning as meaning
from .intervals import NoSuchDay, step_back
from .records import Interval, TimeExpression
from .time_letters import Letters, may_name_times

# The parts that rules are made of. _B, _A: what may stand right before and right after digits. _N: a count.
_B = r"(?<![^ ;,~jt':])"
_A = r"(?![nykxmbM_@]|[-./_][^ ;,.~-])"
_N = r"(?:[a1N] )?[n1aNk](?: ?o(?= ))?"
_ISO = r"y(?:-n-n|/n/n|\.n\.n|_n_n)"
_CJK_DAY = r"yJ ?[n1] ?U ?[n1] ?H"
_YEAR = r"(?:[.,]{0,2} (?:o )?y)"
_DM = r"n(?:h|\.)? ?(?:o )?(?:[DZ] )?[mbM]"
_MD = r"[mbM]\.? ?(?:[DZ] )?nh?(?![.:,][nk]| ?[ucW@])"
_TO = r" ?[-~tp] ?"

#: (letters that may begin it, what reads it, pattern). The first that matches and has a meaning wins.
_RULES: tuple[tuple[str, str, str], ...] = (
    ("y", "range", rf"{_B}({_ISO}) ?(?:[-~tp/]|\.\.) ?({_ISO}){_A}"),
    ("y", "short_range", rf"{_B}(y-n-n)/(n){_A}"),
    ("y", "range", rf"({_CJK_DAY}){_TO}((?:yJ ?)?(?:[n1] ?U ?)?[n1] ?H)"),
    ("y", "date", rf"{_B}{_ISO}Tn:n(?::n(?:\.[nykx])?)?(?:T|[@-]n:n)?(?![nykxmbM_@])"),
    ("y", "date", rf"{_B}{_ISO}{_A}"),
    ("y", "date", rf"{_CJK_DAY}|yJ ?[n1] ?U(?! ?[n1])|yJ(?! ?[nG1u])"),
    ("y", "iso_week", rf"{_B}y-?Kn{_A}"),
    ("y", "iso_month", rf"{_B}y-n{_A}"),
    ("y", "range", rf"{_B}(?<![-:])(y) ?~ ?(y){_A}"),
    ("y", "range", rf"(?<=[zfiIP] )(y)(?: ?[tp&] ?| ?- ?)(y){_A}"),
    ("y", "year", rf"(?<=[iIPpz] )y{_A}|(?<=f )y{_A}(?! [tp])"),
    ("y", "date", r"(?<![^ ;,~'])y u"),
    ("y", "bare_year", rf"{_B}y{_A}"),
    ("u", "date", rf"u y{_A}"),
    ("mbM", "range", rf"({_MD}{_YEAR}?){_TO}({_MD}{_YEAR}|{_MD}|nh?{_YEAR}|nh?){_A}"),
    ("mbM", "range", rf"(?<=z )({_MD}{_YEAR}?) & ({_MD}{_YEAR}|{_MD}|nh?){_A}"),
    ("mbM", "range", rf"([mbM]\.?{_YEAR}?){_TO}([mbM]\.?{_YEAR}){_A}"),
    ("mbM", "range", rf"(?<=[zfo] )([mbM])(?:{_TO}| & | a )([mbM]{_YEAR}?){_A}"),
    ("mbM", "date", rf"{_MD}{_YEAR}{_A}"),
    ("mbM", "date", rf"{_MD}{_A}"),
    ("mbM", "date", rf"[mbM]\.?(?:,? ?| o )y{_A}"),
    ("mb", "date", r"(?<=[iIPpfzo] )m(?![a-zA-Z])|(?<=[iI] )b(?![a-zA-Z])|m(?='[qoD](?![a-zA-Z]))|m(?= u)"),
    ("M", "date", r"(?<=I )M(?![a-zA-Z])|M(?='q)"),
    ("e", "date", rf"e(?: |-)(?:[oif] )?(?:[DZ] )?(?:[mbM]{_YEAR}?|y){_A}"),
    ("n", "range", rf"{_B}(n\. ?n\. ?y){_TO}(n\. ?n\. ?y){_A}"),
    ("n", "range", rf"{_B}({_DM}{_YEAR}?)\.?(?:{_TO}| a )({_DM}{_YEAR}|{_DM}){_A}"),
    ("n", "range", rf"{_B}(n(?:h|\.)?)(?:{_TO}| a )({_DM}{_YEAR}|{_DM}){_A}"),
    ("n", "range", rf"(?:(?<=z )|(?<=z D ))(n(?:h|\.)?) & ({_DM}{_YEAR}|{_DM}){_A}"),
    ("n", "date", rf"{_B}n(?:\. ?n\. ?|/n/)y{_A}"),
    ("n", "date", r"(?<=[EWfpPi] )n\. ?n\.(?! ?[nyk])"),
    ("n", "date", rf"{_B}{_DM}{_YEAR}{_A}"),
    ("n", "date", rf"{_B}n (?:o )?A(?: o)? y{_A}"),
    ("n", "date", rf"{_B}{_DM}{_A}"),
    ("n1", "range", rf"([n1] ?U ?[n1] ?H){_TO}((?:[n1] ?U ?)?[n1] ?H)"),
    ("n1", "date", r"(?<![nyJ])[n1] ?U(?: ?[n1] ?H|(?! ?[n1G]))"),
    ("r", "month_of_year", r"r ?j?[n1] ?U(?: ?[n1] ?H)?"),
    ("wv", "date", rf"[wv]\.?,? (?:{_DM}|{_MD}|{_ISO}){_YEAR}?{_A}"),
    ("r", "named", r"r(?: d)?"),
    ("Q", "named", r"Q'O"),
    ("u", "named", r"u P r"),
    ("P", "named", r"P(?:-| o )r"),
    ("lL", "past", rf"[lL] {_N} [uN](?![a-zA-Z])"),
    ("B", "past", rf"B (?:{_N} )?u"),
    ("n1k", "past", r"[n1k] (?:L [uN]|u L)"),
    ("l", "step", r"l [uswvmbSd](?![a-zA-Z])"),
    ("L", "step", r"L [uswNd]"),
    ("usw", "step", r"[usw] (?:Q )?L"),
    ("N", "step", r"N L"),
    ("w", "on_weekday", r"(?<=[EWiD] )w(?: d)?|w(?= u)"),
    ("Pp", "on_weekday", r"[Pp] (?:[DZ] )?[wv](?: d)?(?![a-zA-Z])"),
    ("v", "on_weekday", r"(?<=[Ei] )v(?![a-zA-Z])"),
    ("V", "on_weekday", r"V-F"),
    ("X", "cjk_weekday", r"X"),
    ("sS", "season_of_year", rf"[sS](?: o | )y{_A}"),
    ("s", "season_alone", r"(?<=[iIPo] )s|(?<=[iI] [DZ] )s"),
    ("n1aNk", "ago", rf"{_N}[ -][uJH] ?G"),
    ("n1", "ago", r"[n1] ?[uJH] ?G"),
    ("g", "ago", rf"g {_N} [uN]"),
    ("D", "ago", rf"D & a {_N} [uN]"),
    ("u", "before", r"(?<=[DZ] )u P(?: l)?(?! [a-zA-Z])"),
    ("Z", "vague", r"Z Y u"),
    ("R", "vague", r"R"),
    ("n", "clock", rf"{_B}(?<![:'])n:n(?::n)?(?: ?[-~] ?n:n)?(?: ?[cW])?(?![nykxmbM_@:]|[-./:][^ ;,.~-])"),
    ("n", "clock", rf"{_B}n ?[cW](?![a-zA-Z])|n ?C(?: ?n(?: ?u)?)?"),
    ("n1aNk", "duration", rf"{_N}[ -]?u(?! (?:Q )?L)|[n1k] ?J"),
)
_READERS = {name: getattr(meaning, "read_" + name) for _, name, _ in _RULES}


#: A number before a plural counts things: "in 2048 tokens" names no year, "you may 3 times" no day.
_COUNTED = r" (?!(?:is|was|has|this|as|us|its)\b)[a-z]{1,30}s\b"
_LEAD = r"(?i:^(?:around|about|circa|since|until|from|in|on|the) |^~ ?)"


_Match = Callable[[str, int], re.Match[str] | None]

#: Filled when first needed: for each letter the rules that it may begin.
_rules: dict[str, list[tuple[str, _Match]]] = {}


def _rules_for(letter: str) -> list[tuple[str, _Match]]:
    if letter not in _rules:
        _rules[letter] = [(name, re.compile(rule).match) for starts, name, rule in _RULES if letter in starts]
    return _rules[letter]


def find_times(text: str, day: date | None) -> list[TimeExpression]:
    """All time expressions of ``text``, in order, without overlaps; prepositions and articles stay outside.

    ``day`` is the day that the text was written (of a log), or asked (of a question); when it is None,
    relative and yearless expressions have no interval. A text that ends in a question mark may name a year
    alone. Takes time in proportion to the text, and raises nothing.
    """
    return _find(text, day, lenient=False) if may_name_times(text) else []


def _find(text: str, day: date | None, lenient: bool) -> list[TimeExpression]:
    letters = Letters(text, lenient)
    classes = "".join(letters.classes)
    bare_years = lenient or text[-20:].rstrip().endswith(("?", "？"))
    found: list[TimeExpression] = []
    end = 0
    for at, letter in enumerate(classes):
        if at < end or letter in " x;":
            continue
        for name, try_rule in _rules_for(letter):
            match = try_rule(classes, at)
            if match is None or (name == "bare_year" and not bare_years):
                continue
            try:
                found.append(_read(name, match, letters, day))
            except NoSuchDay:
                if name != "date":
                    continue
            except (ValueError, OverflowError):
                continue
            end = match.end()
            break
    return found


def _read(name: str, match: re.Match[str], letters: Letters, day: date | None) -> TimeExpression:
    """What a rule's match means. ValueError or OverflowError when it means nothing."""
    first, last = match.span()
    start, end = letters.starts[first], letters.ends[last - 1]
    may_count = name in ("year", "bare_year") or match[0][0] == "M"
    if may_count and re.match(_COUNTED, letters.text[end : end + 40]):
        raise ValueError("counts things")
    groups = [(a - first, b - first) for a, b in (match.span(n + 1) for n in range(match.re.groups)) if a >= 0]
    text = letters.text[start:end]
    interval, source = _READERS[name](meaning.Found(match[0], letters.values[first:last], day, text, groups))
    return TimeExpression(start, end, interval, source)


def occurred(expressions: Iterable[TimeExpression]) -> Interval | None:
    """When a fact says that it happened, by the expressions in its text; None when none can be resolved.

    A stated range comes before any other expression, then what stands on its own, then what depends on the
    fact's day; among equals the first. Clock times and durations say nothing of the day.
    """
    best: tuple[int, Interval] | None = None
    for expression in expressions:
        interval, source = expression.interval, expression.source
        if interval is None or source in ("clock", "duration"):
            continue
        rank = 2 if source == "relative" else 1 if source == "yearless" else 0
        if interval.precision == "range" and source != "relative":
            rank = -1
        if best is None or rank < best[0]:
            best = (rank, interval)
    return best[1] if best else None


_ACCEPTED = "30d, 2w, 3m, 1y, 12h, today, 2025, 2025-11, 2025-11-27, 2025-11-20..2025-11-27, 2026-W12, 'last week'"
_UNIT_BY_LETTER = {"d": "day", "w": "week", "mo": "month", "m": "month", "y": "year", "h": "hour"}


def parse_when(value: str, now: datetime) -> Interval:
    """The days that an option's value names (``--since 30d``, ``--around "last week"``), seen from ``now``.

    A span such as ``30d`` is the one day so long before ``now``. A date-time with a zone is taken in
    the zone of ``now``. Raises ValueError, with one line for the user, for anything else and for days out of
    range.
    """
    text = value.strip()
    shown = text if len(text) <= 60 else text[:57] + "..."
    if ".." in text and len(text) <= 200:
        first, _, last = text.partition("..")
        if not first.strip() or not last.strip() or ".." in last:
            raise ValueError(f"not a time: {shown!r} (accepted: {_ACCEPTED})")
        begin, finish = parse_when(first, now).first, parse_when(last, now).last
        if begin > finish:
            raise ValueError(f"ends before it begins: {shown!r}")
        return Interval(begin, finish, "range")
    try:
        interval = _parse_span(text, now) or _parse_iso(text, now) or _parse_words(text, now)
    except OverflowError:
        raise ValueError(f"out of range: {shown!r}") from None
    if interval is None:
        raise ValueError(f"not a time: {shown!r} (accepted: {_ACCEPTED})")
    return interval


def _parse_span(text: str, now: datetime) -> Interval | None:
    """``30d``: the day so long before now. OverflowError when there is none."""
    match = re.fullmatch(r"([0-9]+) ?(d|w|mo|m|y|h)", text.lower())
    if not match:
        return None
    if len(match[1]) > 8:
        raise OverflowError
    count, unit = int(match[1]), _UNIT_BY_LETTER[match[2]]
    try:
        if unit == "hour":
            day = (now - timedelta(hours=count)).date()
        else:
            day = step_back(now.date(), count, unit)
    except ValueError:
        raise OverflowError from None
    return Interval(day, day, "day")


def _parse_iso(text: str, now: datetime) -> Interval | None:
    """A date or date-time of ISO 8601, or None."""
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.,]+ ?([Zz]|[+-][0-9:]+)?)?", text):
        return None
    try:
        moment = datetime.fromisoformat(text.replace(" ", "T", 1).replace(" ", ""))
    except ValueError:
        return None
    if moment.tzinfo is not None and now.tzinfo is not None:
        moment = moment.astimezone(now.tzinfo)
    return Interval(moment.date(), moment.date(), "day")


def _parse_words(text: str, now: datetime) -> Interval | None:
    """Whatever ``find_times`` resolves, when it is the whole value; small letters will do."""
    text = re.sub(_LEAD, "", text[:201])
    if not text or len(text) > 200:
        return None
    for lead in ("", "in ", "on ", "the "):
        for expression in _find(lead + text, now.date(), lenient=True):
            whole = expression.start == len(lead) and expression.end == len(lead) + len(text)
            if whole and expression.interval and expression.source != "clock":
                return expression.interval
    return None
