"""The providers of embeddings by name: which there are, which other services speak a protocol of theirs, whose key is
in which variable of the environment."""

from collections.abc import Container
from typing import NamedTuple

#: What ``provider`` may be, besides the names of ``SERVICES``.
PROVIDERS = ("auto", "static", "local", "openai", "gemini", "voyage", "none")
#: Those that are reached over the network and want a key; in the order in which ``auto`` looks for one.
REMOTE = ("openai", "gemini", "voyage")
VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "voyage": ("VOYAGE_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "deepinfra": ("DEEPINFRA_API_KEY",),
}
#: Where the addresses of the providers' own end points begin.
OFFICIAL = {
    "openai": "https://api.openai.com/",
    "gemini": "https://generativelanguage.googleapis.com/",
    "voyage": "https://api.voyageai.com/",
}
#: What OpenClaw calls them, in ``models.providers`` and in the key store.
STORED_AS = {"gemini": "google"}
_OTHER_SPELLINGS = {
    "google": "gemini",
    "voyageai": "voyage",
    "builtin": "static",
    "built-in": "static",
    "off": "none",
    "openai-completions": "openai-compatible",
    "openai-responses": "openai-compatible",
}


class Service(NamedTuple):
    """A service that speaks the OpenAI protocol: where it is, and the model to ask for by default."""

    base_url: str
    model: str


SERVICES = {
    "openai-compatible": Service("", "text-embedding-3-small"),
    "ollama": Service("http://127.0.0.1:11434/v1", "nomic-embed-text"),
    "lmstudio": Service("http://127.0.0.1:1234/v1", "text-embedding-nomic-embed-text-v1.5"),
    "mistral": Service("https://api.mistral.ai/v1", "mistral-embed"),
    "deepinfra": Service("https://api.deepinfra.com/v1/openai", "BAAI/bge-m3"),
}


def canonical(name: str) -> str:
    """The one spelling of a provider's name; an unknown name stays as it is, in lower case."""
    name = name.strip().casefold()
    return _OTHER_SPELLINGS.get(name, name)


def is_known(name: str) -> bool:
    return name in PROVIDERS or name in SERVICES


def meant(name: str, without: Container[str] = ()) -> str:
    """What to write in the place of a name that is no provider's: the one that it nearly is, else all of them but
    those ``without``."""
    from difflib import get_close_matches

    names = [one for one in (*PROVIDERS, *SERVICES) if one not in without]
    near = get_close_matches(canonical(name), names, 1, 0.7)
    return f"did you mean {near[0]}?" if near else f"write one of {', '.join(names)}"


def speaks_as(name: str) -> str:
    """The provider whose protocol ``name`` speaks."""
    return "openai" if name in SERVICES else name
