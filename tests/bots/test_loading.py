"""Loading bots by command-line argument."""

from __future__ import annotations

import sys
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from kibitz_bots import SpecError, load
from kibitz_bots.kinds.function_bot import FunctionBot
from kibitz_bots.sdk import Bot

ONE = """
from kibitz import Bot, Turn

class First(Bot):
    def choose(self, turn: Turn) -> dict:
        return turn.legal[0]
"""


def _file(tmp_path: Path, text: str, name: str = "mybot.py") -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def test_a_file_with_one_bot(tmp_path: Path) -> None:
    bot = load(_file(tmp_path, ONE))()
    assert isinstance(bot, Bot)
    assert type(bot).__name__ == "First"


def test_a_file_may_say_which_bot_it_means(tmp_path: Path) -> None:
    two = ONE + "\nclass Second(First):\n    pass\n"
    assert type(load(_file(tmp_path, two + "BOT = Second"))()).__name__ == "Second"
    made = two + "def make():\n    return Second()\nBOT = make"
    assert type(load(_file(tmp_path, made, "made.py"))()).__name__ == "Second"


def test_private_and_imported_bots_do_not_count(tmp_path: Path) -> None:
    _file(tmp_path, ONE, "neighbour_of_mybot.py")
    text = """
from neighbour_of_mybot import First

class _Base(First):
    pass

class Mine(_Base):
    pass
"""
    assert type(load(_file(tmp_path, text))()).__name__ == "Mine"


def test_a_file_may_have_a_function_instead(tmp_path: Path) -> None:
    bot = load(_file(tmp_path, "def agent(observation):\n    return 0\n", "taker.py"))()
    assert isinstance(bot, FunctionBot)
    assert bot.name == "taker"
    both = ONE + "\ndef agent(observation):\n    return 0\n"
    assert type(load(_file(tmp_path, both, "both.py"))()).__name__ == "First"


@pytest.mark.parametrize(
    ("text", "expectation"),
    [
        (
            "x = 1",
            "expected one subclass of kibitz.Bot, BOT = ..., or a function agent(observation);"
            " found none",
        ),
        ("agent = 17", "expected agent to be a function, not 17"),
        ("def agent():\n    pass", "agent(observation, configuration), not agent()"),
        ("async def agent(seen):\n    pass", "expected agent to be a plain function"),
        (ONE + "class B(First):\n    pass", "found First, B"),
        ("BOT = 17", "expected BOT to be a subclass of Bot, not 17"),
        ("from kibitz import Bot\nclass A(Bot):\n    pass", "A needs a method choose"),
        ("x = 1\ny = x / 0", "line 2: ZeroDivisionError"),
        ("x = (1\n", "line 1: SyntaxError"),
        ("import no_such_module_at_all", "line 1: ModuleNotFoundError"),
    ],
)
def test_a_bad_file_is_named_with_what_was_expected(
    tmp_path: Path, text: str, expectation: str
) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(SpecError) as raised:
        load(path)
    assert str(raised.value).startswith(path)
    assert expectation in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"nobody\.py: no such file"):
        load(str(tmp_path / "nobody.py"))


# Every module name that an author's file could shadow: Python's, ours and our dependencies'.
TAKEN = sorted(
    sys.stdlib_module_names
    | {name for name, where in packages_distributions().items() if where}
    | {"kibitz", "kibitz_bots", "kibitz_games", "kibitz_protocol", "kibitz_search"}
    | {"kibitz_training"}
)


def test_a_file_replaces_no_module_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Load a bot file with each name next to all other names, then import the modules."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in TAKEN:
        _file(tmp_path, ONE, f"{name}.py")
    found = {name: _origin(name) for name in TAKEN}
    before = {name: sys.modules.get(name) for name in TAKEN}
    for name in TAKEN:
        made = load(str(tmp_path / f"{name}.py"))()
        assert type(made).__module__ not in before
        assert type(made).__module__ in sys.modules
    assert {name: sys.modules.get(name) for name in TAKEN} == before
    assert tmp_path in map(Path, sys.path), "neighbors can be imported"
    there = {name: origin for name, origin in found.items() if origin is not None}
    assert {name: _origin(name) for name in there} == there
    assert len(there) > 250, "most modules of Python are here"


def _origin(name: str) -> str | None:
    """Return where an import would currently find a module, None if nowhere."""
    for finder in (BuiltinImporter, FrozenImporter, PathFinder):
        if (spec := finder.find_spec(name, None)) is not None:
            return spec.origin
    return None
