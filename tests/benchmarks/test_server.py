"""What the benchmark of the server says about itself, without running one."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from benchmarks import server

PACKAGES = ("protocol", "games", "server")


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a compiled server."""
    made = tmp_path / "build"
    for name in PACKAGES:
        for place in (tmp_path / name, made):
            package = place / f"kibitz_{name}"
            package.mkdir(parents=True)
            (package / "rules.py").write_text(f"{name} = 1\n")
    engine = made / "kibitz_server" / "match" / "engine.cpython.so"
    engine.parent.mkdir()
    engine.touch()
    monkeypatch.setattr(server, "ROOT", tmp_path)
    monkeypatch.setattr(server, "COMPILED", made)
    return tmp_path


def test_a_build_of_these_sources_is_measured(built: Path) -> None:
    assert server.unfit_build() is None


def test_a_build_of_other_sources_is_not(built: Path) -> None:
    (built / "games" / "kibitz_games" / "rules.py").write_text("games = 2\n")
    assert server.unfit_build() == "other sources are compiled: `make compiled`"


async def test_without_a_build_the_section_says_how_to_make_one(built: Path) -> None:
    next(server.COMPILED.rglob("engine.*.so")).unlink()
    told = await server.compiled(quick=True)
    assert told == {"not measured": "nothing is compiled: `make compiled`"}
    assert "- not measured: nothing is compiled" in "\n".join(
        server.section_lines("compiled", told)
    )


def test_a_page_names_the_command_and_the_machine_but_no_place() -> None:
    command = server.invocation(True, ["saturation", "compiled"])
    assert command == "python -m benchmarks.server --quick --only saturation compiled"
    text = server.page(command, {"memory": {"KiB an idle connection": 6.5}})
    assert command in text
    assert " cores of " in text
    assert "- KiB an idle connection: 6.50" in text
    assert str(server.ROOT) not in text
    assert platform.node() not in text.split()


def test_every_section_has_a_title_and_a_line_in_the_help() -> None:
    assert set(server.TITLES) == set(server.SECTIONS)
    assert server.__doc__ is not None
    for name in server.SECTIONS:
        assert f"\n  {name} " in server.__doc__
