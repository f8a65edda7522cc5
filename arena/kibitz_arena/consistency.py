"""Validation across the values of a tournament, beyond what each model checks."""

from __future__ import annotations

from collections.abc import Iterator

from kibitz_arena import block_design, claims
from kibitz_arena.config_error import ConfigProblem, suggestion
from kibitz_arena.tournament import MAX_GAMES, SOURCES, Tournament


def consistency_problems(tournament: Tournament) -> Iterator[ConfigProblem]:
    yield from _entrant_problems(tournament)
    yield from _format_problems(tournament)
    yield from _count_problems(tournament)
    yield from _stop_problems(tournament)
    yield from _claim_problems(tournament)
    if len(tournament.entrants) >= tournament.seats and tournament.challengers < len(
        tournament.entrants
    ):
        yield from _size_problems(tournament)
    if tournament.anchors and tournament.ratings.mean:
        yield ConfigProblem(("ratings", "mean"), "a mean cannot be combined with anchors")


def _entrant_problems(tournament: Tournament) -> Iterator[ConfigProblem]:
    seen: set[str] = set()
    for index, entrant in enumerate(tournament.entrants):
        given = [source for source in SOURCES if getattr(entrant, source) is not None]
        if len(given) != 1:
            named = " and ".join(given) or "none"
            text = f"expected exactly one of {', '.join(SOURCES)}, found {named}"
            yield ConfigProblem(("entrants", index), text)
        if entrant.name.casefold() in seen:
            yield ConfigProblem(("entrants", index, "name"), f"duplicate name {entrant.name!r}")
        seen.add(entrant.name.casefold())
        if entrant.seeding is not None and tournament.format != "swiss":
            yield ConfigProblem(("entrants", index, "seeding"), "only valid with format: swiss")
        for key in ("limits", "token_file"):
            if entrant.remote and getattr(entrant, key) is not None:
                text = "not allowed for remote entrants"
                yield ConfigProblem(("entrants", index, key), text)
    yield from _seeding_problems(tournament)


def _seeding_problems(tournament: Tournament) -> Iterator[ConfigProblem]:
    places = [entrant.seeding for entrant in tournament.entrants]
    for index, place in enumerate(places):
        if place is not None and place in places[:index]:
            yield ConfigProblem(("entrants", index, "seeding"), f"duplicate place {place}")


def _format_problems(tournament: Tournament) -> Iterator[ConfigProblem]:
    count = len(tournament.entrants)
    if tournament.format == "free-for-all":
        if tournament.seats < 3:
            text = "expected 3 to 6 seats with format: free-for-all, found 2"
            yield ConfigProblem(("seats",), f"{text}; for 2 use round-robin")
        elif count < tournament.seats:
            yield ConfigProblem(
                ("entrants",), f"expected at least {tournament.seats}, one per seat, found {count}"
            )
    elif tournament.seats != 2:
        text = f"expected 2 with format: {tournament.format}, found {tournament.seats}"
        yield ConfigProblem(("seats",), f"{text}; for more use free-for-all")
    if tournament.format == "gauntlet" and tournament.challengers >= count:
        text = f"expected fewer than the {count} entrants, found {tournament.challengers}"
        yield ConfigProblem(("challengers",), text)
    if tournament.format != "gauntlet" and tournament.challengers != 1:
        yield ConfigProblem(("challengers",), "only valid with format: gauntlet")
    if tournament.format == "swiss" and tournament.rounds is None:
        enough = (count - 1).bit_length()
        yield ConfigProblem(
            ("rounds",), f"expected the number of rounds, such as {enough} for {count} entrants"
        )
    if tournament.format != "swiss" and tournament.rounds is not None:
        yield ConfigProblem(
            ("rounds",), "only valid with format: swiss; for other formats use blocks"
        )


def _count_problems(tournament: Tournament) -> Iterator[ConfigProblem]:
    games, seats = tournament.games, tournament.seats
    if games is None:
        if not tournament.balanced:
            yield ConfigProblem(("balanced",), "false requires games; blocks are always complete")
        return
    if tournament.blocks is not None:
        yield ConfigProblem(("games",), "expected blocks or games, not both")
    elif games % seats and tournament.balanced:
        near = [n for n in (games - games % seats, games - games % seats + seats) if n]
        text = f"expected a multiple of the {seats} seats ({' or '.join(map(str, near))})"
        yield ConfigProblem(("games",), f"{text} or balanced: false, found {games}")


def _size_problems(tournament: Tournament) -> Iterator[ConfigProblem]:
    games = _group_count(tournament) * tournament.games_per_pairing
    if games > MAX_GAMES:
        path = "blocks" if tournament.games is None else "games"
        yield ConfigProblem(
            (path,), f"expected at most {MAX_GAMES:,} games in total, found {games:,}"
        )


def _group_count(tournament: Tournament) -> int:
    """Return the number of pairings or groups."""
    count, first = len(tournament.entrants), tournament.challengers
    match tournament.format:
        case "round-robin":
            return count * (count - 1) // 2
        case "gauntlet":
            return first * (count - first)
        case "swiss":
            return (tournament.rounds or 0) * (count // 2)
        case "free-for-all":
            return len(block_design.design_groups(count, tournament.seats, tournament.base_seed))


def _stop_problems(tournament: Tournament) -> Iterator[ConfigProblem]:
    if tournament.stop is None:
        return
    for index, name in enumerate(tournament.stop.better):
        if name not in tournament.names:
            text = f"unknown entrant {name!r}{suggestion(name, tournament.names)}"
            yield ConfigProblem(("stop", "better", index), text)
    if tournament.stop.elo1 <= tournament.stop.elo0:
        text = f"expected more than elo0 ({tournament.stop.elo0:g}), found {tournament.stop.elo1:g}"
        yield ConfigProblem(("stop", "elo1"), text)
    if not _meet_every_cycle(tournament, *tournament.stop.better):
        yield ConfigProblem(("stop", "better"), "expected two entrants who meet in every cycle")


def _claim_problems(tournament: Tournament) -> Iterator[ConfigProblem]:
    for index, text in enumerate(tournament.claims):
        for name in claims.parse(text).names:
            if name not in tournament.names:
                sentence = f"unknown entrant {name!r}{suggestion(name, tournament.names)}"
                yield ConfigProblem(("claims", index), sentence)


def _meet_every_cycle(tournament: Tournament, a: str, b: str) -> bool:
    if a == b or tournament.format == "swiss":
        return False
    first = tournament.names[: tournament.challengers]
    return tournament.format != "gauntlet" or (a in first) != (b in first)
