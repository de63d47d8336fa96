"""The long-lived process: the bridge against the real ``openclaw-memory serve``, its deaths, delays and its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

START = """
const { MemoryProcess } = await load("process.js");
const { findCommand } = await load("command.js");
const logged = [];
const options = { workspace, agent: "main", log: { warn: (line) => logged.push(line) } };
const make = (more = {}) => new MemoryProcess(() => findCommand().argv, { ...options, ...more });
const memory = make();
const ask = (method, params = {}, limits = {}) => memory.request(method, params, { timeout: 30_000, ...limits });
"""
QUESTION = "How much did the cargo bike cost?"
needs_signals = pytest.mark.skipif(os.name == "nt", reason="signals of Unix")


@pytest.fixture
def bridge(script):
    return lambda code, **more: script(START + code, **more)


def command(environment, workspace, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "openclaw_memory", *arguments, "--workspace", str(workspace), "--json"],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=True,
    )
    return json.loads(done.stdout)


def test_it_says_who_it_is_and_answers_as_the_command_does(bridge, environment, workspace):
    told = bridge(
        f"""
        const ready = await memory.start();
        const answer = await ask("memory_recall", {{ query: {json.dumps(QUESTION)}, k: 2, entity: undefined }});
        const status = await ask("status");
        await memory.close();
        tell({{ ready, answer, status }});
        """
    )
    assert told["ready"]["workspace"] == str(workspace)
    assert told["ready"]["agent"] == "main"
    assert told["answer"] == command(environment, workspace, "recall", QUESTION, "--k", "2")
    assert told["answer"]["results"][0]["source"] == "memory/2025-10-28.md#L16"
    assert [told["status"]] == command(environment, workspace, "status")


def test_many_at_a_time_and_line_ends_of_unicode(bridge):
    queries = [f"cargo\u2028bike\u2029 {number} 🚲 \x85" for number in range(12)]
    told = bridge(
        f"""
        const all = {json.dumps(queries)}.map((query) => ask("memory_recall", {{ query, k: 1 }}));
        tell((await Promise.all(all)).map((answer) => answer.query));
        await memory.close();
        """
    )
    assert told == queries


def test_a_fault_of_the_memory_is_told_as_one(bridge):
    wrong, unknown = bridge(
        """
        const wrong = await fault(ask("memory_recall", { query: "x", k: 0 }));
        const unknown = await fault(ask("memory_nothing"));
        tell([wrong, unknown]);
        await memory.close();
        """
    )
    assert (wrong["kind"], wrong["code"], wrong["data"]["exitCode"]) == ("MemoryFault", -32602, 2)
    assert "params.k" in wrong["message"]
    assert (unknown["kind"], unknown["code"]) == ("MemoryFault", -32601)


@needs_signals
def test_it_is_started_again_after_it_was_killed(bridge):
    told = bridge(
        """
        await memory.start();
        const first = memory.pid;
        process.kill(first, "SIGKILL");
        await waitFor(() => !pid(first));
        const answer = await ask("memory_recall", { query: "cargo bike", k: 1 });
        tell({ first, second: memory.pid, found: answer.results.length });
        await memory.close();
        """
    )
    assert told["second"] != told["first"]
    assert told["found"] == 1


@needs_signals
def test_a_read_that_is_cut_short_is_asked_again_and_a_write_is_not(bridge, workspace):
    told = bridge(
        """
        await memory.start();
        const first = memory.pid;
        process.kill(first, "SIGSTOP");
        const read = ask("memory_recall", { query: "cargo bike", k: 1 });
        const write = fault(ask("memory_retain", { facts: ["W @Peter: Has moved to Lisbon."], day: "2025-12-05" }));
        await new Promise((go) => setTimeout(go, 200));
        process.kill(first, "SIGKILL");
        tell({ read: (await read).results.length, write: await write });
        await memory.close();
        """
    )
    assert told["read"] == 1
    assert told["write"]["kind"] == "Unavailable"
    assert "has ended while working" in told["write"]["message"]
    assert "Lisbon" not in (workspace / "memory" / "2025-12-05.md").read_text("utf-8")


@needs_signals
def test_a_process_that_is_kept_comes_back_without_being_asked(bridge):
    told = bridge(
        """
        await memory.keep();
        const first = memory.pid;
        process.kill(first, "SIGKILL");
        const second = await waitFor(() => memory.pid !== first && memory.pid);
        tell({ first, second, logged });
        await memory.close();
        """
    )
    assert told["second"]
    assert told["second"] != told["first"]
    assert any("it is started again" in line for line in told["logged"])


@needs_signals
def test_a_late_answer_is_not_waited_for_and_does_no_harm(bridge):
    told = bridge(
        """
        await memory.start();
        const first = memory.pid;
        process.kill(first, "SIGSTOP");
        const started = Date.now();
        const late = await fault(ask("memory_recall", { query: "cargo bike" }, { timeout: 300 }));
        const waited = Date.now() - started;
        process.kill(first, "SIGCONT");
        const answer = await ask("memory_recall", { query: "heron", k: 1 });
        tell({ late, waited, query: answer.query, same: memory.pid === first });
        await memory.close();
        """
    )
    assert told["late"]["kind"] == "Unavailable"
    assert "did not answer memory_recall within 0.3 s" in told["late"]["message"]
    assert 250 <= told["waited"] < 3000
    assert (told["query"], told["same"]) == ("heron", True)


@needs_signals
def test_one_that_hangs_is_replaced(bridge):
    told = bridge(
        """
        const hung = make({ stuck: 200 });
        await hung.start();
        const first = hung.pid;
        process.kill(first, "SIGSTOP");
        const late = await fault(hung.request("status", {}, { timeout: 400 }));
        const answer = await hung.request("memory_recall", { query: "heron", k: 1 }, { timeout: 30_000 });
        const gone = await waitFor(() => !pid(first));
        tell({ late, query: answer.query, other: hung.pid !== first, gone });
        await hung.close();
        """
    )
    assert told["late"]["kind"] == "Unavailable"
    assert (told["query"], told["other"], told["gone"]) == ("heron", True, True)


def test_an_abort_is_passed_on(bridge):
    told = bridge(
        """
        await memory.start();
        const stop = new AbortController();
        const asked = fault(ask("memory_recall", { query: "cargo bike" }, { signal: stop.signal }));
        stop.abort(new Error("the turn was stopped"));
        const already = await fault(ask("status", {}, { signal: stop.signal }));
        tell([(await asked).message, already.message]);
        await memory.close();
        """
    )
    assert told == ["the turn was stopped"] * 2


def test_no_start_is_tried_again_and_again(bridge):
    """At once after the first failure, then not before some time has passed."""
    told = bridge(
        f"""
        let starts = 0;
        const words = [{json.dumps(sys.executable)}, "-c", "import sys; sys.exit('the disk is on fire')"];
        const broken = new MemoryProcess(() => {{ starts += 1; return words; }}, options);
        const once = () => fault(broken.request("status", {{}}, {{ timeout: 9000 }}));
        const faults = [];
        for (let i = 0; i < 6; i += 1) faults.push((await once()).message);
        tell({{ faults, starts }});
        """
    )
    assert told["starts"] == 2
    assert told["faults"][0] == "the memory process does not start: the disk is on fire"
    assert told["faults"][5] == "the memory process does not start: the disk is on fire; trying again in 1 s"


def test_no_workspace_is_one_line(bridge, workspace):
    told = bridge(
        """
        const lost = make({ workspace: `${workspace}/nowhere` });
        tell(await fault(lost.request("memory_recall", { query: "x" }, { timeout: 9000 })));
        await lost.close();
        """
    )
    assert told["kind"] in ("Unavailable", "MemoryFault")
    assert "nowhere" in told["message"]
    assert "\n" not in told["message"]


def test_a_missing_command_is_one_line_with_the_remedy(script, tmp_path):
    told = script(
        START + 'tell([await fault(ask("status")), await fault(ask("status"))]);',
        OPENCLAW_MEMORY_COMMAND=str(tmp_path / "nothing"),
    )
    for fault in told:
        assert fault["kind"] == "Unavailable"
        assert "no such program" in fault["message"]
        assert "pip install openclaw-memory" in fault["message"]
        assert "\n" not in fault["message"]


def test_idle_ends_it_and_the_next_question_starts_it(bridge):
    told = bridge(
        """
        const short = make({ idle: 150 });
        await short.request("status", {}, { timeout: 30_000 });
        const first = short.pid;
        const gone = await waitFor(() => !pid(first));
        await short.request("status", {}, { timeout: 30_000 });
        tell({ gone, other: short.pid !== first });
        await short.close();
        """
    )
    assert told == {"gone": True, "other": True}


def test_close_ends_it_and_refuses_what_comes_later(bridge):
    told = bridge(
        """
        await ask("status");
        const first = memory.pid;
        await memory.close();
        tell({ gone: !pid(first), later: await fault(ask("status")) });
        """
    )
    assert told["gone"] is True
    assert told["later"] == {"kind": "Unavailable", "message": "the memory was shut down"}


def test_node_ends_though_it_runs_and_takes_it_along(bridge):
    """Nothing is closed here: a one-shot command of OpenClaw just ends."""
    number = bridge('await ask("status"); tell(memory.pid);', timeout=30)
    assert gone(number)


@needs_signals
def test_it_ends_when_node_is_killed(bridge):
    number = bridge(
        'await ask("status"); tell(memory.pid); setTimeout(() => process.kill(process.pid, "SIGKILL"), 100);',
        ends=-signal.SIGKILL,
    )
    assert gone(number)


def test_each_agent_and_workspace_has_its_own(script, tmp_path):
    told = script(
        """
        const { pool } = await load("pool.js");
        const { readSettings } = await load("settings.js");
        const at = (agent) => pool.at({ workspace, agent }, readSettings());
        const pids = [];
        for (const agent of ["main", "work", "main"]) {
          const ready = await at(agent).start();
          pids.push([at(agent).pid, ready.agent]);
        }
        await pool.close("work");
        const after = [pid(pids[0][0]), pid(pids[1][0])];
        await pool.close();
        tell({ pids, after, end: pid(pids[0][0]) });
        """
    )
    (first, _), (second, _), (third, _) = told["pids"]
    assert first == third != second
    assert [agent for _, agent in told["pids"]] == ["main", "work", "main"]
    assert told["after"] == [True, False]
    assert told["end"] is False


def test_copies_of_the_modules_share_the_processes(script):
    """OpenClaw loads the plug-in several times, each time as another copy."""
    same, pids = script(
        """
        const { pool } = await load("pool.js");
        const other = (await load("pool.js?copy")).pool;
        const { readSettings } = await load("settings.js");
        const pids = [];
        for (const one of [pool, other]) {
          await one.at({ workspace, agent: "main" }, readSettings()).start();
          pids.push(one.at({ workspace, agent: "main" }, readSettings()).pid);
        }
        await other.close();
        tell([pool === other, pids]);
        """
    )
    assert same is True
    assert pids[0] == pids[1]


def gone(number: int) -> bool:
    for _ in range(100):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        time.sleep(0.1)
    os.kill(number, signal.SIGKILL)
    return False
