"""``graph``: on the screen, as JSON by its schema, as GraphML and DOT for other programs, and where it may write."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx
import pytest
from jsonschema import Draft202012Validator

SCHEMA = json.loads((Path(__file__).parent.parent.parent / "docs" / "schemas" / "graph.json").read_text("utf-8"))
#: Names with what XML, DOT or a terminal take for their own.
NAMES = (
    "Ana <b> & Söhne",
    "AT&amp;T",
    "back\\slash\\",
    "\\N \\l %s",
    "\u200d👩\u200d🚀 e\u0301",
    "王芳",
    "]]> -- n0",
    "x\x01\x7f",
    "<i>",
    "subgraph",
)


@pytest.fixture
def strange(workspace: Path) -> tuple[str, str]:
    """A workspace where every one of ``NAMES`` is named together with the next one."""
    pairs = pairwise(NAMES)
    facts = "".join(f'- W @"{one}" @"{other}": Are linked.\n' for one, other in pairs)
    text = f'## Retain\n{facts}- W @[[say "hi"]] @王芳: Are linked.\n'
    (workspace / "memory" / "2025-12-02.md").write_text(text, encoding="utf-8")
    return "--workspace", str(workspace)


def escaped(name: str) -> str:
    return re.sub("[\x00-\x1f\x7f-\x9f]", lambda found: f"\\x{ord(found[0]):02x}", name)


def test_an_entity(run: Callable[..., Any], at: tuple[str, ...]) -> None:
    ran = run("graph", "mara", *at[:2])
    assert (ran.code, ran.told) == (0, "")
    head, header, *rows = ran.text.splitlines()
    assert (head, header.split()) == ("Mara", ["entity", "near", "facts", "notes", "source"])
    assert rows[0].split()[:5] == ["gannet", "1.000", "3", "0", "memory/2025-11-25.md#L17"]
    two = run("graph", "Mara", "--depth", "2", *at[:2]).text
    assert re.search(r"^Corvane +0\.\d{3}  gannet +2 ", two, re.MULTILINE)
    cut = run("graph", "Mara", "--limit", "1", *at[:2])
    assert len(cut.text.splitlines()) == 3
    assert cut.told == "3 more were left out; --limit lets more in\n"


def test_the_whole(run: Callable[..., Any], at: tuple[str, ...], workspace: Path) -> None:
    ran = run("graph", *at[:2])
    assert re.match(r"\d+ entities, \d+ edges, \d+ components? \(the largest of \d+\)\n\nentity +edges", ran.text)
    assert re.search(r"^Mara +4 +8\.00$", ran.text, re.MULTILINE)
    alone = run("graph", "--workspace", str(workspace))
    assert (alone.code, alone.text) == (0, "1 entity, 0 edges\n")
    alone = run("graph", "Peter", "--workspace", str(workspace))
    assert (alone.code, alone.text, alone.told) == (0, "Peter\n", "named together with no other entity\n")


def test_a_name_nobody_knows_is_told_as_entity_tells_it(run: Callable[..., Any], at: tuple[str, ...]) -> None:
    ran, like = run("graph", "Nobody", *at[:2]), run("entity", "Nobody", *at)
    assert (ran.code, ran.out, ran.told) == (1, b"", like.told)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--format", "svg"], "no such format"),
        (["--json", "--format", "dot"], "two things"),
        (["--depth", "2"], "--depth counts from an entity"),
        (["Mara", "--depth", "0"], "--depth 0: must be 1 or more"),
        (["--limit", "-1"], "--limit -1: must be 1 or more"),
        (["--output", "x.txt"], "--output needs a document"),
    ],
)
def test_wrong_usage(run: Callable[..., Any], at: tuple[str, ...], words: list[str], told: str) -> None:
    ran = run("graph", *words, *at[:2])
    assert (ran.code, ran.out) == (2, b"")
    assert told in ran.told
    assert ran.told.count("\n") == 1


@pytest.mark.parametrize("words", [[], ["Mara"], ["mara", "--depth", "3"], ["--limit", "2"], ["Mara", "--no-sync"]])
def test_json(run: Callable[..., Any], at: tuple[str, ...], words: list[str]) -> None:
    ran = run("graph", *words, *at[:2], "--json")
    assert (ran.code, ran.err) == (0, b"")
    answer = json.loads(ran.text)
    Draft202012Validator(SCHEMA).validate(answer)
    assert run("graph", *words, *at[:2], "--format", "json").out == ran.out
    shown = {node["slug"] for node in answer["nodes"]}
    assert all(set(edge["between"]) <= shown for edge in answer["edges"])
    # Each edge cites a line that opens.
    for edge in answer["edges"]:
        got = json.loads(run("get", edge["source"], *at[:2], "--json").text)
        assert got["status"] == "ok"


def test_json_of_a_workspace_without_entities(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    answer = json.loads(run("graph", "--json", "--workspace", "empty").text)
    Draft202012Validator(SCHEMA).validate(answer)
    assert (answer["nodes"], answer["extent"]) == ([], {"entities": 0, "edges": 0, "components": []})
    ran = run("graph", "--workspace", "empty", "--format", "graphml")
    assert len(networkx.read_graphml(io.BytesIO(ran.out))) == 0


def test_graphml_is_read_back(run: Callable[..., Any], strange: tuple[str, str]) -> None:
    ran = run("graph", "--format", "graphml", *strange)
    assert (ran.code, ran.err) == (0, b"")
    graph = networkx.read_graphml(io.BytesIO(ran.out))
    names = {values["name"] for _, values in graph.nodes(data=True)}
    assert names >= {*map(escaped, NAMES), 'say "hi"'}
    told = json.loads(run("graph", "--json", "--limit", "99", *strange).text)
    assert {node["degree"] for node in told["nodes"]} == {0, 1, 2, 3}
    for edge in told["edges"]:
        values = graph.edges[tuple(map(escaped, edge["between"]))]
        assert (values["weight"], values["facts"], values["source"]) == (edge["weight"], edge["facts"], edge["source"])
    assert graph.number_of_edges() == len(told["edges"])


def test_graphml_around_an_entity(run: Callable[..., Any], strange: tuple[str, str]) -> None:
    graph = networkx.read_graphml(io.BytesIO(run("graph", "王芳", "--depth", "2", "--format", "graphml", *strange).out))
    assert graph.nodes["王芳"]["steps"] == 0
    nearness = networkx.get_node_attributes(graph, "nearness")
    assert max(nearness.values()) == 1
    assert "王芳" not in nearness


STRING = r'"((?:[^"\\]|\\.)*)"'


def test_dot_is_read_back(run: Callable[..., Any], strange: tuple[str, str]) -> None:
    ran = run("graph", "--format", "dot", *strange)
    assert (ran.code, ran.err) == (0, b"")
    lines = ran.text.splitlines()
    assert (lines[0], lines[-1]) == ("graph memory {", "}")
    value = rf"\w+=(?:{STRING}|[\d.]+)"
    assert all(re.fullmatch(rf"  n\d+(?: -- n\d+)? \[{value}(?:, {value})*\];", line) for line in lines[2:-1])
    labels = re.findall(rf"^  n\d+ \[label={STRING}", ran.text, re.MULTILINE)
    plain = {re.sub(r"\\(.)", r"\1", label).replace("&amp;", "&") for label in labels}
    assert plain >= {*map(escaped, NAMES), 'say "hi"'} - {"AT&amp;T"}
    assert len(re.findall(r"^  n\d+ -- n\d+ ", ran.text, re.MULTILINE)) == len(NAMES)


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
def test_graphviz_shows_the_names(run: Callable[..., Any], strange: tuple[str, str]) -> None:
    document = run("graph", "--format", "dot", *strange).out
    drawn = subprocess.run(["dot", "-Tsvg"], input=document, capture_output=True, check=True)
    assert drawn.stderr == b""
    from xml.etree import ElementTree

    texts = {text.text for text in ElementTree.fromstring(drawn.stdout).iter("{http://www.w3.org/2000/svg}text")}
    assert {text.replace("\xa0", " ") for text in texts if text} >= {*map(escaped, NAMES), 'say "hi"'}


def test_output(run: Callable[..., Any], at: tuple[str, ...], tmp_path: Path) -> None:
    for form in ("graphml", "dot", "json"):
        ran = run("graph", "Mara", "--format", form, "--output", f"x.{form}", *at[:2])
        assert (ran.code, ran.out, ran.told) == (0, b"", f"wrote x.{form}: 5 entities, 4 edges\n")
        limit = [] if form != "json" else ["--limit", "20"]
        assert (tmp_path / f"x.{form}").read_bytes() == run("graph", "Mara", "--format", form, *limit, *at[:2]).out
    assert run("graph", "--format", "dot", "--output", "x.dot", *at[:2]).code == 0
    assert (tmp_path / "x.dot").read_text("utf-8").count(" -- ") > 4
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith((".", "x"))) == [
        "x.dot",
        "x.graphml",
        "x.json",
    ]
    ran = run("graph", "--format", "dot", "--output", "missing/x.dot", *at[:2])
    assert (ran.code, ran.told.count("\n")) == (1, 1)


@pytest.mark.parametrize(
    "name",
    [
        "memory.md",
        "new.md",
        "New.MD",
        "memory/2025-11-07.md",
        "memory/x.dot",
        "bank/entities/x.graphml",
        ".memory/index.sqlite",
        "memory/../bank/x.dot",
    ],
)
def test_output_among_the_notes_is_refused(run: Callable[..., Any], own_demo: Path, name: str) -> None:
    named = ("--workspace", str(own_demo))
    assert run("index", *named).code == 0
    before = {path: path.read_bytes() for path in own_demo.rglob("*") if path.is_file()}
    ran = run("graph", "--format", "dot", "--output", str(own_demo / name), *named)
    assert (ran.code, ran.out) == (2, b"")
    assert "among the notes" in ran.told
    assert {path: path.read_bytes() for path in own_demo.rglob("*") if path.is_file()} == before
    ran = run("graph", "--format", "dot", "--output", str(own_demo / "drawn.dot"), *named)
    assert ran.code == 0


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_output_through_links(run: Callable[..., Any], own_demo: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").symlink_to(own_demo / "memory")
    (tmp_path / "x.dot").symlink_to(own_demo / "memory.md")
    before = (own_demo / "memory.md").read_bytes()
    named = ("--format", "dot", "--workspace", str(own_demo))
    assert run("graph", "--output", "folder/x.dot", *named).code == 2
    ran = run("graph", "--output", "x.dot", *named)
    assert (ran.code, "symbolic link" in ran.told) == (1, True)
    assert (own_demo / "memory.md").read_bytes() == before


def test_an_entity_is_shown_without_networkx(environment: dict[str, str], at: tuple[str, ...]) -> None:
    code = (
        "import sys\nfrom openclaw_memory.entry import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "assert 'networkx' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code, "graph", "Mara", *at[:2]], capture_output=True, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
