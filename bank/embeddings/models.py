"""The models of one workspace: chosen when they are first needed, and once."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..config import DEFAULT_AGENT, Configuration
from .settings import EmbeddingSettings, read_settings

if TYPE_CHECKING:
    from .choice import Choice
    from .rerank import Reranker


class Models:
    """``settings``: how the models are configured, for ``agent``; ``environ``: where keys are looked for, by default
    the process's own environment. ``choice``: an embedder that is given instead of being chosen."""

    def __init__(
        self,
        settings: EmbeddingSettings | None = None,
        agent: str = DEFAULT_AGENT,
        environ: Mapping[str, str] | None = None,
        choice: "Choice | None" = None,
    ) -> None:
        self.settings = settings or EmbeddingSettings()
        self.agent, self._environ = agent, environ
        self._given = choice
        #: By whether it is for indexing.
        self._made: dict[bool, Choice] = {}
        self._reranker: Reranker | None = None
        #: Lines for a person about settings that mean nothing.
        self.warnings: tuple[str, ...] = ()

    @classmethod
    def configured(cls, configuration: Configuration, agent: str) -> "Models":
        """The models that a configuration says. Raises ``MemoryFault`` for a value of a wrong type."""
        settings, warnings = read_settings(configuration, agent)
        models = cls(settings, agent)
        models.warnings = tuple(warnings)
        return models

    def choice(self, *, download: bool = False) -> "Choice":
        """The embedder and why it was chosen. ``download``: for indexing, which can wait: a local model that is not
        here may be fetched when it is first asked, and a provider is given minutes. A question cannot."""
        if self._given:
            return self._given
        if download not in self._made:
            indexing = self._made.get(True)
            if indexing and (indexing.embedder is None or indexing.embedder.provider in ("static", "local")):
                # A model that is loaded is not loaded twice.
                return indexing
            from .choice import choose

            environ = os.environ if self._environ is None else self._environ
            self._made[download] = choose(self.settings, environ, self.agent, download=download)
        return self._made[download]

    def reranker(self) -> "Reranker | None":
        """The model that puts results in a better order, where one is configured. It fetches nothing."""
        if self.settings.rerank_model and self._reranker is None:
            from .rerank import Reranker

            self._reranker = Reranker(self.settings.rerank_model, self.settings.model_cache_dir)
        return self._reranker

    def fetch_reranker(self) -> str:
        """Bring the rerank model here, where one is configured and can be run; a line for a person where that failed,
        or ""."""
        if not self.settings.rerank_model:
            return ""
        from importlib.util import find_spec

        from .model_files import PACKAGE_REMEDY, model_file
        from .protocol import EmbeddingFault

        if not find_spec("llama_cpp"):
            return f"the rerank model cannot be used: llama-cpp-python is not installed; {PACKAGE_REMEDY}"
        try:
            model_file(self.settings.rerank_model, self.settings.model_cache_dir, download=True)
        except EmbeddingFault as fault:
            return f"the rerank model cannot be used: {fault}".replace("local.modelPath", "rerank.model")
        return ""
