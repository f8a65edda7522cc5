"""kibitz with external programs: `make test-peers` runs these tests for installed programs.

Tests that are skipped name the missing program.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.tools.command import END_SECONDS, Kibitz, ended, marked
from tests.tools.reverse_proxy import (
    Certificate,
    Place,
    Product,
    ReverseProxy,
    make_certificate,
    missing,
    reverse_proxy,
)

HERE = Path(__file__).parent
PINGS = "[patience]\nping_every_s = 1\n"
"""A server that pings every second; the ratio to the proxy's shortened timeout is like the real
one."""


@pytest.hookimpl(tryfirst=True)  # before the marks select tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder as requiring external programs."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.peers)


@dataclass(frozen=True)
class Served:
    """A server as shipped, and the command that started it."""

    kibitz: Kibitz
    port: int


def _serve(directory: Path, variables: dict[str, str], stack: ExitStack, *more: str) -> Served:
    command = Kibitz(directory, uuid.uuid4().hex, {"KIBITZ_PLAIN": "1", **variables})
    words = ["--port", "0", "--db", "kibitz.db", "--json", "--unlimited", "--guests", "anyone"]
    words += ["--trusted-proxy", "127.0.0.1", *more]
    stack.callback(_end_all, command)
    server = stack.enter_context(command.start("serve", *words))
    port = urlsplit(server.json()["http_url"]).port
    assert port is not None
    return Served(command, port)


def _end_all(command: Kibitz) -> None:
    left = marked(command.mark)
    assert [left[pid] for pid in ended(list(left), END_SECONDS)] == []


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server without a proxy, for all tests of a module."""
    with ExitStack() as stack:
        yield _serve(tmp_path_factory.mktemp("server"), {}, stack)


@dataclass(frozen=True)
class Proxied:
    """A server behind a proxy."""

    served: Served
    proxy: ReverseProxy
    certificate: Certificate


Behind = Callable[..., Proxied]


@pytest.fixture
def behind(tmp_path: Path) -> Iterator[Behind]:
    """Run a server behind a proxy; its commands trust the proxy's certificate."""
    with ExitStack() as stack:

        def run(product: Product, place: Place, *, timeout_s: int | None = None) -> Proxied:
            if reason := missing(product):
                pytest.skip(reason)
            certificate = make_certificate(tmp_path)
            variables = {"SSL_CERT_FILE": str(certificate.certificate)}
            (tmp_path / "kibitz.toml").write_text(PINGS)
            more = [] if timeout_s is None else ["--config", "kibitz.toml"]
            served = _serve(tmp_path, variables, stack, *more)
            proxy = stack.enter_context(
                reverse_proxy(
                    product, place, served.port, certificate, tmp_path, timeout_s=timeout_s
                )
            )
            return Proxied(served, proxy, certificate)

        yield run
