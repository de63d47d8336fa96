"""reflect, opinions, why: the nightly job, and what it holds of opinions and facts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..bank.config import read_configuration
from ..bank.errors import UsageFault
from ..bank.workspace import Workspace as Bank
from ..context import open_workspace, progress_bar, read_now
from ..output import emit_json, note, paint, print_table, say, visible
from .options import Agent, Debug, Json, Now, Workspace

if TYPE_CHECKING:
    from ..reflect.verdicts.records import Scorer

Judge = Annotated[
    str,
    typer.Option(
        "--judge",
        metavar="NAME",
        help="What infers evidence: auto, learned, rules, model, or none (only what is said outright).",
    ),
]
#: Heights of a sparkline's columns.
_BARS = "▁▂▃▄▅▆▇█"


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the commands to the application."""

    @app.command()
    def reflect(
        since: Annotated[
            str,
            typer.Option("--since", metavar="WHEN", help="Work again on all that was logged since: 7d, 2025-11-01."),
        ] = "",
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing; print a unified diff.")] = False,
        commit: Annotated[
            bool,
            typer.Option("--commit", help="Make a git commit of the pages that were written, and of nothing else."),
        ] = False,
        write_retain: Annotated[
            bool,
            typer.Option(
                "--write-retain", help="Add facts found in the narrative to past logs without a Retain section."
            ),
        ] = False,
        forget: Annotated[
            list[str] | None,
            typer.Option(
                "--forget", metavar="ID", help="Keep a line off the pages: by its id or citation; may be repeated."
            ),
        ] = None,
        judge: Judge = "auto",
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Bring the pages in bank/ up to date with the logs. Safe to run again; made for every night."""
        run(
            lambda: reflect_command(
                since, dry_run, commit, write_retain, forget or [], judge, workspace, agent, now, as_json
            ),
            debug,
        )

    @app.command()
    def opinions(
        entity: Annotated[str, typer.Option("--entity", "-e", metavar="NAME", help="Only those about this one.")] = "",
        judge: Judge = "auto",
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """List opinions with their confidence by now."""
        run(lambda: opinions_command(entity, judge, workspace, agent, now, as_json), debug)

    @app.command()
    def why(
        key: Annotated[
            str,
            typer.Argument(metavar="ID", help="An opinion's or a fact's id or its start, or a citation."),
        ],
        judge: Judge = "auto",
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Explain a confidence, or why a fact holds or holds no more."""
        run(lambda: why_command(key, judge, workspace, agent, now, as_json), debug)


def reflect_command(
    since: str,
    dry_run: bool,
    commit: bool,
    write_retain: bool,
    forget: list[str],
    judge: str,
    workspace: str,
    agent: str,
    now: str,
    as_json: bool,
) -> int:
    """Run the job; exit code 3 when some pages or links were left alone."""
    from ..reflect.job import Options, reflect
    from ..reflect.report import as_json as told
    from ..reflect.report import text_lines

    if dry_run and (forget or write_retain or commit):
        raise UsageFault("--dry-run writes nothing", remedy="leave out --forget, --write-retain and --commit")
    moment = read_now(now)
    bank = open_workspace(workspace, agent)
    options = Options(_since(since, moment), dry_run, commit, write_retain, tuple(forget))
    report = reflect(bank, now=moment, scorer=_scorer(judge, bank, agent), options=options, progress=progress_bar)
    if as_json:
        emit_json(told(report))
    else:
        if report.diff:
            sys.stdout.write(_coloured(report.diff))
        for line in text_lines(report):
            say(line)
        say(report.summary)
    for path, number, message in report.problems:
        note(f"{path}:{number}: {message}")
    return 3 if report.problems else 0


def _since(given: str, moment: Any) -> date | None:
    from ..parsers.times import parse_when

    if not given:
        return None
    try:
        first: date = parse_when(given, moment).first
    except ValueError as error:
        raise UsageFault(f"--since {given!r}: {error}") from None
    return first


def _scorer(judge: str, bank: Bank, agent: str) -> Scorer | None:
    from ..reflect.verdicts.choosing import choose_scorer

    return choose_scorer(judge, read_configuration(os.environ), agent or bank.models.agent, bank.index_dir, note)


def _coloured(diff: str) -> str:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    lines = visible(diff).splitlines(keepends=True)
    return "".join(
        paint(line.rstrip("\n"), colours[line[0]]) + "\n" * line.endswith("\n") if line[:1] in colours else line
        for line in lines
    )


def opinions_command(entity: str, judge: str, workspace: str, agent: str, now: str, as_json: bool) -> int:
    """All opinions, or those about one entity, the surest first."""
    from ..reflect.held import held_opinions
    from ..reflect.view import look

    bank = open_workspace(workspace, agent)
    found = held_opinions(
        look(bank, now=read_now(now), scorer=_scorer(judge, bank, agent), progress=progress_bar()), entity
    )
    if as_json:
        emit_json(found)
        return 0
    rows = [
        (
            f"^{one['id']}",
            f"{one['confidence']:.2f}",
            "-" if one["stated"] is None else f"{one['stated']:.2f}",
            " ".join(one["entities"]),
            one["text"],
        )
        for one in found
    ]
    if rows:
        print_table(rows, ("id", "now", "stated", "entities", "opinion"))
    note(f"{len(rows)} opinion{'' if len(rows) == 1 else 's'}" + (f" about {entity}" if entity else ""))
    return 0


def why_command(key: str, judge: str, workspace: str, agent: str, now: str, as_json: bool) -> int:
    """The ledger of one opinion, or the standing of one fact."""
    from ..reflect.view import find, look

    bank = open_workspace(workspace, agent)
    view = look(bank, now=read_now(now), scorer=_scorer(judge, bank, agent), progress=progress_bar())
    found = find(view, key)
    if "items" not in found:
        return _why_fact(found, as_json)
    from ..reflect.beliefs import PRIOR_STRENGTH, believe, course
    from ..reflect.held import opinion_json
    from ..reflect.units import items_of

    items = items_of(found["items"])
    belief = believe(found["stated"], items)
    since = date.fromisoformat(found["stated_on"]) if found["stated_on"] else None
    steps = course(found["stated"], items, since)
    if as_json:
        emit_json(
            {
                **opinion_json(found),
                "prior": belief.prior,
                "prior_strength": PRIOR_STRENGTH,
                "support": belief.support,
                "contradiction": belief.contradiction,
                "copied": belief.copied,
                "witnesses": [
                    {
                        "path": witness.path,
                        "day": witness.day.isoformat() if witness.day else None,
                        "relation": witness.relation,
                        "weight": witness.weight,
                        "sources": [item.citation for item in witness.items],
                    }
                    for witness in belief.witnesses
                ],
                "course": [{"day": day.isoformat() if day else None, "confidence": round(c, 4)} for day, c in steps],
            }
        )
        return 0
    say(f"{' '.join('@' + name for name in found['names'])}: {found['text']}  ^{found['id']}")
    number = "no number, so 0.60" if found["stated"] is None else f"{found['stated']:.2f}"
    on = f" on {found['stated_on']}" if found["stated_on"] else ""
    say(f"stated {number}{on}, {found['stated_at']}; worth {PRIOR_STRENGTH:g} observations")
    for witness in belief.witnesses:
        sign = "+" if witness.relation == "supports" else "-"
        for at, item in enumerate(witness.items):
            weight = f"{sign}{witness.weight:.2f}" if not at else "    "
            say(f"  {weight:>6}  {item.citation}  “{item.quote}”  {item.strength}, {item.reason}  ^{item.id}")
    if belief.copied:
        say(f"  less {belief.copied:.2f} for what several documents of one day say alike")
    top = f"{PRIOR_STRENGTH:g} × {belief.prior:.2f} + {belief.support:.2f}"
    below = f"{PRIOR_STRENGTH:g} + {belief.support:.2f} + {belief.contradiction:.2f}"
    contested = ", contested" if belief.contested else ""
    say(f"({top}) / ({below}) = {belief.confidence:.2f}{contested}")
    if len(steps) > 1:
        days = f"{steps[0][0] or 'at first'} … {steps[-1][0] or 'undated'}"
        say(f"{_sparkline([c for _, c in steps])}  {steps[0][1]:.2f} → {steps[-1][1]:.2f}  {days}")
    for item in items_of(found["history"]):
        say(f"  before that: {item.citation} {item.relation} “{item.quote}”")
    return 0


def _sparkline(values: list[float]) -> str:
    """Columns of the numbers, from 0 to 1."""
    return "".join(_BARS[min(len(_BARS) - 1, int(value * len(_BARS)))] for value in values)


def _why_fact(found: dict[str, Any], as_json: bool) -> int:
    told = {name: found[name] for name in ("id", "text", "places", "state", "valid_from", "valid_to", "by", "reason")}
    if as_json:
        emit_json({**told, "entities": found["names"], "by": told["by"] or None, "reason": told["reason"] or None})
        return 0
    say(f"{' '.join('@' + name for name in found['names'])}: {found['text']}  ^{found['id']}")
    say(f"said in {', '.join(found['places'])}")
    since = f" since {found['valid_from']}" if found["valid_from"] else ""
    if found["state"] == "active":
        say(f"holds{since}")
    elif found["state"] == "repeated":
        say(f"says the same as ^{found['by']} ({found['reason']})")
    else:
        until = f" until {found['valid_to']}" if found["valid_to"] else ""
        say(f"{found['state']}: held{since}{until}; by ^{found['by']} ({found['reason']})")
    return 0
