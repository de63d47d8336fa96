"""Which embedder is used, and why: the one that the settings name, else the first that needs nothing more.

``auto`` takes ``local`` (a model file that is here), then, where there is a configuration at all, ``openai``,
``gemini``, ``voyage`` (whose key is found), then the built-in static model. One that is named and cannot be had gives
way to ``fallback``, or to the static model where none is set; ``fallback: "none"`` leaves the search to keywords. It
is never silent: there is a warning that says what, why and what to do. Choosing asks nobody, and no key is in what it
says.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..errors import one_line
from .keys import Key, find_key
from .protocol import Embedder, EmbeddingFault
from .services import OFFICIAL, REMOTE, SERVICES, VARIABLES, is_known, meant, speaks_as
from .settings import EmbeddingSettings, RemoteSettings, endpoint_of

if TYPE_CHECKING:
    from .remote import Wire

#: Set to anything but 0, false or no: only models on this machine.
OFFLINE = "OPENCLAW_MEMORY_OFFLINE"
_KEYLESS = ("openai-compatible", "ollama", "lmstudio")
_BEARS_KEY = ("authorization", "x-goog-api-key", "api-key", "x-api-key")


class Choice(NamedTuple):
    """``embedder``: None leaves the search to keywords. ``requested``: the provider that the settings name, or
    ``auto``. ``reason``: a few words for ``status``. ``fallback_from``: the provider that could not be had, or "".
    ``warning``: a line for a person, or ""."""

    embedder: Embedder | None
    requested: str
    reason: str
    fallback_from: str = ""
    warning: str = ""


def choose(
    settings: EmbeddingSettings, environ: Mapping[str, str], agent: str, state_dir: str = "", *, download: bool = False
) -> Choice:
    """The embedder for ``agent``. ``state_dir``: OpenClaw's folder, by default the one that ``environ`` leads to.
    ``download``: somebody indexes, who can wait: the embedder may fetch a local model that is not here (not now, but
    when it is first asked), and has patience with a provider. Without, a question waits."""
    search = _Search(settings, environ, agent, state_dir, download)
    requested = settings.provider
    if not settings.enabled:
        return Choice(None, requested, "memory.search.enabled is false")
    if requested == "none":
        return Choice(None, requested, settings.source)
    try:
        return search.first() if requested == "auto" else search.named(requested)
    except EmbeddingFault as damaged:
        reason = "the built-in model cannot be used"
        return Choice(None, requested, reason, "static", one_line(f"{damaged}; keyword search answers"))


class _Wish(NamedTuple):
    """What of the settings belongs to the provider that is made."""

    remote: RemoteSettings
    model: str = ""
    dimensions: int | None = None


class _Search:
    """What is looked at while choosing. ``own``: the settings as they stand, for the provider they are written for;
    ``bare``: what is left of them for another."""

    def __init__(
        self, settings: EmbeddingSettings, environ: Mapping[str, str], agent: str, state_dir: str, download: bool
    ) -> None:
        self.settings, self.environ, self.agent, self.state_dir = settings, environ, agent, state_dir
        self.own = _Wish(settings.remote, settings.model, settings.dimensions)
        self.bare = _Wish(RemoteSettings(batch=settings.remote.batch))
        self.offline = environ.get(OFFLINE, "").strip().casefold() not in ("", "0", "false", "no")
        self.patient, self.download = download, download and not self.offline

    def first(self) -> Choice:
        """The choice of ``auto``."""
        settings, remote = self.settings, self.settings.remote
        if settings.model_path:
            from .model_files import local_model_exists

            if local_model_exists(settings.model_path, settings.model_cache_dir) and _llama_is_here():
                return Choice(self.make("local", self.own), "auto", "memory.search.local.modelPath is set")
        if self.offline:
            return Choice(_static(), "auto", f"{OFFLINE} is set")
        warning = ""
        owner = _owner_of(remote, settings.model)
        if owner:
            try:
                what = remote.key_source or f"memory.search.remote.{'baseUrl' if remote.base_url else 'headers'}"
                return Choice(self.make(owner, self.own), "auto", f"{what} is set")
            except EmbeddingFault as fault:
                warning = one_line(f"what is set below memory.search.remote cannot be used: {fault}")
        for name in REMOTE if settings.configured else ():
            key = self._key(name)
            if key.value:
                fits = _model_of(settings.model) in (name, "")
                wish = self.own._replace(remote=self.bare.remote) if fits else self.bare
                reason = f"a key is in {key.source}" if " " in key.source else f"{key.source} is set"
                return Choice(self.make(name, wish, key), "auto", reason, "", warning)
        return Choice(_static(), "auto", "no other model is configured", "", warning)

    def named(self, requested: str) -> Choice:
        """The choice where the settings name a provider."""
        try:
            return Choice(self.make(requested, self.own), requested, self.settings.source)
        except EmbeddingFault as fault:
            return self._instead_of(requested, fault)

    def _instead_of(self, requested: str, fault: EmbeddingFault) -> Choice:
        what = f"the embedding provider {requested} cannot be used: {fault}"
        name = self.settings.fallback
        embedder: Embedder | None = None
        if name == "none":
            reason, answers = "memory.search.fallback is none", "keyword search answers"
        else:
            reason, answers = f"{requested} cannot be used", "the built-in model answers"
            if name not in ("", "auto", "static", requested):
                try:
                    embedder = self.make(name, self.bare)
                    reason, answers = "memory.search.fallback is set", f"{name} answers, as memory.search.fallback says"
                except EmbeddingFault as second:
                    what += f"; nor can the fallback {name}: {second}"
            embedder = embedder or _static()
        return Choice(embedder, requested, reason, requested, one_line(f"{what}; {answers}"))

    def make(self, name: str, wish: _Wish, key: Key | None = None) -> Embedder:
        """The embedder of provider ``name``; raises ``EmbeddingFault`` where it cannot be had."""
        if name == "static":
            return _static()
        if name == "local":
            return self._local()
        if not is_known(name):
            raise EmbeddingFault("no such provider", self.settings.source, meant(name), kind="missing")
        if self.offline:
            raise EmbeddingFault(f"{OFFLINE} is set", "", "unset it to use the network", kind="missing", lasting=True)
        return self._remote(name, wish, key)

    def _local(self) -> Embedder:
        from .local import LocalEmbedder
        from .model_files import PACKAGE_REMEDY, hub_file, model_file

        path, cache = self.settings.model_path, self.settings.model_cache_dir
        if not _llama_is_here():
            raise EmbeddingFault("llama-cpp-python is not installed", "", PACKAGE_REMEDY, kind="missing", lasting=True)
        if not (self.download and (not path or hub_file(path))):
            model_file(path, cache)
        return LocalEmbedder(path, cache, download=self.download)

    def _remote(self, name: str, wish: _Wish, key: Key | None) -> Embedder:
        from .remote import RemoteEmbedder
        from .transport import FOR_DOCUMENTS, FOR_QUERY

        remote = wish.remote
        if remote.problem:
            raise EmbeddingFault(remote.problem, "", "set it, or write the value", kind="missing", lasting=True)
        base_url, endpoint = remote.base_url, endpoint_of(name, self.settings)
        if key is None:
            key = Key(remote.api_key, remote.key_source)
            if not base_url and endpoint.base_url and not endpoint.base_url.startswith(OFFICIAL.get(name, "-")):
                base_url = endpoint.base_url
                key = key if key.value else Key(endpoint.api_key, endpoint.source)
        if name == "openai-compatible" and not base_url:
            raise EmbeddingFault("its address is not set", "", "set memory.search.remote.baseUrl", kind="missing")
        needs_key = not base_url and name not in _KEYLESS
        base_url = base_url or (SERVICES[name].base_url if name in SERVICES else "")
        if not key.value and (not base_url or base_url.startswith("https:")):
            # A key that was not written for this address goes there only where nobody on the way can read it.
            key = self._key(name)
        if needs_key and not key.value and not any(header.casefold() in _BEARS_KEY for header in remote.headers):
            remedy = f"set {' or '.join(VARIABLES[name])}, or memory.search.remote.apiKey"
            raise EmbeddingFault("no key was found", "", remedy, kind="missing", lasting=True)
        wire = self._wire(name, wish, base_url)
        patience = FOR_DOCUMENTS if self.patient else FOR_QUERY
        return RemoteEmbedder(wire, key.value, remote.headers, wish.dimensions, remote.batch, patience=patience)

    def _wire(self, name: str, wish: _Wish, base_url: str) -> "Wire":
        protocol = speaks_as(name)
        if protocol == "gemini":
            from .gemini import GeminiWire

            return GeminiWire(wish.model, base_url, wish.dimensions)
        if protocol == "voyage":
            from .voyage import VoyageWire

            return VoyageWire(wish.model, base_url, wish.dimensions)
        from .openai import OpenAIWire

        if name == "ollama" and "/" not in base_url.partition("://")[2].rstrip("/"):
            base_url = base_url.rstrip("/") + "/v1"
        model = wish.model or (SERVICES[name].model if name in SERVICES else "")
        kinds = (self.settings.query_input_type, self.settings.document_input_type)
        return OpenAIWire(model, base_url, wish.dimensions, *kinds, name=name)

    def _key(self, name: str) -> Key:
        return find_key(name, self.settings, self.environ, self.agent, self.state_dir)


def _llama_is_here() -> bool:
    from importlib.util import find_spec

    return find_spec("llama_cpp") is not None


def _static() -> Embedder:
    from .static import StaticEmbedder

    return StaticEmbedder()


def _owner_of(remote: RemoteSettings, model: str) -> str:
    """Whose settings those below ``remote`` are, where ``provider`` does not say it; "" where there are none."""
    for name, address in OFFICIAL.items():
        if remote.base_url.startswith(address):
            return name
    if remote.base_url:
        return _model_of(model) or "openai"
    return (_model_of(model) or "openai") if remote.api_key or remote.headers or remote.problem else ""


def _model_of(model: str) -> str:
    """The provider whose model has such a name; "" where it may be anyone's."""
    name = model.casefold()
    if "voyage" in name:
        return "voyage"
    if "gemini" in name or name.startswith("models/"):
        return "gemini"
    return "openai" if name.startswith(("text-embedding-3", "text-embedding-ada", "openai/")) else ""
