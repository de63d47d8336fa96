"""What a command loads: the commands that agents call all day load next to nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"spacy", "networkx", "numpy", "markdown_it", "scipy", "torch"}
NOT_FOR_READING = HEAVY | {"typer", "click", "rich", "pydantic", "sqlite_utils", "dataclasses", "filelock", "json5"}
NOT_FOR_READING |= {"inspect", "asyncio", "socket", "ssl", "http", "email", "subprocess", "tempfile", "logging"}
NOT_FOR_READING |= {"urllib3", "llama_cpp", "huggingface_hub", "sqlite_vec", "pathlib", "urllib", "ipaddress"}
#: What is chosen without a configuration needs none of these.
FOR_OTHER_MODELS = {f"openclaw_memory.bank.embeddings.{name}" for name in (
    "batch", "cache", "gemini", "gguf_header", "gguf_model", "local", "model_files", "openai", "refusals", "remote",
    "rerank", "rows", "transport", "voyage",
)} | {"openclaw_memory.bank.model_space", "openclaw_memory.bank.background"}  # fmt: skip
ROOT = Path(__file__).parent.parent.parent
NOW = "2025-12-06T12:00:00"
PROBE = """
import sys
before = set(sys.modules)
from openclaw_memory.entry import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("\\n" + " ".join(sorted(set(sys.modules) - before)), file=sys.stderr)
"""


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the package as an installation does: the way that an editable one is found imports much."""
    folder = tmp_path_factory.mktemp("installed")
    ignore = shutil.ignore_patterns("__pycache__")
    for room in ("", "bank", "parsers", "recall", "workspace_template"):
        shutil.copytree(ROOT / (room or "openclaw_memory"), folder / "openclaw_memory" / room, ignore=ignore)
    return folder


@pytest.mark.parametrize(
    "words",
    [["recall", "what does Mara prefer?", "--json"], ["search", "ZX-4417"], ["get", "memory.md"]],
    ids=" ".join,
)
def test_reading_is_light_where_it_is_installed(environment, at, installed: Path, words: list[str]) -> None:
    """Without what an editable installation has loaded before it begins."""
    paths = [str(installed), *(path for path in sys.path if path.endswith("-packages"))]
    probe = f"import sys; sys.path[:0] = {paths!r}\n{PROBE}"
    done = subprocess.run(
        [sys.executable, "-S", "-c", probe, *words, *at], capture_output=True, env=environment, timeout=60, check=True
    )
    names = set(done.stderr.decode().splitlines()[-1].split())
    assert "openclaw_memory" in names
    assert (names | {name.split(".", 1)[0] for name in names}) & NOT_FOR_READING == set()


def loaded(arguments: list[str], environment: dict[str, str]) -> set[str]:
    """The modules (top names too) that a command loads in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments], capture_output=True, env=environment, check=True, timeout=60
    )
    names = set(done.stderr.decode().splitlines()[-1].split())
    return names | {name.split(".", 1)[0] for name in names}


@pytest.mark.parametrize(
    "words",
    [
        ["recall", "what does Mara prefer?", "--json"],
        ["recall", "Where did Tomasz swim last week?"],
        ["recall", "王芳的猫叫什么？", "--kind", "note", "--since", "90d"],
        ["recall", "Heizung", "--entity", "Mara", "--explain"],
        ["search", "ZX-4417", "--json"],
        ["search", "what was released?"],
        ["get", "memory/2025-11-07.md#L3-L5", "--json"],
        ["get", "memory.md"],
    ],
    ids=" ".join,
)
def test_reading_is_light(environment, demo: Path, at, words: list[str]) -> None:
    names = loaded([*words, *at], environment)
    assert names & NOT_FOR_READING == set()
    assert names & FOR_OTHER_MODELS == set()
    assert not any(name.startswith("openclaw_memory.commands") for name in names)
    if words[0] == "get":
        assert not any(name.startswith("openclaw_memory.recall.engine") for name in names)


@pytest.mark.parametrize(
    "words",
    [["--help"], ["recall", "--help"], ["status"], ["entities"], ["lint"], ["facts", "{demo}/memory.md"]],
    ids=" ".join,
)
def test_nothing_loads_models(environment, demo: Path, at, words: list[str]) -> None:
    where = list(at[:2]) if words[-1] != "--help" else []
    names = loaded([word.replace("{demo}", str(demo)) for word in words] + where, environment)
    assert names & (HEAVY - {"markdown_it"}) == set()
    assert "markdown_it" not in names or words[0] in ("lint", "facts")


def test_help_loads_no_engine(environment) -> None:
    names = loaded(["--help"], environment)
    assert names & (HEAVY | {"sqlite_utils", "json5"}) == set()
    assert not any(name.startswith("openclaw_memory.recall.engine") for name in names)
