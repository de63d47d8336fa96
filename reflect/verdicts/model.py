"""Verdicts by a language model, where one is configured: kept by content, and the learned judge's where it fails."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

from ...bank.embeddings.protocol import EmbeddingFault
from .chat import Chat, Messages
from .features import own_words
from .prompts import RELATIONS, STANCE, SUCCESSION, Answer, messages, read_answer, schema
from .records import NORMAL, OLDER_LATE, SUPERSEDES, WEAK, Claim, Scorer, Stance, Succession
from .rules import guarded
from .verdict_cache import VerdictCache

#: What a label of a model is taken to be worth; a weak one less. Models say nothing of their own error that could be
#: trusted, so these are two steps only: above what the learned judge needs to speak, below a restatement's 0.95.
SURE, LESS_SURE = 0.9, 0.7
#: After so many failures in a row the model is asked nothing more in this run.
FAILURES = 3


class ModelScorer:
    """``chat``: the model. ``fallback``: judges what the model does not, or cannot. ``kept``: its earlier answers.
    ``warn``: gets one line when the model fails. ``concurrency``: questions that ``prepare`` puts at a time.

    Restatements, and what a guard keeps from being evidence, are not asked for. After three failures in a row, or one
    that asking again cannot help or that took long, the model is asked nothing more.
    """

    name = "model"

    def __init__(
        self, chat: Chat, fallback: Scorer, kept: VerdictCache, warn: Callable[[str], None], concurrency: int = 1
    ) -> None:
        self._chat, self._fallback, self._kept, self._warn = chat, fallback, kept, warn
        self._concurrency = concurrency
        #: The answers of this run by their key, None for none.
        self._told: dict[str, Any] = {}
        self._failures = 0
        self._warned = False

    @cached_property
    def fingerprint(self) -> str:
        return f"model-2 {self._chat.fingerprint} {self._kept.rounds()} {self._fallback.fingerprint}"

    def stance(self, opinion: Claim, fact: Claim) -> Stance:
        known = self._fallback.stance(opinion, fact)
        answer = None if known.near_verbatim else self._answer(STANCE, opinion, fact)
        if answer is None:
            return known
        reason = self._reason(answer)
        relation = _relation(STANCE, answer)
        if relation == RELATIONS[STANCE][0]:
            return Stance(relation, None, False, reason, SURE)
        return Stance(relation, answer.strength or NORMAL, False, reason, _worth(answer))

    def succession(self, old: Claim, new: Claim) -> Succession:
        known = self._fallback.succession(old, new)
        answer = None if known.near_verbatim else self._answer(SUCCESSION, old, new)
        if answer is None:
            return known
        relation = _relation(SUCCESSION, answer)
        if relation == SUPERSEDES and old.day and new.day and new.day < old.day:
            relation = OLDER_LATE
        return Succession(relation, False, self._reason(answer), _worth(answer))

    def prepare(self, task: str, pairs: Sequence[tuple[Claim, Claim]]) -> None:
        """Ask about several pairs (the older first) at a time, so that ``stance`` or ``succession``, whichever
        ``task`` names, finds the answers. Nothing where one question is to be put at a time."""
        if self._concurrency < 2:
            return
        judge = self._fallback.stance if task == STANCE else self._fallback.succession
        waiting: dict[str, Messages] = {}
        for old, new in pairs:
            if not _needs_none(task, old, new) and not judge(old, new).near_verbatim:
                key, asked = self._question(task, old, new)
                if not self._is_told(key):
                    waiting[key] = asked
        left = list(waiting.items())
        # The first alone: it finds out what the server takes.
        size = 1
        with ThreadPoolExecutor(self._concurrency) as threads:
            while left and self._failures < FAILURES:
                part, left = left[:size], left[size:]
                self._keep(task, part, threads.map(lambda one: self._said(task, one[1]), part))
                size = self._concurrency

    def _reason(self, answer: Answer) -> str:
        return f"{self._chat.name}: “{answer.quote}”"

    def _answer(self, task: str, old: Claim, new: Claim) -> Answer | None:
        """The model's answer as it is kept or given now; None where it gives none that counts, or none is needed."""
        if _needs_none(task, old, new):
            return None
        key, asked = self._question(task, old, new)
        if not self._is_told(key):
            if self._failures >= FAILURES:
                return None
            self._keep(task, [(key, asked)], [self._said(task, asked)])
        return read_answer(task, self._told[key], old, new)

    def _question(self, task: str, old: Claim, new: Claim) -> tuple[str, Messages]:
        """(what the answer is kept by, the conversation)."""
        asked = messages(task, old, new)
        told = json.dumps([self._chat.fingerprint, asked, schema(task)])
        return hashlib.sha256(told.encode()).hexdigest(), asked

    def _is_told(self, key: str) -> bool:
        """Whether there is an answer, of this run or kept."""
        if key not in self._told:
            known, answer = self._kept.get(key)
            if known:
                self._told[key] = answer
        return key in self._told

    def _said(self, task: str, asked: Messages) -> Any:
        """What the model says now: JSON, None, or the fault."""
        try:
            return self._chat.ask(asked, schema(task))
        except EmbeddingFault as fault:
            return fault

    def _keep(self, task: str, asked: Iterable[tuple[str, Messages]], said: Iterable[Any]) -> None:
        for (key, _), answer in zip(asked, said, strict=True):
            if isinstance(answer, EmbeddingFault):
                self._told[key] = None
                self._failed(answer)
            else:
                self._told[key] = answer
                self._failures = 0
                self._kept.put(key, answer)

    def _failed(self, fault: EmbeddingFault) -> None:
        """Count a failure. A refused question (``input``) may be the fault of its words alone; waiting for a network
        that was tried repeatedly is not repeated for each question."""
        ends = fault.kind == "network" or (fault.lasting and fault.kind != "input")
        self._failures = FAILURES if ends else self._failures + 1
        self._kept.failed()
        if not self._warned:
            self._warned = True
            self._warn(f"{fault}; the learned judge decides where the model does not")


def _needs_none(task: str, old: Claim, new: Claim) -> bool:
    """Whether a guard keeps the newer text from changing anything, whatever a model says: for facts, a question."""
    if task == STANCE:
        return guarded(new.text, own_words(old, new)) is not None
    return (guarded(new.text) or "").startswith("a question")


def _relation(task: str, answer: Answer) -> str:
    return answer.relation if answer.same_question else RELATIONS[task][0]


def _worth(answer: Answer) -> float:
    return LESS_SURE if answer.strength == WEAK else SURE
