"""Digests of the data sent to each seat: a hash chain per seat over entries and view changes.

They are kept for games with hidden information. An entry's link is made of what the gate has
written for the seat: the entry as that seat may see it, and its change of the seat's view. A change
has the fields with new values, whole, and null for fields that are gone: the format of records,
whatever patches look like. These are the parts of an event that could leak. They are made of the
entries and views that events are made of, before these are sent, so a gate that leaks shows here.
`kibitz record verify` recomputes them from the record.

    link = SHA-256(link before, entry as JSON, "\\n", change as JSON), in hexadecimal

Notes are left out, because public records do not contain them.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic_core import to_json

from kibitz_games.core.game import Game
from kibitz_protocol.wire.recordfile import chain_hash
from kibitz_protocol.wire.records import Entry, Hidden, Noted, Setup
from kibitz_server.match.state import MatchState
from kibitz_server.match.visibility import EntryView, MatchViews


def next_digests(digests: tuple[str, ...], view: EntryView) -> tuple[str, ...]:
    """Return the digests after one more entry."""
    if isinstance(view.entry, Noted | Hidden):  # in place of a note in a record for everybody
        return digests
    return tuple(
        chain_hash(link, view.entry_json(seat) + b"\n" + _changed_fields(view, seat))
        for seat, link in enumerate(digests)
    )


def _changed_fields(view: EntryView, seat: int) -> bytes:
    """Return the changed fields as JSON, whole and in this order; b"" if there are none."""
    if view.before is None or view.after is None:
        return b""
    before, after = view.before.of(seat), view.after.of(seat)
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    changed.update((name, None) for name in before if name not in after)
    return to_json(changed) if changed else b""


def digests_of(game: Game, setup: Setup, entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return the digests of a whole log; none for a game that hides nothing. Raises `BrokenLog`."""
    match = MatchState(game, setup)
    fold(MatchViews(match), entries)
    return match.sent


def fold(views: MatchViews, entries: Iterable[Entry]) -> None:
    """Apply entries of a log to a match, and keep its digests. Raises `BrokenLog`."""
    match = views.state
    for entry in entries:
        if match.sent:
            match.sent = next_digests(match.sent, views.advance(entry))
        else:
            match.apply(entry)
