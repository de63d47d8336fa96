"""retain: facts appended to a day's log, with what they say of others outright."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

import typer

from ..bank.errors import UsageFault
from ..bank.workspace import Workspace as Bank
from ..context import open_workspace, read_now
from ..output import emit_json, say
from ..parsers.records import Relation
from .options import Agent, Debug, Json, Now, Workspace


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the command to the application."""

    @app.command()
    def retain(
        text: Annotated[
            list[str],
            typer.Argument(help="Facts: 'W @Peter: Lives in Lisbon.', or bare text with --kind. '-' reads stdin."),
        ],
        kind: Annotated[
            str,
            typer.Option(
                "--kind", metavar="KIND", help="W world, B experience, O opinion, S observation; for bare text."
            ),
        ] = "",
        entity: Annotated[
            list[str] | None, typer.Option("--entity", "-e", metavar="NAME", help="Whom it is about; may be repeated.")
        ] = None,
        confidence: Annotated[
            float | None, typer.Option("--confidence", "-c", metavar="C", help="How sure, 0..1.")
        ] = None,
        day: Annotated[
            str,
            typer.Option("--day", metavar="DAY", help="The log to write to: 2025-11-27, yesterday (default: today)."),
        ] = "",
        supports: Annotated[
            list[str] | None,
            typer.Option("--supports", metavar="ID", help="An opinion that this is evidence for; may be repeated."),
        ] = None,
        contradicts: Annotated[
            list[str] | None,
            typer.Option("--contradicts", metavar="ID", help="An opinion that this is evidence against."),
        ] = None,
        replaces: Annotated[
            list[str] | None,
            typer.Option("--replaces", metavar="ID", help="A fact that holds no more, since this took its place."),
        ] = None,
        retracts: Annotated[
            list[str] | None,
            typer.Option("--retracts", metavar="ID", help="A fact that was wrong. IDs may be citations, path#L5."),
        ] = None,
        strongly: Annotated[
            bool, typer.Option("--strongly", help="The evidence for or against an opinion is strong.")
        ] = False,
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Append facts to today's log, under its Retain heading."""
        told = {
            "supports": supports or [],
            "contradicts": contradicts or [],
            "replaces": replaces or [],
            "retracts": retracts or [],
        }
        run(
            lambda: retain_command(
                text, kind, entity or [], confidence, day, told, strongly, workspace, agent, now, as_json
            ),
            debug,
        )


def retain_command(
    texts: list[str],
    kind: str,
    entities: list[str],
    confidence: float | None,
    day: str,
    told: dict[str, list[str]],
    strongly: bool,
    workspace: str,
    agent: str,
    now: str,
    as_json: bool,
) -> int:
    """Check each fact by reading it as it will be read, then append them all at once."""
    from ..bank.journal import retain
    from ..parsers.parse import parse_file
    from ..parsers.times import parse_when

    moment = read_now(now)
    when: date = moment.date()
    if day:
        try:
            days = parse_when(day, moment)
        except ValueError as error:
            raise UsageFault(f"--day {day!r}: {error}") from None
        if days.first != days.last:
            raise UsageFault(f"--day {day!r}: more than one day", remedy="name one, like 2025-11-27 or yesterday")
        when = days.first
    given = [line for text in texts for line in (_stdin_lines() if text == "-" else [text])]
    if not given:
        raise UsageFault(
            "there is nothing to retain", remedy="write one fact a line, like 'W @Peter: Lives in Lisbon.'"
        )
    bank = open_workspace(workspace, agent)
    linked = _relations(bank, told, strongly)
    bullets = [_bullet(text, kind, entities, confidence) + linked for text in given]
    ids = []
    for bullet in bullets:
        parsed = parse_file(f"## Retain\n\n{bullet}\n", f"memory/{when.isoformat()}.md")
        if parsed.diagnostics or len(parsed.facts) != 1:
            faults = [diagnostic.message.split(";")[0] for diagnostic in parsed.diagnostics]
            problem = faults[0] if faults else "it reads as no single fact"
            raise UsageFault(f"not retained: {problem}", bullet)
        if not linked:
            _check_targets(bank, parsed.facts[0].relations)
        ids.append(parsed.facts[0].id)
    cited = retain(bank, bullets, when)
    if as_json:
        rows = zip(ids, cited, bullets, strict=True)
        emit_json({"retained": [{"id": i, "source": s, "bullet": b} for i, s, b in rows]})
    else:
        for source, bullet in zip(cited, bullets, strict=True):
            say(f"{source}  {bullet}")
    return 0


def _stdin_lines() -> list[str]:
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    return [line for line in text.splitlines() if line.strip()]


def _bullet(text: str, kind: str, entities: list[str], confidence: float | None) -> str:
    """The bullet for one given fact: typed already, or bare text with the options' type."""
    from ..parsers.prefix import parse_typed
    from ..parsers.records import KIND_BY_LETTER, LETTER_BY_KIND
    from ..parsers.retain import render_fact

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


def _relations(bank: Bank, told: dict[str, list[str]], strongly: bool) -> str:
    """What the options say, as it stands at the end of a bullet: by ids, which last when lines move."""
    from ..parsers.relations import render_relation

    written = [(kind, target) for kind, targets in told.items() for target in targets]
    if strongly and not told["supports"] + told["contradicts"]:
        raise UsageFault("--strongly goes with --supports or --contradicts")
    if not written:
        return ""
    found = _find(bank, [target for _, target in written])
    said = {side: {key for (kind, _), key in zip(written, found, strict=True) if kind == side} for side, _ in written}
    both = said.get("supports", set()) & said.get("contradicts", set())
    if both:
        raise UsageFault("a fact cannot support and contradict one opinion", min(both), "leave one of the two out")
    relations = []
    for (kind, target), key in zip(written, found, strict=True):
        if kind in ("supports", "contradicts") and not key.startswith("o-"):
            raise UsageFault(f"--{kind} {target}: it is no opinion", key, "name one: see `openclaw memory opinions`")
        if kind == "replaces" and not key.startswith("w-"):
            raise UsageFault(f"--replaces {target}: it is no world fact", key, "name one: see `openclaw memory recall`")
        relations.append(Relation(kind, f"^{key}", strongly and kind in ("supports", "contradicts")))
    return "".join(f" {render_relation(relation)}" for relation in dict.fromkeys(relations))


def _check_targets(bank: Bank, relations: tuple[Relation, ...]) -> None:
    """Raises ``UsageFault`` where a fact that was written out points at nothing."""
    if relations:
        _find(bank, [relation.target for relation in relations])


def _find(bank: Bank, written: list[str]) -> list[str]:
    """The ids that targets mean, one for each."""
    from ..bank.freshness import open_fresh
    from ..bank.targets import find_targets
    from ..parsers.relations import parse_target

    connection = open_fresh(bank).connection
    try:
        ids = []
        for text in written:
            target = parse_target(text)
            if target is None:
                remedy = "write ^o-7f3a91c2d4e5 or memory/2025-11-20.md#L5"
                raise UsageFault("neither an id nor a citation", text, remedy)
            found = find_targets(connection, target)
            if len(found) != 1:
                many = f"{len(found)} facts have this" if found else "no fact has this"
                place = "id" if target.id else "citation"
                raise UsageFault(f"not retained: {many} {place}", text, "see `openclaw memory recall --json` for ids")
            ids.append(found[0])
        return ids
    finally:
        connection.close()
