"""A server from a script, for tests of sessions: expect a request, answer it, assert the end.

    peer = Peer(session)
    peer.greet()
    session.ask(Watch(id=session.new_id(), match="m1"))
    peer.say(Done(re=peer.expect(Watch, match="m1").id))
    peer.assert_done()

Time stands still unless the script lets it pass.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TypeVar

from kibitz_protocol.codec import decode_request, encode
from kibitz_protocol.messages import Hello, Limits, Request, ServerMessage, Welcome
from kibitz_protocol.session import Happening, Session, State

_RequestT = TypeVar("_RequestT", bound=Request)
_HappeningT = TypeVar("_HappeningT")

LIMITS = Limits(frame_bytes=16_384, messages_per_second=20, burst=40, lobbies=4)


class Peer:
    """The other side of a session, and its clock."""

    def __init__(self, session: Session, now: int = 0) -> None:
        self.session = session
        self.now = now
        self.happened: list[Happening] = []
        """What has happened and was not taken yet."""
        self._frames: deque[bytes] = deque()

    def connect(self) -> None:
        """Let time pass until a connection is due, and make it."""
        if self.session.state is not State.AWAY:
            raise AssertionError(f"expected a session that is away, it is {self.session.state}")
        self.now = max(self.now, self.session.connect_at)
        self.session.connected(self.now)
        self._pump()

    def greet(
        self, *, seats: Sequence[str] = (), lobbies: Sequence[str] = (), limits: Limits = LIMITS
    ) -> Hello:
        """Connect and answer hello; returns what hello said."""
        self.connect()
        hello = self.expect(Hello)
        self.say(
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

    def expect(self, kind: type[_RequestT], **fields: object) -> _RequestT:
        """The next request, which must be of this kind and have these fields."""
        self._pump()
        if not self._frames:
            raise AssertionError(f"expected {kind.__name__}, nothing came")
        request = decode_request(self._frames.popleft())
        if not isinstance(request, kind):
            raise AssertionError(f"expected {kind.__name__}, got {request!r}")
        wrong = {name: getattr(request, name) for name in fields}
        if wrong != fields:
            raise AssertionError(f"expected {fields}, got {request!r}")
        return request

    def say(self, *messages: ServerMessage) -> None:
        for message in messages:
            self.happened += self.session.receive(encode(message), self.now)
        self._pump()

    def lose(self, code: int | None = 1006, reason: str = "") -> None:
        """Cut the connection; frames that nobody expected yet are lost with it."""
        self._frames.clear()
        self.happened += self.session.lost(self.now, code, reason)

    def wait(self, millis: int) -> None:
        """Let time pass."""
        self.now += millis
        self.happened += self.session.tick(self.now)
        self._pump()

    def take(self, kind: type[_HappeningT]) -> _HappeningT:
        """The next thing that has happened, which must be of this kind."""
        if not self.happened:
            raise AssertionError(f"expected {kind.__name__}, nothing happened")
        happening = self.happened.pop(0)
        if not isinstance(happening, kind):
            raise AssertionError(f"expected {kind.__name__}, got {happening!r}")
        return happening

    def assert_done(self) -> None:
        """Nothing was sent and nothing has happened that the script did not ask for."""
        self._pump()
        left = [decode_request(frame) for frame in self._frames]
        if left or self.happened:
            raise AssertionError(f"not expected: {left} {self.happened}")

    def _pump(self) -> None:
        self._frames.extend(self.session.frames(self.now))
