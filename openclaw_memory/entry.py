"""The console scripts: ``openclaw-memory X`` and ``openclaw memory X`` are one command line.

The commands that agents call all day (recall, search, get) are run without loading the command-line library where their
arguments are plain (``fast``); everything else, help and mistakes included, goes to the Typer application.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import MutableMapping

NAME = "openclaw-memory"


def main() -> None:
    """``openclaw-memory``; a first word ``memory`` is taken as in ``openclaw memory``."""
    arguments = sys.argv[1:]
    run(arguments[1:] if arguments[:1] == ["memory"] else arguments, NAME)


def openclaw() -> None:
    """``openclaw``: ``openclaw memory …`` is ours, any other word belongs to the next ``openclaw`` on PATH."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["memory"]:
        run(arguments[1:], "openclaw memory")
    other = next_openclaw(sys.argv[0], os.environ.get("PATH", os.defpath))
    if other is None:
        what = (
            "only `openclaw memory` is installed here; see `openclaw memory --help`, or install OpenClaw for the rest"
        )
        print(f"openclaw: {what}", file=sys.stderr)
        sys.exit(2)
    if os.name == "nt":
        import subprocess

        sys.exit(subprocess.call([other, *arguments]))
    os.execv(other, [other, *arguments])


def next_openclaw(own: str, path: str) -> str | None:
    """The first ``openclaw`` on ``path`` that is not this file nor of this package, by real path; None where there is
    none, so that a call can never come back here."""
    names = ["openclaw.cmd", "openclaw.exe", "openclaw.bat"] if os.name == "nt" else ["openclaw"]
    ours = {os.path.realpath(own), os.path.realpath(os.path.join(os.path.dirname(sys.executable), "openclaw"))}
    for folder in filter(None, path.split(os.pathsep)):
        for name in names:
            candidate = os.path.join(folder, name)
            real = os.path.realpath(candidate)
            if os.path.isfile(real) and os.access(real, os.X_OK) and real not in ours and not _is_ours(real):
                return candidate
    return None


def _is_ours(path: str) -> bool:
    """Whether a script runs this package (a copy of it in another environment)."""
    try:
        with open(path, "rb") as file:
            return b"openclaw_memory.entry" in file.read(4096)
    except OSError:
        return False


def run(arguments: list[str], program: str) -> None:
    """Run one command line and exit with its code."""
    from .fast import parse

    arguments = take_configuration(arguments, os.environ)
    plain = parse(arguments)
    if plain is not None:
        # A process that lives for some milliseconds and frees nothing has no use for cycle collection.
        gc.disable()
        from .answers import COMMANDS
        from .guarded import guarded

        command, options = plain
        sys.exit(guarded(lambda: COMMANDS[command](**options), bool(options.get("debug"))))
    from .commands.application import run_application

    run_application(arguments, program)


def take_configuration(arguments: list[str], environ: MutableMapping[str, str]) -> list[str]:
    """``arguments`` without ``--config FILE``, which every command takes and which means what the variable
    ``OPENCLAW_CONFIG_PATH`` means, for this process and those that it starts. Exits with 2 where there is no such file.
    """
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            return [*rest, word, *words]
        if word != "--config" and not word.startswith("--config="):
            rest.append(word)
            continue
        path = word.partition("=")[2] if "=" in word else next(words, "")
        if not os.path.isfile(os.path.expanduser(path)):
            what = f"--config {path}: no such file" if path else "--config: no file is named"
            print(f"openclaw memory: {what}; name an openclaw.json", file=sys.stderr)
            sys.exit(2)
        environ["OPENCLAW_CONFIG_PATH"] = os.path.abspath(os.path.expanduser(path))
    return rest
