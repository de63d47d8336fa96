"""How a name is found in a text as itself, and not as a stem or a part of another word."""

import re
import unicodedata
from collections.abc import Iterable

from ..parsers.scripts import has_unspaced


def name_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Finds any of the names as whole words (anywhere, for scripts without spaces), whatever the case."""
    parts = []
    for name in sorted({unicodedata.normalize("NFC", n) for n in names if n}, key=lambda n: (-len(n), n)):
        body = re.sub(r"(?:\\[-_ ]|[-_ ])+", r"[-_\\s]+", re.escape(name))
        parts.append(body if has_unspaced(name) else rf"(?<!\w){body}(?!\w)")
    return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE)
