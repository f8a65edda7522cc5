"""The files for operators: metrics, variables, exit statuses, a dashboard and a systemd unit."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docs.generate import exit_statuses, metrics, sources, variables
from kibitz.commands.serve import SETTINGS, serve
from kibitz_server.app.backend import Backend
from kibitz_server.metrics import GAUGES

ROOT = Path(__file__).parents[2]
DASHBOARD = ROOT / "docs" / "examples" / "grafana.json"
UNIT = ROOT / "docs" / "examples" / "kibitz.service"
MONITORING = ROOT / "docs" / "how-to" / "monitoring.md"
SYSTEMD = ROOT / "docs" / "how-to" / "systemd.md"
DOCUMENTED = {*variables.FOR_USERS, *variables.FOR_PROGRAMS, *variables.FOR_CONTRIBUTORS}
_NAME = re.compile(r"KIBITZ_[A-Z_]*[A-Z]")
_SERIES = re.compile(r"\bkibitz_[a-z_]+")
_READ = re.compile(r"environ(?:\.get\(|\[)[\"'](KIBITZ_[A-Z_]+)")


# --- variables and statuses -----------------------------------------------------------------------


def test_every_variable_that_the_sources_name_is_on_the_page() -> None:
    named = sources.environment_variables()
    assert len(named) > 10
    assert named - DOCUMENTED == set()


def test_every_variable_that_only_tests_read_is_on_the_page() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    read = {name for text in texts for name in _READ.findall(text)}
    assert len(read & variables.FOR_CONTRIBUTORS.keys()) > 3
    assert read - DOCUMENTED == set()


def test_every_variable_on_the_page_is_named_somewhere() -> None:
    places = [ROOT / "docker-compose.cluster.yml", *(ROOT / "tests").rglob("*.py")]
    others = {name for path in places for name in _NAME.findall(path.read_text("utf-8"))}
    assert DOCUMENTED - sources.environment_variables() - others == set()


def test_every_constant_of_an_exit_status_is_on_the_page() -> None:
    explained = exit_statuses.OF_CONSTANTS.keys() | exit_statuses.OF_EVERY_COMMAND
    assert sources.exit_statuses().keys() == explained


# --- metrics --------------------------------------------------------------------------------------


def series() -> set[str]:
    """Return the names that a query may use."""
    suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}
    return {
        f"{family.name}{suffix}"
        for family in metrics.families()
        for suffix in suffixes[family.type]
    }


def expressions(node: Any) -> Iterator[str]:
    """Yield every expression of the dashboard."""
    if isinstance(node, dict):
        yield from (node[key] for key in ("expr", "query") if isinstance(node.get(key), str))
        node = [*node.values()]
    if isinstance(node, list):
        for each in node:
            yield from expressions(each)


def test_every_gauge_of_the_server_has_a_meaning() -> None:
    returned = re.findall(r'"([a-z_]+)"', inspect.getsource(Backend.gauges))
    assert {*returned} == {*GAUGES}


def test_reasons_of_closed_connections_are_found_in_the_sources() -> None:
    assert {"flood", "too slow"} <= {*metrics.drop_reasons()}


def test_the_dashboard_names_every_metric_and_no_other() -> None:
    texts = list(expressions(json.loads(DASHBOARD.read_text())))
    named = {name for text in texts for name in _SERIES.findall(text)}
    assert named - series() == set()
    shown = {family.name for family in metrics.families() if any(family.name in e for e in texts)}
    assert shown == {family.name for family in metrics.families()}


def test_the_expressions_on_the_page_name_metrics() -> None:
    named = {*_SERIES.findall(MONITORING.read_text())}
    assert len(named) > 5
    assert named - series() == set()


# --- systemd --------------------------------------------------------------------------------------


def entries() -> list[tuple[str, str]]:
    """Return the unit's keys and values in order."""
    lines = [line for line in UNIT.read_text().splitlines() if line and line[0] not in "#["]
    assert all("=" in line for line in lines)
    return [(key, value) for key, _, value in (line.partition("=") for line in lines)]


def test_the_unit_starts_the_server_with_variables_that_exist() -> None:
    (command,) = [value for key, value in entries() if key == "ExecStart"]
    program, *words = shlex.split(command)
    assert (Path(program).name, words[0]) == ("kibitz", "serve")
    serve.make_context("serve", words[1:])
    known = DOCUMENTED | {setting.variable for setting in SETTINGS}
    for text in (UNIT.read_text(), SYSTEMD.read_text()):
        assert {*_NAME.findall(text)} - known - {"KIBITZ_SERVE"} == set()


def test_the_unit_gives_the_server_longer_to_end_than_it_takes() -> None:
    from kibitz_server.app.main import EXIT_GRACE_S

    drain = next(setting.default for setting in SETTINGS if setting.name == "drain")
    values = dict(entries())
    assert int(values["TimeoutStopSec"].removesuffix("s")) > drain + EXIT_GRACE_S
    connections = next(each for each in SETTINGS if each.name == "max-connections").shown_default
    assert int(values["LimitNOFILE"]) > int(connections or 0)


def test_the_page_explains_settings_that_the_unit_has() -> None:
    section = SYSTEMD.read_text().partition("## What the unit restricts")[2]
    first = "".join(re.findall(r"^\| (.+?) \|", section, re.MULTILINE))
    named = {*re.findall(r"`([A-Z]\w+)[`=]", first)}
    assert len(named) > 10
    assert named - {key for key, _ in entries()} == set()


@pytest.mark.e2e
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    copy = tmp_path / "kibitz.service"
    copy.write_text(UNIT.read_text().replace("/opt/kibitz/bin/kibitz", sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", copy], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
