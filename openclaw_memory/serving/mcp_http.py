"""The MCP server over streamable HTTP: on this machine by default, elsewhere for those alone who have the token."""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import signal
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from ..bank.errors import MemoryFault, UsageFault
from ..memory import Memory
from .mcp_server import MemoryServer

PATH = "/mcp"
DEFAULT_PORT = 8765
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


def split_address(written: str) -> tuple[str, int]:
    """``HOST:PORT``, ``HOST``, ``:PORT`` or ``[::1]:PORT``, as host (127.0.0.1) and port (8765)."""
    host, colon, port = written.rpartition(":")
    if not colon or written.endswith("]"):
        host, port = written, ""
    host = host.removeprefix("[").removesuffix("]")
    if (port and not (port.isascii() and port.isdecimal() and int(port) < 65536)) or "/" in host:
        raise UsageFault(f"--http {written}: no address", remedy=f"write it like 127.0.0.1:{DEFAULT_PORT}")
    return host or "127.0.0.1", int(port) if port else DEFAULT_PORT


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class BearerToken:
    """Lets through what brings the token; everything else is 401."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._expected = app, f"bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            scheme, _, rest = given.partition(b" ")
            if not hmac.compare_digest(scheme.lower() + b" " + rest.strip(), self._expected):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b""})
                return
        await self._app(scope, receive, send)


def application(memory: Memory, host: str, port: int, token: str) -> ASGIApp:
    """The ASGI application. Only requests to a name of this server, from no foreign web page, are answered (DNS
    rebinding)."""
    names = _LOOPBACK_NAMES if is_loopback(host) else ()
    own = f"[{host}]" if ":" in host else host
    hosts = [f"{name}:*" for name in dict.fromkeys((*names, own))]
    if host in ("0.0.0.0", "::"):
        # Bound to every address: it goes by the name of the machine too, and by any of its addresses.
        hosts = [f"{name}:{port}" for name in dict.fromkeys((*_LOOPBACK_NAMES, *_own_names()))]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{name}" for name in hosts for scheme in ("http", "https")],
    )
    app: ASGIApp = (
        MemoryServer(memory)
        .server()
        .streamable_http_app(streamable_http_path=PATH, host=host, transport_security=security)
    )
    return BearerToken(app, token) if token else app


def _own_names() -> list[str]:
    name = socket.gethostname()
    found = [name, socket.getfqdn()]
    try:
        found += [str(info[4][0]) for info in socket.getaddrinfo(name, None)]
    except OSError:
        pass
    return [f"[{one}]" if ":" in one else one for one in found]


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises ``MemoryFault`` where it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen(128)
    except OSError as error:
        opened.close()
        raise MemoryFault(
            f"cannot listen on {host}:{port}: {error.strerror or error}", remedy="name another with --http HOST:PORT"
        ) from None
    return opened


async def serve_http(memory: Memory, host: str, port: int, token: str, listener: socket.socket) -> None:
    """Serve until the process is told to end (SIGINT, SIGTERM)."""
    config = uvicorn.Config(
        application(memory, host, port, token),
        log_level="warning",
        # Nothing of the program's goes to stdout.
        log_config=_LOGGING,
        timeout_graceful_shutdown=5,
        lifespan="on",
    )
    await _Server(config).serve(sockets=[listener])


class _Server(uvicorn.Server):
    """Ends at SIGINT and SIGTERM, and with that all is said: they are not raised once more afterwards."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.handle_exit)
        yield


_LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "openclaw memory: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain", "stream": "ext://sys.stderr"}},
    "root": {"level": "WARNING", "handlers": ["stderr"]},
}
