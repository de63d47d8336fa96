"""Marks that say when an entry of the memory is wanted: ``<!-- trigger: … -->`` and its neighbours.

The marks are OpenClaw's: ``trigger`` holds phrases, joined by ``,`` or ``;``, and ``importance`` a number from 1 to 10.
A phrase that names days (``2025-12-24``, ``every Monday``) is due on them. Any other is due when a question has its
words, by OpenClaw's own measure, or names the entity that it names. Everything here is a pure function.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

from ..parsers.names import code_spans
from ..parsers.scripts import has_unspaced
from ..parsers.times import find_times

#: What an entry without the mark counts as: in OpenClaw such a score is multiplied by 1.
IMPORTANCE = 5
#: An entry for one day is shown for so many days more, as nobody may have asked on that day.
LATE_DAYS = 2
#: OpenClaw's: a trigger's score counts 0.8, how well the entry answers 0.2; from 0.65 on it is shown. Here the words
#: alone decide.
STRONG = 0.65 / 0.8

_MARK = re.compile(r"<!--\s*(?P<name>trigger|importance|project|observed)\s*:(?P<value>[^\n]*?)-->", re.IGNORECASE)
_PHRASES = re.compile(r"[,;]")
_SUPERSEDED = re.compile(r"\|\s*status\s*:\s*superseded\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_ISO = r"\d{4}-\d{2}-\d{2}"
_EVERY = re.compile(
    r"(?:every|each|jede[nrsm]?|cada|chaque|ogni|her|tou(?:s|tes) les|todos? (?:los|os)|todas? (?:las|as))\s+|每",
    re.IGNORECASE,
)
_DAY = frozenset("day tag tage día dias días dia jour jours giorno gün 天 日".split())
_STEP = re.compile(
    rf"(?P<count>\d{{1,3}}|other)\s*(?P<unit>days?|weeks?)(?:\s+(?:from|since|after)\s+(?P<start>{_ISO}))?$",
    re.IGNORECASE,
)
_MONTHLY = re.compile(
    r"(?:(?:month\s+on\s+)?(?:the\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th|\.)(?:\s+of\s+the\s+month)?)$", re.IGNORECASE
)
_YEARLY = re.compile(r"-{0,2}(?P<month>\d{2})-(?P<day>\d{2})$")
_MONTH = re.compile(r"(?P<year>\d{4})-(?P<month>\d{2})$")
_RANGE = re.compile(rf"(?P<first>{_ISO})\s*(?:\.\.|/|–)\s*(?P<last>{_ISO})$")


class Marks(NamedTuple):
    """What the marks of an entry say. ``triggers``: phrases as written. ``importance``: 1 to 10, None without a mark.
    ``projects``: keys. ``superseded``: said to hold no more."""

    triggers: tuple[str, ...] = ()
    importance: int | None = None
    projects: tuple[str, ...] = ()
    superseded: bool = False


class Due(NamedTuple):
    """``day``: on which it is or was due; None for what the question triggers. ``phrase``: that made it due."""

    day: date | None
    phrase: str


def read_marks(text: str) -> Marks:
    """The marks in an entry's lines; those in code spans are text."""
    if "<!--" not in text:
        return Marks()
    triggers: dict[str, None] = {}
    projects: dict[str, None] = {}
    importance: int | None = None
    superseded = False
    for line in text.split("\n"):
        spans = code_spans(line)
        for mark in _MARK.finditer(line):
            if any(first <= mark.start() < end for first, end in spans):
                continue
            name, value = mark["name"].casefold(), mark["value"].strip()
            if name == "trigger":
                triggers.update(dict.fromkeys(filter(None, (part.strip() for part in _PHRASES.split(value)))))
            elif name == "project":
                projects.update(dict.fromkeys(filter(None, (part.strip() for part in value.split(";")))))
            elif name == "observed":
                superseded = superseded or bool(_SUPERSEDED.search(value))
            elif value.isascii() and value.isdecimal() and 1 <= int(value[:3]) <= 10:
                importance = max(importance or 0, int(value[:3]))
    return Marks(tuple(triggers), importance, tuple(projects), superseded)


def when_due(phrase: str, today: date, written: date | None) -> date | bool | None:
    """False for a phrase that names no days; the day on which an entry is due now, None where it is not.

    ``written``: the day of the log that it stands in, from which "tomorrow" counts. An entry for one day stays due for
    ``LATE_DAYS``, one for a longer stretch on each of its days, a recurring one on each of its days.
    """
    text = " ".join(phrase.split())
    try:
        for read in (_range, _yearly, _recurring, _words_of_time):
            found = read(text, today, written)
            if found is not False:
                return found
    except (ValueError, OverflowError):
        # 2025-02-30: meant as a day that there is none of.
        return None
    return False


def says(phrase: str, question: str) -> bool:
    """Whether a question has a phrase's words, by OpenClaw's measure: its one word, or nearly all of several."""
    words = {word for word in _WORD.findall(phrase.casefold()) if len(word) > 1 or has_unspaced(word)}
    if not words:
        return False
    asked = question.casefold()
    there = set(_WORD.findall(asked))
    overlap = sum(word in there or (has_unspaced(word) and word in asked) for word in words)
    if len(words) == 1:
        return overlap == 1
    return bool(overlap) and overlap / len(words) * 0.8 + min(1.0, overlap / 2) * 0.2 >= STRONG


def due(
    marks: Marks, today: date, question: str, written: date | None = None, names: Callable[[str], bool] | None = None
) -> Due | None:
    """Why an entry is due, days before words; None where it is not. ``names``: whether the question names the entity
    that a phrase names."""
    days: list[Due] = []
    words: list[Due] = []
    for phrase in marks.triggers:
        day = when_due(phrase, today, written)
        if day is False:
            if question and (says(phrase, question) or (names is not None and names(phrase))):
                words.append(Due(None, phrase))
        elif isinstance(day, date):
            days.append(Due(day, phrase))
    days.sort(key=lambda one: one.day or today, reverse=True)
    return next(iter([*days, *words]), None)


_Read = date | bool | None


def _within(first: date, last: date, today: date) -> date | None:
    if first == last:
        return first if first <= today <= first + timedelta(LATE_DAYS) else None
    return today if first <= today <= last else None


def _range(text: str, today: date, written: date | None) -> _Read:
    if re.fullmatch(_ISO, text):
        return _within(date.fromisoformat(text), date.fromisoformat(text), today)
    match = _RANGE.match(text)
    if match:
        return _within(date.fromisoformat(match["first"]), date.fromisoformat(match["last"]), today)
    match = _MONTH.match(text)
    if match:
        first = date(int(match["year"]), int(match["month"]), 1)
        return _within(first, first.replace(day=calendar.monthrange(first.year, first.month)[1]), today)
    return False


def _yearly(text: str, today: date, written: date | None) -> _Read:
    match = _YEARLY.match(text)
    return _on(int(match["month"]), int(match["day"]), today) if match else False


def _on(month: int, day: int, today: date) -> date | None:
    """Today where it is that day of the year; 29 February is the 28th where there is none."""
    date(2024, month, day)
    last = calendar.monthrange(today.year, month)[1]
    return today if (today.month, today.day) == (month, min(day, last)) else None


def _recurring(text: str, today: date, written: date | None) -> _Read:
    match = _EVERY.match(text)
    if not match:
        return False
    rest = text[match.end() :].strip()
    if rest.casefold() in _DAY:
        return today
    step = _STEP.match(rest)
    if step:
        start = date.fromisoformat(step["start"]) if step["start"] else written
        count = 2 if step["count"].casefold() == "other" else int(step["count"])
        length = count * (7 if step["unit"].casefold().startswith("week") else 1)
        if start is None or not length:
            return None
        return today if today >= start and (today - start).days % length == 0 else None
    monthly = _MONTHLY.match(rest)
    if monthly:
        day = int(monthly["day"])
        last = calendar.monthrange(today.year, today.month)[1]
        return today if 1 <= day <= 31 and today.day == min(day, last) else None
    rest = re.sub(r"^(?:year on|jahr am|año el)\s+(?:the\s+)?", "", rest, flags=re.IGNORECASE)
    if _YEARLY.match(rest):
        return _yearly(rest, today, written)
    for asked, read in ((rest, "yearless"), (f"on {rest}", "relative")):
        for time in find_times(asked, today):
            if time.source == read and time.interval and time.end >= len(asked) - 1:
                first = time.interval.first
                if read == "yearless":
                    if time.interval.precision == "month":
                        return today if first.month == today.month else None
                    return _on(first.month, first.day, today)
                if time.interval.precision == "day":
                    return today if first.weekday() == today.weekday() else None
    return False


def _words_of_time(text: str, today: date, written: date | None) -> _Read:
    """``24 December 2025``, ``24. Dezember`` (every year, but in a log the nearest), ``tomorrow`` in a log."""
    for time in find_times(text, written or today):
        if time.interval is None or text[: time.start].strip().casefold() not in ("", "on", "am", "el", "le", "il"):
            return False
        if text[time.end :].strip():
            return False
        first, last = time.interval.first, time.interval.last
        if written is None and time.source == "relative":
            return False
        if written is None and time.source == "yearless":
            if time.interval.precision == "month":
                return today if first.month == today.month else None
            return _on(first.month, first.day, today) if first == last else _within(first, last, today)
        return _within(first, last, today)
    return False
