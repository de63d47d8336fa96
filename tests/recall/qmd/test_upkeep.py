"""When QMD is told to update and to embed, by whom, and what becomes of failures."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.bank.errors import Busy
from openclaw_memory.bank.files import writer_lock
from openclaw_memory.recall.qmd.background import start_upkeep
from openclaw_memory.recall.qmd.collections import wanted_collections
from openclaw_memory.recall.qmd.forgetting import forget
from openclaw_memory.recall.qmd.freshness import changed_since
from openclaw_memory.recall.qmd.home import Record, Work, read_record, write_record
from openclaw_memory.recall.qmd.settings import QmdSettings, Upkeep
from openclaw_memory.recall.qmd.upkeep import begin, embed_due, index_now, keep_up, tick, update_due, what_is_due

from .conftest import Bench, StandIn
from .test_process import wait_until

NOW = 1_800_000_000.0


def due(update: Work, seconds: float, **options: Any) -> bool:
    settings = QmdSettings(upkeep=options.pop("upkeep", Upkeep()))
    return update_due(settings, Record(update=update), NOW + seconds, **options)


def test_the_first_time_an_interval_and_a_change() -> None:
    done = Work(NOW, NOW)
    assert due(Work(), 0)
    assert not due(done, 299)
    assert due(done, 300)
    assert due(done, 16, behind=True)
    assert not due(done, 14, behind=True)
    assert due(done, 16, boot=True)
    assert not due(done, 16, boot=True, upkeep=Upkeep(on_boot=False))
    assert not due(done, 1e9, upkeep=Upkeep(interval=0))
    assert due(done, 16, behind=True, upkeep=Upkeep(interval=0))


def test_a_clock_that_was_set_back_is_no_reason_to_wait() -> None:
    assert due(Work(NOW, NOW), -3600)


@given(st.integers(1, 10_000), st.floats(0, 7200))
def test_failures_are_tried_again_later_and_later_but_for_an_hour_at_most(failures: int, seconds: float) -> None:
    failed = Work(NOW, 0.0, failures, "x")
    wait = min(3600.0, 30.0 * 2 ** min(failures - 1, 20))
    assert due(failed, seconds) == (seconds >= wait)


def test_embedding_has_an_interval_of_its_own_and_is_for_vectors_only() -> None:
    settings = QmdSettings(search_mode="query")
    assert embed_due(settings, Record(), NOW)
    assert not embed_due(QmdSettings(), Record(), NOW)
    done = Record(embed=Work(NOW, NOW))
    assert not embed_due(settings, done, NOW + 3599)
    assert embed_due(settings, done, NOW + 3600)
    assert not embed_due(settings._replace(upkeep=Upkeep(embed_interval=0)), Record(), NOW)
    assert not embed_due(settings, Record(embed=Work(NOW, 0, 2, "x")), NOW + 59)
    assert embed_due(settings, Record(embed=Work(NOW, 0, 2, "x")), NOW + 60)


def keep(bench: Bench, **options: Any) -> Record:
    return keep_up(bench.workspace, bench.settings, agent="main", environ=bench.environ, **options)


def test_everything_is_done_once_and_written_down(bench: Bench, stand_in: StandIn) -> None:
    began = time.time()
    record = keep(bench)
    assert stand_in.commands() == ["collection list", *["collection add"] * 3, "update"]
    assert set(record.made) == {"memory-root", "memory-dir", "memory-bank"}
    assert record.update.done >= began
    assert record == read_record(bench.home)
    keep(bench)
    assert len(stand_in.calls) == 5


def test_with_vectors_it_embeds_after_updating(bench: Bench, stand_in: StandIn) -> None:
    bench.configure(searchMode="vsearch")
    assert keep(bench).embed.done
    assert stand_in.commands()[-2:] == ["update", "embed"]
    keep(bench, force=True)
    assert stand_in.commands()[-2:] == ["update", "embed"]
    bench.configure()
    keep(bench, force=True)
    assert stand_in.commands()[-1] == "update"


def test_a_failed_update_is_written_down_and_nothing_is_embedded(bench: Bench, stand_in: StandIn) -> None:
    bench.configure(searchMode="query")
    stand_in.plan(update={"code": 2, "err": "Error: disk full\n"})
    record = keep(bench)
    assert record.update.failures == 1
    assert record.update.reason == "`update` failed with exit code 2: Error: disk full"
    assert record.update.done == 0
    assert len(record.made) == 3
    assert "embed" not in stand_in.commands()
    assert keep(bench, force=True).update.failures == 2
    stand_in.plan()
    assert keep(bench, force=True).update[2:] == (0, "")


def test_embedding_that_hangs_is_ended_and_written_down(bench: Bench, stand_in: StandIn) -> None:
    bench.configure(searchMode="vsearch", update={"embedTimeoutMs": 500})
    stand_in.plan(embed={"sleep": 60, "child": True})
    began = time.monotonic()
    record = keep(bench)
    assert time.monotonic() - began < 10
    assert record.embed.failures == 1
    assert "`embed` was not done within 0.5 s" in record.embed.reason
    assert record.update.failures == 0


def test_no_program_is_a_failure_like_others(bench: Bench) -> None:
    bench.command = "/no/such/qmd"
    bench.configure()
    assert "no such program" in keep(bench).update.reason


def test_one_process_at_a_time(bench: Bench, stand_in: StandIn) -> None:
    with writer_lock(bench.home.lock_path, 1, "updating QMD"), pytest.raises(Busy):
        keep(bench)
    assert stand_in.calls == []


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"version": 1}', '{"version": 1, "made": [], "update": 7}', "\0"]
)
def test_a_record_that_cannot_be_read_is_none(bench: Bench, stand_in: StandIn, text: str) -> None:
    bench.write({"openclaw-memory.json": text}, bench.folder / "state" / "agents" / "main" / "qmd")
    assert read_record(bench.home) == Record()
    assert keep(bench).update.done


def test_a_record_comes_back_as_it_was_written(bench: Bench) -> None:
    record = bench.set_up(embed=Work(1.5, 0.5, 2, "why, 为什么"), warnings=("one", "two"))
    assert read_record(bench.home) == record
    write_record(bench.home, Record())
    assert read_record(bench.home) == Record()


def test_what_changed_is_seen(bench: Bench) -> None:
    bench.write({"node_modules/x.md": "x\n", "other.md": "x\n"})
    bench.configure(paths=[{"path": "."}])
    found = wanted_collections(bench.workspace, bench.settings, bench.home)[0].values()
    long_ago = time.time() - 600

    def settle() -> None:
        for path in [bench.root, *bench.root.rglob("*")]:
            os.utime(path, (long_ago, long_ago))

    moment = time.time() - 60
    changes: list[Callable[[], object]] = [
        lambda: bench.write({"memory/2025-12-02.md": "changed\n"}),
        lambda: bench.write({"memory/deep/er/new.md": "new\n"}),
        lambda: (bench.root / "memory" / "2025-12-01.md").unlink(),
        lambda: bench.write({"MEMORY.md": "changed\n"}),
    ]
    for change in changes:
        settle()
        assert not changed_since(found, moment, time.time())
        change()
        assert changed_since(found, moment, time.time())
    settle()
    (bench.root / "node_modules" / "x.md").write_text("changed\n")
    assert not changed_since(found, moment, time.time())


def test_the_root_of_the_workspace_counts_for_its_core_memory_only(bench: Bench) -> None:
    found = wanted_collections(bench.workspace, bench.settings, bench.home)[0].values()
    for path in [bench.root, *bench.root.rglob("*")]:
        os.utime(path, (time.time() - 600,) * 2)
    bench.write({"unrelated.md": "x\n"})
    assert not changed_since(found, time.time() - 60, time.time())


def test_a_process_of_its_own_does_it(bench: Bench, stand_in: StandIn) -> None:
    environ = {**bench.environ, "OPENCLAW_MEMORY_BACKGROUND": "1"}
    assert start_upkeep(bench.workspace, "main", environ)
    assert wait_until(lambda: bool(read_record(bench.home).update.done), 30)
    assert stand_in.commands()[-1] == "update"


def test_no_process_where_none_is_wanted(bench: Bench) -> None:
    assert not start_upkeep(bench.workspace, "main", bench.environ)


def test_a_long_lived_process_begins_with_an_update(bench: Bench, stand_in: StandIn) -> None:
    bench.configure(update={"waitForBootSync": True})
    assert begin(bench.workspace, bench.settings, agent="main", environ=bench.environ) == ""
    assert stand_in.commands()[-1] == "update"
    stand_in.plan(update={"code": 1, "err": "no luck\n"})
    bench.set_up(update=Work(1.0, 1.0))
    told = begin(bench.workspace, bench.settings, agent="main", environ=bench.environ)
    assert told == "`update` failed with exit code 1: no luck"


def test_a_long_lived_process_does_not_wait_otherwise(bench: Bench, stand_in: StandIn) -> None:
    stand_in.plan(collection_list={"sleep": 3})
    environ = {**bench.environ, "OPENCLAW_MEMORY_BACKGROUND": "1"}
    began = time.monotonic()
    assert begin(bench.workspace, bench.settings, agent="main", environ=environ) == ""
    assert time.monotonic() - began < 1.5
    assert wait_until(lambda: bool(read_record(bench.home).update.done), 30)


def test_a_command_does_everything_and_says_how_it_went(bench: Bench, stand_in: StandIn) -> None:
    def index() -> dict[str, Any]:
        return index_now(bench.workspace, bench.settings, agent="main", environ=bench.environ)

    assert index() == {"collections": 3, "embedded": None, "warnings": [], "problem": None}
    bench.configure(searchMode="query", paths=["../nowhere"])
    told = index()
    assert (told["embedded"], told["problem"]) == (True, None)
    assert "nowhere does not exist" in told["warnings"][0]
    stand_in.plan(embed={"code": 1, "err": "no model\n"})
    told = index()
    assert (told["embedded"], told["problem"]) == (False, "`embed` failed with exit code 1: no model")
    stand_in.plan(update={"code": 1, "err": "no luck\n"})
    assert index()["problem"] == "`update` failed with exit code 1: no luck"


def test_from_time_to_time_what_is_due_is_started(bench: Bench, stand_in: StandIn) -> None:
    environ = {**bench.environ, "OPENCLAW_MEMORY_BACKGROUND": "1"}

    def run() -> bool:
        return tick(bench.workspace, bench.settings, agent="main", environ=environ)

    assert run()
    assert wait_until(lambda: bool(read_record(bench.home).update.done), 30)
    assert not run()


def test_what_is_forgotten(bench: Bench, stand_in: StandIn) -> None:
    bench.configure(sessions={"enabled": True})
    talk = {"type": "message", "message": {"role": "user", "content": "The umbrella is in the lighthouse."}}
    agent = bench.folder / "state" / "agents" / "main"
    bench.write({"sessions/0a1b.jsonl": json.dumps(talk) + "\n"}, agent)
    assert forget(bench.settings, agent="main", environ=bench.environ) == []
    keep(bench)
    ours = {"xdg-cache/qmd/index.sqlite": "x", "xdg-cache/qmd/models/m.gguf": "x", "xdg-config/qmd/index.yml": "x"}
    bench.write(ours, agent / "qmd")
    assert (agent / "qmd" / "sessions" / "0a1b.md").exists()
    assert len(forget(bench.settings, agent="main", environ=bench.environ)) == 2
    left = {path.relative_to(agent / "qmd").as_posix() for path in (agent / "qmd").rglob("*.*") if path.is_file()}
    assert left - {"openclaw-memory.lock", "sessions/.exported.json"} == set(ours) - {"xdg-cache/qmd/index.sqlite"}
    assert read_record(bench.home) == Record()
    assert (agent / "sessions" / "0a1b.jsonl").exists()
    with writer_lock(bench.home.lock_path, 1, "updating QMD"), pytest.raises(Busy):
        forget(bench.settings, agent="main", environ=bench.environ)


def test_a_time_to_come_tells_nothing(bench: Bench) -> None:
    found = wanted_collections(bench.workspace, bench.settings, bench.home)[0].values()
    for path in [bench.root, *bench.root.rglob("*")]:
        os.utime(path, (time.time() + 9000,) * 2)
    assert not changed_since(found, time.time() - 60, time.time())


def test_a_collection_that_cannot_be_made_is_not_tried_with_every_search(bench: Bench, stand_in: StandIn) -> None:
    bench.configure(paths=[{"path": "memory", "name": "again", "pattern": "*.md"}])
    for path in [bench.root, *bench.root.rglob("*")]:
        os.utime(path, (time.time() - 600,) * 2)
    stand_in.plan(collection_add={"code": 1, "err": "disk full\n"})
    record = keep(bench)
    assert record.made == {}
    assert len(record.warnings) == 4
    later = what_is_due(bench.workspace, bench.settings, bench.home, record, time.time() + 20)
    assert not later.behind
    assert not later.update
    bench.configure()
    assert what_is_due(bench.workspace, bench.settings, bench.home, record, time.time() + 20).update
