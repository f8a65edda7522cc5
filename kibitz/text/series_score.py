"""The score of one bot in a series, in the style of engine match tools: progress and a table.

The Elo difference of two players follows from the score: ``400 log10(p / (1 - p))``. Its error is
half the width of the 95% interval of the mean score, in Elo. LOS, the likelihood of superiority, is
a normal approximation from wins and losses. The difference is infinite for a score of 0 or 1.
"""

from __future__ import annotations

import math

from kibitz_arena.pentanomial import elo_of
from kibitz_protocol import printable
from kibitz_protocol.wire.lobbies import Standing
from kibitz_protocol.wire.records import Cause
from kibitz_protocol.wire.shares import Z_95, share_interval


def progress(line: Standing, seconds: float) -> str:
    """Return one line on the state of a series after `seconds`."""
    low, high = interval(line)
    rate = line.played / seconds if seconds else 0.0
    score = f"{share(line):.0%} ({low:.0%} to {high:.0%})" if line.played else "-"
    return f"{line.name} scores {score}, {rate:.1f} games/s"


def share(line: Standing) -> float:
    """Return the points per game."""
    return line.points / line.played if line.played else 0.5


def interval(line: Standing) -> tuple[float, float]:
    """Return Wilson's 95% interval of the points per game."""
    return share_interval(share(line), line.played) if line.played else (0.0, 1.0)


def elo(line: Standing) -> tuple[float, float]:
    """Return the Elo difference and its error; both are infinite if the score is 0 or 1."""
    n, mean = line.played, share(line)
    if mean in (0, 1):
        return elo_of(mean), math.inf
    square = (line.wins + line.draws / 4) / n
    error = Z_95 * math.sqrt(max(0.0, square - mean * mean) / n)
    return elo_of(mean), (elo_of(mean + error) - elo_of(mean - error)) / 2


def superiority(line: Standing) -> float:
    """Return the likelihood that the bot is stronger than its opponents."""
    decided = line.wins + line.losses
    if not decided:
        return 0.5
    return (1 + math.erf((line.wins - line.losses) / math.sqrt(2 * decided))) / 2


def summary(line: Standing, opponents: str, game: str, seats: int) -> str:
    """Return the result of a series as text; Elo and LOS only for two-player games."""
    rows = [f"Results of {printable.line(line.name)} against {opponents} in {game}:"]
    if seats == 2 and line.played:
        difference, error = elo(line)
        rows.append(f"Elo: {difference:.1f} +/- {error:.1f}, LOS: {superiority(line):.1%}")
    low, high = interval(line)
    rows.append(
        f"Games: {line.played}, wins: {line.wins}, losses: {line.losses}, draws: {line.draws},"
        f" points: {line.points:g} ({share(line):.1%}, {low:.0%} to {high:.0%})"
    )
    others = sum(line.causes.values()) - sum(line.causes.get(cause, 0) for cause in _NAMED)
    faults = [f"{name}: {line.causes.get(cause, 0)}" for cause, name in _NAMED.items()]
    rows.append(", ".join([*faults, f"other faults: {others}"]))
    return "\n".join(rows)


def climb_step(level: int, opponent: str, line: Standing) -> str:
    """Return the score against one level of the computer as a line."""
    low, high = interval(line)
    score = f"{share(line):.0%} of {line.played} games ({low:.0%} to {high:.0%})"
    return f"level {level}, {opponent}: {score}"


def climb_summary(name: str, reached: int, levels: int) -> str:
    """Return where a bot stands that scored at least half up to the level `reached`."""
    name = printable.line(name)
    if not reached:
        return f"{name} is weaker than level 1 of {levels}"
    if reached == levels:
        return f"{name} holds its own against all {levels} levels"
    return f"{name} stands at level {reached} of {levels}: the next one beats it"


_NAMED = {Cause.TIME: "Time losses", Cause.CRASH: "crashes", Cause.ILLEGAL: "illegal moves"}
"""The causes with their own columns in the table."""
