"""Which file on this machine a configured model stands for: a path, or a file of a model hub (``hf:…``).

A reference is written as OpenClaw and node-llama-cpp write it::

    /models/embed.gguf  ~/models/embed.gguf         a file
    embed.gguf          sub/embed.gguf              a file below the cache folder
    hf:org/repo/file.gguf  hf:org/repo/dir/file.gguf#branch
    hf:org/repo  hf:org/repo:Q8_0                   the repository's GGUF of that quantisation

A file of the hub is looked for where OpenClaw has put it (``<cache folder>/hf_org_file.gguf``), then in the hub's own
cache (``models--org--repo/snapshots/…``), and only then downloaded, and only if the caller asks for it: a query never
does. Looking reads folders and imports nothing.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from .protocol import EmbeddingFault

#: What OpenClaw takes when no model is set: today's, then the one of its older versions. Any that is here is taken.
DEFAULT_MODELS = (
    "hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/embeddinggemma-300m-qat-Q8_0.gguf",
    "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf",
)
DEFAULT_MODEL = DEFAULT_MODELS[0]
#: Each switches downloads off (1, true, yes, on).
OFFLINE_SWITCHES = ("OPENCLAW_MEMORY_OFFLINE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
PACKAGE_REMEDY = "pip install 'openclaw-memory[llama]'"
#: Which quantisation ``hf:org/repo`` means, best first.
PREFERRED = ("Q4_K_M", "Q8_0", "F16", "BF16")


class HubFile(NamedTuple):
    """A file of a model hub. ``file`` is "" where only the repository was named, with ``tag`` as the quantisation."""

    user: str
    repository: str
    file: str = ""
    branch: str = "main"
    tag: str = ""

    def __str__(self) -> str:
        branch = f"#{self.branch}" if self.branch != "main" else ""
        tail = f"/{self.file}" if self.file else f":{self.tag}" if self.tag else ""
        return f"hf:{self.user}/{self.repository}{tail}{branch}"


def model_file(reference: str, cache_dir: str = "", *, download: bool = False) -> Path:
    """The file that ``reference`` ("" is the default model) stands for; ``download`` allows to fetch it from the hub.

    Raises ``EmbeddingFault``: ``input`` for a reference that cannot be read, ``missing`` where the file is not there,
    ``network``, ``auth``, ``quota`` or ``server`` for a failed download.
    """
    wanted = reference.strip() or DEFAULT_MODEL
    hub = hub_file(wanted)
    if hub is None:
        path = _path(wanted, cache_dir)
        if path.is_file():
            return path
        what = "the model is a folder, not a GGUF file" if path.is_dir() else "the model file does not exist"
        raise EmbeddingFault(what, str(path), "check local.modelPath", kind="missing", lasting=True)
    for candidate in (hub, *map(hub_file, DEFAULT_MODELS[1:])) if not reference.strip() else (hub,):
        found = candidate and _find(candidate, cache_dir)
        if found:
            return found
    offline = next((name for name in OFFLINE_SWITCHES if _is_on(name)), "")
    if offline and download:
        remedy = f"unset {offline} and index again, or set local.modelPath to a GGUF file"
        raise EmbeddingFault("the model is not on this machine, and downloads are off", wanted, remedy, kind="missing")
    if not download:
        remedy = "index the workspace to download it, or set local.modelPath to a GGUF file"
        raise EmbeddingFault("the model is not on this machine", wanted, remedy, kind="missing")
    return _download(hub, cache_dir)


def local_model_exists(reference: str, cache_dir: str = "") -> bool:
    """Whether a model is configured and its file is here. Stats and lists a few folders; never opens a connection."""
    try:
        hub = hub_file(reference.strip())
        if hub is not None:
            return _find(hub, cache_dir) is not None
        return bool(reference.strip()) and _path(reference.strip(), cache_dir).is_file()
    except (EmbeddingFault, OSError, ValueError):
        return False


def hub_file(reference: str) -> HubFile | None:
    """The hub's file that ``reference`` names, or None for a path. Raises ``EmbeddingFault`` (``input``)."""
    scheme, colon, rest = reference.partition(":")
    if not colon or len(scheme) < 2 or not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        return None
    if scheme.lower() not in ("hf", "huggingface"):
        remedy = "download the GGUF file and set local.modelPath to its path, or write hf:org/repository/file.gguf"
        raise EmbeddingFault(
            f"{scheme}: addresses of models are not read", reference, remedy, kind="input", lasting=True
        )
    rest, _, branch = rest.removeprefix("//").partition("#")
    user, _, rest = rest.partition("/")
    repository, _, file = rest.partition("/")
    repository, _, tag = repository.partition(":")
    names = [user, repository, *(file.split("/") if file else ())]
    if not all(re.fullmatch(r"[\w.\-+ ]+", name) and name.strip(".") for name in names) or (tag and file):
        remedy = "write hf:org/repository/file.gguf or hf:org/repository:Q8_0"
        raise EmbeddingFault("the address of the model is not complete", reference, remedy, kind="input", lasting=True)
    return HubFile(user, repository, file, branch or "main", tag.strip())


def pick(names: Iterable[str], tag: str) -> str:
    """Of GGUF file names the one of quantisation ``tag``, or with no tag the usual one; "" where there is none."""
    files = sorted(name for name in names if name.lower().endswith(".gguf"))
    for wanted in (tag,) if tag and tag.lower() != "latest" else PREFERRED:
        pattern = re.compile(rf"(?<![A-Za-z0-9]){re.escape(wanted)}(?![A-Za-z0-9_])", re.IGNORECASE)
        for name in files:
            if pattern.search(name):
                return name
    return files[0] if len(files) == 1 and not tag else ""


def _path(reference: str, cache_dir: str) -> Path:
    try:
        path = Path(reference).expanduser()
        return path if path.is_absolute() else _folders(cache_dir)[0] / path
    except (RuntimeError, ValueError) as error:
        what = f"the path of the model cannot be read: {error}"
        raise EmbeddingFault(what, reference, "check local.modelPath", kind="input", lasting=True) from None


def _folders(cache_dir: str) -> list[Path]:
    """Where OpenClaw keeps models: the configured folder, then node-llama-cpp's own."""
    own = [Path(cache_dir.strip()).expanduser()] if cache_dir.strip() else []
    return [*own, Path("~/.node-llama-cpp/models").expanduser()]


def _hub_caches(cache_dir: str) -> list[Path]:
    """The hub's caches: the configured folder, then where its own package keeps it."""
    own = [Path(cache_dir.strip()).expanduser()] if cache_dir.strip() else []
    home = os.environ.get("HF_HOME") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface")
    cache = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE") or os.path.join(home, "hub")
    return [*own, Path(os.path.expandvars(cache)).expanduser()]


def _find(hub: HubFile, cache_dir: str) -> Path | None:
    """The hub's file where OpenClaw or the hub's own package has put it, or None."""
    for folder in _folders(cache_dir):
        for name in _openclaw_names(hub, folder):
            if (folder / name).is_file():
                return folder / name
    for cache in _hub_caches(cache_dir):
        for snapshot in _snapshots(cache / f"models--{hub.user}--{hub.repository}", hub.branch):
            name = hub.file or pick((path.name for path in snapshot.glob("*.gguf")), hub.tag)
            if name and (snapshot / name).is_file():
                return snapshot / name
    return None


def _openclaw_names(hub: HubFile, folder: Path) -> Iterator[str]:
    """The names that node-llama-cpp gives the file: the repository is left out where the file's name begins with it."""
    base = re.sub(r"-gguf$", "", hub.repository, flags=re.IGNORECASE)
    if not hub.file:
        start = f"hf_{hub.user}_{base}."
        chosen = pick((name for name in _list(folder) if name.startswith(start)), hub.tag)
        yield from (chosen,) if chosen else ()
        return
    *parents, name = hub.file.split("/")
    parts = ["hf", hub.user]
    if base == hub.repository or not name.lower().startswith(base.lower()) or hub.branch != "main":
        parts.append(hub.repository)
    if hub.branch != "main":
        parts.append(hub.branch)
    if parents and parents[-1].lower() == name.lower().removesuffix(".gguf"):
        parents = parents[:-1]
    yield "_".join([*parts, *(("__".join(parents),) if parents else ()), name])


def _list(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _snapshots(repository: Path, branch: str) -> Iterator[Path]:
    """The folder of the revision that ``branch`` (or a commit) stands for in the hub's cache."""
    try:
        yield repository / "snapshots" / (repository / "refs" / branch).read_text("utf-8").strip()
    except (OSError, ValueError):
        yield repository / "snapshots" / branch


def _is_on(name: str) -> bool:
    return os.environ.get(name, "").strip().lower() in ("1", "true", "yes", "on")


def _download(hub: HubFile, cache_dir: str) -> Path:
    """Fetch the file into the hub's cache (a broken download goes on where it stopped)."""
    try:
        package: Any = import_module("huggingface_hub")
        errors: Any = import_module("huggingface_hub.errors")
    except ImportError:
        what = "the package huggingface_hub is not installed, so the model cannot be downloaded"
        raise EmbeddingFault(what, str(hub), PACKAGE_REMEDY, kind="missing", lasting=True) from None
    import_module("huggingface_hub.utils.logging").set_verbosity_error()
    if not sys.stderr.isatty():
        import_module("huggingface_hub.utils").disable_progress_bars()
    repository = f"{hub.user}/{hub.repository}"
    try:
        _try_to_connect(import_module("huggingface_hub.constants").ENDPOINT)
        name = hub.file or pick(package.HfApi().list_repo_files(repository, revision=hub.branch), hub.tag)
        if not name:
            what = f"the repository has no GGUF file of quantisation {hub.tag or PREFERRED[0]}"
            remedy = "name the file: hf:org/repository/file.gguf"
            raise EmbeddingFault(what, str(hub), remedy, kind="missing", lasting=True)
        folder = Path(cache_dir.strip()).expanduser() if cache_dir.strip() else None
        return Path(package.hf_hub_download(repository, name, revision=hub.branch, cache_dir=folder))
    except EmbeddingFault:
        raise
    except Exception as error:
        raise _download_fault(error, errors, hub) from None


def _try_to_connect(address: str) -> None:
    """Fail at once where there is no network: the hub's package tries for half a minute. Proxies are left to it."""
    import socket
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    if (parts.scheme in getproxies() or "all" in getproxies()) and not proxy_bypass(host):
        return
    try:
        socket.create_connection((host, port), timeout=10).close()
    except OSError as error:
        raise ConnectionError from error


def _download_fault(error: Exception, errors: Any, hub: HubFile) -> EmbeddingFault:
    """What a failed download means to a person."""
    status = getattr(getattr(error, "response", None), "status_code", 0) or 0
    kind, what, remedy = "network", f"the model could not be downloaded: {type(error).__name__}", "try again"
    if isinstance(error, errors.GatedRepoError) or status in (401, 403):
        kind, what, remedy = "auth", "the hub wants a login for this model", "accept its terms and log in"
    elif isinstance(error, errors.LocalEntryNotFoundError | ConnectionError | TimeoutError):
        what = "the model could not be downloaded: no connection to the hub"
    elif isinstance(error, errors.RepositoryNotFoundError | errors.RevisionNotFoundError | errors.EntryNotFoundError):
        kind, what, remedy = "missing", "the hub has no such model file", "check local.modelPath"
    elif status == 429:
        kind, what, remedy = "quota", "the hub refuses more downloads for now", "try again later"
    elif status >= 500:
        kind, what = "server", f"the hub failed ({status})"
    elif isinstance(error, OSError) and error.strerror and not status:
        kind, what, remedy = "missing", f"the model could not be stored: {error.strerror}", "check the cache folder"
    remedy += ", or download the GGUF file elsewhere and set local.modelPath to it"
    return EmbeddingFault(what, str(hub), remedy, kind=kind, lasting=kind in ("missing", "auth"))
