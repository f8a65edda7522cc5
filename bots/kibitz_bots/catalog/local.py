"""Bots that only the operator may choose, because they read files or send network requests.

They are not listed as house bots: any player may choose a house bot, and players must not decide
which files a server reads or which addresses it contacts.
"""

from __future__ import annotations

from kibitz_bots.catalog.from_file import find_trained
from kibitz_bots.llm.settings import SHORT_NAME, read_settings
from kibitz_bots.sdk import Bot
from kibitz_bots.spec import BotFactory, SpecError


def find_local(spec: str) -> BotFactory | None:
    """Return the bot factory for a weights file or a language model, None for any other spec.

    Raises `SpecError` if the bots cannot be created.
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
        raise SpecError(f"{name} needs an extra package: pip install 'kibitz[llm]'") from None
    settings = read_settings(name, text)
    if settings.fallback not in {"random", "resign"}:
        _house_bot(f"{game}/{settings.fallback}")
    return lambda: LanguageModelBot(game, settings, _house_bot)


def _house_bot(name: str) -> Bot:
    from kibitz_bots.catalog import find

    return find(name)()
