"""``bank/suggestions.md``: what reflect would rather ask than decide, as a checklist, and what was answered.

Everything that was decided stands on the page: a ticked confirmation is a line under ``## Confirmed`` and an outright
link as long as it stands there; what was struck out or deleted is a key in the end mark (``refused``), and so is what
was added to the core (``done``). So the page can be read without an index, and what was answered is never asked again.

The end mark lists each line's key with a hash of what was written there: a line of another hash is in a person's words,
which stay; a key without a line was deleted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ..bank.files import BOM, newline_of
from ..parsers.lines import read_lines
from .suggestion_lines import (
    OPEN,
    REFUSED,
    TICKED,
    Confirmation,
    Item,
    Proposal,
    body_hash,
    confirmation_body,
    is_core_key,
    proposal_body,
    read_item,
    with_note,
)

__all__ = ["LONGEST", "PAGE", "Confirmation", "Proposal", "Suggestions", "read_suggestions", "render_suggestions"]

PAGE = "bank/suggestions.md"
#: So many items are open at a time; of them so many at least are proposals for the core, where there are.
LONGEST, CORE_SHARE = 20, 5

_START = "<!-- openclaw-memory:suggestions v1 -->"
_OPENING = re.compile(r"\s*<!--\s*openclaw-memory:suggestions\s+(?P<version>v\d+)[^<>]*-->\s*$")
_CLOSING = re.compile(r"\s*<!--\s*/openclaw-memory:suggestions(?P<told>\s[^<>]*)?-->\s*$")
_KEY = re.compile(r"([0-9a-f]{8})(?::([0-9a-f]{6}))?$")
_INTRO = "Tick a box to agree. Strike a line out (`- [-]`) or delete it, and it is not asked again."
_NOTHING = "Nothing is open."
_HEADINGS = ("## To confirm", "## For memory.md", "## Confirmed")


class Suggestions(NamedTuple):
    """What the page says. ``open``: the items without an answer. ``confirmed``: outright links, ticked just now or
    before. ``core_ticked``: to be added to the core, with the text as it stands on the page. ``refused``,
    ``core_refused``: keys of what is not to be asked again. ``done``: keys of what was added to the core. ``items``:
    every line that is a suggestion, in order. ``listed``: keys of the lines that the last run wrote, with their hashes.
    ``own``: other lines in the block, which are a person's. ``problem``: one line when the marks are damaged; then the
    rest is empty."""

    open: tuple[Confirmation | Proposal, ...] = ()
    confirmed: tuple[Confirmation, ...] = ()
    core_ticked: tuple[Proposal, ...] = ()
    refused: frozenset[str] = frozenset()
    core_refused: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()
    items: tuple[Item, ...] = ()
    listed: Mapping[str, str] = {}
    own: tuple[str, ...] = ()
    problem: str = ""


def read_suggestions(text: str) -> Suggestions:
    """What a person has answered on the page, by the page alone. "" and a page without the block say nothing."""
    lines = read_lines(text).raw
    block = _find(text)
    if isinstance(block, str):
        return Suggestions(problem=block)
    if block is None:
        return Suggestions()
    first, last = block
    marks = _marks(lines[last])
    items, own = _split(lines[first + 1 : last])
    known = {item.key for item in items}
    listed = {key: digest for key, digest in marks["lines"].items() if digest}
    answered = {item.key for item in items if item.state == REFUSED}
    # What the last run wrote and is not there any more was deleted; what a person has put back counts as it stands.
    refused = answered | ((set(listed) | set(marks["refused"])) - known)
    done = frozenset(marks["done"]) - known
    return Suggestions(
        tuple(item.about for item in items if item.state == OPEN),
        tuple(i.about for i in items if i.state == TICKED and isinstance(i.about, Confirmation)),
        tuple(i.about for i in items if i.state == TICKED and isinstance(i.about, Proposal)),
        frozenset(key for key in refused - done if not is_core_key(key)),
        frozenset(key for key in refused - done if is_core_key(key)),
        done,
        tuple(items),
        listed,
        tuple(own),
    )


def render_suggestions(
    data: bytes,
    confirmations: Sequence[Confirmation],
    proposals: Sequence[Proposal],
    today: date,
    *,
    applied: Collection[str] = (),
    problems: Mapping[str, str] | None = None,
) -> bytes:
    """The page's bytes with what is to be asked now; b"" stays b"" while there is nothing to ask.

    ``confirmations`` and ``proposals``: all that could be asked, best first; what was answered is left out here.
    ``applied``: keys of ticked proposals that are in the core by now. ``problems``: for those that are not, why. No
    byte outside the block changes; a page with damaged marks comes back as it is. Rendering the result again with the
    same gives the same.
    """
    text = data.removeprefix(BOM).decode("utf-8", "surrogateescape")
    said = read_suggestions(text)
    if said.problem or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data
    done = said.done | set(applied)
    refused = (said.refused | said.core_refused) - done
    wrote = {item.key: item for item in said.items if item.state != REFUSED and item.key not in done}
    ticked = {key: item for key, item in wrote.items() if item.state == TICKED}
    answered = refused | done | set(ticked)
    wanted = [one for one in proposals if one.key not in answered]
    asked = [one for one in confirmations if one.key not in answered][: LONGEST - min(CORE_SHARE, len(wanted))]
    wanted = wanted[: LONGEST - len(asked)]
    fresh = {one.key: one for one in confirmations}
    chosen: list[Confirmation | Proposal] = [*asked, *wanted]
    open_lines = [_open_line(said, wrote.get(one.key), one) for one in chosen]
    ticked_lines = [
        _confirmed_line(said, item, fresh.get(key), today)
        if isinstance(item.about, Confirmation)
        else _Line(item.about, TICKED, with_note(item, (problems or {}).get(key, "")), said.listed.get(key, _NO_HASH))
        for key, item in ticked.items()
    ]
    lines = sorted([*open_lines, *ticked_lines], key=lambda line: _order(line.about))
    shown = {line.about.key for line in lines}
    own = [*said.own, *(line for item in said.items if item.key not in shown for line in item.below)]
    if not (lines or own or refused or done or _find(text)):
        return data
    below = {item.key: item.below for item in said.items}
    return _put(data, text, _block(lines, below, own, refused, done))


class _Line(NamedTuple):
    """A line to be written. ``digest``: the hash of what this program would write there, whatever stands there."""

    about: Confirmation | Proposal
    state: str
    body: str
    digest: str


#: Of a line that this program never wrote.
_NO_HASH = "000000"


def _open_line(said: Suggestions, item: Item | None, one: Confirmation | Proposal) -> _Line:
    """What is asked, in a person's words where one has changed them."""
    body = confirmation_body(one) if isinstance(one, Confirmation) else proposal_body(one)
    is_ours = item is None or said.listed.get(item.key) == body_hash(item.body)
    return _Line(one, OPEN, body if is_ours or item is None else item.body, body_hash(body))


def _confirmed_line(said: Suggestions, item: Item, fresh: Confirmation | None, today: date) -> _Line:
    """A confirmed line as it stays: with the day, and the place where the fact stands now; a person's words stay."""
    about = fresh or item.about
    assert isinstance(about, Confirmation)
    body = confirmation_body(about, item.confirmed or today)
    digest = body_hash(body)
    if said.listed.get(item.key) != body_hash(item.body):
        body = item.body if item.confirmed else f"{item.body} (confirmed {today.isoformat()})"
    return _Line(item.about, TICKED, body, digest)


def _order(one: Confirmation | Proposal) -> tuple[str, str, int, str]:
    """By what it is about, then by place."""
    path, _, line = one.citation.partition("#L")
    number = re.match(r"\d+", line)
    subject = one.subject_id if isinstance(one, Confirmation) else ""
    return subject, path, int(number[0]) if number else 0, one.key


def _block(
    lines: Sequence[_Line],
    below: Mapping[str, Sequence[str]],
    own: Sequence[str],
    refused: Iterable[str],
    done: Iterable[str],
) -> list[str]:
    """The block's lines: what is asked, what waits to be added, what was confirmed, and the marks around."""
    to_confirm = [one for one in lines if isinstance(one.about, Confirmation) and one.state == OPEN]
    for_core = [one for one in lines if isinstance(one.about, Proposal)]
    confirmed = [one for one in lines if isinstance(one.about, Confirmation) and one.state == TICKED]
    block = [_START, _INTRO if to_confirm or for_core else _NOTHING, ""]
    if own:
        block += [*own, ""]
    for heading, part in zip(_HEADINGS, (to_confirm, for_core, confirmed), strict=True):
        if part:
            block += [heading, ""]
            for one in part:
                block += [f"- [{'x' if one.state == TICKED else ' '}] {one.body}", *below.get(one.about.key, ())]
            block.append("")
    hashes = ",".join(f"{one.about.key}:{one.digest}" for part in (to_confirm, for_core, confirmed) for one in part)
    told = f"lines={hashes} refused={','.join(sorted(refused))} done={','.join(sorted(done))}"
    return [*block[:-1], f"<!-- /openclaw-memory:suggestions {told} -->"]


def _put(data: bytes, text: str, lines: list[str]) -> bytes:
    """The block in the place of the one that is there, else at the page's end."""
    newline = newline_of(data)
    block = newline.join(lines).encode("utf-8", "surrogateescape")
    found = _find(text)
    if isinstance(found, tuple):
        bom = BOM if data.startswith(BOM) else b""
        pieces = data.removeprefix(BOM).split(b"\n")
        tail = b"\r" if pieces[found[1]].endswith(b"\r") else b""
        return bom + b"\n".join([*pieces[: found[0]], block + tail, *pieces[found[1] + 1 :]])
    end = newline.encode()
    if not data.strip():
        return data + f"# Suggestions{newline}{newline}".encode() + block + end
    return data + (b"" if data.endswith(b"\n") else end) + end + block + end


def _find(text: str) -> tuple[int, int] | str | None:
    """The lines (0-based) of the block's marks; None where there is no block, a line for a person where the marks are
    damaged."""
    lines = read_lines(text)
    numbers = [n for n in range(lines.front.end, len(lines.raw)) if not lines.fenced[n]]
    opens = [n for n in numbers if _OPENING.match(lines.raw[n])]
    closes = [n for n in numbers if _CLOSING.match(lines.raw[n])]
    if not opens and not closes:
        return None
    if len(opens) != 1 or len(closes) != 1 or closes[0] < opens[0]:
        where = (opens or closes)[0] + 1
        return f"the marks of the suggestions are damaged ({PAGE}:{where}); mend them, or delete the block"
    opening = _OPENING.match(lines.raw[opens[0]])
    if opening and opening["version"] != "v1":
        return f"the suggestions were written by a newer version ({PAGE}:{opens[0] + 1})"
    return opens[0], closes[0]


def _marks(line: str) -> dict[str, dict[str, str]]:
    """What the end mark lists: keys, for ``lines`` with their hashes."""
    found: dict[str, dict[str, str]] = {"lines": {}, "refused": {}, "done": {}}
    closing = _CLOSING.match(line)
    for word in (closing["told"] or "").split() if closing else ():
        name, _, listed = word.partition("=")
        keys = (_KEY.match(one) for one in listed.split(","))
        if name in found:
            found[name] = {key[1]: key[2] or "" for key in keys if key}
    return found


def _split(lines: Sequence[str]) -> tuple[list[Item], list[str]]:
    """The items of a block with the lines indented below them, and all other lines that are not ours. An item that
    stands there twice counts once, with the answer."""
    items: dict[str, Item] = {}
    own: list[str] = []
    above: str | None = None
    was_own = blank = False
    for line in lines:
        if not line.strip():
            blank = True
            continue
        item = read_item(line)
        if item:
            above, was_own = item.key, False
            before = items.get(item.key)
            if before is None or (before.state == OPEN and item.state != OPEN):
                items[item.key] = item._replace(below=before.below if before else ())
        elif line in (_INTRO, _NOTHING, *_HEADINGS):
            above, was_own = None, False
        elif above and line[:1].isspace() and not blank:
            items[above] = items[above]._replace(below=(*items[above].below, line))
        else:
            own += ["", line] if was_own and blank else [line]
            above, was_own = None, True
        blank = False
    return list(items.values()), own
