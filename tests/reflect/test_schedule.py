"""The nightly job in crontab, systemd and launchd: what is written, put back, replaced and taken away."""

from __future__ import annotations

import os
import plistlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.bank.errors import MemoryFault, UsageFault
from openclaw_memory.reflect import schedule
from openclaw_memory.reflect.schedule_cron import Cron, entry, find, with_entry, without_entry
from openclaw_memory.reflect.schedule_job import Job, key_of, make_job
from openclaw_memory.reflect.schedule_launchd import Launchd, property_list
from openclaw_memory.reflect.schedule_systemd import Systemd, quote, service

ODD = ["plain", "with blanks", "it's 100%", 'say "hi"', "Grüße 王芳", "$HOME; rm -rf", "a&b<c>", "#hash", "~tilde"]
KEY = "0123456789ab"


def job_in(folder: Path, name: str, program: Path | None = None) -> Job:
    """A job of a workspace with that name, whose program writes down its words."""
    workspace = folder / name
    workspace.mkdir(parents=True, exist_ok=True)
    job = make_job(str(workspace), "4:05")
    if program is None:
        return job
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text('#!/bin/sh\nprintf "%s\\0" "$@" > "$0.words"\necho done\n', "utf-8")
    program.chmod(0o755)
    return job._replace(command=(str(program), *job.command[1:]))


def as_cron_runs_it(line: str) -> str:
    """The command of a crontab line as the shell gets it: an escaped ``%`` loses its backslash, a bare one ends it."""
    command = line.split(" ", 5)[5]
    return re.split(r"(?<!\\)%", command)[0].replace("\\%", "%")


@pytest.mark.parametrize("name", ODD)
def test_cron_runs_what_was_meant(tmp_path: Path, name: str) -> None:
    job = job_in(tmp_path, name, tmp_path / name / "bin" / "program")
    line = entry(job).splitlines()[1]
    assert line.startswith("5 4 * * * ")
    subprocess.run(["/bin/sh", "-c", as_cron_runs_it(line)], check=True, cwd="/", env={"PATH": "/usr/bin:/bin"})
    words = Path(f"{job.command[0]}.words").read_bytes().split(b"\0")[:-1]
    assert words == [os.fsencode(word) for word in job.command[1:]]
    assert (tmp_path / name / ".memory" / "reflect.log").read_text("utf-8") == "done\n"


def test_cron_does_not_bring_back_a_workspace_that_is_gone(tmp_path: Path) -> None:
    job = job_in(tmp_path, "gone", tmp_path / "program")
    shutil.rmtree(job.workspace)
    ran = subprocess.run(
        ["/bin/sh", "-c", as_cron_runs_it(entry(job).splitlines()[1])], capture_output=True, check=False
    )
    assert ran.returncode != 0
    assert not os.path.exists(job.workspace)


def test_variables_are_carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCLAW_CONFIG_PATH", str(tmp_path / "a 100% 'config'.json"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody-else-may-see-this")
    job = job_in(tmp_path, "w", tmp_path / "program")
    (tmp_path / "program").write_text('#!/bin/sh\nprintf %s "$OPENCLAW_CONFIG_PATH"\n', "utf-8")
    subprocess.run(["/bin/sh", "-c", as_cron_runs_it(entry(job).splitlines()[1])], check=True)
    assert (tmp_path / "w" / ".memory" / "reflect.log").read_text("utf-8") == os.environ["OPENCLAW_CONFIG_PATH"]
    assert "a 100%% 'config'.json" in service(job)
    values = plistlib.loads(property_list(job).encode())
    assert values["EnvironmentVariables"] == {"OPENCLAW_CONFIG_PATH": os.environ["OPENCLAW_CONFIG_PATH"]}
    assert "sk-nobody" not in entry(job) + service(job) + property_list(job)


#: Tables as they may be found, also with blank lines, no final line end, and bytes that are no text.
TABLES = st.lists(
    st.sampled_from(
        [
            b"# mine",
            b"",
            b"0 4 * * * echo a\\%b",
            b"MAILTO=me",
            b"\xff\xfe",
            b"\t",
            b"# openclaw-memory reflect ba9876543210",
        ]
    ),
    max_size=6,
).map(b"\n".join)


@given(TABLES, st.booleans())
def test_every_other_byte_of_the_table_stays(table: bytes, ended: bool) -> None:
    table += b"\n" if ended and table else b""
    job = Job("/w", KEY, ("/bin/true", "memory", "reflect"), (), 3, 30)
    once = with_entry(table, KEY, entry(job))
    assert once.startswith(table)
    assert with_entry(once, KEY, entry(job)) == once
    back = without_entry(once, KEY)
    assert back == table + (b"" if not table or table.endswith(b"\n") else b"\n")
    assert without_entry(back, KEY) == back
    later = with_entry(once + b"# after\n", KEY, entry(job._replace(hour=5)))
    assert later.endswith(b"# after\n")
    assert later.count(f"openclaw-memory reflect {KEY}".encode()) == 2
    block = find(later, KEY)
    assert block is not None
    assert block.line.startswith(b"30 5 * * * ")


@pytest.mark.parametrize(
    "table",
    [
        f"# openclaw-memory reflect {KEY}\n0 0 * * * a\n",
        f"0 0 * * * a\n# /openclaw-memory reflect {KEY}\n",
        f"# openclaw-memory reflect {KEY}\n0 0 * * * a\n0 0 * * * mine\n# /openclaw-memory reflect {KEY}\n",
        f"# /openclaw-memory reflect {KEY}\n0 0 * * * a\n# openclaw-memory reflect {KEY}\n",
        f"# openclaw-memory reflect {KEY}\na\n# /openclaw-memory reflect {KEY}\n" * 2,
    ],
)
def test_damaged_marks_are_left_alone(table: str) -> None:
    for change in (lambda: with_entry(table.encode(), KEY, "x"), lambda: without_entry(table.encode(), KEY)):
        with pytest.raises(MemoryFault, match=r"do not hold one line \(crontab:\d+\); take the lines .* out with"):
            change()


def test_cron_side_by_side(tools, tmp_path: Path) -> None:
    tools.add("crontab")
    cron = Cron()
    one, two = job_in(tmp_path, "one"), job_in(tmp_path, "two")
    assert cron.installed(one.key) is None
    tools.crontab = b'MAILTO=""\n\n0 1 * * * backup\n'
    mine = tools.crontab
    assert cron.install(one) == []
    assert cron.install(two) == []
    both = tools.crontab
    cron.install(one)
    assert tools.crontab == both
    cron.install(one._replace(hour=22, minute=0))
    found = cron.installed(one.key)
    assert found is not None
    assert (found.at, found.text) == ("22:00", cron.text(one._replace(hour=22, minute=0)))
    other = cron.installed(two.key)
    assert other is not None
    assert other.at == "04:05"
    cron.remove(one.key)
    assert cron.installed(one.key) is None
    assert cron.installed(two.key) == other
    cron.remove(two.key)
    assert tools.crontab == mine


def test_a_crontab_that_cannot_be_read_is_not_taken_for_an_empty_one(tools, tmp_path: Path) -> None:
    (tools.folder / "crontab").write_text(
        '#!/bin/sh\necho "crontab: can\'t open your table: Permission denied" >&2; exit 1\n'
    )
    (tools.folder / "crontab").chmod(0o755)
    with pytest.raises(MemoryFault, match=r"the crontab cannot be read: crontab says .*Permission denied"):
        Cron().install(job_in(tmp_path, "w"))


def test_a_line_that_somebody_changed(tools, tmp_path: Path) -> None:
    tools.add("crontab")
    job = job_in(tmp_path, "w")
    Cron().install(job)
    tools.crontab = tools.crontab.replace(b"5 4 * * *", b"*/5 * * * 1")
    found = Cron().installed(job.key)
    assert found is not None
    assert found.at == ""


def test_what_cron_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(MemoryFault, match="backslash"):
        entry(job_in(tmp_path, "back\\slash"))
    with pytest.raises(MemoryFault, match="too long for cron"):
        entry(job_in(tmp_path, "/".join("n" * 200 for _ in range(4))))
    with pytest.raises(MemoryFault, match="control character"):
        job_in(tmp_path, "two\nlines")


@pytest.mark.parametrize("at", ["", "24:00", "3", "3:60", "noon", "03:30:00", "-1:00"])
def test_no_time(tmp_path: Path, at: str) -> None:
    with pytest.raises(UsageFault, match="not a time of day"):
        make_job(str(tmp_path), at)


def as_systemd_reads_it(line: str) -> list[str]:
    """The words of a command line by the rules of systemd.service(5): quotes, C escapes, specifiers, variables."""
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
    assert " ".join(f'"{word}"' for word in words) == line
    read = [re.sub(r"\\(.)", r"\1", word).replace("%%", "%") for word in words]
    return [read[0], *(word.replace("$$", "$") for word in read[1:])]


@pytest.mark.parametrize("name", [*ODD, "back\\slash"])
def test_systemd_reads_what_was_meant(tmp_path: Path, name: str) -> None:
    job = job_in(tmp_path, name)
    line = next(one for one in service(job).splitlines() if one.startswith("ExecStart="))
    assert as_systemd_reads_it(line.removeprefix("ExecStart=")) == list(job.command)
    assert not any(one.endswith("\\") for one in service(job).splitlines())


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
@pytest.mark.parametrize("name", [*ODD, "back\\slash"])
def test_systemd_takes_the_units(tools, tmp_path: Path, name: str) -> None:
    """By systemd itself: it knows every key, and finds the program."""
    job = job_in(tmp_path, name, tmp_path / "programs" / name / "run it")
    Systemd().install(job)
    units = sorted((tools.home / ".config" / "systemd" / "user").glob("*.*"))
    assert [unit.suffix for unit in units] == [".service", ".timer"]
    words = ["systemd-analyze", "--user", "verify", *map(str, units)]
    checked = subprocess.run(
        words, capture_output=True, text=True, check=False, env=os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)}
    )
    about = [line for line in checked.stderr.splitlines() if "openclaw-memory" in line]
    assert (checked.returncode, about) == (0, [])


def test_systemd_refuses_what_it_cannot_start(tmp_path: Path) -> None:
    with pytest.raises(MemoryFault, match="cannot start a program"):
        service(job_in(tmp_path, "w", tmp_path / "a$b=c"))
    assert f'ExecStart=/usr/bin/env "{tmp_path}/a$$b" "memory"' in service(job_in(tmp_path, "w", tmp_path / "a$b"))
    name = os.fsdecode(b"w\xff")
    with pytest.raises(MemoryFault, match="not UTF-8"):
        Systemd().text(job_in(tmp_path, name))
    with pytest.raises(MemoryFault, match="not UTF-8"):
        Launchd().text(job_in(tmp_path, name))
    assert os.fsencode(name) in os.fsencode(entry(job_in(tmp_path, name)))


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_quoting_for_systemd(word: str) -> None:
    assert as_systemd_reads_it(f'"x" {quote(word).replace("$", "$$")}')[1] == word


def test_systemd_side_by_side(tools, tmp_path: Path) -> None:
    tools.add("systemctl")
    systemd = Systemd()
    one, two = job_in(tmp_path, "one"), job_in(tmp_path, "two")
    assert systemd.installed(one.key) is None
    assert (systemd.install(one), systemd.install(two)) == ([], [])
    found = systemd.installed(one.key)
    assert found is not None
    assert (found.at, found.next) == ("04:05", "Sat 2025-12-06 03:30:00 UTC")
    assert found.text == systemd.text(one)
    assert "\nPersistent=true\n" in found.text
    before = {path: os.stat(path).st_mtime_ns for path in found.where}
    assert systemd.install(one) == []
    assert {path: os.stat(path).st_mtime_ns for path in found.where} == before
    systemd.install(one._replace(hour=23))
    moved = systemd.installed(one.key)
    assert moved is not None
    assert moved.at == "23:05"
    assert systemd.remove(one.key) == []
    assert systemd.installed(one.key) is None
    folder = tools.home / ".config" / "systemd" / "user"
    assert {path.name for path in folder.rglob("*") if one.key in path.name} == set()
    assert {path.name for path in folder.rglob("*.timer")} == {f"openclaw-memory-reflect-{two.key}.timer"}
    assert (tools.store / "systemctl.log").read_text().count("daemon-reload") == 5


def test_systemd_that_does_not_answer(tools, tmp_path: Path) -> None:
    """The files are written all the same; what is left to do is told as a command."""
    tools.add("systemctl")
    (tools.store / "no-bus").touch()
    job = job_in(tmp_path, "w")
    (told,) = Systemd().install(job)
    assert told.startswith("systemctl says Failed to connect to bus: No medium found; when it can, run `systemctl")
    (tools.store / "no-bus").unlink()
    command = told.split("`")[1]
    subprocess.run(["/bin/sh", "-c", command], check=True)
    found = Systemd().installed(job.key)
    assert found is not None
    assert found.next
    (tools.store / "no-bus").touch()
    assert "No medium" in Systemd().remove(job.key)[0]
    assert Systemd().installed(job.key) is None
    assert not any((tools.home / ".config" / "systemd" / "user" / "timers.target.wants").iterdir())


@pytest.mark.parametrize("name", [*ODD, "back\\slash", "]]> <!-- --"])
def test_launchd_reads_what_was_meant(tmp_path: Path, name: str) -> None:
    job = job_in(tmp_path, name)
    values = plistlib.loads(property_list(job).encode("utf-8"))
    assert values["ProgramArguments"] == list(job.command)
    assert values["StartCalendarInterval"] == {"Hour": 4, "Minute": 5}


@pytest.mark.skipif(shutil.which("plutil") is None, reason="needs plutil")
def test_plutil_takes_the_list(tmp_path: Path) -> None:
    path = tmp_path / "job.plist"
    path.write_text(property_list(job_in(tmp_path, 'a&b <"c">')), "utf-8")
    subprocess.run(["plutil", "-lint", str(path)], check=True)


def test_launchd_side_by_side(tools, tmp_path: Path) -> None:
    tools.add("launchctl")
    launchd = Launchd()
    one, two = job_in(tmp_path, "one"), job_in(tmp_path, "two")
    assert (launchd.install(one), launchd.install(two), launchd.install(one)) == ([], [], [])
    launchd.install(one._replace(hour=23))
    loaded = tools.store / f"openclaw-memory.reflect.{one.key}.loaded"
    assert plistlib.loads(loaded.read_bytes())["StartCalendarInterval"] == {"Hour": 23, "Minute": 5}
    found = launchd.installed(one.key)
    assert found is not None
    assert found.at == "23:05"
    assert launchd.remove(one.key) == []
    assert not loaded.exists()
    assert launchd.installed(one.key) is None
    assert launchd.installed(two.key) is not None
    Path(launchd.installed(two.key).where[0]).write_text("no list at all", "utf-8")  # type: ignore[union-attr]
    changed = launchd.installed(two.key)
    assert changed is not None
    assert changed.at == ""


def test_the_scheduler_is_chosen(tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_in(tmp_path, "w")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("PATH", f"{tools.folder}:/bin" if not os.path.exists("/bin/systemctl") else str(tools.folder))
    with pytest.raises(MemoryFault, match=r"no scheduler was found .*; have this run every night: .*memory reflect"):
        schedule.choose("auto", job)
    monkeypatch.setenv("PATH", f"{tools.folder}:/usr/bin:/bin")
    tools.add("systemctl")
    tools.add("crontab")
    assert schedule.choose("auto", job).name == "systemd"
    assert schedule.choose("cron", job).name == "cron"
    (tools.store / "no-bus").touch()
    assert schedule.choose("auto", job).name == "cron"
    (tools.store / "no-bus").unlink()
    Cron().install(job)
    assert schedule.choose("auto", job).name == "cron"
    with pytest.raises(UsageFault, match="no such scheduler"):
        schedule.choose("at", job)


def test_a_workspace_has_one_key_however_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "link").symlink_to("w")
    assert key_of(str(tmp_path / "link")) == key_of(f"{tmp_path}/./w/") == make_job(str(tmp_path / "w")).key
    assert re.fullmatch("[0-9a-f]{12}", key_of(str(tmp_path)))
