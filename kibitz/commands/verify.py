"""`kibitz verify`: whether records are what a server that keeps the rules would have written."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from kibitz.builtin_games import load_games
from kibitz.options.connection import server_option
from kibitz.output import echo, echo_json

if TYPE_CHECKING:
    from kibitz.analysis.verification import Verified
    from kibitz_games.core.game import Game

EXIT_BAD = 1
"""The exit status where a record does not hold."""


NOT_SENT = "everything holds; what each seat was sent is not in it"


@click.command(short_help="Check records: hashes, seeds, legality, clocks, results.")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("--against", is_flag=True, help="Compare with the records of --server too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
@server_option
def verify(files: tuple[str, ...], against: bool, as_json: bool, server: str) -> None:
    """Print one line about each of the record FILES. The status is 1 if one does not hold.

    Checked are the hash chain, the commitment to the seed and the start that it draws, every
    move by the rules, every clock by its ledger, who dropped out and why, the result, and that
    nothing hidden was sent before its time. A record that somebody has written anew by all these
    rules passes; --against finds it.
    """
    games = load_games("plain")
    bad = 0
    for name in files:
        found = _checked(name, server if against else None, games)
        why = found if isinstance(found, str) else None
        bad += why is not None
        sent = None if isinstance(found, str) else found.sent
        if as_json:
            told = {"file": name, "holds": why is None, "why": why, "sent": sent}
            echo_json(json.dumps(told))
        else:
            echo(why or f"{name}: {NOT_SENT if sent is False else 'everything holds'}")
    sys.exit(EXIT_BAD if bad else 0)


def _checked(name: str, server: str | None, games: Mapping[str, Game]) -> Verified | str:
    """Return a record file in which everything holds, or what does not."""
    import asyncio

    from kibitz.analysis import verification
    from kibitz_clients.fetch import fetch_record

    try:
        found = verification.verify(name, games)
        if server is not None:
            own = asyncio.run(fetch_record(server, found.match))
            if own.link != found.hash:
                return f"{name}: expected the hash of the server's own record, {own.link}"
    except (ValueError, OSError) as error:
        return str(error)
    return found
