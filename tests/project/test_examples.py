"""The examples in the documentation: each is run with its own command line."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from kibitz_arena.config import load
from tests.tools.command import END_SECONDS, Kibitz, ended, marked

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("e2e")]

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "how-to"
LEARNING = PAGES / "learning.md"
OWN_SEARCH = PAGES / "own-search.md"
EXAMPLES = ROOT / "docs" / "examples"
_LINE = re.compile(r"kibitz play [^\n\"]+")


@pytest.fixture
def kibitz(tmp_path: Path) -> Iterator[Kibitz]:
    """The command in a directory with the documents; none of its processes outlives the test."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    command = Kibitz(tmp_path, uuid.uuid4().hex)
    yield command
    left = marked(command.mark)
    assert [left[pid] for pid in ended(list(left), END_SECONDS)] == []


def line_of(example: str) -> list[str]:
    """Return the words of the command line in an example."""
    found = _LINE.search((EXAMPLES / example).read_text())
    assert found is not None
    return shlex.split(found[0])


def plays(kibitz: Kibitz, *words: str) -> None:
    done = kibitz.run("play", "--json", *words[2:])
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert len(result["matches"]) == 2
    assert result["trouble"] == []


@pytest.mark.e2e
@pytest.mark.parametrize("example", ["first.py", "agent.py", "own_search.py"])
def test_a_python_file_plays(example: str, kibitz: Kibitz) -> None:
    plays(kibitz, *line_of(example))


@pytest.mark.e2e
@pytest.mark.parametrize("game", ["line-nim", "five-in-a-row"])
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_javascript_plays_where_moves_are_listed_and_where_not(game: str, kibitz: Kibitz) -> None:
    words = [word.replace("line-nim", game) for word in line_of("bot.js")]
    plays(kibitz, *words)


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("cc is not installed")
    made = tmp_path / "bot"
    strict = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run([compiler, *strict, "-o", made, EXAMPLES / "bot.c"], check=True, timeout=60)
    return made


@pytest.mark.e2e
def test_c_plays(compiled: Path, kibitz: Kibitz) -> None:
    plays(kibitz, *line_of("bot.c"))


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ('{"type":"turn","legal":[{"x":1,"y":[2,3]},{"x":2}],"ms":9}', '{"x":1,"y":[2,3]}\n'),
        ('{"view":{"a":"}\\"legal\\":[{1"},"type":"turn","legal":[{"x":"]}"}]}', '{"x":"]}"}\n'),
        ('{"type":"end","legal":[{"x":1}]}', ""),
        ('{"type":"turn","legal":[{"x', '{"x\n\n'),
        ('{"type', ""),
        ("[1]", ""),
        ("", ""),
    ],
    ids=["nested", "decoy", "end", "torn", "torn-key", "list", "empty"],
)
def test_c_reads_json_as_it_is(line: str, answer: str, compiled: Path) -> None:
    done = subprocess.run([compiled], input=line + "\n", capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout) == (0, answer)


@pytest.mark.e2e
def test_c_says_where_it_cannot_play(compiled: Path) -> None:
    line = '{"type":"turn","legal":null}\n'
    done = subprocess.run([compiled], input=line, capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stderr) == (1, "this game lists no legal moves\n")


@pytest.mark.parametrize(("number", "last"), [(0, "step"), (1, "truncation"), (2, "over")])
def test_the_environments_of_the_page_run_to_their_end(number: int, last: str) -> None:
    pytest.importorskip("pettingzoo")
    blocks = re.findall(r"^```python\n(.*?)^```", LEARNING.read_text(), re.M | re.S)
    world: dict[str, object] = {}
    exec(compile(blocks[number], str(LEARNING), "exec"), world)
    assert last in world


def test_the_page_has_the_whole_example_of_a_search() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", OWN_SEARCH.read_text(), re.M | re.S)
    assert (EXAMPLES / "own_search.py").read_text() in blocks


def test_the_pages_name_every_example() -> None:
    text = "".join(page.read_text() for page in PAGES.glob("*.md"))
    for example in EXAMPLES.glob("*.*"):
        assert f"docs/examples/{example.name}" in text


@pytest.mark.e2e
def test_the_event_of_a_course_is_held(kibitz: Kibitz) -> None:
    """Everything except its length, run from a copy to leave no files next to the example."""
    text = (EXAMPLES / "course.yaml").read_text()
    short = text.replace("blocks: 10", "blocks: 1").replace("free=19", "free=12")
    assert short.count("blocks: 1 ") == short.count("free=12") == 1
    if shutil.which("node") is None:
        short = re.sub(r"^.*node bot.js.*$", "", short, flags=re.MULTILINE)
    for example in ("first.py", "bot.js"):
        shutil.copy(EXAMPLES / example, kibitz.directory)
    (kibitz.directory / "course.yaml").write_text(short)
    count = len(load(short, "course.yaml").entrants)
    done = kibitz.run("arena", "course.yaml", "--json", seconds=240)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(done.stdout)
    assert results["played"] == count * (count - 1)
    assert {line["name"]: line["games"] for line in results["standings"]} == dict.fromkeys(
        ["Ada", "Bob", "random", "greedy"] if count == 4 else ["Ada", "random", "greedy"],
        2 * (count - 1),
    )
    assert (kibitz.directory / "course.arena" / "results.html").is_file()
