"""Generate the table of installations and their sizes from the stored measurements."""

from __future__ import annotations

from typing import Final

from benchmarks.install_sizes import Sizes
from docs.generate.markdown import between, table

BEGIN = "<!-- sizes: `python -m docs.generate` writes what is between the marks -->"
END = "<!-- sizes end -->"
PURPOSES: Final = {
    "": "`kibitz connect`, and bots on the SDK. Without a game's rules, `turn.view` is the JSON of"
    " `turn.observation`.",
    "server": "`kibitz serve`, `play`, `host`, `seek`, `token`, `db`, `bot new`. House bots search"
    " in plain Python.",
    "search": "rules and searches as machine code: `turn.position`, house bots, `kibitz bot check`,"
    " `train`, `record analyze` and similar commands",
    "terminal": "`kibitz watch`, `join`, `record replay`, `record export`",
    "arena": "`kibitz arena` and `ladder`, including the server",
    "all": "all commands above, as in a checkout and in the container",
}
"""The purpose of each installation, by extra."""


def page(text: str, sizes: Sizes) -> str:
    """Return the page with the table of the installations; raises `NoMarkersError`."""
    rows = [
        [
            f"`kibitz[{size.extra}]`" if size.extra else "`kibitz`",
            str(size.mib),
            str(size.packages),
            PURPOSES[size.extra],
        ]
        for size in sizes.installs
    ]
    source = f"Measured at commit {sizes.commit} on {sizes.machine}."
    made = table(("install", "MiB", "packages", "what it is for"), rows)
    return between(text, BEGIN, END, f"{made}\n{source}")
