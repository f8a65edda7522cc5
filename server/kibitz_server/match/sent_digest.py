"""Digests of the data sent to each seat: a hash chain per seat over entries and view changes.

The server computes them for games with hidden information, so that anybody can later check that it
leaked nothing. An entry's link covers the parts of an event that could leak: the entry as that seat
may see it, and the change to the seat's view. A change contains every changed field with its
complete new value, and null for removed fields. This format belongs to records and does not depend
on the format of patches. The digests are computed from the same entries and views as the events,
before the events are sent. `kibitz record verify` recomputes them from the record.

    link = SHA-256(link before, entry as JSON, "\\n", change as JSON), in hexadecimal

Notes are excluded, because public records do not contain them.
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
    if isinstance(view.entry, Noted | Hidden):  # replaces notes in public records
        return digests
    return tuple(
        chain_hash(link, view.entry_json(seat) + b"\n" + _changed_fields(view, seat))
        for seat, link in enumerate(digests)
    )


def _changed_fields(view: EntryView, seat: int) -> bytes:
    """Return the complete changed fields as JSON, in this order; b"" if there are none."""
    if view.before is None or view.after is None:
        return b""
    before, after = view.before.of(seat), view.after.of(seat)
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    changed.update((name, None) for name in before if name not in after)
    return to_json(changed) if changed else b""


def digests_of(game: Game, setup: Setup, entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return the digests of a whole log; empty for games without hidden information.

    Raises `BrokenLog`.
    """
    match = MatchState(game, setup)
    fold(MatchViews(match), entries)
    return match.sent


def fold(views: MatchViews, entries: Iterable[Entry]) -> None:
    """Apply log entries to a match, and update its digests. Raises `BrokenLog`."""
    match = views.state
    for entry in entries:
        if match.sent:
            match.sent = next_digests(match.sent, views.advance(entry))
        else:
            match.apply(entry)
