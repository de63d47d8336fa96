"""What a fact says of others outright: read out of its text, and written back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.parsers.parse import parse_file
from openclaw_memory.parsers.records import Relation
from openclaw_memory.parsers.relations import parse_target, render_relation, take_relations
from openclaw_memory.parsers.retain import render_fact

CASES = [
    ("Moved to Porto. (replaces memory/2025-11-20.md#L5)", "Moved to Porto.", ["replaces memory/2025-11-20.md#L5"]),
    ("Moved (replaces ./bank/world.md:7) to Porto.", "Moved to Porto.", ["replaces bank/world.md#L7"]),
    ("Asked again (supports ^o-7f3a91).", "Asked again.", ["supports ^o-7f3a91"]),
    ("No. (strongly contradicts ^o-7f3a91c2d4e5)", "No.", ["contradicts! ^o-7f3a91c2d4e5"]),
    ("No. (contradicts strongly: O-7F3A91)", "No.", ["contradicts! ^o-7f3a91"]),
    ("a (supports ^o-aaaaaa, ^o-bbbbbb) b (retracts ^w-cccccc)", "a b",
     ["supports ^o-aaaaaa", "supports ^o-bbbbbb", "retracts ^w-cccccc"]),
    ("是的（支持 ^o-7f3a91）", "是的（支持 ^o-7f3a91）", []),
    ("是的（supports ^o-7f3a91）", "是的", ["supports ^o-7f3a91"]),
    ("He (who supports the plan) left.", "He (who supports the plan) left.", []),
    ("It (replaces the pump, memory/a.md#L1) works.", "It (replaces the pump, memory/a.md#L1) works.", []),
    ("Too short (supports ^o-7f3).", "Too short (supports ^o-7f3).", []),
    ("(retracts ^w-7f3a91)", "(retracts ^w-7f3a91)", ["retracts ^w-7f3a91"]),
    ("Prefers short replies. ^o-7f3a91c2d4e5", "Prefers short replies.", ["restates ^o-7f3a91c2d4e5"]),
    ("x ^o-7f3a91c2d4e5 (supports ^o-aaaaaa)", "x", ["supports ^o-aaaaaa", "restates ^o-7f3a91c2d4e5"]),
    ("2 ^ 3 is 8", "2 ^ 3 is 8", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rest", "told"), CASES)
def test_cases(text, rest, told):
    left, relations = take_relations(text)
    assert left == rest
    assert [f"{r.kind}{'!' * r.strong} {r.target}" for r in relations] == told


def test_a_fact_is_the_same_with_and_without_its_relations():
    plain = parse_file("## Retain\n- W @Peter: Moved to Porto.", "memory/2026-01-05.md").facts[0]
    linked = parse_file("## Retain\n- W @Peter: Moved to Porto. (replaces ^w-7f3a91)", "memory/2026-01-05.md").facts[0]
    assert linked.id == plain.id
    assert linked.relations == (Relation("replaces", "^w-7f3a91", False),)


IDS = st.from_regex(r"[wbos]-[0-9a-f]{6,12}", fullmatch=True).map("^{}".format)
PLACES = st.builds("memory/{}.md#L{}".format, st.from_regex(r"[a-z0-9-]{1,8}", fullmatch=True), st.integers(1, 9999))
RELATION = st.builds(
    Relation, st.sampled_from(["supports", "contradicts", "replaces", "retracts"]), IDS | PLACES, st.booleans()
)


@given(st.lists(RELATION, max_size=4, unique=True), st.none() | IDS)
def test_what_is_rendered_reads_back(relations, anchor):
    told = [*relations, *([Relation("restates", anchor, False)] if anchor else [])]
    line = render_fact("world", ["Peter"], None, "Lives in Porto.", (), told)
    fact = parse_file(f"## Retain\n{line}", "memory/2026-01-05.md").facts[0]
    assert fact.text == "Lives in Porto."
    assert sorted(fact.relations) == sorted(told)


@given(st.text(alphabet=st.sampled_from("ab^o-f12() supportscontradicts,.#L:md/（）"), max_size=80))
def test_any_text_is_read(text):
    rest, relations = take_relations(text)
    assert len(rest) <= len(text)
    assert all(parse_target(relation.target) for relation in relations)
    for relation in relations:
        assert render_relation(relation)
