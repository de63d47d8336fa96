"""The workspace on disk: where things lie in it, and which of them may be read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING

from .config import Configuration
from .embeddings.models import Models
from .errors import MemoryFault, UsageFault, fault_of, one_line
from .guard import PathNotAllowed, check_text, descend, refuse, split
from .path_patterns import path_pattern
from .search_settings import ExtraPath, SearchSettings, read_search

if TYPE_CHECKING:
    from .resident import Resident

__all__ = ["CORE_NAMES", "PathNotAllowed", "Workspace"]

#: The two spellings of the core memory file; the first is preferred.
CORE_NAMES = ("MEMORY.md", "memory.md")
ROOT_FILES = frozenset((*CORE_NAMES, "USER.md", "DREAMS.md"))
ROOT_FOLDERS = frozenset(("memory", "bank"))


#: The SQLite application id of an index: "OCM1".
APPLICATION_ID = 0x4F434D31


class Workspace:
    """One workspace. ``root``: its real path. ``extra_paths``: further files or folders that may be read, absolute or
    relative to the root: those of ``settings`` and any that are given besides. ``models``: what turns its passages into
    vectors. ``settings``: how it is searched. ``warnings``: lines for a person about settings that mean nothing (the
    models have their own). ``readers``: what answers from connections that are kept open, where a process does.
    ``configuration``: the file that all of this was read from."""

    __slots__ = (
        *("_given", "_inner", "_outer", "extra_paths", "index_path", "models", "readers", "root", "settings"),
        *("configuration", "warnings"),
    )

    #: Whether the index is for its owner's eyes alone.
    private = False

    def __init__(
        self,
        root: str,
        extra_paths: Iterable[str | ExtraPath] = (),
        models: Models | None = None,
        settings: SearchSettings | None = None,
    ) -> None:
        self.models = models or Models()
        self.settings = settings or SearchSettings()
        self.warnings: tuple[str, ...] = ()
        self.readers: Resident | None = None
        self.configuration = Configuration("", {})
        self._given = os.path.abspath(root)
        self.root = os.path.realpath(root)
        more = (ExtraPath(extra) if isinstance(extra, str) else extra for extra in extra_paths)
        self.extra_paths = tuple(dict.fromkeys((*self.settings.extra_paths, *more)))
        inner: list[tuple[tuple[str, ...], str]] = []
        outer: list[tuple[str, str, str]] = []
        for extra in self.extra_paths:
            place = os.path.normpath(os.path.join(self.root, extra.path))
            below = self._below_root(place)
            if os.path.islink(place):
                self.warnings += (f"extraPaths: {one_line(place)} is a symbolic link and not read; name its target",)
                continue
            if os.path.isfile(place) and not place.endswith(".md"):
                self.warnings += (f"extraPaths: {one_line(place)} is no .md file and not read",)
            if below is None:
                outer.append((place, os.path.realpath(place), extra.pattern))
            else:
                inner.append((tuple(part for part in below.split("/") if part), extra.pattern))
        self._inner, self._outer = tuple(inner), tuple(outer)
        self.index_path = self._place_of_index()

    def __repr__(self) -> str:
        return f"Workspace({self.root!r})"

    @classmethod
    def configured(
        cls, path: str, configuration: Configuration, agent: str, extra_paths: Iterable[str] = ()
    ) -> Workspace:
        """The workspace at ``path`` with the models and the settings that ``configuration`` says for ``agent``. Raises
        ``MemoryFault`` as ``open`` does, and for a value of a wrong type."""
        models = Models.configured(configuration, agent)
        settings, warnings = read_search(configuration, agent)
        workspace = cls.open(path, extra_paths, models, settings)
        workspace.warnings += tuple(warnings)
        workspace.configuration = configuration
        return workspace

    @classmethod
    def open(
        cls,
        path: str,
        extra_paths: Iterable[str | ExtraPath] = (),
        models: Models | None = None,
        settings: SearchSettings | None = None,
    ) -> Workspace:
        """The workspace at ``path``; raises ``MemoryFault`` when there is none, or none that can be read."""
        if not path:
            raise UsageFault("the workspace path is empty", remedy="give a folder with --workspace")
        try:
            with os.scandir(path):
                pass
        except FileNotFoundError:
            raise MemoryFault(
                "no workspace here",
                path,
                "create one with `openclaw memory init`, or name another with --workspace",
            ) from None
        except NotADirectoryError:
            raise MemoryFault(
                "the workspace is not a folder",
                path,
                "name its folder, or create one with `openclaw memory init`",
            ) from None
        except OSError as error:
            raise fault_of(error, "the workspace cannot be read", path) from None
        except ValueError:
            raise UsageFault("the workspace path holds a character that no path can hold", path) from None
        return cls(path, extra_paths, models, settings)

    # Layout

    @property
    def index_dir(self) -> str:
        """The folder of everything that can be built again."""
        return os.path.join(self.root, ".memory")

    def _place_of_index(self) -> str:
        """The index file: where ``store.path`` says, else below ``index_dir``. Agents of one workspace with other extra
        paths have an index each, so that none sees another's. A file that another program made is left alone."""
        configured = self.settings.store_path
        if configured:
            place = os.path.normpath(os.path.join(self.root, configured))
            if is_ours_or_free(place):
                return place
            self.warnings += (
                f"memory.search.store.path: {place} was made by another program; the index lies in .memory/ instead",
            )
        name = f"index-{_digest(repr(self.extra_paths))}.sqlite" if self.extra_paths else "index.sqlite"
        return os.path.join(self.index_dir, name)

    @property
    def index_owner(self) -> str:
        """Whose the index is, where the configuration names its place: others may be told the same place, and must not
        be answered from it. "" for an index in its own place, which nobody shares."""
        configured = self.settings.store_path
        if not configured or self.index_path != os.path.normpath(os.path.join(self.root, configured)):
            return ""
        return _digest(repr((self.root, self.extra_paths)))

    @property
    def lock_path(self) -> str:
        """The lock of whoever writes the index."""
        return os.path.join(self.index_dir, "writer.lock")

    @property
    def journal_lock_path(self) -> str:
        """The lock of whoever appends to the logs; not the index's, so that neither waits for the other."""
        return os.path.join(self.index_dir, "journal.lock")

    def log_path(self, day: date) -> str:
        """The absolute path of a day's log, whether it exists or not."""
        return os.path.join(self.root, "memory", f"{day.isoformat()[:10]}.md")

    def core_paths(self) -> tuple[str, ...]:
        """The core memory files that exist, ``MEMORY.md`` first; two names of one file count once."""
        try:
            names = set(os.listdir(self.root))
        except OSError:
            return ()
        found: list[str] = []
        for name in CORE_NAMES:
            path = os.path.join(self.root, name)
            if name in names and os.path.isfile(path) and not any(os.path.samefile(path, one) for one in found):
                found.append(path)
        return tuple(found)

    def core_path(self) -> str:
        """The core memory file: the one that exists, else where ``MEMORY.md`` would be."""
        found = self.core_paths()
        return found[0] if found else os.path.join(self.root, CORE_NAMES[0])

    # Paths as they are written in citations and tool calls

    def relative(self, absolute: str) -> str:
        """The posix path below the root; for a path outside of it the absolute posix path."""
        place = os.path.normpath(absolute)
        below = self._below_root(place)
        return place.replace(os.sep, "/") if below is None else below

    def resolve(self, relative: str) -> str:
        """The real, absolute path for a path that somebody wrote; the file itself may be missing.

        Allowed are ``MEMORY.md``, ``memory.md``, ``USER.md``, ``DREAMS.md``, ``memory/**/*.md``,
        ``bank/**/*.md`` and ``.md`` files under ``extra_paths``; relative posix paths, or absolute ones that
        lie there. Everything else raises ``PathNotAllowed``, and so does a symbolic link on the way.
        """
        check_text(relative)
        base, parts = self._locate(relative)
        if not (parts[-1] if parts else base).endswith(".md"):
            refuse("it is not a .md file", relative)
        if base == self.root and len(parts) == 1 and parts[0] in CORE_NAMES:
            parts = (self._core_spelling(parts[0]),)
        return descend(base, parts)

    def _locate(self, written: str) -> tuple[str, tuple[str, ...]]:
        """The real folder (or extra file) that a path starts from, and the checked parts below it."""
        if os.path.isabs(written) or written.startswith("/"):
            place = written.replace("\\", "/") if os.name == "nt" else written
            for anchor in (self._given, self.root):
                rest = _below(place, anchor)
                if rest is not None and self._allows(parts := split(rest)):
                    return self.root, parts
            for given, real, pattern in self._outer:
                for anchor in (given, real):
                    rest = _below(place, anchor)
                    if rest is not None and (not rest or path_pattern(pattern).fullmatch(rest)):
                        return real, split(rest)
            refuse("it lies outside the workspace", written)
        parts = split(written)
        if not self._allows(parts):
            refuse("it is none of the memory files", written)
        return self.root, parts

    def _allows(self, parts: tuple[str, ...]) -> bool:
        if not parts:
            return False
        if (len(parts) == 1 and parts[0] in ROOT_FILES) or (len(parts) > 1 and parts[0] in ROOT_FOLDERS):
            return True
        return any(
            parts[: len(extra)] == extra
            and (parts == extra or path_pattern(pattern).fullmatch("/".join(parts[len(extra) :])))
            for extra, pattern in self._inner
        )

    def _core_spelling(self, name: str) -> str:
        """``name``, or its twin: where the disk ignores case and spells the file so, or where only that is there."""
        path = os.path.join(self.root, name)
        found = self.core_paths()
        for one in found:
            if os.path.lexists(path) and os.path.samefile(path, one) and not os.path.islink(path):
                return os.path.basename(one)
        return name if os.path.lexists(path) or not found else os.path.basename(found[0])

    def _below_root(self, place: str) -> str | None:
        for anchor in (self.root, self._given):
            rest = _below(place.replace(os.sep, "/"), anchor)
            if rest is not None:
                return rest
        return None


def _below(place: str, anchor: str) -> str | None:
    """What follows ``anchor`` in ``place`` ("" for the anchor itself), None where it does not lie below
    it."""
    anchor = anchor.replace(os.sep, "/").rstrip("/")
    head, rest = place[: len(anchor)], place[len(anchor) :]
    same = head == anchor if os.name != "nt" else os.path.normcase(head) == os.path.normcase(anchor)
    if not same or (rest and not rest.startswith("/")):
        return None
    return rest.lstrip("/")


def _digest(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:8]


def is_ours_or_free(path: str) -> bool:
    """Whether no file is at ``path``, or an index of ours (by the application id in SQLite's header, bytes 68-71)."""
    try:
        with open(path, "rb") as file:
            head = file.read(72)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return not head or head[68:72] == APPLICATION_ID.to_bytes(4, "big")
