"""External HTTP clients: curl with its protocols, and the JDK's client."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.peers.conftest import Behind, Served
from tests.tools.reverse_proxy import PATHS, Place, Product

JAVA_PROGRAM = Path(__file__).with_name("Ask.java")
SECONDS = 120.0
PAGES = ["/healthz", "/readyz", "/metrics", "/"]


def run(*command: str) -> str:
    """Run a program and return its output, or skip if it is not installed."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def curl(*words: str) -> str:
    """Return the status and the HTTP version of a response."""
    form = "%{http_code} %{http_version}"
    return run("curl", "-q", "--silent", "--output", "/dev/null", "--write-out", form, *words)


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--http2"],
        ["--http1.0"],
        ["--http1.0", "--header", "Host:"],
        ["--http2", "--header", "Connection: keep-alive"],
        ["--head"],
        ["--compressed", "--http2"],
    ],
    ids=" ".join,
)
def test_curl_is_served_whatever_it_offers(served: Served, words: list[str], path: str) -> None:
    assert curl(*words, f"http://127.0.0.1:{served.port}{path}") == "200 1.1"


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("words", [[], ["--http2"], ["--http1.0"]], ids=" ".join)
def test_curl_asks_for_whole_urls_as_it_asks_proxies(
    served: Served, words: list[str], path: str
) -> None:
    proxy = ["--noproxy", "", "--proxy", f"http://127.0.0.1:{served.port}"]
    assert curl(*words, *proxy, f"http://localhost{path}") == "200 1.1"
    assert curl(*words, *proxy, f"http://elsewhere.example{path}") == "421 1.1"


def test_curl_is_told_that_a_url_is_too_long(served: Served) -> None:
    assert curl(f"http://127.0.0.1:{served.port}/{'a' * 9000}") == "414 1.1"
    header = f"X-Long: {'a' * 9000}"
    assert curl("--header", header, f"http://127.0.0.1:{served.port}/healthz") == "431 1.1"


def test_the_client_of_the_jdk_reads_pages_and_opens_a_websocket(served: Served) -> None:
    said = run("java", str(JAVA_PROGRAM), f"127.0.0.1:{served.port}", *PAGES).splitlines()
    assert said[:-1] == [f"{path} 200" for path in PAGES]
    assert json.loads(said[-1])["type"] == "welcome"


@pytest.mark.parametrize("product", ["nginx", "haproxy", "caddy"])
@pytest.mark.parametrize("place", ["name", "path"])
def test_health_checks_through_a_proxy(behind: Behind, product: Product, place: Place) -> None:
    proxied = behind(product, place)
    url = f"{proxied.proxy.origin}{PATHS[place]}/healthz"
    trust = ["--cacert", str(proxied.certificate.certificate)]
    # curl would offer "http/1.0" by ALPN, for which servers in Go refuse the connection.
    assert curl(*trust, "--http1.0", "--no-alpn", url).startswith("200 ")
    assert curl(*trust, "--http1.1", url) == "200 1.1"
    assert curl(*trust, "--http2", url).startswith("200 ")
