"""Stand-ins: house bots that take the seat of a player who went away.

wanted --hire--> process starts --hello--> seated
                    |                 \\--the player is back--> dismissed
                    \\--ended, or not here in time--> the seat is forfeited
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from kibitz_protocol.records import Cause, Player
from kibitz_server.accounts import Admission
from kibitz_server.house import Employee
from kibitz_server.match import WantStandIn
from kibitz_server.peer import Peer
from kibitz_server.room import HIRE_PATIENCE_S
from kibitz_server.server_clock import Deadline
from kibitz_server.table import Table


class Agency(Protocol):
    """What stand-ins need of the hall."""

    loop: AbstractEventLoop
    clock: Callable[[], int]

    def hire(
        self,
        personality: str,
        lobby: str,
        former: Player | None,
        ended: Callable[[Employee, Player], None],
    ) -> tuple[Employee, Admission]: ...

    def seat_stand_in(self, table: Table, seat: int, player: Player, cause: Cause) -> bool: ...


@dataclass(slots=True)
class Contract:
    table: Table
    want: WantStandIn
    employee: Employee
    player: Player
    seated: bool = False


class StandIns:
    """The stand-ins of a server, by player."""

    def __init__(self, agency: Agency) -> None:
        self._agency = agency
        self._contracts: dict[str, Contract] = {}

    def wanted(self, table: Table, want: WantStandIn) -> None:
        """Start a house bot for a seat."""
        lobby = table.match.setup.lobby or ""
        employee, admission = self._agency.hire(want.personality, lobby, None, self._ended)
        player = admission.identity.player
        self._contracts[player.player] = Contract(table, want, employee, player)
        clock = self._agency.clock
        due = clock() + round(HIRE_PATIENCE_S * 1000)
        Deadline(self._agency.loop, clock, due, partial(self._late, player.player))

    def expects(self, player: str) -> bool:
        """Whether somebody is, or will be, a stand-in, who is a member of no lobby."""
        return player in self._contracts

    def came(self, player: str, peer: Peer) -> None:
        """Somebody said hello: seat it if it is a stand-in."""
        contract = self._contracts.get(player)
        if contract is None or contract.seated:
            return
        want = contract.want
        contract.seated = self._agency.seat_stand_in(
            contract.table, want.seat, contract.player, want.cause
        )
        if not contract.seated:
            self._dismiss(player)

    def over(self, table: Table) -> None:
        """A match is over: its stand-ins go home."""
        for player in [key for key, each in self._contracts.items() if each.table is table]:
            self._dismiss(player)

    def moved(self, former: Table, table: Table) -> None:
        """A match was loaded again."""
        for contract in self._contracts.values():
            if contract.table is former:
                contract.table = table

    def _dismiss(self, player: str) -> None:
        self._contracts.pop(player).employee.dismiss()

    def _ended(self, employee: Employee, player: Player) -> None:
        contract = self._contracts.pop(player.player, None)
        if contract is not None and not contract.seated:
            self._give_up(contract, f"the stand-in ended with status {employee.status}")

    def _late(self, player: str) -> None:
        contract = self._contracts.get(player)
        if contract is not None and not contract.seated:
            self._dismiss(player)
            self._give_up(contract, "the stand-in did not come in time")

    def _give_up(self, contract: Contract, detail: str) -> None:
        contract.table.forfeit(contract.want.seat, contract.want.cause, detail)
