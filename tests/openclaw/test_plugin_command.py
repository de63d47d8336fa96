"""The forwarded command line: which words, which command, which workspace, and its streams and exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import PLUGIN

#: Behind a real Commander stands the same function; this one gets the words as they would come.
FORWARD = f"""
import {{ findCommand }} from {json.dumps((PLUGIN / "command.js").as_uri())};
import {{ environment, run, wordsBehind }} from {json.dumps((PLUGIN / "cli.js").as_uri())};
const api = {{ runtime: {{ agent: {{ resolveAgentWorkspaceDir: (config, agent) => config.workspaces[agent] }} }} }};
const config = JSON.parse(process.env.TEST_CONFIG);
const words = wordsBehind(process.argv);
process.exitCode = await run([...findCommand(undefined).argv, ...words], environment(api, config, words));
"""


@pytest.fixture
def forward(node, environment, tmp_path, workspace):
    """``forward("memory", "recall", "…")``: what comes of it, with the demo workspace as that of the agent ``main``."""
    (tmp_path / "openclaw.mjs").write_text(FORWARD, "utf-8")
    told = {"workspaces": {"main": str(workspace), "work": str(tmp_path / "work")}}

    def call(*words, stdin=b"", **variables):
        return subprocess.run(
            [node, str(tmp_path / "openclaw.mjs"), *words],
            input=stdin,
            capture_output=True,
            env=environment | {"TEST_CONFIG": json.dumps(told)} | variables,
            cwd=tmp_path,
            timeout=60,
        )

    return call


def direct(environment, cwd, *words):
    return subprocess.run(
        [sys.executable, "-m", "openclaw_memory", *words], capture_output=True, env=environment, cwd=cwd, timeout=60
    )


@pytest.mark.parametrize(
    "words",
    [
        ["recall", "How much did the cargo bike cost?", "--k", "2"],
        ["recall", "王芳的猫叫什么？", "--json"],
        ["search", "--query", "ZX-4417", "--max-results", "1", "--json"],
        ["get", "memory/2025-11-13.md#L16"],
        ["get", "../secret.md"],
        ["entity", "nobody at all"],
        ["--help"],
        ["recall", "-h"],
        ["nonsense"],
        ["recall", "x", "--k", "many"],
        [],
    ],
    ids=" ".join,
)
def test_it_is_the_same_command(forward, environment, tmp_path, workspace, words):
    forwarded = forward("memory", *words)
    plain = direct(environment | {"OPENCLAW_WORKSPACE": str(workspace)}, tmp_path, *words)
    assert forwarded.returncode == plain.returncode
    assert forwarded.stdout == plain.stdout
    assert forwarded.stderr == plain.stderr


def test_exit_codes_are_all_kinds(forward):
    codes = [forward("memory", *words).returncode for words in (["status"], ["get", "../x.md"], ["nonsense"])]
    assert codes == [0, 1, 2]


def test_what_stands_behind_two_dashes_is_kept(forward, workspace):
    done = forward("memory", "retain", "--", "- W @Peter: Has moved to Lisbon.")
    assert done.returncode == 0, done.stderr
    logs = "".join(path.read_text("utf-8") for path in (workspace / "memory").glob("*.md"))
    assert "- W @Peter: Has moved to Lisbon." in logs


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["memory"], []),
        (["memory", "recall", "x", "--k", "3"], ["recall", "x", "--k", "3"]),
        (["--profile", "work", "memory", "status"], ["status"]),
        (["--profile=work", "--no-color", "memory", "status", "--json"], ["status", "--json"]),
        (["memory", "status", "--profile", "work", "--dev"], ["status"]),
        (["memory", "recall", "memory"], ["recall", "memory"]),
        (["memory", "retain", "--", "--dev"], ["retain", "--", "--dev"]),
        (["--", "memory", "status"], ["status"]),
        (["status"], None),
        ([], None),
    ],
)
def test_words_behind(script, argv, words):
    given = json.dumps(["node", "x", *argv])
    assert script(f'const {{ wordsBehind }} = await load("cli.js"); tell(wordsBehind({given}) ?? null);') == words


@pytest.mark.parametrize(
    ("words", "given", "expected"),
    [
        (["status"], {}, "/w/main"),
        (["status", "--agent", "work"], {}, "/w/work"),
        (["status", "--agent=work"], {}, "/w/work"),
        (["status", "--workspace", "/x"], {}, None),
        (["status"], {"OPENCLAW_WORKSPACE": "/mine"}, "/mine"),
    ],
)
def test_the_workspace_is_the_one_that_openclaw_resolves(script, words, given, expected):
    told = script(
        f"""
        const {{ environment }} = await load("cli.js");
        const here = api({{ workspaces: {{ main: "/w/main", work: "/w/work" }} }});
        const two = {{ agents: {{ entries: {{ main: {{}}, work: {{}} }} }} }};
        const told = environment(here, {{}}, {json.dumps(words)}, {json.dumps(given)});
        const at = (...words) => environment(here, two, words, {{}});
        tell({{ ...told, all: at("status"), one: at("recall", "x") }});
        """
    )
    assert told.get("OPENCLAW_WORKSPACE") == expected
    assert "OPENCLAW_WORKSPACE" not in told["all"]
    assert told["one"]["OPENCLAW_WORKSPACE"] == "/w/main"
    assert told["OPENCLAW_MEMORY_PLUGIN"] == "1"


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_the_end_by_a_signal_is_passed_on(forward, node, environment, tmp_path):
    program = tmp_path / "sleeper"
    program.write_text(f"#!{sys.executable}\nimport time\nprint('up', flush=True)\ntime.sleep(60)\n", "utf-8")
    program.chmod(0o755)
    (tmp_path / "openclaw.mjs").write_text(FORWARD, "utf-8")
    started = subprocess.Popen(
        [node, str(tmp_path / "openclaw.mjs"), "memory", "serve"],
        env=environment | {"TEST_CONFIG": '{"workspaces": {}}', "OPENCLAW_MEMORY_COMMAND": str(program)},
        stdout=subprocess.PIPE,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == b"up\n"
    started.send_signal(signal.SIGTERM)
    assert started.wait(timeout=10) == 128 + signal.SIGTERM
    started.stdout.close()


# Where the command is


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", "utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def find(script, tmp_path):
    """``find(configured, environ, folder)``: [argv, source], or the message of the fault."""

    def call(configured=None, environ=None, folder=tmp_path):
        settings = {"folder": str(folder)} | ({"command": configured} if configured else {})
        given = f"{json.dumps(settings)}, {json.dumps(environ or {})}"
        return script(
            f"""
            const {{ findCommand }} = await load("command.js");
            try {{
              const found = findCommand({given});
              tell([found.argv, found.source]);
            }} catch (fault) {{
              tell(`${{fault.constructor.name}}: ${{fault.message}}`);
            }}
            """
        )

    return call


unix = pytest.mark.skipif(os.name == "nt", reason="paths of Unix")


@unix
def test_the_order_of_places(find, tmp_path):
    named = program(tmp_path / "named")
    on_path = program(tmp_path / "path" / "openclaw-memory")
    beside = program(tmp_path / "venv" / "bin" / "openclaw-memory")
    folder = tmp_path / "venv" / "lib" / "python3.12" / "site-packages" / "openclaw_memory" / "openclaw_plugin"
    folder.mkdir(parents=True)
    environ = {"OPENCLAW_MEMORY_COMMAND": str(named), "PATH": str(on_path.parent)}
    assert find(["openclaw-memory", "-v"], environ, folder)[0] == [str(on_path), "-v"]
    assert find(None, environ, folder) == [[str(named)], "OPENCLAW_MEMORY_COMMAND"]
    del environ["OPENCLAW_MEMORY_COMMAND"]
    assert find(None, environ, folder) == [[str(beside)], "the Python environment of the plug-in"]
    assert find(None, environ) == [[str(on_path)], "PATH"]


@unix
def test_the_module_is_the_last_resort(find, tmp_path, environment):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    assert "was not found; install it" in find(None, {"PATH": str(tmp_path / "empty")})
    (tmp_path / "lib" / "openclaw_memory").mkdir(parents=True)
    (tmp_path / "lib" / "openclaw_memory" / "__init__.py").write_text("", "utf-8")
    environ = {"PATH": str(tmp_path / "bin"), "PYTHONPATH": str(tmp_path / "lib"), "HOME": str(tmp_path)}
    assert find(None, environ) == [[str(tmp_path / "bin" / "python3"), "-m", "openclaw_memory"], "python3 -m"]


@unix
def test_a_home_is_filled_in_and_blanks_stay(find, tmp_path):
    there = program(tmp_path / "my venv" / "openclaw-memory")
    assert find("~/my venv/openclaw-memory", {"HOME": str(tmp_path)})[0] == [str(there)]


@unix
@pytest.mark.parametrize("name", ["openclaw", "openclaw.mjs"])
def test_openclaw_itself_is_refused(find, tmp_path, name):
    told = find(str(program(tmp_path / name)))
    assert "would call this plug-in again" in told


@pytest.mark.parametrize("wrong", ["[1, 2", '["x", 3]', "[]"])
def test_a_wrong_variable_is_named(find, wrong):
    told = find(None, {"OPENCLAW_MEMORY_COMMAND": wrong})
    assert told.startswith("CommandFault: OPENCLAW_MEMORY_COMMAND")
