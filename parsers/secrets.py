"""Strings that look like keys: reported, never copied into pages, and blotted out of transcripts.

``looks_secret`` is for what people wrote down on purpose, and knows the forms that issuers document for their own
tokens; a long random-looking string alone is not reported, since hashes, identifiers and data URIs look the same.
``redact`` is for what was merely said, and takes more: what is called a password or a token, and what stands where a
key stands in a header, an address or a command. All patterns need time linear in the text.
"""

from __future__ import annotations

import re

REDACTED = "[redacted]"

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


#: (how a token begins, what follows): whatever its length, and shorter than issuers make them, since a part of one is
#: a secret too.
_ISSUED = (
    ("sk-", r"[A-Za-z0-9_-]{8,}"),
    ("sk_", r"[A-Za-z0-9_]{10,}"),
    ("rk_live_", r"[A-Za-z0-9]{10,}"),
    ("gh", r"[pousr]_[A-Za-z0-9]{10,}"),
    ("github_pat_", r"[A-Za-z0-9_]{10,}"),
    ("gl", r"(?:pat|oas|dt|cbt|ptt|ft|imt|agent|wt|soat|ffct|rtr?)-[A-Za-z0-9._=-]{18,}"),
    ("xox", r"[abeprs]-[A-Za-z0-9-]{10,}"),
    ("xapp-", r"[A-Za-z0-9-]{10,}"),
    ("AKIA", r"[0-9A-Z]{16}"),
    ("ASIA", r"[0-9A-Z]{16}"),
    ("AKID", r"[A-Za-z0-9]{16,}"),
    ("LTAI", r"[A-Za-z0-9]{12,}"),
    ("AIza", r"[0-9A-Za-z_-]{20,}"),
    ("ya29.", r"[0-9A-Za-z_./+=-]{10,}"),
    ("npm_", r"[A-Za-z0-9]{10,}"),
    ("pypi-", r"[A-Za-z0-9_-]{16,}"),
    ("hf_", r"[A-Za-z0-9]{10,}"),
    ("gsk_", r"[A-Za-z0-9_-]{10,}"),
    ("xai-", r"[A-Za-z0-9]{20,}"),
    ("pplx-", r"[A-Za-z0-9_-]{10,}"),
    ("tvly-", r"[A-Za-z0-9-]{10,}"),
    ("r8_", r"[A-Za-z0-9]{10,}"),
    ("SG.", r"[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("do", r"[opr]_v1_[A-Za-z0-9]{10,}"),
    ("dckr_", r"(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    ("dapi", r"[0-9a-f]{32}"),
    ("glsa_", r"[A-Za-z0-9_]{30,}"),
    ("sbp_", r"[a-z0-9]{40}"),
    ("AGE-SECRET-KEY-", r"[A-Z0-9]{20,}"),
    ("eyJ", r"[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?"),
)
_TOKEN = re.compile(
    "(?<![A-Za-z0-9_-])(?:" + "|".join(re.escape(start) + rest for start, rest in _ISSUED) + r"|\d{6,12}:[\w-]{20,})"
)
_TOKEN_HINTS = tuple(start for start, _ in _ISSUED)
_NUMBERED = re.compile(r"\d:[\w-]{20}")
_HOOK = re.compile(r"(hooks\.slack\.com/\w{1,20}/|discord(?:app)?\.com/api/webhooks/)[\w/-]{20,}")

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[\s\S]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[\s\S]*)"
)

#: ``scheme://user:password@host``, and a long user name alone, which then is a token. A password may hold ``@``.
_LOGIN = re.compile(r"""(://[^\s/:@"'<>]{0,200}:)(?!\[redacted\]@)[^\s/"'<>]{1,500}(?=@)""")
_DATABASE = re.compile(
    r"""((?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?)://[^\s/:@"'<>]{0,200}:)"""
    r"""(?!\[redacted\]@)[^\s"'<>]{1,500}(?=@)""",
    re.IGNORECASE,
)
_LONE_LOGIN = re.compile(r"""(://)[A-Za-z0-9_.~%+-]{20,500}(?=@)""")

_BEARER = re.compile(r"(\bbearer\s{1,4})[A-Za-z0-9._~+/=-]{12,}", re.IGNORECASE)
_HEADER = re.compile(
    r"""(\b(?:proxy-)?authorization["'\\]{0,4}[ \t]{0,4}[:=][ \t]{0,4}["'\\]{0,4}"""
    r"""(?!(?:[A-Za-z]{1,20}[ \t]{1,4})?\[redacted\])(?:[A-Za-z]{1,20}[ \t]{1,4})?)[^\s"'\\,;]{6,}""",
    re.IGNORECASE,
)
_COOKIE = re.compile(r"(\b(?:set-)?cookie[ \t]{0,4}:[ \t]{0,4})(?!\[redacted\])[^\s=;]{1,100}=[^\n]*", re.IGNORECASE)

_PASSWORD = (
    r"pass(?:word|wd|code|phrase)|passwort|kennwort|contraseña|mot de passe|parola|şifre|senha|пароль|密码|密碼"
    r"|パスワード|비밀번호|(?<=_)pass|(?<=_)pwd|\bpwd|\bpsw"
)
_SECRET_NAME = (
    r"(?:secret|api|access|private|auth|client|encryption|signing|session|refresh|bearer|webhook|bot|service)"
    r"[ _-]?(?:key|token|secret)|\bsecret|(?<=_)secret|(?<![A-Za-z])token|(?<=[a-z])Token|(?<=_)key|credential"
)
_QUOTED = r""""(?!\[redacted\]")[^"\n]{1,500}"|'(?!\[redacted\]')[^'\n]{1,500}'|`(?!\[redacted\]`)[^`\n]{1,500}`"""
#: A password may hold a comma; one before a blank ends it.
_IN_VALUE = r"""(?:[^\s"'`,;&]|[,;](?=[^\s"'`]))"""
_VALUE = rf"""(?:{_QUOTED}|(?!\[redacted\]|[$]\{{|[$][A-Z_]{{2}}|<)[^\s"'`,;&]"""
#: ``password: hunter2``, ``DB_PASS=…``, ``"passwd": "…"``.
_PASSWORD_SET = re.compile(
    rf"""((?:{_PASSWORD})["'`*\\]{{0,4}}\s{{0,4}}(?::|=|：)[>=]?\s{{0,4}}[*\\]{{0,4}})(?:{_VALUE}{_IN_VALUE}{{0,500}}))""",
    re.IGNORECASE,
)
#: ``my password is hunter2``: only what no word is.
_PASSWORD_TOLD = re.compile(
    rf"""((?:{_PASSWORD})\s{{1,4}}(?:is|was|ist|lautet|es|est|è|é)\s{{1,4}}(?::\s{{0,4}})?)"""
    rf"""(?:{_QUOTED}|(?!\[redacted\])(?=[^\s\d!#$%&*_@^+=]{{0,40}}[\d!#$%&*_@^+=])[^\s"'`,;]{{3,500}})""",
    re.IGNORECASE,
)
#: ``token=…``, ``api key: …``, ``CLIENT_SECRET="…"``; what is short or a plain number is a count or a name.
_NAMED = re.compile(
    rf"""((?:{_SECRET_NAME})(?:[_-][A-Za-z_-]{{1,20}})?["'`*\\]{{0,4}}\s{{0,4}}(?::|=|：)[>=]?\s{{0,4}}[*\\]{{0,4}})"""
    rf"""(?:{_VALUE}(?!\d{{0,7}}(?:[\s"'`,;&]|$)){_IN_VALUE}{{5,500}}))""",
    re.IGNORECASE,
)
#: Several words make such a secret.
_PHRASE = re.compile(
    r"(\b(?:pass|seed|recovery|secret|mnemonic)[ _-]?phrase(?:\s{0,4}[:=]|\s{1,4}is\b)[ \t]{0,4})"
    r"(?!\[redacted\])\S[^\n]*",
    re.IGNORECASE,
)
_FLAG = re.compile(
    r"""(--(?:password|passwd|pass|token|secret|api-?key|access-key|client-secret|auth)[= \t]{1,4})"""
    rf"""(?:{_QUOTED}|(?!\[redacted\]|-|[$])[^\s"'`]{{4,500}})""",
    re.IGNORECASE,
)
_PIN = re.compile(r"(\bpin(?: ?code)?\s{0,4}(?:[:=]|\bis\b)\s{0,4})\d{4,12}\b", re.IGNORECASE)


def redact(text: str) -> str:
    """``text`` with ``[redacted]`` in place of what looks like a secret; what it is called stays. Redacting twice
    changes nothing more."""
    if "PRIVATE KEY" in text:
        text = _PRIVATE_KEY.sub(REDACTED, text)
    if "://" in text:
        for pattern in (_DATABASE, _LOGIN, _LONE_LOGIN):
            text = pattern.sub(_blotted, text)
    if "hooks" in text:
        text = _HOOK.sub(_blotted, text)
    if any(hint in text for hint in _TOKEN_HINTS) or _NUMBERED.search(text):
        text = _TOKEN.sub(REDACTED, text)
    lower = text.casefold()
    for hints, patterns in _NAMES:
        if any(hint in lower for hint in hints):
            for pattern in patterns:
                text = pattern.sub(_blotted, text)
    return text


_PASSWORD_HINTS = (
    "pass",
    "kennwort",
    "contrase",
    "parola",
    "şifre",
    "senha",
    "парол",
    "密",
    "パス",
    "비밀",
    "pwd",
    "psw",
)
#: What has to be in a text, in small letters, for patterns to be worth a look.
_NAMES: tuple[tuple[tuple[str, ...], tuple[re.Pattern[str], ...]], ...] = (
    (("phrase",), (_PHRASE,)),
    (("authorization",), (_HEADER,)),
    (("bearer",), (_BEARER,)),
    (("cookie",), (_COOKIE,)),
    (("--",), (_FLAG,)),
    (_PASSWORD_HINTS, (_PASSWORD_SET, _PASSWORD_TOLD)),
    (("secret", "token", "key", "credential"), (_NAMED,)),
    (("pin",), (_PIN,)),
)


def _blotted(match: re.Match[str]) -> str:
    value = match[0][len(match[1]) :]
    quote = value[0] if len(value) > 1 and value[0] in "\"'`" and value[-1] == value[0] else ""
    return f"{match[1]}{quote}{REDACTED}{quote}"
