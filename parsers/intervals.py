"""Days to intervals: whole weeks, months, seasons and years, steps from a day, dates without their year.

Weeks are Monday to Sunday. Seasons are northern; winter begins in the December of the year before. A day or
month without its year is the latest one that is at most 45 days ahead of the text's own day.
Everything raises ValueError or OverflowError for days that the calendar does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from .records import Interval

_AHEAD = timedelta(days=45)
#: What a rule says: the interval (None when it cannot be resolved) and its source.
Outcome = tuple[Interval | None, str]
#: Year, month, day of the month, as far as a text says them.
Parts = tuple[int | None, int | None, int | None]


class NoSuchDay(ValueError):
    """A date that is written in full, but is not in the calendar (``29 February 2025``)."""


def one_day(day: date) -> Interval:
    return Interval(day, day, "day")


def whole_month(year: int, month: int) -> Interval:
    """The month; ``month`` may lie outside of 1..12 and then counts on into other years."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    days = 31 if month == 12 else (date(year, month + 1, 1) - date(year, month, 1)).days
    return Interval(date(year, month, 1), date(year, month, days), "month")


def whole_year(year: int) -> Interval:
    return Interval(date(year, 1, 1), date(year, 12, 31), "year")


def whole_season(year: int, season: int) -> Interval:
    return Interval(whole_month(year, season * 3).first, whole_month(year, season * 3 + 2).last, "season")


def week_of(day: date, weeks: int) -> Interval:
    monday = day - timedelta(days=day.weekday()) + timedelta(weeks=weeks)
    return Interval(monday, monday + timedelta(days=6), "week")


def shifted(unit: str, count: int, day: date) -> Interval:
    """The day, week, weekend, month or year that lies ``count`` of them after the one of ``day``."""
    if unit == "day":
        return one_day(day + timedelta(days=count))
    if unit == "week":
        return week_of(day, count)
    if unit == "weekend":
        week = week_of(day, count)
        return Interval(week.last - timedelta(days=1), week.last, "range")
    if unit == "month":
        return whole_month(day.year, day.month + count)
    if unit == "year":
        return whole_year(day.year + count)
    return one_day(day + timedelta(days=-(-count // (24 if unit == "hour" else 1440))))


def step_back(day: date, count: int, unit: str) -> date:
    """The day that lies ``count`` units before ``day``; a month that is too short gives its last day.

    Raises ValueError or OverflowError when the calendar does not reach so far.
    """
    if unit in ("month", "year"):
        month = whole_month(day.year, day.month - count * (12 if unit == "year" else 1))
        return min(month.last, month.first + timedelta(days=day.day - 1))
    if unit in ("hour", "minute"):
        return shifted(unit, -count, day).first
    return day - timedelta(days=count * (1 if unit == "day" else 7))


def nearest(candidates: list[Interval], day: date) -> Interval:
    """The latest candidate that begins at most 45 days after ``day``. ValueError when there is none."""
    return max(interval for interval in candidates if interval.first - day <= _AHEAD)


def in_years(make: Callable[[int], Interval], years: range) -> list[Interval]:
    found = []
    for year in years:
        try:
            found.append(make(year))
        except ValueError:
            continue
    return found


def resolve(parts: Parts, day: date | None) -> Outcome:
    """``(year, month, day of the month)`` -> its interval. NoSuchDay for a full date that does not exist."""
    year, month, number = parts

    def make(year: int) -> Interval:
        if month is None:
            return whole_year(year)
        first = date(year, month, 1 if number is None else number)
        return whole_month(year, month) if number is None else one_day(first)

    if year is not None:
        if not 1000 <= year < 3000 or (number is None and not 1900 <= year <= 2100):
            raise ValueError(year)
        try:
            return make(year), "absolute"
        except ValueError as error:
            raise NoSuchDay(str(error)) from None
    if month is None:
        raise ValueError(parts)
    make(2000)
    if day is None:
        return None, "yearless"
    return nearest(in_years(make, range(day.year - 8, day.year + 2)), day), "yearless"
