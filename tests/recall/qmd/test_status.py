"""What status and doctor tell of QMD."""

from __future__ import annotations

import json
import time
from typing import Any

from jsonschema import Draft202012Validator
from openclaw_memory.bank.files import writer_lock
from openclaw_memory.recall.qmd.home import Work
from openclaw_memory.recall.qmd.status import qmd_status

from .conftest import ROOT, Bench, StandIn, hits


def told(bench: Bench, agent: str = "main") -> dict[str, Any]:
    return qmd_status(bench.workspace, bench.settings, agent=agent, environ=bench.environ)


def test_before_anything(bench: Bench, stand_in: StandIn) -> None:
    stand_in.plan(**{"--version": {"out": "qmd 2.8.3 (facd35e)\n"}})
    status = told(bench)
    assert status["backend"] == "qmd"
    assert (status["binary"], status["version"]) == (str(stand_in.path), "2.8.3 (facd35e)")
    assert [(one["name"], one["ready"]) for one in status["collections"]] == [
        ("memory-root", False),
        ("memory-dir", False),
        ("memory-bank", False),
    ]
    assert (status["lastUpdate"], status["lastFailure"], status["updating"]) == (None, None, False)
    assert status["problem"] == "QMD is not set up yet"


def test_set_up(bench: Bench, stand_in: StandIn) -> None:
    stand_in.plan(**{"--version": {"out": "qmd 2.8.3\n"}})
    bench.set_up(update=Work(time.time() + 2, 1_800_000_000.0), embed=Work(1_800_000_000.0, 0.0, 2, "too slow"))
    status = told(bench)
    assert all(one["ready"] for one in status["collections"])
    assert status["lastUpdate"] == "2027-01-15T08:00:00+00:00"
    assert status["lastEmbed"] is None
    assert status["lastFailure"] == {
        "of": "embed",
        "at": "2027-01-15T08:00:00+00:00",
        "reason": "too slow",
        "failures": 2,
    }
    assert status["problem"] is None
    with writer_lock(bench.home.lock_path, 1):
        assert told(bench)["updating"]


def test_what_is_wrong_is_told_and_never_raised(bench: Bench, stand_in: StandIn) -> None:
    stand_in.plan(**{"--version": {"code": 1, "err": "node: too old\n"}})
    assert told(bench)["problem"] == "`--version` failed with exit code 1: node: too old"
    bench.command = "/no/such/qmd"
    bench.configure()
    status = told(bench)
    assert (status["binary"], status["version"]) == (None, None)
    assert status["problem"] == "/no/such/qmd: no such program"
    assert "no name of an agent" in told(bench, "../x")["problem"]


def test_answers_are_as_their_schemas_say(bench: Bench, stand_in: StandIn) -> None:
    search = Draft202012Validator(json.loads((ROOT / "docs" / "schemas" / "search.json").read_text("utf-8")))
    status = json.loads((ROOT / "docs" / "schemas" / "status.json").read_text("utf-8"))
    stand_in.plan(
        search={"out": hits(("qmd://memory-dir/2025-12-01.md", 3, ""))}, **{"--version": {"out": "qmd 2.8.3\n"}}
    )
    of_qmd = Draft202012Validator(status["properties"]["qmd"])
    of_qmd.validate(told(bench))
    bench.set_up(embed=Work(1.0, 0.0, 1, "too slow"), warnings=("one",))
    of_qmd.validate(told(bench))
    search.validate(bench.search("cargo"))
    search.validate(bench.search("cargo", session_key="agent:main:discord:channel:42"))
    bench.configure(searchMode="vsearch", paths=["../nowhere"])
    bench.set_up()
    stand_in.plan(vsearch={"out": hits(("qmd://memory-dir/2025-12-01.md", 3, ""), ("qmd://memory-dir/gone.md", 3, ""))})
    answer = bench.search("cargo")
    assert answer["stale"]
    assert answer["warning"]
    search.validate(answer)
