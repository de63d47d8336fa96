"""The git repository that a workspace lies in, asked and changed by the ``git`` program alone.

Hooks are never run: they are for what a person commits. A formatter would change pages behind reflect's back, a check
that asks something would wait all night.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from ..bank.errors import one_line

_SECONDS = 120
#: Paths in one call: far below what any system takes as arguments.
_BATCH = 200
#: What a hook or an alias of git sets for its own repository (``git rev-parse --local-env-vars``).
_LOCAL = """
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_DIR GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE
    GIT_INTERNAL_SUPER_PREFIX GIT_NO_REPLACE_OBJECTS GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_REPLACE_REF_BASE
    GIT_SHALLOW_FILE GIT_WORK_TREE
""".split()
#: What lies in the git folder while something is under way that the next commit would be taken into.
_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a cherry-pick or a revert",
    "BISECT_LOG": "a bisection",
}


class GitRefused(Exception):
    """Why git cannot do it, as one line that a person understands."""


class Repository(NamedTuple):
    """``top``: the folder of the work tree. ``prefix``: what paths of the workspace start with there, as bytes ("" or
    ending with ``/``). ``git_dir``: of this work tree. ``index_path``: the index file. All absolute."""

    top: str
    prefix: bytes
    git_dir: str
    index_path: str

    def name(self, path: str) -> bytes:
        """A path of the workspace as git has it."""
        return self.prefix + os.fsencode(path)

    def path(self, name: bytes) -> str:
        """The reverse."""
        return os.fsdecode(name.removeprefix(self.prefix))


def find_repository(root: str) -> Repository:
    """The repository of a workspace. Raises ``GitRefused`` where there is none, or none that git will open."""
    if shutil.which("git") is None:
        raise GitRefused("git is not installed")
    try:
        lines = git(root, "rev-parse", "--show-toplevel", "--absolute-git-dir").split(b"\n")
    except GitRefused as refused:
        if "not a git repository" in str(refused):
            raise GitRefused("the workspace is in no git repository") from None
        raise
    prefix = git(root, "rev-parse", "--show-prefix").removesuffix(b"\n")
    top, git_dir = os.fsdecode(lines[0]), os.fsdecode(lines[1])
    index = os.fsdecode(git(top, "rev-parse", "--git-path", "index").removesuffix(b"\n"))
    return Repository(top, prefix, git_dir, os.path.join(top, index))


def git(folder: str, *words: str, given: bytes = b"", index: str = "", may_fail: bool = False) -> bytes:
    """What git answers when it is run in ``folder``, with another index file if one is named.

    Raises ``GitRefused`` with what git said; ``may_fail``: exit code 1 is an answer too.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _LOCAL}
    # Paths are paths, not patterns. Nobody is there to type a password. A question takes no lock.
    environment |= {
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }
    if index:
        environment["GIT_INDEX_FILE"] = index
    settings = ["-c", f"core.hooksPath={os.devnull}", "-c", "i18n.commitEncoding=UTF-8"]
    try:
        done = subprocess.run(
            ["git", "-C", folder, *settings, *words],
            input=given,
            capture_output=True,
            env=environment,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GitRefused(f"git {words[0]} did not end within {_SECONDS} seconds") from None
    except OSError as error:
        raise GitRefused(f"git cannot be run: {error.strerror}") from None
    if done.returncode and not (may_fail and done.returncode == 1):
        said = done.stderr.decode("utf-8", "replace").strip()
        told = next((line for line in said.splitlines() if line.startswith("fatal: ")), said.split("\n")[0])
        raise GitRefused(f"git says: {one_line(told.removeprefix('fatal: ')) or f'exit code {done.returncode}'}")
    return done.stdout


def under_way(repository: Repository) -> str:
    """``a merge``, ``a rebase`` or the like, "" when nothing is."""
    return next(
        (what for name, what in _UNDER_WAY.items() if os.path.lexists(os.path.join(repository.git_dir, name))), ""
    )


def changed(repository: Repository, paths: Iterable[str]) -> set[str]:
    """Those of ``paths`` that differ from the last commit, staged or not, or that are there and unknown to git."""
    found: set[str] = set()
    for names in batches(repository, paths):
        words = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", *names]
        for entry in git(repository.top, *words).split(b"\0"):
            if entry:
                found.add(repository.path(entry[3:]))
    return found


def overlooked(repository: Repository, paths: Iterable[str]) -> set[str]:
    """Those of ``paths`` that git was told to overlook (``update-index --skip-worktree``, ``--assume-unchanged``)."""
    found: set[str] = set()
    for names in batches(repository, paths):
        for entry in git(repository.top, "ls-files", "-v", "-z", "--", *names).split(b"\0"):
            if entry[:1].islower() or entry[:1] == b"S":
                found.add(repository.path(entry[2:]))
    return found


def ignored(repository: Repository, paths: Iterable[str]) -> set[str]:
    """Those of ``paths`` that git ignores; what it tracks it does not ignore."""
    found: set[str] = set()
    for names in batches(repository, paths):
        words = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", *names]
        found |= {repository.path(name) for name in git(repository.top, *words).split(b"\0") if name}
    return found


def foreign(repository: Repository, root: str, paths: Iterable[str]) -> dict[str, str]:
    """Those of ``paths`` in another repository (a submodule, or one that was put inside), each with its folder."""
    tops: dict[str, str] = {}
    found: dict[str, str] = {}
    for path in paths:
        folder = os.path.dirname(os.path.join(root, path))
        if folder not in tops:
            here = os.path.isdir(folder)
            tops[folder] = (
                os.fsdecode(git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n")) if here else repository.top
            )
        if tops[folder] != repository.top:
            found[path] = os.path.relpath(tops[folder], os.path.realpath(root)).replace(os.sep, "/")
    return found


def batches(repository: Repository, paths: Iterable[str]) -> Iterable[list[str]]:
    """``paths`` as git has them, some hundred at a time."""
    names = [os.fsdecode(repository.name(path)) for path in paths]
    return (names[at : at + _BATCH] for at in range(0, len(names), _BATCH))
