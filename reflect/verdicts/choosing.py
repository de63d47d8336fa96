"""Which judge reads the pairs: the one that is named, or the model that the configuration names, or the learned one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...bank.config import Configuration
from ...bank.embeddings.layers import LayerReader
from ...bank.errors import UsageFault
from .chat import Chat, LocalChat, RemoteChat
from .records import Scorer
from .scorers import make_scorer

NAMES = ("auto", "learned", "rules", "model", "none")
_HOW = "set memory.reflect.model in the configuration (docs/reflect-models.md)"
_KNOWN = frozenset(("provider", "model", "baseUrl", "apiKey", "headers", "modelPath", "timeoutMs"))


def choose_scorer(
    name: str,
    configuration: Configuration | None,
    agent: str,
    index_dir: str,
    warn: Callable[[str], None],
    environ: Mapping[str, str] | None = None,
) -> Scorer | None:
    """The judge called ``name`` (``auto``: the model where one is configured, else the learned one; ``none``: None).

    ``index_dir``: where verdicts of a model are kept. ``warn``: gets one line when the model fails. Raises
    ``UsageFault`` for an unknown name, and for ``model`` where none is configured; ``MemoryFault`` for a setting of a
    wrong type.
    """
    if name not in NAMES:
        raise UsageFault(f"--judge {name}: no such judge", remedy=f"use {', '.join(NAMES)}")
    if name == "none":
        return None
    chat = configured_chat(configuration, agent, warn, os.environ if environ is None else environ)
    if name in ("rules", "learned") or (name == "auto" and chat is None):
        return make_scorer("learned" if name == "auto" else name)
    if chat is None:
        raise UsageFault("--judge model: no model is configured", remedy=_HOW)
    from .model import ModelScorer

    path = os.path.join(index_dir, "verdicts.sqlite") if os.path.isdir(index_dir) else ""
    return ModelScorer(chat, make_scorer("learned"), path, warn)


def configured_chat(
    configuration: Configuration | None, agent: str, warn: Callable[[str], None], environ: Mapping[str, str]
) -> Chat | None:
    """The model of ``memory.reflect.model`` (the agent's own before the common one), or of the environment."""
    path, base = environ.get("OPENCLAW_REFLECT_MODEL_PATH", ""), environ.get("OPENCLAW_REFLECT_BASE_URL", "")
    if path:
        return LocalChat(Path(path).expanduser())
    if base:
        key = environ.get("OPENCLAW_REFLECT_API_KEY", "")
        return RemoteChat(base.rstrip("/"), environ.get("OPENCLAW_REFLECT_MODEL", "default"), key, {}, 60.0)
    layers = _layers(configuration, agent)
    if configuration is None or not layers:
        return None
    for place, layer in layers:
        for unknown in sorted(layer.keys() - _KNOWN):
            warn(f"{place}.{unknown}: no such setting ({configuration.path}); known are {', '.join(sorted(_KNOWN))}")
    warnings: list[str] = []
    reader = LayerReader(configuration, layers, environ, warnings)
    provider, where = reader.text("provider")
    model_path, _ = reader.text("modelPath")
    base, _ = reader.text("baseUrl")
    provider = provider or ("llama" if model_path else "openai-compatible" if base else "none")
    if provider not in ("llama", "openai-compatible", "none"):
        raise UsageFault(f"{where}: no such provider: {provider}", remedy="use openai-compatible, llama or none")
    for line in warnings:
        warn(line)
    if provider == "none":
        return None
    if provider == "llama":
        return LocalChat(Path(model_path).expanduser())
    key, _, problem = reader.secret("apiKey")
    if problem:
        warn(problem)
    timeout = reader.number("timeoutMs", 60_000) / 1000
    return RemoteChat(base.rstrip("/"), reader.text("model")[0] or "default", key, reader.headers("headers"), timeout)


def _layers(configuration: Configuration | None, agent: str) -> list[tuple[str, dict[str, Any]]]:
    """(key path, object) of every place that names the model, the nearest first."""
    if configuration is None:
        return []
    places = [f"agents.entries.{agent}.memory.reflect.model", "memory.reflect.model"]
    found = [(place, configuration.object_at(place)) for place in places]
    return [(place, layer) for place, layer in found if layer]
