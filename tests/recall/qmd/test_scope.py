"""Which chats may search."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.recall.qmd.scope import allows, denial, read_chat
from openclaw_memory.recall.qmd.settings import Rule, Scope

KEYS = st.text("agent:mindscorlgup42+-dm/ \n", max_size=60)


@pytest.mark.parametrize(
    ("key", "channel", "kind"),
    [
        ("agent:main:main", "", "direct"),
        ("main", "", "direct"),
        ("agent:main:discord:channel:42", "discord", "channel"),
        ("agent:main:Discord:Channel:42:thread:7", "discord", "channel"),
        ("agent:main:telegram:group:-100123:topic:5", "telegram", "group"),
        ("agent:main:telegram:dm:123", "telegram", "direct"),
        ("agent:main:whatsapp:default:direct:+15551234567", "whatsapp", "direct"),
        ("agent:main:whatsapp:work:group:12036@g.us", "whatsapp", "group"),
        ("agent:main:direct:+15551234567", "", "direct"),
        ("group:12036", "", "group"),
        ("agent:main:cron:backup:run:7", "", "direct"),
        ("agent:main:subagent:0a1b", "", ""),
        ("", "", ""),
    ],
)
def test_a_key_tells_channel_and_type(key: str, channel: str, kind: str) -> None:
    chat = read_chat(key)
    assert (chat.channel, chat.chat_type) == (channel, kind)


def test_by_default_only_direct_chats_may() -> None:
    assert allows(Scope(), read_chat("agent:main:main"))
    assert allows(Scope(), read_chat("agent:main:signal:direct:+49"))
    for key in ("agent:main:discord:channel:42", "agent:main:telegram:group:-1", "agent:main:subagent:0a1b", ""):
        assert not allows(Scope(), read_chat(key)), key


def test_the_first_rule_that_applies_decides() -> None:
    scope = Scope(
        False, (Rule(False, channel="discord", key_prefix="discord:channel:9"), Rule(True, channel="discord"))
    )
    assert not allows(scope, read_chat("agent:main:discord:channel:99"))
    assert allows(scope, read_chat("agent:main:discord:channel:42"))
    assert not allows(scope, read_chat("agent:main:slack:channel:42"))
    turned = Scope(False, scope.rules[::-1])
    assert allows(turned, read_chat("agent:main:discord:channel:99"))


def test_all_conditions_of_a_rule_have_to_hold() -> None:
    scope = Scope(False, (Rule(True, "group", "telegram", "telegram:group:-1", "agent:ops:"),))
    assert allows(scope, read_chat("agent:ops:telegram:group:-1"))
    for key in ("agent:main:telegram:group:-1", "agent:ops:telegram:group:-2", "agent:ops:telegram:channel:-1"):
        assert not allows(scope, read_chat(key)), key


def test_prefixes_of_the_whole_key_and_of_its_rest() -> None:
    key = read_chat("agent:Main:Discord:Channel:42")
    assert allows(Scope(False, (Rule(True, key_prefix="discord:channel:"),)), key)
    assert allows(Scope(False, (Rule(True, raw_key_prefix="agent:main:discord:"),)), key)
    assert not allows(Scope(False, (Rule(True, raw_key_prefix="discord:"),)), key)
    assert not allows(Scope(False, (Rule(True, key_prefix="main:"),)), key)


def test_an_older_key_prefix_is_one_of_the_whole_key() -> None:
    scope = Scope(False, (Rule(True, key_prefix="agent:main:discord:"),))
    assert allows(scope, read_chat("agent:main:discord:channel:42"))
    assert not allows(scope, read_chat("agent:ops:discord:channel:42"))


@given(KEYS)
def test_any_text_is_a_key(key: str) -> None:
    chat = read_chat(key)
    assert chat.chat_type in ("", "direct", "group", "channel")
    assert allows(Scope(True, ()), chat)
    assert not allows(Scope(False, ()), chat)
    assert allows(Scope(), chat) == (chat.chat_type == "direct")
    told = denial(chat)
    assert f"chatType={chat.chat_type or 'unknown'}" in told
    assert "\n" not in told
