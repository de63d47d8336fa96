"""Strings that look like keys: reported, and never copied into pages.

The forms are those that issuers document for their own tokens; a long random-looking string alone is not reported,
since hashes, identifiers and data URIs look the same.
"""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"
    r"|(?<![A-Za-z0-9])(?:"
    r"sk-(?:proj-|ant-|or-)?[A-Za-z0-9_-]{20,200}"
    r"|gh[pousr]_[A-Za-z0-9]{30,200}"
    r"|github_pat_[A-Za-z0-9_]{30,200}"
    r"|glpat-[A-Za-z0-9_-]{18,100}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,200}"
    r"|AKIA[0-9A-Z]{16}(?![0-9A-Z])"
    r"|AIza[0-9A-Za-z_-]{30,60}"
    r"|npm_[A-Za-z0-9]{30,60}"
    r"|pypi-[A-Za-z0-9_-]{50,250}"
    r"|hf_[A-Za-z0-9]{30,60}"
    r"|\d{8,10}:AA[A-Za-z0-9_-]{30,40}"
    r"|eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,2000}"
    r")"
)
_HINTS = ("KEY-----", "sk-", "gh", "glpat-", "xox", "AKIA", "AIza", "npm_", "pypi-", "hf_", ":AA", "eyJ")


def looks_secret(text: str) -> bool:
    """Whether a text holds a string in the form of a token or a private key."""
    return any(hint in text for hint in _HINTS) and _SECRET.search(text) is not None
