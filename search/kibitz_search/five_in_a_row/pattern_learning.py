"""The experiment ``five-in-a-row/patterns``: class weights fitted to games and proofs.

`threat` plays itself with few positions a move; a game is over when the search has proved who
wins. Four games of five are fitted to, the fifth says how well.

journal.jsonl   every game; a run that was ended goes on from it
best.json       the weights, for ``five-in-a-row/threat-weights:file=best.json``
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from kibitz_search.five_in_a_row import pattern_fit, weights_file
from kibitz_search.five_in_a_row.pattern_games import SIZE, PlayedGame, play, positions
from kibitz_search.five_in_a_row.pattern_parameters import PatternParameters
from kibitz_search.training import weights
from kibitz_search.training.experiment import TrainingRun
from kibitz_search.training.journal import Journal, JournalError

JOURNAL, BEST = "journal.jsonl", "best.json"
HELD_BACK = 5
"""Every game of this number is not fitted to."""
BATCH = 20
"""Games between two writes to the journal."""


def run(parameters: PatternParameters, given: TrainingRun) -> None:
    """Play, fit, and write the weights."""
    header = parameters.model_dump(exclude={"games"}) | {"seed": given.seed}
    with Journal(given.out / JOURNAL, {"game": "five-in-a-row/patterns", **header}) as file:
        played = list(_games(parameters, given, file))
        file.sync()
    fitted = [game for number, game in enumerate(played) if number % HELD_BACK]
    held = [game for number, game in enumerate(played) if not number % HELD_BACK]
    scale = pattern_fit.search_scale(fitted)
    numbers = np.rint(pattern_fit.fit(*_together(fitted, scale)))
    before, after = _losses(held, numbers, scale)
    given.reporter.say(
        f"fitted to {len(fitted)} games; log loss on {len(held)} others "
        f"{before:.4f} with the usual weights, {after:.4f} with these"
    )
    made = weights_file.file_of(
        numbers.tolist(),
        command=given.command,
        seed=given.seed,
        date=datetime.now(UTC).date().isoformat(),
        package=version("kibitz"),
        notes={"games": len(played), "loss before": round(before, 4), "loss": round(after, 4)},
    )
    weights.save(given.out / BEST, made)
    given.reporter.say(f"wrote {BEST} ({made.hash[:12]})")


def _games(
    parameters: PatternParameters, given: TrainingRun, file: Journal
) -> Iterator[PlayedGame]:
    """Yield the games of a run: those of the journal without a search, and the others."""
    known = file.progress.generations
    with ThreadPoolExecutor(given.threads) as pool:
        for first in range(0, parameters.games, BATCH):
            number = first // BATCH
            if number < len(known):
                games = [_read(file, number, each) for each in known[number].get("games", [])]
            else:
                seeds = [_seed(given.seed, first + each) for each in range(BATCH)]
                games = list(pool.map(play, seeds, [parameters.nodes] * BATCH))
                lines = [_line(game) for game in games]
                file.append({"kind": "generation", "generation": number, "games": lines})
            if len(games) != BATCH:
                raise JournalError(f"{file.path}: batch {number}: expected {BATCH} games")
            yield from games
            done = min(first + BATCH, parameters.games)
            given.reporter.progress(done, parameters.games, "games")


def _seed(seed: int, number: int) -> int:
    return int(np.random.default_rng([seed, number]).integers(2**62))


def _line(game: PlayedGame) -> list[object]:
    return [game.opening, list(game.moves), list(game.values), game.result]


def _read(file: Journal, number: int, line: Any) -> PlayedGame:
    try:
        opening, moves, values, result = line
        read = tuple(map(int, moves)), tuple(map(float, values)), float(result)
        return PlayedGame(int(opening), *read)
    except (TypeError, ValueError):
        raise JournalError(f"{file.path}: batch {number}: expected games, not {line!r}") from None


def _together(games: list[PlayedGame], scale: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the positions of games, their chances, and what each of them counts."""
    parts = [positions(game, scale) for game in games]
    rows = np.concatenate([rows for rows, _ in parts] or [np.zeros((0, SIZE))])
    chances = np.concatenate([chances for _, chances in parts] or [np.zeros(0)])
    share = np.concatenate([np.full(len(rows), 1 / max(1, len(rows))) for rows, _ in parts])
    return rows, chances, share


def _losses(games: list[PlayedGame], numbers: np.ndarray, scale: float) -> tuple[float, float]:
    """Return the log loss of the usual weights and of `numbers` on games."""
    rows, chances, _ = _together(games, scale)
    usual = pattern_fit.usual_numbers()
    return pattern_fit.loss(rows, chances, usual), pattern_fit.loss(rows, chances, numbers)
