"""The publisher and the reports: files that follow the ladder, and disks that fail."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from kibitz_arena.ladder.directory import LadderDirectory
from kibitz_arena.ladder.publisher import Publisher
from kibitz_arena.ladder.reports import TRIES, LossReports
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.refusals import Code
from tests.arena.ladder.test_feed import played


def publisher(path: Path, told: list[str]) -> Publisher:
    directory = LadderDirectory(path)
    directory.create()
    return Publisher(
        played(),
        directory,
        "ws://127.0.0.1:1",
        here=lambda: ["ada@2"],
        reports=dict,
        now=lambda: 1_700_000_000_000,
        tell=told.append,
    )


async def test_page_and_feed_are_written(tmp_path: Path) -> None:
    of = publisher(tmp_path / "l", [])
    assert of.rating("ada@2") == 1000, "newcomers begin at the mean of the anchors"
    await of.publication.update()
    feed = json.loads((tmp_path / "l/public/ladder.json").read_text())
    assert feed["games"] == 4
    assert "ada@2" in (tmp_path / "l/public/index.html").read_text()
    rated = {line["entrant"]: line["rating"] for line in feed["lines"]}
    assert of.rating("ada@2") == pytest.approx(rated["ada@2"], abs=0.01)
    assert sorted(os.listdir(tmp_path / "l/public")) == ["index.html", "ladder.json"]


async def test_a_failing_disk_is_told_once_and_got_over(tmp_path: Path) -> None:
    told: list[str] = []
    of = publisher(tmp_path / "l", told)
    blocked = tmp_path / "l/public/ladder.json.part"
    blocked.mkdir()
    await of.publication.update()
    await of.publication.update()
    assert len(told) == 1
    blocked.rmdir()
    await of.publication.update()
    assert (tmp_path / "l/public/ladder.json").exists()


async def test_reports_are_of_last_losses_by_a_fault(tmp_path: Path) -> None:
    asked: list[str] = []

    async def fetch(match: str, path: Path) -> None:
        asked.append(match)
        await asyncio.to_thread(path.write_text, "why")

    stale = tmp_path / "m99.report.txt"
    stale.write_text("of long ago")
    of = LossReports(played(), tmp_path, fetch, lambda line: None)
    await of.update()
    await of.update()
    assert asked == ["m3", "m4"]
    assert {*of.files()} == {"m3", "m4"}
    assert of.files()["m3"] == f"{tmp_path.name}/m3.report.txt"
    assert not stale.exists()


async def test_a_report_that_is_refused_is_given_up(tmp_path: Path) -> None:
    asked: list[str] = []
    told: list[str] = []

    async def fetch(match: str, path: Path) -> None:
        asked.append(match)
        raise RefusedError(Code.NO_SUCH_MATCH, "gone")

    of = LossReports(played(), tmp_path, fetch, told.append)
    for _ in range(TRIES + 3):
        await of.update()
        await asyncio.sleep(0)
    assert len(asked) == 2 * TRIES
    assert len(told) == 2
