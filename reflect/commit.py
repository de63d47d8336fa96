"""One git commit of exactly the pages that reflect wrote.

The commit's tree is the last commit's with these pages, made in an index of its own; what the user has staged is no
part of it, and stays staged. The real index is locked as git locks it, from before the commit is made until its
entries of these pages are the committed ones: no command of git can come in between. Hooks do not run, and nothing is
signed (a key may ask for its passphrase).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from .repository import GitRefused, Repository, changed, find_repository, foreign, git, ignored, overlooked, under_way

WAS_CHANGED = "it had changes that were not committed"


class CommitResult(NamedTuple):
    """``commit``: the new commit's id, None when none was made. ``left_out``: (path, why) of each page that is not in
    it though it was given. ``reason``: one line why there is no commit, "" when there is one."""

    commit: str | None
    left_out: tuple[tuple[str, str], ...]
    reason: str


def dirty(root: str, paths: Collection[str]) -> set[str]:
    """Those of ``paths`` (relative to the workspace) with changes of the user's: to be asked **before** they are
    written.

    Staged, not staged, deleted, or there and unknown to git. Empty where there is no repository; all of them where git
    cannot tell.
    """
    try:
        repository = find_repository(root)
    except GitRefused:
        return set()
    try:
        elsewhere = foreign(repository, root, paths)
        return changed(repository, [path for path in paths if path not in elsewhere])
    except GitRefused:
        return set(paths)


def commit_pages(
    root: str, paths: Collection[str], message: str, *, dirty_before: Collection[str] = ()
) -> CommitResult:
    """Commit the pages as they are on the disk (``paths``: relative to the workspace, posix; one that is gone is
    committed as deleted), but those that were ``dirty_before`` they were written.

    Never raises for what a repository may be like: without git, a repository, a branch, an author, or in the middle of
    a merge, nothing is committed, and ``reason`` says why. Nothing is lost then: the pages are on the disk.
    """
    left = {path: WAS_CHANGED for path in paths if path in dirty_before}
    commit: str | None = None
    reason = ""
    try:
        repository = find_repository(root)
        branch, parent = _branch(repository)
        _can_commit(repository)
        wanted = [path for path in paths if path not in left]
        for path, folder in foreign(repository, root, wanted).items():
            left[path] = f"it is in a repository of its own ({folder})"
        wanted = [path for path in wanted if path not in left]
        left |= dict.fromkeys(overlooked(repository, wanted), "git was told to overlook it")
        left |= dict.fromkeys(ignored(repository, wanted), "git ignores it")
        wanted = [path for path in wanted if path not in left]
        if wanted:
            commit = _commit(repository, branch, parent, wanted, message)
        reason = "" if commit else "every page was left out" if left and not wanted else "no page has changed"
    except GitRefused as refused:
        reason = str(refused)
    return CommitResult(commit, tuple((path, left[path]) for path in paths if path in left), reason)


def _branch(repository: Repository) -> tuple[str, str]:
    """The branch that is checked out (``refs/heads/…``) and its last commit, "" for one without any."""
    branch = git(repository.top, "symbolic-ref", "-q", "HEAD", may_fail=True).decode().strip()
    if not branch:
        raise GitRefused("no branch is checked out (detached HEAD): a commit would be lost with the next checkout")
    return branch, git(repository.top, "rev-parse", "-q", "--verify", "HEAD^{commit}", may_fail=True).decode().strip()


def _can_commit(repository: Repository) -> None:
    what = under_way(repository)
    if what:
        raise GitRefused(f"{what} is under way: finish it, then commit the pages yourself")
    try:
        for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
            git(repository.top, "var", who)
    except GitRefused:
        raise GitRefused("git does not know who commits: set user.name and user.email with `git config`") from None


def _commit(repository: Repository, branch: str, parent: str, paths: Sequence[str], message: str) -> str | None:
    """The new commit; None when no page differs from the last one."""
    top = repository.top
    with _IndexLock(repository) as lock:
        index = os.path.join(lock.folder, "tree")
        base = parent or git(top, "mktree").decode().strip()
        git(top, "read-tree", base, index=index)
        names = b"".join(repository.name(path) + b"\0" for path in paths)
        git(top, "update-index", "--add", "--remove", "-z", "--stdin", given=names, index=index)
        entries = _entries(git(top, "diff-index", "--cached", "--raw", "-z", "--no-renames", base, index=index))
        if not entries:
            return None
        tree = git(top, "write-tree", index=index).decode().strip()
        parents = ("-p", parent) if parent else ()
        text = message.replace("\0", "").strip("\n") + "\n"
        commit = git(top, "commit-tree", tree, *parents, given=text.encode("utf-8", "replace")).decode().strip()
        new = os.path.join(lock.folder, "index")
        try:
            if os.path.exists(repository.index_path):
                shutil.copy(repository.index_path, new)
        except OSError as error:
            raise GitRefused(f"the index cannot be copied: {error.strerror}") from None
        git(top, "update-index", "-z", "--index-info", given=entries, index=new)
        # All zeros: there must be no such branch yet.
        old = parent or "0" * len(commit)
        with lock.replacing_index_by(new):
            git(top, "update-ref", "-m", text.split("\n", 1)[0], branch, commit, old)
        return commit


def _entries(raw: bytes) -> bytes:
    """What ``diff-index --raw -z`` tells (``:mode mode id id state``, path), for ``update-index --index-info``."""
    parts = raw.split(b"\0")[:-1]
    found: list[bytes] = []
    for told, name in zip(parts[::2], parts[1::2], strict=True):
        _, mode, _, blob, _ = told.split(b" ")
        found.append(mode + b" " + blob + b"\t" + name + b"\0")
    return b"".join(found)


class _IndexLock:
    """The index's lock file, held as git does, by being the one who makes it. ``folder``: for files of one's own, taken
    away with the lock."""

    def __init__(self, repository: Repository) -> None:
        self._index, self._lock, self._held = repository.index_path, f"{repository.index_path}.lock", False
        self._git_dir, self.folder = repository.git_dir, ""

    def __enter__(self) -> _IndexLock:
        try:
            os.close(os.open(self._lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        except FileExistsError:
            what = "another git command is running here, or was killed"
            raise GitRefused(f"{what} ({self._lock} is there)") from None
        except OSError as error:
            raise GitRefused(f"the index cannot be locked: {error.strerror} ({self._lock})") from None
        self._held = True
        try:
            self.folder = tempfile.mkdtemp(prefix="openclaw-memory-", dir=self._git_dir)
        except OSError as error:
            self._release()
            raise GitRefused(f"the git folder cannot be written: {error.strerror}") from None
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._release()

    def _release(self) -> None:
        if self._held:
            self._held = False
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._lock)

    @contextlib.contextmanager
    def replacing_index_by(self, new: str) -> Iterator[None]:
        """Put another file in the index's place, and so give the lock back, unless the body fails."""
        try:
            os.replace(new, self._lock)
        except OSError as error:
            raise GitRefused(f"the index cannot be written: {error.strerror}") from None
        yield
        # From here on the lock may be another's.
        self._held = False
        os.replace(self._lock, self._index)
