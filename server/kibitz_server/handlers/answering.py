"""Common parts of handlers: refusing what is not there, answering requests that take a while."""

from __future__ import annotations

import logging
from collections.abc import Awaitable

from kibitz_protocol.wire.refusals import Code
from kibitz_server.directory.archive import RequestDeclined
from kibitz_server.directory.directory import Directory
from kibitz_server.directory.jobs import QueueFull
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.match.runner import MatchRunner
from kibitz_server.net.peer import Peer
from kibitz_server.storage.errors import UnusableDatabase

LOG = logging.getLogger("kibitz.handlers")


def answer_later(directory: Directory, peer: Peer, request: int, work: Awaitable[None]) -> None:
    """Carry out a request that has to wait, and answer it when that raises or is declined."""

    async def answered() -> None:
        try:
            await work
        except RequestDeclined as declined:
            peer.refuse(request, declined.code, str(declined))
        except QueueFull as full:
            peer.refuse(request, Code.RATE_LIMITED, str(full), retry_after_ms=full.retry_after_ms)
        except UnusableDatabase as error:
            LOG.warning("request %d cannot be answered now: %s", request, error)
            peer.fail(request, Code.UNAVAILABLE, "the database cannot be read now")
        except Exception:
            LOG.exception("request %d failed", request)
            peer.fail(request)

    directory.spawn(answered())


def find_lobby(directory: Directory, peer: Peer, request: int, key: str) -> LobbyRunner | None:
    """Return an open lobby, or refuse the request that is about it."""
    lobby = directory.lobbies.get(key)
    if lobby is None:
        missing = _missing(directory, key, Code.NO_SUCH_LOBBY, f"no lobby {key!r}")
        peer.refuse(request, *missing)
    return lobby


def find_match(directory: Directory, peer: Peer, request: int, key: str) -> MatchRunner | None:
    """Return a match that runs or is just over, or refuse the request that is about it."""
    match = directory.matches.get(key) or directory.recently_finished.get(key)
    if match is None:
        peer.refuse(request, *missing_match(directory, key))
    return match


def missing_match(directory: Directory, key: str) -> tuple[Code, str]:
    """Return the code and the sentence that say why there is no match of this key."""
    return _missing(directory, key, Code.NO_SUCH_MATCH, f"no running match {key!r}")


def _missing(directory: Directory, key: str, code: Code, message: str) -> tuple[Code, str]:
    """Return what is said of a match or lobby that is not there, or was set aside."""
    if directory.quarantine.reason(key) is not None:
        # The reason itself may tell what is hidden in the match.
        return Code.DAMAGED, f"the log of {key!r} is damaged: it does not go on"
    return code, message
