"""Filters as a person writes them."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from openclaw_memory.bank.errors import UsageFault
from openclaw_memory.recall.filters import Filters, make_filters

NOW = datetime(2025, 12, 6, 12, tzinfo=UTC)


def test_none() -> None:
    assert make_filters(NOW) == Filters()


@pytest.mark.parametrize(
    ("written", "first", "last"),
    [
        ("2025-11-27", date(2025, 11, 27), date(2025, 11, 27)),
        ("2025-11", date(2025, 11, 1), date(2025, 11, 30)),
        ("2025", date(2025, 1, 1), date(2025, 12, 31)),
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29)),
        ("2025-11-20..2025-11-27", date(2025, 11, 20), date(2025, 11, 27)),
        ("yesterday", date(2025, 12, 5), date(2025, 12, 5)),
        ("today", date(2025, 12, 6), date(2025, 12, 6)),
    ],
)
def test_days(written: str, first: date, last: date) -> None:
    """``since`` starts with the first day of what is named, ``until`` and ``as_of`` end with its last one."""
    assert make_filters(NOW, since=written).since == first
    assert make_filters(NOW, until=written).until == last
    assert make_filters(NOW, as_of=written).as_of == last
    around = make_filters(NOW, around=written).around
    assert around is not None
    assert (around.first, around.last) == (first, last)


@pytest.mark.parametrize(
    ("written", "day"), [("30d", date(2025, 11, 6)), ("2w", date(2025, 11, 22)), ("1y", date(2024, 12, 6))]
)
def test_ages(written: str, day: date) -> None:
    assert make_filters(NOW, since=written).since == day


@pytest.mark.parametrize(
    ("written", "kinds"),
    [
        ("", ()),
        ("opinion", ("opinion",)),
        ("Opinions", ("opinion",)),
        ("W,o", ("world", "opinion")),
        ("b, e ,experience", ("experience",)),
        (" note , s,", ("note", "observation")),
    ],
)
def test_kinds(written: str, kinds: tuple[str, ...]) -> None:
    assert make_filters(NOW, kind=written).kinds == kinds


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"since": "soon"}, "--since 'soon'"),
        ({"until": "2025-02-30"}, "--until '2025-02-30'"),
        ({"as_of": "99999999d"}, "--as-of '99999999d'"),
        ({"around": "\0"}, "--around"),
        ({"since": "2025-12-02", "until": "2025-12-01"}, "--since 2025-12-02 is after --until 2025-12-01"),
        ({"kind": "rumour"}, "--kind 'rumour'"),
        ({"kind": "opinion,x"}, "--kind 'x'"),
        ({"min_confidence": 1.1}, "--min-confidence 1.1"),
        ({"min_confidence": -0.1}, "--min-confidence -0.1"),
        ({"min_confidence": float("nan")}, "--min-confidence nan"),
    ],
)
def test_faults_name_the_option(options, told: str) -> None:
    with pytest.raises(UsageFault) as caught:
        make_filters(NOW, **options)
    assert str(caught.value).startswith(told)
    assert "\n" not in str(caught.value)


FILES = {
    "memory/2025-11-01.md": "## Retain\n- O(c=0.9) @Peter: Likes tea.\n"
    "- O(c=0.4) @Peter: Likes soup.\n- O @Peter: Likes rice.\n"
    "- W @Peter: Likes to be asked.\n",
    "memory/2025-11-20.md": "Peter likes the quay, said Ana on November 1.\n",
    "bank/entities/Peter.md": "---\naliases: [Pete]\n---\n# Peter\n\n- W: Likes figs.\n",
    "bank/world.md": "- W @Ana: Likes her brother.\n",
}


def said(answer) -> set[str]:
    return {result["content"].rstrip(".").removeprefix("Likes ") for result in answer["results"]}


def test_confidence(make, ask) -> None:
    """Opinions below the bound are left out; one without a stated confidence counts 0.6; facts are no opinions."""
    workspace = make(FILES)
    assert said(ask(workspace, "likes", min_confidence=0.6, kind="opinion")) == {"tea", "rice"}
    assert said(ask(workspace, "likes", min_confidence=0.61, kind="opinion")) == {"tea"}
    assert said(ask(workspace, "likes", min_confidence=1, kind="opinion,world")) == {
        "to be asked",
        "figs",
        "her brother",
    }


def test_entity(make, ask) -> None:
    """By any name; what leads with it, mentions it, names it in narrative, or stands on its page."""
    workspace = make(FILES)
    everything = {"tea", "soup", "rice", "to be asked", "figs", "Peter likes the quay, said Ana on November 1"}
    for name in ("Peter", "peter", "@Peter".lstrip("@"), "Pete", " Peter "):
        assert said(ask(workspace, "likes", entity=name)) == everything
    assert said(ask(workspace, "likes", entity="Ana")) == {
        "her brother",
        "Peter likes the quay, said Ana on November 1",
    }
    assert ask(workspace, "likes", entity="nobody")["results"] == []
    assert ask(workspace, "likes", entity='"x" OR *')["results"] == []


def test_source(make, ask) -> None:
    workspace = make(FILES)
    assert said(ask(workspace, "likes", source="bank/")) == {"figs", "her brother"}
    assert said(ask(workspace, "likes", source="./bank/entities/Peter.md")) == {"figs"}
    assert ask(workspace, "likes", source="bank%")["results"] == []


def test_what_happened_then_counts_like_what_was_written_then(make, ask) -> None:
    workspace = make(FILES)
    sources = {r["source"] for r in ask(workspace, "likes", until="2025-11-01", kind="note")["results"]}
    assert sources == {"memory/2025-11-20.md#L1"}
    assert ask(workspace, "likes", until="2025-10-31")["results"] == []
