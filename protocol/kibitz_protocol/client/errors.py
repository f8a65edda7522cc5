"""Errors of a client. Subclasses of `SessionError` end the session.

KibitzError
├── RefusedError          the server refused the request; nothing has changed
├── UnansweredError       the answer is of a type that this client cannot read
└── SessionError          the session is over, every further request raises this
    ├── HelloRefusedError     the server refused hello for good (also a RefusedError)
    ├── ReplacedError         a newer connection of the same player took over
    ├── KickedError           the server's operator or a limit ended the session
    ├── UnreachableError      the server could not be reached in time, or at all
    ├── GarbledError          the server sent a message that violates the protocol
    ├── OversizedError        the server sent a message that exceeds the client's size limit
    ├── BacklogError          the queue of unread news is full
    └── ClosedError           the owner closed the session
"""

from __future__ import annotations

from kibitz_protocol.wire.messages import Refused
from kibitz_protocol.wire.refusals import Code


class KibitzError(Exception):
    """Base class of all errors of a client."""


class RefusedError(KibitzError):
    """The server refused a request. `ply` is the current ply if the code is `stale`."""

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
    """The answer is of a type that this client cannot read; the request may have succeeded."""


class SessionError(KibitzError):
    """The session is over; open a new one to continue."""


class HelloRefusedError(RefusedError, SessionError):
    """The server refused hello for a permanent reason."""


class ReplacedError(SessionError):
    """A newer connection of the same player took over."""


class KickedError(SessionError):
    """The server's operator or a limit ended the session for good."""


class UnreachableError(SessionError):
    """The server could not be reached within `opening` or `patience` seconds, or at all."""


class GarbledError(SessionError):
    """The server sent a message that violates the protocol."""


class OversizedError(SessionError):
    """The server sent a message that exceeds the client's size limit."""


class BacklogError(SessionError):
    """The owner did not read the news fast enough, and the queue is full."""


class ClosedError(SessionError):
    """The owner closed the session."""
