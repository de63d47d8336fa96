"""How many tokens a text costs its reader, without a tokenizer: four characters a token, one for each character of a
wide script (Chinese, Japanese, Korean), which tokenizers cut into about that many."""

from __future__ import annotations

from .scripts import count_wide

CHARACTERS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Tokens of ``text``, rounded up; 0 only for ""."""
    wide = count_wide(text)
    return wide + -(-(len(text) - wide) // CHARACTERS_PER_TOKEN)
