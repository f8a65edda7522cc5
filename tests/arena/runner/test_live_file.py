from __future__ import annotations

import threading
from pathlib import Path

from kibitz_arena.report.live import LiveEvent
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.journal_file import TournamentJournal
from kibitz_arena.runner.live_file import live_file
from kibitz_arena.runner.publication import Publication
from tests.arena.tournaments import event, play


def opened(path: Path) -> tuple[TournamentDirectory, TournamentJournal, list[str], Publication]:
    directory = TournamentDirectory(path / "cup.arena")
    directory.create(path)
    journal, said = TournamentJournal(directory.journal, event(4, games=10)), list[str]()
    return directory, journal, said, live_file(journal, directory, "L1", said.append)


async def test_the_file_follows_the_event(tmp_path: Path) -> None:
    directory, journal, said, live = opened(tmp_path)
    with journal:
        for most in (1, 5, 1000):
            play(journal.state, most=most, write=journal.append)
            await live.update()
            read = LiveEvent.model_validate_json(directory.live.read_bytes())
            assert read.played == journal.state.played
        assert journal.state.finished
    assert said == []


async def test_nothing_is_written_while_nothing_changes(tmp_path: Path) -> None:
    directory, journal, _, live = opened(tmp_path)
    with journal:
        await live.update()
        directory.live.unlink()
        await live.update()
        assert not directory.live.exists()


async def test_a_failure_is_told_once_and_made_up_for(tmp_path: Path) -> None:
    directory, journal, said, live = opened(tmp_path)
    with journal:
        (directory.path / "live.json.part").mkdir()  # blocks writing, like a full disk
        await live.update()
        await live.update()
        assert len(said) == 1
        assert "not up to date" in said[0]
        (directory.path / "live.json.part").rmdir()
        await live.update()
        assert directory.live.exists()


async def test_it_is_written_while_games_end_in_another_thread(tmp_path: Path) -> None:
    directory, journal, said, live = opened(tmp_path)
    with journal:
        playing = threading.Thread(
            target=play, args=(journal.state,), kwargs={"write": journal.append}
        )
        playing.start()
        while playing.is_alive():
            await live.update()
        playing.join()
        await live.update()
        read = LiveEvent.model_validate_json(directory.live.read_bytes())
        assert read.played == read.planned == 60
    assert said == []
