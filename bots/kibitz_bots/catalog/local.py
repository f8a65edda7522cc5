"""Bots that only the operator may choose: they read files, or send requests to an address.

They are not in the list of house bots: a server lets all players choose among those, and players
must not decide which files it reads and which addresses it asks.
"""

from __future__ import annotations

from kibitz_bots.catalog.from_file import find_trained
from kibitz_bots.llm.settings import SHORT_NAME, read_settings
from kibitz_bots.sdk import Bot
from kibitz_bots.spec import BotFactory, SpecError


def find_local(spec: str) -> BotFactory | None:
    """Return the factory of the bots of a weights file or of a language model, else None.

    Raises `SpecError` if they cannot be made.
    """
    name, _, text = spec.partition(":")
    game, _, short = name.partition("/")
    if short == SHORT_NAME:
        return _find_language_model(game, name, text)
    return find_trained(spec)


def _find_language_model(game: str, name: str, text: str) -> BotFactory:
    try:
        from kibitz_bots.llm.bot import LanguageModelBot
    except ImportError as error:
        if error.name != "httpx":
            raise
        raise SpecError(f"{name} needs a package more: pip install 'kibitz[llm]'") from None
    settings = read_settings(name, text)
    if settings.fallback not in {"random", "resign"}:
        _house_bot(f"{game}/{settings.fallback}")
    return lambda: LanguageModelBot(game, settings, _house_bot)


def _house_bot(name: str) -> Bot:
    from kibitz_bots.catalog import find

    return find(name)()
