"""The three messages that every move sends, written from parts that exist already.

A move is told as an `event` to everybody, a `done` to who made it, and a `your_turn` to who
is next. The entry's line has just been written for the log, the view and the clocks are in two
of the three messages. So these are put together from JSON that is made once. The bytes are the
ones that `codec.encode` writes for the same message, which `tests/server/test_scribe.py` holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_core import to_json

from kibitz_protocol.clocks import Clock
from kibitz_protocol.codec import encode
from kibitz_protocol.messages import Event, YourTurn
from kibitz_protocol.values import Fields
from kibitz_server.outbox import text_frame


def done_frame(request: int, seq: int | None) -> bytes:
    """Return the answer to a request that made entry `seq`."""
    if seq is None:
        return text_frame(b'{"re":%d,"type":"done"}' % request)
    return text_frame(b'{"re":%d,"type":"done","seq":%d}' % (request, seq))


class Scribe:
    """Writes frames and remembers the last view, clocks and event, by identity."""

    __slots__ = ("_clocks", "_clocks_json", "_event", "_event_frame", "_view", "_view_json")

    def __init__(self) -> None:
        self._view: Fields | None = None
        self._view_json = b""
        self._clocks: Sequence[Clock] | None = None
        self._clocks_json = b""
        self._event: Event | None = None
        self._event_frame = b""

    def event(self, event: Event, line: bytes | None = None) -> bytes:
        """Return the frame of an event; `line` is its entry's own, where that is at hand."""
        if event is not self._event:
            self._event = event
            self._event_frame = text_frame(self._event_json(event, line))
        return self._event_frame

    def turn(self, turn: YourTurn) -> bytes:
        """Return the frame of a turn."""
        parts = [
            b'{"type":"your_turn","match":"%b","game":"%b","seat":%d,"ply":%d,"view":%b'
            % (
                turn.match.encode(),
                turn.game.encode(),
                turn.seat,
                turn.ply,
                self._json_of_view(turn.view),
            )
        ]
        if turn.legal is not None:
            parts += b',"legal":', to_json(turn.legal)
        if turn.legal_rule is not None:
            parts += b',"legal_rule":', to_json(turn.legal_rule)
        parts.append(b',"legal_count":%d' % turn.legal_count)
        if turn.clocks is not None:
            parts += b',"clocks":', self._json_of_clocks(turn.clocks)
        if turn.left_ms is not None:
            parts.append(b',"left_ms":%d' % turn.left_ms)
        parts.append(b"}")
        return text_frame(b"".join(parts))

    def _event_json(self, event: Event, line: bytes | None) -> bytes:
        parts = [
            b'{"type":"event","match":"%b","ply":%d,"to_act":%d,"entry":%b'
            % (
                event.match.encode(),
                event.ply,
                event.to_act,
                encode(event.entry) if line is None else line,
            )
        ]
        if event.view is not None:
            parts += b',"view":', self._json_of_view(event.view)
        if event.clocks is not None:
            parts += b',"clocks":', self._json_of_clocks(event.clocks)
        parts.append(b"}")
        return b"".join(parts)

    def _json_of_view(self, view: Fields) -> bytes:
        if view is not self._view:
            self._view = view
            self._view_json = to_json(view)
        return self._view_json

    def _json_of_clocks(self, clocks: Sequence[Clock]) -> bytes:
        if clocks is not self._clocks:
            self._clocks = clocks
            self._clocks_json = to_json(clocks, exclude_none=True)
        return self._clocks_json
