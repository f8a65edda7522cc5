"""Errors of a client, by cause and by whether the session can continue.

KibitzError
├── RefusedError          the server said no; nothing has changed
├── UnansweredError       the connection broke before the answer; it may have been done
└── SessionError          the session is over, every further request raises this
    ├── HelloRefusedError     the server does not want this client (also a RefusedError)
    ├── ReplacedError         a newer connection of the same player took over
    ├── KickedError           the server's operator or a limit ended the session
    ├── UnreachableError      the server stayed away for longer than the client's patience
    ├── GarbledError          the server sent what no server of a known version sends
    ├── OversizedError        the server sent a message that is too large to be read
    ├── BacklogError          news was not read for so long that it no longer fits
    └── ClosedError           the session was closed from this side
"""

from __future__ import annotations

from kibitz_protocol.wire.messages import Refused
from kibitz_protocol.wire.refusals import Code


class KibitzError(Exception):
    """Base of all errors of a client."""


class RefusedError(KibitzError):
    """A request was refused; `ply` is the present ply where the code is `stale`."""

    def __init__(
        self,
        code: Code,
        message: str,
        hint: str = "",
        retry_after_ms: int | None = None,
        ply: int | None = None,
    ) -> None:
        super().__init__(code, message, hint, retry_after_ms, ply)
        self.code = code
        self.message = message
        self.hint = hint
        self.retry_after_ms = retry_after_ms
        self.ply = ply

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.code}: {self.message}{hint}"

    @classmethod
    def of(cls, refused: Refused) -> RefusedError:
        """Return the error for a refusal."""
        return cls(refused.code, refused.message, refused.hint, refused.retry_after_ms, refused.ply)


class UnansweredError(KibitzError):
    """The answer never came. Check before you repeat the request, which may have been done."""


class SessionError(KibitzError):
    """The session is over; make a new one to go on."""


class HelloRefusedError(RefusedError, SessionError):
    """The server refused hello for a permanent reason."""


class ReplacedError(SessionError):
    """A newer connection of the same player took over."""


class KickedError(SessionError):
    """The server ended the session and does not want it back."""


class UnreachableError(SessionError):
    """The server could not be reached for as long as the client was willing to try."""


class GarbledError(SessionError):
    """A message of the server could not be read."""


class OversizedError(SessionError):
    """The server sent a message that is too large to be read; it would come again."""


class BacklogError(SessionError):
    """The news was not read fast enough."""


class ClosedError(SessionError):
    """The session was closed by its owner."""
