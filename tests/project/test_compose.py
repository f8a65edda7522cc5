"""The containers: what docker-compose.yml, Dockerfile and the script name is there."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from kibitz.cli import kibitz
from kibitz.options.connection import URL

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
SCRIPT = ROOT / "docker" / "open-house.sh"


def kibitz_lines() -> Iterator[list[str]]:
    """Yield the words behind `kibitz` wherever the containers run it."""
    for service in SERVICES.values():
        words = service["command"]
        if words[0] == "kibitz":
            yield words[1:]
    shell = [SCRIPT.read_text(), *(s["command"][-1] for s in SERVICES.values())]
    for text in shell:
        for found in re.findall(r"(?:^|\s)kibitz ((?:token|host|bot|serve) [^>\n]+)", text):
            yield shlex.split(found.replace("$$(cat /house/lobby)", "CODE"))


@pytest.mark.parametrize("words", list(kibitz_lines()), ids=lambda words: words[0])
def test_every_command_is_understood(words: list[str]) -> None:
    command: click.Command = kibitz
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words[0])
        assert found is not None
        command, words = found, words[1:]
    command.make_context(command.name, list(words))


def test_there_are_as_many_commands_as_services_run() -> None:
    ran = sorted(words[0] for words in kibitz_lines())
    assert ran == ["bot", "bot", "host", "serve", "token"]


def test_every_volume_is_declared_and_every_dependency_is_a_service() -> None:
    for service in SERVICES.values():
        assert {volume.split(":")[0] for volume in service["volumes"]} <= set(COMPOSE["volumes"])
        assert set(service.get("depends_on", {})) <= set(SERVICES)


def test_one_port_everywhere() -> None:
    server = SERVICES["server"]
    port = URL.rpartition(":")[2]
    assert server["ports"] == [f"{port}:{port}"]
    assert server["command"][server["command"].index("--port") + 1] == port
    assert f"127.0.0.1:{port}/readyz" in server["healthcheck"]["test"][-1]
    assert f"EXPOSE {port}" in DOCKERFILE
    assert f"ws://server:{port}" in SCRIPT.read_text()


def test_every_host_of_a_url_is_a_service() -> None:
    text = SCRIPT.read_text() + str(SERVICES)
    assert set(re.findall(r"ws://([a-z-]+):", text)) == {"server"}


def test_the_image_copies_what_is_there_and_what_the_context_lets_through() -> None:
    context = (ROOT / ".dockerignore").read_text().splitlines()
    for line in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE):
        for source in line.split():
            assert (ROOT / source).exists(), source
            path = Path(source)
            let_through = {f"!{each}" for each in [path, *path.parents]}
            assert let_through & {*context}, source


def test_the_image_has_every_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    copied = set(re.findall(r"^COPY (\S+) \S+$", DOCKERFILE, re.MULTILINE))
    assert {package.split("/")[0] for package in packages} <= copied


def test_the_script_is_where_the_services_call_it() -> None:
    target = re.search(r"^COPY docker/open-house.sh (\S+)$", DOCKERFILE, re.MULTILINE)
    assert target is not None
    assert SERVICES["open-house"]["command"] == ["sh", target[1]]


def test_every_bot_finds_its_token_and_its_seat() -> None:
    made = re.search(r"for name in (.+); do", SCRIPT.read_text())
    seats = re.search(r"--seats (\S+)", SCRIPT.read_text())
    assert made is not None
    assert seats is not None
    bots = [name for name, s in SERVICES.items() if "kibitz bot" in s["command"][-1]]
    assert set(made[1].split()) == {"host", *bots}
    assert seats[1] == ",".join(f"name={bot}" for bot in bots)
    for bot in bots:
        assert f"/house/{bot}.token" in SERVICES[bot]["command"][-1]


@pytest.mark.e2e
@pytest.mark.skipif(shutil.which("sh") is None, reason="no shell on this machine")
def test_the_script_is_sound_shell() -> None:
    subprocess.run(["sh", "-n", str(SCRIPT)], check=True)
