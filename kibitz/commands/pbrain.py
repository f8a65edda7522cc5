"""`kibitz pbrain`: a five-in-a-row bot as an engine for Gomocup managers."""

from __future__ import annotations

import sys

import click


@click.command(short_help="Run a bot as a Gomocup engine.")
@click.argument("spec", metavar="BOT")
def pbrain(spec: str) -> None:
    """Run BOT, a house bot or a file like mybot.py, as a Gomocup engine.

    A Gomocup manager starts it. It reads commands from standard input and answers on standard
    output.
    """
    from kibitz_bots.adapters.gomocup_server import run

    sys.exit(run(spec))
