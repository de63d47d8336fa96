"""Pages into one commit, by the real git: what is in it, what is not, and what stays as the user had it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openclaw_memory.reflect.commit import WAS_CHANGED, commit_pages, dirty

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
PAGES = ["bank/opinions.md", "bank/entities/Peter.md"]


@pytest.fixture(autouse=True)
def own_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's own configuration of git, and an author."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    (home / ".gitconfig").write_text("[user]\nname = Ann\nemail = ann@example.org\n[init]\ndefaultBranch = main\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "none"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def git(folder: Path, *words: str, given: str | None = None) -> str:
    done = subprocess.run(["git", *words], cwd=folder, input=given, capture_output=True, text=True, check=True)
    return done.stdout


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8", newline="")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace that is a repository with one commit."""
    made = tmp_path / "workspace"
    write(made, {"bank/opinions.md": "old\n", "memory/2025-12-01.md": "log\n", "notes.txt": "one\ntwo\n"})
    git(made, "init", "-q")
    git(made, "add", "-A")
    git(made, "commit", "-q", "-m", "first")
    return made


def status(folder: Path) -> str:
    return git(folder, "status", "--porcelain=v1", "--no-renames", "--untracked-files=all")


def in_commit(folder: Path, commit: str) -> list[str]:
    return git(folder, "show", "--format=", "--name-status", "--no-renames", commit).splitlines()


def no_leftovers(git_dir: Path) -> bool:
    return not [path.name for path in git_dir.iterdir() if path.name.endswith(".lock") or "openclaw" in path.name]


def test_exactly_the_pages(root: Path) -> None:
    """A new page, a changed one and a deleted one; the user's staged and unstaged changes stay theirs."""
    write(root, {"bank/world.md": "gone\n"})
    git(root, "add", "bank/world.md")
    git(root, "commit", "-q", "-m", "second")
    write(root, {"notes.txt": "staged\ntwo\n", "staged.txt": "new\n"})
    git(root, "add", "notes.txt", "staged.txt")
    git(root, "rm", "-q", "memory/2025-12-01.md")
    write(root, {"notes.txt": "staged\nand more\n", "unknown.txt": "x\n", "later.txt": "y\n"})
    git(root, "add", "-N", "later.txt")
    before, staged = status(root), git(root, "diff", "--cached")
    pages = [*PAGES, "bank/world.md"]
    assert dirty(str(root), pages) == set()
    write(root, dict.fromkeys(PAGES, "new\r\n"))
    (root / "bank" / "world.md").unlink()
    message = "reflect: 3 pages, 1 opinion moved\n\nbank/opinions.md: 王芳 0.70 to 0.74\n# not a comment\n"
    done = commit_pages(str(root), pages, message)
    assert (done.left_out, done.reason) == ((), "")
    assert done.commit == git(root, "rev-parse", "main").strip()
    assert in_commit(root, done.commit) == ["A\tbank/entities/Peter.md", "M\tbank/opinions.md", "D\tbank/world.md"]
    assert git(root, "cat-file", "-p", f"{done.commit}:{PAGES[0]}") == "new\n"
    assert git(root, "log", "-1", "--format=%B%an <%ae>") == message + "Ann <ann@example.org>\n"
    assert (status(root), git(root, "diff", "--cached")) == (before, staged)
    assert git(root, "reflog", "-1", "--format=%gs").strip() == "reflect: 3 pages, 1 opinion moved"
    assert no_leftovers(root / ".git")
    git(root, "fsck", "--strict")
    again = commit_pages(str(root), pages, message)
    assert again == (None, (), "no page has changed")


def test_pages_that_were_changed_before_are_left_out(root: Path) -> None:
    write(root, {"bank/a.md": "a\n", "bank/b.md": "b\n", "bank/c.md": "c\n", "bank/d.md": "d\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "second")
    write(root, {"bank/a.md": "mine\n", "bank/b.md": "mine\n", "bank/new.md": "mine\n"})
    git(root, "add", "bank/b.md")
    (root / "bank" / "c.md").unlink()
    before = status(root)
    pages = [f"bank/{name}.md" for name in ("a", "b", "c", "d", "new", "made")]
    was = dirty(str(root), pages)
    assert was == {"bank/a.md", "bank/b.md", "bank/c.md", "bank/new.md"}
    write(root, dict.fromkeys(pages, "generated\n"))
    done = commit_pages(str(root), pages, "reflect\n", dirty_before=was)
    assert done.commit
    assert done.left_out == tuple((f"bank/{name}.md", WAS_CHANGED) for name in ("a", "b", "c", "new"))
    assert in_commit(root, done.commit) == ["M\tbank/d.md", "A\tbank/made.md"]
    assert [line[3:] for line in status(root).splitlines()] == [line[3:] for line in before.splitlines()]
    assert git(root, "show", ":bank/b.md") == "mine\n"
    assert commit_pages(str(root), ["bank/a.md"], "x", dirty_before=was).reason == "every page was left out"


def refused(root: Path, reason: str, pages: list[str] | None = None) -> None:
    """Nothing is committed, one line says why, and nothing else has changed."""
    folder = root if (root / ".git").exists() else None
    head = git(root, "rev-parse", "HEAD") if folder else ""
    before = status(root) if folder else ""
    done = commit_pages(str(root), pages or PAGES, "reflect\n")
    assert done.commit is None
    assert reason in done.reason
    assert "\n" not in done.reason
    if folder:
        assert (git(root, "rev-parse", "HEAD"), status(root)) == (head, before)


def test_no_git(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write(root, dict.fromkeys(PAGES, "new\n"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert dirty(str(root), PAGES) == set()
    assert commit_pages(str(root), PAGES, "x") == (None, (), "git is not installed")


def test_no_repository(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(PAGES, "new\n"))
    assert dirty(str(tmp_path), PAGES) == set()
    refused(tmp_path, "the workspace is in no git repository")
    git(tmp_path, "init", "-q", "--bare", "bare")
    refused(tmp_path / "bare", "work tree")


def test_a_repository_of_somebody_else(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, dict.fromkeys(PAGES, "new\n"))
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    done = commit_pages(str(root), PAGES, "x")
    assert done.commit is None
    assert "dubious ownership" in done.reason


def test_detached_head(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")
    write(root, dict.fromkeys(PAGES, "new\n"))
    refused(root, "no branch is checked out (detached HEAD)")


def test_unborn_branch(tmp_path: Path) -> None:
    """The first commit of a repository holds the pages alone; what was staged stays staged."""
    git(tmp_path, "init", "-q")
    write(tmp_path, {"staged.txt": "x\n", PAGES[0]: "mine\n"})
    git(tmp_path, "add", "staged.txt")
    was = dirty(str(tmp_path), PAGES)
    assert was == {PAGES[0]}
    write(tmp_path, dict.fromkeys(PAGES, "new\n"))
    done = commit_pages(str(tmp_path), PAGES, "reflect\n", dirty_before=was)
    assert done.commit
    assert in_commit(tmp_path, done.commit) == [f"A\t{PAGES[1]}"]
    assert status(tmp_path).splitlines() == ["A  staged.txt", f"?? {PAGES[0]}"]
    fresh = tmp_path / "fresh"
    write(fresh, dict.fromkeys(PAGES, "new\n"))
    git(fresh, "init", "-q")
    assert commit_pages(str(fresh), PAGES, "reflect\n").commit
    assert status(fresh) == ""


def test_with_other_hashes(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256")
    write(tmp_path, dict.fromkeys(PAGES, "new\n"))
    done = commit_pages(str(tmp_path), PAGES, "reflect\n")
    assert done.commit is not None
    assert len(done.commit) == 64
    assert status(tmp_path) == ""


@pytest.mark.parametrize("what", ["merge", "rebase", "cherry-pick", "revert"])
def test_in_the_middle_of_something(root: Path, what: str) -> None:
    git(root, "checkout", "-q", "-b", "other")
    write(root, {"notes.txt": "theirs\n"})
    git(root, "commit", "-q", "-am", "theirs")
    git(root, "checkout", "-q", "main")
    write(root, {"notes.txt": "ours\n"})
    git(root, "commit", "-q", "-am", "ours")
    words = {"revert": ["revert", "HEAD~1", "--no-edit"]}.get(what, [what, "other"])
    if what == "revert":
        write(root, {"notes.txt": "later\n"})
        git(root, "commit", "-q", "-am", "later")
    assert subprocess.run(["git", *words], cwd=root, capture_output=True, check=False).returncode != 0
    write(root, dict.fromkeys(PAGES, "new\n"))
    refused(root, "no branch is checked out" if what == "rebase" else f"a {what} is under way")


def test_a_page_in_conflict_without_a_merge(root: Path) -> None:
    """What a stash left half-merged is the user's; other pages are committed, and the conflict stays one."""
    write(root, {PAGES[0]: "stashed\n"})
    git(root, "stash", "-q")
    write(root, {PAGES[0]: "ours\n"})
    git(root, "commit", "-q", "-am", "ours")
    assert subprocess.run(["git", "stash", "pop"], cwd=root, capture_output=True, check=False).returncode == 1
    was = dirty(str(root), PAGES)
    assert was == {PAGES[0]}
    write(root, {PAGES[1]: "new\n"})
    done = commit_pages(str(root), PAGES, "x", dirty_before=was)
    assert done.commit
    assert in_commit(root, done.commit) == [f"A\t{PAGES[1]}"]
    assert status(root) == f"UU {PAGES[0]}\n"


def test_nobody_commits(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    git(root, "config", "user.useConfigOnly", "true")
    write(root, dict.fromkeys(PAGES, "new\n"))
    refused(root, "set user.name and user.email")


def test_ignored_pages(root: Path) -> None:
    write(root, {".gitignore": "bank/entities/\nbank/opinions.md\n"})
    git(root, "add", ".gitignore")
    git(root, "commit", "-q", "-m", "ignore")
    write(root, dict.fromkeys(PAGES, "new\n"))
    assert dirty(str(root), [PAGES[1]]) == set()
    done = commit_pages(str(root), PAGES, "x")
    assert done.left_out == ((PAGES[1], "git ignores it"),)
    assert done.commit
    assert in_commit(root, done.commit) == [f"M\t{PAGES[0]}"]
    assert commit_pages(str(root), PAGES[1:], "x").reason == "every page was left out"


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_overlooked_pages(root: Path, flag: str) -> None:
    git(root, "update-index", flag, PAGES[0])
    write(root, dict.fromkeys(PAGES, "new\n"))
    done = commit_pages(str(root), PAGES, "x")
    assert done.left_out == ((PAGES[0], "git was told to overlook it"),)
    assert done.commit
    assert in_commit(root, done.commit) == [f"A\t{PAGES[1]}"]


def test_submodules(root: Path, tmp_path: Path) -> None:
    """A page in one is left out; a workspace that is one commits to itself."""
    other = tmp_path / "other"
    write(other, {"Peter.md": "x\n"})
    git(other, "init", "-q")
    git(other, "add", "-A")
    git(other, "commit", "-q", "-m", "first")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "bank/entities")
    git(root, "commit", "-q", "-m", "submodule")
    assert dirty(str(root), PAGES) == set()
    write(root, dict.fromkeys(PAGES, "new\n"))
    done = commit_pages(str(root), PAGES, "x")
    assert done.left_out == ((PAGES[1], "it is in a repository of its own (bank/entities)"),)
    assert done.commit
    assert in_commit(root, done.commit) == [f"M\t{PAGES[0]}"]
    inner = root / "bank" / "entities"
    own = commit_pages(str(inner), ["Peter.md"], "x")
    assert own.commit == git(inner, "rev-parse", "HEAD").strip()


def test_a_linked_worktree(root: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(root, "worktree", "add", "-q", "-b", "night", str(linked))
    main = git(root, "rev-parse", "main")
    write(linked, dict.fromkeys(PAGES, "new\n"))
    done = commit_pages(str(linked), PAGES, "x")
    assert done.commit == git(root, "rev-parse", "night").strip()
    assert (git(root, "rev-parse", "main"), status(linked), status(root)) == (main, "", "")
    assert no_leftovers(root / ".git" / "worktrees" / "linked")


@pytest.mark.parametrize("folder", ["notes", "my notes/ünï [a]*", "-n"])
def test_a_workspace_in_a_subfolder(root: Path, folder: str) -> None:
    """Also with characters that git would take for patterns or options, and with names like those outside."""
    inner = root / folder
    write(inner, {PAGES[0]: "old\n", "bank/[x]*.md": "old\n", "bank/x.md": "old\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "inner")
    write(inner, {"bank/x.md": "mine\n"})
    assert dirty(str(inner), ["bank/[x]*.md", "bank/x.md"]) == {"bank/x.md"}
    write(inner, {**dict.fromkeys(PAGES, "new\n"), "bank/[x]*.md": "new\n"})
    write(root, {PAGES[0]: "outside\n"})
    done = commit_pages(str(inner), [*PAGES, "bank/[x]*.md"], "x")
    assert done.commit
    assert git(root, "diff", "--name-only", "HEAD", "-z").split("\0")[:-1] == sorted([PAGES[0], f"{folder}/bank/x.md"])


def test_a_workspace_behind_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    write(root, dict.fromkeys(PAGES, "new\n"))
    done = commit_pages(str(tmp_path / "link"), PAGES, "x")
    assert (bool(done.commit), done.left_out, status(root)) == (True, (), "")


def test_git_at_work(root: Path) -> None:
    write(root, dict.fromkeys(PAGES, "new\n"))
    lock = root / ".git" / "index.lock"
    lock.write_text("another's")
    done = commit_pages(str(root), PAGES, "x")
    assert "another git command is running here" in done.reason
    assert lock.read_text() == "another's"


def test_a_branch_that_cannot_be_moved(root: Path) -> None:
    """The branch is locked: no commit, and the index is as it was."""
    write(root, {"staged.txt": "x\n"})
    git(root, "add", "staged.txt")
    write(root, dict.fromkeys(PAGES, "new\n"))
    index = (root / ".git" / "index").read_bytes()
    lock = root / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    head = git(root, "rev-parse", "main")
    done = commit_pages(str(root), PAGES, "x")
    assert done.commit is None
    assert "git says: " in done.reason
    assert (git(root, "rev-parse", "main"), (root / ".git" / "index").read_bytes()) == (head, index)
    lock.unlink()
    assert no_leftovers(root / ".git")
    assert commit_pages(str(root), PAGES, "x").commit


def test_hooks_signing_and_a_hooks_variables(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No hook runs, nobody is asked for a key; variables that git sets for hooks lead nowhere else."""
    names = "pre-commit commit-msg prepare-commit-msg post-commit reference-transaction post-index-change".split()
    for name in names:
        hook = root / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {root}/ran-{name}\nexit 1\n")
        hook.chmod(0o755)
    git(root, "config", "commit.gpgSign", "true")
    git(root, "config", "gpg.program", "/bin/false")
    monkeypatch.setenv("GIT_DIR", str(root / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", "nowhere")
    write(root, dict.fromkeys(PAGES, "new\n"))
    assert commit_pages(str(root), PAGES, "x").commit
    assert not list(root.glob("ran-*"))


def test_line_ends_by_the_repositorys_rules(root: Path) -> None:
    write(root, {".gitattributes": "*.md text eol=crlf\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "attributes")
    write(root, {PAGES[0]: "new\r\n"})
    done = commit_pages(str(root), PAGES[:1], "x")
    assert (
        subprocess.run(
            ["git", "cat-file", "-p", f"{done.commit}:{PAGES[0]}"], cwd=root, capture_output=True, check=True
        ).stdout
        == b"new\n"
    )
    assert status(root) == ""


def test_many_pages(root: Path) -> None:
    pages = [f"bank/entities/{'n' * 60}-{number}.md" for number in range(700)]
    write(root, dict.fromkeys(pages, "x\n"))
    assert dirty(str(root), pages) == set(pages)
    assert commit_pages(str(root), pages, "x").commit
    assert dirty(str(root), pages) == set()


NAMES = ["a.md", "b.md", "c.md"]
STATES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(["", "1\n", "2\n"]), st.booleans()), min_size=0, max_size=5
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STATES, st.sets(st.sampled_from(NAMES)))
def test_what_is_staged_never_moves(tmp_path_factory: pytest.TempPathFactory, changes, pages: set[str]) -> None:
    """Whatever the user staged, changed or deleted: pages they did not touch are committed, all else is as it was."""
    root = tmp_path_factory.mktemp("law")
    write(root, {"a.md": "1\n", "b.md": "2\n"})
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    for name, text, staged in changes:
        if text:
            write(root, {name: text})
        else:
            (root / name).unlink(missing_ok=True)
        if staged:
            git(root, "add", "-A")
    was = dirty(str(root), NAMES)
    assert was == {line[3:] for line in status(root).splitlines()}
    cached = git(root, "diff", "--cached", "HEAD")
    old = git(root, "rev-parse", "HEAD").strip()
    write(root, dict.fromkeys(pages, "page\n"))
    done = commit_pages(str(root), sorted(pages), "x", dirty_before=was)
    assert {path for path, _ in done.left_out} == pages & was
    assert bool(done.commit) == bool(pages - was)
    if done.commit:
        assert set(git(root, "diff", "--name-only", old, done.commit).split()) == pages - was
    assert git(root, "diff", "--cached", "HEAD") == cached
    assert dirty(str(root), sorted(pages - was)) == set()
