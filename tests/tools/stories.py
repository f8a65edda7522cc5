"""Stories: what happens around a match that is played on a whole server, and who hears what.

A story is told of twins (`twins`), of the one play or of the other. Everybody does the same in
both, at the same times, but the seats that the one seat cannot see into: they move as their
play says, and leave markers that name the play in whatever they say, note and are sorry for.
Up to just before the end, what the seat and the public hear must be the same to the byte.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from kibitz_games.api import Game
from kibitz_server.table import Table
from tests.tools.parlour import Guest, Parlour, opened
from tests.tools.twins import Turn, Twins

CLOCK = {"move_ms": 2_000, "bank_ms": 1_000}

RESTART = 5
"""Before which turn the server is killed and started again."""


class Logged(logging.Handler):
    """Keeps what the server logs, down to the least of it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def __enter__(self) -> Logged:
        log = logging.getLogger("kibitz")
        self._level = log.level
        log.setLevel(logging.DEBUG)
        log.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        log = logging.getLogger("kibitz")
        log.removeHandler(self)
        log.setLevel(self._level)


@dataclass
class Story:
    """What was heard, by listener: everything before the end, and what came with and after it."""

    seat: str
    before: dict[str, list[bytes]] = field(default_factory=dict)
    after: dict[str, list[bytes]] = field(default_factory=dict)
    secrets: dict[str, list[str]] = field(default_factory=dict)
    """Who may know each secret before the end ("" for nobody), and the secrets."""
    notes: dict[str, list[str]] = field(default_factory=dict)
    """The same of what is its author's alone for ever: notes, and secrets to come back with."""
    log: list[str] = field(default_factory=list)
    record: bytes = b""
    refused: int = 0
    """How many illegal moves the seat was refused."""

    def leaks(self, listener: str) -> Iterator[str]:
        """Yield every secret of others that a listener heard before the end."""
        heard = b"\n".join(self.before[listener])
        for kept in (self.secrets, self.notes):
            for owner, texts in kept.items():
                if owner != listener:
                    yield from (text for text in texts if text.encode() in heard)

    def strange(self, listener: str, own: int | None) -> Iterator[str]:
        """Yield every entry about another seat's turn that a listener heard before the end."""
        for text in self.before[listener]:
            message = json.loads(text) if text.startswith(b"{") else {}
            for event in [message, *message.get("events", ())]:
                entry = event.get("entry", {})
                if entry.get("kind") in {"move", "flag", "note"} and entry["seat"] != own:
                    yield json.dumps(entry)


def told(
    of: Twins,
    play: int,
    directory: Path,
    *,
    spectating: dict[str, Any] | None = None,
    game: Game | None = None,
) -> Story:
    """Tell the story of the one play (0) or the other (1); `game` is served in place of its own."""
    dealt = _dealt(game or of.game, of.deals[play])
    with Logged() as logged, opened({dealt.info.name: dealt}, directory) as parlour:
        story = _Teller(parlour, of, play, spectating or {}).tell()
    story.log = logged.lines
    return story


def _dealt(game: Game, deal: Any) -> Game:
    """Return the game with a deal that is no accident."""
    made = type(type(game).__name__, (type(game),), {"deal": lambda *_: dict(deal)})
    return cast(Game, made())


class _Teller:
    def __init__(self, parlour: Parlour, of: Twins, play: int, spectating: dict[str, Any]) -> None:
        self._parlour = parlour
        self._of = of
        self._play = play
        self._spectating = spectating
        self._players = [parlour.guest(f"p{seat}") for seat in range(of.seats)]
        self._me = self._players[of.seat]
        self._story = Story(self._me.name)
        self._pages: list[bytes] = []
        self._ply = 0
        self._said = 0

    def tell(self) -> Story:
        self._open()
        for number, turn in enumerate(self._of.turns):
            self._parlour.wait(0.05)
            self._around(number, turn)
            self._take(turn)
        self._parlour.wait(0.05)
        self._look()
        self._keep(self._story.before)
        self._know()
        self._end()
        self._keep(self._story.after)
        return self._story

    @property
    def _table(self) -> Table:
        return self._parlour.hall.tables[self._match]

    # --- the lobby ---

    def _open(self) -> None:
        of, parlour = self._of, self._parlour
        self._host, self._fay = map(parlour.guest, ("hal", "fay"))
        self._eve = parlour.account("eve")
        item = {
            "game": of.game.info.name,
            "options": of.game.dump(of.options),
            "seats": of.seats,
            "games": 1,
            "rotate": False,
            "time_control": CLOCK,
        }
        settings = {
            "seats": [{"kind": "open"}] * of.seats,
            "programme": [item],
            "conduct": {"max_illegal": 1000},
            "spectating": self._spectating,
        }
        self._lobby = self._host.ask("host", settings=settings)["lobby"]
        for each in (self._eve, self._fay):
            each.ask("join", lobby=self._lobby, role="spectator")
        for player in self._players:
            player.ask("join", lobby=self._lobby)
        for player in self._players:
            player.ask("ready", lobby=self._lobby)
        self._match = f"{self._lobby}-1-1"
        self._eve.ask("watch", match=self._match)

    def _restart(self) -> None:
        """Kill the server; everybody comes back to where they were."""
        self._parlour.restart()
        for guest in (*self._players, self._host, self._eve, self._fay):
            guest.come_again()
        for player in self._players:
            player.ask("rejoin", match=self._match)
        for each in (self._eve, self._fay):
            each.ask("join", lobby=self._lobby, role="spectator")
        self._eve.ask("watch", match=self._match)

    # --- one turn, and what else is said ---

    def _around(self, number: int, turn: Turn) -> None:
        """Ask for whatever can be asked for, in the middle of the match."""
        if number == RESTART:
            self._restart()
        if number % 8 == 1:
            self._look()
        if number % 5 == 2:
            other = self._players[(self._of.seat + 1) % self._of.seats]
            other.ask("note", match=self._match, text=self._mark("note", other))
            self._me.ask("note", match=self._match, text="for myself")
        if number % 7 == 4:
            self._me.come_again()
            self._me.ask("rejoin", match=self._match)
        if turn.seat == self._of.seat:
            for wrong in turn.wrong:
                refused = self._move(self._me, wrong)
                self._story.refused += refused.get("code") == "illegal"
            self._move(self._me, {"nothing": 1})
        else:
            self._move(self._me, turn.moves[0])  # it is not its turn
        self._me.ask("move", match=self._match, ply=self._ply + 7, action={})

    def _look(self) -> None:
        me, eve, match = self._me, self._eve, self._match
        for viewer in (me, eve):
            viewer.ask("history", match=match, first=1, count=1000)
            viewer.ask("list_matches")
            viewer.ask("list_matches", lobby=self._lobby)
            viewer.ask("list_lobbies")
        eve.ask("unwatch", match=match)
        eve.ask("watch", match=match)
        self._fay.ask("history", match=match)
        me.ask("watch", match=match)
        self._pages += map(self._parlour.page, ("/metrics", f"/records/{match}.jsonl"))

    def _take(self, turn: Turn) -> None:
        player = self._players[turn.seat]
        mine = turn.seat == self._of.seat
        match turn.kind:
            case "move":
                text = "my own" if mine else self._mark("comment", player)
                done = self._move(player, turn.moves[self._play], {"text": text, "value": 0.5})
                assert done["type"] == "done", done
                self._ply += 1
            case "skip":
                self._ply += 1
                while self._table.match.ply < self._ply:
                    self._parlour.wait(0.1)
            case "drop":
                detail = self._mark("detail", player)
                player.ask("resign", match=self._match, fault="crash", detail=detail)

    def _move(
        self, player: Guest, action: dict[str, Any], comment: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        said = {} if comment is None else {"comment": comment}
        return player.ask("move", match=self._match, ply=self._ply, action=action, **said)

    def _mark(self, what: str, who: Guest) -> str:
        """Return a text that is nowhere else, and remember whose it is."""
        self._said += 1
        text = f"{what}-{'ab'[self._play]}{self._said:04}"
        kept = self._story.notes if what == "note" else self._story.secrets
        kept.setdefault(who.name, []).append(text)
        return text

    # --- the end ---

    def _finished(self) -> list[dict[str, Any]]:
        return [each for each in self._me.messages() if each["type"] == "finished"]

    def _keep(self, heard: dict[str, list[bytes]]) -> None:
        for guest in (*self._players, self._host, self._eve, self._fay):
            guest.listen()
            heard[guest.name] = list(guest.heard)
        heard["pages"] = list(self._pages)

    def _know(self) -> None:
        """Collect the secrets that are not said by anybody."""
        story = self._story
        for guest in (*self._players, self._host, self._eve, self._fay):
            story.notes.setdefault(guest.name, []).append(guest.resume)
        setup = self._table.match.setup
        story.secrets.setdefault("", []).extend([setup.seed, str(int(setup.seed, 16))])
        hands = setup.deal.get("hands")
        for seat, hand in enumerate(hands if isinstance(hands, list) else ()):
            story.secrets.setdefault(f"p{seat}", []).extend(map(str, cast("list[int]", hand)))

    def _end(self) -> None:
        """The other seats give up, the own one where that is not enough, and all is revealed."""
        for seat, player in enumerate(self._players):
            if seat != self._of.seat:
                player.ask("resign", match=self._match)
        self._parlour.wait(1)
        finished = self._finished()
        if not finished:
            self._me.ask("resign", match=self._match)
            self._parlour.wait(1)
            finished = self._finished()
        assert len(finished) == 1, "the match has not ended"
        for viewer in (self._me, self._eve):
            viewer.ask("history", match=self._match, first=1, count=1000)
        self._story.record = self._parlour.page(f"/records/{self._match}.jsonl")
