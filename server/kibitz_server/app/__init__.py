"""A complete server: this package builds it from the other packages and shuts it down.

    async with running(Config(db=path), games) as server:
        ...                                 # server.url, server.port, await server.drain()

Two servers in one process share no state. `run` runs a server's process from start to end.
"""

from kibitz_server.app.config import Config
from kibitz_server.app.main import run
from kibitz_server.app.server import Server, running

__all__ = ["Config", "Server", "run", "running"]
