"""Settings of `kibitz serve` on the command line, in the environment and in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from kibitz.commands.serve import PROCESS_SETTINGS, SETTINGS, serve
from kibitz.options.database import DATABASE
from kibitz.options.settings import Setting
from kibitz.process import private_server
from kibitz.text import rule_pages
from kibitz_server.app import Config

HOUSE: Mapping[str, Any] = {"pace": 0.5, "bot_memory": 77, "bot_cpu": 5}
VALUES: Mapping[str, Any] = {
    "host": "127.0.0.2",
    "port": 1234,
    "db": "own.db",
    "name": "club",
    "guests": "nobody",
    "guests_from": ["192.0.2.7=40", "10.0.0.0/8=9"],
    "operator": ["ada", "bob"],
    "origin": ["https://a.example", "https://b.example"],
    "allow_host": ["a.example", "b.example"],
    "trusted_proxy": ["10.0.0.0/8", "192.0.2.1"],
    "keep": "12w",
    "max_connections": 11,
    "max_lobbies": 12,
    "max_house_bots": 0,
    "drain": 1.5,
    "notes": True,
    "no_web": True,
    "no_analysis": True,
    "unlimited": True,
    "log_level": "info",
    "public_boards": True,
    **HOUSE,
}
"""A non-default value of each setting, as in a file."""
NODE = {"node": "alpha", "public_url": "wss://a.example", "db": "postgresql://x@y/z"}
"""Settings that must be set together."""
RULES = cache(rule_pages.fragments)
"""The pages of the rules, which no setting changes."""


class Started:
    """Records the arguments that the server was started with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
        self.config: Config | None = None
        self.house: tuple[Any, ...] = ()
        self.has_site = False
        self.analyzes = False
        self.log_level = ""
        self.directory = directory
        monkeypatch.chdir(directory)
        monkeypatch.setattr("kibitz_server.app.run", self._run)
        monkeypatch.setattr(rule_pages, "fragments", RULES)
        monkeypatch.setattr("kibitz.commands.serve._log", self._log)
        monkeypatch.setattr("kibitz.process.house_bots.LocalBotLauncher", self._launcher)

    def _run(
        self, config: Config, *_: object, site: object, analysis_command: object, **__: object
    ) -> None:
        self.config, self.has_site = config, site is not None
        self.analyzes = analysis_command is not None

    def _log(self, level: str) -> None:
        self.log_level = level

    def _launcher(self, *given: Any) -> None:
        self.house = given

    def start(
        self, words: Sequence[str] = (), env: Mapping[str, str] | None = None, file: str = ""
    ) -> Result:
        (self.directory / "kibitz.toml").write_text(file)
        given = ["--config", "kibitz.toml", *words]
        return CliRunner().invoke(serve, given, env=env or {})

    @property
    def values(self) -> dict[str, Any]:
        """The value of each setting."""
        assert self.config is not None
        pace, limits = self.house
        found = dict(zip(limits[::2], limits[1::2], strict=True))
        beside: dict[str, Any] = {"pace": pace, "no_web": not self.has_site}
        beside |= {"no_analysis": not self.analyzes, "log_level": self.log_level}
        beside |= {"bot_memory": int(found["--resident"])}
        beside |= {"bot_cpu": int(found["--cpu"]) if "--cpu" in found else None}
        for setting in SETTINGS:
            if setting.param not in PROCESS_SETTINGS:
                part = getattr(self.config, setting.part) if setting.part else self.config
                beside[setting.param] = getattr(part, setting.param)
        return beside


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Started:
    return Started(monkeypatch, tmp_path)


def as_words(key: str, value: Any) -> list[str]:
    option = f"--{key.replace('_', '-')}"
    if value is True:
        return [option]
    values = value if isinstance(value, list) else [value]
    return [word for each in values for word in (option, str(each))]


def as_variable(key: str, value: Any) -> dict[str, str]:
    values = value if isinstance(value, list) else [value]
    return {f"KIBITZ_SERVE_{key.upper()}": " ".join(map(str, values))}


def as_toml(key: str, value: Any) -> str:
    return f"{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}\n"


def spellings(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the arguments of `Started.start` for each spelling of the settings."""
    pairs = values.items()
    return [
        {"words": [word for pair in pairs for word in as_words(*pair)]},
        {"env": {k: v for pair in pairs for k, v in as_variable(*pair).items()}},
        {"file": "".join(as_toml(*pair) for pair in pairs)},
        {"file": "".join(as_toml(key.replace("_", "-"), value) for key, value in pairs)},
    ]


def test_every_setting_is_tried() -> None:
    assert {setting.key for setting in SETTINGS} == {*VALUES, *NODE}


@pytest.mark.parametrize("key", VALUES)
def test_a_setting_means_the_same_in_every_spelling(started: Started, key: str) -> None:
    assert started.start().exit_code == 0
    [setting] = [each for each in SETTINGS if each.key == key]
    default, found = started.values, []
    for spelling in spellings({key: VALUES[key]}):
        done = started.start(**spelling)
        assert done.exit_code == 0, done.output
        assert started.values | {setting.param: 0} == default | {setting.param: 0}
        found.append(started.values[setting.param])
    assert found == [found[0]] * 4
    assert found[0] != default[setting.param]


def test_settings_of_a_node_mean_the_same_in_every_spelling(started: Started) -> None:
    for spelling in spellings(NODE):
        assert started.start(**spelling).exit_code == 0
        assert started.config is not None
        assert (started.config.node, started.config.public_url) == ("alpha", "wss://a.example")


@pytest.mark.parametrize("setting", [each for each in SETTINGS if each.part is None])
def test_the_name_of_the_field_is_a_key_too(started: Started, setting: Setting) -> None:
    values = {setting.param: {**VALUES, **NODE}[setting.key]}
    if setting.key in NODE:
        values = NODE
    done = started.start(file="".join(as_toml(*pair) for pair in values.items()))
    assert done.exit_code == 0, done.output


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(
    started: Started,
) -> None:
    file = "max_lobbies = 3\nname = 'file'\nguests = 'nobody'\n[quotas]\nlobbies = 2\n"
    env = {"KIBITZ_SERVE_NAME": "variable", "KIBITZ_SERVE_GUESTS": "anyone"}
    done = started.start(["--guests", "loopback"], env, file)
    assert done.exit_code == 0, done.output
    config = started.config
    assert config is not None
    assert (config.guests, config.name) == ("loopback", "variable")
    assert (config.quotas.lobbies_in_all, config.quotas.lobbies) == (3, 2)


def test_a_table_of_the_file_holds_where_no_setting_is_given(started: Started) -> None:
    assert started.start(file="[quotas]\nconnections = 5\n[keeping]\ndays = 3\n").exit_code == 0
    assert started.config is not None
    assert (started.config.quotas.connections, started.config.keeping.days) == (5, 3)


WRONG: Mapping[str, Sequence[Any]] = {
    "port": ("http", 1.5, True, -1, 65536),
    "guests": ("friends", 1),
    "keep": ("90", 90, "0d"),
    "max_connections": (0, "many", True),
    "max_lobbies": (0,),
    "max_house_bots": (-1,),
    "drain": (-1, "long", True),
    "pace": (-1, 61, "slow", True),
    "bot_memory": (0, "1G"),
    "bot_cpu": (0, 1.5),
    "notes": ("yes", 1),
    "no_web": ("yes", 1),
    "no_analysis": ("yes", 1),
    "unlimited": (1,),
    "log_level": ("loud", 1),
    "name": (1, True, ["a"]),
    "allow_host": ("a.example", [1]),
    "trusted_proxy": (["proxy"], "10.0.0.0/8"),
    "guests_from": (["192.0.2.7"], [40]),
    "origin": (["null"],),
}


@pytest.mark.parametrize(("key", "value"), [(k, v) for k in WRONG for v in WRONG[k]])
def test_an_error_in_a_file_names_the_key_and_nothing_else(
    started: Started, key: str, value: Any
) -> None:
    done = started.start(file=as_toml(key, value) + "operator = ['s3cret']\n")
    told = " ".join(done.output.split())
    assert done.exit_code == 2
    assert started.config is None
    assert f"{key}: " in told or f"{key.replace('_', '-')}: " in told, told
    assert "s3cret" not in told
    assert len(told.partition("Error: ")[2]) < 200


@pytest.mark.parametrize("number", ["nan", "inf"])
def test_a_number_in_a_file_is_finite(started: Started, number: str) -> None:
    done = started.start(file=f"pace = {number}\n")
    assert (done.exit_code, "pace: expected a number from 0 to 60" in done.output) == (2, True)


@pytest.mark.parametrize("key", [key for key in WRONG if key not in {"name", "allow_host"}])
def test_an_error_in_a_variable_names_it(started: Started, key: str) -> None:
    value = WRONG[key][0]
    if isinstance(value, bool) or key in {"notes", "no_web", "no_analysis", "unlimited"}:
        value = "perhaps"
    done = started.start(env=as_variable(key, value))
    assert done.exit_code == 2
    assert f"{key.replace('_', '-')}" in done.output


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("pacee = 1\n", "pacee: unknown key; did you mean pace?"),
        ("zzz = 1\n", "zzz: unknown key"),
        ("hosts = ['a']\nallow_host = ['b']\n", "allow_host: duplicate key"),
        ("quotas = 3\n", "quotas: expected a table"),
        ("[quotas]\nlobbys = 1\n", "quotas.lobbys: unknown key; did you mean lobbies?"),
        ("[quotas]\nlobbies = 'x'\n", "quotas.lobbies: Input should be a valid integer"),
        ("organizer = 's3cret'\n", "organizer: String should have at least 32 characters"),
        ("node = 'alpha'\n", "node and public_url must be given together"),
    ],
)
def test_an_error_is_a_sentence(started: Started, file: str, expected: str) -> None:
    done = started.start(file=file)
    told = " ".join(done.output.split())
    assert done.exit_code == 2
    assert f"kibitz.toml: {expected}" in told
    assert "s3cret" not in told
    assert str(DATABASE) not in told


def test_the_shown_defaults_are_those_of_the_server(started: Started) -> None:
    assert started.start().exit_code == 0
    for setting in SETTINGS:
        if setting.part == "quotas":
            assert setting.shown_default == str(started.values[setting.param])


def test_a_private_server_reads_none_of_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in SETTINGS:
        monkeypatch.setenv(setting.variable, "x")
    assert not {setting.variable for setting in SETTINGS} & {*private_server._environment()}


def test_flags_and_numbers_say_what_they_may_be() -> None:
    said = {setting.key: setting.expected() for setting in SETTINGS}
    assert said["port"] == "a whole number from 0 to 65535"
    assert said["max_lobbies"] == "a whole number from 1 to 1000000000"
    assert said["no_web"] == "true or false"
    assert said["allow_host"] == "a list of strings: NAME"
    assert isinstance(SETTINGS[0].kind, click.ParamType)
