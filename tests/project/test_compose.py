"""The containers: what the Compose files, Dockerfile, Caddyfile and the script name is there."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
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

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
CLUSTER: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.cluster.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
NODES = {name: CLUSTER["services"][name] for name in ("node-a", "node-b")}
CADDYFILE = (ROOT / "docker" / "Caddyfile").read_text()
BOTH = pytest.mark.parametrize("compose", [COMPOSE, CLUSTER], ids=["single", "cluster"])
DOCKERFILE = (ROOT / "Dockerfile").read_text()
SCRIPT = ROOT / "docker" / "open-house.sh"


def kibitz_lines(compose: dict[str, Any]) -> Iterator[list[str]]:
    """Yield the words behind `kibitz` wherever the containers run it."""
    commands = [each["command"] for each in compose["services"].values() if "command" in each]
    for words in commands:
        if words[0] == "kibitz":
            yield words[1:]
    shell = [SCRIPT.read_text(), *(words[-1] for words in commands)]
    for text in shell:
        for found in re.findall(r"(?:^|\s)kibitz ((?:token|host|bot|serve) [^>\n]+)", text):
            yield shlex.split(found.replace("$$(cat /house/lobby)", "CODE"))


def parsed(words: list[str]) -> click.Context:
    """Return what the command makes of its words."""
    command: click.Command = kibitz
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words[0])
        assert found is not None
        command, words = found, words[1:]
    return command.make_context(command.name, list(words))


@pytest.mark.parametrize(
    "words", [*kibitz_lines(COMPOSE), *kibitz_lines(CLUSTER)], ids=lambda words: words[0]
)
def test_every_command_is_understood(words: list[str]) -> None:
    parsed(words)


def test_there_are_as_many_commands_as_services_run() -> None:
    ran = [sorted(words[0] for words in kibitz_lines(each)) for each in (COMPOSE, CLUSTER)]
    assert ran[0] == ["bot", "bot", "host", "serve", "token"]
    assert ran[1] == ["bot", "bot", "host", "serve", "serve", "token"]


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
        assert config.public_url == "ws://127.0.0.1:8765"  # the proxy's: they stand by
        assert {name, "proxy"} <= set(config.hosts)  # health checks, and whom clients ask for
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
        assert "ports" not in service  # everybody else comes through the proxy


def test_the_cluster_is_waited_for_in_its_order() -> None:
    services = CLUSTER["services"]
    for name, service in services.items():
        for other, how in service.get("depends_on", {}).items():
            ends = other == "open-house"
            wanted = "service_completed_successfully" if ends else "service_healthy"
            assert how == {"condition": wanted}, name
            assert ends or "healthcheck" in services[other]
    # A node that stands by is not ready, and the proxy is where one of them is.
    assert "/healthz" in NODES["node-a"]["healthcheck"]["test"][-1]
    assert services["proxy"]["healthcheck"]["test"][-1].endswith("/readyz")


def test_the_image_has_the_driver_of_the_clusters_database() -> None:
    assert "'.[postgres]'" in DOCKERFILE


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
    cluster = CLUSTER["services"]
    assert set(re.findall(r"ws://([a-z-]+):", str(cluster))) == {"proxy"}
    assert cluster["open-house"]["environment"]["KIBITZ_SERVER"] == "ws://proxy:8765"


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
    for each in (COMPOSE, CLUSTER):
        assert each["services"]["open-house"]["command"] == ["sh", target[1]]


@BOTH
def test_every_bot_finds_its_token_and_its_seat(compose: dict[str, Any]) -> None:
    services = compose["services"]
    made = re.search(r"for name in (.+); do", SCRIPT.read_text())
    seats = re.search(r"--seats (\S+)", SCRIPT.read_text())
    assert made is not None
    assert seats is not None
    bots = [name for name, s in services.items() if "kibitz bot" in str(s.get("command"))]
    assert set(made[1].split()) == {"host", *bots}
    assert seats[1] == ",".join(f"name={bot}" for bot in bots)
    for bot in bots:
        assert f"/house/{bot}.token" in services[bot]["command"][-1]


@pytest.mark.e2e
@pytest.mark.skipif(shutil.which("sh") is None, reason="no shell on this machine")
def test_the_script_is_sound_shell() -> None:
    subprocess.run(["sh", "-n", str(SCRIPT)], check=True)
