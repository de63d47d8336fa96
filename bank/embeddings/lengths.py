"""How many tokens a text has, without its model's tokenizer: a quarter for an ASCII character, a half for the other
letters of Europe, one for everything else (Chinese, Japanese, Korean, Thai, Hindi, emoji).

That is right within a factor of two for prose. A text that is denser (numbers, code) is refused by the provider and cut
again; how it is cut depends on the text alone, so that its vector is the same whenever it is asked for.
"""

_EUROPE = 0x590


def tokens(text: str) -> float:
    """The estimate for ``text``."""
    if text.isascii():
        return len(text) / 4
    return sum(0.25 if char < "\x80" else 0.5 if ord(char) < _EUROPE else 1.0 for char in text)


def cut(text: str, most: float) -> str:
    """The head of ``text`` that is estimated at ``most`` tokens or less, up to the end of a word where one is near."""
    if len(text) <= most or tokens(text) <= most:
        return text
    end, total = 0, 0.0
    for char in text:
        total += 0.25 if char < "\x80" else 0.5 if ord(char) < _EUROPE else 1.0
        if total > most:
            break
        end += 1
    head = text[:end]
    space = max(head.rfind(" "), head.rfind("\n"))
    return head[:space] if space > end * 0.8 else head
