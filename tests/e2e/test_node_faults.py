"""Failures of nodes that share a database: there is always a single history.

The tests do not depend on the number of serving nodes. Clients connect to one of the URLs, play,
and reconnect automatically. `node_history.faults` compares the messages they received with the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from kibitz_protocol.wire.clocks import TimeControl
from tests.tools.log_audit import Acknowledged
from tests.tools.measurements import ReportFigure
from tests.tools.node_faults import Fault, drawn_faults, inject
from tests.tools.node_fleet import NodeFleet, node_fleet
from tests.tools.node_group import Node, NodeGroup, node_group
from tests.tools.node_history import NodeHistory, faults
from tests.tools.postgres_server import PostgresCluster
from tests.tools.raw_connection import RawConnection, greeted_connection
from tests.tools.server_process import drawn_matches

PAIRS = 6
PROGRAMME = drawn_matches(4, games=1000)
ANSWER_S = 0.5
"""The time for answers sent before the fault to arrive, in seconds."""
EXPIRY_S = 1.0
"""The maximum delay in observing a takeover, in seconds."""
SERVICE_RESTART = 1012
CLOCK = TimeControl.parse("move=20,bank=60")
FEW_FAULTS = [
    Fault("freeze", 4.0, 0.5, 0),
    Fault("freeze", 9.5, 0.5, 0),
    Fault("kill", 0.0, 1.0, 0),
    Fault("cut", 2.0, 0.5, 0),
    Fault("terminate", 0.5, 1.0, 0),
    Fault("hang", 9.5, 0.5, 0),
    Fault("database", 0.5, 0.5, 0),
]


async def checked(group: NodeGroup, fleet: NodeFleet) -> NodeHistory:
    """Pause the fleet, compare its notes with the log, and return the history."""
    await fleet.rest()
    history = await asyncio.to_thread(group.history)
    assert faults(history, fleet.notes()) == []
    return history


def lobby_of(history: NodeHistory, match: str) -> str:
    return history.streams[match].lobby


def acknowledged_between(
    fleet: NodeFleet, history: NodeHistory, lobbies: list[str], since: float, until: float
) -> list[Acknowledged]:
    """Return the moves in some lobbies that were acknowledged within a period."""
    return [
        each
        for each in fleet.history
        if isinstance(each, Acknowledged)
        and since < each.at < until
        and lobby_of(history, each.match) in lobbies
    ]


def assert_names_new_owners(node: Node, history: NodeHistory, lobbies: list[str]) -> None:
    """Require that a node that has lost lobbies names the current owner of each."""
    takers = {lobby: taker for lobby, taker, _ in history.take_overs()}
    said = node.said()
    for lobby in lobbies:
        assert re.search(
            rf"lobby {lobby} belongs to node '{takers[lobby]}'.*no longer owns it", said
        )


def assert_no_traceback(group: NodeGroup) -> None:
    assert [each.name for each in group.nodes if "Traceback" in each.said()] == []


@pytest.mark.parametrize("how", ["cut", "hang"])
async def test_a_node_that_has_lost_its_database_hands_over_and_comes_back(
    tmp_path: Path, cluster: PostgresCluster, how: Literal["cut", "hang"]
) -> None:
    """All clients play at another node while the link is still broken."""
    async with (
        asyncio.timeout(120),
        node_group(tmp_path, cluster, ("a", "b")) as group,
        node_fleet(group.proxy.url, PAIRS, PROGRAMME) as fleet,
    ):
        await fleet.all_play()
        node = await group.busiest()
        lobbies = await group.owned_by(node)
        node.link.cut() if how == "cut" else node.link.hang()
        broken = time.monotonic()
        taken = await group.taken_from(node, lobbies)
        await fleet.all_play()
        assert await node.status() == 503
        node.link.mend()
        await group.settled()
        await fleet.all_play()
        history = await checked(group, fleet)
        first_taken = min(at for _, _, at in history.take_overs()) - time.time() + time.monotonic()
        assert broken + ANSWER_S < first_taken < taken
        early = acknowledged_between(fleet, history, lobbies, broken + ANSWER_S, first_taken)
        assert early == []
        assert f"node {node.name} could not send a heartbeat" in node.said()
        assert_names_new_owners(node, history, lobbies)
        assert_no_traceback(group)


async def test_of_two_nodes_that_believe_they_own_a_lobby_one_writes(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    """Moves wait in a frozen node's sockets; it wakes up after another node's takeover."""
    async with (
        asyncio.timeout(120),
        node_group(tmp_path, cluster, ("a", "b")) as group,
        node_fleet(group.proxy.url, PAIRS, PROGRAMME) as fleet,
    ):
        await fleet.all_play()
        node = await group.busiest()
        lobbies = await group.owned_by(node)
        with spectators(node, lobbies) as watching:
            with node.process.frozen():
                frozen = time.monotonic()
                await asyncio.sleep(4 * fleet.think_s)  # the player to move has sent its move
                # Half of the clients are disconnected after their data was sent.
                group.proxy.leave(node.process.port, share=0.5)
                taken = await group.taken_from(node, lobbies)
                await fleet.moved(fleet.moves + 2 * PAIRS)
                node.link.hang()
            # Its batch is sent before a heartbeat can report the lobbies' owners.
            await asyncio.sleep(ANSWER_S)
            node.link.mend()
            await group.settled()
            await fleet.all_play()
            codes = await asyncio.gather(*(asyncio.to_thread(each.close_code) for each in watching))
        history = await checked(group, fleet)
        assert codes == [SERVICE_RESTART] * len(watching)
        early = acknowledged_between(fleet, history, lobbies, frozen + ANSWER_S, taken - EXPIRY_S)
        assert early == []
        assert_names_new_owners(node, history, lobbies)
        assert_no_traceback(group)


@contextlib.contextmanager
def spectators(node: Node, lobbies: list[str]) -> Iterator[list[RawConnection]]:
    """Follow lobbies at a node with connections that always reconnect to it."""
    with contextlib.ExitStack() as stack:
        watching = []
        for number, lobby in enumerate(lobbies):
            connection = greeted_connection(node.process.port, f"watcher {number}")
            watching.append(stack.enter_context(connection))
            answer = connection.ask("join", lobby=lobby, role="spectator")
            assert answer["type"] == "done", answer
        yield watching


@pytest.mark.slow
async def test_a_few_faults_in_a_row_lose_nothing(tmp_path: Path, cluster: PostgresCluster) -> None:
    """One fault of each kind and one more; some exceed the heartbeat's lease, some do not."""
    seed = 3
    async with (
        asyncio.timeout(150),
        node_group(tmp_path, cluster) as group,
        node_fleet(group.proxy.url, 8, PROGRAMME, seed=seed, think_s=0.3) as fleet,
    ):
        await fleet.all_play()
        faults_done = asyncio.create_task(inject(group, FEW_FAULTS))
        await fleet.until(faults_done.done)
        faults_done.result()
        await fleet.all_play()
        await group.settled()
        history = await checked(group, fleet)
        assert len({taker for _, taker, _ in history.take_overs()}) >= 2
        assert_no_traceback(group)


@pytest.mark.slow
async def test_a_hundred_faults_in_a_row_lose_nothing(
    tmp_path: Path, cluster: PostgresCluster, report: ReportFigure
) -> None:
    faulthandler.cancel_dump_traceback_later()  # this takes longer than the test timeout
    seed = int(os.environ.get("KIBITZ_NODE_FAULTS_SEED", "1"))
    count = int(os.environ.get("KIBITZ_NODE_FAULTS", "100"))
    pairs = int(os.environ.get("KIBITZ_NODE_PAIRS", "200"))
    item = drawn_matches(6, games=1000).model_copy(update={"time_control": CLOCK})
    async with (
        asyncio.timeout(60 * 60),
        node_group(tmp_path, cluster) as group,
        node_fleet(group.proxy.url, pairs, item, seed=seed, think_s=3.0) as fleet,
    ):
        await fleet.all_play()
        began = time.monotonic()
        faults_done = asyncio.create_task(inject(group, drawn_faults(seed, count)))
        await fleet.until(faults_done.done)
        done = faults_done.result()
        lasted_s = time.monotonic() - began
        back_s = await fleet.all_play()
        await group.settled()
        history = await checked(group, fleet)
        assert_no_traceback(group)
    matches = [each for each in history.streams.values() if each.kind == "match"]
    ended = sum(each.state == "closed" for each in matches)
    report(
        f"seed {seed}: {dict(done)} in {lasted_s:.0f} s; of {len(matches)} matches in {pairs}"
        f" lobbies {ended} ended; {fleet.moves} moves acknowledged, none lost or doubled;"
        f" {len(list(history.take_overs()))} take-overs of a lobby, no foreign entry; all had"
        f" moved again {back_s:.1f} s after the last fault"
    )
