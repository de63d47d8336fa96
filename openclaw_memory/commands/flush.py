"""flush check, mark, reply: the turn in which an agent writes down what outlives a compaction."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..bank.config import read_configuration
from ..bank.errors import UsageFault
from ..context import choose, open_chosen, read_now
from ..output import emit_json, note, say
from .options import Agent, Debug, Json, Now, Workspace

if TYPE_CHECKING:
    from ..bank.flush import FlushPlan

Session = Annotated[
    str, typer.Option("--session", metavar="KEY", help="The session's key: main, agent:main:telegram:group:7.")
]
Cycle = Annotated[
    int | None,
    typer.Option("--compaction-count", metavar="N", help="How often it was compacted; else as sessions.json says."),
]
_ACCESS = ("rw", "ro", "none")


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the group of commands to the application."""
    group = typer.Typer(
        help="Have an agent store what lasts before a compaction.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    app.add_typer(group, name="flush")

    @group.command()
    def check(
        session: Session,
        tokens: Annotated[
            int | None,
            typer.Option("--tokens", metavar="N", help="In its context; else as sessions.json says."),
        ] = None,
        window: Annotated[
            int | None,
            typer.Option("--context-window", metavar="N", help="The model's, in tokens; else as sessions.json says."),
        ] = None,
        transcript: Annotated[
            int | None,
            typer.Option("--transcript-bytes", metavar="N", help="Of what was said; else as the file has."),
        ] = None,
        cycle: Cycle = None,
        claim: Annotated[
            bool, typer.Option("--claim", help="When it is due, take it: nobody else is told so in this cycle.")
        ] = False,
        access: Annotated[
            str,
            typer.Option("--workspace-access", metavar="ACCESS", help="By the session's sandbox: rw, ro, none."),
        ] = "",
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Say whether a flush is due, and print its prompt. Without --claim nothing is written."""
        run(
            lambda: check_command(
                session, tokens, window, transcript, cycle, claim, access, workspace, agent, now, as_json
            ),
            debug,
        )

    @group.command()
    def mark(
        session: Session,
        cycle: Cycle = None,
        failed: Annotated[
            bool, typer.Option("--failed", help="It did not run to its end: it is due again, up to three times.")
        ] = False,
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Note that a flush ran."""
        run(lambda: mark_command(session, cycle, failed, workspace, agent, now, as_json), debug)

    @group.command()
    def reply(
        text: Annotated[str, typer.Argument(help="What the agent answered; '-' reads stdin.")],
        workspace: Workspace = "",
        agent: Agent = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Print what is to be delivered of an answer: nothing of NO_REPLY."""
        run(lambda: reply_command(text, as_json), debug)


def check_command(
    session: str,
    tokens: int | None,
    window: int | None,
    transcript: int | None,
    cycle: int | None,
    claim: bool,
    access: str,
    workspace: str,
    agent: str,
    now: str,
    as_json: bool,
) -> int:
    """The plan; the prompt goes to stdout when a flush is due, and why it is or is not to stderr."""
    from ..bank.flush import FlushRequest, claim_flush, flush_plan
    from ..bank.session_store import agent_of

    if access not in ("", *_ACCESS):
        raise UsageFault(f"--workspace-access {access!r}", remedy="give rw, ro or none")
    moment = read_now(now)
    choice, bank = open_chosen(workspace, agent or agent_of(session))
    request = FlushRequest(session, tokens, window, choice.agent, cycle, access, transcript)
    ask = claim_flush if claim else flush_plan
    plan = ask(bank, read_configuration(os.environ), request, now=moment)
    if as_json:
        emit_json(plan_json(plan))
        return 0
    for line in plan.warnings:
        note(f"warning: {line}")
    note(f"{'due' if plan.due else 'not due'}: {plan.reason}" + (" (claimed)" if plan.claimed else ""))
    if plan.due:
        say(plan.prompt)
    return 0


def plan_json(plan: FlushPlan) -> dict[str, Any]:
    """The object that ``flush check --json`` prints (docs/json.md)."""
    return {
        "due": plan.due,
        "code": plan.code,
        "reason": plan.reason,
        "claimed": plan.claimed,
        "prompt": plan.prompt,
        "systemPrompt": plan.system_prompt,
        "model": plan.model or None,
        "relativePath": plan.path,
        "tokens": plan.tokens,
        "contextWindow": plan.window,
        "reserveTokensFloor": plan.reserve,
        "softThresholdTokens": plan.soft_threshold,
        "thresholdTokens": plan.threshold,
        "agent": plan.agent,
        "session": plan.session,
        "store": plan.store,
        "compactionCount": plan.cycle,
        "flushedCompactionCount": plan.flushed,
        "warnings": list(plan.warnings),
    }


def mark_command(
    session: str, cycle: int | None, failed: bool, workspace: str, agent: str, now: str, as_json: bool
) -> int:
    """Note a flush in the session's entry."""
    from ..bank.flush import FlushRequest, mark_flush
    from ..bank.session_store import agent_of

    moment = read_now(now)
    configuration = read_configuration(os.environ)
    choice = choose(workspace, agent or agent_of(session), configuration)
    request = FlushRequest(session, agent=choice.agent, cycle=cycle)
    done = mark_flush(configuration, request, now=moment, failed=failed)
    if as_json:
        emit_json(
            {
                "agent": choice.agent,
                "session": done.session,
                "store": done.store,
                "compactionCount": done.cycle,
                "flushed": done.done,
                "failures": done.failures,
            }
        )
        return 0
    if done.done:
        given_up = f", given up after {done.failures} failures" if done.failures else ""
        say(f"{done.session}: flushed in compaction cycle {done.cycle}{given_up}")
    else:
        say(f"{done.session}: failed ({done.failures} of 3) in compaction cycle {done.cycle}; it is due again")
    return 0


def reply_command(text: str, as_json: bool) -> int:
    """Whether an answer is silent, and what is left of it otherwise."""
    from ..bank.silent_reply import read_reply

    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    told = read_reply(text)
    if as_json:
        emit_json({"silent": told.silent, "text": told.text})
    elif told.silent:
        note("nothing to deliver")
    else:
        say(told.text)
    return 0
