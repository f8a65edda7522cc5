"""A process that analyzes a match for a server, at the lowest priority.

``python -m kibitz.analysis.match_process URL MATCH MS FILE``
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kibitz.builtin_games import load_games
from kibitz.process.parent_death import child_command

if TYPE_CHECKING:
    from kibitz_server.directory.analyses import AnalysisCommand

NICENESS: Final = 19
"""The lowest priority, so that all other processes run first."""


def analysis_command(limits: Sequence[str] = ()) -> AnalysisCommand | None:
    """Return the command of the process, None if the searches are not installed.

    `limits` are passed to `parent_death.child_command`.
    """
    if find_spec("numba") is None:  # without it, searches are too slow for 0.1 s per move
        return None

    def command(url: str, match: str, ms: int, out: str) -> Sequence[str]:
        place = (url, match, str(ms), out)
        return child_command("kibitz.analysis.match_process", *place, limits=limits)

    return command


def hint(position: bytes, ms: int) -> str:
    """Return a bot's move in a position of a running match (`Hints.position`), as JSON."""
    from kibitz.analysis.decisive_move import strongest
    from kibitz.analysis.seated_bot import SeatedBot, prepare
    from kibitz_bots.loading import load
    from kibitz_protocol.wire.records import Setup
    from kibitz_server.directory.hints import CODE
    from kibitz_server.match.checkpoint import Checkpoints
    from kibitz_server.match.state import MatchState

    head, _, saved = position.partition(b"\n")
    setup = Setup.model_validate_json(head)
    game = load_games("compiled")[setup.game]
    checkpoint = Checkpoints(CODE).read(saved, game, setup)
    if checkpoint is None:
        raise ValueError("the position was written by another version of the server")
    match = MatchState.resume(game, setup, checkpoint.saved, checkpoint.state, ())
    factory = load(strongest(game))
    prepare(factory(), match)
    answer, _ = SeatedBot(factory(), match, match.to_act, ms, setup.match).answer(match)
    move = game.encode(match.game_state, match.decode(answer))
    return json.dumps({"action": move.to_wire(), "text": game.notation.format(move)})


def main(url: str, match: str, ms: str, out: str) -> None:
    """Write the analysis of a match to a file; print the number of evaluated moves meanwhile.

    If the file contains a position, replace it with a hint.
    """
    from kibitz.analysis import evaluation, evaluation_text
    from kibitz.analysis.decisive_move import strongest
    from kibitz.analysis.recorded_turns import game_of
    from kibitz_bots.loading import load
    from kibitz_clients.matches.fetch import fetch_record

    with contextlib.suppress(AttributeError, OSError):  # no such priorities on this system
        os.nice(NICENESS)
    if Path(out).exists():
        Path(out).write_text(hint(Path(out).read_bytes(), int(ms)), "utf-8")
        return
    record = asyncio.run(fetch_record(url, match))
    game = game_of(record, load_games("compiled"))
    by = strongest(game, valuing=True)
    evaluations = evaluation.evaluate(
        game,
        record,
        load(by),
        int(ms),
        on_move=lambda judged: sys.stdout.write(f"{judged.ply + 1}\n"),
    )
    Path(out).write_text(evaluation_text.to_json(record, evaluations, by, int(ms)), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
