"""Running a program in QMD's place: found or not, in its home, within its time."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from openclaw_memory.bank.errors import MemoryFault, UsageFault
from openclaw_memory.recall.qmd.home import home_of
from openclaw_memory.recall.qmd.process import Qmd, QmdUnavailable, find_qmd

from .conftest import Bench, StandIn


@pytest.fixture
def qmd(bench: Bench) -> Qmd:
    return find_qmd(bench.command, bench.home, bench.environ)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return not Path("/proc/self").exists()
    return state not in "ZX"


def wait_until(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def test_it_runs_in_the_home_of_the_agent(qmd: Qmd, stand_in: StandIn, bench: Bench) -> None:
    stand_in.plan(search={"out": "[]\n", "err": "a warning\n"})
    elsewhere = {"QMD_CONFIG_DIR": "/x", "INDEX_PATH": "/y", "XDG_CONFIG_HOME": "/z", "PWD": "/w"}
    ended = qmd._replace(environ={**bench.environ, **elsewhere}).run(["search", "-n", "3", "--", "-x"], 10)
    assert ended == (0, "[]\n", "a warning\n")
    home = bench.home.folder
    assert home == str(bench.folder / "state" / "agents" / "main" / "qmd")
    assert stand_in.calls == [
        {
            "words": ["search", "-n", "3", "--", "-x"],
            "cwd": home,
            "env": {
                "XDG_CONFIG_HOME": os.path.join(home, "xdg-config"),
                "XDG_CACHE_HOME": os.path.join(home, "xdg-cache"),
                "QMD_CONFIG_DIR": None,
                "INDEX_PATH": None,
                "PWD": home,
            },
        }
    ]
    assert stat.S_IMODE(os.stat(home).st_mode) == 0o700


def test_an_index_of_a_project_above_is_not_used(qmd: Qmd, stand_in: StandIn, bench: Bench) -> None:
    bench.write({".qmd/index.yml": "collections: {}\n"}, bench.folder)
    qmd.run(["update"], 10)
    assert stand_in.calls[0]["words"] == ["--index", "index", "update"]


def test_the_command_may_be_a_name_a_path_or_several_words(bench: Bench, stand_in: StandIn) -> None:
    home, environ = bench.home, {**bench.environ, "HOME": str(stand_in.folder), "PATH": str(stand_in.folder)}
    script = str(stand_in.path)
    assert find_qmd("qmd", home, environ).words == (script,)
    assert find_qmd("~/qmd", home, environ).words == (script,)
    assert find_qmd(f"{sys.executable} ~/qmd --index x", home, environ).words[1:] == (script, "--index", "x")
    blank = stand_in.folder / "my own qmd"
    blank.write_bytes(stand_in.path.read_bytes())
    blank.chmod(0o755)
    assert find_qmd(str(blank), home, environ).words == (str(blank),)
    assert find_qmd(f"'{blank}' -v", home, environ).words == (str(blank), "-v")


@pytest.mark.parametrize("command", ["nothing-of-that-name", "/no/such/file", "'open", "", "   "])
def test_no_such_program(bench: Bench, command: str) -> None:
    with pytest.raises(QmdUnavailable) as caught:
        find_qmd(command, bench.home, bench.environ)
    assert caught.value.reason
    assert "\n" not in str(caught.value)
    assert "memory.qmd.command" in str(caught.value)


def test_a_file_that_cannot_be_started(bench: Bench, stand_in: StandIn) -> None:
    stand_in.path.write_text("#!/no/such/interpreter\n")
    qmd = find_qmd(bench.command, bench.home, bench.environ)
    with pytest.raises(QmdUnavailable, match="cannot be started"):
        qmd.run(["update"], 10)


def test_how_it_failed_is_told_in_a_line(qmd: Qmd, stand_in: StandIn) -> None:
    stand_in.plan(update={"code": 3, "err": "\nwarming up\nError: database is\tlocked\nat line 3\n"})
    assert qmd.run(["update"], 10).why == "exit code 3: Error: database is locked"
    stand_in.plan(update={"code": 1, "out": "no luck\n"})
    assert qmd.run(["update"], 10).why == "exit code 1: no luck"
    stand_in.plan(update={"code": 1})
    assert qmd.run(["update"], 10).why == "exit code 1"


def test_at_the_time_out_the_whole_group_is_ended(qmd: Qmd, stand_in: StandIn) -> None:
    stand_in.plan(query={"child": True, "sleep": 60})
    began = time.monotonic()
    with pytest.raises(QmdUnavailable, match=r"`query` was not done within 1 s"):
        qmd.run(["query", "x"], 1, 1000)
    assert time.monotonic() - began < 5
    child = int((stand_in.folder / "child.pid").read_text())
    assert wait_until(lambda: not is_alive(child))


def test_a_child_that_is_left_behind_holds_nothing_up(qmd: Qmd, stand_in: StandIn) -> None:
    stand_in.plan(search={"child": True, "out": "[]"})
    began = time.monotonic()
    assert qmd.run(["search", "x"], 30, 1000).output == "[]"
    assert time.monotonic() - began < 10
    child = int((stand_in.folder / "child.pid").read_text())
    assert wait_until(lambda: not is_alive(child))


def test_an_answer_without_end_is_cut_off(qmd: Qmd, stand_in: StandIn) -> None:
    stand_in.plan(search={"out": "x" * 1000, "times": 1000, "sleep": 60})
    began = time.monotonic()
    with pytest.raises(QmdUnavailable, match="said more than 10000 bytes"):
        qmd.run(["search", "x"], 30, 10_000)
    assert time.monotonic() - began < 10


def test_what_is_told_of_work_is_dropped_where_it_is_too_much(qmd: Qmd, stand_in: StandIn) -> None:
    stand_in.plan(update={"out": "x" * 1000, "times": 1000, "err": "y" * 200_000})
    ended = qmd.run(["update"], 30)
    assert ended.code == 0
    assert len(ended.output) == len(ended.complaint) == 64 * 1024


def test_a_home_that_cannot_be_made(bench: Bench, qmd: Qmd) -> None:
    bench.write({"state/agents": "a file\n"}, bench.folder)
    with pytest.raises(MemoryFault, match="cannot make QMD's folder"):
        qmd.run(["update"], 10)


@pytest.mark.parametrize("agent", ["../main", "a/b", "", ".."])
def test_an_agent_that_leads_elsewhere(bench: Bench, agent: str) -> None:
    with pytest.raises(UsageFault):
        home_of(agent, bench.environ)
