"""Text cut into the pieces of a BERT-uncased vocabulary, with nothing but the standard library.

Two steps. ``words``: lower case, accents stripped, control characters dropped, every mark of punctuation and every
Chinese character a word of its own. ``pieces``: a word cut from the left into the longest pieces that the vocabulary
has, where a piece that continues a word is spelled with ``##`` before it (Wu et al. 2016, arXiv 1609.08144; the
details are those of the BERT tokenizer). One thing differs: where BERT gives up a whole word for one character that it
does not know, only that character is left out, and what follows begins anew.
"""

import unicodedata
from collections.abc import Callable, Iterator

#: Characters; a longer word has no pieces (as in BERT), so that the work is linear in the text.
LONGEST_WORD = 100
#: Characters whose spelling is remembered; beyond them it is worked out each time.
_REMEMBERED = 20_000
_CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class _Spelling(dict[int, str]):
    """Code point to what stands for it in a text that only has to be split at its spaces."""

    def __missing__(self, code: int) -> str:
        text = "".join(map(_spell, unicodedata.normalize("NFD", chr(code))))
        if len(self) < _REMEMBERED:
            self[code] = text
        return text


def _spell(char: str) -> str:
    """A character of a decomposed text: itself in lower case, apart, a space, or nothing."""
    category, code = unicodedata.category(char), ord(char)
    if char in "\t\n\r" or category[0] == "Z":
        return " "
    if category[0] == "C" or category == "Mn" or char == "\ufffd":
        return ""
    if category[0] == "P" or (code < 128 and not char.isalnum()):
        return f" {char} "
    if code >= 0x3400 and any(first <= code <= last for first, last in _CHINESE):
        return f" {char} "
    # A character's own lower case: that of a whole string would look at its neighbours (final sigma).
    return "".join(part for part in char.lower() if unicodedata.category(part) != "Mn")


_SPELLING = _Spelling()


def words(text: str) -> list[str]:
    """The words of ``text`` in order. No text fails: lone surrogates and control characters are left out."""
    return text.translate(_SPELLING).split()


def pieces(word: str, find: Callable[[str], int | None]) -> Iterator[int]:
    """What ``find`` knows of a word: the values of its pieces from left to right, the longest match first."""
    start, mark, end = 0, "", len(word)
    if end > LONGEST_WORD:
        return
    while start < end:
        for stop in range(end, start, -1):
            found = find(mark + word[start:stop])
            if found is not None:
                yield found
                start, mark = stop, "##"
                break
        else:
            start, mark = start + 1, ""
