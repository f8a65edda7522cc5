"""A whole server: the one place where everything is constructed, and taken down again.

    async with running(Config(db=path), games) as server:
        ...                                 # server.url, server.port, await server.drain()

Two of them in one process have nothing in common but the process. `run` is the whole life of a
server's process.
"""

from kibitz_server.app.config import Config
from kibitz_server.app.main import run, with_loop
from kibitz_server.app.server import Server, running

__all__ = ["Config", "Server", "run", "running", "with_loop"]
