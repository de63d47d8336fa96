"""What a person could do next with a workspace, each with a command that does it, where there is one."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .bank.passed_over import PassedOver
from .bank.survey import Issue, Survey
from .bank.workspace import Workspace

#: So many folders are named.
_NAMED = 5
_FACT_FAULTS = ("untyped-bullet", "empty-fact", "bad-confidence", "legacy-type", "lowercase-type")


class Step(NamedTuple):
    """Something that a person could do next. ``command``: one that does it, or helps to; None for work by hand."""

    what: str
    command: str | None


def next_steps(
    bank: Workspace,
    seen: Survey,
    issues: Sequence[Issue],
    ignored: Sequence[PassedOver],
    *,
    is_default: bool,
    is_broken: bool = False,
) -> list[Step]:
    """What to do next; the first always works at once. ``is_default``: commands find the workspace without its
    name. ``is_broken``: the configuration stops every command until it is corrected, so that comes first."""
    where = "" if is_default else f" --workspace {shlex.quote(bank.root)}"

    def ours(words: str) -> str:
        return f"openclaw memory {words}{where}"

    name = next((name for name, _ in seen.names), "")
    asked = f"what is known of {name}?" if name else "what was decided?"
    ask = ours(f"recall {shlex.quote(asked)}")
    found = [Step("It is ready: ask it something.", ask)]
    if is_broken:
        found = [Step("Correct the configuration: no other command runs before.", ours("doctor"))]
        found.append(Step("Then ask it something.", ask))
    codes = {one.code for one in ignored}
    problems = Counter(one.code for one in issues)
    dated = [one for one in seen.files if one.role in ("log", "slugged-log")]
    bare = [one for one in dated if not one.facts.total()]
    if problems.get("secret-like"):
        found.append(Step(f"Take {_number(problems['secret-like'], 'key-like string')} out of memory.", ours("lint")))
    hidden = problems["unclosed-fence"] + problems["open-comment"]
    if hidden:
        found.append(Step(f"Close what hides the rest of {_number(hidden, 'file')}.", ours("lint")))
    if problems["not-utf-8"] + problems["utf-16"]:
        files = _number(problems["not-utf-8"] + problems["utf-16"], "file")
        found.append(Step(f"Save {files} as UTF-8: see the issues for where.", None))
    if bare:
        what = f"{len(bare)} of {_number(len(dated), 'log')} have no typed facts; add bullets under ## Retain"
        found.append(Step(f"{what}: - W @Name: …, - O(c=0.8) @Name: …", ours("retain 'W @Name: what is so'")))
        found.append(
            Step("Or let facts be found in what those logs tell, and added to them.", ours("reflect --write-retain"))
        )
    if problems["outside-retain"]:
        what = f"{_number(problems['outside-retain'], 'typed bullet')} outside a Retain section: only notes so far."
        found.append(Step(what, ours("lint")))
    other = sum(problems[code] for code in problems if code in _FACT_FAULTS)
    if other:
        found.append(Step(f"{_number(other, 'bullet')} do not say a fact as meant.", ours("lint")))
    if not any(kind.startswith("own:") for kind in seen.marks) and any(one.facts.total() for one in seen.files):
        found.append(Step("See the pages that would be kept for you.", ours("reflect --dry-run")))
        found.append(Step("Have them written every night.", ours("schedule install")))
    if len(bank.core_paths()) > 1:
        found.append(Step("MEMORY.md and memory.md both exist, and both are read: keep one.", None))
    elif not bank.core_paths():
        found.append(Step("There is no MEMORY.md yet: see what belongs into it.", ours("promote")))
    outside = sorted(one.path for one in ignored if one.code == "outside")
    if outside:
        listed = ", ".join(f'"{path.rstrip("/")}"' for path in outside[:_NAMED])
        found.append(Step(f"To have more read: memory.search.extraPaths: [{listed}] in openclaw.json.", None))
    if "other-format" in codes or "other-spelling" in codes:
        found.append(Step("Rename what has another suffix or spelling: see what is passed over.", None))
    if problems["core-over-budget"]:
        found.append(Step("The core memory is over its budget, and nothing more can be added.", ours("core show")))
    if not _in_repository(bank.root):
        found.append(Step("Keep its history.", f"git -C {shlex.quote(bank.root)} init"))
    return found


def _in_repository(folder: str) -> bool:
    """Whether a folder is in a git repository, its own or one around it."""
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above
    return True


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
