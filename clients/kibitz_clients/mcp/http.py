"""Streamable HTTP on an already listening socket, stopped by the command that started it.

The command handles signals and opens the port itself: uvicorn would take over the process's signals
and open the port only after the address is announced.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Final

import uvicorn
from mcp.server.mcpserver import MCPServer

END_SECONDS: Final = 3
"""The timeout for running calls when the server stops."""


class HttpServer(uvicorn.Server):
    """The web server in front of the tools, at ``/mcp`` of a loopback address."""

    def __init__(self, tools: MCPServer, host: str) -> None:
        # The SDK itself refuses foreign hosts and origins if `host` is a loopback address.
        app = tools.streamable_http_app(host=host)
        super().__init__(
            uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=END_SECONDS)
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signal handling to the command."""
        yield

    async def end(self) -> None:
        """Make `serve` return once running calls are answered."""
        self.handle_exit(signal.SIGINT, None)  # this also ends open event streams
