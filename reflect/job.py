"""The nightly job: sync, decide, write, tell.

Safe to run again, and to be killed at any point: pages are written whole, one by one, and what the last run did not
finish is found changed by the next.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import NamedTuple

from ..bank.driver import Connection
from ..bank.errors import MemoryFault, fault_of
from ..bank.files import FileMissing, read_text, write_atomic, writer_lock
from ..bank.freshness import open_fresh
from ..bank.recalls import fold_recalls
from ..bank.sync import Progress, sync
from ..bank.ties import meanings
from ..bank.workspace import Workspace
from .asking import closed_facts, confidences, proposals, questions, read_answers
from .assembly import Page, entity_pages, shared_pages
from .changes import NAMELESS, changes_since, digest, meant, remember
from .citations import Maps, followed
from .commit import commit_pages, dirty
from .core_memory import Added, add_to_core
from .finding import by_entity, find, well_found
from .forgetting import forget
from .hand_edits import HandEdits, read_hand_lines
from .judging import Judging
from .language import load_language
from .links import by_target, read_links
from .opinions import Judge
from .page_files import PageChange, apply, unified_diff
from .paths import PagePaths
from .planning import planned_pages, told
from .report import Report, commit_message, differences
from .state import State, open_state
from .suggestions import PAGE, read_suggestions, render_suggestions
from .units import Bench, close_facts, write_units
from .verdicts.records import Scorer
from .verdicts.sameness import same_opinion
from .write_retain import write_retain

#: Raise this when the same facts come to other lines.
FORMAT = 1


#: (path, line, message).
Problem = tuple[str, int, str]


class Options(NamedTuple):
    """``since``: work again on everything that was logged from this day on. ``dry_run``: write nothing. ``commit``:
    make a git commit of the pages. ``write_retain``: add facts to past logs that have none. ``forget``: ids, citations
    or words whose lines are to stay off the pages."""

    since: date | None = None
    dry_run: bool = False
    commit: bool = False
    write_retain: bool = False
    forget: tuple[str, ...] = ()


def reflect(
    workspace: Workspace,
    *,
    now: datetime,
    scorer: Scorer | None,
    options: Options,
    progress: Callable[[str], Progress | None] | None = None,
    timeout: float = 10.0,
) -> Report:
    """Bring the pages up to date with the logs; what was done and why.

    ``now``: gives the day on which a hand edit is first seen. ``scorer``: what infers verdicts; None: only what is said
    outright counts. ``progress``: gives what shows progress under a heading. ``timeout``: seconds to wait for another
    run (``Busy`` after that). Raises ``MemoryFault`` where the workspace cannot be read or written.
    """
    try:
        os.makedirs(workspace.index_dir, exist_ok=True)
    except OSError as error:
        raise fault_of(error, "cannot make the folder of the index", workspace.index_dir) from None
    with writer_lock(os.path.join(workspace.index_dir, "reflect.lock"), timeout, "reflecting"):
        sync(workspace, timeout=timeout, progress=progress("indexing") if progress else None)
        retained = _retained(workspace, now.date(), timeout) if options.write_retain else ()
        with opened(workspace, scorer, on_disk=not options.dry_run) as (connection, state):
            run = Run(workspace, connection, state, now.date(), scorer, progress)
            return run.run(options, retained)


def _retained(workspace: Workspace, today: date, timeout: float) -> tuple[str, ...]:
    """Facts found in the narrative, written into past logs that have none; their citations."""
    cited: list[str] = []
    with opened(workspace, None, on_disk=False) as (connection, state):
        found = find(workspace, connection, state, load_language, lambda count: None)
    for _, candidates in sorted(found.items()):
        day = candidates[0].day if candidates else None
        if day and day < today:
            cited += write_retain(workspace, day, candidates, today=today, timeout=timeout)
    if cited:
        sync(workspace, timeout=timeout)
    return tuple(cited)


@contextlib.contextmanager
def opened(workspace: Workspace, scorer: Scorer | None, *, on_disk: bool) -> Iterator[tuple[Connection, State]]:
    """The index and the kept results, which count for this code and this scorer only."""
    fresh = open_fresh(workspace, no_sync=True)
    try:
        mark = digest(FORMAT, scorer.fingerprint if scorer else "none")
        with open_state(workspace, mark, on_disk=on_disk) as state:
            yield fresh.connection, state
    finally:
        fresh.connection.close()


class Run:
    """One run over an open index."""

    def __init__(
        self,
        workspace: Workspace,
        connection: Connection,
        state: State,
        today: date,
        scorer: Scorer | None,
        progress: Callable[[str], Progress | None] | None = None,
    ) -> None:
        self.workspace, self.connection, self.state, self.today = workspace, connection, state, today
        self.progress = progress
        self.maps: Maps = {}
        self.left: set[str] = set()
        self.is_first = next(state.units(), None) is None
        self.means = meanings(connection)
        self.links, self.dangling = read_links(connection)
        found = find(workspace, connection, state, load_language, self._shown("reading", 0))
        self.candidates = [one for own in found.values() for one in own]
        self.paths = PagePaths(connection, self.means, well_found(self.candidates))
        narrative = by_entity(self.candidates, self.means)
        self.hand = HandEdits(read_hand_lines(workspace, connection, state, today), self.means)
        self.answers = read_answers(workspace)
        refused = frozenset(self.answers.said.refused)
        self.links += self.answers.links
        run_number = int(state.meta("run") or 0) + 1
        state.set_meta("run", str(run_number))
        judging = Judging(scorer, state, run_number) if scorer else None
        judge = Judge(judging, same_opinion, by_target(self.links), refused)
        decided = digest(sorted(refused))
        self.changes = changes_since(connection, state, self.means, self.links, decided)
        self.decided = decided
        self.bench = Bench(connection, state, self.means, judge, self.hand, narrative, self.paths, self.changes.latest)

    def work(self, since: date | None = None) -> list[str]:
        """Work out every entity that the changes may touch, into the state; their slugs."""
        slugs = self.changes.slugs | (self._since(since) if since else set()) | self._newly_found()
        # Pages that could not be written the last time are tried again.
        slugs |= set(json.loads(self.state.meta("left") or "[]"))
        slugs |= {other for slug in slugs if self.paths.is_new(slug) for other in self._beside(slug)}
        show = self._shown("facts", len(slugs))
        touched, doubtful = close_facts(self.bench, slugs, show)
        slugs |= touched
        show = self._shown("pages", len(slugs))
        self.differ = write_units(self.bench, slugs, doubtful, show)
        self.units = dict(self.state.units())
        return sorted(slugs)

    def run(self, options: Options, retained: tuple[str, ...] = ()) -> Report:
        """The whole job: work, write, commit, remember. ``retained``: citations of what logs got before."""
        slugs = self.work(options.since)
        if options.forget:
            slugs = sorted(self.units)
            forget(self.workspace, self._pages(slugs), options.forget)
        added = self._add_to_core(options.dry_run)
        planned, problems = self.plan(slugs)
        asking = self._ask(added)
        changed = [change for change in planned if change.changes]
        paths = {change.path: "created" if change.old is None else "changed" for change in changed}
        if asking:
            paths[PAGE] = "created" if self.answers.page is None else "changed"
        if added.keys:
            paths[added.path] = "changed"
        edits = tuple(
            (change.path, edit.line, edit.kind, edit.text) for change in planned for edit in change.edits if edit.new
        )
        problems += [(one.path, one.line, one.message) for one in self.dangling]
        problems += [(path, 1, message) for path, message in (*self.paths.collisions, *self.paths.same_names())]
        problems += [(PAGE, 1, self.answers.said.problem)] if self.answers.said.problem else []
        problems += [(PAGE, 1, f"not added to {added.path}: {why}") for why in added.problems.values()]
        moved_opinions, closed = differences(self.differ.values(), *self._told(), self.is_first)
        report = Report(
            len(slugs),
            options.dry_run,
            paths,
            tuple(moved_opinions),
            tuple(closed),
            edits,
            tuple(problems),
            "",
            len(self.asked),
            tuple(one.text for one in self.answers.said.core_ticked if one.key in added.keys),
            retained,
            "",
            "",
        )
        if options.dry_run:
            diffs = [unified_diff(change.path, change.old, change.new) for change in changed]
            if asking:
                diffs.append(unified_diff(PAGE, self._page_bytes() or None, asking))
            return report._replace(diff="".join(diffs))
        before = dirty(self.workspace.root, list(paths)) if options.commit else set()
        written, failed = self._write(changed, asking)
        for path, _, _ in failed:
            paths.pop(path, None)
        report = report._replace(problems=(*report.problems, *failed))
        self.remember(written)
        fold_recalls(self.workspace)
        if options.commit and paths:
            done = commit_pages(self.workspace.root, list(paths), commit_message(report), dirty_before=before)
            left = "; ".join(f"{path} left out: {why}" for path, why in done.left_out)
            told = f"committed {done.commit[:12]}" if done.commit else f"not committed: {done.reason}"
            report = report._replace(commit=done.commit or "", committed="; ".join(filter(None, (told, left))))
        return report

    def _told(self) -> tuple[dict[str, float], set[str]]:
        """What the pages say by now: opinions with their confidence, and facts that hold no more."""
        rows = self.connection.execute("SELECT key, confidence FROM judgements").fetchall()
        return {key: c for key, c in rows if c is not None}, {key for key, c in rows if c is None}

    def _add_to_core(self, dry_run: bool) -> Added:
        """What was ticked goes into the core memory."""
        ticked = self.answers.said.core_ticked
        if dry_run:
            return Added(self.workspace.relative(self.workspace.core_path()), tuple(one.key for one in ticked), {})
        return add_to_core(self.workspace, ticked)

    def _page_bytes(self) -> bytes:
        return self.answers.page.data if self.answers.page else b""

    def _ask(self, added: Added) -> bytes:
        """The page of suggestions as it should be, b"" where it stays as it is."""
        try:
            core = read_text(self.workspace.core_path()).text
        except FileMissing:
            core = ""
        wanted = proposals(
            self.workspace,
            self.connection,
            self.means,
            closed_facts(self.units),
            confidences(self.units),
            core,
            self.changes.latest or self.today,
        )
        old = self._page_bytes()
        wanted = [one._replace(citation=followed(one.citation, self.maps)) for one in wanted]
        asked = [one._replace(citation=followed(one.citation, self.maps)) for one in questions(self.units)]
        new = render_suggestions(old, asked, wanted, self.today, applied=added.keys, problems=added.problems)
        self.asked = read_suggestions(new.decode("utf-8", "surrogateescape")).open
        return new if new != old else b""

    def plan(self, slugs: Sequence[str]) -> tuple[list[PageChange], list[Problem]]:
        """Every page as it should be, and what is wrong with those that are left alone."""
        planned, self.maps, refused = planned_pages(self.workspace, self._pages(slugs), self.today)
        # What is left alone is told of every night, not only when its facts change.
        self.left = {*refused, *(change.path for change in planned if change.damage)}
        problems = [(path, 1, why) for path, why in refused.items()]
        return planned, [*problems, *((c.path, c.damage.line, c.damage.message) for c in planned if c.damage)]

    def _write(self, changed: Sequence[PageChange], asking: bytes) -> tuple[list[PageChange], list[Problem]]:
        """Write pages one by one; those that were written, and why others were not."""
        written: list[PageChange] = []
        problems: list[Problem] = []
        for change in changed:
            try:
                written.append(apply(self.workspace, change))
            except MemoryFault as fault:
                self.left.add(change.path)
                problems.append((change.path, 1, told(fault)))
        if asking:
            try:
                stamp = self.answers.page.stamp if self.answers.page else None
                write_atomic(self.workspace.resolve(PAGE), asking, stamp)
            except MemoryFault as fault:
                problems.append((PAGE, 1, told(fault)))
        return written, problems

    def _pages(self, slugs: Sequence[str]) -> list[Page]:
        return [*entity_pages(self.state, slugs), *shared_pages(self.units)]

    def remember(self, written: Iterable[PageChange]) -> None:
        """Keep what was worked out, and how the files look after this run's own writing."""
        written = list(written)
        if written:
            sync(self.workspace)
        fresh = open_fresh(self.workspace, no_sync=True)
        try:
            present = dict(fresh.connection.execute("SELECT path, hash FROM files").fetchall())
            # What is on the pages now is known already when the next run looks for what people wrote.
            read_hand_lines(self.workspace, fresh.connection, self.state, self.today)
        finally:
            fresh.connection.close()
        ours = {change.path for change in written}
        changes = self.changes
        stored = self.state.files()
        for path in ours & present.keys():
            known = changes.files.get(
                path, (("", set()) if path not in stored else (stored[path][0], set(stored[path][1])))
            )
            changes.files[path] = (present[path], set(known[1]))
        self.state.follow(self.maps)
        left = sorted(slug for slug, unit in self.units.items() if unit["page"] in self.left)
        self.state.set_meta("left", json.dumps(left))
        remember(self.state, changes, self.means, self.links, self.decided)
        self.state.keep()

    def _newly_found(self) -> set[str]:
        """The entities of which the narrative tells something else than at the last run."""
        told = {slug: digest([one.id + one.citation for one in own]) for slug, own in self.bench.found.items()}
        before: dict[str, str] = json.loads(self.state.meta("narrative") or "{}")
        self.state.set_meta("narrative", json.dumps(told, sort_keys=True))
        return {slug for slug in told.keys() | before.keys() if told.get(slug) != before.get(slug)}

    def _since(self, since: date) -> set[str]:
        rows = self.connection.execute(
            "SELECT DISTINCT m.slug FROM passages p JOIN mentions m ON m.passage = p.id WHERE p.day >= ?",
            (since.toordinal(),),
        )
        return meant(self.means, (row[0] for row in rows)) | {NAMELESS}

    def _beside(self, slug: str) -> set[str]:
        rows = self.connection.execute("SELECT other FROM edges WHERE slug = ?", (slug,))
        return {row[0] for row in rows}

    def _shown(self, doing: str, total: int) -> Callable[[int], None]:
        show = self.progress(doing) if self.progress else None
        done = 0

        def step(count: int) -> None:
            nonlocal done
            done += count
            if show:
                show(min(done, total), total)

        return step
