"""Globs on posix paths: ``*`` and ``?`` within a name, ``**`` over folders, ``[…]`` and ``{a,b}`` for choices."""

import re
from functools import lru_cache


@lru_cache(maxsize=64)
def path_pattern(glob: str) -> re.Pattern[str]:
    """What matches whole posix paths below a folder as ``glob`` does; "" matches every path.

    As in the globs of gitignore and minimatch, ``**/`` also stands for no folder at all. A bracket or brace that is not
    closed stands for itself.
    """
    if not glob:
        return re.compile(r".*", re.DOTALL)
    return re.compile("".join(_translated(glob.removeprefix("./"))), re.DOTALL)


def _translated(glob: str) -> list[str]:
    parts: list[str] = []
    position = 0
    while position < len(glob):
        rest = glob[position:]
        if rest.startswith("**/"):
            parts.append("(?:[^/]+/)*")
            position += 3
        elif rest.startswith("**"):
            parts.append(".*")
            position += 2
        elif (bracket := re.match(r"\[([!^]?)([^\]/]+)\]", rest)) is not None:
            parts.append(f"[{'^/' if bracket[1] else ''}{_escaped_class(bracket[2])}]")
            position += bracket.end()
        elif (brace := re.match(r"\{([^{}]*)\}", rest)) is not None:
            choices = ("".join(_translated(choice)) for choice in brace[1].split(","))
            parts.append(f"(?:{'|'.join(choices)})")
            position += brace.end()
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(rest[0]) or re.escape(rest[0]))
            position += 1
    return parts


def _escaped_class(text: str) -> str:
    """The inside of a bracket; a range that runs backwards is taken letter by letter."""
    escaped = re.sub(r"([\\\]\[^&~|])", r"\\\1", text)
    try:
        re.compile(f"[{escaped}]")
    except re.error:
        return re.escape(text)
    return escaped
