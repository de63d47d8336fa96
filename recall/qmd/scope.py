"""Which chats may search by QMD: the rules of ``memory.qmd.scope`` on the key of the session that asks.

A session key reads ``agent:<id>:<rest>``; the rest of a chat on a channel reads ``discord:channel:42``,
``telegram:group:-100:topic:7``, ``whatsapp:default:direct:+49…`` or, older, ``telegram:dm:…``. A rest without such a
word (``main``) is the person's own chat. Sub-agents have no chat.
"""

from typing import NamedTuple

from ...bank.errors import one_line
from .settings import DIRECT, Rule, Scope

_KINDS = {"group": "group", "channel": "channel", "room": "channel", **dict.fromkeys(DIRECT, "direct")}
#: How far into a key the word may stand that says which kind of chat it is: behind the channel and an account.
_WORDS_BEFORE = 2


class Chat(NamedTuple):
    """What a session key tells. ``key``: in small letters, without ``agent:<id>:``. ``raw``: in small letters.
    ``channel``, ``chat_type``: "" where it does not tell."""

    key: str
    raw: str
    channel: str
    chat_type: str


def read_chat(session_key: str) -> Chat:
    """Take a session key apart. Any string is one."""
    raw = session_key.strip().lower()
    parts = raw.split(":")
    key = ":".join(parts[2:]) if parts[0] == "agent" and len(parts) > 2 else raw
    if not key or key.startswith("subagent:"):
        return Chat(key, raw, "", "")
    words = key.split(":")
    for position, word in enumerate(words[: _WORDS_BEFORE + 1]):
        if word in _KINDS and len(words) > position + 1:
            return Chat(key, raw, words[0] if position else "", _KINDS[word])
    return Chat(key, raw, "", "direct")


def allows(scope: Scope, chat: Chat) -> bool:
    """Whether a chat may search."""
    return next((rule.allow for rule in scope.rules if _applies(rule, chat)), scope.allow)


def _applies(rule: Rule, chat: Chat) -> bool:
    # A key prefix with "agent:" is of the days when there was no other key to write it for.
    own = chat.raw if rule.key_prefix.startswith("agent:") else chat.key
    return (
        rule.chat_type in ("", chat.chat_type)
        and rule.channel in ("", chat.channel)
        and own.startswith(rule.key_prefix)
        and chat.raw.startswith(rule.raw_key_prefix)
    )


def denial(chat: Chat) -> str:
    """The line that says why a search found nothing."""
    channel, kind = chat.channel or "unknown", chat.chat_type or "unknown"
    told = f"memory.qmd.scope does not allow this chat to search (channel={channel}, chatType={kind}, key={chat.key})"
    return one_line(told)[:300]
