"""The judge's wiring to a real model in a GGUF file; what so small a model says is not judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from openclaw_memory.reflect.verdicts.local_chat import LocalChat
from openclaw_memory.reflect.verdicts.model import ModelScorer
from openclaw_memory.reflect.verdicts.prompts import STANCES, messages, schema
from openclaw_memory.reflect.verdicts.records import Claim
from openclaw_memory.reflect.verdicts.scorers import make_scorer
from openclaw_memory.reflect.verdicts.verdict_cache import VerdictCache

OPINION = Claim("Likes jazz.", "opinion", ("Pia",), None)
FACT = Claim("Sold her trumpet and all of her records.", "world", ("Pia",), None)


def test_answers_follow_the_schema_and_a_run_goes_on(
    gemma_path: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    chat = LocalChat(str(gemma_path))
    answer = chat.ask(messages("stance", OPINION, FACT), schema(STANCES))
    assert answer is None or answer["relation"] in STANCES
    told: list[str] = []
    judge = ModelScorer(chat, make_scorer("learned"), VerdictCache(str(tmp_path)), told.append)
    found = judge.stance(OPINION, FACT)
    assert found == judge.stance(OPINION, FACT)
    assert told == []
    assert chat.ask(messages("stance", OPINION, FACT), schema(STANCES)) == answer
    assert capfd.readouterr() == ("", "")


def test_a_file_that_is_no_model_is_said_once(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGUF nothing")
    told: list[str] = []
    judge = ModelScorer(LocalChat(str(path)), make_scorer("learned"), VerdictCache(""), told.append)
    assert judge.stance(OPINION, FACT) == make_scorer("learned").stance(OPINION, FACT)
    assert len(told) == 1
