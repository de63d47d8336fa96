"""The nearest vectors: the same with sqlite-vec and without, whatever order they came in, and never those of before."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openclaw_memory.bank import spaces
from openclaw_memory.bank.driver import Connection, OperationalError, connect, load_vectors
from openclaw_memory.bank.embeddings.models import Models
from openclaw_memory.bank.embeddings.settings import EmbeddingSettings
from openclaw_memory.bank.embeddings.static import StaticEmbedder
from openclaw_memory.bank.index import open_to_read, open_to_write, transaction
from openclaw_memory.bank.schema import create
from openclaw_memory.bank.sync import sync
from openclaw_memory.bank.template import copy_template
from openclaw_memory.bank.vectors import Query, code, quantised
from openclaw_memory.bank.workspace import Workspace

SPACE = spaces.STATIC
WITHOUT = EmbeddingSettings(vector_extension=False)

needs_extension = pytest.mark.skipif(bool(load_vectors(connect(":memory:"))), reason="sqlite-vec does not load here")


class Text(NamedTuple):
    """A passage as far as these tests need one: where it stands, what it says (its key), its vector."""

    path: str
    position: int
    says: str
    vector: bytes

    @property
    def place(self) -> tuple[str, int]:
        return self.path, self.position


def key(says: str) -> str:
    return hashlib.sha256(says.encode()).hexdigest()[:16]


def index(extension: bool = True) -> Connection:
    connection = connect(":memory:")
    if extension:
        assert load_vectors(connection) == ""
    with transaction(connection):
        create(connection)
    return connection


def put(connection: Connection, texts: Sequence[Text], *, parts: int = 1) -> None:
    """Write passages and their vectors, in so many transactions."""
    for part in range(parts):
        with transaction(connection):
            rows = []
            for text in texts[part::parts]:
                connection.execute(
                    "INSERT OR IGNORE INTO files (path, role, title, size, mtime_ns, ctime_ns, inode, read_ns, hash)"
                    " VALUES (?, 'log', '', 0, 0, 0, 0, 0, '')",
                    (text.path,),
                )
                found = connection.execute(
                    "INSERT INTO passages (file, position, key, kind, origin, text, details, line, end_line, timely,"
                    " spans, heading, entities, evidence) VALUES ((SELECT id FROM files WHERE path = ?), ?, ?, ?, '',"
                    " ?, '', 1, 1, 0, '[]', '', '[]', '[]')",
                    (*text.place, key(text.says), ("note", "world")[text.position % 2], text.says),
                ).lastrowid
                assert found is not None
                rows.append(spaces.Row(found, key(text.says), text.vector))
            spaces.insert(connection, SPACE, rows)
            spaces.keep_in_step(connection, SPACE)


def asked(
    connection: Connection, query: bytes, size: int = 100, where: tuple[str, Sequence[object]] = ("", ())
) -> list[tuple[tuple[str, int], float]]:
    """(place, cosine) of the nearest, in order; equal ones by place, as their order in the index is a chance."""
    places = {
        passage: (path, position)
        for passage, path, position in connection.execute(
            "SELECT p.id, f.path, p.position FROM passages p JOIN files f ON f.id = p.file"
        )
    }
    found = spaces.nearest(connection, SPACE, Query(query), size, where)
    assert len(found) <= size
    assert list(found.values()) == sorted(found.values(), reverse=True)
    return sorted(((places[passage], cosine) for passage, cosine in found.items()), key=lambda one: (-one[1], one[0]))


def step(connection: Connection) -> str:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (f"{SPACE}_nearest",)).fetchone()
    return str(row[0]) if row else ""


def gaussian(chance: random.Random, width: int) -> bytes:
    found = quantised([chance.gauss(0, 1) for _ in range(width)])
    assert found
    return found


def random_texts(count: int, width: int = 64, different: int | None = None, seed: int = 1) -> list[Text]:
    """``different``: of how many texts all of them are copies."""
    chance = random.Random(seed)
    kinds = [(f"text {n}", gaussian(chance, width)) for n in range(different or count)]
    return [
        Text(f"memory/{number % 17:02}.md", number, *(kinds[number] if different is None else chance.choice(kinds)))
        for number in range(count)
    ]


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extension's table from the first vector on."""
    monkeypatch.setattr(spaces, "EXTENSION_FROM", 1)


# With the extension and without


@needs_extension
@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("different", [None, 1, 3, 40, 400])
@pytest.mark.parametrize("count", [0, 1, 19, 20, 21, 600, 1500, 5000])
def test_the_extension_changes_nothing(count: int, different: int | None) -> None:
    """Also where far more texts are equally near than a shard gives, or than are asked for.

    Which of them came back was the extension's choice, or that of their numbers in the index.
    """
    texts = random_texts(count, different=different)
    if different in (3, 40) and count == 1500:
        pytest.skip("as the sizes around it")
    with closing(index()) as helped, closing(index(extension=False)) as alone:
        shuffled = random.Random(2).sample(texts, len(texts))
        put(helped, texts, parts=2)
        put(alone, shuffled)
        assert step(helped) == ("yes" if texts else "")
        assert step(alone) == ""
        chance = random.Random(3)
        queries = [gaussian(chance, 64) for _ in range(3)] + [text.vector for text in texts[:2]]
        for query in queries:
            for size in (1, 10, 100):
                found = asked(helped, query, size)
                assert found == asked(alone, query, size)
                assert bool(found) == bool(texts)
            where = ("p.kind = ?", ("world",))
            found = asked(helped, query, 100, where)
            assert found == asked(alone, query, 100, where)
            assert all(position % 2 for (_, position), _ in found)


@needs_extension
@pytest.mark.usefixtures("always")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(1, 12).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(-2, 2), min_size=width, max_size=width).filter(any), min_size=1, max_size=90
        )
    ),
    st.integers(1, 40),
    st.randoms(use_true_random=False),
    st.integers(1, 4),
)
def test_neither_does_the_order_in_which_they_came(
    vectors: list[list[int]], size: int, chance: random.Random, times: int
) -> None:
    """Few dimensions and small numbers: most are as near as others, in the first pass and in the second."""
    made = [quantised(vector) or b"" for vector in vectors for _ in range(times)]
    texts = [Text(f"memory/{n % 3}.md", n, made[n].hex(), made[n]) for n in range(len(made))]
    with closing(index()) as helped, closing(index(extension=False)) as alone:
        put(helped, texts)
        put(alone, chance.sample(texts, len(texts)))
        assert asked(helped, made[0], size) == asked(alone, made[0], size)


@needs_extension
@pytest.mark.usefixtures("always")
def test_more_equal_ones_in_a_shard_than_the_extension_gives() -> None:
    vector, other = quantised([1, 2, 3, -4]) or b"", quantised([-1, 2, 3, -4]) or b""
    texts = [Text(f"memory/{n % 7}.md", n, "the same", vector) for n in range(4500)]
    texts += [Text("memory/8.md", n, f"another {n}", other) for n in range(100)]
    with closing(index()) as helped, closing(index(extension=False)) as alone:
        put(helped, texts)
        put(alone, texts[::-1])
        found = asked(helped, vector, 100)
        assert found == asked(alone, vector, 100)
        assert [place for place, _ in found] == sorted(text.place for text in texts)[:100]


def positive(count: int, low: float, high: float) -> list[Text]:
    chance = random.Random(5)
    made = [quantised([chance.uniform(low, high) for _ in range(32)]) or b"" for _ in range(count)]
    return [Text("memory/1.md", number, f"text {number}", vector) for number, vector in enumerate(made)]


@needs_extension
@pytest.mark.usefixtures("always")
def test_vectors_whose_codes_say_nothing_are_all_compared() -> None:
    """A model whose numbers are all about the same: the first pass took some of each shard by chance."""
    texts = positive(3000, 0.9, 1.1)
    assert len({code(text.vector) for text in texts}) == 1
    query = texts[77].vector
    exact = sorted(texts, key=lambda text: -Query(query).exact_cosine(text.vector))[:10]
    for extension in (True, False):
        with closing(index(extension)) as connection:
            put(connection, texts)
            assert [place for place, _ in asked(connection, query, 10)] == [text.place for text in exact]


@needs_extension
@pytest.mark.usefixtures("always")
def test_vectors_of_positive_numbers_alone() -> None:
    """Their signs say nothing, and only half of the code's thresholds tell them apart."""
    texts = positive(3000, 0.1, 1.1)
    with closing(index()) as helped, closing(index(extension=False)) as alone:
        put(helped, texts)
        put(alone, texts)
        good = 0
        for text in texts[:60]:
            query = Query(text.vector)
            exact = sorted((query.exact_cosine(other.vector) for other in texts), reverse=True)[:10]
            found = asked(helped, text.vector, 10)
            assert found == asked(alone, text.vector, 10)
            assert found[0][0] == text.place
            good += sum(cosine >= exact[9] for _, cosine in found)
        assert good >= 0.9 * 10 * 60


@needs_extension
@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("spoilt", ["vector = substr(vector, 1, 40)", "vector = 'no bytes'", "vector = x''"])
def test_a_damaged_vector_is_told_with_the_extension_and_without(spoilt: str) -> None:
    """As a ``ValueError``, upon which readers build the index anew."""
    texts = random_texts(600)
    with closing(index()) as helped, closing(index(extension=False)) as alone:
        for connection in (helped, alone):
            put(connection, texts)
            connection.execute(f"UPDATE static_vectors SET {spoilt}")
            with pytest.raises(ValueError, match="stored vector"):
                asked(connection, texts[3].vector, 10)
    with closing(index(extension=False)) as alone:
        put(alone, texts)
        alone.execute("UPDATE static_vectors SET code = 'no bytes'")
        with pytest.raises(ValueError, match="no bytes"):
            asked(alone, texts[3].vector, 10)


@needs_extension
@pytest.mark.usefixtures("always")
def test_vectors_of_zeros_are_as_far_as_can_be() -> None:
    """The extension's cosine of one is null, which broke the order of all others."""
    texts = random_texts(600)
    with closing(index()) as helped, closing(index(extension=False)) as alone:
        for connection in (helped, alone):
            put(connection, texts)
            connection.execute("UPDATE static_vectors SET vector = zeroblob(length(vector)) WHERE passage % 2")
        found = asked(helped, texts[3].vector, 10)
        assert found == asked(alone, texts[3].vector, 10)
        assert found[0][0] == texts[3].place
        assert all(cosine > 0 for _, cosine in found)


# How exact


def english(count: int) -> list[str]:
    """Made-up sentences of the words that the demo workspace is written in."""
    chance = random.Random(7)
    subjects = "Peter Mara Elif Ana Jonas Wang the team the harbour a customer our landlord the vet nobody".split()
    verbs = "bought sold repaired wants prefers dislikes visited moved painted cancelled booked lost found".split()
    things = (
        "cargo bike,ferry ticket,release plan,invoice,garden,kitchen sink,database,night train,cat,violin,passport,"
        "heating bill,tent,server,birthday cake,contract,old map,lighthouse,coffee machine,dentist appointment"
    ).split(",")
    ends = "in Lisbon,last week,for 400 euros,before the trip,because of the rain,with a friend,on Monday,twice".split(
        ","
    )
    kinds = "blue broken cheap urgent small new heavy strange quiet early wooden second-hand".split()
    made = {
        f"{chance.choice(subjects)} {chance.choice(verbs)} the {chance.choice(kinds)} {chance.choice(things)} "
        f"{chance.choice(ends)} and {chance.choice(verbs)} a {chance.choice(kinds)} {chance.choice(things)}"
        for _ in range(count)
    }
    return sorted(made)


QUESTIONS = (
    "How much did the cargo bike cost?",
    "What does she need by the end of January?",
    "Who lost the passport?",
    "What does Mara prefer about releases?",
    "when is the dentist appointment",
    "trip to Lisbon by night train",
    "which invoice is urgent",
    "the heating in the kitchen",
    "cat",
    "music and instruments",
    "What was broken last week?",
    "ferry",
)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The demo workspace and some 4,500 made-up sentences, indexed."""
    folder = tmp_path_factory.mktemp("large")
    copy_template(str(folder), True)
    sentences = english(4500)
    for number in range(0, len(sentences), 300):
        lines = "\n".join(f"- {sentence}." for sentence in sentences[number : number + 300])
        (folder / "memory" / f"made-up-{number:05}.md").write_text(f"# Notes\n\n{lines}\n", encoding="utf-8")
    workspace = Workspace.open(str(folder))
    sync(workspace)
    return workspace


@contextmanager
def reading(workspace: Workspace, settings: EmbeddingSettings | None = None) -> Iterator[Connection]:
    connection = open_to_read(Workspace(workspace.root, models=Models(settings)))
    assert connection is not None
    try:
        yield connection
    finally:
        connection.close()


def question(text: str) -> bytes:
    found = quantised(StaticEmbedder().embed_query(text))
    assert found
    return found


@needs_extension
def test_the_ten_nearest_are_found_as_good_as_always(large: Workspace) -> None:
    """At least 98 of 100, counted by cosine: what is as near as the tenth is as good."""
    with reading(large) as helped, reading(large, WITHOUT) as alone:
        assert step(helped) == "yes"
        assert spaces.loaded(helped)
        assert not spaces.loaded(alone)
        rows = helped.execute("SELECT passage, vector FROM static_vectors").fetchall()
        assert len(rows) > 4000
        good = 0
        for text in QUESTIONS:
            query = Query(question(text))
            exact = sorted((query.exact_cosine(vector) for _, vector in rows), reverse=True)[:10]
            found = spaces.nearest(helped, SPACE, query, 100)
            assert list(found.items()) == list(spaces.nearest(alone, SPACE, query, 100).items())
            good += sum(cosine >= exact[9] for cosine in list(found.values())[:10])
        assert good >= 0.98 * 10 * len(QUESTIONS)


@needs_extension
def test_a_rebuilt_index_finds_the_same(large: Workspace, tmp_path: Path) -> None:
    """Files that came in another order, and were edited on the way, have other numbers and the same answers."""
    root = tmp_path / "grown"
    shutil.copytree(large.root, root, ignore=shutil.ignore_patterns(".memory"))
    late = sorted((root / "memory").glob("made-up-*.md"))[::2]
    texts = {path: path.read_text(encoding="utf-8") for path in late}
    for path in late:
        path.write_text("- something else\n", encoding="utf-8")
    grown = Workspace.open(str(root))
    sync(grown)
    for path in reversed(late):
        path.write_text(texts[path], encoding="utf-8")
        sync(grown)
    with reading(large) as fresh, reading(grown) as other:
        assert step(fresh) == step(other) == "yes"
        for text in QUESTIONS:
            assert asked(fresh, question(text)) == asked(other, question(text))


# Switched off, written to, switched on again


def write(root: Path, name: str, lines: Sequence[str]) -> None:
    path = root / "memory" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"- {line}\n" for line in lines), encoding="utf-8")


@needs_extension
@pytest.mark.usefixtures("always")
def test_what_is_written_without_the_extension_is_seen_with_it(tmp_path: Path) -> None:
    """The extension's table is behind then, and nothing is asked of it until it is made again."""
    with_it = Workspace(str(tmp_path))
    without = Workspace(str(tmp_path), models=Models(WITHOUT))
    write(tmp_path, "a.md", english(60))
    sync(with_it)
    query = question("The lighthouse keeper feeds a seal")
    with reading(with_it) as connection:
        assert step(connection) == "yes"
    write(tmp_path, "b.md", ["The lighthouse keeper feeds a seal"])
    sync(without)
    with reading(with_it) as connection:
        assert step(connection) == "behind"
        assert asked(connection, query)[0][0] == ("memory/b.md", 0)
    (tmp_path / "memory" / "b.md").unlink()
    sync(without)
    write(tmp_path, "c.md", ["An unrelated line"])
    sync(with_it)
    with reading(with_it) as connection, reading(without) as alone:
        assert step(connection) == "yes"
        assert asked(connection, query) == asked(alone, query)
        assert {place[0] for place, _ in asked(connection, query)} == {"memory/a.md", "memory/c.md"}


@needs_extension
@pytest.mark.usefixtures("always")
def test_a_process_without_the_extension_deletes(tmp_path: Path) -> None:
    """A real one, with a configuration that switches it off; passages' numbers are used again by what comes next."""
    write(tmp_path, "a.md", english(60))
    write(tmp_path, "b.md", ["The lighthouse keeper feeds a seal"])
    workspace = Workspace(str(tmp_path))
    sync(workspace)
    configuration = tmp_path / "openclaw.json"
    configuration.write_text(json.dumps({"memory": {"search": {"store": {"vector": {"enabled": False}}}}}))
    (tmp_path / "memory" / "b.md").unlink()
    environment = os.environ | {"OPENCLAW_CONFIG_PATH": str(configuration)}
    command = [sys.executable, "-m", "openclaw_memory", "index", "--workspace", str(tmp_path)]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60)
    with reading(workspace) as connection:
        assert step(connection) == "behind"
    write(tmp_path, "c.md", ["Something about the tax return"])
    sync(workspace)
    with reading(workspace) as connection:
        assert step(connection) == "yes"
        found = asked(connection, question("The lighthouse keeper feeds a seal"))
        assert {place[0] for place, _ in found} == {"memory/a.md", "memory/c.md"}
        assert len(found) == len(english(60)) + 1


def rename_module(connection: Connection, old: str, new: str) -> None:
    """As if the extension had not been loaded (or had been): every statement about its table fails."""
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute("UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = 'static_nearest'", (old, new))
    connection.execute("PRAGMA writable_schema=RESET")


@needs_extension
@pytest.mark.usefixtures("always")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["put", "take", "clear", "step"]), st.integers(0, 50))))
def test_any_row_of_writers(steps: list[tuple[bool, str, int]]) -> None:
    """Writers with the extension and without, in any order: a reader with it finds what the space holds, no more."""
    chance = random.Random(9)
    with closing(index()) as connection:
        put(connection, random_texts(60, width=16))
        held = dict(connection.execute("SELECT passage, vector FROM static_vectors").fetchall())
        for extension, what, number in steps:
            if not extension:
                rename_module(connection, "vec0", "gone0")
                with pytest.raises(OperationalError, match=r"no such (module|table)"):
                    connection.execute("DELETE FROM static_nearest WHERE passage = 1")
            with transaction(connection):
                if what == "put" and (missing := 61 - number) not in held and 0 < missing <= 60:
                    vector = gaussian(chance, 16)
                    spaces.insert(connection, SPACE, [spaces.Row(missing, "0" * 15 + str(missing % 10), vector)])
                    held[missing] = vector
                elif what == "take":
                    spaces.delete(connection, SPACE, [number, number + 1])
                    held.pop(number, None)
                    held.pop(number + 1, None)
                elif what == "clear" and number == 0:
                    spaces.clear(connection, SPACE)
                    held = {}
            if not extension:
                rename_module(connection, "gone0", "vec0")
            elif what == "step":
                with transaction(connection):
                    spaces.keep_in_step(connection, SPACE)
            query = gaussian(chance, 16)
            found = spaces.nearest(connection, SPACE, Query(query), 100)
            assert found == {passage: Query(query).exact_cosine(vector) for passage, vector in held.items()}


@needs_extension
@pytest.mark.usefixtures("always")
def test_another_width() -> None:
    """A model was replaced: the space is emptied, and the extension's table is made anew for the new width."""
    with closing(index()) as connection:
        put(connection, random_texts(50, width=64))
        with transaction(connection):
            spaces.clear(connection, SPACE)
            assert step(connection) == "behind"
            rows = [spaces.Row(n, key(str(n)), gaussian(random.Random(n), 33)) for n in range(1, 51)]
            spaces.insert(connection, SPACE, rows)
            spaces.keep_in_step(connection, SPACE)
        assert step(connection) == "yes"
        assert connection.execute("SELECT count(*) FROM static_nearest").fetchone() == (50,)
        query = Query(rows[6].vector)
        assert next(iter(spaces.nearest(connection, SPACE, query, 10))) == rows[6].passage
        with transaction(connection):
            spaces.clear(connection, SPACE)
            spaces.keep_in_step(connection, SPACE)
        assert step(connection) == ""
        assert spaces.nearest(connection, SPACE, query, 10) == {}


@needs_extension
@pytest.mark.usefixtures("always")
def test_a_table_that_the_extension_refuses_is_never_in_step() -> None:
    """It takes 8,192 dimensions at most. The index said that its table was complete although nothing was in it."""
    texts = random_texts(30, width=9000)
    with closing(index()) as connection:
        put(connection, texts)
        assert step(connection) == "behind"
        assert asked(connection, texts[3].vector, 5)[0][0] == texts[3].place


@needs_extension
@pytest.mark.usefixtures("always")
def test_a_table_that_the_extension_cannot_read_is_done_without() -> None:
    """Such as one that another version of it has made."""
    texts = random_texts(60)
    with closing(index()) as connection, closing(index(extension=False)) as alone:
        put(connection, texts)
        put(alone, texts)
        connection.execute("DROP TABLE static_nearest_chunks")
        connection.execute("CREATE TABLE static_nearest_chunks (something_else TEXT)")
        assert step(connection) == "yes"
        assert asked(connection, texts[3].vector) == asked(alone, texts[3].vector)


# Where the extension is


def told(workspace: Path, configuration: object) -> dict[str, object]:
    """What ``status`` says."""
    path = workspace / "openclaw.json"
    path.write_text(json.dumps({"memory": {"search": {"store": {"vector": configuration}}}}))
    command = [sys.executable, "-m", "openclaw_memory", "status", "--json", "--workspace", str(workspace)]
    environment = os.environ | {"OPENCLAW_CONFIG_PATH": str(path)}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60)
    (entry,) = json.loads(done.stdout)
    return dict(entry)


@needs_extension
def test_the_path_of_the_settings_is_where_the_extension_is_loaded_from(tmp_path: Path) -> None:
    import sqlite_vec

    library = next(Path(path) for path in Path(sqlite_vec.__file__).parent.glob("vec0.*"))
    write(tmp_path, "a.md", ["Peter lives in Lisbon."])
    # An extension's entry point is named after its file.
    named = tmp_path / "vec0" / library.name
    named.parent.mkdir()
    shutil.copy(library, named)
    settings = EmbeddingSettings(extension_path=str(named))
    workspace = Workspace(str(tmp_path), models=Models(settings))
    sync(workspace)
    with reading(workspace, settings) as connection:
        assert spaces.loaded(connection)
    engine = told(tmp_path, {"extensionPath": str(named)})["sqlite"]
    assert isinstance(engine, dict)
    assert engine["vec"]
    assert engine["noVec"] is None


@pytest.mark.parametrize("broken", ["missing", "text", "folder", "off"])
def test_a_broken_path_falls_back_and_says_why(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "broken.so"
    if broken == "text":
        path.write_text("this is no library")
    elif broken == "folder":
        path.mkdir()
    write(tmp_path, "a.md", ["Peter lives in Lisbon.", "The bike cost 400 euros."])
    settings = WITHOUT if broken == "off" else EmbeddingSettings(extension_path=str(path))
    workspace = Workspace(str(tmp_path), models=Models(settings))
    sync(workspace)
    with reading(workspace, settings) as connection:
        assert not spaces.loaded(connection)
        assert asked(connection, question("Where does Peter live?"))[0][0] == ("memory/a.md", 0)
    engine = told(tmp_path, {"enabled": False} if broken == "off" else {"extensionPath": str(path)})["sqlite"]
    assert isinstance(engine, dict)
    assert engine["vec"] is None
    said = str(engine["noVec"])
    assert ("store.vector.enabled is false" if broken == "off" else "broken.so") in said


@needs_extension
def test_other_programs_may_check_the_index(large: Workspace) -> None:
    """SQLite's own check runs without the extension."""
    with closing(connect(large.index_path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_the_index_is_opened_to_write_with_the_extension_too(tmp_path: Path) -> None:
    connection, _ = open_to_write(Workspace(str(tmp_path)))
    with closing(connection):
        assert spaces.loaded(connection) == (load_vectors(connect(":memory:")) == "")
