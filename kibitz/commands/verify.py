"""`kibitz record verify`: check that a correct server could have written a record."""

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
    from kibitz_games.core.game import Game
    from kibitz_protocol.wire.records import Branch

EXIT_BAD = 1
"""The exit status if a record is invalid."""
EXIT_INCOMPLETE = 3
"""The exit status if a record is incomplete and nothing else is wrong."""


@click.command(short_help="Check records: hashes, seeds, legality, clocks, results.")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("--against", is_flag=True, help="Also compare with the records of --server.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
@server_option
def verify(files: tuple[str, ...], against: bool, as_json: bool, server: str) -> None:
    """Verify record FILES, and print one line for each.

    The command checks the hash chain, the commitment to the seed and the starting position drawn
    from the seed. It replays every move by the rules, checks the clocks, the drop-outs and the
    result, and checks that nothing hidden was sent too early. A forged record that follows all
    these rules passes; only --against detects it.

    The exit status is 0 if all records are valid and 1 if one is not. It is 3 if a record is
    incomplete, because the match had not ended or the file was cut off, and nothing else is wrong.
    """
    games = load_games("plain")
    statuses = []
    for name in files:
        status, why, branch = _checked(name, server if against else None, games)
        statuses.append(status)
        if as_json:
            fields = {"file": name, "holds": status == 0, "complete": status != EXIT_INCOMPLETE}
            origin = None if branch is None else {"match": branch.match, "ply": branch.ply}
            echo_json(json.dumps(fields | {"why": why, "branch": origin}))
        else:
            on = f", continued from ply {branch.ply} of match {branch.match}" if branch else ""
            echo(why or f"{name}: valid{on}")
    sys.exit(EXIT_BAD if EXIT_BAD in statuses else max(statuses))


def _checked(
    name: str, server: str | None, games: Mapping[str, Game]
) -> tuple[int, str | None, Branch | None]:
    """Return the exit status for a record file, the first flaw, and the origin of a branch."""
    import asyncio

    from kibitz.analysis import verification
    from kibitz_clients.matches.fetch import fetch_record

    try:
        verdict = verification.verify(name, games)
        if server is not None:
            own = asyncio.run(fetch_record(server, verdict.match)).footer
            if own is None or own.hash != verdict.hash:
                expected = "none" if own is None else own.hash
                why = f"{name}: expected the hash of the server's own record, {expected}"
                return EXIT_BAD, why, None
    except verification.IncompleteRecord as error:
        return EXIT_INCOMPLETE, str(error), None
    except (ValueError, OSError) as error:
        return EXIT_BAD, str(error), None
    return 0, None, verdict.branch
