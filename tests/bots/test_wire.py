"""Bot processes on a real WebSocket, with a minimal server that can host a match."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve

from kibitz_games.core import registry
from kibitz_games.core.position import Position
from kibitz_protocol.wire import messages
from kibitz_protocol.wire.codec import decode_request, encode
from kibitz_protocol.wire.lobbies import LobbySettings, LobbyView, Member, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.messages import Done, LobbyClosed, LobbyNews, Refused, Welcome, YourTurn
from kibitz_protocol.wire.refusals import Code
from tests.tools.fake_server import PLAYER, finished, snapshot

pytestmark = pytest.mark.e2e

GAME: Any = registry.get("chinese-checkers")
NAME = "chinese-checkers"
WAIT_S = 60
OPTIONS = {"size": 2}


class Host:
    """Hosts one lobby with one match; the bot has seat 0 and seat 1 plays its last legal move."""

    def __init__(self, *, illegal: int = 0) -> None:
        self.play = Position(GAME, GAME.Options(**OPTIONS), 2)
        self.requests: list[Any] = []
        # The number of moves to refuse before accepting one.
        self.illegal = illegal
        self.ready = False

    async def attend(self, connection: ServerConnection) -> None:
        """Answer one connection until it closes."""
        async for data in connection:
            request = decode_request(data)
            self.requests.append(request)
            for reply in self.reply(request):
                await connection.send(encode(reply), text=True)

    def reply(self, request: Any) -> list[Any]:
        """Return the answer to a request and the resulting events."""
        done = Done(re=request.id)
        match request:
            case messages.Hello():
                return [self._welcome(request.id)]
            case messages.Join():
                return [done, self._lobby()]
            case messages.Ready():
                self.ready = True
                return [done, self._lobby(), self._snapshot(), self._turn()]
            case messages.Move() if self.illegal:
                self.illegal -= 1
                return [Refused(re=request.id, code=Code.ILLEGAL, message="not today")]
            case messages.Move():
                self.play.push_move(GAME.Move.model_validate(request.action))
                return [done, *self._go_on()]
            case messages.Resign():
                return [done, self._finished(), LobbyClosed(lobby="L1", reason="closed")]
            case _:
                return [done]

    def moves(self) -> list[messages.Move]:
        """Return the received moves."""
        return [request for request in self.requests if isinstance(request, messages.Move)]

    def notes(self) -> str:
        """Return the text of all received notes."""
        return "\n".join(r.text for r in self.requests if isinstance(r, messages.Note))

    def _go_on(self) -> list[Any]:
        if self.play.outcome is None:
            self.play.push(self.play.legal[-1])
        if self.play.outcome is None:
            return [self._turn()]
        return [self._finished(), LobbyClosed(lobby="L1", reason="closed")]

    def _welcome(self, re: int) -> Welcome:
        limits = messages.Limits(frame_bytes=16384, messages_per_second=1000, burst=1000, lobbies=1)
        return Welcome(
            re=re,
            version=1,
            player=PLAYER,
            name="bot",
            kind="bot",
            resume="a secret of some length",
            server="test",
            limits=limits,
            seats=[],
            lobbies=[],
        )

    def _lobby(self) -> LobbyNews:
        item = ProgrammeItem(game=NAME, options=dict(OPTIONS))
        member = Member(
            player=PLAYER, name="bot", kind="bot", seat=0, ready=self.ready, connected=True
        )
        view = LobbyView(
            lobby="L1",
            settings=LobbySettings(seats=[OpenSeat(), OpenSeat()], programme=[item]),
            host="h",
            state="gathering",
            round=1,
            members={member.player: member},
            planned=1,
            done=0,
            live={},
            standings={},
        )
        return LobbyNews(lobby=view)

    def _snapshot(self) -> Any:
        return snapshot("m1", game=NAME, options=dict(OPTIONS), lobby="L1")

    def _finished(self) -> Any:
        return finished("m1", plies=len(self.play.history))

    def _turn(self) -> YourTurn:
        state = self.play.state
        legal = [GAME.encode(state, action).to_wire() for action in self.play.legal]
        return YourTurn(
            match="m1",
            game=NAME,
            seat=0,
            ply=len(self.play.history),
            view=self.play.view(0).to_wire(),
            legal=legal,
            legal_count=len(legal),
        )


@contextlib.asynccontextmanager
async def hosting(host: Host) -> AsyncIterator[str]:
    """Serve on a free loopback port; yield the URL."""
    server: Server
    async with serve(host.attend, "127.0.0.1", 0, compression=None) as server:
        yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"


async def process(*arguments: str, **environment: str) -> tuple[int | None, str]:
    """Run a Python process to its end; return its exit status and stderr."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        env=os.environ | environment,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(WAIT_S):
            _, written = await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    return child.returncode, written.decode()


@pytest.mark.e2e
@pytest.mark.parametrize("bot", ["greedy-hand:seed=1", "iddfs-hand:time=0.01", "random:seed=1"])
async def test_a_house_bot_plays_a_match_to_its_end(bot: str) -> None:
    host = Host()
    arguments = ("-m", "kibitz_bots", f"{NAME}/{bot}", "--lobby", "L1", "--matches", "1")
    async with hosting(host) as url:
        status, written = await process(*arguments, "--url", url, KIBITZ_RESUME="resume-secret")
    assert (status, written) == (0, "")
    assert host.play.outcome is not None
    hello = host.requests[0]
    assert hello.views == "turn"
    assert hello.resume == "resume-secret"
    assert [claim.game for claim in hello.capabilities.games] == [NAME]
    assert [each.ply for each in host.moves()] == list(range(0, 2 * len(host.moves()), 2))
    searches = not bot.startswith("random")
    assert all((each.comment is not None) == searches for each in host.moves())


MINE = """
import sys
from kibitz import Bot, Turn

class Mine(Bot):
    def choose(self, turn: Turn) -> dict:
        print("turn", turn.ply, file=sys.stderr)
        return BODY

if __name__ == "__main__":
    Mine.main()
"""


@pytest.mark.e2e
async def test_a_file_with_a_bot_plays_and_its_output_is_noted(tmp_path: Path) -> None:
    host, path = Host(illegal=1), tmp_path / "mybot.py"
    path.write_text(MINE.replace("BODY", "turn.legal[0]"))
    async with hosting(host) as url:
        status, written = await process(
            str(path), "--server", url, "--lobby", "L1", "--matches", "1"
        )
    assert status == 0
    assert host.play.outcome is not None
    assert written.startswith("turn 0\n")
    assert "turn 0" in host.notes()
    assert "refused: illegal: not today" in host.notes()


@pytest.mark.e2e
async def test_a_crash_is_an_exit_status(tmp_path: Path) -> None:
    host, path = Host(), tmp_path / "mybot.py"
    path.write_text(MINE.replace("BODY", "turn.legal[1000]"))
    async with hosting(host) as url:
        status, written = await process(
            "-m", "kibitz_bots", str(path), "--url", url, "--lobby", "L1"
        )
    assert status == 1
    assert 'mybot.py", line 8, in choose' in written
    assert "crash: IndexError: list index out of range" in host.notes()
    assert any(isinstance(request, messages.Resign) for request in host.requests)


@pytest.mark.slow  # the client tries for ten seconds
async def test_a_server_that_is_not_there_is_an_exit_status() -> None:
    async with hosting(Host()) as url:
        pass
    arguments = ("-m", "kibitz_bots", f"{NAME}/random", "--lobby", "L1", "--url", url)
    status, written = await process(*arguments)
    assert status == 1
    assert written.startswith("error: ")
    assert "Traceback" not in written
