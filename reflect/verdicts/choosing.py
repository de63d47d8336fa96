"""Which judge reads the pairs: the one that is named, or the model that the configuration names, or the learned one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from ...bank.config import Configuration
from ...bank.embeddings.protocol import EmbeddingFault
from ...bank.errors import UsageFault
from .chat import Chat, RemoteChat
from .records import Scorer
from .scorers import make_scorer

NAMES = ("auto", "learned", "rules", "model", "none")
_HOW = "set memory.reflect.model.baseUrl and .model, or .modelPath, in openclaw.json (docs/reflect-models.md)"


def choose_scorer(
    name: str,
    configuration: Configuration | None,
    agent: str,
    index_dir: str,
    warn: Callable[[str], None],
    environ: Mapping[str, str] | None = None,
) -> Scorer | None:
    """The judge called ``name`` (``auto``: the model where one is configured, else the learned one; ``none``: None).

    ``index_dir``: where a model's answers are kept. ``warn``: gets one line for each setting that means nothing, and
    one when the model fails. A model that is configured and cannot be used is such a line under ``auto``. Raises
    ``UsageFault`` for an unknown name, and for ``model`` where none can be used; ``MemoryFault`` for a setting of a
    wrong type.
    """
    if name not in NAMES:
        raise UsageFault(f"--judge {name}: no such judge", remedy=f"use {', '.join(NAMES)}")
    if name == "none":
        return None
    if name in ("rules", "learned"):
        return make_scorer(name)
    from .settings import read_settings

    settings, warnings = read_settings(configuration, agent, os.environ if environ is None else environ)
    for line in warnings:
        warn(line)
    problem = settings.problem
    chat: Chat | None = None
    if not problem and settings.provider == "llama":
        from .local_chat import LocalChat

        chat = LocalChat(settings.model_path)
    elif not problem and settings.provider == "openai-compatible":
        try:
            chat = RemoteChat(settings.base_url, settings.model, settings.api_key, settings.headers, settings.timeout)
        except EmbeddingFault as fault:
            problem = str(fault)
    if chat is None and name == "model":
        if problem:
            raise UsageFault(f"--judge model: {problem}")
        raise UsageFault("--judge model: no model is configured", remedy=_HOW)
    learned = make_scorer("learned")
    if chat is None:
        if problem:
            warn(f"{problem}; the learned judge is used")
        return learned
    from .model import ModelScorer
    from .verdict_cache import VerdictCache

    at_once = 1 if settings.provider == "llama" else settings.concurrency
    return ModelScorer(chat, learned, VerdictCache(index_dir), warn, at_once)
