"""The nightly job over generated workspaces and edits: a fixed point, from scratch as from before, hand edits kept."""

from __future__ import annotations

import re
import shutil
import tempfile
from datetime import date, datetime, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.parsers.blocks import fenced_lines, read_blocks
from openclaw_memory.parsers.lines import split_lines
from openclaw_memory.parsers.parse import parse_file
from openclaw_memory.reflect.job import Options, reflect

NOW = datetime(2026, 3, 1, 4, 0).astimezone()
NAMES = ["Ana", '"Ana Maria"', "Bram", "C++", "gannet", "王芳"]
WORLD = [
    "Lives in Lisbon.", "Lives in Porto.", "Moved to Porto last weekend.", "Works at Halden.", "Runs on port 8431.",
    "Asked to shorten the summary.", "Midwife in Gothenburg.", "住在不来梅。", "Said it 3 times (see memory/x.md#L1).",
    "Token sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "In Marrakech (Jan 27–Feb 1, 2026).",
]  # fmt: skip
OPINIONS = ["Prefers short replies.", "Likes short replies.", "Prefers long replies.", "Thinks the build is flaky."]
DAYS = st.integers(0, 40).map(lambda n: date(2026, 1, 10) + timedelta(days=n))


@st.composite
def bullets(draw):
    names = " ".join(f"@{name}" for name in draw(st.lists(st.sampled_from(NAMES), max_size=2, unique=True)))
    kind = draw(st.sampled_from("WWBOS"))
    mark = draw(st.sampled_from(["", "(c=0.7)", "(c=0.9)"])) if kind == "O" else ""
    text = draw(st.sampled_from(OPINIONS if kind == "O" else WORLD))
    link = draw(st.sampled_from(["", "", "", " (replaces memory/2026-01-10.md#L3)", " (supports ^o-123456)"]))
    return f"- {kind}{mark} {names}: {text}{link}"


LOGS = st.dictionaries(DAYS, st.lists(bullets(), min_size=1, max_size=6), min_size=1, max_size=4)
PAGE = st.sampled_from(
    ["", "# Ana\n\nMy sister.\n\n- W @Ana: Lives in Lisbon.\n", "---\naliases: [Ana Maria]\n---\n# Ana\r\n\r\nx\r\n"]
)
#: What a person does to a line of a block: a number that picks it, and what becomes of it.
EDITS = st.lists(
    st.tuples(st.integers(0, 400), st.sampled_from(["delete", "change", "insert", "typed", "number", "swap"])),
    max_size=5,
)


def write(root: Path, logs, page: str) -> None:
    (root / "memory").mkdir(parents=True)
    (root / "bank" / "entities").mkdir(parents=True)
    for day, lines in logs.items():
        log = root / "memory" / f"{day.isoformat()}.md"
        log.write_text("\n".join(["## Retain", "", *lines, ""]), encoding="utf-8")
    if page:
        (root / "bank" / "entities" / "Ana.md").write_bytes(page.encode())


def tree(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*.md")
        if ".memory" not in path.parts
    }


def night(root: Path):
    return reflect(Workspace.open(str(root)), now=NOW, scorer=None, options=Options())


def edit(root: Path, edits) -> dict[str, list[str]]:
    """Do what a person does; the lines of theirs that have to stay, by page."""
    stay: dict[str, list[str]] = {}
    for number, (pick, how) in enumerate(edits):
        places = []
        for path, data in sorted(tree(root).items()):
            lines = data.decode().split("\n")
            for block in read_blocks(split_lines(data.decode()), fenced_lines(split_lines(data.decode()))):
                if block.name != "suggestions":
                    places += [(path, n) for n in range(block.first, block.last - 1) if lines[n].strip()]
        if not places:
            break
        path, at = places[pick % len(places)]
        lines = (root / path).read_bytes().decode().split("\n")
        end = "\r" if lines[at].endswith("\r") else ""
        own = stay.setdefault(path, [])
        if how == "delete":
            gone = lines.pop(at)
            own[:] = [line for line in own if line != gone.strip()]
        elif how == "swap" and at + 1 < len(lines) and (path, at + 1) in places:
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
        else:
            new = {
                "insert": f"- my own line {number}",
                "typed": f"- W @Bram: Keeps bees, {number} hives.",
                "number": re.sub(r"c=0\.\d+", "c=0.33", lines[at].rstrip("\r")),
            }.get(how, lines[at].rstrip("\r") + f" indeed {number}")
            if how in ("insert", "typed"):
                lines.insert(at, new + end)
            else:
                own[:] = [line for line in own if line != lines[at].strip()]
                if new == lines[at].rstrip("\r"):
                    continue
                lines[at] = new + end
            own.append(new.strip())
        (root / path).write_bytes("\n".join(lines).encode())
    return stay


def check_citations(root: Path) -> None:
    """Each line that reflect wrote cites lines that hold what it says."""
    pages = tree(root)
    for path, data in pages.items():
        lines = split_lines(data.decode())
        for block in read_blocks(lines, fenced_lines(lines)):
            if block.name == "suggestions":
                continue
            for number in block.own_lines:
                check_line(pages, path, lines[number - 1])


def check_line(pages: dict[str, bytes], path: str, line: str) -> None:
    for cited, at in re.findall(r"((?:memory|bank)/[^\s,;()]+\.md)#L(\d+)", line):
        if cited == "memory/x.md":
            continue
        assert cited in pages, (path, line)
        target = split_lines(pages[cited].decode())[int(at) - 1]
        facts = [f for f in parse_file(pages[cited].decode(), cited).facts if f.line <= int(at) <= f.end_line]
        said = [f.text for f in facts] or [target]
        words = re.sub(r"\W+", " ", line)
        if line.startswith("- ") and "S 20" not in line:
            assert any(re.sub(r"\W+", " ", text).strip()[:20] in words for text in said) or "c=" in line, (line, said)


@given(LOGS, PAGE, EDITS, LOGS)
@settings(max_examples=40, deadline=None)
def test_a_fixed_point_that_keeps_what_people_wrote(logs, page, edits, more):
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "w"
        write(root, logs, page)
        night(root)
        first = tree(root)
        assert not night(root).pages
        assert tree(root) == first
        check_citations(root)
        stay = edit(root, edits)
        for day, lines in more.items():
            log = root / "memory" / f"{day.isoformat()}.md"
            log.write_text("\n".join(["## Retain", "", *lines, ""]), encoding="utf-8")
        anew = Path(scratch) / "anew"
        shutil.copytree(root, anew, ignore=shutil.ignore_patterns(".memory"))
        night(root)
        night(anew)
        second = tree(root)
        assert tree(anew) == second
        for path, own in stay.items():
            kept = [line.strip() for line in second[path].decode().split("\n")]
            assert [line for line in own if line not in kept] == []
        assert not night(root).pages
        assert tree(root) == second
        check_citations(root)
