"""bench embeddings: providers of embeddings compared on the user's own workspace."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..bank.errors import UsageFault
from ..context import open_workspace, progress_bar, read_now
from ..output import emit_json, note, print_table, say
from .options import Agent, Debug, Json, Now, Workspace

if TYPE_CHECKING:
    from ..recall.bench_embeddings import Comparison, Tried
    from ..recall.bench_questions import Quality

_SAMPLE = 500


def register(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add the group of commands to the application."""
    group = typer.Typer(help="Measure on the workspace that is used.", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name="bench")

    @group.callback()
    def _all() -> None:
        pass

    @group.command()
    def embeddings(
        provider: Annotated[
            list[str] | None,
            typer.Option(metavar="NAMES", help="A provider to try; several by commas, may be repeated."),
        ] = None,
        model_path: Annotated[
            list[str] | None, typer.Option(metavar="PATH", help="A GGUF file to try; may be repeated.")
        ] = None,
        questions: Annotated[
            str, typer.Option(metavar="FILE", help='JSON lines: {"question": …, "expect": ["path#L3"]}.')
        ] = "",
        sample: Annotated[
            int, typer.Option(metavar="N", help=f"Try on at most N passages (default: {_SAMPLE}).", show_default=False)
        ] = _SAMPLE,
        workspace: Workspace = "",
        agent: Agent = "",
        now: Now = "",
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        """Compare providers of embeddings. How fast, how large, how good? Nothing of the workspace is changed."""
        names = [name.strip() for given in provider or () for name in given.split(",") if name.strip()]
        paths = model_path or []
        run(lambda: embeddings_command(names, paths, questions, sample, workspace, agent, now, as_json), debug)


def embeddings_command(
    names: Sequence[str],
    paths: Sequence[str],
    questions: str,
    sample: int,
    workspace: str,
    agent: str,
    now: str,
    as_json: bool,
) -> int:
    """Try each provider; exit code 3 when some could not be tried, 1 when none could."""
    from ..recall.bench_embeddings import compare, wishes
    from ..recall.bench_questions import read_questions

    if sample < 1:
        raise UsageFault(f"--sample {sample}: must be 1 or more")
    moment = read_now(now)
    bank = open_workspace(workspace, agent)
    asked = read_questions(os.path.expanduser(questions)) if questions else []
    wanted = wishes(bank.models, names, [_model(path) for path in paths])
    found = compare(bank, wanted, asked, now=moment, most=sample, progress=progress_bar("embedding"))
    if as_json:
        emit_json({"workspace": bank.root} | as_object(found))
    else:
        _print(found)
    failed = sum(1 for one in found.tried if one.fault)
    return (1 if failed == len(found.tried) else 3) if failed else 0


def _model(path: str) -> str:
    """A path as a shell means it; other references stay as they are."""
    given = os.path.expanduser(path)
    return os.path.abspath(given) if os.path.exists(given) else path


def as_object(found: Comparison) -> dict[str, Any]:
    """What ``--json`` prints, without the workspace: see ``docs/json.md``."""
    return {
        "files": found.whole.files,
        "passages": found.whole.passages,
        "sample": {"files": found.sample.files, "passages": found.sample.passages},
        "questions": found.asked,
        "missing": found.missing,
        "probes": {"of": "questions" if found.asked else "passages", "count": found.probes},
        "providers": [_provider(one, found.whole.passages) for one in found.tried],
        "words": _quality(found.words),
        "best": found.best or None,
        "why": found.why,
    }


def _provider(one: Tried, passages: int) -> dict[str, Any]:
    shares = [share for _, share in one.agreement]
    known = not one.fault
    return {
        "name": one.name,
        "model": one.model or None,
        "fault": one.fault or None,
        "dimensions": one.dimensions if known else None,
        "load_seconds": one.load if known else None,
        "query_seconds": one.query if known else None,
        "passages_a_second": one.pace if known else None,
        "whole_seconds": passages / one.pace if known else None,
        "bytes_a_passage": one.size if known else None,
        "whole_bytes": one.size * passages if known else None,
        "agreement": sum(shares) / len(shares) if shares else None,
        "agreements": [{"name": name, "share": share} for name, share in one.agreement],
        "quality": _quality(one.quality),
    }


def _quality(quality: Quality | None) -> dict[str, float] | None:
    return {"hit@1": quality[0], "hit@5": quality[1], "hit@10": quality[2], "mrr": quality[3]} if quality else None


def _print(found: Comparison) -> None:
    whole, sample = found.whole, found.sample
    print(f"{sample.passages} of {whole.passages} passages, {sample.files} of {whole.files} files")
    print()
    header = ["provider", "dim", "load", "query", "a second", "all of it", "size", "agrees"]
    header += ["hit@1", "hit@5", "hit@10", "mrr"] if found.words else []
    rows = [_row(one, whole.passages) for one in found.tried if not one.fault]
    if found.words:
        rows.append(["words alone", *[""] * 7, *_shares(found.words), ""])
    if rows:
        print_table(rows, [*header, "model"])
    for one in found.tried:
        if one.fault:
            say(f"{one.name}: {one.fault}")
    print()
    say(f"best: {found.best}: {found.why}" if found.best else found.why)
    if not found.asked and found.probes:
        note(f"the texts of {found.probes} passages stood in for questions")
    if found.missing:
        note(f"{found.missing} of {found.asked} questions expect lines that are in no passage")


def _row(one: Tried, passages: int) -> list[str]:
    shares = [share for _, share in one.agreement]
    cells = [
        one.name if len(one.name) < 30 else f"…{one.name[-28:]}",
        str(one.dimensions),
        _time(one.load),
        _time(one.query),
        f"{one.pace:,.0f}",
        _time(passages / one.pace),
        _bytes(one.size * passages),
        f"{sum(shares) / len(shares):.2f}" if shares else "",
    ]
    return [*cells, *(_shares(one.quality) if one.quality else []), one.model]


def _shares(quality: Quality) -> list[str]:
    return [f"{share:.2f}" for share in quality]


def _time(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _bytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} kB"
