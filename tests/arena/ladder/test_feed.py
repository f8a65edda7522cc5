"""The output of a ladder: feed, page, and lines of text."""

from __future__ import annotations

import re

from kibitz.text.standing_ladder import entrant_lines, ladder_lines
from kibitz_arena.ladder.entries import Entered, Entry, GameEnded, GameRequested, Hosted
from kibitz_arena.ladder.feed import Feed, build_feed, record_address
from kibitz_arena.ladder.page import render_page
from kibitz_arena.ladder.state import LadderState
from kibitz_arena.ratings import rate_entrants
from kibitz_protocol.wire.records import Cause, PlayerKind
from tests.arena.ladder.runs import EPOCH_MS, ladder

HOSTILE = "<script>x\x1b[2J"
"""No server permits such names, but the feed of another ladder may contain them."""


def played(*, hostile: bool = False) -> LadderState:
    """Return a ladder in which ada@2, the second version, crashed against bob."""
    bob = HOSTILE if hostile else "bob"
    who: list[tuple[str, str, PlayerKind]] = [
        ("ada@1", "ada", "bot"),
        (bob, bob, "human"),
        ("ada@2", "ada", "bot"),
        ("line-nim/random", "line-nim/random", "house"),
    ]
    entries: list[Entry] = [
        Hosted(at_ms=EPOCH_MS, lobby="L1"),
        *(Entered(at_ms=EPOCH_MS, entrant=a, name=b, player=kind) for a, b, kind in who),
    ]
    games = [
        (("ada@1", bob), (1, 2), (None, None)),
        ((bob, "ada@1"), (1, 1), (None, None)),
        (("ada@2", bob), (2, 1), (Cause.CRASH, None)),
        (("ada@2", "line-nim/random"), (1, 2), (None, Cause.TIME)),
    ]
    for number, (names, ranks, causes) in enumerate(games, 1):
        entries += [
            GameRequested(
                at_ms=EPOCH_MS,
                tag=f"g{number}",
                entrants=list(names),
                players=["p1", "p2"],
                block=0,
                seed=1,
            ),
            GameEnded(
                at_ms=EPOCH_MS + number * 1000,
                tag=f"g{number}",
                match=f"m{number}",
                ranks=list(ranks),
                causes=list(causes),
                plies=7,
                reason="goal",
            ),
        ]
    house = [{"bot": "line-nim/random", "rating": 1000}]
    return LadderState.fold(ladder(house=house), entries)


def feed_of(state: LadderState) -> Feed:
    ratings = rate_entrants([*state.entrants], state.rated, state.ladder.anchors, 1500)
    return build_feed(
        state,
        ratings,
        here=["ada@2", "line-nim/random"],
        reports={"m3": "reports/m3.report.txt", "m1": "reports/m1.report.txt"},
        server="wss://play.example.org/",
        at_ms=EPOCH_MS + 10_000,
    )


def test_the_feed_has_what_there_is_to_know() -> None:
    feed = feed_of(played())
    lines = {line.entrant: line for line in feed.lines}
    assert [line.place for line in feed.lines] == [1, 2, 3, 4]
    assert {name: line.status for name, line in lines.items()} == {
        "ada@1": "retired",
        "bob": "away",
        "ada@2": "here",
        "line-nim/random": "here",
    }
    ada = lines["ada@2"]
    assert (ada.name, ada.version, ada.games) == ("ada", "2", 2)
    assert (ada.wins, ada.draws, ada.losses, ada.form) == (1, 0, 1, ["L", "W"])
    assert ada.low is not None
    assert ada.rating is not None
    assert ada.low < ada.rating
    (loss,) = ada.last_losses
    assert (loss.match, loss.against, loss.cause) == ("m3", ["bob"], Cause.CRASH)
    assert loss.report == "reports/m3.report.txt"
    assert loss.record == "https://play.example.org/records/m3.jsonl"
    (bobs,) = lines["bob"].last_losses
    assert bobs.report is None, "bob was not at fault"
    assert [
        (each.entrant, each.wins, each.draws, each.losses) for each in lines["bob"].opponents
    ] == [
        ("ada@1", 0, 1, 1),
        ("ada@2", 1, 0, 0),
    ]
    house = lines["line-nim/random"]
    assert (house.rating, house.low, house.high, house.anchor) == (1000, 1000, 1000, True)
    assert [result.number for result in feed.results] == [4, 3, 2, 1]
    assert Feed.model_validate_json(feed.model_dump_json(exclude_none=True)) == feed


def test_nobody_has_played_yet() -> None:
    feed = feed_of(LadderState(ladder()))
    assert (feed.games, feed.lines, feed.results) == (0, [], [])
    assert "0 games by 0 entrants" in render_page(feed)
    assert len([*ladder_lines(feed)]) == 1


def test_the_page_shows_it_and_runs_nothing() -> None:
    page = render_page(feed_of(played(hostile=True)))
    assert "script-src" not in page
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert "&lt;script&gt;x" in page
    assert "\x1b" not in page
    assert re.search(r'href="https://play.example.org/records/m3.jsonl"', page)
    assert render_page(feed_of(played())) == render_page(feed_of(played()))


def test_lines_of_text() -> None:
    feed = feed_of(played(hostile=True))
    text = "\n".join(ladder_lines(feed))
    assert "\x1b" not in text
    assert "here, anchor" in text
    ada = next(line for line in feed.lines if line.entrant == "ada@2")
    shown = "\n".join(entrant_lines(feed, ada))
    assert "crash, goal" in shown
    assert "report: reports/m3.report.txt" in shown


def test_addresses_of_records() -> None:
    assert record_address("ws://127.0.0.1:8765", "m1") == "http://127.0.0.1:8765/records/m1.jsonl"
    assert record_address("https://a.org", "m1") == "https://a.org/records/m1.jsonl"
