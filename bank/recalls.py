"""What was recalled: a line in ``.memory/recalls.jsonl`` for each answer, so that what is asked for often can be told.

It is no source of anything: without it, suggestions come in another order. So it takes no lock, and what cannot be
written is not written. A recall pays for one ``write``; only modules that are loaded by then are used.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date

from .workspace import Workspace

FILE = "recalls.jsonl"
#: How many results of an answer count: those that it was most likely asked for.
COUNTED = 5
#: In bytes: from here on the nightly job folds the lines, and where there is none, nothing more is added.
FOLDED_AT = 1_000_000
LARGEST = 8_000_000
#: After folding, only so many ids are left, those that were recalled most.
_KEPT = 20_000


def note_recall(workspace: Workspace, day: date, ids: Sequence[str]) -> None:
    """Add a line for an answer: its day, and the ids of its results, best first. Never raises.

    One ``write`` at the end of the file, so that lines of several processes do not mix. Nothing is made where there is
    no ``.memory`` folder.
    """
    counted = ids[:COUNTED]
    if not counted:
        return
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        line = json.dumps({"day": day.isoformat(), "ids": counted}, separators=(",", ":")) + "\n"
        handle = os.open(os.path.join(workspace.index_dir, FILE), flags, 0o666)
        try:
            if os.fstat(handle).st_size < LARGEST:
                os.write(handle, line.encode("ascii"))
        finally:
            os.close(handle)
    except (OSError, ValueError):
        pass


def read_recalls(workspace: Workspace) -> Counter[str]:
    """On how many days each id was among the first results of an answer. Empty where nothing is known; lines that do
    not read are passed over."""
    try:
        with open(os.path.join(workspace.index_dir, FILE), "rb") as file:
            return _count(file)
    except (OSError, ValueError):
        return Counter()


def fold_recalls(workspace: Workspace) -> bool:
    """Replace the lines by one that holds the counts, where they have grown long; whether that was done.

    A recall that is noted at the same moment may be lost. Never raises.
    """
    path = os.path.join(workspace.index_dir, FILE)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        if os.path.getsize(path) < FOLDED_AT:
            return False
        most = sorted(read_recalls(workspace).items(), key=lambda one: (-one[1], one[0]))[:_KEPT]
        with open(temporary, "w", encoding="ascii") as file:
            json.dump({"counts": dict(most)}, file, separators=(",", ":"))
            file.write("\n")
        os.replace(temporary, path)
    except (OSError, ValueError):
        return False
    return True


def _count(lines: Iterable[bytes]) -> Counter[str]:
    total: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    for line in lines:
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(told, dict):
            continue
        counts, day, ids = told.get("counts"), told.get("day"), told.get("ids")
        if isinstance(counts, dict):
            total.update({key: n for key, n in counts.items() if isinstance(n, int) and 0 < n < 1_000_000})
        if isinstance(day, str) and isinstance(ids, list):
            seen.update((day, key) for key in ids if isinstance(key, str))
    total.update(key for _, key in seen)
    return total
