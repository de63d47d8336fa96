"""One opinion in other words, and what must never be taken for one."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.reflect.verdicts.records import Claim
from openclaw_memory.reflect.verdicts.sameness import content_words, same_opinion


def claim(text, *entities):
    return Claim(text, "opinion", entities or ("Ada",), None)


WINDOW = [
    "Prefers a window seat on the train.",
    "On trains she prefers window seats.",
    "Wants a seat at the window on the train.",
    "Likes to have the window seat when she takes the train.",
    "Ada prefers the window seat on trains",
]


@pytest.mark.parametrize(
    "texts",
    [
        WINDOW,
        ["Prefers concise replies on WhatsApp.", "Likes short answers on WhatsApp", "On WhatsApp, wants brief replies"],
        [
            "Hates being called before ten.",
            "Doesn't like being called before 10",
            "Can't stand being called before ten",
        ],
        ["Prefers tea over coffee.", "Prefers tea to coffee"],
        ["Never deploys on Fridays", "Does not deploy on Friday"],
        ["Trägt gern rote Schuhe", "Trägt gerne die roten Schuhe."],
        ["喜欢靠窗的座位", "喜欢靠窗座位。"],
    ],
)
def test_rewordings_are_one_opinion(texts):
    for a, b in itertools.permutations(texts, 2):
        assert same_opinion(claim(a), claim(b)), (a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (WINDOW[0], "Prefers the quiet coach on the train."),
        (WINDOW[0], "Prefers a window seat on the plane."),
        (WINDOW[0], "Does not want a window seat on the train."),
        (WINDOW[0], "Hates window seats on the train."),
        ("Wants replies below 1500 characters", "Wants replies below 500 characters"),
        ("Likes two sugars in her tea", "Likes three sugars in her tea"),
        ("Prefers calls on Mondays", "Prefers calls on Tuesdays"),
        ("Likes quiet at work", "Likes quiet at home"),
        ("Prefers meetings before noon", "Prefers meetings after noon"),
        ("Prefers tea over coffee", "Prefers coffee over tea"),
        ("Prefers tea over coffee", "Prefers tea over water"),
        ("Prefers tea to never", "Does not prefer tea to never"),
        ("Trusts Ben to review what Cleo writes", "Trusts Cleo to review what Ben writes"),
        ("Likes long walks", "Only likes long walks"),
        ("Deploys on Fridays", "Never deploys on Fridays"),
        ("Happy with the cleaner", "The cleaner is happy with Ada"),
        ("Likes dogs", "Does she like dogs?"),
        ("Mag rote Schuhe", "Mag keine roten Schuhe"),
        ("喜欢喝茶", "不喜欢喝茶"),
        ("Prefers tea", "Prefers coffee"),
        ("Is a fan of the new open-plan floor.", "Ada's manager is a fan of the new open-plan floor."),
        ("Believes the moon affects her sleep.", "Her flatmate believes the moon affects her sleep."),
        ("Gets on well with the new product owner.", "The designers get on well with the new product owner."),
        ("喜欢喝茶", "喜欢喝茶吗"),
    ],
)
def test_others_are_not(a, b):
    assert not same_opinion(claim(a), claim(b))
    assert not same_opinion(claim(b), claim(a))


def test_another_entity_holds_another_opinion():
    assert not same_opinion(claim("Prefers tea", "Ada"), claim("Prefers tea", "Ben"))
    assert same_opinion(claim("Prefers tea", "Ada", "Kitchen"), claim("Prefers tea.", "ada"))


#: Whole sentences of few words meet often; texts of any characters try the edges.
WORDS = st.lists(
    st.sampled_from(
        "prefers hates not never tea coffee over to on Mondays home work two 3 Ada 不 喜欢 茶 nicht mag ? .".split()
    ),
    max_size=8,
).map(" ".join)
TEXTS = WORDS | st.text(max_size=80)


@given(TEXTS, TEXTS)
def test_symmetric_and_reflexive(a, b):
    assert same_opinion(claim(a), claim(a))
    assert same_opinion(claim(a), claim(b)) == same_opinion(claim(b), claim(a))


@given(TEXTS)
def test_a_negation_is_never_merged(text):
    if not {"not", "never", "nicht", "不"} & set(text.casefold().split()):
        assert not same_opinion(claim(f"Prefers {text}"), claim(f"Does not prefer {text}")) or not content_words(text)


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        ("She doesn't like the trains", {"train"}),
        ("Deploying, deployed, deploys", {"deploi"}),
        ("王芳的猫叫小白", set("王芳猫叫小白")),
        ("القطار سريع", {"قطار", "سريع"}),
        ("", set()),
        ("…", set()),
    ],
)
def test_content_words(text, stems):
    assert {word.rstrip("e") for word in content_words(text)} == {word.rstrip("e") for word in stems}


@given(st.text())
def test_content_words_of_any_text(text):
    assert content_words(text) == content_words(text)
    assert all(content_words(text))
