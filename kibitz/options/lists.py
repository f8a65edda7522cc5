"""Helpers for commands that list something: the ``--json`` option, one request, and printing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import click

from kibitz.output import echo, echo_json
from kibitz.process.event_loop import run
from kibitz_protocol.client.client import Client

Answer = TypeVar("Answer")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, one object per line."
)


def ask(client: Client, question: Callable[[Client], Awaitable[Answer]]) -> Answer:
    async def answer() -> Answer:
        async with client:
            return await question(client)

    return run(answer())


def print_lines(lines: Iterable[str], *, as_json: bool = False) -> None:
    for line in lines:
        echo_json(line) if as_json else echo(line)
