"""The languages of starter bots, and the commands that build and run them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Language:
    """A starter language; `{name}` stands for the file name without its suffix."""

    name: str
    run: str
    """The command that runs the bot."""
    build: str | None = None
    """The command that compiles it or installs what it needs, if any."""


LANGUAGES: Final[Mapping[str, Language]] = {
    ".js": Language("JavaScript", "node {name}.js"),
    ".ts": Language("TypeScript", "node {name}.ts"),
    ".c": Language("C", "./{name}", "cc -std=c99 -O2 -o {name} {name}.c"),
    ".cpp": Language("C++", "./{name}", "c++ -std=c++17 -O2 -o {name} {name}.cpp"),
    ".rs": Language("Rust", "./{name}", "rustc -O -o {name} {name}.rs"),
    ".go": Language("Go", "./{name}", "go build -o {name} {name}.go"),
    ".java": Language("Java", "java {name}.java"),
}
"""The languages besides Python, by the suffix of a bot's file."""
CLIENTS: Final[Mapping[str, Language]] = {
    ".js": Language("JavaScript", "node {name}.js"),
    ".ts": Language("TypeScript", "node {name}.ts", "npm install kibitz-client"),
}
"""The languages of bots that connect over a websocket by themselves."""
