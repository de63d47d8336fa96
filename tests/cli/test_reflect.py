"""reflect, opinions and why as a shell runs them: what they write, what they say, and what they leave alone."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

NOW = ("--now", "2025-12-06T04:00:00")
NONE = ("--judge", "none")


@pytest.fixture
def at(workspace: Path) -> tuple[str, ...]:
    (workspace / "memory" / "2025-12-03.md").write_text(
        "## Retain\n- W @Peter: Moved to Porto. (replaces memory/2025-12-01.md#L6)\n"
        "- W @Peter: Sent the coffee back. (supports memory/2025-12-01.md#L7)\n",
        encoding="utf-8",
    )
    return ("--workspace", str(workspace), *NOW, *NONE)


def pages(workspace: Path) -> dict[str, bytes]:
    return {p.relative_to(workspace).as_posix(): p.read_bytes() for p in workspace.rglob("*.md")}


def test_a_night(run, at, workspace: Path) -> None:
    ran = run("reflect", *at)
    assert ran.code == 0, ran.told
    lines = ran.text.splitlines()
    assert lines[-1].startswith("reflect: wrote 2 pages")
    page = (workspace / "bank" / "entities" / "Peter.md").read_text("utf-8")
    assert "- W @Peter: Was born in Porto.\n" in page
    assert "- Moved to Porto. (memory/2025-12-03.md#L2)" in page
    assert "- Lives in Lisbon. (2025-12-01 to 2025-12-03, memory/2025-12-01.md#L6, ^w-" in page
    assert "- Prefers tea. c=0.91, 1 support. (memory/2025-12-01.md#L7, ^o-" in page
    before = pages(workspace)
    again = run("reflect", *at)
    assert (again.code, again.text) == (0, "reflect: nothing new\n")
    assert pages(workspace) == before


def test_a_dry_run_writes_nothing_and_shows_all(run, at, workspace: Path) -> None:
    before = pages(workspace)
    ran = run("reflect", *at, "--dry-run")
    assert ran.code == 0
    assert pages(workspace) == before
    assert "+++ b/bank/entities/Peter.md" in ran.text
    assert "+- Moved to Porto. (memory/2025-12-03.md#L2)" in ran.text
    assert ran.text.splitlines()[-1].startswith("reflect: would write 2 pages")
    run("reflect", *at)
    patched = {path: data for path, data in pages(workspace).items() if before.get(path) != data}
    assert sorted(patched) == ["bank/entities/Peter.md", "bank/opinions.md"]


def test_recall_knows_what_the_pages_say(run, at) -> None:
    run("reflect", *at)
    told = json.loads(run("recall", "Where does Peter live?", *at[:4], "--json").text)["results"]
    lisbon = next(one for one in told if "Lisbon" in one["content"])
    assert lisbon["valid_to"] == "2025-12-03"
    assert lisbon["superseded_by"] == "memory/2025-12-03.md#L2"
    tea = next(one for one in told if one["kind"] == "opinion")
    assert (tea["confidence"], tea["stated_confidence"]) == (0.91, 0.9)
    before = json.loads(run("recall", "Where does Peter live?", *at[:4], "--as-of", "2025-12-02", "--json").text)[
        "results"
    ]
    assert {one["valid_to"] for one in before} == {None}
    assert any("Lisbon" in one["content"] for one in before)


def test_what_was_true(run, at) -> None:
    run("reflect", *at)
    told = json.loads(run("recall", "What was true on Dec 2, 2025?", *at[:4], "--json").text)["results"]
    assert "Lives in Lisbon." in [one["content"] for one in told]
    assert "Moved to Porto." not in [one["content"] for one in told]
    later = json.loads(run("recall", "What was true on Dec 4, 2025?", *at[:4], "--json").text)["results"]
    found = [one["content"] for one in later if one["kind"] == "world" and not one["valid_to"]]
    assert "Moved to Porto." in found


def test_opinions_and_why(run, at) -> None:
    ran = run("opinions", *at)
    assert ran.code == 0
    assert "0.91" in ran.text
    told = json.loads(run("opinions", "--entity", "peter", *at, "--json").text)
    assert [(one["text"], one["stated"], len(one["evidence"])) for one in told] == [("Prefers tea.", 0.9, 1)]
    why = run("why", f"^{told[0]['id'][:8]}", *at)
    assert why.code == 0
    assert "(6 × 0.90 + 1.00) / (6 + 1.00 + 0.00) = 0.91" in why.text
    assert "memory/2025-12-03.md#L3" in why.text
    assert "▇" in why.text or "█" in why.text
    answer = json.loads(run("why", told[0]["id"], *at, "--json").text)
    assert answer["witnesses"] == [
        {
            "path": "memory/2025-12-03.md",
            "day": "2025-12-03",
            "relation": "supports",
            "weight": 1.0,
            "sources": ["memory/2025-12-03.md#L3"],
        }
    ]


def test_why_a_fact_holds_no_more(run, at) -> None:
    found = json.loads(run("recall", "Lisbon", *at[:4], "--json").text)["results"][0]
    ran = run("why", found["id"], *at)
    assert ran.code == 0
    assert "superseded: held since 2025-12-01 until 2025-12-03" in ran.text
    assert "said outright" in ran.text


@pytest.mark.parametrize("key", ["o-123456", "x", "^", "memory/a.md"])
def test_an_id_that_names_nothing(run, at, key) -> None:
    ran = run("why", key, *at)
    assert (ran.code, ran.text) == (1, "")
    assert "no opinion or world fact has this id" in ran.told


def test_links_that_lead_nowhere_are_told(run, at, workspace: Path) -> None:
    with (workspace / "memory" / "2025-12-03.md").open("a", encoding="utf-8") as log:
        log.write("- W @Peter: Sings. (replaces ^w-123456)\n")
    ran = run("reflect", *at)
    assert ran.code == 3
    assert "memory/2025-12-03.md:4: (replaces w-123456) points at no fact" in ran.told
    assert (workspace / "bank" / "opinions.md").exists()


def test_a_damaged_block_is_left_alone(run, at, workspace: Path) -> None:
    run("reflect", *at)
    page = workspace / "bank" / "entities" / "Peter.md"
    broken = page.read_text("utf-8").replace("<!-- /openclaw-memory:entity", "<!-- /openclaw-memory:entitx")
    page.write_text(broken, encoding="utf-8")
    ran = run("reflect", *at)
    assert ran.code == 3
    assert "bank/entities/Peter.md:" in ran.told
    assert page.read_text("utf-8") == broken


def test_one_commit_of_its_own_pages(run, at, workspace: Path, environment) -> None:
    def git(*arguments: str) -> str:
        author = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        names = ("-c", "user.name=A", "-c", "user.email=a@b")
        done = subprocess.run(
            ["git", *names, *arguments], cwd=workspace, env=environment | author, capture_output=True, check=True
        )
        return done.stdout.decode()

    git("init", "-q")
    git("config", "user.name", "A")
    git("config", "user.email", "a@b")
    git("add", ".")
    git("commit", "-q", "-m", "start")
    (workspace / "memory" / "2025-12-04.md").write_text("not mine to commit\n", encoding="utf-8")
    ran = run("reflect", *at, "--commit")
    assert ran.code == 0, ran.told
    assert "committed " in ran.text
    names = git("show", "--name-only", "--format=%s").splitlines()
    assert names[0].startswith("reflect: wrote 2 pages")
    assert sorted(names[2:]) == ["bank/entities/Peter.md", "bank/opinions.md"]
    assert git("status", "--short", "--", "memory").startswith("?? memory/2025-12-04.md")


def test_two_at_once_is_busy(run, at, workspace: Path) -> None:
    from openclaw_memory.bank.files import writer_lock

    run("index", "--workspace", str(workspace))
    with writer_lock(str(workspace / ".memory" / "reflect.lock"), 1.0, "testing"):
        ran = run("reflect", *at)
    assert ran.code == 75
    assert "Traceback" not in ran.told


@pytest.mark.parametrize("name", ["memory/2025-12-03.md#L2", "moved to porto"])
def test_what_is_forgotten_stays_off_the_pages(run, at, workspace: Path, name) -> None:
    run("reflect", *at)
    page = workspace / "bank" / "entities" / "Peter.md"
    assert "- Moved to Porto." in page.read_text("utf-8")
    ran = run("reflect", *at, "--forget", name)
    assert ran.code == 0, ran.told
    assert "- Moved to Porto." not in page.read_text("utf-8")
    assert run("reflect", *at).text == "reflect: nothing new\n"
    assert "- Moved to Porto." not in page.read_text("utf-8")


def test_an_opinion_is_forgotten_by_its_id(run, at, workspace: Path) -> None:
    run("reflect", *at)
    own = json.loads(run("opinions", *at, "--json").text)[0]["id"]
    assert run("reflect", *at, "--forget", own[:9]).code == 0
    for name in ("entities/Peter.md", "opinions.md"):
        page = (workspace / "bank" / name).read_text("utf-8")
        assert "Prefers tea" not in page
        assert f"<!-- forget ^{own} -->" in page


@pytest.mark.parametrize(("name", "code"), [("w-123456", 1), ("nowhere to be seen", 1), ("x", 2)])
def test_what_no_page_shows_cannot_be_forgotten(run, at, workspace: Path, name, code) -> None:
    run("reflect", *at)
    before = pages(workspace)
    ran = run("reflect", *at, "--forget", name)
    assert ran.code == code
    assert pages(workspace) == before


def test_what_is_ticked_gets_into_the_core(run, at, workspace: Path) -> None:
    for day in ("2025-12-02", "2025-12-04"):
        (workspace / "memory" / f"{day}.md").write_text("## Retain\n- W @Peter: Is allergic to nuts.\n", "utf-8")
    assert run("reflect", *at).code == 0
    page = workspace / "bank" / "suggestions.md"
    text = page.read_text("utf-8")
    assert 'add to memory.md: "Peter: Is allergic to nuts."' in text
    page.write_text(text.replace("- [ ] add to memory.md", "- [x] add to memory.md"), encoding="utf-8")
    ran = run("reflect", *at)
    assert "added to the core memory: Peter: Is allergic to nuts." in ran.text
    assert "- Peter: Is allergic to nuts. (memory/2025-12-02.md#L2)" in (workspace / "MEMORY.md").read_text("utf-8")
    assert run("reflect", *at).text == "reflect: nothing new\n"


def test_narrative_is_marked_as_what_it_is(run, at, workspace: Path) -> None:
    (workspace / "memory" / "2025-12-05.md").write_text(
        "# Friday\n\nPeter works at the harbour office since Monday. Rain all day.\n", encoding="utf-8"
    )
    assert run("reflect", *at).code == 0
    page = (workspace / "bank" / "entities" / "Peter.md").read_text("utf-8")
    line = "Peter works at the harbour office since Monday. (memory/2025-12-05.md#L3, extracted)"
    assert f"- 2025-12-05 {line}\n" in page
    assert "Rain all day" not in page


def test_two_pages_of_one_name_are_told_and_left(run, at, workspace: Path) -> None:
    other = workspace / "bank" / "entities" / "peter.md"
    if other.exists():
        pytest.skip("the disk does not tell case apart")
    other.write_text("# peter\n\n- W @Peter: Plays chess.\n", encoding="utf-8")
    ran = run("reflect", *at)
    assert ran.code == 3
    assert "Peter.md, peter.md; keep one" in ran.told
    assert other.read_text("utf-8").startswith("# peter\n\n- W @Peter: Plays chess.\n")


def test_a_page_that_cannot_be_written_holds_up_no_other(run, at, workspace: Path) -> None:
    page = workspace / "bank" / "entities" / "Ana.md"
    page.mkdir()
    (workspace / "memory" / "2025-12-04.md").write_text("## Retain\n- W @Ana: Sings.\n- W @Ana: Rows.\n", "utf-8")
    ran = run("reflect", *at)
    assert ran.code == 3
    assert "bank/entities/Ana.md:1: path not allowed" in ran.told
    assert "Moved to Porto" in (workspace / "bank" / "entities" / "Peter.md").read_text("utf-8")
    page.rmdir()
    assert run("reflect", *at).code == 0
    assert "- Sings." in page.read_text("utf-8")


def test_damaged_marks_are_told_every_night(run, at, workspace: Path) -> None:
    run("reflect", *at)
    page = workspace / "bank" / "entities" / "Peter.md"
    page.write_text(page.read_text("utf-8").replace("<!-- /openclaw-memory:entity", "<!-- /x"), encoding="utf-8")
    assert [run("reflect", *at).code for _ in range(3)] == [3, 3, 3]


def test_what_is_forgotten_by_a_citation_is_the_fact_and_not_the_line(run, at, workspace: Path) -> None:
    run("reflect", *at)
    run("reflect", *at, "--forget", "memory/2025-12-03.md#L2")
    log = workspace / "memory" / "2025-12-03.md"
    log.write_text(log.read_text("utf-8").replace("## Retain\n", "## Retain\n- W @Peter: Has two sisters.\n"), "utf-8")
    run("reflect", *at)
    page = (workspace / "bank" / "entities" / "Peter.md").read_text("utf-8")
    assert "Moved to Porto" not in page.split("## Earlier")[0]
    assert "- Has two sisters." in page


def test_why_takes_a_citation(run, at) -> None:
    assert "worth 6 observations" in run("why", "memory/2025-12-01.md#L7", *at).text


def test_for_and_against_at_once_is_refused(run, at, workspace: Path) -> None:
    place = "memory/2025-12-01.md#L7"
    ran = run("retain", "W @Peter: x y.", "--supports", place, "--contradicts", place, *at[:4])
    assert (ran.code, "support and contradict" in ran.told) == (2, True)


def test_two_facts_that_replace_each_other(run, at, workspace: Path) -> None:
    for day, text, other in (("11-02", "Bern", "11-03"), ("11-03", "Genf", "11-02")):
        line = f"## Retain\n- W @Ann: Lives in {text}. (replaces memory/2025-{other}.md#L2)\n"
        (workspace / "memory" / f"2025-{day}.md").write_text(line, encoding="utf-8")
    run("reflect", *at)
    page = (workspace / "bank" / "entities" / "Ann.md").read_text("utf-8")
    assert "## Now\n- Lives in Genf." in page
    assert "- Lives in Bern. (2025-11-02 to 2025-11-03" in page


def test_a_file_in_the_place_of_the_index(run, tmp_path: Path) -> None:
    (tmp_path / "y" / "memory").mkdir(parents=True)
    (tmp_path / "y" / ".memory").write_text("", encoding="utf-8")
    ran = run("reflect", "--workspace", str(tmp_path / "y"), *NONE)
    assert (ran.code, "unexpected" in ran.told) == (1, False)
