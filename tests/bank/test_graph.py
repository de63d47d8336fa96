"""The entity graph: what ties two entities, who is near whom, and that one that grew is the one built from nothing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python as pagerank
from openclaw_memory.bank import graph
from openclaw_memory.bank.driver import Connection, connect
from openclaw_memory.bank.entities import all_entities
from openclaw_memory.bank.index import open_to_write, transaction
from openclaw_memory.bank.neighbours import neighbours
from openclaw_memory.bank.pagerank import walk
from openclaw_memory.bank.schema import create
from openclaw_memory.bank.store import entity_of_page
from openclaw_memory.bank.subgraph import around, extent, leading_edges, whole
from openclaw_memory.bank.sync import Run, sync
from openclaw_memory.bank.ties import FACT, MOST_NAMED, NOTE
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.parsers.names import fold
from openclaw_memory.parsers.parse import parse_file

Edges = dict[tuple[str, str], int]
LOG = "memory/2026-01-05.md"


def write(root: Path, path: str, text: str | None) -> None:
    place = root / path
    if text is None:
        place.unlink(missing_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def synced(workspace: Workspace) -> Connection:
    """The index after a sync, its graph up to date."""
    sync(workspace)
    connection, _ = open_to_write(workspace)
    refreshed(connection)
    return connection


def built(workspace: Workspace) -> Connection:
    """An index made from nothing, its graph too."""
    connection = connect(":memory:")
    with transaction(connection):
        create(connection)
    Run(workspace, connection, None, False).run("")
    refreshed(connection)
    return connection


def refreshed(connection: Connection) -> None:
    with transaction(connection):
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'edges'").fetchone():
            for statement in graph.TABLES:
                connection.execute(statement)
        graph.refresh(connection)


def told(connection: Connection) -> dict[str, list[Any]]:
    """Everything that the graph's tables hold."""
    tables = {name: connection.execute(f"SELECT * FROM {name} ORDER BY slug, other").fetchall() for name in TABLES}
    return tables | {
        "changes": connection.execute("SELECT * FROM graph_changes").fetchall(),
        "meta": connection.execute("SELECT value FROM meta WHERE key = 'graph'").fetchall(),
    }


TABLES = ("edges", "neighbours")


def edges(connection: Connection) -> Edges:
    """The edges, smaller slug first, after a look whether both ends say the same."""
    both = {row[:2]: row[2] for row in connection.execute("SELECT slug, other, weight FROM edges")}
    assert all(both[other, slug] == weight for (slug, other), weight in both.items())
    assert all(slug != other and weight > 0 for (slug, other), weight in both.items())
    return {pair: weight for pair, weight in both.items() if pair[0] < pair[1]}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Callable[..., Connection]]:
    """``index({path: text, …})`` writes files (None: deletes) and gives the synced index."""
    workspace = Workspace.open(str(tmp_path))
    opened: list[Connection] = []

    def make(files: dict[str, str | None]) -> Connection:
        for path, text in files.items():
            write(tmp_path, path, text)
        opened.append(synced(workspace))
        return opened[-1]

    yield make
    for connection in opened:
        connection.close()


# What ties two entities


@pytest.mark.parametrize(
    ("line", "ties"),
    [
        ("- W @Peter: Lives in Lisbon.", {}),
        ("- W @Peter @Mara: Sail together.", {("mara", "peter"): FACT}),
        (
            "- W @Peter @Mara @Elif: Sail together.",
            dict.fromkeys(combinations(("elif", "mara", "peter"), 2), FACT // 2),
        ),
        ("- W @Peter: Sails with @peter and @Mara.", {("mara", "peter"): FACT}),
        ("Sailing with @Peter and @Mara.", {("mara", "peter"): NOTE}),
        ("- W " + " ".join(f"@e{n:02}" for n in range(MOST_NAMED + 1)) + ": A list.", {}),
    ],
)
def test_a_passage_is_shared_among_those_it_names(index: Callable[..., Connection], line: str, ties: Edges) -> None:
    assert edges(index({LOG: f"# Log\n\n## Retain\n{line}\n" if line.startswith("- W") else f"{line}\n"})) == ties


def test_the_longest_passage_that_ties(index: Callable[..., Connection]) -> None:
    names = [f"e{n:02}" for n in range(MOST_NAMED)]
    found = edges(index({LOG: "## Retain\n- W " + " ".join(f"@{name}" for name in names) + ": A list.\n"}))
    assert found == dict.fromkeys(combinations(names, 2), FACT // (MOST_NAMED - 1))
    assert FACT % (MOST_NAMED - 1) == NOTE % (MOST_NAMED - 1) == 0


def test_repeats_count_once_and_other_facts_add_up(index: Callable[..., Connection]) -> None:
    fact = "## Retain\n- W @Peter @Mara: Sail together.\n"
    once = index({LOG: fact})
    again = index({"memory/2026-01-06.md": fact, "memory/2026-01-07.md": fact + fact.lower()})
    assert edges(again) == edges(once) == {("mara", "peter"): FACT}
    assert edges(index({"memory/2026-01-08.md": "## Retain\n- B @Peter @Mara: Rowed.\n"})) == {
        ("mara", "peter"): 2 * FACT
    }
    assert edges(index({LOG: None, "memory/2026-01-06.md": None})) == {("mara", "peter"): 2 * FACT}
    assert edges(index({"memory/2026-01-07.md": None})) == {("mara", "peter"): FACT}


def test_a_page_lends_its_entity(index: Callable[..., Connection]) -> None:
    line = "- W @Mara: Sails.\n"
    assert edges(index({"bank/entities/Peter.md": f"# Peter\n\n{line}"})) == {("mara", "peter"): FACT}
    # The same words on two pages tie each page's entity to Mara, not the two to each other.
    both = edges(index({"bank/entities/Elif.md": f"# Elif\n\n{line}"}))
    assert both == {("mara", "peter"): FACT, ("elif", "mara"): FACT}


def test_aliases_are_merged_and_ambiguous_names_are_none(index: Callable[..., Connection]) -> None:
    facts = "## Retain\n- W @Pete @Mara: Row.\n- W @Peter @Mara: Sail.\n- W @Pete @Peter @Elif: Are two.\n"
    apart = edges(index({LOG: facts}))
    assert apart["mara", "pete"] == apart["mara", "peter"] == FACT
    assert apart["pete", "peter"] == FACT // 2
    page = "---\naliases: [Pete]\n---\n# {}\n"
    merged = index({"bank/entities/Peter.md": page.format("Peter")})
    assert edges(merged) == {("mara", "peter"): 2 * FACT, ("elif", "peter"): FACT}
    claimed = index({"bank/entities/Petra.md": page.format("Petra")})
    assert edges(claimed) == {("mara", "peter"): FACT, ("elif", "peter"): FACT}
    assert "pete" not in {node.slug for node in whole(claimed).nodes}
    assert edges(index({"bank/entities/Peter.md": None, "bank/entities/Petra.md": None})) == apart


# Who is near whom


def near_by_networkx(ties: Edges, start: str) -> dict[str, float]:
    """The same walk by networkx, over the same part of the graph: nearness of each other entity, not cut."""
    of: dict[str, dict[str, int]] = {}
    for (one, other), weight in ties.items():
        of.setdefault(one, {})[other] = weight
        of.setdefault(other, {})[one] = weight
    if start not in of:
        return {}
    strongest = sorted(of[start], key=lambda other: (-of[start][other], other))[: graph.LEADING]
    part = networkx.Graph()
    for slug in [start, *(other for other in strongest if len(of[other]) <= graph.COMMON)]:
        part.add_weighted_edges_from((slug, other, weight / FACT) for other, weight in of[slug].items())
    met = pagerank(part, alpha=0.85, personalization={start: 1}, max_iter=1000, tol=1e-13)
    del met[start]
    return {other: share / max(met.values()) for other, share in met.items()}


def assert_near(connection: Connection, ties: Edges, slugs: set[str]) -> None:
    for slug in slugs:
        found = neighbours(connection, slug)
        expected = near_by_networkx(ties, slug)
        assert len(found) == min(graph.KEPT, len(expected))
        assert found == sorted(found, key=lambda row: (-row[1], row[0]))
        assert slug not in dict(found)
        if found:
            assert found[0][1] == 1
            assert all(0 < weight <= 1 for _, weight in found)
            assert dict(found) == pytest.approx({other: expected[other] for other, _ in found}, abs=1.5e-6)
            left = [weight for other, weight in expected.items() if other not in dict(found)]
            assert max(left, default=0.0) <= found[-1][1] + 1.5e-6


def test_near_are_those_that_are_named_together_and_those_behind_them(index: Callable[..., Connection]) -> None:
    facts = "- W @Peter @Mara: Sail.\n- W @Peter @Mara: Row.\n- W @Mara @Elif: Climb.\n- W @Elif @Inga: Run.\n"
    connection = index({LOG: f"## Retain\n{facts}"})
    found = neighbours(connection, "peter")
    assert [slug for slug, _ in found] == ["mara", "elif"]
    assert neighbours(connection, "nobody") == []


def test_common_ground_leads_nowhere(index: Callable[..., Connection]) -> None:
    facts = [f"- W @Hub @e{n:02}: Are linked.\n" for n in range(graph.COMMON)]
    found = neighbours(index({LOG: "## Retain\n" + "".join(facts)}), "e00")
    assert [slug for slug, _ in found] == ["hub", *(f"e{n:02}" for n in range(1, graph.COMMON))]
    facts.append("- W @Hub @e99: Are linked.\n")
    assert neighbours(index({LOG: "## Retain\n" + "".join(facts)}), "e00") == [("hub", 1.0)]


weights = st.integers(1, 10 * FACT)
small = st.sampled_from("abcdefgh")


@given(st.dictionaries(st.tuples(small, small).filter(lambda pair: pair[0] < pair[1]), weights, min_size=1))
@settings(max_examples=300, deadline=None)
def test_a_walk_is_personalised_pagerank(ties: Edges) -> None:
    of: dict[str, dict[str, int]] = {}
    for (one, other), weight in ties.items():
        of.setdefault(one, {})[other] = weight
        of.setdefault(other, {})[one] = weight
    start = min(of)
    whole_graph = networkx.Graph()
    whole_graph.add_weighted_edges_from((*pair, weight / FACT) for pair, weight in ties.items())
    reached = networkx.node_connected_component(whole_graph, start)
    # Where all others lead on, it is the PageRank of all of the graph.
    leading = {slug: of[slug] for slug in reached - {start}}
    expected = pagerank(whole_graph, alpha=0.85, personalization={start: 1}, max_iter=2000, tol=1e-14)
    found = walk(start, of[start], leading)
    assert set(found) == reached - {start}
    assert found == pytest.approx({slug: expected[slug] for slug in found}, abs=1e-9)
    # Order and place of the rows change no bit.
    shuffled = {slug: dict(reversed(leading[slug].items())) for slug in reversed(leading)}
    assert walk(start, dict(reversed(of[start].items())), shuffled) == found


# A graph that grew is the one built from nothing

NAMES = ("Peter", "Pete", "Mara", "Elif", "Inga", "Tom", "The-Boat", "猫", "a b")
mention = st.sampled_from(NAMES).map(lambda name: f'@"{name}"')
named = st.lists(mention, min_size=1, max_size=4).map(" ".join)
words = st.sampled_from(("Sails.", "Rows.", "Climbs with @Mara.", "Lives in Lisbon."))
lines = st.one_of(
    st.builds("- W {}: {}".format, named, words),
    st.builds("- O(c=0.8) {}: {}".format, named, words),
    st.builds("- {} were here".format, named),
    st.builds("\n{} and nobody else.\n".format, named),
    st.just("- W: Nobody in particular."),
)
bodies = st.lists(lines, max_size=5).map(lambda found: "## Retain\n" + "\n".join(found) + "\n")
aliases = st.lists(st.sampled_from(("Pete", "Tom", "Mara", "Captain", "猫")), max_size=2)
pages = st.builds(lambda also, text: f"---\naliases: [{', '.join(also)}]\n---\n{text}", aliases, bodies)
logs = tuple(f"memory/2026-01-0{n}.md" for n in range(1, 5))
entity_pages = tuple(f"bank/entities/{name}.md" for name in ("Peter", "Mara", "Petra", "猫"))
edits = st.one_of(
    st.tuples(st.sampled_from(logs), st.one_of(st.none(), bodies)),
    st.tuples(st.sampled_from(entity_pages), st.one_of(st.none(), pages)),
    st.tuples(st.sampled_from(logs + entity_pages), st.sampled_from(logs + entity_pages).map(Path)),
)


def expected_edges(root: Path) -> Edges:
    """The edges by the definition, from the files alone."""
    parsed = [parse_file(file.read_text("utf-8"), str(file.relative_to(root))) for file in sorted(root.rglob("*.md"))]
    claims: dict[str, set[str]] = {}
    for file in parsed:
        own = entity_of_page(file)
        for name in (own, *file.aliases) if own else ():
            claims.setdefault(fold(name), set()).add(fold(own))

    def meant(name: str) -> str | None:
        pages = claims.get(fold(name), {fold(name)})
        return fold(name) if fold(name) in pages else (min(pages) if len(pages) == 1 else None)

    best: dict[tuple[str, tuple[str, str]], Fraction] = {}
    for file in parsed:
        for said in (*file.facts, *file.notes):
            own = entity_of_page(file)
            slugs = sorted({meant(name) for name in (*said.entities, *([own] if own else []))} - {None, ""})
            if 2 <= len(slugs) <= MOST_NAMED:
                worth = Fraction(1 if said in file.facts else Fraction(1, 2)) / (len(slugs) - 1)
                for pair in combinations(slugs, 2):
                    best[said.id, pair] = max(worth, best.get((said.id, pair), Fraction(0)))
    total: dict[tuple[str, str], Fraction] = {}
    for (_, pair), worth in best.items():
        total[pair] = total.get(pair, Fraction(0)) + worth
    return {pair: int(worth * FACT) for pair, worth in total.items()}


def apply(root: Path, path: str, what: str | Path | None) -> None:
    if not isinstance(what, Path):
        write(root, path, what)
    elif (root / path).exists():
        (root / what).parent.mkdir(parents=True, exist_ok=True)
        (root / path).rename(root / what)


@pytest.mark.parametrize(("common", "leading", "kept", "pairs"), [(24, 24, 32, 400), (3, 2, 4, 3), (2, 3, 3, 0)])
def test_a_graph_that_grew_is_the_one_built_from_nothing(
    monkeypatch: pytest.MonkeyPatch, common: int, leading: int, kept: int, pairs: int
) -> None:
    for name, value in {"COMMON": common, "LEADING": leading, "KEPT": kept, "_MANY_PAIRS": pairs}.items():
        monkeypatch.setattr(graph, name, value)

    @given(st.lists(st.lists(edits, min_size=1, max_size=3), min_size=1, max_size=4))
    @settings(max_examples=15, deadline=None, database=None)
    def grows(rounds: list[list[tuple[str, Any]]]) -> None:
        root = Path(tempfile.mkdtemp())
        try:
            workspace = Workspace.open(str(root))
            for changes in rounds:
                for path, what in changes:
                    apply(root, path, what)
                grown, fresh = synced(workspace), built(workspace)
                try:
                    assert told(grown) == told(fresh)
                    assert told(grown)["changes"] == []
                    ties = edges(grown)
                    assert ties == expected_edges(root)
                    assert_near(grown, ties, {slug for slug, *_ in all_entities(grown)})
                finally:
                    grown.close()
                    fresh.close()
        finally:
            shutil.rmtree(root)

    grows()


def test_only_what_a_change_can_be_seen_from_is_walked_again(
    index: Callable[..., Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    walked: list[str] = []
    real = graph.walk
    monkeypatch.setattr(graph, "walk", lambda start, *rest: (walked.append(start), real(start, *rest))[1])
    chain = "".join(f"- W @e{n} @e{n + 1}: Are linked.\n" for n in range(9))
    index({LOG: f"## Retain\n{chain}"})
    assert sorted(walked) == [f"e{n}" for n in range(10)]
    walked.clear()
    index({LOG: f"# Log\n\n## Retain\n{chain}- W @Nobody: Is alone.\n", "memory/2026-01-06.md": "Nothing new.\n"})
    assert walked == []
    index({"memory/2026-01-06.md": "## Retain\n- W @e0 @new: Are linked.\n"})
    assert sorted(walked) == ["e0", "e1", "new"]
    walked.clear()
    index({"memory/2026-01-06.md": None})
    # An end that has no edge any more is near to nothing.
    assert sorted(walked) == ["e0", "e1"]


def test_more_changes_than_are_noted(index: Callable[..., Connection]) -> None:
    connection = index({LOG: "## Retain\n- W @Peter @Mara: Sail.\n"})
    passage = connection.execute("SELECT id FROM passages").fetchone()[0]
    with transaction(connection):
        connection.executemany("INSERT INTO mentions VALUES (?, 'x')", [(passage,)] * (graph.MOST_NOTED + 5))
        assert connection.execute("SELECT count(*) FROM graph_changes").fetchone() == (graph.MOST_NOTED,)
        graph.refresh(connection)
    assert edges(connection) == dict.fromkeys(combinations(("mara", "peter", "x"), 2), FACT // 2)


def test_a_sync_that_is_undone_leaves_the_old_graph(index: Callable[..., Connection]) -> None:
    connection = index({LOG: "## Retain\n- W @Peter @Mara: Sail.\n"})
    before = told(connection)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DELETE FROM mentions")
    graph.refresh(connection)
    assert edges(connection) == {}
    connection.execute("ROLLBACK")
    assert told(connection) == before


# What is shown of it


def test_what_is_shown_around_an_entity(index: Callable[..., Connection]) -> None:
    facts = "- W @Peter @Mara @Elif: All three.\n- W @Peter @Mara: Sail.\n- W @Mara @Inga: Run.\n"
    text = f"@Peter met @Mara\n\n## Retain\n{facts}"
    connection = index({LOG: text, "memory/2026-01-09.md": "## Retain\n- W @Mara @Peter: Row.\n"})
    part = around(connection, "peter", 1)
    assert [(node.slug, node.steps, node.degree) for node in part.nodes] == [
        ("peter", 0, 2),
        ("mara", 1, 3),
        ("elif", 1, 2),
    ]
    first = part.edges[0]
    assert (first.one, first.other, first.facts, first.notes, first.weight) == ("mara", "peter", 3, 1, 3.0)
    assert (first.path, first.line, first.text) == ("memory/2026-01-09.md", 2, "Row.")
    assert [node.slug for node in around(connection, "peter", 2).nodes] == ["peter", "mara", "elif", "inga"]
    edge = leading_edges(around(connection, "peter", 2))["inga"]
    assert (edge.one, edge.other) == ("inga", "mara")
    cut = around(connection, "peter", 2, 1)
    assert ([node.slug for node in cut.nodes], cut.omitted, len(cut.edges)) == (["peter", "mara"], 2, 1)


def test_what_is_shown_of_all(index: Callable[..., Connection]) -> None:
    facts = "- W @Peter @Mara: Sail.\n- W @Peter @Elif: Row.\n- W @Inga @Tom: Run.\n- W @Solo: Is alone.\n"
    connection = index({LOG: f"## Retain\n{facts}"})
    part = whole(connection)
    assert [node.slug for node in part.nodes] == ["peter", "elif", "inga", "mara", "tom", "solo"]
    assert extent(connection) == (6, 3, [3, 2])
    assert (len(whole(connection, 2).nodes), whole(connection, 2).omitted) == (2, 4)


def test_many_entities_are_shown_as_few_are(index: Callable[..., Connection], monkeypatch: pytest.MonkeyPatch) -> None:
    facts = [f"- W @e{n % 13} @e{n % 7}: Number {n}.\n" for n in range(60)]
    connection = index({LOG: "## Retain\n" + "".join(facts)})
    few = whole(connection)
    monkeypatch.setattr("openclaw_memory.bank.subgraph._MANY", 0)
    assert whole(connection) == few
