"""Generate the reference of environment variables, with the purpose of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from docs.generate.markdown import table

HEAD = """# Environment variables

All of these variables are optional. A command-line option overrides its variable.

Every setting of `kibitz serve` also has a variable, `KIBITZ_SERVE_` followed by its name, such as
`KIBITZ_SERVE_ALLOW_HOST`: see [Settings of a server](configuration.md).
"""
FOR_USERS: Final[Mapping[str, tuple[str, str]]] = {
    "KIBITZ_SERVER": (
        "commands that connect",
        "Address of the server, if `--server` does not set it. The default is"
        " `ws://127.0.0.1:8765`.",
    ),
    "KIBITZ_TOKEN": (
        "commands that connect",
        "Token of your account. kibitz sends it only to the server that `KIBITZ_SERVER` names,"
        " and to other machines only over `wss://`. `--token-file` overrides it.",
    ),
    "KIBITZ_LOBBY": ("`kibitz connect`", "Lobby to join, if `--lobby` does not set it."),
    "KIBITZ_NAME": ("`kibitz connect`", "Name of the player, if `--name` does not set it."),
    "KIBITZ_STATE": (
        "commands that connect",
        "Directory for saved sessions. The default is the user's state directory,"
        " `~/.local/state/kibitz` on Linux.",
    ),
    "KIBITZ_THEME": (
        "the terminal client",
        "`kibitz` (dark, the default), `kibitz-light`, or the name of a Textual theme.",
    ),
    "KIBITZ_DB": (
        "`serve`, `token`, `db`",
        "Database of the server, a file or `postgresql://user@host/name`, if `--db` does not set"
        " it.",
    ),
    "KIBITZ_CACHE": (
        "everything that plays",
        "Directory for compiled rules and searches. The default is `kernels` in the user's cache"
        " directory, `~/.cache/kibitz` on Linux.",
    ),
    "KIBITZ_PLAIN": (
        "everything that plays",
        "`1` turns compilation off: rules and searches run as Python, which starts at once but is"
        " much slower. `NUMBA_DISABLE_JIT=1` does the same.",
    ),
    "KIBITZ_CGROUP": (
        "`serve`, `play`, `arena`",
        "Directory of a cgroup (version 2) in which kibitz may create child groups that limit the"
        " memory of bots. See [Isolate and limit bots](../how-to/isolation.md).",
    ),
    "KIBITZ_LLM_URL": (
        "bots that use a language model",
        "Base URL of the endpoint. The default is `http://127.0.0.1:11434/v1`.",
    ),
    "KIBITZ_LLM_KEY": (
        "bots that use a language model",
        "API key for the endpoint, if it needs one.",
    ),
    "KIBITZ_DB_PASSWORD": (
        "`docker-compose.cluster.yml`",
        "Password of the PostgreSQL database. Compose does not start without it.",
    ),
}
FOR_PROGRAMS: Final[Mapping[str, tuple[str, str]]] = {
    "KIBITZ_RESUME": (
        "bots",
        "Secret with which the bot resumes a session. Other processes of the same user can read"
        " it; prefer the"
        " descriptor below.",
    ),
    "KIBITZ_RESUME_FD": (
        "bots",
        "Number of an inherited file descriptor from which the bot reads that secret. `kibitz"
        " play` and the server"
        " set it for the bots that they start.",
    ),
    "KIBITZ_TOKEN_FD": (
        "bots",
        "Number of an inherited file descriptor from which the bot reads the token of its account.",
    ),
    "KIBITZ_TEST_RUN": (
        "the tests",
        "Marks every process that a test starts. No code reads it.",
    ),
}
FOR_CONTRIBUTORS: Final[Mapping[str, tuple[str, str]]] = {
    "KIBITZ_GOLDENS": (
        "`tests`",
        "`write` overwrites the expected outputs with the actual ones. Review the diff.",
    ),
    "KIBITZ_SCREENSHOTS": (
        "`tests/e2e/web`",
        "Directory for screenshots of pages.",
    ),
    "KIBITZ_TEST_CHROMIUM": (
        "`tests`",
        "Path of Chromium, if it is not on `PATH`.",
    ),
    "KIBITZ_TEST_POSTGRES": (
        "`tests`",
        "Address of a PostgreSQL server whose user may create databases.",
    ),
    "KIBITZ_NODE_FAULTS": ("`tests/e2e/test_node_faults.py`", "Number of faults to inject."),
    "KIBITZ_NODE_FAULTS_SEED": ("`tests/e2e/test_node_faults.py`", "Seed for choosing the faults."),
    "KIBITZ_NODE_PAIRS": (
        "`tests/e2e/test_node_faults.py`",
        "Number of pairs of bots that play during the faults.",
    ),
}


def page() -> str:
    """Return the page: tables for users, for programs that start bots, and for contributors."""
    parts = [HEAD, "## For users and operators\n", _table(FOR_USERS)]
    parts += ["## For programs that start bots\n", _table(FOR_PROGRAMS)]
    parts += ["## For contributors\n", _table(FOR_CONTRIBUTORS)]
    return "\n".join(parts)


def _table(variables: Mapping[str, tuple[str, str]]) -> str:
    rows = [[f"`{name}`", reader, what] for name, (reader, what) in variables.items()]
    return table(("variable", "read by", "meaning"), rows)
