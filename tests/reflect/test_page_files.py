"""Pages on the disk: written when bytes differ, never over somebody's change, under names that every platform has."""

import os
import unicodedata
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.bank.errors import MemoryFault
from openclaw_memory.bank.files import ChangedMeanwhile
from openclaw_memory.bank.workspace import PathNotAllowed, Workspace
from openclaw_memory.reflect.blocks import Line
from openclaw_memory.reflect.page_files import apply, collisions, entity_file_name, plan, unified_diff

DAY = date(2025, 12, 2)
PATH = "bank/entities/Peter.md"
LINES = (Line("00000001", "- Lives in Porto."),)


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "memory").mkdir()
    return Workspace.open(str(tmp_path))


def planned(workspace, lines=LINES, path=PATH):
    return plan(workspace, path, "entity", lines, DAY, b"# Peter\n")


def written(workspace, path=PATH):
    with open(os.path.join(workspace.root, path), "rb") as file:
        return file.read()


def test_a_new_page_with_its_folders(workspace):
    change = planned(workspace)
    assert (change.path, change.old, change.changes) == (PATH, None, True)
    assert not os.path.exists(os.path.join(workspace.root, "bank"))
    assert apply(workspace, change) == change
    assert written(workspace) == change.new
    assert change.new.startswith(b"# Peter\n\n<!-- openclaw-memory:entity v1 -->\n- Lives in Porto.\n<!-- /")
    assert os.listdir(os.path.join(workspace.root, "bank", "entities")) == ["Peter.md"]


def test_a_quiet_day_writes_nothing(workspace):
    apply(workspace, planned(workspace))
    place = os.path.join(workspace.root, PATH)
    before = os.stat(place)
    change = planned(workspace)
    assert not change.changes
    apply(workspace, change)
    after = os.stat(place)
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
    assert unified_diff(change.path, change.old, change.new) == ""


def test_nothing_to_write_makes_no_file(workspace):
    change = planned(workspace, ())
    assert not change.changes
    apply(workspace, change)
    assert os.listdir(workspace.root) == ["memory"]


def test_a_change_meanwhile_is_merged_too(workspace):
    apply(workspace, planned(workspace))
    change = planned(workspace, (*LINES, Line("00000002", "- Has a cat.")))
    with open(os.path.join(workspace.root, PATH), "wb") as file:
        file.write(change.old.replace(b"# Peter\n", b"# Peter\n\nby hand\n").replace(b"Porto", b"Oporto"))
    done = apply(workspace, change)
    assert done != change
    assert written(workspace) == done.new
    assert b"by hand" in done.new
    assert b"- Lives in Oporto.\n- Has a cat.\n" in done.new
    assert [(one.kind, one.key) for one in done.edits] == [("changed", "00000001")]


def test_a_page_that_came_meanwhile_is_merged_too(workspace):
    change = planned(workspace)
    os.makedirs(os.path.join(workspace.root, "bank", "entities"))
    with open(os.path.join(workspace.root, PATH), "wb") as file:
        file.write(b"by hand")
    assert apply(workspace, change).new.startswith(b"by hand\n\n<!-- openclaw-memory:entity v1 -->\n- Lives")


def test_a_file_that_keeps_changing_is_left_alone(workspace, monkeypatch):
    change = planned(workspace)
    resolve, turn = Workspace.resolve, []

    def busy(self, path):
        """Somebody writes the page between each reading and writing."""
        place = resolve(self, path)
        turn.append(place)
        if os.path.isdir(os.path.dirname(place)):
            with open(place, "ab") as file:
                file.write(b"more\n")
        return place

    monkeypatch.setattr(Workspace, "resolve", busy)
    with pytest.raises(ChangedMeanwhile, match="changed meanwhile"):
        apply(workspace, change)
    assert set(written(workspace).split(b"\n")) == {b"more", b""}


def test_a_damaged_page_is_not_written(workspace):
    os.makedirs(os.path.join(workspace.root, "bank", "entities"))
    with open(os.path.join(workspace.root, PATH), "wb") as file:
        file.write(b"<!-- openclaw-memory:entity v1 -->\n")
    change = planned(workspace)
    assert not change.changes
    assert change.damage.line == 1


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_are_refused(workspace, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "x.md").write_bytes(b"secret\n")
    os.makedirs(os.path.join(workspace.root, "bank"))
    os.symlink(outside, os.path.join(workspace.root, "bank", "entities"))
    with pytest.raises(PathNotAllowed):
        planned(workspace)
    os.symlink(outside / "x.md", os.path.join(workspace.root, "bank", "x.md"))
    with pytest.raises(PathNotAllowed):
        planned(workspace, path="bank/x.md")
    with pytest.raises(PathNotAllowed):
        planned(workspace, path="../x.md")
    assert (outside / "x.md").read_bytes() == b"secret\n"
    assert os.listdir(outside) == ["x.md"]


def test_a_link_put_there_after_planning_is_refused(workspace, tmp_path_factory):
    if os.name == "nt":
        pytest.skip("links need rights there")
    outside = tmp_path_factory.mktemp("outside")
    change = planned(workspace)
    os.symlink(outside, os.path.join(workspace.root, "bank"))
    with pytest.raises(PathNotAllowed):
        apply(workspace, change)
    assert os.listdir(outside) == []


def test_a_file_where_a_folder_should_be(workspace):
    change = planned(workspace)
    with open(os.path.join(workspace.root, "bank"), "wb"):
        pass
    with pytest.raises(MemoryFault, match="folder"):
        apply(workspace, change)


def test_a_diff_for_printing():
    assert unified_diff("bank/a.md", None, b"a\n") == "--- /dev/null\n+++ b/bank/a.md\n@@ -0,0 +1 @@\n+a\n"
    diff = unified_diff("a.md", "a\r\nb\u2028b\nc\xff".encode("latin-1", "replace"), b"a\r\nb\nc")
    assert diff.splitlines()[:2] == ["--- a/a.md", "+++ b/a.md"]
    assert diff.endswith("\\ No newline at end of file\n")
    assert diff.count("\\ No newline") == 2
    assert " a\r\n" in diff


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("Peter", "Peter.md"),
        ("Ana Maria", "Ana Maria.md"),
        ("C++", "C++.md"),
        ("A/B", "A-B.md"),
        ('a\\b:c*d?e"f<g>h|i', "a-b-c-d-e-f-g-h-i.md"),
        ("CON", "CON_.md"),
        ("nul.txt", "nul_.txt.md"),
        ("COM¹", "COM¹_.md"),
        ("Aux .x", "Aux_.x.md"),
        ("console", "console.md"),
        (" J. R. ", "J. R.md"),
        (".NET", "_.NET.md"),
        ("...", "_.md"),
        ("", "_.md"),
        ("a\nb\0c\x85d\u2028e", "a-b-c-d-e.md"),
        ("Cafe\u0301", "Caf\u00e9.md"),
        ("王芳", "王芳.md"),
        ("\ud800", "-.md"),
    ],
)
def test_file_names(name, file):
    assert entity_file_name(name) == file


def test_long_names_are_cut_and_told_apart():
    one, other = (entity_file_name("é" * 100 + end) for end in "ab")
    assert one != other
    assert len(one.encode()) in (119, 120)
    assert one.startswith("ééé")
    assert entity_file_name("x" * 117) == "x" * 117 + ".md"
    assert len(entity_file_name("x" * 118)) == 120


@given(
    st.text(max_size=200) | st.sampled_from(["CON", "lpt1.", "a. .", ". ", "x" * 110 + " .é" * 9, "CON" + " " * 130])
)
def test_every_name_gives_a_file_that_may_be_opened(name):
    file = entity_file_name(name)
    assert len(file.encode()) <= 120
    assert file == unicodedata.normalize("NFC", file)
    assert Workspace("/nowhere").resolve(f"bank/entities/{file}") == os.path.join("/nowhere", "bank", "entities", file)


def test_collisions():
    names = ["Ana-Maria.md", "ana maria.md", "Peter.md", "Caf\u00e9", "cafe\u0301", "A/B", "a-b", "C++", "C"]
    assert {frozenset(group) for group in collisions(names)} == {
        frozenset({"A/B", "a-b"}),
        frozenset({"Ana-Maria.md", "ana maria.md"}),
        frozenset({"Caf\u00e9", "cafe\u0301"}),
    }
    assert collisions(["a", "b"]) == []
