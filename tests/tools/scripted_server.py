"""A scripted server for tests of sessions: expect a request, answer it, assert the end.

    server = ScriptedServer(session)
    server.accept_hello()
    session.ask(Watch(id=session.new_id(), match="m1"))
    server.send(Done(re=server.expect_request(Watch, match="m1").id))
    server.assert_done()

Time advances only when the test calls `advance`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TypeVar

from kibitz_protocol.client.events import SessionEvent
from kibitz_protocol.client.session import Session, SessionState
from kibitz_protocol.wire.codec import decode_request, encode
from kibitz_protocol.wire.messages import Hello, Limits, Request, ServerMessage, Welcome

_RequestT = TypeVar("_RequestT", bound=Request)
_SessionEventT = TypeVar("_SessionEventT")

LIMITS = Limits(frame_bytes=16_384, messages_per_second=20, burst=40, lobbies=4)


class ScriptedServer:
    """The server side of a session, and its clock."""

    def __init__(self, session: Session, now: int = 0) -> None:
        self.session = session
        self.now = now
        self.events: list[SessionEvent] = []
        """Events that have not been consumed yet."""
        self._frames: deque[bytes] = deque()

    def connect(self) -> None:
        """Advance time until a connection is due, and connect."""
        if self.session.state is not SessionState.AWAY:
            raise AssertionError(f"expected a disconnected session, got {self.session.state}")
        self.now = max(self.now, self.session.connect_at)
        self.session.connected(self.now)
        self._pump()

    def accept_hello(
        self, *, seats: Sequence[str] = (), lobbies: Sequence[str] = (), limits: Limits = LIMITS
    ) -> Hello:
        """Connect, answer hello, and return it."""
        self.connect()
        hello = self.expect_request(Hello)
        self.send(
            Welcome(
                re=hello.id,
                version=1,
                player="p1",
                name=hello.name or "ada",
                kind=hello.kind,
                resume="a-secret-for-coming-back",
                server="script",
                limits=limits,
                seats=list(seats),
                lobbies=list(lobbies),
            )
        )
        return hello

    def expect_request(self, kind: type[_RequestT], **fields: object) -> _RequestT:
        """Return the next request, which must have this type and these fields."""
        self._pump()
        if not self._frames:
            raise AssertionError(f"expected {kind.__name__}, got nothing")
        request = decode_request(self._frames.popleft())
        if not isinstance(request, kind):
            raise AssertionError(f"expected {kind.__name__}, got {request!r}")
        wrong = {name: getattr(request, name) for name in fields}
        if wrong != fields:
            raise AssertionError(f"expected {fields}, got {request!r}")
        return request

    def send(self, *messages: ServerMessage) -> None:
        for message in messages:
            self.events += self.session.receive(encode(message), self.now)
        self._pump()

    def disconnect(self, code: int | None = 1006, reason: str = "") -> None:
        """Cut the connection; unread frames are lost."""
        self._frames.clear()
        self.events += self.session.lost(self.now, code, reason)

    def advance(self, millis: int) -> None:
        """Advance time."""
        self.now += millis
        self.events += self.session.tick(self.now)
        self._pump()

    def next_event(self, kind: type[_SessionEventT]) -> _SessionEventT:
        """Return the next event, which must have this type."""
        if not self.events:
            raise AssertionError(f"expected {kind.__name__}, but nothing happened")
        happening = self.events.pop(0)
        if not isinstance(happening, kind):
            raise AssertionError(f"expected {kind.__name__}, got {happening!r}")
        return happening

    def assert_done(self) -> None:
        """Assert that there are no unexpected requests or events."""
        self._pump()
        left = [decode_request(frame) for frame in self._frames]
        if left or self.events:
            raise AssertionError(f"unexpected: {left} {self.events}")

    def _pump(self) -> None:
        self._frames.extend(self.session.frames(self.now))
