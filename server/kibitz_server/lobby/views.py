"""The views of a lobby and its matches for lists, the host, members and spectators. Pure.

Only the host sees the seeds that it put into the programme, and only the host and the members see
the invite code.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kibitz_protocol.wire.lobbies import (
    HouseSeat,
    HouseTrouble,
    LobbyBrief,
    LobbySettings,
    LobbyView,
    MatchBrief,
    Member,
)
from kibitz_protocol.wire.records import Player, Result
from kibitz_server.lobby.seats import SeatedMember
from kibitz_server.lobby.seeks import terms_of
from kibitz_server.lobby.state import LobbyState


def lobby_view(
    state: LobbyState,
    viewer: str | None,
    shared: Mapping[str, Any],
    *,
    plies: Mapping[str, int] | None = None,
) -> LobbyView:
    """Return the lobby as `viewer` may see it; None is a spectator. `shared` is the lobby's
    `changing_part`, and `plies` are the plies of the running matches.
    """
    return LobbyView(
        lobby=state.id,
        settings=_visible_settings(state, viewer),
        host=state.host.player,
        seek=state.opened.seek_s is not None,
        invite=state.opened.invite if viewer is not None and state.is_insider(viewer) else None,
        live={match: match_brief(state, match, plies=plies) for match in state.round.running},
        **shared,
    )


def changing_part(state: LobbyState, connected: Collection[str], spectators: int) -> dict[str, Any]:
    """Return the fields of a `LobbyView` that patches may change; all viewers get the same."""
    current = state.round
    return {
        "state": state.phase,
        "round": current.number,
        "members": {
            seated.player.player: member(seated, connected) for seated in state.seats.by_seat()
        },
        "spectators": spectators,
        "planned": current.planned,
        "done": current.done,
        "void": current.void,
        "stopped": current.stopped,
        "house_trouble": house_trouble(state),
        "standings": {line.player: line for line in current.standings.lines(ranked_players(state))},
    }


def lobby_brief(state: LobbyState) -> LobbyBrief:
    """Return the lobby's line in a list."""
    settings = state.settings
    return LobbyBrief(
        lobby=state.id,
        name=settings.name,
        host=state.host.name,
        state=state.phase,
        joinable=settings.joinable,
        watchable=settings.watchable,
        games=list(dict.fromkeys(item.game for item in state.played_items())),
        members=len(state.seats.members),
        people=sum(member.player.kind == "human" for member in state.seats.members.values()),
        places=len(settings.seats),
        seek=terms_of(state),
    )


def match_brief(
    state: LobbyState, match: str, *, plies: Mapping[str, int] | None = None
) -> MatchBrief:
    """Return a running match's line in a list; raises `KeyError` for other matches."""
    planned = state.round.running[match]
    return MatchBrief(
        match=match,
        lobby=state.id,
        number=planned.number,
        block=planned.block,
        game=planned.item.game,
        seats=list(planned.players),
        ply=(plies or {}).get(match, 0),
        time_control=planned.item.time_control,
        watchable=_shows_matches(state.settings),
        tag=planned.tag,
    )


def arranged_briefs(
    state: LobbyState, tags: Sequence[str], *, plies: Mapping[str, int] | None = None
) -> list[MatchBrief | None]:
    """Return the status of the arranged matches with these tags; None for a waiting match.

    The seats name the original players, even if substitutes have replaced them. Raises
    `KeyError` for a tag that was not arranged.
    """
    running = {planned.number: match for match, planned in state.round.running.items()}
    briefs: list[MatchBrief | None] = []
    for tag in tags:
        number = state.round.tags[tag]
        if number in running:
            briefs.append(match_brief(state, running[number], plies=plies))
        else:
            briefs.append(_settled_brief(state, number, tag))
    return briefs


def _settled_brief(state: LobbyState, number: int, tag: str) -> MatchBrief | None:
    settled = state.round.settled.get(number)
    if settled is None:
        return None
    result = None if settled.result is None else Result.model_validate_json(settled.result)
    return MatchBrief(
        match=settled.match,
        lobby=state.id,
        number=number,
        game=settled.item.game,
        seats=list(settled.players),
        ply=0 if result is None else result.plies,
        time_control=settled.item.time_control,
        watchable=_shows_matches(state.settings),
        result=result,
        tag=tag,
        void=result is None,
    )


def house_trouble(state: LobbyState) -> list[HouseTrouble]:
    """Return the failures of house bots in this round, by seat."""
    failures = []
    for seat, reasons in sorted(state.seats.failures.by_seat.items()):
        spec = state.settings.seats[seat]
        assert isinstance(spec, HouseSeat), "only a house seat's bot fails"
        failures.append(
            HouseTrouble(
                seat=seat,
                personality=spec.personality,
                failures=len(reasons),
                reason=reasons[-1],
                given_up=seat in state.seats.abandoned,
            )
        )
    return failures


def _shows_matches(settings: LobbySettings) -> bool:
    return settings.watchable and settings.spectating.mode != "off"


def _visible_settings(state: LobbyState, viewer: str | None) -> LobbySettings:
    if viewer == state.host.player:
        return state.settings
    items = [item.model_copy(update={"seed": None}) for item in state.settings.programme]
    return state.settings.model_copy(update={"programme": items})


def member(seated: SeatedMember, connected: Collection[str]) -> Member:
    """Return a member as shown to clients."""
    engine = seated.capabilities.engine
    return Member(
        player=seated.player.player,
        name=seated.player.name,
        kind=seated.player.kind,
        seat=seated.seat,
        ready=seated.ready,
        connected=seated.player.player in connected,
        version="" if engine is None else engine.version,
    )


def ranked_players(state: LobbyState) -> Sequence[Player]:
    """Return the players in the standings: everybody who was a member during the round."""
    if state.round.started:
        return state.round.roster
    return [member.player for member in state.seats.by_seat()]
