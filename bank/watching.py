"""Told by the operating system when Markdown of a workspace changes.

The folders of the memory are watched with all below them, the workspace's root by itself (an agent's project may lie
there). What an editor or an atomic save leaves on the way (temporary names, hidden files) counts for nothing; a rename
counts as a change of both names. Where nothing can be watched (no inotify left, some network mounts) ``problem`` says
so, and whoever relies on it has to look for himself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import TracebackType

from .workspace import Workspace

_FOLDERS = ("memory", "bank")
#: Milliseconds after which a watcher looks whether it is to end, and whether folders came or went.
_LOOK = 500
#: Changes that never pause are told all the same after so many times the debounce.
_LONGEST = 10


class Watcher:
    """Calls ``on_change`` from a thread of its own, ``debounce`` seconds after the last of several changes, and once
    when it begins to watch a folder. A context manager; ``start`` and ``stop`` do the same.

    ``problem``: why changes are not told at the moment, "" where they are.
    """

    def __init__(self, workspace: Workspace, on_change: Callable[[], None], debounce: float) -> None:
        self._workspace, self._on_change = workspace, on_change
        self._step = max(10, round(debounce * 1000))
        self._stopped = threading.Event()
        self._told = threading.Lock()
        self._problems: dict[str, str] = {}
        self._threads = [
            threading.Thread(target=self._run, args=(name, find, recursive), name=f"watch {name}", daemon=True)
            for name, find, recursive in (("top", self._top, False), ("below", self._below, True))
        ]

    @property
    def problem(self) -> str:
        return next((problem for problem in self._problems.values() if problem), "")

    def __enter__(self) -> Watcher:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End watching; a call of ``on_change`` that has begun is waited for."""
        self._stopped.set()
        for thread in self._threads:
            thread.join(timeout=_LONGEST * self._step / 1000 + 10)

    def _top(self) -> tuple[str, ...]:
        return (self._workspace.root,) if os.path.isdir(self._workspace.root) else ()

    def _below(self) -> tuple[str, ...]:
        """The folders (and files outside of them) that are there to be watched with all below them."""
        root = self._workspace.root
        places = [os.path.join(root, name) for name in _FOLDERS]
        places += [os.path.normpath(os.path.join(root, extra.path)) for extra in self._workspace.extra_paths]
        return tuple(place for place in dict.fromkeys(places) if os.path.exists(place) and not os.path.islink(place))

    def _run(self, name: str, find: Callable[[], tuple[str, ...]], recursive: bool) -> None:
        while not self._stopped.is_set():
            places = find()
            try:
                if places:
                    self._watch(name, places, find, recursive)
                    continue
            except (OSError, RuntimeError) as error:
                # So watchfiles tells that nothing more can be watched, or that a folder is gone.
                self._problems[name] = f"changes cannot be watched: {error}"
            self._stopped.wait(_LOOK / 1000)

    def _watch(self, name: str, places: tuple[str, ...], find: Callable[[], tuple[str, ...]], recursive: bool) -> None:
        """Watch until told to stop, or until other places are there."""
        from watchfiles import watch

        began = False
        for changes in watch(
            *places,
            watch_filter=lambda _, path: _counts(path),
            debounce=_LONGEST * self._step,
            step=self._step,
            stop_event=self._stopped,
            rust_timeout=_LOOK,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=recursive,
            ignore_permission_denied=True,
        ):
            self._problems[name] = ""
            if changes or not began:
                began = True
                with self._told:
                    self._on_change()
            if find() != places:
                return


def _counts(path: str) -> bool:
    """Whether a change at ``path`` may be one of the memory: a Markdown file, or a folder that came or went."""
    name = os.path.basename(path)
    return not name.startswith(".") and (name.endswith(".md") or "." not in name)
