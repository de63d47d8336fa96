"""Verdicts by a language model, where one is configured: kept by content, and the learned judge's where it fails."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from ...bank.driver import Connection, DatabaseError, connect
from ...bank.embeddings.protocol import EmbeddingFault
from .chat import Chat
from .prompts import STANCES, SUCCESSIONS, messages, read_answer, schema
from .records import COEXISTS, NEUTRAL, WEAK, Claim, Scorer, Stance, Succession

#: What a label of a model is taken to be worth; a weak one less.
SURE, LESS_SURE = 0.9, 0.7
#: After so many failures in a row the model is asked nothing more in this run.
FAILURES = 3
#: Verdicts that are kept; the oldest go first.
MOST_KEPT = 200_000


class ModelScorer:
    """``chat``: the model. ``fallback``: judges what the model does not, or cannot. ``path``: of the kept verdicts, ""
    for none. ``warn``: gets one line when the model fails."""

    name = "model"

    def __init__(self, chat: Chat, fallback: Scorer, path: str, warn: Callable[[str], None]) -> None:
        self._chat, self._fallback, self._warn = chat, fallback, warn
        self._kept = _Kept(path)
        self._failures = 0
        self.fingerprint = f"model-1 {chat.fingerprint} {fallback.fingerprint}"

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
                self._failures = FAILURES if fault.lasting else self._failures + 1
                if self._failures >= FAILURES:
                    self._warn(f"{fault}; the learned judge goes on without it")
                return None
            self._failures = 0
            self._kept.put(key, answer)
        return read_answer(answer, relations, old, new)


class _Kept:
    """Answers by what was asked. What cannot be read or written is not kept; a damaged file is begun anew."""

    def __init__(self, path: str) -> None:
        self._connection: Connection | None = None
        for _ in range(2 if path else 0):
            try:
                self._connection = connect(path)
                self._connection.execute("PRAGMA journal_mode=WAL")
                self._connection.execute(
                    "CREATE TABLE IF NOT EXISTS answers"
                    " (id INTEGER PRIMARY KEY, asked TEXT UNIQUE, answer TEXT NOT NULL)"
                )
                self._connection.execute(
                    "DELETE FROM answers WHERE id <= (SELECT max(id) FROM answers) - ?", (MOST_KEPT,)
                )
                break
            except DatabaseError:
                self._connection = None
                for tail in ("", "-wal", "-shm"):
                    with contextlib.suppress(OSError):
                        os.unlink(path + tail)

    def get(self, key: str) -> tuple[bool, Any]:
        """Whether an answer is kept, and the answer."""
        if self._connection is None:
            return False, None
        try:
            row = self._connection.execute("SELECT answer FROM answers WHERE asked = ?", (key,)).fetchone()
        except DatabaseError:
            return False, None
        return (True, json.loads(row[0])) if row else (False, None)

    def put(self, key: str, answer: Any) -> None:
        if self._connection is not None:
            with contextlib.suppress(DatabaseError):
                row = (key, json.dumps(answer, ensure_ascii=False))
                self._connection.execute("INSERT OR REPLACE INTO answers (asked, answer) VALUES (?, ?)", row)
