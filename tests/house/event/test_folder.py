"""The directory of an event: secrets, paths, names."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from kibitz.event.folder import EventFolder, NoEvent, Place, safe, write
from kibitz_clients.arena.journal import Journal
from tests.clients.arena.events import event


@pytest.fixture
def folder(tmp_path: Path) -> EventFolder:
    made = EventFolder(tmp_path / "cup.arena")
    made.make(tmp_path)
    return made


def test_it_knows_the_event_that_was_begun_in_it(folder: EventFolder) -> None:
    with Journal(folder.journal, event(4, blocks=2)):
        pass
    assert folder.event() == event(4, blocks=2)


def test_where_nothing_has_begun_there_is_no_event(folder: EventFolder) -> None:
    with pytest.raises(NoEvent, match=r"expected an event's directory, with event\.jsonl"):
        folder.event()
    folder.journal.touch()
    with pytest.raises(NoEvent, match=r"nothing has begun here; name the event's own file"):
        folder.event()


def test_paths_of_the_event_move_with_its_directory(tmp_path: Path) -> None:
    (tmp_path / "then").mkdir()
    EventFolder(tmp_path / "then" / "cup.arena").make(tmp_path / "then")
    moved = (tmp_path / "then").rename(tmp_path / "now")
    assert EventFolder(moved / "cup.arena").base() == moved


def test_without_an_origin_paths_are_seen_from_beside_it(folder: EventFolder) -> None:
    (folder.path / "origin.json").unlink()
    assert folder.base() == folder.path.parent


def test_secrets_are_for_their_owner_only_and_can_be_forgotten(folder: EventFolder) -> None:
    place = Place(resume="secret-1", lobby="L1", server="ws://here:1")
    folder.keep_place(place)
    folder.keep_secret("Ada", "secret-2")
    for path in (folder.path / "host.resume", folder.secret("Ada")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (folder.place(), folder.known("Ada"), folder.known("Bob")) == (place, "secret-2", None)
    folder.forget()
    assert (folder.place(), folder.known("Ada")) == (None, None)


def test_a_secret_that_is_empty_is_none(folder: EventFolder) -> None:
    folder.keep_secret("Ada", "")
    assert folder.known("Ada") is None
    (folder.path / "host.resume").write_text('{"resume"')
    assert folder.place() is None


@pytest.mark.parametrize("name", ["Ada", "a.b-c_9", "../x", "a b", "é", "a/b", "%2f"])
def test_names_make_files_of_their_own(name: str) -> None:
    assert "/" not in safe(name)
    others = {"Ada", "a.b-c_9", "../x", "a b", "é", "a/b", "%2f"} - {name}
    assert safe(name) not in {safe(other) for other in others}


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = write(tmp_path / "results.json", "old")
    assert write(path, "newer") == path
    assert path.read_text() == "newer"
    assert [each.name for each in tmp_path.iterdir()] == ["results.json"]
