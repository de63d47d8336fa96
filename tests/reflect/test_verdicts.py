"""The judges: what rules decide, what guards keep out, and the laws that hold for any two texts."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openclaw_memory.bank.errors import UsageFault
from openclaw_memory.reflect.verdicts.records import Claim
from openclaw_memory.reflect.verdicts.rules import guarded
from openclaw_memory.reflect.verdicts.scorers import make_scorer

OLD, NEW = date(2026, 1, 5), date(2026, 2, 5)
RELATIONS = {"supports", "contradicts", "neutral"}
SUCCESSIONS = {"supersedes", "duplicate", "coexists", "older_late"}
SCORERS = [make_scorer("rules"), make_scorer("learned")]


def opinion(text):
    return Claim(text, "opinion", ("Ada",), OLD)


def fact(text, day=NEW):
    return Claim(text, "world", ("Ada",), day)


@pytest.mark.parametrize("scorer", SCORERS, ids=lambda one: one.name)
@pytest.mark.parametrize(
    ("held", "said", "relation"),
    [
        ("Enjoys the morning swim.", "No longer enjoys the morning swim.", "contradicts"),
        ("Enjoys the morning swim.", "Still enjoys the morning swim.", "supports"),
        ("Wants to be on call.", "Does not want to be on call any more.", "contradicts"),
        ("The ARM build is flaky.", "The ARM build is not flaky any more.", "contradicts"),
        ("Enjoys the morning swim.", "Does Ada enjoy the morning swim?", "neutral"),
        ("Enjoys the morning swim.", "Bruno says that the morning swim is a joy.", "neutral"),
        ("Enjoys the morning swim.", "Used to enjoy the morning swim.", "neutral"),
        ("Enjoys the morning swim.", "If it gets warmer, enjoys the morning swim.", "neutral"),
    ],
)
def test_stances_that_rules_decide(scorer, held, said, relation):
    assert scorer.stance(opinion(held), fact(said)).relation == relation


@pytest.mark.parametrize("scorer", SCORERS, ids=lambda one: one.name)
@pytest.mark.parametrize(
    ("old", "new", "day", "relation"),
    [
        ("Lives in Bruges.", "Lives in Ghent.", NEW, "supersedes"),
        ("Lives in Kiel.", "Moved from Kiel to Husum last night and lives there now.", NEW, "supersedes"),
        ("Listens on port 8080.", "Listens on port 9090.", NEW, "supersedes"),
        ("Weighs 6.2 kilos.", "Weighs 4.8 kilos.", date(2025, 1, 1), "older_late"),
        ("Lives in Ghent.", "Used to live in Bruges.", NEW, None),
        ("Went to scout camp in 2024.", "Went to scout camp in 2025.", NEW, "coexists"),
        ("Lives in Ghent.", "In Ghent lives.", NEW, "duplicate"),
    ],
)
def test_successions_that_rules_decide(scorer, old, new, day, relation):
    found = scorer.succession(fact(old, OLD), fact(new, day)).relation
    assert found == relation if relation else found != "supersedes"


def test_guards_say_what_they_saw():
    assert guarded("Does she like it?") == "a question: “?”"
    assert guarded("Uwe told her that he likes it.", frozenset(["ada"])) == "somebody else's: “Uwe told”"
    assert guarded("Ada told me that she likes it.", frozenset(["ada"])) is None


def test_an_unknown_judge_is_refused():
    with pytest.raises(UsageFault):
        make_scorer("oracle")


TEXT = st.text(max_size=60) | st.lists(
    st.sampled_from(
        "likes tea no longer not never 8080 port lives in Ghent ? if 喜欢 茶 nicht @Ada . now used to".split()
    ),
    max_size=10,
).map(" ".join)


@pytest.mark.parametrize("scorer", SCORERS, ids=lambda one: one.name)
@given(TEXT, TEXT, st.none() | st.just(NEW))
@settings(max_examples=60, deadline=None)
def test_any_two_texts_are_judged(scorer, one, other, day):
    stance = scorer.stance(opinion(one), fact(other, day))
    assert stance.relation in RELATIONS
    assert (stance.strength is None) == (stance.relation == "neutral")
    assert 0 <= stance.probability <= 1
    assert stance == scorer.stance(opinion(one), fact(other, day))
    found = scorer.succession(fact(one, OLD), fact(other, day))
    assert found.relation in SUCCESSIONS
    assert 0 <= found.probability <= 1
    assert scorer.stance(opinion(one), fact(one)).relation != "contradicts"
