"""The messages sent to each seat: records reveal whether a server sends a seat too much."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from kibitz.analysis.verification import verify_record
from kibitz_games.core import registry
from kibitz_games.core.game import Game
from kibitz_protocol.wire.recordfile import Record, parse_record
from kibitz_protocol.wire.records import Entry
from kibitz_server.match import sent_digest, visibility
from kibitz_server.match.engine import MatchEngine
from tests.tools.honest_records import honest_record
from tests.tools.indistinguishable_plays import draw_pair
from tests.tools.secrecy_scenario import play_scenario
from tests.tools.simulation import make_template

TANKS = registry.get("tanks")


def finished(played_by: Game | None = None) -> Record:
    """Return a finished match of Tanks."""
    records = (honest_record("tanks", seed, played_by=played_by) for seed in range(20))
    return next(record for record in records if record.footer is not None)


def with_sent(record: Record, sent: list[str] | None) -> Record:
    assert record.footer is not None
    return replace(record, footer=record.footer.model_copy(update={"sent": sent}))


def test_a_record_says_what_was_sent(all_games: dict[str, Game]) -> None:
    record = finished()
    verify_record(record, all_games)
    with pytest.raises(ValueError, match="sent: expected 4 digests"):
        verify_record(with_sent(record, None), all_games)


def test_digests_that_were_changed_are_found(all_games: dict[str, Game]) -> None:
    record = finished()
    assert record.footer is not None
    assert record.footer.sent is not None
    right = record.footer.sent
    assert len(set(right)) == 4
    wrong = {
        "seat 2": [right[0], "0" * 64, *right[2:]],
        "seat 1": [right[1], right[0], *right[2:]],
        "expected 4 digests": right[:3],
    }
    for sentence, sent in wrong.items():
        with pytest.raises(ValueError, match=f"sent: .*{sentence}"):
            verify_record(with_sent(record, sent), all_games)
    records = (honest_record("line-nim", seed) for seed in range(20))
    open_game = next(each for each in records if each.footer is not None)
    with pytest.raises(ValueError, match="in a game without hidden information"):
        verify_record(with_sent(open_game, right[:2]), all_games)


def test_rules_that_show_a_seat_too_much_are_found(all_games: dict[str, Game]) -> None:
    class Leaking(type(TANKS)):  # type: ignore[misc]
        """Shows the first seat the second seat's view."""

        def view(self, state: Any, seat: int | None) -> Any:
            return super().view(state, 1 if seat == 0 else seat)

    with pytest.raises(ValueError, match="the data sent to seat 1 differs"):
        verify_record(finished(Leaking()), all_games)


def test_a_gate_that_shows_the_moves_of_others_is_found(all_games: dict[str, Game]) -> None:
    def shows_all(entry: Entry, viewer: int, hidden: bool) -> Entry:
        return entry

    with patch.object(visibility, "redact", shows_all):
        record = finished()
    with pytest.raises(ValueError, match="differs from what it may see"):
        verify_record(record, all_games)


def test_after_a_restart_and_from_a_checkpoint_the_digests_go_on() -> None:
    record = finished()
    assert record.footer is not None
    whole = sent_digest.digests_of(TANKS, record.setup, record.entries)
    assert [*whole] == record.footer.sent
    half = len(record.entries) // 2
    engine = MatchEngine.restore(TANKS, record.setup, record.entries[:half])
    again = MatchEngine.resume(engine.state.copy(), record.entries[half:])
    assert again.state.sent == whole
    assert MatchEngine.restore(TANKS, record.setup, record.entries).state.sent == whole


def test_a_server_that_was_restarted_in_a_match_writes_a_record_that_holds(
    all_games: dict[str, Game], tmp_path: Path
) -> None:
    """On a complete server, with all requests of players and spectators."""
    make_template(tmp_path)
    pair = draw_pair(TANKS, 4, 0, 5, plies=26)
    story = play_scenario(pair, 0, tmp_path)
    page = [line for line in story.record.splitlines() if line.startswith(b"{")]
    record = parse_record([line + b"\n" for line in page])
    verify_record(record, all_games)
