"""Workspaces made up for measuring: daily logs with narrative, list items and a Retain section, and pages of entities.

Ten passages a file on average; one file in fifty (at most 400) is a page below ``bank/entities/``. Words and names
follow Zipf's law; the first words are English function words, the others are invented. The same size is always the same
text. A question's words are taken from a passage, so that each occurs.
"""

from __future__ import annotations

import os
import random
import re
import time
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path

PER_FILE = 10
_FUNCTION = (
    "the of and to in a is that for it was on with as at by we from this be not are but they have an had were which"
    " one all so there out about up if no when who them more can do into then now only over also after before what has"
    " did".split()
)
_VERBS = ["think", "change", "happened"]
_TIMES = "yesterday|last week|on Nov 22, 2025|in March 2025|next Friday|at 15:20|two days ago|around 3 May".split("|")
_QUESTIONS = (
    "what does {name} think about the {a} {b}?",
    "when did {name} change the {a}?",
    "{a} {b} {c}",
    "what happened with the {a} and the {b} in March 2025?",
    "who has the {a}?",
)


class Vocabulary:
    """Words and names drawn by Zipf's law from a seeded generator."""

    def __init__(self, names: int) -> None:
        self.random = random.Random(20260101)
        syllables = [c + v for c in "b d f g k l m n p r s t v br st tr".split() for v in "aeiou"]
        made: dict[str, None] = dict.fromkeys([*_FUNCTION, *_VERBS])
        while len(made) < 30_000 + names:
            made.setdefault("".join(self.random.choices(syllables, k=self.random.randint(2, 4))))
        self.words, people = list(made)[:30_000], list(made)[30_000:]
        self._content = frozenset(self.words[len(_FUNCTION) + len(_VERBS) :])
        self.names = [name.capitalize() for name in people]
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(self.words))))
        self._name_weights = list(accumulate(1 / (rank + 2.7) for rank in range(names)))

    def name(self) -> str:
        return self.random.choices(self.names, cum_weights=self._name_weights)[0]

    def sentence(self) -> str:
        words = self.random.choices(self.words, cum_weights=self._weights, k=self.random.randint(6, 18))
        chance = self.random.random()
        if chance < 0.25:
            words.insert(len(words) // 2, self.name())
        elif chance < 0.40:
            words.append(self.random.choice(_TIMES))
        elif chance < 0.43:
            words.append(f"ZX-{self.random.randint(1000, 9999)}")
        return " ".join(words).capitalize() + "."

    def fact(self) -> str:
        kind = self.random.choice(("W", "W", "B", f"O(c=0.{self.random.randint(5, 9)})"))
        return f"- {kind} @{self.name()}: {self.sentence()}"

    def question(self, form: str, passages: list[str]) -> tuple[str, str]:
        """A question in the words of one passage, and the same words for FTS5."""
        words: list[str] = []
        while len(words) < 3:
            words = list(set(re.findall("[a-z]+", self.random.choice(passages))) & self._content)
        asked = {"name": self.name(), **dict(zip("abc", self.random.sample(sorted(words), 3), strict=True))}
        question = form.format(**asked)
        return question, " OR ".join(word for word in re.findall(r"\w+", question) if word not in _FUNCTION)


def write_workspace(root: Path, files: int) -> tuple[list[Path], list[tuple[str, str]]]:
    """Fill a folder; its logs (oldest first) and 20 questions about it. All times lie an hour back."""
    words = Vocabulary(min(400, max(12, files // 40)))
    (root / "memory").mkdir(parents=True)
    (root / "bank" / "entities").mkdir(parents=True)
    pages = min(files // 50, len(words.names))
    texts: dict[Path, list[str]] = {}
    for name in words.names[:pages]:
        facts = [words.fact() for _ in range(PER_FILE - 1)]
        texts[root / "bank" / "entities" / f"{name}.md"] = [f"# {name}\n", words.sentence() + "\n", *facts]
    for number in range(files - pages):
        day = date(2025, 12, 31) - timedelta(days=(files - pages - 1 - number) // 4)
        tail = f"-{words.words[300 + number % 4]}" if number % 4 else ""
        texts[root / "memory" / f"{day}{tail}.md"] = [
            f"# {day:%A}, {day}\n",
            *(f"{words.sentence()} {words.sentence()}\n" for _ in range(2)),
            "## Notes\n",
            *(f"- {words.sentence()}" for _ in range(words.random.randint(3, 5))),
            "\n## Retain\n",
            *(words.fact() for _ in range(words.random.randint(3, 5))),
        ]
    hour_ago = time.time() - 3600
    for path, lines in texts.items():
        path.write_text("\n".join(lines) + "\n", "utf-8")
        os.utime(path, (hour_ago, hour_ago))
    passages = [line for lines in texts.values() for line in lines if not line.startswith("#")]
    return list(texts)[pages:], [words.question(_QUESTIONS[n % len(_QUESTIONS)], passages) for n in range(20)]
