"""The command line and the report of the server benchmark, without running one."""

from __future__ import annotations

import platform

from benchmarks import server


def test_a_page_names_the_command_and_the_machine_but_no_place() -> None:
    command = server.invocation(True, ["saturation", "pace"])
    assert command == "python -m benchmarks.server --quick --only saturation pace"
    text = server.page(command, {"memory": {"KiB per idle connection": 6.5}})
    assert command in text
    assert " cores of " in text
    assert "- KiB per idle connection: 6.50" in text
    assert str(server.ROOT) not in text
    assert platform.node() not in text.split()


def test_every_section_has_a_title_and_a_line_in_the_help() -> None:
    assert set(server.TITLES) == set(server.SECTIONS)
    assert server.__doc__ is not None
    for name in server.SECTIONS:
        assert f"\n  {name} " in server.__doc__
