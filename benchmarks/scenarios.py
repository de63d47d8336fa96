"""Whole small workspaces with what reflect should come to (the layout is told in the cases' own README).

python benchmarks/scenarios.py DIR [--scorer rules|learned|none] [--json]
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.parsers.names import fold
from openclaw_memory.reflect.job import Options, reflect
from openclaw_memory.reflect.verdicts.records import Scorer
from openclaw_memory.reflect.view import View, look

NOW = datetime(2026, 12, 1, 4, 0).astimezone()


def run_scenarios(folder: Path, scorer: Scorer | None) -> dict[str, Any]:
    """Run all scenarios below a folder: {"passed", "of", "failed": {name: [what was wrong]}}."""
    failed: dict[str, list[str]] = {}
    names = sorted(path.name for path in folder.iterdir() if (path / "expect.json").is_file())
    for name in names:
        wrong = list(run_scenario(folder / name, scorer))
        if wrong:
            failed[name] = wrong
    return {"passed": len(names) - len(failed), "of": len(names), "failed": failed}


def run_scenario(folder: Path, scorer: Scorer | None) -> Iterator[str]:
    """What is wrong with one scenario, a line each."""
    expected = json.loads((folder / "expect.json").read_text("utf-8"))
    setup = next((one["setup"] for one in expected if "setup" in one), {})
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "workspace"
        shutil.copytree(folder, root, ignore=shutil.ignore_patterns("_deleted", "ABOUT.txt", "expect.json"))
        late = {path: (root / path).read_bytes() for path in setup.get("late_files", ())}
        for path in late:
            (root / path).unlink()
        for path, copy in setup.get("deleted_files", {}).items():
            (root / path).write_bytes((folder / copy).read_bytes())
        workspace = Workspace.open(str(root))
        first = _reflected(workspace, scorer)
        for one in expected:
            if one.get("phase") == "before_delete":
                yield from check(first, one)
        for path, data in late.items():
            (root / path).write_bytes(data)
        for path in setup.get("deleted_files", {}):
            (root / path).unlink()
        last = _reflected(workspace, scorer)
        for one in expected:
            if "setup" not in one and one.get("phase") != "before_delete":
                yield from check(last, one)


def _reflected(workspace: Workspace, scorer: Scorer | None) -> View:
    reflect(workspace, now=NOW, scorer=scorer, options=Options())
    return look(workspace, now=NOW, scorer=scorer)


def check(view: View, one: Mapping[str, Any]) -> Iterator[str]:
    """What does not hold of one expectation."""
    if "compare" in one:
        yield from _compare(view, one)
    elif "opinion_contains" in one:
        yield from _opinion(view, one)
    else:
        yield from _world(view, one)


def _found(view: View, one: Mapping[str, Any]) -> list[dict[str, Any]]:
    wanted = one["opinion_contains"].casefold()
    own = [o for o in view.opinions if fold(one["entity"]) in map(fold, o["names"])]
    return [o for o in own if wanted in o["text"].casefold()]


def _opinion(view: View, one: Mapping[str, Any]) -> Iterator[str]:
    what = f"{one['entity']} “{one['opinion_contains']}”"
    found = _found(view, one)
    if len(found) != 1:
        yield f"{what}: {len(found)} opinions hold these words"
        return
    opinion = found[0]
    base = 0.60 if one.get("base_c") is None else one["base_c"]
    if "base_c" in one and (opinion["stated"] is None) != (one["base_c"] is None):
        yield f"{what}: stated {opinion['stated']}"
    elif one.get("base_c") is not None and abs(opinion["stated"] - one["base_c"]) > 1e-9:
        yield f"{what}: stated {opinion['stated']}, not {one['base_c']}"
    if "direction" in one:
        moved = opinion["confidence"] - base
        direction = "same" if abs(moved) < 1e-4 else "up" if moved > 0 else "down"
        if direction != one["direction"]:
            yield f"{what}: went {direction} ({base} to {opinion['confidence']}), not {one['direction']}"
    sides = {r: {item[1] for item in opinion["items"] if item[4] == r} for r in ("supports", "contradicts")}
    for relation, places in sides.items():
        wanted = {_place(p) for p in one.get(relation, ())}
        if not wanted <= places:
            yield f"{what}: {relation} lacks {sorted(wanted - places)}"
        if one.get("exact") and not places <= wanted:
            yield f"{what}: {relation} has {sorted(places - wanted)} besides"
        any_of = {_place(p) for p in one.get(f"{relation}_any_of", ())}
        if f"{relation}_count" in one:
            documents = {(i[2], i[3]) for i in opinion["items"] if i[4] == relation and i[1] in any_of}
            if len(documents) != one[f"{relation}_count"]:
                yield f"{what}: {relation} {len(documents)} witnesses, not {one[f'{relation}_count']}"
    both = sides["supports"] | sides["contradicts"]
    for name in ("not_evidence", "old_evidence"):
        wrong = both & {_place(p) for p in one.get(name, ())}
        if wrong:
            yield f"{what}: {sorted(wrong)} counts, though it is {name}"
    if "count_opinions_for_entity" in one:
        own = [o for o in view.opinions if fold(one["entity"]) in map(fold, o["names"])]
        if len(own) != one["count_opinions_for_entity"]:
            yield f"{one['entity']}: {len(own)} opinions, not {one['count_opinions_for_entity']}"
    page = view.page("bank/opinions.md")
    for day in one.get("dates", ()):
        if one.get("visible") and day not in page:
            yield f"{what}: {day} is not shown"


def _compare(view: View, one: Mapping[str, Any]) -> Iterator[str]:
    def drop(which: str) -> float | None:
        found = _found(view, one[which])
        if len(found) != 1:
            return None
        return float(found[0]["stated"] or 0.60) - float(found[0]["confidence"])

    if one["compare"] == "equal_c":
        first, second = drop("a"), drop("b")
        if first is None or second is None or abs(first - second) > 1e-4:
            yield f"{one['a']} and {one['b']} differ: {first}, {second}"
    else:
        larger, smaller = drop("larger"), drop("smaller")
        if larger is None or smaller is None or larger <= smaller + 1e-4:
            yield f"{one['larger']['entity']} did not drop more than {one['smaller']['entity']}: {larger}, {smaller}"


def _world(view: View, one: Mapping[str, Any]) -> Iterator[str]:
    slug = fold(one["entity"])
    facts = [fact for fact in view.facts if slug in fact["leads"] and fact["kind"] == "world"]

    def saying(words: str) -> list[dict[str, Any]]:
        return [fact for fact in facts if words.casefold() in fact["text"].casefold()]

    def at(place: Sequence[Any]) -> list[dict[str, Any]]:
        return [fact for fact in facts if _place(place) in fact["places"]]

    if "current" in one:
        own = [f for f in saying(one["current"]) if f["state"] == "active"]
        if not own:
            yield f"{one['entity']}: “{one['current']}” is not current"
        elif "current_line" in one and not any(_place(one["current_line"]) in f["places"] for f in own):
            yield f"{one['entity']}: “{one['current']}” is not from {_place(one['current_line'])}"
    if "superseded" in one:
        own = at(one["superseded_line"]) if "superseded_line" in one else saying(one["superseded"])
        if not any(f["state"] == "superseded" for f in own):
            yield f"{one['entity']}: “{one['superseded']}” still stands"
        elif "valid_to" in one and not any(f["valid_to"] == one["valid_to"] for f in own):
            yield f"{one['entity']}: “{one['superseded']}” until {[f['valid_to'] for f in own]}, not {one['valid_to']}"
    for name in ("historic", "not_current"):
        for words in _listed(one.get(name)):
            if any(f["state"] == "active" for f in (at(words) if isinstance(words, list) else saying(words))):
                yield f"{one['entity']}: {name} “{words}” stands"
    for words in _listed(one.get("coexist")):
        if not any(f["state"] == "active" for f in (at(words) if isinstance(words, list) else saying(words))):
            yield f"{one['entity']}: “{words}” was closed"
    for place in one.get("not_superseded_lines", ()):
        if any(f["state"] in ("superseded", "retracted") for f in at(place)):
            yield f"{one['entity']}: {_place(place)} was closed"
    same = [f for place in one.get("same_fact_lines", ()) for f in at(place)]
    standing = {f["by"] if f["state"] == "repeated" else f["id"] for f in same}
    if len(standing) > 1:
        yield f"{one['entity']}: {one['same_fact_lines']} are {len(standing)} facts"


def _listed(value: Any) -> list[Any]:
    """A value, or several, as a list; a place ([path, line]) is one value."""
    if value is None:
        return []
    is_place = isinstance(value, list) and len(value) == 2 and isinstance(value[1], int)
    return [value] if isinstance(value, str) or is_place else list(value)


def _place(place: Sequence[Any]) -> str:
    return f"{place[0]}#L{place[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scorer", default="learned", choices=("rules", "learned", "none"))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    from openclaw_memory.reflect.verdicts.scorers import make_scorer

    told = run_scenarios(given.folder, None if given.scorer == "none" else make_scorer(given.scorer))
    if given.json:
        print(json.dumps(told, indent=2, ensure_ascii=False))
        return
    print(f"{told['passed']} of {told['of']}")
    for name, wrong in told["failed"].items():
        print(name, *wrong, sep="\n    ")


if __name__ == "__main__":
    main()
