"""Hints in messages: every flag in a hint exists in some command."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click

from docs.generate import sources
from kibitz.cli import kibitz
from tests.kibitz.conftest import commands

ROOT = Path(__file__).parents[2]
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
FOREIGN = {"--fast"}
"""Flags of an engine in an example."""
SENTENCE = re.compile(r"[a-z]{2,} [a-z(`-]")
"""Words separated by spaces: text for people rather than an argument of a program."""


def known_flags() -> set[str]:
    """Return the flags of all commands."""
    context = click.Context(kibitz)
    flags = {
        name
        for _, command in commands()
        for option in command.get_params(context)
        for name in [*option.opts, *option.secondary_opts]
    }
    return flags | {"--help", "--version"}


def sentences() -> Iterator[tuple[Path, str]]:
    """Yield string literals that are sentences, of modules with flags, without docstrings."""
    for path, tree in sources.trees("--"):
        docs = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and id(node) not in docs and SENTENCE.search(text):
                yield path, text


def test_flags_in_hints_are_flags_of_commands() -> None:
    known = known_flags()
    named = [
        (path, flag)
        for path, text in sentences()
        for flag in FLAG.findall(text)
        if f'"{flag}"'
        not in (ROOT / path).read_text(encoding="utf-8")  # a tool with its own options
    ]
    assert len(named) > 20
    unknown = {flag: path for path, flag in named if flag not in known}
    assert unknown.keys() == FOREIGN
    assert "--no-rotate" in {flag for _, flag in named}
