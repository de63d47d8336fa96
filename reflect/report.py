"""What a run did and why: for people, for a cron mail, for JSON, and for a commit's message."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

#: A confidence has moved when it is shown with another number.
_DIGITS = 2


class Moved(NamedTuple):
    """An opinion whose confidence is another than before. ``before``: None for one that is new. ``why``: a line for
    each piece of evidence that came, and went."""

    id: str
    text: str
    before: float | None
    after: float
    why: tuple[str, ...]


class Closed(NamedTuple):
    """A fact that holds no more: ``state`` superseded or retracted, since ``valid_to``; ``by``: the id of what closed
    it."""

    id: str
    text: str
    source: str
    state: str
    valid_to: str
    by: str


class Report(NamedTuple):
    """One run. ``pages``: path to what was done with it (created, changed). ``edits``: what people did inside blocks
    and was seen first now: (path, line, what, text). ``problems``: (path, line, message) of what was left alone.
    ``diff``: unified, of all pages. ``asked``: questions that are open on the suggestions page. ``core``: lines that
    were added to the core memory. ``retained``: citations of facts that were written from the narrative. ``commit``:
    id, "" for none; ``committed``: one line about it."""

    entities: int
    dry_run: bool
    pages: dict[str, str]
    moved: tuple[Moved, ...]
    closed: tuple[Closed, ...]
    edits: tuple[tuple[str, int, str, str], ...]
    problems: tuple[tuple[str, int, str], ...]
    diff: str
    asked: int
    core: tuple[str, ...]
    retained: tuple[str, ...]
    commit: str
    committed: str

    @property
    def summary(self) -> str:
        """One line for a cron mail."""
        parts = [_counted(len(self.pages), "page")]
        news = [one for one in self.moved if one.before is None]
        moved = len(self.moved) - len(news)
        for count, what in (
            (moved, "opinion"),
            (len(news), "new opinion"),
            (len(self.closed), "fact"),
            (len(self.edits), "edit"),
            (len(self.core), "core line"),
            (len(self.retained), "retained fact"),
            (len(self.problems), "problem"),
        ):
            if count:
                tail = {"opinion": " moved", "fact": " closed", "edit": " by hand"}.get(what, "")
                parts.append(_counted(count, what) + tail)
        done = "would write" if self.dry_run else "wrote"
        return f"reflect: {done} {', '.join(parts)}" if self.changed_anything else "reflect: nothing new"

    @property
    def changed_anything(self) -> bool:
        return bool(self.pages or self.core or self.retained or self.problems)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def differences(
    units: Iterable[tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]],
    told: Mapping[str, float],
    closed_already: Collection[str],
    is_first: bool,
) -> tuple[list[Moved], list[Closed]]:
    """What changed in opinions and facts between the units of the last run and of this one.

    ``told``, ``closed_already``: what the pages say of confidences and of facts that hold no more, for a run that finds
    no units (``is_first``); it calls nothing new.
    """
    old: dict[str, Any] = {}
    new: dict[str, Any] = {}
    closed_before: dict[str, list[Any]] = {}
    closed_now: dict[str, list[Any]] = {}
    for before, after in units:
        for unit, opinions, closed in ((before, old, closed_before), (after, new, closed_now)):
            if unit:
                opinions.update({one["id"]: one for one in unit["opinions"]})
                closed.update({row[0]: row for row in unit["closed"]})
    moved = []
    for key, one in sorted(new.items()):
        was = old.get(key)
        known = was["confidence"] if was else told.get(key) if is_first else None
        shown = None if known is None else round(float(known), _DIGITS)
        if shown is None and is_first:
            continue
        if shown != round(one["confidence"], _DIGITS):
            moved.append(Moved(key, one["text"], shown, one["confidence"], tuple(_why(was, one))))
    closed_new = [
        Closed(row[0], row[1], row[2], row[3], row[5], row[4])
        for key, row in sorted(closed_now.items())
        if row[3:] != closed_before.get(key, [None] * 6)[3:] and not (is_first and key in closed_already)
    ]
    return moved, closed_new


def _why(was: Mapping[str, Any] | None, now: Mapping[str, Any]) -> Iterator[str]:
    if was and (was["stated"], was["stated_at"]) != (now["stated"], now["stated_at"]):
        number = "without a number" if now["stated"] is None else f"{now['stated']:.2f}"
        yield f"stated again {number}, {now['stated_at']}"
    before = {tuple(item[:1] + item[3:7]): item for item in (was or {}).get("items", ())}
    after = {tuple(item[:1] + item[3:7]): item for item in now["items"]}
    for key, item in after.items():
        if key not in before:
            yield f"{item[4]}: {item[1]} “{item[7]}” ({item[5]}, {item[8]})"
    for key, item in before.items():
        if key not in after:
            yield f"no longer {item[4]}: {item[1]} “{item[7]}”"


def text_lines(report: Report) -> Iterator[str]:
    """The report for a person, line by line; the summary comes last."""
    for path, how in sorted(report.pages.items()):
        yield f"{how} {path}"
    for one in report.moved:
        if one.before is not None:
            yield f"{one.before:.2f} → {one.after:.2f}  {one.text}  ^{one.id}"
            yield from (f"    {why}" for why in one.why)
    for closed in report.closed:
        by = f" by ^{closed.by}" if closed.by else ""
        yield f"{closed.state}{by}, {closed.valid_to}: {closed.text}  {closed.source}"
    for path, line, what, text in report.edits:
        yield f"{what} by hand, {path}:{line}: {text}"
    for citation in report.retained:
        yield f"retained from the narrative: {citation}"
    for text in report.core:
        yield f"added to the core memory: {text}"
    if report.asked:
        yield f"{_counted(report.asked, 'question')} open in bank/suggestions.md"
    if report.committed:
        yield report.committed


def commit_message(report: Report) -> str:
    """A short subject, and what moved and why below it."""
    lines = [report.summary, ""]
    for path, how in sorted(report.pages.items()):
        lines.append(f"- {how} {path}")
    told = [line for line in text_lines(report) if line not in {f"{how} {path}" for path, how in report.pages.items()}]
    return "\n".join([*lines, *([""] if told else []), *told]).rstrip() + "\n"


def as_json(report: Report) -> dict[str, Any]:
    """The report as ``reflect --json`` prints it (``docs/json.md``)."""
    return {
        "summary": report.summary,
        "dry_run": report.dry_run,
        "entities": report.entities,
        "pages": [{"path": path, "change": how} for path, how in sorted(report.pages.items())],
        "opinions": [
            {"id": o.id, "text": o.text, "from": o.before, "to": round(o.after, 4), "why": list(o.why)}
            for o in report.moved
        ],
        "closed": [one._asdict() for one in report.closed],
        "edits": [_row(("path", "line", "change", "text"), one) for one in report.edits],
        "problems": [_row(("path", "line", "message"), one) for one in report.problems],
        "diff": report.diff,
        "asked": report.asked,
        "core": list(report.core),
        "retained": list(report.retained),
        "commit": report.commit or None,
        "committed": report.committed or None,
    }


def _row(names: Sequence[str], values: Sequence[object]) -> dict[str, object]:
    return dict(zip(names, values, strict=True))
