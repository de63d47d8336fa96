"""The layout of a workspace, the guard of the paths that may be read, and how a workspace is chosen."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from openclaw_memory.bank.config import find_workspace
from openclaw_memory.bank.errors import MemoryFault, UsageFault
from openclaw_memory.bank.workspace import PathNotAllowed, Workspace

links = pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege there")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    for name in (
        "MEMORY.md",
        "USER.md",
        "README.md",
        "memory/2026-01-05.md",
        "memory/sub/deep.md",
        "memory/notes.txt",
        "memory/.dreams/hidden.md",
        "bank/world.md",
        "bank/entities/Peter.md",
        ".memory/index.sqlite",
        ".git/config.md",
        "docs/guide.md",
        "docs/inner/more.md",
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n", encoding="utf-8")
    (tmp_path / "secret.md").write_text("secret\n", encoding="utf-8")
    (root / "memory" / "folder.md").mkdir()
    return root


# Opening


def test_open_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MemoryFault, match=r"no workspace here .*missing.*openclaw memory init") as caught:
        Workspace.open(str(tmp_path / "missing"))
    assert caught.value.exit_code == 1
    (tmp_path / "file").write_text("")
    with pytest.raises(MemoryFault, match="not a folder"):
        Workspace.open(str(tmp_path / "file"))
    with pytest.raises(UsageFault):
        Workspace.open("")
    with pytest.raises(MemoryFault):
        Workspace.open("a\0b")


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_open_unreadable(folder: Path) -> None:
    folder.chmod(0)
    try:
        with pytest.raises(MemoryFault, match="permission denied"):
            Workspace.open(str(folder))
    finally:
        folder.chmod(0o755)


def test_layout(folder: Path) -> None:
    workspace = Workspace.open(str(folder))
    real = os.path.realpath(folder)
    assert workspace.root == real
    assert workspace.index_path == os.path.join(real, ".memory", "index.sqlite")
    assert workspace.lock_path == os.path.join(real, ".memory", "writer.lock")
    assert workspace.journal_lock_path != workspace.lock_path
    log = workspace.log_path(date(2026, 1, 5))
    assert workspace.relative(log) == "memory/2026-01-05.md"
    assert workspace.log_path(datetime(2026, 1, 5, 3, 4)) == log  # noqa: DTZ001
    assert workspace.relative(str(folder.parent / "secret.md")).endswith("/secret.md")


def test_core_file(tmp_path: Path) -> None:
    workspace = Workspace.open(str(tmp_path))
    assert os.path.basename(workspace.core_path()) == "MEMORY.md"
    assert workspace.core_paths() == ()
    (tmp_path / "memory.md").write_text("x")
    assert os.path.basename(workspace.core_path()) == "memory.md"
    assert os.path.samefile(workspace.resolve("memory.md"), tmp_path / "memory.md")
    os.link(tmp_path / "memory.md", tmp_path / "MEMORY.md") if not (tmp_path / "MEMORY.md").exists() else None
    assert len(workspace.core_paths()) == 1


def test_two_real_core_files_are_two(tmp_path: Path) -> None:
    (tmp_path / "memory.md").write_text("lower")
    (tmp_path / "MEMORY.md").write_text("upper")
    names = [os.path.basename(path) for path in Workspace(str(tmp_path)).core_paths()]
    if len(os.listdir(tmp_path)) == 2:
        assert names == ["MEMORY.md", "memory.md"]
    else:
        assert len(names) == 1


# The guard


@pytest.mark.parametrize(
    "path",
    [
        "MEMORY.md",
        "USER.md",
        "memory/2026-01-05.md",
        "./memory/2026-01-05.md",
        "memory//2026-01-05.md",
        "memory/sub/deep.md",
        "bank/world.md",
        "bank/entities/Peter.md",
    ],
)
def test_allowed(folder: Path, path: str) -> None:
    workspace = Workspace.open(str(folder))
    found = workspace.resolve(path)
    assert os.path.isfile(found)
    assert workspace.resolve(str(folder / path)) == found
    assert workspace.resolve(workspace.relative(found)) == found


@pytest.mark.parametrize("path", ["DREAMS.md", "memory/2099-01-01.md", "bank/new/page.md", "memory/2026-01-05.md/a.md"])
def test_missing_files_are_no_attack(folder: Path, path: str) -> None:
    found = Workspace.open(str(folder)).resolve(path)
    assert found == os.path.join(os.path.realpath(folder), *path.split("/"))
    assert not os.path.exists(found)


ATTACKS = [
    "",
    " ",
    ".",
    "./",
    "/",
    "..",
    "../secret.md",
    "memory/../../secret.md",
    "memory/../MEMORY.md",
    "memory/./../../secret.md",
    "memory/..",
    "/etc/passwd",
    "/etc/passwd.md",
    "//server/share/x.md",
    "\\\\server\\share\\x.md",
    "..\\secret.md",
    "memory\\..\\..\\secret.md",
    "memory\\2026-01-05.md",
    "memory/..\\..\\secret.md",
    "C:/secret.md",
    "C:secret.md",
    "c:\\secret.md",
    "file:///etc/passwd.md",
    "~/secret.md",
    "~root/secret.md",
    "$HOME/secret.md",
    "memory/2026-01-05.md\0.txt",
    "\0",
    "memory/a\nb.md",
    "memory/\x7f.md",
    ".memory/index.sqlite",
    ".memory/notes.md",
    ".git/config.md",
    "memory/.dreams/hidden.md",
    "memory/.hidden.md",
    "memory/.md",
    "bank/...md",
    "memory/.../x.md",
    "memory/notes.txt",
    "memory/2026-01-05",
    "memory/2026-01-05.MD",
    "memory/2026-01-05.md/",
    "memory/2026-01-05.md ",
    "memory/2026-01-05.md.",
    "memory/sub./deep.md",
    "memory/sub /deep.md",
    "memory",
    "memory/",
    "memory/folder.md",
    "README.md",
    "docs/guide.md",
    "Memory/2026-01-05.md",
    "user.md",
    "memory/con.md",
    "memory/NUL.md",
    "memory/aux/x.md",
    "memory/COM1.md",
    "memory/lpt9.foo.md",
    "memory/COM¹.md",
    "memory/nul .md",
    "memory/" + "a" * 300 + ".md",
    "memory/" + "ü" * 130 + ".md",
    "memory/" + "a/" * 3000 + "x.md",
    "memory/\ud800.md",
    "memory/%2e%2e/%2e%2e/secret.txt",
    "．．/secret.md",
    "memory∕2026-01-05.md",
]


@pytest.mark.parametrize("path", ATTACKS)
def test_refused(folder: Path, path: str) -> None:
    with pytest.raises(PathNotAllowed) as caught:
        Workspace.open(str(folder)).resolve(path)
    assert caught.value.code == "MEMORY_PATH_NOT_ALLOWED"
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_absolute_paths_outside(folder: Path, tmp_path: Path) -> None:
    workspace = Workspace.open(str(folder))
    (tmp_path / "workspace-twin" / "memory").mkdir(parents=True)
    for path in ("secret.md", "workspace-twin/memory/x.md", "workspace/../secret.md", "workspace/README.md"):
        with pytest.raises(PathNotAllowed):
            workspace.resolve(os.path.join(str(tmp_path), path))


@links
@pytest.mark.parametrize("target", ["inside", "outside", "broken"])
def test_links_are_refused_wherever_they_point(folder: Path, tmp_path: Path, target: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.md").write_text("secret")
    workspace = Workspace.open(str(folder))
    places = {
        "inside": (folder / "bank" / "world.md", folder / "memory" / "sub"),
        "outside": (tmp_path / "secret.md", tmp_path / "elsewhere"),
        "broken": (tmp_path / "nothing.md", tmp_path / "nowhere"),
    }
    (folder / "memory" / "link.md").symlink_to(places[target][0])
    (folder / "memory" / "linked").symlink_to(places[target][1])
    (folder / "DREAMS.md").symlink_to(places[target][0])
    for path in ("memory/link.md", "memory/linked/x.md", "memory/linked/deep.md", "DREAMS.md"):
        with pytest.raises(PathNotAllowed):
            workspace.resolve(path)
        with pytest.raises(PathNotAllowed):
            workspace.resolve(str(folder / path))


@links
def test_linked_folders_of_the_layout_are_refused(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("x")
    root = tmp_path / "root"
    root.mkdir()
    (root / "memory").symlink_to(tmp_path / "vault")
    with pytest.raises(PathNotAllowed, match="symbolic link"):
        Workspace.open(str(root)).resolve("memory/a.md")


@links
def test_the_root_itself_may_be_reached_through_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(folder)
    workspace = Workspace.open(str(tmp_path / "alias"))
    assert workspace.root == os.path.realpath(folder)
    found = workspace.resolve("memory/sub/deep.md")
    assert found == os.path.join(workspace.root, "memory", "sub", "deep.md")
    assert workspace.resolve(str(tmp_path / "alias" / "memory" / "sub" / "deep.md")) == found
    assert workspace.relative(str(tmp_path / "alias" / "MEMORY.md")) == "MEMORY.md"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes there")
def test_pipes_are_refused(folder: Path) -> None:
    os.mkfifo(folder / "memory" / "pipe.md")
    with pytest.raises(PathNotAllowed, match="regular"):
        Workspace.open(str(folder)).resolve("memory/pipe.md")


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
def test_either_unicode_form_finds_the_file(folder: Path, stored: str, asked: str) -> None:
    workspace = Workspace.open(str(folder))
    name = "memory/Übersicht/Zoë.md"
    path = folder / normalize(stored, name)  # type: ignore[arg-type]
    path.parent.mkdir()
    path.write_text("x")
    found = workspace.resolve(normalize(asked, name))  # type: ignore[arg-type]
    assert os.path.samefile(found, path)
    assert os.path.basename(found) in os.listdir(os.path.dirname(found))


def test_case_must_match(folder: Path) -> None:
    workspace = Workspace.open(str(folder))
    other = folder / "bank" / "entities" / "peter.md"
    if other.exists():
        with pytest.raises(PathNotAllowed, match="case"):
            workspace.resolve("bank/entities/peter.md")
    else:
        assert not os.path.exists(workspace.resolve("bank/entities/peter.md"))


def test_extra_paths(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "notes"
    (outside / ".obsidian").mkdir(parents=True)
    for name in ("a.md", "a.txt", ".obsidian/b.md"):
        (outside / name).write_text("x")
    workspace = Workspace.open(str(folder), ("docs", str(outside), str(tmp_path / "secret.md"), "missing"))
    assert workspace.resolve("docs/inner/more.md").endswith("more.md")
    assert workspace.resolve(str(folder / "docs" / "guide.md")).endswith("guide.md")
    assert workspace.resolve(str(outside / "a.md")) == os.path.realpath(outside / "a.md")
    assert workspace.resolve(str(tmp_path / "secret.md")) == os.path.realpath(tmp_path / "secret.md")
    for path in (
        "README.md",
        "docs",
        "docs/../README.md",
        "docsx/guide.md",
        "../notes/a.md",
        str(outside),
        str(outside / "a.txt"),
        str(outside / ".obsidian" / "b.md"),
        str(outside / ".." / "workspace" / "README.md"),
        str(tmp_path / "secret.md" / "x.txt"),
    ):
        with pytest.raises(PathNotAllowed):
            workspace.resolve(path)


@links
def test_links_below_extra_paths_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").symlink_to(tmp_path / "secret.md")
    (folder / "linked").symlink_to(tmp_path)
    workspace = Workspace.open(str(folder), (str(tmp_path / "notes"), "linked"))
    for path in (str(tmp_path / "notes" / "a.md"), "linked/secret.md"):
        with pytest.raises(PathNotAllowed):
            workspace.resolve(path)


NAMES = "memory bank entities MEMORY.md x.md .md link.md linked deep.md sub 2026-01-05.md docs con C: ~ %2e"
PIECES = st.sampled_from([*NAMES.split(), *"/\\.\0 \né\ud800", "//", "..", "e\u0301"])
PATHS = st.one_of(
    st.text(max_size=60),
    st.lists(PIECES, max_size=8).map("".join),
    st.lists(PIECES, max_size=8).map("/".join),
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(path=PATHS, absolute=st.booleans())
@example(path="memory/linked/x.md", absolute=False)
def test_whatever_is_written(folder: Path, path: str, absolute: bool) -> None:
    if os.name != "nt" and not (folder / "memory" / "link.md").is_symlink():
        (folder / "memory" / "link.md").symlink_to(folder.parent / "secret.md")
        (folder / "memory" / "linked").symlink_to(folder.parent)
    workspace = Workspace.open(str(folder))
    try:
        found = workspace.resolve(f"{folder}/{path}" if absolute else path)
    except PathNotAllowed:
        return
    assert os.path.realpath(found) == found
    assert found.startswith(workspace.root + os.sep)
    assert not os.path.lexists(found) or os.path.isfile(found)
    parts = workspace.relative(found).split("/")
    assert parts[-1].endswith(".md")
    assert not any(part.startswith(".") for part in parts)
    assert (
        parts[0] in ("memory", "bank")
        if len(parts) > 1
        else parts[0] in ("MEMORY.md", "memory.md", "USER.md", "DREAMS.md")
    )


# Choosing one


def choose(home: Path, *, explicit: str | None = None, agent: str | None = None, **more: str) -> tuple[str, str, str]:
    return tuple(find_workspace(explicit, agent, {"HOME": str(home), "USERPROFILE": str(home), **more}))


def configure(home: Path, text: str, name: str = ".openclaw/openclaw.json") -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_default_places(tmp_path: Path) -> None:
    default = str(tmp_path / ".openclaw" / "workspace")
    assert choose(tmp_path) == (default, "main", "the default")
    (tmp_path / "clawd").mkdir()
    assert choose(tmp_path) == (default, "main", "the default")
    (tmp_path / ".clawdbot").mkdir()
    assert choose(tmp_path)[::2] == (str(tmp_path / "clawd"), "the default of an older release, ~/clawd")
    (tmp_path / ".clawdbot" / "workspace").mkdir(parents=True)
    assert choose(tmp_path)[0] == str(tmp_path / ".clawdbot" / "workspace")
    assert ".clawdbot" in choose(tmp_path)[2]
    (tmp_path / ".moltbot" / "workspace").mkdir(parents=True)
    assert choose(tmp_path)[0] == str(tmp_path / ".moltbot" / "workspace")
    (tmp_path / ".openclaw" / "workspace").mkdir(parents=True)
    assert choose(tmp_path)[0] == default


def test_the_default_place_where_openclaw_is_told_of_another(tmp_path: Path) -> None:
    (tmp_path / ".openclaw" / "workspace").mkdir(parents=True)
    state = tmp_path / "state"
    assert choose(tmp_path, OPENCLAW_STATE_DIR="~/state") == (str(state / "workspace"), "main", "OPENCLAW_STATE_DIR")
    told = choose(tmp_path, OPENCLAW_STATE_DIR=str(state), OPENCLAW_WORKSPACE_DIR="~/elsewhere")
    assert told == (str(tmp_path / "elsewhere"), "main", "OPENCLAW_WORKSPACE_DIR")
    configure(tmp_path, '{"agents": {"defaults": {"workspace": "~/named"}}}', "state/openclaw.json")
    told = choose(tmp_path, OPENCLAW_STATE_DIR=str(state), OPENCLAW_WORKSPACE_DIR="~/elsewhere")
    assert told[0] == str(tmp_path / "named")


def test_the_nearest_wins(tmp_path: Path) -> None:
    path = configure(
        tmp_path,
        '{"agent": {"workspace": "~/oldest"}, "agents": {"defaults": {"workspace": "~/all"},'
        ' "entries": {"ops": {"workspace": "/srv/ops"}, "main": {}},'
        ' "list": [{"id": "ops", "workspace": "/srv/older"}, {"id": "listed", "workspace": "/srv/listed"}]}}',
    )
    here = str(tmp_path / "here")
    assert choose(tmp_path, explicit=here, OPENCLAW_WORKSPACE="/x") == (here, "main", "--workspace")
    assert choose(tmp_path, explicit="~/here")[0] == here
    assert choose(tmp_path, OPENCLAW_WORKSPACE="~/here")[::2] == (here, "OPENCLAW_WORKSPACE")
    assert choose(tmp_path)[0] == str(tmp_path / "all")
    assert choose(tmp_path)[2] == f"agents.defaults.workspace in {path}"
    assert choose(tmp_path, agent="ops") == (
        os.path.abspath("/srv/ops"),
        "ops",
        f"agents.entries.ops.workspace in {path}",
    )
    assert choose(tmp_path, agent="listed")[::2] == (
        os.path.abspath("/srv/listed"),
        f"agents.list[1].workspace in {path}",
    )
    assert choose(tmp_path, agent="main")[0] == str(tmp_path / "all")
    with pytest.raises(UsageFault, match=r"no such agent: unknown .*has ops, main, listed"):
        choose(tmp_path, agent="unknown")
    with pytest.raises(UsageFault):
        choose(tmp_path, explicit=" ")


def test_no_agent_shares_the_workspace_of_the_default_one_by_chance(tmp_path: Path) -> None:
    """An agent without a workspace of its own was shown the memory of the default one; OpenClaw gives it another."""
    configure(tmp_path, '{"agents": {"entries": {"main": {}, "Research": {}}}}')
    assert choose(tmp_path, agent="main")[0] == str(tmp_path / ".openclaw" / "workspace")
    assert choose(tmp_path, agent="research")[0] == str(tmp_path / ".openclaw" / "workspace-Research")
    configure(tmp_path, '{"agents": {"defaults": {"workspace": "~/ws"}, "entries": {"main": {}, "research": {}}}}')
    assert choose(tmp_path, agent="main")[0] == str(tmp_path / "ws")
    assert choose(tmp_path, agent="research")[0] == str(tmp_path / "ws" / "research")


def test_the_default_agent_of_the_configuration(tmp_path: Path) -> None:
    configure(tmp_path, '{"agents": {"list": [{"id": "a", "workspace": "~/a"}, {"id": "b", "workspace": "~/b"}]}}')
    assert choose(tmp_path)[:2] == (str(tmp_path / "a"), "a")
    configure(tmp_path, '{"agents": {"entries": {"a": {}, "b": {"default": true, "workspace": "~/b"}}}}')
    assert choose(tmp_path)[:2] == (str(tmp_path / "b"), "b")


def test_json5_homes_and_variables(tmp_path: Path) -> None:
    text = "// mine\n{agents: {defaults: {workspace: '${NOTES}/ws',},},}\n"
    for name in (".clawdbot/clawdbot.json", ".moltbot/moltbot.json", ".openclaw/openclaw.json"):
        path = configure(tmp_path, text, name)
        assert choose(tmp_path, NOTES=str(tmp_path))[::2] == (
            str(tmp_path / "ws"),
            f"agents.defaults.workspace in {path}",
        )
    with pytest.raises(MemoryFault, match=r"agents\.defaults\.workspace: .*NOTES is not set"):
        choose(tmp_path)
    elsewhere = configure(tmp_path, '\ufeff{"agent": {"workspace": "~/state"}}', "state/openclaw.json")
    assert choose(tmp_path, OPENCLAW_STATE_DIR=str(elsewhere.parent))[0] == str(tmp_path / "state")
    older = configure(tmp_path, '{"agent": {"workspace": "~/older"}}', "older/clawdbot.json")
    assert choose(tmp_path, OPENCLAW_STATE_DIR=str(older.parent))[0] == str(tmp_path / "older")
    other = configure(tmp_path, '{"agent": {"workspace": "~/other"}}', "other.json5")
    assert choose(tmp_path, OPENCLAW_CONFIG_PATH="~/other.json5", OPENCLAW_STATE_DIR="/x")[0].endswith("other")
    assert str(other) in choose(tmp_path, OPENCLAW_CONFIG_PATH=str(other))[2]
    assert choose(tmp_path, OPENCLAW_CONFIG_PATH=str(tmp_path / "none"))[2] == "the default"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"agents": {"defaults": {"workspace": 7}}}',
            "agents.defaults.workspace: expected a string, got a number",
        ),
        ('{"agents": {"defaults": {"workspace": true}}}', "expected a string, got a boolean"),
        ('{"agents": {"defaults": []}}', "agents.defaults: expected an object, got a list"),
        ('{"agents": "main"}', "agents: expected an object, got a string"),
        ('{"agents": {"entries": []}}', "agents.entries: expected an object, got a list"),
        ('{"agents": {"entries": {"main": 1}}}', "agents.entries.main: expected an object, got a number"),
        (
            '{"agents": {"entries": {"main": {"workspace": []}}}}',
            "agents.entries.main.workspace: expected a string",
        ),
        ('{"agents": {"list": {}}}', "agents.list: expected a list, got an object"),
        ('{"agents": {"list": [1]}}', "agents.list[0]: expected an object"),
        ('{"agents": {"list": [{"id": 1}]}}', "agents.list[0].id: expected a string"),
        ('{"agent": {"workspace": {}}}', "agent.workspace: expected a string, got an object"),
        ("[]", "the configuration: expected an object, got a list"),
        ("{\n agents: {\n oops\n}", "the configuration is not JSON5"),
        ("", "the configuration is not JSON5"),
    ],
)
def test_faults_of_the_configuration(tmp_path: Path, text: str, message: str) -> None:
    path = configure(tmp_path, text)
    with pytest.raises(MemoryFault) as caught:
        choose(tmp_path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert choose(tmp_path, explicit="/x")[2] == "--workspace"


def test_a_configuration_that_cannot_be_read(tmp_path: Path) -> None:
    path = configure(tmp_path, "")
    path.write_bytes(b'{\n"a": "\xff"}')
    with pytest.raises(MemoryFault, match=r"not UTF-8 text .*openclaw\.json:2"):
        choose(tmp_path)
    path.unlink()
    path.mkdir()
    with pytest.raises(MemoryFault, match="cannot be read"):
        choose(tmp_path)


def test_reading_imports_little(tmp_path: Path) -> None:
    code = (
        "import sys; before = set(sys.modules); from openclaw_memory.bank import config, files, workspace;"
        f"config.find_workspace(None, None, {{'HOME': {str(tmp_path)!r}, 'USERPROFILE': {str(tmp_path)!r}}});"
        f"workspace.Workspace.open({str(tmp_path)!r}).resolve('memory/a.md');"
        "slow = {'json5', 'json', 'filelock', 'dataclasses', 'pathlib', 'tempfile', 'hashlib'};"
        "print(*sorted(slow & set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | path_of())
    assert (done.stdout.strip(), done.stderr) == ("", "")


def path_of() -> dict[str, str]:
    """The environment in which a bare interpreter finds what this one finds."""
    return {"PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
