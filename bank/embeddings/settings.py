"""How embeddings are configured: ``memory.search`` today, ``agents.*.memorySearch`` in older files.

Both are read, key by key: what an agent says of itself before what all agents share, and today's name before the older
one. A wrong type is a fault that names its key; an unknown key is a warning that names the nearest known one. What may
be put right while the program runs (a variable that is not set, a provider that nobody knows) is no fault here:
``choice`` falls back and says so.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..config import Configuration
from ..layers import LayerReader, Setting, misspelt_sections, search_layers, unknown_keys
from .keys import resolve_secret, substitute
from .services import STORED_AS, canonical, is_known


class BatchSettings(NamedTuple):
    """``remote.batch``: the providers' asynchronous batch back ends, for large backfills. They cost half, but an answer
    may take hours: until then the built-in model answers."""

    enabled: bool = True
    wait: bool = True
    concurrency: int = 2
    poll_seconds: float = 5.0
    timeout_minutes: float = 60.0


class RemoteSettings(NamedTuple):
    """``remote``: "" and {} stand for what the provider itself prescribes.

    ``key_source``: the key path that ``api_key`` was read from. ``problem``: why something that is set here cannot be
    used, as half a sentence; "" where all is well.
    """

    base_url: str = ""
    api_key: str = ""
    headers: Mapping[str, str] = {}
    batch: BatchSettings = BatchSettings()
    key_source: str = ""
    problem: str = ""

    def __repr__(self) -> str:
        return f"RemoteSettings(base_url={self.base_url!r}, batch={self.batch!r})"


class Endpoint(NamedTuple):
    """An entry of ``models.providers``: where OpenClaw itself reaches a provider, and with which key. The two belong
    together: the key is sent nowhere else. ``api``: the protocol's name there. ``source``: the entry's key path."""

    base_url: str = ""
    api_key: str = ""
    api: str = ""
    source: str = ""

    def __repr__(self) -> str:
        return f"Endpoint(source={self.source!r})"


class EmbeddingSettings(NamedTuple):
    """``provider``: auto, static, local, openai, gemini, voyage or none; the name of a service that speaks the OpenAI
    protocol (``services``); or a name that nobody knows, as it was written. ``fallback``: the same words, or "" where
    it is not set. ``source``: the configuration file and key they were read from, "" for defaults.
    ``query_input_type``, ``document_input_type``: what some servers of the OpenAI protocol want to be told.
    ``endpoints``: those of ``models.providers``, by the provider's name there. ``configured``: whether there is a
    configuration at all; without one nobody has asked for the network, whatever keys lie about."""

    enabled: bool = True
    provider: str = "auto"
    model: str = ""
    fallback: str = ""
    dimensions: int | None = None
    remote: RemoteSettings = RemoteSettings()
    model_path: str = ""
    model_cache_dir: str = ""
    cache_enabled: bool = True
    cache_max_entries: int = 50_000
    vector_extension: bool = True
    extension_path: str = ""
    rerank_model: str = ""
    source: str = ""
    query_input_type: str = ""
    document_input_type: str = ""
    endpoints: Mapping[str, Endpoint] = {}
    configured: bool = False


#: What may stand below ``memory.search``. None: a value, or an object whose inside another part of the house reads.
_KNOWN: dict[str, Any] = {
    **dict.fromkeys(("enabled", "provider", "model", "fallback", "outputDimensionality", "dimensions")),
    **dict.fromkeys(("inputType", "queryInputType", "documentInputType")),
    "remote": {
        **dict.fromkeys(("baseUrl", "apiKey", "headers", "nonBatchConcurrency")),
        "batch": dict.fromkeys(("enabled", "wait", "concurrency", "pollIntervalMs", "timeoutMinutes")),
    },
    "local": dict.fromkeys(("modelPath", "modelCacheDir", "contextSize")),
    "cache": dict.fromkeys(("enabled", "maxEntries")),
    "store": {
        **dict.fromkeys(("driver", "path")),
        "fts": dict.fromkeys(("tokenizer",)),
        "vector": dict.fromkeys(("enabled", "extensionPath")),
    },
    "rerank": {"model": None},
    "query": {
        **dict.fromkeys(("maxResults", "minScore")),
        "hybrid": {
            **dict.fromkeys(("enabled", "vectorWeight", "textWeight", "candidateMultiplier")),
            "mmr": dict.fromkeys(("enabled", "lambda")),
            "temporalDecay": dict.fromkeys(("enabled", "halfLifeDays")),
        },
    },
    "sync": {
        **dict.fromkeys(("onSessionStart", "onSearch", "watch", "watchDebounceMs", "interval", "intervalMinutes")),
        **dict.fromkeys(("embeddingBatchTimeoutSeconds",)),
        "sessions": dict.fromkeys(("deltaBytes", "deltaMessages", "postCompactionForce")),
    },
    "experimental": {"sessionMemory": None},
    **dict.fromkeys(("sources", "extraPaths", "chunking", "multimodal", "qmd", "rememberAcrossConversations")),
}


def read_settings(
    configuration: Configuration,
    agent: str,
    environ: Mapping[str, str] | None = None,
    effective: list[Setting] | None = None,
) -> tuple[EmbeddingSettings, list[str]]:
    """The settings of ``agent``, and the warnings to show, one line each.

    ``environ`` (by default the process's own) fills in ``${VAR}``; ``effective`` takes down what is read. Raises
    ``MemoryFault`` for a value of a wrong type.
    """
    configured = bool(configuration.path or configuration.values)
    if not configuration.values and effective is None:
        return EmbeddingSettings(configured=configured), []
    environ = os.environ if environ is None else environ
    layers = search_layers(configuration, agent)
    warnings = list(misspelt_sections(configuration, agent))
    for place, layer in layers:
        warnings += unknown_keys(layer, _KNOWN, place, configuration)
    reader = LayerReader(configuration, layers, environ, warnings, "memory.search", effective)
    endpoints = _endpoints(configuration, environ)
    provider, where = reader.text("provider")
    provider = canonical(provider) or "auto"
    remote = _remote(reader)
    endpoint = endpoints.get(provider)
    if endpoint and not is_known(provider) and is_known(canonical(endpoint.api)):
        provider = canonical(endpoint.api)
        if not remote.base_url:
            key, source = (remote.api_key, remote.key_source) if remote.api_key else (endpoint.api_key, endpoint.source)
            remote = remote._replace(base_url=endpoint.base_url, api_key=key, key_source=source)
    kind = reader.text("inputType")[0]
    settings = EmbeddingSettings(
        enabled=reader.truth("enabled", True),
        provider=provider,
        model=reader.text("model")[0],
        fallback=canonical(reader.text("fallback")[0]),
        dimensions=reader.whole("outputDimensionality", 0) or reader.whole("dimensions", 0) or None,
        remote=remote,
        model_path=reader.text("local.modelPath")[0],
        model_cache_dir=reader.text("local.modelCacheDir")[0],
        cache_enabled=reader.truth("cache.enabled", True),
        cache_max_entries=reader.whole("cache.maxEntries", 50_000),
        vector_extension=reader.truth("store.vector.enabled", True),
        extension_path=reader.text("store.vector.extensionPath")[0],
        rerank_model=reader.text("rerank.model")[0],
        source=f"{where or layers[0][0]} in {configuration.path}" if layers else "",
        query_input_type=reader.text("queryInputType")[0] or kind,
        document_input_type=reader.text("documentInputType")[0] or kind,
        endpoints=endpoints,
        configured=configured,
    )
    return settings, warnings


def _remote(reader: LayerReader) -> RemoteSettings:
    key, key_source, problem = reader.secret("remote.apiKey")
    base_url = reader.text("remote.baseUrl")[0]
    headers = reader.headers("remote.headers")
    defaults = BatchSettings()
    return RemoteSettings(
        base_url=base_url,
        api_key=key,
        headers=headers,
        batch=BatchSettings(
            enabled=reader.truth("remote.batch.enabled", defaults.enabled),
            wait=reader.truth("remote.batch.wait", defaults.wait),
            concurrency=reader.whole("remote.batch.concurrency", defaults.concurrency),
            poll_seconds=reader.number("remote.batch.pollIntervalMs", defaults.poll_seconds * 1000, zero=True) / 1000,
            timeout_minutes=reader.number("remote.batch.timeoutMinutes", defaults.timeout_minutes),
        ),
        key_source=key_source,
        problem=problem or reader.unset.get("remote.baseUrl", "") or reader.unset.get("remote.headers", ""),
    )


def _endpoints(configuration: Configuration, environ: Mapping[str, str]) -> dict[str, Endpoint]:
    """The entries of ``models.providers``. They are OpenClaw's own, so that nothing in them is a fault here."""
    models = configuration.values.get("models")
    providers = models.get("providers") if isinstance(models, dict) else None
    found: dict[str, Endpoint] = {}
    for name, entry in providers.items() if isinstance(providers, dict) else ():
        if isinstance(entry, dict):
            base_url, api = (value if isinstance(value := entry.get(key), str) else "" for key in ("baseUrl", "api"))
            key = resolve_secret(entry.get("apiKey"), configuration, environ)[0]
            source = f"models.providers.{name}.apiKey"
            found[name.casefold()] = Endpoint(substitute(base_url, environ)[0], key, api, source)
    return found


def endpoint_of(provider: str, settings: EmbeddingSettings) -> Endpoint:
    """Where OpenClaw reaches ``provider``; an empty one where it does not say."""
    return settings.endpoints.get(STORED_AS.get(provider, provider), Endpoint())
