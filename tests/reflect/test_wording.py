"""How facts become lines: what says who somebody is, what happened once, and what is left of long or odd texts."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.parsers.retain import make_fact
from openclaw_memory.reflect.statements import Place, Statement
from openclaw_memory.reflect.wording import LONGEST, says_what_it_is, tells_an_event, told_days, trimmed

DAY = date(2025, 12, 2)


def said(text):
    fact = make_fact("world", ["Hark"], None, text, path="memory/2025-12-02.md", line=4, end_line=4, day=DAY)
    place = Place("memory/2025-12-02.md", 4, 4, DAY, "log", None)
    return Statement(fact.id, "world", text, "", ("Hark",), ("hark",), ("hark",), fact.occurred, (place,))


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("Midwife in Gothenburg, Mara's younger sister.", True),
        ("Site reliability engineer on the gannet team since Oct 29, 2025.", True),
        ("Is the surveyor who looked at Kittiwake.", True),
        ("Hark Lorenzen is the surveyor who looked at Kittiwake.", True),
        ("Elif's brother; has swum in the Elbe for twenty years.", True),
        ("My brother-in-law, lives in Porto.", True),
        ("ZX-4417 is the cause of E_CONN_4031.", False),
        ("Lives in Lisbon.", False),
        ("Live in Hamburg, third floor.", False),
        ("Went from Lisbon to Porto.", False),
        ("Rubbish at the house: brown bin on Mondays.", False),
        ("Tides at Flensburg are flat.", False),
        ("The raw-water pump takes impeller JP-0917.", False),
        ("Mara's desk was moved.", False),
        ("", False),
    ],
)
def test_who_somebody_is(text, does):
    assert says_what_it_is(said(text), "Hark") is does


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("Asked to shorten the summary.", True),
        ("Bought a cargo bike.", True),
        ("Currently in Marrakech (Nov 27–Dec 1, 2025).", True),
        ("Moved the release to Tuesday.", True),
        ("Moved from Lisbon to Porto last weekend.", False),
        ("Lives in Lisbon.", False),
        ("The duty phone rings since Nov 11, 2025.", False),
        ("Became team lead on Nov 11, 2025.", False),
        ("住在不来梅。", False),
    ],
)
def test_what_happened_once(text, does):
    assert tells_an_event(said(text)) is does


def test_days_that_the_words_leave_open():
    assert told_days(said("Moved from Lisbon to Porto last weekend.")) == "2025-11-29/2025-11-30"
    assert told_days(said("Moved on Nov 29, 2025.")) == ""
    assert told_days(said("Asked for it today.")) == ""
    assert told_days(said("Lives in Lisbon.")) == ""


@given(st.text(max_size=600))
def test_a_line_is_one_line_and_opens_no_comment(text):
    line = trimmed(text)
    assert "\n" not in line
    assert "<!--" not in line
    assert "-->" not in line
    assert len(line) <= LONGEST + 40
    assert trimmed(line) == line
