"""The containers: the files named in the Compose files, Dockerfile, Caddyfile and script exist."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from kibitz.cli import kibitz
from kibitz.commands.serve import make_config
from kibitz.options.connection import URL
from kibitz.options.database import DatabaseType
from kibitz_arena.ladder.config import load as load_ladder
from kibitz_bots import catalog
from kibitz_games.core import registry

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
CLUSTER: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.cluster.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
NODES = {name: CLUSTER["services"][name] for name in ("node-a", "node-b")}
CADDYFILE = (ROOT / "docker" / "Caddyfile").read_text()
BOTH = pytest.mark.parametrize("compose", [COMPOSE, CLUSTER], ids=["single", "cluster"])
DOCKERFILE = (ROOT / "Dockerfile").read_text()
SCRIPT = ROOT / "docker" / "open-house.sh"
LADDER = ROOT / "docker" / "open-house.yaml"


def kibitz_lines(compose: dict[str, Any]) -> Iterator[list[str]]:
    """Yield the arguments of `kibitz` in all containers."""
    commands = [each["command"] for each in compose["services"].values() if "command" in each]
    for words in commands:
        if words[0] == "kibitz":
            yield words[1:]
    shell = [SCRIPT.read_text(), *(words[-1] for words in commands)]
    for text in shell:
        for found in re.findall(r"(?:^|\s)kibitz ((?:token|host|bot|serve|ladder) [^>\n]+)", text):
            yield shlex.split(found)


def parsed(words: list[str]) -> click.Context:
    """Return the parsed context of a command line."""
    here = [str(LADDER) if word == ladder_file() else word for word in words]
    command: click.Command = kibitz
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), here[0])
        assert found is not None
        command, here = found, here[1:]
    return command.make_context(command.name, here)


def ladder_file() -> str:
    """Return the path of the ladder's file in the image."""
    target = re.search(r"^COPY docker/open-house.yaml (\S+)$", DOCKERFILE, re.MULTILINE)
    assert target is not None
    return target[1]


def lines_of(compose: dict[str, Any], command: str) -> list[list[str]]:
    """Return the words of every line that runs a command."""
    return [words for words in kibitz_lines(compose) if words[0] == command]


@pytest.mark.parametrize(
    "words", [*kibitz_lines(COMPOSE), *kibitz_lines(CLUSTER)], ids=lambda words: words[0]
)
def test_every_command_is_understood(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DatabaseType, "convert", lambda _self, value, *_: value)
    parsed(words)


def test_there_are_as_many_commands_as_services_run() -> None:
    ran = [sorted(words[0] for words in kibitz_lines(each)) for each in (COMPOSE, CLUSTER)]
    assert ran[0] == ["connect", "connect", "ladder", "serve", "token"]
    assert ran[1] == ["connect", "connect", "ladder", "serve", "serve", "token"]


@BOTH
def test_the_games_and_the_bots_that_are_named_exist(compose: dict[str, Any]) -> None:
    ladder = load_ladder(LADDER.read_text(), str(LADDER))
    assert ladder.game.name in registry.names()
    for words in lines_of(compose, "connect"):
        assert parsed(words).params["ladder"] == ladder.name
        catalog.find(words[1])  # with its parameters
        assert words[1].split("/")[0] == ladder.game.name


@BOTH
def test_the_bots_play_all_day(compose: dict[str, Any]) -> None:
    """Services that play never end by design, and are restarted if they do."""
    playing = 0
    for service in compose["services"].values():
        words = service.get("command", ["-"])
        if words[0] != "kibitz":
            continue
        assert service["restart"] == "unless-stopped"
        if words[1] == "connect":
            # A lobby's programme ends, and so does a bot with a limited number of matches.
            params = parsed(words[1:]).params
            assert (params["lobby"], params["matches"], params["rounds"]) == (None, None, None)
            assert params["ladder"] is not None
            playing += 1
    (keep,) = lines_of(compose, "ladder")
    assert keep[1] == "keep"
    assert playing >= load_ladder(LADDER.read_text(), str(LADDER)).seats


@BOTH
def test_every_volume_is_declared_and_every_dependency_is_a_service(
    compose: dict[str, Any],
) -> None:
    for service in compose["services"].values():
        volumes = {volume.split(":")[0] for volume in service.get("volumes", ())}
        files = {each for each in volumes if each.startswith("./")}
        assert volumes - files <= set(compose["volumes"])
        assert all((ROOT / each).is_file() for each in files)
        assert set(service.get("depends_on", {})) <= set(compose["services"])
        assert set(service.get("networks", ())) <= set(compose.get("networks", ()))


def test_the_nodes_are_what_the_server_takes_for_nodes_of_one_database() -> None:
    configs = []
    for name, service in NODES.items():
        words = service["command"][1:]
        params = parsed(words).params
        given = ("host", "port", "node", "public_url", "hosts", "proxies")
        values = {key: params[key] for key in given}
        config = make_config(values | {"db": service["environment"]["KIBITZ_DB"]}, None)
        assert config.public_url == "ws://127.0.0.1:8765"  # behind the proxy: standby nodes
        assert {name, "proxy"} <= set(config.hosts)  # health checks, and the name that clients use
        configs.append(config)
    assert len({config.node for config in configs}) == len(configs)
    assert len({str(config.db) for config in configs}) == 1
    assert str(configs[0].db) == "postgresql://kibitz@postgres/kibitz"


def test_no_password_is_in_the_file_or_on_a_command_line() -> None:
    postgres = CLUSTER["services"]["postgres"]["environment"]
    assert postgres["POSTGRES_PASSWORD"].startswith("${KIBITZ_DB_PASSWORD:?")
    for service in (*NODES.values(), CLUSTER["services"]["open-house"]):
        assert service["environment"]["PGPASSWORD"] == postgres["POSTGRES_PASSWORD"]
        assert "PASSWORD" not in str(service["command"])


def test_the_proxy_asks_every_node_and_is_the_one_that_they_trust() -> None:
    proxied = re.search(r"reverse_proxy (.+) \{", CADDYFILE)
    assert proxied is not None
    assert proxied[1].split() == [f"{name}:8765" for name in NODES]
    assert "health_uri /readyz" in CADDYFILE
    address = CLUSTER["services"]["proxy"]["networks"]["games"]["ipv4_address"]
    (given,) = CLUSTER["networks"]["games"]["ipam"]["config"]
    assert ip_address(address) in ip_network(given["subnet"])
    assert ip_address(address) not in ip_network(given["ip_range"])
    for service in NODES.values():
        assert parsed(service["command"][1:]).params["proxies"] == (address,)
        assert "ports" not in service  # all other clients use the proxy


def test_the_cluster_is_waited_for_in_its_order() -> None:
    services = CLUSTER["services"]
    for name, service in services.items():
        for other, how in service.get("depends_on", {}).items():
            ends = other == "open-house"
            wanted = "service_completed_successfully" if ends else "service_healthy"
            assert how == {"condition": wanted}, name
            assert ends or "healthcheck" in services[other]
    # A standby node is not ready; the proxy routes to a ready one.
    assert "/healthz" in NODES["node-a"]["healthcheck"]["test"][-1]
    assert services["proxy"]["healthcheck"]["test"][-1].endswith("/readyz")


def test_the_image_has_the_driver_of_the_clusters_database() -> None:
    assert "'.[all,postgres]'" in DOCKERFILE


def test_one_port_everywhere() -> None:
    server = SERVICES["server"]
    port = URL.rpartition(":")[2]
    assert server["ports"] == [f"{port}:{port}"]
    assert server["command"][server["command"].index("--port") + 1] == port
    assert f"127.0.0.1:{port}/readyz" in server["healthcheck"]["test"][-1]
    assert f"EXPOSE {port}" in DOCKERFILE
    assert set(re.findall(r"ws://server:(\d+)", str(SERVICES))) == {port}


def test_every_host_of_a_url_is_a_service() -> None:
    assert set(re.findall(r"ws://([a-z-]+):", str(SERVICES))) == {"server"}
    assert set(re.findall(r"ws://([a-z-]+):", str(CLUSTER["services"]))) == {"proxy"}


def test_the_script_is_where_the_services_call_it() -> None:
    target = re.search(r"^COPY docker/open-house.sh (\S+)$", DOCKERFILE, re.MULTILINE)
    assert target is not None
    for each in (COMPOSE, CLUSTER):
        assert each["services"]["open-house"]["command"] == ["sh", target[1]]


@BOTH
def test_everybody_finds_a_token(compose: dict[str, Any]) -> None:
    made = re.search(r"for name in (.+); do", SCRIPT.read_text())
    assert made is not None
    players = [*lines_of(compose, "ladder"), *lines_of(compose, "connect")]
    files = [parsed(words).params["token_file"] for words in players]
    assert sorted(map(str, files)) == sorted(f"/house/{name}.token" for name in made[1].split())
    volumes = {name: each.get("volumes", ()) for name, each in compose["services"].items()}
    assert "house:/house" in volumes["keeper"]  # it also writes the ladder there
    for name in ("greedy", "planner"):
        assert "house:/house:ro" in volumes[name]


@pytest.mark.e2e
@pytest.mark.skipif(shutil.which("sh") is None, reason="no shell on this machine")
def test_the_script_is_sound_shell() -> None:
    subprocess.run(["sh", "-n", str(SCRIPT)], check=True)
