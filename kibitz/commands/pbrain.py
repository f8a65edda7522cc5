"""`kibitz pbrain`: a bot of five in a row as an engine for managers of the Gomocup protocol."""

from __future__ import annotations

import sys

import click


@click.command(short_help="Run a bot as a Gomocup engine.")
@click.argument("spec", metavar="BOT")
def pbrain(spec: str) -> None:
    """Run BOT, a house bot or a file like mybot.py, as an engine of the Gomocup protocol.

    It reads commands from standard input and answers on standard output. A manager starts it.
    """
    from kibitz_bots.adapters.gomocup_server import run

    sys.exit(run([spec]))
