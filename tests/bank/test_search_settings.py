"""How the memory is searched, by the configuration: whose word counts, wrong types, unknown keys, what is effective."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.bank.config import Configuration
from openclaw_memory.bank.errors import MemoryFault
from openclaw_memory.bank.layers import Setting
from openclaw_memory.bank.path_patterns import path_pattern
from openclaw_memory.bank.search_settings import ExtraPath, SearchSettings, read_search
from openclaw_memory.bank.workspace import Workspace


def read(values: dict[str, Any], agent: str = "main", **environ: str) -> tuple[SearchSettings, list[str]]:
    return read_search(Configuration("/home/x/openclaw.json", values), agent, {"HOME": "/home/x", **environ})


def today(search: dict[str, Any], **memory: Any) -> dict[str, Any]:
    return {"memory": {"search": search, **memory}}


def test_nothing_is_configured() -> None:
    assert read_search(Configuration("", {}), "main") == (SearchSettings(), [])
    assert read({}) == (SearchSettings(), [])


FULL: dict[str, Any] = {
    "enabled": False,
    "sources": ["sessions"],
    "experimental": {"sessionMemory": True},
    "extraPaths": ["a", "~/b", {"path": "${NOTES}/c", "pattern": "**/x*.md"}, "a"],
    "query": {"maxResults": 9, "minScore": 0.25, "hybrid": {"vectorWeight": 3, "textWeight": 1}},
    "store": {"path": "~/.openclaw/memory/{agentId}.sqlite"},
    "sync": {
        "watch": False,
        "watchDebounceMs": 200,
        "interval": "5m",
        "onSearch": False,
        "onSessionStart": False,
        "sessions": {"deltaBytes": 0, "deltaMessages": 3},
    },
}


@pytest.mark.parametrize("era", ["today", "older", "agent", "listed"])
def test_every_setting_in_every_place(era: str) -> None:
    values = {
        "today": today(FULL),
        "older": {"agents": {"defaults": {"memorySearch": FULL}}},
        "agent": {"agents": {"entries": {"Ada": {"memory": {"search": FULL}}}}},
        "listed": {"agents": {"list": [{"id": "ada", "memorySearch": FULL}]}},
    }[era]
    settings, warnings = read(values, "ada", NOTES="/notes")
    assert warnings == []
    assert not settings.enabled
    assert settings.searches_sessions
    assert settings.extra_paths == (ExtraPath("a"), ExtraPath("/home/x/b"), ExtraPath("/notes/c", "**/x*.md"))
    assert (settings.max_results, settings.min_score) == (9, 0.25)
    assert settings.hybrid[:4] == (True, True, 0.75, 0.25)
    assert settings.store_path == "/home/x/.openclaw/memory/ada.sqlite"
    assert settings.sync == (False, 0.2, 300.0, False, False, 0, 3)
    assert "enabled" in settings.off
    if era in ("agent", "listed"):
        assert read(values, "other", NOTES="/notes")[0] == SearchSettings()


def test_the_nearest_word_counts_key_by_key() -> None:
    values = {
        "memory": {"search": {"query": {"maxResults": 3}}, "citations": "off"},
        "agents": {
            "defaults": {"memorySearch": {"query": {"maxResults": 4, "minScore": 0.1}}},
            "entries": {"ada": {"memory": {"citations": "on", "search": {"sync": {"watch": False}}}}},
        },
    }
    ada, other = read(values, "ada")[0], read(values, "main")[0]
    assert (ada.max_results, ada.min_score, ada.citations, ada.sync.watch) == (3, 0.1, "on", False)
    assert (other.max_results, other.citations, other.sync.watch) == (3, "off", True)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (today({"sources": ["notes"]}), "memory.search.sources"),
        (today({"sources": "memory"}), "memory.search.sources: expected a list of strings, got a string"),
        (today({"extraPaths": [1]}), "memory.search.extraPaths[0]"),
        (today({"extraPaths": [{"pattern": "x"}]}), "memory.search.extraPaths[0].path"),
        (today({"extraPaths": [{"path": "a", "pattern": 1}]}), "memory.search.extraPaths[0].pattern"),
        (today({"query": {"minScore": 2}}), "memory.search.query.minScore"),
        (today({"query": {"maxResults": 1.5}}), "memory.search.query.maxResults: expected a whole number"),
        (today({"query": {"hybrid": {"textWeight": "much"}}}), "memory.search.query.hybrid.textWeight"),
        (today({"sync": {"interval": "soon"}}), "memory.search.sync.interval: expected a duration"),
        (today({"sync": []}), "memory.search.sync: expected an object, got a list"),
        ({"memory": {"citations": "always"}}, "memory.citations: expected one of auto, on, off"),
        ({"memory": {"backend": 1}}, "memory.backend"),
        ({"memory": []}, "memory: expected an object"),
        ({"plugins": {"slots": {"memory": 1}}}, "plugins.slots.memory: expected a string"),
    ],
)
def test_a_wrong_value_is_told_by_the_path_of_its_key(values: dict[str, Any], told: str) -> None:
    with pytest.raises(MemoryFault, match=r"openclaw\.json") as caught:
        read(values)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_key_is_told_with_the_nearest_known_one() -> None:
    _, (line,) = read({"memory": {"citation": "on"}})
    assert "memory.citation: no such setting" in line
    assert "did you mean memory.citations?" in line


def test_no_weight_at_all_and_vectors_alone() -> None:
    assert read(today({"query": {"hybrid": {"vectorWeight": 0, "textWeight": 0}}}))[0].hybrid[2:4] == (0.7, 0.3)
    assert read(today({"query": {"hybrid": {"enabled": False}}}))[0].hybrid[:4] == (True, False, 1.0, 0.0)
    assert not read(today({"query": {"hybrid": {"enabled": True}}}))[0].hybrid.chosen


def test_the_slot() -> None:
    assert "slots" in read({"plugins": {"slots": {"memory": "none"}}})[0].off
    assert read({"plugins": {"slots": {"memory": "openclaw-memory"}}})[0].off == ""


def test_what_is_effective_and_where_it_came_from() -> None:
    told: list[Setting] = []
    values = {"memory": {"search": {"query": {"maxResults": 3}}}, "agents": {"defaults": {"memorySearch": FULL}}}
    read_search(Configuration("/c/openclaw.json", values), "main", {"HOME": "/h", "NOTES": "/n"}, told)
    by_key = {one.key: one for one in told}
    assert len(by_key) == len(told)
    assert by_key["memory.search.query.maxResults"] == Setting(
        "memory.search.query.maxResults", 3, "memory.search.query.maxResults"
    )
    assert by_key["memory.search.sync.interval"][1:] == ("300s", "agents.defaults.memorySearch.sync.interval")
    assert by_key["memory.citations"] == Setting("memory.citations", "auto", "default")


def test_the_index_lies_where_it_is_configured(tmp_path: Path) -> None:
    place = tmp_path / "indexes" / "main.sqlite"
    root = tmp_path / "workspace"
    (root / "memory").mkdir(parents=True)
    (root / "memory" / "2025-02-03.md").write_text("- The router answers on port 8431.\n", encoding="utf-8")
    configuration = Configuration("c", today({"store": {"path": str(tmp_path / "indexes" / "{agentId}.sqlite")}}))

    def found() -> tuple[Workspace, int]:
        from openclaw_memory.bank.freshness import ask_fresh

        workspace = Workspace.configured(str(root), configuration, "main")
        return workspace, ask_fresh(workspace, lambda c: c.execute("SELECT count(*) FROM passages").fetchone()[0])[0]

    workspace, count = found()
    assert (workspace.index_path, count) == (str(place), 1)
    assert place.is_file()
    assert not (root / ".memory" / "index.sqlite").exists()
    place.write_bytes(b"SQLite format 3\0" + b"stock" * 1000)
    before = place.read_bytes()
    workspace, count = found()
    assert (workspace.index_path, count) == (str(root / ".memory" / "index.sqlite"), 1)
    assert "another program" in workspace.warnings[0]
    assert place.read_bytes() == before


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("**/*.md", "a.md", True),
        ("**/*.md", "a/b/c.md", True),
        ("*.md", "a/b.md", False),
        ("docs/**", "docs/a/b.md", True),
        ("docs/**", "doc/a.md", False),
        ("**/2025-??.md", "x/2025-01.md", True),
        ("**/{a,b}*.md", "x/b1.md", True),
        ("**/{a,b}*.md", "x/c1.md", False),
        ("[!x]*.md", "y.md", True),
        ("[!x]*.md", "x.md", False),
        ("[z-a].md", "-.md", True),
        ("a[.md", "a[.md", True),
        ("./a.md", "a.md", True),
        ("", "what/ever", True),
    ],
)
def test_patterns(glob: str, path: str, matches: bool) -> None:
    assert bool(path_pattern(glob).fullmatch(path)) == matches


@given(st.text("ab*?[]{},!^-/.\\|()", max_size=12), st.text("ab/.", max_size=12))
def test_any_pattern_compiles(glob: str, path: str) -> None:
    path_pattern(glob).fullmatch(path)
    if not set(glob) & set("*?[{"):
        assert bool(path_pattern(glob).fullmatch(path)) == (not glob or glob.removeprefix("./") == path)


def test_an_extra_path_with_a_pattern(tmp_path: Path) -> None:
    from openclaw_memory.bank.scan import scan
    from openclaw_memory.recall.get import memory_get

    root, outer = tmp_path / "w", tmp_path / "outer"
    for path in (
        root / "memory/a.md",
        root / "docs/in.md",
        root / "docs/x/out.md",
        outer / "in.md",
        outer / "x/out.md",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("- words\n", encoding="utf-8")
    extra = [ExtraPath("docs", "in*"), ExtraPath(str(outer), "in*"), ExtraPath(str(tmp_path / "link"))]
    (tmp_path / "link").symlink_to(outer)
    workspace = Workspace.open(str(root), extra)
    assert sorted(scan(workspace).files) == sorted(["memory/a.md", "docs/in.md", (outer / "in.md").as_posix()])
    for path, status in (("docs/in.md", "ok"), ("docs/x/out.md", "error"), (str(outer / "x/out.md"), "error")):
        assert memory_get(workspace, path)["status"] == status
