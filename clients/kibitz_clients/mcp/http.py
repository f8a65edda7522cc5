"""Streamable HTTP on a socket that listens already, ended by whoever started it.

uvicorn would take the process's signals and open the port itself, after the address was told; the
command has its own ways for both.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Final

import uvicorn
from mcp.server.mcpserver import MCPServer

END_SECONDS: Final = 3
"""How long calls that are being answered may go on when the server is ended."""


class HttpServer(uvicorn.Server):
    """The web server in front of the tools, at ``/mcp`` of a loopback address."""

    def __init__(self, tools: MCPServer, host: str) -> None:
        # The SDK refuses foreign hosts and origins by itself where `host` is a loopback address.
        app = tools.streamable_http_app(host=host)
        super().__init__(
            uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=END_SECONDS)
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the command."""
        yield

    async def end(self) -> None:
        """Let `serve` return once what is being answered is answered."""
        self.handle_exit(signal.SIGINT, None)  # this way open event streams hear of it, too
