"""What the plug-in says of itself: manifest, package and README agree with each other, with Python and the code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from openclaw_memory import __version__
from openclaw_memory.serving.tools import table

from .conftest import PLUGIN

MANIFEST = json.loads((PLUGIN / "openclaw.plugin.json").read_text("utf-8"))
PACKAGE = json.loads((PLUGIN / "package.json").read_text("utf-8"))
README = (PLUGIN / "README.md").read_text("utf-8")


def test_one_version_and_one_name():
    assert MANIFEST["version"] == PACKAGE["version"] == __version__
    assert MANIFEST["id"] == PACKAGE["name"] == "openclaw-memory"
    assert PACKAGE["type"] == "module"
    assert all((PLUGIN / entry).is_file() for entry in PACKAGE["openclaw"]["extensions"])


def test_it_needs_no_package():
    assert not {"dependencies", "devDependencies", "scripts"} & set(PACKAGE)
    for path in PLUGIN.glob("*.js"):
        for module in re.findall(r'from "([^"]+)"', path.read_text("utf-8")):
            assert module.startswith("node:") or (PLUGIN / module).is_file(), f"{path.name}: {module}"


def test_the_table_of_tools_is_the_memory_processs_own():
    """``make plugin-tools`` writes it."""
    assert json.loads((PLUGIN / "tools.json").read_text("utf-8")) == table()


def test_the_manifest_declares_every_tool_and_what_it_may_do():
    assert sorted(MANIFEST["contracts"]["tools"]) == sorted(tool["name"] for tool in table())
    assert set(MANIFEST["toolMetadata"]) == set(MANIFEST["contracts"]["tools"])
    for tool in table():
        told = MANIFEST["toolMetadata"][tool["name"]]
        assert told.get("replaySafe", False) is tool["readOnly"], tool["name"]
        assert told.get("sideEffecting", False) is not tool["readOnly"], tool["name"]


def test_it_owns_the_memory_slot_and_its_command():
    assert MANIFEST["kind"] == "memory"
    assert MANIFEST["activation"] == {"onStartup": True}
    assert [(command["name"], command["hasSubcommands"]) for command in MANIFEST["cliCommands"]] == [("memory", True)]


@pytest.mark.parametrize(
    ("config", "good"),
    [
        ({}, True),
        ({"command": "~/venv/bin/openclaw-memory"}, True),
        ({"command": ["python3", "-m", "openclaw_memory"]}, True),
        ({"command": []}, False),
        ({"command": 7}, False),
        ({"timeoutSeconds": 5, "reflectTimeoutSeconds": 60, "idleSeconds": 0}, True),
        ({"timeoutSeconds": 0}, False),
        ({"recallInjection": {"enabled": True, "budget": 300, "timeoutSeconds": 2}}, True),
        ({"recallInjection": {"on": True}}, False),
        ({"dreaming": {"enabled": False, "phases": {"deep": {"limit": 3}}}}, True),
        ({"workspace": "/x"}, False),
    ],
)
def test_the_schema_of_the_settings(config, good):
    Draft202012Validator.check_schema(MANIFEST["configSchema"])
    assert Draft202012Validator(MANIFEST["configSchema"]).is_valid(config) is good


def keys(schema, before=""):
    for name, inner in schema["properties"].items():
        yield f"{before}{name}", inner
        if name != "dreaming" and "properties" in inner:
            yield from keys(inner, f"{before}{name}.")


def test_the_readme_tells_every_setting_with_its_default():
    for key, schema in keys(MANIFEST["configSchema"]):
        if schema.get("type") == "object" and key != "dreaming":
            continue
        row = re.search(rf"^\| `{re.escape(key)}` \|.*\| (.*?) \|.*$", README, re.MULTILINE)
        assert row, key
        if "default" in schema:
            assert f"`{json.dumps(schema['default'])}`" in row[0], key


def test_defaults_of_the_schema_are_those_of_the_code(script):
    told = script('const { readSettings } = await load("settings.js"); tell(readSettings());')
    default = {key: schema.get("default") for key, schema in keys(MANIFEST["configSchema"])}
    assert told["timeout"] == 1000 * default["timeoutSeconds"]
    assert told["reflectTimeout"] == 1000 * default["reflectTimeoutSeconds"]
    assert told["idle"] == 1000 * default["idleSeconds"]
    assert told["recallInjection"] == {
        "enabled": default["recallInjection.enabled"],
        "budget": default["recallInjection.budget"],
        "timeout": 1000 * default["recallInjection.timeoutSeconds"],
    }


def test_the_command_is_described_once(script):
    assert script('const { COMMAND } = await load("cli.js"); tell([COMMAND]);') == MANIFEST["cliCommands"]


def test_plugin_path_is_the_folder(environment, tmp_path):
    def told(*options):
        words = [sys.executable, "-m", "openclaw_memory", "plugin-path", *options]
        return subprocess.run(
            words, capture_output=True, encoding="utf-8", env=environment, cwd=tmp_path, check=True
        ).stdout

    answer = json.loads(told("--json"))
    schema = PLUGIN.parent.parent / "docs" / "schemas" / "plugin-path.json"
    Draft202012Validator(json.loads(schema.read_text("utf-8"))).validate(answer)
    assert told() == f"{answer['path']}\n"
    assert json.loads((Path(answer["path"]) / "openclaw.plugin.json").read_text("utf-8")) == MANIFEST
