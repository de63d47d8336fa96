"""A text as letters: one for each word or sign, saying what part it may have in a time expression."""

from __future__ import annotations

import re

from .time_words import CAREFUL, CJK_DIGITS, Entry, build_lexicon, cjk_weekday, is_french, read_cjk_number

_TOKEN = r"\s+|\d+|[\u3040-\u30ff\u3400-\u9fff]+|[^\W\d_\u3040-\u30ff\u3400-\u9fff]+|."
#: These signs are their own class. A dash is ``~``, a sign that makes a word of what follows is ``@``, any
#: other is ``;``.
_SIGNS = {sign: sign for sign in "-/.,:'_"} | dict.fromkeys("–—～〜", "~") | dict.fromkeys("\\@#$+&%^", "@")
_SIGNS |= {"’": "'", "‐": "-", "‑": "-"}

#: Filled when first needed.
_lexicon: dict[str, Entry] = {}


#: Each expression has a digit, a sign of a Chinese or Japanese date, or a word of one of these classes.
_CORE = frozenset("bmwvusrdQRVLA")
_DIGIT = re.compile(r"\d")
_NAME = re.compile(r"[^\W\d_]+")
_core: set[str] = set()


def may_name_times(text: str) -> bool:
    """Whether a text can hold a time expression at all: a quick look that spares most prose the slow one."""
    if _DIGIT.search(text) or (not text.isascii() and any("\u3040" <= sign <= "\u9fff" for sign in text)):
        return True
    if not _core:
        _core.update(word for word, (letter, _) in _words().items() if letter in _CORE)
        _core.add("hier")
    words = set(_NAME.findall(text.lower()))
    return not _core.isdisjoint(words) or ("an" in words and "un" in words)


def _words() -> dict[str, Entry]:
    if not _lexicon:
        _lexicon.update(build_lexicon())
    return _lexicon


class Letters:
    """A text as class letters, with the value and the place of each; a run of unknown words is one letter."""

    def __init__(self, text: str, lenient: bool) -> None:
        self.classes: list[str] = []
        self.values: list[object] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.text, self.lenient = text, lenient
        self.french: bool | None = None
        _words()
        space = -1
        for match in re.finditer(_TOKEN, text, re.DOTALL):
            word, start = match.group(), match.start()
            if word.isspace():
                space = start
                continue
            letter, value = self._classify(word)
            if letter == "x" and self.classes and self.classes[-1] == "x":
                self.ends[-1] = match.end()
            else:
                if space >= 0:
                    self._add(" ", None, space, start)
                if letter == "cjk":
                    self._add_cjk(word, start)
                else:
                    self._add(letter, value, start, match.end())
            space = -1

    def _add(self, letter: str, value: object, start: int, end: int) -> None:
        self.classes.append(letter)
        self.values.append(value)
        self.starts.append(start)
        self.ends.append(end)

    def _classify(self, word: str) -> Entry:
        first = word[0]
        if first.isdecimal():
            if len(word) > 4:
                return "x", None
            return ("y" if len(word) == 4 else "k" if len(word) == 3 else "n"), int(word)
        if not first.isalpha():
            return _SIGNS.get(first, ";"), None
        if "\u3040" <= first <= "\u9fff":
            return "cjk", None
        if len(word) > 14:
            return "x", None
        small = word.lower()
        letter, value = _lexicon.get(small, ("x", None))
        if letter == "x":
            return ("r", ("day", -1)) if small == "hier" and self._is_french() else ("x", None)
        return self._by_case(letter, word, small), value

    def _is_french(self) -> bool:
        if self.french is None:
            self.french = is_french(re.findall(r"\w+", self.text[:1000].lower()))
        return self.french

    def _by_case(self, letter: str, word: str, small: str) -> str:
        """The class of a known word, seen how it is written and what stands before it."""
        capital = word != small
        if letter in "mb" and not capital and not self.lenient and (letter == "b" or small in CAREFUL):
            return "M"
        if self.lenient:
            return "m" if letter == "b" else "w" if letter == "v" else letter
        if (letter == "v" and not capital) or (small == "tag" and not capital):
            return "x"
        if letter == "s" and capital and small in ("spring", "fall"):
            return "S"
        if small == "morgen" and capital and self.classes and self.classes[-1] not in ";.":
            return "d"
        if small == "mañana" and self.classes and self.classes[-1] in "DL":
            return "d"
        return letter

    def _add_cjk(self, run: str, start: int) -> None:
        at = 0
        while at < len(run):
            weekday = cjk_weekday(run[at : at + 5])
            if weekday:
                self._add("X", weekday[:2], start + at, start + at + weekday[2])
                at += weekday[2]
                continue
            for size in (4, 3, 2, 1):
                letter, value = _lexicon.get(run[at : at + size], ("j", None))
                if letter != "j" and at + size <= len(run):
                    break
            if letter == "j" and run[at] in CJK_DIGITS:
                size = 1
                while size < 3 and run[at + size : at + size + 1] in CJK_DIGITS:
                    size += 1
                value = read_cjk_number(run[at : at + size])
                letter = "j" if value is None else "1"
            if letter != "j" or not self.classes or self.classes[-1] != "j":
                self._add(letter, value, start + at, start + at + size)
            at += size
