"""Moving in: what an existing workspace holds, what of it is passed over, and what a person could do to get more of it.

Nothing is written, not even an index. The report is one object (``docs/json.md``, import).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .bank.config import HOMES, Configuration, WorkspaceChoice, find_workspace, read_configuration
from .bank.errors import MemoryFault
from .bank.passed_over import passed_over
from .bank.survey import ROLES, Issue, Progress, Survey, survey
from .bank.workspace import Workspace
from .configured_keys import Key, configured_keys
from .next_steps import next_steps
from .parsers.scripts import characters
from .recall.stopwords import ENGLISH, language_of

#: So many places of one thing are named, and so many names.
PLACES, NAMES = 5, 10
#: Words of a file by which its language is told, and how many of them have to be function words.
_SAMPLE, _LEAST = 400, 3
_SCRIPTS = (("ja", "[぀-ヿ]"), ("ko", "[가-힣]"), ("zh", "[一-鿿]"), ("ru", "[Ѐ-ӿ]"), ("ar", "[؀-ۿ]"), ("el", "[Ͱ-Ͽ]"))


class Found(NamedTuple):
    """Where there is something to move in. ``configuration``: as read; its values are {} where it is broken, and then
    ``problem`` says why. ``choice``: the workspace; ``is_default``: commands use it anyway. ``environ``: with what the
    place itself says."""

    configuration: Configuration
    choice: WorkspaceChoice
    is_default: bool
    environ: Mapping[str, str]
    problem: str


def find(path: str, workspace: str, agent: str, environ: Mapping[str, str]) -> Found:
    """The workspace at ``path``; where that is OpenClaw's folder of any release, the one that its configuration names.

    Without a path, the workspace that every command would use. Raises ``MemoryFault`` and ``UsageFault`` as they do.
    """
    named = os.path.abspath(os.path.expanduser(path)) if path else ""
    inside = next((name for _, name in HOMES if named and os.path.isfile(os.path.join(named, name))), "")
    is_home = bool(inside) and not any(os.path.exists(os.path.join(named, name)) for name in ("MEMORY.md", "memory"))
    problem, usual = "", _usual(environ)
    if is_home:
        environ = {name: value for name, value in environ.items() if name != "OPENCLAW_WORKSPACE"}
        environ["OPENCLAW_CONFIG_PATH"] = os.path.join(named, inside)
    try:
        configuration = read_configuration(environ)
    except MemoryFault as fault:
        if not named and not workspace:
            raise
        configuration, problem = Configuration("", {}), str(fault)
    if is_home:
        choice = find_workspace(None, agent or None, environ, configuration)
        own = os.path.join(named, "workspace")
        if os.path.isdir(own) and (" in " not in choice.source or not os.path.isdir(choice.path)):
            # A folder that was copied from elsewhere names a place that is not here.
            choice = WorkspaceChoice(own, choice.agent, f"the workspace in {named}")
    else:
        choice = find_workspace(named or workspace or None, agent or None, environ, configuration)
        choice = choice._replace(source="the path that was given") if named else choice
    return Found(configuration, choice, os.path.realpath(choice.path) == usual, environ, problem)


def _usual(environ: Mapping[str, str]) -> str:
    """The real path of the workspace that is used where none is named, "" where that cannot be told."""
    try:
        return os.path.realpath(find_workspace(None, None, environ).path)
    except MemoryFault:
        return ""


def report(found: Found, progress: Progress | None = None) -> dict[str, Any]:
    """What the workspace holds and what could be made of it. Raises ``MemoryFault`` where there is no workspace."""
    problem = found.problem
    keys: list[Key] = []
    warnings: list[str] = []
    try:
        keys, warnings = configured_keys(found.configuration, found.choice, found.environ)
        bank = Workspace.configured(found.choice.path, found.configuration, found.choice.agent)
    except MemoryFault as fault:
        bank = Workspace.open(found.choice.path)
        problem = problem or str(fault)
    seen = survey(bank, language, progress)
    ignored = passed_over(bank, seen.scan)
    issues = [*seen.issues, *_core_issues(bank)]
    told: dict[str, Any] = {
        "workspace": bank.root,
        "workspaceSource": found.choice.source,
        "agent": found.choice.agent,
        "homes": _homes(found.environ, bank.root, found.configuration.path),
        "files": len(seen.files),
        "bytes": sum(one.size for one in seen.files),
        "roles": _roles(seen),
        "notes": sum(one.notes for one in seen.files),
        "facts": _facts(seen),
        "entities": {"count": len(seen.names), "most": [name for name, _ in seen.names[:NAMES]]},
        "days": _days(seen),
        "languages": [
            {"language": name, "files": count}
            for name, count in Counter(one.language for one in seen.files if one.language).most_common()
        ],
        "marks": [
            {"kind": kind, "count": len(places), "places": [f"{path}:{line}" for path, line in places[:PLACES]]}
            for kind, places in sorted(seen.marks.items())
        ],
        "issues": _issues(issues),
        "ignored": [{"path": one.path, "code": one.code, "count": one.files, "reason": one.reason} for one in ignored],
        "skipped": [{"path": path, "reason": why} for path, why in seen.skipped],
        "configuration": {
            "path": found.configuration.path or None,
            "problem": problem or None,
            "keys": [one._asdict() for one in keys],
            "warnings": warnings,
        },
    }
    steps = next_steps(bank, seen, issues, ignored, is_default=found.is_default, is_broken=bool(problem))
    told["steps"] = [step._asdict() for step in steps]
    return told


def language(text: str) -> str:
    """A guess by script and function words: a code such as ``de``; "" where there is too little to tell."""
    wide = characters(text[:4000])
    if wide or re.search("[Ͱ-ӿ؀-ۿ]", text[:4000]):
        letters = max(1, sum(char.isalpha() for char in text[:4000]))
        for code, script in _SCRIPTS:
            if len(re.findall(script, text[:4000])) > letters * 0.2:
                return code
    words = re.findall(r"[^\W\d_]+", text.casefold())[:_SAMPLE]
    found = language_of(frozenset(words))
    counted = ENGLISH if found == "en" else None
    if counted is not None and len(set(words) & counted) < _LEAST:
        return ""
    return found


def _core_issues(bank: Workspace) -> list[Issue]:
    """A core memory that is longer than its budget."""
    from .bank.files import read_text
    from .reflect.core_lint import core_faults

    found = []
    for place in bank.core_paths():
        path = bank.relative(place)
        try:
            faults = core_faults(read_text(place).data)
        except MemoryFault:
            continue
        found += [Issue(fault.code, path, fault.line, fault.message) for fault in faults]
    return found


def _roles(seen: Survey) -> list[dict[str, Any]]:
    told = []
    for role in ROLES:
        own = [one for one in seen.files if one.role == role]
        if own:
            told.append(
                {
                    "role": role,
                    "files": len(own),
                    "notes": sum(one.notes for one in own),
                    "facts": sum(one.facts.total() for one in own),
                    "examples": [one.path for one in own[:3]],
                }
            )
    return told


def _facts(seen: Survey) -> dict[str, int]:
    kinds: Counter[str] = Counter()
    for one in seen.files:
        kinds += one.facts
    return {"total": kinds.total(), **{kind: kinds[kind] for kind in ("world", "experience", "opinion", "observation")}}


def _days(seen: Survey) -> dict[str, Any]:
    days = sorted({one.day for one in seen.files if one.day})
    undated = sum(1 for one in seen.files if one.role == "undated")
    first, last = (days[0].isoformat(), days[-1].isoformat()) if days else (None, None)
    return {"from": first, "to": last, "count": len(days), "undated": undated}


def _issues(issues: Sequence[Issue]) -> list[dict[str, Any]]:
    by_code: dict[str, list[Issue]] = {}
    for one in issues:
        by_code.setdefault(one.code, []).append(one)
    return [
        {
            "code": code,
            "count": len(own),
            "message": own[0].message,
            "places": [f"{one.path}:{one.line}" for one in own[:PLACES]],
        }
        for code, own in sorted(by_code.items())
    ]


def _homes(environ: Mapping[str, str], root: str, configuration: str) -> list[dict[str, Any]]:
    """The folders of all releases of OpenClaw that are there, and what of them is used."""
    home = environ.get("USERPROFILE" if os.name == "nt" else "HOME") or os.path.expanduser("~")
    told = []
    for folder, name in HOMES:
        place = os.path.join(home, folder)
        if os.path.isdir(place):
            own, file = os.path.join(place, "workspace"), os.path.join(place, name)
            told.append(
                {
                    "path": place,
                    "configuration": file if os.path.isfile(file) else None,
                    "workspace": own if os.path.isdir(own) else None,
                    "used": os.path.realpath(own) == root or (bool(configuration) and file == configuration),
                }
            )
    return told
