"""promote: the review list for the core memory, and what of it is put in."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..bank.config import read_configuration
from ..bank.errors import UsageFault
from ..context import open_workspace, progress_bar, read_now
from ..output import emit_json, note, paint, say, visible, wrapped
from .options import Agent, Debug, Json, Now, Workspace
from .reflecting import Judge

if TYPE_CHECKING:
    from datetime import date

    from ..bank.workspace import Workspace as Bank
    from ..reflect.promotion import Candidate, Outcome

#: So many are listed.
LIMIT = 20


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the command to the application."""

    @app.command()
    def promote(
        apply: Annotated[bool, typer.Option("--apply", help="Put the listed facts into the core memory.")] = False,
        only: Annotated[
            list[str] | None,
            typer.Option("--only", metavar="ID", help="Only this one: an id or a citation; may be repeated."),
        ] = None,
        limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most N, best first.")] = LIMIT,
        least_score: Annotated[
            float, typer.Option("--min-score", metavar="S", help="Only those that score at least this, 0 to 1.")
        ] = 0.0,
        least_recalls: Annotated[
            int, typer.Option("--min-recall-count", metavar="N", help="Only those that were recalled on N days.")
        ] = 0,
        include: Annotated[
            bool, typer.Option("--include-promoted", help="List those too that were promoted before.")
        ] = False,
        section: Annotated[
            str, typer.Option("--section", metavar="NAME", help="The heading to put them under (Learned).")
        ] = "",
        judge: Judge = "auto",
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """List facts that belong into the core memory. Nothing is written without --apply."""
        run(
            lambda: promote_command(
                apply,
                only or [],
                limit,
                least_score,
                least_recalls,
                include,
                section,
                judge,
                workspace,
                agent,
                now,
                as_json,
            ),
            debug,
        )


def promote_command(
    apply: bool,
    only: list[str],
    limit: int,
    least_score: float,
    least_recalls: int,
    include: bool,
    section: str,
    judge: str,
    workspace: str,
    agent: str,
    now: str,
    as_json: bool,
) -> int:
    """Review, and with ``apply`` write. Exit code 1 when all was refused, 3 when some of it was."""
    from ..reflect.core_memory import read_core
    from ..reflect.promotion import promote, review, selected
    from ..reflect.verdicts.choosing import choose_scorer

    if section and not apply:
        raise UsageFault("--section says where to put what is promoted", remedy="add --apply, or leave it out")
    moment = read_now(now)
    bank = open_workspace(workspace, agent)
    scorer = choose_scorer(judge, read_configuration(os.environ), agent or bank.models.agent, bank.index_dir, note)
    found = review(
        bank,
        now=moment,
        scorer=scorer,
        least_score=least_score,
        least_recalls=least_recalls,
        include_promoted=include,
        progress=progress_bar(),
    )
    chosen = selected(found.candidates, only, limit)
    outcome = promote(bank, chosen, section=section) if apply else None
    code = 0
    if outcome and outcome.refused:
        code = 3 if outcome.added else 1
    if as_json:
        emit_json(_as_json(bank, chosen, outcome, read_core(bank).usage._asdict(), found.today))
        return code
    if outcome is None:
        _print_review(chosen)
        if found.candidates:
            note(f"{len(chosen)} of {len(found.candidates)} shown; nothing is written without --apply")
        else:
            note("nothing to promote: no fact is recalled often or sure enough that the core lacks")
    else:
        for one, cited in outcome.added:
            say(f"{cited or 'stood there already'}  {one.proposal.text}")
        for one, refusal in outcome.refused:
            note(f"^{one.proposal.fact_id}: {refusal}")
    note(f"{bank.relative(bank.core_path())}: {read_core(bank).usage.text} characters")
    return code


def _print_review(candidates: list[Candidate]) -> None:
    for one in candidates:
        print(f"{paint(f'{one.score:.3f}', 'dim')}  {wrapped(one.proposal.text, '       ').lstrip()}")
        fact = one.fact
        told = [one.proposal.reason, _count(fact.sources, "source"), f"recalled on {_count(fact.recalls, 'day')}"]
        if fact.confidence is not None:
            told.insert(0, f"c={fact.confidence:.2f}")
        print(f"       {visible(one.proposal.citation)} · {', '.join(told)} · ^{fact.id}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _as_json(
    bank: Bank, candidates: list[Candidate], outcome: Outcome | None, usage: dict[str, int], today: date
) -> dict[str, Any]:
    """The object that ``promote --json`` prints (docs/json.md): OpenClaw's names where it has one."""
    from ..bank import recalls
    from ..reflect.core_rules import CoreRefused

    def refusal(refused: CoreRefused) -> dict[str, Any]:
        return {"reason": str(refused), "why": refused.why, "entries": refused.details.get("entries", [])}

    told: dict[str, Any] = {
        "workspaceDir": bank.root,
        "storePath": os.path.join(bank.index_dir, recalls.FILE),
        "memoryPath": bank.core_path(),
        "usage": usage,
        "candidates": [_candidate(one, today) for one in candidates],
    }
    if outcome is not None:
        appended = [one for one, cited in outcome.added if cited]
        told["apply"] = {
            "applied": len(outcome.added),
            "appended": len(appended),
            "reconciledExisting": len(outcome.added) - len(appended),
            "memoryPath": bank.core_path(),
            "appliedCandidates": [{**_candidate(one, today), "written": cited or None} for one, cited in outcome.added],
            "rejectedCandidates": [
                {"candidate": _candidate(one, today), **refusal(refused)} for one, refused in outcome.refused
            ],
        }
    return told


def _candidate(one: Candidate, today: date) -> dict[str, Any]:
    fact = one.fact
    path, _, line = one.proposal.citation.partition("#L")
    first, _, last = line.replace("L", "").partition("-")
    days = [day.isoformat() for day in fact.days]
    return {
        "key": fact.id,
        "path": path,
        "startLine": int(first),
        "endLine": int(last or first),
        "source": "memory",
        "citation": one.proposal.citation,
        "snippet": one.proposal.text,
        "kind": fact.kind,
        "entities": list(fact.names),
        "confidence": fact.confidence,
        "score": round(one.score, 4),
        "reason": one.proposal.reason,
        "recallCount": fact.recalls,
        "dailyCount": len(set(fact.days)),
        "sourceCount": fact.sources,
        "firstSaidAt": days[0] if days else None,
        "lastSaidAt": days[-1] if days else None,
        "ageDays": (today - fact.days[-1]).days if fact.days else None,
        "promoted": one.promoted,
    }
