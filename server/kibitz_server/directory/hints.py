"""Hints: a bot's move for the person to act in a running match.

A match has hints if it is unrated and hides nothing: neither the game nor a delay for spectators
hides the position, and its last move is on disk. So a hint tells no one more than the board does. A
process of its own finds the move, as for an analysis (`analyses`).
"""

from __future__ import annotations

from collections.abc import Mapping

from kibitz_server.directory.analyses import AnalysisFailed
from kibitz_server.match.checkpoint import Checkpoints
from kibitz_server.match.runner import MatchRunner
from kibitz_server.match.state import MatchState

CODE = "hint"
"""Takes the place of the digest of the code in the checkpoint for the process."""


class Hints:
    """The turns of a server's matches for which people may request a hint."""

    def __init__(self, matches: Mapping[str, MatchRunner]) -> None:
        self._matches = matches
        self._checkpoints = Checkpoints(CODE)

    def turn(self, match: str) -> str | None:
        """Return the key of a match's current turn, None if it has no hint."""
        runner = self._matches.get(match)
        if runner is None or not runner.pending.durable_to_tail:
            return None
        return _turn(runner.engine.state)

    def position(self, turn: str) -> bytes:
        """Return the position of a turn: a line with the setup, then a checkpoint.

        Raises `AnalysisFailed` if the turn is over.
        """
        match = turn.partition("@")[0]
        if self.turn(match) != turn:
            raise AnalysisFailed("the turn is over")
        state = self._matches[match].engine.state
        setup = state.setup.model_dump_json(exclude_none=True)
        return f"{setup}\n".encode() + self._checkpoints.write(state, "")


def _turn(state: MatchState) -> str | None:
    if state.result is not None or state.setup.rated or state.game.info.hidden:
        return None
    spectating = state.setup.spectating
    if spectating.mode == "off" or spectating.delay_plies or spectating.delay_ms:
        return None
    if state.players[state.to_act].kind != "human":
        return None  # bots must not get moves from the server
    return f"{state.setup.match}@{state.ply}"
