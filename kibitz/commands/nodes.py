"""`kibitz db nodes`: the servers that share a PostgreSQL database."""

from __future__ import annotations

import dataclasses
import json

import click

from kibitz.options.database import db_option
from kibitz.output import echo, echo_json
from kibitz_server.storage.interface import NodeEntry
from kibitz_server.storage.location import Database


@click.command(short_help="Show the nodes of a PostgreSQL database.")
@db_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def nodes(db: Database, *, as_json: bool) -> None:
    """Show the servers started with --node, and how many lobbies and matches each owns.

    If several nodes share a URL, the longest-running one serves and the others stand by. Nodes with
    different URLs serve side by side.
    """
    from kibitz_server.storage.opening import list_nodes

    nodes = list_nodes(db)
    if as_json:
        echo_json(json.dumps([dataclasses.asdict(node) for node in nodes]))
        return
    if not nodes:
        echo("no nodes have used this database")
    for node in nodes:
        echo(_line(node))


def _line(node: NodeEntry) -> str:
    owned = f"{node.lobbies} lobbies, {node.matches} matches"
    beat = f"heartbeat {node.beat_s:.1f} s ago"
    return f"{node.name:<12} {node.state:<8} {owned:<24} {beat:<20} {node.url}"
