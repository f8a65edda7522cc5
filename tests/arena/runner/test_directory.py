"""The directory of a tournament: secrets, paths, names."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from kibitz_arena.runner.directory import (
    HostSession,
    NoTournamentError,
    TournamentDirectory,
    safe_filename,
)
from kibitz_arena.runner.journal_file import TournamentJournal
from tests.arena.tournaments import event


@pytest.fixture
def folder(tmp_path: Path) -> TournamentDirectory:
    made = TournamentDirectory(tmp_path / "cup.arena")
    made.create(tmp_path)
    return made


def test_it_knows_the_event_that_was_begun_in_it(folder: TournamentDirectory) -> None:
    with TournamentJournal(folder.journal, event(4, blocks=2)):
        pass
    assert folder.tournament() == event(4, blocks=2)


def test_where_nothing_has_begun_there_is_no_event(folder: TournamentDirectory) -> None:
    with pytest.raises(
        NoTournamentError, match=r"expected a tournament's directory, with journal\.jsonl"
    ):
        folder.tournament()
    folder.journal.touch()
    with pytest.raises(
        NoTournamentError, match=r"the tournament has not started; pass the tournament file"
    ):
        folder.tournament()


def test_paths_of_the_event_move_with_its_directory(tmp_path: Path) -> None:
    (tmp_path / "then").mkdir()
    TournamentDirectory(tmp_path / "then" / "cup.arena").create(tmp_path / "then")
    moved = (tmp_path / "then").rename(tmp_path / "now")
    assert TournamentDirectory(moved / "cup.arena").base() == moved


def test_without_an_origin_paths_are_seen_from_beside_it(folder: TournamentDirectory) -> None:
    (folder.path / "origin.json").unlink()
    assert folder.base() == folder.path.parent


def test_secrets_are_for_their_owner_only_and_can_be_forgotten(folder: TournamentDirectory) -> None:
    place = HostSession(resume="secret-1", lobby="L1", server="ws://here:1")
    folder.save_host_session(place)
    folder.save_secret("Ada", "secret-2")
    for path in (folder.path / "host.resume", folder.secret_path("Ada")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (folder.host_session(), folder.load_secret("Ada"), folder.load_secret("Bob")) == (
        place,
        "secret-2",
        None,
    )
    folder.remove_secrets()
    assert (folder.host_session(), folder.load_secret("Ada")) == (None, None)


def test_a_secret_that_is_empty_is_none(folder: TournamentDirectory) -> None:
    folder.save_secret("Ada", "")
    assert folder.load_secret("Ada") is None
    (folder.path / "host.resume").write_text('{"resume"')
    assert folder.host_session() is None


@pytest.mark.parametrize("name", ["Ada", "a.b-c_9", "../x", "a b", "é", "a/b", "%2f"])
def test_names_make_files_of_their_own(name: str) -> None:
    assert "/" not in safe_filename(name)
    others = {"Ada", "a.b-c_9", "../x", "a b", "é", "a/b", "%2f"} - {name}
    assert safe_filename(name) not in {safe_filename(other) for other in others}


def test_the_directory_of_an_event_is_for_nobody_else(folder: TournamentDirectory) -> None:
    assert folder.path.stat().st_mode & 0o777 == 0o700
