"""What was found is written once, into logs of the past that have no Retain section, and nothing else changes."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from openclaw_memory.bank.errors import UsageFault
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.parsers.lines import split_lines
from openclaw_memory.parsers.parse import parse_file
from openclaw_memory.reflect.extraction import Candidate, extract
from openclaw_memory.reflect.write_retain import COMMENT, bullet_of, write_retain

DAY, TODAY = date(2026, 3, 4), date(2026, 3, 5)
PATH = "memory/2026-03-04.md"
NAMES = {name.casefold(): name for name in ("Mara", "Elif", "gannet", "Frau Thiessen", "王芳")}
LOG = """# 2026-03-04

Mara lives in Flensburg now. What a day.
She has a
dog of 14 kg.

- Elif doesn't like epoxy.
- 10:12 I moved gannet to port 9431.
- Frau Thiessen owns the house.
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "memory").mkdir()
    return Workspace.open(str(tmp_path))


def log(workspace: Workspace) -> Path:
    return Path(workspace.root, PATH)


def found(text: str) -> list[Candidate]:
    return extract(parse_file(text, PATH).notes, NAMES, None, split_lines(text))


def written(workspace: Workspace, old: bytes, candidates: Sequence[Candidate] | None = None, limit: int = 5) -> bytes:
    """What stands in the log, once ``old`` stood in it, below ``old``."""
    log(workspace).write_bytes(old)
    text = old.decode("utf-8", errors="replace")
    citations = write_retain(workspace, DAY, candidates or found(text), today=TODAY, limit=limit)
    new = log(workspace).read_bytes()
    assert new.startswith(old)
    assert bool(citations) == (new != old)
    lines = split_lines(new.decode())
    for citation in citations:
        assert lines[int(citation.partition("#L")[2]) - 1].startswith("- ")
    return new[len(old) :]


def test_bullets_with_where_they_stand(workspace: Workspace) -> None:
    assert (
        written(workspace, LOG.encode()).decode()
        == f"""
## Retain
{COMMENT}

- W @Mara: Mara lives in Flensburg now. (see memory/2026-03-04.md#L3)
- O(c=0.55) @Elif: Elif doesn't like epoxy. (see memory/2026-03-04.md#L7)
- B @gannet: I moved gannet to port 9431. (see memory/2026-03-04.md#L8)
- W @"Frau Thiessen": Frau Thiessen owns the house. (see memory/2026-03-04.md#L9)
"""
    )
    facts = parse_file(log(workspace).read_text("utf-8"), PATH).facts
    assert [fact.evidence for fact in facts] == [(f"{PATH}#L{line}",) for line in (3, 7, 8, 9)]


def test_the_best_ones_in_the_order_of_the_log(workspace: Workspace) -> None:
    lines = written(workspace, LOG.encode(), limit=2).decode().splitlines()
    assert [line[:10] for line in lines if line.startswith("- ")] == ["- O(c=0.55", "- B @ganne"]


def test_it_is_written_once(workspace: Workspace) -> None:
    written(workspace, LOG.encode())
    before = log(workspace).read_bytes()
    assert write_retain(workspace, DAY, found(before.decode()), today=TODAY) == []
    assert write_retain(workspace, DAY, found(LOG), today=TODAY) == []
    assert log(workspace).read_bytes() == before


def test_two_writers_at_once_write_it_once(workspace: Workspace) -> None:
    log(workspace).write_text(LOG, "utf-8")
    candidates = found(LOG)
    writers = [
        threading.Thread(target=write_retain, args=(workspace, DAY, candidates), kwargs={"today": TODAY})
        for _ in range(4)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert log(workspace).read_text("utf-8").count("## Retain") == 1
    assert log(workspace).read_text("utf-8").count("@Elif") == 1


@pytest.mark.parametrize(
    "text",
    [
        LOG + "\n## Retain\n",
        LOG + "\n## Retain\n- W @Mara: Lives in Flensburg.\n",
        "## Retain\n\n" + LOG,
        LOG + "\n```\nnever closed\n",
        LOG + "\n<!-- never closed\n",
        "Mara lives in Flensburg.\n",
        "nothing\n",
        "",
    ],
    ids=["empty section", "section", "section above", "open fence", "open comment", "one candidate", "none", "empty"],
)
def test_logs_that_are_left_alone(workspace: Workspace, text: str) -> None:
    assert written(workspace, text.encode()) == b""


def test_a_log_that_has_changed_is_not_told_of(workspace: Workspace) -> None:
    candidates = found(LOG)
    assert written(workspace, ("One more line.\n" + LOG).encode(), candidates) == b""


def test_unsure_candidates_and_those_of_other_logs_do_not_count(workspace: Workspace) -> None:
    one, *others = found(LOG)
    moved = [other._replace(path="memory/2026-03-03.md") for other in others]
    unsure = [other._replace(score=0.59) for other in others]
    assert written(workspace, LOG.encode(), [one, one, *moved, *unsure]) == b""


def test_secrets_are_never_copied(workspace: Workspace) -> None:
    text = LOG + "- Mara keeps the key ghp_abcdefghijklmnopqrstuvwxyz0123456789 in a drawer.\n"
    line = len(split_lines(text)) - (not split_lines(text)[-1])
    made = found(LOG)[0]._replace(
        text=split_lines(text)[line - 1].removeprefix("- "), line=line, end_line=line, score=1.0, id="w-000000000000"
    )
    assert "ghp_" not in written(workspace, text.encode(), [made, *found(LOG)]).decode()


@pytest.mark.parametrize(
    "old", [LOG.replace("\n", "\r\n").encode(), LOG.rstrip().encode(), b"\xef\xbb\xbf" + LOG.encode()]
)
def test_line_ends_and_marks_are_kept(workspace: Workspace, old: bytes) -> None:
    added = written(workspace, old)
    assert b"@Elif" in added
    assert (b"\r\n" in added) == (b"\r\n" in old)
    assert added.count(b"\n") == added.count(b"\r\n") or b"\r\n" not in added


@pytest.mark.parametrize("day", [TODAY, date(2026, 3, 6)])
def test_a_day_that_is_not_over(workspace: Workspace, day: date) -> None:
    with pytest.raises(UsageFault, match="its day is over"):
        write_retain(workspace, day, found(LOG), today=TODAY)


@pytest.mark.parametrize("limit", [-1, 0, 1, 6])
def test_too_few_or_too_many(workspace: Workspace, limit: int) -> None:
    with pytest.raises(UsageFault, match="2 to 5"):
        write_retain(workspace, DAY, found(LOG), today=TODAY, limit=limit)


def test_no_log_is_made(workspace: Workspace) -> None:
    assert write_retain(workspace, DAY, found(LOG), today=TODAY) == []
    assert not log(workspace).exists()


def test_names_that_need_quotes_read_back(workspace: Workspace) -> None:
    names = {"the box": 'the "big" box', "the lid": "a]] b", "the end": 'a" ]] b', "mara": "Mara"}
    text = (
        "The box costs 900 euros.\n\nThe lid costs 800 euros.\n\nThe end costs 700 euros.\n\n"
        "Mara lives here (replaces ^w-7f3a91).\n"
    )
    candidates = extract(parse_file(text, PATH).notes, names, None, split_lines(text))
    assert len(candidates) == 4
    added = written(workspace, text.encode(), candidates).decode()
    facts = parse_file(text + added, PATH).facts
    assert [fact.entities for fact in facts] == [('the "big" box',), ("a]] b",)]
    assert not any(fact.relations for fact in facts)


_WORDS = st.sampled_from(
    "Mara Elif gannet lives owns costs 40 euros. likes doesn't like tea. I moved to port 9431. ( )"
    " ^w-7f3a91 replaces `"
    " ``` <!-- --> # ## Retain - W @Mara: @ [ ] > * _ \" ' 王芳住在汉堡。 … é".split(" ")
)
_GAPS = st.sampled_from([" ", " ", " ", " ", "\n", "\n\n", "\n- ", "\r\n"])
_LOGS = st.lists(st.tuples(_WORDS, _GAPS), max_size=60).map(lambda pairs: "".join(word + gap for word, gap in pairs))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_LOGS, st.integers(2, 5))
@example(LOG + LOG, 5)
def test_any_log_is_only_added_to_and_only_once(workspace: Workspace, text: str, limit: int) -> None:
    old = text.encode()
    before = parse_file(text, PATH)
    candidates = found(text)
    added = written(workspace, old, candidates or None, limit)
    new = log(workspace).read_bytes().decode()
    bullets = [line for line in split_lines(added.decode()) if line.startswith("- ")]
    assert len(bullets) <= limit
    assert (len(bullets) >= 2) == bool(added)
    facts = parse_file(new, PATH).facts
    assert {fact.id for fact in before.facts} <= {fact.id for fact in facts}
    assert len(facts) == len(before.facts) + len(bullets)
    assert {bullet_of(one) for one in candidates} >= {bullet.rstrip("\r") for bullet in bullets}
    for _ in range(2):
        assert not added or write_retain(workspace, DAY, candidates, today=TODAY, limit=limit) == []
    assert log(workspace).read_bytes() == old + added
