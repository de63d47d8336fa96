"""Scripts that are written without spaces between words, and characters that are as wide as two.

The expressions are compiled when a text first needs them: a question in a spaced script never pays for them.
"""

from __future__ import annotations

import re
from functools import cache

# Kana, CJK ideographs and their extensions, Hangul (its particles hang on to the words), Thai, Lao, Burmese, Khmer.
_UNSPACED = "[぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ᄀ-ᇿ가-힣฀-๿຀-໿က-႟ក-៿\U00020000-\U0003ffff][ัิ-ฺ็-๎ັິ-ຼ່-໎]*"
_WIDE = "[ᄀ-ᇿ⺀-鿿ꥠ-꥿가-퟿豈-﫿︰-﹏＀-｠\U00020000-\U0003ffff]"


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(_UNSPACED)


@cache
def _runs() -> re.Pattern[str]:
    return re.compile(f"(?P<run>(?:{_UNSPACED})+)|(?:(?!{_UNSPACED})\\S)+")


@cache
def _wide() -> re.Pattern[str]:
    return re.compile(_WIDE)


def has_unspaced(text: str) -> bool:
    """Whether a text holds a character of a script without spaces."""
    return not text.isascii() and _unspaced().search(text) is not None


def characters(text: str) -> list[str]:
    """The characters of unspaced scripts in a text, each with its marks."""
    return [] if text.isascii() else _unspaced().findall(text)


def spaced(text: str) -> str:
    """``text`` with blanks around each character of an unspaced script."""
    return text if text.isascii() else _unspaced().sub(r" \g<0> ", text)


def runs(text: str) -> list[tuple[str, bool]]:
    """The stretches of a text between blanks and changes of script: (stretch, whether it is unspaced)."""
    if text.isascii():
        return [(part, False) for part in text.split()]
    return [(match[0], match["run"] is not None) for match in _runs().finditer(text)]


def count_wide(text: str) -> int:
    """How many characters of a text are East Asian wide ones."""
    return 0 if text.isascii() else len(_wide().findall(text))
