"""Bot templates: the output of `kibitz bot new` plays in each language."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kibitz.cli import kibitz
from kibitz.starters.languages import CLIENTS, LANGUAGES
from kibitz_bots.loading import load
from tests.clients.web.node import NODE, websocket_flag

ROOT = Path(__file__).parents[3]
TSC = ROOT / "tests" / "tools" / "web" / "node_modules" / "typescript" / "bin" / "tsc"
TYPES_SINCE = (22, 18)
"""The first version of Node.js that runs TypeScript without a flag."""
NODE_TYPES = """
declare module "node:fs" { export function readFileSync(path: number, encoding: "utf8"): string; }
declare const process: { env: Record<string, string | undefined> };
"""
"""The part of the types of Node.js that the starter uses; they are a package of their own."""


def new_bot(*words: str) -> Result:
    return CliRunner().invoke(kibitz, ["bot", "new", *words])


def run(directory: Path, *words: str, lines: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a directory."""
    return subprocess.run(
        words, cwd=directory, input=lines, capture_output=True, text=True, timeout=240
    )


@pytest.mark.e2e
def test_a_starter_in_python_passes_its_own_test_and_fails_it_when_broken(tmp_path: Path) -> None:
    directory = tmp_path / "my-bot"
    done = new_bot(str(directory))
    assert done.exit_code == 0, done.output
    for path in directory.iterdir():
        assert f"wrote {path}" in done.output
    tested = run(directory, sys.executable, "-m", "unittest")
    assert tested.returncode == 0, tested.stdout + tested.stderr
    bot = directory / "bot.py"
    good = "return random.choice(position.legal)"
    assert good in bot.read_text()
    bot.write_text(bot.read_text().replace(good, "return -1"))
    assert run(directory, sys.executable, "-m", "unittest").returncode != 0


def require(suffix: str) -> None:
    """Skip a test if the tools of a language are not installed."""
    language = LANGUAGES[suffix]
    tool = (language.build or language.run).split()[0]
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed, so the starter in {language.name} is not run")
    if suffix == ".ts":
        version = run(Path(), "node", "--version").stdout
        if tuple(map(int, re.findall(r"\d+", version)))[:2] < TYPES_SINCE:
            pytest.skip(f"Node.js {version.strip()} does not run TypeScript")


@pytest.fixture
def starter(suffix: str, tmp_path: Path) -> list[str]:
    """The command of a template that is created and compiled in `tmp_path`."""
    require(suffix)
    done = new_bot(str(tmp_path / f"my-bot{suffix}"), "--game", "line-nim")
    assert done.exit_code == 0, done.output
    steps = done.output.partition("Next:\n")[2].splitlines()
    assert steps[0].split() == ["cd", str(tmp_path)]
    for step in steps[1:-1]:
        built = run(tmp_path, *shlex.split(step))
        assert built.returncode == 0, built.stderr
    return shlex.split(steps[-1])


@pytest.mark.e2e
@pytest.mark.parametrize("suffix", LANGUAGES)
def test_a_starter_plays_matches(starter: list[str], tmp_path: Path) -> None:
    words = [sys.executable, "-m", "kibitz", "play", "--json", "--games", "2", *starter[2:]]
    done = run(tmp_path, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert (len(result["matches"]), result["trouble"]) == (2, [])


@pytest.fixture
def client_program(suffix: str, tmp_path: Path) -> list[str]:
    """The command of a bot that connects by itself, in JavaScript that the installed Node runs."""
    if NODE is None:
        pytest.skip("node is not installed")
    done = new_bot(str(tmp_path / f"my-bot{suffix}"), "--game", "line-nim", "--websocket")
    assert done.exit_code == 0, done.output
    assert f"kibitz play line-nim line-nim/random -- node my-bot{suffix}" in done.output
    if suffix == ".ts":
        if not TSC.is_file():
            pytest.skip("typescript is not installed (`make web-check`)")
        package = tmp_path / "node_modules" / "kibitz-client"
        made = run(ROOT, "make", "client-package", f"CLIENT={package}")
        assert made.returncode == 0, made.stdout + made.stderr
        types = Path("src/node.d.ts")
        (tmp_path / types).parent.mkdir()
        (tmp_path / types).write_text(NODE_TYPES)
        (tmp_path / "package.json").write_text('{"type": "module"}')
        strict = ["--strict", "--target", "es2023", "--module", "nodenext"]
        built = run(tmp_path, NODE, str(TSC), *strict, str(types), "my-bot.ts")
        assert built.returncode == 0, built.stdout
    return ["node", *websocket_flag(), "my-bot.js"]


@pytest.mark.e2e
@pytest.mark.parametrize("suffix", CLIENTS)
def test_a_starter_over_a_websocket_plays_matches(
    client_program: list[str], tmp_path: Path
) -> None:
    words = ["play", "--json", "--games", "2", "line-nim", "line-nim/random", "--"]
    done = run(tmp_path, sys.executable, "-m", "kibitz", *words, *client_program)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert (len(result["matches"]), result["trouble"]) == (2, [])


def test_a_bot_over_a_websocket_is_in_javascript_or_typescript(tmp_path: Path) -> None:
    done = new_bot(str(tmp_path / "bot.go"), "--websocket")
    assert done.exit_code == 2
    assert "--websocket is for .js and .ts, not 'bot.go'" in done.output
    assert not [*tmp_path.iterdir()]


@pytest.mark.e2e
@pytest.mark.parametrize("suffix", LANGUAGES)
def test_a_starter_reads_json_as_it_is(starter: list[str], tmp_path: Path) -> None:
    """Field names and brackets in texts and lists in moves do not confuse any parser."""
    lines = (
        '{"type":"start","players":["\\"type\\":\\"turn\\""]}\n'
        '{"view":{"a":"}\\"legal\\":[{1"},"type":"turn","legal":[{"x":"]}","y":[2,3]}],"ms":9}\n'
        '{"type":"end","result":{}}\n'
    )
    done = run(tmp_path, *starter[starter.index("--") + 1 :], lines=lines)
    assert (done.returncode, done.stdout) == (0, '{"x":"]}","y":[2,3]}\n')


@pytest.mark.e2e
@pytest.mark.parametrize("suffix", sorted(LANGUAGES.keys() - {".js"}))
def test_a_starter_fails_where_no_moves_are_listed(starter: list[str], tmp_path: Path) -> None:
    lines = '{"type":"turn","view":{},"legal":null,"legal_rule":"any empty cell"}\n'
    done = run(tmp_path, *starter[starter.index("--") + 1 :], lines=lines)
    assert (done.returncode, done.stdout) == (1, "")
    assert "this game lists no legal moves" in done.stderr


@pytest.mark.parametrize("suffix", LANGUAGES)
def test_a_file_names_itself_and_is_short(suffix: str, tmp_path: Path) -> None:
    done = new_bot(str(tmp_path / f"nimrod{suffix}"))
    assert done.exit_code == 0, done.output
    text = (tmp_path / f"nimrod{suffix}").read_text()
    assert f"nimrod{suffix}" in text
    assert "docs/examples" not in text
    assert "./bot\n" not in text
    assert len(text.splitlines()) < 80


def test_a_game_can_be_named(tmp_path: Path) -> None:
    done = new_bot(str(tmp_path / "nimrod"), "--game", "line-nim")
    assert done.exit_code == 0, done.output
    assert "kibitz play line-nim bot.py line-nim/random" in done.output
    assert "class Nimrod(Bot):" in (tmp_path / "nimrod" / "bot.py").read_text()


def test_a_file_in_python_is_a_bot(tmp_path: Path) -> None:
    path = tmp_path / "my-bot.py"
    done = new_bot(str(path), "--game", "connect-four")
    assert done.exit_code == 0, done.output
    assert "kibitz play connect-four my-bot.py connect-four/random" in done.output
    assert [*tmp_path.iterdir()] == [path]
    assert load(str(path))().name == "my-bot"


@pytest.mark.parametrize("name", ["mine", "mine.go"])
def test_what_is_there_is_not_written_over(name: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine.go").write_text("mine")
    done = new_bot(str(tmp_path / name))
    assert done.exit_code == 1
    assert "already exists" in done.output
    assert not [*(tmp_path / "mine").iterdir()]
    assert (tmp_path / "mine.go").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("1bot",), 2, "expected a name of up to 24 letters"),
        (("b$t.go",), 2, "expected a name of up to 24 letters"),
        (("bot.cobol",), 2, "one of .py, .js, .ts, .c, .cpp, .rs, .go, .java, not 'bot.cobol'"),
        (("bot", "--game", "chess"), 1, "unknown game 'chess'"),
    ],
)
def test_what_cannot_be_is_refused(
    words: tuple[str, ...], status: int, sentence: str, tmp_path: Path
) -> None:
    done = new_bot(str(tmp_path / words[0]), *words[1:])
    assert done.exit_code == status
    assert sentence in done.output
    assert not [*tmp_path.iterdir()]
