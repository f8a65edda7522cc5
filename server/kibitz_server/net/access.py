"""Decides from their headers which HTTP requests and handshakes to serve. Pure.

Two checks precede all other processing of a request; `proxies` finds out who sent it.

**Host.** An attacker can point a web page's host name at this server (DNS rebinding). Browsers then
treat the page as one of this server's, and let it read everything served here. But its requests
have the attacker's host name in `Host`. So `Host` must be one of this server's names or an IP
address, which an attacker cannot use as a name.

**Origin.** Browsers send `Origin` with every websocket handshake (RFC 6455, section 4.1). It must
be the server's own origin, or one that the operator listed. It counts as the server's own if its
host is the one in `Host` and is one of the server's names. Without the second condition, any page
with a name that points here would qualify. Both schemes are accepted, because TLS may end at a
proxy. `null`, the origin of sandboxed pages and files, is always refused. Programs other than
browsers send no origin, and are accepted. If a request has no origin, but headers that only
browsers send, its origin counts as `null`. `Sec-Fetch-Mode` alone does not identify a browser:
Node's WebSocket sends it, without `Origin`. For plain pages this check stops scripts of other sites
from reading them; links to them work.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from websockets.datastructures import Headers

from kibitz_server.net.addresses import network, parse_address
from kibitz_server.net.proxies import TrustedProxies

NULL_ORIGIN: Final = "null"
ANY_HOST: Final = "*"
_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}
"""The ports that browsers omit from a page's origin and from `Host`."""
_BROWSERS_ONLY: Final = ("Sec-Fetch-Site", "Sec-Fetch-Dest", "Sec-CH-UA", "Cookie", "Referer")
"""Headers that scripts cannot suppress, and that programs other than browsers do not send."""
_HOST: Final = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[^:\[\]/?#@\s]+))(?::[0-9]{1,5})?"
)


class BadHeader(ValueError):
    """An invalid header; `str()` is a message for its sender."""


def origin_of(url: str) -> str:
    """Return the origin of a server's pages; `url` is the address of its websocket."""
    scheme, _, rest = url.partition("://")
    page = "https" if scheme == "wss" else "http"
    host = rest.partition("/")[0].lower()
    return f"{page}://{host.removesuffix(_DEFAULT_PORTS[page])}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy:
    """The names, origins and proxies of one server."""

    hosts: frozenset[str] | None = None
    """The server's names, in lower case; None accepts any."""
    origins: frozenset[str] = frozenset()
    """Origins of pages that may open websockets here."""
    proxies: TrustedProxies = field(default_factory=TrustedProxies)

    # --- host -------------------------------------------------------------------------------

    def knows_host(self, headers: Headers) -> bool:
        """Return whether `Host` names this server.

        Raises `BadHeader` unless it has exactly one name.
        """
        host = _host(headers)
        return self.hosts is None or self._is_named(host)

    def _is_named(self, host: str) -> bool:
        """Return whether a host is an IP address or an accepted name of the server."""
        if parse_address(host) is not None or host in (self.hosts or ()):
            return True
        return host == "localhost" or host.endswith(".localhost")

    # --- origin -----------------------------------------------------------------------------

    def allows_handshake(self, headers: Headers, servers: Sequence[str] = ()) -> bool:
        """Return whether a websocket may be opened. Raises `BadHeader`.

        `servers` are websocket URLs of other servers whose pages may open websockets too.
        """
        origin = _origin(headers)
        if origin is None and _is_browser(headers):
            origin = NULL_ORIGIN
        if origin is None or origin in map(origin_of, servers):
            return True
        return self._allows_origin(origin, headers)

    def allows_page(self, headers: Headers) -> bool:
        """Return whether a plain page may be read. Raises `BadHeader`."""
        origin = _origin(headers)
        if origin is not None:
            return self._allows_origin(origin, headers)
        foreign = headers.get_all("Sec-Fetch-Site") in (["cross-site"], ["same-site"])
        return not foreign or headers.get_all("Sec-Fetch-Mode") == ["navigate"]

    def _allows_origin(self, origin: str, headers: Headers) -> bool:
        if origin == NULL_ORIGIN:
            return False
        return origin in self.origins or self._is_own(origin, headers)

    def _is_own(self, origin: str, headers: Headers) -> bool:
        """Return whether an origin, compared as text, is that of this server's pages."""
        scheme, _, authority = origin.partition("://")
        port = _DEFAULT_PORTS.get(scheme)
        if port is None or not self._is_named(_host(headers)):
            return False
        return authority.removesuffix(port) == headers["Host"].lower().removesuffix(port)


def access_policy(
    *, host: str, names: Iterable[str], origins: Iterable[str], proxies: Iterable[str], machine: str
) -> AccessPolicy:
    """Return the policy for an operator's settings; raise `ValueError` if they are invalid.

    `host` is the address or name to listen on, `names` are other names of the server, and `machine`
    is the name of the machine.
    """
    known = {name.lower().rstrip(".") for name in (*names, host, machine, f"{machine}.local")}
    listed = frozenset(map(listed_origin, origins))
    hosts = None if ANY_HOST in known else frozenset(known - {""})
    return AccessPolicy(
        hosts=hosts, origins=listed, proxies=TrustedProxies(tuple(map(network, proxies)))
    )


def listed_origin(text: str) -> str:
    """Parse an origin that an operator allows, or raise `ValueError`."""
    origin = text.lower().rstrip("/")
    if origin == NULL_ORIGIN:
        raise ValueError("the origin 'null' cannot be allowed: every sandboxed page has it")
    return origin


def _host(headers: Headers) -> str:
    given = headers.get_all("Host")
    if len(given) != 1:
        raise BadHeader(f"a request must have exactly one Host header, not {len(given)}")
    match = _HOST.fullmatch(given[0])
    if match is None:
        raise BadHeader("the Host header is invalid")
    return (match["v6"] or match["name"]).lower().rstrip(".")


def _origin(headers: Headers) -> str | None:
    given = headers.get_all("Origin")
    if len(given) > 1:
        raise BadHeader(f"a request may have only one Origin header, not {len(given)}")
    return given[0].lower() if given else None


def _is_browser(headers: Headers) -> bool:
    agents = headers.get_all("User-Agent")
    return any(name in headers for name in _BROWSERS_ONLY) or any(
        agent.startswith("Mozilla/") for agent in agents
    )
