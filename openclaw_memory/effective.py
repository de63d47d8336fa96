"""Every effective value of the configuration, and where each came from: what ``doctor`` shows."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .bank.config import Configuration, WorkspaceChoice, configuration_path
from .bank.embeddings import settings as embedding_settings
from .bank.flush_settings import read_flush
from .bank.layers import DEFAULT, Setting
from .bank.search_settings import read_search
from .recall.qmd.settings import read_qmd
from .reflect.verdicts import settings as verdict_settings


def effective_settings(
    configuration: Configuration, choice: WorkspaceChoice, environ: Mapping[str, str]
) -> tuple[list[Setting], list[str]]:
    """The settings of the agent in ``choice``, and the warnings about them, one line each.

    Raises ``MemoryFault`` for a value of a wrong type.
    """
    told: list[Setting] = [
        Setting("configuration", configuration.path or None, _source_of_path(environ)),
        Setting("workspace", choice.path, choice.source),
        Setting("agent", choice.agent, "the choice of the workspace"),
    ]
    agent = choice.agent
    warnings = embedding_settings.read_settings(configuration, agent, environ, told)[1]
    warnings += read_search(configuration, agent, environ, told)[1]
    warnings += read_qmd(configuration, agent, environ, told)[1]
    warnings += read_flush(configuration, agent, environ, told)[1]
    warnings += verdict_settings.read_settings(configuration, agent, environ, told)[1]
    head, rest = told[:3], {one.key: one._replace(value=_shown(one.value)) for one in told[3:]}
    return [*head, *(rest[key] for key in sorted(rest))], list(dict.fromkeys(warnings))


def _shown(value: object) -> object:
    """A value without the user and password that an address may hold."""
    return re.sub(r"//[^/@\s]+@", "//(hidden)@", value) if isinstance(value, str) else value


def _source_of_path(environ: Mapping[str, str]) -> str:
    for name in ("OPENCLAW_CONFIG_PATH", "OPENCLAW_STATE_DIR"):
        if environ.get(name):
            return name
    return "the first home that has one" if configuration_path(environ) else DEFAULT
