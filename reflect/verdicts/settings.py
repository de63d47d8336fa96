"""How the judging model is configured: ``memory.reflect.model``, for all agents or for one.

Key by key, the nearest place that says something counts: the agent's own entry, the top of the file, the defaults of
all agents. A wrong type is a fault that names its key; an unknown key is a warning that names the nearest known one.
For a quick try the environment will do, and then the configuration's model is not looked at.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...bank.config import DEFAULT_AGENT, Configuration
from ...bank.layers import LayerReader, Setting, section_layers, unknown_keys
from .chat import TIMEOUT

PROVIDERS = ("openai-compatible", "llama", "none")
PLACE = "memory.reflect.model"
_KNOWN: dict[str, Any] = {
    "model": dict.fromkeys(
        ("provider", "model", "baseUrl", "apiKey", "headers", "modelPath", "timeoutMs", "concurrency")
    )
}
_ENVIRONMENT = "OPENCLAW_REFLECT_"
#: As many as the batches of embeddings: a server on a small machine answers them one after the other.
CONCURRENCY = 2


class ModelSettings(NamedTuple):
    """``provider``: openai-compatible, llama or none (also where nothing is configured). ``timeout``: seconds for one
    answer. ``concurrency``: questions put to a server at a time. ``problem``: why what is configured cannot be used, as
    one line; "" where all is well."""

    provider: str = "none"
    model: str = ""
    base_url: str = ""
    api_key: str = ""
    headers: Mapping[str, str] = {}
    model_path: str = ""
    timeout: float = TIMEOUT
    concurrency: int = CONCURRENCY
    problem: str = ""

    def __repr__(self) -> str:
        return f"ModelSettings(provider={self.provider!r}, model={self.model!r}, problem={self.problem!r})"


def read_settings(
    configuration: Configuration | None,
    agent: str,
    environ: Mapping[str, str] | None = None,
    effective: list[Setting] | None = None,
) -> tuple[ModelSettings, list[str]]:
    """The settings of ``agent`` ("": main), and the warnings to show, one line each.

    ``environ`` (by default the process's own) fills in ``${VAR}``; ``effective`` takes down what is read. Raises
    ``MemoryFault`` for a value of a wrong type.
    """
    environ = os.environ if environ is None else environ
    from_environment = _from_environment(environ)
    if from_environment or configuration is None or not configuration.values:
        return from_environment or ModelSettings(), []
    warnings: list[str] = []
    layers: list[tuple[str, dict[str, Any]]] = []
    for place, reflect in section_layers(configuration, agent or DEFAULT_AGENT, "memory.reflect"):
        warnings += unknown_keys(reflect, _KNOWN, place, configuration)
        model = reflect.get("model")
        if model is not None and not isinstance(model, dict):
            raise configuration.wrong_type(f"{place}.model", "an object", model)
        if model:
            layers.append((f"{place}.model", model))
    if not layers:
        return ModelSettings(), warnings
    reader = LayerReader(configuration, layers, environ, warnings, PLACE, effective)
    (provider, where), (model_path, _), (base_url, _) = map(reader.text, ("provider", "modelPath", "baseUrl"))
    key, _, problem = reader.secret("apiKey")
    if not key and not problem:
        key = environ.get(_ENVIRONMENT + "API_KEY", "").strip()
    settings = ModelSettings(
        provider or ("llama" if model_path else "openai-compatible" if base_url else "none"),
        reader.text("model")[0],
        base_url,
        key,
        reader.headers("headers"),
        model_path,
        reader.number("timeoutMs", TIMEOUT * 1000) / 1000,
        reader.whole("concurrency", CONCURRENCY),
        problem,
    )
    wanted = {"openai-compatible": ("model", "baseUrl"), "llama": ("modelPath",)}.get(settings.provider, ())
    missing = next((name for name in wanted if name in reader.unset or not reader.text(name)[0]), "")
    if settings.provider not in PROVIDERS:
        problem = f"{where}: no such provider: {provider}; use {', '.join(PROVIDERS)}"
    elif missing:
        said = reader.unset.get(missing)
        problem = said or f"{layers[0][0]}.{missing} is not set; {settings.provider} needs it"
    elif "headers" in reader.unset:
        problem = reader.unset["headers"]
    elif not provider and settings.provider == "none":
        problem = f"{layers[0][0]} names neither baseUrl nor modelPath; set one, or provider to none"
    elif settings.provider == "none":
        problem = ""
    place = f" ({configuration.path})" if problem else ""
    warnings = [line for line in dict.fromkeys(warnings) if not problem or not line.startswith(problem)]
    return settings._replace(problem=problem + place), warnings


def _from_environment(environ: Mapping[str, str]) -> ModelSettings | None:
    path, base, model, key = (
        environ.get(_ENVIRONMENT + name, "").strip() for name in ("MODEL_PATH", "BASE_URL", "MODEL", "API_KEY")
    )
    if path:
        return ModelSettings("llama", model_path=path)
    if base:
        missing = "" if model else f"{_ENVIRONMENT}BASE_URL is set, {_ENVIRONMENT}MODEL is not; set it too"
        return ModelSettings("openai-compatible", model, base, key, problem=missing)
    return None
