"""One request to a provider: sent, repeated where that can help, and answered with JSON or with one clear fault.

Repeated are: no connection (once, where nothing listens on this machine), a time-out, an answer that was cut, 429 and
5xx. The wait is what ``Retry-After`` says (or ``retry-after-ms``), else it doubles; a provider that wants a longer wait
than a caller has gets no further request. A redirect is followed only where the key stays with the host it is for. A
key is never in a message: not the provider's own words, not an address, not a header.
"""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ..errors import one_line
from .protocol import EmbeddingFault
from .refusals import Refusal, refusal

if TYPE_CHECKING:
    import urllib3


class Patience(NamedTuple):
    """How long to wait, in seconds: for a connection, for the next bytes of an answer, before the first repetition, and
    at most before any. ``retries``: how often a request is repeated; not once ``total`` seconds have gone by."""

    connect: float = 10.0
    read: float = 60.0
    retries: int = 4
    backoff: float = 1.0
    longest: float = 60.0
    total: float = 300.0


#: For documents nobody waits; for a question somebody does.
FOR_DOCUMENTS = Patience()
FOR_QUERY = Patience(connect=5.0, read=10.0, retries=1, backoff=0.3, longest=2.0, total=5.0)

_KEY_LIKE = re.compile(r"\b(?:sk-|pa-|al-|AIza|Bearer\s+|Basic\s+|key=)\S+", re.IGNORECASE)
_SLICE = 6
_CHECK_URL = "check remote.baseUrl"
_REDIRECTS = 3
#: Seconds before a server on this machine that does not run is asked again, once: it may be starting.
_AT_ONCE = 0.3


class Transport:
    """Requests to one provider. ``base_url`` may hold a user and a password (sent as Basic authorization) and a query
    (added to each request); ``headers`` are sent with each. ``name``: what messages call the provider.
    ``patience``: that of requests which bring none of their own."""

    def __init__(
        self,
        name: str,
        base_url: str,
        headers: Mapping[str, str],
        patience: Patience = FOR_DOCUMENTS,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        from urllib.parse import unquote, urlsplit

        self.name, self._patience = name, patience
        try:
            parts = urlsplit(base_url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise EmbeddingFault(
                "remote.baseUrl is no http or https address",
                f"for {name}",
                "write it like https://host/v1",
                kind="input",
                lasting=True,
            )
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        self.origin = f"{parts.scheme}://{host}" + (f":{port}" if port else "")
        self.base_url = self.origin + parts.path.rstrip("/")
        self._query, self._headers, self._sleep = parts.query, dict(headers), sleep
        secrets = [*headers.values(), *(value.partition("=")[2] for value in parts.query.split("&"))]
        if parts.username is not None:
            user, password = unquote(parts.username), unquote(parts.password or "")
            self._headers.setdefault("Authorization", _basic(user, password))
            secrets += [user, password, self._headers["Authorization"]]
        self._secrets = [word for text in secrets for word in text.split() if len(word) > 3]
        self._pool: urllib3.PoolManager | None = None

    def json(
        self, method: str, url: str, body: Any = None, doing: str = "embedding", patience: Patience | None = None
    ) -> Any:
        """The answer to ``body`` as JSON. ``url`` is below ``base_url`` where it begins with a slash."""
        import json

        data = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        headers = {} if body is None else {"Content-Type": "application/json"}
        return self.json_of(self.send(method, url, data, headers, doing, patience))

    def json_of(self, answer: bytes) -> Any:
        """The body of an answer as JSON; ``EmbeddingFault`` where it is none."""
        import json

        try:
            return json.loads(answer)
        except (ValueError, RecursionError):
            self.refuse("the answer is no JSON")

    def send(
        self,
        method: str,
        url: str,
        data: bytes | None,
        headers: Mapping[str, str],
        doing: str = "embedding",
        patience: Patience | None = None,
    ) -> bytes:
        """The body of the answer, of a status from 200 to 299. Raises ``EmbeddingFault``."""
        from time import monotonic

        import urllib3

        patience, began = patience or self._patience, monotonic()
        target = self.base_url + url if url.startswith("/") else url
        if self._query:
            target += ("&" if "?" in target else "?") + self._query
        mine = {"Accept": "application/json", "User-Agent": "openclaw-memory", **self._headers, **headers}
        policy = urllib3.Retry(total=patience.retries, backoff_factor=patience.backoff)
        redirects = _REDIRECTS
        while True:
            problem: EmbeddingFault
            told: float | None = None
            try:
                answer = self._opened(target).request(
                    method,
                    target,
                    body=data,
                    headers=mine,
                    timeout=urllib3.Timeout(connect=patience.connect, read=patience.read),
                    retries=False,
                    redirect=False,
                )
            except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
                problem = self._unreachable(error, doing)
                if problem.lasting:
                    raise problem from None
                if _is_off(error, target):
                    problem.remedy = "is it started? Else check remote.baseUrl"
                    patience = patience._replace(backoff=min(_AT_ONCE, patience.backoff))
                    policy = policy.new(total=min(1, policy.total or 0))
            else:
                if 200 <= answer.status < 300:
                    return answer.data
                if answer.status in (301, 302, 303, 307, 308):
                    target, mine = self._redirected(method, target, answer, mine, redirects)
                    redirects -= 1
                    continue
                meant = refusal(answer.status, answer.data)
                problem = self._refused(answer.status, meant, doing)
                if not meant.passing:
                    raise problem
                told = _told_to_wait(answer.headers)
            if told is not None and told > patience.longest:
                problem.remedy = f"it asks to wait {told:.0f} s; try again then"
                raise problem
            if monotonic() - began > patience.total:
                raise problem
            try:
                policy = policy.increment(method, target)
            except urllib3.exceptions.MaxRetryError:
                raise problem from None
            pause = policy.get_backoff_time() or patience.backoff
            self.wait(min(pause if told is None else told, patience.longest))

    def close(self) -> None:
        """Give the connections back; the next request opens new ones."""
        if self._pool is not None:
            self._pool.clear()
            self._pool = None

    def show(self, text: object, longest: int = 200) -> str:
        """A provider's own words on one line, without anything that could be a key."""
        words = []
        for word in _KEY_LIKE.sub("…", one_line(str(text))).split():
            hidden = any(
                secret in word or any(secret[at : at + _SLICE] in word for at in range(len(secret) - _SLICE + 1))
                for secret in self._secrets
            )
            words.append("…" if hidden else word)
        shown = " ".join(words)
        return shown if len(shown) <= longest else shown[: longest - 1].rstrip() + "…"

    def wait(self, seconds: float) -> None:
        import time

        (self._sleep or time.sleep)(seconds)

    def _opened(self, url: str) -> "urllib3.PoolManager":
        """The connections to use: through the proxy that the environment names for this address, if any."""
        if self._pool is None:
            import urllib3

            proxy = _proxy_for(url)
            try:
                if proxy:
                    parts = urllib3.util.parse_url(proxy)
                    auth = urllib3.make_headers(proxy_basic_auth=parts.auth) if parts.auth else None
                    self._pool = urllib3.ProxyManager(proxy, proxy_headers=auth)
                else:
                    self._pool = urllib3.PoolManager()
            except (urllib3.exceptions.HTTPError, ValueError):
                raise self._fault(
                    "the proxy that the environment names cannot be used", kind="network", remedy="check HTTPS_PROXY"
                ) from None
        return self._pool

    def _redirected(
        self, method: str, target: str, answer: Any, headers: dict[str, str], left: int
    ) -> tuple[str, dict[str, str]]:
        """(where to go, what to send there). Only a download may leave the host, and goes there with empty hands."""
        from urllib.parse import urljoin, urlsplit

        goal = urljoin(target, answer.headers.get("Location") or "")
        old, new = urlsplit(target), urlsplit(goal)
        same = (old.scheme, old.netloc) == (new.scheme, new.netloc)
        follows = method == "GET" or (same and answer.status in (307, 308))
        if not left or goal == target or not follows or new.scheme not in ("https", old.scheme):
            where = f"{new.scheme}://{new.hostname}" if new.hostname else "elsewhere"
            raise self._fault(
                f"the address leads to {where}, and the key is not sent there",
                kind="server",
                remedy="set remote.baseUrl to the address itself",
                lasting=True,
            )
        return goal, headers if same else {"Accept": headers["Accept"], "User-Agent": headers["User-Agent"]}

    def _unreachable(self, error: Exception, doing: str) -> EmbeddingFault:
        import urllib3

        wrong = urllib3.exceptions
        if isinstance(error, wrong.SSLError):
            return self._fault(
                f"{doing}: no trusted connection ({self.show(error, 120)})",
                kind="network",
                remedy="check the certificates of this machine",
                lasting=True,
            )
        if isinstance(error, ValueError | wrong.LocationParseError) and not isinstance(error, OSError):
            what = "the address, the key or a header of remote.headers cannot be sent"
            return self._fault(what, kind="input", remedy="look for signs that do not belong there", lasting=True)
        if isinstance(error, wrong.NewConnectionError | wrong.NameResolutionError | wrong.ProxyError):
            return self._fault(f"{doing}: no connection", kind="network", remedy="check the network and remote.baseUrl")
        if isinstance(error, wrong.TimeoutError):
            return self._fault(f"{doing}: no answer in time", kind="network", remedy="try again later")
        return self._fault(f"{doing}: the connection was cut", kind="network", remedy="try again later")

    def _refused(self, status: int, said: Refusal, doing: str) -> EmbeddingFault:
        words = f", {self.show(said.said)}" if said.said else ""
        what = f"{doing}: status {status}{words}"
        return self._fault(what, kind=said.kind, remedy=said.remedy, lasting=said.lasting, of=said.of)

    def _fault(
        self, what: str, *, kind: str, remedy: str, lasting: bool = False, of: type[EmbeddingFault] = EmbeddingFault
    ) -> EmbeddingFault:
        return of(f"{self.name}: {what}", self.origin, remedy, kind=kind, lasting=lasting)

    def refuse(self, what: str) -> NoReturn:
        """Raise the fault for an answer that is not what was asked for."""
        raise self._fault(what, kind="answer", remedy=_CHECK_URL)


def _basic(user: str, password: str) -> str:
    from base64 import b64encode

    return "Basic " + b64encode(f"{user}:{password}".encode()).decode("ascii")


def _proxy_for(url: str) -> str:
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all") or ""
    if not proxy or proxy_bypass(parts.hostname or ""):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_off(error: Exception, url: str) -> bool:
    """Whether a server on this machine refused the connection: it does not run, and waiting does not start it."""
    from urllib.parse import urlsplit

    host = urlsplit(url).hostname or ""
    here = host in ("localhost", "::1") or host.startswith("127.")
    return here and isinstance(error.__cause__, ConnectionRefusedError)


def _told_to_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider wants the next request to wait; None where it does not say."""
    import urllib3

    millis = headers.get("retry-after-ms", "")
    if millis.strip().isdigit():
        return int(millis) / 1000
    said = headers.get("Retry-After", "").strip()
    if not said:
        return None
    try:
        return float(said) if re.fullmatch(r"\d+(\.\d+)?", said) else urllib3.Retry().parse_retry_after(said)
    except (urllib3.exceptions.HTTPError, ValueError, OverflowError):
        return None
