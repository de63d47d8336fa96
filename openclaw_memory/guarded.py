"""Faults to one line on stderr and an exit code: 0 answered, 1 a fault in input or workspace, 2 wrong usage, 3 partly
done, 75 busy. A traceback only with ``--debug``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from .bank.errors import MemoryFault, one_line


def guarded(command: Callable[[], int | None], debug: bool = False) -> int:
    """Run a command; its exit code."""
    _have_streams()
    try:
        code = command() or 0
        sys.stdout.flush()
    except MemoryFault as fault:
        if debug:
            raise
        print(f"openclaw memory: {fault}", file=sys.stderr)
        return fault.exit_code
    except BrokenPipeError:
        # The reader (head, less) has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("openclaw memory: interrupted; nothing was left half-done", file=sys.stderr)
        return 130
    except Exception as error:
        if debug:
            raise
        what = one_line(f"{type(error).__name__}: {error}")
        print(f"openclaw memory: unexpected fault: {what}; run again with --debug to see where", file=sys.stderr)
        return 1
    return code


def _have_streams() -> None:
    """Streams that were closed before the start lead nowhere; what a terminal's encoding lacks is shown as ``?``."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
