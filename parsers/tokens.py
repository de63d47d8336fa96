"""How many tokens a text costs its reader, without a tokenizer: four characters a token, one for each character of a
wide script (Chinese, Japanese, Korean), which tokenizers cut into about that many."""

from __future__ import annotations

import re

CHARACTERS_PER_TOKEN = 4
_WIDE = re.compile(r"[ᄀ-ᇿ⺀-鿿ꥠ-꥿가-퟿豈-﫿︰-﹏＀-｠𠀀-𯿿]")


def estimate_tokens(text: str) -> int:
    """Tokens of ``text``, rounded up; 0 only for ""."""
    wide = 0 if text.isascii() else len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // CHARACTERS_PER_TOKEN)
