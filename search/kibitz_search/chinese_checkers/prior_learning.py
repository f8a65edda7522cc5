"""The experiment ``chinese-checkers/priors``: which moves a search should try first.

Playouts and the growth of the tree follow priors of moves (`operations.move_prior`). Those of the
game, the steps gained, know nothing of what searches have found out. Here a search plays itself,
by the distances of ``learned`` without priors of their own (`learned.distances_for`), and a number
for leaving and one for entering each hole are fitted to the moves that it chose (`prior_fit`). One
game of five is held back, and says how well they foretell.

journal.jsonl   every game; a run that was ended goes on from it
best.json       the distances and the priors, for ``mcts-weights:file=best.json``
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from kibitz_search.chinese_checkers import learned, prior_fit, weights_file
from kibitz_search.chinese_checkers.prior_games import Choice, choices, play
from kibitz_search.chinese_checkers.prior_parameters import PriorParameters
from kibitz_search.training import weights
from kibitz_search.training.experiment import TrainingRun
from kibitz_search.training.journal import Journal, JournalError

JOURNAL, BEST = "journal.jsonl", "best.json"
HELD_BACK = 5
"""Every game of this number is not fitted to."""
BATCH = 10
"""Games between two writes to the journal."""
DIGITS = 3
"""To so many decimals the priors are rounded."""


def run(parameters: PriorParameters, given: TrainingRun) -> None:
    """Play, fit, and write the distances with the priors."""
    header = parameters.model_dump(exclude={"games"}) | {"seed": given.seed}
    with Journal(given.out / JOURNAL, {"game": "chinese-checkers/priors", **header}) as file:
        played = list(_games(parameters, given, file))
        file.sync()
    fitted = [each for number, game in enumerate(played) if number % HELD_BACK for each in game]
    held = [each for number, game in enumerate(played) if not number % HELD_BACK for each in game]
    priors = prior_fit.fit(prior_fit.gathered(fitted))
    likelihood = prior_fit.likelihood(prior_fit.gathered(held), priors)
    even = float(-np.mean([np.log(len(each.legal)) for each in held]))
    given.reporter.say(
        f"fitted to {len(fitted)} moves; {len(held)} others have a log probability of "
        f"{likelihood:.4f}, {even:.4f} if all moves were equal"
    )
    made = weights_file.guided(
        learned.distances_for(parameters.seats),
        np.round(priors, DIGITS),
        parameters.seats,
        command=given.command,
        seed=given.seed,
        date=datetime.now(UTC).date().isoformat(),
        package=version("kibitz"),
        notes={"games": len(played), "likelihood": round(likelihood, 4), "even": round(even, 4)},
    )
    weights.save(given.out / BEST, made)
    given.reporter.say(f"wrote {BEST} ({made.hash[:12]})")


def _games(
    parameters: PriorParameters, given: TrainingRun, file: Journal
) -> Iterator[list[Choice]]:
    """Yield the choices of each game: those of the journal without a search, and the others."""
    known = file.progress.generations
    judged = learned.distances_for(parameters.seats)

    def search(number: int) -> list[int]:
        seed = int(np.random.default_rng([given.seed, number]).integers(2**62))
        return play(parameters.seats, judged, parameters.iterations, seed)

    with ThreadPoolExecutor(given.threads) as pool:
        for first in range(0, parameters.games, BATCH):
            number, end = first // BATCH, min(first + BATCH, parameters.games)
            if number < len(known):
                games = known[number].get("games")
            else:
                games = list(pool.map(search, range(first, first + BATCH)))
                file.append({"kind": "generation", "generation": number, "games": games})
            yield from _read(file, number, parameters.seats, games)[: end - first]
            given.reporter.progress(end, parameters.games, "games")


def _read(file: Journal, number: int, seats: int, games: Any) -> list[list[Choice]]:
    """Return the choices of a batch of games, or raise `JournalError`."""
    try:
        found = [list(choices(seats, list(map(int, game)))) for game in games]
    except (TypeError, ValueError) as error:
        raise JournalError(f"{file.path}: batch {number}: {error}") from None
    if len(found) != BATCH:
        raise JournalError(f"{file.path}: batch {number}: expected {BATCH} games")
    return found
