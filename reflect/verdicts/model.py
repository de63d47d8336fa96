"""Verdicts by a language model, where one is configured: kept by content, and the learned judge's where it fails."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from ...bank.embeddings.protocol import EmbeddingFault
from .chat import Chat
from .prompts import STANCES, SUCCESSIONS, messages, read_answer, schema
from .records import COEXISTS, NEUTRAL, WEAK, Claim, Scorer, Stance, Succession
from .verdict_cache import VerdictCache

#: What a label of a model is taken to be worth; a weak one less.
SURE, LESS_SURE = 0.9, 0.7
#: After so many failures in a row the model is asked nothing more in this run.
FAILURES = 3


class ModelScorer:
    """``chat``: the model. ``fallback``: judges what the model does not, or cannot. ``kept``: its earlier answers.
    ``warn``: gets one line when the model fails.

    After three failures in a row, or one that asking again cannot help, the model is asked nothing more.
    """

    name = "model"

    def __init__(self, chat: Chat, fallback: Scorer, kept: VerdictCache, warn: Callable[[str], None]) -> None:
        self._chat, self._fallback, self._kept, self._warn = chat, fallback, kept, warn
        self._failures = 0
        self._warned = False

    @cached_property
    def fingerprint(self) -> str:
        return f"model-1 {self._chat.fingerprint} {self._kept.rounds()} {self._fallback.fingerprint}"

    def stance(self, opinion: Claim, fact: Claim) -> Stance:
        known = self._fallback.stance(opinion, fact)
        answer = None if known.near_verbatim else self._ask("stance", opinion, fact)
        if answer is None:
            return known
        relation, strength = str(answer["relation"]), str(answer["strength"])
        if relation == NEUTRAL or not answer["same_question"]:
            return Stance(NEUTRAL, None, False, self._reason(answer), SURE)
        return Stance(relation, strength, False, self._reason(answer), LESS_SURE if strength == WEAK else SURE)

    def succession(self, old: Claim, new: Claim) -> Succession:
        known = self._fallback.succession(old, new)
        answer = None if known.near_verbatim else self._ask("succession", old, new)
        if answer is None:
            return known
        relation = str(answer["relation"]) if answer["same_question"] else COEXISTS
        return Succession(relation, False, self._reason(answer), LESS_SURE if answer["strength"] == WEAK else SURE)

    def _reason(self, answer: Mapping[str, Any]) -> str:
        return f"{self._chat.name}: “{' '.join(str(answer['quotes'][0]).split())}”"

    def _ask(self, task: str, old: Claim, new: Claim) -> Mapping[str, Any] | None:
        """The model's answer as it is kept or given now; None where it gives none that counts."""
        relations = STANCES if task == "stance" else SUCCESSIONS
        asked = messages(task, old, new)
        key = hashlib.sha256(json.dumps([self._chat.fingerprint, asked]).encode()).hexdigest()
        known, answer = self._kept.get(key)
        if not known:
            if self._failures >= FAILURES:
                return None
            try:
                answer = self._chat.ask(asked, schema(relations))
            except EmbeddingFault as fault:
                self._failed(fault)
                return None
            self._failures = 0
            self._kept.put(key, answer)
        return read_answer(answer, relations, old, new)

    def _failed(self, fault: EmbeddingFault) -> None:
        """Count a failure. A refused question (``input``) may be the fault of its words alone."""
        self._failures = FAILURES if fault.lasting and fault.kind != "input" else self._failures + 1
        self._kept.failed()
        if not self._warned:
            self._warned = True
            self._warn(f"{fault}; the learned judge decides where the model does not")
