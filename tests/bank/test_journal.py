"""Retaining: where a new fact goes, that nothing else moves, and that writers at once lose nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from openclaw_memory.bank import journal
from openclaw_memory.bank.errors import Busy, MemoryFault, UsageFault
from openclaw_memory.bank.files import ChangedMeanwhile, writer_lock
from openclaw_memory.bank.journal import retain
from openclaw_memory.bank.retain_section import places
from openclaw_memory.bank.workspace import PathNotAllowed, Workspace
from openclaw_memory.parsers.lines import split_lines
from openclaw_memory.parsers.parse import parse_file

DAY = date(2026, 1, 5)
NEW = "- W @Peter: Lives in Lisbon."
links = pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege there")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.open(str(tmp_path))


def log(workspace: Workspace) -> Path:
    return Path(workspace.log_path(DAY))


def retained(workspace: Workspace, old: bytes, *bullets: str) -> bytes:
    """The log after ``bullets`` were retained in one that held ``old``; their citations are checked."""
    path = log(workspace)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(old)
    bullets = bullets or (NEW,)
    citations = retain(workspace, bullets, DAY)
    lines = path.read_bytes().split(b"\n")
    for citation, bullet in zip(citations, bullets, strict=True):
        name, _, line = citation.partition("#L")
        assert name == "memory/2026-01-05.md"
        assert lines[int(line) - 1].rstrip(b"\r") == bullet.encode()
    return path.read_bytes()


def test_a_new_log(workspace: Workspace) -> None:
    assert retain(workspace, [NEW, "- B: Fixed it."], DAY) == [
        "memory/2026-01-05.md#L5",
        "memory/2026-01-05.md#L6",
    ]
    assert log(workspace).read_bytes() == f"# 2026-01-05\n\n## Retain\n\n{NEW}\n- B: Fixed it.\n".encode()
    assert retain(workspace, ["- B: More."], DAY) == ["memory/2026-01-05.md#L7"]
    assert sorted(os.listdir(log(workspace).parent)) == ["2026-01-05.md"]


def test_nothing_to_retain_writes_nothing(workspace: Workspace) -> None:
    assert retain(workspace, [], DAY) == []
    assert os.listdir(workspace.root) == []


# ``§`` stands for the place of the new line (and of the blank lines that come with it).
PLACES = {
    "at the end": "## Retain\n- a\n§",
    "before the next section": "# D\n\n## Retain\n\n- a\n§\n## Next\n- b\n",
    "before a tight next section": "## Retain\n- a\n§## Next\n",
    "after lower sections": "## Retain\n- a\n### Work\n- b\n§\n# Next\n",
    "after details": "## Retain\n- W @a: x\n  - detail\n\n  more\n§\n\n## Next\n",
    "in the last of several": "## Retain\n- a\n\n## Log\nx\n\n## Retain\n- b\n§\n## End\n",
    "below an empty heading": "## Retain\n\n§## Next\n",
    "below an empty heading at the end": "## Retain\n\n§",
    "below a bare heading": "## Retain\n§",
    "after prose": "## Retain\n\nSome prose.\n§",
    "in a setext section": "Retain\n======\n\n- a\n§\nNext\n====\n- b\n",
    "before a setext heading of two lines": "Retain\n---\n- a\n§\nNext\nline\n---\n- b\n",
    "a rule below a bullet ends nothing": "## Retain\n- a\n---\n- b\n§\n## Next\n",
    "a rule below a lazy line ends nothing": "## Retain\n- a\nlazy\n---\n- b\n§",
    "numbered by a translator": "1. ## Log\n- x\n\n41. ## Retain\n- a\n§\n42. ## Next\n",
    "decorated": "### 🗂️ 4. **Retain** (what must survive):\n- a\n§",
    "closing marks": "### ReTaIn ###\n- a\n§",
    "in another language": "## 🧠 保留（长期）\n- a\n§",
    "past a closed fence": "## Retain\n- a\n```\n## Not a heading\n```\n§",
    "past a fence in an item": "## Retain\n- a\n  ```\n  # x\n  ```\n§\n## Next\n",
    "before an open fence": "## Retain\n- a\n§~~~~ text\n~~~\n# Retain\n- x\n",
    "before an item with an open fence": "## Retain\n- a\n§- b\n  ```\n  code\n## Next\n",
    "before an open comment": "## Retain\n- a\n§<!--\n- b\n## Retain\n",
    "past a comment": "## Retain\n- a\n<!--\n## Not a heading\n-->\n§\n## Next\n",
    "not at a marker inside code": "## Retain\n- a `<!--` b\n§\n## Next\nx -->\n",
    "past a managed block": "## Retain\n- a\n<!-- x:start -->\n- b\n<!-- x:end -->\n§",
    "headings in a managed block do not count": "## Retain\n- a\n<!-- x:start -->\n# Log\n- b\n<!-- x:end -->\n- c\n§",
    "before an open managed mark": "## Retain\n- a\n§<!-- x:start -->\n- b\n\n## Next\n",
    "past an entity block": "## Retain\n- a\n<!-- openclaw-memory:entity v1 -->\n- b\n"
    "<!-- /openclaw-memory:entity lines=0a0a0a0a:d919ba dropped= kept= -->\n§",
    "front matter": "---\ntitle: x\n# Retain\n---\n\n## Retain\n- a\n§",
    "a rule is no front matter": "---\n## Retain\n- a\n---\n- b\n§",
    "byte order mark": "\ufeff## Retain\n- a\n§",
    "not in a quote": "## Retain\n- a\n§\n## Log\n> ## Retain\n> - b\n",
    "not in indented code": "## Retain\n- a\n§\n# Log\n\n    ## Retain\n",
    "separators are no line ends": "## Retain\n- a\u2028## Next\x0c\n§",
}
WITHOUT = {
    "prose": "# Day\n\nSome prose.\n§",
    "no blank line needed": "# Day\n\n§",
    "look-alikes": "## Retained\n- a\n\n## Retain flag on the broker\n- b\n§",
    "in a fence": "# Day\n```\n## Retain\n```\n§",
    "in a comment": "<!--\n## Retain\n-->\n§",
    "in a managed block": "<!-- x:start -->\n## Retain\n- a\n<!-- x:end -->\n§",
    "below an open fence": "# Day\n\n§```\n## Retain\n- x\n",
    "a file that is an open fence": "§```\ncode\n",
    "front matter alone": "---\n# Retain\nkey: x\n---\n§",
    "not hidden below the next heading": "## Day\n<!-- x:start -->\n- a\n§",
    "two lines are one title": "Foo\nRetain\n---\n§",
}


@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES.keys())
def test_place_in_a_section(workspace: Workspace, text: str) -> None:
    check_place(workspace, text, heading=False)


@pytest.mark.parametrize("text", WITHOUT.values(), ids=WITHOUT.keys())
def test_place_of_a_new_section(workspace: Workspace, text: str) -> None:
    check_place(workspace, text, heading=True)


@pytest.mark.parametrize("text", [*PLACES.values(), *WITHOUT.values()], ids=[*PLACES, *WITHOUT])
def test_what_is_retained_is_read_back(text: str) -> None:
    data, line = journal._with_bullets(text.replace("§", "").encode(), [NEW], DAY)
    facts = parse_file(data.decode(), "memory/2026-01-05.md").facts
    assert [fact.text for fact in facts if fact.line == line] == ["Lives in Lisbon."]


def check_place(workspace: Workspace, text: str, heading: bool) -> None:
    before, after = (part.encode() for part in text.split("§"))
    for newline in (b"\n", b"\r\n"):
        left, right = before.replace(b"\n", newline), after.replace(b"\n", newline)
        new = retained(workspace, left + right)
        assert new.startswith(left)
        assert new.endswith(right)
        added = new[len(left) : len(new) - len(right)].split(newline)
        assert [line for line in added if line] == ([b"## Retain"] if heading else []) + [NEW.encode()]
        again = retained(workspace, new, "- B: Next.")
        assert again.count(b"## Retain\n") == new.count(b"## Retain\n")
        assert again.index(b"- B: Next.") == again.index(NEW.encode()) + len(NEW) + len(newline)


def test_what_an_open_managed_mark_may_hide_is_not_used(workspace: Workspace) -> None:
    old = b"# Day\n\n<!-- x:start -->\n## Retain\n- a\n"
    assert retained(workspace, old) == b"# Day\n\n## Retain\n\n" + NEW.encode() + b"\n\n" + old[7:]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"", f"# 2026-01-05\n\n## Retain\n\n{NEW}\n".encode()),
        (b"\xef\xbb\xbf", f"\ufeff# 2026-01-05\n\n## Retain\n\n{NEW}\n".encode()),
        (b"\n\n", f"\n\n## Retain\n\n{NEW}\n".encode()),
        (b"prose", f"prose\n\n## Retain\n\n{NEW}".encode()),
        (b"prose\r\nmore", f"prose\r\nmore\r\n\r\n## Retain\r\n\r\n{NEW}".encode()),
        (b"## Retain\n- a", f"## Retain\n- a\n{NEW}".encode()),
        (b"## Retain\r\n- a\r\n", f"## Retain\r\n- a\r\n{NEW}\r\n".encode()),
        (b"## Retain", f"## Retain\n\n{NEW}".encode()),
        (b"## Retain\nText\n===\n", f"## Retain\n\n{NEW}\n\nText\n===\n".encode()),
        (b"## Retain\n</details>\n", f"## Retain\n</details>\n\n{NEW}\n".encode()),
        (b"## Retain\n- \xff\xfe\x00\n\n\n", b"## Retain\n- \xff\xfe\x00\n" + NEW.encode() + b"\n\n\n"),
    ],
)
def test_bytes(workspace: Workspace, old: bytes, new: bytes) -> None:
    assert retained(workspace, old) == new


LINES = """## Retain|# Day|### Retain:|Retain|---|===|- a|  - b|text||||```|~~~|    x|<!--|-->|<!-- a -->
<!-- x:start -->|<!-- x:end -->|> q|- ```|1. ## Retain|- <!-- b|<div>|</div>|<b>x</b>|  ```|2. c|1. ```|* c
## Next ##|key: value|text <!-- open|***|- - n|- # h|  # in|   ## Retain|      ```|`<!--`|text --> x"""
BLOCKS = st.sampled_from([*LINES.replace("\n", "|").split("|"), "| a |", "\t", "\ufeff", "\x00", "x\\"])
OLD = st.one_of(
    st.binary(max_size=120).filter(lambda old: old[:2] not in (b"\xff\xfe", b"\xfe\xff")),
    st.builds(
        lambda lines, newline, last: newline.join([*lines, *([""] if last else [])]).encode(),
        st.lists(BLOCKS, max_size=14),
        st.sampled_from(["\n", "\r\n"]),
        st.booleans(),
    ),
)


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(old=OLD)
@example(old=b"\n")
@example(old=b"\r")
@example(old=b"\x85")
def test_every_old_byte_stays_in_order(workspace: Workspace, old: bytes) -> None:
    bullets = (NEW, "- O(c=0.9) @Ana: Likes tea.")
    new = retained(workspace, old, *bullets)
    places = [place for place in range(len(old) + 1) if new.startswith(old[:place]) and new.endswith(old[place:])]
    assert places
    parts = [new[place : len(new) - len(old) + place] for place in places]
    lines = rb"\r?\n".join(re.escape(bullet.encode()) for bullet in bullets)
    heading = rb"(# 2026-01-05\n\n)?(## Retain(\r?\n)+)?"
    allowed = re.compile(rb"(\r?\n)*" + heading + lines + rb"(\r?\n)*")
    assert any(allowed.fullmatch(part) for part in parts), (old, new)
    # And the section is found again: a second time adds lines, and no second heading.
    again = retained(workspace, new, "- B: Once more.")
    assert again.count(b"Retain") == new.count(b"Retain")


@settings(max_examples=400, deadline=None)
@given(st.lists(BLOCKS, max_size=12), st.booleans())
@example(["## Retain", "</div>", "- a"], False)
@example(["## Retain", "Retain", "2. c", "---"], False)
@example(["- - n", "   ## Retain"], False)
@example(["- - n", "<b>x</b>", "  ```", "## Retain", "  ```"], False)
@example(["1. ```", "  ```"], False)
@example(["</div>", "```", "", "```"], True)
@example(["text <!-- open", "```", "-->"], True)
@example(["## Retain", "| a |", "==="], True)
@example(["      ```", "```"], True)
@example(["    x", "<!--"], False)
def test_whatever_the_log_holds_the_fact_is_read_back(lines: list[str], last: bool) -> None:
    old = "\n".join([*lines, *([""] if last else [])])
    data, place = journal._with_bullets(old.encode(), [NEW], DAY)
    facts = parse_file(data.decode(), "memory/2026-01-05.md").facts
    assert [fact.text for fact in facts if fact.line == place] == ["Lives in Lisbon."]


@given(st.lists(BLOCKS, max_size=14))
def test_the_places_are_in_the_file(lines: list[str]) -> None:
    text = "\n".join(lines)
    for place in places(text):
        assert 0 <= place.line <= len(split_lines(text))
        assert place.line > 0 or not place.in_section


@pytest.mark.parametrize("bullet", ["", " ", "-", "- ", "* ", "\n", "W @a: x", "## Retain", "text", "1. x", "-x"])
def test_what_is_no_bullet_is_refused(workspace: Workspace, bullet: str) -> None:
    with pytest.raises(UsageFault) as caught:
        retain(workspace, [NEW, bullet], DAY)
    assert caught.value.exit_code == 2
    assert os.listdir(workspace.root) == []


@pytest.mark.parametrize("bullet", ["- ```", "- ~~~ sh", "- <!-- x", "- W @a: x <!-- y", "- # T", "- - x", "- > x"])
def test_what_would_swallow_the_log_is_refused(workspace: Workspace, bullet: str) -> None:
    with pytest.raises(UsageFault):
        retain(workspace, [bullet], DAY)


@pytest.mark.parametrize(
    ("bullet", "line"),
    [
        ("- W @a: one\n  two\r\n\r\nthree\n", "- W @a: one two three"),
        ("  - B: x  ", "- B: x"),
        ("- W @a: `<!--` opens a comment", "- W @a: `<!--` opens a comment"),
        ("- W @a: x <!-- importance: 3 -->", "- W @a: x <!-- importance: 3 -->"),
        ("- W @a: 保留 🧠", "- W @a: 保留 🧠"),
        ("- W @a: \ud800", "- W @a: ?"),
        ("- W @a: a\u2028b", "- W @a: a\u2028b"),
    ],
)
def test_one_bullet_is_one_line(workspace: Workspace, bullet: str, line: str) -> None:
    retain(workspace, [bullet], DAY)
    assert log(workspace).read_text(encoding="utf-8").split("\n")[4] == line


def test_the_log_of_another_writer_is_read_again(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    retain(workspace, [NEW], DAY)
    write, calls = journal.write_atomic, []

    def meddle(path: str, data: bytes, expected: object) -> None:
        calls.append(path)
        if len(calls) == 1:
            with open(path, "ab") as file:
                file.write(b"- W @x: theirs\n")
        write(path, data, expected)  # type: ignore[arg-type]

    monkeypatch.setattr(journal, "write_atomic", meddle)
    assert retain(workspace, ["- B: ours"], DAY) == ["memory/2026-01-05.md#L7"]
    assert log(workspace).read_bytes().endswith(b"- W @x: theirs\n- B: ours\n")

    def always(path: str, data: bytes, expected: object) -> None:
        raise ChangedMeanwhile("changed", path)

    monkeypatch.setattr(journal, "write_atomic", always)
    with pytest.raises(ChangedMeanwhile):
        retain(workspace, ["- B: ours"], DAY)


def test_busy(workspace: Workspace) -> None:
    with writer_lock(workspace.journal_lock_path, 0), pytest.raises(Busy):
        retain(workspace, [NEW], DAY, timeout=0.05)
    with writer_lock(workspace.lock_path, 0):
        retain(workspace, [NEW], DAY, timeout=0.05)


@links
def test_links_are_not_written_through(workspace: Workspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("x")
    (tmp_path / "memory").mkdir()
    log(workspace).symlink_to(outside)
    with pytest.raises(PathNotAllowed):
        retain(workspace, [NEW], DAY)
    assert outside.read_text() == "x"


def test_a_file_in_the_place_of_the_folder(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("x")
    with pytest.raises(MemoryFault) as caught:
        retain(workspace, [NEW], DAY)
    assert "\n" not in str(caught.value)


WRITER = """
import sys
from datetime import date
from openclaw_memory.bank.journal import retain
from openclaw_memory.bank.workspace import Workspace
workspace = Workspace.open(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for number in range(25):
    bullet = f"- W @writer-{sys.argv[2]}: number {number}."
    print(*retain(workspace, [bullet], date(2026, 1, 5), timeout=60), flush=True)
"""


def test_processes_at_once_lose_nothing(workspace: Workspace) -> None:
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, workspace.root, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ,
        )
        for number in range(4)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    outputs = []
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        outputs.append(writer.communicate(timeout=120)[0].split())
        assert writer.returncode == 0
    lines = log(workspace).read_text(encoding="utf-8").split("\n")
    assert lines[:4] == ["# 2026-01-05", "", "## Retain", ""]
    assert lines[-1] == ""
    wanted = [[f"- W @writer-{writer}: number {number}." for number in range(25)] for writer in range(4)]
    assert sorted(lines[4:-1]) == sorted(line for own in wanted for line in own)
    for own, citations in zip(wanted, outputs, strict=True):
        assert [lines[int(citation.partition("#L")[2]) - 1] for citation in citations] == own
    assert os.listdir(log(workspace).parent) == ["2026-01-05.md"]


def test_a_fact_keeps_its_details(workspace: Workspace) -> None:
    """The new bullet went between a bare fact and the list below it, which a fence that never ends hung on to."""
    old = b"## Retain\n\nW @Ann: fact\n- d1\n  ```\n  never closed\n"
    facts = {fact.text: fact.details for fact in parse_file(retained(workspace, old).decode(), "memory/a.md").facts}
    assert facts == {"fact": ("d1",), "Lives in Lisbon.": ()}


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_log_in_utf_16_is_refused(workspace: Workspace, codec: str) -> None:
    old = ("" if codec == "utf-16" else "\ufeff").encode(codec) + "## Retain\n".encode(codec)
    with pytest.raises(MemoryFault, match="UTF-16"):
        retained(workspace, old)
    assert log(workspace).read_bytes() == old


def test_a_line_of_many_comment_marks_is_checked_in_one_pass(workspace: Workspace) -> None:
    with pytest.raises(UsageFault):
        retain(workspace, ["- W: " + "<!--" * 20000], DAY)
