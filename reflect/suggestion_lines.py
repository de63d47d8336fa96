"""One suggestion as one line with a box: how it is written, and how it is read back after a person has been at it.

```markdown
- [ ] ^o-7f3a91c2d4e5 contradicted by memory/2025-12-02.md#L9 ^w-11c8fe27a04b? "Asked for the long version."
- [ ] add to memory.md: "Peter: Lives in Porto." (memory/2025-12-02.md#L10, said on 3 days, ^w-b03d5211c8fe)
```

A line is known by the ids in it, whatever else was changed: a box that is ticked, a text that is corrected, a remark
behind it.
"""

from __future__ import annotations

import hashlib
import re
from datetime import date
from typing import NamedTuple

from .wording import key_of, trimmed

OPEN, TICKED, REFUSED = "open", "ticked", "refused"
_PHRASES = {"supports": "supported", "contradicts": "contradicted", "replaces": "replaced"}
_RELATIONS = {phrase: relation for relation, phrase in _PHRASES.items()}
_ID = r"[wbosn]-[0-9a-f]{12}"
_CITATION = r"\S.*?#L\d+(?:-L?\d+)?"
_BULLET = re.compile(r"\s{0,3}[-*+]\s+")
_BOX = re.compile(r"\[(?P<mark>[ xX✓✔-]?)\]\s*")
_CONFIRMATION = re.compile(
    rf"\^(?P<subject>{_ID})\s+(?P<phrase>{'|'.join(_RELATIONS)})\s+by\s+(?P<citation>{_CITATION})\s+"
    rf"\^(?P<target>{_ID})\s*[?:]?\s*(?:\"(?P<quote>.*)\")?.*$"
)
_PROPOSAL = re.compile(
    rf"add to memory\.md:\s*\"(?P<text>.*)\"\s*\((?P<citation>{_CITATION})(?:,\s*(?P<reason>[^()]*?))?,\s*"
    rf"\^(?P<id>{_ID})\).*$",
    re.IGNORECASE,
)
_CONFIRMED = re.compile(r"\(confirmed (\d{4}-\d{2}-\d{2})\)")
_NOTE = " — not added: "


class Confirmation(NamedTuple):
    """A verdict that is not sure. ``subject_id``: the opinion or fact that it is about (``o-`` and 12 hex digits).
    ``relation``: supports, contradicts or replaces, as the cited fact does it. ``citation``, ``target_id``, ``quote``:
    that fact's place, id and words. ``key``: see ``confirmation_key``."""

    subject_id: str
    relation: str
    citation: str
    target_id: str
    quote: str
    key: str


class Proposal(NamedTuple):
    """A fact for the core memory. ``text``: the bullet, on one line. ``reason``: why, in a few words that do not change
    from day to day. ``key``: see ``proposal_key``."""

    fact_id: str
    text: str
    citation: str
    reason: str
    key: str


class Item(NamedTuple):
    """A line of the page that is a suggestion. ``state``: open, ticked or refused. ``about``: what it says by now.
    ``body``: the line without bullet, box and strokes. ``confirmed``: the day on which that was noted. ``below``: the
    indented lines under it."""

    state: str
    about: Confirmation | Proposal
    body: str
    confirmed: date | None
    below: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return self.about.key


def confirmation_key(subject_id: str, relation: str, target_id: str) -> str:
    """8 hex digits, the first an ``a``: the same wherever the cited fact stands."""
    return "a" + key_of("confirmation", subject_id, relation, target_id)[1:]


def proposal_key(fact_id: str) -> str:
    """8 hex digits, the first a ``c``."""
    return "c" + key_of("core", fact_id)[1:]


def is_core_key(key: str) -> bool:
    """Whether a key is of a proposal for the core rather than of a confirmation."""
    return key.startswith("c")


def confirmation_body(one: Confirmation, confirmed: date | None = None) -> str:
    """The line of a confirmation without its box: a question, or once confirmed a statement with the day."""
    quote = trimmed(one.quote).replace("~~", "~ ~")
    mark, day = (":", f" (confirmed {confirmed.isoformat()})") if confirmed else ("?", "")
    phrase = _PHRASES[one.relation]
    return f'^{one.subject_id} {phrase} by {one.citation} ^{one.target_id}{mark} "{quote}"{day}'


def proposal_body(one: Proposal) -> str:
    """The line of a proposal without its box."""
    return f'add to memory.md: "{one.text}" ({one.citation}, {one.reason}, ^{one.fact_id})'


def with_note(item: Item, problem: str) -> str:
    """The body of a ticked proposal with why it was not added, instead of what was noted before; with "" as it is."""
    return f"{_without_note(item.body)}{_NOTE}{problem}" if problem else item.body


def body_hash(body: str) -> str:
    """6 hex digits of a line without its box and without what is noted behind a proposal: ticking changes nothing of
    it."""
    return hashlib.sha256(_without_note(body).encode("utf-8", "surrogatepass")).hexdigest()[:6]


def read_item(line: str) -> Item | None:
    """The suggestion that a line is, None for any other line."""
    bullet = _BULLET.match(line.replace("~~", ""))
    if not bullet:
        return None
    struck = "~~" in line
    rest = line.replace("~~", "")[bullet.end() :]
    box = _BOX.match(rest)
    body = (rest[box.end() :] if box else rest).strip()
    mark = box["mark"] if box else ""
    state = REFUSED if struck or mark == "-" else TICKED if mark.strip() else OPEN
    found = _CONFIRMATION.match(body)
    if found:
        relation = _RELATIONS[found["phrase"]]
        key = confirmation_key(found["subject"], relation, found["target"])
        quote = found["quote"] or ""
        about = Confirmation(found["subject"], relation, found["citation"], found["target"], quote, key)
        days = _CONFIRMED.findall(body)
        return Item(state, about, body, _day(days[-1]) if days else None)
    found = _PROPOSAL.match(body)
    if found:
        reason, own = found["reason"] or "", found["id"]
        proposal = Proposal(own, found["text"].strip(), found["citation"], reason, proposal_key(own))
        return Item(state, proposal, body, None)
    return None


def _without_note(body: str) -> str:
    return body.partition(_NOTE)[0] if _PROPOSAL.match(body) else body


def _day(written: str) -> date | None:
    try:
        return date.fromisoformat(written)
    except ValueError:
        return None
