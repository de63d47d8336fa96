"""What parses, but hardly as it was meant: hints for ``lint``, beside the faults of the grammar."""

from __future__ import annotations

from .days import CORE, LOG, PLAIN, log_day, role_of
from .document import Block, parse_document
from .prefix import parse_typed
from .records import Diagnostic
from .retain import place_blocks

_OUTSIDE = "a typed bullet outside a Retain section is but a note; put it under ## Retain"
_OTHER_PAGE = "facts are read from bank/world.md, experience.md, opinions.md and entities/; here this is but a note"
_OPEN_COMMENT = "a comment that never ends hides the rest of the file; close it"


def hints(text: str, path: str) -> list[Diagnostic]:
    """``outside-retain`` for bullets with a type and an entity or a confidence where no facts are read, and
    ``open-comment`` for a comment that never ends; in line order. Files outside the memory have none."""
    role = role_of(path)
    if role not in (LOG, CORE, PLAIN):
        return []
    document = parse_document(text)
    found: list[Diagnostic] = []
    for placed in place_blocks(document, log_day(path)[0]):
        if not placed.in_retain and not placed.block.managed:
            message = _OTHER_PAGE if role == PLAIN else _OUTSIDE
            found += [Diagnostic(line, "outside-retain", message) for line in _typed_lines(placed.block)]
    open_at = document.lines.open_at
    if open_at is not None and not any(d.code == "unclosed-fence" for d in document.diagnostics):
        found.append(Diagnostic(open_at + 1, "open-comment", _OPEN_COMMENT))
    return sorted(found)


def _typed_lines(block: Block) -> list[int]:
    if block.kind != "item":
        return []
    typed = parse_typed(block.text) if block.marker in ("bullet", "bare") else None
    own = [block.line] if typed and not typed.is_empty and (typed.entities or typed.confidence is not None) else []
    return own + [line for child in block.children for line in _typed_lines(child)]
