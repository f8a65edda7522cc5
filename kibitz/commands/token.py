"""`kibitz token`: manage the accounts of remote players on the server's machine."""

from __future__ import annotations

import datetime
import io
import json
from typing import Literal
from urllib.parse import quote, urlsplit

import click
import segno

from kibitz.options.connection import server_option
from kibitz.options.database import db_option
from kibitz.output import echo, echo_json
from kibitz_bots.number_types import COUNT, FiniteRange
from kibitz_clients.wording import tables
from kibitz_protocol.wire.server_address import page_url
from kibitz_server.accounts.token_admin import TokenAdmin
from kibitz_server.storage.location import Database
from kibitz_server.storage.token_register import TokenEntry


@click.group(short_help="Create, list and revoke the tokens of accounts.")
def token() -> None:
    """Create, list and revoke tokens, while the server runs or not."""


@token.command()
@click.argument("name")
@click.option("--bot", "kind", flag_value="bot", help="The account belongs to a bot, not a person.")
@click.option(
    "--days", type=FiniteRange(0, 36_525, min_open=True), help="How long the token is valid."
)
@click.option("--link", is_flag=True, help="Also print a sign-in link and its QR code.")
@server_option
@db_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def new(
    name: str,
    kind: str | None,
    days: float | None,
    link: bool,
    server: str,
    db: Database,
    as_json: bool,
) -> None:
    """Create a token for the account NAME and print it; it cannot be shown again.

    Creates the account if it does not exist. Its owner passes the token with --token-file or
    KIBITZ_TOKEN. With --link, --server is the address at which the owner's browser reaches the
    server.
    """
    page = _page(server) if link else None
    chosen: Literal["bot", "human"] = "bot" if kind else "human"
    with TokenAdmin(db) as register:
        issued = register.issue(name, chosen, days=days)
    shown = {"id": issued.id, "token": issued.token, "name": issued.player.name, "kind": chosen}
    # Browsers do not send the part after #, so no log on the way contains the token.
    signing_in = None if page is None else f"{page}#token={quote(issued.token, safe='')}"
    if as_json:
        echo_json(json.dumps(shown if signing_in is None else shown | {"link": signing_in}))
        return
    echo(issued.token)
    if signing_in is not None:
        echo(signing_in)
        echo(_qr_code(signing_in))


def _page(server: str) -> str:
    """Return the page address of a server, given that address or its websocket URL."""
    parts = urlsplit(server)
    if parts.scheme not in {"ws", "wss", "http", "https"} or not parts.hostname:
        expected = "expected an address like https://games.example.org"
        raise click.BadParameter(f"{expected}, not {server!r}", param_hint="--server")
    return page_url(server)


def _qr_code(text: str) -> str:
    """Draw a QR code with block characters, two modules per character."""
    drawn = io.StringIO()
    segno.make_qr(text, error="l").terminal(out=drawn, compact=True)
    return drawn.getvalue().rstrip("\n")


@token.command(name="list")
@db_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_tokens(db: Database, as_json: bool) -> None:
    """List the tokens without their secrets."""
    with TokenAdmin(db) as register:
        lines = register.tokens()
    if as_json:
        return echo_json(json.dumps([_fields(line) for line in lines]))
    head = ("id", "account", "kind", "created", "valid until", "revoked")
    rows = [list(_fields(line).values()) for line in lines]
    shown = [[cell if cell is not None else "-" for cell in row] for row in rows]
    table = "\n".join(tables.format_table(head, shown))
    return echo(table if rows else f"no tokens in {db}")


def _fields(line: TokenEntry) -> dict[str, int | str | None]:
    return {
        "id": line.id,
        "account": line.player.name,
        "kind": line.player.kind,
        "made": _day(line.created),
        "expires": _day(line.expires),
        "revoked": _day(line.revoked),
    }


def _day(seconds: int | None) -> str | None:
    if seconds is None:
        return None
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.isoformat(sep=" ", timespec="minutes")


@token.command()
@click.argument("number", type=COUNT, metavar="ID")
@db_option
def revoke(number: int, db: Database) -> None:
    """Revoke the token with this ID; existing connections are not closed."""
    with TokenAdmin(db) as register:
        if not register.revoke(number):
            raise click.ClickException(f"expected the id of a valid token, not {number}")
    echo(f"token {number} was revoked")
