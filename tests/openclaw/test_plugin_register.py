"""What the plug-in registers with OpenClaw, and what that answers."""

from __future__ import annotations

import json

import pytest

#: Registered as often as OpenClaw does, with the demo workspace for the agent main.
START = """
const here = (more = {}) => {
  const given = api({ workspaces: { main: workspace, work: `${workspace}/nowhere` }, ...more });
  plugin.register(given);
  return given;
};
const session = { agentId: "main", sessionKey: "agent:main:main", workspaceDir: workspace };
const call = async (given, name, params, context = session) => {
  const answer = await given.registered.tools.get(name)(context).execute("call_1", params);
  const [{ text }] = answer.content;
  if (text !== JSON.stringify(answer.details)) throw new Error("two answers");
  return answer.details;
};
const end = async () => (await load("pool.js")).pool.close();
"""


@pytest.fixture
def openclaw(script):
    return lambda code, **more: script(START + code, **more)


def test_registering_does_nothing_else(openclaw):
    """Several times in one process, and then Node ends by itself: no process, no timer, no file."""
    told = openclaw(
        """
        const modes = ["cli-metadata", "discovery", "tool-discovery", "full", "full"];
        const all = modes.map((registrationMode) => here({ registrationMode }).registered);
        const lasting = /Timeout|Immediate|Process|Server|Socket/;
        const left = process.getActiveResourcesInfo().filter((kind) => lasting.test(kind));
        tell({
          tools: all.map((one) => one.tools.size),
          services: all.map((one) => one.services.length),
          commands: all.map((one) => one.commands[0].options.descriptors[0].name),
          hooks: Object.keys(all[4].hooks),
          left,
        });
        """
    )
    assert told["tools"] == [0, 10, 10, 10, 10]
    assert told["services"] == [0, 1, 1, 1, 1]
    assert told["commands"] == ["memory"] * 5
    assert told["hooks"] == []
    assert told["left"] == []


def test_every_tool_is_directly_visible(openclaw):
    told = openclaw(
        """
        const made = [...here().registered.tools].map(([name, factory]) => [name, factory(session)]);
        const facts = (tool) => [tool.name, tool.catalogMode, tool.parameters.type, tool.getExecutionTimeoutMs({})];
        tell(made.map(([name, tool]) => [name, ...facts(tool)]));
        """
    )
    assert len(told) == 10
    for registered, name, mode, kind, limit in told:
        assert (registered, mode, kind) == (name, "direct-only", "object")
        assert limit > (800_000 if name == "memory_reflect" else 30_000)


@pytest.mark.parametrize(
    ("config", "context", "writing", "reading"),
    [
        ({}, {}, True, True),
        ({}, {"sandboxed": True}, False, True),
        ({"agents": {"defaults": {"sandbox": {"workspaceAccess": "ro"}}}}, {"sandboxed": True}, False, True),
        ({"agents": {"defaults": {"sandbox": {"workspaceAccess": "rw"}}}}, {"sandboxed": True}, True, True),
        ({"agents": {"entries": {"main": {"sandbox": {"workspaceAccess": "rw"}}}}}, {"sandboxed": True}, True, True),
        ({"memory": {"search": {"enabled": False}}}, {}, False, False),
        ({"agents": {"defaults": {"memorySearch": {"enabled": False}}}}, {}, False, False),
        ({"agents": {"entries": {"main": {"memory": {"search": {"enabled": False}}}}}}, {}, False, False),
        ({"agents": {"list": [{"id": "main", "memorySearch": {"enabled": False}}]}}, {}, False, False),
        (
            {
                "memory": {"search": {"enabled": False}},
                "agents": {"entries": {"Main": {"memory": {"search": {"enabled": True}}}}},
            },
            {},
            True,
            True,
        ),
    ],
)
def test_which_tools_are_offered(openclaw, config, context, writing, reading):
    told = openclaw(
        f"""
        const given = here({{ config: {json.dumps(config)} }});
        const context = {{ ...session, ...{json.dumps(context)} }};
        tell([...given.registered.tools].filter(([, factory]) => factory(context)).map(([name]) => name));
        """
    )
    reads = {"memory_search", "memory_get", "memory_recall", "memory_entity", "memory_opinions"}
    writes = {"memory_retain", "memory_reflect", "core_memory_append", "core_memory_replace", "core_memory_insert"}
    assert set(told) == (reads if reading else set()) | (writes if writing else set())


def test_tools_answer_from_the_workspace_and_write_to_it(openclaw, workspace):
    told = openclaw(
        """
        const given = here();
        const day = "2025-12-05";
        const answers = {
          recalled: await call(given, "memory_recall", { query: "How much did the cargo bike cost?", k: 1 }),
          found: await call(given, "memory_search", { query: "cargo bike", maxResults: 1 }),
          read: await call(given, "memory_get", { path: "memory/2025-10-28.md", from: 16, lines: 1 }),
          missing: await call(given, "memory_get", { path: "memory/1999-01-01.md" }),
          entity: await call(given, "memory_entity", { name: "Mara" }),
          opinions: await call(given, "memory_opinions", {}),
          retained: await call(given, "memory_retain", { facts: ["W @Peter: Has moved to Lisbon."], day }),
          refused: await call(given, "memory_retain", { facts: ["no fact"] }),
          wrong: await call(given, "memory_recall", { query: "x", k: 0 }),
        };
        await end();
        tell(answers);
        """
    )
    assert told["recalled"]["results"][0]["source"] == "memory/2025-10-28.md#L16"
    assert told["found"]["results"][0]["path"].startswith("memory/")
    assert "1,350 euros" in told["read"]["text"]
    assert told["missing"]["status"] == "not_found"
    assert told["opinions"]["opinions"]
    assert "@Mara" in json.dumps(told["entity"]) or "Mara" in json.dumps(told["entity"])
    assert "Has moved to Lisbon." in (workspace / "memory" / "2025-12-05.md").read_text("utf-8")
    assert "error" not in told["retained"]
    assert told["refused"]["error"]
    assert "params.k" in told["wrong"]["error"]


def test_what_is_told_where_there_is_no_memory_process(openclaw, tmp_path):
    told = openclaw(
        """
        const given = here();
        tell({
          memory_search: await call(given, "memory_search", { query: "x" }),
          memory_get: await call(given, "memory_get", { path: "MEMORY.md" }),
          memory_recall: await call(given, "memory_recall", {}),
        });
        """,
        OPENCLAW_MEMORY_COMMAND=str(tmp_path / "nothing"),
    )
    error = told["memory_search"].pop("error")
    assert "pip install openclaw-memory" in error
    assert set(told["memory_search"]) == {"results", "disabled", "unavailable", "warning", "action"}
    assert (told["memory_search"]["results"], told["memory_search"]["unavailable"]) == ([], True)
    got = told["memory_get"]
    assert (got["path"], got["text"], got["status"], got["code"]) == ("MEMORY.md", "", "error", "MEMORY_READ_FAILED")
    assert told["memory_recall"]["unavailable"] is True


def test_the_command_of_the_settings_is_used(openclaw, tmp_path):
    told = openclaw(
        """
        const given = here({ pluginConfig: { command: "/nowhere/openclaw-memory" } });
        tell(await call(given, "memory_recall", { query: "x" }));
        """
    )
    assert "plugins.entries.openclaw-memory.config.command: no such program: /nowhere/openclaw-memory" in told["error"]


def test_the_service_keeps_the_process_of_the_default_agent(openclaw):
    told = openclaw(
        """
        const config = { agents: { defaults: { systemAgent: { agentId: "main" } }, entries: { work: {}, main: {} } } };
        const given = here({ config });
        const [service] = given.registered.services;
        await service.start({ config, logger: given.logger });
        // The one that it takes over from is stopped afterwards.
        await here({ config }).registered.services[0].stop();
        const { pool } = await load("pool.js");
        const { readSettings } = await load("settings.js");
        const kept = pool.at({ workspace, agent: "main" }, readSettings());
        const number = await waitFor(() => kept.pid);
        await kept.start();
        await service.stop();
        tell({ number, gone: !pid(number), logged: given.logged });
        """
    )
    assert told["number"]
    assert told["gone"] is True
    assert told["logged"] == []


def test_the_search_manager(openclaw):
    told = openclaw(
        """
        const { runtime } = here().registered.capability;
        const { manager, debug } = await runtime.getMemorySearchManager({ cfg: {}, agentId: "main" });
        const lost = await runtime.getMemorySearchManager({ cfg: {}, agentId: "work" });
        const cfg = { memory: { search: { enabled: false } } };
        const off = await runtime.getMemorySearchManager({ cfg, agentId: "main" });
        const hits = await manager.search("cargo bike", { maxResults: 2, sources: ["memory"] });
        await manager.sync();
        const answer = {
          hits,
          status: manager.status(),
          read: await manager.readFile({ relPath: "memory/2025-10-28.md", from: 16, lines: 1 }),
          refused: await fault(manager.readFile({ relPath: "../secret.md" })),
          probe: await manager.probeEmbeddingAvailability(),
          vector: await manager.probeVectorAvailability(),
          backend: runtime.resolveMemoryBackendConfig({ cfg: {}, agentId: "main" }).backend,
          debug, lost, off,
        };
        await end();
        tell(answer);
        """
    )
    assert len(told["hits"]) == 2
    assert {"path", "startLine", "endLine", "score", "snippet", "source"} <= set(told["hits"][0])
    assert told["status"]["backend"] == told["backend"] == told["debug"]["backend"] == "builtin"
    assert (told["status"]["files"], told["status"]["dirty"]) == (49, False)
    assert "1,350 euros" in told["read"]["text"]
    assert "not allowed" in told["refused"]["message"]
    assert (told["probe"]["ok"], told["vector"]) == (True, True)
    assert told["off"] == {"manager": None, "error": "memory search is switched off"}


# What the model is told


TOOLS = "memory_recall memory_search memory_get memory_retain memory_entity memory_opinions core_memory_append".split()


def test_the_prompt_tells_of_the_tools_that_are_offered_and_of_no_others(openclaw):
    told = openclaw(
        f"""
        const {{ promptBuilder }} = here().registered.capability;
        const build = (tools, citationsMode) => promptBuilder({{ availableTools: new Set(tools), citationsMode }});
        const all = {json.dumps(TOOLS)};
        tell({{
          all: build(all),
          quiet: build(all, "off"),
          none: build(["read", "exec"]),
          each: Object.fromEntries(all.map((name) => [name, build([name])])),
        }});
        """
    )
    assert told["none"] == []
    text = "\n".join(told["all"])
    assert told["all"][0] == "## Memory"
    assert all(name in text for name in TOOLS)
    assert "Source: <path#line>" in text
    assert "Source: <path#line>" not in "\n".join(told["quiet"])
    for name, lines in told["each"].items():
        others = [other for other in TOOLS if other != name and other not in name]
        assert name in "\n".join(lines)
        assert not [other for other in others if f"{other} " in "\n".join(lines)], name


# The turn before a compaction


def plan(openclaw, **given):
    return openclaw(f"tell(here().registered.capability.flushPlanResolver({json.dumps(given)}) ?? 'off');")


def compaction(**flush):
    return {"agents": {"defaults": {"compaction": {"memoryFlush": flush}, "userTimezone": "Asia/Tokyo"}}}


def test_the_plan_of_the_flush(openclaw):
    """The night of 30 November in Greenwich is 1 December in Tokyo."""
    told = plan(openclaw, cfg=compaction(), nowMs=1796081400000, contextWindowTokens=200_000)
    assert (told["softThresholdTokens"], told["reserveTokensFloor"]) == (4000, 20_000)
    assert told["forceFlushTranscriptBytes"] == 2 * 1024 * 1024
    assert told["relativePath"] == "memory/2026-12-01.md"
    for text in (told["prompt"], told["systemPrompt"]):
        assert "memory/2026-12-01.md" in text
        assert "YYYY" not in text
        assert "NO_REPLY" in text
        assert "read-only during this flush" in text
    assert "## Retain" in told["prompt"]
    assert "Current time: Tuesday" in told["prompt"]
    assert "(Asia/Tokyo)" in told["prompt"]


@pytest.mark.parametrize(
    ("window", "reserve", "soft"),
    [(200_000, 20_000, 4000), (32_000, 8000, 4000), (8000, 2000, 3000), (None, 20_000, 4000)],
)
def test_small_windows_shrink_what_is_reserved(openclaw, window, reserve, soft):
    told = plan(openclaw, cfg={}, contextWindowTokens=window)
    assert (told["reserveTokensFloor"], told["softThresholdTokens"]) == (reserve, soft)


def test_what_is_set_is_used(openclaw):
    set_ = {
        "softThresholdTokens": 1000,
        "forceFlushTranscriptBytes": "1.5MB",
        "model": "ollama/x",
        "prompt": "Write YYYY-MM-DD.",
    }
    told = plan(openclaw, cfg=compaction(**set_), nowMs=1796081400000)
    assert (told["softThresholdTokens"], told["forceFlushTranscriptBytes"], told["model"]) == (
        1000,
        1572864,
        "ollama/x",
    )
    assert told["prompt"].startswith("Write 2026-12-01.\n")
    assert "NO_REPLY" in told["prompt"]
    assert plan(openclaw, cfg=compaction(enabled=False)) == "off"


def test_a_wrong_zone_is_the_machines(openclaw):
    told = plan(openclaw, cfg={"agents": {"defaults": {"userTimezone": "Mars/Olympus"}}}, nowMs=1796081400000)
    assert told["relativePath"].startswith("memory/2026-1")


# Who may have written it, and who may see it


def test_origins_of_files(openclaw, workspace):
    (workspace / "MEMORY.md").write_text("core", "utf-8")
    (workspace / "notes.md").write_text("x", "utf-8")
    (workspace.parent / "outside.md").write_text("x", "utf-8")
    (workspace / "DREAMS.md").write_text("x", "utf-8")
    links = (workspace / "memory" / "link.md", workspace / "memory" / "core-link.md")
    links[0].symlink_to(workspace.parent / "outside.md")
    links[1].symlink_to(workspace / "notes.md")
    expected = {
        "MEMORY.md": "agent",
        "USER.md": "agent",
        "memory/2025-10-28.md": "agent",
        "bank/opinions.md": "agent",
        "DREAMS.md": "system",
        "notes.md": "untrusted",
        "../outside.md": "untrusted",
        "memory/link.md": "untrusted",
        "memory/core-link.md": "untrusted",
        "memory/none.md": "untrusted",
    }
    told = openclaw(
        f"""
        const classify = here().registered.capability.runtime.classifyWorkspaceMemoryPaths;
        tell(await classify({{ workspaceDir: workspace, relativePaths: {json.dumps(list(expected))} }}));
        """
    )
    assert {one["relativePath"]: one["originClass"] for one in told} == expected


def test_origins_of_files_that_were_read_elsewhere(openclaw):
    real = {
        "MEMORY.md": "MEMORY.md",
        "USER.md": "users/eve/USER.md",
        "a.md": "../MEMORY.md",
        "b.md": "/MEMORY.md",
        "c.md": "memory\\x.md",
    }
    sources = [{"relativePath": path, "canonicalRelativePath": where} for path, where in real.items()]
    paths = [*real, "gone.md"]
    told = openclaw(
        f"""
        const classify = here().registered.capability.runtime.classifyWorkspaceMemoryPaths;
        const about = {{ workspaceDir: "/elsewhere", relativePaths: {json.dumps(paths)} }};
        tell((await classify({{ ...about, readSources: {json.dumps(sources)} }})).map((one) => one.originClass));
        """
    )
    assert told == ["agent", "agent", "untrusted", "untrusted", "untrusted", "untrusted"]


@pytest.mark.parametrize(
    ("visibility", "requester", "sandboxed", "sees"),
    [
        (None, "agent:main:main", False, True),
        (None, "agent:main:telegram:group:7", False, False),
        ("tree", "agent:main:direct:eve", False, False),
        ("agent", "agent:main:telegram:group:7", False, True),
        ("all", "agent:main:main", False, True),
        ("all", "agent:work:main", False, False),
        ("self", "agent:main:main", False, False),
        ("all", "agent:main:main", True, False),
        ("all", None, False, False),
    ],
)
def test_passages_of_conversations_are_shown_to_whom_they_belong(openclaw, visibility, requester, sandboxed, sees):
    about = {
        "cfg": {"tools": {"sessions": {"visibility": visibility}}} if visibility else {},
        "agentId": "main",
        "requesterSessionKey": requester,
        "sandboxed": sandboxed,
        "hits": [{"source": "memory", "path": "memory/x.md"}, {"source": "sessions", "path": "sessions/x.jsonl"}],
    }
    told = openclaw(f"tell(await here().registered.capability.runtime.authorizeSearchHits({json.dumps(about)}));")
    assert [hit["source"] for hit in told] == ["memory", *(["sessions"] if sees else [])]


# Facts put before a question


def test_nothing_is_put_before_a_question_unless_configured(openclaw):
    told = openclaw(
        """
        const given = here({ pluginConfig: { recallInjection: { enabled: true, budget: 200, timeoutSeconds: 30 } } });
        const { handler, options } = given.registered.hooks.before_prompt_build;
        const context = { ...session, trigger: "user" };
        const ask = (prompt, more = {}) => handler({ prompt, messages: [] }, { ...context, ...more });
        const authority = (allows) => ({ toolAuthority: { allows: () => allows, assertActive() {} } });
        const answers = {
          options,
          known: await ask("How much did the cargo bike cost?", authority(true)),
          denied: await ask("How much did the cargo bike cost?", authority(false)),
          heartbeat: await ask("How much did the cargo bike cost?", { trigger: "heartbeat" }),
          group: await ask("How much did the cargo bike cost?", { sessionKey: "agent:main:telegram:group:7" }),
          empty: await ask("  "),
          unknown: await ask("Which zyzzyva did the quokka's podiatrist endorse?"),
        };
        await end();
        tell({ ...answers, logged: given.logged });
        """
    )
    assert told["options"] == {"requiresToolAuthority": True}
    assert "1,350 euros" in told["known"]["prependContext"]
    assert "(memory/2025-10-28.md#L16)" in told["known"]["prependContext"]
    assert told["known"]["prependContext"].startswith("<relevant-memories>")
    assert not {"denied", "heartbeat", "group", "empty", "unknown"} & set(told)
    assert told["logged"] == []


def test_a_question_goes_on_without_the_memory(openclaw, tmp_path):
    told = openclaw(
        """
        const given = here({ pluginConfig: { recallInjection: { enabled: true } } });
        const { handler } = given.registered.hooks.before_prompt_build;
        const answer = await handler({ prompt: "x" }, { ...session, trigger: "user" });
        tell({ answer: answer ?? null, logged: given.logged });
        """,
        OPENCLAW_MEMORY_COMMAND=str(tmp_path / "nothing"),
    )
    assert told["answer"] is None
    assert len(told["logged"]) == 1
    assert "no facts were put before the question" in told["logged"][0]
