"""Serves website files: conditional requests, compression, strict headers.

Pure. The program that starts the server passes it a site (`Site`). Clients may cache a file forever
if its path changes with its content. They revalidate any other file each time, and mostly get 304
(RFC 9110, section 13). Text is compressed once, when a client first accepts compression. Every file
is sent with a content security policy that forbids foreign content and inline scripts and styles.
So other people's names and comments cannot run as code, even if a page handles them wrongly.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Final, Protocol, TypeAlias

from websockets.datastructures import Headers
from websockets.http11 import Response

from kibitz_server.net.http import Page

SECURITY_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_WORTH_COMPRESSING = 256
"""Files of at least this many bytes are compressed."""
_COMPRESSED_FILES = 256
"""The number of compressed files to cache; a site has a few dozen."""


class SiteFile(Protocol):
    """A file to serve (`kibitz_clients.web.site.WebFile`, which does not import the server)."""

    @property
    def body(self) -> bytes: ...
    @property
    def content_type(self) -> str: ...
    @property
    def digest(self) -> str:
        """A digest of the content: it changes when the file at this path changes."""

    @property
    def immutable(self) -> bool:
        """Whether its path is used only for this content."""


Site: TypeAlias = Callable[[str], SiteFile | None]
"""Returns the file at a path, or None. The paths of the server's own pages come first."""


def site_response(
    file: SiteFile, request: Headers, *, head: bool, keep: bool, servers: Sequence[str] = ()
) -> Response:
    """Return the answer to a request for a file.

    With `keep`, the connection stays open for another request. `servers` are websocket URLs of
    other servers that the pages may connect to.
    """
    headers = Headers(SECURITY_HEADERS)
    if servers:
        policy = headers.pop("Content-Security-Policy")
        own = "connect-src 'self'"
        # A source with a path would allow only that exact path, so use the origin.
        origins = sorted({"/".join(url.split("/")[:3]) for url in servers})
        headers["Content-Security-Policy"] = policy.replace(own, " ".join([own, *origins]))
    headers["Connection"] = "keep-alive" if keep else "close"
    headers["Cache-Control"] = (
        "public, max-age=31536000, immutable" if file.immutable else "no-cache"
    )
    # A weak tag: the compressed file is equivalent to the original.
    headers["ETag"] = f'W/"{file.digest}"'
    headers["Vary"] = "Accept-Encoding"
    if _has_newest(request.get_all("If-None-Match"), file.digest):
        status = HTTPStatus.NOT_MODIFIED
        return Response(status.value, status.phrase, headers, b"")
    body = file.body
    if len(body) >= _WORTH_COMPRESSING and takes_gzip(request.get_all("Accept-Encoding")):
        body = _compressed(body)
        headers["Content-Encoding"] = "gzip"
    headers["Content-Type"] = file.content_type
    headers["Content-Length"] = str(len(body))
    return Response(HTTPStatus.OK.value, HTTPStatus.OK.phrase, headers, b"" if head else body)


def page_response(page: Page, *, head: bool) -> Response:
    """Return any other page, such as "not found", with the headers of the site's files."""
    response = page.response(head=head)
    for name, value in SECURITY_HEADERS.items():
        if name not in response.headers:
            response.headers[name] = value
    return response


def takes_gzip(accepted: Sequence[str]) -> bool:
    """Return whether `Accept-Encoding` has gzip, by name or as ``*``, with a weight above 0."""
    weights: dict[str, float] = {}
    for item in ",".join(accepted).split(","):
        coding, *parameters = (part.strip().lower() for part in item.split(";"))
        weights[coding] = _weight(parameters)
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def _weight(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


def _has_newest(tags: Sequence[str], digest: str) -> bool:
    """Return whether `If-None-Match` has the digest, compared weakly (RFC 9110, 13.1.2)."""
    given = {tag.strip().removeprefix("W/") for tag in ",".join(tags).split(",")}
    return "*" in given or f'"{digest}"' in given


@lru_cache(maxsize=_COMPRESSED_FILES)
def _compressed(body: bytes) -> bytes:
    return gzip.compress(body, 9, mtime=0)
