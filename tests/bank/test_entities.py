"""Which entity a name means: pages, aliases and spellings, and names in questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from openclaw_memory.bank.driver import Connection
from openclaw_memory.bank.entities import all_entities, ambiguous_names, entity, named_in, resolve
from openclaw_memory.bank.freshness import open_fresh
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.parsers.names import fold

FILES = {
    "memory/2026-01-05.md": """
## Retain
- W @Peter @The-Castle: Works at the castle.
- W @the_castle: Opens at nine.
- B @TheCastle @Pete: Closed on Monday.
- O @AM: Prefers tea.
- W @张伟: 住在里斯本
- W @"Ana Maria" @ana-maria: Two spellings of one name.
- W @Solo: Has no page.
""",
    "bank/entities/Peter.md": "---\naliases: [Pete, P. Miller, 老彼, Ghost]\n---\n# Peter\n\n- W: Was born in Porto.\n",
    "bank/entities/Ana-Maria.md": "---\naliases: AM, Ana\n---\n# Ana Maria\n",
    "bank/entities/Anna.md": "---\naliases: [AM, Solo]\n---\n# Anna\n",
    "bank/entities/Ghost.md": "# Ghost\n",
    "bank/entities/张伟.md": "---\naliases: [小张]\n---\n# 张伟\n",
    "bank/world.md": "---\naliases: [Nobody]\n---\n- W @Pete: Speaks Portuguese.\n",
}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Connection]:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    fresh = open_fresh(Workspace.open(str(tmp_path)))
    yield fresh.connection
    fresh.connection.close()


def test_spellings_fold_into_one_name(index: Connection) -> None:
    rows = index.execute("SELECT count(DISTINCT passage) FROM mentions WHERE slug = 'thecastle'").fetchone()
    assert rows == (3,)
    assert entity(index, "thecastle").names == ("The-Castle", "TheCastle", "the_castle")
    assert entity(index, "thecastle").slugs == ("thecastle",)


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("Peter", "peter"),
        ("pete", "peter"),
        ("p. miller", "peter"),
        ("老彼", "peter"),
        ("Ana", "anamaria"),
        ("ana maria", "anamaria"),
        ("Ghost", "ghost"),
        ("Solo", "anna"),
        ("小张", "张伟"),
        ("the castle", "thecastle"),
    ],
)
def test_a_page_an_alias_of_one_page_or_a_mention_means_one_entity(index: Connection, name: str, means: str) -> None:
    assert resolve(index, [fold(name)]) == {fold(name): means}


def test_an_unknown_name_is_not_in_the_answer(index: Connection) -> None:
    assert resolve(index, ["nobody", "elsewhere"]) == {}
    assert resolve(index, []) == {}


def test_a_name_that_several_pages_claim_means_none_of_them_and_is_reported(index: Connection) -> None:
    assert resolve(index, ["am"]) == {"am": None}
    assert ambiguous_names(index) == [("AM", ("anamaria", "anna"))]
    assert named_in(index, ["What", "does", "AM", "like"]) == []
    assert "am" not in entity(index, "anamaria").slugs
    assert "AM" not in entity(index, "anna").names


def test_a_page_keeps_its_own_name_though_another_claims_it(index: Connection) -> None:
    assert resolve(index, ["ghost"]) == {"ghost": "ghost"}
    assert "ghost" not in entity(index, "peter").slugs


def test_facts_on_a_page_are_about_its_entity(index: Connection) -> None:
    rows = index.execute(
        "SELECT p.text FROM passages p JOIN mentions m ON m.passage = p.id JOIN files f ON f.id = p.file"
        " WHERE m.slug = 'peter' AND f.path = 'bank/entities/Peter.md'"
    ).fetchall()
    assert rows == [("Was born in Porto.",)]


def test_an_entity_has_the_names_of_its_page_first_then_its_aliases(index: Connection) -> None:
    peter = entity(index, "peter")
    assert peter.name == "Peter"
    assert set(peter.names) == {"Peter", "Pete", "P. Miller", "老彼"}
    assert peter.slugs == ("peter", "p.miller", "pete", "老彼")
    assert entity(index, "anamaria").names[0] == "Ana-Maria"
    assert set(entity(index, "anamaria").names) == {"Ana-Maria", "Ana Maria", "ana-maria", "Ana"}


def test_an_entity_nobody_knows_is_its_slug(index: Connection) -> None:
    assert entity(index, "elsewhere") == ("elsewhere", "elsewhere", (), ("elsewhere",))


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What does Pete like", [("peter", (2, 3))]),
        ("PETER and the castle", [("peter", (0, 1)), ("thecastle", (2, 4))]),
        ("who is Ana Maria", [("anamaria", (2, 4))]),
        ("who is Ana", [("anamaria", (2, 3))]),
        ("nothing to name here", []),
        ("", []),
    ],
)
def test_names_in_a_question(index: Connection, question: str, named: list[tuple[str, tuple[int, int]]]) -> None:
    assert named_in(index, question.split()) == named


@pytest.mark.parametrize(
    ("run", "named"),
    [
        ("张伟住在哪里", [("张伟", (0, 2))]),
        ("问问小张吧", [("张伟", (2, 4))]),
        ("老彼和张伟", [("peter", (0, 2)), ("张伟", (3, 5))]),
    ],
)
def test_names_in_a_run_without_spaces(index: Connection, run: str, named: list[tuple[str, tuple[int, int]]]) -> None:
    assert named_in(index, list(run), 8) == named


def test_all_entities_count_the_passages_under_every_name(index: Connection) -> None:
    found = {slug: (name, uses, has_page) for slug, name, uses, has_page in all_entities(index)}
    assert found["peter"] == ("Peter", 4, True)
    assert found["thecastle"] == ("The-Castle", 3, False)
    assert found["anamaria"] == ("Ana-Maria", 1, True)
    assert found["anna"] == ("Anna", 1, True)
    assert found["am"] == ("AM", 1, False)
    assert "pete" not in found
    uses = [row[2] for row in all_entities(index)]
    assert uses == sorted(uses, reverse=True)


def test_more_names_than_one_statement_takes(index: Connection) -> None:
    assert resolve(index, [*(f"none{n}" for n in range(2000)), "pete"]) == {"pete": "peter"}


def test_a_page_that_goes_takes_its_claims_along(tmp_path: Path, index: Connection) -> None:
    (tmp_path / "bank/entities/Anna.md").unlink()
    fresh = open_fresh(Workspace.open(str(tmp_path)))
    try:
        assert resolve(fresh.connection, ["am", "solo"]) == {"am": "anamaria", "solo": "solo"}
        assert ambiguous_names(fresh.connection) == []
    finally:
        fresh.connection.close()
