"""The learned judge: a small network over word vectors, shipped as plain numbers (``model.npz``) and run in numpy.

``training/beliefs/student.py`` tells what it is and made the numbers. It is a hint, never a judge: what it says counts
half, and what it is not sure of stays neutral.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import numpy

from .features import FEATURES, own_words, pair_features, pair_words
from .records import (
    COEXISTS,
    DUPLICATE,
    NEUTRAL,
    NORMAL,
    OLDER_LATE,
    STRONG,
    SUPERSEDES,
    SUPPORTS,
    WEAK,
    Claim,
    Stance,
    Succession,
)
from .rules import RulesScorer, guarded

MODEL = os.path.join(os.path.dirname(__file__), "model.npz")
STANCES = (NEUTRAL, SUPPORTS, "contradicts")
SUCCESSIONS = (COEXISTS, SUPERSEDES, DUPLICATE, "older_late")
STRENGTHS = (WEAK, NORMAL, STRONG)
#: A direction needs this probability, and so much more than the other one; chosen on authors that were left out.
SURE, AHEAD = 0.40, 0.12
#: A supersession needs this probability.
SURE_REPLACED = 0.50
#: The rows were written to be hard: most facts in them that have all words of an opinion are none about it. In logs
#: most are, so neutral is taken to be that much less likely for them.
HARDLY_NEUTRAL = 0.15
ALL_WORDS = FEATURES.index("of_old")
_DIGITS = 4


class LearnedScorer:
    """The rules where they apply, else the network."""

    name = "learned"

    def __init__(self, path: str = MODEL) -> None:
        self._path = path
        self._rules = RulesScorer()

    @cached_property
    def fingerprint(self) -> str:
        import hashlib

        with open(self._path, "rb") as file:
            return f"learned-1 {hashlib.sha256(file.read()).hexdigest()[:16]} {self._rules.fingerprint}"

    @cached_property
    def _numbers(self) -> dict[str, Any]:
        with numpy.load(self._path) as stored:
            return {name: stored[name].astype(numpy.float32) for name in stored.files}

    @cached_property
    def _networks(self) -> dict[str, Any]:
        """The networks side by side, so that one product serves them all: weights (networks x in x out), biases
        (networks x 1 x out)."""
        names = [name.split(".", 1)[1] for name in self._numbers if name.startswith("0.")]
        count = 1 + max(int(name.split(".")[0]) for name in self._numbers if name[0].isdigit())
        found = {name: numpy.stack([self._numbers[f"{each}.{name}"] for each in range(count)]) for name in names}
        return {
            name: numpy.ascontiguousarray(part.transpose(0, 2, 1)) if name.endswith("weight") else part[:, None]
            for name, part in found.items()
        }

    def stance(self, opinion: Claim, fact: Claim) -> Stance:
        told = self._rules.stance(opinion, fact)
        if told.near_verbatim or guarded(fact.text, own_words(opinion, fact)):
            return told
        plain = pair_features(opinion, fact)
        found, numbers = self._probabilities(opinion, fact, "stance", plain)
        if plain[ALL_WORDS] == 1.0:
            found = found * (HARDLY_NEUTRAL, 1.0, 1.0)
            found = numpy.round(found / found.sum(), _DIGITS)
        best = int(found.argmax())
        for_it, against = float(found[1]), float(found[2])
        if not best or found[best] < SURE or abs(for_it - against) < AHEAD:
            return Stance(NEUTRAL, None, False, "not sure enough", round(float(found[0]), _DIGITS))
        strength = numbers @ self._numbers["strength.weight"].T + self._numbers["strength.bias"]
        reason = f"learned, {STANCES[best]} {found[best]:.2f} against {found[3 - best]:.2f}"
        said = STRENGTHS[int(strength.argmax())]
        return Stance(STANCES[best], said, False, reason, round(float(found[best]), _DIGITS))

    def succession(self, old: Claim, new: Claim) -> Succession:
        told = self._rules.succession(old, new)
        if told.near_verbatim or told.relation != COEXISTS:
            return told
        found, _ = self._probabilities(old, new, "succession", pair_features(old, new))
        best = int(found.argmax())
        if SUCCESSIONS[best] == SUPERSEDES and found[best] < SURE_REPLACED:
            return Succession(COEXISTS, False, "not sure enough", round(float(found[0]), _DIGITS))
        if SUCCESSIONS[best] == SUPERSEDES and old.day and new.day and new.day < old.day:
            return Succession(OLDER_LATE, False, "learned, of an earlier day", round(float(found[best]), _DIGITS))
        reason = f"learned, {SUCCESSIONS[best]} {found[best]:.2f}"
        return Succession(SUCCESSIONS[best], False, reason, round(float(found[best]), _DIGITS))

    def _probabilities(self, old: Claim, new: Claim, task: str, plain: list[float]) -> tuple[Any, Any]:
        """The classes' probabilities, rounded so that they are the same everywhere, and the pair's numbers (``plain``)
        to scale."""
        numbers = numpy.array(plain, dtype=numpy.float32)
        numbers = numpy.clip((numbers - self._numbers[f"mean.{task}"]) / self._numbers[f"spread.{task}"], -4, 4)
        left, right, same = (part.astype(numpy.float32) for part in pair_words(old, new))
        each = _forward(self._networks, left, right, same, numbers, task)
        return numpy.round(each.mean(axis=0), _DIGITS), numbers


def _forward(nets: dict[str, Any], left: Any, right: Any, same: Any, numbers: Any, task: str) -> Any:
    """The probabilities of each network for one pair: networks x classes (``Student.forward``)."""
    a, b = _encoded(nets, left), _encoded(nets, right)
    scores = a @ b.transpose(0, 2, 1) / numpy.float32(a.shape[2] ** 0.5) + 3.0 * same
    pooled = [
        *_compared(nets, a, _softmax(scores) @ b, same.max(axis=1)),
        *_compared(nets, b, _softmax(scores.transpose(0, 2, 1)) @ a, same.max(axis=0)),
    ]
    numbers = numpy.broadcast_to(numbers, (len(a), 1, len(numbers)))
    hidden = _linear(nets, f"hidden.{task}", numpy.concatenate([*pooled, numbers], axis=2))
    return _softmax(_linear(nets, f"out.{task}", numpy.maximum(hidden, 0)))[:, 0]


def _encoded(nets: dict[str, Any], words: Any) -> Any:
    nothing = numpy.zeros((1, words.shape[1]), dtype=words.dtype)
    before, after = numpy.concatenate([nothing, words[:-1]]), numpy.concatenate([words[1:], nothing])
    return numpy.maximum(_linear(nets, "window", numpy.concatenate([before, words, after], axis=1)), 0)


def _compared(nets: dict[str, Any], own: Any, other: Any, same: Any) -> tuple[Any, Any]:
    same = numpy.broadcast_to(same[:, None], (len(own), len(same), 1))
    x = numpy.concatenate([own, other, own * other, own - other, same], axis=2)
    x = numpy.maximum(_linear(nets, "compare", x), 0)
    return x.mean(axis=1, keepdims=True), x.max(axis=1, keepdims=True)


def _linear(nets: dict[str, Any], name: str, x: Any) -> Any:
    return x @ nets[f"{name}.weight"] + nets[f"{name}.bias"]


def _softmax(x: Any) -> Any:
    powers = numpy.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)
