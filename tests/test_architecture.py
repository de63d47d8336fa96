"""The house: imports point down, the wheel holds every room, and what the project says of itself is so."""

import ast
import importlib
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ["parsers", "bank", "recall", "reflect", "openclaw_memory"]
PRESENT = [room for room in ROOMS if (ROOT / room).is_dir()]
#: Files of the package that are no modules.
DATA = {"py.typed", "table.bin", "LICENSE-table.txt", "model.npz"}
#: The plug-in for OpenClaw, and the name under which it installs.
PLUGIN = "integrations/openclaw"
PLACED = {PLUGIN: "openclaw_plugin"}
STANDARD_AND = {"parsers": {"markdown_it"}}


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def tracked():
    """The names of all files of the repository that are not ignored."""
    done = subprocess.run(
        ["git", "-c", "core.quotepath=off", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        pytest.skip("not a git checkout")
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def modules(room):
    return sorted(path for path in (ROOT / room).rglob("*.py"))


def imports(path, room):
    """(rooms that a module imports, top-level packages that it imports) anywhere in it."""
    inside = path.relative_to(ROOT / room).parts
    rooms, packages = set(), set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            packages |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            packages.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.ImportFrom):
            up = node.level - len(inside) if room != "openclaw_memory" else node.level - len(inside) + 1
            if up >= 1 and node.module:
                rooms.add(node.module.split(".")[0])
    return rooms & set(ROOMS), packages


@pytest.mark.parametrize("room", PRESENT)
def test_imports_point_down(room):
    below = set(ROOMS[: ROOMS.index(room)])
    for path in modules(room):
        upward = imports(path, room)[0] - below - {room}
        assert not upward, f"{path.relative_to(ROOT)} imports {upward}"


def test_parsers_touch_no_file_database_clock_or_network():
    forbidden = {"os", "io", "pathlib", "sqlite3", "pysqlite3", "time", "socket", "urllib", "random", "subprocess"}
    for path in modules("parsers"):
        packages = imports(path, "parsers")[1]
        outside = packages - set(sys.stdlib_module_names) - {"markdown_it"}
        assert not outside | (packages & forbidden), path.name
        assert "open(" not in path.read_text("utf-8"), path.name
        assert not re.search(r"\b(now|today|utcnow)\(", path.read_text("utf-8")), path.name


def test_no_module_of_leftovers():
    names = {path.stem for room in PRESENT for path in modules(room)}
    assert not names & {"utils", "util", "helpers", "helper", "manager", "handler", "misc", "common"}


def test_the_wheel_holds_every_module_and_the_template(tmp_path):
    # From a copy, since a build leaves files behind.
    source = tmp_path / "source"
    for name in tracked():
        if not name.startswith("tests/"):
            target = source / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path / "dist"), str(source)],
        check=True,
        capture_output=True,
    )
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    named = zipfile.ZipFile(wheel).namelist()
    inside = {name for name in named if ".dist-info/" not in name}
    expected = set()
    for room in [*PRESENT, "workspace_template", PLUGIN]:
        prefix = "openclaw_memory" if room == "openclaw_memory" else f"openclaw_memory/{PLACED.get(room, room)}"
        for path in (source / room).rglob("*"):
            data = room in ("workspace_template", PLUGIN) or path.suffix == ".py" or path.name in DATA
            if path.is_file() and data and "__pycache__" not in path.parts:
                expected.add(f"{prefix}/{path.relative_to(source / room).as_posix()}")
    assert inside == expected
    assert any(name.endswith("demo/memory.md") for name in inside)
    assert {f"openclaw_memory/bank/embeddings/{name}" for name in ("table.bin", "LICENSE-table.txt")} <= inside
    licenses = {name.split(".dist-info/licenses/", 1)[1] for name in named if ".dist-info/licenses/" in name}
    assert licenses == {"LICENSE", "bank/embeddings/LICENSE-table.txt"}


def test_every_package_is_listed():
    listed = set(project()["tool"]["setuptools"]["packages"])
    found = set()
    for room in [*PRESENT, "workspace_template", PLUGIN]:
        for path in (ROOT / room).rglob("__init__.py"):
            inner = path.parent.relative_to(ROOT / room).parts
            head = ["openclaw_memory"] if room == "openclaw_memory" else ["openclaw_memory", PLACED.get(room, room)]
            found.add(".".join([*head, *inner]))
    assert listed == found
    assert "openclaw_memory.bank.embeddings" in listed


def test_make_test_runs_every_test_but_those_of_local_models_and_of_a_real_openclaw():
    """These need llama.cpp, which takes ten minutes to compile, and OpenClaw, which is 800 MB."""
    listed = set(project()["tool"]["pytest"]["ini_options"]["testpaths"])
    found = {
        f"tests/{path.name}"
        for path in (ROOT / "tests").iterdir()
        if path.match("test_*.py") or (path.is_dir() and any(path.rglob("test_*.py")))
    }
    assert listed == found - {"tests/llama", "tests/gateway"}
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^test: .*\n\t\$\(BIN\)/python -m pytest$", makefile, re.MULTILINE)
    assert re.search(r"^test-llama: .*\n\t\$\(BIN\)/python -m pytest tests/llama$", makefile, re.MULTILINE)
    assert re.search(r"^test-openclaw: .*\n\t.*\$\(BIN\)/python -m pytest tests/gateway$", makefile, re.MULTILINE)


def test_the_version_is_said_once():
    from openclaw_memory import __version__

    assert __version__ == project()["project"]["version"]
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_links_in_the_documents_open():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


#: Where packages are fetched from, as whoever builds this has it configured: nothing here may say so.
REGISTRIES = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("crates", "io"),
        ("rubygems", "org"),
        ("anaconda", "org"),
        ("proxy", "golang", "org"),
    )
]


def test_no_file_names_a_registry_or_a_place_on_a_developers_machine():
    """Dependencies are fetched from wherever the machine's own settings say, and paths are the machine's own."""
    hosts = re.compile("|".join(map(re.escape, REGISTRIES)).encode(), re.IGNORECASE)
    # A home that a test has made up is /home/x.
    here = "|".join(re.escape(f"{path}/") for path in (ROOT, Path.home()) if len(path.parts) > 1)
    homes = re.compile(rf"(?<![\w./])(?:/(?:home|Users)/(?!x/)[\w.-]+/|/[r]oot/|{here})|\b[A-Z]:\\+Users\\+\w".encode())
    for name in tracked():
        data = (ROOT / name).read_bytes()
        assert not hosts.search(data), name
        assert not homes.search(data), name


def test_the_default_install_opens_no_socket(tmp_path):
    """Not to index, not to answer, not to write; nor does it look up a name."""
    code = (
        "import socket\n"
        "def refuse(*a, **k): raise AssertionError('a socket was opened')\n"
        "for name in ('socket', 'create_connection', 'getaddrinfo', 'gethostbyname', 'socketpair', 'fromfd'):\n"
        "    setattr(socket, name, refuse)\n"
        "import _socket; _socket.socket = _socket.getaddrinfo = refuse\n"
        "from datetime import datetime\n"
        "from openclaw_memory.bank.template import copy_template\n"
        "from openclaw_memory import Memory\n"
        f"copy_template({str(tmp_path / 'w')!r}, demo=True)\n"
        "from openclaw_memory.entry import main\n"
        "import sys\n"
        "def command(*words):\n"
        f"    sys.argv = ['openclaw-memory', *words, '--workspace', {str(tmp_path / 'w')!r}]\n"
        "    try: main()\n"
        "    except SystemExit as end: assert not end.code, (words, end.code)\n"
        "for words in (['index'], ['index', '--force'], ['status', '--deep'], ['recall', 'cargo bike'],\n"
        "              ['search', 'cargo bike'], ['entities'], ['graph'], ['doctor'], ['reset', '--yes'], ['index']):\n"
        "    command(*words)\n"
        "assert not {'urllib3', 'huggingface_hub', 'llama_cpp'} & set(sys.modules)\n"
        f"memory = Memory({str(tmp_path / 'w')!r})\n"
        "assert memory.recall('cargo bike')['results']\n"
        "assert memory.search('cargo bike')['results']\n"
        "memory.retain(['- W @Peter: Lives in Lisbon.'])\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENCLAW")}
    environment = {name: value for name, value in environment.items() if not name.endswith("_API_KEY")}
    environment |= {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


def test_what_the_benchmarks_import_is_there():
    """Programs that they start in other processes are text here, which no checker reads."""
    for path in (ROOT / "benchmarks").glob("*.py"):
        for module, names in re.findall(r"from (openclaw_memory[\w.]*) import ([\w, ]+)", path.read_text("utf-8")):
            loaded = importlib.import_module(module)
            for name in names.split(","):
                assert hasattr(loaded, name.strip()) or importlib.import_module(f"{module}.{name.strip()}"), path.name
