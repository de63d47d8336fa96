"""From the matched words of a time expression to the days that it means.

Each ``read_…`` takes what a rule of ``times`` matched and answers with an interval and its source. It raises
ValueError or OverflowError where there is no such day: then the words are no time expression.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

from .intervals import (
    Outcome,
    Parts,
    in_years,
    nearest,
    one_day,
    resolve,
    shifted,
    step_back,
    week_of,
    whole_month,
    whole_season,
)
from .records import Interval


class Found:
    """What a rule matched: class letters and values, the day to count from, the text, and the groups."""

    __slots__ = ("classes", "day", "groups", "text", "values")

    def __init__(
        self, classes: str, values: list[object], day: date | None, text: str, groups: list[tuple[int, int]]
    ) -> None:
        self.classes, self.values, self.day, self.text, self.groups = classes, values, day, text, groups

    def number(self, letters: str) -> int | None:
        """The value of the first token whose class is among ``letters``, or None."""
        for letter, value in zip(self.classes, self.values, strict=True):
            if letter in letters:
                if isinstance(value, int):
                    return value
                raise ValueError(value)
        return None

    def part(self, group: int) -> Found:
        start, end = self.groups[group]
        return Found(self.classes[start:end], self.values[start:end], self.day, self.text, [])


def _read_parts(found: Found) -> Parts:
    """Year, month and day of the month from the letters of one date, in any of its orders."""
    classes = found.classes
    year, named = found.number("y"), found.number("mbMA")
    numbers = [value for letter, value in zip(classes, found.values, strict=True) if letter in "n1"]
    first, second = ([value if isinstance(value, int) else 0 for value in numbers] + [None, None])[:2]
    if named is not None:
        return year, named, first
    if second is None:
        is_month = classes[0] == "y" or "U" in classes
        return (year, first, None) if is_month else (year, None, first)
    if classes[0] == "y" or "U" in classes:
        return year, first, second
    if "/" in classes and first != second and max(first or 0, second) <= 12:
        raise ValueError("which of them is the month?")
    return (year, first, second) if "/" in classes and second > 12 else (year, second, first)


def read_date(found: Found) -> Outcome:
    """One day, month or year. A unit beside it may only be the word "year" (``im Jahr 2025``)."""
    if any(unit != "year" for letter, unit in zip(found.classes, found.values, strict=True) if letter == "u"):
        raise ValueError(found.text)
    if found.classes[0] == "e" and found.text.endswith((" may", " march")):
        raise ValueError("the end may come: a verb")
    return resolve(_read_parts(found), found.day)


def read_month_of_year(found: Found) -> Outcome:
    """``去年三月``: a month, or a day of it, in a year that is named from the day."""
    unit, count = _pair(found.values[0])
    if unit != "year":
        raise ValueError(unit)
    if found.day is None:
        return None, "relative"
    _, month, number = _read_parts(found)
    return resolve((found.day.year + count, month, number), None)[0], "relative"


def read_year(found: Found) -> Outcome:
    """A year by itself."""
    return read_date(found)


read_bare_year = read_year


def read_iso_month(found: Found) -> Outcome:
    """``2026-03``, with two digits."""
    if len(found.text) != 7:
        raise ValueError(found.text)
    return read_date(found)


def read_range(found: Found) -> Outcome:
    """Two dates, groups 0 and 1; what one of them leaves out (month, year), the other says."""
    left, right = _read_parts(found.part(0)), _read_parts(found.part(1))
    left = (left[0], left[1] or right[1], left[2])
    right = (right[0] or left[0], right[1] or left[1], right[2])
    if left[0] is None and right[0] is not None:
        left = (right[0] - ((left[1] or 0) > (right[1] or 0)), left[1], left[2])
    first, source = resolve(left, found.day)
    if source == "yearless" and first is not None:
        later = (right[1] or 0) < (left[1] or 0)
        right = (first.first.year + later, right[1], right[2])
    last, _ = resolve(right, found.day)
    if first is None or last is None:
        return None, source
    if first.first > last.last:
        raise ValueError("ends before it begins")
    return Interval(first.first, last.last, "range"), source


def read_short_range(found: Found) -> Outcome:
    """``2025-11-29/30``: the last number is a day of the same month."""
    first, last = found.part(0), found.part(1)
    year, month, _ = parts = _read_parts(first)
    interval, number = resolve(parts, None)[0], last.number("n")
    if interval is None or year is None or month is None or number is None:
        raise ValueError(found.classes)
    if number <= interval.first.day:
        raise ValueError("ends before it begins")
    return Interval(interval.first, date(year, month, number), "range"), "absolute"


def read_iso_week(found: Found) -> Outcome:
    year, week = found.number("y"), found.number("n")
    return week_of(date.fromisocalendar(year or 0, week or 0, 1), 0), "absolute"


def read_season_of_year(found: Found) -> Outcome:
    year = found.number("y") or 0
    if not 1900 <= year <= 2100:
        raise ValueError(year)
    return whole_season(year, found.number("sS") or 0), "absolute"


def read_season_alone(found: Found) -> Outcome:
    season, day = found.number("s") or 0, found.day
    if day is None:
        return None, "yearless"
    seasons = in_years(lambda year: whole_season(year, season), range(day.year - 1, day.year + 2))
    return nearest(seasons, day), "yearless"


def _pair(value: object) -> tuple[Any, Any]:
    """The two halves of a word's value."""
    if not isinstance(value, tuple):
        raise ValueError(value)
    return value[0], value[1]


def read_named(found: Found) -> Outcome:
    """``yesterday``, ``上周``; two of them or with a step before: ``the day before yesterday``."""
    index = max(found.classes.find("r"), found.classes.find("O"))
    unit, count = _pair(found.values[index])
    if found.classes[0] in "uP":
        step = found.number("P")
        if step not in (-1, 1) or unit != "day" or (found.classes[0] == "u" and found.values[0] != "day"):
            raise ValueError(found.text)
        count += step
    return (None if found.day is None else shifted(unit, count, found.day)), "relative"


def read_step(found: Found) -> Outcome:
    """``last week``, ``next Friday``, ``la semana pasada``, ``last March``, ``last night``."""
    day, step = found.day, found.number("lL")
    letter = next(letter for letter in found.classes if letter in "uNswvmbMSd")
    value = found.values[found.classes.index(letter)]
    if letter in "uN":
        unit = "year" if letter == "N" else str(value)
        if unit in ("day", "hour", "minute") or (found.classes[0] not in "lL" and not step):
            raise ValueError(unit)
        return (None if day is None else shifted(unit, step or 0, day)), "relative"
    if day is None:
        return None, "relative"
    if letter == "d":
        return one_day(day + timedelta(days=step or 0)), "relative"
    if not isinstance(value, int):
        raise ValueError(value)
    if letter in "wv":
        return _weekday(value, step or 0, day), "relative"
    make = whole_season if letter in "sS" else whole_month
    options = in_years(lambda year: make(year, value), range(day.year - 2, day.year + 3))
    if step == -1:
        return max(option for option in options if option.last < day), "relative"
    if step == 1:
        return min(option for option in options if option.first > day), "relative"
    if letter not in "sS":
        return make(day.year, value), "relative"
    return min(options, key=lambda option: max(option.first - day, day - option.last)), "relative"


def _weekday(weekday: int, step: int, day: date) -> Interval:
    """The last one before the day, the first one after it, or (step 0) the one in its week."""
    away = weekday - day.weekday()
    if step < 0:
        away = away - 7 if away >= 0 else away
    elif step > 0:
        away = away + 7 if away <= 0 else away
    return one_day(day + timedelta(days=away))


def read_on_weekday(found: Found) -> Outcome:
    """``on Friday``: that day or the nearest before it. ``by Friday``: the nearest from the day on."""
    weekday = found.number("wvV") or 0
    if found.day is None:
        return None, "relative"
    away = (weekday - found.day.weekday()) % 7
    if not (found.classes[0] in "Pp" and found.number("Pp") in (-1, 3)):
        away -= 7 if away else 0
    return one_day(found.day + timedelta(days=away)), "relative"


def read_cjk_weekday(found: Found) -> Outcome:
    week, weekday = _pair(found.values[0])
    if found.day is None:
        return None, "relative"
    if week is None:
        return one_day(found.day - timedelta(days=(found.day.weekday() - weekday) % 7)), "relative"
    return one_day(week_of(found.day, week).first + timedelta(days=weekday)), "relative"


def _count(found: Found) -> tuple[int, str]:
    """The number and the unit of ``two days``; 0 means a few."""
    classes = found.classes
    at = max(classes.rfind(letter) for letter in "uJH") if re.search("[uJH]", classes) else classes.rfind("N")
    numbers = [value for letter, value in zip(classes[:at], found.values, strict=False) if letter in "nk1aN"]
    number = numbers[-1] if numbers else 1
    if not isinstance(number, int):
        raise ValueError(number)
    return number, "year" if classes[at] == "N" else str(found.values[at])


def read_ago(found: Found) -> Outcome:
    number, unit = _count(found)
    if found.day is None:
        return None, "relative"
    if number == 0 and unit not in ("hour", "minute") and "n" not in found.classes:
        early, late = shifted(unit, -6, found.day), shifted(unit, -2, found.day)
        return Interval(early.first, late.last, "range"), "relative"
    return shifted(unit, -number, found.day), "relative"


def read_past(found: Found) -> Outcome:
    """``the past two weeks``: from that long before the day up to it (``next``: from it on)."""
    number, unit = _count(found)
    day = found.day
    step = found.number("lLB")
    if not step:
        raise ValueError(found.classes)
    if day is None:
        return None, "relative"
    number = number or 6
    other = step_back(day, -step * number, unit)
    return Interval(min(day, other), max(day, other), "range"), "relative"


def read_before(found: Found) -> Outcome:
    """``the week before``, ``the week before last``."""
    unit = str(found.values[0])
    if unit not in ("week", "weekend", "month", "year") or found.number("P") != -1:
        raise ValueError(unit)
    return (None if found.day is None else shifted(unit, -2 if "l" in found.classes else -1, found.day)), "relative"


def read_clock(found: Found) -> Outcome:
    numbers = [value for letter, value in zip(found.classes, found.values, strict=True) if letter in "n1"]
    if ":" in found.classes and not re.match(r"\d{1,2}:\d\d(?!\d)", found.text):
        raise ValueError(found.text)
    hour, *rest = (value if isinstance(value, int) else 99 for value in numbers)
    if hour > 24 or any(value > 59 for value in rest) or ("c" in found.classes and hour > 23):
        raise ValueError(hour)
    return (None if found.day is None else one_day(found.day)), "clock"


def read_duration(found: Found) -> Outcome:
    """``two years``, ``3 hours``: how long, never when."""
    return None, "duration"


def read_vague(found: Found) -> Outcome:
    """``recently``: some time before the day, nobody knows which."""
    return None, "relative"
