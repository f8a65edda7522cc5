"""Settings of a command: one table for the command line, the environment and the file.

A setting named ``allow-host`` is the option ``--allow-host``, the variable
``KIBITZ_SERVE_ALLOW_HOST`` and the key ``allow_host`` (or ``allow-host``) of a TOML file. The
command line wins over the environment, the environment over the file, and the file over the
default.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
PREFIX = "KIBITZ_SERVE_"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A setting, with its names on the command line, in the environment and in the file."""

    name: str
    """The option without its dashes: ``allow-host``."""
    param: str
    """The name of the command's parameter and of the configuration field."""
    kind: click.ParamType[Any]
    help: str
    part: str | None = None
    """The table of the file with this field, such as ``quotas``; None at the top level."""
    default: Any = None
    shown_default: str | None = None
    """The text for the default in the help, if it is not a plain value."""
    metavar: str | None = None
    multiple: bool = False
    variables: tuple[str, ...] = ()
    """Other names of the environment variable."""

    @property
    def key(self) -> str:
        """The key in the file."""
        return self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        """The environment variable."""
        return PREFIX + self.key.upper()

    @property
    def is_flag(self) -> bool:
        return self.kind is click.BOOL

    def option(self) -> Callable[[F], F]:
        """Return the click option, which also reads the environment variable."""
        more: dict[str, Any] = {"is_flag": True} if self.is_flag else {"type": self.kind}
        if not self.is_flag:
            more |= {"metavar": self.metavar, "default": self.default, "multiple": self.multiple}
        shown = f"  [default: {self.shown_default}]" if self.shown_default else ""
        return click.option(
            f"--{self.name}",
            self.param,
            envvar=[self.variable, *self.variables],
            help=self.help + shown,
            show_default=self.default is not None and not shown,
            **more,
        )

    def expected(self) -> str:
        """Describe the allowed values."""
        match self.kind:
            case click.Choice(choices=choices):
                return f"one of {', '.join(choices)}"
            case click.FloatRange(min=least, max=most):
                kind = "number"
            case click.IntRange(min=least, max=most):
                kind = "whole number"
            case _:
                kind = "true or false" if self.is_flag else f"a string: {self.metavar or 'NAME'}"
                return f"a list of strings: {self.metavar}" if self.multiple else kind
        bounds = (
            f"from {least:.15g} to {most:.15g}" if most is not None else f"of at least {least:g}"
        )
        return f"a {kind} {bounds}"

    def read(self, value: object) -> Any:
        """Return a value from the file in the form that click parses; raises `ValueError`."""
        if self.multiple:
            if not isinstance(value, list):
                raise ValueError(f"expected {self.expected()}")
            return tuple(self._checked(part) for part in value)
        return self._checked(value)

    def _checked(self, value: Any) -> Any:
        numbers: tuple[type, ...] = (int, float)
        match self.kind:
            case click.IntRange():
                fits = type(value) is int
            case click.FloatRange():
                fits = type(value) in numbers and math.isfinite(value)
            case _:
                fits = type(value) is (bool if self.is_flag else str)
        try:
            if fits:
                self.kind.convert(value, None, None)
                return value
        except click.BadParameter as error:
            if isinstance(self.kind, click.IntRange | click.FloatRange | click.Choice):
                raise ValueError(f"expected {self.expected()}") from None
            raise ValueError(error.message) from None
        raise ValueError(f"expected {self.expected()}")


def options(settings: Sequence[Setting]) -> Callable[[F], F]:
    """Decorate a command with an option for each setting."""

    def decorate(command: F) -> F:
        for setting in reversed(settings):
            command = setting.option()(command)
        return command

    return decorate


def read_table(
    settings: Sequence[Setting], table: Mapping[str, object], others: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the table of a file into setting values by `param`, and the keys in `others`.

    Raises `ValueError` with the key and what was expected.
    """
    spellings = dict(_spellings(settings))
    values: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for key, value in table.items():
        setting = spellings.get(key)
        if setting is None and key not in others:
            raise ValueError(unknown(key, [*spellings, *others]))
        if setting is None:
            rest[key] = value
            continue
        if setting.param in values:
            raise ValueError(f"{key}: duplicate key; the file also has it under another name")
        try:
            values[setting.param] = setting.read(value)
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from None
    return values, rest


def unknown(key: str, known: Sequence[str]) -> str:
    """Return the error for an unknown key."""
    close = difflib.get_close_matches(key.rpartition(".")[2], known, 1)
    return f"{key}: unknown key" + (f"; did you mean {close[0]}?" if close else "")


def _spellings(settings: Sequence[Setting]) -> Iterator[tuple[str, Setting]]:
    """Yield each key allowed in a file: the option names, and at the top level the field names."""
    for setting in settings:
        yield setting.key, setting
        yield setting.name, setting
        if setting.part is None:
            yield setting.param, setting
