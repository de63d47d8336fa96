"""Facts checked as they will be read, then retained: nothing is written where one of them would not come back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import NamedTuple

from ..parsers.parse import parse_file
from ..parsers.prefix import parse_typed
from ..parsers.records import KIND_BY_LETTER, LETTER_BY_KIND, Relation
from ..parsers.relations import parse_target, render_relation
from ..parsers.retain import render_fact
from ..parsers.times import parse_when
from .errors import UsageFault
from .freshness import ask_fresh
from .journal import retain
from .targets import find_targets
from .workspace import Workspace


class Retained(NamedTuple):
    """A fact that was written: its id, its citation, and the line as it stands in the log."""

    id: str
    source: str
    bullet: str


def bullet_for(text: str, kind: str = "", entities: Sequence[str] = (), confidence: float | None = None) -> str:
    """The bullet for one given fact: ``W @Peter: Lives in Lisbon.``, or bare text with its kind, whom it is about, and
    how sure it is (0..1). Raises ``UsageFault``."""
    line = " ".join(text.split()).removeprefix("- ").removeprefix("* ")
    if not line:
        raise UsageFault("there is nothing to retain", remedy="write it like 'W @Peter: Lives in Lisbon.'")
    if not kind:
        if parse_typed(line) is None:
            raise UsageFault(
                "a fact needs its type", line[:80], "start it with W, B, O or S ('W @Peter: …'), or give --kind"
            )
        if entities or confidence is not None:
            raise UsageFault("--entity and --confidence go with --kind", line[:80], "or write them in the fact itself")
        return f"- {line}"
    named = KIND_BY_LETTER.get(kind.upper(), kind.casefold())
    if named not in LETTER_BY_KIND:
        raise UsageFault(f"--kind {kind!r}: no such kind", remedy="use W, B, O or S")
    if confidence is not None and not 0 <= confidence <= 1:
        raise UsageFault(f"--confidence {confidence}: must be from 0 to 1")
    return render_fact(named, [name.lstrip("@") for name in entities], confidence, line)


def log_day(written: str, now: datetime) -> date:
    """The day of the log to write to: as written (``2025-11-27``, ``yesterday``), or today. Raises ``UsageFault``."""
    if not written:
        return now.date()
    try:
        days = parse_when(written, now)
    except ValueError as error:
        raise UsageFault(f"--day {written!r}: {error}") from None
    if days.first != days.last:
        raise UsageFault(f"--day {written!r}: more than one day", remedy="name one, like 2025-11-27 or yesterday")
    return days.first


def retain_facts(workspace: Workspace, bullets: Sequence[str], day: date) -> list[Retained]:
    """Append bullets to a day's log, all or none.

    Raises ``UsageFault`` for one that reads as no single fact, or that points at no fact or at several, and what
    ``journal.retain`` raises.
    """
    ids = []
    for bullet in bullets:
        parsed = parse_file(f"## Retain\n\n{bullet}\n", f"memory/{day.isoformat()}.md")
        if parsed.diagnostics or len(parsed.facts) != 1:
            faults = [diagnostic.message.split(";")[0] for diagnostic in parsed.diagnostics]
            problem = faults[0] if faults else "it reads as no single fact"
            raise UsageFault(f"not retained: {problem}", bullet)
        if parsed.facts[0].relations:
            find_ids(workspace, [relation.target for relation in parsed.facts[0].relations])
        ids.append(parsed.facts[0].id)
    sources = retain(workspace, bullets, day)
    return [Retained(*row) for row in zip(ids, sources, bullets, strict=True)]


def find_ids(workspace: Workspace, written: Sequence[str]) -> list[str]:
    """The ids that targets (ids or citations, as somebody wrote them) mean, one for each; raises ``UsageFault``."""
    targets = []
    for text in written:
        target = parse_target(text)
        if target is None:
            raise UsageFault("neither an id nor a citation", text, "write ^o-7f3a91c2d4e5 or memory/2025-11-20.md#L5")
        targets.append(target)
    found, _ = ask_fresh(workspace, lambda connection: [find_targets(connection, target) for target in targets])
    for text, target, ids in zip(written, targets, found, strict=True):
        if len(ids) != 1:
            many = f"{len(ids)} facts have this" if ids else "no fact has this"
            place = "id" if target.id else "citation"
            raise UsageFault(f"not retained: {many} {place}", text, "see `openclaw memory recall --json` for ids")
    return [ids[0] for ids in found]


def relations_text(workspace: Workspace, told: dict[str, list[str]], strongly: bool) -> str:
    """What a fact says of others (``supports``, ``contradicts``, ``replaces``, ``retracts``: ids or citations), as it
    stands at the end of its bullet: by ids, which last when lines move. Raises ``UsageFault``."""
    written = [(kind, target) for kind, targets in told.items() for target in targets]
    if strongly and not told.get("supports", []) + told.get("contradicts", []):
        raise UsageFault("--strongly goes with --supports or --contradicts")
    if not written:
        return ""
    found = find_ids(workspace, [target for _, target in written])
    _check_sides(zip(written, found, strict=True))
    relations = []
    for (kind, target), key in zip(written, found, strict=True):
        if kind in ("supports", "contradicts") and not key.startswith("o-"):
            raise UsageFault(f"--{kind} {target}: it is no opinion", key, "name one: see `openclaw memory opinions`")
        if kind == "replaces" and not key.startswith("w-"):
            raise UsageFault(f"--replaces {target}: it is no world fact", key, "name one: see `openclaw memory recall`")
        relations.append(Relation(kind, f"^{key}", strongly and kind in ("supports", "contradicts")))
    return "".join(f" {render_relation(relation)}" for relation in dict.fromkeys(relations))


def _check_sides(found: Iterable[tuple[tuple[str, str], str]]) -> None:
    said: dict[str, set[str]] = {}
    for (kind, _), key in found:
        said.setdefault(kind, set()).add(key)
    both = said.get("supports", set()) & said.get("contradicts", set())
    if both:
        raise UsageFault("a fact cannot support and contradict one opinion", min(both), "leave one of the two out")
