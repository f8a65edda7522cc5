"""One valid message of every type, for tests, fuzzers and readers.

The messages are well-formed, but a server may still refuse them.
"""

from __future__ import annotations

from typing import Final

from kibitz_protocol.wire import lobbies, messages, records
from kibitz_protocol.wire.clocks import Clock, TimeControl
from kibitz_protocol.wire.drawing import Stage
from kibitz_protocol.wire.recordfile import seed_commitment
from kibitz_protocol.wire.refusals import HINTS, Code
from kibitz_protocol.wire.reports import MatchReport, Received, SeatReport, Spent

ADA: Final = records.Player(player="p1", name="ada", kind="bot")
GRACE: Final = records.Player(player="p2", name="grace", kind="human")
HOUSE: Final = records.Player(player="p3", name="random", kind="house")
CLOCK: Final = TimeControl(main_ms=10_000, increment_ms=100)
SEED: Final = f"{0x2A7:064x}"
NONCE: Final = f"{0x2A8:064x}"

SETTINGS: Final = lobbies.LobbySettings(
    name="friday",
    joinable="invite",
    seats=[
        lobbies.OpenSeat(),
        lobbies.ReservedSeat(name="grace"),
        lobbies.HouseSeat(personality="line/random:depth=2"),
    ],
    programme=[
        lobbies.ProgrammeItem(
            game="line",
            options={"size": 5, "wrap": False, "rule": "free", "holes": [3, 4]},
            seats=2,
            games=4,
            time_control=CLOCK,
            seed=7,
        )
    ],
    conduct=records.Conduct(on_leave="replace", stand_in="line/random"),
    spectating=records.Spectating(mode="shoulder", seat=0, delay_plies=2),
)

SETUP: Final = records.Setup(
    match="m1",
    lobby="L1",
    block=1,
    game="line",
    rules_version=1,
    options={"size": 5, "wrap": False, "rule": "free", "holes": [3, 4]},
    seats=[ADA, GRACE],
    deal={"first": 0},
    seed=SEED,
    nonce=NONCE,
    commitment=seed_commitment(SEED, NONCE),
    time_control=CLOCK,
    started="2030-01-02T03:04:05Z",
    server="kibitz 0.1.0",
)

RESULT: Final = records.Result(
    seats=[
        records.SeatResult(rank=1, score=1.0),
        records.SeatResult(rank=2, score=0.0, cause=records.Cause.TIME, detail="10.0 s used"),
    ],
    cause=records.Cause.TIME,
    reason="flag",
    plies=1,
)

ENTRIES: Final[tuple[records.Entry, ...]] = (
    records.Moved(
        seq=1,
        at_ms=420,
        ply=0,
        seat=0,
        action={"to": 12, "swap": False, "by": "a"},
        elapsed_ms=400,
        allowance_ms=12,
        wait_ms=8,
        id=3,
        comment=records.Comment(value=0.5, depth=6, nodes=12_345, line=["12", "7"], text="fine"),
    ),
    records.Left(seq=2, at_ms=900, seat=1, reason="disconnect", grace_ms=60_000),
    records.Returned(seq=3, at_ms=1_500, seat=1),
    records.Replaced(seq=4, at_ms=2_000, seat=1, player=HOUSE, cause=records.Cause.ABANDONED),
    records.Noted(seq=5, at_ms=2_100, seat=0, text="warming up"),
    records.Hidden(seq=6, at_ms=2_200),
    records.Flagged(seq=7, at_ms=12_000, ply=1, seat=1, elapsed_ms=10_000),
    records.Resigned(seq=8, at_ms=12_001, seat=1),
    records.Forfeited(
        seq=9, at_ms=12_002, seat=1, cause=records.Cause.CRASH, detail="exit status 1"
    ),
    records.Commented(
        seq=10,
        at_ms=12_003,
        ply=2,
        author=GRACE,
        audience="spectators",
        text="that was close",
    ),
    records.Aborted(seq=11, at_ms=12_004, detail="the disk is full"),
)
"""One entry of every kind, numbered as in a record; no real match has this sequence."""

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
_BRIEF: Final = lobbies.MatchBrief(match="m1", lobby="L1", block=1, game="line", seats=[ADA, GRACE])
_LOBBY: Final = lobbies.LobbyBrief(
    lobby="L1",
    name="friday",
    host="ada",
    state="gathering",
    joinable="open",
    watchable=True,
    games=["line"],
    members=1,
    people=0,
    places=2,
)
_LADDER: Final = lobbies.LadderTable(
    game="line",
    players=2,
    matches=12,
    lines=[
        lobbies.LadderLine(
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
_EVENT: Final = messages.Event(
    match="m1", ply=1, to_act=1, entry=ENTRIES[0], view=_VIEW, clocks=_CLOCKS
)
_CHANGED: Final = messages.Event(
    match="m1", ply=2, to_act=0, entry=ENTRIES[5], patch={"cells": [0, 1, 3], "last": None}
)
_STAGE: Final[Stage] = {
    "lattice": "square",
    "cells": {"a1": {"x": 0, "y": 0, "kind": "point"}, "b1": {"x": 1, "y": 0, "kind": "point"}},
    "labels": [{"text": "a", "x": 0, "y": -1}],
    "marks": [],
    "text": ["ada to move"],
    "colours": ["black", "white"],
}
_PAINTED: Final = messages.Event(
    match="m1",
    ply=1,
    to_act=1,
    entry=ENTRIES[0],
    patch={
        "cells": {"b1": {"x": 1, "y": 0, "kind": "point", "owner": 0, "colour": "black"}},
        "marks": [{"kind": "to", "cells": ["b1"], "seat": 0}],
        "text": ["grace to move"],
    },
)

REQUESTS: Final[tuple[messages.ClientMessage, ...]] = (
    messages.Hello(
        id=1,
        versions=[1],
        name="ada",
        token="a-token-of-an-account",
        kind="bot",
        agent="kibitz 0.1.0",
        capabilities=messages.Capabilities(
            games=[messages.GameClaim(game="line", seats=[2, 3])], at_once=4
        ),
        views="every",
    ),
    messages.ListGames(id=2),
    messages.ListLobbies(id=3),
    messages.ListMatches(id=4, lobby="L1"),
    messages.AskLadder(id=23, game="line"),
    messages.Host(id=5, settings=SETTINGS),
    messages.Join(id=6, lobby="L1", invite="blue-fox", role="spectator"),
    messages.Seek(id=36, terms=lobbies.SeekTerms(item=lobbies.ProgrammeItem(game="line"))),
    messages.Leave(id=7, lobby="L1"),
    messages.Kick(id=8, lobby="L1", player="p2"),
    messages.Ready(id=9, lobby="L1"),
    messages.Start(id=10, lobby="L1"),
    messages.Rematch(id=11, lobby="L1"),
    messages.Close(id=12, lobby="L1"),
    messages.Arrange(
        id=21,
        lobby="L1",
        matches=[
            lobbies.Arrangement(
                tag=tag, item=lobbies.ProgrammeItem(game="line", seed=7), players=players
            )
            for tag, players in (("b1.1", ["p1", "p2"]), ("b1.2~1", ["p2", "p1"]))
        ],
    ),
    messages.Watch(id=13, match="m1"),
    messages.Unwatch(id=14, match="m1"),
    messages.Wall(id=25, matches=["m1", "m2"]),
    messages.Subscribe(id=26, topic="hall"),
    messages.Unsubscribe(id=27, topic="hall"),
    messages.Rejoin(id=15, match="m1"),
    messages.Move(id=16, match="m1", ply=0, action={"to": 12}, comment=records.Comment(value=0.5)),
    messages.Resign(id=17, match="m1", fault="crash", detail="ValueError: no book"),
    messages.LeaveMatch(id=18, match="m1"),
    messages.Note(id=19, match="m1", text="warming up"),
    messages.AddComment(id=24, match="m1", text="that was close"),
    messages.Abort(id=29, match="m1", reason="the host asked for it"),
    messages.AskReport(id=22, match="m1", seat=1),
    messages.History(id=20, match="m1", first=1, count=50),
)

NEWS: Final[tuple[messages.ServerMessage, ...]] = (
    messages.Welcome(
        re=1,
        version=1,
        player="p1",
        name="ada",
        kind="bot",
        resume="a-secret-for-coming-back",
        server="kibitz 0.1.0",
        limits=messages.Limits(frame_bytes=16_384, messages_per_second=20, burst=40, lobbies=4),
        seats=["m1"],
        lobbies=["L1"],
    ),
    messages.Done(re=16, seq=1),
    messages.Refused(
        re=17, code=Code.STALE, message="ply 0 is past", hint=HINTS[Code.STALE], ply=1
    ),
    messages.GameList(
        re=2,
        games=[
            messages.GameLine(
                name="line",
                title="Line",
                summary="Put stones in a line.",
                rules_version=1,
                seats=[2, 3],
                hidden=False,
                balanced=True,
                legal_rule="any empty place",
                options_schema={"type": "object"},
                move_schema={"type": "object"},
                view_schema={"type": "object"},
                endings={"line": "with a line"},
            )
        ],
        personalities=["line/random"],
        bots=[
            messages.HouseBotLine(
                name="line/random",
                seats=[2, 3],
                summary="plays any legal move",
                parameters=[
                    messages.BotParameter(
                        name="seed",
                        type="int",
                        least=0,
                        most=2**53 - 1,
                        summary="makes the play repeatable",
                    )
                ],
                levels=[messages.BotLevel(level=1, seats=2)],
            )
        ],
    ),
    messages.LobbyList(re=3, lobbies=[_LOBBY]),
    messages.MatchList(re=4, matches=[_BRIEF]),
    messages.Ladders(re=23, games=[_LADDER]),
    messages.Arranged(
        re=21,
        matches=[_BRIEF.model_copy(update={"tag": "b1.1", "result": RESULT}), None],
    ),
    messages.Walled(
        re=25,
        watching=["m1"],
        refused=[
            messages.NotWatched(match="m2", code=Code.OVER, message="match 'm2' is over"),
        ],
    ),
    messages.Reported(
        re=22,
        report=MatchReport(
            match="m1",
            game="line",
            cause=records.Cause.ILLEGAL,
            plies=1,
            seats=[
                SeatReport(
                    seat=1,
                    player=GRACE,
                    cause=records.Cause.ILLEGAL,
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
    messages.EventList(
        re=20, match="m1", view=_VIEW, stage=_STAGE, events=[_EVENT, _PAINTED, _CHANGED], more=False
    ),
    _EVENT,
    messages.Snapshot(
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
        conduct=records.Conduct(),
        spectating=records.Spectating(),
        commitment=SETUP.commitment,
        stage=_STAGE,
    ),
    messages.YourTurn(
        match="m1",
        game="line",
        seat=0,
        ply=0,
        view=_VIEW,
        legal=[{"to": 11}, {"to": 12}],
        picks=[
            {"cells": ["a1"], "action": {"to": 11}},
            {"cells": ["b1"], "action": {"to": 12}},
        ],
        legal_count=2,
        clocks=_CLOCKS,
        left_ms=9_700,
    ),
    messages.Finished(
        match="m1",
        lobby="L1",
        seq=7,
        result=RESULT,
        view=_VIEW,
        seed=SEED,
        nonce=NONCE,
        record="/records/m1.jsonl",
    ),
    messages.LobbyNews(
        lobby=lobbies.LobbyView(
            lobby="L1",
            settings=SETTINGS,
            host="p1",
            state="running",
            round=1,
            members={
                "p1": lobbies.Member(
                    player="p1", name="ada", kind="bot", seat=0, ready=True, connected=True
                )
            },
            spectators=2,
            invite="blue-fox",
            planned=4,
            done=1,
            live={"m1": _BRIEF},
            standings={
                "p1": lobbies.Standing(
                    player="p1",
                    name="ada",
                    played=1,
                    wins=1,
                    draws=0,
                    losses=0,
                    points=1.0,
                    causes={records.Cause.TIME: 1},
                )
            },
        )
    ),
    messages.LobbyChanged(
        lobby="L1",
        patch={"done": 2, "standings": {"p1": {"played": 2, "wins": 2, "points": 2.0}}},
    ),
    messages.MatchStarted(lobby="L1", match=_BRIEF),
    messages.MatchEnded(lobby="L1", match=_BRIEF.model_copy(update={"result": RESULT})),
    messages.LobbyClosed(lobby="L1", reason="expired"),
    messages.HallNews(
        lobbies={"L1": _LOBBY.model_copy(update={"order": 4})},
        matches={"m1": _BRIEF.model_copy(update={"order": 7})},
        finished={"m0": _BRIEF.model_copy(update={"match": "m0", "result": RESULT, "order": 1})},
        ladders={_LADDER.game: _LADDER},
        lobbies_in_all=1,
        matches_in_all=1,
    ),
    messages.HallChanged(
        patch={"matches": {"m1": {"ply": 12}}, "lobbies": {"L1": None}, "lobbies_in_all": 0}
    ),
    messages.Farewell(code=Code.UNAVAILABLE, message="going down", retry_after_ms=2_000),
)
