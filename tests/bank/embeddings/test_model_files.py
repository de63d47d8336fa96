"""From a configured model to its file; nothing here needs llama-cpp-python or a connection."""

import subprocess
import sys
from pathlib import Path

import pytest
from openclaw_memory.bank.embeddings.gguf_header import GgufHeader, read_header
from openclaw_memory.bank.embeddings.local import LocalEmbedder, form_of
from openclaw_memory.bank.embeddings.model_files import (
    DEFAULT_MODELS,
    HubFile,
    hub_file,
    local_model_exists,
    model_file,
    pick,
)
from openclaw_memory.bank.embeddings.protocol import EmbeddingFault

REFERENCE = "hf:org/tiny-GGUF/tiny-Q8_0.gguf"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty home with no caches in it, and nothing about models in the environment."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("OPENCLAW_MEMORY_OFFLINE", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"GGUF")
    return path


def in_hub_cache(cache, reference, branch="main"):
    hub = hub_file(reference)
    repository = cache / f"models--{hub.user}--{hub.repository}"
    (repository / "refs" / branch).parent.mkdir(parents=True, exist_ok=True)
    (repository / "refs" / branch).write_text("0123abcd")
    return touch(repository / "snapshots" / "0123abcd" / hub.file)


def test_paths(tmp_path, home):
    path = touch(home / "models" / "a b.gguf")
    assert model_file(str(path)) == path
    assert model_file("~/models/a b.gguf") == path
    assert model_file("a b.gguf", str(home / "models")) == path
    assert model_file("models/a b.gguf", "~") == path
    own = touch(home / ".node-llama-cpp" / "models" / "own.gguf")
    assert model_file("own.gguf") == own
    assert local_model_exists("own.gguf")
    assert not local_model_exists("none.gguf")
    assert not local_model_exists(str(home / "models"))


@pytest.mark.parametrize("reference", ["/none/x.gguf", "none.gguf", "~/none.gguf", "no\0ne", "~nobody-at-all/x.gguf"])
def test_paths_that_lead_nowhere(reference):
    with pytest.raises(EmbeddingFault) as caught:
        model_file(reference)
    assert caught.value.kind in ("missing", "input")
    assert "\n" not in str(caught.value)
    assert not local_model_exists(reference)


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(EmbeddingFault, match="folder"):
        model_file(str(tmp_path))


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        (REFERENCE, HubFile("org", "tiny-GGUF", "tiny-Q8_0.gguf")),
        ("hf://org/tiny-GGUF/tiny-Q8_0.gguf", HubFile("org", "tiny-GGUF", "tiny-Q8_0.gguf")),
        ("huggingface:org/r/sub/f.gguf#dev", HubFile("org", "r", "sub/f.gguf", "dev")),
        ("hf:org/r:Q8_0", HubFile("org", "r", tag="Q8_0")),
        ("hf:org/r", HubFile("org", "r")),
        ("C:\\models\\x.gguf", None),
        ("x.gguf", None),
    ],
)
def test_addresses(reference, expected):
    assert hub_file(reference) == expected
    if expected:
        assert hub_file(str(expected)) == expected


@pytest.mark.parametrize(
    "reference",
    [
        "https://example.org/x.gguf",
        "ftp:x",
        "hf:",
        "hf:org",
        "hf:org/",
        "hf:../../x.gguf",
        "hf:org/../x",
        "hf:o/r:Q8/x",
    ],
)
def test_addresses_that_are_refused(reference):
    with pytest.raises(EmbeddingFault) as caught:
        model_file(reference, download=True)
    assert caught.value.kind == "input"
    assert "hf:org/repository/file.gguf" in str(caught.value)
    assert not local_model_exists(reference)


def test_a_file_in_the_hubs_cache(home, tmp_path, monkeypatch):
    assert not local_model_exists(REFERENCE)
    path = in_hub_cache(home / ".cache" / "huggingface" / "hub", REFERENCE)
    assert model_file(REFERENCE) == path
    assert local_model_exists(REFERENCE)
    elsewhere = in_hub_cache(tmp_path / "elsewhere", REFERENCE)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "elsewhere"))
    assert model_file(REFERENCE) == elsewhere
    configured = in_hub_cache(tmp_path / "configured", REFERENCE)
    assert model_file(REFERENCE, str(tmp_path / "configured")) == configured
    assert not local_model_exists(REFERENCE + "#dev")
    branch = in_hub_cache(tmp_path / "elsewhere", REFERENCE, "dev")
    assert model_file(REFERENCE + "#dev") == branch


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        (REFERENCE, "hf_org_tiny-Q8_0.gguf"),
        ("hf:org/r/f.gguf", "hf_org_r_f.gguf"),
        ("hf:org/r/sub/dir/f.gguf", "hf_org_r_sub__dir_f.gguf"),
        ("hf:org/r/f/f.gguf", "hf_org_r_f.gguf"),
        (REFERENCE + "#dev", "hf_org_tiny-GGUF_dev_tiny-Q8_0.gguf"),
        ("hf:org/tiny-GGUF:Q8_0", "hf_org_tiny.Q8_0.gguf"),
        ("hf:org/tiny-GGUF", "hf_org_tiny.Q4_K_M.gguf"),
    ],
)
def test_a_file_that_openclaw_has_downloaded(home, tmp_path, reference, name):
    path = touch(home / ".node-llama-cpp" / "models" / name)
    assert model_file(reference) == path
    configured = touch(tmp_path / "models" / name)
    assert model_file(reference, str(tmp_path / "models")) == configured


def test_the_default_model_is_either_of_openclaws(home):
    assert not local_model_exists("")
    with pytest.raises(EmbeddingFault, match="not on this machine"):
        model_file("")
    older = touch(home / ".node-llama-cpp" / "models" / "hf_ggml-org_embeddinggemma-300M-Q8_0.gguf")
    assert model_file("") == older
    newer = in_hub_cache(home / ".cache" / "huggingface" / "hub", DEFAULT_MODELS[0])
    assert model_file("") == newer


@pytest.mark.parametrize(
    ("tag", "expected"),
    [("Q8_0", "m-Q8_0.gguf"), ("q4_k_m", "m.Q4_K_M.gguf"), ("", "m.Q4_K_M.gguf"), ("Q4_K", ""), ("F32", "")],
)
def test_which_quantisation(tag, expected):
    assert pick(["README.md", "m-Q8_0.gguf", "m.Q4_K_M.gguf", "m.Q5_0.gguf"], tag) == expected


def test_a_question_never_downloads():
    with pytest.raises(EmbeddingFault, match="not on this machine") as caught:
        model_file(REFERENCE)
    assert caught.value.kind == "missing"


@pytest.mark.parametrize("switch", ["HF_HUB_OFFLINE", "OPENCLAW_MEMORY_OFFLINE"])
def test_downloads_that_are_switched_off(monkeypatch, switch):
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv(switch, "1")
    with pytest.raises(EmbeddingFault, match="downloads are off") as caught:
        model_file(REFERENCE, download=True)
    assert switch in str(caught.value)
    assert caught.value.kind == "missing"


BLOCKED = """
import sys
for name in ("llama_cpp", "huggingface_hub"):
    sys.modules[name] = None
import os
os.environ.pop("HF_HUB_OFFLINE", None)
from openclaw_memory.bank.embeddings.local import LocalEmbedder
from openclaw_memory.bank.embeddings.protocol import EmbeddingFault
for embedder in (LocalEmbedder(sys.argv[1]), LocalEmbedder("hf:org/r/f.gguf", download=True)):
    assert embedder.fingerprint
    try:
        embedder.embed_documents(["a text"])
    except EmbeddingFault as fault:
        print(fault.kind, fault)
"""


def test_packages_that_are_missing_are_named_with_the_remedy(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(header(general__architecture="bert"))
    command = [sys.executable, "-c", BLOCKED, str(path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr, len(lines)) == (0, "", 2)
    assert lines[0].startswith("missing the package llama-cpp-python is not installed")
    assert lines[1].startswith("missing the package huggingface_hub is not installed")
    assert all("pip install 'openclaw-memory[llama]'" in line for line in lines)


def test_importing_loads_no_heavy_package():
    code = (
        "import sys, openclaw_memory.bank.embeddings.local, openclaw_memory.bank.embeddings.rerank; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=Path.home(), capture_output=True, text=True, check=True)
    assert not {"llama_cpp", "huggingface_hub", "numpy", "urllib.request"} & set(done.stdout.split())


def header(**texts):
    """A GGUF file with these texts as metadata (``__`` for a dot) and no tensors."""

    def string(text):
        return len(text).to_bytes(8, "little") + text.encode()

    pairs = b"".join(
        string(key.replace("__", ".")) + (8).to_bytes(4, "little") + string(value) for key, value in texts.items()
    )
    counts = (0).to_bytes(8, "little") + len(texts).to_bytes(8, "little")
    return b"GGUF" + (3).to_bytes(4, "little") + counts + pairs


def test_headers(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(header(general__architecture="bert", general__name="Some Name"))
    assert read_header(path).architecture == "bert"
    good = path.read_bytes()
    for bad in (b"", b"GGU", b"text" * 9, good[:-1], good[:30], b"GGUF\1\0\0\0" + good[8:], good[:16] + b"\xff" * 8):
        path.write_bytes(bad)
        with pytest.raises(EmbeddingFault) as caught:
            read_header(path)
        assert caught.value.kind == "missing"
    assert LocalEmbedder(str(path)).fingerprint == "local:m.gguf:no model file"
    assert LocalEmbedder(str(path)).dimensions is None


@pytest.mark.parametrize(
    ("architecture", "name", "form"),
    [
        ("gemma-embedding", "", "gemma"),
        ("gemma3", "Embeddinggemma 300M", "gemma"),
        ("nomic-bert", "nomic-embed-text-v1.5", "nomic"),
        ("nomic-bert-moe", "", "nomic"),
        ("bert", "Multilingual E5 Large", "e5"),
        ("bert", "multilingual-e5-large-instruct", "e5-instruct"),
        ("qwen3", "Qwen3 Embedding 0.6B", "qwen3"),
        ("qwen3", "Qwen3 0.6B", "plain"),
        ("gemma3", "Gemma 3 270m", "plain"),
        ("bert", "bge-small-en-v1.5", "plain"),
    ],
)
def test_prompt_forms(architecture, name, form):
    told = GgufHeader({"general.architecture": architecture, "general.name": name}, {}, frozenset(), 0)
    assert form_of(told, "model.gguf").name == form
    if name:
        bare = GgufHeader({"general.architecture": architecture}, {}, frozenset(), 0)
        assert form_of(bare, f"{name}.gguf").name == form
