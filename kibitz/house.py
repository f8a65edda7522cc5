"""The house bots of a server: which there are, and the process that plays one."""

from __future__ import annotations

from collections.abc import Sequence

from kibitz.leash import leashed


class LocalHouse:
    """House bots as processes of this machine, on a leash that this process holds.

    `pace` is the least number of seconds that they take for a move, so that people can follow;
    `limits` are those of `leash.leashed`, for each process.
    """

    def __init__(self, pace: float = 0.0, limits: Sequence[str] = ()) -> None:
        self._pace = pace
        self._limits = limits

    def personalities(self) -> Sequence[str]:
        """Return the names that a lobby may ask for."""
        from kibitz_bots.personalities import PERSONALITIES

        return tuple(PERSONALITIES)

    def flaw(self, personality: str) -> str | None:
        """Return what is wrong with a name and its parameters, or None."""
        from kibitz_bots.loading import SpecError
        from kibitz_bots.personalities import find

        try:
            find(personality)
        except SpecError as error:
            return str(error)
        return None

    def seats(self, personality: str) -> Sequence[int]:
        """Return with how many seats a bot plays; empty for as many as its game has."""
        from kibitz_bots.personalities import named

        return named(personality.partition(":")[0]).seats

    def command(self, personality: str, url: str, lobby: str) -> Sequence[str]:
        """Return the command line of the process that plays `personality` in `lobby`."""
        place = ("--url", url, "--lobby", lobby)
        module = ("kibitz.paced", f"{self._pace:g}") if self._pace else ("kibitz_bots",)
        return leashed(*module, personality, *place, limits=self._limits)
