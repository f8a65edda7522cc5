"""Opens lobbies, after checking the requests of hosts against limits, games and options."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from pydantic import ValidationError

from kibitz_games.core.game import Game, GameError, InvalidSetup
from kibitz_protocol import printable
from kibitz_protocol.wire.explain import first_problem
from kibitz_protocol.wire.lobbies import Arrangement, LobbySettings, ProgrammeItem
from kibitz_protocol.wire.records import BranchStart, Player
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.values import seed_number
from kibitz_server.accounts.identity import Identity
from kibitz_server.accounts.sign_in import Accounts
from kibitz_server.directory.directory import Directory
from kibitz_server.directory.match_setup import utc_now
from kibitz_server.directory.rated import standard_options
from kibitz_server.lobby import rated_conditions
from kibitz_server.lobby.engine import LobbyEngine
from kibitz_server.lobby.entries import Opened
from kibitz_server.lobby.rated_conditions import RatedPlan
from kibitz_server.lobby.runner import LobbyContext, LobbyRunner
from kibitz_server.lobby.settings import (
    SettingsProblem,
    house_bots_problem,
    house_seats,
    item_problem,
    settings_problem,
)
from kibitz_server.lobby.state import LobbyState
from kibitz_server.net.connections import counted_address
from kibitz_server.net.peer import Peer
from kibitz_server.storage.streams import Stream

MAX_KINDS: Final = 32
"""The number of different games and options that one request may name. The server starts a trial
match of each.
"""
KIND_COST: Final = 1.0
"""The rate-limit cost of each different game or options after the first."""
_KEY_LETTERS = "bcdfghjkmnpqrstvwxz23456789"
"""No vowels and no look-alikes, because people read lobby keys aloud to each other."""
_KEY_LENGTH = 6
_LONG_KEY_LENGTH = 8
"""The length of keys if the store cannot look up closed lobbies or those of other nodes. They are
long enough that no key repeats by chance."""


class Hosting:
    """Opens lobbies. Each check returns a refusal's code and a sentence, or None if it passes."""

    def __init__(
        self,
        directory: Directory,
        games: Mapping[str, Game],
        accounts: Accounts,
        context: LobbyContext,
        ready: Callable[[], bool],
    ) -> None:
        """`ready` returns whether new matches may start."""
        self._directory = directory
        self.games = games
        self._accounts = accounts
        self._context = context
        self.ready = ready

    def host_problem(
        self, settings: LobbySettings, identity: Identity, peer: Peer
    ) -> SettingsProblem | None:
        """Return why the player cannot open a lobby with these settings, or None."""
        problem = self.limits_problem(settings, identity, peer)
        if problem is not None:
            return problem
        if not all(map(printable.is_safe, settings.name)):
            return Code.BAD_OPTION, "settings.name: expected printable characters"
        started: set[str] = set()
        for index, item in enumerate(settings.programme):
            problem = self._game_problem(item, f"settings.programme.{index}", started)
            if problem is not None:
                return problem
        balanced = {name for name, game in self.games.items() if game.info.balanced}
        return settings_problem(settings, balanced) or house_bots_problem(
            settings, self._context.house_bots.catalog
        )

    def limits_problem(
        self, settings: LobbySettings, identity: Identity, peer: Peer
    ) -> SettingsProblem | None:
        """Return the limit that another lobby would exceed, or why it cannot be rated, or None."""
        if not self.ready():
            return Code.UNAVAILABLE, "the server cannot start anything new at the moment"
        full = self._quota_problem(settings, identity, peer)
        if full is not None:
            return Code.LIMIT, full
        problem = self.rated_problem(settings, account=identity.account)
        if problem is not None:
            return problem
        most = self._context.connections.quotas.matches_a_lobby
        if settings.at_once > most:
            return Code.LIMIT, (
                f"settings.at_once: at most {most} matches of a lobby can run at the same time on"
                f" this server, got {settings.at_once}"
            )
        return None

    def rated_problem(
        self,
        settings: LobbySettings,
        *,
        account: bool,
        arranged: Sequence[tuple[str, ProgrammeItem]] = (),
    ) -> SettingsProblem | None:
        """Return why matches with these settings cannot be rated; None if there is no problem."""
        standard = partial(standard_options, self.games)
        return rated_conditions.rated_problem(RatedPlan(settings, account, standard, arranged))

    def rematch_problem(self, lobby: LobbyState) -> SettingsProblem | None:
        """Return why a rematch cannot be rated, or None.

        An earlier release may have accepted settings that are refused now.
        """
        account = self._accounts.is_account(lobby.host.player)
        return self.rated_problem(lobby.settings, account=account)

    def charge_opening(self, peer: Peer, identity: Identity, request: int) -> bool:
        """Charge for opening a lobby; if that fails, refuse the request."""
        wait_ms = self._context.connections.charge_opening(peer, identity)
        return not peer.must_wait(request, wait_ms, "too many lobbies were opened")

    def _quota_problem(self, settings: LobbySettings, identity: Identity, peer: Peer) -> str | None:
        """Return the limit that another lobby with these settings would exceed, or None.

        The player's own limits apply across all nodes, the others only on this machine.
        """
        everybodys = list(self._directory.registry.lobbies.values())
        address = counted_address(peer)
        mine = [lobby for lobby in everybodys if lobby.engine.state.host.player == identity.key]
        near = [
            lobby
            for lobby in everybodys
            if address is not None and lobby.engine.state.opened.address == address
        ]
        own = [*_house_seats(mine), *self._house_seats_elsewhere(identity)]
        quotas, bots = self._context.connections.address_quotas(peer), house_seats(settings)
        for seats, most, most_bots, whose in (
            (own, quotas.lobbies, quotas.house_bots, "of yours"),
            (
                _house_seats(near),
                quotas.lobbies_an_address,
                quotas.house_bots_an_address,
                "from your address",
            ),
            (
                _house_seats(everybodys),
                quotas.lobbies_in_all,
                quotas.house_bots_in_all,
                "on this server",
            ),
        ):
            if len(seats) >= most:
                return f"{len(seats)} lobbies {whose} are open, which is the limit"
            there = sum(seats)
            if bots and there + bots > most_bots:
                return (
                    f"{there} house bots {whose} have seats, and {bots} more would exceed the limit"
                    f" of {most_bots}"
                )
        return None

    def _house_seats_elsewhere(self, identity: Identity) -> list[int]:
        """Return the number of house seats in each open lobby of the player on other nodes."""
        lines, here = (
            self._directory.others.hosted_by(identity.key),
            self._directory.registry.lobbies,
        )
        return [line.house_seats for line in lines if line.lobby not in here]

    def _game_problem(
        self, item: ProgrammeItem, path: str, started: set[str]
    ) -> SettingsProblem | None:
        """Return why a match cannot start. Only the game knows, so this starts a trial match.

        `started` contains the kinds of match that this request has already tried.
        """
        flaw = item.time_control.flaw
        if flaw is not None:
            return Code.BAD_OPTION, f"{path}.time_control: {flaw}"
        kind = _kind(item)
        if kind in started:
            return None
        started.add(kind)
        game = self.games.get(item.game)
        if game is None:
            return Code.UNKNOWN_GAME, f"{path}.game: no game {item.game!r} on this server"
        try:
            options = game.Options.from_wire(item.options)
            seed = seed_number(item.seed or 0)
            game.start(options, item.seats, game.deal(options, item.seats, seed))
        except ValidationError as error:
            return Code.BAD_OPTION, first_problem(error, path, "options")
        except InvalidSetup as error:
            code = Code.BAD_SEATS if error.path == "seats" else Code.BAD_OPTION
            return code, f"{path}.{error}"
        except GameError as error:
            return Code.BAD_OPTION, f"{path}: {error}"
        return None

    def arrangement_problem(
        self, lobby: LobbyState, matches: Sequence[Arrangement]
    ) -> SettingsProblem | None:
        """Return why a match cannot be arranged; matches that exist already are not checked."""
        new = [
            (f"matches.{index}.item", match.item)
            for index, match in enumerate(matches)
            if lobby.settings.rated and match.tag not in lobby.round.tags
        ]
        account = bool(new) and self._accounts.is_account(lobby.host.player)
        problem = self.rated_problem(lobby.settings, account=account, arranged=new) if new else None
        if problem is not None:
            return problem
        started: set[str] = set()
        for index, match in enumerate(matches):
            if match.tag in lobby.round.tags:
                continue
            path = f"matches.{index}.item"
            problem = self._game_problem(match.item, path, started) or item_problem(
                match.item, path, lobby.settings, self._context.house_bots.catalog
            )
            if problem is not None:
                return problem
        return None

    # --- opening ------------------------------------------------------------------------------

    def open(
        self,
        host: Player,
        settings: LobbySettings,
        peer: Peer,
        request: int,
        *,
        seek_s: int | None = None,
        start: BranchStart | None = None,
    ) -> LobbyRunner:
        """Open a lobby with valid settings, answer its host, and return the lobby.

        `start` has the first plies of its match if the settings name a branch. `seek_s` is the
        number of seconds that a seek waits; None for any other lobby.
        """
        games = dict.fromkeys(item.game for item in settings.programme)
        opened = Opened(
            lobby=self._new_key(),
            host=host,
            settings=settings,
            invite=secrets.token_urlsafe(6),
            created=utc_now(),
            seed=secrets.randbits(256),
            seek_s=seek_s,
            start=start,
            address=counted_address(peer),
            hidden=[name for name in games if self.games[name].info.hidden],
            balanced=[name for name in games if self.games[name].info.balanced],
            drawn=settings.rated,
            request=peer.request_key(request),
        )
        context = self._context
        engine, step = LobbyEngine.new(
            opened,
            context.clock(),
            limits=context.connections.rate_limits,
            room=context.room,
        )
        head = opened.model_dump_json().encode()
        lobby = LobbyRunner(context, engine, LobbyState(opened), Stream(0, opened.lobby, "lobby"))
        context.store.create(lobby.stream, head, owner=None, waiter=lobby)
        self._directory.registry.add_lobby(lobby)
        lobby.open(step, peer, request)
        return lobby

    def _new_key(self) -> str:
        store = self._context.store
        while True:
            length = _KEY_LENGTH if store.remembers_closed else _LONG_KEY_LENGTH
            key = "".join(secrets.choice(_KEY_LETTERS) for _ in range(length))
            if key not in self._directory.registry.lobbies and not store.exists(key):
                return key


def charge_kinds(peer: Peer, request: int, items: Iterable[ProgrammeItem]) -> bool:
    """Charge a request for the trial matches that the server starts.

    Returns whether the charge succeeded; otherwise the request is refused.
    """
    kinds = len(set(map(_kind, items)))
    if kinds > MAX_KINDS:
        message = (
            f"one request may name at most {MAX_KINDS} different games and options, not {kinds}"
        )
        peer.refuse(request, Code.LIMIT, message, hint="split it into several requests")
        return False
    return kinds < 2 or peer.charge(KIND_COST * (kinds - 1), request)


def _kind(item: ProgrammeItem) -> str:
    """Return everything except the seed that determines whether a match can start."""
    return item.model_dump_json(include={"game", "options", "seats"})


def _house_seats(lobbies: Iterable[LobbyRunner]) -> list[int]:
    """Return, for each lobby, the number of seats that house bots play."""
    return [house_seats(lobby.engine.state.settings) for lobby in lobbies]
