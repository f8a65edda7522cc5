"""Sample results: an unfinished league, a six-player melee, a Swiss tournament, hostile names.

The games are drawn from a seed, so results are reproducible. Ratings are the strengths used for
drawing the games, because only the display of results is tested here.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kibitz_arena.game_line import TERMINATION_OF, GameLine, Termination
from kibitz_arena.results import EntrantStanding, HeadToHead, Results, TournamentInfo
from kibitz_arena.sprt import SprtResult
from kibitz_arena.tournament import Format
from kibitz_protocol.wire.records import Cause
from kibitz_protocol.wire.values import Options

HOSTILE = "<script>alert('x')</script>"
STRENGTHS = {
    "Ada Lovelace": 212.0,
    "greedy-hand": 131.4,
    "minimax-4": 84.0,
    "Zoë": 20.5,
    "team_rocket": -12.0,
    "random-walk": -95.2,
    "The Unreasonably Long Name Of It": -130.0,
    "棋手": -210.7,
}


@dataclass(frozen=True)
class Draw:
    """A drawn game: its seats, block, rotation and round."""

    block: str
    turn: int
    players: tuple[str, ...]
    round: int | None = None

    @property
    def tag(self) -> str:
        return f"{self.block}.{self.turn}"


@dataclass(frozen=True)
class Sample:
    """The properties of a tournament; `results` plays it."""

    name: str
    strengths: Mapping[str, float]
    draws: Sequence[Draw]
    seats: int = 2
    format: Format = "round-robin"
    game: str = "chinese-checkers"
    options: Options | None = None
    clock: str = "10+0.1"
    played: int | None = None
    anchors: frozenset[str] = frozenset()
    byes: Mapping[str, int] | None = None
    faults: Mapping[int, Cause] | None = None
    """Why the last seat of a game dropped out, by game number."""

    def results(self, **more: object) -> Results:
        """Return the results after `played` games; `more` are fields of `Results`."""
        games = [*self._games()]
        names = sorted(self.strengths, key=lambda name: -self.strengths[name])
        facts: dict[str, object] = {
            "event": self._facts(),
            "standings": [self._standing(name, games) for name in names],
            "crosstable": [[_pair(a, b, games) for b in names] for a in names],
            "games": games,
            "planned": len(self.draws),
            "played": len(games),
            "finished": len(games) == len(self.draws),
            "interruptions": 0,
            "requeued": 0,
            "seconds": 13.2 * len(games),
        }
        return Results.model_validate(facts | more)

    def _facts(self) -> TournamentInfo:
        return TournamentInfo(
            name=self.name,
            game=self.game,
            options=self.options or {},
            seats=self.seats,
            time_control=self.clock,
            format=self.format,
            seed=7,
            hash="5e" * 32,
        )

    def _games(self) -> Iterator[GameLine]:
        rng = random.Random(self.name)
        for number, draw in enumerate(self.draws[: self.played]):
            fault = (self.faults or {}).get(number)
            yield self._game(draw, fault, rng)

    def _game(self, draw: Draw, fault: Cause | None, rng: random.Random) -> GameLine:
        places = self._places(draw.players, rng)
        causes: list[Cause | None] = [None] * len(places)
        if fault is not None:
            places = [min(place, len(places) - 1) for place in places[:-1]] + [len(places)]
            causes[-1] = fault
        cause = fault if fault and len(places) == 2 else Cause.RULES
        return GameLine(
            tag=draw.tag,
            block=draw.block,
            round=draw.round,
            match=f"m{rng.randrange(16**8):08x}",
            players=[*draw.players],
            places=places,
            causes=causes,
            cause=cause,
            termination=TERMINATION_OF[cause],
            reason="" if cause is fault else "repetition" if len({*places}) == 1 else "goal",
            plies=rng.randrange(40, 160),
            used_ms=[rng.randrange(2000, 11000) for _ in places],
            record=f"records/{draw.tag}.jsonl",
        )

    def _places(self, players: Sequence[str], rng: random.Random) -> list[int]:
        if len(players) == 2 and rng.random() < 0.12:
            return [1, 1]
        form = [self.strengths[name] / 174 - math.log(rng.expovariate(1)) for name in players]
        return [1 + sum(other > own for other in form) for own in form]

    def _standing(self, name: str, games: Sequence[GameLine]) -> EntrantStanding:
        mine = [(game, game.players.index(name)) for game in games if name in game.players]
        places = [sorted(game.places) for game, _ in mine]
        own = [game.places[seat] for game, seat in mine]
        causes = Counter(cause for game, seat in mine if (cause := game.causes[seat]))
        ends = Counter[Termination](
            TERMINATION_OF[game.causes[seat] or Cause.RULES] for game, seat in mine
        )
        wins = sum(
            place == 1 and all_.count(1) == 1 for place, all_ in zip(own, places, strict=True)
        )
        byes = (self.byes or {}).get(name, 0)
        rating, reach = (
            self.strengths[name],
            0 if name in self.anchors else 380 / math.sqrt(len(mine) or 1),
        )
        return EntrantStanding(
            name=name,
            what=f"bot bots/{name.split()[0].lower()}.py",
            games=len(mine),
            wins=wins,
            draws=own.count(1) - wins,
            losses=len(mine) - own.count(1),
            mean_place=_mean_place(own, places),
            points=sum(_share(game, seat) for game, seat in mine) + 2 * byes,
            byes=byes,
            rating=rating if mine else None,
            low=rating - reach if mine else None,
            high=rating + reach if mine else None,
            anchor=name in self.anchors,
            used_ms=sum((game.used_ms or [])[seat] for game, seat in mine),
            causes=dict(causes),
            terminations=dict(ends),
        )


def _share(game: GameLine, seat: int) -> float:
    own = game.places[seat]
    beaten = sum((own < place) + 0.5 * (own == place) for place in game.places) - 0.5
    return beaten / (len(game.places) - 1)


def _mean_place(own: Sequence[int], places: Sequence[Sequence[int]]) -> float | None:
    """Return the mean place; tied entrants share the mean of their places."""
    shared = [place + (all_.count(place) - 1) / 2 for place, all_ in zip(own, places, strict=True)]
    return sum(shared) / len(shared) if shared else None


def _pair(a: str, b: str, games: Sequence[GameLine]) -> HeadToHead | None:
    if a == b:
        return None
    met = [
        (game.places[game.players.index(a)], game.places[game.players.index(b)])
        for game in games
        if a in game.players and b in game.players
    ]
    return HeadToHead(
        games=len(met),
        wins=sum(one < other for one, other in met),
        draws=sum(one == other for one, other in met),
        losses=sum(one > other for one, other in met),
    )


def _rotations(block: str, group: Sequence[str], round: int | None = None) -> Iterator[Draw]:
    for turn in range(len(group)):
        yield Draw(block, turn + 1, (*group[turn:], *group[:turn]), round)


def _blocks(groups: Sequence[Sequence[str]], cycles: int) -> list[Draw]:
    numbers = itertools.count(1)
    return [
        draw
        for _ in range(cycles)
        for group in groups
        for draw in _rotations(f"b{next(numbers)}", group)
    ]


def league() -> Results:
    """Eight entrants in an unfinished round robin; some games failed."""
    faults = {
        11: Cause.TIME,
        40: Cause.TIME,
        90: Cause.ILLEGAL,
        133: Cause.CRASH,
        170: Cause.DISCONNECT,
        201: Cause.TIME,
        220: Cause.RESIGNATION,
    }
    sample = Sample(
        name="spring-final",
        strengths=STRENGTHS,
        draws=_blocks([*itertools.combinations(STRENGTHS, 2)], 5),
        options={"board": "small"},
        played=252,
        faults=faults,
    )
    verdict = SprtResult(
        better=("greedy-hand", "minimax-4"),
        elo0=0,
        elo1=40,
        alpha=0.05,
        beta=0.05,
        state="running",
        llr=1.204,
        lower=-2.944,
        upper=2.944,
        blocks=5,
        score=0.575,
    )
    return sample.results(sequential=verdict, interruptions=2, requeued=3)


def melee() -> Results:
    """Six entrants in six-player games, finished; an anchor fixes the scale."""
    strengths = {name: STRENGTHS[name] for name in [*STRENGTHS][:6]}
    return Sample(
        name="six-way melee",
        strengths=strengths,
        draws=_blocks([(*strengths,)], 5),
        seats=6,
        format="free-for-all",
        anchors=frozenset({"random-walk"}),
        faults={4: Cause.TIME, 17: Cause.CRASH},
    ).results()


def swiss() -> Results:
    """Five entrants in three rounds, with one bye per round."""
    names = [*STRENGTHS][:5]
    rounds = [((0, 1), (2, 3)), ((0, 2), (1, 4)), ((0, 3), (4, 2))]
    draws = [
        draw
        for number, pairs in enumerate(rounds, 1)
        for index, pair in enumerate(pairs, 1)
        for draw in _rotations(f"r{number}.b{index}", [names[each] for each in pair], number)
    ]
    byes = {names[4]: 1, names[3]: 1, names[1]: 1}
    return Sample(
        name="club night",
        strengths={name: STRENGTHS[name] for name in names},
        draws=draws,
        format="swiss",
        byes=byes,
    ).results()


def crowd() -> Results:
    """More entrants than fit in a terminal's cross-table."""
    strengths = {f"student-{number:02}": 300.0 - 30 * number for number in range(1, 21)}
    return Sample(
        name="course",
        strengths=strengths,
        draws=_blocks([*itertools.combinations(strengths, 2)], 1),
    ).results()


def untouched() -> Results:
    """Return a tournament before the end of its first game."""
    return Sample(
        name="early",
        strengths=STRENGTHS,
        draws=_blocks([*itertools.combinations(STRENGTHS, 2)], 1),
        played=0,
    ).results()


def hostile() -> Results:
    """Names, a reason and a clock that act as markup unless they are escaped."""
    strengths = {HOSTILE: 50.0, 'a"b&c': 0.0, "x' onclick='y": -50.0}
    results = Sample(
        name="</title><b>",
        strengths=strengths,
        draws=_blocks([*itertools.combinations(strengths, 2)], 1),
        options={"board": "<i>"},
        played=5,
        faults={1: Cause.CRASH},
    ).results(stopped="asked: <u>now</u>")
    first = results.games[0].model_copy(update={"reason": "<em>goal</em>"})
    return results.model_copy(update={"games": [first, *results.games[1:]]})


def records(results: Results) -> dict[str, str]:
    """Return the paths of the records by tag."""
    return {game.tag: game.record for game in results.games if game.record}
