"""Facts for the core memory: which are proposed, and how a ticked one gets in."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.bank.errors import MemoryFault
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.reflect.core_memory import add_to_core, budget_of, with_bullet
from openclaw_memory.reflect.core_proposals import CoreFact, bullet_of, is_durable, is_temporary, propose, score
from openclaw_memory.reflect.suggestion_lines import Proposal, proposal_key
from openclaw_memory.reflect.suggestions import read_suggestions, render_suggestions

TODAY = date(2025, 12, 6)
DAYS = tuple(TODAY - timedelta(n) for n in (30, 20, 10))


def fact(text: str = "Lives in Porto.", **changes: object) -> CoreFact:
    base = CoreFact("w-0123456789ab", "world", text, ("Peter",), "memory/2025-11-06.md#L4", DAYS, 3, 2)
    return base._replace(**changes)  # type: ignore[arg-type]


def proposal(text: str, number: int = 1) -> Proposal:
    own = f"w-{number:012x}"
    return Proposal(own, text, f"memory/2025-11-0{number}.md#L4", "said on 3 days", proposal_key(own))


def test_what_is_proposed() -> None:
    (one,) = propose([fact()], "", TODAY)
    assert one == Proposal(
        "w-0123456789ab",
        "Peter: Lives in Porto.",
        "memory/2025-11-06.md#L4",
        "said on 3 days",
        proposal_key("w-0123456789ab"),
    )
    (one,) = propose([fact(days=DAYS[:1], sources=1, recalls=5)], "", TODAY)
    assert one.reason == "recalled often"
    assert [p.text for p in propose([fact(kind="opinion", confidence=0.8, names=())], "", TODAY)] == ["Lives in Porto."]


@pytest.mark.parametrize(
    "changes",
    [
        {"superseded": True},
        {"kind": "observation"},
        {"kind": "note"},
        {"kind": "opinion", "confidence": 0.4},
        {"days": DAYS[:1], "recalls": 2},
        {"days": DAYS[:1] * 5, "recalls": 0},
        {"days": (), "recalls": 0},
        {"text": "The token is ghp_" + "a1B2" * 10},
        {"text": "Is in Lisbon this week."},
        {"text": "Currently looks for a flat."},
        {"text": "Sees the dentist on 12 November 2025."},
        {"text": "Visits on 2025-11-20/22."},
        {"text": "Kommt morgen zurück."},
        {"text": "目前在里斯本。"},
        {"text": "Said ~~never~~ that."},
        {"text": "Wrote <!-- a mark -->."},
        {"text": "  "},
        {"text": "word " * 60},
    ],
    ids=str,
)
def test_what_is_not_proposed(changes: dict[str, object]) -> None:
    assert propose([fact()._replace(**changes)], "", TODAY) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "Born on 3 May 1990.",
        "Works at Kittiwake since 2 November 2024.",
        "Birthday is on 12 November.",
        "Passport expires on 2025-11-01.",
        "Moved to Porto in March 2024.",
        "Swims every Tuesday.",
        "The wedding is on 12 June 2026.",
        "Does not drink coffee.",
        "喜欢茶。",
    ],
)
def test_what_lasts(text: str) -> None:
    assert not is_temporary(text, DAYS[0], TODAY)
    assert is_durable(fact(text), TODAY)


def test_an_appointment_is_over_when_its_day_is() -> None:
    text = "The wedding is on 12 June 2026."
    assert not is_temporary(text, DAYS[0], date(2026, 6, 12))
    assert is_temporary(text, DAYS[0], date(2026, 6, 13))


@pytest.mark.parametrize(
    ("core", "held"),
    [
        ("- Peter lives in Porto.\n", True),
        ("# Peter\n\n## Home\n- He lives in Porto, near the river.\n", True),
        ("# Peter\n\n# Mara\n- She lives in Porto.\n", False),
        ("- Peter does not live in Porto.\n", False),
        ("- Peter lives in Lisbon.\n", False),
        ("- Porto\n- Peter lives there.\n", False),
        ("<!-- Peter lives in Porto. -->\n", False),
        ("---\nnote: Peter lives in Porto\n---\n", False),
    ],
)
def test_what_the_core_says_already(core: str, held: bool) -> None:
    assert (propose([fact()], core, TODAY) == []) == held


def test_the_same_in_other_order_is_proposed_once() -> None:
    twice = [fact(), fact("In Porto Peter lives.", id="w-00000000000b", names=(), recalls=0)]
    assert [one.fact_id for one in propose(twice, "", TODAY)] == ["w-0123456789ab"]


FACTS = st.builds(
    fact,
    st.sampled_from(["Lives in Porto.", "Likes tea.", "Owns a boat.", "Has two cats."]),
    kind=st.sampled_from(["world", "experience", "opinion"]),
    days=st.lists(st.sampled_from(DAYS), max_size=4).map(lambda days: tuple(sorted(days))),
    sources=st.integers(0, 9),
    recalls=st.integers(0, 50),
    confidence=st.one_of(st.none(), st.floats(0, 1)),
    id=st.integers(0, 99).map(lambda n: f"w-{n:012x}"),
)


@given(st.lists(FACTS, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_facts_does_not_matter(facts: list[CoreFact], random) -> None:
    unique = list({one.id: one for one in facts}.values())
    shuffled = list(unique)
    random.shuffle(shuffled)
    assert propose(unique, "", TODAY) == propose(shuffled, "", TODAY)
    assert propose(unique, "", TODAY, most=2) == propose(unique, "", TODAY)[:2]


@given(FACTS)
def test_more_support_never_counts_less(one: CoreFact) -> None:
    assert 0 <= score(one) <= 1
    assert score(one) <= score(one._replace(recalls=one.recalls + 1))
    assert score(one) <= score(one._replace(sources=one.sources + 1))
    assert score(one) <= score(one._replace(days=(*one.days, TODAY)))
    added = with_bullet(b"", f"- {bullet_of(one)} ({one.citation})").decode()
    assert propose([one], added, TODAY) == []


@pytest.fixture
def bank(tmp_path: Path) -> Workspace:
    return Workspace(str(tmp_path))


PORTO, TEA = proposal("Peter: Lives in Porto.", 1), proposal("Mara: Likes tea.", 2)
LINES = ("- Peter: Lives in Porto. (memory/2025-11-01.md#L4)", "- Mara: Likes tea. (memory/2025-11-02.md#L4)")


def test_a_core_is_made(bank: Workspace) -> None:
    added = add_to_core(bank, [PORTO, TEA])
    assert added == ("MEMORY.md", (PORTO.key, TEA.key), {})
    text = (Path(bank.root) / "MEMORY.md").read_text("utf-8")
    assert text == f"# Memory\n\n## Learned\n\n{LINES[0]}\n{LINES[1]}\n"
    assert add_to_core(bank, []) == ("MEMORY.md", (), {})


@pytest.mark.parametrize("name", ["MEMORY.md", "memory.md"])
def test_the_core_that_is_there(bank: Workspace, name: str) -> None:
    path = Path(bank.root) / name
    path.write_bytes("﻿---\nx: 1\n---\r\n# Mine\r\n\r\nÜber mich.".encode())
    old = path.read_bytes()
    assert add_to_core(bank, [PORTO]).path == name
    assert path.read_bytes() == old + f"\r\n\r\n## Learned\r\n\r\n{LINES[0]}".encode()
    stamp = path.stat().st_mtime_ns
    assert add_to_core(bank, [PORTO]).keys == (PORTO.key,)
    assert path.stat().st_mtime_ns == stamp
    assert set(os.listdir(bank.root)) == {".memory", name}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("## Learned\n", "## Learned\n\n@\n"),
        ("## Learned\n\n- a\n", "## Learned\n\n- a\n@\n"),
        ("## Learned\n\n- a\n  deeper\n\n\n## Next\n", "## Learned\n\n- a\n  deeper\n@\n\n\n## Next\n"),
        ("## Learned\nprose\n# Next\n- b\n", "## Learned\nprose\n\n@\n\n# Next\n- b\n"),
        (
            "# learned ##\n\n- a\n\n### Inner\n\n- b\n\n# Next\n",
            "# learned ##\n\n- a\n\n### Inner\n\n- b\n@\n\n# Next\n",
        ),
        ("- a", "- a\n\n## Learned\n\n@"),
        ("```\n## Learned\n```\n", "```\n## Learned\n```\n\n## Learned\n\n@\n"),
        ("<!--\n## Learned\n-->\n", "<!--\n## Learned\n-->\n\n## Learned\n\n@\n"),
        ("## Learned\n\n- a\n\n```\nopen\n", "## Learned\n\n- a\n@\n\n```\nopen\n"),
        ("# Mine\n\n```\nopen\n", "# Mine\n\n## Learned\n\n@\n\n```\nopen\n"),
        (
            "## Learned\n\n<!-- x:start -->\n## Learned\n- m\n<!-- x:end -->\n",
            "## Learned\n\n@\n\n<!-- x:start -->\n## Learned\n- m\n<!-- x:end -->\n",
        ),
    ],
)
def test_where_it_goes(old: str, new: str) -> None:
    assert with_bullet(old.encode(), "- @").decode() == new.replace("@", "- @")


@given(
    st.lists(st.sampled_from(["# A", "## Learned", "- a", "  b", "", "x", "```", "<!--", "-->", "\x00", "ü"])),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_no_other_byte_changes(lines: list[str], end: str, ended: bool) -> None:
    data = end.join(lines).encode() + (end.encode() if ended else b"")
    once = with_bullet(data, LINES[0])
    twice = with_bullet(once, LINES[1])
    for before, after, line in ((data, once, LINES[0]), (once, twice, LINES[1])):
        head, tail = after.split(line.encode())
        if before:
            assert before.startswith(head.rstrip(b"\r\n").removesuffix(b"## Learned").rstrip(b"\r\n"))
            assert before.rstrip(b"\r\n").endswith(tail.strip(b"\r\n"))
            assert len(after) - len(before) <= len(line) + 11 + 5 * len(end)
    assert twice.count(b"## Learned") <= once.count(b"## Learned") + data.count(b"```") + data.count(b"<!--")


def test_the_budget(bank: Workspace) -> None:
    path = Path(bank.root) / "memory.md"
    text = "# Mine\n\n" + "ü" * 3900 + "\n"
    path.write_text(text, "utf-8", newline="")
    long = proposal("x" * 100, 3)
    added = add_to_core(bank, [long, PORTO, TEA])
    assert added.keys == (PORTO.key,)
    assert added.problems == {
        long.key: "memory.md would have 4,051 of 4,000 characters",
        TEA.key: "memory.md would have 4,018 of 4,000 characters",
    }
    assert path.read_text("utf-8") == f"{text}\n## Learned\n\n{LINES[0]}\n"
    path.write_text("---\nbudget: 6_000\n---\n" + text, "utf-8", newline="")
    assert add_to_core(bank, [long, PORTO, TEA]).problems == {}


@pytest.mark.parametrize(
    ("given_budget", "budget"),
    [
        ("5000", 5000),
        ("'5000'", 5000),
        ("6,000", 6000),
        ("6 000", 6000),
        ("much", 4000),
        ("", 4000),
        ("-1", 4000),
        ("[1]", 4000),
    ],
)
def test_the_budget_of_the_front_matter(given_budget: str, budget: int) -> None:
    assert budget_of(f"---\nbudget: {given_budget}\n---\n# Mine\n") == budget
    assert budget_of("# Mine\n\nbudget: 1\n") == 4000


def test_what_cannot_be_written(bank: Workspace) -> None:
    path = Path(bank.root) / "memory.md"
    secret = proposal("The token is ghp_" + "a1B2" * 10)
    assert add_to_core(bank, [secret]).problems == {secret.key: "it looks like a key or a password"}
    assert not (Path(bank.root) / "MEMORY.md").exists()
    path.write_bytes("# Mine\n".encode("utf-16"))
    with pytest.raises(MemoryFault, match="UTF-16"):
        add_to_core(bank, [PORTO])
    path.unlink()
    (Path(bank.root) / "elsewhere.md").write_text("x")
    path.symlink_to("elsewhere.md")
    with pytest.raises(MemoryFault, match="symbolic link"):
        add_to_core(bank, [PORTO])
    assert (Path(bank.root) / "elsewhere.md").read_text() == "x"


def test_two_writers_lose_nothing(bank: Workspace) -> None:
    code = (
        "import sys\n"
        "from openclaw_memory.bank.workspace import Workspace\n"
        "from openclaw_memory.reflect.core_memory import add_to_core\n"
        "from openclaw_memory.reflect.suggestion_lines import Proposal\n"
        "for n in range(15):\n"
        "    text = f'{sys.argv[2]} {n}.'\n"
        "    add_to_core(Workspace(sys.argv[1]), [Proposal('w-1', text, 'a.md#L1', '', text)], timeout=60)\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, bank.root, name]) for name in ("one", "two")]
    assert [one.wait(60) for one in running] == [0, 0]
    text = (Path(bank.root) / "MEMORY.md").read_text("utf-8")
    assert sorted(text.splitlines()[4:]) == sorted(f"- {w} {n}. (a.md#L1)" for w in ("one", "two") for n in range(15))


def test_from_the_page_into_the_core_and_never_again(bank: Workspace) -> None:
    """The whole way: proposed, ticked, added, remembered; deleted from the core by a person, it is not asked again."""
    page = render_suggestions(b"", [], propose([fact()], "", TODAY), TODAY)
    ticked = page.replace(b"[ ]", b"[x]")
    added = add_to_core(bank, read_suggestions(ticked.decode()).core_ticked)
    page = render_suggestions(ticked, [], [], TODAY, applied=added.keys, problems=added.problems)
    core = Path(bank.root) / added.path
    assert "- Peter: Lives in Porto. (memory/2025-11-06.md#L4)\n" in core.read_text("utf-8")
    assert propose([fact()], core.read_text("utf-8"), TODAY) == []
    core.write_text("# Memory\n", "utf-8")
    proposed = propose([fact()], core.read_text("utf-8"), TODAY)
    assert len(proposed) == 1
    assert render_suggestions(page, [], proposed, TODAY) == page
    assert read_suggestions(page.decode()).open == ()
