"""promote on the command line: a list to review, and what of it goes into the core memory. Real processes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

SCHEMA = Draft202012Validator(
    json.loads((Path(__file__).parent.parent.parent / "docs" / "schemas" / "promote.json").read_text("utf-8"))
)
NOW = "2025-12-08T09:00"
PORTO = "- W @Peter: Lives in Porto near the river.\n"
TEA = "- O(c=0.9) @Mara: Prefers green tea in the morning.\n"
BOAT = "- W @Kittiwake: Has a berth at the north pier.\n"


def check(data: bytes) -> Any:
    answer = json.loads(data.decode("utf-8"))
    assert [f"{one.json_path}: {one.message}" for one in SCHEMA.iter_errors(answer)] == []
    return answer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three facts that were said on several days, and one that was said once."""
    root = tmp_path / "w"
    (root / "memory").mkdir(parents=True)
    said = {"2025-12-01": PORTO + TEA, "2025-12-03": PORTO + BOAT, "2025-12-05": PORTO + TEA, "2025-12-06": BOAT}
    for day, facts in said.items():
        (root / "memory" / f"{day}.md").write_text(f"# {day}\n\n## Retain\n{facts}", encoding="utf-8")
    with (root / "memory" / "2025-12-06.md").open("a", encoding="utf-8") as file:
        file.write("- W @Ines: Teaches the cello.\n")
    (root / "MEMORY.md").write_text("# Memory\n\n## Learned\n\n- Hush after nine.\n", encoding="utf-8")
    return root


@pytest.fixture
def promote(run, folder: Path):
    def call(*arguments: str, code: int = 0) -> Any:
        ran = run("promote", *arguments, "--workspace", str(folder), "--now", NOW, "--judge", "none")
        assert ran.code == code, ran.told
        return check(ran.out) if "--json" in arguments else ran

    return call


def test_the_list_is_only_a_list(promote, folder: Path) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*.md")}
    told = promote("--json")
    assert [one["snippet"] for one in told["candidates"]] == [
        "Peter: Lives in Porto near the river.",
        "Kittiwake: Has a berth at the north pier.",
        "Mara: Prefers green tea in the morning.",
    ]
    first = told["candidates"][0]
    assert (first["path"], first["startLine"], first["citation"]) == (
        "memory/2025-12-01.md", 4, "memory/2025-12-01.md#L4",
    )  # fmt: skip
    assert (first["reason"], first["dailyCount"], first["recallCount"]) == ("said on 3 days", 3, 0)
    assert (first["firstSaidAt"], first["lastSaidAt"], first["promoted"]) == ("2025-12-01", "2025-12-05", False)
    assert "apply" not in told
    ran = promote()
    assert ran.text.startswith(f"{first['score']:.3f}  Peter: Lives in Porto near the river.\n")
    assert f"memory/2025-12-01.md#L4 · said on 3 days, 3 sources, recalled on 0 days · ^{first['key']}\n" in ran.text
    assert "3 of 3 shown; nothing is written without --apply" in ran.told
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*.md")} == before
    assert len(promote("--limit", "1", "--json")["candidates"]) == 1
    assert promote("--min-score", "1", "--json")["candidates"] == []
    assert promote("--min-recall-count", "1", "--json")["candidates"] == []


def test_what_is_applied_is_marked_and_never_again(promote, folder: Path) -> None:
    told = promote("--apply", "--limit", "2", "--json")
    assert (told["apply"]["applied"], told["apply"]["appended"], told["apply"]["rejectedCandidates"]) == (2, 2, [])
    core = (folder / "MEMORY.md").read_text("utf-8")
    key = told["candidates"][0]["key"]
    line = f"- Peter: Lives in Porto near the river. (memory/2025-12-01.md#L4) <!-- openclaw-memory-promotion:{key} -->"
    assert core.startswith(f"# Memory\n\n## Learned\n\n- Hush after nine.\n{line}\n- Kittiwake: ")
    assert told["apply"]["appliedCandidates"][0]["written"] == "MEMORY.md#L6"
    assert told["usage"]["characters"] == len(core)
    rest = promote("--json")
    assert [one["snippet"] for one in rest["candidates"]] == ["Mara: Prefers green tea in the morning."]
    listed = promote("--include-promoted", "--json")["candidates"]
    assert [one["promoted"] for one in listed] == [True, True, False]
    promote("--apply", "--include-promoted", "--only", key, "--json")
    assert (folder / "MEMORY.md").read_text("utf-8") == core
    # Other words on the line: the mark still says what it is.
    (folder / "MEMORY.md").write_text(core.replace("Peter: Lives in Porto near the river.", "P. is in Oporto"), "utf-8")
    assert len(promote("--json")["candidates"]) == 1
    assert promote("--apply").text.startswith("MEMORY.md#L8  Mara: Prefers green tea")
    assert promote("--json")["candidates"] == []


def test_one_by_its_id_or_its_place(promote, folder: Path) -> None:
    key = promote("--json")["candidates"][2]["key"]
    told = promote("--apply", "--only", f"^{key[:8]}", "--only", "memory/2025-12-03.md#L5", "--section", "People")
    assert [line.split("  ")[1] for line in told.text.splitlines()] == [
        "Mara: Prefers green tea in the morning.",
        "Kittiwake: Has a berth at the north pier.",
    ]
    assert "\n## People\n\n- Mara: " in (folder / "MEMORY.md").read_text("utf-8")
    for word in ("w-000000000000", "memory/2025-12-06.md#L5", "w"):
        ran = promote("--only", word, code=2)
        assert (ran.out, ran.told.count("\n")) == (b"", 1)
    assert promote("--section", "People", code=2).out == b""


def test_openclaws_own_marks_count(promote, folder: Path) -> None:
    with (folder / "MEMORY.md").open("a", encoding="utf-8") as file:
        file.write(
            "\n## Promoted From Short-Term Memory (2025-12-04)\n\n"
            "<!-- openclaw-memory-promotion:memory:memory/2025-12-01.md:3:4 -->\n- Somebody by a river. [score=0.812]\n"
        )
    told = promote("--json")["candidates"]
    assert [one["snippet"].split(":")[0] for one in told] == ["Kittiwake", "Mara"]


def test_over_budget_is_refused_with_what_stands_there(promote, folder: Path) -> None:
    core = folder / "MEMORY.md"
    core.write_text(f"---\nbudget: 320\n---\n# Memory\n\n- {'long ' * 20}\n", encoding="utf-8")
    told = promote("--apply", "--json", code=3)
    assert told["apply"]["applied"] == 1
    rejected = told["apply"]["rejectedCandidates"]
    assert len(rejected) == 2
    assert {one["why"] for one in rejected} == {"over-budget"}
    assert rejected[0]["entries"][0]["characters"] > 100
    assert "characters; shorten or take out an entry first, the largest are: line " in rejected[0]["reason"]
    assert len(core.read_text("utf-8")) <= 320


def test_all_refused_is_a_fault(promote, folder: Path) -> None:
    core = folder / "MEMORY.md"
    core.write_text("---\nbudget: 60\n---\n# Memory\n\n- Some words.\n", encoding="utf-8")
    before = core.read_bytes()
    ran = promote("--apply", code=1)
    assert ran.out == b""
    assert len(re.findall(r"^\^[wo]-[0-9a-f]{12}: not written: MEMORY\.md would have", ran.told, re.MULTILINE)) == 3
    assert core.read_bytes() == before


def test_what_was_refused_on_the_page_stays_refused(promote, run, folder: Path) -> None:
    reflected = run("reflect", "--workspace", str(folder), "--now", NOW, "--judge", "none")
    assert reflected.code == 0
    page = folder / "bank" / "suggestions.md"
    page.write_text(
        page.read_text("utf-8").replace('- [ ] add to memory.md: "Mara', '- [-] add to memory.md: "Mara'), "utf-8"
    )
    told = promote("--json")["candidates"]
    assert "Mara" not in [one["snippet"].split(":")[0] for one in told]
    assert "Peter" in [one["snippet"].split(":")[0] for one in told]


def test_a_missing_core_is_made(promote, folder: Path) -> None:
    (folder / "MEMORY.md").unlink()
    promote("--apply", "--limit", "1")
    assert (folder / "MEMORY.md").read_text("utf-8").startswith("# Memory\n\n## Learned\n\n- Peter: Lives in Porto")


def test_two_at_once_promote_once(folder: Path, environment: dict[str, str]) -> None:
    words = ["promote", "--apply", "--workspace", str(folder), "--now", NOW, "--judge", "none"]
    running = [
        subprocess.Popen([sys.executable, "-m", "openclaw_memory", *words], env=environment, stdout=-3, stderr=-3)
        for _ in range(2)
    ]
    assert [one.wait(120) for one in running] == [0, 0]
    core = (folder / "MEMORY.md").read_text("utf-8")
    keys = re.findall(r"promotion:(\S+) -->", core)
    assert len(keys) == len(set(keys)) == 3


def test_wrong_usage(promote) -> None:
    assert promote("--limit", "0", code=2).out == b""
    assert promote("--limit", "many", code=2).out == b""
