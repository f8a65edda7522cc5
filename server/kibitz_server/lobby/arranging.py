"""The rules for arranging matches. Pure; every check raises `Refusal`.

A match is identified by its tag. If a request contains the tag of an existing match, the match is
not played again; the answer has its status.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kibitz_protocol.wire.lobbies import Arrangement
from kibitz_protocol.wire.refusals import Code
from kibitz_server.lobby.capabilities import unable_reason
from kibitz_server.lobby.commands import Arrange, Refusal
from kibitz_server.lobby.entries import ArrangedMatch
from kibitz_server.lobby.schedule import arranged_seed
from kibitz_server.lobby.state import LobbyState

MAX_MATCHES = 20_000
"""Maximum number of matches in a programme, or arranged in a lobby."""


def new_arrangements(state: LobbyState, command: Arrange) -> list[Arrangement]:
    """Return the matches with new tags, after checking that they can be played."""
    if not state.settings.arranged:
        raise Refusal(
            Code.WRONG_STATE,
            f"the lobby {state.settings.name!r} plays a programme; matches are arranged in"
            " one that was opened with arranged=true",
        )
    _require_distinct_tags(command.matches)
    fresh = [match for match in command.matches if match.tag not in state.round.tags]
    if fresh:
        _require_accepts_matches(state, len(fresh))
    for match in fresh:
        _require_playable(state, match)
    return fresh


def arranged_match(
    state: LobbyState, wanted: Arrangement, hidden: Collection[str]
) -> ArrangedMatch:
    """Return the match with its seed; `hidden` names the games with hidden information."""
    item, tag = wanted.item, wanted.tag
    seed = arranged_seed(item, tag, state.round.seed, hidden, drawn=state.opened.drawn)
    return ArrangedMatch(tag=tag, item=item, players=wanted.players, seed=seed)


def _require_distinct_tags(matches: Sequence[Arrangement]) -> None:
    seen: set[str] = set()
    for index, match in enumerate(matches):
        if match.tag in seen:
            raise Refusal(
                Code.BAD_OPTION, f"matches.{index}.tag: {match.tag!r} is used twice in this request"
            )
        seen.add(match.tag)


def _require_accepts_matches(state: LobbyState, more: int) -> None:
    if state.closing:
        raise Refusal(Code.WRONG_STATE, "the lobby is closing; no more matches can be arranged")
    if state.phase != "running":
        raise Refusal(
            Code.WRONG_STATE,
            f"matches can be arranged only after the lobby has started; it is {state.phase}",
        )
    if state.round.planned + more > MAX_MATCHES:
        raise Refusal(
            Code.LIMIT,
            f"at most {MAX_MATCHES} matches can be arranged in a lobby; with these {more} there"
            f" would be {state.round.planned + more}",
        )


def _require_playable(state: LobbyState, wanted: Arrangement) -> None:
    """Refuse a match whose players are too few, too many, repeated, or unable to play it."""
    item, players = wanted.item, wanted.players
    if len(players) != item.seats:
        raise Refusal(
            Code.BAD_SEATS,
            f"match {wanted.tag!r}: expected a player for each of its {item.seats} seats,"
            f" got {len(players)}",
        )
    if len(set(players)) < len(players):
        raise Refusal(
            Code.BAD_SEATS,
            f"match {wanted.tag!r}: a player cannot have two of its seats: {players}",
        )
    for player in players:
        _require_able_member(state, wanted, player)


def _require_able_member(state: LobbyState, wanted: Arrangement, player: str) -> None:
    member = state.seats.members.get(player)
    if member is None:
        raise Refusal(
            Code.NO_SUCH_PLAYER, f"match {wanted.tag!r}: not a member of this lobby: {player!r}"
        )
    reason = unable_reason(wanted.item, member.capabilities)
    if reason:
        raise Refusal(
            Code.BAD_SEATS,
            f"match {wanted.tag!r}: {member.player.name!r} cannot play it: {reason}",
        )
