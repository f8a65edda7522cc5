"""Reverse proxies for tests: nginx, HAProxy and Caddy with the configurations of the how-to.

The tests use the configurations in docs/how-to/reverse-proxy.md. Names, ports, certificates and, if
a test requires it, timeouts are replaced; a replacement that matches nothing is an error, so that
the page and the tests cannot diverge. Each proxy is a child process on a loopback port, with all
its files in one directory, and is stopped by its process id.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from tests.tools.server_process import ROOT, free_port

PAGE: Final = ROOT / "docs/how-to/reverse-proxy.md"
Product: TypeAlias = Literal["nginx", "haproxy", "caddy"]
Place: TypeAlias = Literal["name", "path"]
PROGRAMS: Final[Mapping[Product, str]] = {"nginx": "nginx", "haproxy": "haproxy", "caddy": "caddy"}
_HEADINGS: Final = {"nginx": "nginx", "haproxy": "HAProxy", "caddy": "Caddy"}
_SECTIONS: Final = {"name": "With its own host name", "path": "Under a path"}
_DOMAINS: Final = {"name": "games.example.org", "path": "example.org"}
PATHS: Final[Mapping[Place, str]] = {"name": "", "path": "/kibitz"}
"""The path of the server's URL, by section of the page."""
START_SECONDS: Final = 20.0
END_SECONDS: Final = 10.0


@dataclass(frozen=True)
class Certificate:
    """A self-signed certificate for localhost."""

    certificate: Path
    key: Path
    both: Path


def make_certificate(directory: Path) -> Certificate:
    """Create a certificate for localhost; needs the command openssl."""
    made = Certificate(*(directory / f"localhost.{end}" for end in ("pem", "key", "both.pem")))
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    files = ["-keyout", str(made.key), "-out", str(made.certificate)]
    kind = ["-newkey", "rsa:2048", "-noenc", "-days", "2"]
    subprocess.run(
        ["openssl", "req", "-x509", *kind, *names, *files], check=True, capture_output=True
    )
    made.both.write_bytes(made.certificate.read_bytes() + made.key.read_bytes())
    return made


@dataclass(frozen=True)
class ReverseProxy:
    """A running proxy."""

    product: Product
    place: Place
    port: int

    @property
    def origin(self) -> str:
        return f"https://localhost:{self.port}"

    @property
    def url(self) -> str:
        """The URL of the server's pages as typed into a browser."""
        return f"{self.origin}{PATHS[self.place]}"


def documented(product: Product, place: Place) -> str:
    """Return the configuration in the how-to."""
    section = _between(PAGE.read_text(encoding="utf-8"), f"\n## {_SECTIONS[place]}\n", "\n## ")
    text = _between(section, f"\n### {_HEADINGS[product]}\n", "\n### ")
    return _between(text, "```text\n", "```")


@contextlib.contextmanager
def reverse_proxy(
    product: Product,
    place: Place,
    server: int,
    certificate: Certificate,
    directory: Path,
    *,
    timeout_s: int | None = None,
) -> Iterator[ReverseProxy]:
    """Run a proxy in front of the server on port `server` during the block.

    `timeout_s` replaces the how-to's timeout for idle connections.
    """
    proxy = ReverseProxy(product, place, free_port())
    text = _replaced(documented(product, place), {"127.0.0.1:8765": f"127.0.0.1:{server}"})
    config, command = _PREPARE[product](text, proxy, certificate, directory, timeout_s)
    log = directory / f"{product}.log"
    environment = os.environ | {"HOME": str(directory), "XDG_DATA_HOME": str(directory)}
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*command, str(config)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
        )
    try:
        _wait_until_it_listens(process, proxy.port, log)
        yield proxy
    finally:
        process.terminate()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _nginx(
    text: str, proxy: ReverseProxy, certificate: Certificate, directory: Path, timeout: int | None
) -> tuple[Path, list[str]]:
    domain = _DOMAINS[proxy.place]
    text = _replaced(
        text,
        {
            "listen 443 ssl": f"listen 127.0.0.1:{proxy.port} ssl",
            f"/etc/ssl/{domain}.pem": str(certificate.certificate),
            f"/etc/ssl/{domain}.key": str(certificate.key),
            f"server_name {domain}": "server_name localhost",
            "proxy_read_timeout 60s": f"proxy_read_timeout {timeout or 60}s",
        },
    )
    kept = "".join(
        f"    {kind}_temp_path {directory}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = directory / "nginx.conf"
    config.write_text(
        f"daemon off;\nuser root;\nworker_processes 1;\npid {directory}/nginx.pid;\n"
        f"events {{}}\nhttp {{\n    access_log off;\n{kept}{text}}}\n"
    )
    return config, ["nginx", "-e", "stderr", "-p", str(directory), "-c"]


def _haproxy(
    text: str, proxy: ReverseProxy, certificate: Certificate, directory: Path, timeout: int | None
) -> tuple[Path, list[str]]:
    domain = _DOMAINS[proxy.place]
    text = _replaced(
        text,
        {
            "bind :443": f"bind 127.0.0.1:{proxy.port}",
            f"/etc/ssl/{domain}.both.pem": str(certificate.both),
            "timeout tunnel 60s": f"timeout tunnel {timeout or 60}s",
        },
    )
    config = directory / "haproxy.cfg"
    config.write_text(text)
    return config, ["haproxy", "-db", "-f"]


def _caddy(
    text: str, proxy: ReverseProxy, certificate: Certificate, directory: Path, _: int | None
) -> tuple[Path, list[str]]:
    place = f"{proxy.origin} {{\n    tls {certificate.certificate} {certificate.key}"
    text = _replaced(text, {f"{_DOMAINS[proxy.place]} {{": place})
    config = directory / "Caddyfile"
    choices = "admin off\n    auto_https disable_redirects\n    skip_install_trust"
    config.write_text(f"{{\n    {choices}\n}}\n{text}")
    return config, ["caddy", "run", "--adapter", "caddyfile", "--config"]


_PREPARE: Final = {"nginx": _nginx, "haproxy": _haproxy, "caddy": _caddy}


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise OSError(f"{process.args!r} does not listen: {log.read_text()}")


def _between(text: str, start: str, end: str) -> str:
    _, found, rest = text.partition(start)
    assert found, f"{PAGE.name} has no {start.strip()!r}"
    return rest.partition(end)[0]


def _replaced(text: str, replacements: Mapping[str, str]) -> str:
    for old, new in replacements.items():
        assert old in text, f"{PAGE.name} has no {old!r}"
        text = text.replace(old, new)
    return text


def missing(product: Product) -> str | None:
    """Return why a proxy cannot be run here, None if it can."""
    for program in (PROGRAMS[product], "openssl"):
        if shutil.which(program) is None:
            return f"{program} is not installed: apt-get install nginx-light haproxy caddy openssl"
    return None


def trusting(certificate: Certificate) -> ssl.SSLContext:
    """Return an SSL context that trusts only this certificate."""
    return ssl.create_default_context(cafile=str(certificate.certificate))
