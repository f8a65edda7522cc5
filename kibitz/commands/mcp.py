"""`kibitz mcp`: a player for agents that use the Model Context Protocol."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kibitz.builtin_games import load_games
from kibitz.options import connection
from kibitz.options import saved_sessions as sessions
from kibitz.options.connection import fresh_option, identity_options, server_option
from kibitz.options.saved_sessions import SavedSession
from kibitz.output import echo, tell
from kibitz.process.event_loop import draining, run
from kibitz.process.interrupts import TERMINATION
from kibitz_clients.wording import descriptions
from kibitz_games.core import rulebook
from kibitz_protocol.client.client import Client

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from kibitz_clients.mcp.player import ToolPlayer

HOST = "127.0.0.1"
"""The listening address; loopback only, because anyone who reaches the port can play as this
player."""


@click.command(short_help="Let a language model play, over MCP.")
@click.option(
    "--http",
    "port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Serve streamable HTTP at /mcp on this loopback port (0: any free port) instead of"
    " standard input and output.",
)
@fresh_option
@server_option
@identity_options
def mcp(
    port: int | None, fresh: bool, server: str, name: str | None, token_file: Path | None
) -> None:
    """Let an agent that uses the Model Context Protocol play and watch.

    It is one player on the server, with tools to play and watch and with instructions for agents.
    Without --http it communicates over standard input and output; agents start it this way. It also
    starts while no server runs: tools that need the server report the error and reconnect at the
    next call. Its own errors go to standard error. The session is saved: after a restart it takes
    its seats back if the server still reserves them.
    """
    try:
        from kibitz_clients.mcp.server import make_server
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        raise click.ClickException(
            "kibitz mcp needs the MCP SDK: pip install 'kibitz[mcp]'"
        ) from None
    from kibitz_clients.mcp.player import tool_player

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    token = connection.account(token_file, server)
    who = "mcp of " + (f"name {name}" if token is None else sessions.account(token))

    async def serve(saved: SavedSession, listener: socket.socket | None) -> None:
        def make(resume: str | None) -> Client:
            # Reconnect without a time limit, because an agent should survive any restart of the
            # server.
            return connection.client(
                server, name, token_file, "bot", None, resume=resume, seated=True, views="every"
            )

        def connect() -> AbstractAsyncContextManager[Client]:
            return sessions.connect_saved(saved, make, tell, account=token is not None)

        def explain(error: Exception) -> str:
            return descriptions.explain_error(error, server)

        async with tool_player(connect, load_games("plain"), explain) as player:
            tools = make_server(player, rulebook.page)
            if listener is None:
                await tools.run_stdio_async()
            else:
                await _serve_http(tools, player, listener)

    with (
        contextlib.nullcontext() if port is None else _listen(port) as listener,
        sessions.take_free_identity(server, who, tell, fresh=fresh) as saved,
    ):
        run(serve(saved, listener))


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise click.ClickException(f"port {port} of {HOST}: {error.strerror}") from None


async def _serve_http(tools: MCPServer, player: ToolPlayer, listener: socket.socket) -> None:
    """Serve until Ctrl-C, SIGTERM or SIGHUP; pending calls are then answered."""
    from kibitz_clients.mcp.http import HttpServer

    web = HttpServer(tools, HOST)

    async def finish() -> None:
        player.link.end("this player was stopped at its terminal")
        await web.end()

    echo(f"the Model Context Protocol is at http://{HOST}:{listener.getsockname()[1]}/mcp")
    async with draining(finish, (signal.SIGINT, *TERMINATION)):
        await web.serve(sockets=[listener])
