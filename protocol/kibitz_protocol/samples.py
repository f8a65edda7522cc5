"""One good message of every type, for tests, fuzzers and those who want to see one.

They are well-formed; whether a server would carry them out is another matter.
"""

from __future__ import annotations

import hashlib
from typing import Final

from kibitz_protocol.clocks import Clock, TimeControl
from kibitz_protocol.messages import (
    Arrange,
    Arranged,
    AskLadder,
    AskReport,
    Capabilities,
    ClientMessage,
    Close,
    Done,
    Event,
    EventList,
    Farewell,
    Finished,
    GameClaim,
    GameLine,
    GameList,
    Hello,
    History,
    Host,
    Join,
    Kick,
    Ladders,
    Leave,
    LeaveMatch,
    Limits,
    ListGames,
    ListLobbies,
    ListMatches,
    LobbyClosed,
    LobbyList,
    LobbyNews,
    MatchEnded,
    MatchList,
    MatchStarted,
    Move,
    Note,
    Ready,
    Refused,
    Rejoin,
    Rematch,
    Reported,
    Resign,
    ServerMessage,
    Snapshot,
    Start,
    Unwatch,
    Watch,
    Welcome,
    YourTurn,
)
from kibitz_protocol.records import (
    Aborted,
    Cause,
    Comment,
    Conduct,
    Entry,
    Flagged,
    Forfeited,
    Hidden,
    Left,
    Moved,
    Noted,
    Player,
    Replaced,
    Resigned,
    Result,
    Returned,
    SeatResult,
    Setup,
    Spectating,
)
from kibitz_protocol.refusals import HINTS, Code
from kibitz_protocol.reports import MatchReport, Received, SeatReport, Spent
from kibitz_protocol.rooms import (
    Arrangement,
    HouseSeat,
    LadderLine,
    LadderTable,
    LobbyBrief,
    LobbySettings,
    LobbyView,
    MatchBrief,
    Member,
    OpenSeat,
    ProgrammeItem,
    ReservedSeat,
    Standing,
)

ADA: Final = Player(player="p1", name="ada", kind="bot")
GRACE: Final = Player(player="p2", name="grace", kind="human")
HOUSE: Final = Player(player="p3", name="random", kind="house")
CLOCK: Final = TimeControl(main_ms=10_000, increment_ms=100)
SEED: Final = "00000000000002a7"

SETTINGS: Final = LobbySettings(
    name="friday",
    joinable="invite",
    seats=[OpenSeat(), ReservedSeat(name="grace"), HouseSeat(personality="line/random:depth=2")],
    programme=[
        ProgrammeItem(
            game="line",
            options={"size": 5, "wrap": False, "rule": "free", "holes": [3, 4]},
            seats=2,
            games=4,
            time_control=CLOCK,
            seed=7,
        )
    ],
    conduct=Conduct(on_leave="replace", stand_in="line/random"),
    spectating=Spectating(mode="shoulder", seat=0, delay_plies=2),
)

SETUP: Final = Setup(
    match="m1",
    lobby="L1",
    block=1,
    game="line",
    rules_version=1,
    options={"size": 5, "wrap": False, "rule": "free", "holes": [3, 4]},
    seats=[ADA, GRACE],
    deal={"first": 0},
    seed=SEED,
    commitment=hashlib.sha256(SEED.encode()).hexdigest(),
    time_control=CLOCK,
    started="2030-01-02T03:04:05Z",
    server="kibitz 0.1.0",
)

RESULT: Final = Result(
    seats=[
        SeatResult(rank=1, score=1.0),
        SeatResult(rank=2, score=0.0, cause=Cause.TIME, detail="10.0 s used"),
    ],
    cause=Cause.TIME,
    reason="flag",
    plies=1,
)

ENTRIES: Final[tuple[Entry, ...]] = (
    Moved(
        seq=1,
        at_ms=420,
        ply=0,
        seat=0,
        action={"to": 12, "swap": False, "by": "a"},
        elapsed_ms=400,
        allowance_ms=12,
        wait_ms=8,
        id=3,
        comment=Comment(value=0.5, depth=6, nodes=12_345, line=["12", "7"], text="fine"),
    ),
    Left(seq=2, at_ms=900, seat=1, reason="disconnect", grace_ms=60_000),
    Returned(seq=3, at_ms=1_500, seat=1),
    Replaced(seq=4, at_ms=2_000, seat=1, player=HOUSE, cause=Cause.ABANDONED),
    Noted(seq=5, at_ms=2_100, seat=0, text="warming up"),
    Hidden(seq=6, at_ms=2_200),
    Flagged(seq=7, at_ms=12_000, ply=1, seat=1, elapsed_ms=10_000),
    Resigned(seq=8, at_ms=12_001, seat=1),
    Forfeited(seq=9, at_ms=12_002, seat=1, cause=Cause.CRASH, detail="exit status 1"),
    Aborted(seq=10, at_ms=12_003, detail="the disk is full"),
)
"""One entry of every kind, numbered as in a record, though no match would run like this."""

_VIEW: Final = {"cells": [0, 1, 2], "last": {"to": 12}, "note": None}
_CLOCKS: Final = [Clock(main_ms=9_700), Clock(main_ms=10_000)]
_REFUSAL = Received(
    kind="refused",
    ply=1,
    at_ms=900,
    action='{"to":99}',
    code=Code.ILLEGAL,
    detail="refused as illegal: no hole 99",
)
_BRIEF: Final = MatchBrief(match="m1", lobby="L1", block=1, game="line", seats=[ADA, GRACE])
_EVENT: Final = Event(match="m1", ply=1, to_act=1, entry=ENTRIES[0], view=_VIEW, clocks=_CLOCKS)

REQUESTS: Final[tuple[ClientMessage, ...]] = (
    Hello(
        id=1,
        versions=[1],
        name="ada",
        token="a-token-of-an-account",
        kind="bot",
        agent="kibitz 0.1.0",
        capabilities=Capabilities(games=[GameClaim(game="line", seats=[2, 3])], at_once=4),
    ),
    ListGames(id=2),
    ListLobbies(id=3),
    ListMatches(id=4, lobby="L1"),
    AskLadder(id=23, game="line"),
    Host(id=5, settings=SETTINGS),
    Join(id=6, lobby="L1", invite="blue-fox", role="spectator"),
    Leave(id=7, lobby="L1"),
    Kick(id=8, lobby="L1", player="p2"),
    Ready(id=9, lobby="L1"),
    Start(id=10, lobby="L1"),
    Rematch(id=11, lobby="L1"),
    Close(id=12, lobby="L1"),
    Arrange(
        id=21,
        lobby="L1",
        matches=[
            Arrangement(tag=tag, item=ProgrammeItem(game="line", seed=7), players=players)
            for tag, players in (("b1.1", ["p1", "p2"]), ("b1.2~1", ["p2", "p1"]))
        ],
    ),
    Watch(id=13, match="m1"),
    Unwatch(id=14, match="m1"),
    Rejoin(id=15, match="m1"),
    Move(id=16, match="m1", ply=0, action={"to": 12}, comment=Comment(value=0.5)),
    Resign(id=17, match="m1", fault="crash", detail="ValueError: no book"),
    LeaveMatch(id=18, match="m1"),
    Note(id=19, match="m1", text="warming up"),
    AskReport(id=22, match="m1", seat=1),
    History(id=20, match="m1", first=1, count=50),
)

NEWS: Final[tuple[ServerMessage, ...]] = (
    Welcome(
        re=1,
        version=1,
        player="p1",
        name="ada",
        kind="bot",
        resume="a-secret-for-coming-back",
        server="kibitz 0.1.0",
        limits=Limits(frame_bytes=16_384, messages_per_second=20, burst=40, lobbies=4),
        seats=["m1"],
        lobbies=["L1"],
    ),
    Done(re=16, seq=1),
    Refused(re=17, code=Code.STALE, message="ply 0 is past", hint=HINTS[Code.STALE], ply=1),
    GameList(
        re=2,
        games=[
            GameLine(
                name="line",
                title="Line",
                summary="Put stones in a line.",
                rules_version=1,
                seats=[2, 3],
                hidden=False,
                options_schema={"type": "object"},
                move_schema={"type": "object"},
            )
        ],
        personalities=["line/random"],
    ),
    LobbyList(
        re=3,
        lobbies=[
            LobbyBrief(
                lobby="L1",
                name="friday",
                host="ada",
                state="gathering",
                joinable="open",
                watchable=True,
                games=["line"],
                members=1,
                places=2,
            )
        ],
    ),
    MatchList(re=4, matches=[_BRIEF]),
    Ladders(
        re=23,
        games=[
            LadderTable(
                game="line",
                players=2,
                matches=12,
                lines=[
                    LadderLine(
                        place=1,
                        key="p1",
                        name="ada",
                        kind="bot",
                        rating=1687.5,
                        deviation=70.1,
                        matches=12,
                        last_played=1_893_553_445,
                    )
                ],
            )
        ],
    ),
    Arranged(
        re=21,
        matches=[_BRIEF.model_copy(update={"tag": "b1.1", "result": RESULT}), None],
    ),
    Reported(
        re=22,
        report=MatchReport(
            match="m1",
            game="line",
            cause=Cause.ILLEGAL,
            plies=1,
            seats=[
                SeatReport(
                    seat=1,
                    player=GRACE,
                    cause=Cause.ILLEGAL,
                    detail="2 illegal moves",
                    sent={"type": "your_turn", "match": "m1", "seat": 1, "ply": 1},
                    received=_REFUSAL,
                    refused=[_REFUSAL],
                    notes=["thinking about 11"],
                    ledger=[Spent(ply=1, elapsed_ms=120, allowance_ms=20, charged_ms=100)],
                )
            ],
        ),
    ),
    EventList(re=20, match="m1", events=[_EVENT], more=False),
    _EVENT,
    Snapshot(
        why="started",
        match="m1",
        lobby="L1",
        block=1,
        game="line",
        rules_version=1,
        options={"size": 5},
        seats=[ADA, GRACE],
        away=[1],
        you=0,
        seq=0,
        ply=0,
        to_act=0,
        view=_VIEW,
        time_control=CLOCK,
        clocks=_CLOCKS,
        left_ms=9_200,
        conduct=Conduct(),
        spectating=Spectating(),
        commitment=SETUP.commitment,
    ),
    YourTurn(
        match="m1",
        game="line",
        seat=0,
        ply=0,
        view=_VIEW,
        legal=[{"to": 11}, {"to": 12}],
        legal_count=2,
        clocks=_CLOCKS,
        left_ms=9_700,
    ),
    Finished(
        match="m1",
        lobby="L1",
        seq=7,
        result=RESULT,
        view=_VIEW,
        seed=SEED,
        record="/records/m1.jsonl",
    ),
    LobbyNews(
        lobby=LobbyView(
            lobby="L1",
            settings=SETTINGS,
            host="p1",
            state="running",
            round=1,
            members=[
                Member(player="p1", name="ada", kind="bot", seat=0, ready=True, connected=True)
            ],
            spectators=2,
            invite="blue-fox",
            planned=4,
            done=1,
            live=[_BRIEF],
            standings=[
                Standing(
                    player="p1",
                    name="ada",
                    played=1,
                    wins=1,
                    draws=0,
                    losses=0,
                    points=1.0,
                    causes={Cause.TIME: 1},
                )
            ],
        )
    ),
    MatchStarted(lobby="L1", match=_BRIEF),
    MatchEnded(lobby="L1", match=_BRIEF.model_copy(update={"result": RESULT})),
    LobbyClosed(lobby="L1", reason="expired"),
    Farewell(code=Code.UNAVAILABLE, message="going down", retry_after_ms=2_000),
)
