"""A server behind nginx, HAProxy and Caddy, configured as in the how-to."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import urllib.request
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from playwright.async_api import async_playwright, expect
from websockets.asyncio.client import ClientConnection, connect

from tests.peers.conftest import Behind, Proxied
from tests.tools.browser import WatchedPage, chromium_path, launch
from tests.tools.reverse_proxy import PATHS, Place, Product, trusting
from tests.tools.web_player import come_in

GAME = "line-nim"
PRODUCTS: list[Product] = ["nginx", "haproxy", "caddy"]
PLACES: list[Place] = ["name", "path"]
SHORT_TIMEOUT_S = 3
LONG_IDLE_S = 120.0

of_every_proxy = pytest.mark.parametrize("product", PRODUCTS)
at_every_place = pytest.mark.parametrize("place", PLACES)


def get(proxied: Proxied, path: str) -> tuple[int, str, bytes]:
    """Return the status, Location and body of a page, without following redirects."""
    where = urlsplit(proxied.proxy.origin)
    connection = http.client.HTTPSConnection(
        where.netloc, context=trusting(proxied.certificate), timeout=30
    )
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Location", ""), answer.read()
    finally:
        connection.close()


def played(proxied: Proxied) -> str:
    """Play a match through the proxy, our bot against a house bot; return its key."""
    kibitz, there = proxied.served.kibitz, ["--server", proxied.proxy.url]
    with ExitStack() as stack:
        words = [GAME, "--seats", f"open,house={GAME}/random", "--records", "records", "--json"]
        host = stack.enter_context(kibitz.start("host", *words, *there))
        lobby = host.json()["lobby"]
        bot = stack.enter_context(
            kibitz.start("connect", f"{GAME}/random", "--lobby", lobby, "--name", "ada", *there)
        )
        result = json.loads(host.rest())
        assert host.process.returncode == 0, host.log.read_text()
        bot.rest()
        assert bot.process.returncode == 0, bot.log.read_text()
    assert {match["result"]["cause"] for match in result["matches"]} == {"rules"}
    key: str = result["matches"][0]["match"]
    return key


@of_every_proxy
@at_every_place
async def test_a_match_its_record_and_its_page(
    behind: Behind, product: Product, place: Place
) -> None:
    proxied = behind(product, place)
    match = await asyncio.to_thread(played, proxied)
    prefix = PATHS[place]
    status, _, body = get(proxied, f"{prefix}/records/{match}.jsonl")
    assert status == 200
    assert json.loads(body.splitlines()[0])["game"] == GAME
    [kept] = (proxied.served.kibitz.directory / "records").rglob(f"*{match}*")
    assert kept.read_bytes() == body, "the command has fetched it too"
    if chromium_path() is None:
        pytest.skip("there is no chromium here; KIBITZ_TEST_CHROMIUM may say where one is")
    await look_around(proxied, match)


async def look_around(proxied: Proxied, match: str) -> None:
    """Open the pages in a browser and navigate between them."""
    url = proxied.proxy.url
    async with async_playwright() as playwright:
        browser = await launch(playwright)
        context = await browser.new_context(ignore_https_errors=True)
        page = await context.new_page()
        watched = WatchedPage(page, url)
        await page.goto(url)  # without a slash at the end: the proxy redirects
        await come_in(page, "eve")
        await page.locator(f"a[href$='/match/{match}']").first.click()
        await page.wait_for_url(f"{url}/match/{match}")
        await expect(page.locator(".result")).to_be_visible()
        async with page.expect_download() as coming:
            await page.locator("a[download]").click()
        assert (await coming.value).url == f"{url}/records/{match}.jsonl"
        await page.reload()  # the page shell also finds its files below a deeper path
        await expect(page.locator(".result")).to_be_visible()
        await page.get_by_role("link", name="Host", exact=True).click()
        await page.wait_for_url(f"{url}/host")
        await page.get_by_role("button", name="Open the lobby").click()
        await page.wait_for_url(f"{url}/match/*")  # against a bot, so that it starts immediately
        await page.get_by_role("link", name="Lobby", exact=True).click()
        await page.wait_for_url(f"{url}/lobby/*")
        server = url.replace("https", "wss") + ("/" if PATHS[proxied.proxy.place] else "")
        await page.get_by_text("From a terminal").click()
        command = page.get_by_label("Watch", exact=True)
        await expect(command).to_have_value(re.compile(f" --server {re.escape(server)}$"))
        for path in ("/wall", "/event"):
            other = await context.new_page()
            beside = WatchedPage(other, url)
            await other.goto(f"{url}{path}")
            await expect(other.locator("main h1")).to_be_attached()
            await expect(other.locator("#header .who")).to_be_empty()
            assert beside.unexpected() == []
        assert watched.unexpected() == []
        await browser.close()


@of_every_proxy
def test_the_path_without_its_slash_is_redirected(behind: Behind, product: Product) -> None:
    proxied = behind(product, "path")
    status, location, _ = get(proxied, "/kibitz")
    assert status in {301, 302, 308}
    assert urlsplit(location).path == "/kibitz/"


@of_every_proxy
@at_every_place
def test_pages_for_operators(behind: Behind, product: Product, place: Place) -> None:
    proxied, prefix = behind(product, place), PATHS[place]
    pages = {path: get(proxied, f"{prefix}{path}")[0] for path in ("/healthz", "/readyz", "/ws")}
    assert pages == {"/healthz": 200, "/readyz": 200, "/ws": 426}
    assert get(proxied, f"{prefix}/metrics")[0] == 404, "it is for the operator's own network"


@of_every_proxy
@at_every_place
def test_a_link_for_signing_in_leads_to_the_server(
    behind: Behind, product: Product, place: Place
) -> None:
    proxied = behind(product, place)
    words = ["token", "new", "ada", "--db", "kibitz.db", "--json", "--link"]
    made = proxied.served.kibitz.run(*words, "--server", proxied.proxy.url)
    link = json.loads(made.stdout)["link"]
    assert link.startswith(f"{proxied.proxy.url}/#token=")
    page = urllib.request.Request(link)
    with urllib.request.urlopen(page, context=trusting(proxied.certificate)) as answer:
        assert answer.status == 200
        assert b'src="static/' in answer.read()


# --- idle connections ---------------------------------------------------------------------------


class _PingCounter(ClientConnection):
    """A connection that counts received data: on an idle one, the server's pings."""

    heard = 0

    def data_received(self, data: bytes) -> None:
        self.heard += 1
        super().data_received(data)


async def idle_for(proxied: Proxied, seconds: float) -> _PingCounter:
    """Send hello, then nothing for a while; return the connection, which must still be open."""
    url = f"{proxied.proxy.url.replace('https', 'wss')}/ws"
    connection = await connect(
        url,
        ssl=trusting(proxied.certificate),
        ping_interval=None,
        proxy=None,
        create_connection=_PingCounter,
    )
    assert isinstance(connection, _PingCounter)
    hello = {"type": "hello", "id": 1, "versions": [1], "name": "ada", "kind": "bot"}
    await connection.send(json.dumps(hello))
    assert json.loads(await connection.recv())["type"] == "welcome"
    connection.heard = 0
    with pytest.raises(TimeoutError):  # only pings arrive, and it is not closed
        await asyncio.wait_for(connection.recv(), seconds)
    return connection


async def check_that_it_lives(connection: ClientConnection) -> None:
    await connection.send(json.dumps({"type": "list_games", "id": 2}))
    assert json.loads(await connection.recv())["re"] == 2
    await connection.close()


@of_every_proxy
@at_every_place
async def test_an_idle_connection_outlives_the_proxy_s_timeout(
    behind: Behind, product: Product, place: Place
) -> None:
    # The proxy times out after 3 s and the server pings every second, instead of 60 s and 10 s.
    # Caddy has no such timeout.
    proxied = behind(product, place, timeout_s=SHORT_TIMEOUT_S)
    connection = await idle_for(proxied, 3 * SHORT_TIMEOUT_S)
    assert connection.heard >= 2
    await check_that_it_lives(connection)


@pytest.mark.slow
@of_every_proxy
async def test_a_connection_that_is_idle_for_two_minutes_stays(
    behind: Behind, product: Product
) -> None:
    proxied = behind(product, "path")
    connection = await idle_for(proxied, LONG_IDLE_S)
    await check_that_it_lives(connection)
