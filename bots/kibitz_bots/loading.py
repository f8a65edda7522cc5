"""Load bots by a command-line argument: a personality or a Python file."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from kibitz_bots.sdk import Bot
from kibitz_bots.spec import BotFactory, SpecError


def load(spec: str) -> BotFactory:
    """Return the bot factory for `spec`; it is called once per match.

    `spec` is the path of a ``.py`` file, or a personality such as ``GAME/greedy:seed=1`` (see
    `catalog`). The file must contain exactly one public subclass of `Bot`, select one with ``BOT =
    ThatOne``, or define a plain function ``agent(observation)`` (see `function_bot`). Raises
    `SpecError`.
    """
    if spec.endswith(".py") or Path(spec).is_file():
        return from_file(Path(spec))
    from kibitz_bots.catalog import find
    from kibitz_bots.catalog.local import find_local

    return find_local(spec) or find(spec)


def factory_of(entrant: str | BotFactory | Callable[..., Any]) -> BotFactory:
    """Return an entrant's bot factory; it is called once per match.

    Raises `SpecError`. `entrant` is an argument for `load`, a bot class, a function without
    parameters that creates a bot, or a function ``agent(observation)`` that is a bot itself.
    """
    if isinstance(entrant, str):
        return load(entrant)
    if inspect.isclass(entrant) or not _takes_observation(entrant):
        return entrant
    return _function(getattr(entrant, "__name__", "agent"), entrant)


def _takes_observation(function: Callable[..., Any]) -> bool:
    """Return whether a function requires an argument."""
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError):  # ValueError: some C functions have no signature
        return True
    return False


def from_file(path: Path) -> BotFactory:
    """Return the bot class in a file, the value of its ``BOT``, or a bot for its ``agent``."""
    if not path.is_file():
        raise SpecError(f"{path}: no such file; expected a Python file with a Bot in it")
    module = _execute(path.resolve())
    if hasattr(module, "BOT"):
        return _declared(path, module.BOT)
    bots = [
        member
        for name, member in vars(module).items()
        if inspect.isclass(member)
        and issubclass(member, Bot)
        and member.__module__ == module.__name__
        and not name.startswith("_")
    ]
    if not bots and hasattr(module, "agent"):
        return _function(path.stem, module.agent, f"{path}: ")
    if len(bots) != 1:
        names = ", ".join(bot.__name__ for bot in bots) or "none"
        expected = "one subclass of kibitz.Bot, BOT = ..., or a function agent(observation)"
        raise SpecError(f"{path}: expected {expected}; found {names}")
    return _checked(path, bots[0])


def _execute(path: Path) -> ModuleType:
    """Run the file as a module with a private name; it can import the other files in its folder.

    The folder is last on the path, so its files cannot shadow modules of the standard library or of
    installed packages.
    """
    name = _private_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SpecError(f"{path}: expected a .py file")
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    sys.modules[name] = module  # dataclasses and pickle look up the module of a class here
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise SpecError(
            f"{path}: {_error_line(path, error)}{type(error).__name__}: {error}"
        ) from error
    return module


def _private_name(path: Path) -> str:
    """Return a module name that is stable per file and that no import statement can contain."""
    return f"kibitz-bot-{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}"


def _error_line(path: Path, error: BaseException) -> str:
    """Return the last line of the file in an error's traceback."""
    line, trace = getattr(error, "lineno", None), error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return "" if line is None else f"line {line}: "


def _declared(path: Path, declared: object) -> BotFactory:
    if inspect.isclass(declared) and issubclass(declared, Bot):
        return _checked(path, declared)
    if callable(declared):
        return declared
    raise SpecError(f"{path}: expected BOT to be a subclass of Bot, not {declared!r:.80}")


def _function(name: str, agent: object, where: str = "") -> BotFactory:
    from kibitz_bots.kinds.function_bot import FunctionBot, flaw

    if (reason := flaw(agent)) is not None:
        raise SpecError(f"{where}{reason}")
    function = cast("Callable[..., Any]", agent)
    return lambda: FunctionBot(function, name)


def _checked(path: Path, bot: type[Bot]) -> BotFactory:
    if bot.choose is Bot.choose:
        raise SpecError(f"{path}: {bot.__name__} needs a method choose(self, turn)")
    return bot
