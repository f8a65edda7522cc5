"""The server's packages and the path of a move, compared with the limits of the design."""

from __future__ import annotations

from pathlib import Path

import grimp
import pytest

from tests.tools.data_path import path_of_a_move

SERVER = "kibitz_server"
MAX_ROOMS = 12
MAX_FLOORS = 7
MAX_FILES = 27
MAX_CHANGES = 97
"""Five of the files are parts of SQLiteStore: collecting, writing, compaction, watermark. A match
has two: the runner, and the messages to its viewers."""


def imports_between_rooms() -> dict[str, set[str]]:
    """Return the imports between the server's top-level modules and packages."""
    graph = grimp.build_graph(SERVER, cache_dir=None)
    rooms = {
        child: graph.find_descendants(child) | {child} for child in graph.find_children(SERVER)
    }
    owner = {module: room for room, modules in rooms.items() for module in modules}
    imported: dict[str, set[str]] = {room: set() for room in rooms}
    for module, room in owner.items():
        for other in graph.find_modules_directly_imported_by(module):
            if owner.get(other, room) != room:
                imported[room].add(owner[other])
    return imported


def floors(imported: dict[str, set[str]]) -> dict[str, int]:
    """Return the layer of each package, one above the highest it imports; fail on a cycle."""
    found: dict[str, int] = {}

    def floor(room: str, above: tuple[str, ...]) -> int:
        assert room not in above, f"a circle: {' -> '.join((*above, room))}"
        if room not in found:
            found[room] = 1 + max(
                (floor(each, (*above, room)) for each in imported[room]), default=0
            )
        return found[room]

    for room in imported:
        floor(room, ())
    return found


def test_the_server_has_few_rooms_on_few_floors_without_a_circle() -> None:
    imported = imports_between_rooms()
    assert len(imported) <= MAX_ROOMS, sorted(imported)
    assert max(floors(imported).values()) <= MAX_FLOORS, floors(imported)


def test_a_circle_is_found() -> None:
    with pytest.raises(AssertionError, match="a circle: a -> b -> a"):
        floors({"a": {"b"}, "b": {"a"}})


def test_a_move_passes_few_files(tmp_path: Path) -> None:
    path = path_of_a_move(tmp_path)
    assert len(path.files) <= MAX_FILES, sorted(path.files)
    assert path.changes <= MAX_CHANGES, path.calls
