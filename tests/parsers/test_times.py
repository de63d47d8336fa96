"""Time expressions: the cases of ``tests/cases/times.jsonl``, and laws that hold for any text."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.parsers import times
from openclaw_memory.parsers.records import Interval
from openclaw_memory.parsers.time_letters import may_name_times
from openclaw_memory.parsers.times import find_times, parse_when

CASES = Path(__file__).parent.parent / "cases" / "times.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
DAY = date(2025, 11, 28)
NOW = datetime(2025, 11, 28, 9, 0, tzinfo=UTC)
MONTHS = [date(2000, month, 1).strftime("%B") for month in range(1, 13)]

days = st.dates(date(1900, 1, 1), date(2100, 12, 31))
PIECES = (
    "Nov May may march 27 2025 5 12:30 - – / . , ' : of the last next this week Friday weekend ago in since "
    "two few a an to between and gestern vor Wochen semana pasada hace il y a 昨天 上周 年 月 日 十 前 ? .md "
    "T W12 spring before yesterday für de en until Z other day K 1 00"
)
pieces = st.sampled_from(re.findall(r"\S+", PIECES))
texts = st.one_of(st.text(), st.lists(st.one_of(pieces, st.just(" "))).map("".join), st.lists(pieces).map(" ".join))


def occurred(text: str, day: date | None) -> Interval | None:
    return times.occurred(find_times(text, day))


def one_day(day: date) -> Interval:
    return Interval(day, day, "day")


def renderings(day: date) -> list[str]:
    """The same day as people write it."""
    name = MONTHS[day.month - 1]
    return [
        day.isoformat(),
        f"{day:%Y/%m/%d}",
        f"{day:%Y.%m.%d}",
        f"{day:%Y_%m_%d}",
        f"{day.day}.{day.month}.{day.year}",
        f"{name} {day.day}, {day.year}",
        f"{name[:3]} {day.day}, {day.year}",
        f"{day.day} {name} {day.year}",
        f"{day.day}th of {name}, {day.year}",
        f"{day.year}年{day.month}月{day.day}日",
        f"{day.isoformat()}T10:15:00Z",
    ]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['text'][:40]}|{row['day']}" for row in ROWS])
def test_cases(row: dict[str, Any]) -> None:
    day = date.fromisoformat(row["day"]) if row["day"] else None
    found = [
        {
            "text": row["text"][start:end],
            "first": interval and interval.first.isoformat(),
            "last": interval and interval.last.isoformat(),
            "precision": interval and interval.precision,
            "source": source,
        }
        for start, end, interval, source in find_times(row["text"], day)
    ]
    assert found == row["expect"]


@given(texts, st.one_of(st.none(), st.dates()))
def test_any_text(text: str, day: date | None) -> None:
    end = 0
    for expression in find_times(text, day):
        assert end <= expression.start < expression.end <= len(text)
        end = expression.end
        interval = expression.interval
        assert interval is None or interval.first <= interval.last
        assert expression.source in {"absolute", "relative", "yearless", "clock", "duration"}
        if expression.source == "duration" or (day is None and expression.source != "absolute"):
            assert interval is None
    interval = occurred(text, day)
    assert interval is None or interval.first <= interval.last


@given(days, days)
def test_a_written_day_is_found(day: date, other: date) -> None:
    for shown in renderings(day):
        text = f"Met them ({shown}), then left."
        [expression] = find_times(text, other)
        assert text[expression.start : expression.end] == shown
        assert expression.interval == one_day(day)
        assert occurred(text, other) == one_day(day)
        assert parse_when(shown, NOW) == one_day(day)


@given(days, st.integers(-300, 40))
def test_a_day_without_its_year_is_the_nearest(day: date, away: int) -> None:
    meant = day + timedelta(days=away)
    if (meant.month, meant.day) == (2, 29):
        return
    [expression] = find_times(f"Met on {MONTHS[meant.month - 1]} {meant.day}.", day)
    assert expression.interval == one_day(meant)


@given(days, days)
def test_a_range_names_both_ends(one: date, other: date) -> None:
    first, last = sorted((one, other))
    shown = " – ".join(f"{MONTHS[day.month - 1]} {day.day}, {day.year}" for day in (first, last))
    for text in (shown, f"{first}..{last}", f"{first} to {last}"):
        assert occurred(text, None) == Interval(first, last, "range")
        assert parse_when(text, NOW) == Interval(first, last, "range")


@given(texts)
def test_parse_when_answers_or_says_why(value: str) -> None:
    try:
        interval = parse_when(value, NOW)
    except ValueError as error:
        message = str(error)
    else:
        assert interval.first <= interval.last
        return
    assert re.match(r"[^\n]*(not a time|out of range|ends before)[^\n]*$", message)


@pytest.mark.parametrize(
    ("value", "first", "last", "precision"),
    [
        ("30d", "2025-10-29", "2025-10-29", "day"),
        ("2w", "2025-11-14", "2025-11-14", "day"),
        ("3m", "2025-08-28", "2025-08-28", "day"),
        ("9mo", "2025-02-28", "2025-02-28", "day"),
        ("1y", "2024-11-28", "2024-11-28", "day"),
        ("12h", "2025-11-27", "2025-11-27", "day"),
        ("today", "2025-11-28", "2025-11-28", "day"),
        ("Yesterday", "2025-11-27", "2025-11-27", "day"),
        ("tomorrow", "2025-11-29", "2025-11-29", "day"),
        ("2026-03", "2026-03-01", "2026-03-31", "month"),
        ("2025", "2025-01-01", "2025-12-31", "year"),
        ("0001-01-01", "0001-01-01", "0001-01-01", "day"),
        ("2025-11-27T10:00", "2025-11-27", "2025-11-27", "day"),
        ("2025-11-27T23:30-05:00", "2025-11-28", "2025-11-28", "day"),
        ("2025-11-20..2025-11-27", "2025-11-20", "2025-11-27", "range"),
        ("last week..today", "2025-11-17", "2025-11-28", "range"),
        ("2026-W12", "2026-03-16", "2026-03-22", "week"),
        ("last week", "2025-11-17", "2025-11-23", "week"),
        ("this month", "2025-11-01", "2025-11-30", "month"),
        ("Nov 27", "2025-11-27", "2025-11-27", "day"),
        ("around Nov 27", "2025-11-27", "2025-11-27", "day"),
        ("March 2026", "2026-03-01", "2026-03-31", "month"),
        ("march", "2025-03-01", "2025-03-31", "month"),
        ("last friday", "2025-11-21", "2025-11-21", "day"),
        ("3 weeks ago", "2025-11-03", "2025-11-09", "week"),
        ("two months ago", "2025-09-01", "2025-09-30", "month"),
        ("Nov 27–Dec 1, 2025", "2025-11-27", "2025-12-01", "range"),
        ("geçen hafta", "2025-11-17", "2025-11-23", "week"),
        ("昨天", "2025-11-27", "2025-11-27", "day"),
    ],
)
def test_parse_when(value: str, first: str, last: str, precision: str) -> None:
    assert parse_when(value, NOW) == Interval(date.fromisoformat(first), date.fromisoformat(last), precision)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "  ",
        "foo",
        "10am",
        "3 weeks",
        "2025-02-30",
        "2025-13",
        "2025..",
        "..",
        "2026..2025",
        "1..2..3",
        "x" * 9999,
    ],
)
def test_parse_when_refuses(value: str) -> None:
    with pytest.raises(ValueError, match=r"not a time|ends before"):
        parse_when(value, NOW)


@pytest.mark.parametrize("value", ["99999999d", "9" * 5000 + "d", "999999m", "9999y", "99999999h"])
def test_parse_when_out_of_range(value: str) -> None:
    with pytest.raises(ValueError, match="out of range"):
        parse_when(value, NOW)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Yesterday she told of Nov 3, 2024", "2024-11-03", "2024-11-03"),
        ("On 2025-11-20: booked Nov 27–Dec 1, 2025", "2025-11-27", "2025-12-01"),
        ("At 10:30, for two hours, yesterday", "2025-11-27", "2025-11-27"),
        ("a few days ago, then today", "2025-11-22", "2025-11-26"),
        ("recently, then today", "2025-11-28", "2025-11-28"),
    ],
)
def test_occurred_prefers_what_is_stated(text: str, first: str, last: str) -> None:
    interval = occurred(text, DAY)
    assert interval is not None
    assert (interval.first.isoformat(), interval.last.isoformat()) == (first, last)


@pytest.mark.parametrize(
    "text", ["Peter likes tea", "at 13:56", "for two years", "recently", "see memory/2025-11-27.md"]
)
def test_occurred_says_nothing(text: str) -> None:
    assert occurred(text, DAY) is None


@pytest.mark.parametrize(
    "unit",
    [
        "Nov ",
        "1",
        "1 ",
        "last ",
        "Nov 27 - ",
        "2025-11-",
        "a 1 o ",
        "the week ",
        "hier ",
        "昨天",
        "十",
        "上",
        "2025年",
        ". ",
        "é",
    ],
)
def test_time_grows_with_the_text(unit: str) -> None:
    def cost(repeats: int) -> float:
        text = unit * repeats
        spent = []
        for _ in range(3):
            begin = process_time()
            find_times(text, DAY)
            spent.append(process_time() - begin)
        return min(spent)

    cost(10)
    assert cost(20_000) < 10 * cost(5_000) + 0.05


@given(texts, days)
def test_the_quick_look_misses_nothing(text: str, day: date) -> None:
    assert find_times(text, day) == times._find(text, day, lenient=False)


@pytest.mark.parametrize("row", ROWS)
def test_the_quick_look_lets_every_case_through(row: dict[str, Any]) -> None:
    assert may_name_times(row["text"]) or not row["expect"]
