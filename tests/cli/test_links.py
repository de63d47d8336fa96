"""Facts that say outright what they do to others: options of retain, checked before anything is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

NOW = ("--now", "2025-12-06T12:00:00")


def retained(run, workspace: Path, *arguments: str) -> dict:
    ran = run("retain", *arguments, "--workspace", str(workspace), *NOW, "--json")
    assert ran.code == 0, ran.told
    return json.loads(ran.text)["retained"][0]


def found(run, workspace: Path, question: str) -> list[dict]:
    return json.loads(run("recall", question, "--workspace", str(workspace), *NOW, "--json").text)["results"]


def test_a_citation_becomes_an_id(run, workspace: Path) -> None:
    old = next(one for one in found(run, workspace, "Where does Peter live?") if "Lisbon" in one["content"])
    told = retained(run, workspace, "W @Peter: Lives in Porto.", "--replaces", "memory/2025-12-01.md#L6")
    assert told["bullet"] == f"- W @Peter: Lives in Porto. (replaces ^{old['id']})"


def test_an_opinion_gets_evidence(run, workspace: Path) -> None:
    opinion = next(one for one in found(run, workspace, "What does Peter drink?") if one["kind"] == "opinion")
    told = retained(run, workspace, "W @Peter: Sent the coffee back.", "--supports", opinion["id"][:8], "--strongly")
    assert told["bullet"].endswith(f"(strongly supports ^{opinion['id']})")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--replaces", "w-123456"), "no fact has this id"),
        (("--replaces", "memory/2025-12-01.md#L1"), "no fact has this citation"),
        (("--replaces", "Lisbon"), "neither an id nor a citation"),
        (("--supports", "memory/2025-12-01.md#L6"), "it is no opinion"),
        (("--replaces", "memory/2025-12-01.md#L7"), "it is no world fact"),
        (("--strongly",), "goes with --supports or --contradicts"),
    ],
)
def test_what_points_at_nothing_is_not_retained(run, workspace: Path, arguments, says) -> None:
    ran = run("retain", "W @Peter: Moved.", *arguments, "--workspace", str(workspace), *NOW)
    assert ran.code == 2
    assert says in ran.told
    assert not (workspace / "memory" / "2025-12-06.md").exists()


def test_neither_is_what_a_fact_says_itself(run, workspace: Path) -> None:
    ran = run("retain", "W @Peter: Moved. (replaces ^w-123456)", "--workspace", str(workspace), *NOW)
    assert (ran.code, "no fact has this id" in ran.told) == (2, True)
